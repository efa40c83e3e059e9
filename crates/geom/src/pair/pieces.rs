//! Which parts of two surfaces lie inside or outside of the other, and which regions that shows.
//!
//! **Why faces are enough.** Let A and B be the insides of two closed surfaces. A region of A ∩ B,
//! of A without B or of B without A has a boundary, and a piece of it with area lies on a face of
//! one of the two. At a point inside such a piece it is known for both sides of the face whether
//! they belong to A and to B, and the region is among those. So it is enough to look at one point
//! of each piece, where a piece is a part of a face that no other triangle enters, except in the
//! plane of the face and then as a whole.
//!
//! **Why touching faces are nearly enough.** A triangle that does not touch the other surface is
//! on one side of it, and so is, by way of common corners, everything that is connected with it by
//! such triangles. This ends at a touching triangle, of which the piece at that corner is on the
//! same side, or one vertex of the connected part decides. What remains open is whether inside and
//! outside of its own solid meet there: a face that is there twice, or one without area, bounds
//! nothing, and then all triangles are looked at.
//!
//! No rounded point decides anything: pieces and their points are rational
//! ([`crate::triangle::pieces`]), and a ray from such a point is exact ([`PosedModel::locate`]).

use super::models::ModelPair;
use super::walk::{Order, Touching, Walk};
use crate::posed_model::{Location, PosedModel, Side};
use crate::triangle::pieces::{Cut, Face, Piece, cut_in_pieces, segment_points};
use crate::triangle::{self, Triangle, TriangleRelation, ends};
use std::ops::ControlFlow;

/// What is to be found out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// Do two insides overlap?
    Overlap,
    /// All of [`Evidence`] that the relation depends on.
    Relation,
}

/// What a look at two surfaces brought.
pub(super) enum Looked {
    /// A face passes through a face. For two solids that is reported only where each of them has
    /// one side of its face inside: then each has parts inside and outside of the other.
    Crossing,
    /// No such faces.
    Evidence(Evidence),
}

/// What was found about the first (0) and the second (1) of two models.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Evidence {
    /// Two faces touch.
    pub(super) contact: bool,
    /// A part of this surface is inside the other, which is solid, and not on its surface.
    pub(super) inside: [bool; 2],
    /// A part of this surface is outside of the other, which is solid, and not on its surface.
    pub(super) outside: [bool; 2],
    /// Both are solid, and their insides share a region.
    pub(super) overlap: bool,
    /// Both are solid, and a region of this one is not in the other.
    beyond: [bool; 2],
}

impl Evidence {
    /// Is a part of this solid outside of the other?
    pub(super) fn sticks_out(&self, i: usize) -> bool {
        self.outside[i] || self.beyond[i]
    }

    /// Adds what the two sides of a face of solid `i` show.
    fn add_sides(&mut self, i: usize, here: Location, there: Location) {
        for (mine, theirs) in [(here.ahead, there.ahead), (here.behind(), there.behind())] {
            self.overlap |= mine && theirs;
            self.beyond[i] |= mine && !theirs;
            self.beyond[1 - i] |= !mine && theirs;
        }
    }
}

impl Looked {
    pub(super) fn at(pair: &ModelPair<'_>, goal: Goal) -> Looked {
        let placed = pair.posed();
        let solid = [0, 1].map(|i| placed[i].model().mesh.is_solid());
        let Some(touching) = touching_triangles(pair, solid == [true; 2]) else {
            return Looked::Crossing;
        };
        let evidence = Evidence { contact: !touching.is_empty(), ..Evidence::default() };
        let mut look = Look { placed, solid, goal, evidence };
        // Broken off as soon as nothing can change the answer.
        let _ = look.run(touching);
        Looked::Evidence(look.evidence)
    }
}

/// All pairs of triangles that touch; `None` if the surfaces cross, as in [`Looked::Crossing`].
fn touching_triangles(pair: &ModelPair<'_>, solids: bool) -> Option<Vec<[usize; 2]>> {
    let mut touching: Vec<[usize; 2]> = Vec::new();
    let mut crossing = false;
    let [placed_a, placed_b] = pair.posed();
    Walk::new(pair, Order::Any, 0.0).run(
        pair,
        u64::MAX,
        &mut Touching(|a, b| {
            touching.push([a, b]);
            let (s, t) = (pair.triangle_a(a), pair.triangle_b(b));
            crossing = triangle::relation(&s, &t) == TriangleRelation::Crossing
                && (!solids || sides_cross([&placed_a, &placed_b], &s, &t));
            if crossing { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }),
    );
    if crossing { None } else { Some(touching) }
}

/// Of two triangles that cross: is there a point inside both that no other triangle holds? Then
/// each has inside and outside of its own solid on its two sides there, and all four combinations
/// with the two sides of the other.
#[cold]
fn sides_cross(placed: [&PosedModel<'_>; 2], a: &Triangle, b: &Triangle) -> bool {
    let Some(point) = Face::new(a).and_then(|face| face.crossing_point(b)) else { return false };
    placed.iter().all(|placed| placed.locate(&point).triangles == 1)
}

struct Look<'a> {
    placed: [PosedModel<'a>; 2],
    solid: [bool; 2],
    goal: Goal,
    evidence: Evidence,
}

impl Look<'_> {
    fn run(&mut self, mut touching: Vec<[usize; 2]>) -> ControlFlow<()> {
        for i in [0, 1] {
            if !self.solid[1 - i] {
                continue; // nothing is inside of it
            }
            let first_inside = self.look_at_parts(i)?;
            touching.sort_unstable_by_key(|pair| (pair[i], pair[1 - i]));
            for pairs in touching.chunk_by(|p, q| p[i] == q[i]) {
                let others: Vec<Triangle> =
                    pairs.iter().map(|p| self.placed[1 - i].triangle(p[1 - i])).collect();
                self.look_at_triangle(i, pairs[0][i], &others)?;
            }
            if self.solid[i] {
                let is_touching = |t: usize| touching.binary_search_by_key(&t, |p| p[i]).is_ok();
                self.look_for_borders(i, first_inside, is_touching)?;
            }
        }
        ControlFlow::Continue(())
    }

    fn done(&self) -> ControlFlow<()> {
        let found = &self.evidence;
        let known = match self.goal {
            Goal::Overlap => found.overlap,
            Goal::Relation if self.solid == [true; 2] => {
                found.overlap && found.sticks_out(0) && found.sticks_out(1)
            }
            Goal::Relation => [0, 1].iter().any(|&i| found.inside[i] && found.outside[i]),
        };
        if known { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    /// One vertex of each connected part. Gives the first that is inside.
    fn look_at_parts(&mut self, i: usize) -> ControlFlow<(), Option<u32>> {
        let inner = self.placed[i];
        let mesh = &inner.model().mesh;
        let mut first_inside = None;
        for &vertex in &mesh.component_vertices {
            let point = inner.pose().transform_point(mesh.vertices.at(vertex));
            match self.placed[1 - i].contains(point) {
                Ok(Side::Inside) => {
                    self.evidence.inside[i] = true;
                    first_inside = first_inside.or(Some(vertex));
                }
                Ok(Side::Outside) => self.evidence.outside[i] = true,
                Ok(Side::OnSurface) | Err(_) => {}
            }
            self.done()?;
        }
        ControlFlow::Continue(first_inside)
    }

    /// All pieces of a triangle that touches `others` and nothing else of the other surface.
    fn look_at_triangle(&mut self, i: usize, index: usize, others: &[Triangle]) -> ControlFlow<()> {
        let corners = self.placed[i].triangle(index);
        let Some(face) = Face::new(&corners) else {
            return self.look_at_segment(i, &corners, others);
        };
        let mut cuts = Vec::new();
        others.iter().for_each(|t| face.cuts(t, &mut cuts));
        let mut own = None;
        cut_in_pieces(&cuts, Piece::whole(), &mut |piece| {
            let there = self.placed[1 - i].locate(&face.point(&piece.inner_point()));
            if !there.is_on_surface() {
                self.add_part(i, there);
            }
            // What the sides of other pieces show is known already: outside, that this one sticks
            // out; on the surface, from the other one's turn.
            let sides_known = if there.is_on_surface() { i == 1 } else { !there.ahead };
            if self.solid[i] && !sides_known && !self.borders_known(i, there) {
                let own = own.get_or_insert_with(|| self.own_cuts(i, index, &face));
                self.look_at_sides(i, &face, piece, own, there)?;
            }
            self.done()
        })
    }

    fn add_part(&mut self, i: usize, there: Location) {
        let found = &mut self.evidence;
        *(if there.ahead { &mut found.inside[i] } else { &mut found.outside[i] }) = true;
    }

    /// Can the sides of a piece of `i`, whose points are `there`, show nothing new?
    fn borders_known(&self, i: usize, there: Location) -> bool {
        // Inside of the other, one side is in both, and the other side only in the other.
        !there.is_on_surface() && self.evidence.overlap && self.evidence.beyond[1 - i]
    }

    /// Where other triangles of the same surface cut a face.
    fn own_cuts(&self, i: usize, index: usize, face: &Face) -> Vec<Cut> {
        let mut cuts = Vec::new();
        self.placed[i].beside(index).iter().for_each(|t| face.cuts(t, &mut cuts));
        cuts
    }

    /// Both sides of a piece in which every point is as `there` for the other solid.
    fn look_at_sides(
        &mut self,
        i: usize,
        face: &Face,
        piece: &Piece,
        own: &[Cut],
        there: Location,
    ) -> ControlFlow<()> {
        cut_in_pieces(own, piece.clone(), &mut |part| {
            let here = self.placed[i].locate(&face.point(&part.inner_point()));
            self.evidence.add_sides(i, here, there);
            self.done()
        })
    }

    /// The parts of a triangle without area.
    fn look_at_segment(
        &mut self,
        i: usize,
        corners: &Triangle,
        others: &[Triangle],
    ) -> ControlFlow<()> {
        for point in segment_points(ends(corners), others) {
            let there = self.placed[1 - i].locate(&point);
            if !there.is_on_surface() {
                self.add_part(i, there);
            }
            self.done()?;
        }
        ControlFlow::Continue(())
    }

    /// If something of solid `i` is inside the other, but no border of it was seen there: looks at
    /// all other triangles that are inside.
    fn look_for_borders(
        &mut self,
        i: usize,
        first: Option<u32>,
        is_touching: impl Fn(usize) -> bool,
    ) -> ControlFlow<()> {
        let inner = self.placed[i];
        let triangles = &inner.model().mesh.triangles;
        let inside = Location { triangles: 0, ahead: true };
        if !self.evidence.inside[i] || self.borders_known(i, inside) {
            return ControlFlow::Continue(());
        }
        // Most likely a triangle at the vertex that was found inside is such a border.
        let likely = first.and_then(|v| triangles.iter().position(|t| t.contains(&v)));
        for index in likely.into_iter().chain(0..triangles.len()) {
            let corners = inner.triangle(index);
            let Some(face) = Face::new(&corners) else { continue };
            if is_touching(index) || self.placed[1 - i].contains(corners[0]) != Ok(Side::Inside) {
                continue;
            }
            let own = self.own_cuts(i, index, &face);
            self.look_at_sides(i, &face, &Piece::whole(), &own, inside)?;
            if self.borders_known(i, inside) {
                break;
            }
        }
        ControlFlow::Continue(())
    }
}
