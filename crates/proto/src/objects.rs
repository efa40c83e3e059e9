//! Objects in the order of their ids.
//!
//! A list and not a tree: a member goes through all of them several times a tick and puts one in
//! between now and then. (With a `BTreeMap` more than a third of a member's tick went into
//! building, looking up and freeing trees.)

use crate::object::{Object, ObjectId};

/// Objects by id, each once, in the order of ids.
///
/// ```
/// use jostle_proto::{Class, Object, ObjectId, Objects, ShapeId, State};
///
/// let object = |id| {
///     let (class, shape, state) = (Class::Dynamic, ShapeId(0), State::default());
///     Object { id: ObjectId(id), class, shape, state }
/// };
/// let mut objects: Objects = [7, 3, 5].map(object).into_iter().collect();
/// assert!(objects.keys().eq(&[ObjectId(3), ObjectId(5), ObjectId(7)]));
/// assert_eq!(objects.remove(&ObjectId(5)), Some(object(5)));
/// assert_eq!(objects.get(&ObjectId(5)), None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    list: Vec<Object>,
}

impl Objects {
    /// None.
    #[must_use]
    pub fn new() -> Objects {
        Objects::default()
    }

    /// The number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them.
    #[must_use]
    pub fn as_slice(&self) -> &[Object] {
        &self.list
    }

    /// The one with this id.
    #[must_use]
    pub fn get(&self, id: &ObjectId) -> Option<&Object> {
        self.list.get(self.place(*id).ok()?)
    }

    /// Is there one with this id?
    #[must_use]
    pub fn contains_key(&self, id: &ObjectId) -> bool {
        self.place(*id).is_ok()
    }

    /// Their ids.
    pub fn keys(&self) -> impl Iterator<Item = &ObjectId> + Clone {
        self.list.iter().map(|object| &object.id)
    }

    /// All of them.
    pub fn values(&self) -> std::slice::Iter<'_, Object> {
        self.list.iter()
    }

    /// All of them, each after its id.
    pub fn iter(&self) -> impl Iterator<Item = (&ObjectId, &Object)> + Clone {
        self.list.iter().map(|object| (&object.id, object))
    }

    /// Those with this id or a larger one.
    pub fn from(&self, first: ObjectId) -> impl Iterator<Item = &Object> {
        let (Ok(at) | Err(at)) = self.place(first);
        self.list[at..].iter()
    }

    /// All of these and of some others, in the order of ids; of two with one id the one that is
    /// here.
    pub(crate) fn with<'a>(&'a self, others: &'a Objects) -> impl Iterator<Item = &'a Object> {
        let (mut here, mut there) = (self.list.iter().peekable(), others.list.iter().peekable());
        std::iter::from_fn(move || match (here.peek(), there.peek()) {
            (Some(one), Some(other)) if one.id == other.id => {
                there.next();
                here.next()
            }
            (Some(one), Some(other)) if one.id > other.id => there.next(),
            (Some(_), _) => here.next(),
            (None, _) => there.next(),
        })
    }

    /// Puts one in; gives the one that had its id before.
    pub fn insert(&mut self, object: Object) -> Option<Object> {
        match self.place(object.id) {
            Ok(at) => Some(std::mem::replace(&mut self.list[at], object)),
            Err(at) => {
                self.list.insert(at, object);
                None
            }
        }
    }

    /// Takes one out.
    pub fn remove(&mut self, id: &ObjectId) -> Option<Object> {
        self.place(*id).ok().map(|at| self.list.remove(at))
    }

    /// Where the one with this id stands, or would.
    fn place(&self, id: ObjectId) -> Result<usize, usize> {
        self.list.binary_search_by_key(&id, |object| object.id)
    }

    /// The place and the one with this id, whose id is not to be changed.
    pub(crate) fn find_mut(&mut self, id: ObjectId) -> Option<(usize, &mut Object)> {
        let at = self.place(id).ok()?;
        Some((at, self.list.get_mut(at)?))
    }

    /// All of them; their ids are not to be changed.
    pub(crate) fn as_mut_slice(&mut self) -> &mut [Object] {
        &mut self.list
    }

    /// Keeps those that are wanted.
    pub(crate) fn retain(&mut self, wanted: impl FnMut(&Object) -> bool) {
        self.list.retain(wanted);
    }
}

impl Extend<Object> for Objects {
    /// Of two with one id the later one stays.
    fn extend<T: IntoIterator<Item = Object>>(&mut self, objects: T) {
        self.list.extend(objects);
        if !self.list.is_sorted_by(|one, two| one.id < two.id) {
            // Lists in order, one after the other: nearly as fast as merging them.
            self.list.sort_by_key(|object| object.id);
            self.list.dedup_by(|later, kept| {
                let same = later.id == kept.id;
                if same {
                    *kept = *later;
                }
                same
            });
        }
    }
}

impl FromIterator<Object> for Objects {
    fn from_iter<T: IntoIterator<Item = Object>>(objects: T) -> Objects {
        let mut all = Objects::new();
        all.extend(objects);
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Class, ShapeId};
    use crate::state::State;
    use std::collections::BTreeMap;

    fn object(id: u64, mark: i32) -> Object {
        let state = State { position: [mark; 3], ..State::default() };
        Object { id: ObjectId(id), class: Class::Dynamic, shape: ShapeId(0), state }
    }

    #[test]
    fn a_list_is_what_a_tree_would_be() {
        let (mut list, mut tree) = (Objects::new(), BTreeMap::new());
        let mut number = 1u64;
        for mark in 0..4000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let id = (number >> 33) % 40;
            let one = object(id, mark);
            match (number >> 40) % 4 {
                0 => assert_eq!(list.remove(&ObjectId(id)), tree.remove(&ObjectId(id))),
                1 => assert_eq!(list.insert(one), tree.insert(one.id, one)),
                2 => {
                    let some = [one, object(id / 2, mark + 1), object(39 - id, mark + 2), one];
                    list.extend(some);
                    tree.extend(some.map(|object| (object.id, object)));
                }
                _ => {
                    list.retain(|object| object.id.0 % 7 != id % 7);
                    tree.retain(|key, _| key.0 % 7 != id % 7);
                }
            }
            assert!(list.iter().eq(tree.iter()), "{mark}");
            assert_eq!(list.get(&ObjectId(id)), tree.get(&ObjectId(id)));
            let others: Objects = [object(id, -1), object(id + 1, -1)].into_iter().collect();
            let mut both: BTreeMap<_, _> = others.values().map(|it| (it.id, it)).collect();
            both.extend(tree.iter().map(|(id, it)| (*id, it)));
            assert!(list.with(&others).eq(both.into_values()));
            assert!(list.from(ObjectId(id)).eq(tree.range(ObjectId(id)..).map(|(_, it)| it)));
        }
    }
}
