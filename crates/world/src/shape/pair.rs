//! Two shapes in two poses: every question that can be asked of them.
//!
//! The one place where kinds of shapes meet. What has triangles on both sides is geometry's own
//! [`Pair`]; a sphere is the one face 0, which is all of its inside too.

use super::ball::{Ball, Gap, Target};
use super::cuboid::{self, BoxPair};
use super::{Kind, Shape};
use glam::DVec3;
use jostle_geom::{Distance, FacePair, Pair, Placed, Pose, Witness};

/// Two shapes, each in its pose. Asks nothing until it is asked, so it is cheap to make.
///
/// ```
/// use glam::DVec3;
/// use jostle_geom::Pose;
/// use jostle_world::{Shape, ShapePair};
///
/// let ball = Shape::sphere(5.0)?;
/// let point = Shape::sphere(0.0)?;
/// let there = Pose::from_translation(DVec3::new(3.0, 4.0, 0.0))?;
/// let beyond = Pose::from_translation(DVec3::new(6.0, 8.0, 0.0))?;
/// assert!(ShapePair::new(&ball, &Pose::IDENTITY, &point, &there).touches());
/// let pair = ShapePair::new(&ball, &Pose::IDENTITY, &point, &beyond);
/// assert_eq!(pair.distance().map(|found| found.distance), Some(5.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ShapePair<'a> {
    pub(super) a: Posed<'a>,
    pub(super) b: Posed<'a>,
}

/// A shape in its pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posed<'a> {
    pub(super) shape: &'a Shape,
    pub(super) pose: &'a Pose,
}

/// What meets what.
enum Meeting<'a> {
    Balls(Ball, Ball),
    /// The ball is the first shape,
    BallFirst(Ball, Target<'a>),
    /// or the second.
    BallSecond(Target<'a>, Ball),
    Models(Target<'a>, Target<'a>),
}

impl<'a> ShapePair<'a> {
    /// `a` in `pose_a` and `b` in `pose_b`.
    #[inline]
    #[must_use]
    pub fn new(a: &'a Shape, pose_a: &'a Pose, b: &'a Shape, pose_b: &'a Pose) -> ShapePair<'a> {
        ShapePair { a: Posed { shape: a, pose: pose_a }, b: Posed { shape: b, pose: pose_b } }
    }

    /// Do they share at least one point? Exact for the placed triangles and the numbers of the
    /// spheres. What lies inside a sphere, a box or a solid mesh touches it.
    #[must_use]
    pub fn touches(&self) -> bool {
        match self.meeting() {
            Meeting::Balls(a, b) => a.touches(&b),
            Meeting::BallFirst(ball, body) | Meeting::BallSecond(body, ball) => body.touches(&ball),
            Meeting::Models(a, b) => boxes_touch(&a, &b).unwrap_or_else(|| pair(&a, &b).touches()),
        }
    }

    /// Two touching faces and a common point, if they touch. A sphere gets the face that is
    /// closest to its centre.
    #[must_use]
    pub fn witness(&self) -> Option<Witness> {
        match self.meeting() {
            Meeting::Balls(a, b) => a.touches(&b).then(|| {
                let point = a.common_point(&b);
                Witness { faces: FacePair { a: 0, b: 0 }, point }
            }),
            Meeting::BallFirst(ball, body) => {
                let (face, point) = body.contact(&ball)?;
                Some(Witness { faces: FacePair { a: 0, b: face }, point })
            }
            Meeting::BallSecond(body, ball) => {
                let (face, point) = body.contact(&ball)?;
                Some(Witness { faces: FacePair { a: face, b: 0 }, point })
            }
            Meeting::Models(a, b) if surely_apart(&a, &b, 0.0) => None,
            Meeting::Models(a, b) => pair(&a, &b).witness(),
        }
    }

    /// Every touching pair of faces, sorted. Faces only: a body inside a solid mesh or a box
    /// touches no face of it. A sphere has the one face 0, which is all of its inside too.
    #[must_use]
    pub fn all_pairs(&self) -> Vec<FacePair> {
        let pairs =
            |faces: Vec<u32>, pair: fn(u32) -> FacePair| faces.into_iter().map(pair).collect();
        match self.meeting() {
            Meeting::Balls(a, b) if a.touches(&b) => vec![FacePair { a: 0, b: 0 }],
            Meeting::Balls(..) => Vec::new(),
            Meeting::BallFirst(ball, body) => {
                pairs(body.faces(&ball), |face| FacePair { a: 0, b: face })
            }
            Meeting::BallSecond(body, ball) => {
                pairs(body.faces(&ball), |face| FacePair { a: face, b: 0 })
            }
            Meeting::Models(a, b) if surely_apart(&a, &b, 0.0) => Vec::new(),
            Meeting::Models(a, b) => pair(&a, &b).all_pairs(),
        }
    }

    /// The smallest distance, 0 exactly if they touch; `None` if one of them is empty.
    #[must_use]
    pub fn distance(&self) -> Option<Distance> {
        match self.meeting() {
            Meeting::Balls(a, b) => Some(ball_first(a.gap(&b))),
            Meeting::BallFirst(ball, body) => body.gap(&ball).map(ball_first),
            Meeting::BallSecond(body, ball) => body.gap(&ball).map(ball_second),
            Meeting::Models(a, b) => pair(&a, &b).distance(),
        }
    }

    /// Is the smallest distance at most `distance`? Touching is decided exactly, a positive
    /// distance within the rounding of `f64`. Nothing is within a negative distance or NaN.
    #[must_use]
    pub fn within(&self, distance: f64) -> bool {
        if distance.is_nan() || distance < 0.0 {
            return false;
        }
        match self.meeting() {
            Meeting::Balls(a, b) => a.gap(&b).distance <= distance,
            Meeting::BallFirst(ball, body) | Meeting::BallSecond(body, ball) => {
                body.within(&ball, distance)
            }
            Meeting::Models(a, b) if surely_apart(&a, &b, distance) => false,
            Meeting::Models(a, b) => pair(&a, &b).within(distance),
        }
    }

    /// A distance that they are not closer than, found quickly. 0 when they may touch, infinite
    /// when one of them is empty.
    #[must_use]
    pub fn distance_lower_bound(&self) -> f64 {
        match self.meeting() {
            Meeting::Balls(a, b) => a.distance_at_least(&b),
            Meeting::BallFirst(ball, body) | Meeting::BallSecond(body, ball) => {
                body.distance_at_least(&ball)
            }
            Meeting::Models(a, b) => match boxes(&a, &b) {
                Some(boxes) => boxes.distance_at_least(),
                None => pair(&a, &b).distance_lower_bound(),
            },
        }
    }

    /// Geometry's pair, if both shapes are made of triangles (meshes and boxes): for limits,
    /// budgets and counters.
    #[must_use]
    pub fn model_pair(&self) -> Option<Pair<'a>> {
        let (a, b) = (self.a.shape.model()?, self.b.shape.model()?);
        Some(Pair::new(a, self.a.pose, b, self.b.pose))
    }

    #[inline]
    fn meeting(&self) -> Meeting<'a> {
        let (a, b) = (&self.a, &self.b);
        match (a.half(), b.half()) {
            (Side::Ball(a), Side::Ball(b)) => Meeting::Balls(a, b),
            (Side::Ball(ball), Side::Body(body)) => Meeting::BallFirst(ball, body),
            (Side::Body(body), Side::Ball(ball)) => Meeting::BallSecond(body, ball),
            (Side::Body(a), Side::Body(b)) => Meeting::Models(a, b),
        }
    }
}

fn pair<'a>(a: &Target<'a>, b: &Target<'a>) -> Pair<'a> {
    Pair::new(a.model, a.pose, b.model, b.pose)
}

/// Both are boxes: much is seen without their triangles.
fn boxes(a: &Target<'_>, b: &Target<'_>) -> Option<BoxPair> {
    Some(BoxPair::new(a.half?, a.pose, b.half?, b.pose))
}

/// Whether they touch, if both are boxes and it is easily seen.
fn boxes_touch(a: &Target<'_>, b: &Target<'_>) -> Option<bool> {
    let upright = cuboid::upright_touch(a.half?, a.pose, b.half?, b.pose);
    upright.or_else(|| boxes(a, b)?.touches())
}

/// Are they boxes that are easily seen to be further apart?
fn surely_apart(a: &Target<'_>, b: &Target<'_>, distance: f64) -> bool {
    boxes(a, b).is_some_and(|boxes| boxes.distance_at_least() > distance)
}

/// One half of a meeting.
enum Side<'a> {
    Ball(Ball),
    Body(Target<'a>),
}

impl<'a> Posed<'a> {
    #[inline]
    fn half(&self) -> Side<'a> {
        let pose = self.pose;
        match &self.shape.0 {
            Kind::Sphere { radius } => {
                Side::Ball(Ball { centre: pose.translation(), radius: *radius })
            }
            Kind::Mesh(model) => Side::Body(Target { model, pose, half: None }),
            Kind::Cuboid { half, model } => Side::Body(Target { model, pose, half: Some(*half) }),
        }
    }

    /// The middle of the shape, in the world.
    pub(super) fn centre(&self) -> DVec3 {
        match &self.shape.0 {
            Kind::Sphere { .. } | Kind::Cuboid { .. } => self.pose.translation(),
            Kind::Mesh(model) => Placed::new(model, self.pose).centre(),
        }
    }
}

fn ball_first(gap: Gap) -> Distance {
    Distance {
        distance: gap.distance,
        point_a: gap.on_ball,
        point_b: gap.on_other,
        faces: FacePair { a: 0, b: gap.face },
    }
}

fn ball_second(gap: Gap) -> Distance {
    let Distance { distance, point_a, point_b, faces } = ball_first(gap);
    let faces = FacePair { a: faces.b, b: faces.a };
    Distance { distance, point_a: point_b, point_b: point_a, faces }
}
