//! The practice card: its command and texts.

/// What the practice card is about: it would delete something, so it is always asked about, and
/// nothing runs it.
pub(crate) const COMMAND: &str = "rm -rf /srv/countersign-practice";

/// What stands on it, so that nobody is afraid.
pub(crate) const EXPLANATION: &str = "This is a practice card. Nothing runs, whatever you answer.";
