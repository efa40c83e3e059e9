//! The ends of a role's links to all others: messages to frames, and back.

use jostle_proto::wire::{Limits, Receiver, Sender, WireError, is_reply};
use jostle_proto::{Address, Message};
use std::collections::BTreeMap;

/// Links that a role keeps; of more, all are forgotten and begin anew, which costs only bytes.
const LINKS_MAX: usize = 1024;

/// What a frame has brought.
#[derive(Debug, Default)]
pub(crate) struct Brought {
    pub(crate) message: Option<Message>,
    /// Frames to be sent back to whom it came from.
    pub(crate) back: Vec<Vec<u8>>,
}

/// The links of one role.
pub(crate) struct Links {
    rate: u32,
    senders: BTreeMap<Address, Sender>,
    receivers: BTreeMap<Address, Receiver>,
}

impl Links {
    pub(crate) fn new(rate: u32) -> Links {
        Links { rate, senders: BTreeMap::new(), receivers: BTreeMap::new() }
    }

    fn sender(&mut self, to: Address) -> &mut Sender {
        if self.senders.len() >= LINKS_MAX && !self.senders.contains_key(&to) {
            self.senders.clear();
        }
        self.senders.entry(to).or_insert_with(|| Sender::new(self.rate))
    }

    pub(crate) fn pack(
        &mut self,
        to: Address,
        message: &Message,
    ) -> Result<Vec<Vec<u8>>, WireError> {
        self.sender(to).pack(message)
    }

    /// A frame has come.
    pub(crate) fn take(&mut self, from: Address, frame: &[u8]) -> Result<Brought, WireError> {
        if is_reply(frame) {
            let back = self.sender(from).reply(frame)?;
            return Ok(Brought { message: None, back });
        }
        if self.receivers.len() >= LINKS_MAX && !self.receivers.contains_key(&from) {
            self.receivers.clear();
        }
        let receiver =
            self.receivers.entry(from).or_insert_with(|| Receiver::new(Limits::default()));
        let message = receiver.unpack(frame);
        // A frame that is refused may have a reply, too.
        let back: Vec<Vec<u8>> = receiver.replies().collect();
        match message {
            Ok(message) => Ok(Brought { message, back }),
            Err(_) if !back.is_empty() => Ok(Brought { message: None, back }),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plane::LARGEST_MESSAGE;
    use jostle_proto::wire::{HEADER_BYTES, Kind};

    /// A node that joined a world of 10,000 objects was never told its part: the bundle was a frame
    /// that the plane refused.
    #[test]
    fn no_frame_of_a_large_world_is_too_large_for_the_plane() {
        for kind in Kind::all() {
            let envelope = 1 + "g4294967295x4294967295".len();
            let most = envelope + HEADER_BYTES + kind.cap();
            assert!(most <= LARGEST_MESSAGE, "{kind:?}: {most} bytes");
        }
    }
}
