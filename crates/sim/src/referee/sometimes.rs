//! What must happen now and then in a campaign: a storm in which it never does proves nothing
//! about it.

use jostle_proto::{Address, Epoch, Message, ObjectId, Tick, View};
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
    /// An object went from one node to another and back.
    pub bounced: u64,
    /// An object was handed over while the view changed.
    pub handed_in_change: u64,
    /// A node died with objects on their way.
    pub crash_with_escrow: u64,
    /// A node's lease ran out.
    pub lease_ran_out: u64,
    /// A node spoke just before its lease was over by the true clock.
    pub lease_edge: u64,
    /// A contact was deep and long enough to be missed.
    pub contacts_judged: u64,
}

impl Sometimes {
    /// The counts with their names.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 15] {
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
            ("bounced", self.bounced),
            ("handed over in a change", self.handed_in_change),
            ("crash with escrow", self.crash_with_escrow),
            ("lease ran out", self.lease_ran_out),
            ("spoke at the lease's edge", self.lease_edge),
            ("contacts judged", self.contacts_judged),
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
            bounced: self.bounced + other.bounced,
            handed_in_change: self.handed_in_change + other.handed_in_change,
            crash_with_escrow: self.crash_with_escrow + other.crash_with_escrow,
            lease_ran_out: self.lease_ran_out + other.lease_ran_out,
            lease_edge: self.lease_edge + other.lease_edge,
            contacts_judged: self.contacts_judged + other.contacts_judged,
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
