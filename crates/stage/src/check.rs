//! The engineer's question: which parts of this scene touch, or come too close?

mod finding;
mod kind;
mod pattern;

use crate::stage::{Scenery, Stage, Staging};
use crate::{HierarchyFiles, StageError};
pub use finding::{Finding, Pieces};
use jostle_geom::Quality;
use jostle_scene::geometry::Tolerance;
use jostle_scene::{LodRule, NodeId, Scene};
use jostle_world::{BodyId, Contact, QueryKind, ShapePair, Workers};
use kind::Classifier;
pub use kind::FindingKind;
use pattern::fits;
use std::collections::BTreeMap;

/// What is to be found out.
#[derive(Clone, Debug)]
pub struct Checking {
    /// Objects that do not touch are told if they are closer than this.
    pub clearance: Option<f64>,
    /// Are all pairs of touching faces wanted, or is one enough?
    pub all_pairs: bool,
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
    /// What made no sense and was left out.
    pub problems: Vec<String>,
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
    let ask = checking.clearance.map_or(QueryKind::Touch, QueryKind::Clearance);
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
    let stage = Stage::new(scene, staging, files)?;
    // By name, and by object: several may have the same name.
    let mut found: BTreeMap<([String; 2], [&[NodeId]; 2]), Finding> = BTreeMap::new();
    let mut classifier = Classifier::default();
    for contact in stage.world().contacts() {
        let ids = in_order(&stage, contact);
        let Some(finding) = look_at(&stage, ids, checking.all_pairs, &mut classifier)? else {
            continue;
        };
        if checking.ignore.iter().any(|pair| is_pair(pair, &finding)) {
            continue;
        }
        let key = ([finding.a.clone(), finding.b.clone()], ids.map(|id| stage.unit(id)));
        match found.get_mut(&key) {
            Some(known) => known.join(finding, checking.all_pairs),
            None => {
                found.insert(key, finding);
            }
        }
    }
    let mut findings: Vec<Finding> = found.into_values().collect();
    findings.sort_by(Finding::order);
    let mut problems = stage.problems().to_vec();
    problems.extend(unknown_names(&stage, &checking.ignore));
    let checked = Checked {
        findings,
        objects: stage.object_count(),
        bodies: stage.body_count(),
        triangles: stage.triangle_count(),
        tested: stage.world().report().counts.tested,
        problems,
    };
    Ok((stage, checked))
}

/// The bodies of a contact, by name and object.
fn in_order(stage: &Stage, contact: &Contact) -> [BodyId; 2] {
    let mut ids = [contact.a, contact.b];
    ids.sort_by_key(|&id| (stage.name(id), stage.unit(id)));
    ids
}

/// The details of a contact.
fn look_at(
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
        pair.all_pairs().iter().filter_map(|found| pieces(stage, ids, [found.a, found.b])).collect()
    } else {
        pieces(stage, ids, [distance.faces.a, distance.faces.b]).into_iter().collect()
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

fn pieces(stage: &Stage, [a, b]: [BodyId; 2], faces: [u32; 2]) -> Option<Pieces> {
    Some(Pieces { a: stage.face(a, faces[0])?, b: stage.face(b, faces[1])? })
}

fn is_pair([one, other]: &[String; 2], finding: &Finding) -> bool {
    let is = |a: &str, b: &str| fits(&finding.a, a) && fits(&finding.b, b);
    is(one, other) || is(other, one)
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
