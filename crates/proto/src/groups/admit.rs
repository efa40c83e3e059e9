//! Where machines go that wait at the same time: the largest group that they and those that are
//! placed already can make, then the largest of the rest (Storey 2006, 3.3.7). No machine that is
//! placed is moved; [`super::form`] groups all anew.

use super::clique::STEPS_MAX;
use super::delays::Matrix;
use super::form::{Formation, GROUP_NODES_MAX, links};
use crate::object::NodeId;

/// A group that may take some of those who wait.
pub(crate) struct Room {
    /// How many it has.
    pub(crate) size: usize,
    /// Who of those who wait is near to all of them.
    pub(crate) near: Vec<NodeId>,
}

/// Some who go the same way.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Party {
    /// Into which of the rooms; none for a group of their own.
    pub(crate) into: Option<usize>,
    /// Ascending.
    pub(crate) nodes: Vec<NodeId>,
}

/// Partitions of all in the matrix; the one with the largest group comes first. Of equally large
/// groups the first room counts, and a new group last.
///
/// Rooms are as many as there may be groups, so a search may take fewer steps than that of
/// [`super::form`] the more there are; what it has found by then has to do.
pub(crate) fn admit(matrix: &Matrix, rooms: &[Room], formation: &Formation) -> Vec<Party> {
    let nodes = matrix.nodes();
    let graph = links(matrix, &[], &formation.thresholds);
    let size_max = formation.size_max.clamp(1, GROUP_NODES_MAX);
    let place = |node: &NodeId| nodes.binary_search(node).ok();
    let set = |near: &[NodeId]| near.iter().filter_map(place).fold(0u64, |set, at| set | 1 << at);
    let mut rooms: Vec<(usize, u64)> =
        rooms.iter().map(|room| (room.size, set(&room.near))).collect();
    let steps = STEPS_MAX / (rooms.len() as u32 + 1);
    let mut rest = u64::MAX.checked_shr(64 - nodes.len() as u32).unwrap_or(0);
    let mut parties = Vec::new();
    while rest != 0 {
        let into = rooms.iter().enumerate().map(|(at, &(size, near))| (Some(at), size, near));
        let best = into.chain([(None, 0, rest)]).rev().filter_map(|(into, size, near)| {
            let most = size_max.checked_sub(size).filter(|most| *most > 0)? as u32;
            let found = graph.largest(near & rest, most, steps).count_ones();
            let first = graph.first_of_size(near & rest, found, steps);
            let first = first.filter(|set| *set != 0)?;
            Some((size as u32 + found, into, first))
        });
        // The last of equal ones, which stand in reverse.
        let Some((_, into, party)) = best.max_by_key(|(size, ..)| *size) else { break };
        rest &= !party;
        if let Some((size, near)) = into.and_then(|at| rooms.get_mut(at)) {
            *size += party.count_ones() as usize;
            *near &= graph.linked_with_all(party);
        }
        let member = |(at, &node): (usize, &NodeId)| (party >> at & 1 == 1).then_some(node);
        parties.push(Party { into, nodes: nodes.iter().enumerate().filter_map(member).collect() });
    }
    parties
}

#[cfg(test)]
mod tests {
    use super::{Formation, Matrix, NodeId, Party, Room, admit};
    use crate::groups::{Sizes, Thresholds};
    use crate::time::Span;

    /// Who of `count` is near whom, and where they go in groups of at most `size_max`.
    fn parties(
        count: u32,
        near: &[(u32, u32)],
        rooms: &[(usize, &[u32])],
        size_max: usize,
    ) -> Vec<(Option<usize>, Vec<u32>)> {
        let nodes: Vec<NodeId> = (0..count).map(NodeId).collect();
        let mut matrix = Matrix::new(&nodes).unwrap();
        for &(a, b) in near {
            matrix.set(NodeId(a), NodeId(b), Span(1));
            matrix.set(NodeId(b), NodeId(a), Span(1));
        }
        let room = |(size, near): &(usize, &[u32])| Room {
            size: *size,
            near: near.iter().copied().map(NodeId).collect(),
        };
        let rooms: Vec<Room> = rooms.iter().map(room).collect();
        let thresholds = Thresholds { inclusion: Span(5), rejection: Span(7) };
        let formation = Formation { thresholds, size_max, sizes: Sizes::Largest };
        let found = admit(&matrix, &rooms, &formation);
        let plain = |Party { into, nodes }| (into, nodes.iter().map(|node| node.0).collect());
        found.into_iter().map(plain).collect()
    }

    #[test]
    fn the_largest_comes_first_and_rooms_before_new_groups() {
        let all = [(0, 1), (0, 2), (1, 2)];
        assert_eq!(parties(3, &all, &[], 8), [(None, vec![0, 1, 2])]);
        assert_eq!(parties(3, &all, &[(1, &[0, 1, 2])], 8), [(Some(0), vec![0, 1, 2])]);
        // Two can go into a room of one; three make a group that is as large.
        assert_eq!(parties(3, &all, &[(1, &[0, 1])], 8), [(Some(0), vec![0, 1]), (None, vec![2])]);
        // Not more than fit, and the others together.
        let full = parties(3, &all, &[(3, &[0, 1, 2])], 4);
        assert_eq!(full, [(Some(0), vec![0]), (None, vec![1, 2])]);
        // Near to the room is not near to each other.
        let apart = parties(2, &[], &[(2, &[0, 1])], 8);
        assert_eq!(apart, [(Some(0), vec![0]), (None, vec![1])]);
        assert_eq!(parties(0, &[], &[(2, &[])], 8), []);
        assert_eq!(parties(1, &[], &[(9, &[0])], 8), [(None, vec![0])]);
    }
}
