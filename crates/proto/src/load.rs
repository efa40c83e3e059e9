//! How much a node has to do, and where: the directory cuts regions by it.

use crate::object::{Class, Object};
use serde::{Deserialize, Serialize};

/// Places that a node sends of its objects.
pub const PLACES_MAX: usize = 64;

/// Points that are looked at for them; of more work, some.
const LOOKED_AT: u64 = 1024;

/// What an object costs in a tick, in units of about one box or triangle test: to move it, to sort
/// it out, to keep its block up to date. These were fitted to the times of 56 nodes, each one of
/// eight that share 4000 objects: a test took 17 ns, an object 165 ns, one that turns 400 ns, a
/// pair 80 ns, leading 35 ns for each pair that touched.
const PER_OBJECT: u64 = 10;

/// What it costs besides to turn it.
const PER_TURN: u64 = 14;

/// What a pair costs whose blocks meet, without its triangles.
const PER_PAIR: u64 = 5;

/// What a leader pays besides for every pair that touches anywhere in its group.
const PER_TOUCH: u64 = 2;

/// How many objects a node has that move, what it has to do, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeLoad {
    /// The number of objects that move.
    pub objects: u32,
    /// What a tick takes it, counted: in units of about one box test, of which an object alone
    /// takes [`NodeLoad::OBJECT`].
    pub work: u32,
    /// Places, at most [`PLACES_MAX`], each of which stands for about as much of the work.
    pub places: Vec<[i32; 3]>,
}

impl NodeLoad {
    /// What an object takes that neither turns nor touches anything.
    pub const OBJECT: u32 = PER_OBJECT as u32;

    /// Of these objects, in a given order, and of the pairs of so many ticks, with what their
    /// triangles took. Pairs count where their reference point is: the owner of that place has to
    /// compare them. (Objects alone were not even enough: of eight nodes with equally many one had
    /// 1.7 times the mean of pairs.)
    ///
    /// Taking every so-manyth object as a place was not even enough either: regions cut by 16 of
    /// 4000 gave one of eight nodes twice the mean.
    #[must_use]
    pub fn of<'a>(
        objects: impl Iterator<Item = &'a Object> + Clone,
        pairs: &[([i32; 3], u32)],
        ticks: u32,
    ) -> NodeLoad {
        let ticks = u64::from(ticks.max(1));
        let moving = objects.filter(|object| object.class != Class::Immovable);
        let count = moving.clone().count();
        let objects = moving.map(|object| {
            let turning = if object.state.spin == [0; 3] { 0 } else { PER_TURN };
            (object.state.position, (PER_OBJECT + turning) * ticks)
        });
        let pairs = pairs.iter().map(|&(point, took)| (point, PER_PAIR + u64::from(took)));
        let all = objects.chain(pairs);
        let work: u64 = all.clone().map(|(_, took)| took).sum();
        let mut points = Vec::new();
        let (mut done, step) = (0, work.div_ceil(LOOKED_AT).max(1));
        for (point, took) in all {
            // One point for every step that it takes us over.
            let steps = (done + took).div_ceil(step) - u64::div_ceil(done, step);
            points.extend(std::iter::repeat_n(point, steps as usize));
            done += took;
        }
        let mut places = Vec::new();
        gather(&mut points, PLACES_MAX, &mut places);
        let most = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        NodeLoad { objects: most(count as u64), work: most(work / ticks), places }
    }

    /// The same of one who leads a group in which so many pairs touched.
    #[must_use]
    pub(crate) fn leading(self, touches: usize) -> NodeLoad {
        let more = u32::try_from(touches as u64 * PER_TOUCH).unwrap_or(u32::MAX);
        NodeLoad { work: self.work.saturating_add(more), ..self }
    }
}

/// Halves the points along their longest side until each part has one place, one of its points.
fn gather(points: &mut [[i32; 3]], parts: usize, places: &mut Vec<[i32; 3]>) {
    if points.is_empty() {
        return;
    }
    if parts == 1 || points.len() == 1 {
        // One of them, each time another. (Their middle was tried: middles stand in rows, and a cut
        // that ought to go through a row went before or behind it, an eighth of a region away.)
        points.sort_unstable();
        let turn = (places.len() as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        places.push(points[(turn as usize * points.len()) >> 32]);
        return;
    }
    let side = |axis: &usize| {
        let along = || points.iter().map(|point| i64::from(point[*axis]));
        along().max().unwrap_or(0) - along().min().unwrap_or(0)
    };
    let axis = (0..3).max_by_key(side).unwrap_or(0);
    let middle = points.len() / 2;
    points.select_nth_unstable_by_key(middle, |point| (point[axis], *point));
    let (low, high) = points.split_at_mut(middle);
    gather(low, parts / 2, places);
    gather(high, parts / 2, places);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::State;

    fn places(mut points: Vec<[i32; 3]>) -> Vec<[i32; 3]> {
        let mut places = Vec::new();
        gather(&mut points, PLACES_MAX, &mut places);
        places
    }

    #[test]
    fn each_place_stands_for_as_many() {
        // Nine tenths of 1000 are in the lowest tenth of a line.
        let along = |n: i32| if n < 900 { n } else { 1000 + 80 * (n - 900) };
        let found = places((0..1000).map(|n| [along(n), 0, 0]).collect());
        assert_eq!(found.len(), PLACES_MAX);
        let dense = found.iter().filter(|place| place[0] < 1000).count();
        assert!((56..=59).contains(&dense), "{dense}");
    }

    #[test]
    fn few_places_are_sent_as_they_are_and_a_place_may_be_sent_twice() {
        assert!(places(Vec::new()).is_empty());
        assert_eq!(places(vec![[1, -2, 3]]), [[1, -2, 3]]);
        assert_eq!(places(vec![[5; 3]; 3]), [[5; 3]; 3]);
        let far = vec![[i32::MIN; 3], [i32::MAX; 3]];
        assert_eq!(places(far.clone()), far);
    }

    #[test]
    fn work_is_where_it_is_done() {
        let object = |id: u64| Object {
            id: crate::object::ObjectId(id),
            class: Class::Dynamic,
            shape: crate::object::ShapeId(0),
            state: State { position: [id as i32, 0, 0], ..State::default() },
        };
        let objects: Vec<Object> = (0..100).map(object).collect();
        let alone = NodeLoad::of(objects.iter(), &[], 1);
        assert_eq!((alone.objects, alone.work), (100, 100 * NodeLoad::OBJECT));
        // One pair that takes as much as all objects: half of the places are there.
        let pairs = [([5000, 0, 0], 100 * NodeLoad::OBJECT - PER_PAIR as u32)];
        let load = NodeLoad::of(objects.iter(), &pairs, 1);
        assert_eq!((load.objects, load.work), (100, 200 * NodeLoad::OBJECT));
        let there = load.places.iter().filter(|place| place[0] == 5000).count();
        assert!((30..=34).contains(&there), "{there} of {}", load.places.len());
        // The same in each of three ticks, and in one of them.
        assert_eq!(NodeLoad::of(objects.iter(), &[pairs[0]; 3], 3), load);
        let rare = NodeLoad::of(objects.iter(), &pairs, 3);
        assert_eq!(rare.work, 400 * NodeLoad::OBJECT / 3);
        let nobody = NodeLoad::of([].iter(), &[], 0);
        assert_eq!(nobody, NodeLoad::default());
    }

    #[test]
    fn the_order_of_objects_does_not_matter() {
        let points: Vec<[i32; 3]> = (0..500).map(|n| [n * 7919 % 101, n * 31 % 67, n]).collect();
        let reversed = points.iter().rev().copied().collect();
        assert_eq!(places(points), places(reversed));
    }
}
