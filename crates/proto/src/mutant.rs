//! Defects that can be built in on purpose, to test that the checkers catch them.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mutant {
    /// The thesis' rule: a pair belongs to the region of the midpoint.
    Midpoint,
    /// What a lost member held is not taken from its backups.
    NoBackup,
    /// Only the first backup gets copies, however many there should be.
    OneBackup,
    /// What a lost member held is handed out by its first backup or not at all, dead or alive.
    WrongHeir,
    /// Every backup of a lost member hands out what that one held.
    TwoHeirs,
    /// What cannot be taken back is sent when one backup has what it follows from.
    FirstAck,
    /// A node goes on by the word of any of its backups.
    AnyWord,
    /// A report of another tick counts.
    StaleDone,
    /// The leader does not wait for the directory to record a view.
    NoStableRecord,
    /// A tick is published before all members hold it.
    PublishEarly,
    /// A tick that was found out but not committed is forgotten when the view changes.
    DropPendingTick,
    /// What is handed over is kept as well.
    KeepTransferred,
    /// What is handed over does not arrive.
    LoseTransfer,
    /// A backup gets a copy that is not quite right.
    WrongCopy,
    /// Every member reports every pair that it sees.
    ReportAll,
    /// Every member compares every pair that it sees, and reports its own.
    CompareAll,
    /// The copies of a backup are a tick old when they are needed.
    StaleCopies,
    /// The directory leaves out nodes without checking whether others hold their objects.
    CarelessDirectory,
    /// A group that cannot go on is not reported.
    SilentHalt,
    /// A leader that is late says that it is not.
    HideOverload,
    /// A leader that is late leaves collisions out.
    SkipWhenLate,
    /// A delta is applied to the newest bundle that is there, whichever it is.
    DeltaWrongBase,
    /// Damaged frames are taken for what they say.
    NoChecksum,
    /// Every bundle is sent whole.
    NoDelta,
    /// A damaged frame makes the receiver forget what it received.
    DamageForgets,
    /// Messages of an older view count.
    OldEpoch,
    /// The second in the ring takes itself for the leader, too.
    TwoLeaders,
    /// The regions of those who are gone stay theirs.
    RegionWithoutOwner,
    /// A vote that comes twice counts twice.
    VoteTwice,
    /// A vote that comes too late counts in the next ballot.
    LateVote,
    /// A ballot waits for all votes, and asks once.
    NoDeadline,
    /// Votes may follow each other at once.
    NoHysteresis,
    /// No node is let into another group.
    NoInclusion,
    /// What a group decided in a tick is not sent to the others now and then.
    RelaySkips,
    /// What a group decided in a tick is sent to the others in the next one again.
    RelayRepeats,
    /// Groups do not correct each other's copies.
    RelayMute,
    /// A copy in another group is at home there, too.
    HomeTwice,
    /// A directory that was down has forgotten the views that were not stable.
    ForgetfulDirectory,
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
    /// A gateway sends deltas to what it has sent, not to what the client has.
    UnackedBase,
    /// A gateway admits every client.
    UnboundedSessions,
    /// A gateway does not remember which contacts it has sent.
    ForgetContacts,
    /// A gateway knows no avatars but those of its own group.
    ForgetHome,
    /// A gateway says what avatars want to its own group, whichever they are at home in.
    WantAstray,
    /// An object is forgotten when it is sent to its next holder (Storey 2006, 3.3.10).
    RelinquishOnSend,
    /// An object is held until its next holder answers.
    KeepUntilAck,
    /// A node speaks although its lease is over.
    IgnoreLease,
    /// A backup that has promised a node that it may go on helps to replace it all the same.
    BreakPromise,
    /// A node stands still when the directory does not answer, whatever its backup has promised.
    DirectoryOnly,
    /// An object is taken whatever token it has.
    StaleToken,
    /// What cannot be taken back is sent before the backup has it.
    AckEarly,
    /// An object is sent only to those whose regions it meets.
    ShortGhosts,
    /// A nudge is applied as often as it arrives.
    NudgeTwice,
    /// An object on its way is sent once.
    NoResend,
    /// A hand-over does not make a new token.
    SameToken,
    /// An object is kept wherever it goes.
    HoldOn,
    /// A replica of the directory votes for any that has as many entries, of whatever terms.
    VoteByIndex,
    /// A replica of the directory votes for all that ask, as if it had not voted.
    TwoVotes,
    /// A replica of the directory that follows several entries takes the first for the last.
    FollowFirst,
    /// A replica of the directory sends before what it rests on is on disk.
    SendBeforeSync,
    /// A replica of the directory that was replaced as leader answers as if it were not.
    StaleLeader,
    /// The leader of the directory answers before a majority has what it answers for.
    AnswerEarly,
    /// What there was no time to look at is taken not to touch.
    DropUnsure,
    /// What there was no time to look at is said to touch for sure.
    SureOfAll,
    /// Followers of a free-running world are sent what its backup does not have yet.
    ShowEarly,
    /// A free-running node does not remember which avatars have entered.
    EnterTwice,
    /// A free-running node forgets a removed avatar at once.
    BuryAtOnce,
    /// A missing answer is a long delay, and a node does not notice that it was paused itself.
    PauseIsDelay,
    /// The directory leaves out a member whose links fail while that one still has a lease.
    LeaveOutAtOnce,
    /// The directory takes no notice of members that do not reach each other.
    IgnoreUnreached,
    /// Kicks for an object whose home has moved on are not passed on to where that is.
    KickNotPassedOn,
    /// An object that moves to another group arrives in all groups.
    ArriveEverywhere,
    /// A group whose objects have moved ends before the others know of that.
    EndUnheard,
    /// Groups that are near to each other stay apart.
    NeverMerge,
    /// A store reports what was written before it is synced.
    SyncLater,
    /// A reader of a store believes the length of a record without its checksum.
    TrustLengths,
    /// A stored world is restored although living nodes have it.
    RestoreBesideLiving,
    /// A store keeps one file only.
    KeepOneGeneration,
}

impl Mutant {
    /// All of them, with their names on the command line.
    pub const ALL: &[(Mutant, &'static str)] = &[
        (Mutant::Midpoint, "midpoint"),
        (Mutant::NoBackup, "no-backup"),
        (Mutant::OneBackup, "one-backup"),
        (Mutant::WrongHeir, "wrong-heir"),
        (Mutant::TwoHeirs, "two-heirs"),
        (Mutant::FirstAck, "first-ack"),
        (Mutant::AnyWord, "any-word"),
        (Mutant::StaleDone, "stale-done"),
        (Mutant::NoStableRecord, "no-stable-record"),
        (Mutant::PublishEarly, "publish-early"),
        (Mutant::DropPendingTick, "drop-pending-tick"),
        (Mutant::KeepTransferred, "keep-transferred"),
        (Mutant::LoseTransfer, "lose-transfer"),
        (Mutant::WrongCopy, "wrong-copy"),
        (Mutant::ReportAll, "report-all"),
        (Mutant::CompareAll, "compare-all"),
        (Mutant::StaleCopies, "stale-copies"),
        (Mutant::CarelessDirectory, "careless-directory"),
        (Mutant::SilentHalt, "silent-halt"),
        (Mutant::HideOverload, "hide-overload"),
        (Mutant::SkipWhenLate, "skip-when-late"),
        (Mutant::DeltaWrongBase, "delta-wrong-base"),
        (Mutant::NoChecksum, "no-checksum"),
        (Mutant::NoDelta, "no-delta"),
        (Mutant::DamageForgets, "damage-forgets"),
        (Mutant::OldEpoch, "old-epoch"),
        (Mutant::TwoLeaders, "two-leaders"),
        (Mutant::RegionWithoutOwner, "region-without-owner"),
        (Mutant::VoteTwice, "vote-twice"),
        (Mutant::LateVote, "late-vote"),
        (Mutant::NoDeadline, "no-deadline"),
        (Mutant::NoHysteresis, "no-hysteresis"),
        (Mutant::NoInclusion, "no-inclusion"),
        (Mutant::RelaySkips, "relay-skips"),
        (Mutant::RelayRepeats, "relay-repeats"),
        (Mutant::RelayMute, "relay-mute"),
        (Mutant::HomeTwice, "home-twice"),
        (Mutant::ForgetfulDirectory, "forgetful-directory"),
        (Mutant::TrustIds, "trust-ids"),
        (Mutant::AcceptReplays, "accept-replays"),
        (Mutant::NoSpeedCheck, "no-speed-check"),
        (Mutant::WantTwice, "want-twice"),
        (Mutant::ForgetAbsent, "forget-absent"),
        (Mutant::UnackedBase, "unacked-base"),
        (Mutant::UnboundedSessions, "unbounded-sessions"),
        (Mutant::ForgetContacts, "forget-contacts"),
        (Mutant::ForgetHome, "forget-home"),
        (Mutant::WantAstray, "want-astray"),
        (Mutant::RelinquishOnSend, "relinquish-on-send"),
        (Mutant::KeepUntilAck, "keep-until-ack"),
        (Mutant::IgnoreLease, "ignore-lease"),
        (Mutant::BreakPromise, "break-promise"),
        (Mutant::DirectoryOnly, "directory-only"),
        (Mutant::StaleToken, "stale-token"),
        (Mutant::AckEarly, "ack-early"),
        (Mutant::ShortGhosts, "short-ghosts"),
        (Mutant::NudgeTwice, "nudge-twice"),
        (Mutant::NoResend, "no-resend"),
        (Mutant::SameToken, "same-token"),
        (Mutant::HoldOn, "hold-on"),
        (Mutant::VoteByIndex, "vote-by-index"),
        (Mutant::TwoVotes, "two-votes"),
        (Mutant::FollowFirst, "follow-first"),
        (Mutant::SendBeforeSync, "send-before-sync"),
        (Mutant::StaleLeader, "stale-leader"),
        (Mutant::AnswerEarly, "answer-early"),
        (Mutant::DropUnsure, "drop-unsure"),
        (Mutant::SureOfAll, "sure-of-all"),
        (Mutant::ShowEarly, "show-early"),
        (Mutant::EnterTwice, "enter-twice"),
        (Mutant::BuryAtOnce, "bury-at-once"),
        (Mutant::PauseIsDelay, "pause-is-delay"),
        (Mutant::LeaveOutAtOnce, "leave-out-at-once"),
        (Mutant::IgnoreUnreached, "ignore-unreached"),
        (Mutant::KickNotPassedOn, "kick-not-passed-on"),
        (Mutant::ArriveEverywhere, "arrive-everywhere"),
        (Mutant::EndUnheard, "end-unheard"),
        (Mutant::NeverMerge, "never-merge"),
        (Mutant::SyncLater, "sync-later"),
        (Mutant::TrustLengths, "trust-lengths"),
        (Mutant::RestoreBesideLiving, "restore-beside-living"),
        (Mutant::KeepOneGeneration, "keep-one-generation"),
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
