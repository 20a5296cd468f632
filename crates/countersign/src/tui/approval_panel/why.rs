//! Why a person is asked: every reason, every factor, everything that was found.

use countersign_core::assessment::factor_words;
use countersign_core::display::line;
use serde_json::Value;

use super::subject::Subject;
use crate::config::read::at;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::words::score;

/// Returns why `subject` is asked about; `trace` adds what only the record of the call says.
pub(super) fn page(subject: &Subject, trace: &Value, theme: Theme) -> Doc {
    let mut doc = Doc::default();
    let assessment = &subject.assessment;
    let plain = theme.plain();
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            doc.push(Part::words(name, text, plain));
        }
    };
    let said = |value: &Value, key: &str| at(value, key).as_str().map(line).unwrap_or_default();
    for (at, reason) in subject.card.reasons.iter().enumerate() {
        row(if at == 0 { "Reasons" } else { "" }, reason);
    }
    row("Because", &said(assessment, "rule.sentence"));
    let (risk, confidence) = (
        score(assessment, "risk_score"),
        score(assessment, "confidence"),
    );
    row(
        "Risk",
        &format!("{} {risk}, confidence {confidence}", subject.card.risk),
    );
    for (place, factor) in list(assessment, "factors").enumerate() {
        let words = factor_words(at(factor, "factor").as_str().unwrap_or_default());
        let (weight, evidence) = (score(factor, "score"), said(factor, "evidence"));
        let text = format!("{weight}  {:<16}  {evidence}", line(words));
        row(if place == 0 { "Factors" } else { "" }, text.trim_end());
    }
    for (place, finding) in list(assessment, "findings").enumerate() {
        let text = format!(
            "{}: {}",
            said(finding, "severity"),
            said(finding, "message")
        );
        row(if place == 0 { "Findings" } else { "" }, &text);
    }
    let tier = subject.card.tier;
    row(
        "Separation",
        &format!("{}, {}", tier.word(), tier.sentence()),
    );
    row("Verdict", &said(trace, "verdict"));
    row("Policy", &said(trace, "policy"));
    row("Call", &line(&subject.call));
    row("Approval", &line(&subject.id));
    row("Digest", &subject.card.digest);
    doc
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> {
    at(value, key).as_array().into_iter().flatten()
}
