//! Builds the hierarchy from the top.
//!
//! A node starts as one lane and always cuts its largest lane until it has eight. Lanes with at
//! most sixteen triangles are not cut until they are a node of their own: then they fill it, and
//! the bottom of the tree is not half empty (docs/decisions/0003-hierarchy.md).
//!
//! Large sub-trees are built in parallel with `rayon`. Which ones depends on their size only, so
//! the result is the same for any number of threads.

use super::fit::{Effort, Fit};
use super::split::{Bounds, Cuts, Set, split};
use super::{Child, Frame, LEAF_MAX, Node, Obb, Tree, WIDTH};
use crate::mesh::Vertices;
use crate::model::Quality;
use crate::simd::Isa;
use glam::{Vec3, Vec3A};
use rayon::prelude::*;

/// A set of triangles that fits one node.
const BLOCK: usize = WIDTH * LEAF_MAX;

/// Sub-trees with more triangles than this are built side by side.
const PARALLEL_MIN: usize = 8192;

/// How boxes are fitted.
#[derive(Clone, Copy)]
enum Boxes {
    AxisAligned,
    Tight(Effort),
}

impl Boxes {
    fn of(quality: Quality) -> Boxes {
        match quality {
            Quality::Fast => Boxes::AxisAligned,
            Quality::Default => {
                Boxes::Tight(Effort { climbs: 10, angles: 4, plane_frames: 8, plane_only: 2 })
            }
            Quality::Tight => {
                Boxes::Tight(Effort { climbs: 40, angles: 6, plane_frames: 16, plane_only: 0 })
            }
        }
    }

    fn cuts(self, fit: &Fit) -> Cuts {
        match self {
            Boxes::AxisAligned => {
                let Obb { center, half, .. } = fit.obb;
                Cuts::Longest(Bounds { lo: center - half, hi: center + half })
            }
            Boxes::Tight(_) => Cuts::TwoLongest(fit.obb.axes),
        }
    }

    fn fit(self, isa: Isa, triangles: &[[Vec3A; 3]]) -> Fit {
        match self {
            Boxes::AxisAligned => {
                let all = triangles.iter().fold(Bounds::NONE, |b, t| b.with(Bounds::of(t)));
                Fit::axis_aligned(all.lo, all.hi)
            }
            Boxes::Tight(effort) => Fit::tight(isa, triangles, effort),
        }
    }
}

/// The tree of a mesh, and the order of the triangles in its leaves.
pub(crate) fn build(
    vertices: &Vertices,
    triangles: &[[u32; 3]],
    quality: Quality,
) -> (Tree, Vec<u32>) {
    let mut ids: Vec<u32> = (0..triangles.len() as u32).collect();
    let Some(frame) = Frame::around(vertices, triangles) else {
        let (origin, radius) = (Vec3::ZERO, 0.0);
        return (Tree { nodes: vec![Node::UNUSED], origin, radius, frames: Vec::new() }, ids);
    };
    let Frame { origin, radius } = frame;
    let local = |v: u32| vertices.local(v, origin);
    let mut corners: Vec<[Vec3A; 3]> = triangles.iter().map(|t| t.map(local)).collect();
    let mut set = Set { triangles: &mut corners, ids: &mut ids };
    let framed = frame.is_too_wide(vertices, triangles).then_some((vertices, triangles));
    let builder = Builder { isa: Isa::best(), boxes: Boxes::of(quality), framed };
    let whole = builder.boxes.fit(builder.isa, set.triangles);
    let mut nodes = vec![Node::UNUSED];
    let child = builder.child(&mut set, &whole, 0, &mut nodes);
    nodes[0].set(0, &whole.obb, whole.raw, child);
    let nodes = match quality {
        // Moving the nodes once more costs a few per cent of a fast build.
        Quality::Fast => {
            nodes.shrink_to_fit();
            nodes
        }
        Quality::Default | Quality::Tight => top_first(&nodes),
    };
    let mut tree = Tree { nodes, origin, radius, frames: Vec::new() };
    if framed.is_some() {
        let ordered: Vec<[u32; 3]> = ids.iter().map(|&id| triangles[id as usize]).collect();
        tree.set_frames(vertices, &ordered);
    }
    (tree, ids)
}

#[derive(Clone, Copy)]
struct Builder<'a> {
    isa: Isa,
    boxes: Boxes,
    /// Vertices and triangles of a mesh whose nodes have frames of their own.
    framed: Option<(&'a Vertices, &'a [[u32; 3]])>,
}

impl Builder<'_> {
    /// What hangs below a lane; nodes are appended to `nodes`.
    fn child(self, set: &mut Set<'_>, fit: &Fit, first: usize, nodes: &mut Vec<Node>) -> Child {
        if set.triangles.len() <= LEAF_MAX {
            return Child::leaf(first, set.triangles.len());
        }
        let index = nodes.len();
        nodes.push(Node::UNUSED);
        let own = self.into_own_frame(set);
        let lanes = self.lanes(set, own.as_ref().unwrap_or(fit));
        let mut node = Node::UNUSED;
        if set.triangles.len() > PARALLEL_MIN {
            let parts: Vec<(Child, Vec<Node>)> = self
                .parts(set, &lanes, first)
                .into_par_iter()
                .map(|(mut part, fit, first)| {
                    let mut below = Vec::new();
                    (self.child(&mut part, &fit, first, &mut below), below)
                })
                .collect();
            for (k, (child, below)) in parts.into_iter().enumerate() {
                let child = append(nodes, below, child);
                node.set(k, &lanes[k].fit.obb, lanes[k].fit.raw, child);
            }
        } else {
            for (k, (mut part, fit, first)) in
                self.parts(set, &lanes, first).into_iter().enumerate()
            {
                let child = self.child(&mut part, &fit, first, nodes);
                node.set(k, &fit.obb, fit.raw, child);
            }
        }
        nodes[index] = node;
        Child::node(index)
    }

    /// Brings a set into its own frame, if nodes have frames, and fits the box in it.
    fn into_own_frame(self, set: &mut Set<'_>) -> Option<Fit> {
        let (vertices, triangles) = self.framed?;
        let corners = |&id: &u32| triangles[id as usize];
        let Frame { origin, .. } = Frame::of(vertices, set.ids.iter().flat_map(corners))?;
        for (local, id) in set.triangles.iter_mut().zip(set.ids.iter()) {
            *local = corners(id).map(|v| vertices.local(v, origin));
        }
        Some(self.boxes.fit(self.isa, set.triangles))
    }

    /// Cuts a set into at most eight lanes.
    fn lanes(self, set: &mut Set<'_>, fit: &Fit) -> Vec<LaneRange> {
        let n = set.triangles.len();
        let cut_above = if n > BLOCK { BLOCK } else { LEAF_MAX };
        let mut lanes = Vec::with_capacity(WIDTH);
        lanes.push(LaneRange { start: 0, end: n, fit: *fit });
        while lanes.len() < WIDTH {
            let largest = (0..lanes.len())
                .filter(|&k| lanes[k].end - lanes[k].start > cut_above)
                .max_by(|&a, &b| lanes[a].fit.area.total_cmp(&lanes[b].fit.area).then(b.cmp(&a)));
            let Some(k) = largest else { break };
            let LaneRange { start, end, fit } = lanes[k];
            let mut part =
                Set { triangles: &mut set.triangles[start..end], ids: &mut set.ids[start..end] };
            let halves = split(self.isa, &mut part, self.boxes.cuts(&fit));
            let cut = start + halves.count;
            let (left, right) = (&set.triangles[start..cut], &set.triangles[cut..end]);
            let fit = |side: &[[Vec3A; 3]]| self.boxes.fit(self.isa, side);
            let (fit_left, fit_right) = match (self.boxes, halves.bounds) {
                // The cut was made in this very frame.
                (Boxes::AxisAligned, Some([l, r])) => {
                    (Fit::axis_aligned(l.lo, l.hi), Fit::axis_aligned(r.lo, r.hi))
                }
                _ if end - start > PARALLEL_MIN => rayon::join(|| fit(left), || fit(right)),
                _ => (fit(left), fit(right)),
            };
            lanes[k] = LaneRange { start, end: cut, fit: fit_left };
            lanes.insert(k + 1, LaneRange { start: cut, end, fit: fit_right });
        }
        lanes
    }

    fn parts<'s>(
        self,
        set: &'s mut Set<'_>,
        lanes: &[LaneRange],
        first: usize,
    ) -> Vec<(Set<'s>, Fit, usize)> {
        let (mut triangles, mut ids) = (&mut *set.triangles, &mut *set.ids);
        let mut parts = Vec::with_capacity(lanes.len());
        for lane in lanes {
            let n = lane.end - lane.start;
            let (head, tail) = triangles.split_at_mut(n);
            let (head_ids, tail_ids) = ids.split_at_mut(n);
            parts.push((Set { triangles: head, ids: head_ids }, lane.fit, first + lane.start));
            (triangles, ids) = (tail, tail_ids);
        }
        parts
    }
}

#[derive(Clone, Copy)]
struct LaneRange {
    start: usize,
    end: usize,
    fit: Fit,
}

/// Moves nodes built elsewhere behind `nodes` and renumbers their children.
fn append(nodes: &mut Vec<Node>, below: Vec<Node>, child: Child) -> Child {
    let offset = nodes.len();
    let moved = |c: Child| if c.is_leaf() { c } else { Child::node(c.node_index() + offset) };
    for mut node in below {
        node.child = node.child.map(moved);
        nodes.push(node);
    }
    moved(child)
}

/// Nodes near the top are visited by every query: the first `TOP` nodes, level by level, come
/// first and share few pages; below them each sub-tree stands together.
fn top_first(nodes: &[Node]) -> Vec<Node> {
    const TOP: usize = 512;
    let below = |index: usize| {
        nodes[index].child.into_iter().filter(|c| !c.is_leaf()).map(Child::node_index)
    };
    let mut order = Vec::with_capacity(nodes.len());
    order.push(0);
    let mut next = 0;
    while next < order.len() && order.len() < TOP {
        order.extend(below(order[next]));
        next += 1;
    }
    let roots: Vec<usize> = order[next..].iter().flat_map(|&index| below(index)).collect();
    let mut stack = Vec::new();
    for root in roots {
        stack.push(root);
        while let Some(index) = stack.pop() {
            order.push(index);
            let first = stack.len();
            stack.extend(below(index));
            stack[first..].reverse();
        }
    }
    let mut place = vec![0; nodes.len()];
    for (new, &old) in order.iter().enumerate() {
        place[old] = new;
    }
    let moved = |c: Child| if c.is_leaf() { c } else { Child::node(place[c.node_index()]) };
    let placed = |&old: &usize| Node { child: nodes[old].child.map(moved), ..nodes[old].clone() };
    order.iter().map(placed).collect()
}
