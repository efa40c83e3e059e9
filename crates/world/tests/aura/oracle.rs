//! The relations by the textbook: Bron and Kerbosch's algorithm with pivots (C. Bron, J. Kerbosch,
//! *Finding all cliques of an undirected graph*, 1973) on the overlap graph.

use glam::DVec3;
use jostle_world::aura::Aura;

/// An aura that is known to be valid.
pub(crate) fn aura(centre: DVec3, radius: f64) -> Aura {
    Aura::new(centre, radius).unwrap_or_else(|error| panic!("{error}"))
}

/// Whom each overlaps, in order.
pub(crate) fn overlap_graph(auras: &[Aura]) -> Vec<Vec<u32>> {
    let objects = 0..auras.len() as u32;
    let overlaps = |a: u32, b: u32| auras[a as usize].overlaps(&auras[b as usize]);
    let of = |a| objects.clone().filter(|&b| a != b && overlaps(a, b)).collect();
    objects.clone().map(of).collect()
}

/// All maximal cliques of a graph, in order.
pub(crate) fn maximal_cliques(graph: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut cliques = Vec::new();
    if !graph.is_empty() {
        let all = (0..graph.len() as u32).collect();
        extend(graph, &mut Vec::new(), all, Vec::new(), &mut cliques);
    }
    cliques.sort();
    cliques
}

fn extend(
    graph: &[Vec<u32>],
    clique: &mut Vec<u32>,
    mut candidates: Vec<u32>,
    mut done: Vec<u32>,
    out: &mut Vec<Vec<u32>>,
) {
    let adjacent = |a: u32, b: u32| graph[a as usize].binary_search(&b).is_ok();
    let among = |of: u32, set: &[u32]| -> Vec<u32> {
        set.iter().copied().filter(|&other| adjacent(of, other)).collect()
    };
    let pivots = candidates.iter().chain(&done);
    let Some(&pivot) = pivots.max_by_key(|&&pivot| among(pivot, &candidates).len()) else {
        let mut found = clique.clone();
        found.sort_unstable();
        out.push(found);
        return;
    };
    for next in candidates.clone().into_iter().filter(|&next| !adjacent(pivot, next)) {
        clique.push(next);
        extend(graph, clique, among(next, &candidates), among(next, &done), out);
        clique.pop();
        candidates.retain(|&other| other != next);
        done.push(next);
    }
}

#[test]
fn the_oracle_knows_small_graphs() {
    assert_eq!(maximal_cliques(&[]), Vec::<Vec<u32>>::new());
    assert_eq!(maximal_cliques(&[vec![]]), [vec![0]]);
    // A triangle with a tail, and one alone.
    let graph = [vec![1, 2], vec![0, 2], vec![0, 1, 3], vec![2], vec![]];
    assert_eq!(maximal_cliques(&graph), [vec![0, 1, 2], vec![2, 3], vec![4]]);
    // Moon and Moser's graphs: 3^(n/3) cliques.
    let of = |a: u32| (0..9).filter(|&b| a / 3 != b / 3).collect::<Vec<u32>>();
    assert_eq!(maximal_cliques(&(0..9).map(of).collect::<Vec<_>>()).len(), 27);
}
