//! Names with wildcards: which objects does a pattern mean?

/// Is this the name of an object, or of something that it is part of? A name is a path, and a
/// pattern fits where its parts fit parts of the path that stand side by side. In each part `*`
/// stands for any number of characters and `?` for one.
pub(super) fn fits(object: &str, pattern: &str) -> bool {
    let (parts, wanted): (Vec<&str>, Vec<&str>) =
        (object.split('/').collect(), pattern.split('/').collect());
    let fits = |window: &[&str]| window.iter().zip(&wanted).all(|(part, one)| fits_part(part, one));
    parts.windows(wanted.len()).any(fits)
}

fn fits_part(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut wanted) = (0, 0);
    // Where to go on if what follows the last `*` does not fit: it then stands for one more.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(wanted) {
            Some('*') => {
                star = Some((at, wanted));
                wanted += 1;
            }
            Some(&one) if one == '?' || one == name[at] => (at, wanted) = (at + 1, wanted + 1),
            _ => match star {
                Some((from, of)) => {
                    star = Some((from + 1, of));
                    (at, wanted) = (from + 1, of + 1);
                }
                None => return false,
            },
        }
    }
    pattern[wanted..].iter().all(|&one| one == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The obvious twin: what the first of the pattern may stand for, all tried.
    fn slow(name: &[u8], pattern: &[u8]) -> bool {
        match (name, pattern) {
            (_, [b'*', rest @ ..]) => (0..=name.len()).any(|skip| slow(&name[skip..], rest)),
            ([_, name @ ..], [b'?', rest @ ..]) => slow(name, rest),
            ([a, name @ ..], [b, rest @ ..]) => a == b && slow(name, rest),
            (name, pattern) => name.is_empty() && pattern.is_empty(),
        }
    }

    #[test]
    fn wildcards_mean_what_trying_everything_finds() {
        let words = |letters: &[u8], most: usize| {
            let mut all: Vec<Vec<u8>> = vec![Vec::new()];
            let mut last = all.clone();
            for _ in 0..most {
                let mut longer = Vec::new();
                for word in &last {
                    longer.extend(letters.iter().map(|&letter| [&word[..], &[letter]].concat()));
                }
                last = longer;
                all.extend(last.iter().cloned());
            }
            all
        };
        let (mut yes, mut no) = (0, 0);
        for name in words(b"ab", 5) {
            for pattern in words(b"ab*?", 4) {
                let text = |word: &[u8]| String::from_utf8(word.to_vec()).unwrap();
                let (n, p) = (text(&name), text(&pattern));
                let expected = slow(&name, &pattern);
                assert_eq!(fits(&n, &p), expected, "{n:?} {p:?}");
                if expected { yes += 1 } else { no += 1 }
            }
        }
        assert!(yes > 1000 && no > 1000, "{yes} {no}");
    }

    #[test]
    fn a_pattern_fits_parts_of_a_path_side_by_side() {
        assert!(fits("CAR/FRAME/BOLT (2)", "BOLT*"));
        assert!(fits("CAR/FRAME/BOLT (2)", "FR?ME/BOLT*"));
        assert!(fits("CAR/FRAME/BOLT (2)", "CAR"));
        assert!(!fits("CAR/FRAME/BOLT (2)", "CAR/BOLT*"));
        assert!(!fits("CAR/FRAME", "CAR*FRAME"), "a star does not cross a slash");
        assert!(fits("Schraube ä", "Schraube ?"));
    }
}
