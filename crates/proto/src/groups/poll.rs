//! The directory's part of votes: opens ballots, counts each voter once, ends in time.
//!
//! The thesis waits until all votes are received (4.3.1.5), which is for ever if a voter has died;
//! here silence becomes abstention at a deadline. Calls are sent again until then.

use super::GroupId;
use super::vote::{
    Kind, Opinion, Outcome, Refusal, Tally, Vote, VoteCall, VoteClosed, VoteRequest, passes,
};
use crate::mutant::Mutant;
use crate::object::NodeId;
use crate::time::{Span, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How votes are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PollSettings {
    /// How long a ballot is open.
    pub open: Span,
    /// Between calls to those who have not voted.
    pub resend: Span,
    /// Between changes of one group; between ballots about one machine too. The thesis asks for
    /// limits (3.3.9) and gives no numbers.
    pub between_changes: Span,
    /// How long a machine stays in a group at least.
    pub membership: Span,
    /// No group is larger.
    pub size_max: usize,
    /// A machine that takes longer to answer the directory is slow.
    pub rejection: Span,
}

impl Default for PollSettings {
    /// Groups of 8, and the rejection threshold of 60 Hz.
    fn default() -> PollSettings {
        PollSettings {
            open: Span::from_ms(1000),
            resend: Span::from_ms(100),
            between_changes: Span::from_ms(2000),
            membership: Span::from_ms(10_000),
            size_max: 8,
            rejection: Span::from_ms(11),
        }
    }
}

/// What happens to [`Polls`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollInput {
    /// The groups from now on; an epoch that is not newer changes nothing.
    Groups {
        /// Grows with every change.
        epoch: u64,
        /// Every machine in one of them.
        groups: BTreeMap<GroupId, Vec<NodeId>>,
    },
    /// A machine asks for a vote.
    Request {
        /// Who asks, as the connection says.
        from: NodeId,
        /// What for.
        request: VoteRequest,
    },
    /// A machine votes.
    Vote {
        /// Who votes, as the connection says.
        from: NodeId,
        /// How.
        vote: Vote,
    },
    /// The directory has measured how long a machine takes to answer.
    Measured {
        /// The member to send it to.
        node: NodeId,
        /// How long.
        delay: Span,
    },
    /// It may be time.
    Wake,
}

/// What [`Polls`] want done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PollOutput {
    /// Ask a member.
    Call {
        /// Whom.
        to: NodeId,
        /// The call.
        call: VoteCall,
    },
    /// Send a member the outcome.
    Closed {
        /// Whom.
        to: NodeId,
        /// The outcome.
        closed: VoteClosed,
    },
    /// Send the caller of a vote that there is none.
    Refused {
        /// Whom.
        to: NodeId,
        /// What was asked for.
        request: VoteRequest,
        /// Why not.
        why: Refusal,
    },
    /// A ballot has passed: the machine is to come into the group, or to leave it for one of its
    /// own. To be dropped if the epoch is over.
    Change(VoteClosed),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ballot {
    call: VoteCall,
    caller: NodeId,
    group: GroupId,
    /// Where a machine that is to come in is now.
    from: Option<GroupId>,
    /// Every voter, with what it said.
    votes: BTreeMap<NodeId, Option<Opinion>>,
    /// What a mistake counts again.
    again: Vec<Opinion>,
    /// [`NEVER`] before its call has gone out.
    deadline: Time,
    resend: Time,
}

const NEVER: Time = Time(u64::MAX);

/// Holds votes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Polls {
    settings: PollSettings,
    #[serde(skip)]
    mutant: Option<Mutant>,
    /// Calls go out later than they are made, see [`Polls::called`].
    #[serde(skip)]
    defers: bool,
    epoch: u64,
    groups: BTreeMap<GroupId, Vec<NodeId>>,
    /// Where every machine is, and since when.
    members: BTreeMap<NodeId, (GroupId, Time)>,
    /// When groups last changed.
    changed: BTreeMap<GroupId, Time>,
    /// When ballots about machines last ended.
    ended: BTreeMap<NodeId, Time>,
    /// When a ballot that a machine had asked for last came to nothing: one that is near to no
    /// other could otherwise keep its group busy so that no other gets to ask.
    refuted: BTreeMap<NodeId, Time>,
    measured: BTreeMap<NodeId, Span>,
    /// By number; at most one for each group.
    ballots: BTreeMap<u64, Ballot>,
    next: u64,
}

impl Polls {
    /// There are no groups yet; the first to be announced may have any epoch but 0.
    #[must_use]
    pub fn new(settings: PollSettings) -> Polls {
        Polls {
            settings,
            mutant: None,
            defers: false,
            epoch: 0,
            groups: BTreeMap::new(),
            members: BTreeMap::new(),
            changed: BTreeMap::new(),
            ended: BTreeMap::new(),
            refuted: BTreeMap::new(),
            measured: BTreeMap::new(),
            ballots: BTreeMap::new(),
            next: 0,
        }
    }

    /// The same with a defect, to test the checkers.
    #[must_use]
    pub(crate) fn with_mutant(self, mutant: Option<Mutant>) -> Polls {
        Polls { mutant, ..self }
    }

    /// The same where calls go out later than they are made: the caller that keeps them back
    /// reports when, by [`Polls::called`].
    pub(crate) fn deferring(self) -> Polls {
        Polls { defers: true, ..self }
    }

    /// A call goes out only now: its voters have their time from here. A directory of machines that
    /// are far from each other keeps a ballot for as long as voters had to answer before a voter
    /// receives it; when that time counted, no vote ever passed.
    pub(crate) fn called(&mut self, now: Time, number: u64) {
        let PollSettings { open, resend, .. } = self.settings;
        let endless = self.mutant == Some(Mutant::NoDeadline);
        if let Some(ballot) = self.ballots.get_mut(&number).filter(|it| it.waits() && !endless) {
            (ballot.deadline, ballot.resend) = (now + open, now + Span(resend.0.max(1)));
        }
    }

    /// The machine that held them is gone; whether its calls went out is unknown.
    pub(crate) fn resume(&mut self, now: Time) {
        let numbers: Vec<u64> = self.ballots.keys().copied().collect();
        numbers.into_iter().for_each(|number| self.called(now, number));
    }

    /// The directory was paused: members had no time to vote, or voted by what they measured across
    /// its pause. Open ballots are void.
    pub(crate) fn paused(&mut self, now: Time) -> Vec<PollOutput> {
        let mut out = Vec::new();
        let open: Vec<u64> = self.ballots.keys().copied().collect();
        for number in open {
            self.close(now, number, true, &mut out);
        }
        out
    }

    /// Is there more in it than what was measured and when members are asked again? When a
    /// ballot ends follows from when its call went out.
    pub(crate) fn has_decided_since(&self, before: &Polls) -> bool {
        let ballot =
            |a: &Ballot, b: &Ballot| a.call != b.call || a.votes != b.votes || a.again != b.again;
        self.next != before.next
            || self.epoch != before.epoch
            || self.ballots.len() != before.ballots.len()
            || self.changed != before.changed
            || self.ended != before.ended
            || self.refuted != before.refuted
            || self.ballots.iter().zip(&before.ballots).any(|(a, b)| a.0 != b.0 || ballot(a.1, b.1))
    }

    /// What happens, and what is to be done about it.
    pub fn step(&mut self, now: Time, input: PollInput) -> Vec<PollOutput> {
        let mut out = Vec::new();
        // A vote that comes at the deadline comes too late.
        self.close_due(now, &mut out);
        match input {
            PollInput::Groups { epoch, groups } => self.regroup(now, epoch, groups, &mut out),
            PollInput::Request { from, request } => match self.open(now, from, &request) {
                Ok(Some(ballot)) => {
                    self.ballots.insert(self.next, ballot);
                    self.next += 1;
                }
                Ok(None) => {}
                Err(why) => out.push(PollOutput::Refused { to: from, request, why }),
            },
            PollInput::Vote { from, vote } => self.count(now, from, &vote, &mut out),
            PollInput::Measured { node, delay } => {
                if self.members.contains_key(&node) {
                    self.measured.insert(node, delay);
                }
            }
            PollInput::Wake => {}
        }
        self.call(now, &mut out);
        out
    }

    /// The numbers of those that are open.
    pub(crate) fn ballots(&self) -> impl Iterator<Item = u64> {
        self.ballots.keys().copied()
    }

    /// When to call [`Polls::step`] at the latest.
    #[must_use]
    pub fn wake_at(&self) -> Option<Time> {
        self.ballots.values().map(|ballot| ballot.resend.min(ballot.deadline)).min()
    }

    /// All ballots of the groups before are void.
    fn regroup(
        &mut self,
        now: Time,
        epoch: u64,
        groups: BTreeMap<GroupId, Vec<NodeId>>,
        out: &mut Vec<PollOutput>,
    ) {
        if epoch <= self.epoch {
            return;
        }
        let open: Vec<u64> = self.ballots.keys().copied().collect();
        for number in open {
            self.close(now, number, true, out);
        }
        let known = !self.groups.is_empty();
        for (&group, nodes) in &groups {
            if known && self.groups.get(&group) != Some(nodes) {
                self.changed.insert(group, now);
            }
        }
        self.changed.retain(|group, _| groups.contains_key(group));
        let mut members = BTreeMap::new();
        for (&group, nodes) in &groups {
            for &node in nodes {
                let before = self.members.get(&node).filter(|(before, _)| *before == group);
                members.insert(node, before.copied().unwrap_or((group, now)));
            }
        }
        self.ended.retain(|node, _| members.contains_key(node));
        self.refuted.retain(|node, _| members.contains_key(node));
        self.measured.retain(|node, _| members.contains_key(node));
        (self.epoch, self.groups, self.members) = (epoch, groups, members);
    }

    /// A new ballot, unless it is open already.
    fn open(
        &self,
        now: Time,
        caller: NodeId,
        request: &VoteRequest,
    ) -> Result<Option<Ballot>, Refusal> {
        let &VoteRequest { epoch, kind, subject } = request;
        if epoch != self.epoch {
            return Err(Refusal::Epoch);
        }
        if caller == subject {
            return Err(Refusal::Caller);
        }
        let &(group, _) = self.members.get(&caller).ok_or(Refusal::Caller)?;
        let &(home, since) = self.members.get(&subject).ok_or(Refusal::Subject)?;
        let size = |group| self.groups.get(&group).map_or(0, Vec::len);
        match kind {
            Kind::Reject if home != group => return Err(Refusal::Subject),
            Kind::Include if home == group => return Err(Refusal::Subject),
            Kind::Include if size(home) > size(group) => return Err(Refusal::Smaller),
            Kind::Include if size(group) >= self.settings.size_max => return Err(Refusal::Full),
            _ => {}
        }
        for ballot in self.ballots.values() {
            if (ballot.group, ballot.call.kind, ballot.call.subject) == (group, kind, subject) {
                return Ok(None);
            }
            if [group, home].iter().any(|&group| ballot.touches(group)) {
                return Err(Refusal::Busy);
            }
        }
        self.check_pauses(now, subject, since, [group, home])?;
        let refuted = self.refuted.get(&caller).copied();
        let free = refuted.map_or(now, |last| last + Span(2 * self.settings.between_changes.0));
        if free > now {
            return Err(Refusal::TooSoon { wait: free - now });
        }
        let voters = self.groups.get(&group).into_iter().flatten();
        let votes = voters.filter(|&&voter| voter != subject).map(|&voter| (voter, None));
        Ok(Some(Ballot {
            call: VoteCall { epoch, ballot: self.next, kind, subject },
            caller,
            group,
            from: (home != group).then_some(home),
            votes: votes.collect(),
            again: Vec::new(),
            deadline: if self.defers || self.mutant == Some(Mutant::NoDeadline) {
                NEVER
            } else {
                now + self.settings.open
            },
            resend: now,
        }))
    }

    /// Is it long enough since the groups changed, the machine moved, and was voted about?
    fn check_pauses(
        &self,
        now: Time,
        subject: NodeId,
        since: Time,
        groups: [GroupId; 2],
    ) -> Result<(), Refusal> {
        let PollSettings { between_changes, membership, .. } = self.settings;
        let changes = groups.iter().filter_map(|group| self.changed.get(group));
        let pauses = changes.chain(self.ended.get(&subject)).map(|&last| last + between_changes);
        let free = pauses.chain([since + membership]).max().unwrap_or(now);
        if free > now && self.mutant != Some(Mutant::NoHysteresis) {
            Err(Refusal::TooSoon { wait: free - now })
        } else {
            Ok(())
        }
    }

    /// Each voter once, and only in the ballot that the vote names.
    fn count(&mut self, now: Time, from: NodeId, vote: &Vote, out: &mut Vec<PollOutput>) {
        let mut number = vote.ballot;
        if self.mutant == Some(Mutant::LateVote) && !self.ballots.contains_key(&number) {
            number = self.ballots.keys().next().copied().unwrap_or(number);
        }
        let Some(ballot) = self.ballots.get_mut(&number) else { return };
        let wrong = vote.epoch != ballot.call.epoch && self.mutant != Some(Mutant::LateVote);
        if from != vote.voter || wrong {
            return;
        }
        match ballot.votes.get_mut(&vote.voter) {
            Some(opinion @ None) => *opinion = Some(vote.opinion),
            Some(_) if self.mutant == Some(Mutant::VoteTwice) => ballot.again.push(vote.opinion),
            _ => return,
        }
        if ballot.votes.values().all(Option::is_some) {
            self.close(now, number, false, out);
        }
    }

    fn close_due(&mut self, now: Time, out: &mut Vec<PollOutput>) {
        let due = self.ballots.iter().filter(|(_, ballot)| now >= ballot.deadline);
        let due: Vec<u64> = due.map(|(&number, _)| number).collect();
        for number in due {
            self.close(now, number, false, out);
        }
    }

    fn close(&mut self, now: Time, number: u64, void: bool, out: &mut Vec<PollOutput>) {
        let Some(ballot) = self.ballots.remove(&number) else { return };
        let Ballot { call, caller, group, from, votes, again, .. } = ballot;
        let mut tally = Tally::default();
        again.into_iter().for_each(|opinion| tally.add(opinion));
        for opinion in votes.values() {
            tally.add(opinion.unwrap_or(Opinion::Abstain));
        }
        let slow = self.measured.get(&call.subject).is_some_and(|&d| d > self.settings.rejection);
        let outcome = match (void, passes(call.kind, &tally, slow)) {
            (true, _) => Outcome::Void,
            (false, true) => Outcome::Passed,
            (false, false) => Outcome::Failed,
        };
        let VoteCall { epoch, ballot, kind, subject } = call;
        let closed = VoteClosed { epoch, ballot, group, kind, subject, tally, outcome };
        out.extend(votes.keys().map(|&to| PollOutput::Closed { to, closed }));
        if outcome == Outcome::Passed {
            // From here on, so that no second change is decided while the first is on its way.
            self.changed.extend([Some(group), from].into_iter().flatten().map(|it| (it, now)));
            out.push(PollOutput::Change(closed));
        }
        if outcome == Outcome::Failed {
            self.refuted.insert(caller, now);
        }
        if outcome != Outcome::Void {
            self.ended.insert(subject, now);
        }
    }

    /// Asks those who have not voted, when it is time.
    fn call(&mut self, now: Time, out: &mut Vec<PollOutput>) {
        for ballot in self.ballots.values_mut().filter(|ballot| now >= ballot.resend) {
            ballot.resend = now + Span(self.settings.resend.0.max(1));
            if ballot.waits() {
                ballot.resend = NEVER;
            }
            let call = ballot.call;
            let silent = ballot.votes.iter().filter(|(_, opinion)| opinion.is_none());
            out.extend(silent.map(|(&to, _)| PollOutput::Call { to, call }));
        }
    }
}

impl Ballot {
    /// Is it still kept back?
    fn waits(&self) -> bool {
        self.deadline == NEVER
    }

    fn touches(&self, group: GroupId) -> bool {
        self.group == group || self.from == Some(group)
    }
}
