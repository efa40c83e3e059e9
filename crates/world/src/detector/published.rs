//! What a detector makes known after each step.

use crate::contact::{Contact, PairDistance};
use crate::id::GroupId;
use crate::modules::{Delivery, ModuleId};
use crate::report::Report;
use crate::request::RequestError;
use crate::world::World;
use std::collections::VecDeque;
use std::sync::Arc;
use thiserror::Error;

/// The state of a detector after a step. It never changes; the next step publishes another one.
#[derive(Clone, Debug)]
pub struct Published {
    /// How many requests were applied before this step, successfully or not, since the start.
    /// Requests of modules are not counted.
    pub applied: u64,
    /// What the step did.
    pub report: Arc<Report>,
    /// As [`World::contacts`].
    pub contacts: Vec<Contact>,
    /// As [`World::distances`].
    pub distances: Vec<PairDistance>,
    /// As [`World::group_overlaps`].
    pub group_overlaps: Vec<[GroupId; 2]>,
    /// How often modules were called after this step.
    pub calls: u64,
    /// The last things that went wrong since the start, the newest last; how many are kept is in
    /// the settings.
    pub errors: Vec<DetectorError>,
    /// How many things went wrong since the start. More than `errors` has: the oldest were
    /// dropped.
    pub errors_total: u64,
}

/// An error that was not returned to a caller.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DetectorError {
    /// A request from a handle came to nothing.
    #[error("request {number}: {error}")]
    Request {
        /// Which request, in the order of application; the first is 1.
        number: u64,
        /// Why.
        error: RequestError,
    },
    /// A request of a module came to nothing.
    #[error("a request of {module}: {error}")]
    ModuleRequest {
        /// The module that made the request.
        module: ModuleId,
        /// Why.
        error: RequestError,
    },
    /// A module panicked and is out of service.
    #[error("{module} panicked and is out of service: {message}")]
    ModulePanicked {
        /// Which module.
        module: ModuleId,
        /// What it said.
        message: String,
    },
}

/// The newest errors and how many there were.
#[derive(Debug)]
pub(super) struct RecentErrors {
    newest: VecDeque<DetectorError>,
    kept_max: usize,
    total: u64,
}

impl RecentErrors {
    pub(super) fn new(kept_max: usize) -> RecentErrors {
        RecentErrors { newest: VecDeque::new(), kept_max, total: 0 }
    }

    pub(super) fn note(&mut self, trouble: DetectorError) {
        self.total += 1;
        self.newest.push_back(trouble);
        if self.newest.len() > self.kept_max {
            self.newest.pop_front();
        }
    }

    pub(super) fn note_all(&mut self, delivery: Delivery) {
        for (module, error) in delivery.refused {
            self.note(DetectorError::ModuleRequest { module, error });
        }
        for (module, message) in delivery.panicked {
            self.note(DetectorError::ModulePanicked { module, message });
        }
    }
}

impl Published {
    pub(super) fn of(world: &World, applied: u64, calls: u64, errors: &RecentErrors) -> Published {
        Published {
            applied,
            report: Arc::clone(world.report()),
            contacts: world.contacts().to_vec(),
            distances: world.distances().to_vec(),
            group_overlaps: world.group_overlaps().to_vec(),
            calls,
            errors: errors.newest.iter().cloned().collect(),
            errors_total: errors.total,
        }
    }
}
