//! The role that watches the world for those who look at it: a follower of the first group, whose
//! world has copies of the other groups' objects, and of the other groups too, who say what is
//! whose. While nobody looks it does not follow.

use super::frames::Frames;
use super::hub::Hub;
use super::scene::{Now, Others};
use jostle_proto::{
    Follower, GatewayId, GroupId, Message, Object, Objects, Output, Shapes, Source, Span, Time,
    Timing, View, is_home,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How often it looks whether somebody has come.
const LOOK: Span = Span::from_ms(50);

/// After so long without anybody it follows no longer.
const ALONE: Span = Span::from_ms(5000);

/// A group that has not come on for so long is over, or too far away to be shown; it is looked
/// for again after as long.
const SILENT: Span = Span::from_ms(5000);

/// Other groups that are followed, at most.
const OTHERS_MAX: usize = 32;

/// Another group.
struct Other {
    group: GroupId,
    follower: Follower,
    /// When it came on, or was last looked for.
    since: Time,
    /// Is it there?
    shown: bool,
}

/// Follows a world and shows it.
pub(crate) struct Watcher {
    me: GatewayId,
    timing: Timing,
    hub: Arc<Hub>,
    frames: Frames,
    /// What never moves, if the world is not synchronised.
    scenery: Option<Vec<Object>>,
    /// None while nobody looks.
    follower: Option<Follower>,
    others: BTreeMap<GroupId, Other>,
    look_at: Time,
    /// When somebody was last there.
    watched: Time,
}

impl Watcher {
    pub(crate) fn new(me: GatewayId, timing: Timing, shapes: Shapes, hub: Arc<Hub>) -> Watcher {
        Watcher {
            me,
            timing,
            hub,
            frames: Frames::new(timing.rate, shapes),
            scenery: None,
            follower: None,
            others: BTreeMap::new(),
            look_at: Time(0),
            watched: Time(0),
        }
    }

    /// The same for an unsynchronised world, in which this never moves.
    pub(crate) fn unsynchronised(self, scenery: Vec<Object>) -> Watcher {
        Watcher { scenery: Some(scenery), ..self }
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
                match &self.scenery {
                    None => follower,
                    Some(scenery) => follower.unsynchronised(scenery),
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
                *other = Other::new(other.group, self.me, self.timing, now);
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
            // A share does not say of which group it is, but a node is in one only.
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

    /// If there are new ticks, the last of them is shown.
    fn show(&mut self, now: Time) {
        let Some(follower) = &mut self.follower else { return };
        let Some(commit) = std::iter::from_fn(|| follower.take()).last() else { return };
        for (source, _) in &commit.heard {
            if let Source::Group(group) = *source
                && (self.others.contains_key(&group) || self.others.len() < OTHERS_MAX)
            {
                let fresh = || Other::new(group, self.me, self.timing, now);
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
            let now = Now {
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

impl Other {
    fn new(group: GroupId, me: GatewayId, timing: Timing, now: Time) -> Other {
        let follower = Follower::new(me, timing).of(group);
        Other { follower, since: now, shown: false, group }
    }

    /// It may have new ticks.
    fn come_on(&mut self, now: Time) {
        if std::iter::from_fn(|| self.follower.take()).last().is_some() {
            (self.since, self.shown) = (now, true);
        }
    }
}

/// What others say is theirs, of what the group that is followed has.
fn others(all: &BTreeMap<GroupId, Other>, objects: &Objects) -> Others {
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
    Others { views: views.collect(), homes }
}
