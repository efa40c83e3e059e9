//! Two hosts, each with the truth about its own object and old news of the other's, decide the
//! same.

mod reckon_common;

use glam::DVec3;
use jostle_proto::reckon::decide::{Claim, Criterion, Known, Past, Rule, Side};
use jostle_proto::{ObjectId, Span, Time};
use reckon_common::Dice;

const LOW: ObjectId = ObjectId(3);
const HIGH: ObjectId = ObjectId(8);

fn rule(criteria: &[Criterion]) -> Rule {
    let (delay, period) = (Span::from_ms(500), Span::from_ms(250));
    Rule { criteria: criteria.to_vec(), delay, period }
}

fn known(dice: &mut Dice) -> Known {
    // Few different speeds, so that there are ties.
    let velocity = dice.direction() * dice.below(3) as f64;
    let velocity = if dice.below(2) == 0 { DVec3::X } else { velocity };
    Known { position: dice.vector(9.0), velocity, facing: dice.direction(), view: 0.5 }
}

/// What a host has sent by `now`, and what of it has reached the other one, in any order.
fn pasts(dice: &mut Dice, now: u64, lost: bool) -> (Past, Past) {
    let (mut own, mut heard) = (Past::default(), Past::default());
    let mut arrivals = Vec::new();
    let mut stamp = dice.below(100_000);
    while stamp <= now {
        let known = known(dice);
        own.note(Time(stamp), known).unwrap();
        let arrives = stamp + dice.below(500_000);
        if arrives <= now && !(lost && dice.below(5) == 0) {
            arrivals.push((arrives, stamp, known));
        }
        stamp += 1 + dice.below(200_000);
    }
    arrivals.sort_by_key(|&(arrives, stamp, _)| (arrives, stamp));
    for (_, stamp, known) in arrivals {
        heard.note(Time(stamp), known).unwrap();
    }
    (own, heard)
}

/// How often the hosts differ, and how often the lower id decides.
fn decide(criteria: &[Criterion], lost: bool) -> (u32, u32) {
    let rule = rule(criteria);
    let (mut differ, mut low) = (0, 0);
    for seed in 0..1000 {
        let mut dice = Dice(seed);
        let now = dice.below(4_000_000);
        let (own_low, heard_low) = pasts(&mut dice, now, lost);
        let (own_high, heard_high) = pasts(&mut dice, now, lost);
        let side = |id, past| Side { id, past };
        // They see the collision at different times of one period.
        let period = |now: u64| now.checked_sub(500_000).map(|moment| moment / 250_000);
        let other = now - dice.below(250_000).min(now);
        let other = Time(if period(other) == period(now) { other } else { now });
        let a = rule.decider(Time(now), side(LOW, &own_low), side(HIGH, &heard_high));
        let b = rule.decider(other, side(HIGH, &own_high), side(LOW, &heard_low));
        differ += u32::from(a != b);
        low += u32::from(a == LOW);
    }
    (differ, low)
}

#[test]
fn both_hosts_decide_the_same_if_news_take_less_than_the_delay() {
    use Criterion::{Velocity, View};
    for criteria in [&[][..], &[Velocity], &[View], &[View, Velocity], &[Velocity, View]] {
        let (differ, low) = decide(criteria, false);
        assert_eq!(differ, 0, "{criteria:?}");
        match criteria {
            [] => assert_eq!(low, 1000),
            _ => assert!((300..900).contains(&low), "{criteria:?}: {low}"),
        }
    }
}

/// Why updates that decide must not be lost: the promise of the thesis needs all of them.
#[test]
fn lost_news_can_make_hosts_differ_unless_the_id_decides() {
    let (differ, _) = decide(&[Criterion::Velocity], true);
    assert!(differ > 10, "{differ}");
    assert_eq!(decide(&[], true).0, 0);
}

#[test]
fn the_faster_and_the_one_who_sees_decide() {
    let still = Known { position: DVec3::ZERO, velocity: DVec3::ZERO, facing: DVec3::X, view: 0.5 };
    let ahead = Known { position: DVec3::X * 9.0, ..still };
    let fast = Known { velocity: DVec3::Y, ..still };
    let decider = |criterion, low: Known, high: Known| {
        let [low, high] = [low, high].map(|known| {
            let mut past = Past::default();
            past.note(Time(0), known).unwrap();
            past
        });
        let low = Side { id: LOW, past: &low };
        let high = Side { id: HIGH, past: &high };
        let found = rule(&[criterion]).decider(Time(600_000), low, high);
        assert_eq!(rule(&[criterion]).decider(Time(600_000), high, low), found);
        // Before there is anything that both know, the id decides.
        assert_eq!(rule(&[criterion]).decider(Time(499_999), low, high), LOW);
        found
    };
    assert_eq!(decider(Criterion::Velocity, still, fast), HIGH);
    assert_eq!(decider(Criterion::Velocity, fast, still), LOW);
    assert_eq!(decider(Criterion::Velocity, fast, fast), LOW);
    // Two cars, one behind the other: the driver behind sees both.
    assert_eq!(decider(Criterion::View, ahead, still), HIGH);
    assert_eq!(decider(Criterion::View, still, ahead), LOW);
    let back = Known { facing: -DVec3::X, ..ahead };
    assert_eq!(decider(Criterion::View, still, back), LOW);
}

#[test]
fn forgetting_does_not_change_later_decisions() {
    let rule = rule(&[Criterion::Velocity]);
    for seed in 0..200 {
        let mut dice = Dice(seed);
        let [(a, _), (b, _)] = [0; 2].map(|_| pasts(&mut dice, 4_000_000, false));
        let now = Time(dice.below(4_000_000));
        let (mut less_a, mut less_b) = (a.clone(), b.clone());
        if let Some(moment) = rule.moment(now) {
            less_a.forget_before(moment);
            less_b.forget_before(moment);
        }
        let decider =
            |a, b| rule.decider(now, Side { id: LOW, past: a }, Side { id: HIGH, past: b });
        assert_eq!(decider(&a, &b), decider(&less_a, &less_b), "seed {seed}");
    }
}

#[test]
fn claims_from_both_sides_of_a_border_have_an_order() {
    let claim = |at, decider| Claim { at: Time(at), decider };
    assert_eq!(claim(5, HIGH).min(claim(6, LOW)), claim(5, HIGH));
    assert_eq!(claim(5, HIGH).min(claim(5, LOW)), claim(5, LOW));
}

#[test]
fn numbers_that_are_none_are_not_noted() {
    let mut past = Past::default();
    let good = Known { position: DVec3::ZERO, velocity: DVec3::ZERO, facing: DVec3::X, view: 0.0 };
    for bad in [
        Known { position: DVec3::NAN, ..good },
        Known { velocity: DVec3::INFINITY, ..good },
        Known { facing: DVec3::ZERO, ..good },
        Known { view: f64::NAN, ..good },
        Known { view: 1.1, ..good },
    ] {
        assert!(past.note(Time(0), bad).is_err(), "{bad:?}");
    }
    past.note(Time(0), good).unwrap();
}
