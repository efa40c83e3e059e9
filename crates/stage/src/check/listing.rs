//! The first findings in the order of a report, out of any number.
//!
//! A finding is a draft of about 130 bytes until it is certain to be listed: names and faces are
//! looked up at the end, and parts that are named often share one text.

use super::parts::Parts;
use super::{FACES_MAX, Finding, FindingKind, Pieces};
use crate::StageError;
use crate::stage::Stage;
use jostle_geom::{FacePair, Limits, Progress};
use jostle_world::{BodyId, ShapePair};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, HashSet};
use std::sync::Arc;

/// A finding without texts.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) kind: FindingKind,
    pub(super) parts: [u32; 2],
    pub(super) bodies: [BodyId; 2],
    pub(super) distance: f64,
    pub(super) points: [[f64; 3]; 2],
    pub(super) faces: [u32; 2],
    /// More bodies of the same parts that touch, where all faces are wanted.
    pub(super) others: Vec<[BodyId; 2]>,
}

impl Draft {
    /// The order of [`Finding::order`]: parts are numbered by name.
    fn order(&self, other: &Draft) -> Ordering {
        let by_distance = || self.distance.total_cmp(&other.distance);
        let by_name = || (self.parts, self.bodies).cmp(&(other.parts, other.bodies));
        self.kind.cmp(&other.kind).then_with(by_distance).then_with(by_name)
    }

    /// Adds what was found about two other bodies of the same two objects. The most severe of
    /// their kinds is that of the objects.
    pub(super) fn join(&mut self, mut other: Draft, all_faces: bool) {
        if other.order(self) == Ordering::Less {
            std::mem::swap(self, &mut other);
        }
        if all_faces && self.kind != FindingKind::TooClose && other.kind != FindingKind::TooClose {
            self.others.push(other.bodies);
            self.others.append(&mut other.others);
        }
    }
}

impl PartialEq for Draft {
    fn eq(&self, other: &Draft) -> bool {
        self.order(other) == Ordering::Equal
    }
}

impl Eq for Draft {}

impl PartialOrd for Draft {
    fn partial_cmp(&self, other: &Draft) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Draft {
    fn cmp(&self, other: &Draft) -> Ordering {
        self.order(other)
    }
}

/// Counts all findings and keeps the first ones.
pub(super) struct Listing {
    most: usize,
    /// These pairs of parts are listed beyond that.
    always: HashSet<[u32; 2]>,
    /// The last one in the order on top.
    first: BinaryHeap<Draft>,
    known: Vec<Draft>,
    pub(super) counts: [usize; FindingKind::ALL.len()],
}

impl Listing {
    pub(super) fn new(most: usize, always: HashSet<[u32; 2]>) -> Listing {
        Listing { most, always, first: BinaryHeap::new(), known: Vec::new(), counts: [0; 7] }
    }

    pub(super) fn add(&mut self, draft: Draft) {
        self.counts[draft.kind as usize] += 1;
        if self.always.contains(&draft.parts) {
            self.known.push(draft);
        } else if self.first.len() < self.most {
            self.first.push(draft);
        } else if let Some(mut last) = self.first.peek_mut()
            && draft < *last
        {
            *last = draft;
        }
    }

    /// What is listed, in order, with names and faces.
    pub(super) fn findings(
        self,
        stage: &Stage,
        parts: &Parts,
        all_faces: bool,
    ) -> Result<Vec<Finding>, StageError> {
        let mut drafts = self.first.into_vec();
        drafts.extend(self.known);
        drafts.sort_unstable();
        let mut faces = Faces { stage, left: FACES_MAX, names: HashSet::new() };
        let mut findings = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let all = all_faces && draft.kind != FindingKind::TooClose;
            let (faces, more_faces) = if all {
                faces.all(&draft)?
            } else {
                (faces.pieces(draft.bodies, draft.faces).into_iter().collect(), false)
            };
            let name = |part: u32| Arc::clone(&parts.names()[part as usize]);
            findings.push(Finding {
                a: name(draft.parts[0]),
                b: name(draft.parts[1]),
                kind: draft.kind,
                distance: draft.distance,
                points: draft.points,
                faces,
                more_faces,
                bodies: draft.bodies,
            });
        }
        Ok(findings)
    }
}

/// Looks faces up.
struct Faces<'a> {
    stage: &'a Stage,
    /// Pairs of faces that may still be listed.
    left: usize,
    /// Names of shapes that were used.
    names: HashSet<Arc<str>>,
}

impl Faces<'_> {
    /// All faces of two objects that touch, and whether there are more.
    fn all(&mut self, draft: &Draft) -> Result<(Vec<Pieces>, bool), StageError> {
        let mut list = Vec::new();
        let mut more = false;
        for &bodies in std::iter::once(&draft.bodies).chain(&draft.others) {
            if self.left == 0 {
                more = true;
                break;
            }
            let (pairs, cut) = touching_faces(self.stage, bodies, self.left)?;
            more |= cut;
            self.left -= pairs.len();
            list.extend(pairs.iter().filter_map(|pair| self.pieces(bodies, [pair.a, pair.b])));
        }
        Ok((list, more))
    }

    fn pieces(&mut self, [a, b]: [BodyId; 2], faces: [u32; 2]) -> Option<Pieces> {
        Some(Pieces { a: self.piece(a, faces[0])?, b: self.piece(b, faces[1])? })
    }

    fn piece(&mut self, body: BodyId, face: u32) -> Option<(Arc<str>, u32)> {
        let (name, face) = self.stage.face(body, face)?;
        if let Some(known) = self.names.get(&name) {
            return Some((Arc::clone(known), face));
        }
        self.names.insert(Arc::clone(&name));
        Some((name, face))
    }
}

/// At most so many pairs of faces of two bodies that touch, and whether there are more.
fn touching_faces(
    stage: &Stage,
    [a, b]: [BodyId; 2],
    most: usize,
) -> Result<(Vec<FacePair>, bool), StageError> {
    let world = stage.world();
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let pair = ShapePair::new(world.shape(a)?, &pose_a, world.shape(b)?, &pose_b);
    let Some(models) = pair.model_pair() else {
        // At least one has a few faces only.
        let mut pairs = pair.all_pairs();
        let more = pairs.len() > most;
        pairs.truncate(most);
        return Ok((pairs, more));
    };
    // One more than are listed tells whether there are more.
    let contacts_max = most.saturating_add(1);
    let mut search = models.search(Limits { contacts_max, ..Limits::default() });
    let full = search.run(u64::MAX) == Progress::Full;
    let mut pairs = search.pairs();
    pairs.truncate(most);
    Ok((pairs, full))
}
