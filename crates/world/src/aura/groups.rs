//! The relations of the objects considered so far (SC of the paper), which grow one object at a
//! time.
//!
//! Every method does the same for each object: find out which of those considered before it
//! overlaps, by as few comparisons as it can, and join. They differ only in the order of the
//! objects and in what they compare.
//!
//! # Where figure 3 of the paper is not enough
//!
//! The new object x cuts every relation C down to the part C ∩ N(x) that it overlaps, and each part
//! with x added is a candidate. What the function `addCR` does with candidates is not printed: the
//! text speaks of *duplicates* only, a comment in the figure of "sub/super sets in newCRs". Without
//! duplicates there remain sets that are no relations; the smallest case has four objects: b–a–c
//! overlap in a row, x overlaps a and b. Then {a,b} gives {a,b,x}, but {a,c} gives {a,x}, which is
//! part of it. Refusing a part of an earlier candidate does not help when the larger one comes
//! later. And where a relation that overlaps x wholly is enlarged in place, as the text has it and
//! the figure not, {a,b,x} is not even among those that {a,x} is compared with.
//! `crates/lab/tests/aura/figure_three.rs` has all three readings.
//!
//! So here a candidate stays if, and only if, nothing in N(x) can be added to it. Why this gives
//! exactly the relations: a relation that holds x is K + x for a maximal clique K of N(x), and K
//! lies in some relation C from before, so K = C ∩ N(x) is a candidate. A relation C without x
//! remains unless x overlaps all of it, and then it becomes C + x. Hence no relation ever goes
//! away, their number never shrinks, and a limit that is exceeded once would be exceeded at the
//! end.

use super::{Aura, Comparisons, Relations};

/// One relation.
#[derive(Clone, Debug)]
struct Group {
    /// In the order of joining.
    members: Vec<u32>,
    /// The turn in which it was last cut by a new object.
    cut: u32,
}

/// What is known of an object with respect to the one under consideration.
#[derive(Clone, Copy, Debug, Default)]
struct Verdict {
    /// The turn in which it was compared or dismissed.
    decided: u32,
    /// The turn in which it was found to overlap, and its place in `RelationBuilder::overlapping`.
    overlaps: u32,
    place: u32,
}

/// There are more relations than allowed.
#[derive(Clone, Copy, Debug)]
pub struct Full {
    /// How many objects were considered until then.
    pub considered: usize,
    /// What was compared until then.
    pub comparisons: Comparisons,
}

/// The relations of the objects considered so far.
///
/// After [`RelationBuilder::begin`], for each object in any order: [`RelationBuilder::consider`],
/// then [`RelationBuilder::compare`] with every object considered before it that it overlaps (and
/// with others, which costs time only), then [`RelationBuilder::join`].
#[derive(Clone, Debug, Default)]
pub struct RelationBuilder {
    limit: usize,
    groups: Vec<Group>,
    /// The groups of each object.
    groups_of: Vec<Vec<u32>>,
    /// What was compared in this frame.
    pub comparisons: Comparisons,

    /// The object under consideration, the number of its turn (from 1), and what is known about it.
    object: u32,
    turn: u32,
    verdicts: Vec<Verdict>,
    overlapping: Vec<u32>,

    candidates: Candidates,
}

impl RelationBuilder {
    /// Before the first object of a frame. No object is known yet.
    pub fn begin(&mut self, objects: usize, limit: usize) {
        self.limit = limit;
        self.groups.clear();
        self.groups_of.truncate(objects);
        self.groups_of.iter_mut().for_each(Vec::clear);
        self.groups_of.resize_with(objects, Vec::new);
        self.comparisons = Comparisons::default();
        self.turn = 0;
        self.verdicts.clear();
        self.verdicts.resize(objects, Verdict::default());
    }

    /// How many relations there are by now.
    #[must_use]
    pub fn count(&self) -> usize {
        self.groups.len()
    }

    /// The members of a relation, in the order of joining. Members are added at the end only, and
    /// relations keep their numbers.
    #[must_use]
    pub fn members(&self, group: u32) -> &[u32] {
        &self.groups[group as usize].members
    }

    /// The relations that an object is in, in the order of joining.
    #[must_use]
    pub fn groups_of(&self, object: u32) -> &[u32] {
        &self.groups_of[object as usize]
    }

    /// Ends the frame: all relations, in order.
    pub fn relations(&mut self) -> Relations {
        Relations::sorted(self.groups.drain(..).map(|group| group.members).collect())
    }

    /// The next object under consideration (OUC of the paper).
    pub fn consider(&mut self, object: u32) {
        self.object = object;
        self.turn += 1;
        self.overlapping.clear();
    }

    /// Compares the object under consideration with another, unless that is decided.
    #[inline]
    pub fn compare(&mut self, auras: &[Aura], other: u32) {
        let verdict = &mut self.verdicts[other as usize];
        if verdict.decided == self.turn {
            return;
        }
        verdict.decided = self.turn;
        self.comparisons.sphere_tests += 1;
        if auras[self.object as usize].overlaps(&auras[other as usize]) {
            verdict.overlaps = self.turn;
            verdict.place = self.overlapping.len() as u32;
            self.overlapping.push(other);
        }
    }

    /// Without a comparison: the object under consideration does not overlap the other.
    pub fn dismiss(&mut self, other: u32) {
        self.verdicts[other as usize].decided = self.turn;
    }

    /// Returns true if the other was compared with the object under consideration, or dismissed.
    #[must_use]
    pub fn is_decided(&self, other: u32) -> bool {
        self.verdicts[other as usize].decided == self.turn
    }

    /// Returns true if the other was found to overlap the object under consideration.
    #[must_use]
    pub fn overlaps(&self, other: u32) -> bool {
        self.verdicts[other as usize].overlaps == self.turn
    }

    /// Ends the turn: the object joins, and the relations are those of all objects so far.
    ///
    /// # Errors
    /// If that makes more relations than allowed.
    pub fn join(&mut self) -> Result<(), Full> {
        let mut candidates = std::mem::take(&mut self.candidates);
        let result = self.join_with(&mut candidates);
        self.candidates = candidates;
        result
    }

    fn join_with(&mut self, candidates: &mut Candidates) -> Result<(), Full> {
        self.cut_groups(candidates);
        candidates.keep_maximal();
        let alone = usize::from(self.overlapping.is_empty());
        if self.groups.len() + candidates.kept.len() + alone > self.limit {
            let considered = self.turn as usize;
            return Err(Full { considered, comparisons: self.comparisons });
        }
        for met in candidates.met.iter().filter(|met| met.whole) {
            self.groups[met.group as usize].members.push(self.object);
            self.groups_of[self.object as usize].push(met.group);
        }
        for &kept in &candidates.kept {
            let from = &self.groups[candidates.met[kept as usize].group as usize].members;
            let overlaps = |member: &u32| self.verdicts[*member as usize].overlaps == self.turn;
            let mut members: Vec<u32> = from.iter().copied().filter(overlaps).collect();
            members.push(self.object);
            self.add(members);
        }
        if alone == 1 {
            self.add(vec![self.object]);
        }
        Ok(())
    }

    /// Which part of each relation does the object overlap, if any?
    fn cut_groups(&mut self, candidates: &mut Candidates) {
        candidates.clear(self.overlapping.len());
        for &other in &self.overlapping {
            for &group in &self.groups_of[other as usize] {
                let Group { members, cut, .. } = &mut self.groups[group as usize];
                if std::mem::replace(cut, self.turn) == self.turn {
                    continue;
                }
                let overlapping = members.iter().filter_map(|&member| {
                    let verdict = self.verdicts[member as usize];
                    (verdict.overlaps == self.turn).then_some(verdict.place)
                });
                candidates.push(group, overlapping, members.len());
            }
        }
    }

    fn add(&mut self, members: Vec<u32>) {
        let group = self.groups.len() as u32;
        for &member in &members {
            self.groups_of[member as usize].push(group);
        }
        self.groups.push(Group { members, cut: 0 });
    }
}

/// The parts of relations that one object overlaps, as sets of places in the list of those that it
/// overlaps.
#[derive(Clone, Debug, Default)]
struct Candidates {
    /// Places in a set, and words of 64 places that it takes.
    places: usize,
    words: usize,
    /// Relations that overlap the object, wholly or in part.
    met: Vec<Met>,
    /// Their parts, one set after the other.
    parts: Vec<u64>,
    /// For each place a set: the places that share a relation with it, hence overlap it.
    neighbours: Vec<u64>,
    /// Which of `met` are new relations, each once.
    kept: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Met {
    group: u32,
    whole: bool,
}

impl Candidates {
    fn clear(&mut self, places: usize) {
        self.places = places;
        self.words = places.div_ceil(64);
        self.met.clear();
        self.parts.clear();
        self.kept.clear();
    }

    /// A relation of `size` members, of which those at `places` overlap.
    fn push(&mut self, group: u32, places: impl Iterator<Item = u32>, size: usize) {
        let begin = self.parts.len();
        self.parts.resize(begin + self.words, 0);
        let mut count = 0;
        for place in places {
            self.parts[begin + place as usize / 64] |= 1 << (place % 64);
            count += 1;
        }
        self.met.push(Met { group, whole: count == size });
    }

    /// Of the relations met in part, those to whose part no other overlapping object can be added,
    /// each part once.
    fn keep_maximal(&mut self) {
        if self.met.iter().all(|met| met.whole) {
            return; // they stay maximal with the object added; the usual case in tight clusters
        }
        self.find_neighbours();
        let part = |at: u32| &self.parts[at as usize * self.words..][..self.words];
        let mut common = vec![0; self.words];
        for (at, _) in (0u32..).zip(&self.met).filter(|(_, met)| !met.whole) {
            common.fill(u64::MAX);
            for place in places_of(part(at)) {
                let row = &self.neighbours[place * self.words..][..self.words];
                common.iter_mut().zip(row).for_each(|(common, row)| *common &= row);
            }
            if common == part(at) {
                self.kept.push(at);
            }
        }
        // The first of equals stays, in the order of the relations that they come from.
        self.kept.sort_unstable_by_key(|&at| (part(at), at));
        self.kept.dedup_by(|b, a| part(*b) == part(*a));
        self.kept.sort_unstable();
    }

    /// Any two that overlap share a relation, and it is among those met if both are in a set. So
    /// who overlaps whom can be read from the parts, without another comparison.
    fn find_neighbours(&mut self) {
        self.neighbours.clear();
        self.neighbours.resize(self.places * self.words, 0);
        for part in self.parts.chunks_exact(self.words) {
            for place in places_of(part) {
                let row = &mut self.neighbours[place * self.words..][..self.words];
                row.iter_mut().zip(part).for_each(|(row, part)| *row |= part);
            }
        }
    }
}

/// The places in a set, in order.
fn places_of(set: &[u64]) -> impl Iterator<Item = usize> {
    set.iter().enumerate().flat_map(|(word, &bits)| {
        let mut bits = bits;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let place = bits.trailing_zeros() as usize;
                bits &= bits - 1;
                word * 64 + place
            })
        })
    })
}
