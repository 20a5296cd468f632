//! The *why* view: every reason, factor and finding.

use countersign_core::assessment::factor_words;
use countersign_core::display::line;
use countersign_gate::history::traces::TraceView;

use super::subject::Subject;
use crate::tui::doc::{Doc, Part};
use crate::tui::theme::Theme;
use crate::words::score;

/// Returns why `subject` is asked about; `trace` adds what only the record of the call says.
pub(super) fn page(subject: &Subject, trace: Option<&TraceView>, theme: Theme) -> Doc {
    let mut doc = Doc::default();
    let plain = theme.plain();
    let mut row = |name: &str, text: &str| {
        if !text.is_empty() {
            doc.push(Part::words(name, text, plain));
        }
    };
    let first = |place: usize, name: &'static str| if place == 0 { name } else { "" };
    for (place, reason) in subject.card.reasons.iter().enumerate() {
        row(first(place, "Reasons"), reason);
    }
    if let Some(assessment) = &subject.assessment {
        row("Because", &line(&assessment.rule.sentence));
        let (risk, confidence) = (score(assessment.risk_score), score(assessment.confidence));
        let word = subject.card.risk;
        row("Risk", &format!("{word} {risk}, confidence {confidence}"));
        for (place, factor) in assessment.factors.iter().enumerate() {
            let words = line(factor_words(&factor.factor));
            let (weight, evidence) = (score(factor.score), line(&factor.evidence));
            let text = format!("{weight}  {words:<16}  {evidence}");
            row(first(place, "Factors"), text.trim_end());
        }
        for (place, finding) in assessment.findings.iter().enumerate() {
            let text = format!("{}: {}", finding.severity.word(), line(&finding.message));
            row(first(place, "Findings"), &text);
        }
    }
    let tier = subject.card.tier;
    row(
        "Separation",
        &format!("{}, {}", tier.word(), tier.sentence()),
    );
    if let Some(trace) = trace {
        row("Verdict", trace.call.verdict.word());
        row("Policy", &line(&trace.policy));
    }
    row("Call", &line(&subject.call));
    row("Approval", &line(&subject.id));
    row("Digest", &subject.card.digest);
    doc
}
