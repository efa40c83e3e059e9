//! A group that cannot go on: a member and all its backups are gone at once, so no member has its
//! objects. The directory makes no view without them; it reports what is missing, in its status and
//! to every node that asks, until one of the missing comes back in the same incarnation or the
//! world is restored from its store.

use super::chain::Chain;
use super::{Directory, Known};
use crate::groups::GroupId;
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::time::{Span, Time};
use crate::view::Member;

/// Why a group cannot go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Halt {
    /// The members whose objects no member has that can be heard.
    pub lost: Vec<Member>,
    /// All members that cannot be heard: the group goes on by itself when enough of them can be
    /// heard again, in the same incarnation, for every lost member or one of its backups.
    pub silent: Vec<Member>,
    /// How long it has been so.
    pub since: Span,
    /// Later incarnations were heard of a lost member and all its backups: they have forgotten what
    /// they held, so the group never goes on by itself.
    pub for_good: bool,
}

impl Directory {
    /// Why a group cannot go on; none if it can. One that never ran holds nothing that could be
    /// lost.
    pub(super) fn halt_of(&self, now: Time, chain: &Chain) -> Option<Halt> {
        if !chain.has_run() || self.mutant == Some(Mutant::SilentHalt) {
            return None;
        }
        let stable = &chain.stable;
        let lost = stable.unrecoverable(|member| self.is_alive(now, &member));
        let (first, silent) = (lost.first()?, &stable.ring);
        let silent = silent.iter().copied().filter(|member| !self.is_alive(now, member)).collect();
        let known = |member: &Member| self.kept.known.get(&member.node);
        let is_same = |member: &Member, known: &&Known| known.life == member.life;
        let holders = |lost: &Member| {
            std::iter::once(*lost).chain(stable.backups_of(lost.node)).collect::<Vec<_>>()
        };
        let heard = |member: &Member| known(member).filter(|it| is_same(member, it))?.heard.into();
        let last = |lost: &Member| holders(lost).iter().filter_map(heard).max();
        let since = lost.iter().filter_map(last).min().or_else(|| known(first).map(|it| it.since));
        let for_good = |lost: &Member| holders(lost).iter().all(|it| heard(it).is_none());
        Some(Halt {
            since: since.map_or(Span(0), |since| now - since),
            for_good: lost.iter().any(for_good),
            lost,
            silent,
        })
    }

    /// All groups that cannot go on.
    pub(super) fn halts(&self, now: Time) -> impl Iterator<Item = (GroupId, Halt)> {
        let chains = self.kept.chains.iter();
        chains.filter_map(move |(&group, chain)| Some((group, self.halt_of(now, chain)?)))
    }

    pub(super) fn is_halted(&self, now: Time) -> bool {
        self.halts(now).next().is_some()
    }

    /// Reports to a node what prevents its group from going on; to one that waits to be admitted,
    /// what prevents any.
    pub(super) fn report_halts(&self, now: Time, member: Member, out: &mut Vec<Output>) {
        let home = self.kept.known.get(&member.node).and_then(|known| known.group);
        let concerns = |group: &GroupId| home.is_none_or(|home| home == *group);
        let found = self.halts(now).find(|(group, _)| concerns(group));
        if let Some((group, halt)) = found {
            let lost = halt.lost.iter().map(|member| member.node).collect();
            let message = Message::Halted { group, lost, for_good: halt.for_good };
            out.push(Output::Send(Address::Node(member.node), message));
        }
    }
}
