//! The convex hull of a mesh: its corners, facets and who is next to whom.

use super::exact::{compare, usable};
use super::{merge, quickhull};
use glam::{DVec3, Vec3};
use jostle_geom::Mesh;
use jostle_geom::predicates::Sign;

/// Why there is no hull.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HullError {
    /// No points.
    Empty,
    /// A coordinate is NaN or infinite.
    NotFinite,
}

impl std::fmt::Display for HullError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            HullError::Empty => "a hull needs at least one point, found none",
            HullError::NotFinite => "a point has a coordinate that is not finite",
        })
    }
}

impl std::error::Error for HullError {}

/// What the points span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// One place.
    Point,
    /// A straight line.
    Segment,
    /// A plane: the hull is a polygon, with a facet on either side.
    Polygon,
    /// Space.
    Solid,
}

/// The convex hull of points: exact, for points with 32-bit coordinates.
///
/// Corners are extreme points only. Facets are whole: what lies in one plane is one facet, and each
/// is cut into triangles that turn left seen from outside. Points that lie in a plane, on a line or
/// in one place give a hull too, see [`Dimension`].
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::solids;
/// use jostle_lab::convex::{Dimension, Hull};
///
/// let hull = Hull::of_mesh(&solids::cuboid(DVec3::ONE)?)?;
/// assert_eq!((hull.corners().len(), hull.facet_count()), (8, 6));
/// assert_eq!(hull.dimension(), Dimension::Solid);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hull {
    dimension: Dimension,
    corners: Vec<DVec3>,
    /// Corners that share an edge of a triangle with each corner.
    beside: Lists,
    facets: Lists,
    triangles: Vec<[u32; 3]>,
    /// The triangle across each edge; edge i goes from corner i to the next.
    across: Vec<[u32; 3]>,
    /// The triangles that share a corner with each triangle, itself not among them.
    around: Lists,
    centre: DVec3,
    barycentre: DVec3,
    radius: f64,
    reach: f64,
}

impl Hull {
    /// The hull of all triangles of a mesh. Vertices that no triangle uses do not count.
    ///
    /// # Errors
    /// A mesh without triangles.
    pub fn of_mesh(mesh: &Mesh) -> Result<Hull, HullError> {
        let mut used = vec![false; mesh.vertices().len()];
        for &vertex in mesh.triangles().iter().flatten() {
            used[vertex as usize] = true;
        }
        let points = mesh.vertices().iter().zip(used);
        let points: Vec<Vec3> = points.filter_map(|(&p, used)| used.then_some(p)).collect();
        Hull::of_points(&points)
    }

    /// The hull of points, in any order, with or without duplicates.
    ///
    /// # Errors
    /// No points, or numbers that are not finite.
    pub fn of_points(points: &[Vec3]) -> Result<Hull, HullError> {
        if points.iter().any(|point| !point.is_finite()) {
            return Err(HullError::NotFinite);
        }
        // Sorted, so that a hull does not depend on the order; + 0.0 makes −0 the same as 0.
        let mut points: Vec<DVec3> = points.iter().map(|&p| p.as_dvec3() + 0.0).collect();
        let order = |a: &DVec3, b: &DVec3| {
            let by = |i: usize| a[i].total_cmp(&b[i]);
            by(0).then(by(1)).then(by(2))
        };
        points.sort_unstable_by(order);
        points.dedup();
        if points.is_empty() {
            return Err(HullError::Empty);
        }
        let (dimension, facets) = quickhull::facets(&points);
        let facets = match dimension {
            Dimension::Solid => merge::whole(&points, &facets),
            _ => facets,
        };
        Ok(Hull::assemble(dimension, &points, facets))
    }

    /// `facets` are loops of points; of a segment or a point there is one, and it has no area.
    fn assemble(dimension: Dimension, points: &[DVec3], mut facets: Vec<Vec<u32>>) -> Hull {
        let mut number = vec![u32::MAX; points.len()];
        let mut corners = Vec::new();
        for point in facets.iter_mut().flatten() {
            let old = *point as usize;
            if number[old] == u32::MAX {
                number[old] = corners.len() as u32;
                corners.push(points[old]);
            }
            *point = number[old];
        }
        let triangles = match dimension {
            Dimension::Point | Dimension::Segment => Vec::new(),
            // Cut differently on the two sides, so that each edge has two triangles and not four.
            Dimension::Polygon => {
                facets[1].rotate_left(1);
                facets.iter().flat_map(|facet| fan(facet)).collect()
            }
            Dimension::Solid => facets.iter().flat_map(|facet| fan(facet)).collect::<Vec<_>>(),
        };
        let mut beside: Vec<Vec<u32>> = vec![Vec::new(); corners.len()];
        for triangle in &triangles {
            for i in 0..3 {
                beside[triangle[i] as usize].extend([triangle[(i + 1) % 3], triangle[(i + 2) % 3]]);
            }
        }
        if dimension == Dimension::Segment {
            beside = vec![vec![1], vec![0]];
        }
        for list in &mut beside {
            list.sort_unstable();
            list.dedup();
        }
        let (low, high) = corners
            .iter()
            .fold((corners[0], corners[0]), |(low, high), &p| (low.min(p), high.max(p)));
        let centre = low * 0.5 + high * 0.5;
        let largest = |of: &dyn Fn(&DVec3) -> f64| corners.iter().map(of).fold(0.0, f64::max);
        Hull {
            dimension,
            beside: Lists::new(&beside),
            across: across(&triangles),
            around: around(&triangles, corners.len()),
            triangles,
            centre,
            barycentre: corners.iter().map(|&p| p / corners.len() as f64).sum(),
            radius: largest(&|p| p.distance(centre)),
            reach: largest(&|p| p.length()),
            facets: Lists::new(
                &if dimension == Dimension::Solid || dimension == Dimension::Polygon {
                    facets
                } else {
                    Vec::new()
                },
            ),
            corners,
        }
    }

    /// What the points span.
    #[must_use]
    pub fn dimension(&self) -> Dimension {
        self.dimension
    }

    /// The extreme points, each once.
    #[must_use]
    pub fn corners(&self) -> &[DVec3] {
        &self.corners
    }

    /// The corners beside one: the ends of its edges, and of cuts through facets.
    #[must_use]
    pub fn beside(&self, corner: u32) -> &[u32] {
        self.beside.of(corner)
    }

    /// How many facets: planes in which the hull has a polygon. Of a segment or a point none.
    #[must_use]
    pub fn facet_count(&self) -> usize {
        self.facets.len()
    }

    /// The corners of a facet, in order, to the left seen from outside.
    #[must_use]
    pub fn facet(&self, facet: u32) -> &[u32] {
        self.facets.of(facet)
    }

    /// The facets cut into triangles.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangle across each edge of a triangle; edge i goes from its corner i to the next.
    #[must_use]
    pub fn across(&self, triangle: u32) -> [u32; 3] {
        self.across[triangle as usize]
    }

    /// All triangles that share a corner with a triangle.
    #[must_use]
    pub fn around(&self, triangle: u32) -> &[u32] {
        self.around.of(triangle)
    }

    /// The middle of the bounding box.
    #[must_use]
    pub fn centre(&self) -> DVec3 {
        self.centre
    }

    /// The mean of all corners.
    #[must_use]
    pub fn barycentre(&self) -> DVec3 {
        self.barycentre
    }

    /// The largest distance of a corner from the middle of the bounding box.
    #[must_use]
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// The largest distance of a corner from the origin.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Bytes of memory outside of the struct itself.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let lists = self.beside.bytes() + self.facets.bytes() + self.around.bytes();
        lists + size_of_val(&self.corners[..]) + size_of_val(&self.triangles[..]) * 2
    }

    /// A corner with the smallest `w · p`, found by walking downhill from `start`; `looked` counts
    /// the corners that were looked at. Exact: no corner is lower, not by the last bit.
    ///
    /// At a corner that is not lowest some edge leads down, because the edges span the cone that
    /// the hull lies in. Each step is strictly down, so the walk ends.
    ///
    /// # Panics
    /// If there is no such corner.
    #[must_use]
    pub fn lowest(&self, w: DVec3, start: u32, looked: &mut u64) -> u32 {
        let w = usable(w);
        let mut here = start;
        loop {
            let place = self.corners[here as usize];
            let mut next = None;
            let mut steepest = 0.0;
            let beside = self.beside.of(here);
            *looked += beside.len() as u64;
            for &corner in beside {
                let (sign, by) = compare(w, self.corners[corner as usize], place);
                if sign == Sign::Negative && (next.is_none() || by < steepest) {
                    (next, steepest) = (Some(corner), by);
                }
            }
            match next {
                Some(corner) => here = corner,
                None => return here,
            }
        }
    }
}

/// A strictly convex polygon as triangles around its first corner.
fn fan(polygon: &[u32]) -> impl Iterator<Item = [u32; 3]> {
    polygon[1..].windows(2).map(|pair| [polygon[0], pair[0], pair[1]])
}

/// The triangle across each edge. Every edge has exactly one twin that goes the other way.
fn across(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let mut edges: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * triangles.len());
    for (i, t) in triangles.iter().enumerate() {
        edges.extend((0..3).map(|k| ([t[k], t[(k + 1) % 3]], i as u32)));
    }
    edges.sort_unstable();
    let across = |from: u32, to: u32| {
        let found = edges.binary_search_by_key(&[to, from], |&(edge, _)| edge);
        edges[found.expect("a hull is closed: every edge has a twin")].1
    };
    triangles.iter().map(|&[a, b, c]| [across(a, b), across(b, c), across(c, a)]).collect()
}

/// The triangles that share a corner with each.
fn around(triangles: &[[u32; 3]], corners: usize) -> Lists {
    let mut at: Vec<Vec<u32>> = vec![Vec::new(); corners];
    for (i, triangle) in triangles.iter().enumerate() {
        triangle.iter().for_each(|&corner| at[corner as usize].push(i as u32));
    }
    let of = |(i, triangle): (usize, &[u32; 3])| {
        let all = triangle.iter().flat_map(|&corner| &at[corner as usize]);
        let mut all: Vec<u32> = all.copied().filter(|&other| other != i as u32).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    Lists::new(&triangles.iter().enumerate().map(of).collect::<Vec<_>>())
}

/// Many short lists in one piece of memory.
#[derive(Clone, Debug)]
struct Lists {
    starts: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(lists: &[Vec<u32>]) -> Lists {
        let mut starts = vec![0];
        let mut items = Vec::new();
        for list in lists {
            items.extend_from_slice(list);
            starts.push(items.len() as u32);
        }
        Lists { starts, items }
    }

    fn len(&self) -> usize {
        self.starts.len() - 1
    }

    fn of(&self, i: u32) -> &[u32] {
        let i = i as usize;
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    fn bytes(&self) -> usize {
        size_of_val(&self.starts[..]) + size_of_val(&self.items[..])
    }
}
