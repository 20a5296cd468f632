//! Formats an assessment for people: verdict and reason first, then the call, then the factors.
//! Complete without colour.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};
use countersign_core::assessment::{Assessment, Factor, Severity, factor_words};
use countersign_core::call::ToolCall;
use countersign_core::card::{Redacts, risk, without_secrets};
use countersign_core::display::{self, FENCE, inline};
use countersign_core::score::Score;
use countersign_core::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

use countersign_core::judge::Judged;

/// Columns of a terminal nobody has widened.
const COLUMNS: usize = 80;
/// Longest command that is shown with its words underlined.
const MARKED_BYTES_MAX: usize = 2000;
/// Cells of the bar beside a factor.
const BAR_CELLS: u16 = 10;
/// Rules in the fixed order of verdicts.
const RULES: u8 = 12;

/// Paints `judged`, the outcome for `call`. Escape codes are stripped by the stream where they
/// are not wanted.
pub(super) fn paint(call: &ToolCall, judged: &Judged, redacts: Redacts) -> String {
    let Judged { assessment, ruling } = judged;
    let (word, style) = headline(judged);
    let mut out = String::with_capacity(2048);
    let reason = assessment
        .reasons
        .first()
        .map_or_else(String::new, |reason| inline(reason));
    paragraph(
        &mut out,
        &format!("{style}{word}{style:#} — "),
        word.width() + 3,
        &reason,
        2,
    );
    out.push('\n');
    shown_call(&mut out, call, assessment, style, redacts);
    out.push('\n');
    let confidence = format!(", confidence {}", assessment.confidence);
    row(
        &mut out,
        "risk",
        &format!("{} {}{confidence}", risk(assessment), assessment.risk),
    );
    row(&mut out, "effect", &effect(assessment));
    let rule = ruling.rule;
    row(
        &mut out,
        "decided by",
        &format!("rule {} of {RULES}: {}", rule.number(), rule.sentence()),
    );
    for (at, reason) in assessment.reasons.iter().skip(1).enumerate() {
        row(&mut out, if at == 0 { "also" } else { "" }, &inline(reason));
    }
    out.push('\n');
    for factor in &assessment.factors {
        factor_line(&mut out, factor);
    }
    out
}

fn headline(judged: &Judged) -> (&'static str, Style) {
    let crisis = judged.assessment.crisis_sensitive;
    let (word, colour) = match judged.ruling.verdict {
        Verdict::Allow => ("ALLOW", AnsiColor::Green),
        Verdict::AllowThenReview => ("ALLOW, THEN REVIEW", AnsiColor::Yellow),
        Verdict::Ask if crisis => ("ASK", AnsiColor::Magenta),
        Verdict::Ask => ("ASK", AnsiColor::Yellow),
        Verdict::Refuse => ("REFUSE", AnsiColor::Red),
    };
    (word, colour.on_default().bold())
}

fn shown_call(
    out: &mut String,
    call: &ToolCall,
    assessment: &Assessment,
    style: Style,
    redacts: Redacts,
) {
    let only_command = call.args.as_object().is_some_and(|args| args.len() == 1);
    let command = call
        .args
        .get("command")
        .and_then(|command| command.as_str())
        .filter(|_| only_command);
    if let Some(command) = command {
        let text = without_secrets(command, redacts);
        // Hiding a secret moves the words, so the marks would stand under the wrong ones.
        if command.len() <= MARKED_BYTES_MAX && text == command {
            return marked_command(out, command, assessment, style);
        }
        let _infallible = writeln!(out, "{}", display::plain(&text));
        return;
    }
    let _infallible = writeln!(out, "{}", inline(&call.tool));
    for (name, value) in call.args.as_object().into_iter().flatten() {
        let text = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        let text = without_secrets(&text, redacts);
        let _infallible = writeln!(out, "{}", display::fields([(name.as_str(), text.as_ref())]));
    }
}

/// One character as it is shown.
struct Cell {
    shown: String,
    width: usize,
    marked: bool,
}

/// Shows a command with a line under the words that made it what it is.
fn marked_command(out: &mut String, command: &str, assessment: &Assessment, style: Style) {
    let worst = assessment
        .findings
        .iter()
        .map(|finding| finding.severity)
        .max();
    let spans: Vec<(usize, usize)> = assessment
        .findings
        .iter()
        .filter(|finding| Some(finding.severity) == worst && finding.severity >= Severity::Medium)
        .filter_map(|finding| finding.span)
        .map(|span| (span.start as usize, span.end as usize))
        .collect();
    let mut line: Vec<Cell> = Vec::new();
    let mut columns = 0;
    for (at, character) in command.char_indices() {
        if character == '\n' {
            line_with_marks(out, &mut line, style);
            columns = 0;
            continue;
        }
        let shown = if matches!(character, ' '..='~') {
            character.to_string()
        } else {
            inline(character.encode_utf8(&mut [0; 4]))
        };
        let width = shown.width();
        if columns + width > COLUMNS - FENCE.width() {
            line_with_marks(out, &mut line, style);
            columns = 0;
        }
        columns += width;
        line.push(Cell {
            shown,
            width,
            marked: spans
                .iter()
                .any(|(start, end)| (*start..*end).contains(&at)),
        });
    }
    line_with_marks(out, &mut line, style);
    // What addresses and encodings really say comes after the text itself.
    let notes = display::plain(command);
    let notes = notes
        .strip_prefix(&display::full(command))
        .unwrap_or("")
        .trim_start();
    if !notes.is_empty() {
        let _infallible = writeln!(out, "{notes}");
    }
}

fn line_with_marks(out: &mut String, line: &mut Vec<Cell>, style: Style) {
    out.push_str(FENCE);
    let mut marks = String::new();
    for run in line.chunk_by(|one, other| one.marked == other.marked) {
        let text: String = run.iter().map(|cell| cell.shown.as_str()).collect();
        let width: usize = run.iter().map(|cell| cell.width).sum();
        if run.first().is_some_and(|cell| cell.marked) {
            let _infallible = write!(out, "{style}{text}{style:#}");
            marks.push_str(&"^".repeat(width));
        } else {
            out.push_str(&text);
            marks.push_str(&" ".repeat(width));
        }
    }
    out.push('\n');
    let marks = marks.trim_end();
    if !marks.is_empty() {
        let _infallible = writeln!(out, "{}{style}{marks}{style:#}", " ".repeat(FENCE.width()));
    }
    line.clear();
}

fn effect(assessment: &Assessment) -> String {
    let mut text = assessment.side_effect.phrase().to_owned();
    if !assessment.reversible {
        text.push_str("; cannot be undone");
    }
    if assessment.outbound {
        text.push_str("; outbound");
    }
    if assessment.crisis_sensitive {
        text.push_str("; may affect a person in crisis");
    }
    if assessment.marks.unreadable {
        text.push_str("; unreadable or unknown");
    }
    text
}

fn row(out: &mut String, name: &str, text: &str) {
    let bold = Style::new().bold();
    paragraph(out, &format!("{bold}{name:<12}{bold:#}"), 12, text, 12);
}

/// Appends `text` behind `lead`, wrapped between words, later lines indented.
fn paragraph(out: &mut String, lead: &str, lead_columns: usize, text: &str, indent: usize) {
    out.push_str(lead);
    let mut column = lead_columns;
    let mut fresh = true;
    for word in text.split(' ') {
        let width = word.width();
        if !fresh && column + 1 + width > COLUMNS {
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        } else if !fresh {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
        fresh = false;
    }
    out.truncate(out.trim_end_matches(' ').len());
    out.push('\n');
}

fn factor_line(out: &mut String, factor: &Factor) {
    let label = factor_words(factor.name);
    let score = factor.score;
    let dim = Style::new().dimmed();
    let cells = usize::from((score.per_mille() * BAR_CELLS).div_ceil(Score::ONE.per_mille()));
    let (full, empty) = (
        "█".repeat(cells),
        "░".repeat(usize::from(BAR_CELLS) - cells),
    );
    let lead = format!("{label:<24}{full}{dim}{empty}{dim:#} {score}  ");
    paragraph(
        out,
        &lead,
        24 + usize::from(BAR_CELLS) + 7,
        inline(&factor.evidence).as_str(),
        41,
    );
}
