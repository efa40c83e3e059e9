//! JSON messages for tools: metres, seconds, radians; ids as text, because the integers of many
//! languages end at 2^53. See docs/client-protocol.md.

use jostle_proto::client::{ContactChange, Credential, Limits, Reason, Refusal, Welcome};
use jostle_proto::{
    Client, ClientInput, Form, ObjectId, POSITION_UNIT, State, Time, VELOCITY_UNIT,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Others in one message, at most: the nearest.
const OTHERS_MAX: usize = 256;

/// A message from a tool.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum JsonRequest {
    Hello {
        #[serde(default)]
        token: Option<String>,
        #[serde(default)]
        credential: Option<String>,
        #[serde(default)]
        rate: Option<u32>,
    },
    Steer {
        velocity: [f64; 3],
        #[serde(default)]
        spin: [f64; 3],
    },
    Bye,
}

/// A message to a tool.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub(super) enum JsonMessage<'a> {
    Welcome {
        world: &'a str,
        avatar: String,
        credential: String,
        tick: u64,
        ticks_per_second: u32,
        limits: LimitsJson,
        forms: Vec<ShapeJson>,
    },
    World {
        tick: u64,
        own: OwnJson,
        others: Vec<OtherJson>,
        contacts: Vec<[String; 2]>,
    },
    Contact {
        begins: bool,
        tick: u64,
        a: String,
        b: String,
    },
    Correct {
        reason: &'static str,
        velocity: [f64; 3],
        spin: [f64; 3],
    },
    Refused {
        why: &'a str,
    },
    /// A malformed message was ignored.
    Error {
        why: &'a str,
        expected: &'a str,
    },
    Kicked {
        why: &'a str,
    },
}

#[derive(Debug, Serialize)]
pub(super) struct LimitsJson {
    speed: f64,
    spin: f64,
    change: f64,
}

#[derive(Debug, Serialize)]
pub(super) struct ShapeJson {
    half: [f64; 3],
    content: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct OwnJson {
    position: [f64; 3],
    rotation: [f64; 4],
    velocity: [f64; 3],
    spin: [f64; 3],
}

#[derive(Debug, Serialize)]
pub(super) struct OtherJson {
    id: String,
    class: &'static str,
    shape: u32,
    position: [f64; 3],
    rotation: [f64; 4],
    /// Absent for an object without a recent update.
    #[serde(skip_serializing_if = "Option::is_none")]
    velocity: Option<[f64; 3]>,
}

/// Rounds to 0.1 mm, to keep messages short.
fn rounded<const N: usize>(parts: [f64; N], per_unit: f64) -> [f64; N] {
    parts.map(|part| (part * per_unit).round() / per_unit)
}

fn place(parts: [f64; 3]) -> [f64; 3] {
    rounded(parts, 1e4)
}

fn turn(parts: [f64; 4]) -> [f64; 4] {
    rounded(parts, 1e6)
}

fn speed(parts: [i16; 3]) -> [f64; 3] {
    place(parts.map(|part| f64::from(part) * VELOCITY_UNIT))
}

/// Converts a velocity to whole units; values out of range are clamped.
pub(super) fn whole(parts: [f64; 3]) -> [i16; 3] {
    // `as` saturates, and converts NaN to 0.
    parts.map(|part| (part / VELOCITY_UNIT).round() as i16)
}

fn id(id: ObjectId) -> String {
    id.0.to_string()
}

pub(super) fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Speed => "speed",
        Reason::Spin => "spin",
        Reason::Change => "change",
        Reason::Foreign => "foreign",
        Reason::Flood => "flood",
    }
}

pub(super) fn refusal(why: Refusal) -> &'static str {
    match why {
        Refusal::Protocol => "the protocol version is not supported",
        Refusal::Credential => "the credential is not valid in this world",
        Refusal::Full => "too many avatars, or too many attempts from this host",
        Refusal::Unknown => "the connection is not known: send a hello",
        Refusal::Gone => "the avatar does not exist any more",
        Refusal::Replaced => "the avatar is used by another connection now",
    }
}

/// What is wrong with a text, without quoting it.
pub(super) fn problem(error: &serde_json::Error) -> &'static str {
    use serde_json::error::Category;
    match error.classify() {
        Category::Syntax => "not JSON",
        Category::Eof => "incomplete JSON",
        Category::Data | Category::Io => "a field is missing or has the wrong type",
    }
}

/// Bytes of an error text, at most; it may quote what was sent.
const WHY_MAX: usize = 160;

pub(super) fn shortened(why: &str) -> &str {
    let end = (0..=WHY_MAX.min(why.len())).rev().find(|end| why.is_char_boundary(*end));
    why.get(..end.unwrap_or(0)).unwrap_or_default()
}

/// Encodes a credential as opaque text.
pub(super) fn credential_text(credential: &Credential) -> String {
    let bytes = postcard::to_allocvec(credential).unwrap_or_default();
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Decodes a credential; `None` if malformed.
pub(super) fn credential(text: &str) -> Option<Credential> {
    let bytes: Option<Vec<u8>> = text
        .as_bytes()
        .chunks(2)
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
        .collect();
    postcard::from_bytes(&bytes?).ok()
}

pub(super) fn welcome<'a>(world: &'a str, forms: &[Form], welcome: &Welcome) -> JsonMessage<'a> {
    let Limits { speed, spin, change } = welcome.limits;
    let form = |form: &Form| ShapeJson {
        half: form.half.map(|half| f64::from(half) * POSITION_UNIT),
        content: form.content.map(super::web::content_name),
    };
    JsonMessage::Welcome {
        world,
        avatar: id(welcome.credential.avatar),
        credential: credential_text(&welcome.credential),
        tick: welcome.tick.0,
        ticks_per_second: welcome.rate,
        limits: LimitsJson {
            speed: f64::from(speed) * VELOCITY_UNIT,
            spin: f64::from(spin) * VELOCITY_UNIT,
            change: f64::from(change) * VELOCITY_UNIT,
        },
        forms: forms.iter().map(form).collect(),
    }
}

pub(super) fn contact(change: &ContactChange) -> JsonMessage<'static> {
    let ContactChange { tick, a, b, begins, .. } = *change;
    JsonMessage::Contact { begins, tick: tick.0, a: id(a), b: id(b) }
}

pub(super) fn correct(want: &ClientInput, why: Reason) -> JsonMessage<'static> {
    let (velocity, spin) = (speed(want.velocity), speed(want.spin));
    JsonMessage::Correct { reason: reason(why), velocity, spin }
}

/// The world as the client sees it now; `None` before its first update.
pub(super) fn world(client: &mut Client, now: Time) -> Option<JsonMessage<'static>> {
    let own = client.own_shown(now)?;
    let state = client.own(now)?;
    let mut shown = client.others(now);
    let away = |at: [f64; 3]| {
        own.position.to_array().iter().zip(at).map(|(mine, at)| (mine - at).powi(2)).sum::<f64>()
    };
    if shown.len() > OTHERS_MAX {
        shown.sort_by(|a, b| {
            let [a, b] = [a, b].map(|shown| away(shown.place.position.to_array()));
            a.total_cmp(&b)
        });
        shown.truncate(OTHERS_MAX);
    }
    let seen = client.sees()?;
    let far: BTreeMap<ObjectId, State> = client.sees_far().iter().copied().collect();
    let velocity = |id| {
        let state = seen.get(id).map(|object| object.state).or_else(|| far.get(&id).copied());
        state.map(|state| speed(state.velocity))
    };
    let others = shown.iter().map(|other| OtherJson {
        id: id(other.id),
        class: other.class.word(),
        shape: other.shape.0,
        position: place(other.place.position.to_array()),
        rotation: turn(other.place.rotation.to_array()),
        velocity: velocity(other.id),
    });
    Some(JsonMessage::World {
        tick: seen.tick().0,
        own: OwnJson {
            position: place(own.position.to_array()),
            rotation: turn(own.rotation.to_array()),
            velocity: speed(state.velocity),
            spin: speed(state.spin),
        },
        others: others.collect(),
        contacts: client.contacts().map(|(a, b)| [id(a), id(b)]).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use jostle_proto::{GroupId, Tick};

    #[test]
    fn credentials_go_through_text() {
        let original = Credential {
            avatar: ObjectId(u64::MAX),
            since: Tick(7),
            home: GroupId(3),
            seal: 1 << 60,
        };
        assert_eq!(credential(&credential_text(&original)), Some(original));
        for text in ["", "zz", "0", "0102", "ab cd", "é"] {
            assert_eq!(credential(text), None, "{text}");
        }
    }

    #[test]
    fn the_report_about_a_malformed_message_is_short() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"ab".repeat(500)), "ab".repeat(80));
        assert_eq!(shortened(&"€".repeat(500)), "€".repeat(53));
    }

    #[test]
    fn speeds_stay_in_reach() {
        assert_eq!(whole([1.0, -0.5, 1e300]), [256, -128, i16::MAX]);
        assert_eq!(whole([f64::NAN, f64::NEG_INFINITY, 0.0]), [0, i16::MIN, 0]);
    }
}
