//! Volumes that are brought into the common frame when they are first visited, and once per
//! question (Ohlenburg 2003, 3.2.5; row O6).
//!
//! A counter tells which of them are of this question, so nothing has to be cleared.

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
