//! Is a history that of one register? Every question to the directory is an operation with a
//! beginning and an end that reads, or makes, a version of it: the number of an entry of the log.
//!
//! A history is linearizable if its operations can be put in an order in which versions never go
//! back and which keeps apart what was apart in time (Herlihy and Wing 1990). Versions are
//! numbered, so that is so exactly if no operation that ended before another one began has a higher
//! version: then ordering by version, and by beginning within one, is such an order. The test has
//! the obvious search for an order beside it.

use jostle_proto::Time;

#[derive(Default)]
pub(super) struct History {
    /// When operations ended, and the highest version of all that had ended by then.
    ended: Vec<(Time, u64)>,
}

impl History {
    /// An operation has ended now; no other one may have ended later.
    ///
    /// # Errors
    /// A higher version that had been seen before this operation began.
    pub(super) fn add(&mut self, began: Time, ended: Time, version: u64) -> Result<(), u64> {
        let before = self.ended.partition_point(|(end, _)| *end < began);
        let seen = before.checked_sub(1).map_or(0, |last| self.ended[last].1);
        let highest = self.ended.last().map_or(0, |(_, highest)| *highest).max(version);
        match self.ended.last_mut() {
            Some((end, last)) if *end == ended || *last == highest => *last = highest,
            _ => self.ended.push((ended, highest)),
        }
        if seen > version { Err(seen) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dice::Dice;

    /// An operation: from when to when, and which version.
    type Operation = (u64, u64, u64);

    /// The obvious way: is there an order in which versions never go back, and in which nothing
    /// stands before what had ended when it began?
    fn has_order(rest: &[Operation], version: u64) -> bool {
        rest.is_empty()
            || (0..rest.len()).any(|at| {
                let (_, _, next) = rest[at];
                let mut others = rest.to_vec();
                let (began, _, _) = others.remove(at);
                next >= version
                    && others.iter().all(|(_, ended, _)| *ended >= began)
                    && has_order(&others, next)
            })
    }

    fn is_kept(operations: &[Operation]) -> bool {
        let mut sorted = operations.to_vec();
        sorted.sort_by_key(|(_, ended, _)| *ended);
        let mut history = History::default();
        let add = |(began, ended, version): &Operation| {
            history.add(Time(*began), Time(*ended), *version).is_ok()
        };
        sorted.iter().all(add)
    }

    #[test]
    fn it_agrees_with_the_search_for_an_order() {
        let mut dice = Dice::new(7);
        let mut kept = 0;
        for _ in 0..4000 {
            let count = 1 + dice.below(6);
            let operations: Vec<Operation> = (0..count)
                .map(|_| {
                    let began = dice.below(12);
                    (began, began + dice.below(6), dice.below(4))
                })
                .collect();
            let expected = has_order(&operations, 0);
            assert_eq!(is_kept(&operations), expected, "{operations:?}");
            kept += u64::from(expected);
        }
        assert!(kept > 400 && kept < 3600, "both answers occur: {kept}");
    }

    #[test]
    fn an_answer_of_a_leader_that_was_replaced_is_found() {
        // Entry 8 is answered for from 10 to 20; a query at 30 is answered with entry 7.
        assert!(is_kept(&[(10, 20, 8), (15, 40, 7)]));
        assert!(!is_kept(&[(10, 20, 8), (30, 40, 7)]));
    }
}
