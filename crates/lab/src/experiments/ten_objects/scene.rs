//! The scene of ten bouncing objects in a box (Ohlenburg 2003, section 3.3.2), as VRML97 text.
//!
//! His models are not to be had; these are rings with bumps, written as an `Extrusion`, so that a
//! small file makes as many triangles as one likes. "Each of the ten objects is registered with
//! all other objects and each side of the box. On colliding with another object they bounce off
//! each other. The initial velocityVector has a random value, but is the same for all experiment
//! runs."

use std::f64::consts::TAU;
use std::fmt::Write;

/// How fine the rings are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Complexity {
    /// 12 × 24 points.
    Small,
    /// 40 × 80 points.
    Medium,
    /// 110 × 220 points.
    Large,
}

impl Complexity {
    pub(crate) const ALL: [Complexity; 3] =
        [Complexity::Small, Complexity::Medium, Complexity::Large];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Complexity::Small => "small",
            Complexity::Medium => "medium",
            Complexity::Large => "large",
        }
    }

    /// Points around the tube and around the ring.
    fn points(self) -> (usize, usize) {
        match self {
            Complexity::Small => (12, 24),
            Complexity::Medium => (40, 80),
            Complexity::Large => (110, 220),
        }
    }
}

/// Half the edge of the box, inside, in metres.
const ROOM: f64 = 5.0;

/// How thick the sides of the box are.
const WALL: f64 = 0.5;

/// The sides of the box: name, centre, size.
const SIDES: [(&str, [f64; 3]); 6] = [
    ("LEFT", [-1.0, 0.0, 0.0]),
    ("RIGHT", [1.0, 0.0, 0.0]),
    ("BOTTOM", [0.0, -1.0, 0.0]),
    ("TOP", [0.0, 1.0, 0.0]),
    ("BACK", [0.0, 0.0, -1.0]),
    ("FRONT", [0.0, 0.0, 1.0]),
];

/// The text of the scene.
pub(crate) fn text(complexity: Complexity) -> String {
    let mut text = String::from("#VRML V2.0 utf8\n");
    let name = complexity.name();
    let _ = write!(
        text,
        "# Ten bouncing objects in a box (Ohlenburg 2003, section 3.3.2), {name}. Written by\n\
         #   jostle lab ten-objects --write scenes\n\n"
    );
    objects(&mut text, complexity);
    sides(&mut text);
    interests(&mut text);
    text
}

fn objects(text: &mut String, complexity: Complexity) {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    for number in 0..10 {
        // On a lattice, so that they begin apart.
        let (column, row, layer) = (number % 3, number / 3 % 3, number / 9);
        let place = [column, row, layer].map(|at| f64::from(at) * 3.0 - 3.0);
        let velocity = [(); 3].map(|()| dice.between(-3.0, 3.0));
        let axis = [(); 3].map(|()| dice.between(-1.0, 1.0));
        let angle = dice.between(0.0, TAU);
        let _ = write!(
            text,
            "DEF OBJECT_{number} Transform {{\n  translation {}\n  rotation {} {angle:.4}\n  \
             velocityVector {}\n  collisionResponse CollisionResponse {{ responseType 0 }}\n",
            three(place),
            three(axis),
            three(velocity)
        );
        if number == 0 {
            text.push_str("  children DEF RING Shape {\n    geometry ");
            ring(text, complexity);
            text.push_str("  }\n}\n");
        } else {
            text.push_str("  children USE RING\n}\n");
        }
    }
}

/// A ring in the xz plane whose thickness swings.
fn ring(text: &mut String, complexity: Complexity) {
    let (tube, ring) = complexity.points();
    let round = |count: usize| (0..=count).map(move |at| (at % count) as f64 / count as f64 * TAU);
    let section = round(tube).map(|angle| {
        // As the standard counts, the other way round.
        format!("{:.4} {:.4}", 0.3 * angle.cos(), -0.3 * angle.sin())
    });
    let spine =
        round(ring).map(|angle| format!("{:.4} 0 {:.4}", 0.7 * angle.cos(), 0.7 * angle.sin()));
    let scale = round(ring).map(|angle| {
        let bump = 1.0 + 0.25 * (7.0 * angle).sin() + 0.08 * (31.0 * angle).sin();
        format!("{bump:.4} {bump:.4}")
    });
    let list = |points: Vec<String>| wrapped(&points);
    let _ = write!(
        text,
        "Extrusion {{\n      beginCap FALSE endCap FALSE\n      crossSection [{}]\n      \
         spine [{}]\n      scale [{}]\n    }}\n",
        list(section.collect()),
        list(spine.collect()),
        list(scale.collect())
    );
}

fn sides(text: &mut String) {
    let far = ROOM + WALL / 2.0;
    let long = 2.0 * (ROOM + WALL);
    for (name, normal) in SIDES {
        let centre = normal.map(|along| along * far);
        let size = normal.map(|along: f64| if along == 0.0 { long } else { WALL });
        let _ = writeln!(
            text,
            "DEF {name} Transform {{ translation {} \
             children Shape {{ geometry Box {{ size {} }} }} }}",
            three(centre),
            three(size)
        );
    }
}

fn interests(text: &mut String) {
    for number in 0..10 {
        let others = (0..10).filter(|&other| other != number);
        let names = others.map(|other| format!("\"OBJECT_{other}\""));
        let names = names.chain(SIDES.iter().map(|(name, _)| format!("\"{name}\"")));
        let _ = write!(
            text,
            "CollisionInterest {{ objectPath \"OBJECT_{number}\" collisionType 1\n  \
             interests [ {} ] }}\n",
            names.collect::<Vec<_>>().join(" ")
        );
    }
}

fn three([x, y, z]: [f64; 3]) -> String {
    format!("{x:.4} {y:.4} {z:.4}")
}

/// Some points to a line.
fn wrapped(points: &[String]) -> String {
    let lines: Vec<String> = points.chunks(6).map(|line| line.join(", ")).collect();
    lines.join(",\n        ")
}

/// Numbers that only the seed decides about (xorshift).
struct Dice(u64);

impl Dice {
    fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        low + (high - low) * (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}
