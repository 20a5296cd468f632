//! The practice card: its command and texts.

pub(crate) use countersign_gate::base::practice::COMMAND;

/// What stands on it, so that nobody is afraid.
pub(crate) const EXPLANATION: &str = "This is a practice card. Nothing runs, whatever you answer.";
