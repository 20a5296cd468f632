//! What lies behind a row: why a call was decided as it was, what a change changed, what a permission
//! covers.

use countersign_core::assessment::factor_words;
use countersign_core::display;
use countersign_core::time::UnixMillis;
use ratatui::text::Line;
use serde_json::Value;

use super::history::Past;
use super::shelf::Entry as _;
use super::standing::{Grant, Review};
use super::waiting::Item;
use crate::config::read::at;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::words::{ago, named, outcome, risk, score, sentence, span};

/// Cells of a factor's bar.
const BAR: usize = 10;

/// Words about a row, and below them what is known of it by name.
#[derive(Debug, Default)]
pub(super) struct Details {
    words: Doc,
    facts: Doc,
}

impl Details {
    /// Returns how many rows there are at `width` cells.
    pub(super) fn rows(&mut self, width: usize) -> usize {
        self.words.rows(width) + self.facts.rows(width)
    }

    /// Returns the rows from `first` on, as many as `height`.
    pub(super) fn lines(
        &mut self,
        first: usize,
        height: usize,
        width: usize,
        theme: Theme,
    ) -> Vec<Line<'static>> {
        let above = self.words.rows(width);
        let end = first + height;
        let mut lines = self.words.lines(first..end, width, theme);
        let facts = first.saturating_sub(above)..end.saturating_sub(above);
        lines.extend(self.facts.lines(facts, width, theme));
        lines
    }
}

/// Explains a call: how it ended, who decided, and how it was judged, factor by factor.
pub(super) fn past(past: &Past, now: UnixMillis, theme: Theme) -> Details {
    let mut details = Details::default();
    let (doc, plain) = (&mut details.words, theme.plain());
    let Some(trace) = &past.whole else {
        doc.push(Part::words("", past.outcome(), plain));
        doc.push(Part::fenced("", &past.what, plain));
        return details;
    };
    let assessment = at(trace, "assessment");
    let rule = named(assessment, "rule.sentence").unwrap_or_default();
    let number = at(assessment, "rule.number").as_u64().unwrap_or(0);
    let asked = if past.ran_unasked() {
        "Why nobody was asked"
    } else if past.status == "refused" {
        "Why it was refused"
    } else {
        "Why it was asked"
    };
    doc.push(Part::words("", asked, theme.heading()));
    doc.push(Part::words(
        "",
        &format!("{} (rule {number} of 12).", sentence(&rule)),
        plain,
    ));
    doc.push(Part::words("", "", plain));
    doc.push(Part::fenced(
        "",
        at(trace, "command").as_str().unwrap_or_default(),
        theme.heading(),
    ));
    doc.push(Part::words("", "", plain));
    let doc = &mut details.facts;
    let mut words = |name: &str, text: Option<String>| {
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            doc.push(Part::words(name, &text, plain));
        }
    };
    let decision = at(trace, "decision");
    let decided = decision.is_object().then(|| outcome(decision));
    words(
        "Outcome",
        decided.or_else(|| Some("Waiting for a person".to_owned())),
    );
    words("Note", named(decision, "note"));
    let took = past
        .decided_at
        .map(|at| at.since(past.at))
        .filter(|took| *took >= 1_000);
    words("Took", took.map(span));
    words("When", Some(ago(past.at, now)));
    words("Grant", named(decision, "grant_id"));
    let (risk, confidence) = (risk(assessment), score(assessment, "confidence"));
    words("Risk", Some(format!("{risk}, confidence {confidence}")));
    let reasons = at(assessment, "reasons").as_array().into_iter().flatten();
    for (number, reason) in reasons.filter_map(Value::as_str).enumerate() {
        words(
            if number == 0 { "Because" } else { "" },
            Some(display::inline(reason)),
        );
    }
    for factor in at(assessment, "factors").as_array().into_iter().flatten() {
        let name = sentence(factor_words(
            at(factor, "factor").as_str().unwrap_or_default(),
        ));
        words(&name, Some(weighed(factor)));
    }
    words("Asked by", named(trace, "key_name"));
    words("Agent", named(trace, "agent"));
    words("Directory", named(trace, "cwd"));
    words("Run", named(trace, "run_id"));
    words("Session", named(trace, "session_id"));
    words("Call", named(trace, "call_id"));
    details
}

fn weighed(factor: &Value) -> String {
    let weight = at(factor, "score").as_f64().unwrap_or(0.0).clamp(0.0, 1.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between nought and ten"
    )]
    let full = (weight * 10.0).round() as usize;
    let bar = format!(
        "{}{}",
        "█".repeat(full),
        "░".repeat(BAR.saturating_sub(full))
    );
    let evidence = named(factor, "evidence").unwrap_or_default();
    format!("{bar} {}  {evidence}", score(factor, "score"))
        .trim_end()
        .to_owned()
}

/// Shows what a call changed.
pub(super) fn review(review: &Review, now: UnixMillis, theme: Theme) -> Details {
    let mut details = Details::default();
    let (doc, plain) = (&mut details.words, theme.plain());
    doc.push(Part::words("", &review.what, theme.heading()));
    let state = if review.is_undoing {
        "It is being undone.".to_owned()
    } else {
        format!(
            "Ran {} without a question. Keep it (K) or undo it (u).",
            ago(review.ran_at, now)
        )
    };
    doc.push(Part::words("", &state, plain));
    doc.push(Part::words("", "", plain));
    let Some(diff) = &review.diff else {
        let words = "The gateway does not know what it changed; the agent undoes it.";
        doc.push(Part::words("", words, theme.quiet()));
        return details;
    };
    for line in diff.lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') => theme.added(),
            Some(b'-') => theme.removed(),
            Some(b'@') => theme.quiet(),
            Some(_) | None => plain,
        };
        doc.push(Part::fenced("", &display::line(line), style));
    }
    details
}

/// Shows what a permission covers.
pub(super) fn grant(grant: &Grant, now: UnixMillis, theme: Theme) -> Details {
    let mut details = Details::default();
    let (doc, plain) = (&mut details.words, theme.plain());
    doc.push(Part::words(
        "",
        "This runs without a question",
        theme.heading(),
    ));
    doc.push(Part::fenced("", &grant.words, plain));
    doc.push(Part::words("", "", plain));
    let doc = &mut details.facts;
    let mut words = |name: &str, text: String| doc.push(Part::words(name, &text, plain));
    words(
        "Where",
        grant
            .session
            .as_ref()
            .map_or("any session".to_owned(), |it| format!("session {it}")),
    );
    words(
        "Given by",
        format!("{}, {}", grant.by, ago(grant.given_at, now)),
    );
    let used = match grant.last_used_at {
        Some(at) => format!("{} ×, last {}", grant.uses, ago(at, now)),
        None => "never".to_owned(),
    };
    words("Used", used);
    if let Some(left) = grant.uses_left {
        words("Uses left", left.to_string());
    }
    let ends = grant
        .expires_at
        .map(|at| format!("in {}", span(at.since(now))));
    words("Ends", ends.unwrap_or_else(|| "when revoked".to_owned()));
    words("Grant", grant.id().to_owned());
    details
}

/// Shows what is folded into one row.
pub(super) fn fold(items: &[&Item], theme: Theme) -> Details {
    let mut details = Details::default();
    let doc = &mut details.words;
    let words = format!("{} similar calls of one run", items.len());
    doc.push(Part::words("", &words, theme.heading()));
    let words = "Enter expands them; x selects all of them.";
    doc.push(Part::words("", words, theme.quiet()));
    for item in items {
        doc.push(Part::words("", "", theme.plain()));
        doc.push(Part::fenced("", &item.what, theme.plain()));
    }
    details
}
