//! What a page may ask for besides looking, if whoever runs the world lets it.

use std::fmt;
use std::sync::Arc;

/// A key in the numbers of Qt 3, which a scene's `KeySensor` has (Ohlenburg 2003, C.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// `Qt::Key`.
    pub value: i32,
    /// `Qt::ButtonState`: keys that are held besides.
    pub state: i32,
}

/// A key that a scene listens to, for pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBinding {
    /// Which.
    pub key: Key,
    /// What it does, in a few words.
    pub does: String,
}

/// Something that a page asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// A node is to die.
    Kill(u32),
    /// A node is to come.
    Add,
    /// The network is to be like this.
    Network {
        /// Messages take so long, in milliseconds.
        delay_ms: f64,
        /// So many of them are lost, from 0 to 1.
        loss: f64,
    },
    /// There are to be so many bodies.
    Bodies(u64),
    /// Somebody has pressed a key that a scene listens to.
    Key(Key),
    /// A recording goes on.
    Play,
    /// It stands.
    Pause,
    /// How many times faster than it was recorded.
    Speed(f64),
    /// To this tick.
    Seek(u64),
    /// So many ticks on, or back.
    Step(i64),
    /// To the next tick in which a contact begins, or the one before.
    Collision(i64),
}

impl Control {
    /// What it is called in the protocol.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Control::Kill(_) => "kill",
            Control::Add => "add",
            Control::Network { .. } => "network",
            Control::Bodies(_) => "bodies",
            Control::Key(_) => "key",
            Control::Play => "play",
            Control::Pause => "pause",
            Control::Speed(_) => "speed",
            Control::Seek(_) => "seek",
            Control::Step(_) => "step",
            Control::Collision(_) => "collision",
        }
    }
}

/// What does what a page asks for; or says why not.
type Act = Arc<dyn Fn(Control) -> Result<(), String> + Send + Sync>;

/// What a page may ask for, and who does it. By default nothing.
#[derive(Clone, Default)]
pub struct Controls {
    words: Vec<&'static str>,
    act: Option<Act>,
}

impl fmt::Debug for Controls {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Controls").field("words", &self.words).finish_non_exhaustive()
    }
}

impl Controls {
    /// These words ([`Control::word`]) are allowed, and this does them: one after the other, on a
    /// thread of its own, so it may take its time.
    #[must_use]
    pub fn new(
        words: &[&'static str],
        act: impl Fn(Control) -> Result<(), String> + Send + Sync + 'static,
    ) -> Controls {
        Controls { words: words.to_vec(), act: Some(Arc::new(act)) }
    }

    pub(crate) fn words(&self) -> &[&'static str] {
        &self.words
    }

    /// Does it, if it is allowed.
    pub(crate) fn run(&self, control: Control) -> Result<(), String> {
        match &self.act {
            Some(act) if self.words.contains(&control.word()) => act(control),
            _ => Err("that cannot be asked for here".into()),
        }
    }
}
