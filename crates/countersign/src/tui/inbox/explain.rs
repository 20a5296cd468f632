//! Details of a row: why a call was decided, what a review changed, what a grant covers.

use countersign_core::assessment::factor_words;
use countersign_core::display::{self, inline};
use countersign_core::record::{AssessmentView, FactorView};
use countersign_core::status::Status;
use countersign_core::time::UnixMillis;
use countersign_gate::history::traces::TraceView;
use ratatui::text::Line;

use super::history::Past;
use super::shelf::Entry as _;
use super::standing::{Grant, Review};
use super::waiting::Item;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::words::{ago, assessed, named, outcome, risk, score, sentence, span};

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
    let asked = if past.ran_unasked() {
        "Why nobody was asked"
    } else if past.status == Status::Refused {
        "Why it was refused"
    } else {
        "Why it was asked"
    };
    doc.push(Part::words("", asked, theme.heading()));
    let assessment = assessed(&trace.call.assessment);
    if let Some(rule) = assessment.as_ref().map(|it| &it.rule) {
        let words = sentence(&inline(&rule.sentence));
        let words = format!("{words} (rule {} of 12).", rule.number);
        doc.push(Part::words("", &words, plain));
    }
    doc.push(Part::words("", "", plain));
    doc.push(Part::fenced("", &trace.command, theme.heading()));
    doc.push(Part::words("", "", plain));
    let mut facts = decided(past, trace, now);
    if let Some(assessment) = &assessment {
        facts.extend(judged(assessment));
    }
    facts.extend(asker(trace));
    for (name, text) in facts.into_iter().filter(|(_, text)| !text.is_empty()) {
        details.facts.push(Part::words(&name, &text, plain));
    }
    details
}

/// A fact: its name and its text, empty if there is none.
type Fact = (String, String);

/// Returns how a call was decided.
fn decided(past: &Past, trace: &TraceView, now: UnixMillis) -> Vec<Fact> {
    let decision = trace.call.decision.as_ref();
    let outcome = decision.map_or_else(|| "Waiting for a person".to_owned(), outcome);
    let note = decision.and_then(|it| named(it.note.as_deref()));
    let took = past.decided_at.map(|at| at.since(past.at));
    let took = took.filter(|took| *took >= 1_000).map(span);
    let grant = decision.and_then(|it| named(it.grant_id.as_deref()));
    vec![
        ("Outcome".to_owned(), outcome),
        ("Note".to_owned(), note.unwrap_or_default()),
        ("Took".to_owned(), took.unwrap_or_default()),
        ("When".to_owned(), ago(past.at, now)),
        ("Grant".to_owned(), grant.unwrap_or_default()),
    ]
}

/// Returns how a call was judged, factor by factor.
fn judged(assessment: &AssessmentView) -> Vec<Fact> {
    let (risk, confidence) = (risk(assessment), score(assessment.confidence));
    let mut facts = vec![(
        "Risk".to_owned(),
        format!("{risk}, confidence {confidence}"),
    )];
    for (number, reason) in assessment.reasons.iter().enumerate() {
        let name = if number == 0 { "Because" } else { "" };
        facts.push((name.to_owned(), inline(reason)));
    }
    for factor in &assessment.factors {
        facts.push((sentence(factor_words(&factor.factor)), weighed(factor)));
    }
    facts
}

/// Returns who asked, and from where.
fn asker(trace: &TraceView) -> Vec<Fact> {
    let fact = |name: &str, text: Option<&str>| {
        let text = text.map(inline).unwrap_or_default();
        (name.to_owned(), text)
    };
    vec![
        fact("Asked by", Some(&trace.key_name)),
        fact("Agent", trace.agent.as_deref()),
        fact("Directory", trace.cwd.as_deref()),
        fact("Run", Some(&trace.call.run_id)),
        fact("Session", Some(&trace.call.session_id)),
        fact("Call", Some(&trace.call.call_id)),
    ]
}

fn weighed(factor: &FactorView) -> String {
    let weight = factor.score.clamp(0.0, 1.0);
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
    let (score, evidence) = (score(factor.score), inline(&factor.evidence));
    format!("{bar} {score}  {evidence}").trim_end().to_owned()
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
