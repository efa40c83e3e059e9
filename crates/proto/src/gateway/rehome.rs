//! Avatars whose group has moved them to another one: where they are now, by what the groups that
//! are followed say, and how their clients come there.

use super::Gateway;
use super::arrive::Parting;
use super::group_link::GroupLink;
use crate::client::{ClientId, GatewayMessage, Refusal};
use crate::groups::GroupId;
use crate::node::Output;
use crate::object::ObjectId;

impl Gateway {
    /// Where an avatar is at home by now that was at home in this group, as far as is known. If
    /// that group has ended, some other one knows; and the first group has heard of everything
    /// that has moved out of a group before that could end.
    pub(super) fn current_home(&self, avatar: ObjectId, home: GroupId) -> GroupId {
        let lives = |link: &&GroupLink| !link.is_over;
        let mut now = home;
        if self.group_links.get(&home).is_some_and(|link| link.is_over) {
            let mut group_links = self.group_links.iter().filter(|(_, link)| lives(link));
            let at_home = group_links.clone().find(|(_, link)| link.class_of(avatar).is_some());
            now = at_home
                .map(|(&group, _)| group)
                .or_else(|| group_links.find_map(|(_, link)| link.elsewhere(avatar)))
                .filter(|found| *found != home)
                .unwrap_or(GroupId(0));
        }
        let next = |group| self.group_links.get(&group).filter(lives)?.elsewhere(avatar);
        // Homes move to older groups only, so this ends.
        while let Some(older) = next(now).filter(|next| *next < now) {
            now = older;
        }
        now
    }

    /// Does some group have a copy of it? Then it is at home somewhere, or on its way.
    pub(super) fn is_copied(&self, avatar: ObjectId) -> bool {
        let mut group_links = self.group_links.values().filter(|link| !link.is_over);
        group_links.any(|link| link.elsewhere(avatar).is_some())
    }

    /// Is it at home in this group, which has not ended?
    fn is_at_home(&self, group: GroupId, avatar: ObjectId) -> bool {
        let link = self.group_links.get(&group).filter(|link| !link.is_over);
        link.is_some_and(|link| link.class_of(avatar).is_some())
    }

    /// The avatar of a connection has moved, or is on its way. Its client is served where it was
    /// until it is there; then the client comes in again, and is welcomed where its avatar is now.
    pub(super) fn follow_home(&mut self, client: ClientId, out: &mut Vec<Output>) {
        let Some(session) = self.sessions.get(&client) else { return };
        let (avatar, attempt) = (session.avatar, session.attempt);
        let home = self.current_home(avatar, session.home);
        self.open(self.woke, home);
        if self.is_at_home(home, avatar) {
            self.send_to_client(
                client,
                GatewayMessage::Refused { attempt, why: Refusal::Unknown },
                out,
            );
            self.part(client, Parting::Moved);
        }
    }

    /// The group of a connection's avatar has ended: it has moved to another group before, or is no
    /// more.
    pub(super) fn leave_ended(&mut self, client: ClientId, out: &mut Vec<Output>) {
        let Some(session) = self.sessions.get(&client) else { return };
        let (avatar, attempt) = (session.avatar, session.attempt);
        let home = self.current_home(avatar, session.home);
        let link = self.group_links.get(&home);
        let known = link.is_some_and(|link| link.is_over || link.known_tick().is_some());
        if self.is_at_home(home, avatar) || self.is_copied(avatar) || !known {
            return self.follow_home(client, out);
        }
        self.send_to_client(client, GatewayMessage::Refused { attempt, why: Refusal::Gone }, out);
        self.part(client, Parting::Moved);
    }
}
