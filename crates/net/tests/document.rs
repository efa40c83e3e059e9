//! docs/client-protocol.md agrees with the code: every block of hex in it is what is encoded.

use jostle_net::manifest::{
    EdgeResponse, Handshake, OperationMode, PROTOCOL, Purpose, WorldManifest,
};
use jostle_proto::client::{
    ContactChange, Credential, Hello, Limits, Reason, Refusal, Report, StateUpdate, Welcome,
};
use jostle_proto::wire::{self, Snapshot, light};
use jostle_proto::{
    Block, Class, ClientInput, ClientMessage, Content, Form, GatewayMessage, GroupId, Object,
    ObjectId, ShapeId, State, Tick,
};
use std::collections::BTreeMap;

const DOCUMENT: &str = include_str!("../../../docs/client-protocol.md");

/// The blocks that begin with ```hex and a name.
fn blocks() -> BTreeMap<String, Vec<u8>> {
    let mut blocks = BTreeMap::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        let Some(name) = line.strip_prefix("```hex ") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        let bytes = block.iter().flat_map(|line| {
            // Comments follow a semicolon.
            line.split(';').next().unwrap_or_default().split_whitespace()
        });
        let bytes = bytes.map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
        assert_eq!(blocks.insert(name.to_string(), bytes), None, "{name} occurs twice");
    }
    blocks
}

const AVATAR: ObjectId = ObjectId(1 << 63 | 1 << 28 | 1);

fn credential() -> Credential {
    Credential { avatar: AVATAR, since: Tick(300), home: GroupId(2), seal: 0x0123_4567_89ab_cdef }
}

fn want() -> ClientInput {
    ClientInput { avatar: AVATAR, number: 65537, velocity: [256, 0, -128], spin: [0, 402, 0] }
}

fn avatar() -> Object {
    let state = State { position: [4096, -2048, 0], velocity: [256, 0, -128], ..State::default() };
    Object { id: AVATAR, class: Class::Avatar, shape: ShapeId(0), state }
}

fn near() -> Vec<u8> {
    let wall = Object {
        id: ObjectId(1),
        class: Class::Immovable,
        shape: ShapeId(1),
        state: State { position: [16384, 0, 0], ..State::default() },
    };
    let mut near = Vec::new();
    Snapshot::new(Tick(301), vec![wall, avatar()]).unwrap().encode(&mut near);
    near
}

fn far() -> Vec<u8> {
    let ball = State { position: [81920, 0, 1000], velocity: [5, -1000, 0], ..State::default() };
    let mut far = Vec::new();
    light::encode(avatar().state.position, &[(ObjectId(2), ball)], &mut far).unwrap();
    far
}

fn envelope(bytes: Vec<u8>) -> Vec<u8> {
    [(bytes.len() as u32).to_le_bytes().to_vec(), bytes].concat()
}

fn manifest() -> WorldManifest {
    let content = Content { sum: 0x0123_4567_89ab_cdef, length: 1000 };
    WorldManifest {
        protocol: PROTOCOL,
        world: "hall".to_string(),
        rate: 30,
        operation: OperationMode::Lockstep,
        extent: Block { min: [-409_600; 3], max: [409_600; 3] },
        forms: vec![
            Form { half: [1024; 3], content: None },
            Form { half: [2048, 81920, 81920], content: Some(content) },
        ],
        avatar: ShapeId(0),
        places: Block { min: [-4096; 3], max: [4096; 3] },
        limits: Limits { speed: 2560, spin: 1536, change: 25600 },
        gate: 0,
    }
}

fn handshakes() -> Vec<(&'static str, Vec<u8>)> {
    let handshake =
        |purpose| Handshake { protocol: PROTOCOL, token: "sesame".to_string(), purpose };
    let content = Content { sum: 0x0123_4567_89ab_cdef, length: 1000 };
    let written = |answer: EdgeResponse| envelope(postcard::to_allocvec(&answer).unwrap());
    vec![
        ("handshake-play", envelope(postcard::to_allocvec(&handshake(Purpose::Play)).unwrap())),
        ("handshake-status", envelope(postcard::to_allocvec(&handshake(Purpose::Status)).unwrap())),
        ("answer-refused", written(EdgeResponse::Rejected("no".to_string()))),
        ("answer-manifest", written(EdgeResponse::Manifest(manifest()))),
        ("answer-status", written(EdgeResponse::Status("{}".to_string()))),
        ("ask-content", envelope(postcard::to_allocvec(&content).unwrap())),
        ("answer-content", written(EdgeResponse::Content(Some(vec![0xaa, 0xbb])))),
        ("answer-no-content", written(EdgeResponse::Content(None))),
    ]
}

fn messages() -> Vec<(&'static str, Vec<u8>)> {
    let hello = |credential| {
        ClientMessage::Hello(Hello { credential, protocol: wire::PROTOCOL, attempt: 1 })
    };
    let report = |ack, want| ClientMessage::Report(Report { attempt: 1, ack, want });
    let limits = manifest().limits;
    let welcome = Welcome {
        attempt: 1,
        credential: credential(),
        limits,
        tick: Tick(300),
        rate: 30,
        after: 0,
    };
    let (a, b) = (ObjectId(1), AVATAR);
    let update = StateUpdate {
        attempt: 1,
        tick: Tick(301),
        dilation: 1000,
        base: None,
        near: near(),
        far: far(),
        kinds: vec![(Class::Dynamic, ShapeId(0))],
        followed: 65537,
        followed_at: Tick(300),
        contacts: vec![ContactChange { number: 1, tick: Tick(301), a, b, begins: true }],
    };
    let client = |message: ClientMessage| message.write().unwrap();
    let gateway = |message: GatewayMessage| message.write().unwrap();
    vec![
        ("hello-new", client(hello(None))),
        ("hello-back", client(hello(Some(credential())))),
        ("report", client(report(Some(Tick(301)), None))),
        ("report-input", client(report(None, Some(want())))),
        ("bye", client(ClientMessage::Bye { attempt: 1 })),
        ("welcome", gateway(GatewayMessage::Welcome(welcome))),
        ("refused", gateway(GatewayMessage::Refused { attempt: 1, why: Refusal::Full })),
        (
            "correct",
            gateway(GatewayMessage::Correct { attempt: 1, want: want(), reason: Reason::Speed }),
        ),
        ("kicked", gateway(GatewayMessage::Kicked { attempt: 1, reason: Reason::Flood })),
        ("state-update", gateway(GatewayMessage::StateUpdate(update))),
        ("near", near()),
        ("far", far()),
    ]
}

fn hex(bytes: &[u8]) -> String {
    let lines = bytes
        .chunks(24)
        .map(|line| line.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_block_of_hex_is_what_is_written() {
    let mut blocks = blocks();
    let mut wrong = Vec::new();
    for (name, bytes) in handshakes().into_iter().chain(messages()) {
        if blocks.remove(name) != Some(bytes.clone()) {
            wrong.push(format!("```hex {name}\n{}\n```", hex(&bytes)));
        }
    }
    assert!(wrong.is_empty(), "should be\n{}", wrong.join("\n"));
    assert_eq!(blocks.keys().collect::<Vec<_>>(), Vec::<&String>::new(), "these are not checked");
}
