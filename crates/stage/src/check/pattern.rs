//! Patterns with wildcards for names of objects.

/// Returns true if a pattern matches the name of an object or of a node above it. A name is a path,
/// and a pattern matches if its parts match consecutive parts of the path. In each part `*` matches
/// any number of characters and `?` matches one.
pub(super) fn matches_name(object: &str, pattern: &str) -> bool {
    let (parts, wanted): (Vec<&str>, Vec<&str>) =
        (object.split('/').collect(), pattern.split('/').collect());
    let matches =
        |window: &[&str]| window.iter().zip(&wanted).all(|(part, one)| matches_part(part, one));
    parts.windows(wanted.len()).any(matches)
}

fn matches_part(name: &str, pattern: &str) -> bool {
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    let (mut at, mut wanted) = (0, 0);
    // Where to continue if what follows the last `*` does not match: it then matches one more.
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

    /// The slow, obvious version: tries everything that the first character may match.
    fn slow(name: &[u8], pattern: &[u8]) -> bool {
        match (name, pattern) {
            (_, [b'*', rest @ ..]) => (0..=name.len()).any(|skip| slow(&name[skip..], rest)),
            ([_, name @ ..], [b'?', rest @ ..]) => slow(name, rest),
            ([a, name @ ..], [b, rest @ ..]) => a == b && slow(name, rest),
            (name, pattern) => name.is_empty() && pattern.is_empty(),
        }
    }

    #[test]
    fn wildcards_match_what_trying_everything_matches() {
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
                assert_eq!(matches_name(&n, &p), expected, "{n:?} {p:?}");
                if expected { yes += 1 } else { no += 1 }
            }
        }
        assert!(yes > 1000 && no > 1000, "{yes} {no}");
    }

    #[test]
    fn a_pattern_matches_consecutive_parts_of_a_path() {
        assert!(matches_name("CAR/FRAME/BOLT (2)", "BOLT*"));
        assert!(matches_name("CAR/FRAME/BOLT (2)", "FR?ME/BOLT*"));
        assert!(matches_name("CAR/FRAME/BOLT (2)", "CAR"));
        assert!(!matches_name("CAR/FRAME/BOLT (2)", "CAR/BOLT*"));
        assert!(!matches_name("CAR/FRAME", "CAR*FRAME"), "a star does not cross a slash");
        assert!(matches_name("Schraube ä", "Schraube ?"));
    }
}
