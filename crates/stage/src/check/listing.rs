//! The first findings in the order of a report, out of any number.
//!
//! A finding is a draft of about 130 bytes until it is certain to be listed: names and faces are
//! looked up at the end, and equal names share one allocation.

use super::parts::Parts;
use super::{FACES_MAX, Finding, FindingKind, NamedFaces};
use crate::StageError;
use crate::stage::Stage;
use jostle_geom::{FacePair, Pair, SearchLimits, SearchStatus};
use jostle_world::BodyId;
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
    /// Further touching bodies of the same parts, if all faces are requested.
    pub(super) others: Vec<[BodyId; 2]>,
}

impl Draft {
    /// The order of [`Finding::order`]: parts are numbered by name.
    fn order(&self, other: &Draft) -> Ordering {
        let by_distance = || self.distance.total_cmp(&other.distance);
        let by_name = || (self.parts, self.bodies).cmp(&(other.parts, other.bodies));
        self.kind.cmp(&other.kind).then_with(by_distance).then_with(by_name)
    }

    /// Merges a finding of two other bodies of the same two objects. The more severe kind is kept.
    pub(super) fn merge(&mut self, mut other: Draft, all_faces: bool) {
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
    max_findings: usize,
    /// Pairs of parts that are listed in addition.
    always: HashSet<[u32; 2]>,
    /// The last in the order is on top.
    first: BinaryHeap<Draft>,
    always_listed: Vec<Draft>,
    pub(super) counts: [usize; FindingKind::ALL.len()],
}

impl Listing {
    pub(super) fn new(max_findings: usize, always: HashSet<[u32; 2]>) -> Listing {
        Listing {
            max_findings,
            always,
            first: BinaryHeap::new(),
            always_listed: Vec::new(),
            counts: [0; FindingKind::ALL.len()],
        }
    }

    pub(super) fn add(&mut self, draft: Draft) {
        self.counts[draft.kind as usize] += 1;
        if self.always.contains(&draft.parts) {
            self.always_listed.push(draft);
        } else if self.first.len() < self.max_findings {
            self.first.push(draft);
        } else if let Some(mut last) = self.first.peek_mut()
            && draft < *last
        {
            *last = draft;
        }
    }

    /// Makes the listed findings, in order, with names and faces.
    pub(super) fn findings(
        self,
        stage: &Stage,
        parts: &Parts,
        all_faces: bool,
    ) -> Result<Vec<Finding>, StageError> {
        let mut drafts = self.first.into_vec();
        drafts.extend(self.always_listed);
        drafts.sort_unstable();
        let mut faces = Faces { stage, left: FACES_MAX, names: HashSet::new() };
        let mut findings = Vec::with_capacity(drafts.len());
        for draft in drafts {
            let all = all_faces && draft.kind != FindingKind::TooClose;
            let (faces, more_faces) = if all {
                faces.all(&draft)?
            } else {
                (faces.named_faces(draft.bodies, draft.faces).into_iter().collect(), false)
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
                depth: None,
            });
        }
        Ok(findings)
    }
}

/// Looks up the names of faces.
struct Faces<'a> {
    stage: &'a Stage,
    /// Pairs of faces that may still be listed.
    left: usize,
    /// Names of shapes that are in use: equal names share one allocation.
    names: HashSet<Arc<str>>,
}

impl Faces<'_> {
    /// All touching faces of two objects, and whether there are more.
    fn all(&mut self, draft: &Draft) -> Result<(Vec<NamedFaces>, bool), StageError> {
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
            list.extend(pairs.iter().filter_map(|pair| self.named_faces(bodies, [pair.a, pair.b])));
        }
        Ok((list, more))
    }

    fn named_faces(&mut self, [a, b]: [BodyId; 2], faces: [u32; 2]) -> Option<NamedFaces> {
        Some(NamedFaces { a: self.named_face(a, faces[0])?, b: self.named_face(b, faces[1])? })
    }

    fn named_face(&mut self, body: BodyId, face: u32) -> Option<(Arc<str>, u32)> {
        let (name, face) = self.stage.face(body, face)?;
        if let Some(known) = self.names.get(&name) {
            return Some((Arc::clone(known), face));
        }
        self.names.insert(Arc::clone(&name));
        Some((name, face))
    }
}

/// At most `most` pairs of touching faces of two bodies, and whether there are more.
fn touching_faces(
    stage: &Stage,
    [a, b]: [BodyId; 2],
    most: usize,
) -> Result<(Vec<FacePair>, bool), StageError> {
    let world = stage.world();
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let pair = Pair::new(world.shape(a)?, &pose_a, world.shape(b)?, &pose_b);
    // One more than are listed shows whether there are more.
    let contacts_max = most.saturating_add(1);
    let mut search = pair.search(SearchLimits { contacts_max, ..SearchLimits::default() });
    let full = search.run(u64::MAX) == SearchStatus::Full;
    let mut pairs = search.pairs();
    // A search of shapes without a hierarchy has no limit: it finds all pairs at once.
    let more = full || pairs.len() > most;
    pairs.truncate(most);
    Ok((pairs, more))
}
