//! What a gateway asks of a free-running group. There requests are neither numbered nor answered:
//! the holder of the avatar applies them, and the gateway repeats them until it sees the outcome.
//!
//! Only entering is different, because that must not happen twice: a single member is asked, as
//! long as its incarnation lasts. If it ends before the avatar was seen, the gateway gives that
//! avatar up; should it be in the world after all, it is one without a client.

use super::STREAM_MAX;
use super::group_link::GroupLink;
use crate::free_running::{Entry, FreeRunningMessage};
use crate::groups::GroupId;
use crate::input::{ClientInput, INPUTS_MAX, Input, Inputs, Source};
use crate::message::Message;
use crate::node::{Address, Output};
use crate::object::{Class, NodeId, Object, ObjectId};
use crate::view::{Member, View};
use std::collections::BTreeMap;

/// An avatar that was in none of so many sweeps since it was first asked for is not there. One that
/// has just come in may not have been received yet.
const SURE: u64 = 2;

/// Something that is to become of an avatar.
#[derive(Clone, Copy, Debug)]
struct PendingRequest {
    input: Input,
    /// Who is asked to let it in.
    to: Option<Member>,
    /// It was said already.
    sent: bool,
}

/// What was asked for and not seen yet.
#[derive(Clone, Debug, Default)]
pub(super) struct PendingRequests {
    requests: BTreeMap<ObjectId, PendingRequest>,
    steers: BTreeMap<ObjectId, ClientInput>,
    /// Avatars that clients came back for and that are not known: since which sweep.
    unknown: BTreeMap<ObjectId, u64>,
}

impl PendingRequests {
    pub(super) fn len(&self) -> usize {
        self.requests.len()
    }

    pub(super) fn steers(&self) -> usize {
        self.steers.len()
    }

    pub(super) fn part(&mut self, avatar: ObjectId) {
        self.steers.remove(&avatar);
    }

    /// Something is to become of an avatar; what was to become of it before does not matter now.
    pub(super) fn ask(&mut self, input: Input, view: Option<&View>) {
        let to = match (input, view) {
            (Input::Enter(object), Some(view)) => {
                let owner = view.owner(object.state.position);
                view.ring.iter().find(|member| member.node == owner).copied()
            }
            _ => None,
        };
        if let Some(id) = input.object() {
            self.requests.insert(id, PendingRequest { input, to, sent: false });
        }
    }

    /// Those who come in, by whom they come in with, if they were not said or all are said again.
    fn entries(&self, again: bool) -> BTreeMap<Member, Vec<Object>> {
        let mut entries: BTreeMap<Member, Vec<Object>> = BTreeMap::new();
        for request in self.requests.values().filter(|request| again || !request.sent) {
            if let (Input::Enter(object), Some(to)) = (request.input, request.to) {
                entries.entry(to).or_default().push(object);
            }
        }
        entries
    }

    /// The first who is still to come in.
    fn first(&self) -> Option<ObjectId> {
        let enters = |request: &&PendingRequest| matches!(request.input, Input::Enter(_));
        self.requests.values().filter(enters).filter_map(|request| request.input.object()).min()
    }
}

impl GroupLink {
    /// May a client be sent that the avatar, which is not known, is gone?
    pub(super) fn is_gone(&mut self, avatar: ObjectId) -> bool {
        let sweeps = self.follower.sweeps();
        let Some(PendingRequests { unknown, .. }) = &mut self.requests else { return true };
        if unknown.len() >= STREAM_MAX && !unknown.contains_key(&avatar) {
            unknown.clear();
        }
        sweeps >= *unknown.entry(avatar).or_insert(sweeps) + SURE
    }

    /// What has come about need not be asked for any more, nor what can come about no more.
    pub(super) fn drop_completed(&mut self) {
        let Some(PendingRequests { requests, steers, unknown }) = &mut self.requests else {
            return;
        };
        let Some((_, objects)) = self.follower.world() else { return };
        let class = |id: &ObjectId| objects.get(id).map(|object| object.class);
        let view = self.follower.view();
        let over = |to: &Member| view.is_some_and(|view| !view.has(*to));
        requests.retain(|id, request| {
            let done = match request.input {
                Input::Enter(_) => class(id).is_some() || request.to.as_ref().is_none_or(over),
                Input::Remove(_) => class(id).is_none(),
                Input::Absent(_) => class(id) != Some(Class::Avatar),
                Input::Return(_) => class(id) != Some(Class::Absent),
                _ => true,
            };
            if done {
                self.asked.remove(id);
            }
            !done
        });
        let heard = |id: &ObjectId| self.follower.heard_of(Source::Avatar(*id));
        steers.retain(|id, want| class(id).is_some() && heard(id) < want.number);
        unknown.retain(|id, _| class(id).is_none());
    }

    /// Sends holders what is new; with `again` everything to all, in case the holder has changed.
    pub(super) fn send_requests(&mut self, again: bool, out: &mut Vec<Output>) {
        let Some(view) = self.follower.view() else { return };
        let Some(requests) = &mut self.requests else { return };
        let nodes: Vec<NodeId> = view.nodes().collect();
        let fresh = std::mem::take(&mut self.wants);
        requests.steers.extend(&fresh);
        let steers = if again { &requests.steers } else { &fresh };
        let calls = requests.requests.values().filter(|request| again || !request.sent);
        let calls = calls.map(|request| request.input);
        let calls = calls.filter(|input| !matches!(input, Input::Enter(_)));
        let mut messages: BTreeMap<NodeId, Vec<Vec<Input>>> = BTreeMap::new();
        for input in calls.chain(steers.values().copied().map(Input::Steer)) {
            let holder = input.object().and_then(|id| self.follower.holder(id));
            let holder = holder.filter(|_| !again);
            for node in nodes.iter().filter(|node| holder.is_none_or(|holder| holder == **node)) {
                messages.entry(*node).or_default().push(vec![input]);
            }
        }
        let source = self.stream.source();
        for (node, inputs) in messages {
            for inputs in inputs.chunks(INPUTS_MAX) {
                let inputs = inputs.to_vec();
                let inputs = Inputs { group: GroupId(0), source, first: 1, inputs };
                out.push(Output::Send(Address::Node(node), Message::Inputs(inputs)));
            }
        }
        if let Some(first) = requests.first() {
            // Those before it are in, or never will be.
            let over = ObjectId(first.0 - 1);
            for (to, objects) in requests.entries(again) {
                let entry = Entry { to, from: self.me, over, objects };
                let message = Message::FreeRunning(FreeRunningMessage::Enter(entry));
                out.push(Output::Send(Address::Node(to.node), message));
            }
        }
        requests.requests.values_mut().for_each(|request| request.sent = true);
    }
}
