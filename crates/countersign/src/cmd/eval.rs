//! `countersign eval`: measures the judge on labelled calls.
//!
//! Per source: how much of what is dangerous is caught, how much of what is safe is asked about
//! all the same, and how often the rest asks. Rows are judged one after the other on one thread,
//! so that the time per row means something.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use countersign_core::display::inline;
use countersign_core::policy::Policy;
use countersign_core::verdict::Verdict;
use serde_json::{Map, Value, json};

use crate::cli::Eval;
use crate::complaint::{Complaint, written};
use crate::wire;
use countersign_core::canonical;
use countersign_core::judge::{Judged, judge};

/// Bad lines that are named; the others are only counted.
const BAD_LINES_SHOWN: usize = 10;
/// Time between two strokes of the progress bar.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// Cells of the progress bar.
const PROGRESS_CELLS: u64 = 30;

/// What a row says should happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Dangerous,
    Safe,
    Ask,
    Unlabelled,
}

/// Rows of one label, and how many of them were held.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    held: u64,
    rows: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Figures {
    dangerous: Share,
    safe: Share,
    ask: Share,
    unlabelled: Share,
    must_gate: Share,
}

/// A row that was judged wrongly.
#[derive(Debug)]
struct Miss {
    wanted: &'static str,
    got: Verdict,
    shown: String,
    reason: String,
    source: String,
}

#[derive(Debug, Default)]
struct Results {
    sources: BTreeMap<String, Figures>,
    misses: Vec<Miss>,
    nanos: Vec<u64>,
    bad: Vec<String>,
    bad_count: u64,
}

/// Measures the judge on the files of the command line.
pub(crate) fn run(eval: &Eval) -> Result<ExitCode, Complaint> {
    let mut files = Vec::new();
    for path in &eval.files {
        let open = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = open.map_err(|error| {
            let hint = "give files of labelled calls, one JSON object per line";
            Complaint::failed(format!("cannot read {}: {error}", path.display()), hint)
        })?;
        if metadata.is_dir() {
            let hint = format!("countersign eval {}/*.jsonl", path.display());
            return Err(Complaint::failed(
                format!("{} is a directory", path.display()),
                hint,
            ));
        }
        files.push((path.as_path(), metadata.len(), file));
    }
    let cwd = eval
        .cwd
        .as_ref()
        .map(|path| path.to_string_lossy().into_owned());
    let mut progress = Progress::new(files.iter().map(|(_, bytes, _)| bytes).sum());
    let mut results = Results::default();
    for (path, _, file) in files {
        measure(path, file, cwd.as_deref(), &mut results, &mut progress)?;
    }
    progress.clear();
    results.nanos.sort_unstable();
    let out = if eval.json {
        as_json(&results, eval.misses)
    } else {
        as_table(&results, eval.misses)
    };
    let bad = results.bad_count > 0;
    let code = if bad {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    };
    let code = written(std::io::stdout().write_all(out.as_bytes()), code)?;
    if bad {
        let message = format!(
            "{} lines could not be read: {}",
            results.bad_count,
            results.bad.join("; ")
        );
        let hint = r#"a line is {"command": "…", "label": "dangerous|safe|ask|unlabelled", "source": "…"}"#;
        return Err(Complaint::failed(message, hint));
    }
    Ok(code)
}

fn measure(
    path: &Path,
    file: File,
    cwd: Option<&str>,
    results: &mut Results,
    progress: &mut Progress,
) -> Result<(), Complaint> {
    let policy = Policy::default();
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    let mut number = 0_u64;
    loop {
        line.clear();
        let count = reader.read_until(b'\n', &mut line).map_err(|error| {
            Complaint::failed(format!("cannot read {}: {error}", path.display()), "")
        })?;
        if count == 0 {
            return Ok(());
        }
        number += 1;
        progress.advance(count as u64);
        if line.trim_ascii().is_empty() {
            continue;
        }
        if let Err(problem) = one(&line, cwd, &policy, results) {
            results.bad_count += 1;
            if results.bad.len() < BAD_LINES_SHOWN {
                results
                    .bad
                    .push(format!("{}:{number}: {problem}", path.display()));
            }
        }
    }
}

fn one(
    line: &[u8],
    cwd: Option<&str>,
    policy: &Policy,
    results: &mut Results,
) -> Result<(), String> {
    let value = canonical::parse(line).map_err(|error| format!("not JSON: {error}"))?;
    let Value::Object(mut object) = value else {
        return Err("not a JSON object".to_owned());
    };
    let label = match object.remove("label").as_ref().and_then(Value::as_str) {
        Some("dangerous") => Label::Dangerous,
        Some("safe") => Label::Safe,
        Some("ask") => Label::Ask,
        Some("unlabelled") => Label::Unlabelled,
        Some(other) => return Err(format!("unknown label `{}`", inline(other))),
        None => return Err("`label` is missing".to_owned()),
    };
    let source = object.remove("source");
    let source = source.as_ref().and_then(Value::as_str).unwrap_or("unnamed");
    let source = inline(source.split_whitespace().next().unwrap_or("unnamed"));
    let must_gate = object
        .remove("must_gate")
        .and_then(|it| it.as_bool())
        .unwrap_or(false);
    let mut call = wire::call::from_object(object)?;
    if call.cwd.is_none() {
        call.cwd = cwd.map(str::to_owned);
    }
    // The first judgement of its kind compiles the patterns it needs; what is timed is the second.
    judge(policy, &call);
    let start = Instant::now();
    let judged = judge(policy, &call);
    results
        .nanos
        .push(u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX));
    let held = judged.ruling.verdict >= Verdict::Ask;
    let figures = results.sources.entry(source.clone()).or_default();
    let share = match label {
        Label::Dangerous => &mut figures.dangerous,
        Label::Safe => &mut figures.safe,
        Label::Ask => &mut figures.ask,
        Label::Unlabelled => &mut figures.unlabelled,
    };
    share.add(held);
    if must_gate {
        figures.must_gate.add(held);
    }
    let wanted = match label {
        Label::Dangerous if !held => "dangerous",
        Label::Safe if held => "safe",
        Label::Dangerous | Label::Safe | Label::Ask | Label::Unlabelled if must_gate && !held => {
            "must gate"
        }
        Label::Dangerous | Label::Safe | Label::Ask | Label::Unlabelled => return Ok(()),
    };
    results.misses.push(Miss {
        wanted,
        got: judged.ruling.verdict,
        shown: shown(&call),
        reason: reason(&judged),
        source,
    });
    Ok(())
}

fn shown(call: &countersign_core::call::ToolCall) -> String {
    match call.args.get("command").and_then(Value::as_str) {
        Some(command) => inline(command),
        None => inline(&format!("{} {}", call.tool, call.args)),
    }
}

fn reason(judged: &Judged) -> String {
    judged
        .assessment
        .reasons
        .first()
        .map_or_else(String::new, |reason| inline(reason))
}

impl Share {
    fn add(&mut self, held: bool) {
        self.rows += 1;
        self.held += u64::from(held);
    }

    fn merge(&mut self, other: Self) {
        self.rows += other.rows;
        self.held += other.held;
    }

    /// `held/rows percent`, or a dash where there are no rows.
    fn cell(self) -> String {
        if self.rows == 0 {
            return "–".to_owned();
        }
        format!(
            "{}/{} {:>5.1}%",
            self.held,
            self.rows,
            100.0 * self.fraction().unwrap_or(0.0)
        )
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "counts of rows are far below 2^52"
    )]
    fn fraction(self) -> Option<f64> {
        (self.rows > 0).then(|| self.held as f64 / self.rows as f64)
    }

    fn json(self) -> Value {
        json!({ "held": self.held, "rows": self.rows, "rate": self.fraction() })
    }
}

impl Figures {
    fn merge(&mut self, other: &Self) {
        self.dangerous.merge(other.dangerous);
        self.safe.merge(other.safe);
        self.ask.merge(other.ask);
        self.unlabelled.merge(other.unlabelled);
        self.must_gate.merge(other.must_gate);
    }

    fn json(&self) -> Value {
        json!({
            "dangerous": self.dangerous.json(),
            "recall": self.dangerous.fraction(),
            "safe": self.safe.json(),
            "false_alarms": self.safe.fraction(),
            "ask": self.ask.json(),
            "unlabelled": self.unlabelled.json(),
            "must_gate": self.must_gate.json(),
        })
    }
}

impl Results {
    fn total(&self) -> Figures {
        let mut total = Figures::default();
        self.sources
            .values()
            .for_each(|figures| total.merge(figures));
        total
    }

    /// Returns mean, median and 99th percentile per row, in microseconds.
    #[expect(
        clippy::cast_precision_loss,
        reason = "times of rows are far below 2^52 ns"
    )]
    fn micros(&self) -> (f64, f64, f64) {
        let count = self.nanos.len().max(1);
        let at = |share: usize| {
            let index = self.nanos.len().saturating_sub(1) * share / 100;
            self.nanos.get(index).copied().unwrap_or(0) as f64 / 1000.0
        };
        let mean = self.nanos.iter().sum::<u64>() as f64 / count as f64 / 1000.0;
        (mean, at(50), at(99))
    }
}

fn as_json(results: &Results, with_misses: bool) -> String {
    let sources: Map<String, Value> = results
        .sources
        .iter()
        .map(|(source, figures)| (source.clone(), figures.json()))
        .collect();
    let (mean, p50, p99) = results.micros();
    let mut out = json!({
        "rows": results.nanos.len(),
        "bad_lines": results.bad_count,
        "sources": sources,
        "total": results.total().json(),
        "micros": { "mean": mean, "p50": p50, "p99": p99 },
    });
    if with_misses {
        let misses = results.misses.iter().map(|miss| {
            json!({ "wanted": miss.wanted, "verdict": miss.got.word(), "call": miss.shown, "reason": miss.reason, "source": miss.source })
        });
        if let Some(out) = out.as_object_mut() {
            out.insert("misses".to_owned(), misses.collect());
        }
    }
    format!("{out}\n")
}

fn as_table(results: &Results, with_misses: bool) -> String {
    let mut out = String::new();
    let mut line = |name: &str, cells: [String; 4]| {
        let [dangerous, safe, ask, rest] = cells;
        let text = format!("{name:<22} {dangerous:>15} {safe:>13} {ask:>13} {rest:>13}");
        out.push_str(text.trim_end());
        out.push('\n');
    };
    line(
        "source",
        ["dangerous held", "safe held", "ask held", "others held"].map(str::to_owned),
    );
    let cells = |figures: &Figures| {
        [
            figures.dangerous,
            figures.safe,
            figures.ask,
            figures.unlabelled,
        ]
        .map(Share::cell)
    };
    for (source, figures) in &results.sources {
        line(source, cells(figures));
    }
    let total = results.total();
    line("all", cells(&total));
    let missed = total.dangerous.rows - total.dangerous.held;
    let _infallible = writeln!(
        out,
        "\n{missed} of {} dangerous calls would run without a question.",
        total.dangerous.rows
    );
    let _infallible = writeln!(
        out,
        "{} of {} safe calls would be asked about.",
        total.safe.held, total.safe.rows
    );
    if total.must_gate.rows > 0 {
        let loose = total.must_gate.rows - total.must_gate.held;
        let _infallible = writeln!(
            out,
            "{loose} of {} calls that must be held would run.",
            total.must_gate.rows
        );
    }
    let (mean, p50, p99) = results.micros();
    let _infallible = writeln!(
        out,
        "{} rows, {mean:.1} µs each on average; median {p50:.1} µs, 99th percentile {p99:.1} µs.",
        results.nanos.len()
    );
    if with_misses {
        out.push('\n');
        for miss in &results.misses {
            let _infallible = writeln!(
                out,
                "{} but {}: {}\n    {} ({})",
                miss.wanted,
                miss.got.word(),
                miss.shown,
                miss.reason,
                miss.source
            );
        }
    }
    out
}

/// A bar on standard error while a person watches.
struct Progress {
    total: u64,
    done: u64,
    drawn: Option<Instant>,
    watched: bool,
}

impl Progress {
    fn new(total: u64) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self {
            total: total.max(1),
            done: 0,
            drawn: None,
            watched,
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.done += bytes;
        if !self.watched || self.drawn.is_some_and(|at| at.elapsed() < PROGRESS_EVERY) {
            return;
        }
        self.drawn = Some(Instant::now());
        let cells = (self.done * PROGRESS_CELLS / self.total).min(PROGRESS_CELLS);
        let bar: String = (0..PROGRESS_CELLS)
            .map(|cell| if cell < cells { '█' } else { '░' })
            .collect();
        let percent = (self.done * 100 / self.total).min(100);
        let _told = write!(std::io::stderr(), "\r{bar} {percent:>3} %");
    }

    fn clear(&self) {
        if self.drawn.is_some() {
            let _told = write!(std::io::stderr(), "\r{}\r", " ".repeat(40));
        }
    }
}
