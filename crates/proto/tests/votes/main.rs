//! Votes over a network that loses, doubles and reorders, judged by a twin that sees only what went
//! in.

mod network;

use jostle_proto::{
    GroupId, Kind, NodeId, Opinion, Outcome, PollInput, PollOutput, PollSettings, Polls, Refusal,
    Span, Tally, Time, Vote, VoteCall, VoteClosed, VoteRequest, passes,
};
use std::collections::BTreeMap;

const MS: u64 = 1000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

fn groups(of: &[&[u32]]) -> BTreeMap<GroupId, Vec<NodeId>> {
    let nodes = |group: &&[u32]| group.iter().copied().map(NodeId).collect();
    (0..).map(GroupId).zip(of.iter().map(nodes)).collect()
}

/// Since time 0, with epoch 1.
fn polls(of: &[&[u32]]) -> Polls {
    let mut polls = Polls::new(PollSettings::default());
    let first = PollInput::Groups { epoch: 1, groups: groups(of) };
    assert_eq!(polls.step(Time(0), first), []);
    polls
}

fn request(kind: Kind, from: u32, subject: u32) -> PollInput {
    let request = VoteRequest { epoch: 1, kind, subject: NodeId(subject) };
    PollInput::Request { from: NodeId(from), request }
}

fn vote(ballot: u64, voter: u32, opinion: Opinion) -> PollInput {
    let vote = Vote { epoch: 1, ballot, voter: NodeId(voter), opinion, measured: None };
    PollInput::Vote { from: NodeId(voter), vote }
}

fn refusal(outputs: &[PollOutput]) -> Option<Refusal> {
    match outputs {
        [PollOutput::Refused { why, .. }] => Some(*why),
        _ => None,
    }
}

fn called(outputs: &[PollOutput]) -> Vec<u32> {
    let called = outputs.iter().filter_map(|output| match output {
        PollOutput::Call { to, .. } => Some(to.0),
        _ => None,
    });
    called.collect()
}

fn change(outputs: &[PollOutput]) -> Option<VoteClosed> {
    outputs.iter().find_map(|output| match output {
        PollOutput::Change(closed) => Some(*closed),
        _ => None,
    })
}

fn closed(outputs: &[PollOutput]) -> Option<VoteClosed> {
    outputs.iter().find_map(|output| match output {
        PollOutput::Closed { closed, .. } => Some(*closed),
        _ => None,
    })
}

#[test]
fn the_rule_is_the_thesis_formula_with_a_second_opinion() {
    let (mut passed, mut by_formula_alone) = (0, 0);
    for include in 0..8 {
        for abstain in 0..8 {
            for reject in 0..8 {
                let tally = Tally { include, abstain, reject };
                let weighted =
                    f64::from(include) + 0.5 * f64::from(abstain) - 2.0 * f64::from(reject);
                let alone = passes(Kind::Reject, &tally, false);
                assert_eq!(alone, weighted < 0.0 && reject >= 2);
                assert_eq!(passes(Kind::Reject, &tally, true), weighted < 0.0);
                assert_eq!(passes(Kind::Include, &tally, false), reject == 0 && include > 0);
                passed += usize::from(alone);
                by_formula_alone += usize::from(weighted < 0.0 && !alone);
            }
        }
    }
    assert!(passed > 0 && by_formula_alone > 0);
}

#[test]
fn a_slow_member_is_voted_out() {
    let mut polls = polls(&[&[1, 2, 3, 4]]);
    let opened = polls.step(at(10_000), request(Kind::Reject, 1, 4));
    assert_eq!(called(&opened), [1, 2, 3], "all but the subject");
    let call = VoteCall { epoch: 1, ballot: 0, kind: Kind::Reject, subject: NodeId(4) };
    assert_eq!(opened[0], PollOutput::Call { to: NodeId(1), call });
    assert_eq!(polls.wake_at(), Some(at(10_100)));
    assert_eq!(polls.step(at(10_001), vote(0, 1, Opinion::Reject)), []);
    assert_eq!(polls.step(at(10_002), vote(0, 1, Opinion::Reject)), [], "counted once");
    assert_eq!(polls.step(at(10_003), vote(0, 2, Opinion::Include)), []);
    let ended = polls.step(at(10_004), vote(0, 3, Opinion::Reject));
    let closed = change(&ended).unwrap();
    assert_eq!(closed.tally, Tally { include: 1, abstain: 0, reject: 2 });
    assert_eq!((closed.outcome, closed.group), (Outcome::Passed, GroupId(0)));
    assert_eq!(ended.len(), 4, "three voters are informed");
    assert_eq!(polls.wake_at(), None);
}

#[test]
fn silence_becomes_abstention_at_the_deadline() {
    let mut polls = polls(&[&[1, 2, 3, 4]]);
    polls.step(at(10_000), request(Kind::Reject, 1, 4));
    polls.step(at(10_010), vote(0, 1, Opinion::Reject));
    let again = polls.step(at(10_100), PollInput::Wake);
    assert_eq!(called(&again), [2, 3], "those who have not voted are asked again");
    polls.step(at(10_999), PollInput::Wake);
    let ended = polls.step(at(11_000), vote(0, 2, Opinion::Reject));
    let closed = closed(&ended).unwrap();
    assert_eq!(closed.tally, Tally { include: 0, abstain: 2, reject: 1 }, "too late");
    // 0.5 * 2 - 2 < 0, but no other voter seconds it.
    assert_eq!((closed.outcome, change(&ended)), (Outcome::Failed, None));
}

#[test]
fn what_the_directory_measures_seconds_a_vote() {
    for (delay, outcome) in [(12, Outcome::Passed), (11, Outcome::Failed)] {
        let mut polls = polls(&[&[1, 2]]);
        let measured = PollInput::Measured { node: NodeId(2), delay: Span::from_ms(delay) };
        polls.step(at(5_000), measured);
        polls.step(at(10_000), request(Kind::Reject, 1, 2));
        let ended = polls.step(at(10_001), vote(0, 1, Opinion::Reject));
        assert_eq!(closed(&ended).unwrap().outcome, outcome);
    }
}

/// Of five, one that votes falsely puts no healthy node out, whatever gets lost.
#[test]
fn one_liar_of_five_evicts_nobody() {
    for opinions in 0..27 {
        let mut polls = polls(&[&[1, 2, 3, 4, 5]]);
        polls.step(at(10_000), request(Kind::Reject, 1, 5));
        let mut ended = polls.step(at(10_001), vote(0, 1, Opinion::Reject));
        for (voter, digit) in [(2, 1), (3, 3), (4, 9)] {
            match opinions / digit % 3 {
                0 => {}
                1 => ended.extend(polls.step(at(10_002), vote(0, voter, Opinion::Include))),
                _ => ended.extend(polls.step(at(10_002), vote(0, voter, Opinion::Abstain))),
            }
        }
        ended.extend(polls.step(at(11_000), PollInput::Wake));
        assert_eq!((change(&ended), closed(&ended).unwrap().outcome), (None, Outcome::Failed));
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let at_rest =
        || polls(&[&[1, 2, 3], &[4, 5], &[6], &[7, 8], &[10, 11, 12, 13, 14, 15, 16, 17]]);
    let why = |input| refusal(&at_rest().step(at(10_000), input));
    assert_eq!(why(request(Kind::Include, 1, 4)), None);
    assert_eq!(why(request(Kind::Include, 4, 7)), None, "as large");
    assert_eq!(why(request(Kind::Include, 4, 1)), Some(Refusal::Smaller));
    assert_eq!(why(request(Kind::Include, 10, 6)), Some(Refusal::Full));
    assert_eq!(why(request(Kind::Include, 1, 2)), Some(Refusal::Subject));
    assert_eq!(why(request(Kind::Reject, 1, 4)), Some(Refusal::Subject));
    assert_eq!(why(request(Kind::Reject, 1, 99)), Some(Refusal::Subject));
    assert_eq!(why(request(Kind::Reject, 99, 1)), Some(Refusal::Caller));
    assert_eq!(why(request(Kind::Reject, 1, 1)), Some(Refusal::Caller));
    for epoch in [0, 2] {
        let request = VoteRequest { epoch, kind: Kind::Reject, subject: NodeId(2) };
        let input = PollInput::Request { from: NodeId(1), request };
        assert_eq!(why(input), Some(Refusal::Epoch));
    }
    let mut polls = at_rest();
    polls.step(at(10_000), request(Kind::Include, 1, 6));
    assert_eq!(polls.step(at(10_001), request(Kind::Include, 2, 6)), [], "is open already");
    for (from, subject) in [(4, 6), (1, 4)] {
        let outputs = polls.step(at(10_002), request(Kind::Include, from, subject));
        assert_eq!(refusal(&outputs), Some(Refusal::Busy));
    }
    assert_eq!(called(&polls.step(at(10_003), request(Kind::Include, 4, 7))), [4, 5]);
}

#[test]
fn there_is_time_between_votes_and_changes() {
    let mut polls = polls(&[&[1, 2, 3], &[4]]);
    let asks = |polls: &mut Polls, ms, kind, from, subject| {
        refusal(&polls.step(at(ms), request(kind, from, subject)))
    };
    let ask = |polls: &mut Polls, ms, kind, subject| asks(polls, ms, kind, 1, subject);
    let wait = |ms| Some(Refusal::TooSoon { wait: Span::from_ms(ms) });
    assert_eq!(ask(&mut polls, 9_000, Kind::Reject, 3), wait(1_000), "a member for 10 s");
    assert_eq!(ask(&mut polls, 10_000, Kind::Include, 4), None);
    for voter in 1..=3 {
        polls.step(at(10_100), vote(0, voter, Opinion::Abstain));
    }
    assert_eq!(ask(&mut polls, 10_200, Kind::Include, 4), wait(1_900), "voted about already");
    assert_eq!(ask(&mut polls, 10_200, Kind::Reject, 3), wait(3_900), "it was for nothing");
    assert_eq!(asks(&mut polls, 10_200, Kind::Reject, 2, 3), None, "another one asks");
    polls.step(at(10_300), vote(1, 1, Opinion::Reject));
    let ended = polls.step(at(10_300), vote(1, 2, Opinion::Reject));
    assert!(change(&ended).is_some());
    assert_eq!(ask(&mut polls, 10_400, Kind::Reject, 2), wait(1_900), "the group changes");
    let next = PollInput::Groups { epoch: 2, groups: groups(&[&[1, 2], &[4], &[3]]) };
    polls.step(at(11_000), next);
    let request = VoteRequest { epoch: 2, kind: Kind::Include, subject: NodeId(3) };
    let input = PollInput::Request { from: NodeId(1), request };
    assert_eq!(refusal(&polls.step(at(12_400), input.clone())), wait(8_600), "moved at 11 s");
    assert_eq!(called(&polls.step(at(21_000), input)), [1, 2]);
}

#[test]
fn new_groups_make_open_ballots_void() {
    let mut polls = polls(&[&[1, 2, 3]]);
    polls.step(at(10_000), request(Kind::Reject, 1, 3));
    polls.step(at(10_001), vote(0, 1, Opinion::Reject));
    let older = PollInput::Groups { epoch: 1, groups: groups(&[]) };
    assert_eq!(polls.step(at(10_002), older), [], "not newer");
    let newer = PollInput::Groups { epoch: 2, groups: groups(&[&[1, 2, 3, 4]]) };
    let ended = polls.step(at(10_003), newer);
    assert_eq!(closed(&ended).unwrap().outcome, Outcome::Void);
    assert_eq!(polls.step(at(10_004), vote(0, 2, Opinion::Reject)), [], "comes too late");
    // Nothing was decided, so no node has to wait but for the change itself.
    let request = VoteRequest { epoch: 2, kind: Kind::Reject, subject: NodeId(3) };
    let outputs = polls.step(at(12_003), PollInput::Request { from: NodeId(1), request });
    assert_eq!(called(&outputs), [1, 2, 4]);
    let Some(PollOutput::Call { call, .. }) = outputs.first() else { panic!() };
    assert_eq!((call.epoch, call.ballot), (2, 1), "a number of its own");
}
