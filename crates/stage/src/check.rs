//! Checks a scene: which parts touch, or are closer than a clearance?

mod finding;
mod kind;
mod pattern;

use crate::stage::{Stage, StageOptions, StaticPairs};
use crate::{HierarchyFiles, StageError};
pub use finding::{Finding, NamedFaces};
use jostle_geom::Quality;
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, NodeId, Scene};
use jostle_world::{Ask, BodyId, Contact, ShapePair, Workers};
use kind::Classifier;
pub use kind::FindingKind;
use pattern::matches_name;
use std::collections::BTreeMap;

/// How a scene is checked.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Objects that do not touch are reported if they are closer than this.
    pub clearance: Option<f64>,
    /// Finds all pairs of touching faces instead of one.
    pub all_pairs: bool,
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
    /// Objects that touch or are too close, the most severe first ([`Finding::order`]).
    pub findings: Vec<Finding>,
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
    let query = options.clearance.map_or(Ask::Touch, Ask::Clearance);
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
    let stage = Stage::new(scene, stage_options, files)?;
    // By name and by object: several objects may have the same name.
    let mut found: BTreeMap<([String; 2], [&[NodeId]; 2]), Finding> = BTreeMap::new();
    let mut classifier = Classifier::default();
    for contact in stage.world().contacts() {
        let ids = in_order(&stage, contact);
        let Some(finding) = examine(&stage, ids, options.all_pairs, &mut classifier)? else {
            continue;
        };
        if options.ignore.iter().any(|pair| is_pair(pair, &finding)) {
            continue;
        }
        let key = ([finding.a.clone(), finding.b.clone()], ids.map(|id| stage.object_path(id)));
        match found.get_mut(&key) {
            Some(known) => known.merge(finding, options.all_pairs),
            None => {
                found.insert(key, finding);
            }
        }
    }
    let mut findings: Vec<Finding> = found.into_values().collect();
    findings.sort_by(Finding::order);
    let mut problems = stage.problems().to_vec();
    problems.extend(unknown_names(&stage, &options.ignore));
    let report = CheckReport {
        findings,
        objects: stage.object_count(),
        bodies: stage.body_count(),
        triangles: stage.triangle_count(),
        tested: stage.world().report().counts.tested,
        problems,
    };
    Ok((stage, report))
}

/// The bodies of a contact, by name and object.
fn in_order(stage: &Stage, contact: &Contact) -> [BodyId; 2] {
    let mut ids = [contact.a, contact.b];
    ids.sort_by_key(|&id| (stage.name(id), stage.object_path(id)));
    ids
}

/// Makes the finding of a contact.
fn examine(
    stage: &Stage,
    ids @ [a, b]: [BodyId; 2],
    all: bool,
    classifier: &mut Classifier,
) -> Result<Option<Finding>, StageError> {
    let world = stage.world();
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let (shape_a, shape_b) = (world.shape(a)?, world.shape(b)?);
    let pair = ShapePair::new(shape_a, &pose_a, shape_b, &pose_b);
    let Some(distance) = pair.distance() else { return Ok(None) };
    let faces = if distance.distance == 0.0 && all {
        pair.all_pairs()
            .iter()
            .filter_map(|found| named_faces(stage, ids, [found.a, found.b]))
            .collect()
    } else {
        named_faces(stage, ids, [distance.faces.a, distance.faces.b]).into_iter().collect()
    };
    let kind = match distance.distance {
        0.0 => classifier.kind((shape_a, &pose_a), (shape_b, &pose_b)),
        _ => FindingKind::TooClose,
    };
    Ok(Some(Finding {
        kind,
        bodies: ids,
        a: stage.name(a),
        b: stage.name(b),
        distance: distance.distance,
        points: [distance.point_a.to_array(), distance.point_b.to_array()],
        faces,
    }))
}

fn named_faces(stage: &Stage, [a, b]: [BodyId; 2], faces: [u32; 2]) -> Option<NamedFaces> {
    Some(NamedFaces { a: stage.face(a, faces[0])?, b: stage.face(b, faces[1])? })
}

fn is_pair([one, other]: &[String; 2], finding: &Finding) -> bool {
    let is = |a: &str, b: &str| matches_name(&finding.a, a) && matches_name(&finding.b, b);
    is(one, other) || is(other, one)
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
