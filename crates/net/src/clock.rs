//! The clock of a process: microseconds since 1970, monotonic while the process runs.

use jostle_proto::Time;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

/// A clock.
///
/// ```
/// let clock = jostle_net::Clock::start();
/// assert!(clock.now() <= clock.now());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
    at: Time,
}

impl Clock {
    /// Starts at the system time.
    #[must_use]
    pub fn start() -> Clock {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Clock { start: Instant::now(), at: Time(micros(since)) }
    }

    /// The same, but not before a remembered time: the system clock may have been set back between
    /// two runs.
    #[must_use]
    pub fn not_before(self, time: Time) -> Clock {
        Clock { at: self.at.max(time), ..self }
    }

    /// The current time.
    #[must_use]
    pub fn now(&self) -> Time {
        Time(self.at.0 + micros(self.start.elapsed()))
    }

    /// The time left until then; zero if it is over.
    #[must_use]
    pub fn until(&self, time: Time) -> Duration {
        Duration::from_micros((time - self.now()).0)
    }
}

/// A monotonic stopwatch, for measurements of roles.
pub(crate) fn stopwatch() -> Duration {
    static BEGIN: OnceLock<Instant> = OnceLock::new();
    BEGIN.get_or_init(Instant::now).elapsed()
}

fn micros(span: Duration) -> u64 {
    u64::try_from(span.as_micros()).unwrap_or(u64::MAX)
}
