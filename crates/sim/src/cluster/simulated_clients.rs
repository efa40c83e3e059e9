//! Gateways and clients: who they are, what is wrong with their lines, and what they do.

use super::machine::Role;
use super::{Cluster, Operation, What};
use crate::checkers::House;
use crate::dice::Dice;
use crate::faults::{FaultProfile, Faults};
use crate::world::Start;
use jostle_proto::client::{ClientMessage, Credential, Limits};
use jostle_proto::{
    Address, Allowance, Block, Client, ClientId, ClientSettings, Gateway, GatewayId,
    GatewaySettings, Interest, Key, ShapeId, Span, Time,
};
use std::collections::VecDeque;

/// Clients stand still for so long before the end: then what they predict must be the world.
const STILL: u64 = 2_000_000;

/// Messages that hostile clients have overheard, at most.
pub(super) const OVERHEARD: usize = 64;

/// Faults of gateways and clients, per million and millisecond.
#[derive(Clone, Copy, Debug, Default)]
struct Troubles {
    client_crash: u32,
    client_pause: u32,
    cut: u32,
    gateway_crash: u32,
    gateway_pause: u32,
    gateway_parted: u32,
}

/// A user with a client.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) hostile: bool,
    /// Its present connection.
    pub(super) id: ClientId,
    /// Where it is.
    site: u32,
    /// What its line is like.
    line: Faults,
    /// What it has written down for the time after a crash.
    note: Option<Credential>,
    /// Numbers that it makes up.
    pub(super) made_up: u64,
}

/// All gateways and clients.
pub(super) struct SimulatedClients {
    pub(super) gates: u32,
    pub(super) people: Vec<Person>,
    pub(super) settings: GatewaySettings,
    troubles: Troubles,
    pub(super) overheard: VecDeque<ClientMessage>,
}

impl SimulatedClients {
    /// As the seed draws it. Without clients, nothing is drawn.
    pub(super) fn draw(
        clients: u32,
        fault_profile: FaultProfile,
        start: &Start,
        dice: &mut Dice,
    ) -> SimulatedClients {
        let settings = settings(clients, start, dice);
        let mut simulated_clients = SimulatedClients {
            gates: 0,
            people: Vec::new(),
            settings,
            troubles: Troubles::default(),
            overheard: VecDeque::new(),
        };
        if clients == 0 {
            return simulated_clients;
        }
        simulated_clients.gates = 2 + dice.below(2) as u32;
        let campaign = fault_profile == FaultProfile::Campaign;
        let hostile =
            if campaign && dice.coin() { dice.below(u64::from(clients) / 2 + 1) } else { 0 };
        for host in 0..clients {
            let line = match fault_profile {
                FaultProfile::None => Faults { delay: 5_000, jitter: 2_000, ..Faults::default() },
                _ => Faults {
                    delay: 1000 + dice.below(80_000),
                    jitter: dice.below(30_000),
                    loss: dice.below(100_000) as u32,
                    doubled: dice.below(50_000) as u32,
                    clogged: dice.below(5_000) as u32,
                    ..Faults::default()
                },
            };
            let hostile = u64::from(host) < hostile;
            let id = ClientId { host, connection: 0 };
            let (site, note) = (0, None);
            simulated_clients.people.push(Person {
                hostile,
                id,
                site,
                line,
                note,
                made_up: 1 << 32,
            });
        }
        if campaign {
            let mut pick = |most: u64| if dice.coin() { dice.below(most + 1) as u32 } else { 0 };
            simulated_clients.troubles = Troubles {
                client_crash: pick(3_000),
                client_pause: pick(2_000),
                cut: pick(2_000),
                gateway_crash: pick(1_500),
                gateway_pause: pick(1_000),
                gateway_parted: pick(1_000),
            };
        }
        simulated_clients
    }

    /// What the judges must know.
    pub(super) fn house(&self, rate: u32) -> Option<House> {
        let GatewaySettings { limits, forget, .. } = self.settings;
        let forget = forget.0 * u64::from(rate) / 1_000_000;
        (self.gates > 0).then_some(House { limits, forget, rate })
    }

    /// Everything that breaks is mended.
    pub(super) fn heal(&mut self) {
        self.troubles = Troubles::default();
        for person in &mut self.people {
            person.line = person.line.healed();
        }
    }

    /// The line between a client and any other machine.
    pub(super) fn line(&self, from: Address, to: Address) -> Option<Faults> {
        let ((Address::Client(id), _) | (_, Address::Client(id))) = (from, to) else { return None };
        self.people.get(id.host as usize).map(|person| person.line)
    }
}

fn settings(clients: u32, start: &Start, dice: &mut Dice) -> GatewaySettings {
    let extent = start.extent;
    let places = Block { min: extent.min.map(|x| x * 3 / 4), max: extent.max.map(|x| x * 3 / 4) };
    let mut settings = GatewaySettings {
        limits: Limits { speed: 2000, spin: 500, change: 20_000 },
        shape: ShapeId(1),
        places,
        near: 12,
        sessions: (2 * clients as usize).max(8),
        host_sessions: 2,
        hellos: Allowance { per_second: 10, most: 10 },
        ban: Span::from_ms(1000),
        silence: Span::from_ms(800),
        idle: Span::from_ms(2000),
        forget: Span::from_ms(60_000),
        ..GatewaySettings::default()
    };
    if clients > 0 {
        settings.key = Key([dice.any(), dice.any()]);
        settings.interest = match dice.below(4) {
            0 => Interest::Everyone,
            1 => Interest::Regions { size: 4.0 },
            _ => Interest::Auras { reach: 4.0 },
        };
        settings.every = 1 + dice.below(2);
        if dice.below(4) == 0 {
            settings.forget = Span::from_ms(1000);
        }
        if dice.below(4) == 0 {
            settings.budget = 300;
        }
    }
    settings
}

impl Cluster {
    /// Builds all of them.
    pub(super) fn add_simulated_clients(&mut self) {
        for number in 0..self.simulated_clients.gates {
            if self.sites.count > 1 {
                self.sites.place_gate(number, &mut self.dice);
            }
            let gateway = self.new_gateway(GatewayId { number, life: 1 });
            self.add_machine(Address::Gate(number), gateway);
        }
        for at in 0..self.simulated_clients.people.len() {
            if self.sites.count > 1 {
                self.simulated_clients.people[at].site =
                    self.dice.below(self.sites.count.into()) as u32;
            }
            self.add_client(at);
            let later = self.dice.below(500_000);
            self.after(later, What::UserAction(at));
        }
    }

    fn new_gateway(&self, id: GatewayId) -> Role {
        let (shapes, settings) = (self.start.shapes.clone(), self.simulated_clients.settings);
        let gateway = Gateway::new(id, shapes, self.timing, settings);
        let beside = self.sites.beside.get(&Address::Gate(id.number));
        let gateway = match (self.options.operation, beside) {
            (Operation::FreeRunning, _) => gateway.free_running(&self.static_objects),
            (Operation::Lockstep, Some(&node)) => gateway.beside(node),
            (Operation::Lockstep, None) => gateway,
        };
        Role::Gateway(Box::new(gateway.with_mutant(self.options.mutant)))
    }

    fn add_client(&mut self, at: usize) {
        let client = self.new_client(at);
        let Person { id, site, .. } = self.simulated_clients.people[at];
        self.sites.of.insert(Address::Client(id), site);
        self.add_machine(Address::Client(id), client);
    }

    fn new_client(&mut self, at: usize) -> Role {
        let gates = self.simulated_clients.gates;
        let first = self.dice.below(u64::from(gates)) as u32;
        let gates = (0..gates).map(|gate| (first + gate) % gates).collect();
        let gates = self.sites.gates_near(self.simulated_clients.people[at].site, gates);
        let settings = ClientSettings {
            patience: Span::from_ms(800),
            refresh: Span::from_ms(500),
            ..ClientSettings::default()
        };
        let Person { id, note, .. } = self.simulated_clients.people[at];
        let client = Client::new(id, gates, self.start.shapes.clone(), settings);
        Role::Client(Box::new(client.with_credential(note)))
    }

    fn any_person(&mut self) -> usize {
        self.dice.below(self.simulated_clients.people.len() as u64) as usize
    }

    fn any_gate(&mut self) -> Address {
        Address::Gate(self.dice.below(u64::from(self.simulated_clients.gates)) as u32)
    }

    /// Throws for every kind of trouble.
    pub(super) fn simulated_clients_fate(&mut self) {
        let Troubles { client_crash, client_pause, cut, gateway_crash, .. } =
            self.simulated_clients.troubles;
        let Troubles { gateway_pause, gateway_parted, .. } = self.simulated_clients.troubles;
        if self.simulated_clients.people.is_empty() {
            return;
        }
        if self.dice.once_in_million(client_crash) {
            let at = self.any_person();
            self.crash_client(at);
        }
        if self.dice.once_in_million(client_pause) {
            let at = self.any_person();
            let (id, until) =
                (Address::Client(self.simulated_clients.people[at].id), self.soon(2_000_000));
            self.machines.entry(id).and_modify(|machine| machine.paused = until);
        }
        if self.dice.once_in_million(cut) {
            let at = self.any_person();
            let (id, gate) =
                (Address::Client(self.simulated_clients.people[at].id), self.any_gate());
            let until = self.soon(2_000_000);
            self.cuts.insert((id, gate), until);
            if self.dice.coin() {
                self.cuts.insert((gate, id), until);
            }
        }
        if self.dice.once_in_million(gateway_pause) {
            let (gate, until) = (self.any_gate(), self.soon(2_000_000));
            self.machines.entry(gate).and_modify(|machine| machine.paused = until);
        }
        if self.dice.once_in_million(gateway_parted) {
            let (gate, until) = (self.any_gate(), self.soon(2_000_000));
            self.machines.entry(gate).and_modify(|machine| machine.parted = until);
        }
        if self.dice.once_in_million(gateway_crash) {
            let gate = self.any_gate();
            self.crash_gateway(gate);
        }
    }

    fn crash_gateway(&mut self, gate: Address) {
        let Some(machine) = self.machines.get_mut(&gate) else { return };
        if machine.role.take().is_some() {
            machine.alarm += 1;
            self.checkers.gateway_crashed();
            let later = 100_000 + self.dice.below(1_500_000);
            self.after(later, What::Reopen(gate));
        }
    }

    /// A gateway that died comes back in its next life and knows nothing.
    pub(super) fn reopen(&mut self, gate: Address) {
        let (Address::Gate(number), Some(machine)) = (gate, self.machines.get_mut(&gate)) else {
            return;
        };
        machine.life += 1;
        machine.alarm += 1;
        let (life, alarm) = (machine.life, machine.alarm);
        let gateway = self.new_gateway(GatewayId { number, life });
        self.machines.entry(gate).and_modify(|machine| machine.role = Some(gateway));
        self.after(0, What::Wake(gate, alarm));
    }

    /// A client dies; it may have written down who it is.
    fn crash_client(&mut self, at: usize) {
        let note = self.client(at).and_then(Client::credential);
        let kept = self.dice.below(4) != 0;
        let person = &mut self.simulated_clients.people[at];
        let id = Address::Client(person.id);
        if self.machines.remove(&id).is_some() {
            person.note = note.filter(|_| kept);
            let later = 50_000 + self.dice.below(1_500_000);
            self.after(later, What::ComeBack(at));
        }
    }

    /// A client comes back, on a new connection.
    pub(super) fn come_back(&mut self, at: usize) {
        let gone = Address::Client(self.simulated_clients.people[at].id);
        self.sites.of.remove(&gone);
        self.simulated_clients.people[at].id.connection += 1;
        self.add_client(at);
    }

    pub(super) fn client(&self, at: usize) -> Option<&Client> {
        let id = Address::Client(self.simulated_clients.people.get(at)?.id);
        match self.machines.get(&id)?.role.as_ref()? {
            Role::Client(client) => Some(client),
            _ => None,
        }
    }

    pub(super) fn client_mut(&mut self, at: usize) -> Option<(&mut Client, Time)> {
        let id = Address::Client(self.simulated_clients.people.get(at)?.id);
        let machine = self.machines.get_mut(&id)?;
        let now = machine.local(self.now);
        match machine.role.as_mut()? {
            Role::Client(client) => Some((client, now)),
            _ => None,
        }
    }

    /// A user does something.
    pub(super) fn user_action(&mut self, at: usize) {
        let later = 30_000 + self.dice.below(300_000);
        self.after(later, What::UserAction(at));
        if self.simulated_clients.people[at].hostile {
            return self.be_hostile(at);
        }
        let still = self.now.0 + STILL > self.planned_end().0;
        // Removal is hard only where inputs have no common order.
        let seldom = match self.options.operation {
            Operation::Lockstep => 100,
            Operation::FreeRunning => 25,
        };
        let leaves = !still && self.now < self.heal_at && self.dice.below(seldom) == 0;
        let looks = self.dice.below(4) == 0;
        let velocity = [(); 3].map(|()| self.dice.between(-1500, 1500) as i16);
        let velocity = if still || self.dice.below(5) == 0 { [0; 3] } else { velocity };
        let id = Address::Client(self.simulated_clients.people[at].id);
        let Some((client, now)) = self.client_mut(at) else { return };
        if leaves {
            let mut out = Vec::new();
            client.bye(&mut out);
            self.work(id, out);
            self.machines.remove(&id);
            self.simulated_clients.people[at].note = None;
            let later = 50_000 + self.dice.below(500_000);
            return self.after(later, What::ComeBack(at));
        }
        client.steer(now, velocity, [0; 3]);
        if looks {
            client.others(now);
            client.own_shown(now);
        }
        self.set_alarm(id);
    }

    /// L5: when all is well again all clients are in, and their avatars stand where they believe.
    pub(super) fn judge_clients(&mut self) {
        let mut violations = Vec::new();
        for at in 0..self.simulated_clients.people.len() {
            if self.simulated_clients.people[at].hostile {
                continue;
            }
            let Some((client, now)) = self.client_mut(at) else {
                violations.push(("L5", format!("client {at} is not there")));
                continue;
            };
            let (active, own) = (client.is_active(), client.own(now));
            if !active {
                violations.push(("L5", format!("client {at} is not in, gate {}", client.gate())));
                continue;
            }
            let credential = client.credential();
            let right = credential.and_then(|credential| self.checkers.avatar(&credential));
            if right != own || right.is_none_or(|state| state.velocity != [0; 3]) {
                violations.push(("L5", format!("client {at} is at {right:?} and thinks {own:?}")));
            }
        }
        self.checkers.note(self.now, violations);
    }
}
