//! Volumes that are brought into the common frame when they are first visited, and once per
//! question (Ohlenburg 2003, 3.2.5; row O6).
//!
//! A counter shows which of them are of this question, so nothing has to be cleared. The other way
//! that the paper names keeps the placement with each volume and compares that ([`Freshness`]; row
//! O21): then volumes of objects that rest stay, at the cost of memory and of longer comparisons.

use crate::traverse::Relative;

/// Which nodes this question has seen.
#[derive(Clone, Debug)]
pub(crate) struct Marks {
    /// The question by which each node was seen last.
    stamps: Vec<u32>,
    question: u32,
}

impl Marks {
    pub(crate) fn new(count: usize) -> Marks {
        Marks { stamps: vec![0; count], question: 1 }
    }

    pub(crate) fn next_question(&mut self) {
        if self.question == u32::MAX {
            self.stamps.fill(0);
            self.question = 0;
        }
        self.question += 1;
    }

    /// Whether this is the first time that the question sees the node.
    #[inline]
    pub(crate) fn first(&mut self, node: u32) -> bool {
        let stamp = &mut self.stamps[node as usize];
        std::mem::replace(stamp, self.question) != self.question
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.stamps[..])
    }
}

/// How a volume is known to be where this question wants it.
#[derive(Clone, Debug)]
pub(crate) enum Freshness {
    /// By the number of the question.
    Counter(Marks),
    /// By the placement for which it was brought over last.
    Placement { now: Relative, of_nodes: Vec<Relative> },
}

impl Freshness {
    pub(crate) fn by_counter(count: usize) -> Freshness {
        Freshness::Counter(Marks::new(count))
    }

    pub(crate) fn by_placement(count: usize) -> Freshness {
        // Equal to no placement, itself included.
        let none = Relative { slack: f64::NAN, ..Relative::SAME };
        Freshness::Placement { now: none, of_nodes: vec![none; count] }
    }

    pub(crate) fn next_question(&mut self, relative: &Relative) {
        match self {
            Freshness::Counter(marks) => marks.next_question(),
            Freshness::Placement { now, .. } => *now = *relative,
        }
    }

    /// Whether the volume of the node is not where this question wants it. From now on it is.
    #[inline]
    pub(crate) fn first(&mut self, node: u32) -> bool {
        match self {
            Freshness::Counter(marks) => marks.first(node),
            Freshness::Placement { now, of_nodes } => {
                let kept = &mut of_nodes[node as usize];
                std::mem::replace(kept, *now) != *now
            }
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Freshness::Counter(marks) => marks.bytes(),
            Freshness::Placement { of_nodes, .. } => size_of_val(&of_nodes[..]),
        }
    }
}

/// A value for every node that this question has seen.
#[derive(Clone, Debug)]
pub(crate) struct Stamps<V> {
    values: Vec<V>,
    marks: Marks,
}

impl<V: Copy + Default> Stamps<V> {
    pub(crate) fn new(count: usize) -> Stamps<V> {
        Stamps { values: vec![V::default(); count], marks: Marks::new(count) }
    }

    pub(crate) fn next_question(&mut self) {
        self.marks.next_question();
    }

    /// The value of this question; computed if it is not known yet.
    #[inline]
    pub(crate) fn get_or(&mut self, node: u32, compute: impl FnOnce() -> V) -> V {
        if self.marks.first(node) {
            self.values[node as usize] = compute();
        }
        self.values[node as usize]
    }

    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&self.values[..]) + self.marks.bytes()
    }
}
