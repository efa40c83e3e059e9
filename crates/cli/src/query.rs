//! The questions about a pair, and their answers.

use jostle_geom::{FacePair, Pair};
use serde::Serialize;
use std::fmt;

/// Face pairs that a line of the table shows; JSON has them all.
const PAIRS_SHOWN: usize = 5;

/// A question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Query {
    Touch,
    Witness,
    Pairs,
    Distance,
    Within(f64),
}

impl Query {
    pub(crate) fn parse(text: &str) -> Result<Query, String> {
        match text {
            "touch" => Ok(Query::Touch),
            "witness" => Ok(Query::Witness),
            "pairs" => Ok(Query::Pairs),
            "distance" => Ok(Query::Distance),
            _ => {
                let Some(limit) = text.strip_prefix("within=") else {
                    return Err("expected touch, witness, pairs, distance or within=D".to_string());
                };
                match limit.parse::<f64>() {
                    Ok(limit) if limit.is_finite() && limit >= 0.0 => Ok(Query::Within(limit)),
                    _ => Err(format!("within needs a distance of 0 or more, found {limit:?}")),
                }
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Query::Touch => "touch",
            Query::Witness => "witness",
            Query::Pairs => "pairs",
            Query::Distance => "distance",
            Query::Within(_) => "within",
        }
    }

    pub(crate) fn ask(self, pair: &Pair<'_>) -> Answer {
        match self {
            Query::Touch => Answer::Touch { touches: pair.touches() },
            Query::Witness => match pair.witness() {
                Some(witness) => Answer::Witness {
                    touches: true,
                    faces: Some(faces(witness.faces)),
                    point: Some(witness.point.to_array()),
                },
                None => Answer::Witness { touches: false, faces: None, point: None },
            },
            Query::Pairs => {
                Answer::Pairs { pairs: pair.all_pairs().into_iter().map(faces).collect() }
            }
            Query::Distance => match pair.distance() {
                Some(found) => Answer::Distance {
                    distance: Some(found.distance),
                    point_a: Some(found.point_a.to_array()),
                    point_b: Some(found.point_b.to_array()),
                    faces: Some(faces(found.faces)),
                },
                None => {
                    Answer::Distance { distance: None, point_a: None, point_b: None, faces: None }
                }
            },
            Query::Within(limit) => Answer::Within { within: pair.within(limit) },
        }
    }
}

fn faces(pair: FacePair) -> [u32; 2] {
    [pair.a, pair.b]
}

/// An answer, as it is printed. Faces count from 0, as they stand in the files.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer {
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
}

impl Answer {
    /// Do they touch, or come as close as asked?
    pub(crate) fn is_hit(&self) -> bool {
        match self {
            Answer::Touch { touches } | Answer::Witness { touches, .. } => *touches,
            Answer::Pairs { pairs } => !pairs.is_empty(),
            Answer::Distance { distance, .. } => *distance == Some(0.0),
            Answer::Within { within } => *within,
        }
    }

    pub(crate) fn pair_count(&self) -> usize {
        match self {
            Answer::Pairs { pairs } => pairs.len(),
            _ => 0,
        }
    }

    pub(crate) fn distance(&self) -> f64 {
        match self {
            Answer::Distance { distance: Some(distance), .. } => *distance,
            _ => 0.0,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let point = |[x, y, z]: [f64; 3]| format!("({x}, {y}, {z})");
        match self {
            Answer::Touch { touches } => f.write_str(if *touches { "touch" } else { "apart" }),
            Answer::Witness { faces: Some([a, b]), point: Some(at), .. } => {
                write!(f, "touch  faces {a} and {b} at {}", point(*at))
            }
            Answer::Witness { .. } => f.write_str("apart"),
            Answer::Pairs { pairs } => {
                write!(f, "{} pairs", pairs.len())?;
                pairs.iter().take(PAIRS_SHOWN).try_for_each(|[a, b]| write!(f, "  {a}-{b}"))?;
                f.write_str(if pairs.len() > PAIRS_SHOWN { "  …" } else { "" })
            }
            Answer::Distance {
                distance: Some(distance),
                point_a: Some(point_a),
                point_b: Some(point_b),
                faces: Some([a, b]),
            } => {
                write!(f, "{distance}  face {a} at {}", point(*point_a))?;
                write!(f, ", face {b} at {}", point(*point_b))
            }
            Answer::Distance { .. } => f.write_str("none: a model is empty"),
            Answer::Within { within } => f.write_str(if *within { "within" } else { "beyond" }),
        }
    }
}
