//! A hundred votes with everything that a network can do to them.

use super::{MS, groups};
use jostle_proto::{
    GroupId, Kind, NodeId, Opinion, Outcome, PollInput, PollOutput, PollSettings, Polls, Span,
    Tally, Time, Vote, VoteClosed, VoteRequest,
};
use std::collections::{BTreeMap, BTreeSet};

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        jostle_dice::below(&mut self.0, n)
    }
}

/// What the twin knows about a ballot: when it was first called, and what was heard of it.
#[derive(Default)]
struct Heard {
    opened: Option<Time>,
    voters: BTreeSet<NodeId>,
    votes: Vec<(Time, NodeId, Vote)>,
    closed: Option<(Time, VoteClosed)>,
}

#[derive(Default)]
struct Counts {
    passed: u32,
    failed: u32,
    void: u32,
    silent: u32,
    doubled: u32,
    stale: u32,
}

struct World {
    random: Random,
    polls: Polls,
    settings: PollSettings,
    now: Time,
    epoch: u64,
    groups: BTreeMap<GroupId, Vec<NodeId>>,
    /// What is under way to the polls, or about to happen.
    coming: BTreeMap<(Time, u64), PollInput>,
    number: u64,
    loss: u64,
    doubling: u64,
    /// In ms; what is on the way that long is overtaken.
    delay: u64,
    ballots: BTreeMap<(u64, u64), Heard>,
    changes: Vec<(Time, VoteClosed)>,
    /// Votes that were sent, to be sent again at an unexpected time.
    old: Vec<(NodeId, Vote)>,
    measured: BTreeMap<NodeId, Span>,
}

impl World {
    fn new(seed: u64) -> World {
        let mut random = Random(seed);
        let groups = groups(&[&[1, 2, 3, 4, 5], &[6, 7, 8], &[9], &[10, 11]]);
        let settings = PollSettings { size_max: 6, ..PollSettings::default() };
        let mut world = World {
            polls: Polls::new(settings),
            settings,
            now: Time(0),
            epoch: 1,
            groups: groups.clone(),
            coming: BTreeMap::new(),
            number: 0,
            loss: [0, 5, 30][random.below(3) as usize],
            doubling: [0, 20, 50][random.below(3) as usize],
            delay: [1, 100, 900, 4000][random.below(4) as usize],
            ballots: BTreeMap::new(),
            changes: Vec::new(),
            old: Vec::new(),
            measured: BTreeMap::new(),
            random,
        };
        world.put(PollInput::Groups { epoch: 1, groups });
        world
    }

    fn send(&mut self, input: PollInput) {
        if self.random.below(100) < self.loss {
            return;
        }
        let copies = 1 + u64::from(self.random.below(100) < self.doubling);
        for _ in 0..copies {
            let at = self.now + Span(self.random.below(self.delay * MS));
            self.number += 1;
            self.coming.insert((at, self.number), input.clone());
        }
    }

    /// Hands it to the polls, and hears what they say.
    fn put(&mut self, input: PollInput) {
        if let PollInput::Vote { from, vote } = &input {
            let heard = self.ballots.entry((vote.epoch, vote.ballot)).or_default();
            heard.votes.push((self.now, *from, *vote));
        }
        if let PollInput::Measured { node, delay } = input {
            self.measured.insert(node, delay);
        }
        for output in self.polls.step(self.now, input) {
            match output {
                PollOutput::Call { to, call } => {
                    let heard = self.ballots.entry((call.epoch, call.ballot)).or_default();
                    heard.opened.get_or_insert(self.now);
                    heard.voters.insert(to);
                    self.answer(to, call.epoch, call.ballot);
                }
                PollOutput::Closed { closed, .. } => {
                    self.judge_outcome(&closed);
                    let key = (closed.epoch, closed.ballot);
                    let heard = self.ballots.entry(key).or_default();
                    match heard.closed {
                        None => heard.closed = Some((self.now, closed)),
                        Some(before) => assert_eq!(before, (self.now, closed), "closed once"),
                    }
                }
                PollOutput::Change(closed) => {
                    self.changes.push((self.now, closed));
                    self.apply(&closed);
                }
                PollOutput::Refused { .. } => {}
            }
        }
    }

    /// A voter may change its mind when it is asked again, lie about who it is, or bring up an old
    /// vote.
    fn answer(&mut self, voter: NodeId, epoch: u64, ballot: u64) {
        let opinions = [Opinion::Include, Opinion::Abstain, Opinion::Reject, Opinion::Reject];
        let opinion = opinions[self.random.below(4) as usize];
        let vote = Vote { epoch, ballot, voter, opinion, measured: None };
        self.send(PollInput::Vote { from: voter, vote });
        self.old.push((voter, vote));
        if self.random.below(5) == 0 {
            let (from, vote) = self.old[self.random.below(self.old.len() as u64) as usize];
            self.send(PollInput::Vote { from, vote });
        }
        if self.random.below(5) == 0 {
            let from = NodeId(1 + self.random.below(12) as u32);
            self.send(PollInput::Vote { from, vote });
            let epoch = (epoch + 1).saturating_sub(self.random.below(3));
            self.send(PollInput::Vote { from: voter, vote: Vote { epoch, ..vote } });
        }
    }

    /// The directory moves the machine; the new groups are known a little later.
    fn apply(&mut self, closed: &VoteClosed) {
        if closed.epoch != self.epoch {
            return;
        }
        for group in self.groups.values_mut() {
            group.retain(|&node| node != closed.subject);
        }
        self.groups.retain(|_, group| !group.is_empty());
        let to = match closed.kind {
            Kind::Include => closed.group,
            Kind::Reject => GroupId(100 + self.epoch as u32),
        };
        self.groups.entry(to).or_default().push(closed.subject);
        self.epoch += 1;
        let input = PollInput::Groups { epoch: self.epoch, groups: self.groups.clone() };
        let at = self.now + Span(self.random.below(300 * MS));
        self.number += 1;
        self.coming.insert((at, self.number), input);
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            let wake = self.polls.wake_at().unwrap_or(until);
            let next = self.coming.keys().next().map_or(until, |key| key.0);
            let ask = self.now + Span((100 + self.random.below(400)) * MS);
            self.now = wake.min(next).min(ask).min(until).max(self.now);
            match self.coming.first_entry() {
                Some(entry) if entry.key().0 <= self.now => {
                    let input = entry.remove();
                    self.put(input);
                }
                _ if self.now >= wake => self.put(PollInput::Wake),
                _ => self.ask(),
            }
        }
    }

    fn ask(&mut self) {
        let [from, subject] = [0; 2].map(|_| NodeId(1 + self.random.below(11) as u32));
        let kind = [Kind::Include, Kind::Reject][self.random.below(2) as usize];
        let epoch = self.epoch;
        self.send(PollInput::Request { from, request: VoteRequest { epoch, kind, subject } });
        if self.random.below(10) == 0 {
            let delay = Span(self.random.below(20) * MS);
            self.put(PollInput::Measured { node: subject, delay });
        }
    }

    /// The thesis' rule, and what the directory has measured by now.
    fn judge_outcome(&self, closed: &VoteClosed) {
        let Tally { include, abstain, reject } = closed.tally;
        let [include, abstain, reject] = [include, abstain, reject].map(f64::from);
        let limit = self.settings.rejection;
        let slow = self.measured.get(&closed.subject).is_some_and(|&delay| delay > limit);
        let passes = match closed.kind {
            Kind::Include => include >= 1.0 && reject == 0.0,
            Kind::Reject => include + 0.5 * abstain - 2.0 * reject < 0.0 && (reject >= 2.0 || slow),
        };
        assert!(closed.outcome == Outcome::Void || passes == (closed.outcome == Outcome::Passed));
    }

    /// What should have come out, from what went in.
    fn judge(&self, seed: u64, counts: &mut Counts) {
        for (&(epoch, number), heard) in &self.ballots {
            let case = format!("seed {seed}, epoch {epoch}, ballot {number}");
            let Some(opened) = heard.opened else {
                assert!(heard.closed.is_none(), "{case}: never opened");
                counts.stale += 1;
                continue;
            };
            let deadline = opened + self.settings.open;
            let Some((ended, closed)) = heard.closed else {
                assert!(self.now < deadline, "{case}: still open");
                continue;
            };
            assert!(ended <= deadline, "{case}: too late");
            let mut opinions = BTreeMap::new();
            for &(at, from, vote) in &heard.votes {
                let counts_at_all = at <= ended && at < deadline && from == vote.voter;
                if counts_at_all && heard.voters.contains(&from) && opinions.contains_key(&from) {
                    counts.doubled += 1;
                } else if counts_at_all && heard.voters.contains(&from) {
                    opinions.insert(from, vote.opinion);
                }
            }
            let mut tally = Tally::default();
            for voter in &heard.voters {
                tally.add(opinions.get(voter).copied().unwrap_or(Opinion::Abstain));
            }
            assert_eq!(closed.tally, tally, "{case}");
            assert!(!heard.voters.contains(&closed.subject), "{case}");
            counts.silent += u32::from(opinions.len() < heard.voters.len());
            match closed.outcome {
                Outcome::Passed => counts.passed += 1,
                Outcome::Failed => counts.failed += 1,
                Outcome::Void => counts.void += 1,
            }
            let listed =
                self.changes.iter().filter(|(at, change)| (*at, *change) == (ended, closed));
            assert_eq!(listed.count(), usize::from(closed.outcome == Outcome::Passed), "{case}");
            assert!(
                ended == deadline
                    || closed.outcome == Outcome::Void
                    || opinions.len() == heard.voters.len()
            );
        }
        self.judge_pauses(seed);
    }

    /// At most one change of a group in 2 s, and of a machine in 10 s.
    fn judge_pauses(&self, seed: u64) {
        for (index, (later, change)) in self.changes.iter().enumerate() {
            for (earlier, before) in &self.changes[..index] {
                let apart = *later - *earlier;
                let case = format!("seed {seed}: {before:?} {change:?}");
                assert!(
                    change.group != before.group || apart >= self.settings.between_changes,
                    "{case}"
                );
                assert!(
                    change.subject != before.subject || apart >= self.settings.membership,
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn every_ballot_ends_in_time_with_the_votes_that_were_cast() {
    let mut counts = Counts::default();
    for seed in 0..400 {
        let mut world = World::new(seed);
        world.run(Time(60_000 * MS));
        world.judge(seed, &mut counts);
    }
    let Counts { passed, failed, void, silent, doubled, stale } = counts;
    let all = [passed, failed, void, silent, doubled, stale];
    assert!(all.iter().all(|&count| count > 20), "{all:?}");
}
