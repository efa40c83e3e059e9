//! Inputs of a group: what its members cannot compute.
//!
//! Everything that happens to a group's world is in its commits, so that any of its members, a
//! gateway and a checker come to the same world. A source numbers its inputs; the leader takes them
//! in their order and each once, and every commit records how far it has come with each source, so
//! that the next leader knows it too.

use crate::gateway::AVATARS_FROM;
use crate::groups::GroupId;
use crate::normal::{Normal, strike, wide};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// A gateway in one of its lives. One that has lost its memory begins the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct GatewayId {
    /// Which gateway.
    pub number: u32,
    /// Which life.
    pub life: u32,
}

/// Gateway numbers from here on are nodes that follow their own group, to speak for it.
const RELAYS: u32 = 1 << 31;

impl GatewayId {
    /// A node that follows its own group.
    #[must_use]
    pub fn relay(node: NodeId, life: u32) -> GatewayId {
        GatewayId { number: RELAYS | node.0, life }
    }

    /// The node that it is, if it is one.
    #[must_use]
    pub fn node(self) -> Option<NodeId> {
        (self.number & RELAYS != 0).then_some(NodeId(self.number & !RELAYS))
    }
}

/// Whom inputs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Source {
    /// A gateway, for its clients.
    Gateway(GatewayId),
    /// Another consistency group, for its objects. Its inputs are numbered by its ticks.
    Group(GroupId),
    /// A client, for the avatar that a gateway brought in for it: counts what it wants, whatever
    /// gateways that comes through. It sends nothing itself.
    Avatar(ObjectId),
}

impl Source {
    /// Does hearing this one end the other, an earlier life of the same?
    #[must_use]
    pub(crate) fn ends(self, other: Source) -> bool {
        match (self, other) {
            (Source::Gateway(a), Source::Gateway(b)) => a.number == b.number && a.life > b.life,
            _ => false,
        }
    }
}

/// Something that happens to a group's world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Input {
    /// An avatar is to move in another way.
    Steer(ClientInput),
    /// Something comes into the world that was not in it. Its source answers for the id.
    Enter(Object),
    /// Something leaves the world for good.
    Remove(ObjectId),
    /// An avatar whose client is gone: it keeps its place and touches nothing.
    Absent(ObjectId),
    /// Its client is back.
    Return(ObjectId),
    /// What this other group says about an object of its own, which entered before.
    Correct(ObjectId, GroupId, State),
    /// Another group has decided what a contact does to an object of this one.
    Kick(ObjectId, [i16; 3]),
    /// An object of this group moves its home to another one, and stands still until it is there.
    Depart(ObjectId, GroupId),
    /// An object whose home was another group is at home in this one. Its client, if it has one,
    /// has been followed up to this number.
    Arrive(Object, u64),
    /// This group's copy of an object that is nowhere any more goes.
    Forget(ObjectId),
    /// Another group, that has taken so much of what this one has said, has no copies of this
    /// one's objects: from its next tick on it decides nothing for this group.
    Clear(GroupId, u64),
}

impl Input {
    /// Which object it happens to, if to any.
    #[must_use]
    pub fn object(&self) -> Option<ObjectId> {
        match self {
            Input::Steer(want) => Some(want.avatar),
            Input::Enter(object) | Input::Arrive(object, _) => Some(object.id),
            Input::Remove(id) | Input::Absent(id) | Input::Return(id) => Some(*id),
            Input::Forget(id) => Some(*id),
            Input::Correct(id, ..) | Input::Kick(id, _) | Input::Depart(id, _) => Some(*id),
            Input::Clear(..) => None,
        }
    }

    /// Is this to happen, as far as the group has come with its sources? What an avatar wants
    /// happens once and in order even if its client has moved from gateway to gateway: a number
    /// that was there, or was overtaken, changes nothing.
    pub(crate) fn is_news(&self, group: GroupId, heard: &mut BTreeMap<Source, u64>) -> bool {
        match self {
            Input::Enter(object) if object.class == Class::Avatar => {
                heard.entry(Source::Avatar(object.id)).or_insert(0);
                true
            }
            Input::Remove(id) => {
                heard.remove(&Source::Avatar(*id));
                true
            }
            Input::Steer(want) => match heard.get_mut(&Source::Avatar(want.avatar)) {
                Some(number) if want.number <= *number => false,
                Some(number) => {
                    *number = want.number;
                    true
                }
                // One that the world began with, or one that is no more.
                None => true,
            },
            Input::Arrive(object, number) if *number > 0 || object.id >= AVATARS_FROM => {
                // One that has not wanted anything yet is counted from here on, too.
                heard.insert(Source::Avatar(object.id), *number);
                true
            }
            // An older group counts what it wants now. (What a younger one says is of the time
            // before it came here.)
            Input::Correct(id, home, _) if *home < group => {
                heard.remove(&Source::Avatar(*id));
                true
            }
            _ => true,
        }
    }

    /// What becomes of the object; none if it is no more.
    pub(crate) fn change(&self, object: Object) -> Option<Object> {
        let Object { class, mut state, .. } = object;
        match *self {
            Input::Steer(want) if class == Class::Avatar => {
                (state.velocity, state.spin) = (want.velocity, want.spin);
                Some(Object { state, ..object })
            }
            // What is on its way is not here any more.
            Input::Remove(_) if matches!(class, Class::Leaving(..)) => Some(object),
            Input::Remove(_) => None,
            Input::Forget(_) if matches!(class, Class::Foreign(_)) => None,
            Input::Absent(_) if class == Class::Avatar => {
                (state.velocity, state.spin) = ([0; 3], [0; 3]);
                Some(Object { class: Class::Absent, state, ..object })
            }
            Input::Return(_) if class == Class::Absent => {
                Some(Object { class: Class::Avatar, ..object })
            }
            // Homes move only to older groups, so of two words the one of the older group is new.
            Input::Correct(_, home, state) if class.elsewhere().is_some_and(|it| home <= it) => {
                Some(Object { class: Class::Foreign(home), state, ..object })
            }
            Input::Depart(_, to) => {
                let class = class.mobile().map_or(class, |mobile| Class::Leaving(to, mobile));
                Some(Object { class, ..object })
            }
            Input::Kick(_, kick) => {
                let mut changed = object;
                // What it ran into is where the push comes from.
                strike(&mut changed, kick, Normal::of(-wide(kick)));
                Some(changed)
            }
            _ => Some(object),
        }
    }
}

/// The input of a client: other velocities for its avatar. It cannot be computed, so it must not be
/// lost once its outcome has been seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientInput {
    /// Which avatar.
    pub avatar: ObjectId,
    /// Numbers what its client wants, so that the client knows how far the world has followed.
    pub number: u64,
    /// The velocity, as in a [`State`].
    pub velocity: [i16; 3],
    /// The spin, as in a [`State`].
    pub spin: [i16; 3],
}

/// Inputs of one source, in their order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inputs {
    /// For which group: a node that leads another one by now takes no notice.
    pub group: GroupId,
    /// Its source.
    pub source: Source,
    /// The number of the first one; the others count on from there.
    pub first: u64,
    /// What is to happen. One number may stand for several things, or for none.
    pub inputs: Vec<Vec<Input>>,
}

/// Numbers that a leader takes of one source at a time, and that one message holds.
pub const INPUTS_MAX: usize = 64;

/// The sending side of a source: keeps what the group has not taken yet.
#[derive(Clone, Debug)]
pub struct Stream {
    group: GroupId,
    source: Source,
    /// The number of the oldest that is kept.
    first: u64,
    waiting: VecDeque<Vec<Input>>,
}

impl Stream {
    /// One to the group that the world begins with, whose first input will have the number
    /// `first`; a gateway's first is 1.
    ///
    /// ```
    /// use jostle_proto::{GatewayId, Input, ObjectId, Source, Stream};
    ///
    /// let source = Source::Gateway(GatewayId { number: 7, life: 1 });
    /// let mut stream = Stream::new(source, 1);
    /// assert_eq!(stream.push(vec![Input::Absent(ObjectId(3))]), 1);
    /// assert_eq!(stream.push(vec![Input::Remove(ObjectId(3))]), 2);
    /// stream.heard(1);
    /// assert_eq!(stream.message().map(|inputs| inputs.first), Some(2));
    /// stream.heard(2);
    /// assert_eq!(stream.message(), None);
    /// ```
    #[must_use]
    pub fn new(source: Source, first: u64) -> Stream {
        Stream { group: GroupId(0), source, first, waiting: VecDeque::new() }
    }

    /// The same to another group.
    #[must_use]
    pub fn to(self, group: GroupId) -> Stream {
        Stream { group, ..self }
    }

    /// Whose it is.
    #[must_use]
    pub fn source(&self) -> Source {
        self.source
    }

    /// Something is to happen; it gets this number.
    pub fn push(&mut self, inputs: Vec<Input>) -> u64 {
        self.waiting.push_back(inputs);
        self.first + self.waiting.len() as u64 - 1
    }

    /// The group has taken everything up to this number.
    pub fn heard(&mut self, number: u64) {
        while self.first <= number && self.waiting.pop_front().is_some() {
            self.first += 1;
        }
    }

    /// How many numbers wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// What the leader is to be sent, until it has taken it.
    #[must_use]
    pub fn message(&self) -> Option<Inputs> {
        if self.waiting.is_empty() {
            return None;
        }
        let inputs = self.waiting.iter().take(INPUTS_MAX).cloned().collect();
        let (group, source, first) = (self.group, self.source, self.first);
        Some(Inputs { group, source, first, inputs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::ShapeId;

    #[test]
    fn an_avatar_that_moved_before_it_wanted_anything_follows_in_order() {
        let (id, shape, state) = (AVATARS_FROM, ShapeId(0), State::default());
        let object = Object { id, class: Class::Avatar, shape, state };
        let (mut heard, group) = (BTreeMap::new(), GroupId(1));
        assert!(Input::Arrive(object, 0).is_news(group, &mut heard));
        let want = |number| {
            Input::Steer(ClientInput { avatar: id, number, velocity: [0; 3], spin: [0; 3] })
        };
        let mut news = |number| want(number).is_news(group, &mut heard);
        assert_eq!([7, 3, 8].map(&mut news), [true, false, true]);
        // What the group that it came from said before does not make it begin anew.
        assert!(Input::Correct(id, GroupId(2), state).is_news(group, &mut heard));
        assert!(!want(5).is_news(group, &mut heard));
    }

    #[test]
    fn an_avatar_that_another_group_decides_about_is_stopped_and_not_thrown() {
        let state = State { velocity: [300, -200, 100], ..State::default() };
        let after = |class, kick| {
            let object = Object { id: ObjectId(1), class, shape: ShapeId(0), state };
            let changed = Input::Kick(ObjectId(1), kick).change(object);
            changed.map(|object| object.state.velocity)
        };
        assert_eq!(after(Class::Dynamic, [-5000, 0, 0]), Some([-4700, -200, 100]));
        assert_eq!(after(Class::Avatar, [-5000, 0, 0]), Some([0, -200, 100]));
        assert_eq!(after(Class::Avatar, [5000, 0, 0]), Some([300, -200, 100]));
        assert_eq!(after(Class::Avatar, [0, 7, 0]), Some([300, 0, 100]));
        assert_eq!(after(Class::Absent, [1, 1, 1]), Some([300, -200, 100]));
    }
}
