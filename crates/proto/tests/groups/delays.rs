//! Pings over a network that loses, doubles and reorders.

use super::random::Random;
use jostle_proto::{
    Kind, NodeId, Opinion, PingInput, PingOutput, PingRule, Pings, SAMPLES, STRIKES, Span,
    Thresholds, Time, Window,
};
use std::collections::BTreeMap;

const OTHER: NodeId = NodeId(2);

/// The first of the sorted delays that so many of 100 are not above.
fn slow_percentile(latest: &[u64], percent: usize) -> Span {
    let not_above = |limit: u64| latest.iter().filter(|&&delay| delay <= limit).count();
    let enough = |limit: &u64| not_above(*limit) * 100 >= percent * latest.len();
    Span(latest.iter().copied().filter(enough).min().unwrap())
}

#[test]
fn windows_remember_the_latest() {
    let mut random = Random(1);
    let mut window = Window::default();
    assert_eq!(window.measured(), None);
    let mut all = Vec::new();
    for _ in 0..200 {
        let delay = random.below(50);
        all.push(delay);
        window.add(Time(all.len() as u64), Span(delay));
        let latest = &all[all.len().saturating_sub(SAMPLES)..];
        let measured = window.measured().unwrap();
        assert_eq!(usize::from(measured.samples), latest.len());
        assert_eq!(measured.median, slow_percentile(latest, 50), "{latest:?}");
        assert_eq!(measured.p95, slow_percentile(latest, 95), "{latest:?}");
        let strikes = latest.iter().rev().position(|&delay| delay <= 20).unwrap_or(latest.len());
        assert_eq!(window.strikes(Span(20)), strikes);
    }
}

#[test]
fn intervals_rise_from_bound_to_bound() {
    let rule = PingRule::default();
    let mut last = Span(0);
    for delay in (0..700_000).step_by(999) {
        let interval = rule.interval(Some(Span(delay)));
        assert!(last <= interval);
        assert!(rule.interval_min <= interval && interval <= rule.interval_max);
        last = interval;
    }
    assert_eq!(last, rule.interval_max);
    assert_eq!(rule.interval(Some(rule.delay_min)), rule.interval_min);
    assert_eq!(rule.interval(Some(rule.delay_max)), rule.interval_max);
    // Bounds that make no sense do no harm.
    let odd = PingRule { delay_min: Span(9), delay_max: Span(9), ..rule };
    assert_eq!(odd.interval(Some(Span(9))), rule.interval_min);
    assert_eq!(odd.interval(Some(Span(u64::MAX))), rule.interval_max);
    let huge = PingRule { delay_max: Span(u64::MAX), interval_max: Span(u64::MAX), ..rule };
    assert!(huge.interval(Some(Span(u64::MAX / 2))) > rule.interval_min);
    assert_eq!(rule.interval(None), rule.interval_min);
}

/// Runs for some seconds; every ping is answered after `delay` says, or never. Gives back how many
/// pings each machine got.
fn run(
    pings: &mut Pings,
    from: Time,
    seconds: u64,
    mut delay: impl FnMut(NodeId) -> Option<u64>,
) -> BTreeMap<NodeId, u32> {
    let mut asked = BTreeMap::new();
    let mut answers: Vec<(u64, NodeId, u32)> = Vec::new();
    let end = from + Span(seconds * 1_000_000);
    let mut now = from;
    while now < end {
        answers.sort_unstable_by(|a, b| b.cmp(a));
        let input = match answers.last() {
            Some(&(at, from, number)) if at <= now.0 => {
                answers.pop();
                PingInput::Pong { from, number }
            }
            _ => PingInput::Wake,
        };
        for PingOutput::Ping { to, number } in pings.step(now, input) {
            *asked.entry(to).or_insert(0) += 1;
            answers.extend(delay(to).map(|delay| (now.0 + delay, to, number)));
        }
        let wake = pings.wake_at().map_or(end.0, |at| at.0);
        let next = answers.iter().map(|answer| answer.0).min().unwrap_or(u64::MAX);
        now = Time(wake.min(next).max(now.0));
    }
    asked
}

#[test]
fn the_near_are_asked_more_often_than_the_far() {
    let (near, far) = (NodeId(1), NodeId(9));
    let mut pings = Pings::new(PingRule::default());
    assert_eq!(pings.wake_at(), None);
    pings.set_peers(Time(50), &[far, near]);
    assert_eq!(pings.wake_at(), Some(Time(50)));
    let asked = run(&mut pings, Time(50), 60, |to| Some(if to == near { 5_000 } else { 200_000 }));
    assert_eq!(asked[&near], 600);
    // 100 ms + 4900 ms * 195 / 495 = 2.03 s.
    assert!((29..=31).contains(&asked[&far]), "{asked:?}");
    assert_eq!(pings.measured(near).unwrap().median, Span(5_000));
    assert_eq!(pings.measured(far).unwrap().p95, Span(200_000));
    pings.set_peers(Time(60_000_050), &[near]);
    assert_eq!(pings.measured(far), None);
    assert_eq!(pings.measured(near).unwrap().median, Span(5_000), "is kept");
}

#[test]
fn three_slow_answers_call_a_vote_and_two_do_not() {
    let thresholds = Thresholds { inclusion: Span(7_000), rejection: Span(10_000) };
    let rule = PingRule { deviation: Span(2_000), persistence: Span(0), ..PingRule::default() };
    let calls = |delays: &[u64], group: &[NodeId]| {
        let mut pings = Pings::new(rule);
        pings.set_peers(Time(0), &[OTHER]);
        for (at, &delay) in delays.iter().enumerate() {
            let now = pings.wake_at().unwrap();
            let asked = pings.step(now, PingInput::Wake);
            let number = at as u32 + 1;
            assert_eq!(asked, [PingOutput::Ping { to: OTHER, number }]);
            pings.step(now + Span(delay), PingInput::Pong { from: OTHER, number });
        }
        (pings.opinion(OTHER, &thresholds), pings.calls(group, &thresholds))
    };
    let fast = [5_000; 20];
    let reject = vec![(Kind::Reject, OTHER)];
    let cases = [
        // Far too slow, against a fast past.
        ([&fast[..], &[12_001; 3]].concat(), Opinion::Reject, &reject),
        ([&fast[..], &[12_001; 2]].concat(), Opinion::Include, &vec![]),
        ([&fast[..], &[12_000; 3]].concat(), Opinion::Include, &vec![]),
        // A little too slow for long.
        ([&fast[..], &[10_001; 21]].concat(), Opinion::Reject, &reject),
        // On the way back: thought badly of, but no vote.
        ([&[10_001; 20][..], &[9_000]].concat(), Opinion::Reject, &vec![]),
        (vec![9_000; 10], Opinion::Abstain, &vec![]),
        (vec![12_001; 2], Opinion::Abstain, &vec![]),
    ];
    for (delays, opinion, called) in cases {
        assert_eq!(calls(&delays, &[OTHER]), (opinion, called.clone()), "{delays:?}");
        let outside =
            if opinion == Opinion::Include { vec![(Kind::Include, OTHER)] } else { vec![] };
        assert_eq!(calls(&delays, &[]), (opinion, outside), "{delays:?}");
    }
}

/// Issue 19: processes that had been stopped for some seconds were voted out, and placed far from
/// machines beside them.
#[test]
fn silence_is_no_delay() {
    let thresholds = Thresholds { inclusion: Span(7_000), rejection: Span(10_000) };
    for seconds in [1, 3, 6, 12, 25] {
        let mut pings = Pings::new(PingRule::default());
        pings.set_peers(Time(0), &[OTHER]);
        run(&mut pings, Time(0), 30, |_| Some(5_000));
        assert_eq!(pings.opinion(OTHER, &thresholds), Opinion::Include);
        run(&mut pings, Time(30_000_000), seconds, |_| None);
        assert_eq!(pings.calls(&[OTHER], &thresholds), [], "{seconds} s");
        let known = pings.measured(OTHER);
        assert!(known.is_none_or(|known| known.p95 == Span(5_000)), "{seconds} s: {known:?}");
        assert_eq!(known.is_none(), seconds > 4, "after a while it is unknown: {seconds} s");
        let back = Time((30 + seconds) * 1_000_000);
        let asked = run(&mut pings, back, 1, |_| Some(4_000));
        assert!(asked[&OTHER] >= 5, "and is measured at once: {asked:?}");
        assert_eq!(pings.opinion(OTHER, &thresholds), Opinion::Include, "{seconds} s");
    }
}

#[test]
fn only_slow_answers_that_go_on_call_a_vote() {
    let thresholds = Thresholds { inclusion: Span(7_000), rejection: Span(10_000) };
    let mut pings = Pings::new(PingRule::default());
    pings.set_peers(Time(0), &[OTHER]);
    run(&mut pings, Time(0), 10, |_| Some(5_000));
    // It has been paused and catches up.
    run(&mut pings, Time(10_000_000), 1, |_| Some(80_000));
    assert!(pings.calls(&[OTHER], &thresholds).is_empty());
    assert_eq!(pings.opinion(OTHER, &thresholds), Opinion::Include);
    run(&mut pings, Time(11_000_000), 2, |_| Some(80_000));
    assert_eq!(pings.calls(&[OTHER], &thresholds), [(Kind::Reject, OTHER)]);
}

#[test]
fn a_machine_that_was_paused_measures_anew() {
    let mut pings = Pings::new(PingRule::default());
    pings.set_peers(Time(0), &[OTHER]);
    run(&mut pings, Time(0), 10, |_| Some(5_000));
    assert!(!pings.step(Time(20_000_000), PingInput::Wake).is_empty());
    let late = Time(26_000_000);
    pings.paused(late);
    assert_eq!(pings.measured(OTHER), None);
    let asked = pings.step(late, PingInput::Wake);
    let [PingOutput::Ping { number: last, .. }] = asked[..] else { panic!("{asked:?}") };
    pings.step(late, PingInput::Pong { from: OTHER, number: last - 1 });
    assert_eq!(pings.measured(OTHER), None, "that one was asked before the pause");
}

#[test]
fn who_is_heard_at_last_is_measured_soon() {
    let mut pings = Pings::new(PingRule::default());
    pings.set_peers(Time(0), &[OTHER]);
    run(&mut pings, Time(0), 2, |_| None);
    assert_eq!(pings.measured(OTHER), None, "a link that is not there yet has no delay");
    run(&mut pings, Time(2_000_000), 2, |_| Some(3_000));
    let measured = pings.measured(OTHER).unwrap();
    assert_eq!(measured.p95, Span(3_000));
    assert!(usize::from(measured.samples) > STRIKES, "{measured:?}");
}

#[test]
fn late_doubled_and_foreign_answers_change_nothing() {
    let mut pings = Pings::new(PingRule::default());
    pings.set_peers(Time(0), &[OTHER]);
    let samples = |pings: &Pings| pings.measured(OTHER).map_or(0, |measured| measured.samples);
    pings.step(Time(0), PingInput::Wake);
    for (from, number) in [(OTHER, 0), (OTHER, 2), (NodeId(7), 1), (OTHER, u32::MAX)] {
        pings.step(Time(10), PingInput::Pong { from, number });
        assert_eq!(samples(&pings), 0, "{number}");
    }
    for _ in 0..3 {
        pings.step(Time(20), PingInput::Pong { from: OTHER, number: 1 });
        assert_eq!(samples(&pings), 1);
    }
    // Given up after the timeout, and answered after all.
    pings.step(Time(2_000_000), PingInput::Wake);
    pings.step(Time(3_000_000), PingInput::Wake);
    assert_eq!(samples(&pings), 1);
    pings.step(Time(3_000_001), PingInput::Pong { from: OTHER, number: 2 });
    assert_eq!(samples(&pings), 1);
}

#[test]
fn medians_survive_loss() {
    for seed in 0..30 {
        let mut random = Random(seed);
        let mut pings = Pings::new(PingRule::default());
        pings.set_peers(Time(0), &[OTHER]);
        run(&mut pings, Time(0), 120, |_| {
            (random.below(10) > 0).then(|| 8_000 + random.below(1_000))
        });
        let median = pings.measured(OTHER).unwrap().median;
        assert!((8_000..9_000).contains(&median.0), "seed {seed}: {median:?}");
    }
}
