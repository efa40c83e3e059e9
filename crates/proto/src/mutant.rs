//! Mistakes that can be built in on purpose: a referee that finds none of them is no referee.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutant {
    /// The thesis' rule: a pair belongs to the region of the midpoint.
    Midpoint,
    /// What a lost member held is not taken from its buddy.
    NoBackup,
    /// A report of another tick counts.
    StaleDone,
    /// The leader does not wait for the directory to record a view.
    NoStableRecord,
    /// A tick is published before everybody holds it.
    PublishEarly,
    /// A tick that was found out but not committed is forgotten when the view changes.
    DropPendingTick,
    /// What is handed over is kept as well.
    KeepTransferred,
    /// What is handed over does not arrive.
    LoseTransfer,
    /// A buddy gets a copy that is not quite right.
    WrongCopy,
    /// Everybody reports every pair that they see.
    ReportAll,
    /// The directory leaves out nodes without looking whether anybody holds their objects.
    CarelessDirectory,
    /// An object is forgotten when it is told to its next holder (Storey 2006, 3.3.10).
    RelinquishOnSend,
    /// An object is held until its next holder answers.
    KeepUntilAck,
    /// A node speaks although its lease is over.
    IgnoreLease,
    /// An object is taken whatever token it has.
    StaleToken,
    /// What cannot be taken back is said before the buddy knows.
    SayEarly,
    /// An object is told only to those whose regions it meets.
    ShortGhosts,
    /// What a contact does happens as often as it is told.
    NudgeTwice,
    /// An object on its way is told once.
    NoResend,
    /// A hand-over does not make a new token.
    SameToken,
    /// An object is kept wherever it goes.
    HoldOn,
}

impl Mutant {
    /// All of them, with their names on the command line.
    pub const ALL: [(Mutant, &'static str); 21] = [
        (Mutant::Midpoint, "midpoint"),
        (Mutant::NoBackup, "no-backup"),
        (Mutant::StaleDone, "stale-done"),
        (Mutant::NoStableRecord, "no-stable-record"),
        (Mutant::PublishEarly, "publish-early"),
        (Mutant::DropPendingTick, "drop-pending-tick"),
        (Mutant::KeepTransferred, "keep-transferred"),
        (Mutant::LoseTransfer, "lose-transfer"),
        (Mutant::WrongCopy, "wrong-copy"),
        (Mutant::ReportAll, "report-all"),
        (Mutant::CarelessDirectory, "careless-directory"),
        (Mutant::RelinquishOnSend, "relinquish-on-send"),
        (Mutant::KeepUntilAck, "keep-until-ack"),
        (Mutant::IgnoreLease, "ignore-lease"),
        (Mutant::StaleToken, "stale-token"),
        (Mutant::SayEarly, "say-early"),
        (Mutant::ShortGhosts, "short-ghosts"),
        (Mutant::NudgeTwice, "nudge-twice"),
        (Mutant::NoResend, "no-resend"),
        (Mutant::SameToken, "same-token"),
        (Mutant::HoldOn, "hold-on"),
    ];

    /// The one with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Mutant> {
        Mutant::ALL.iter().find(|(_, known)| *known == name).map(|(mutant, _)| *mutant)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Mutant::ALL.iter().find(|(mutant, _)| *mutant == self).map_or("", |(_, name)| name)
    }
}
