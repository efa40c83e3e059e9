//! Insertion sort for lists that were in order a frame ago.

use std::cmp::Ordering;

/// Places that an entry may move on average before another way is taken: from there on, sorting
/// afresh is cheaper, and a list that was shuffled does not cost its square.
const STEPS_PER_ENTRY: usize = 16;

/// Sorts, entries that compare equal staying as they are. Linear for what is nearly sorted.
/// Returns by how many places entries were moved one at a time.
pub fn insertion_sort<T: Copy>(list: &mut [T], order: impl Fn(&T, &T) -> Ordering) -> u64 {
    let budget = list.len() * STEPS_PER_ENTRY;
    let mut steps = 0;
    for sorted in 1..list.len() {
        let entry = list[sorted];
        let mut at = sorted;
        while at > 0 && order(&list[at - 1], &entry) == Ordering::Greater {
            list[at] = list[at - 1];
            at -= 1;
        }
        list[at] = entry;
        steps += sorted - at;
        if steps > budget {
            list.sort_by(&order);
            break;
        }
    }
    steps as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_like_the_library_and_keeps_equals_in_place() {
        for len in [0, 1, 2, 3, 50, 500] {
            for stride in [1, 7, 499] {
                let mut list: Vec<(usize, usize)> =
                    (0..len).map(|at| ((at * stride) % 503 / 5, at)).collect();
                let mut expected = list.clone();
                expected.sort_by_key(|entry| entry.0);
                insertion_sort(&mut list, |a, b| a.0.cmp(&b.0));
                assert_eq!(list, expected, "len {len}, stride {stride}");
            }
        }
    }

    #[test]
    fn a_list_in_reverse_does_not_cost_its_square() {
        let mut list: Vec<usize> = (0..10_000).rev().collect();
        let steps = insertion_sort(&mut list, Ord::cmp);
        assert!(list.is_sorted());
        assert!(steps < 200_000, "{steps}");
        assert_eq!(insertion_sort(&mut list, Ord::cmp), 0);
    }
}
