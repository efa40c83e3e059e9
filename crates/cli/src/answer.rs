//! Query results: what counts as a hit, and how they are printed in a table and in JSON.

mod contacts;
pub(crate) mod depth;

use contacts::{ContactsShape, PatchesShape};
use depth::{ClassShape, ClearingShape, Depth, DepthShape, OverlapsShape};
use jostle_geom::{
    Class, Clearing, Contacts, ContactsError, DepthError, Distance, FacePair, OverlapsError, Patch,
    PatchesError, Relation, SharedSegment, TimeOfImpact, Witness,
};
use serde::{Serialize, Serializer};
use std::fmt;

/// Face pairs that a line of the table shows; JSON has them all.
const PAIRS_SHOWN: usize = 5;

/// An answer as the library gives it.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Touch(bool),
    Witness(Option<Witness>),
    /// With a limit, `full` is whether it was reached.
    Pairs {
        pairs: Vec<FacePair>,
        full: Option<bool>,
    },
    Segments(Vec<SharedSegment>),
    Distance(Option<Distance>),
    Within(bool),
    /// `None` where the library does not answer it, for spheres.
    Relation(Option<Relation>),
    Contacts(Result<Contacts, ContactsError>),
    Patches(Result<Vec<Patch>, PatchesError>),
    Overlaps(Result<bool, OverlapsError>),
    Class(Result<Class, DepthError>),
    Clearing(Result<Clearing, DepthError>),
    Depth(Result<Depth, DepthError>),
    TimeOfImpact(TimeOfImpact),
}

impl Answer {
    /// Returns true if they touch, overlap, are within the distance, or move into contact.
    pub(crate) fn is_hit(&self) -> bool {
        match self {
            Answer::Touch(hit) | Answer::Within(hit) => *hit,
            Answer::Witness(witness) => witness.is_some(),
            Answer::Pairs { pairs, .. } => !pairs.is_empty(),
            Answer::Segments(segments) => !segments.is_empty(),
            Answer::Distance(found) => found.is_some_and(|found| found.distance == 0.0),
            Answer::Relation(relation) => relation.is_some_and(|it| it != Relation::Apart),
            Answer::Contacts(found) => contacts::is_hit(found),
            Answer::Patches(found) => found.as_ref().is_ok_and(|patches| !patches.is_empty()),
            Answer::Overlaps(found) => found.as_ref().is_ok_and(|overlaps| *overlaps),
            Answer::Class(found) => found.as_ref().is_ok_and(|class| depth::is_deep(*class)),
            Answer::Clearing(found) => found.as_ref().is_ok_and(|found| found.first > 0.0),
            Answer::Depth(found) => found.as_ref().is_ok_and(Depth::is_hit),
            Answer::TimeOfImpact(contact) => {
                matches!(contact, TimeOfImpact::AtStart | TimeOfImpact::During { .. })
            }
        }
    }

    /// Returns true if it is unknown whether this is a hit.
    pub(crate) fn is_unknown(&self) -> bool {
        match self {
            Answer::TimeOfImpact(found) => matches!(found, TimeOfImpact::Unknown { .. }),
            Answer::Overlaps(found) => found.is_err(),
            Answer::Class(found) => matches!(found, Ok(Class::Unsure) | Err(_)),
            Answer::Clearing(found) => found.is_err(),
            Answer::Depth(found) => found.is_err(),
            _ => false,
        }
    }

    pub(crate) fn pair_count(&self) -> usize {
        match self {
            Answer::Pairs { pairs, .. } => pairs.len(),
            Answer::Segments(segments) => pairs_of(segments).len(),
            _ => 0,
        }
    }

    pub(crate) fn distance(&self) -> f64 {
        match self {
            Answer::Distance(Some(found)) => found.distance,
            _ => 0.0,
        }
    }
}

/// The faces of segments, each pair once. Segments are sorted by faces.
fn pairs_of(segments: &[SharedSegment]) -> Vec<FacePair> {
    let mut pairs: Vec<FacePair> = segments.iter().map(|segment| segment.faces).collect();
    pairs.dedup();
    pairs
}

fn relation_name(relation: Option<Relation>) -> &'static str {
    relation.map_or("unanswered", Relation::name)
}

/// Kind, time that is free, time of impact.
fn contact_parts(contact: &TimeOfImpact) -> (&'static str, Option<f64>, Option<f64>) {
    match *contact {
        TimeOfImpact::Never => ("never", Some(1.0), None),
        TimeOfImpact::AtStart => ("at-start", None, Some(0.0)),
        TimeOfImpact::During { free, contact, .. } => ("during", Some(free), Some(contact)),
        TimeOfImpact::Unknown { free } => ("unknown", Some(free), None),
    }
}

/// An answer in JSON. Faces count from 0, as they stand in the files.
#[derive(Serialize)]
#[serde(untagged)]
enum Shape {
    Touch {
        touches: bool,
    },
    Witness {
        touches: bool,
        faces: Option<[u32; 2]>,
        point: Option<[f64; 3]>,
    },
    Pairs {
        pairs: Vec<[u32; 2]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        full: Option<bool>,
        #[serde(skip_serializing_if = "Option::is_none")]
        segments: Option<Vec<SegmentShape>>,
    },
    /// All empty if one of the models is empty.
    Distance {
        distance: Option<f64>,
        point_a: Option<[f64; 3]>,
        point_b: Option<[f64; 3]>,
        faces: Option<[u32; 2]>,
    },
    Within {
        within: bool,
    },
    Relation {
        relation: &'static str,
    },
    Contacts(ContactsShape),
    Patches(PatchesShape),
    Overlaps(OverlapsShape),
    Class(ClassShape),
    Clearing(ClearingShape),
    Depth(DepthShape),
    TimeOfImpact {
        kind: &'static str,
        free: Option<f64>,
        contact: Option<f64>,
        distance: Option<f64>,
        faces: Option<[u32; 2]>,
        points: Option<[[f64; 3]; 2]>,
    },
}

#[derive(Serialize)]
struct SegmentShape {
    faces: [u32; 2],
    ends: [[f64; 3]; 2],
}

impl From<&Answer> for Shape {
    fn from(answer: &Answer) -> Shape {
        let faces = |pair: FacePair| [pair.a, pair.b];
        match answer {
            Answer::Touch(touches) => Shape::Touch { touches: *touches },
            Answer::Witness(witness) => Shape::Witness {
                touches: witness.is_some(),
                faces: witness.map(|witness| faces(witness.faces)),
                point: witness.map(|witness| witness.point.to_array()),
            },
            Answer::Pairs { pairs, full } => Shape::Pairs {
                pairs: pairs.iter().copied().map(faces).collect(),
                full: *full,
                segments: None,
            },
            Answer::Segments(segments) => {
                let shape = |segment: &SharedSegment| SegmentShape {
                    faces: faces(segment.faces),
                    ends: segment.ends.map(|end| end.to_array()),
                };
                let pairs = pairs_of(segments).into_iter().map(faces).collect();
                let segments = Some(segments.iter().map(shape).collect());
                Shape::Pairs { pairs, full: None, segments }
            }
            Answer::Distance(found) => Shape::Distance {
                distance: found.map(|found| found.distance),
                point_a: found.map(|found| found.point_a.to_array()),
                point_b: found.map(|found| found.point_b.to_array()),
                faces: found.map(|found| faces(found.faces)),
            },
            Answer::Within(within) => Shape::Within { within: *within },
            Answer::Relation(relation) => Shape::Relation { relation: relation_name(*relation) },
            Answer::Contacts(found) => Shape::Contacts(found.into()),
            Answer::Patches(found) => Shape::Patches(found.into()),
            Answer::Overlaps(found) => Shape::Overlaps(found.into()),
            Answer::Class(found) => Shape::Class(found.into()),
            Answer::Clearing(found) => Shape::Clearing(found.into()),
            Answer::Depth(found) => Shape::Depth(found.into()),
            Answer::TimeOfImpact(found) => {
                let closest = match found {
                    TimeOfImpact::During { closest, .. } => Some(closest),
                    _ => None,
                };
                let (kind, free, contact) = contact_parts(found);
                Shape::TimeOfImpact {
                    kind,
                    free,
                    contact,
                    distance: closest.map(|closest| closest.distance),
                    faces: closest.map(|closest| faces(closest.faces)),
                    points: closest
                        .map(|closest| [closest.point_a, closest.point_b].map(|p| p.to_array())),
                }
            }
        }
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Shape::from(self).serialize(serializer)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Touch(touches) => f.write_str(if *touches { "touch" } else { "apart" }),
            Answer::Witness(Some(Witness { faces, point })) => {
                write!(f, "touch  faces {} and {} at {point}", faces.a, faces.b)
            }
            Answer::Witness(None) => f.write_str("apart"),
            Answer::Pairs { pairs, full } => {
                write_pairs(f, pairs)?;
                f.write_str(if *full == Some(true) { "  stopped here" } else { "" })
            }
            Answer::Segments(segments) => write_pairs(f, &pairs_of(segments)),
            Answer::Distance(Some(found)) => write_distance(f, found),
            Answer::Distance(None) => f.write_str("none: a model is empty"),
            Answer::Within(within) => f.write_str(if *within { "within" } else { "beyond" }),
            Answer::Relation(relation) => f.write_str(relation_name(*relation)),
            Answer::Contacts(found) => contacts::write_contacts(f, found),
            Answer::Patches(found) => contacts::write_patches(f, found),
            Answer::Overlaps(found) => depth::write_overlaps(f, found),
            Answer::Class(found) => depth::write_class(f, found),
            Answer::Clearing(found) => depth::write_clearing(f, found),
            Answer::Depth(found) => depth::write_depth(f, found),
            Answer::TimeOfImpact(contact) => write_contact(f, contact),
        }
    }
}

fn write_pairs(f: &mut fmt::Formatter<'_>, pairs: &[FacePair]) -> fmt::Result {
    write!(f, "{} pairs", pairs.len())?;
    pairs.iter().take(PAIRS_SHOWN).try_for_each(|pair| write!(f, "  {}-{}", pair.a, pair.b))?;
    f.write_str(if pairs.len() > PAIRS_SHOWN { "  …" } else { "" })
}

fn write_distance(f: &mut fmt::Formatter<'_>, found: &Distance) -> fmt::Result {
    let Distance { distance, point_a, point_b, faces } = found;
    write!(f, "{distance}  face {} at {point_a}, face {} at {point_b}", faces.a, faces.b)
}

/// Times are printed with all digits: a rounded time might no longer be free.
fn write_contact(f: &mut fmt::Formatter<'_>, contact: &TimeOfImpact) -> fmt::Result {
    match contact {
        TimeOfImpact::Never => f.write_str("never"),
        TimeOfImpact::AtStart => f.write_str("at-start"),
        TimeOfImpact::During { free, contact, closest } => {
            write!(f, "during    free {free:<20}  contact {contact:<20}  distance ")?;
            write_distance(f, closest)
        }
        TimeOfImpact::Unknown { free } => write!(f, "unknown   free {free}"),
    }
}
