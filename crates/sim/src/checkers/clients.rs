//! S3, R2, L5: an avatar follows the inputs of its own client, in order, once, and within the speed
//! limit; it waits for its client, and is the same when that comes back.

use super::Violations;
use jostle_proto::client::{ClientMessage, Credential, GatewayMessage, Limits, Refusal, Report};
use jostle_proto::{
    AVATARS_FROM, Address, Class, ClientId, ClientInput, Commit, GroupId, Input, Message, Object,
    ObjectId, Objects, Tick, is_home,
};
use std::collections::{BTreeMap, BTreeSet};

/// A gateway lets a host have so many avatars without a connection; of more, the oldest goes.
const AVATARS: usize = 3;

/// Units of position per unit of velocity and second.
pub(super) const PER_SECOND: f64 = 16.0;

/// Roundings of a step, in units of position.
pub(super) const SLACK: f64 = 2.0;

/// What the judge must know of the rules that gateways go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct House {
    pub(crate) limits: Limits,
    /// Ticks that an avatar may be absent.
    pub(crate) forget: u64,
    pub(crate) rate: u32,
}

#[derive(Default)]
pub(super) struct Clients {
    house: Option<House>,
    /// Whose avatar it is, by hosts.
    owner: BTreeMap<ObjectId, u32>,
    /// What clients said that avatars should do.
    wanted: BTreeMap<(ObjectId, u64), Vec<(u32, ClientInput)>>,
    /// What gateways made of it.
    corrected: BTreeSet<ClientInput>,
    /// The last input that was followed.
    followed: BTreeMap<ObjectId, u64>,
    /// Where avatars are at home, and where they are.
    places: BTreeMap<ObjectId, (GroupId, [i32; 3])>,
    /// Absent avatars: since when, and where.
    absent: BTreeMap<ObjectId, (Tick, [i32; 3])>,
    /// Avatars that were at home in that group before.
    left: BTreeSet<(GroupId, ObjectId)>,
    /// Avatars that moved while they were absent: since when is not known in ticks of their home.
    moved_absent: BTreeSet<ObjectId>,
    /// How long an avatar was last absent, in ticks.
    was_absent: BTreeMap<ObjectId, u64>,
    bye: BTreeSet<u32>,
    /// The avatar that a client asked for, and at which gateway.
    asked: BTreeMap<(ClientId, Address, u32), Option<Credential>>,
    /// The credentials that were given out.
    given: BTreeSet<Credential>,
    /// How often a host asked a gateway for a new avatar: connections and attempts.
    anew: BTreeMap<(u32, Address), BTreeSet<(u32, u32)>>,
}

impl Clients {
    pub(super) fn new(house: Option<House>) -> Clients {
        Clients { house, ..Clients::default() }
    }

    /// `is_there`: is the avatar of a credential in the world?
    pub(super) fn sent(
        &mut self,
        (from, to): (Address, Address),
        message: &Message,
        is_there: impl Fn(&Credential) -> bool,
        violations: &mut Violations,
    ) {
        match (from, to, message) {
            (Address::Client(client), _, Message::FromClient(message)) => match message {
                ClientMessage::Report(Report { input: Some(input), .. }) => {
                    let wanted = self.wanted.entry((input.avatar, input.number)).or_default();
                    wanted.push((client.host, *input));
                }
                ClientMessage::Report(_) => {}
                ClientMessage::Bye { .. } => {
                    self.bye.insert(client.host);
                }
                ClientMessage::Hello(hello) => {
                    if !hello.credential.as_ref().is_some_and(&is_there) {
                        let anew = self.anew.entry((client.host, to)).or_default();
                        anew.insert((client.connection, hello.attempt));
                    }
                    let asked = self.asked.entry((client, to, hello.attempt));
                    let asked = asked.or_insert(hello.credential);
                    // Who says different things in one attempt may get either.
                    if *asked != hello.credential {
                        *asked = None;
                    }
                }
            },
            (_, Address::Client(client), Message::ToClient(GatewayMessage::Welcome(welcome))) => {
                let avatar = welcome.credential.avatar;
                self.given.insert(welcome.credential);
                let owner = *self.owner.entry(avatar).or_insert(client.host);
                if owner != client.host {
                    let what =
                        format!("avatar {:x} of {owner} is given to {}", avatar.0, client.host);
                    violations.push(("R2", what));
                }
                if let Some(Some(asked)) = self.asked.get(&(client, from, welcome.attempt))
                    && self.given.contains(asked)
                    && asked.avatar != avatar
                    && is_there(asked)
                {
                    let what = format!(
                        "{} came back for {:x} and got {:x}",
                        client.host, asked.avatar.0, avatar.0
                    );
                    violations.push(("L5", what));
                }
            }
            (
                _,
                Address::Client(client),
                Message::ToClient(GatewayMessage::Refused { attempt, why }),
            ) if matches!(why, Refusal::Gone | Refusal::Credential) => {
                if let Some(Some(asked)) = self.asked.get(&(client, from, *attempt))
                    && self.given.contains(asked)
                    && is_there(asked)
                {
                    let (host, avatar) = (client.host, asked.avatar.0);
                    violations.push(("L5", format!("{host} came back for {avatar:x}: {why:?}")));
                }
            }
            (_, _, Message::ToClient(GatewayMessage::Correct { input, .. })) => {
                self.corrected.insert(*input);
            }
            _ => {}
        }
    }

    /// A new tick, and the world after it.
    pub(super) fn published(
        &mut self,
        commit: &Commit,
        world: &Objects,
        violations: &mut Violations,
    ) {
        let Some(house) = self.house else { return };
        for input in &commit.inputs {
            match input {
                Input::Enter(object) if is_home(object.class) && object.id >= AVATARS_FROM => {
                    self.followed.insert(object.id, 0);
                    self.places.insert(object.id, (commit.group, object.state.position));
                }
                // What comes after an avatar has moved to another group changes nothing.
                Input::Steer(input) if self.has_left(commit.group, input.avatar) => {}
                Input::Steer(input) if self.followed.contains_key(&input.avatar) => {
                    if !self.is_in(commit.group, input.avatar) {
                        let (id, group) = (input.avatar.0, commit.group.0);
                        let what = format!("avatar {id:x} is not at home in {group}: {input:?}");
                        violations.push(("S3", what));
                    }
                    self.steer(input, house, violations);
                }
                // Others hear of it later.
                Input::Depart(id, _) if self.is_in(commit.group, *id) => {
                    self.left.insert((commit.group, *id));
                }
                Input::Arrive(object, _) if object.id >= AVATARS_FROM => {
                    self.arrived(commit, object);
                }
                input if !input.object().is_some_and(|id| self.is_in(commit.group, id)) => {}
                // One that is on its way to another group arrives there as it left.
                Input::Absent(id) => {
                    let object = world.get(id).filter(|object| object.class == Class::Absent);
                    if let Some(object) = object {
                        let since = (commit.tick, object.state.position);
                        self.absent.entry(*id).or_insert(since);
                    }
                }
                Input::Return(id) => self.returned(*id, commit.tick, world, violations),
                Input::Remove(id) => self.removed(*id, commit.tick, house, violations),
                _ => {}
            }
        }
        self.walk(commit, world, house, violations);
    }

    /// An avatar is at home in another group from now on, where ticks have other numbers.
    fn arrived(&mut self, commit: &Commit, object: &Object) {
        if let Some((home, place)) = self.places.get_mut(&object.id) {
            self.left.insert((*home, object.id));
            (*home, *place) = (commit.group, object.state.position);
        }
        if let Some(absent) = self.absent.get_mut(&object.id) {
            *absent = (commit.tick, object.state.position);
            self.moved_absent.insert(object.id);
        }
    }

    /// Was this avatar at home in that group before, or is it on its way from there?
    fn has_left(&self, group: GroupId, avatar: ObjectId) -> bool {
        self.left.contains(&(group, avatar))
    }

    /// Is this avatar at home in that group?
    fn is_in(&self, group: GroupId, avatar: ObjectId) -> bool {
        self.places.get(&avatar).is_some_and(|(home, _)| *home == group)
    }

    fn steer(&mut self, input: &ClientInput, house: House, violations: &mut Violations) {
        let ClientInput { avatar, number, velocity, spin } = *input;
        let last = self.followed.insert(avatar, number).unwrap_or(0);
        if number <= last {
            let what = format!("avatar {:x} followed input {number} after {last}", avatar.0);
            violations.push(("S3", what));
        }
        let size = |parts: [i16; 3]| {
            parts.iter().map(|&part| f64::from(part) * f64::from(part)).sum::<f64>().sqrt()
        };
        let Limits { speed, spin: turns, .. } = house.limits;
        if size(velocity) > f64::from(speed) || size(spin) > f64::from(turns) {
            let what = format!("avatar {:x} goes {velocity:?}, turns {spin:?}", avatar.0);
            violations.push(("S3", what));
        }
        let as_wanted = |own: &ClientInput| own == input || self.corrected.contains(input);
        self.wanted(avatar, number, as_wanted, violations);
    }

    /// Did the client of this avatar want this, under this number?
    fn wanted(
        &self,
        avatar: ObjectId,
        number: u64,
        this: impl Fn(&ClientInput) -> bool,
        violations: &mut Violations,
    ) {
        let owner = self.owner.get(&avatar).copied();
        let wanted = self.wanted.get(&(avatar, number)).map(Vec::as_slice).unwrap_or_default();
        if !wanted.iter().any(|(host, own)| Some(*host) == owner && this(own)) {
            let what = format!("avatar {:x} of {owner:?} has no such input: {number}", avatar.0);
            violations.push(("R2", what));
        }
    }

    /// An avatar of a free-running world has followed an input and moves like this; what it ran
    /// into may have stopped it along some axes.
    pub(super) fn followed(
        &self,
        avatar: ObjectId,
        number: u64,
        velocity: [i16; 3],
        violations: &mut Violations,
    ) {
        let stopped = |own: &ClientInput| {
            velocity.iter().zip(own.velocity).all(|(&is, wanted)| is == wanted || is == 0)
        };
        let made = |own: &ClientInput| (own.avatar, own.number) == (avatar, number) && stopped(own);
        let corrected = || self.corrected.iter().any(made);
        self.wanted(avatar, number, |own| stopped(own) || corrected(), violations);
    }

    fn returned(&mut self, id: ObjectId, tick: Tick, world: &Objects, violations: &mut Violations) {
        if let Some((since, place)) = self.absent.remove(&id) {
            self.was_absent.insert(id, tick.0 - since.0);
            if world.get(&id).is_some_and(|object| object.state.position != place) {
                violations.push(("L5", format!("avatar {:x} came back elsewhere", id.0)));
            }
        }
    }

    fn removed(&mut self, id: ObjectId, tick: Tick, house: House, violations: &mut Violations) {
        let absent = self.absent.remove(&id).map(|(since, _)| tick.0 - since.0);
        let long = absent.or(self.was_absent.get(&id).copied()).unwrap_or(0);
        if long < house.forget && !self.moved_absent.contains(&id) {
            self.too_early(id, &format!("{long} ticks"), violations);
        }
        self.followed.remove(&id);
        self.places.remove(&id);
    }

    /// An avatar was removed that was not absent for long: its client must have gone for good, or
    /// have asked for many others.
    pub(super) fn too_early(&self, id: ObjectId, long: &str, violations: &mut Violations) {
        let owner = self.owner.get(&id).copied();
        let few = |host: u32| {
            let anew = self.anew.range((host, Address::Directory)..);
            anew.take_while(|((of, _), _)| *of == host).all(|(_, anew)| anew.len() <= AVATARS)
        };
        if let Some(host) = owner
            && !self.bye.contains(&host)
            && few(host)
        {
            let what = format!("avatar {:x} of {host} was removed, absent {long}", id.0);
            violations.push(("L5", what));
        }
    }

    /// No avatar got farther than it may.
    fn walk(
        &mut self,
        commit: &Commit,
        world: &Objects,
        house: House,
        violations: &mut Violations,
    ) {
        let far = f64::from(house.limits.speed) * PER_SECOND / f64::from(house.rate) + SLACK;
        for (id, (home, before)) in &mut self.places {
            if *home != commit.group {
                continue;
            }
            let Some(object) = world.get(id) else { continue };
            let position = object.state.position;
            let way = (0..3).map(|axis| f64::from(position[axis] - before[axis]).powi(2));
            let way = way.sum::<f64>().sqrt();
            if way > far {
                let (tick, id) = (commit.tick.0, id.0);
                let what = format!("tick {tick}: avatar {id:x} went {way} > {far}");
                violations.push(("S3", what));
            }
            *before = position;
        }
    }
}
