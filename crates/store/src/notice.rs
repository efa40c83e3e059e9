//! What a store reports to the operator, as text that names the file.

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Nothing is wrong.
    Info,
    /// Something was lost that no promise was made about.
    Warning,
    /// Damage, or something that fails.
    Error,
}

/// A line for the log. The owner of a store must log every notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// How much it matters.
    pub severity: Severity,
    /// What happened, and to which file.
    pub text: String,
}

impl Notice {
    pub(crate) fn info(text: String) -> Notice {
        Notice { severity: Severity::Info, text }
    }

    pub(crate) fn warning(text: String) -> Notice {
        Notice { severity: Severity::Warning, text }
    }

    pub(crate) fn error(text: String) -> Notice {
        Notice { severity: Severity::Error, text }
    }
}
