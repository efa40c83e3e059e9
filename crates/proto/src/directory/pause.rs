//! A directory whose process was paused (stopped, swapped out, on a machine that slept) has heard
//! no node meanwhile, and no node could reach it: that time counts for no node's silence, patience
//! or vote. It notices a pause by its own clock: it runs far later than it asked to be woken.

use super::Directory;
use crate::mutant::Mutant;
use crate::node::Output;
use crate::time::Time;

impl Directory {
    /// To be called first whenever the directory runs.
    pub(super) fn check_pause(&mut self, now: Time, out: &mut Vec<Output>) {
        let expected = self.wake_at().max(self.stepped);
        self.stepped = now;
        let late = now - expected;
        let ignores = self.mutant == Some(Mutant::PauseIsDelay);
        if expected == Time(0) || late <= self.timing.pause() || ignores {
            return;
        }
        for known in self.kept.known.values_mut() {
            known.heard = known.heard + late;
        }
        for sent in self.peers_sent.values_mut() {
            *sent = *sent + late;
        }
        self.links.paused();
        let outputs = self.kept.polls.paused(now);
        self.send_polls(now, outputs, out);
    }
}
