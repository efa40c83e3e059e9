//! A module: a callback, its order, and for which events it is called.

use super::ModuleId;
use super::actions::Actions;
use crate::contact::{Change, Contact, Event};
use crate::id::{BodyId, GroupId, ordered};
use crate::world::World;
use std::fmt;

/// For which pairs a module is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// All.
    Everything,
    /// Those with this body.
    Body(BodyId),
    /// These two bodies, in any order.
    Pair(BodyId, BodyId),
    /// Those with a body in this group or in the groups inside it. An ended contact counts for the
    /// groups in which its bodies were when it was last seen, too, as one of them may be gone.
    Group(GroupId),
}

impl Subject {
    /// The same for both orders of a pair.
    pub(super) fn in_order(self) -> Subject {
        match self {
            Subject::Pair(a, b) => {
                let [a, b] = ordered(a, b);
                Subject::Pair(a, b)
            }
            other => other,
        }
    }
}

/// For which changes a module is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeFilter {
    /// New contacts.
    pub began: bool,
    /// Contacts that continue. If no module is called for these, a step costs what changed and not
    /// what touches.
    pub continued: bool,
    /// Contacts that are gone.
    pub ended: bool,
}

impl ChangeFilter {
    /// Only what changes.
    pub const BEGAN_AND_ENDED: ChangeFilter =
        ChangeFilter { began: true, continued: false, ended: true };
    /// Every contact in every step.
    pub const ALL: ChangeFilter = ChangeFilter { began: true, continued: true, ended: true };

    pub(super) fn has(self, change: Change) -> bool {
        match change {
            Change::Began => self.began,
            Change::Continued => self.continued,
            Change::Ended => self.ended,
        }
    }
}

/// What happens after a callback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The next module is called for this pair.
    GoOn,
    /// Later modules are not called for this pair in this step.
    NextPair,
    /// No more callbacks in this step: after one interesting pair the others can be ignored
    /// (Zachmann §3.11.1).
    EndStep,
}

/// The arguments of a callback.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The module that is called.
    pub module: ModuleId,
    /// What happened, and between which bodies.
    pub event: Event,
    /// What was found; `None` if it ended.
    pub contact: Option<&'a Contact>,
    /// The world after the step. Requests of this step's callbacks are not yet applied.
    pub world: &'a World,
}

/// What a module does when it is called.
pub type Callback = Box<dyn FnMut(&Call<'_>, &mut Actions) -> Next + Send>;

/// A callback, its order, and for which events it is called, for
/// [`Modules::add`](super::Modules::add).
pub struct Module {
    pub(super) order: i32,
    pub(super) subject: Subject,
    pub(super) changes: ChangeFilter,
    pub(super) callback: Callback,
}

impl Module {
    /// Called for what begins and ends between any two bodies, in order 0.
    #[must_use]
    pub fn new(callback: impl FnMut(&Call<'_>, &mut Actions) -> Next + Send + 'static) -> Module {
        let callback = Box::new(callback);
        let (subject, changes) = (Subject::Everything, ChangeFilter::BEGAN_AND_ENDED);
        Module { order: 0, subject, changes, callback }
    }

    /// Called before modules with a larger number. Modules with the same number are called in the
    /// order in which they were added.
    #[must_use]
    pub fn with_order(self, order: i32) -> Module {
        Module { order, ..self }
    }

    /// Called only for these pairs.
    #[must_use]
    pub fn about(self, subject: Subject) -> Module {
        Module { subject: subject.in_order(), ..self }
    }

    /// Called only for these changes.
    #[must_use]
    pub fn with_changes(self, changes: ChangeFilter) -> Module {
        Module { changes, ..self }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Module");
        out.field("order", &self.order).field("subject", &self.subject);
        out.field("changes", &self.changes).finish_non_exhaustive()
    }
}
