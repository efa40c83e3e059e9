//! What goes to another group's leader, and when a copy is so far off that it must be corrected.

use super::drain::CLEAR_EVERY;
use super::{
    Address, CORRECTIONS_MAX, Class, Commit, GroupId, INPUTS_MAX, Input, Inputs, Message, Mutant,
    Object, ObjectId, Output, Relay, RelayedTick, Source, Tick, Tolerance, is_home,
};

impl Relay {
    /// Adds to a tick what the copies of this group's objects must be corrected by: where dead
    /// reckoning is too far off, and everything once a second, in turn.
    pub(super) fn reckon(&mut self, commit: &Commit, relayed: &mut RelayedTick) {
        let Some((tick, world)) = self.follower.world() else { return };
        let rate = self.timing.rate;
        let before = Tick(commit.tick.0.saturating_sub(1));
        for state in self.reckoned.values_mut() {
            *state = state.moved(before, rate);
        }
        // The follower may be ahead of this tick; then the last one will do.
        if tick != commit.tick {
            return;
        }
        self.has_looked = true;
        relayed.copied =
            Some(world.values().filter_map(|object| object.class.elsewhere()).collect());
        self.reckoned.retain(|id, _| world.get(id).is_some_and(|object| is_home(object.class)));
        let homes = || world.values().filter(|object| is_home(object.class));
        let each = homes().count().div_ceil(rate.max(1) as usize);
        let next = self.turn.map_or(ObjectId(0), |last| ObjectId(last.0.saturating_add(1)));
        let ahead = world.from(next);
        let due: Vec<ObjectId> =
            ahead.filter(|object| is_home(object.class)).take(each).map(|it| it.id).collect();
        self.turn = due.last().copied();
        let mut corrections = 0;
        for object in homes() {
            let reckoned = self.reckoned.get(&object.id);
            let near = |state| Tolerance::BETWEEN.holds(state, &object.state);
            let right = reckoned.is_some_and(near) && !due.contains(&object.id);
            if right || corrections >= CORRECTIONS_MAX {
                continue;
            }
            self.reckoned.insert(object.id, object.state);
            if !relayed.entered.contains(&object.id) && self.mutant != Some(Mutant::RelayMute) {
                corrections += 1;
                relayed.inputs.push(Input::Correct(object.id, self.group, object.state));
            }
        }
    }

    /// Sends another group what it has not taken.
    pub(super) fn send(&mut self, group: GroupId, out: &mut Vec<Output>) {
        let source = Source::Group(self.group);
        let Some(other) = self.others.get_mut(&group) else { return };
        let Some(leader) = other.leader else { return };
        let last = self.first + self.relayed.len() as u64 - 1;
        let message = match other.taken {
            _ if self.relayed.is_empty() => return,
            // It answers with what it has taken.
            None => Message::Inputs(Inputs { group, source, first: last, inputs: Vec::new() }),
            Some(Some(taken)) if taken + 1 >= self.first => {
                let skip = (taken + 1 - self.first) as usize;
                let numbers = self.relayed.iter().enumerate().skip(skip).take(INPUTS_MAX);
                let inputs: Vec<_> = numbers.map(|(at, _)| self.content(at, group)).collect();
                if inputs.is_empty() {
                    return;
                }
                Message::Inputs(Inputs { group, source, first: taken + 1, inputs })
            }
            // Members are asked for what is missing.
            Some(Some(_)) => return,
            Some(None) => {
                let heard =
                    |relayed: &RelayedTick| relayed.heard.iter().any(|(known, _)| *known == group);
                let known = self.relayed.iter().position(heard);
                let from = known.map_or(last, |at| self.first + at as u64);
                let start = other.start.filter(|start| *start >= self.first).unwrap_or(from);
                other.start = Some(start);
                let inputs = vec![self.greeting(start, group)];
                Message::Greet(Inputs { group, source, first: start, inputs })
            }
        };
        out.push(Output::Send(Address::Node(leader), message));
    }

    fn content(&self, at: usize, group: GroupId) -> Vec<Input> {
        let Some(relayed) = self.relayed.get(at) else { return Vec::new() };
        let mut inputs = relayed.inputs.clone();
        let tick = self.first + at as u64;
        inputs.extend(self.decided(relayed, group));
        inputs.extend(self.clear(relayed, tick, group));
        match self.mutant {
            Some(Mutant::RelaySkips) if tick.is_multiple_of(3) => {
                inputs.retain(|input| !matches!(input, Input::Kick(..)));
            }
            Some(Mutant::RelayRepeats) => {
                let before = at.checked_sub(1).and_then(|at| self.relayed.get(at));
                let before = before.into_iter().flat_map(|relayed| self.decided(relayed, group));
                inputs.extend(before.filter(|input| matches!(input, Input::Kick(..))));
            }
            Some(Mutant::HomeTwice) => {
                for input in &mut inputs {
                    if let Input::Enter(object) = input {
                        object.class = Class::Dynamic;
                    }
                }
            }
            _ => {}
        }
        inputs
    }

    /// What a tick of this group is for one other group alone: what moves there, and what is done
    /// to objects that are, or were, at home there.
    fn decided(&self, relayed: &RelayedTick, group: GroupId) -> impl Iterator<Item = Input> {
        let everywhere = self.mutant == Some(Mutant::ArriveEverywhere);
        let departed = relayed.departed.iter().filter(move |(to, ..)| *to == group || everywhere);
        let kicks = relayed.kicks.iter().filter(move |kick| kick.to == group);
        let arrive = departed.map(|(_, object, number)| Input::Arrive(*object, *number));
        let all: Vec<Input> =
            arrive.chain(kicks.map(|kick| Input::Kick(kick.object, kick.kick))).collect();
        all.into_iter()
    }

    /// Now and then a group is sent that there are no copies of its objects here.
    fn clear(&self, relayed: &RelayedTick, tick: u64, group: GroupId) -> Option<Input> {
        let clear = relayed.copied.as_ref().is_some_and(|copied| !copied.contains(&group));
        let taken = relayed.heard.iter().find(|(of, _)| *of == group).map(|(_, number)| *number)?;
        (clear && tick.is_multiple_of(CLEAR_EVERY)).then_some(Input::Clear(self.group, taken))
    }

    /// All that was at home here after a tick, or on its way elsewhere. What came in since follows
    /// with its own tick; what has left since is not sent at all.
    fn greeting(&self, start: u64, group: GroupId) -> Vec<Input> {
        let Some((_, world)) = self.follower.world() else { return Vec::new() };
        let since = (start + 1 - self.first) as usize;
        let later: Vec<ObjectId> = self
            .relayed
            .iter()
            .skip(since)
            .flat_map(|relayed| relayed.entered.iter().copied())
            .collect();
        let is_ours = |class: Class| is_home(class) || matches!(class, Class::Leaving(..));
        let homes = world.values().filter(|object| is_ours(object.class));
        let there = homes.filter(|object| !later.contains(&object.id));
        let class = Class::Foreign(self.group);
        let mut inputs: Vec<Input> =
            there.map(|it| Input::Enter(Object { class, ..*it })).collect();
        // And what was decided in it.
        let decided = self.relayed.get((start - self.first) as usize).into_iter();
        inputs.extend(decided.flat_map(|relayed| self.decided(relayed, group)));
        inputs
    }
}
