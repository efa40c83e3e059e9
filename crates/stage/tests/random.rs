//! Random scenes and random events give errors at most, never a panic.

mod common;

use common::{Random, scene};
use glam::{Vec2, Vec3};
use jostle_scene::nodes::{Access, Kind};
use jostle_scene::{FieldType, Key, NodeId, Rotation, Value};
use jostle_stage::{HierarchyFiles, Stage, StageOptions, StaticPairs};
use std::sync::Arc;

/// Numbers, often extreme ones.
const NUMBERS: [f32; 12] =
    [0.0, 1.0, -1.0, 0.5, 2.0, -0.25, 1e-30, 1e30, 3e38, -3e38, 1e-44, 1000.0];

const SECONDS: [f64; 12] = [0.0, 0.1, 0.1, 0.125, 0.2, 0.25, 0.25, 0.5, 1.0, 1e9, -1.0, f64::NAN];

fn number(random: &mut Random) -> f32 {
    if random.chance(99) {
        common::number(random, -3.0, 3.0)
    } else {
        NUMBERS[random.below(NUMBERS.len())]
    }
}

fn vector(random: &mut Random) -> Vec3 {
    Vec3::new(number(random), number(random), number(random))
}

/// Draws a scene of all nodes that matter to a stage.
struct Drawing {
    random: Random,
    text: String,
    named: usize,
}

impl Drawing {
    fn draw(seed: u64) -> String {
        let mut drawing = Drawing { random: Random(seed), text: String::new(), named: 0 };
        drawing.text += "PROTO P [ exposedField SFVec3f at 0 0 0 ] { Transform {
            translation IS at children Shape { geometry Box {} } } }\n";
        for _ in 0..4 + drawing.random.below(5) {
            drawing.node(0);
        }
        drawing.rest();
        drawing.text
    }

    fn vector(&mut self) -> String {
        let v = vector(&mut self.random);
        format!("{:e} {:e} {:e}", v.x, v.y, v.z)
    }

    /// A node with the name N and its number, or a USE of one that is complete.
    fn node(&mut self, depth: usize) {
        if self.named > 0 && self.random.chance(15) {
            let used = self.random.below(self.named);
            if self.text.contains(&format!("# N{used}\n")) {
                self.text += &format!("USE N{used}\n");
                return;
            }
        }
        let number = self.named;
        self.named += 1;
        self.text += &format!("DEF N{number} ");
        match if depth > 3 { 7 } else { self.random.below(9) } {
            0 => self.holder("Group {", "children", depth),
            1 | 2 => {
                let (place, turn) = (self.vector(), self.vector());
                let mut head = format!("Transform {{ translation {place} rotation {turn} 1 ");
                if self.random.chance(30) {
                    head += &format!("scale {} ", self.vector());
                }
                if self.random.chance(50) {
                    head += &format!("velocityVector {} ", self.vector());
                }
                if self.random.chance(50) {
                    let kind = self.random.below(3);
                    head +=
                        &format!("collisionResponse CollisionResponse {{ responseType {kind} }} ");
                }
                self.holder(&head, "children", depth);
            }
            3 => self.holder("CollisionObject {", "children", depth),
            4 => {
                let choice = self.random.below(4) as i32 - 1;
                self.holder(&format!("Switch {{ whichChoice {choice} "), "choice", depth);
            }
            5 => self.holder("LOD { range [ 3 8 ] ", "level", depth),
            6 => {
                self.text += "Collision { proxy ";
                self.node(depth + 1);
                self.holder("", "children", depth);
            }
            _ => {
                self.text += "Shape { geometry IndexedFaceSet { coord Coordinate {
                point [ 0 0 0 1 0 0 0 1 0 0 0 1 ] } coordIndex [ 0 1 2 -1 0 2 3 -1 ] } }"
            }
        }
        self.text += &format!(" # N{number}\n");
    }

    fn holder(&mut self, head: &str, field: &str, depth: usize) {
        self.text += &format!("{head} {field} [\n");
        for _ in 0..self.random.below(4) {
            self.node(depth + 1);
        }
        if self.random.chance(30) {
            self.text += "Shape { geometry Box {} } ";
        }
        self.text += "] }";
    }

    /// Sensors, interests, routes.
    fn rest(&mut self) {
        self.text += "DEF V Viewpoint {} DEF NAV NavigationInfo { avatarSize 0.3 }
            DEF INST P {} DEF B Billboard { children Shape { geometry Box {} } }
            DEF CLOCK TimeSensor { loop TRUE cycleInterval 0.7 }
            DEF PI PositionInterpolator { key [ 0 1 ] keyValue [ -2 0 0, 2 0 0 ] }
            ROUTE CLOCK.fraction_changed TO PI.set_fraction
            ROUTE PI.value_changed TO INST.set_at\n";
        for key in 0..3 {
            let (recipient, value) = (self.random.below(self.named), self.vector());
            self.text += &format!(
                "KeySensor {{ keyValue {key} recipient \"N{recipient}\" value {value} }}\n"
            );
        }
        for _ in 0..self.random.below(3) {
            let (a, b) = (self.random.below(self.named), self.random.below(self.named + 2));
            let kind = self.random.below(3);
            self.text += &format!(
                "CollisionInterest {{ objectPath \"N{a}\" interests [ \"N{b}\" \"INST\" ]
                   collisionType {kind} }}\n"
            );
        }
    }
}

fn any_node(stage: &Stage, random: &mut Random) -> NodeId {
    let scene = stage.play().scene();
    let at = random.below(scene.len());
    scene.nodes().nth(at).map(|(id, _)| id).unwrap()
}

fn any_value(stage: &Stage, random: &mut Random, ty: FieldType) -> Option<Value> {
    let count = random.below(4);
    Some(match ty {
        FieldType::Bool => Value::Bool(random.chance(50)),
        FieldType::Int => Value::Int(random.below(6) as i32 - 2),
        FieldType::Time => Value::Time(f64::from(number(random))),
        FieldType::Float => Value::Float(number(random)),
        FieldType::Floats => Value::Floats(Arc::new((0..count).map(|_| number(random)).collect())),
        FieldType::Vec2 => Value::Vec2(Vec2::new(number(random), number(random))),
        FieldType::Vec3 => Value::Vec3(vector(random)),
        FieldType::Vec3s => Value::Vec3s(Arc::new((0..count).map(|_| vector(random)).collect())),
        FieldType::Ints => {
            Value::Ints(Arc::new((0..4 * count).map(|_| random.below(5) as i32 - 1).collect()))
        }
        FieldType::Rotation => {
            Value::Rotation(Rotation { axis: vector(random), angle: number(random) })
        }
        FieldType::Node => Value::Node(random.chance(80).then(|| any_node(stage, random))),
        FieldType::Nodes => {
            Value::Nodes(Arc::new((0..count).map(|_| any_node(stage, random)).collect()))
        }
        _ => return None,
    })
}

/// Sends a random event to a random node, or emits one of its events.
fn disturb(stage: &mut Stage, random: &mut Random) {
    let id = any_node(stage, random);
    let kind = &stage.play().scene().node(id).kind;
    if matches!(kind, Kind::Instance(_)) {
        return;
    }
    // Invalid geometry ends a run with an error.
    let geometry = matches!(kind, Kind::IndexedFaceSet(_) | Kind::Shape(_) | Kind::Coordinate(_));
    if geometry && random.chance(97) {
        return;
    }
    let fields = kind.fields();
    let field = &fields[random.below(fields.len())];
    let Some(value) = any_value(stage, random, field.ty) else { return };
    // Rejected events are ignored.
    let _ = match field.access {
        Access::EventOut => stage.play_mut().emit(id, field.name, value),
        _ => stage.play_mut().send(id, field.name, value),
    };
}

#[test]
fn no_event_makes_a_stage_panic() {
    let (mut rejected, mut reported, mut steps) = (0, 0, 0);
    for seed in 0..250 {
        let text = Drawing::draw(seed);
        let random = &mut Random(seed ^ 0xabcd);
        let options = StageOptions {
            continuous: random.chance(30),
            solid: random.chance(30),
            static_pairs: if random.chance(50) { StaticPairs::Test } else { StaticPairs::Skip },
            ..StageOptions::default()
        };
        // Shown when the test fails.
        println!("seed {seed}");
        let stage_of = Stage::new(scene(&text), options, &mut HierarchyFiles::default());
        let Ok(mut stage) = stage_of else {
            rejected += 1;
            continue;
        };
        for _ in 0..25 {
            for _ in 0..random.below(4) {
                disturb(&mut stage, random);
            }
            if random.chance(20) {
                stage.play_mut().key(Key { value: random.below(4) as i32, state: 0 });
            }
            if random.chance(30) {
                stage.walk(vector(random).as_dvec3());
            }
            let seconds = SECONDS[random.below(SECONDS.len())];
            match stage.step(seconds) {
                Ok(()) => steps += 1,
                Err(error) => assert!(!error.to_string().is_empty()),
            }
            reported += stage.events().len();
            query_all(&stage);
        }
    }
    // Most events are accepted, and some cause stage events.
    assert!(rejected < 50 && steps > 2000 && reported > 1000, "{rejected} {steps} {reported}");
}

/// Calls every query of a stage.
fn query_all(stage: &Stage) {
    for id in stage.world().ids() {
        assert!(!stage.name(id).is_empty());
        let _ = stage.face(id, 0);
        let _ = stage.face(id, u32::MAX);
    }
    for event in stage.events() {
        assert!(!event.a.is_empty() && !event.b.is_empty(), "{event:?}");
    }
    let _ = (stage.object_count(), stage.triangle_count(), stage.world().hash());
    assert!(stage.viewer().position.is_finite() || stage.avatar().is_none());
}
