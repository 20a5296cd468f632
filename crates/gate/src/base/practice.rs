//! Practice cards: harmless, to try answering with. They count nowhere.

/// What a practice card is about: it would delete something, so it is always asked about, and nothing
/// runs it.
pub const COMMAND: &str = "rm -rf /srv/countersign-practice";

/// Whether a call is practice, by the line that shows it. Exactly this text is, whoever asks: a name
/// could be claimed by an agent that does not want to be counted.
pub fn is_practice(command: &str) -> bool {
    command == COMMAND
}
