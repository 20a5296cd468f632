//! What work costs, whatever else the machine does meanwhile.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns what `work` made and how much processor it took.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let before = used();
    let made = std::hint::black_box(work());
    (made, used().saturating_sub(before))
}

fn used() -> Duration {
    Duration::try_from(clock_gettime(ClockId::ThreadCPUTime)).unwrap_or_default()
}
