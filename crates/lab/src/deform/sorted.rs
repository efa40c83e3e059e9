//! A list that is nearly in order, and has to be in order.

/// Moves beyond this many per element mean that the list was not nearly in order: then it is
/// sorted anew, which takes about as long.
const MOVES_PER_ELEMENT: usize = 16;

/// Sorts by insertion, and anew if there is too much to move. Gives the comparisons that insertion
/// took (those of sorting anew are not counted).
///
/// `key` has to be a total order: then the result is the same whichever way it came about.
pub(crate) fn sort_nearly<T: Copy, K: PartialOrd>(list: &mut [T], key: impl Fn(&T) -> K) -> u64 {
    let mut comparisons = 0;
    let mut moves = list.len() * MOVES_PER_ELEMENT;
    for i in 1..list.len() {
        let (element, mut j) = (list[i], i);
        let own = key(&element);
        while j > 0 {
            comparisons += 1;
            // Written so that equal keys stay.
            if key(&list[j - 1]) <= own {
                break;
            }
            list[j] = list[j - 1];
            j -= 1;
        }
        list[j] = element;
        moves = moves.saturating_sub(i - j);
        if moves == 0 {
            let order = |x: &T, y: &T| key(x).partial_cmp(&key(y));
            list.sort_by(|x, y| order(x, y).unwrap_or(std::cmp::Ordering::Equal));
            break;
        }
    }
    comparisons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_in_order_after_little_and_after_much() {
        let mut nearly: Vec<(f32, u32)> = (0..1000).map(|i| (i as f32, i)).collect();
        nearly.swap(3, 4);
        nearly.swap(500, 490);
        let comparisons = sort_nearly(&mut nearly, |&x| x);
        assert!(nearly.is_sorted() && comparisons < 1100, "{comparisons}");
        let mut reverse: Vec<(f32, u32)> = (0..1000).rev().map(|i| ((i / 7) as f32, i)).collect();
        let comparisons = sort_nearly(&mut reverse, |&x| x);
        assert!(reverse.is_sorted() && comparisons < 18_000, "{comparisons}");
        sort_nearly(&mut [0u8; 0], |&x| x);
    }
}
