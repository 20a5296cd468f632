//! The clock of a full-screen program: wall time that never goes back.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign_core::time::UnixMillis;

/// Steps of the clock forward that are followed: the machine slept, or was set right.
const STEP_MILLIS: i64 = 2_000;

/// A clock that never goes back.
#[derive(Debug)]
pub(super) struct Clock {
    began: Instant,
    /// The time of day when it began.
    base: i64,
}

impl Clock {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            base: time_of_day(),
        }
    }

    /// Returns what time it is.
    pub(super) fn now(&mut self) -> UnixMillis {
        let now = self.at(Instant::now());
        let ahead = time_of_day().saturating_sub(now.0);
        if ahead < STEP_MILLIS {
            return now;
        }
        self.base = self.base.saturating_add(ahead);
        now.plus(ahead)
    }

    /// Returns what time it was at `instant`.
    pub(super) fn at(&self, instant: Instant) -> UnixMillis {
        let passed = instant.saturating_duration_since(self.began).as_millis();
        UnixMillis(self.base).plus(i64::try_from(passed).unwrap_or(i64::MAX))
    }

    /// Returns when it will be `moment`.
    pub(super) fn instant(&self, moment: UnixMillis) -> Instant {
        let later = u64::try_from(moment.0.saturating_sub(self.base)).unwrap_or(0);
        let later = self.began.checked_add(Duration::from_millis(later));
        later.unwrap_or(self.began)
    }
}

fn time_of_day() -> i64 {
    let passed = SystemTime::now().duration_since(UNIX_EPOCH);
    let millis = passed.map_or(0, |passed| passed.as_millis());
    i64::try_from(millis).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_forward_with_the_time_of_day_and_never_back() {
        let mut clock = Clock::new();
        let now = clock.now();
        clock.base -= 60_000;
        assert!(clock.now() >= now, "a step forward is followed");
        clock.base += 120_000;
        let ahead = clock.now();
        assert!(ahead.since(now) >= 60_000, "a step back is not");
        assert!(clock.now() >= ahead);
    }

    #[test]
    fn a_moment_is_the_instant_it_will_be() {
        let clock = Clock::new();
        let later = clock.began + Duration::from_millis(700);
        assert_eq!(clock.instant(clock.at(later)), later);
        assert_eq!(clock.instant(UnixMillis(0)), clock.began);
    }
}
