//! H1, K1, S1b: an object is at home in one group; what another group decides about it happens to
//! it once; and copies of it come near it when nothing fails any more.

use jostle_proto::{
    Class, Commit, GroupId, Input, Object, ObjectId, Objects, Source, Tick, Time, Tolerance,
    decided_kick, is_home,
};
use std::collections::{BTreeMap, VecDeque};

/// A copy must be where its object was within this time.
const LATE: u64 = 2_000_000;

/// A kick.
type Kick = (ObjectId, [i16; 3]);

#[derive(Default)]
pub(super) struct Between {
    homes: BTreeMap<ObjectId, GroupId>,
    /// What groups decided about others' objects, by their ticks.
    decided: BTreeMap<GroupId, BTreeMap<Tick, Vec<Kick>>>,
    /// How far each group has come with each other one.
    heard: BTreeMap<(GroupId, GroupId), u64>,
    /// Where objects were lately, at home.
    ways: BTreeMap<ObjectId, VecDeque<(Time, Object)>>,
    healed: Option<Time>,
    now: Time,
}

impl Between {
    pub(super) fn new(objects: &[Object]) -> Between {
        let home = objects.iter().filter(|object| is_home(object.class));
        let homes = home.map(|object| (object.id, GroupId(0))).collect();
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

    /// A group has published a tick, after which its world is this. Says how many kicks it decided
    /// for others.
    pub(super) fn published(
        &mut self,
        now: Time,
        commit: &Commit,
        objects: &Objects,
        said: &mut Vec<(&'static str, String)>,
    ) -> u64 {
        let group = commit.group;
        self.now = now;
        for input in &commit.inputs {
            match input {
                Input::Enter(object) if is_home(object.class) => {
                    let home = *self.homes.entry(object.id).or_insert(group);
                    if home != group {
                        let (id, a, b) = (object.id.0, home.0, group.0);
                        said.push(("H1", format!("object {id} is at home in {a} and {b}")));
                    }
                }
                Input::Remove(id) if self.homes.get(id) == Some(&group) => {
                    self.homes.remove(id);
                }
                _ => {}
            }
        }
        let kicks: Vec<Kick> =
            commit.touches.iter().filter_map(|touch| decided_kick(touch, objects)).collect();
        let count = kicks.len() as u64;
        self.decided.entry(group).or_default().insert(commit.tick, kicks);
        self.judge_kicks(commit, said);
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

    /// The kicks in a commit are those that the other groups decided for objects that are at home
    /// here, in the ticks that it has taken of them.
    fn judge_kicks(&mut self, commit: &Commit, said: &mut Vec<(&'static str, String)>) {
        let home = |id: &ObjectId| self.homes.get(id) == Some(&commit.group);
        let mut right: Vec<Kick> = Vec::new();
        for &(source, number) in &commit.heard {
            let Source::Group(of) = source else { continue };
            let heard = self.heard.entry((commit.group, of)).or_insert(0);
            if number < *heard {
                said.push(("K1", format!("group {} went back with {}", commit.group.0, of.0)));
            }
            let decided = self.decided.get(&of).into_iter();
            let taken =
                decided.flat_map(|it| it.range(Tick(*heard + 1)..Tick(number.max(*heard) + 1)));
            right.extend(taken.flat_map(|(_, kicks)| kicks.iter().copied()));
            *heard = number;
        }
        right.retain(|(id, _)| home(id));
        let mut found: Vec<Kick> = commit
            .inputs
            .iter()
            .filter_map(|input| match input {
                Input::Kick(id, kick) if home(id) => Some((*id, *kick)),
                _ => None,
            })
            .collect();
        right.sort_unstable();
        found.sort_unstable();
        if right != found {
            let (group, tick) = (commit.group.0, commit.tick.0);
            let what = format!("group {group}, tick {tick}: kicks {found:?} instead of {right:?}");
            said.push(("K1", what));
        }
    }

    /// Copies that are not near any place where their object was lately; and objects without one.
    pub(super) fn apart<'a>(
        &self,
        worlds: impl Iterator<Item = (GroupId, &'a Objects)>,
    ) -> Vec<(&'static str, String)> {
        let mut said = Vec::new();
        for (group, world) in worlds {
            for object in world.values().filter(|object| object.class == Class::Foreign) {
                let way = self.ways.get(&object.id);
                // It goes on as it went until it is corrected, half a second at most.
                let speed = object.state.velocity.iter().map(|part| part.unsigned_abs()).max();
                let Tolerance { position, .. } = Tolerance::BETWEEN;
                let allowed = 4 * position + u32::from(speed.unwrap_or(0)) * 16 / 2;
                let off = way.and_then(|way| way.iter().map(|(_, then)| apart(then, object)).min());
                if off.is_none_or(|off| off > allowed) {
                    let (id, group) = (object.id.0, group.0);
                    said.push(("S1b", format!("object {id} in group {group} is off by {off:?}")));
                    return said;
                }
            }
        }
        said
    }
}

fn apart(a: &Object, b: &Object) -> u32 {
    let (a, b) = (a.state.position, b.state.position);
    (0..3).map(|axis: usize| a[axis].abs_diff(b[axis])).max().unwrap_or(0)
}
