//! Users of the avatars that the world begins with: a stream of inputs for each group, straight to
//! its nodes.

use super::Cluster;
use crate::options::Operation;
use jostle_proto::{Address, ClientInput, GatewayId, Input, Message, NodeId, ObjectId, Stream};

/// The source of inputs for avatars of a group.
pub(super) struct Hand {
    pub(super) stream: Stream,
    pub(super) avatars: Vec<ObjectId>,
}

/// The source of the avatars that the world begins with.
pub(super) const HAND: GatewayId = GatewayId { number: u32::MAX, life: 1 };

impl Cluster {
    pub(super) fn steer(&mut self) {
        let hands = self.hands.len() as u64;
        let which = if hands > 1 { self.dice.below(hands) as usize } else { 0 };
        let Some((&group, hand)) = self.hands.iter_mut().nth(which) else { return };
        if !hand.avatars.is_empty() {
            let at = self.dice.below(hand.avatars.len() as u64) as usize;
            let avatar = hand.avatars[at];
            self.wants += 1;
            let velocity = [(); 3].map(|()| self.dice.between(-3000, 3000) as i16);
            let want = ClientInput { avatar, number: self.wants, velocity, spin: [0; 3] };
            hand.stream.push(vec![Input::Steer(want)]);
            // Only the newest counts there, and inputs are not answered.
            if self.options.operation == Operation::FreeRunning {
                hand.stream.heard(self.wants - 1);
            }
        }
        let Some(inputs) = hand.stream.message() else { return };
        for id in (0..self.nodes).map(NodeId) {
            let message = Message::Inputs(inputs.clone());
            let from = Address::Gateway(GatewayId { number: HAND.number - group.0, life: 1 });
            self.transmit(from, Address::Node(id), message);
        }
    }
}
