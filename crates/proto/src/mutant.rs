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
    /// A gateway takes the avatar's id from what a client says.
    TrustIds,
    /// Neither gateway nor leader looks whether a want was there before.
    AcceptReplays,
    /// A gateway lets avatars go as fast as their clients want.
    NoSpeedCheck,
    /// When the leader changes, a gateway says again what avatars want, and the leader takes it.
    WantTwice,
    /// A gateway removes the avatar of a client that is silent.
    ForgetAbsent,
    /// A gateway tells differences to what it has sent, not to what the client has.
    UnackedBase,
    /// A gateway lets everybody in.
    UnboundedSessions,
    /// A gateway does not remember which contacts it has told of.
    ForgetContacts,
}

impl Mutant {
    /// All of them, with their names on the command line.
    pub const ALL: [(Mutant, &'static str); 19] = [
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
        (Mutant::TrustIds, "trust-ids"),
        (Mutant::AcceptReplays, "accept-replays"),
        (Mutant::NoSpeedCheck, "no-speed-check"),
        (Mutant::WantTwice, "want-twice"),
        (Mutant::ForgetAbsent, "forget-absent"),
        (Mutant::UnackedBase, "unacked-base"),
        (Mutant::UnboundedSessions, "unbounded-sessions"),
        (Mutant::ForgetContacts, "forget-contacts"),
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
