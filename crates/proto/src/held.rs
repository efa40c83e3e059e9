//! The objects that a member answers for, and what is done to objects from tick to tick.

use crate::copies::Copies;
use crate::input::Input;
use crate::message::{Commit, RemoteKick, Touch};
use crate::normal::{Effect, stop};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::objects::Objects;
use crate::round::Complete;
use crate::time::Tick;
use crate::view::View;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a member holds after a tick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Held {
    /// Its own.
    pub(crate) mine: Objects,
    /// Copies for each member whose backup it is.
    pub(crate) copies: BTreeMap<NodeId, Copies>,
}

impl Held {
    /// What an exchange came to that begins a view.
    pub(crate) fn begin(complete: Complete) -> Held {
        let copies = complete.copies.into_iter().map(|(of, objects)| (of, Copies::all(objects)));
        Held { mine: complete.mine, copies: copies.collect() }
    }

    /// A tick is over: every holder of an object applies the same to it.
    pub(crate) fn go_on(
        &mut self,
        complete: Complete,
        commit: &Arc<Commit>,
        view: &View,
        me: NodeId,
    ) {
        self.mine = complete.mine;
        apply(&mut self.mine, commit, |object| view.owner(object.state.position) == me);
        for (of, objects) in complete.copies {
            self.copies.entry(of).or_default().add(objects, commit.clone());
        }
    }
}

/// Changes objects as a commit says: first what comes from outside, in its order, then what
/// collisions do, and last what leaves for another group: it leaves as it is after the tick. Of
/// those that come into the world, the ones that `holds` names are taken. What a contact did to
/// the copy of an object that arrives is its old home's to do.
pub fn apply(objects: &mut Objects, commit: &Commit, holds: impl Fn(&Object) -> bool) {
    let mut arrived = Vec::new();
    for input in &commit.inputs {
        match input {
            Input::Enter(object) => enter(objects, object, holds(object)),
            Input::Arrive(object, _) => {
                enter(objects, object, holds(object));
                arrived.push(object.id);
            }
            Input::Depart(..) => {}
            _ => change(objects, input),
        }
    }
    collide(objects, &commit.touches, &arrived);
    for input in commit.inputs.iter().filter(|input| matches!(input, Input::Depart(..))) {
        change(objects, input);
    }
}

fn change(objects: &mut Objects, input: &Input) {
    if let Some(id) = input.object()
        && let Some((_, object)) = objects.find_mut(id)
    {
        match input.change(*object) {
            Some(changed) => *object = changed,
            None => drop(objects.remove(&id)),
        }
    }
}

/// An object comes in. A copy of it that is here already makes room, in whichever region that is
/// and whatever it contains: no member knows what the others hold, so what each does may depend on
/// the new one alone. If that is the older version, the next correction mends it. What is at home
/// here stays.
fn enter(objects: &mut Objects, object: &Object, holds: bool) {
    let at_home = |known: &Object| known.class.elsewhere().is_none();
    if objects.get(&object.id).is_some_and(at_home) {
        return;
    }
    if holds {
        objects.insert(*object);
    } else {
        objects.remove(&object.id);
    }
}

/// What is to be done to objects that have left this group since another one last heard of it: the
/// kicks for them that `last` brought are passed on to where they have gone. `mine` are the objects
/// after that tick.
pub(crate) fn passed_on<'a>(
    mine: &'a Objects,
    last: &'a Commit,
) -> impl Iterator<Item = RemoteKick> + 'a {
    last.inputs.iter().filter_map(|input| {
        let Input::Kick(id, kick) = *input else { return None };
        let to = mine.get(&id)?.class.elsewhere()?;
        // It left after the kick.
        let left = |input: &Input| matches!(input, Input::Depart(gone, _) if *gone == id);
        (!last.inputs.iter().any(left)).then_some(RemoteKick { to, object: id, kick })
    })
}

/// Does to objects what contacts do. The order of contacts matters only to avatars that touch
/// several things at once; they come sorted.
pub(crate) fn collide(objects: &mut Objects, touches: &[Touch], except: &[ObjectId]) {
    let mut felt: Vec<(usize, [i16; 3], [i16; 3])> = Vec::new();
    let ours = BloomFilter::of(objects);
    for at in ours.sift(touches) {
        let Touch { a, b, normal, stops, kick_a, kick_b, shift } = touches[at as usize];
        for (id, kick, toward) in [(a, kick_a, normal), (b, kick_b, normal.reversed())] {
            let nothing = kick == [0; 3] && shift == [0; 3] && !stops;
            if nothing || !ours.may_have(id) || except.contains(&id) {
                continue;
            }
            if let Some((at, object)) = objects.find_mut(id) {
                stop(object, toward);
                felt.push((at, kick, shift));
            }
        }
    }
    felt.sort_unstable_by_key(|(at, ..)| *at);
    let objects = objects.as_mut_slice();
    for felt in felt.chunk_by(|(one, ..), (two, ..)| one == two) {
        let Some(object) = felt.first().and_then(|(at, ..)| objects.get_mut(*at)) else { continue };
        let mut effect = Effect::default();
        felt.iter().for_each(|(_, kick, shift)| effect.add(*kick, *shift));
        effect.apply(object);
    }
}

/// Most touches of a group are of objects that a member does not hold, and many change nothing;
/// this says so in one step for most of them. (Looking up each took a quarter of a member's time in
/// a tick of eight.)
struct BloomFilter {
    bits: Vec<u64>,
}

impl BloomFilter {
    fn of(objects: &Objects) -> BloomFilter {
        let words = (objects.len() / 8).next_power_of_two();
        let mut filter = BloomFilter { bits: vec![0; words] };
        for &id in objects.keys() {
            let (word, bit) = filter.place(id);
            filter.bits[word] |= bit;
        }
        filter
    }

    fn place(&self, id: ObjectId) -> (usize, u64) {
        let hash = id.0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        ((hash >> 32) as usize & (self.bits.len() - 1), 1 << (hash >> 58))
    }

    /// Where the touches are that may change something here. Without branches: which of them are
    /// ours no processor can guess, and every member of a group goes through all of them.
    fn sift(&self, touches: &[Touch]) -> Vec<u32> {
        let mut found = vec![0; touches.len()];
        let mut count = 0;
        for (at, touch) in touches.iter().enumerate() {
            let [a, b, c] = [touch.kick_a, touch.kick_b, touch.shift].map(|[x, y, z]| x | y | z);
            let does = (a | b | c != 0) | touch.stops;
            found[count] = at as u32;
            count += usize::from(does & (self.may_have(touch.a) | self.may_have(touch.b)));
        }
        found.truncate(count);
        found
    }

    fn may_have(&self, id: ObjectId) -> bool {
        let (word, bit) = self.place(id);
        self.bits[word] & bit != 0
    }
}

/// Moves objects from a tick to the next.
pub fn advance(objects: &mut Objects, from: Tick, rate: u32) {
    for object in objects.as_mut_slice() {
        *object = moved(object, from, rate);
    }
}

/// An object one tick later.
pub(crate) fn moved(object: &Object, from: Tick, rate: u32) -> Object {
    match object.class {
        Class::Immovable | Class::Absent | Class::Leaving(..) => *object,
        _ => Object { state: object.state.moved(from, rate), ..*object },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ShapeId;
    use crate::state::State;

    #[test]
    fn the_filter_keeps_every_touch_that_changes_something() {
        let object = |id: u64| {
            let (shape, state) = (ShapeId(0), State::default());
            Object { id: ObjectId(id), class: Class::Dynamic, shape, state }
        };
        // One in seven is here; of every five touches one changes nothing.
        let objects: Objects = (0..100).map(|n| object(7 * n)).collect();
        let touch = |n: u64| Touch {
            a: ObjectId(n),
            b: ObjectId(n + 1 + n % 11),
            stops: n % 5 == 1,
            kick_a: [0, i16::from(n % 5 == 2), 0],
            kick_b: [-i16::from(n % 5 == 3), 0, 0],
            shift: [0, 0, i16::from(n % 5 == 4)],
            ..Touch::default()
        };
        let touches: Vec<Touch> = (0..700).map(touch).collect();
        let found = BloomFilter::of(&objects).sift(&touches);
        let here = |touch: &Touch| [touch.a, touch.b].iter().any(|id| objects.contains_key(id));
        let does = |touch: &Touch| !touch.a.0.is_multiple_of(5);
        let needed = (0..700u32).filter(|&at| {
            let touch = &touches[at as usize];
            here(touch) && does(touch)
        });
        let needed: Vec<u32> = needed.collect();
        assert!(needed.len() > 100 && needed.iter().all(|at| found.contains(at)));
        assert!(found.iter().all(|&at| does(&touches[at as usize])));
        assert!(found.is_sorted() && found.len() < 350, "{} of 700", found.len());
    }
}
