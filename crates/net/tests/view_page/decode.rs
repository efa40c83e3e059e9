//! An independent decoder of frames, written after docs/view-protocol.md, with the picture that a
//! page makes of them.

// Every test file uses a part of it.
#![allow(dead_code)]

use std::collections::BTreeMap;

/// Bytes that are read from the front.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl Reader<'_> {
    pub(crate) fn take<const N: usize>(&mut self) -> [u8; N] {
        let (first, rest) = self.0.split_first_chunk().expect("more bytes");
        self.0 = rest;
        *first
    }

    pub(crate) fn u8(&mut self) -> u8 {
        u8::from_le_bytes(self.take())
    }

    pub(crate) fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    pub(crate) fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    pub(crate) fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    pub(crate) fn f32(&mut self) -> f32 {
        f32::from_le_bytes(self.take())
    }

    fn three(&mut self) -> [i16; 3] {
        [0; 3].map(|_| i16::from_le_bytes(self.take()))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shown {
    pub(crate) position: [i32; 3],
    pub(crate) velocity: [i16; 3],
    pub(crate) spin: [i16; 3],
    pub(crate) rotation: [i16; 4],
    pub(crate) form: u16,
    pub(crate) class: u8,
    pub(crate) border: u8,
    /// The mark of another group's object.
    pub(crate) home: u8,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) whole: bool,
    pub(crate) dilation: u16,
    pub(crate) tick: u64,
    pub(crate) objects: BTreeMap<u64, Shown>,
    pub(crate) gone: Vec<u64>,
    pub(crate) touches: Vec<[u64; 2]>,
}

pub(crate) fn frame(bytes: &[u8]) -> Frame {
    let mut reader = Reader(bytes);
    assert!(matches!(reader.u8(), 1 | 3));
    let whole = match reader.u8() {
        0 => false,
        1 => true,
        other => panic!("{other} is no kind of frame"),
    };
    let dilation = reader.u16();
    let count = reader.u32();
    let tick = reader.u64();
    let (gone, touches) = (reader.u32(), reader.u32());
    assert_eq!(reader.u64(), 0);
    let mut objects = BTreeMap::new();
    for _ in 0..count {
        let id = reader.u64();
        let mut shown = Shown {
            position: [0; 3].map(|_| i32::from_le_bytes(reader.take())),
            velocity: reader.three(),
            spin: reader.three(),
            rotation: [0; 4].map(|_| i16::from_le_bytes(reader.take())),
            form: reader.u16(),
            class: reader.u8(),
            border: reader.u8(),
            home: 0,
        };
        (shown.border, shown.home) = (shown.border & 1, shown.border >> 1);
        assert!(objects.last_key_value().is_none_or(|(last, _)| *last < id), "sorted by id");
        objects.insert(id, shown);
    }
    let gone = (0..gone).map(|_| reader.u64()).collect();
    let touches = (0..touches).map(|_| [reader.u64(), reader.u64()]).collect();
    assert!(reader.0.is_empty(), "{} bytes too many", reader.0.len());
    Frame { whole, dilation, tick, objects, gone, touches }
}

/// The last sent state of each object, and its tick.
#[derive(Clone, Debug, Default)]
pub(crate) struct Picture {
    pub(crate) rate: u32,
    pub(crate) tick: u64,
    pub(crate) objects: BTreeMap<u64, (u64, Shown)>,
    pub(crate) touches: Vec<[u64; 2]>,
}

impl Picture {
    pub(crate) fn new(rate: u32) -> Picture {
        Picture { rate, ..Picture::default() }
    }

    pub(crate) fn take(&mut self, frame: &Frame) {
        if frame.whole {
            self.objects.clear();
        }
        for id in &frame.gone {
            assert!(self.objects.remove(id).is_some(), "{id} was never there");
        }
        for (id, shown) in &frame.objects {
            self.objects.insert(*id, (frame.tick, *shown));
        }
        (self.tick, self.touches) = (frame.tick, frame.touches.clone());
    }

    /// Extrapolated positions and rotations.
    pub(crate) fn now(&self) -> BTreeMap<u64, ([f64; 3], [f64; 4])> {
        let place = |(id, (since, shown)): (&u64, &(u64, Shown))| {
            let seconds = (self.tick - since) as f64 / f64::from(self.rate);
            let position = [0, 1, 2].map(|axis: usize| {
                f64::from(shown.position[axis]) + f64::from(shown.velocity[axis]) * 16.0 * seconds
            });
            let spin = shown.spin.map(|part| f64::from(part) / 256.0 * seconds);
            let rotation = shown.rotation.map(|part| f64::from(part) / 32767.0);
            (*id, (position, turned(rotation, spin)))
        };
        self.objects.iter().map(place).collect()
    }

    /// Fails if this differs from a whole frame of the same tick.
    pub(crate) fn must_be(&self, whole: &Frame) {
        assert!(whole.whole && whole.tick == self.tick);
        let now = self.now();
        let ids: Vec<u64> = now.keys().copied().collect();
        assert_eq!(ids, whole.objects.keys().copied().collect::<Vec<_>>());
        for (id, right) in &whole.objects {
            let (position, rotation) = now[id];
            let known = self.objects[id].1;
            assert_eq!(
                (known.velocity, known.spin, known.form, known.class, known.border, known.home),
                (right.velocity, right.spin, right.form, right.class, right.border, right.home),
                "{id} in tick {}",
                self.tick
            );
            for (shown, right) in position.iter().zip(right.position) {
                let off = (shown - f64::from(right)).abs();
                // Four units, and one for rounding in whole ticks.
                assert!(off <= 5.0, "{id} is off by {off} in tick {}", self.tick);
            }
            let parts = right.rotation.map(|part| f64::from(part) / 32767.0);
            let cosine: f64 = rotation.iter().zip(parts).map(|(a, b)| a * b).sum();
            assert!(cosine.abs() > 0.9999, "{id} is turned otherwise: {cosine}");
        }
        assert_eq!(self.touches, whole.touches);
    }
}

/// A rotation followed by one about `spin` by its length.
fn turned(q: [f64; 4], spin: [f64; 3]) -> [f64; 4] {
    let angle = spin.iter().map(|part| part * part).sum::<f64>().sqrt();
    if angle == 0.0 {
        return q;
    }
    let [x, y, z] = spin.map(|part| part / angle * (angle / 2.0).sin());
    let w = (angle / 2.0).cos();
    let [a, b, c, d] = q;
    [
        w * a + x * d + y * c - z * b,
        w * b - x * c + y * d + z * a,
        w * c + x * b - y * a + z * d,
        w * d - x * a - y * b - z * c,
    ]
}
