//! One exchange of bundles: what a member tells the others for a tick, and what comes of it.

use crate::detect::{Detector, Shapes};
use crate::held::{Held, Objects, advance};
use crate::message::{Bundle, Touch};
use crate::mutant::Mutant;
use crate::object::{NodeId, Object};
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
    ghosts: Objects,
    /// What this member hands over to the one whose buddy it is.
    entrusted: Objects,
    /// What it tells each of the others.
    pub(crate) out: BTreeMap<NodeId, Bundle>,
    pub(crate) incoming: BTreeMap<NodeId, Bundle>,
    pub(crate) complete: Option<Complete>,
}

/// What an exchange came to.
#[derive(Clone, Debug)]
pub(crate) struct Complete {
    pub(crate) held: Held,
    /// Pairs that this member reports.
    pub(crate) touches: Vec<Touch>,
}

/// What a round is done with.
pub(crate) struct Means<'a> {
    pub(crate) me: NodeId,
    pub(crate) view: &'a View,
    pub(crate) shapes: &'a Shapes,
    pub(crate) mutant: Option<Mutant>,
}

impl Round {
    /// Moves a member's objects to the next tick and begins the exchange.
    pub(crate) fn tick(means: &Means<'_>, held: &Held, last: Tick, rate: u32) -> Round {
        let mut objects = held.mine.clone();
        advance(&mut objects, last, rate);
        Round::new(means, objects, last.next())
    }

    /// Hands everything to whom it belongs in a new view, where it stands.
    pub(crate) fn refresh(means: &Means<'_>, objects: Objects, last: Tick) -> Round {
        Round::new(means, objects, last)
    }

    fn new(means: &Means<'_>, objects: Objects, tick: Tick) -> Round {
        let Means { me, view, shapes, mutant } = *means;
        let mut round = Round {
            tick,
            kept: Objects::new(),
            ghosts: Objects::new(),
            entrusted: Objects::new(),
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
        for (id, object) in objects {
            let owner = view.owner(object.state.position);
            for node in view.owners_meeting(&shapes.block(&object)) {
                if node == owner {
                    continue;
                }
                match round.out.get_mut(&node) {
                    Some(bundle) => bundle.ghosts.push(object),
                    // It left for another but still reaches in here.
                    None if node == me => {
                        round.ghosts.insert(id, object);
                    }
                    None => {}
                }
            }
            if owner == me || mutant == Some(Mutant::KeepTransferred) {
                round.kept.insert(id, object);
            }
            if owner != me && mutant != Some(Mutant::LoseTransfer) {
                round.hand_over(means, owner, object);
            }
        }
        if let Some(buddy) = view.buddy(me).and_then(|buddy| round.out.get_mut(&buddy)) {
            buddy.backup = round.kept.values().copied().collect();
            if mutant == Some(Mutant::WrongCopy)
                && let Some(object) = buddy.backup.first_mut()
            {
                object.state.position[0] ^= 1;
            }
        }
        round
    }

    /// Gives an object to its new owner, and a copy to that one's buddy.
    fn hand_over(&mut self, means: &Means<'_>, owner: NodeId, object: Object) {
        if let Some(bundle) = self.out.get_mut(&owner) {
            bundle.transfers.push(object);
        }
        match means.view.buddy(owner) {
            Some(buddy) if buddy == means.me => {
                self.entrusted.insert(object.id, object);
            }
            Some(buddy) => {
                if let Some(bundle) = self.out.get_mut(&buddy) {
                    bundle.entrusted.push((owner, object));
                }
            }
            None => {}
        }
    }

    /// Has everybody told?
    pub(crate) fn is_full(&self) -> bool {
        self.out.keys().all(|node| self.incoming.contains_key(node))
    }

    /// Works out what the exchange came to, once everybody has told.
    pub(crate) fn finish(&mut self, means: &Means<'_>, detector: &mut Detector) {
        if self.complete.is_some() || !self.is_full() {
            return;
        }
        let mut held = Held { mine: self.kept.clone(), backup: self.entrusted.clone() };
        let mut seen = self.ghosts.clone();
        for bundle in self.incoming.values() {
            let own = bundle.transfers.iter().map(|object| (object.id, *object));
            held.mine.extend(own);
            seen.extend(bundle.ghosts.iter().map(|object| (object.id, *object)));
            if means.view.buddy(bundle.from) == Some(means.me) {
                held.backup.extend(bundle.backup.iter().map(|object| (object.id, *object)));
            }
            let mine = |owner: NodeId| means.view.buddy(owner) == Some(means.me);
            let copies = bundle.entrusted.iter().filter(|(owner, _)| mine(*owner));
            held.backup.extend(copies.map(|(_, object)| (object.id, *object)));
        }
        seen.extend(held.mine.iter().map(|(id, object)| (*id, *object)));
        let objects: Vec<Object> = seen.values().copied().collect();
        let mut touches = detector.touches(&objects);
        touches.retain(|touch| {
            let blocks = [touch.a, touch.b].map(|id| means.shapes.block(&seen[&id]));
            let point = match means.mutant {
                Some(Mutant::ReportAll) => return true,
                Some(Mutant::Midpoint) => midpoint([touch.a, touch.b].map(|id| &seen[&id])),
                _ => blocks[0].reference_point(&blocks[1]),
            };
            means.view.owner(point) == means.me
        });
        self.complete = Some(Complete { held, touches });
    }
}

/// Between two objects (Storey 2006, 3.2.2.1): a point that need not be in a region of either.
fn midpoint([a, b]: [&Object; 2]) -> [i32; 3] {
    let (a, b) = (a.state.position, b.state.position);
    [0, 1, 2].map(|axis: usize| ((i64::from(a[axis]) + i64::from(b[axis])) / 2) as i32)
}
