//! Tickets: handles to the replies of requests that are applied later.

use crate::id::BodyId;
use crate::request::{Reply, RequestError};
use std::sync::{Arc, OnceLock};

type Slot = OnceLock<Result<Reply, RequestError>>;

/// The place where the reply to a request will be. Looking never waits, and the reply stays as long
/// as the ticket: it cannot be missed.
#[derive(Clone, Debug)]
pub struct Ticket(Arc<Slot>);

/// The other end of a ticket, which travels with the request. Dropped without a reply it gives
/// an error, so that no ticket stays without a reply for ever.
#[derive(Debug)]
pub(crate) struct Answer(Arc<Slot>);

impl Ticket {
    pub(crate) fn new() -> (Ticket, Answer) {
        let slot = Arc::new(Slot::new());
        (Ticket(Arc::clone(&slot)), Answer(slot))
    }

    /// What came of the request; `None` until it was applied.
    #[must_use]
    pub fn reply(&self) -> Option<&Result<Reply, RequestError>> {
        self.0.get()
    }

    /// The name of the body that was inserted, once it was.
    #[must_use]
    pub fn body(&self) -> Option<BodyId> {
        match self.reply() {
            Some(&Ok(Reply::Inserted(id))) => Some(id),
            _ => None,
        }
    }
}

impl Answer {
    pub(crate) fn give(self, result: Result<Reply, RequestError>) {
        // Set once: `give` takes the only answer there is for a ticket.
        let _ = self.0.set(result);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        // Without effect after `give`.
        let _ = self.0.set(Err(RequestError::GivenUp));
    }
}
