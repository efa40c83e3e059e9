//! What groups send each other: the leader's machine represents its group.
//!
//! Every group computes its own objects and has copies of the others' (Storey 2006, 3.3.8). An
//! avatar is at home in the group of its gateway, everything else in the group that created it; of
//! static objects each group has its own. The relay follows its own group like any other follower,
//! and sends every other group's leader, tick by tick and numbered by its ticks: what came in and
//! what left, where dead reckoning is too far off, and what contacts that were decided here do to
//! the others' objects. These are inputs of the other group's commits, so all its members and
//! followers agree on them, each is taken once and in order, and the next leader on either side
//! goes on from what the other has acknowledged.

mod drain;
mod send;

use crate::follow::Follower;
use crate::groups::{GroupId, Standing, Tolerance};
use crate::input::{GatewayId, INPUTS_MAX, Input, Inputs, Source};
use crate::message::{Commit, Follow, Message, RemoteKick, Touch};
use crate::mutant::Mutant;
use crate::node::{Address, Output, Timing};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::objects::Objects;
use crate::state::State;
use crate::time::{Tick, Time};
use crate::view::{Member, View};
use drain::Drain;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// Ticks whose content is kept for those who have not taken it; as many as members keep.
const KEPT: usize = 600;

/// Corrections in one tick, at most.
const CORRECTIONS_MAX: usize = 1024;

/// Is an object computed in the group that holds it like this? Static objects belong to all.
#[must_use]
pub fn is_home(class: Class) -> bool {
    matches!(class, Class::Dynamic | Class::Avatar | Class::Absent)
}

/// What a touch that a group found is worth: canonical if that group decides about the pair, a
/// guess if the one with the smaller id is another group's, whose word is still to come.
///
/// ```
/// use jostle_proto::{Class, GroupId, Standing, touch_standing};
///
/// assert_eq!(touch_standing(Class::Dynamic), Standing::Canonical);
/// assert_eq!(touch_standing(Class::Foreign(GroupId(1))), Standing::Predicted);
/// ```
#[must_use]
pub fn touch_standing(smaller: Class) -> Standing {
    if smaller.elsewhere().is_some() { Standing::Predicted } else { Standing::Canonical }
}

/// What this touch, decided by the group that holds these objects, does to another group's object.
pub fn decided_kick<'a>(
    touch: &Touch,
    object: impl Fn(ObjectId) -> Option<&'a Object>,
) -> Option<RemoteKick> {
    if touch.kick_b == [0; 3] || !is_home(object(touch.a)?.class) {
        return None;
    }
    let to = object(touch.b)?.class.elsewhere()?;
    Some(RemoteKick { to, object: touch.b, kick: touch.kick_b })
}

/// What a tick of this group is for the others.
#[derive(Clone, Debug)]
struct RelayedTick {
    inputs: Vec<Input>,
    /// Groups that this group had heard of, and how far: from there on it may have decided
    /// something for them.
    heard: Vec<(GroupId, u64)>,
    entered: Vec<ObjectId>,
    /// What moved its home to which group, as it was then, and how far its client was followed.
    departed: Vec<(GroupId, Object, u64)>,
    /// What was decided about others' objects.
    kicks: Vec<RemoteKick>,
    /// The groups that there were copies of objects of; none if this was not examined.
    copied: Option<BTreeSet<GroupId>>,
}

/// Another group.
#[derive(Clone, Copy, Debug, Default)]
struct Other {
    leader: Option<NodeId>,
    /// What it has taken, if it has said so: the number of the last, or nothing at all.
    taken: Option<Option<u64>>,
    /// The number that it is greeted with.
    start: Option<u64>,
}

/// Speaks for a group.
#[derive(Clone, Debug)]
pub(crate) struct Relay {
    me: GatewayId,
    group: GroupId,
    timing: Timing,
    mutant: Option<Mutant>,
    follower: Follower,
    members: Vec<NodeId>,
    /// By tick, without gaps.
    relayed: VecDeque<RelayedTick>,
    /// The tick of the first of them.
    first: u64,
    /// Ticks before that, as far as members have sent them.
    back: BTreeMap<Tick, Arc<Commit>>,
    /// What others extrapolate an object of this group to be by now, if nothing is sent.
    reckoned: BTreeMap<ObjectId, State>,
    /// Has it looked at all that is at home here, since it began?
    has_looked: bool,
    /// Objects are sent again in turn, each once a second.
    turn: Option<ObjectId>,
    others: BTreeMap<GroupId, Other>,
    drain: Drain,
    resend_at: Time,
}

impl Relay {
    pub(crate) fn new(me: Member, group: GroupId, timing: Timing) -> Relay {
        let id = GatewayId::relay(me.node, me.life);
        Relay {
            me: id,
            group,
            timing,
            mutant: None,
            follower: Follower::new(id, timing).of(group),
            members: Vec::new(),
            relayed: VecDeque::new(),
            first: 1,
            back: BTreeMap::new(),
            reckoned: BTreeMap::new(),
            has_looked: false,
            turn: None,
            others: BTreeMap::new(),
            drain: Drain::default(),
            resend_at: Time(0),
        }
    }

    pub(crate) fn with_mutant(self, mutant: Option<Mutant>) -> Relay {
        Relay { mutant, ..self }
    }

    pub(crate) fn group(&self) -> GroupId {
        self.group
    }

    /// The members of the group are these.
    pub(crate) fn view(&mut self, now: Time, view: &View) {
        if self.follower.view().is_none_or(|known| known.epoch < view.epoch) {
            self.members = view.nodes().collect();
            self.follower.receive(now, Message::View(view.clone()));
        }
    }

    /// The other groups, and who leads them.
    pub(crate) fn groups(&mut self, groups: &[(GroupId, NodeId)]) {
        let listed = |group: &GroupId| groups.iter().any(|(known, _)| known == group);
        self.others.retain(|group, _| listed(group));
        for &(group, leader) in groups.iter().filter(|(group, _)| *group != self.group) {
            self.others.entry(group).or_default().leader = Some(leader);
        }
    }

    /// Another group says what it has taken.
    pub(crate) fn heard(&mut self, by: GroupId, number: Option<u64>, out: &mut Vec<Output>) {
        let Some(other) = self.others.get_mut(&by) else { return };
        let news = other.taken != Some(number);
        other.taken = Some(number);
        if news {
            self.send(by, out);
        }
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.resend_at.min(self.follower.wake_at())
    }

    /// The clock says so.
    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        let mut asked = Vec::new();
        self.follower.wake(now, &mut asked);
        // The views come from the node that this is.
        asked.retain(|output| !matches!(output, Output::Send(Address::Directory, _)));
        out.append(&mut asked);
        if now >= self.resend_at {
            self.resend_at = now + self.timing.resend;
            self.ask_back(out);
            let groups: Vec<GroupId> = self.others.keys().copied().collect();
            for group in groups {
                self.send(group, out);
            }
        }
    }

    /// A message for a follower has come. `kept` are the ticks that this member remembers.
    pub(crate) fn receive(
        &mut self,
        now: Time,
        message: Message,
        kept: &VecDeque<Arc<Commit>>,
        out: &mut Vec<Output>,
    ) {
        if let Message::Published(commit) = &message
            && commit.group == self.group
            && commit.tick.0 < self.first
        {
            self.back.insert(commit.tick, commit.clone());
            self.go_back();
        }
        self.follower.receive(now, message);
        self.follow(kept, out);
    }

    /// Another group may need what happened before this relay began: members are asked for it.
    fn ask_back(&self, out: &mut Vec<Output>) {
        let taken = self.others.values().filter_map(|other| other.taken.flatten());
        let Some(needed) = taken.min() else { return };
        if self.relayed.is_empty() || needed + 1 >= self.first {
            return;
        }
        let have = Some(Tick(needed));
        let epoch = self.follower.view().map(|view| view.epoch).unwrap_or_default();
        let follow = Follow { from: self.me, group: self.group, epoch, have };
        for &node in &self.members {
            out.push(Output::Send(Address::Node(node), Message::Follow(follow)));
        }
    }

    fn go_back(&mut self) {
        let Some((_, world)) = self.follower.world() else { return };
        while !self.relayed.is_empty()
            && self.relayed.len() < KEPT
            && let Some(commit) = self.back.remove(&Tick(self.first.saturating_sub(1)))
        {
            self.relayed.push_front(relayed_tick(self.group, &commit, world, |_| true));
            self.first -= 1;
        }
        self.back.retain(|tick, _| tick.0 < self.first);
        while self.back.len() > KEPT {
            self.back.pop_first();
        }
    }

    /// Takes the ticks that its follower has come to.
    fn follow(&mut self, kept: &VecDeque<Arc<Commit>>, out: &mut Vec<Output>) {
        let mut news = false;
        while let Some(commit) = self.follower.take() {
            let Some((_, world)) = self.follower.world() else { continue };
            if self.relayed.is_empty() || self.first + self.relayed.len() as u64 != commit.tick.0 {
                self.relayed.clear();
                self.drain = Drain::default();
                self.first = commit.tick.0;
                self.reckoned.clear();
                self.has_looked = false;
                // What this member remembers of the time before.
                for before in kept.iter().rev().skip_while(|it| it.tick >= commit.tick) {
                    if before.tick.0 + 1 != self.first || before.tick == Tick(0) {
                        break;
                    }
                    self.relayed.push_front(relayed_tick(self.group, before, world, |_| true));
                    self.first = before.tick.0;
                }
            }
            // What came and went between two looks was never looked at, nor what went before the
            // first.
            let entered =
                |id: ObjectId| self.relayed.iter().any(|relayed| relayed.entered.contains(&id));
            let home =
                |id: ObjectId| !self.has_looked || self.reckoned.contains_key(&id) || entered(id);
            let mut relayed = relayed_tick(self.group, &commit, world, home);
            self.reckon(&commit, &mut relayed);
            self.watch_drain(&commit);
            self.relayed.push_back(relayed);
            if self.relayed.len() > KEPT {
                self.relayed.pop_front();
                self.first += 1;
            }
            news = true;
        }
        if news {
            let groups: Vec<GroupId> = self.others.keys().copied().collect();
            for group in groups {
                self.send(group, out);
            }
        }
    }
}

/// What a commit is for other groups, apart from corrections. Of what left, `home` decides whether
/// it was at home here; if that is not known any more it is sent in any case, and does no harm.
/// What has departed stands still as it was, until the other group has it: after that the other
/// group needs no more messages about it.
fn relayed_tick(
    group: GroupId,
    commit: &Commit,
    world: &Objects,
    home: impl Fn(ObjectId) -> bool,
) -> RelayedTick {
    let mut inputs = Vec::new();
    let mut entered = Vec::new();
    let mut departed = Vec::new();
    for input in &commit.inputs {
        match input {
            Input::Enter(object) | Input::Arrive(object, _) if is_home(object.class) => {
                let class = Class::Foreign(group);
                inputs.push(Input::Enter(Object { class, ..*object }));
                entered.push(object.id);
            }
            Input::Remove(id) if entered.contains(id) || home(*id) => inputs.push(*input),
            Input::Depart(id, to) => {
                if let Some(object) = world.get(id)
                    && let Class::Leaving(_, mobile) = object.class
                {
                    let object = Object { class: mobile.at_home(), ..*object };
                    departed.push((*to, object, commit.heard_of(Source::Avatar(*id))));
                }
            }
            _ => {}
        }
    }
    let heard = commit.heard.iter().filter_map(|(source, number)| match source {
        Source::Group(group) => Some((*group, *number)),
        Source::Gateway(_) | Source::Avatar(_) => None,
    });
    let (heard, kicks) = (heard.collect(), commit.kicks.clone());
    RelayedTick { inputs, heard, entered, departed, kicks, copied: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::held::{advance, apply};
    use crate::message::Share;
    use crate::object::{ShapeId, digest};
    use crate::view::Epoch;

    /// A group that publishes ticks with these inputs, all of which a new relay hears at once.
    fn heard_at_once(world: &[Object], ticks: Vec<Vec<Input>>) -> Vec<Vec<Input>> {
        let me = Member { node: NodeId(0), life: 1 };
        let mut relay = Relay::new(me, GroupId(0), Timing::default());
        let view = View { epoch: Epoch(1), ..View::first(me) };
        relay.view(Time(0), &view);
        let mut objects: Objects = world.iter().copied().collect();
        let (mut tick, mut published) = (Tick(1), Vec::new());
        for inputs in ticks {
            advance(&mut objects, tick, relay.timing.rate);
            tick = tick.next();
            let digest = digest(objects.values());
            let commit = Commit { epoch: Epoch(1), tick, inputs, digest, ..Commit::default() };
            apply(&mut objects, &commit, |_| true);
            published.push(Message::Published(Arc::new(commit)));
        }
        let share = Share {
            epoch: Epoch(1),
            tick: Tick(1),
            from: me.node,
            members: 1,
            objects: world.to_vec(),
            heard: Vec::new(),
        };
        published.push(Message::Share(share));
        for message in published {
            relay.receive(Time(0), message, &VecDeque::new(), &mut Vec::new());
        }
        relay.relayed.into_iter().map(|relayed| relayed.inputs).collect()
    }

    #[test]
    fn what_left_before_the_relay_had_looked_round_is_gone_everywhere() {
        let (id, shape, state) = (ObjectId(7), ShapeId(0), State::default());
        let avatar = Object { id, class: Class::Avatar, shape, state };
        let (came, went) = (Input::Enter(avatar), Input::Remove(id));
        let copy = Input::Enter(Object { class: Class::Foreign(GroupId(0)), ..avatar });
        // In one tick; in two that are heard of together; and of one that was there already.
        assert_eq!(heard_at_once(&[], vec![vec![came, went]]), [vec![copy, went]]);
        let two = heard_at_once(&[], vec![vec![came], vec![went]]);
        assert_eq!(two, [vec![copy], vec![went]]);
        assert_eq!(heard_at_once(&[avatar], vec![vec![went]]), [vec![went]]);
    }
}
