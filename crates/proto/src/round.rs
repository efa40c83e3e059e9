//! One exchange of bundles: what a member sends the others for a tick, and what comes of it.

use crate::copies::is_turn;
use crate::detect::{Couple, Detector, Shapes};
use crate::held::{moved, passed_on};
use crate::message::{Bundle, Commit, RemoteKick, Touch};
use crate::mutant::Mutant;
use crate::object::{NodeId, Object};
use crate::objects::Objects;
use crate::relay::decided_kick;
use crate::space::Region;
use crate::state::Block;
use crate::time::Tick;
use crate::view::View;
use std::collections::BTreeMap;

/// An exchange under way.
#[derive(Clone, Debug)]
pub(crate) struct Round {
    pub(crate) tick: Tick,
    /// What stays with this member.
    kept: Objects,
    /// What this member hands over but still needs to see.
    ghosts: Vec<Object>,
    /// What this member hands over to those whose backup it is.
    entrusted: Vec<(NodeId, Object)>,
    /// What has come for objects that are at home elsewhere by now.
    passed_on: Vec<RemoteKick>,
    /// What it sends each of the others.
    pub(crate) out: BTreeMap<NodeId, Bundle>,
    pub(crate) incoming: BTreeMap<NodeId, Bundle>,
    pub(crate) complete: Option<Complete>,
}

/// What an exchange came to.
#[derive(Clone, Debug)]
pub(crate) struct Complete {
    pub(crate) mine: Objects,
    /// What was sent of the objects of each member whose backup this one is.
    pub(crate) copies: BTreeMap<NodeId, Vec<Object>>,
    /// Pairs that this member reports.
    pub(crate) touches: Vec<Touch>,
    /// What is to be done to objects of other groups.
    pub(crate) kicks: Vec<RemoteKick>,
    /// How many pairs it had to decide about.
    pub(crate) compared: u64,
}

/// What a round is done with.
pub(crate) struct Means<'a> {
    pub(crate) me: NodeId,
    pub(crate) view: &'a View,
    pub(crate) shapes: &'a Shapes,
    /// Ticks per second.
    pub(crate) rate: u32,
    pub(crate) mutant: Option<Mutant>,
}

impl Means<'_> {
    /// The part of the world that is this member's.
    fn region(&self) -> Option<Region> {
        self.view.tree.region(self.view.tree.share_of(self.me)?)
    }

    /// The nodes that copies of a member's objects are sent to.
    fn backups_of(&self, owner: NodeId) -> impl Iterator<Item = NodeId> + use<'_> {
        let count = match self.mutant {
            Some(Mutant::OneBackup) => 1,
            _ => usize::MAX,
        };
        self.view.backups_of(owner).take(count).map(|member| member.node)
    }
}

impl Round {
    /// Moves a member's objects to the next tick and begins the exchange.
    pub(crate) fn tick(means: &Means<'_>, mine: &Objects, last: &Commit) -> Round {
        let objects = mine.values().map(|object| moved(object, last.tick, means.rate));
        let tick = last.tick.next();
        let mut round = Round::new(means, objects, tick);
        if means.mutant != Some(Mutant::KickNotPassedOn) {
            round.passed_on = passed_on(mine, last).collect();
        }
        round.copy_to_backups(means, |object| is_turn(object.id, tick));
        round
    }

    /// Hands everything to whom it belongs in a new view, where it stands.
    pub(crate) fn refresh(means: &Means<'_>, objects: &Objects, last: Tick) -> Round {
        let mut round = Round::new(means, objects.values().copied(), last);
        round.copy_to_backups(means, |_| true);
        round
    }

    fn new(means: &Means<'_>, objects: impl Iterator<Item = Object>, tick: Tick) -> Round {
        let Means { me, view, shapes, rate, .. } = *means;
        let mut round = Round {
            tick,
            kept: Objects::new(),
            ghosts: Vec::new(),
            entrusted: Vec::new(),
            passed_on: Vec::new(),
            out: BTreeMap::new(),
            incoming: BTreeMap::new(),
            complete: None,
        };
        for node in view.nodes().filter(|&node| node != me) {
            let bundle = Bundle {
                epoch: view.epoch,
                tick,
                from: me,
                answer: false,
                transfers: Vec::new(),
                ghosts: Vec::new(),
                backup: Vec::new(),
                entrusted: Vec::new(),
            };
            round.out.insert(node, bundle);
        }
        let region = means.region();
        let stays = objects.filter(|object| {
            let block = shapes.swept_block(object, rate);
            // Most are well inside, and no other member is concerned.
            let inside = region.is_some_and(|region| region.holds(&block));
            inside || round.sort_out(means, object, &block)
        });
        let kept = stays.collect();
        Round { kept, ..round }
    }

    /// Adds an object to the bundles of all other members that must know it. Does it stay?
    fn sort_out(&mut self, means: &Means<'_>, object: &Object, block: &Block) -> bool {
        let Means { me, view, mutant, .. } = *means;
        let owner = view.owner(object.state.position);
        for node in view.tree.owners_meeting(block).filter(|node| *node != owner) {
            match self.out.get_mut(&node) {
                Some(bundle) => bundle.ghosts.push(*object),
                // It left for another but still reaches in here.
                None if node == me => self.ghosts.push(*object),
                None => {}
            }
        }
        if owner != me && mutant != Some(Mutant::LoseTransfer) {
            self.hand_over(means, owner, *object);
        }
        owner == me || mutant == Some(Mutant::KeepTransferred)
    }

    /// Gives an object to its new owner, and a copy to each of that one's backups.
    fn hand_over(&mut self, means: &Means<'_>, owner: NodeId, object: Object) {
        if let Some(bundle) = self.out.get_mut(&owner) {
            bundle.transfers.push(object);
        }
        for backup in means.backups_of(owner) {
            if backup == means.me {
                self.entrusted.push((owner, object));
            } else if let Some(bundle) = self.out.get_mut(&backup) {
                bundle.entrusted.push((owner, object));
            }
        }
    }

    /// Copies some of what stays to all backups.
    fn copy_to_backups(&mut self, means: &Means<'_>, wanted: impl Fn(&&Object) -> bool) {
        let mut copies: Vec<Object> = self.kept.values().filter(wanted).copied().collect();
        if means.mutant == Some(Mutant::WrongCopy)
            && let Some(object) = copies.first_mut()
        {
            object.state.position[0] ^= 1;
        }
        for backup in means.backups_of(means.me) {
            if let Some(bundle) = self.out.get_mut(&backup) {
                bundle.backup.clone_from(&copies);
            }
        }
    }

    /// Have all bundles arrived?
    pub(crate) fn is_full(&self) -> bool {
        self.out.keys().all(|node| self.incoming.contains_key(node))
    }

    /// Works out what the exchange came to, once all bundles have arrived; what touches, if there
    /// is a detector.
    pub(crate) fn finish(&mut self, means: &Means<'_>, detector: Option<&mut Detector>) {
        if self.complete.is_some() || !self.is_full() {
            return;
        }
        let mut mine = std::mem::take(&mut self.kept);
        mine.extend(self.incoming.values().flat_map(|bundle| bundle.transfers.iter().copied()));
        let backed_up = means.view.backed_up_by(means.me);
        let mut copies: BTreeMap<NodeId, Vec<Object>> =
            backed_up.map(|member| (member.node, Vec::new())).collect();
        for bundle in self.incoming.values() {
            if let Some(copies) = copies.get_mut(&bundle.from) {
                copies.extend(&bundle.backup);
            }
        }
        let received = self.incoming.values().flat_map(|bundle| &bundle.entrusted);
        for (owner, object) in self.entrusted.iter().chain(received) {
            if let Some(copies) = copies.get_mut(owner) {
                copies.push(*object);
            }
        }
        self.entrusted.clear();
        let kicks = std::mem::take(&mut self.passed_on);
        let mut complete = Complete { mine, copies, touches: Vec::new(), kicks, compared: 0 };
        if let Some(detector) = detector {
            self.look(means, detector, &mut complete);
        }
        self.complete = Some(complete);
    }

    /// Finds what touches among this member's objects and what reaches into its regions.
    fn look(&mut self, means: &Means<'_>, detector: &mut Detector, complete: &mut Complete) {
        let mut ghosts: Objects = std::mem::take(&mut self.ghosts).into_iter().collect();
        ghosts.extend(self.incoming.values().flat_map(|bundle| bundle.ghosts.iter().copied()));
        let seen = complete.mine.with(&ghosts);
        let region = means.region();
        let reports = |pair: Couple<'_>| {
            let point = match means.mutant {
                Some(Mutant::ReportAll) => return true,
                Some(Mutant::Midpoint) => midpoint(pair.map(|(object, _)| object)),
                _ => pair[0].1.reference_point(pair[1].1),
            };
            region.is_some_and(|region| region.contains(point))
        };
        let mut touches = match means.mutant {
            Some(Mutant::CompareAll) => detector.touches_of(seen, |_| true),
            _ => detector.touches_of(seen, reports),
        };
        if means.mutant == Some(Mutant::CompareAll) {
            let mine = &complete.mine;
            touches.retain(|touch| {
                let get = |id| mine.get(id).or_else(|| ghosts.get(id));
                let (Some(a), Some(b)) = (get(&touch.a), get(&touch.b)) else {
                    return false;
                };
                let blocks = [a, b].map(|object| means.shapes.swept_block(object, means.rate));
                reports([(a, &blocks[0]), (b, &blocks[1])])
            });
        }
        let object = |id| complete.mine.get(&id).or_else(|| ghosts.get(&id));
        let decided: Vec<RemoteKick> =
            touches.iter().filter_map(|touch| decided_kick(touch, object)).collect();
        complete.kicks.extend(decided);
        complete.touches = touches;
        complete.compared = detector.pairs_tested();
    }
}

/// Between two objects (Storey 2006, 3.2.2.1): a point that need not be in a region of either.
fn midpoint([a, b]: [&Object; 2]) -> [i32; 3] {
    let (a, b) = (a.state.position, b.state.position);
    [0, 1, 2].map(|axis: usize| ((i64::from(a[axis]) + i64::from(b[axis])) / 2) as i32)
}
