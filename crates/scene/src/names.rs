//! Unique names: `Bolt`, `Bolt (2)`, `Bolt (3)`.
//!
//! All readers and all lists of parts number equal names in this way, in the order of the file.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Assigns names, each once.
///
/// ```
/// use jostle_scene::UniqueNames;
///
/// let mut names = UniqueNames::default();
/// names.reserve("Bolt (2)");
/// assert_eq!(&*names.take("Bolt"), "Bolt");
/// assert_eq!(&*names.take("Bolt"), "Bolt (3)");
/// assert_eq!(&*names.take("Bolt (2)"), "Bolt (2)");
/// ```
#[derive(Clone, Debug, Default)]
pub struct UniqueNames {
    reserved: HashSet<Arc<str>>,
    taken: HashSet<Arc<str>>,
    /// The next number to try for a name that is taken.
    next: HashMap<Arc<str>, u32>,
}

impl UniqueNames {
    /// Reserves a name that stands in the file: numbering never makes this name.
    pub fn reserve(&mut self, name: &str) {
        if !self.reserved.contains(name) {
            self.reserved.insert(Arc::from(name));
        }
    }

    /// The name itself if it is free, otherwise with the first number from 2 on that is free.
    pub fn take(&mut self, name: &str) -> Arc<str> {
        if !self.taken.contains(name) {
            let name: Arc<str> = Arc::from(name);
            self.taken.insert(Arc::clone(&name));
            return name;
        }
        let mut number = self.next.get(name).copied().unwrap_or(2);
        let free = loop {
            let numbered = format!("{name} ({number})");
            number = number.saturating_add(1);
            if !self.reserved.contains(&*numbered) && !self.taken.contains(&*numbered) {
                break Arc::<str>::from(numbered);
            }
        };
        self.next.insert(Arc::from(name), number);
        self.taken.insert(Arc::clone(&free));
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slow, obvious version: all names that were given, searched from the first number on.
    fn slow(wanted: &[&str]) -> Vec<String> {
        let mut given: Vec<String> = Vec::new();
        for name in wanted {
            let mut candidate = (*name).to_string();
            let mut number = 2;
            let is_other = |candidate: &str| candidate != *name && wanted.contains(&candidate);
            while given.contains(&candidate) || is_other(&candidate) {
                candidate = format!("{name} ({number})");
                number += 1;
            }
            given.push(candidate);
        }
        given
    }

    #[test]
    fn numbering_equals_its_slow_twin_and_never_repeats() {
        const NAMES: [&str; 6] = ["a", "a (2)", "a (3)", "a (2) (2)", "b", ""];
        let mut numbered = 0;
        for seed in 0..2000u64 {
            let mut state = seed;
            let mut below = |limit: usize| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (state >> 33) as usize % limit
            };
            let wanted: Vec<&str> = (0..below(10)).map(|_| NAMES[below(6)]).collect();
            let mut names = UniqueNames::default();
            wanted.iter().for_each(|name| names.reserve(name));
            let given: Vec<Arc<str>> = wanted.iter().map(|name| names.take(name)).collect();
            let expected = slow(&wanted);
            assert!(given.iter().map(|name| &**name).eq(expected.iter()), "seed {seed}: {given:?}");
            let distinct: HashSet<_> = given.iter().collect();
            assert_eq!(distinct.len(), given.len(), "seed {seed}");
            numbered += usize::from(given.iter().map(|name| &**name).ne(wanted.iter().copied()));
        }
        assert!(numbered > 100 && numbered < 2000, "{numbered}");
    }
}
