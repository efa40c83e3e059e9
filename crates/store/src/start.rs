//! How a serving process goes on with the directory that it remembers, or begins one.

use crate::disk::Disk;
use crate::keeper::Keeper;
use crate::notice::Notice;
use crate::records::RecordError;
use crate::store::Stored;
use crate::twin::{TwinError, TwinFound};
use jostle_proto::{
    Block, Directory, Grouping, Member, Mutant, NodeId, Object, Tick, Time, Timing,
};
use std::path::Path;
use std::sync::Arc;

/// How the directory of a serving process is to be.
#[derive(Clone, Copy, Debug)]
pub struct DirectoryStart {
    /// How long things take.
    pub timing: Timing,
    /// Which nodes compute one world together.
    pub grouping: Grouping,
    /// Where most of the world is.
    pub extent: Block,
    /// See [`jostle_proto::View::backups`].
    pub backups: u8,
    /// The stored world counts even if nodes live that have a part of it, or if what the directory
    /// remembers is damaged.
    pub restore: bool,
    /// A mistake to build in.
    pub mutant: Option<Mutant>,
}

/// The serving process.
#[derive(Clone, Copy, Debug)]
pub struct Serving {
    /// The node that it had before, which died with it; none if it never had one.
    pub before: Option<NodeId>,
    /// Its node.
    pub node: Member,
    /// The tick of the world that this node holds.
    pub tick: Tick,
    /// How many objects are in it.
    pub objects: usize,
}

/// A directory that can run.
pub struct StartedDirectory {
    /// The directory, with its file.
    pub keeper: Keeper,
    /// The newest time that it remembers: its clock must go on from there.
    pub newest: Option<Time>,
    /// What the operator is to know.
    pub notices: Vec<Notice>,
}

/// Why the directory cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// Its memory cannot be read; and what happens if it is given up.
    #[error("{0}")]
    Twin(TwinError, &'static str),
    /// Its memory cannot be written.
    #[error(transparent)]
    Record(#[from] RecordError),
}

impl Stored {
    /// It was stored as the first group had it. What was at home in another group, which is gone
    /// when the world begins again, is an avatar, and at home in the first.
    #[must_use]
    pub fn all_at_home(mut self) -> Stored {
        self.objects = self.objects.values().map(Object::for_clients).collect();
        self
    }
}

impl DirectoryStart {
    /// A directory that remembers nothing.
    #[must_use]
    pub fn fresh(&self, node: Member) -> Directory {
        Directory::grouping(node, self.extent, self.timing, self.grouping)
            .with_backups(self.backups)
            .with_mutant(self.mutant)
    }
}

/// The directory as it was, or a new one. If other nodes have had a part of the world they have
/// time to answer, and what this process has stored is only offered; otherwise it counts at once.
///
/// # Errors
/// If its memory cannot be read, and the stored world is not to count in any case; or cannot be
/// written.
pub fn start_directory(
    disk: &Arc<dyn Disk>,
    path: &Path,
    settings: &DirectoryStart,
    serving: Serving,
    now: Time,
) -> Result<StartedDirectory, DirectoryError> {
    let Serving { before, node, tick, objects } = serving;
    let world = format!("tick {} with {objects} objects", tick.0);
    let mut notices = Vec::new();
    let (file, kept) = match Keeper::kept(disk, path) {
        Ok(TwinFound { twin, value, notices: found }) => {
            notices.extend(found);
            (twin, value)
        }
        Err(error) => {
            let what = "then the world is as it was stored; nodes that live join anew";
            if !settings.restore || matches!(error, TwinError::File(_)) {
                return Err(DirectoryError::Twin(error, what));
            }
            notices.push(Notice::error(format!("{error}: {what}")));
            (Keeper::anew(disk, path), None)
        }
    };
    let Some(kept) = kept else {
        notices.push(Notice::info(format!("world starts at {world}")));
        // Nodes of a world that was forgotten have seen older views. Every start has a node of its
        // own, so the world was restored less often than the number of this one says.
        let fresh = settings.fresh(node).restored_less_often_than(node.node.0.into());
        let fresh = if before.is_some() { fresh.restored(now, node) } else { fresh };
        return Ok(StartedDirectory { keeper: Keeper::at(fresh, file)?, newest: None, notices });
    };
    let loaded = Directory::load(kept, now, settings.timing).with_backups(settings.backups);
    let loaded = loaded.with_mutant(settings.mutant);
    let newest = Some(loaded.newest_time());
    let mut others: Vec<NodeId> = loaded.settled_members().map(|member| member.node).collect();
    others.retain(|member| Some(*member) != before);
    let directory = if others.is_empty() || settings.restore {
        notices.push(Notice::info(format!("the stored world continues at {world}")));
        loaded.regrouped(settings.extent, settings.grouping).restored(now, node)
    } else {
        let others: Vec<u32> = others.into_iter().map(|node| node.0).collect();
        notices.push(Notice::info(format!(
            "nodes {others:?} had a part of the world: waiting up to 5 s for them. If they do not \
             have all of it any more, the stored world continues at {world}"
        )));
        loaded
    };
    Ok(StartedDirectory { keeper: Keeper::at(directory, file)?, newest, notices })
}
