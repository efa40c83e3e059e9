//! E5, E6, L3: votes count once and in their ballot, decide as they were counted and in time; a
//! node that is let in is near, one that is put out is far; none changes its group too often.

use crate::cluster::RULES;
use jostle_proto::{
    Address, Directory, Epoch, GroupId, Kind, Member, Message, NodeId, Opinion, Outcome, Tally,
    Time, View, Vote, VoteCall, VoteClosed, passes,
};
use std::collections::BTreeMap;

/// A ballot as it is seen from outside.
struct Ballot {
    call: VoteCall,
    opened: Time,
    /// How long the directory had been down when it was opened, and how often another of its
    /// machines had come to lead.
    down: u64,
    leads: u64,
    votes: BTreeMap<NodeId, Vec<Vote>>,
    closed: bool,
}

#[derive(Default)]
pub(super) struct Votes {
    ballots: BTreeMap<u64, Ballot>,
    /// How long the directory was down or stood still, all in all.
    down: u64,
    /// How long the directory's machines take at most to agree that a ballot has ended. The outcome
    /// may not be sent before that, so it is no part of the time that voters have.
    keeping: u64,
    /// How often another of the directory's machines came to lead.
    leads: u64,
    /// Does nothing fail but that machines stand still?
    pub(super) only_pauses: bool,
    /// The newest view, and since when.
    newest: (Epoch, Time),
    /// Where nodes are, and since when.
    members: BTreeMap<NodeId, (GroupId, Time)>,
    changed: BTreeMap<GroupId, (Vec<Member>, Time)>,
    moves: u64,
}

/// Clocks differ, and messages take their time.
const SLACK: u64 = 300_000;

impl Votes {
    pub(super) fn down(&mut self, microseconds: u64) {
        self.down += microseconds;
    }

    pub(super) fn keeping(&mut self, microseconds: u64) {
        self.keeping = microseconds;
    }

    /// Another of the directory's machines leads. It cannot know whether the calls of the one
    /// before it went out, so it gives the voters of open ballots their time once more.
    pub(super) fn led(&mut self, now: Time) {
        self.leads += 1;
        for ballot in self.ballots.values_mut() {
            (ballot.opened, ballot.down) = (now, self.down);
        }
    }

    /// When the newest view was made.
    pub(super) fn last_view(&self) -> Time {
        self.newest.1
    }

    /// How much longer than allowed a ballot is open.
    fn late(&self, ballot: &Ballot, now: Time) -> u64 {
        let open = RULES.polls.open.0 + SLACK + self.keeping + (self.down - ballot.down);
        now.0.saturating_sub(ballot.opened.0 + open)
    }

    pub(super) fn moves(&self) -> u64 {
        self.moves
    }

    pub(super) fn changed(&self, group: GroupId) -> Option<Time> {
        self.changed.get(&group).map(|(_, time)| *time)
    }

    pub(super) fn last_change(&self) -> Time {
        self.changed.values().map(|(_, time)| *time).max().unwrap_or(Time(0))
    }

    pub(super) fn sent(
        &mut self,
        now: Time,
        from: Address,
        message: &Message,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        match message {
            Message::View(view) if from == Address::Directory => self.view(now, view),
            Message::VoteCall(call) => {
                let (down, leads) = (self.down, self.leads);
                self.ballots.entry(call.ballot).or_insert_with(|| Ballot {
                    call: *call,
                    opened: now,
                    down,
                    leads,
                    votes: BTreeMap::new(),
                    closed: false,
                });
            }
            Message::Vote(vote) => {
                if let Some(ballot) = self.ballots.get_mut(&vote.ballot)
                    && ballot.call.epoch == vote.epoch
                {
                    ballot.votes.entry(vote.voter).or_default().push(*vote);
                }
            }
            Message::VoteClosed(closed) => self.closed(now, closed, violations),
            _ => {}
        }
    }

    fn view(&mut self, now: Time, view: &View) {
        if view.epoch > self.newest.0 {
            self.newest = (view.epoch, now);
        }
        let (ring, time) = self.changed.entry(view.group).or_insert((Vec::new(), now));
        if *ring != view.ring {
            (*ring, *time) = (view.ring.clone(), now);
        }
        for member in &view.ring {
            let known = self.members.get(&member.node);
            if known.is_none_or(|(group, _)| *group != view.group) {
                self.moves += u64::from(known.is_some());
                self.members.insert(member.node, (view.group, now));
            }
        }
    }

    fn closed(
        &mut self,
        now: Time,
        closed: &VoteClosed,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        let Some(ballot) = self.ballots.get(&closed.ballot) else {
            // A leader that was replaced may have opened it without calling any voter; the next one
            // cannot know that. It may then report that nothing was decided, and no more.
            let Tally { include, reject, .. } = closed.tally;
            if closed.outcome != Outcome::Void || include + reject > 0 {
                let (number, outcome) = (closed.ballot, closed.outcome);
                violations.push(("E6", format!("ballot {number} was never called: {outcome:?}")));
            }
            return;
        };
        let late = self.late(ballot, now);
        let Some(ballot) = self.ballots.get_mut(&closed.ballot) else { return };
        if std::mem::replace(&mut ballot.closed, true) {
            return;
        }
        if late > 0 {
            violations.push(("L3", format!("ballot {} ended {late} µs late", closed.ballot)));
        }
        let mut cast = Tally::default();
        for votes in ballot.votes.values() {
            for opinion in [Opinion::Include, Opinion::Abstain, Opinion::Reject] {
                if votes.iter().any(|vote| vote.opinion == opinion) {
                    cast.add(opinion);
                }
            }
        }
        let Tally { include, reject, .. } = closed.tally;
        let number = closed.ballot;
        if include > cast.include || reject > cast.reject {
            violations.push(("E6", format!("ballot {number}: {:?} of {cast:?}", closed.tally)));
        }
        let [alone, helped] = [false, true].map(|it| passes(closed.kind, &closed.tally, it));
        let right = match closed.outcome {
            Outcome::Passed => alone || helped,
            Outcome::Failed => !alone || !helped,
            Outcome::Void => true,
        };
        if !right || closed.epoch != ballot.call.epoch {
            violations.push(("E6", format!("ballot {number} came to {:?}", closed.outcome)));
        }
        if closed.outcome == Outcome::Passed {
            if closed.kind == Kind::Reject && self.only_pauses {
                let node = closed.subject.0;
                violations.push(("G1", format!("node {node} is put out, but only stood still")));
            }
            judge_delays(closed, ballot, violations);
            self.judge_pause(now, closed, violations);
        }
    }

    /// E5: a node stays in a group for a while before votes move it again.
    fn judge_pause(
        &mut self,
        now: Time,
        closed: &VoteClosed,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        let least = RULES.polls.membership.0 - SLACK;
        let node = closed.subject;
        let since = self.members.get(&node).map(|(_, since)| *since);
        if since.is_some_and(|time| now.0 < time.0 + least) {
            violations.push(("E5", format!("node {} is moved again so soon", node.0)));
        }
    }

    /// Ballots that should have ended. What a leader of the directory had still to send when it was
    /// replaced is not sent: then it counts whether the ballot is still held.
    pub(super) fn open(
        &self,
        now: Time,
        directory: Option<&Directory>,
    ) -> Vec<(&'static str, String)> {
        let is_held = |number: u64| directory.is_none_or(|it| it.ballots().any(|it| it == number));
        let open = self.ballots.iter().filter(|(_, ballot)| !ballot.closed);
        let open = open.filter(|(number, it)| it.leads == self.leads || is_held(**number));
        let late = open.filter(|(_, ballot)| self.late(ballot, now) > 0);
        late.map(|(number, _)| ("L3", format!("ballot {number} never ends"))).take(1).collect()
    }
}

/// E5: a node that is let in is near to all that vote for it; one that is put out is far from some.
fn judge_delays(
    closed: &VoteClosed,
    ballot: &Ballot,
    violations: &mut Vec<(&'static str, String)>,
) {
    let thresholds = RULES.thresholds;
    let votes = || ballot.votes.values().flatten();
    let median = |vote: &Vote| vote.measured.map(|measured| measured.median);
    let right = match closed.kind {
        Kind::Include => votes()
            .filter(|vote| vote.opinion == Opinion::Include)
            .all(|vote| median(vote).is_some_and(|delay| delay < thresholds.inclusion)),
        Kind::Reject => votes()
            .filter(|vote| vote.opinion == Opinion::Reject)
            .any(|vote| vote.measured.is_some_and(|it| it.p95 > thresholds.rejection)),
    };
    if !right {
        violations
            .push(("E5", format!("ballot {}: {:?} by {:?}", closed.ballot, closed.kind, closed)));
    }
}
