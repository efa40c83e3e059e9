//! The role that follows the world for viewers: a follower of the first group, whose world has
//! copies of other groups' objects, and followers of the other groups, which know their owners.
//! Without viewers it does not follow.

use super::frames::FrameEncoder;
use super::hub::ViewHub;
use super::snapshot::{OtherGroups, WorldRef};
use jostle_proto::{
    Follower, GatewayId, GroupId, Message, Object, Objects, Output, Shapes, Source, Span, Time,
    Timing, View, is_home,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Interval of checks for viewers.
const LOOK: Span = Span::from_ms(50);

/// Without viewers for so long it stops following.
const ALONE: Span = Span::from_ms(5000);

/// A group without ticks for so long has ended, or is too far away; it is tried again after the
/// same time.
const SILENT: Span = Span::from_ms(5000);

/// Other groups that are followed, at most.
const OTHERS_MAX: usize = 32;

/// Another group.
struct OtherGroup {
    group: GroupId,
    follower: Follower,
    /// Its last tick, or the last attempt.
    since: Time,
    /// Whether it has ticks.
    shown: bool,
}

/// Follows a world and passes it to the hub.
pub(crate) struct ViewFollower {
    me: GatewayId,
    timing: Timing,
    hub: Arc<ViewHub>,
    frames: FrameEncoder,
    /// The immovable objects of a free-running world.
    static_objects: Option<Vec<Object>>,
    /// `None` without viewers.
    follower: Option<Follower>,
    others: BTreeMap<GroupId, OtherGroup>,
    look_at: Time,
    /// When there was last a viewer.
    watched: Time,
}

impl ViewFollower {
    pub(crate) fn new(
        me: GatewayId,
        timing: Timing,
        shapes: Shapes,
        hub: Arc<ViewHub>,
    ) -> ViewFollower {
        ViewFollower {
            me,
            timing,
            hub,
            frames: FrameEncoder::new(timing.rate, shapes),
            static_objects: None,
            follower: None,
            others: BTreeMap::new(),
            look_at: Time(0),
            watched: Time(0),
        }
    }

    /// For a free-running world with these immovable objects.
    pub(crate) fn free_running(self, static_objects: Vec<Object>) -> ViewFollower {
        ViewFollower { static_objects: Some(static_objects), ..self }
    }

    pub(crate) fn id(&self) -> GatewayId {
        self.me
    }

    pub(crate) fn wake_at(&self) -> Time {
        let others = self.others.values().map(|other| &other.follower);
        let followers = self.follower.iter().chain(others).map(Follower::wake_at);
        followers.chain([self.look_at]).min().unwrap_or(self.look_at)
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.look_at = now + LOOK;
        if self.hub.is_watched() {
            self.watched = now;
            let fresh = || {
                let follower = Follower::new(self.me, self.timing);
                match &self.static_objects {
                    None => follower,
                    Some(static_objects) => follower.free_running(static_objects),
                }
            };
            self.follower.get_or_insert_with(fresh);
        } else if now - self.watched > ALONE {
            self.follower = None;
            self.others.clear();
            self.frames.forget();
        }
        for other in self.others.values_mut() {
            other.come_on(now);
            if now - other.since > SILENT {
                *other = OtherGroup::new(other.group, self.me, self.timing, now);
            }
            other.follower.wake(now, out);
        }
        if let Some(follower) = &mut self.follower {
            follower.wake(now, out);
        }
        self.show(now);
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message) {
        let group = match &message {
            Message::View(view) => Some(view.group),
            Message::Published(commit) => Some(commit.group),
            // A share does not name its group, but a node is in one group only.
            Message::Share(share) => {
                let has = |view: Option<&View>| {
                    view.is_some_and(|view| view.nodes().any(|node| node == share.from))
                };
                let theirs = self.others.iter().find(|(_, other)| has(other.follower.view()));
                theirs.map(|(&group, _)| group)
            }
            _ => None,
        };
        match group.and_then(|group| self.others.get_mut(&group)) {
            Some(other) => {
                other.follower.receive(now, message);
                other.come_on(now);
            }
            None => {
                if let Some(follower) = &mut self.follower {
                    follower.receive(now, message);
                }
            }
        }
        self.show(now);
    }

    /// Passes on the last of the new ticks.
    fn show(&mut self, now: Time) {
        let Some(follower) = &mut self.follower else { return };
        let Some(commit) = std::iter::from_fn(|| follower.take()).last() else { return };
        for (source, _) in &commit.heard {
            if let Source::Group(group) = *source
                && (self.others.contains_key(&group) || self.others.len() < OTHERS_MAX)
            {
                let fresh = || OtherGroup::new(group, self.me, self.timing, now);
                self.others.entry(group).or_insert_with(fresh);
            }
        }
        let heard =
            |group: GroupId| commit.heard.iter().any(|(source, _)| *source == Source::Group(group));
        self.others.retain(|group, _| heard(*group));
        if let Some((tick, objects)) = follower.world()
            && tick == commit.tick
        {
            let others = others(&self.others, objects);
            let now = WorldRef {
                tick,
                dilation: commit.dilation,
                objects,
                touches: &commit.touches,
                view: follower.view(),
                others: &others,
            };
            self.hub.show(&now, &mut self.frames);
        }
    }
}

impl OtherGroup {
    fn new(group: GroupId, me: GatewayId, timing: Timing, now: Time) -> OtherGroup {
        let follower = Follower::new(me, timing).of(group);
        OtherGroup { follower, since: now, shown: false, group }
    }

    /// Takes over new ticks.
    fn come_on(&mut self, now: Time) {
        if std::iter::from_fn(|| self.follower.take()).last().is_some() {
            (self.since, self.shown) = (now, true);
        }
    }
}

/// The homes of foreign objects, according to their own groups.
fn others(all: &BTreeMap<GroupId, OtherGroup>, objects: &Objects) -> OtherGroups {
    let shown = || all.iter().filter(|(_, other)| other.shown);
    let views = shown().filter_map(|(&group, other)| Some((group, other.follower.view()?.clone())));
    let worlds: Vec<(GroupId, &Objects)> =
        shown().filter_map(|(&group, other)| Some((group, other.follower.world()?.1))).collect();
    let home = |id| {
        let theirs = |(_, world): &&(GroupId, &Objects)| {
            world.get(id).is_some_and(|object| is_home(object.class))
        };
        worlds.iter().find(theirs).map(|(group, _)| (*id, *group))
    };
    let foreign = objects.values().filter(|object| object.class.elsewhere().is_some());
    let homes = match worlds.is_empty() {
        true => BTreeMap::new(),
        false => foreign.filter_map(|object| home(&object.id)).collect(),
    };
    OtherGroups { views: views.collect(), homes }
}
