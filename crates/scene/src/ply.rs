//! PLY: text, binary little-endian, binary big-endian; any properties, any elements.
//!
//! The header is read by `ply-rs-bw` (ply/header.rs), the data by hand (ply/values.rs): the
//! crate's data readers make an object with named properties of every element, refuse numbers
//! such as `1.` and `.5`, know no byte offsets, and run as long as a header says when an element
//! without properties is declared 4 billion times. Source: G. Turk, The PLY Polygon File Format.

mod header;
mod values;

use crate::error::{LoadError, Place, unexpected};
use crate::gather::{Gather, Loaded};
use glam::Vec3;
use header::{Element, Header, Property};
use values::Values;

/// What a property means to us.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    Coordinate(usize),
    Corners,
    Strips,
    Unused,
}

pub(crate) fn read(bytes: &[u8]) -> Result<Loaded, LoadError> {
    let header = Header::read(bytes)?;
    let mut values = Values::new(bytes, &header);
    let mut gather = Gather::default();
    for element in &header.elements {
        read_element(element, &mut values, &mut gather)?;
    }
    if let Some((bytes, place)) = values.trailing() {
        gather.trailing(bytes, place);
    }
    gather.finish()
}

fn read_element(
    element: &Element,
    values: &mut Values<'_>,
    gather: &mut Gather,
) -> Result<(), LoadError> {
    let roles = roles(element, values.place())?;
    let needs = values.smallest_size(element) as u128 * element.count as u128;
    if needs > values.left() as u128 {
        let what = format!("the list of {} {:?} elements", element.count, element.name);
        let (place, left) = (values.place(), values.left());
        return Err(LoadError::Truncated { place, what, needs, left });
    }
    if roles.is_empty() {
        return Ok(()); // no properties, no bytes, however many there are
    }
    let is_vertex = roles.contains(&Role::Coordinate(0));
    if is_vertex {
        gather.reserve_vertices(element.count);
    } else if roles.iter().all(|&role| role == Role::Unused) && element.count > 0 {
        gather.ignored("elements other than vertex, face and tristrips", values.place());
    }
    for _ in 0..element.count {
        let mut vertex = Vec3::ZERO;
        let place = values.place();
        for (role, property) in roles.iter().zip(&element.properties) {
            match role {
                Role::Coordinate(axis) => {
                    vertex[*axis] = values.coordinate(property.kind, gather)?;
                }
                Role::Corners => read_polygon(property, values, gather)?,
                Role::Strips => read_strips(property, values, gather)?,
                Role::Unused => values.skip(property)?,
            }
        }
        values.end_element()?;
        if is_vertex {
            gather.vertex(vertex, place)?;
        }
    }
    Ok(())
}

/// What the properties of an element mean, in their order.
fn roles(element: &Element, place: Place) -> Result<Vec<Role>, LoadError> {
    let role = |property: &Property| match (
        element.name.as_str(),
        property.name.as_str(),
        property.count.is_some(),
    ) {
        ("vertex", "x", false) => Role::Coordinate(0),
        ("vertex", "y", false) => Role::Coordinate(1),
        ("vertex", "z", false) => Role::Coordinate(2),
        ("face", "vertex_indices" | "vertex_index", true) => Role::Corners,
        ("tristrips", "vertex_indices" | "vertex_index", true) => Role::Strips,
        _ => Role::Unused,
    };
    let roles: Vec<_> = element.properties.iter().map(role).collect();
    let has = |wanted| roles.iter().filter(|&&role| role == wanted).count();
    let wrong = match element.name.as_str() {
        "vertex" if (0..3).any(|axis| has(Role::Coordinate(axis)) != 1) => {
            "scalar properties x, y and z of element vertex"
        }
        "face" if has(Role::Corners) != 1 => "one list property vertex_indices of element face",
        "tristrips" if has(Role::Strips) != 1 => {
            "one list property vertex_indices of element tristrips"
        }
        _ => return Ok(roles),
    };
    let names: Vec<_> = element.properties.iter().map(|p| p.name.as_str()).collect();
    Err(unexpected(Some(names.join(" ").as_bytes()), place, wrong))
}

fn read_polygon(
    property: &Property,
    values: &mut Values<'_>,
    gather: &mut Gather,
) -> Result<(), LoadError> {
    let place = values.place();
    for _ in 0..values.length(property)? {
        let place = values.place();
        let index = values.index(property.kind)?;
        gather.corner(index, index, place)?;
    }
    gather.close_face(place)
}

/// Triangle strips, parted by -1. The first triangle of a strip turns as written, the next the
/// other way round, and so on.
fn read_strips(
    property: &Property,
    values: &mut Values<'_>,
    gather: &mut Gather,
) -> Result<(), LoadError> {
    let mut last_two: [Option<i64>; 2] = [None; 2];
    let mut is_odd = false;
    for _ in 0..values.length(property)? {
        let place = values.place();
        let index = values.index(property.kind)?;
        if index == -1 {
            (last_two, is_odd) = ([None; 2], false);
            continue;
        }
        if let [Some(first), Some(second)] = last_two {
            let turn = if is_odd { [second, first, index] } else { [first, second, index] };
            for corner in turn {
                gather.corner(corner, corner, place)?;
            }
            gather.close_face(place)?;
            is_odd = !is_odd;
        }
        last_two = [last_two[1], Some(index)];
    }
    Ok(())
}
