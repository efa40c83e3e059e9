//! H1, K1, S1b: an object is at home in one group; what another group decides about it happens to
//! it once; and copies of it come near it when nothing fails any more.

use super::{FreeRunning, Judged};
use jostle_proto::client::Credential;
use jostle_proto::{
    Class, Commit, GroupId, Input, Object, ObjectId, Objects, RemoteKick, Source, State, Tick,
    Time, Tolerance, decided_kick, is_home,
};
use std::collections::{BTreeMap, VecDeque};

/// A copy must be where its object was within this time, and an object that is on its way must have
/// arrived within it.
const LATE: u64 = 2_000_000;

/// A kick.
type Kick = (ObjectId, [i16; 3]);

/// Where an object is at home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Home {
    In(GroupId),
    /// It has left for this group, and was not in it yet, since then.
    OnItsWay(GroupId, Time),
}

#[derive(Default)]
pub(super) struct Between {
    homes: BTreeMap<ObjectId, Home>,
    /// What groups decided about others' objects, by their ticks.
    decided: BTreeMap<GroupId, BTreeMap<Tick, Vec<RemoteKick>>>,
    /// What groups have to pass on in their next tick.
    passing: BTreeMap<GroupId, Vec<RemoteKick>>,
    /// How far each group has come with each other one.
    heard: BTreeMap<(GroupId, GroupId), u64>,
    /// Where objects were lately, at home.
    ways: BTreeMap<ObjectId, VecDeque<(Time, Object)>>,
    healed: Option<Time>,
    now: Time,
    /// Objects that have come to another group.
    pub(super) moved: u64,
    /// Kicks that followed an object to another group.
    pub(super) passed_on: u64,
}

impl Between {
    pub(super) fn new(objects: &[Object]) -> Between {
        let home = objects.iter().filter(|object| is_home(object.class));
        let homes = home.map(|object| (object.id, Home::In(GroupId(0)))).collect();
        Between { homes, ..Between::default() }
    }

    /// The world goes on from what was stored.
    pub(super) fn restored(&mut self, objects: &[Object]) {
        let (healed, now) = (self.healed, self.now);
        *self = Between { healed, now, ..Between::new(objects) };
    }

    pub(super) fn healed(&mut self, now: Time) {
        self.healed = Some(now);
    }

    /// A group has published a tick, whose world was this before and after anything was done to it.
    /// Says how many kicks it decided for others.
    pub(super) fn published(
        &mut self,
        now: Time,
        commit: &Commit,
        (before, objects): (&Objects, &Objects),
        violations: &mut Vec<(&'static str, String)>,
    ) -> u64 {
        let group = commit.group;
        self.now = now;
        self.judge_homes(commit, violations);
        let decided =
            commit.touches.iter().filter_map(|touch| decided_kick(touch, |id| before.get(&id)));
        let mut right: Vec<RemoteKick> = decided.collect();
        let count = right.len() as u64;
        let passed_on = self.passing.remove(&group).unwrap_or_default();
        self.passed_on += passed_on.len() as u64;
        right.extend(passed_on);
        right.sort_unstable();
        if right != commit.kicks {
            let (tick, kicks) = (commit.tick.0, &commit.kicks);
            let what = format!("group {}, tick {tick}: {kicks:?}, not {right:?}", group.0);
            violations.push(("K1", what));
        }
        self.decided.entry(group).or_default().insert(commit.tick, commit.kicks.clone());
        self.judge_kicks(commit, objects, violations);
        if self.healed.is_some() {
            for object in objects.values().filter(|object| is_home(object.class)) {
                let way = self.ways.entry(object.id).or_default();
                way.push_back((now, *object));
                while way.front().is_some_and(|(time, _)| time.0 + LATE < now.0) {
                    way.pop_front();
                }
            }
        }
        count
    }

    /// H1: an object is at home in the group that it entered, or has gone to.
    fn judge_homes(&mut self, commit: &Commit, violations: &mut Vec<(&'static str, String)>) {
        let group = commit.group;
        for input in &commit.inputs {
            match input {
                Input::Enter(object) if is_home(object.class) => {
                    let home = *self.homes.entry(object.id).or_insert(Home::In(group));
                    if home != Home::In(group) {
                        let (id, b) = (object.id.0, group.0);
                        violations
                            .push(("H1", format!("object {id} is at home in {home:?} and {b}")));
                    }
                }
                Input::Arrive(object, _) => {
                    let known = self.homes.insert(object.id, Home::In(group));
                    self.moved += 1;
                    if !matches!(known, Some(Home::OnItsWay(to, _)) if to == group) {
                        let (id, b) = (object.id.0, group.0);
                        violations
                            .push(("H1", format!("object {id} arrives in {b}, but is {known:?}")));
                    }
                }
                Input::Depart(id, to) if self.homes.get(id) == Some(&Home::In(group)) => {
                    self.homes.insert(*id, Home::OnItsWay(*to, self.now));
                }
                Input::Remove(id) if self.homes.get(id) == Some(&Home::In(group)) => {
                    self.homes.remove(id);
                }
                _ => {}
            }
        }
    }

    /// The kicks in a commit are those that the other groups decided for this one, in the ticks
    /// that it has taken of them. Each happens to an object that is at home here, or is passed on
    /// to where that is, or comes for one that has left the world.
    fn judge_kicks(
        &mut self,
        commit: &Commit,
        objects: &Objects,
        violations: &mut Vec<(&'static str, String)>,
    ) {
        let mut right: Vec<Kick> = Vec::new();
        for &(source, number) in &commit.heard {
            let Source::Group(of) = source else { continue };
            let heard = self.heard.entry((commit.group, of)).or_insert(0);
            if number < *heard {
                violations
                    .push(("K1", format!("group {} went back with {}", commit.group.0, of.0)));
            }
            let decided = self.decided.get(&of).into_iter();
            let taken =
                decided.flat_map(|it| it.range(Tick(*heard + 1)..Tick(number.max(*heard) + 1)));
            let kicks = taken.flat_map(|(_, kicks)| kicks.iter().copied());
            let ours = kicks.filter(|kick| kick.to == commit.group);
            right.extend(ours.map(|kick| (kick.object, kick.kick)));
            *heard = number;
        }
        let kick = |input: &Input| match input {
            Input::Kick(id, kick) => Some((*id, *kick)),
            _ => None,
        };
        let mut found: Vec<Kick> = commit.inputs.iter().filter_map(kick).collect();
        right.sort_unstable();
        found.sort_unstable();
        if right != found {
            let (group, tick) = (commit.group.0, commit.tick.0);
            let what = format!("group {group}, tick {tick}: kicks {found:?} instead of {right:?}");
            violations.push(("K1", what));
        }
        for (id, kick) in found {
            let leaves = |input: &Input| matches!(input, Input::Depart(gone, _) if *gone == id);
            let class = objects.get(&id).map(|object| object.class);
            let gone = class.and_then(Class::elsewhere);
            if let Some(to) = gone.filter(|_| !commit.inputs.iter().any(leaves)) {
                let kick = RemoteKick { to, object: id, kick };
                self.passing.entry(commit.group).or_default().push(kick);
            } else if class.is_none() && self.homes.contains_key(&id) {
                let (group, tick) = (commit.group.0, commit.tick.0);
                let what = format!("group {group}, tick {tick}: {} is kicked, not known", id.0);
                violations.push(("K1", what));
            }
        }
    }

    /// K1, at the end: kicks that were for a group that is not there any more, and that it had not
    /// taken. And H1: what is on its way arrives.
    pub(super) fn unfinished(&self, groups: &[GroupId]) -> Vec<(&'static str, String)> {
        let mut violations = Vec::new();
        for (of, ticks) in self.decided.iter().filter(|(of, _)| groups.contains(of)) {
            for (tick, kick) in
                ticks.iter().flat_map(|(tick, all)| all.iter().map(move |it| (tick, it)))
            {
                let heard = self.heard.get(&(kick.to, *of)).copied().unwrap_or(0);
                let lost = !groups.contains(&kick.to) && tick.0 > heard;
                if lost && self.homes.contains_key(&kick.object) {
                    let (id, to) = (kick.object.0, kick.to.0);
                    violations
                        .push(("K1", format!("a kick for {id} comes to {to}, which has ended")));
                }
            }
        }
        for (id, home) in &self.homes {
            if let Home::OnItsWay(to, since) = home
                && since.0 + LATE < self.now.0
            {
                violations
                    .push(("H1", format!("object {} is on its way to {} for ever", id.0, to.0)));
            }
        }
        violations.truncate(1);
        violations
    }

    /// Copies that are not near any place where their object was lately; and objects without one.
    pub(super) fn apart<'a>(
        &self,
        worlds: impl Iterator<Item = (GroupId, &'a Objects)>,
    ) -> Vec<(&'static str, String)> {
        let mut violations = Vec::new();
        for (group, world) in worlds {
            for object in world.values().filter(|it| it.class.elsewhere().is_some()) {
                let way = self.ways.get(&object.id);
                // It goes on as it went until it is corrected, half a second at most.
                let speed = object.state.velocity.iter().map(|part| part.unsigned_abs()).max();
                let Tolerance { position, .. } = Tolerance::BETWEEN;
                let allowed = 4 * position + u32::from(speed.unwrap_or(0)) * 16 / 2;
                let off = way.and_then(|way| way.iter().map(|(_, then)| apart(then, object)).min());
                if off.is_none_or(|off| off > allowed) {
                    let (id, group) = (object.id.0, group.0);
                    violations
                        .push(("S1b", format!("object {id} in group {group} is off by {off:?}")));
                    return violations;
                }
            }
        }
        violations
    }
}

fn apart(a: &Object, b: &Object) -> u32 {
    let (a, b) = (a.state.position, b.state.position);
    (0..3).map(|axis: usize| a[axis].abs_diff(b[axis])).max().unwrap_or(0)
}

/// Where a client's avatar truly is; none if it is not in the world.
pub(super) fn truth(
    worlds: &BTreeMap<GroupId, Judged>,
    free_running: Option<&FreeRunning>,
    credential: &Credential,
) -> Option<State> {
    let Credential { avatar, home, .. } = *credential;
    if let Some(free_running) = free_running {
        return free_running.state(avatar);
    }
    // Its home may have moved; while it is on its way it is where it was.
    let object = |world: &Judged| world.one_machine.objects().get(&avatar).copied();
    let is_there = |it: &Object| is_home(it.class) || matches!(it.class, Class::Leaving(..));
    let there =
        worlds.get(&home).and_then(object).into_iter().chain(worlds.values().filter_map(object));
    let mut there: Vec<Object> = there.filter(is_there).collect();
    there.sort_by_key(|object| matches!(object.class, Class::Leaving(..)));
    there.first().map(|object| object.state)
}
