//! A log as bytes: what was torn is cut off, damage is refused, and any bytes are survived.

use jostle_directory::{
    LogEntry, LogError, Payload, PeerMessage, Record, Snapshot, begin_log, read_log, write_log,
};
use jostle_proto::ReplicaId;
use proptest::prelude::*;

const ME: ReplicaId = ReplicaId(3);

fn records() -> Vec<Record> {
    let state = |byte: u8, long: usize| vec![byte; long].into();
    let entry = |index, payload| Record::Entry(LogEntry { index, term: 2, payload });
    vec![
        Record::Snapshot(Snapshot { index: 1, term: 1, voters: vec![ME], state: state(7, 90) }),
        Record::Promise { term: 2, vote: Some(ME), commit: 1 },
        entry(2, Payload::Nothing),
        entry(3, Payload::State(state(9, 300))),
        Record::Promise { term: 3, vote: None, commit: 2 },
    ]
}

fn file(records: &[Record]) -> Vec<u8> {
    let mut bytes = begin_log(ME);
    write_log(records, &mut bytes);
    bytes
}

#[test]
fn what_was_written_is_read() {
    let restored = read_log(ME, &file(&records())).unwrap();
    assert_eq!((restored.records, restored.torn), (records(), false));
    assert_eq!(read_log(ME, &[]).unwrap().records, []);
}

#[test]
fn every_torn_end_is_cut_off_and_nothing_before_it() {
    let all = records();
    let ends: Vec<usize> = (0..=all.len()).map(|count| file(&all[..count]).len()).collect();
    let whole = file(&all);
    for cut in 0..whole.len() {
        let restored = read_log(ME, &whole[..cut]).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count().saturating_sub(1);
        assert_eq!(restored.records, all[..kept], "cut at {cut}");
        assert!(restored.length <= cut);
        assert_eq!(restored.torn, cut > 0 && !ends.contains(&cut), "cut at {cut}");
    }
}

/// In the last record as well, which may have been answered for like any other. (Once a length that
/// had become larger there looked like a record that was cut short.)
#[test]
fn every_single_bit_that_is_wrong_is_refused_wherever_it_is() {
    // The last one ends in zeros, as states may.
    let mut all = records();
    let state = vec![0; 40].into();
    all.push(Record::Entry(LogEntry { index: 4, term: 3, payload: Payload::State(state) }));
    let whole = file(&all);
    for at in begin_log(ME).len()..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            let read = read_log(ME, &bytes);
            assert!(matches!(read, Err(LogError::Damaged { .. })), "bit {bit} of {at}: {read:?}");
        }
    }
}

/// Zeros from any place on, to the end of what one write would have added.
#[test]
fn a_file_that_was_longer_than_what_was_written_is_cut_off_there() {
    let all = records();
    let whole = file(&all);
    let ends: Vec<usize> = (0..=all.len()).map(|count| file(&all[..count]).len()).collect();
    for cut in begin_log(ME).len()..whole.len() {
        let mut bytes = whole[..cut].to_vec();
        bytes.resize(whole.len(), 0);
        let kept = ends.iter().filter(|end| **end <= cut).count() - 1;
        assert_eq!(read_log(ME, &bytes).unwrap().records, all[..kept], "from {cut}");
    }
}

#[test]
fn logs_of_others_are_refused() {
    let bytes = file(&records());
    let other = read_log(ReplicaId(4), &bytes).unwrap_err();
    assert_eq!(other.to_string(), "this is the log of replica 3, not of 4");
    assert_eq!(read_log(ME, b"something else").unwrap_err(), LogError::Foreign);
}

proptest! {
    #[test]
    fn any_bytes_are_survived(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let _ = read_log(ME, &bytes);
        let mut begun = begin_log(ME);
        begun.extend(&bytes);
        let _ = read_log(ME, &begun);
        let _ = PeerMessage::decode(&bytes);
    }
}
