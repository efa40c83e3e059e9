//! What votes come to: who leaves its group, and where it goes.

use super::place::Ruled;
use super::{Directory, Grouping};
use crate::groups::{GroupId, Kind, PollInput, PollOutput, VoteClosed};
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::NodeId;
use crate::time::{Span, Time};
use crate::view::{Member, View};
use std::collections::BTreeMap;

/// A node that may come into another group has so long to leave its own.
const MOVE: Span = Span::from_ms(5000);

impl Directory {
    /// Something has come that concerns votes, or it may be time.
    pub(super) fn hold_votes(
        &mut self,
        now: Time,
        message: Option<Message>,
        out: &mut Vec<Output>,
    ) {
        if self.kept.grouping == Grouping::Together {
            return;
        }
        let input = match message {
            Some(Message::VoteRequest { from, request }) => {
                let about = self.kept.known.get(&request.subject);
                let keeps = about.is_some_and(|known| known.keeps);
                let deaf = self.mutant == Some(Mutant::NoInclusion);
                if request.kind == Kind::Include && (keeps || deaf) {
                    return;
                }
                PollInput::Request { from, request }
            }
            Some(Message::Vote(vote)) => PollInput::Vote { from: vote.voter, vote },
            _ => PollInput::Wake,
        };
        self.step_polls(now, input, out);
    }

    fn step_polls(&mut self, now: Time, input: PollInput, out: &mut Vec<Output>) {
        let outputs = self.kept.polls.step(now, input);
        self.send_polls(now, outputs, out);
    }

    /// Does what a step of the polls wants done.
    pub(super) fn send_polls(
        &mut self,
        now: Time,
        outputs: Vec<PollOutput>,
        out: &mut Vec<Output>,
    ) {
        for output in outputs {
            match output {
                PollOutput::Call { to, call } => {
                    out.push(Output::Send(Address::Node(to), Message::VoteCall(call)));
                }
                PollOutput::Closed { to, closed } => {
                    out.push(Output::Send(Address::Node(to), Message::VoteClosed(closed)));
                }
                // The caller will ask again.
                PollOutput::Refused { .. } => {}
                PollOutput::Change(closed) => self.change(now, &closed),
            }
        }
    }

    /// A vote has passed.
    fn change(&mut self, now: Time, closed: &VoteClosed) {
        let Grouping::ByDelay(rules) = self.kept.grouping else { return };
        let VoteClosed { kind, subject, group, .. } = *closed;
        let Some(known) = self.kept.known.get(&subject) else { return };
        let member = Member { node: subject, life: known.life };
        let home = known.group;
        let ruled = match kind {
            Kind::Include => Ruled { group, into: true, until: now + MOVE },
            Kind::Reject => Ruled { group, into: false, until: now + rules.polls.membership },
        };
        self.kept.ruled.insert(subject, ruled);
        if let Some(chain) = home.and_then(|home| self.kept.chains.get_mut(&home))
            && chain.stable.ring.len() > 1
        {
            chain.leave(now, member);
        }
    }

    /// A node is to come into this group when it begins anew.
    pub(super) fn rule_into(&mut self, now: Time, node: NodeId, group: GroupId) {
        self.kept.ruled.insert(node, Ruled { group, into: true, until: now + MOVE });
    }

    /// Offers a node that is alone in its group that another would take it.
    pub(super) fn offer_leave(&self, now: Time, member: Member, out: &mut Vec<Output>) {
        let ruled = self.kept.ruled.get(&member.node);
        let wanted = ruled.is_some_and(|ruled| {
            ruled.into && now < ruled.until && self.kept.chains.contains_key(&ruled.group)
        });
        let known = self.kept.known.get(&member.node).and_then(|known| known.group);
        let elsewhere = ruled.is_some_and(|ruled| known.is_some_and(|home| home != ruled.group));
        if let Some(chain) = known.and_then(|group| self.kept.chains.get(&group))
            && wanted
            && elsewhere
            && chain.is_stable()
            && chain.stable.ring == [member]
        {
            let message = Message::MayLeave(chain.stable.epoch);
            out.push(Output::Send(Address::Node(member.node), message));
        }
    }

    /// Groups have changed, or a member of one has begun a new incarnation, which belongs to none
    /// yet: votes under way are void. An incarnation that is over neither votes nor is voted about.
    pub(super) fn regroup(&mut self, now: Time, out: &mut Vec<Output>) {
        if self.kept.grouping == Grouping::Together {
            return;
        }
        self.kept.grouped += 1;
        let run = self.kept.chains.iter().filter(|(_, chain)| chain.has_run());
        let voters = |group: GroupId, view: &View| -> Vec<NodeId> {
            let ring = view.ring.iter().filter(|member| self.is_of(**member, group));
            ring.map(|member| member.node).collect()
        };
        let groups: BTreeMap<GroupId, Vec<NodeId>> =
            run.map(|(&group, chain)| (group, voters(group, &chain.stable))).collect();
        let input = PollInput::Groups { epoch: self.kept.grouped, groups };
        self.step_polls(now, input, out);
    }

    /// One voter alone cannot put a member out; but it can if that member itself takes longer to
    /// hear from its group than the threshold.
    pub(super) fn corroborate(&mut self, now: Time, member: Member, out: &mut Vec<Output>) {
        let Some(known) = self.kept.known.get(&member.node) else { return };
        let Some(chain) = known.group.and_then(|group| self.kept.chains.get(&group)) else {
            return;
        };
        let others = chain.stable.nodes().filter_map(|node| known.delays.get(&node));
        if let Some(&delay) = others.max() {
            let input = PollInput::Measured { node: member.node, delay };
            self.step_polls(now, input, out);
        }
    }
}
