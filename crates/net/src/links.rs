//! The link state of a role: encodes messages to frames, and decodes them.

use jostle_proto::wire::{Limits, Receiver, Sender, WireError, is_reply};
use jostle_proto::{Address, Message};
use std::collections::BTreeMap;

/// Links of a role, at most; when there are more, all are reset, which costs only bytes.
const LINKS_MAX: usize = 1024;

/// The result of decoding a frame.
#[derive(Debug, Default)]
pub(crate) struct Unpacked {
    pub(crate) message: Option<Message>,
    /// Frames to be returned to the sender.
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

    /// Decodes a frame.
    pub(crate) fn unpack(&mut self, from: Address, frame: &[u8]) -> Result<Unpacked, WireError> {
        if is_reply(frame) {
            let back = self.sender(from).reply(frame)?;
            return Ok(Unpacked { message: None, back });
        }
        if self.receivers.len() >= LINKS_MAX && !self.receivers.contains_key(&from) {
            self.receivers.clear();
        }
        let receiver =
            self.receivers.entry(from).or_insert_with(|| Receiver::new(Limits::default()));
        let message = receiver.unpack(frame);
        // A rejected frame may have a reply, too.
        let back: Vec<Vec<u8>> = receiver.replies().collect();
        match message {
            Ok(message) => Ok(Unpacked { message, back }),
            Err(_) if !back.is_empty() => Ok(Unpacked { message: None, back }),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::transport::LARGEST_MESSAGE;
    use jostle_proto::wire::{HEADER_BYTES, Kind};

    /// A node that joined a world of 10,000 objects never received its part: the bundle was a frame
    /// that the transport rejected.
    #[test]
    fn no_frame_of_a_large_world_is_too_large_for_the_plane() {
        for kind in Kind::all() {
            let envelope = 1 + "g4294967295x4294967295".len();
            let most = envelope + HEADER_BYTES + kind.cap();
            assert!(most <= LARGEST_MESSAGE, "{kind:?}: {most} bytes");
        }
    }
}
