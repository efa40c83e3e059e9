//! What prevents progress, as text: for status, and for the log when it changes.

use super::{MetricsState, StatusGroup};
use jostle_proto::Time;
use std::collections::BTreeSet;

impl MetricsState {
    /// Everything that is known to prevent progress now.
    pub(super) fn prevented(&self, now: Time) -> Vec<String> {
        let directory = self.replicas.prevented(now);
        let nodes = self.loads.prevented(now);
        let links = links(&self.groups);
        let links = links.into_iter().map(|(a, b)| {
            format!("nodes {a} and {b} do not reach each other: one of them is left out")
        });
        directory.into_iter().chain(nodes).chain(links).collect()
    }
}

fn links(groups: &[StatusGroup]) -> BTreeSet<(u32, u32)> {
    groups.iter().flat_map(|group| group.failing_links.iter().copied()).collect()
}

/// Log lines about links that have begun to fail or work again.
pub(super) fn link_changes(before: &[StatusGroup], after: &[StatusGroup]) -> Vec<String> {
    let (old, new) = (links(before), links(after));
    let fails = new.difference(&old).map(|(a, b)| {
        format!(
            "nodes {a} and {b} do not reach each other, though both reach the directory: their \
             group goes on without one of them until they do"
        )
    });
    let works = old.difference(&new).map(|(a, b)| {
        // A restarted directory has forgotten the link, and finds it out again if it still fails.
        format!("nodes {a} and {b} may be in one group again")
    });
    fails.chain(works).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(links: &[(u32, u32)]) -> [StatusGroup; 1] {
        let (members, failing_links) = (Vec::new(), links.to_vec());
        let (backups, halt) = (2, None);
        let (group, view, stable, leader) = (0, 1, true, None);
        [StatusGroup { group, view, stable, leader, backups, halt, members, failing_links }]
    }

    #[test]
    fn a_link_that_fails_is_one_line_and_so_is_its_repair() {
        assert!(link_changes(&group(&[]), &group(&[])).is_empty());
        let [fails] = &link_changes(&group(&[]), &group(&[(0, 2)]))[..] else { panic!("one line") };
        assert!(fails.starts_with("nodes 0 and 2 do not reach each other"), "{fails}");
        assert!(link_changes(&group(&[(0, 2)]), &group(&[(0, 2)])).is_empty());
        let works = link_changes(&group(&[(0, 2)]), &group(&[]));
        assert_eq!(works, ["nodes 0 and 2 may be in one group again"]);
    }
}
