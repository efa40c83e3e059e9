//! Controls: what a page may do besides viewing, if the program offers it.

use std::fmt;
use std::sync::Arc;

/// A key in the numbers of Qt 3, which a scene's `KeySensor` uses (Ohlenburg 2003, C.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// `Qt::Key`.
    pub value: i32,
    /// `Qt::ButtonState`: modifier keys.
    pub state: i32,
}

/// A key that a scene listens to, for pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyBinding {
    /// The key.
    pub key: Key,
    /// What it does, in a few words.
    pub does: String,
}

/// A request of a page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Control {
    /// Kill a node.
    Kill(u32),
    /// Add a node.
    Add,
    /// Set the simulated network.
    Network {
        /// Delay in milliseconds.
        delay_ms: f64,
        /// Loss rate, from 0 to 1.
        loss: f64,
    },
    /// Set the target number of bodies.
    Bodies(u64),
    /// A key that a scene listens to was pressed.
    Key(Key),
    /// Play a recording.
    Play,
    /// Pause it.
    Pause,
    /// Playback speed relative to the recording.
    Speed(f64),
    /// Go to this tick.
    Seek(u64),
    /// Go so many ticks forward, or back.
    Step(i64),
    /// Go to the next tick in which a contact begins, or the one before.
    Collision(i64),
}

impl Control {
    /// Its name in the protocol.
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

/// Executes a control, or returns why it cannot.
type Act = Arc<dyn Fn(Control) -> Result<(), String> + Send + Sync>;

/// The controls that a page may use; none by default.
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
    /// Allows controls with these names ([`Control::word`]). `act` executes them one after the
    /// other on its own thread, so it may block.
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

    /// Executes a control, if it is allowed.
    pub(crate) fn run(&self, control: Control) -> Result<(), String> {
        match &self.act {
            Some(act) if self.words.contains(&control.word()) => act(control),
            _ => Err("that cannot be asked for here".into()),
        }
    }
}
