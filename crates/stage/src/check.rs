//! The engineer's question: which parts of this scene touch, or come too close?

mod finding;
mod kind;
mod listing;
mod parts;
mod pattern;

use crate::stage::{Scenery, Stage, Staging};
use crate::{HierarchyFiles, StageError};
pub use finding::{Finding, Pieces};
use jostle_geom::Quality;
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, Scene};
use jostle_world::{Ask, ShapePair, Workers};
use kind::Classifier;
pub use kind::FindingKind;
use listing::{Draft, Listing};
use parts::{Parts, Touching};
use pattern::fits;
use std::collections::BTreeSet;

/// Findings that a report lists, unless told otherwise: some 20 MB.
const FINDINGS_MAX: usize = 100_000;

/// Pairs of faces that a report lists for all its findings together: some 50 MB.
pub const FACES_MAX: usize = 1_000_000;

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Checking {
    /// Objects that do not touch are told if they are closer than this.
    pub clearance: Option<f64>,
    /// Are all pairs of touching faces wanted, or is one enough? [`FACES_MAX`] at most are listed.
    pub all_pairs: bool,
    /// How many findings are listed: the first ones in the order of a report. The others are
    /// counted, and cost no memory.
    pub max_findings: usize,
    /// Pairs of names, each pair in order, that are listed beyond `max_findings`: those that a
    /// reviewer knows.
    pub always_listed: BTreeSet<[String; 2]>,
    /// Pairs of names that may touch: of objects, or of what they are part of. `*` stands for any
    /// number of characters, `?` for one.
    pub ignore: Vec<[String; 2]>,
    /// Do closed surfaces count as full?
    pub solid: bool,
    /// Vertices of a part that are as close as this become one: closes surfaces with gaps from
    /// rounding.
    pub weld: Option<f64>,
    /// How closely spheres, cones and cylinders are followed by triangles.
    pub tolerance: Tolerance,
    /// Which level of an `LOD` is tested.
    pub lod: LodRule,
    /// Leave bodies that come near no other out of the stage: no finding needs their hierarchies,
    /// which most of the time goes into. [`check()`] does so anyway.
    pub skip_lone: bool,
    /// How much work goes into hierarchies. The findings are the same, but for the faces and the
    /// point by which two parts are shown to touch. Most hierarchies are asked a few times only,
    /// so `Fast` is fastest for a check.
    pub quality: Quality,
    /// The threads that share the exact tests.
    pub workers: Workers,
}

impl Default for Checking {
    fn default() -> Checking {
        Checking {
            clearance: None,
            all_pairs: false,
            max_findings: FINDINGS_MAX,
            always_listed: BTreeSet::new(),
            ignore: Vec::new(),
            solid: false,
            weld: None,
            tolerance: Tolerance::default(),
            lod: LodRule::Finest,
            skip_lone: false,
            quality: Quality::Fast,
            workers: Workers::ONE,
        }
    }
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Objects that touch or are too close, the most severe first ([`Finding::order`]): all, or
    /// as many as [`Checking::max_findings`] allows.
    pub findings: Vec<Finding>,
    /// How many findings there are of each kind, in the order of [`FindingKind::ALL`], also of
    /// those that are not listed.
    pub counts: [usize; FindingKind::ALL.len()],
    /// The number of objects that have a surface.
    pub objects: usize,
    /// The number of bodies that they consist of.
    pub bodies: usize,
    /// The number of triangles of all bodies.
    pub triangles: usize,
    /// Pairs of bodies that were tested exactly.
    pub tested: usize,
    /// What made no sense and was left out.
    pub problems: Vec<String>,
}

impl Checked {
    /// The number of findings of a kind, listed or not.
    #[must_use]
    pub fn count(&self, kind: FindingKind) -> usize {
        self.counts[kind as usize]
    }

    /// The number of findings, listed or not.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The number of findings that are not listed.
    #[must_use]
    pub fn unlisted(&self) -> usize {
        self.total() - self.findings.len()
    }
}

/// Tests a scene as it stands, everything against everything that the scene lets meet.
///
/// ```
/// use jostle_scene::{Reading, read};
/// use jostle_stage::{Checking, HierarchyFiles, check};
///
/// let text = b"#VRML V2.0 utf8
///     DEF LEFT Transform { children Shape { geometry Box {} } }
///     DEF RIGHT Transform { translation 2.25 0 0 children Shape { geometry Box {} } }";
/// let scene = read("two.wrl", text, &mut Reading::default())?.scene;
/// let checking = Checking { clearance: Some(0.5), ..Checking::default() };
/// let checked = check(scene, &checking, &mut HierarchyFiles::default())?;
/// assert_eq!(checked.findings.len(), 1);
/// assert_eq!(checked.findings[0].distance, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Stage::new`].
pub fn check(
    scene: Scene,
    checking: &Checking,
    files: &mut HierarchyFiles<'_>,
) -> Result<Checked, StageError> {
    let checking = Checking { skip_lone: true, ..checking.clone() };
    check_stage(scene, &checking, files).map(|(_, checked)| checked)
}

/// As [`check()`]; also gives the stage that was tested, to draw the bodies that findings name.
///
/// # Errors
/// As [`Stage::new`].
pub fn check_stage(
    scene: Scene,
    checking: &Checking,
    files: &mut HierarchyFiles<'_>,
) -> Result<(Stage, Checked), StageError> {
    let ask = checking.clearance.map_or(Ask::Touch, Ask::Clearance);
    let staging = Staging {
        ask,
        overrule: Some(ask),
        scenery: Scenery::Tested,
        lod: checking.lod,
        tolerance: checking.tolerance,
        solid: checking.solid,
        weld: checking.weld,
        skip_lone: checking.skip_lone.then(|| checking.clearance.unwrap_or(0.0)),
        quality: checking.quality,
        avatar: false,
        workers: checking.workers.clone(),
        ..Staging::default()
    };
    let mut stage = Stage::uncompared(scene, staging, files)?;
    let parts = Parts::of(&stage);
    let mut touching = Vec::new();
    let tested = stage.world.visit_contacts(&mut |contact| {
        touching.extend(parts.touching([contact.a, contact.b]));
    });
    let stage = stage;
    let ignore = Ignore::new(&parts, &checking.ignore);
    touching.retain(|pair: &Touching| !ignore.has(pair.parts));
    touching.sort_unstable_by_key(Touching::order);
    let mut listing = Listing::new(checking.max_findings, parts.pairs(&checking.always_listed));
    let mut classifier = Classifier::default();
    for pairs in touching.chunk_by(|one, other| one.parts == other.parts) {
        let mut found: Option<Draft> = None;
        for pair in pairs {
            let Some(draft) = look_at(&stage, pair, &mut classifier)? else { continue };
            match &mut found {
                Some(known) => known.join(draft, checking.all_pairs),
                None => found = Some(draft),
            }
        }
        found.into_iter().for_each(|draft| listing.add(draft));
    }
    let mut problems = stage.problems().to_vec();
    problems.extend(unknown_names(&stage, &checking.ignore));
    let counts = listing.counts;
    let checked = Checked {
        findings: listing.findings(&stage, &parts, checking.all_pairs)?,
        counts,
        objects: stage.object_count(),
        bodies: stage.body_count(),
        triangles: stage.triangle_count(),
        tested,
        problems,
    };
    Ok((stage, checked))
}

/// The details of a contact.
fn look_at(
    stage: &Stage,
    &Touching { parts, bodies: bodies @ [a, b] }: &Touching,
    classifier: &mut Classifier,
) -> Result<Option<Draft>, StageError> {
    let world = stage.world();
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let (shape_a, shape_b) = (world.shape(a)?, world.shape(b)?);
    let pair = ShapePair::new(shape_a, &pose_a, shape_b, &pose_b);
    let Some(distance) = pair.distance() else { return Ok(None) };
    let kind = match distance.distance {
        0.0 => classifier.kind((shape_a, &pose_a), (shape_b, &pose_b)),
        _ => FindingKind::TooClose,
    };
    Ok(Some(Draft {
        kind,
        parts,
        bodies,
        distance: distance.distance,
        points: [distance.point_a.to_array(), distance.point_b.to_array()],
        faces: [distance.faces.a, distance.faces.b],
        others: Vec::new(),
    }))
}

/// Which pairs of parts may touch: for each pair of patterns, which parts fit either.
struct Ignore(Vec<[Vec<bool>; 2]>);

impl Ignore {
    fn new(parts: &Parts, ignore: &[[String; 2]]) -> Ignore {
        let fitting =
            |pattern: &String| parts.names().iter().map(|name| fits(name, pattern)).collect();
        Ignore(ignore.iter().map(|pair| pair.each_ref().map(fitting)).collect())
    }

    fn has(&self, [a, b]: [u32; 2]) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.0.iter().any(|[one, other]| one[a] && other[b] || one[b] && other[a])
    }
}

/// A pattern that fits no object is a mistake in the question.
fn unknown_names(stage: &Stage, ignore: &[[String; 2]]) -> Vec<String> {
    if ignore.is_empty() {
        return Vec::new();
    }
    let objects = stage.object_names();
    let known = |name: &String| objects.iter().any(|object| fits(object, name));
    let unknown = ignore.iter().flatten().filter(|name| !known(name));
    unknown.map(|name| format!("nothing is called \"{name}\", which is to be ignored")).collect()
}
