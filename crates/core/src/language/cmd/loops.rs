//! Finds batches that start processes without end.

use super::split;

/// Whether a batch starts itself beside itself, or starts programs in a loop without end.
pub(super) fn multiplies(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let itself = |word: &String| word.starts_with("%~") && word.ends_with('0') || word == "%0";
    let commands = split(&lower);
    let is_started = |words: &[String]| {
        let first = words.first().map(|word| word.trim_start_matches('@'));
        matches!(first, Some("start" | "call" | "cmd")) && words.iter().any(itself)
    };
    let copies = commands
        .iter()
        .filter(|command| command.words.first().is_some_and(itself) || is_started(&command.words));
    let starts = commands.iter().any(|command| {
        let mut words = command
            .words
            .iter()
            .map(|word| word.trim_start_matches('@'));
        words
            .next()
            .is_some_and(|first| first == "start" || first == "do" && words.next() == Some("start"))
    });
    let goes_back = lower.lines().any(|line| line.trim_start().starts_with(':'))
        && commands
            .iter()
            .any(|command| command.words.first().is_some_and(|word| word == "goto"));
    let counts_forever = lower.contains("for /l ") && lower.contains(",0,");
    let waits = lower.contains("timeout") || lower.contains("ping ") || lower.contains("/wait");
    copies.count() >= 2 || starts && (goes_back || counts_forever) && !waits
}
