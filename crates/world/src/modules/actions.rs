//! What a callback asks for: collected while callbacks run, applied when all of them are done.

use super::{ModuleId, ModuleRequest};
use crate::id::BodyId;
use crate::request::Job;
use crate::ticket::{Answer, Ticket};

/// The requests of one callback.
#[derive(Debug)]
pub struct Actions {
    module: ModuleId,
    pending: Vec<PendingJob>,
}

/// A request of a module, applied after the last callback.
#[derive(Debug)]
pub(super) struct PendingJob {
    pub(super) module: ModuleId,
    pub(super) job: Job,
    pub(super) answer: Option<Answer>,
}

impl Actions {
    pub(super) fn of(module: ModuleId) -> Actions {
        Actions { module, pending: Vec::new() }
    }

    /// Asks for something. It is done after the last callback of this step, in the order of asking.
    pub fn request(&mut self, job: impl Into<Job>) {
        self.pending.push(PendingJob { module: self.module, job: job.into(), answer: None });
    }

    /// [`Actions::request`], with a ticket under which the module finds the reply when it is called
    /// again.
    pub fn ask(&mut self, job: impl Into<Job>) -> Ticket {
        let (ticket, answer) = Ticket::new();
        let (module, job) = (self.module, job.into());
        self.pending.push(PendingJob { module, job, answer: Some(answer) });
        ticket
    }

    /// From the next step on, no other module is called for this body.
    pub fn suppress(&mut self, body: BodyId) {
        self.request(ModuleRequest::Suppress { by: self.module, body });
    }

    /// From the next step on, the others are called for this body again.
    pub fn release(&mut self, body: BodyId) {
        self.request(ModuleRequest::Release { by: self.module, body });
    }

    pub(super) fn into_pending(self) -> Vec<PendingJob> {
        self.pending
    }
}
