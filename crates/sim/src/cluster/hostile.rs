//! Clients that mean harm. They know everything that clients say, and the ids of all avatars; they
//! cannot make credentials, nor speak on the connections of others.

use super::{Cluster, What};
use jostle_proto::client::{ClientMessage, Credential, Hello, Report};
use jostle_proto::wire::PROTOCOL;
use jostle_proto::{
    Address, Client, ClientId, ClientInput, GatewayId, GroupId, Input, Inputs, Message, ObjectId,
    Source, Tick,
};

impl Cluster {
    /// An avatar of any client.
    fn any_avatar(&mut self) -> Option<ObjectId> {
        let at = self.dice.below(self.simulated_clients.people.len() as u64) as usize;
        self.client(at).and_then(Client::avatar)
    }

    fn made_up(&mut self, at: usize) -> u64 {
        let person = &mut self.simulated_clients.people[at];
        person.made_up += 1;
        person.made_up
    }

    fn any_velocity(&mut self) -> [i16; 3] {
        [(); 3].map(|()| self.dice.any() as i16)
    }

    pub(super) fn be_hostile(&mut self, at: usize) {
        let id = self.simulated_clients.people[at].id;
        let Some(client) = self.client(at) else { return };
        let (gate, attempt) = (Address::Gate(client.gate()), client.attempt());
        let own = client.avatar();
        let report = |want| ClientMessage::Report(Report { attempt, ack: None, want });
        match self.dice.below(9) {
            // Moves the avatar of another.
            0 | 1 => {
                let (avatar, number) = (self.any_avatar(), self.made_up(at));
                let velocity = self.any_velocity().map(|along| along / 32);
                let want =
                    avatar.map(|avatar| ClientInput { avatar, number, velocity, spin: [0; 3] });
                self.send_as(id, gate, report(want));
            }
            // Says that it is another.
            2 => {
                let (Some(avatar), seal) = (self.any_avatar(), self.dice.any()) else { return };
                let home = GroupId(0);
                let credential = Some(Credential { avatar, since: Tick(0), home, seal });
                let attempt = attempt + 1;
                let hello = Hello { credential, protocol: PROTOCOL, attempt };
                self.send_as(id, gate, ClientMessage::Hello(hello));
            }
            // Says again what it has said, or heard.
            3 => {
                for _ in 0..4 {
                    let at =
                        self.dice.below(self.simulated_clients.overheard.len() as u64) as usize;
                    let Some(message) = self.simulated_clients.overheard.get(at).copied() else {
                        return;
                    };
                    self.send_as(id, gate, message);
                }
            }
            // Goes faster than light.
            4 => {
                let (number, velocity) = (self.made_up(at), self.any_velocity());
                let spin = self.any_velocity();
                let want = own.map(|avatar| ClientInput { avatar, number, velocity, spin });
                self.send_as(id, gate, report(want));
            }
            5 => {
                for _ in 0..150 {
                    self.send_as(id, gate, report(None));
                }
            }
            6 => self.garbage(id, gate, report(None)),
            // Comes many times over.
            7 => {
                for connection in 0..24 {
                    let id = ClientId { host: id.host, connection: 1_000_000 + connection };
                    let hello = Hello { credential: None, protocol: PROTOCOL, attempt: 1 };
                    self.send_as(id, gate, ClientMessage::Hello(hello));
                }
            }
            // Says nothing.
            _ => {
                let until = self.soon(2_000_000);
                let id = Address::Client(id);
                self.machines.entry(id).and_modify(|machine| machine.paused = until);
            }
        }
    }

    /// Bytes of any kind, and messages that only nodes may send.
    fn garbage(&mut self, id: ClientId, gate: Address, model: ClientMessage) {
        let Ok(mut frame) = model.write() else { return };
        for _ in 0..20 {
            let at = self.dice.below(frame.len() as u64) as usize;
            frame[at] = self.dice.any() as u8;
            if let Ok(message) = ClientMessage::read(&frame) {
                self.send_as(id, gate, message);
            }
        }
        let source = Source::Gateway(GatewayId { number: 0, life: 99 });
        let victim = self.any_avatar().unwrap_or(ObjectId(1));
        let inputs = vec![vec![Input::Remove(victim)]];
        let forged = Message::Inputs(Inputs { group: GroupId(0), source, first: 1, inputs });
        self.after(1000, What::Deliver(gate, Address::Client(id), forged));
    }

    /// A message that no client of ours would have sent.
    fn send_as(&mut self, from: ClientId, gate: Address, message: ClientMessage) {
        let (from, message) = (Address::Client(from), Message::FromClient(message));
        self.checkers.sent(self.now, from, gate, &message);
        self.transmit(from, gate, message);
    }
}
