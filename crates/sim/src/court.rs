//! The same judges for a world that was not simulated: they are told what its processes said.

use crate::referee::{Referees, Verdict};
use jostle_proto::{Address, Commit, GroupId, Message, NodeId, Object, Shapes, Tick, Time};

/// Judges what really happened. The rules about what should happen when nothing fails any more,
/// and those that look into machines, are not among its own.
///
/// ```
/// use jostle_proto::{Commit, Shapes, Tick, Time};
/// use jostle_sim::Court;
///
/// // An empty world in which a tick is left out.
/// let mut court = Court::new(&[], Tick(0), &Shapes::default(), 30);
/// let digest = jostle_proto::digest([]);
/// court.published(Time(0), &Commit { tick: Tick(1), digest, ..Commit::default() });
/// court.published(Time(1), &Commit { tick: Tick(3), digest, ..Commit::default() });
/// assert_eq!(court.ticks(), 3);
/// assert_eq!(court.verdict().violations[0].rule, "C3");
/// ```
pub struct Court {
    referees: Referees,
}

impl Court {
    /// Of a world that had these objects after this tick; what was before is not judged.
    #[must_use]
    pub fn new(objects: &[Object], tick: Tick, shapes: &Shapes, rate: u32) -> Court {
        let mut referees = Referees::new(objects, shapes, rate, None);
        referees.begin_at(GroupId(0), tick);
        Court { referees }
    }

    /// A process has sent something.
    pub fn sent(&mut self, at: Time, from: Address, to: Address, message: &Message) {
        // The directory is one to everybody else.
        let from = if let Address::Replica(_) = from { Address::Directory } else { from };
        self.referees.sent(at, from, to, message);
    }

    /// A tick was published.
    pub fn published(&mut self, at: Time, commit: &Commit) {
        self.referees.published(at, commit);
    }

    /// A replica of the directory has answered a question that came then, on the grounds of that
    /// entry of its log. Is that a history of one register?
    ///
    /// ```
    /// use jostle_proto::{Shapes, Tick, Time};
    /// use jostle_sim::Court;
    ///
    /// let mut court = Court::new(&[], Tick(0), &Shapes::default(), 30);
    /// court.answered(Time(10), Time(0), 5);
    /// // At the same time as the first, so it may have come before it.
    /// court.answered(Time(20), Time(5), 4);
    /// // After both: entry 5 had been answered for.
    /// court.answered(Time(40), Time(30), 4);
    /// let violations = court.verdict().violations;
    /// assert_eq!((violations.len(), violations[0].rule), (1, "D5"));
    /// ```
    pub fn answered(&mut self, at: Time, asked: Time, index: u64) {
        self.referees.rests_on(at, asked, index);
    }

    /// The last tick that was published, of all groups together.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.referees.published_ticks()
    }

    /// Pairs that touched, over all ticks.
    #[must_use]
    pub fn collisions(&self) -> u64 {
        self.referees.collisions()
    }

    /// The objects of the first group as they are after the last tick.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.referees.objects(GroupId(0))
    }

    /// Groups that could not go on in the end, as the directory told their nodes: with each the
    /// nodes whose objects no living node had. Nothing that they do is against a rule, but they do
    /// nothing.
    pub fn halted(&self) -> impl Iterator<Item = (GroupId, &[NodeId])> {
        self.referees.halted().iter().map(|(&group, lost)| (group, lost.as_slice()))
    }

    /// What was against the rules.
    #[must_use]
    pub fn verdict(self) -> Verdict {
        self.referees.verdict()
    }
}
