//! Two meshes and their trees: the contender that any [`Method`] makes.

use super::{End, Method, Order, Relative, Search, reach, traverse};
use crate::{Contender, Count, Surfaces, Verdict};
use jostle_geom::{FacePair, Mesh, Pose};
use std::ops::ControlFlow;

/// Two meshes with the trees of one method, asked by the one traversal.
#[derive(Clone, Debug)]
pub struct ByTree<'a, M> {
    surfaces: Surfaces<'a>,
    reach: [f64; 2],
    method: M,
}

impl<'a, M: Method> ByTree<'a, M> {
    /// Two meshes and a method that has made trees of these.
    #[must_use]
    pub fn new(a: &'a Mesh, b: &'a Mesh, method: M) -> ByTree<'a, M> {
        ByTree { surfaces: Surfaces::new(a, b), reach: [reach(a), reach(b)], method }
    }

    /// The method.
    #[must_use]
    pub fn method(&self) -> &M {
        &self.method
    }

    /// How many vertices the last question has placed.
    #[must_use]
    pub fn placed(&self) -> usize {
        self.surfaces.placed()
    }

    /// Do the two surfaces share a point, as far as a search of so many operations shows? Goes
    /// breadth first, and what it did not get to see may touch (Zachmann 2000, 3.5.1).
    pub fn touches_within(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        budget: u64,
    ) -> (Verdict, Count) {
        let search = Search { order: Order::BreadthFirst, budget };
        let (end, _, count) = self.ask(pose_a, pose_b, search, Wanted::First);
        let verdict = match end {
            End::Complete => Verdict::Apart,
            End::Stopped => Verdict::Touch,
            End::CutShort => Verdict::MayTouch,
        };
        (verdict, count)
    }

    fn ask(
        &mut self,
        pose_a: &Pose,
        pose_b: &Pose,
        search: Search,
        wanted: Wanted,
    ) -> (End, Vec<(u32, u32)>, Count) {
        let mut count = Count::default();
        self.surfaces.pose(pose_a, pose_b);
        self.method.begin(&Relative::new(self.reach, pose_a, pose_b), &mut count);
        let surfaces = &mut self.surfaces;
        let mut touching = Vec::new();
        let end = traverse(&mut self.method, search, &mut count, |some_a, some_b, count| {
            for &a in some_a {
                for &b in some_b {
                    count.triangle_tests += 1;
                    if surfaces.touch(a, b) {
                        touching.push((a, b));
                        if wanted == Wanted::First {
                            return ControlFlow::Break(());
                        }
                    }
                }
            }
            ControlFlow::Continue(())
        });
        (end, touching, count)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    First,
    All,
}

impl<M: Method> Contender for ByTree<'_, M> {
    fn name(&self) -> String {
        self.method.name()
    }

    fn touches(&mut self, pose_a: &Pose, pose_b: &Pose) -> (bool, Count) {
        let (end, _, count) = self.ask(pose_a, pose_b, Search::WHOLE, Wanted::First);
        (end == End::Stopped, count)
    }

    fn all_pairs(&mut self, pose_a: &Pose, pose_b: &Pose) -> (Vec<FacePair>, Count) {
        let (_, touching, count) = self.ask(pose_a, pose_b, Search::WHOLE, Wanted::All);
        (self.surfaces.face_pairs(&touching), count)
    }

    fn bytes(&self) -> usize {
        self.method.bytes()
    }
}
