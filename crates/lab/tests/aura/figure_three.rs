//! Figure 3 of the paper, in the readings that its text allows, on all small graphs.
//!
//! The function `addCR` is not printed. Of the ways to read the text, only one gives the relations;
//! up to three objects all do, and the smallest case in which the others fail has four.

use crate::finders::{all_finders, find, name, sets};
use crate::oracle::{aura, maximal_cliques, overlap_graph};
use glam::DVec3;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reading {
    /// `addCR` refuses duplicates, as the text says.
    NoDuplicates,
    /// It also refuses a part of what it has, but keeps what is a part of the new.
    NoPartOfEarlier,
    /// It keeps sets that are no part of another, but a relation that overlaps the object wholly is
    /// enlarged in place, as the text says, and is not among those compared.
    EnlargedInPlace,
    /// It keeps sets that are no part of another, of all that hold the object.
    Maximal,
}

fn figure_three(graph: &[Vec<u32>], reading: Reading) -> Vec<Vec<u32>> {
    let mut relations: Vec<Vec<u32>> = Vec::new();
    for object in 0..graph.len() as u32 {
        let mut new: Vec<Vec<u32>> = Vec::new();
        for mut relation in std::mem::take(&mut relations) {
            let overlaps = |other: &u32| graph[object as usize].contains(other);
            let mut part: Vec<u32> = relation.iter().copied().filter(overlaps).collect();
            if part.is_empty() {
                relations.push(relation);
                continue;
            }
            let whole = part.len() == relation.len();
            part.push(object);
            if whole && reading == Reading::EnlargedInPlace {
                relation.push(object);
                relations.push(relation);
                continue;
            }
            if !whole {
                relations.push(relation);
            }
            add(part, &mut new, reading);
        }
        if new.is_empty() && !relations.iter().any(|relation| relation.contains(&object)) {
            new.push(vec![object]);
        }
        relations.extend(new);
    }
    relations.sort();
    relations
}

fn add(part: Vec<u32>, new: &mut Vec<Vec<u32>>, reading: Reading) {
    let is_part = |small: &[u32], of: &[u32]| small.iter().all(|member| of.contains(member));
    match reading {
        Reading::NoDuplicates if new.contains(&part) => return,
        Reading::NoDuplicates => {}
        _ if new.iter().any(|earlier| is_part(&part, earlier)) => return,
        Reading::NoPartOfEarlier => {}
        Reading::EnlargedInPlace | Reading::Maximal => {
            new.retain(|earlier| !is_part(earlier, &part));
        }
    }
    new.push(part);
}

/// All graphs of so many objects, hence also in all orders.
fn all_graphs(objects: u32) -> impl Iterator<Item = Vec<Vec<u32>>> {
    let pairs: Vec<[u32; 2]> = (0..objects).flat_map(|b| (0..b).map(move |a| [a, b])).collect();
    (0..1u32 << pairs.len()).map(move |bits| {
        let mut graph = vec![Vec::new(); objects as usize];
        for (at, &[a, b]) in pairs.iter().enumerate() {
            if bits >> at & 1 == 1 {
                graph[a as usize].push(b);
                graph[b as usize].push(a);
            }
        }
        graph.iter_mut().for_each(|of| of.sort_unstable());
        graph
    })
}

#[test]
fn up_to_three_objects_every_reading_is_right() {
    for graph in (0..=3).flat_map(all_graphs) {
        let expected = maximal_cliques(&graph);
        for reading in [Reading::NoDuplicates, Reading::NoPartOfEarlier, Reading::EnlargedInPlace] {
            assert_eq!(figure_three(&graph, reading), expected, "{reading:?}: {graph:?}");
        }
    }
}

#[test]
fn with_four_objects_all_readings_but_one_are_wrong() {
    // b–a–c in a row, then x, which overlaps a and b. Named by order of consideration.
    let [a, b, c, x] = [0, 1, 2, 3];
    let graph = [vec![b, c, x], vec![a, x], vec![a], vec![a, b]];
    let right = [vec![a, b, x], vec![a, c]];
    assert_eq!(maximal_cliques(&graph), right);
    assert_eq!(figure_three(&graph, Reading::Maximal), right);
    let wrong = [vec![a, b, x], vec![a, c], vec![a, x]];
    assert_eq!(figure_three(&graph, Reading::NoDuplicates), wrong);
    assert_eq!(figure_three(&graph, Reading::EnlargedInPlace), wrong);
    // The same with b and c exchanged: now the part comes before the whole.
    let [a, c, b, x] = [0, 1, 2, 3];
    let graph = [vec![c, b, x], vec![a], vec![a, x], vec![a, b]];
    assert_eq!(figure_three(&graph, Reading::Maximal), [vec![a, c], vec![a, b, x]]);
    let wrong = [vec![a, c], vec![a, b, x], vec![a, x]];
    assert_eq!(figure_three(&graph, Reading::NoPartOfEarlier), wrong);
}

#[test]
fn the_reading_that_is_left_is_right_on_all_graphs_of_up_to_six() {
    for graph in (0..=6).flat_map(all_graphs) {
        assert_eq!(figure_three(&graph, Reading::Maximal), maximal_cliques(&graph), "{graph:?}");
    }
}

#[test]
fn the_methods_are_right_where_the_figure_is_not() {
    let [a, b, c] = [0.0, 1.5, -1.5].map(|x| aura(DVec3::new(x, 0.0, 0.0), 1.0));
    let x = aura(DVec3::new(0.75, 1.0, 0.0), 1.0);
    for auras in [[a, b, c, x], [a, c, b, x], [x, a, b, c], [c, x, b, a]] {
        let expected = maximal_cliques(&overlap_graph(&auras));
        assert_eq!(expected.len(), 2);
        for finder in &mut all_finders() {
            assert_eq!(sets(&find(finder, &auras)), expected, "{}", name(finder));
        }
    }
}
