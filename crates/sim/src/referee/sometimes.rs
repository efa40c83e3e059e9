//! What must happen now and then in a campaign: a storm in which it never does proves nothing
//! about it.

use jostle_proto::{Address, Epoch, GatewaySays, Message, ObjectId, Tick, View};
use std::collections::{BTreeMap, BTreeSet};

/// How often things happened that are rare and matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sometimes {
    /// A leader died.
    pub leader_crashes: u64,
    /// A view was replaced before it was stable.
    pub views_in_a_row: u64,
    /// A tick was committed to some and not to all when the view changed.
    pub caught_up: u64,
    /// Somebody who came later leads.
    pub newcomer_leads: u64,
    /// An object was handed over in a tick.
    pub transfers: u64,
    /// An object reached into four regions or more.
    pub in_four_regions: u64,
    /// An object reached into eight regions or more.
    pub in_eight_regions: u64,
    /// A node was left out although it lived, and came back.
    pub came_back: u64,
    /// A member that had been suspected was in the next view after all.
    pub taken_back: u64,
    /// A gateway died.
    pub gateway_crashes: u64,
    /// A client got its avatar back at another gateway.
    pub resumed_elsewhere: u64,
    /// A client was put out.
    pub kicked: u64,
    /// What a client wanted was cut down.
    pub corrected: u64,
    /// A client had to be told everything again.
    pub bases_lost: u64,
}

impl Sometimes {
    /// The counts with their names.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 14] {
        [
            ("leader crashes", self.leader_crashes),
            ("views in a row", self.views_in_a_row),
            ("caught up", self.caught_up),
            ("newcomer leads", self.newcomer_leads),
            ("transfers", self.transfers),
            ("in four regions", self.in_four_regions),
            ("in eight regions", self.in_eight_regions),
            ("came back", self.came_back),
            ("taken back", self.taken_back),
            ("gateway crashes", self.gateway_crashes),
            ("resumed elsewhere", self.resumed_elsewhere),
            ("kicked", self.kicked),
            ("corrected", self.corrected),
            ("bases lost", self.bases_lost),
        ]
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Sometimes) -> Sometimes {
        Sometimes {
            leader_crashes: self.leader_crashes + other.leader_crashes,
            views_in_a_row: self.views_in_a_row + other.views_in_a_row,
            caught_up: self.caught_up + other.caught_up,
            newcomer_leads: self.newcomer_leads + other.newcomer_leads,
            transfers: self.transfers + other.transfers,
            in_four_regions: self.in_four_regions + other.in_four_regions,
            in_eight_regions: self.in_eight_regions + other.in_eight_regions,
            came_back: self.came_back + other.came_back,
            taken_back: self.taken_back + other.taken_back,
            gateway_crashes: self.gateway_crashes + other.gateway_crashes,
            resumed_elsewhere: self.resumed_elsewhere + other.resumed_elsewhere,
            kicked: self.kicked + other.kicked,
            corrected: self.corrected + other.corrected,
            bases_lost: self.bases_lost + other.bases_lost,
        }
    }
}

/// Watches for them.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) sometimes: Sometimes,
    last_view: Option<View>,
    stable: BTreeSet<Epoch>,
    /// Whom an object was told to, in the newest ticks.
    told: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, u32>>,
    /// Where an avatar's client was last let in.
    gates: BTreeMap<ObjectId, Address>,
}

impl Watch {
    pub(super) fn sent(&mut self, to: Address, message: &Message) {
        match message {
            Message::View(view) => self.view(view),
            Message::StableKept(epoch) => {
                self.stable.insert(*epoch);
            }
            Message::Resume(resume) => {
                if let Some(view) = &self.last_view
                    && view.epoch == resume.epoch
                    && resume.last.epoch < resume.epoch
                    && matches!(to, Address::Node(_))
                {
                    self.sometimes.caught_up += u64::from(!resume.last.touches.is_empty());
                }
            }
            Message::Reset { .. } => self.sometimes.came_back += 1,
            Message::Bundle(bundle) if !bundle.answer => {
                self.sometimes.transfers += bundle.transfers.len() as u64;
                let told = self.told.entry((bundle.epoch, bundle.tick)).or_default();
                for object in &bundle.ghosts {
                    let regions = told.entry(object.id).or_insert(1);
                    *regions += 1;
                    self.sometimes.in_four_regions += u64::from(*regions == 4);
                    self.sometimes.in_eight_regions += u64::from(*regions == 8);
                }
                while self.told.len() > 3 {
                    self.told.pop_first();
                }
            }
            _ => {}
        }
    }

    /// What gateways tell clients.
    pub(super) fn letter(&mut self, from: Address, to: Address, message: &Message) {
        let (Address::Client(_), Message::Told(says)) = (to, message) else { return };
        match says {
            GatewaySays::Welcome(welcome) => {
                let before = self.gates.insert(welcome.credential.avatar, from);
                let moved = before.is_some_and(|before| before != from);
                self.sometimes.resumed_elsewhere += u64::from(moved);
            }
            GatewaySays::Kicked { .. } => self.sometimes.kicked += 1,
            GatewaySays::Correct { .. } => self.sometimes.corrected += 1,
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        let Some(last) = &self.last_view else {
            self.last_view = Some(view.clone());
            return;
        };
        if last.epoch >= view.epoch {
            return;
        }
        let unstable = !self.stable.contains(&last.epoch);
        self.sometimes.views_in_a_row += u64::from(unstable);
        let suspected = view.base_ring.iter().any(|m| !last.has(*m) && view.has(*m));
        self.sometimes.taken_back += u64::from(unstable && suspected);
        let newcomer = view.leader().is_some_and(|leader| leader.node.0 != 0);
        self.sometimes.newcomer_leads += u64::from(newcomer);
        self.last_view = Some(view.clone());
    }
}
