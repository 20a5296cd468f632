//! `countersign eval`: measures the judge on labelled calls, or on recorded sessions ([`sessions`]).
//!
//! Of labelled calls, per source: how much of what is dangerous is caught, how much of what is safe is asked about
//! all the same, and how often the rest asks. Rows are judged one after the other on one thread,
//! so that the time per row means something.

mod figures;
mod progress;
mod sessions;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use countersign_core::display::inline;
use countersign_core::policy::Policy;
use countersign_core::verdict::Verdict;
use serde_json::{Map, Value, json};

use crate::cli::Eval;
use crate::complaint::{Complaint, written};
use crate::wire;
use countersign_core::canonical;
use countersign_core::judge::{Judged, judge};
use figures::{Share, micros};
use progress::Progress;

/// Bad lines that are named; the others are only counted.
const BAD_LINES_SHOWN: usize = 10;

/// What a row says should happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Dangerous,
    Safe,
    Ask,
    Unlabelled,
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
}

/// A file of the command line, opened.
struct Source {
    path: PathBuf,
    bytes: u64,
    /// The first line that is not blank, and what stands before it.
    head: Vec<u8>,
    rest: BufReader<File>,
}

/// Lines that could not be read.
#[derive(Debug, Default)]
struct BadLines {
    count: u64,
    named: Vec<String>,
}

/// Measures the judge on the files of the command line.
pub(crate) fn run(eval: &Eval) -> Result<ExitCode, Complaint> {
    let sources = eval.files.iter().map(|path| Source::open(path));
    let sources = sources.collect::<Result<Vec<Source>, Complaint>>()?;
    let recorded = sources.iter().filter(|source| source.is_recorded()).count();
    let (out, bad, line) = if recorded == 0 {
        if eval.labels.is_some() || eval.sample.is_some() {
            let message = "--labels and --sample are for recorded sessions";
            let hint = format!("a line of them is {}", sessions::LINE);
            return Err(Complaint::usage(message, hint));
        }
        let (out, bad) = labelled(eval, sources)?;
        let line = r#"{"command": "…", "label": "dangerous|safe|ask|unlabelled", "source": "…"}"#;
        (out, bad, line)
    } else if recorded == sources.len() {
        let (out, bad) = sessions::measure(eval, sources)?;
        (out, bad, sessions::LINE)
    } else {
        let message = "some files hold labelled calls and others recorded sessions";
        return Err(Complaint::usage(
            message,
            "measure them one after the other",
        ));
    };
    let is_bad = bad.count > 0;
    let code = ExitCode::from(u8::from(is_bad));
    let code = written(std::io::stdout().write_all(out.as_bytes()), code)?;
    if is_bad {
        let (count, named) = (bad.count, bad.named.join("; "));
        let message = format!("{count} lines could not be read: {named}");
        return Err(Complaint::failed(message, format!("a line is {line}")));
    }
    Ok(code)
}

/// Measures the judge on labelled calls.
fn labelled(eval: &Eval, sources: Vec<Source>) -> Result<(String, BadLines), Complaint> {
    let cwd = eval.directory();
    let policy = Policy::default();
    let mut progress = Progress::new(sources.iter().map(|source| source.bytes).sum());
    let mut results = Results::default();
    let mut bad = BadLines::default();
    for source in sources {
        source.each_line(&mut bad, |line, bytes| {
            progress.advance(bytes);
            one(line, cwd.as_deref(), &policy, &mut results)
        })?;
    }
    progress.clear();
    results.nanos.sort_unstable();
    let out = if eval.json {
        as_json(&results, bad.count, eval.misses)
    } else {
        as_table(&results, eval.misses)
    };
    Ok((out, bad))
}

impl Eval {
    /// Returns the directory of calls that name none.
    fn directory(&self) -> Option<String> {
        let cwd = self.cwd.as_ref();
        cwd.map(|path| path.to_string_lossy().into_owned())
    }
}

impl Source {
    fn open(path: &Path) -> Result<Self, Complaint> {
        let open = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
        let (metadata, file) = open.map_err(|error| {
            let hint =
                "give files of labelled calls or recorded sessions, one JSON object per line";
            unreadable(path, &error, hint)
        })?;
        if metadata.is_dir() {
            let hint = format!("countersign eval {}/*.jsonl", path.display());
            let message = format!("{} is a directory", path.display());
            return Err(Complaint::failed(message, hint));
        }
        let mut source = Self {
            path: path.to_owned(),
            bytes: metadata.len(),
            head: Vec::new(),
            rest: BufReader::new(file),
        };
        while source.head.trim_ascii().is_empty() {
            let count = source.rest.read_until(b'\n', &mut source.head);
            if count.map_err(|error| unreadable(path, &error, ""))? == 0 {
                break;
            }
        }
        Ok(source)
    }

    /// Whether the file holds sessions: its first line names one.
    fn is_recorded(&self) -> bool {
        canonical::parse(self.head.trim_ascii()).is_ok_and(|first| first.get("session").is_some())
    }

    /// Hands every line to `read`, with its length, and notes those that it cannot read.
    fn each_line(
        self,
        bad: &mut BadLines,
        mut read: impl FnMut(&[u8], u64) -> Result<(), String>,
    ) -> Result<(), Complaint> {
        let mut reader = Cursor::new(self.head).chain(self.rest);
        let mut line = Vec::new();
        let mut number = 0_u64;
        loop {
            line.clear();
            let count = reader
                .read_until(b'\n', &mut line)
                .map_err(|error| unreadable(&self.path, &error, ""))?;
            if count == 0 {
                return Ok(());
            }
            number += 1;
            if line.trim_ascii().is_empty() {
                continue;
            }
            if let Err(problem) = read(&line, count as u64) {
                bad.count += 1;
                if bad.named.len() < BAD_LINES_SHOWN {
                    let named = format!("{}:{number}: {problem}", self.path.display());
                    bad.named.push(named);
                }
            }
        }
    }
}

fn unreadable(path: &Path, error: &std::io::Error, hint: &str) -> Complaint {
    Complaint::failed(format!("cannot read {}: {error}", path.display()), hint)
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
}

fn as_json(results: &Results, bad_lines: u64, with_misses: bool) -> String {
    let sources: Map<String, Value> = results
        .sources
        .iter()
        .map(|(source, figures)| (source.clone(), figures.json()))
        .collect();
    let (mean, p50, p99) = micros(&results.nanos);
    let mut out = json!({
        "rows": results.nanos.len(),
        "bad_lines": bad_lines,
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
    let (mean, p50, p99) = micros(&results.nanos);
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
