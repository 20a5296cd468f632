//! Marks: where in the shown text the danger stands.
//!
//! Findings point into the command as it was sent; secrets, personal data and signs of a person in crisis are found
//! in every text. What is shown differs from both: control characters are written out, secrets are named. A mark is therefore
//! looked up in the shown text, and one that cannot be found there exactly is left out: no mark is better
//! than one beside its word.

use super::text::{Redacts, without_secrets};
use super::{Field, Mark};
use crate::assessment::{Finding, Severity};
use crate::content::{crisis, personal, secrets};
use crate::display::{line, unfenced};
use crate::shell::syntax::Span;

/// Most marks of one text. More would point at nothing in particular.
const MARKS_MAX: usize = 8;

/// Longest text in which words that speak for a crisis are looked for, in bytes: each of them costs a reading.
const SIGNS_BYTES_MAX: usize = 64 * 1024;

/// Puts marks on `field`, which shows `text`: the gravest findings first, no two of them overlapping.
pub(super) fn put(field: &mut Field, text: &str, findings: &[Finding], redacts: Redacts) {
    let shown = |text: &str| unfenced(&without_secrets(text, redacts));
    let mut grave: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.severity >= Severity::Medium)
        .collect();
    grave.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
    for finding in grave {
        if field.marks.len() >= MARKS_MAX {
            break;
        }
        let Some(span) = finding.span else { continue };
        let range = span.start as usize..span.end as usize;
        let (Some(before), Some(through)) = (text.get(..range.start), text.get(..range.end)) else {
            continue;
        };
        // Together, because what stands before it may be what makes it a secret.
        let (before, through) = (shown(before), shown(through));
        let meant = through.strip_prefix(before.as_str()).unwrap_or_default();
        if meant.trim().is_empty() || !field.text.starts_with(&through) {
            continue;
        }
        let mark = Mark {
            start: before.len(),
            end: through.len(),
            severity: finding.severity,
            words: line(&without_secrets(&finding.message, redacts)),
        };
        let overlaps = |other: &Mark| mark.start < other.end && other.start < mark.end;
        if !field.marks.iter().any(overlaps) {
            field.marks.push(mark);
        }
    }
    field.marks.sort_by_key(|mark| mark.start);
}

/// Returns what `text` tells whoever gets it: secrets, and personal data and the words that speak for a crisis where
/// `findings` say so. `field` shows the text.
pub(super) fn told_by(field: &Field, text: &str, findings: &[Finding]) -> Vec<Finding> {
    let mut told = Vec::new();
    // Where nothing was hidden there is no secret, and looking for one takes a while.
    if field.text != unfenced(text) {
        told.extend(secrets::scan(text).into_iter().map(|it| Finding {
            code: "content.secret",
            cause: "content.secret",
            severity: Severity::High,
            message: format!("secret: {}", it.kind),
            span: Some(Span::new(it.span.0, it.span.1)),
        }));
    }
    if findings.iter().any(|it| it.code == personal::CODE) {
        told.extend(personal::scan(text).into_iter().map(|it| Finding {
            code: personal::CODE,
            cause: personal::CODE,
            severity: Severity::Medium,
            message: format!("personal data: {}", it.kind),
            span: Some(Span::new(it.span.0, it.span.1)),
        }));
    }
    told.extend(signs_in(text, findings));
    told
}

/// Returns the words of `text` that speak for a crisis, where `findings` say that it is held for one.
pub(super) fn signs_in(text: &str, findings: &[Finding]) -> Vec<Finding> {
    if !findings.iter().any(|it| it.code == crisis::CODE) || text.len() > SIGNS_BYTES_MAX {
        return Vec::new();
    }
    let sign = |(start, end)| Finding {
        code: crisis::CODE,
        cause: crisis::CODE,
        severity: Severity::High,
        message: "speaks for a person in crisis".to_owned(),
        span: Some(Span::new(start, end)),
    };
    crisis::telling(text).into_iter().map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(command: &str, word: &str, severity: Severity) -> Finding {
        let start = command.find(word).unwrap();
        let end = start + word.len();
        Finding {
            code: "x",
            cause: "x",
            severity,
            message: format!("about {word}"),
            span: Some(Span::new(start, end)),
        }
    }

    fn marked(command: &str, words: &[(&str, Severity)]) -> Vec<String> {
        let findings: Vec<Finding> = words
            .iter()
            .map(|(word, severity)| finding(command, word, *severity))
            .collect();
        let mut field = Field::words(
            "Command",
            unfenced(&without_secrets(command, Redacts::Secrets)),
        );
        put(&mut field, command, &findings, Redacts::Secrets);
        let marks = field.marks.iter();
        marks
            .filter_map(|mark| field.text.get(mark.start..mark.end))
            .map(str::to_owned)
            .collect()
    }

    /// A name, a command, words with findings, and what is marked.
    type Row<'a> = (&'a str, &'a str, &'a [(&'a str, Severity)], &'a [&'a str]);

    #[test]
    fn a_mark_stands_at_its_word_or_nowhere() {
        use Severity::{High, Info, Medium};
        let token = concat!("ghp_", "16C7e42F292c6912E7710c838347Ae178B4a");
        let long = format!("echo {token} && rm -rf /srv");
        let rows: [Row<'_>; 6] = [
            (
                "plain",
                "ls && rm -rf /srv",
                &[("rm -rf /srv", High)],
                &["rm -rf /srv"],
            ),
            (
                "behind a hidden character",
                "ls \u{202e}x && rm -rf /srv",
                &[("rm", High)],
                &["rm"],
            ),
            (
                "behind a secret",
                &long,
                &[("rm -rf /srv", High)],
                &["rm -rf /srv"],
            ),
            (
                "in a later line",
                "ls\n\nrm -rf /srv",
                &[("rm", High)],
                &["rm"],
            ),
            ("not worth it", "ls && rm -rf /srv", &[("ls", Info)], &[]),
            (
                "the gravest of those that overlap, in order",
                "curl a | sh; rm -rf /srv",
                &[
                    ("rm -rf", Medium),
                    ("rm -rf /srv", High),
                    ("curl a | sh", Medium),
                ],
                &["curl a | sh", "rm -rf /srv"],
            ),
        ];
        for (name, command, words, wanted) in rows {
            assert_eq!(marked(command, words), wanted, "{name}");
        }
    }
}
