//! Regions follow the population: they are cut where objects are when nodes come, and anew when
//! one node has had far more to do than the others for a while, and not before.

use jostle_proto::{
    Address, Block, Directory, Member, Message, NodeId, NodeLoad, Output, Span, Time, Timing,
};

const NODES: u32 = 4;

/// A directory, and four nodes that report where they have objects.
struct Town {
    directory: Directory,
    now: Time,
    places: Vec<[i32; 3]>,
}

impl Town {
    /// All objects in one corner of the world.
    fn new() -> Town {
        let founder = Member { node: NodeId(0), life: 1 };
        let extent = Block { min: [-40_960; 3], max: [40_960; 3] };
        let directory = Directory::new(founder, extent, Timing::default());
        let place = |number: i32| [30_000 + number * 7 % 97, 30_000 + number, 30_000 - number];
        let places = (0..200).map(place).collect();
        Town { directory, now: Time(1), places }
    }

    fn obey(&mut self, out: Vec<Output>) {
        for output in out {
            if let Output::Send(Address::Node(to), Message::View(view)) = output
                && let Some(leader) = view.leader().filter(|leader| leader.node == to)
            {
                let mut out = Vec::new();
                let stable = Message::Stable { epoch: view.epoch, from: leader };
                self.directory.receive(self.now, stable, &mut out);
                self.obey(out);
            }
        }
    }

    fn counts(&self) -> Vec<usize> {
        let owner = |place: &[i32; 3]| self.directory.view().owner(*place);
        let owned = |node| self.places.iter().filter(|place| owner(place) == node).count();
        (0..NODES).map(NodeId).map(owned).collect()
    }

    /// No node has more than twice the mean to do.
    fn is_even(&self) -> bool {
        let most = self.counts().into_iter().max().unwrap_or(0);
        most * NODES as usize <= 2 * self.places.len()
    }

    /// All nodes report that they are alive, and what they have to do, for so long.
    fn go_on(&mut self, span: Span) {
        let end = self.now + span;
        while self.now < end {
            self.now = self.now + Span::from_ms(50);
            for node in (0..NODES).map(NodeId) {
                let member = Member { node, life: 1 };
                let owner = |place: &&[i32; 3]| self.directory.view().owner(**place) == node;
                let mine: Vec<[i32; 3]> = self.places.iter().filter(owner).copied().collect();
                let places = mine.iter().step_by(mine.len().div_ceil(16).max(1)).copied();
                let (objects, places) = (mine.len() as u32, places.collect());
                let load = NodeLoad { objects, work: objects * NodeLoad::OBJECT, places };
                let epoch = self.directory.newest();
                let mut out = Vec::new();
                self.directory.receive(self.now, Message::Join(member), &mut out);
                let alive = Message::Alive { member, epoch, sent: self.now, load };
                self.directory.receive(self.now, alive, &mut out);
                self.directory.wake(self.now, &mut out);
                self.obey(out);
            }
        }
    }
}

#[test]
fn a_crowd_in_a_corner_is_shared_by_all() {
    let mut town = Town::new();
    town.go_on(Span::from_ms(1000));
    assert_eq!(town.directory.view().ring.len(), NODES as usize);
    town.go_on(Span::from_ms(5000));
    assert!(town.is_even(), "{:?}", town.counts());
    // And then it stays as it is.
    let view = town.directory.newest();
    town.go_on(Span::from_ms(10_000));
    assert_eq!(town.directory.newest(), view, "{:?}", town.counts());
    // The crowd goes somewhere else.
    for place in &mut town.places {
        *place = place.map(|along| along - 60_000);
    }
    assert!(!town.is_even(), "{:?}", town.counts());
    town.go_on(Span::from_ms(1000));
    assert_eq!(town.directory.newest(), view, "a short while is not enough");
    town.go_on(Span::from_ms(5000));
    assert!(town.directory.newest() > view && town.is_even(), "{:?}", town.counts());
}

#[test]
fn a_crowd_that_cannot_be_shared_changes_nothing() {
    let mut town = Town::new();
    town.places = vec![[12_345; 3]; 200];
    town.go_on(Span::from_ms(8000));
    assert!(!town.is_even(), "{:?}", town.counts());
    let view = town.directory.newest();
    town.go_on(Span::from_ms(20_000));
    assert_eq!(town.directory.newest(), view);
}
