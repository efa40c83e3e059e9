//! What must happen now and then in a fault campaign: one in which it never does proves nothing
//! about it.

use super::stored::StoreCounts;
use jostle_proto::{
    Address, Epoch, Gateway, GatewayMessage, GroupId, Message, NodeId, ObjectId, Outcome, Tally,
    Tick, Time, View, VoteClosed,
};
use std::collections::{BTreeMap, BTreeSet};

/// How often things happened that are rare and matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sometimes {
    /// A leader died.
    pub leader_crashes: u64,
    /// A node died in one of several deaths within a lease.
    pub deaths_together: u64,
    /// A view was replaced before it was stable.
    pub views_in_a_row: u64,
    /// A tick was committed to some and not to all when the view changed.
    pub caught_up: u64,
    /// A node that joined later leads.
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
    /// A group had too much to do for its rate.
    pub slowed: u64,
    /// A group was founded beside others.
    pub several_groups: u64,
    /// A group had as many members as it may.
    pub full_groups: u64,
    /// A vote passed.
    pub votes_passed: u64,
    /// A vote came to nothing.
    pub votes_refused: u64,
    /// Voters were of different opinions.
    pub votes_split: u64,
    /// A node went from one group to another.
    pub changed_group: u64,
    /// A group ended.
    pub groups_ended: u64,
    /// Another node speaks for a group.
    pub relay_changed: u64,
    /// A group decided about another one's object.
    pub kicks_between: u64,
    /// Objects that came to another group than the one that they began in.
    pub moved_home: u64,
    /// Kicks that followed an object to its new group.
    pub passed_on: u64,
    /// The directory died.
    pub directory_crashes: u64,
    /// The directory died while a view was not stable.
    pub directory_in_change: u64,
    /// A gateway died.
    pub gateway_crashes: u64,
    /// A client got its avatar back at another gateway.
    pub resumed_elsewhere: u64,
    /// A gateway came to belong to another group while it served a client.
    pub gates_moved: u64,
    /// A client got its avatar back at a gateway that belongs to another group than the avatar.
    pub resumed_abroad: u64,
    /// A client was put out.
    pub kicked: u64,
    /// What a client wanted was cut down.
    pub corrected: u64,
    /// A client had to be sent everything again.
    pub bases_lost: u64,
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
    /// A node made a tick although its lease was over, by the word of its backups.
    pub ticks_by_word: u64,
    /// The same of contacts that were published.
    pub contacts_by_word: u64,
    /// A contact was deep and long enough to be missed.
    pub contacts_judged: u64,
    /// Another replica leads the directory.
    pub directory_led: u64,
    /// Another replica leads the directory while a view is not stable.
    pub led_in_change: u64,
    /// A replica came back with a snapshot.
    pub from_snapshot: u64,
    /// A record that was being written when a machine died was cut off.
    pub torn: u64,
    /// A replica had no room to write.
    pub disk_full: u64,
    /// The directory had no leader for a second, and ticks went on.
    pub without_majority: u64,
    /// Machines fell into two sides that did not hear each other.
    pub partitions: u64,
    /// A machine stood still for a large part of the run.
    pub long_pauses: u64,
    /// A replica was added or removed.
    pub replicas_changed: u64,
    /// A contact was said to be one without having been looked at to the end.
    pub assumed: u64,
    /// An avatar was handed over while its client steered it.
    pub handed_over_steered: u64,
    /// A client was let in again after the holder of its avatar had died.
    pub resumed_after_death: u64,
    /// What happened to stores.
    pub store: StoreCounts,
}

impl Sometimes {
    /// The counts with their names.
    #[must_use]
    pub fn counts(&self) -> Vec<(&'static str, u64)> {
        let counts = [
            ("leader crashes", self.leader_crashes),
            ("deaths together", self.deaths_together),
            ("views in a row", self.views_in_a_row),
            ("caught up", self.caught_up),
            ("newcomer leads", self.newcomer_leads),
            ("transfers", self.transfers),
            ("in four regions", self.in_four_regions),
            ("in eight regions", self.in_eight_regions),
            ("came back", self.came_back),
            ("taken back", self.taken_back),
            ("slowed", self.slowed),
            ("several groups", self.several_groups),
            ("full groups", self.full_groups),
            ("votes passed", self.votes_passed),
            ("votes refused", self.votes_refused),
            ("votes split", self.votes_split),
            ("changed group", self.changed_group),
            ("groups ended", self.groups_ended),
            ("relay changed", self.relay_changed),
            ("kicks between", self.kicks_between),
            ("moved home", self.moved_home),
            ("kicks passed on", self.passed_on),
            ("directory crashes", self.directory_crashes),
            ("directory in change", self.directory_in_change),
            ("gateway crashes", self.gateway_crashes),
            ("resumed elsewhere", self.resumed_elsewhere),
            ("gateways that changed group", self.gates_moved),
            ("resumed across groups", self.resumed_abroad),
            ("kicked", self.kicked),
            ("corrected", self.corrected),
            ("bases lost", self.bases_lost),
            ("bounced", self.bounced),
            ("handed over in a change", self.handed_in_change),
            ("crash with escrow", self.crash_with_escrow),
            ("lease ran out", self.lease_ran_out),
            ("spoke at the lease's edge", self.lease_edge),
            ("ticks by the word of backups", self.ticks_by_word),
            ("contacts by the word of backups", self.contacts_by_word),
            ("contacts judged", self.contacts_judged),
            ("directory leaders", self.directory_led),
            ("directory leaders in a change", self.led_in_change),
            ("replicas from snapshots", self.from_snapshot),
            ("torn records", self.torn),
            ("disk full", self.disk_full),
            ("went on without a directory", self.without_majority),
            ("partitions", self.partitions),
            ("long pauses", self.long_pauses),
            ("replicas changed", self.replicas_changed),
            ("contacts assumed", self.assumed),
            ("steered and handed over", self.handed_over_steered),
            ("resumed after a death", self.resumed_after_death),
        ];
        counts.into_iter().chain(self.store.named()).collect()
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Sometimes) -> Sometimes {
        Sometimes {
            leader_crashes: self.leader_crashes + other.leader_crashes,
            deaths_together: self.deaths_together + other.deaths_together,
            views_in_a_row: self.views_in_a_row + other.views_in_a_row,
            caught_up: self.caught_up + other.caught_up,
            newcomer_leads: self.newcomer_leads + other.newcomer_leads,
            transfers: self.transfers + other.transfers,
            in_four_regions: self.in_four_regions + other.in_four_regions,
            in_eight_regions: self.in_eight_regions + other.in_eight_regions,
            came_back: self.came_back + other.came_back,
            taken_back: self.taken_back + other.taken_back,
            slowed: self.slowed + other.slowed,
            several_groups: self.several_groups + other.several_groups,
            full_groups: self.full_groups + other.full_groups,
            votes_passed: self.votes_passed + other.votes_passed,
            votes_refused: self.votes_refused + other.votes_refused,
            votes_split: self.votes_split + other.votes_split,
            changed_group: self.changed_group + other.changed_group,
            groups_ended: self.groups_ended + other.groups_ended,
            relay_changed: self.relay_changed + other.relay_changed,
            kicks_between: self.kicks_between + other.kicks_between,
            moved_home: self.moved_home + other.moved_home,
            passed_on: self.passed_on + other.passed_on,
            directory_crashes: self.directory_crashes + other.directory_crashes,
            directory_in_change: self.directory_in_change + other.directory_in_change,
            gateway_crashes: self.gateway_crashes + other.gateway_crashes,
            resumed_elsewhere: self.resumed_elsewhere + other.resumed_elsewhere,
            gates_moved: self.gates_moved + other.gates_moved,
            resumed_abroad: self.resumed_abroad + other.resumed_abroad,
            kicked: self.kicked + other.kicked,
            corrected: self.corrected + other.corrected,
            bases_lost: self.bases_lost + other.bases_lost,
            bounced: self.bounced + other.bounced,
            handed_in_change: self.handed_in_change + other.handed_in_change,
            crash_with_escrow: self.crash_with_escrow + other.crash_with_escrow,
            lease_ran_out: self.lease_ran_out + other.lease_ran_out,
            lease_edge: self.lease_edge + other.lease_edge,
            ticks_by_word: self.ticks_by_word + other.ticks_by_word,
            contacts_by_word: self.contacts_by_word + other.contacts_by_word,
            contacts_judged: self.contacts_judged + other.contacts_judged,
            directory_led: self.directory_led + other.directory_led,
            led_in_change: self.led_in_change + other.led_in_change,
            from_snapshot: self.from_snapshot + other.from_snapshot,
            torn: self.torn + other.torn,
            disk_full: self.disk_full + other.disk_full,
            without_majority: self.without_majority + other.without_majority,
            partitions: self.partitions + other.partitions,
            long_pauses: self.long_pauses + other.long_pauses,
            replicas_changed: self.replicas_changed + other.replicas_changed,
            assumed: self.assumed + other.assumed,
            handed_over_steered: self.handed_over_steered + other.handed_over_steered,
            resumed_after_death: self.resumed_after_death + other.resumed_after_death,
            store: self.store.plus(other.store),
        }
    }
}

/// Watches for them.
#[derive(Default)]
pub(super) struct Watch {
    pub(super) sometimes: Sometimes,
    /// When a node was last informed that a group cannot go on.
    pub(super) halts: BTreeMap<NodeId, Time>,
    /// Groups that were last heard of as ones that cannot go on, and the nodes that are lost.
    pub(super) halted: BTreeMap<GroupId, Vec<NodeId>>,
    last_views: BTreeMap<GroupId, View>,
    stable: BTreeSet<Epoch>,
    ballots: BTreeSet<u64>,
    /// The regions that an object was sent to, in the newest ticks.
    bundles: BTreeMap<(Epoch, Tick), BTreeMap<ObjectId, u32>>,
    /// Where an avatar's client was last let in.
    gates: BTreeMap<ObjectId, Address>,
    /// The groups that gateways belong to.
    gate_groups: BTreeMap<Address, (u32, GroupId)>,
}

impl Watch {
    pub(super) fn sent(&mut self, now: Time, to: Address, message: &Message) {
        match message {
            Message::Halted { group, lost, .. } => {
                self.halted.insert(*group, lost.clone());
                if let Address::Node(node) = to {
                    self.halts.insert(node, now);
                }
            }
            Message::View(view) => self.view(view),
            Message::StableKept(epoch) => {
                self.stable.insert(*epoch);
            }
            Message::Resume(resume) => {
                if let Some(view) = self.last_views.get(&resume.last.group)
                    && view.epoch == resume.epoch
                    && resume.last.epoch < resume.epoch
                    && matches!(to, Address::Node(_))
                {
                    self.sometimes.caught_up += u64::from(!resume.last.touches.is_empty());
                }
            }
            Message::VoteClosed(closed) => self.closed(closed),
            Message::Reset { .. } => self.sometimes.came_back += 1,
            Message::Bundle(bundle) if !bundle.answer => {
                self.sometimes.transfers += bundle.transfers.len() as u64;
                let bundles = self.bundles.entry((bundle.epoch, bundle.tick)).or_default();
                for object in &bundle.ghosts {
                    let regions = bundles.entry(object.id).or_insert(1);
                    *regions += 1;
                    self.sometimes.in_four_regions += u64::from(*regions == 4);
                    self.sometimes.in_eight_regions += u64::from(*regions == 8);
                }
                while self.bundles.len() > 3 {
                    self.bundles.pop_first();
                }
            }
            _ => {}
        }
    }

    /// A gateway after something has happened to it.
    pub(super) fn gateway(&mut self, who: Address, gateway: &Gateway) {
        let Some(group) = gateway.group() else { return };
        let (life, before) = (gateway.id().life, self.gate_groups.get(&who));
        let moved = before.is_some_and(|&known| known.0 == life && known.1 != group);
        self.sometimes.gates_moved += u64::from(moved && gateway.clients() > 0);
        self.gate_groups.insert(who, (life, group));
    }

    /// A message of a gateway to a client.
    pub(super) fn sent_to_client(&mut self, from: Address, to: Address, message: &Message) {
        let (Address::Client(_), Message::ToClient(message)) = (to, message) else { return };
        match message {
            GatewayMessage::Welcome(welcome) => {
                let before = self.gates.insert(welcome.credential.avatar, from);
                let moved = before.is_some_and(|before| before != from);
                self.sometimes.resumed_elsewhere += u64::from(moved);
                let group = self.gate_groups.get(&from).map(|(_, group)| *group);
                let abroad = group.is_some_and(|group| group != welcome.credential.home);
                self.sometimes.resumed_abroad += u64::from(moved && abroad);
            }
            GatewayMessage::Kicked { .. } => self.sometimes.kicked += 1,
            GatewayMessage::Correct { .. } => self.sometimes.corrected += 1,
            _ => {}
        }
    }

    fn view(&mut self, view: &View) {
        let Some(last) = self.last_views.get(&view.group) else {
            self.last_views.insert(view.group, view.clone());
            let groups = self.last_views.len() as u64;
            self.sometimes.several_groups += u64::from(groups > 1);
            return;
        };
        if last.epoch >= view.epoch {
            return;
        }
        self.halted.remove(&view.group);
        let unstable = !self.stable.contains(&last.epoch);
        self.sometimes.views_in_a_row += u64::from(unstable);
        let suspected = view.base_ring.iter().any(|m| !last.has(*m) && view.has(*m));
        self.sometimes.taken_back += u64::from(unstable && suspected);
        let newcomer = view.leader().is_some_and(|leader| leader.node.0 != 0);
        self.sometimes.newcomer_leads += u64::from(newcomer);
        self.sometimes.full_groups += u64::from(view.ring.len() == 5);
        let relays = view.leader() != last.leader() && self.last_views.len() > 1;
        self.sometimes.relay_changed += u64::from(relays);
        self.last_views.insert(view.group, view.clone());
    }

    fn closed(&mut self, closed: &VoteClosed) {
        if !self.ballots.insert(closed.ballot) {
            return;
        }
        let Tally { include, abstain, reject } = closed.tally;
        let split = [include, abstain, reject].iter().filter(|count| **count > 0).count() > 1;
        self.sometimes.votes_split += u64::from(split);
        match closed.outcome {
            Outcome::Passed => self.sometimes.votes_passed += 1,
            Outcome::Failed => self.sometimes.votes_refused += 1,
            Outcome::Void => {}
        }
    }
}
