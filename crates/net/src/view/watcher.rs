//! The role that watches the world for those who look at it: a follower of the first group. While
//! nobody looks it does not follow.

use super::frames::Frames;
use super::hub::Hub;
use super::scene::Now;
use jostle_proto::{Follower, GatewayId, Message, Output, Shapes, Span, Time, Timing};
use std::sync::Arc;

/// How often it looks whether somebody has come.
const LOOK: Span = Span::from_ms(50);

/// After so long without anybody it follows no longer.
const ALONE: Span = Span::from_ms(5000);

/// Follows a group and shows it.
pub(crate) struct Watcher {
    me: GatewayId,
    timing: Timing,
    hub: Arc<Hub>,
    frames: Frames,
    /// None while nobody looks.
    follower: Option<Follower>,
    look_at: Time,
    /// When somebody was last there.
    watched: Time,
}

impl Watcher {
    pub(crate) fn new(me: GatewayId, timing: Timing, shapes: Shapes, hub: Arc<Hub>) -> Watcher {
        let frames = Frames::new(timing.rate, shapes);
        let (look_at, watched) = (Time(0), Time(0));
        Watcher { me, timing, hub, frames, follower: None, look_at, watched }
    }

    pub(crate) fn id(&self) -> GatewayId {
        self.me
    }

    pub(crate) fn wake_at(&self) -> Time {
        self.follower.as_ref().map_or(self.look_at, |it| it.wake_at().min(self.look_at))
    }

    pub(crate) fn wake(&mut self, now: Time, out: &mut Vec<Output>) {
        self.look_at = now + LOOK;
        if self.hub.is_watched() {
            self.watched = now;
            let fresh = || Follower::new(self.me, self.timing);
            self.follower.get_or_insert_with(fresh);
        } else if now - self.watched > ALONE {
            self.follower = None;
            self.frames.forget();
        }
        if let Some(follower) = &mut self.follower {
            follower.wake(now, out);
        }
        self.show();
    }

    pub(crate) fn receive(&mut self, now: Time, message: Message) {
        if let Some(follower) = &mut self.follower {
            follower.receive(now, message);
        }
        self.show();
    }

    /// If there are new ticks, the last of them is shown.
    fn show(&mut self) {
        let Some(follower) = &mut self.follower else { return };
        let Some(commit) = std::iter::from_fn(|| follower.take()).last() else { return };
        if let Some((tick, objects)) = follower.world()
            && tick == commit.tick
        {
            let now = Now {
                tick,
                dilation: commit.dilation,
                objects,
                touches: &commit.touches,
                view: follower.view(),
            };
            self.hub.show(&now, &mut self.frames);
        }
    }
}
