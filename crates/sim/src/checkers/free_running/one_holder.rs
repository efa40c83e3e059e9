//! A1, A3, A4: one holder for each token, tokens that never fall, nothing that is let go before
//! another has it, and silence of those whose token is old.

use super::super::Sometimes;
use super::sight::{Change, Sight};
use super::{Notes, Violations};
use jostle_proto::{FreeRunningMessage, FreeRunningNode, Having, Member, NodeId, ObjectId, Token};
use std::collections::BTreeMap;

#[derive(Default)]
pub(super) struct OneHolder {
    /// Who has held an object under a token.
    given: BTreeMap<(ObjectId, Token), Member>,
    /// The last token under which each member held it.
    last: BTreeMap<(Member, ObjectId), Token>,
    /// The largest under which it was held, by which node, and by which before that.
    largest: BTreeMap<ObjectId, (Token, NodeId, Option<NodeId>)>,
    /// The largest that was lost with its holder.
    sunk: BTreeMap<ObjectId, Token>,
}

impl OneHolder {
    pub(super) fn saw(
        &mut self,
        node: &FreeRunningNode,
        change: &Change,
        sight: &Sight,
        notes: &mut Notes<'_>,
    ) {
        let Notes { violations, sometimes } = notes;
        let member = node.member();
        for (having, record) in node.holds() {
            if having != Having::Held {
                continue;
            }
            let (id, token) = (record.object.id, record.token);
            let owner = *self.given.entry((id, token)).or_insert(member);
            if owner != member {
                let (a, b) = (owner.node.0, member.node.0);
                let what = format!("object {}: {a} and {b} have had token {token:?}", id.0);
                violations.push(("A4", what));
            }
            let last = self.last.entry((member, id)).or_insert(token);
            if token < *last {
                let what =
                    format!("object {} at {}: {token:?} after {last:?}", id.0, member.node.0);
                violations.push(("A4", what));
            }
            *last = token;
            self.rise(id, token, member.node, sometimes);
        }
        for &(id, token) in &change.left {
            let sunk = self.sunk.get(&id).is_some_and(|sunk| *sunk >= token);
            if change.anew {
                self.sink(id, token);
            } else if !change.over.contains(&id)
                && !sunk
                && !sight.copies(id).any(|(_, _, record)| record.token >= token)
            {
                let what =
                    format!("{} let go of object {}, which no node has", member.node.0, id.0);
                violations.push(("A3", what));
            }
        }
    }

    fn rise(&mut self, id: ObjectId, token: Token, node: NodeId, sometimes: &mut Sometimes) {
        match self.largest.get_mut(&id) {
            Some((largest, holder, before)) if *largest < token => {
                sometimes.bounced += u64::from(*before == Some(node) && *holder != node);
                *largest = token;
                if *holder != node {
                    (*before, *holder) = (Some(*holder), node);
                }
            }
            Some(_) => {}
            None => {
                self.largest.insert(id, (token, node, None));
            }
        }
    }

    fn sink(&mut self, id: ObjectId, token: Token) {
        let sunk = self.sunk.entry(id).or_insert(token);
        *sunk = (*sunk).max(token);
    }

    /// A node has died with all that it had.
    pub(super) fn gone(&mut self, node: NodeId, sight: &Sight) {
        let seen = sight.nodes.get(&node);
        let lost: Vec<(ObjectId, Token)> = seen
            .into_iter()
            .flat_map(|seen| seen.records.values())
            .map(|(_, record)| (record.object.id, record.token))
            .collect();
        lost.into_iter().for_each(|(id, token)| self.sink(id, token));
    }

    pub(super) fn sent(
        &mut self,
        from: NodeId,
        message: &FreeRunningMessage,
        violations: &mut Violations,
    ) {
        let FreeRunningMessage::Ghosts { ghosts, .. } = message else { return };
        for ghost in ghosts {
            if let Some((largest, holder, _)) = self.largest.get(&ghost.object.id)
                && ghost.token < *largest
            {
                let (id, from, holder) = (ghost.object.id.0, from.0, holder.0);
                violations
                    .push(("A1", format!("{from} speaks for object {id}, which {holder} holds")));
            }
        }
    }
}
