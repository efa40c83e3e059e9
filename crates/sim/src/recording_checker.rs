//! The same checkers for a world that was not simulated: they are fed what its processes sent.

use crate::checkers::{Checkers, Verdict};
use jostle_proto::{Address, Commit, GroupId, Message, NodeId, Object, Shapes, Tick, Time};

/// Judges what really happened. The rules about what should happen when nothing fails any more,
/// and those that look into machines, are not among its own.
///
/// ```
/// use jostle_proto::{Commit, Shapes, Tick, Time};
/// use jostle_sim::RecordingChecker;
///
/// // An empty world in which a tick is left out.
/// let mut checker = RecordingChecker::new(&[], Tick(0), &Shapes::default(), 30);
/// let digest = jostle_proto::digest([]);
/// checker.published(Time(0), &Commit { tick: Tick(1), digest, ..Commit::default() });
/// checker.published(Time(1), &Commit { tick: Tick(3), digest, ..Commit::default() });
/// assert_eq!(checker.ticks(), 3);
/// assert_eq!(checker.verdict().violations[0].rule, "C3");
/// ```
pub struct RecordingChecker {
    checkers: Checkers,
}

impl RecordingChecker {
    /// Of a world that had these objects after this tick; what was before is not judged.
    #[must_use]
    pub fn new(objects: &[Object], tick: Tick, shapes: &Shapes, rate: u32) -> RecordingChecker {
        let mut checkers = Checkers::new(objects, shapes, rate, None);
        checkers.begin_at(GroupId(0), tick);
        RecordingChecker { checkers }
    }

    /// A process has sent something.
    pub fn sent(&mut self, at: Time, from: Address, to: Address, message: &Message) {
        // The directory is one machine to all others.
        let from = if let Address::Replica(_) = from { Address::Directory } else { from };
        self.checkers.sent(at, from, to, message);
    }

    /// A tick was published.
    pub fn published(&mut self, at: Time, commit: &Commit) {
        self.checkers.published(at, commit);
    }

    /// A replica of the directory has answered a question that came then, on the grounds of that
    /// entry of its log. Is that a history of one register?
    ///
    /// ```
    /// use jostle_proto::{Shapes, Tick, Time};
    /// use jostle_sim::RecordingChecker;
    ///
    /// let mut checker = RecordingChecker::new(&[], Tick(0), &Shapes::default(), 30);
    /// checker.answered(Time(10), Time(0), 5);
    /// // At the same time as the first, so it may have come before it.
    /// checker.answered(Time(20), Time(5), 4);
    /// // After both: entry 5 had been answered for.
    /// checker.answered(Time(40), Time(30), 4);
    /// let violations = checker.verdict().violations;
    /// assert_eq!((violations.len(), violations[0].rule), (1, "D5"));
    /// ```
    pub fn answered(&mut self, at: Time, asked: Time, index: u64) {
        self.checkers.rests_on(at, asked, index);
    }

    /// The last tick that was published, of all groups together.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.checkers.published_ticks()
    }

    /// Pairs that touched, over all ticks.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.checkers.collisions()
    }

    /// The objects of the first group as they are after the last tick.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.checkers.objects(GroupId(0))
    }

    /// Groups that could not go on in the end, as the directory reported to their nodes: with each
    /// the nodes whose objects no living node had. Nothing that they do is against a rule, but they
    /// do nothing.
    pub fn halted(&self) -> impl Iterator<Item = (GroupId, &[NodeId])> {
        self.checkers.halted().iter().map(|(&group, lost)| (group, lost.as_slice()))
    }

    /// What was against the rules.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        self.checkers.verdict()
    }
}
