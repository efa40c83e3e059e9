//! How many objects a node has, and where: the directory cuts regions by it.

use crate::object::{Class, Object};
use serde::{Deserialize, Serialize};

/// Places that a node tells of its objects.
pub const PLACES_MAX: usize = 64;

/// Objects that are looked at for them; of more, some.
const LOOKED_AT: usize = 1024;

/// How many objects a node has that move, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crowd {
    /// How many.
    pub objects: u32,
    /// Places, at most [`PLACES_MAX`], each of which stands for about as many of them.
    pub places: Vec<[i32; 3]>,
}

impl Crowd {
    /// Of these objects, in a given order.
    ///
    /// Taking every so-manyth object as a place was not even enough: regions cut by 16 of 4000
    /// gave one of eight nodes twice the mean.
    #[must_use]
    pub fn of<'a>(objects: impl Iterator<Item = &'a Object> + Clone) -> Crowd {
        let moving = objects.filter(|object| object.class != Class::Immovable);
        let count = moving.clone().count();
        let some = moving.step_by(count.div_ceil(LOOKED_AT).max(1));
        let mut points: Vec<[i32; 3]> = some.map(|object| object.state.position).collect();
        let mut places = Vec::new();
        gather(&mut points, PLACES_MAX, &mut places);
        Crowd { objects: u32::try_from(count).unwrap_or(u32::MAX), places }
    }
}

/// Halves the points along their longest side until each part has one place, its middle.
fn gather(points: &mut [[i32; 3]], parts: usize, places: &mut Vec<[i32; 3]>) {
    if points.is_empty() {
        return;
    }
    if parts == 1 || points.len() == 1 {
        let mean = |axis: usize| {
            let sum: i64 = points.iter().map(|point| i64::from(point[axis])).sum();
            (sum / points.len() as i64) as i32
        };
        places.push([mean(0), mean(1), mean(2)]);
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
    fn few_are_told_as_they_are_and_the_same_place_is_told_again() {
        assert!(places(Vec::new()).is_empty());
        assert_eq!(places(vec![[1, -2, 3]]), [[1, -2, 3]]);
        assert_eq!(places(vec![[5; 3]; 3]), [[5; 3]; 3]);
        let far = vec![[i32::MIN; 3], [i32::MAX; 3]];
        assert_eq!(places(far.clone()), far);
    }

    #[test]
    fn the_order_of_objects_does_not_matter() {
        let points: Vec<[i32; 3]> = (0..500).map(|n| [n * 7919 % 101, n * 31 % 67, n]).collect();
        let reversed = points.iter().rev().copied().collect();
        assert_eq!(places(points), places(reversed));
    }
}
