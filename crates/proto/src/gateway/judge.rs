//! Messages of clients are validated first: the rate limit, whether the avatar is the client's own,
//! whether the input is new, and whether its speed and acceleration are within the limits.

use super::limits::{apart, shorten, toward};
use super::session::{Session, Standing};
use super::{Gateway, arrive};
use crate::client::{ClientId, ClientMessage, GatewayMessage, Limits, Reason, Refusal, Report};
use crate::input::ClientInput;
use crate::mutant::Mutant;
use crate::node::Output;
use crate::time::Time;

/// Strikes for a message beyond the allowance.
const FLOOD: u32 = 1;

/// Strikes for wanting what no client of ours would want.
const CHEAT: u32 = 8;

impl Gateway {
    /// May this be said at all? Costs the same whatever it is.
    pub(super) fn afford(
        &mut self,
        now: Time,
        client: ClientId,
        message: &ClientMessage,
        out: &mut Vec<Output>,
    ) -> bool {
        let Some(session) = self.sessions.get_mut(&client) else { return true };
        let settings = &self.settings;
        if session.messages.take(now, 1, settings.messages)
            && session.bytes.take(now, message.cost(), settings.bytes)
        {
            return true;
        }
        self.counters.flooded += 1;
        self.strike(now, client, FLOOD, Reason::Flood, out);
        false
    }

    /// A client with too many strikes is disconnected.
    fn strike(
        &mut self,
        now: Time,
        client: ClientId,
        strikes: u32,
        reason: Reason,
        out: &mut Vec<Output>,
    ) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        session.strikes += strikes;
        if session.strikes < self.settings.strikes {
            return;
        }
        let attempt = session.attempt;
        self.counters.kicked += 1;
        self.send_to_client(client, GatewayMessage::Kicked { attempt, reason }, out);
        self.part(client, arrive::Parting::Silence);
        self.ban(now, client.host);
    }

    pub(super) fn report(
        &mut self,
        now: Time,
        client: ClientId,
        report: Report,
        out: &mut Vec<Output>,
    ) {
        let Report { attempt, ack, want } = report;
        let Some(session) = self.sessions.get_mut(&client) else {
            return self.refuse(now, client, attempt, Refusal::Unknown, out);
        };
        let replays = self.mutant == Some(Mutant::AcceptReplays);
        if attempt != session.attempt && !replays {
            self.counters.refused += 1;
            return;
        }
        session.heard = now;
        session.unheard = 0;
        if session.standing == Standing::Active {
            let kept = session.ack(ack);
            self.counters.bases_lost += u64::from(!kept);
            if let Some(want) = want {
                self.want(now, client, want, out);
            }
        }
    }

    fn want(&mut self, now: Time, client: ClientId, want: ClientInput, out: &mut Vec<Output>) {
        let Some(session) = self.sessions.get_mut(&client) else { return };
        if want.avatar != session.avatar && self.mutant != Some(Mutant::TrustIds) {
            self.counters.foreign += 1;
            return self.strike(now, client, CHEAT, Reason::Foreign, out);
        }
        if want.number <= session.number && self.mutant != Some(Mutant::AcceptReplays) {
            self.counters.replays += 1;
            return;
        }
        session.number = session.number.max(want.number);
        let (want, reason) = match self.mutant {
            Some(Mutant::NoSpeedCheck) => (want, None),
            _ => cut_down(now, session, want, &self.settings.limits),
        };
        session.velocity = want.velocity;
        let astray = self.main.filter(|_| self.mutant == Some(Mutant::WantAstray));
        if let Some(link) = self.group_links.get_mut(&astray.unwrap_or(session.home)) {
            link.wants.insert(want.avatar, want);
        }
        if let Some(reason) = reason {
            let attempt = session.attempt;
            self.counters.corrected += 1;
            self.send_to_client(client, GatewayMessage::Correct { attempt, want, reason }, out);
            if reason != Reason::Change {
                self.strike(now, client, CHEAT, reason, out);
            }
        }
    }
}

/// What may be done of what is wanted, and what was wrong with the rest.
fn cut_down(
    now: Time,
    session: &mut Session,
    want: ClientInput,
    limits: &Limits,
) -> (ClientInput, Option<Reason>) {
    let ClientInput { velocity, spin, .. } = want;
    let slow = shorten(velocity, u64::from(limits.speed));
    let calm = shorten(spin, u64::from(limits.spin));
    let allowance = limits.change_allowance();
    let way = apart(session.velocity, slow).min(session.change.left(now, allowance));
    session.change.take(now, way, allowance);
    let reached = shorten(toward(session.velocity, slow, way), u64::from(limits.speed));
    let reason = match () {
        () if slow != velocity => Some(Reason::Speed),
        () if calm != spin => Some(Reason::Spin),
        () if reached != slow => Some(Reason::Change),
        () => None,
    };
    (ClientInput { velocity: reached, spin: calm, ..want }, reason)
}
