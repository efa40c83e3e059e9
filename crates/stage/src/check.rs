//! Checks a scene: which parts touch, or are closer than a clearance?

mod finding;
mod kind;
mod listing;
mod parts;
mod pattern;

use crate::stage::{Stage, StageOptions, StaticPairs};
use crate::{HierarchyFiles, StageError};
pub use finding::{Finding, FindingDepth, NamedFaces};
use jostle_geom::{Pair, Quality};
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, Scene};
use jostle_world::{QueryKind, Workers};
use kind::Classifier;
pub use kind::FindingKind;
use listing::{Draft, Listing};
use parts::{ContactPair, Parts};
use pattern::matches_name;
use std::collections::BTreeSet;

/// The default of [`CheckOptions::max_findings`]: about 20 MB.
const FINDINGS_MAX: usize = 100_000;

/// The most pairs of faces that a report lists, for all findings together: about 50 MB.
pub const FACES_MAX: usize = 1_000_000;

/// The most interferences of a report that get a depth, the first ones in order without it. Each
/// takes some milliseconds.
pub const DEPTHS_MAX: usize = 1000;

/// How a scene is checked.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Objects that do not touch are reported if they are closer than this.
    pub clearance: Option<f64>,
    /// Finds all pairs of touching faces instead of one, [`FACES_MAX`] at most.
    pub all_pairs: bool,
    /// The number of findings that are listed: the first ones in the order of a report, depths
    /// aside. The others are only counted and take no memory.
    pub max_findings: usize,
    /// Pairs of names, each pair in order, that are listed in addition to `max_findings`: those
    /// that a reviewer has already accepted.
    pub always_listed: BTreeSet<[String; 2]>,
    /// Pairs of names that may touch: of objects, or of nodes above them. `*` matches any number of
    /// characters, `?` matches one.
    pub ignore: Vec<[String; 2]>,
    /// Closed surfaces are solid: what is inside them touches them.
    pub solid: bool,
    /// Vertices of a part within this distance are merged, which closes gaps from rounding.
    pub weld: Option<f64>,
    /// How closely triangles approximate spheres, cones and cylinders.
    pub tolerance: Tolerance,
    /// Which level of an `LOD` is tested.
    pub lod: LodRule,
    /// Skips isolated bodies: no finding needs their hierarchies, on which most of the time is
    /// spent. [`check()`] always does so.
    pub skip_isolated: bool,
    /// How much work goes into building hierarchies. Findings do not depend on it, except for the
    /// faces and the point that witness a contact. Most hierarchies are queried a few times only,
    /// so `Fast` is fastest for a check.
    pub quality: Quality,
    /// The threads for the exact tests.
    pub workers: Workers,
}

impl Default for CheckOptions {
    fn default() -> CheckOptions {
        CheckOptions {
            clearance: None,
            all_pairs: false,
            max_findings: FINDINGS_MAX,
            always_listed: BTreeSet::new(),
            ignore: Vec::new(),
            solid: false,
            weld: None,
            tolerance: Tolerance::default(),
            lod: LodRule::Finest,
            skip_isolated: false,
            quality: Quality::Fast,
            workers: Workers::ONE,
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// Objects that touch or are too close, the most severe and deepest first
    /// ([`Finding::order`]): all, or the first [`CheckOptions::max_findings`].
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
    /// Problems of the scene or the options: what was invalid and is ignored.
    pub problems: Vec<String>,
}

impl CheckReport {
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

/// Tests a scene in its initial state: all pairs of objects that the scene does not exclude.
///
/// ```
/// use jostle_scene::{Reading, read};
/// use jostle_stage::{CheckOptions, HierarchyFiles, check};
///
/// let text = b"#VRML V2.0 utf8
///     DEF LEFT Transform { children Shape { geometry Box {} } }
///     DEF RIGHT Transform { translation 2.25 0 0 children Shape { geometry Box {} } }";
/// let scene = read("two.wrl", text, &mut Reading::default())?.scene;
/// let options = CheckOptions { clearance: Some(0.5), ..CheckOptions::default() };
/// let checked = check(scene, &options, &mut HierarchyFiles::default())?;
/// assert_eq!(checked.findings.len(), 1);
/// assert_eq!(checked.findings[0].distance, 0.25);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`Stage::new`].
pub fn check(
    scene: Scene,
    options: &CheckOptions,
    files: &mut HierarchyFiles<'_>,
) -> Result<CheckReport, StageError> {
    let options = CheckOptions { skip_isolated: true, ..options.clone() };
    check_stage(scene, &options, files).map(|(_, report)| report)
}

/// As [`check()`]; also returns the stage that was tested, to draw the bodies of findings.
///
/// # Errors
/// As [`Stage::new`].
pub fn check_stage(
    scene: Scene,
    options: &CheckOptions,
    files: &mut HierarchyFiles<'_>,
) -> Result<(Stage, CheckReport), StageError> {
    let query = options.clearance.map_or(QueryKind::Touch, QueryKind::Clearance);
    let stage_options = StageOptions {
        query,
        query_override: Some(query),
        static_pairs: StaticPairs::Test,
        lod: options.lod,
        tolerance: options.tolerance,
        solid: options.solid,
        weld: options.weld,
        skip_isolated: options.skip_isolated.then(|| options.clearance.unwrap_or(0.0)),
        quality: options.quality,
        avatar: false,
        workers: options.workers.clone(),
        ..StageOptions::default()
    };
    let mut stage = Stage::before_first_step(scene, stage_options, files)?;
    let parts = Parts::of(&stage);
    let mut touching = Vec::new();
    let tested = stage.world.visit_contacts(&mut |contact| {
        touching.extend(parts.contact_pair([contact.a, contact.b]));
    });
    let stage = stage;
    let ignore = Ignore::new(&parts, &options.ignore);
    touching.retain(|pair: &ContactPair| !ignore.contains(pair.parts));
    touching.sort_unstable_by_key(ContactPair::order);
    let mut listing = Listing::new(options.max_findings, parts.pairs(&options.always_listed));
    let mut classifier = Classifier::default();
    for pairs in touching.chunk_by(|one, other| one.parts == other.parts) {
        let mut found: Option<Draft> = None;
        for pair in pairs {
            let Some(draft) = examine(&stage, pair, &mut classifier)? else { continue };
            match &mut found {
                Some(known) => known.merge(draft, options.all_pairs),
                None => found = Some(draft),
            }
        }
        found.into_iter().for_each(|draft| listing.add(draft));
    }
    let mut problems = stage.problems().to_vec();
    problems.extend(unknown_names(&stage, &options.ignore));
    let counts = listing.counts;
    let mut findings = listing.findings(&stage, &parts, options.all_pairs)?;
    measure_depths(&stage, &mut findings, &mut classifier)?;
    let report = CheckReport {
        findings,
        counts,
        objects: stage.object_count(),
        bodies: stage.body_count(),
        triangles: stage.triangle_count(),
        tested,
        problems,
    };
    Ok((stage, report))
}

/// Gives interferences their depth, and puts them into the order with it.
fn measure_depths(
    stage: &Stage,
    findings: &mut [Finding],
    classifier: &mut Classifier,
) -> Result<(), StageError> {
    let world = stage.world();
    for finding in findings.iter_mut().filter(|it| it.kind.overlaps()).take(DEPTHS_MAX) {
        let [a, b] = finding.bodies;
        let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
        finding.depth = classifier.depth((world.shape(a)?, &pose_a), (world.shape(b)?, &pose_b));
    }
    findings.sort_by(Finding::order);
    Ok(())
}

/// Makes the draft of the finding of a contact.
fn examine(
    stage: &Stage,
    &ContactPair { parts, bodies: bodies @ [a, b] }: &ContactPair,
    classifier: &mut Classifier,
) -> Result<Option<Draft>, StageError> {
    let world = stage.world();
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let (shape_a, shape_b) = (world.shape(a)?, world.shape(b)?);
    let pair = Pair::new(shape_a, &pose_a, shape_b, &pose_b);
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

/// Pairs of parts that may touch: for each pair of patterns, the parts that match each of the two.
struct Ignore(Vec<[Vec<bool>; 2]>);

impl Ignore {
    fn new(parts: &Parts, ignore: &[[String; 2]]) -> Ignore {
        let matching = |pattern: &String| {
            parts.names().iter().map(|name| matches_name(name, pattern)).collect()
        };
        Ignore(ignore.iter().map(|pair| pair.each_ref().map(matching)).collect())
    }

    fn contains(&self, [a, b]: [u32; 2]) -> bool {
        let (a, b) = (a as usize, b as usize);
        self.0.iter().any(|[one, other]| one[a] && other[b] || one[b] && other[a])
    }
}

/// A pattern that matches no object is reported: it is probably a mistake.
fn unknown_names(stage: &Stage, ignore: &[[String; 2]]) -> Vec<String> {
    if ignore.is_empty() {
        return Vec::new();
    }
    let objects = stage.object_names();
    let known = |name: &String| objects.iter().any(|object| matches_name(object, name));
    let unknown = ignore.iter().flatten().filter(|name| !known(name));
    unknown.map(|name| format!("no object is named \"{name}\", which is to be ignored")).collect()
}
