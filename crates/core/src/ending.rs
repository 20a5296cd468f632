//! `Ending`: how a call ended, with one text for every surface.
//!
//! What ran and went well, what ran and failed, and what never ran are different things; so are a
//! person's no, a rule's, and nobody's answer. Whoever shows a call says these words.

use crate::display::inline;
use crate::status::Ended;
use crate::time::UnixMillis;

/// How a call ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It ran and went well.
    Done,
    /// It ran and failed.
    Failed {
        /// The exit code, if it ran a process.
        exit_code: Option<i32>,
    },
    /// Somebody said no.
    Denied {
        /// Who.
        by: Option<String>,
        /// The note.
        note: Option<String>,
    },
    /// Nobody was asked, and it did not run.
    Refused(Refusal),
    /// Nobody answered.
    Expired {
        /// Whether anybody could be asked at all.
        reached: bool,
    },
    /// The asker withdrew it.
    Withdrawn,
    /// It was begun, and nobody can say what came of it.
    Unknown,
    /// It never became a call, for this reason.
    NotRun(&'static str),
}

/// Why nobody was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is refused whoever asks.
    Floor,
    /// A deny rule of the policy, by its name.
    Rule(String),
    /// Somebody denied the same a moment ago.
    DeniedBefore {
        /// Who.
        by: Option<String>,
        /// How long ago, in milliseconds, where that is known.
        ago: Option<i64>,
        /// The note.
        note: Option<String>,
    },
    /// Nobody is there who could allow it.
    NoApprover,
}

impl Ending {
    /// Returns how it ended without the details.
    pub const fn ended(&self) -> Ended {
        match self {
            Self::Done => Ended::Done,
            Self::Failed { .. } => Ended::Failed,
            Self::Denied { .. } => Ended::Denied,
            Self::Refused(_) => Ended::Refused,
            Self::Expired { .. } => Ended::Expired,
            Self::Withdrawn => Ended::Withdrawn,
            Self::Unknown => Ended::Unknown,
            Self::NotRun(_) => Ended::NotRun,
        }
    }

    /// Returns how it ended, for people. It is safe to show.
    pub fn words(&self) -> String {
        match self {
            Self::Done | Self::Failed { exit_code: None } | Self::Withdrawn => {
                self.ended().to_string()
            }
            Self::Failed {
                exit_code: Some(code),
            } => format!("failed (exit {code})"),
            Self::Denied { by, note } => format!(
                "denied{}{}",
                by_whom(by.as_deref()),
                with_note(note.as_deref())
            ),
            Self::Refused(refusal) => format!("refused because {}", refusal.words()),
            Self::Expired { reached: true } => "expired: nobody answered in time".to_owned(),
            Self::Expired { reached: false } => "expired: nobody could be reached".to_owned(),
            Self::Unknown => "outcome unknown".to_owned(),
            Self::NotRun(why) => format!("not run: {why}"),
        }
    }
}

impl Refusal {
    fn words(&self) -> String {
        match self {
            Self::Floor => "such calls are never allowed".to_owned(),
            Self::Rule(name) => format!("of the deny rule {}", inline(name)),
            Self::DeniedBefore { by, ago, note } => {
                let ago = ago.map_or_else(|| "a moment ago".to_owned(), how_long_ago);
                format!(
                    "it was denied{} {ago}{}",
                    by_whom(by.as_deref()),
                    with_note(note.as_deref())
                )
            }
            Self::NoApprover => "there is no approver".to_owned(),
        }
    }
}

fn by_whom(by: Option<&str>) -> String {
    by.map_or_else(String::new, |by| format!(" by {}", inline(by)))
}

fn with_note(note: Option<&str>) -> String {
    note.map_or_else(String::new, |note| format!(": {}", inline(note)))
}

/// Returns a length of time as people say it: `just now`, `42 s ago`, `3 min ago`, `2 h ago`.
fn how_long_ago(millis: i64) -> String {
    let seconds = UnixMillis(millis.max(0)).seconds();
    match seconds {
        0..2 => "just now".to_owned(),
        2..120 => format!("{seconds} s ago"),
        120..7_200 => format!("{} min ago", seconds / 60),
        _ => format!("{} h ago", seconds / 3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_reads_as_what_it_is() {
        let ana = || Some("ana".to_owned());
        let rows = [
            (Ending::Done, "done", "done"),
            (
                Ending::Failed { exit_code: Some(1) },
                "failed",
                "failed (exit 1)",
            ),
            (Ending::Failed { exit_code: None }, "failed", "failed"),
            (
                Ending::Denied {
                    by: ana(),
                    note: Some("keep\u{202e} it".to_owned()),
                },
                "denied",
                "denied by ana: keep⟨U+202E⟩ it",
            ),
            (
                Ending::Refused(Refusal::Rule("no pushes".to_owned())),
                "refused",
                "refused because of the deny rule no pushes",
            ),
            (
                Ending::Refused(Refusal::DeniedBefore {
                    by: ana(),
                    ago: Some(130_000),
                    note: None,
                }),
                "refused",
                "refused because it was denied by ana 2 min ago",
            ),
            (
                Ending::Expired { reached: true },
                "expired",
                "expired: nobody answered in time",
            ),
            (Ending::Unknown, "unknown", "outcome unknown"),
            (
                Ending::NotRun("there is no such tool"),
                "not_run",
                "not run: there is no such tool",
            ),
        ];
        for (ending, word, words) in rows {
            assert_eq!(
                (ending.ended().word(), ending.words().as_str()),
                (word, words)
            );
        }
    }

    #[test]
    fn how_long_ago_is_said_as_people_say_it() {
        for (millis, words) in [
            (-5, "just now"),
            (1_999, "just now"),
            (2_000, "2 s ago"),
            (119_999, "119 s ago"),
            (120_000, "2 min ago"),
            (7_200_000, "2 h ago"),
        ] {
            assert_eq!(how_long_ago(millis), words, "{millis}");
        }
    }
}
