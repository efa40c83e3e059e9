//! Findings of a check on a page: `jostle check --view`. The scene is static; the page lists the
//! findings, and shows the two parts of each and where they touch.

use super::args::PageArgs;
use super::screen::Cast;
use super::{begin_log, browser, end_flag, failed};
use crate::error::CliError;
use crate::units::Lengths;
use glam::DVec3;
use jostle_geom::{Pair, ShapeKind};
use jostle_net::view::{
    FINDINGS_MAX, Findings, PairFinding, Picture, SceneView, SceneViewSettings,
};
use jostle_proto::{Class, Object, Objects, Tick};
use jostle_stage::{Finding, Stage};
use jostle_world::BodyId;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Interval of checks for new pages.
const TURN: Duration = Duration::from_millis(30);

/// Intersection segments that are computed, about; a page shows no more.
const SEGMENTS_MAX: usize = 20_000;

/// Settings of the page.
pub(crate) struct CheckPage<'a> {
    pub(crate) stage: &'a Stage,
    pub(crate) findings: &'a [&'a Finding],
    /// All findings are listed.
    pub(crate) complete: bool,
    pub(crate) clearance: Option<f64>,
    /// The unit of printed distances.
    pub(crate) lengths: Lengths,
    /// The name of the file.
    pub(crate) name: String,
    pub(crate) listen: SocketAddr,
    pub(crate) open: bool,
    pub(crate) page: &'a PageArgs,
}

/// Shows the findings until stopped, after printing the URL.
pub(crate) fn show(check: CheckPage<'_>, out: &mut dyn Write) -> Result<(), CliError> {
    begin_log();
    let stopped = end_flag()?;
    let mut cast = Cast::default();
    cast.follow(check.stage)?;
    // A check is static, whatever the scene would do next.
    let still = |object: &Object| Object { class: Class::Immovable, ..*object };
    let objects: Objects = cast.objects().values().map(still).collect();
    let settings = SceneViewSettings {
        name: check.name.clone(),
        rate: 1,
        extent: cast.extent(),
        shapes: cast.shapes(),
        names: cast.names().clone(),
        poses: cast.poses(check.stage, |_| true)?,
        keys: Vec::new(),
        findings: Some(findings(&check, &cast)?),
        web: check.listen,
        guards: check.page.guards(),
    };
    let mut show = SceneView::open(settings).map_err(failed)?;
    let page = check.page.address(show.web_address().unwrap_or(check.listen));
    if check.findings.len() > FINDINGS_MAX {
        writeln!(out, "the page lists the first {FINDINGS_MAX} findings")?;
    }
    writeln!(out, "the findings are shown at\n  {page}\nCtrl+C ends")?;
    out.flush()?;
    if check.open {
        browser::open(&page);
    }
    let picture = Picture { tick: Tick(0), objects: &objects, touches: &[] };
    while !stopped.load(Ordering::Relaxed) {
        if show.is_watched() {
            show.stand(picture);
        }
        std::thread::sleep(TURN);
    }
    Ok(())
}

fn findings(check: &CheckPage<'_>, cast: &Cast) -> Result<Findings, CliError> {
    let world = check.stage.world();
    let mut segments_left = SEGMENTS_MAX;
    let mut list = Vec::new();
    // The page lists no more, so the parts of the others need not be looked up.
    for finding in check.findings.iter().take(FINDINGS_MAX) {
        let mut segments = Vec::new();
        if finding.touches() && segments_left > 0 {
            segments = intersection(check.stage, finding.bodies)?;
            segments_left = segments_left.saturating_sub(segments.len());
        }
        // The body that was measured first, then the others of the same object.
        let part = |measured: BodyId| {
            let same =
                move |id: &BodyId| *id != measured && check.stage.is_same_object(measured, *id);
            cast.ids(std::iter::once(measured).chain(world.ids().filter(same)))
        };
        list.push(PairFinding {
            kind: finding.kind.name(),
            parts: finding.bodies.map(part),
            distance: check.lengths.number(finding.distance),
            points: finding.points.map(DVec3::from_array),
            segments,
        });
    }
    let unit = check.lengths.symbol().to_string();
    let clearance = check.clearance.map(|clearance| check.lengths.number(clearance));
    let complete = check.complete && list.len() == check.findings.len();
    Ok(Findings { clearance, unit, complete, list })
}

/// The intersection of two surfaces; empty for spheres and boxes, which have no faces.
fn intersection(stage: &Stage, [a, b]: [BodyId; 2]) -> Result<Vec<[DVec3; 2]>, CliError> {
    let world = stage.world();
    let (ShapeKind::Mesh(model_a), ShapeKind::Mesh(model_b)) =
        (world.shape(a)?.kind(), world.shape(b)?.kind())
    else {
        return Ok(Vec::new());
    };
    let (pose_a, pose_b) = (world.pose(a)?, world.pose(b)?);
    let pair = Pair::new(model_a, &pose_a, model_b, &pose_b);
    Ok(pair.all_segments().iter().map(|segment| segment.ends).collect())
}
