//! Interests, ignored pairs, and what they say about a pair.

use super::{State, World, WorldError, check_number, ordered};
use crate::id::BodyId;
use crate::interest::{InterestTarget, Interests, Policy, QueryKind};

impl World {
    /// Asks about a pair of bodies, or about all pairs of two groups' members. Where several
    /// interests concern a pair of bodies, the nearest one counts: of the body before that of its
    /// group, of the group before that of the group around it. A second interest of the same two
    /// replaces the first.
    ///
    /// An interest makes a pair exist that layers, families or two fixed bodies would leave out;
    /// ignored pairs stay ignored.
    ///
    /// # Errors
    /// Parties that are not there, a body with itself, a clearance that is not a number from 0 on.
    pub fn set_interest(
        &mut self,
        a: impl Into<InterestTarget>,
        b: impl Into<InterestTarget>,
        ask: QueryKind,
    ) -> Result<(), WorldError> {
        let (a, b) = (a.into(), b.into());
        check_number("clearance", ask.reach())?;
        self.known_parties(a, b)?;
        self.interests_mut(a)?.set(b, ask);
        self.interests_mut(b)?.set(a, ask);
        self.refresh_distance_pairs();
        self.mark_party(a)?;
        self.mark_party(b)
    }

    /// Takes back an interest. Says whether there was one.
    ///
    /// # Errors
    /// Parties that are not there.
    pub fn remove_interest(
        &mut self,
        a: impl Into<InterestTarget>,
        b: impl Into<InterestTarget>,
    ) -> Result<bool, WorldError> {
        let (a, b) = (a.into(), b.into());
        self.known_parties(a, b)?;
        let there = self.forget(a, b)?;
        self.refresh_distance_pairs();
        self.mark_party(a)?;
        self.mark_party(b)?;
        Ok(there)
    }

    /// Never compares two bodies (V-COLLIDE's deactivated pair).
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::SameBody`].
    pub fn ignore_pair(&mut self, a: BodyId, b: BodyId) -> Result<(), WorldError> {
        self.known_parties(a.into(), b.into())?;
        for (one, other) in [(a, b), (b, a)] {
            let ignored = &mut self.member_mut(one)?.ignored;
            if let Err(at) = ignored.binary_search(&other) {
                ignored.insert(at, other);
            }
            self.mark(one);
        }
        Ok(())
    }

    /// Compares two bodies again that were ignored.
    ///
    /// # Errors
    /// [`WorldError::UnknownBody`], [`WorldError::SameBody`].
    pub fn unignore_pair(&mut self, a: BodyId, b: BodyId) -> Result<(), WorldError> {
        self.known_parties(a.into(), b.into())?;
        for (one, other) in [(a, b), (b, a)] {
            self.member_mut(one)?.ignored.retain(|&id| id != other);
            self.mark(one);
        }
        Ok(())
    }

    /// What is asked about two bodies; `None` if they are not compared.
    #[must_use]
    pub fn asked(&self, a: BodyId, b: BodyId) -> Option<QueryKind> {
        let (first, second) = (self.members.get(a.0)?, self.members.get(b.0)?);
        let disabled = first.state != State::Enabled || second.state != State::Enabled;
        if a == b || disabled || first.ignored.binary_search(&b).is_ok() {
            return None;
        }
        if let Some(ask) = self.interest(a, b) {
            return Some(ask);
        }
        let Policy::Everything(ask) = self.settings.policy else { return None };
        let (first, second) = (&first.body, &second.body);
        let fixed = |body: &crate::Body| body.mobility == crate::Mobility::Fixed;
        let kin = first.family.is_some() && first.family == second.family;
        let meet = first.layers.meets(second.layers);
        (meet && !kin && !(fixed(first) && fixed(second))).then_some(ask)
    }

    /// The nearest interest of two bodies in each other.
    fn interest(&self, a: BodyId, b: BodyId) -> Option<QueryKind> {
        for one in self.parties(a) {
            let interests = self.interests(one);
            if interests.is_empty() {
                continue;
            }
            let ask = self.parties(b).find_map(|other| interests.get(other));
            if ask.is_some() {
                return ask;
            }
        }
        None
    }

    /// How far beyond itself a body's box must reach so that the boxes of any two that are asked
    /// about overlap: half the largest clearance that may concern it.
    pub(crate) fn reach(&self, id: BodyId) -> f64 {
        let always = match self.settings.policy {
            Policy::Everything(ask) => ask.reach(),
            Policy::InterestsOnly => 0.0,
        };
        let parties = self.parties(id).map(|party| self.interests(party).reach());
        0.5 * parties.fold(always, f64::max)
    }

    pub(super) fn forget_interests(&mut self, id: BodyId) -> Result<(), WorldError> {
        let member = self.member(id)?;
        let others: Vec<InterestTarget> = member.interests.iter().map(|(other, _)| other).collect();
        let ignored = member.ignored.clone();
        let had_interests = !others.is_empty() || member.body.group.is_some();
        for other in others {
            self.forget(id.into(), other)?;
        }
        for other in ignored {
            self.member_mut(other)?.ignored.retain(|&ignored| ignored != id);
        }
        if had_interests {
            self.distance_pairs.retain(|pair| !pair.contains(&id));
        }
        Ok(())
    }

    pub(super) fn forget(
        &mut self,
        a: InterestTarget,
        b: InterestTarget,
    ) -> Result<bool, WorldError> {
        let there = self.interests_mut(a)?.remove(b);
        self.interests_mut(b)?.remove(a);
        Ok(there)
    }

    fn known_parties(&self, a: InterestTarget, b: InterestTarget) -> Result<(), WorldError> {
        for party in [a, b] {
            match party {
                InterestTarget::Body(id) => drop(self.member(id)?),
                InterestTarget::Group(id) => drop(self.known_group(id)?),
            }
        }
        match (a, b) {
            (InterestTarget::Body(id), InterestTarget::Body(other)) if id == other => {
                Err(WorldError::SameBody(id))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn interests(&self, party: InterestTarget) -> &Interests {
        match party {
            InterestTarget::Body(id) => &self.members.at(id.slot()).interests,
            InterestTarget::Group(id) => &self.groups.at(id.0.slot).interests,
        }
    }

    fn interests_mut(&mut self, party: InterestTarget) -> Result<&mut Interests, WorldError> {
        match party {
            InterestTarget::Body(id) => Ok(&mut self.member_mut(id)?.interests),
            InterestTarget::Group(id) => {
                let group = self.groups.get_mut(id.0);
                Ok(&mut group.ok_or(WorldError::UnknownGroup(id))?.interests)
            }
        }
    }

    fn mark_party(&mut self, party: InterestTarget) -> Result<(), WorldError> {
        match party {
            InterestTarget::Body(id) => self.mark(id),
            InterestTarget::Group(id) => {
                self.group_members(id)?.into_iter().for_each(|member| self.mark(member));
            }
        }
        Ok(())
    }

    fn party_members(&self, party: InterestTarget) -> Vec<BodyId> {
        match party {
            InterestTarget::Body(id) => vec![id],
            InterestTarget::Group(id) => self.group_members(id).unwrap_or_default(),
        }
    }

    /// A body that came into a group may be one whose distances are wanted.
    pub(super) fn measure_newcomer(&mut self, id: BodyId) {
        let wanted =
            |party| self.interests(party).iter().any(|(_, ask)| ask == QueryKind::Distance);
        if self.parties(id).any(wanted) {
            self.refresh_distance_pairs();
        }
    }

    /// Pairs whose distance is wanted, however far apart they are; the broad phase cannot find
    /// those. Made anew when interests or groups change.
    pub(super) fn refresh_distance_pairs(&mut self) {
        let mut pairs = Vec::new();
        let bodies =
            self.members.iter().map(|(key, m)| (InterestTarget::Body(BodyId(key)), &m.interests));
        let groups = self.groups.iter();
        let groups =
            groups.map(|(key, g)| (InterestTarget::Group(crate::GroupId(key)), &g.interests));
        for (one, interests) in bodies.chain(groups) {
            let wanted =
                interests.iter().filter(|&(other, ask)| ask == QueryKind::Distance && one <= other);
            for (other, _) in wanted {
                for a in self.party_members(one) {
                    for b in self.party_members(other) {
                        if a != b && self.interest(a, b) == Some(QueryKind::Distance) {
                            pairs.push(ordered(a, b));
                        }
                    }
                }
            }
        }
        pairs.sort_unstable();
        pairs.dedup();
        self.distance_pairs = pairs;
    }
}
