//! A world that begins again with what was stored of it.
//!
//! A node that says that it is alive, and has seen no view, holds a stored world. Whether that
//! counts is not decided by what the directory remembers, but by which nodes answer: if those that
//! hold the objects can go on without the others, the stored world is dropped and its node joins
//! like any other. If none can, after all had time to answer, the world is restored: the lives of
//! all members are over, and views are numbered from the next multiple of 2³². So a node that was
//! only slow is reset when it is heard, and no message of the world before is taken for one of
//! this world.

use super::chain::Chain;
use super::{Directory, Grouping, Known};
use crate::groups::GroupId;
use crate::load::NodeLoad;
use crate::message::Message;
use crate::mutant::Mutant;
use crate::node::{Address, Output};
use crate::object::NodeId;
use crate::state::Block;
use crate::time::{Span, Time};
use crate::view::{Epoch, Member, View};
use std::collections::BTreeMap;

/// After a start of the directory its nodes have so long to be heard: links between processes are
/// made again within half a second, a busy machine may need more.
const ANSWER: Span = Span::from_ms(5000);

/// Which of the groups of the directory can go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holders {
    /// It is too early to decide.
    Unknown,
    /// All that hold something.
    Living,
    /// None: no node that answers has the world, or enough of it.
    Gone,
    /// Some of those that hold something.
    Partly,
}

impl Directory {
    /// Who holds the objects of the world, of those that have been heard.
    #[must_use]
    pub fn holders(&self, now: Time) -> Holders {
        let up = now - self.since;
        // Before that nodes count as alive that were not heard.
        if up <= self.timing.lease {
            return Holders::Unknown;
        }
        let mut found = [0, 0];
        for (&group, chain) in &self.kept.chains {
            if group == GroupId(0) || chain.has_run() && self.holds(chain) {
                found[usize::from(self.can_continue(now, chain))] += 1;
            }
        }
        match found {
            [0, _] => Holders::Living,
            _ if up <= ANSWER => Holders::Unknown,
            [_, 0] => Holders::Gone,
            _ => Holders::Partly,
        }
    }

    /// Has a member of this group something at home, as far as it has reported?
    fn holds(&self, chain: &Chain) -> bool {
        let members = chain.stable.ring.iter().filter_map(|it| self.kept.known.get(&it.node));
        members.into_iter().any(|known| known.keeps || known.load.objects > 0)
    }

    /// How often the world was restored.
    #[must_use]
    pub fn restorations(&self) -> u64 {
        self.kept.epoch.incarnation()
    }

    /// The world begins again with what this node holds, whichever others may have it: the
    /// incarnations of all others are over.
    #[must_use]
    pub fn restored(mut self, now: Time, founder: Member) -> Directory {
        self.restore(now, founder);
        self
    }

    /// The same, for one that has forgotten how often the world was restored: less often than this.
    /// Views are numbered above all that can have been made.
    #[must_use]
    pub fn restored_less_often_than(mut self, times: u64) -> Directory {
        let least = Epoch(times.saturating_mul(Epoch::VIEWS));
        self.kept.epoch = self.kept.epoch.max(least);
        self
    }

    /// The same, which groups nodes like this from now on; for one that is restored.
    #[must_use]
    pub fn regrouped(mut self, extent: Block, grouping: Grouping) -> Directory {
        let fresh =
            Directory::grouping(Member { node: NodeId(0), life: 0 }, extent, self.timing, grouping);
        self.kept.polls = fresh.kept.polls;
        (self.kept.extent, self.kept.grouping) = (extent, grouping);
        self
    }

    /// A node that has seen a view, of which nothing is known: this directory has forgotten the
    /// world that the node is in.
    pub(super) fn is_stray(&self, member: Member, seen: Epoch) -> bool {
        let over = self.kept.over.get(&member.node);
        seen > Epoch(0)
            && !self.kept.known.contains_key(&member.node)
            && over.is_none_or(|&over| over < member.life)
    }

    /// Its life is over. It takes newer views only, so those that are made are newer.
    pub(super) fn reject_stray(&mut self, member: Member, seen: Epoch, out: &mut Vec<Output>) {
        self.kept.over.insert(member.node, member.life);
        if seen >= self.kept.epoch {
            self.kept.epoch = seen.next_incarnation();
        }
        let reset = Message::Reset { life: member.life };
        out.push(Output::Send(Address::Node(member.node), reset));
    }

    /// A node that is in no view holds a stored world.
    pub(super) fn offered(&mut self, now: Time, member: Member, out: &mut Vec<Output>) {
        let chains = self.kept.chains.values();
        let in_view = |chain: &Chain| chain.stable.has(member) || chain.current.has(member);
        if chains.into_iter().any(in_view) {
            self.offers.remove(&member.node);
            return;
        }
        let holders = match self.mutant {
            Some(Mutant::RestoreBesideLiving) => Holders::Gone,
            _ => self.holders(now),
        };
        match holders {
            Holders::Unknown => {
                self.offers.insert(member.node);
                self.kept.known.entry(member.node).and_modify(|known| known.group = None);
            }
            Holders::Living | Holders::Partly => {
                self.offers.remove(&member.node);
                if self.kept.grouping == Grouping::Together {
                    let known = self.kept.known.entry(member.node);
                    known.and_modify(|known| known.group = Some(GroupId(0)));
                }
                self.place(now, out);
            }
            Holders::Gone => self.restore(now, member),
        }
        self.reconsider(now, out);
        self.remind(member, Epoch(0), out);
        // It may have to measure others before it can join them.
        self.send_near(now, member.node, out);
    }

    /// Is it not known yet whether the stored world that this node holds counts?
    pub(super) fn is_offer(&self, node: NodeId) -> bool {
        self.offers.contains(&node)
    }

    fn restore(&mut self, now: Time, founder: Member) {
        let kept = &mut self.kept;
        let chains = kept.chains.values();
        let rings = chains.flat_map(|chain| chain.stable.ring.iter().chain(&chain.current.ring));
        let members: Vec<Member> = rings.copied().filter(|it| it.node != founder.node).collect();
        for member in members {
            let known = kept.known.remove(&member.node).map_or(0, |known| known.life);
            let over = kept.over.entry(member.node).or_insert(0);
            *over = (*over).max(member.life).max(known);
        }
        let group = GroupId(0);
        let together = kept.grouping == Grouping::Together;
        for known in kept.known.values_mut() {
            known.group = together.then_some(group);
        }
        let known = Known {
            life: founder.life,
            heard: now,
            since: now,
            group: Some(group),
            delays: BTreeMap::new(),
            keeps: false,
            load: NodeLoad::default(),
        };
        kept.known.insert(founder.node, known);
        kept.origin = View::first(founder);
        kept.chains = BTreeMap::from([(group, Chain::new(group, founder, now))]);
        kept.epoch = kept.epoch.next_incarnation();
        kept.grouped += 1;
        kept.ruled.clear();
        self.offers.clear();
    }
}

impl Epoch {
    const VIEWS: u64 = 1 << 32;

    /// How often the world had been restored when this view was made.
    #[must_use]
    pub fn incarnation(self) -> u64 {
        self.0 / Epoch::VIEWS
    }

    /// Above all views of this incarnation.
    #[must_use]
    pub fn next_incarnation(self) -> Epoch {
        Epoch((self.incarnation() + 1).saturating_mul(Epoch::VIEWS))
    }
}
