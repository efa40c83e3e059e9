//! Activation, pairs and switches in any order, against a plain model that remembers only what was
//! message and works everything out anew.

use crate::handle::{Draw, Handle};
use jostle_c::col_status::*;
use jostle_c::*;

struct Plain {
    id: col_id,
    /// Where the object is; `None` for a switch.
    place: Option<[f64; 3]>,
    has_triangles: bool,
    active: bool,
    parent: Option<col_id>,
    children: Vec<col_id>,
    chosen: Option<col_id>,
}

#[derive(Default)]
struct Model {
    nodes: Vec<Plain>,
    /// Deactivated pairs.
    off: Vec<[col_id; 2]>,
}

impl Model {
    fn node(&mut self, id: col_id) -> &mut Plain {
        self.nodes.iter_mut().find(|node| node.id == id).expect("a known node")
    }

    fn lineage(&self, id: col_id) -> Vec<col_id> {
        let parent = self.nodes.iter().find(|node| node.id == id).and_then(|node| node.parent);
        let above = parent.map(|parent| self.lineage(parent)).unwrap_or_default();
        [vec![id], above].concat()
    }

    fn takes_part(&self, id: col_id) -> bool {
        let node = self.nodes.iter().find(|node| node.id == id).expect("a known node");
        let chosen = node.parent.is_none_or(|parent| {
            let switch = self.nodes.iter().find(|node| node.id == parent).expect("a known node");
            switch.chosen == Some(id) && self.takes_part(parent)
        });
        node.active && chosen
    }

    fn is_off(&self, a: col_id, b: col_id) -> bool {
        let [a, b] = [self.lineage(a), self.lineage(b)];
        self.off
            .iter()
            .any(|&[p, q]| a.contains(&p) && b.contains(&q) || a.contains(&q) && b.contains(&p))
    }

    fn collisions(&self) -> Vec<[col_id; 2]> {
        let mut found = Vec::new();
        let objects: Vec<_> = self.nodes.iter().filter(|node| node.place.is_some()).collect();
        for a in &objects {
            for b in objects.iter().filter(|b| b.id > a.id) {
                let solid = a.has_triangles && b.has_triangles;
                let take_part = self.takes_part(a.id) && self.takes_part(b.id);
                if solid && take_part && !self.is_off(a.id, b.id) && a.place == b.place {
                    found.push([a.id, b.id]);
                }
            }
        }
        found.sort_unstable();
        found
    }

    fn unparent(&mut self, id: col_id) {
        if let Some(parent) = self.node(id).parent.take() {
            let switch = self.node(parent);
            switch.children.retain(|&child| child != id);
            switch.chosen = switch.chosen.filter(|&chosen| chosen != id);
        }
    }

    fn delete(&mut self, id: col_id) {
        self.unparent(id);
        for child in self.node(id).children.clone() {
            self.unparent(child);
        }
        self.nodes.retain(|node| node.id != id);
        self.off.retain(|pair| !pair.contains(&id));
    }
}

/// All objects are the same small triangle in a few places, so they touch only in the same one.
const TRIANGLE: [f64; 9] = [0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5, 0.0];

/// Does one thing to both, drawn at random.
fn act(world: &Handle, model: &mut Model, draw: &mut Draw) {
    let kind = draw.below(14);
    let count = model.nodes.len() as u32;
    if kind == 0 || count < 8 {
        create(world, model, draw);
        return;
    }
    let [id, other] = [0; 2].map(|_| model.nodes[draw.below(count) as usize].id);
    let is_switch = model.node(id).place.is_none();
    match kind {
        1 => {
            world.ok(world.delete(id));
            model.delete(id);
        }
        2 | 3 => {
            let active = draw.below(3) > 0;
            world.ok(world.set_active(id, active));
            model.node(id).active = active;
        }
        4 | 5 => {
            let active = draw.below(2) > 0;
            let expected = if id == other { COL_SAME_OBJECT } else { COL_OK };
            assert_eq!(world.set_pair(id, other, active), expected);
            if id != other {
                model.off.retain(|pair| !(pair.contains(&id) && pair.contains(&other)));
            }
            if id != other && !active {
                model.off.push([id, other]);
            }
        }
        6 | 7 | 12 => set_parent(world, model, [id, other], draw.below(4) == 0),
        8 | 9 | 13 if is_switch => {
            let switch = model.node(id);
            let index = draw.below(switch.children.len() as u32 + 1) as i32 - 1;
            switch.chosen = usize::try_from(index).ok().map(|at| switch.children[at]);
            world.ok(world.choose(id, index));
        }
        10 if !is_switch => {
            world.ok(world.clear(id));
            if draw.below(2) > 0 {
                world.ok(world.add_triangle(id, &TRIANGLE, 0));
                world.ok(world.finish(id));
                model.node(id).has_triangles = true;
            } else {
                model.node(id).has_triangles = false;
            }
        }
        _ if !is_switch => {
            let place = [f64::from(draw.below(3)), 0.0, 0.0];
            world.ok(world.move_to(id, place));
            model.node(id).place = Some(place);
        }
        _ => {}
    }
}

fn create(world: &Handle, model: &mut Model, draw: &mut Draw) {
    let object = draw.below(5) > 1;
    let id = if object { world.object_of(&[TRIANGLE]) } else { world.switch() };
    model.nodes.push(Plain {
        id,
        place: object.then_some([0.0; 3]),
        has_triangles: object,
        active: true,
        parent: None,
        children: Vec::new(),
        chosen: None,
    });
}

fn set_parent(world: &Handle, model: &mut Model, [child, parent]: [col_id; 2], none: bool) {
    if none {
        world.ok(world.parent(child, 0));
        model.unparent(child);
    } else if model.node(parent).place.is_some() {
        assert_eq!(world.parent(child, parent), COL_NOT_A_SWITCH);
    } else if model.lineage(parent).contains(&child) {
        assert_eq!(world.parent(child, parent), COL_CIRCLE);
    } else {
        world.ok(world.parent(child, parent));
        if model.node(child).parent != Some(parent) {
            model.unparent(child);
            model.node(child).parent = Some(parent);
            model.node(parent).children.push(child);
        }
    }
}

#[test]
fn any_order_of_calls_gives_what_the_plain_model_says() {
    let mut seen = [0; 4];
    for seed in 0..300 {
        let world = Handle::open();
        let mut model = Model::default();
        let mut draw = Draw(seed);
        for step in 0..150 {
            act(&world, &mut model, &mut draw);
            if draw.below(3) > 0 {
                continue;
            }
            world.ok(world.test());
            let expected = model.collisions();
            assert_eq!(world.collisions(), expected, "seed {seed}, step {step}");
            let below = model.nodes.iter().filter(|node| node.parent.is_some());
            seen[0] += usize::from(expected.is_empty());
            seen[1] += expected.len();
            seen[2] += below.filter(|node| model.takes_part(node.id)).count();
            seen[3] += model.off.len();
        }
    }
    // Without collisions, children that take part and pairs that do not, this tests nothing.
    assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
}

#[test]
fn only_the_chosen_child_collides_and_nested_switches_must_agree() {
    let world = Handle::open();
    let [wall, near, far] = [0; 3].map(|_| world.object_of(&[TRIANGLE]));
    let [outer, inner] = [0; 2].map(|_| world.switch());
    world.ok(world.parent(near, outer));
    world.ok(world.parent(inner, outer));
    world.ok(world.parent(far, inner));
    let collisions = || {
        world.ok(world.test());
        world.collisions()
    };
    assert_eq!(collisions(), [[0; 2]; 0], "nothing is chosen at first");
    world.ok(world.choose(outer, 0));
    assert_eq!(collisions(), [[wall, near]]);
    world.ok(world.choose(outer, 1));
    assert_eq!(collisions(), [[0; 2]; 0], "the inner switch has not chosen");
    world.ok(world.choose(inner, 0));
    assert_eq!(collisions(), [[wall, far]]);

    // What the caller message of a child is kept while it is not chosen.
    world.ok(world.set_active(far, false));
    world.ok(world.choose(outer, 0));
    world.ok(world.choose(outer, 1));
    assert_eq!(collisions(), [[0; 2]; 0]);
    world.ok(world.set_active(far, true));
    assert_eq!(collisions(), [[wall, far]]);

    // A pair with a switch is one with everything below it, now and later.
    world.ok(world.set_pair(outer, wall, false));
    assert_eq!(collisions(), [[0; 2]; 0]);
    let late = world.object_of(&[TRIANGLE]);
    world.ok(world.parent(late, inner));
    world.ok(world.choose(inner, 1));
    assert_eq!(collisions(), [[0; 2]; 0]);
    world.ok(world.set_pair(outer, wall, true));
    assert_eq!(collisions(), [[wall, late]]);

    // Without the switch both of its children take part.
    world.ok(world.delete(inner));
    assert_eq!(collisions(), [[wall, far], [wall, late], [far, late]]);
}

/// Rare enough that the test above hardly meets it: while both switches are above a pair, the pair
/// counts as ignored, and must not be once neither is.
#[test]
fn a_pair_below_two_switches_that_ignore_each_other_is_free_when_it_leaves_them() {
    let world = Handle::open();
    let [top, middle, bottom] = [0; 3].map(|_| world.switch());
    let [one, two] = [0; 2].map(|_| world.object_of(&[TRIANGLE]));
    for [child, parent] in [[middle, top], [bottom, middle], [one, bottom], [two, bottom]] {
        world.ok(world.parent(child, parent));
    }
    world.ok(world.set_pair(top, middle, false));
    for child in [bottom, one, two] {
        world.ok(world.parent(child, 0));
    }
    world.ok(world.test());
    assert_eq!(world.collisions(), [[one, two]]);
}
