//! How long judging takes: ordinary commands, hostile text, and another judge on the same commands.
//!
//! `cargo bench -p countersign-core --bench judge` prints microseconds per command in this process
//! (with `COUNTERSIGN_DATA_DIR` also per call of recorded sessions), microseconds for the first
//! judgement of a process, milliseconds for hostile text of growing size, and, where
//! `target/peer-venv` holds `hermes-agent`, how many times longer that takes for the same commands.
//! It ends with a failure when hostile text takes longer than the limit.
#![expect(
    clippy::disallowed_methods,
    reason = "a benchmark reads files and clocks; the core does not"
)]
#![expect(
    clippy::panic,
    reason = "a benchmark that cannot run says so and stops"
)]
#![expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds and counts are small enough to print"
)]

#[path = "../tests/support/rows.rs"]
#[expect(dead_code, reason = "a benchmark needs only the commands")]
mod rows;
#[path = "../../testkit/src/skipped.rs"]
pub mod skipped;

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use countersign_core::assess::assess;
use countersign_core::call::ToolCall;
use countersign_core::content::{crisis, impact, personal, secrets};
use countersign_core::display;
use countersign_core::follow::walk::Knows;
use countersign_core::shell::parse::SCRIPT_BYTES_MAX;
use countersign_core::verdict::{Situation, verdict};
use rows::Row;

/// Hostile text of 64 KiB has to be judged within this time.
const HOSTILE_MILLISECONDS_MAX: f64 = 20.0;
/// Time for twice the text over time for the text, above which growth is not called linear.
const GROWTH_MAX: f64 = 3.0;
/// How often a command is timed; the fastest counts, for the machine is shared.
const ROUNDS: usize = 7;

/// The argument that asks for the times of one hostile shape.
const SHAPE: &str = "--shape";
/// The argument that asks for the times of the first two judgements of a process.
const FIRST: &str = "--first";
/// How many processes are started to time their first judgement.
const PROCESSES: usize = 15;

fn main() {
    // `cargo test --benches` asks a bench only to start.
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return;
    }
    if let [_, shape, name, ..] = arguments.as_slice()
        && shape == SHAPE
    {
        return one_shape(name);
    }
    if arguments.iter().any(|argument| argument == FIRST) {
        return first_two();
    }
    let sets = [
        (
            "labelled, our own",
            rows::corpus(&["shell", "authored", "generated"]),
        ),
        (
            "labelled, peers",
            rows::data_sets(&["peer"]).unwrap_or_default(),
        ),
        (
            "manual pages",
            rows::data_sets(&["benign-tldr"]).unwrap_or_default(),
        ),
        (
            "one-liners",
            rows::data_sets(&["benign-nl2bash"]).unwrap_or_default(),
        ),
        (
            "build servers",
            rows::data_sets(&["benign-ci"]).unwrap_or_default(),
        ),
    ];
    println!(
        "{:<22} {:>7} {:>7} {:>9} {:>9} {:>9} {:>9}",
        "commands", "rows", "bytes", "mean µs", "p50 µs", "p99 µs", "max µs"
    );
    for (name, rows) in &sets {
        let calls: Vec<ToolCall> = rows.iter().map(call).collect();
        let bytes = rows.iter().map(|row| row.command.len()).sum::<usize>();
        if let Some(line) = ordinary(&calls, bytes) {
            println!("{name:<22} {line}");
        }
    }
    for (name, file) in [
        ("sessions, commands", "commands.jsonl"),
        ("sessions, other tools", "tools.jsonl"),
    ] {
        let calls = recorded(file);
        let bytes = calls.iter().map(|call| call.args.to_string().len()).sum();
        if let Some(line) = ordinary(&calls, bytes) {
            println!("{name:<22} {line}");
        }
    }
    first_judgement();
    peer(
        &sets
            .iter()
            .flat_map(|(_, rows)| rows.iter().filter(|row| row.label != "unlabelled"))
            .collect::<Vec<_>>(),
    );
    let slow = hostile();
    if !slow.is_empty() {
        println!("too slow, or not linear: {}", slow.join(", "));
        std::process::exit(1);
    }
}

fn judge(call: &ToolCall) -> bool {
    let assessment = assess(
        call,
        &Knows {
            trusts_workspace: true,
            ..Knows::default()
        },
    );
    verdict(&assessment, &Situation::default()).once_only
}

fn call(row: &Row) -> ToolCall {
    ToolCall::command(row.command.as_str())
}

/// Returns the calls of recorded sessions; none, and a skip, without the data sets.
fn recorded(file: &str) -> Vec<ToolCall> {
    let Some(folder) = std::env::var_os("COUNTERSIGN_DATA_DIR").map(PathBuf::from) else {
        skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no recorded sessions");
        return Vec::new();
    };
    let file = folder.join("trajectories").join(file);
    let text = std::fs::read_to_string(&file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
    let calls = text.lines().map(|line| {
        let row: serde_json::Value =
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        let word = |key: &str| row.get(key).and_then(|word| word.as_str());
        let call = match word("command") {
            Some(command) => ToolCall::command(command),
            None => ToolCall {
                tool: word("tool").unwrap_or_default().to_owned(),
                args: row.get("args").cloned().unwrap_or_default(),
                ..ToolCall::default()
            },
        };
        ToolCall {
            cwd: word("cwd").map(str::to_owned),
            ..call
        }
    });
    calls.collect()
}

/// Prints how long the first judgement of a process takes: a hook judges one call and ends.
fn first_judgement() {
    let timed: Vec<[f64; 2]> = (0..PROCESSES)
        .filter_map(|_| in_a_child(&[FIRST]))
        .collect();
    let fewest =
        |which: fn(&[f64; 2]) -> f64| timed.iter().map(which).fold(f64::INFINITY, f64::min);
    println!(
        "first judgement of a process: {:.0} µs, the same again: {:.0} µs",
        fewest(|[first, _]| *first),
        fewest(|[_, again]| *again)
    );
}

/// Times the first two judgements of this process.
fn first_two() {
    let call = ToolCall::command("git -C web status --short && grep -rn 'unwrap' src | head -5");
    for _ in 0..2 {
        let took = fastest(1, || {
            black_box(judge(black_box(&call)));
        });
        println!("{}", took / 1e3);
    }
}

/// Returns the fewest nanoseconds one run of `work` took.
fn fastest(rounds: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_nanos() as f64);
    }
    best
}

fn times(calls: &[ToolCall]) -> Vec<f64> {
    let fewest = |call: &ToolCall| {
        fastest(ROUNDS, || {
            black_box(judge(black_box(call)));
        }) / 1000.0
    };
    calls.iter().map(fewest).collect()
}

/// Returns the line about calls that have this many bytes together.
fn ordinary(calls: &[ToolCall], bytes: usize) -> Option<String> {
    let mut times = times(calls);
    times.sort_by(f64::total_cmp);
    let at = |per_cent: usize| {
        times
            .get(times.len().saturating_sub(1) * per_cent / 100)
            .copied()
    };
    let bytes = bytes / calls.len().max(1);
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    Some(format!(
        "{:>7} {bytes:>7} {mean:>9.2} {:>9.2} {:>9.2} {:>9.2}",
        calls.len(),
        at(50)?,
        at(99)?,
        at(100)?
    ))
}

/// Times another judge on the same commands.
fn peer(rows: &[&Row]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("../../target/peer-venv/bin/python");
    if !python.is_file() {
        println!(
            "SKIPPED: no peer; `python3 -m venv target/peer-venv && target/peer-venv/bin/pip install hermes-agent`"
        );
        return;
    }
    let sample: Vec<&Row> = rows
        .iter()
        .copied()
        .step_by((rows.len() / 2000).max(1))
        .collect();
    let calls: Vec<ToolCall> = sample.iter().map(|row| call(row)).collect();
    let ours = times(&calls).iter().sum::<f64>() / sample.len().max(1) as f64;
    let file = root.join("../../target/peer-commands.json");
    let commands: Vec<&str> = sample.iter().map(|row| row.command.as_str()).collect();
    std::fs::write(&file, serde_json::json!(commands).to_string())
        .unwrap_or_else(|error| panic!("cannot write {}: {error}", file.display()));
    let answer = Command::new(&python)
        .arg(root.join("benches/peer.py"))
        .arg(&file)
        .output();
    let answer =
        answer.unwrap_or_else(|error| panic!("cannot start {}: {error}", python.display()));
    match String::from_utf8_lossy(&answer.stdout)
        .trim()
        .parse::<f64>()
    {
        Ok(theirs) => println!(
            "peer, {} labelled commands: ours {ours:.2} µs, hermes-agent {theirs:.2} µs: {:.0} times",
            sample.len(),
            theirs / ours
        ),
        Err(_) => println!(
            "SKIPPED: the peer did not answer: {}",
            String::from_utf8_lossy(&answer.stderr)
        ),
    }
}

/// Hostile text made of one piece again and again: a name, what stands before, the piece, what stands after.
#[rustfmt::skip]
const PIECES: &[(&str, &str, &str, &str)] = &[
    ("open substitutions", "", "$(", ""),
    ("open process substitutions", "", "<(", ""),
    ("open parentheses", "", "(", ""),
    ("open groups", "", "{ ", ""),
    ("separators", "", ";", ""),
    ("commands", "", "a;", ""),
    ("single quotes", "", "'", ""),
    ("double quotes", "", "\"", ""),
    ("backticks", "", "`", ""),
    ("escaped backticks", "", "\\`", ""),
    ("here-documents announced", "", "<<a ", ""),
    ("here-documents", "", "cat <<a\nb\na\n", ""),
    ("here-documents without end", "", "cat <<a;", "\n"),
    ("pipes", "", "a|", "a"),
    ("and", "", "a&&", "a"),
    ("background", "", "a&", ""),
    ("nested defaults", "", "${a:-", ""),
    ("defaults", "echo ", "${a:-b}", ""),
    ("replacements", "echo ", "${a//b/c}", ""),
    ("braces", "echo ", "{a,b}", ""),
    ("nested braces", "echo ", "{a,", ""),
    ("ranges", "echo ", "{1..9} ", ""),
    ("words of braces", "", "s{a,b}{a,b}plit --f ", ""),
    ("commands of braces", "", "echo {a,b}{c,d}{e,f};", ""),
    ("braces in text", "", "s{a,b}{a,b}plit --fib}{a,b} /dev/stdb}", ""),
    ("words of nested braces", "echo ", "{a,{b,{c,d}}}{e,f} ", ""),
    ("ranges of commands", "", "rm {1..99};", ""),
    ("full ranges", "echo ", "{1..99} ", ""),
    ("ranges that are too wide", "echo ", "{1..999} ", ""),
    ("a range before a long word", "echo {1..9}", "\\x41", ""),
    ("braces around a long word", "echo {a,b}{a,b}{a,b}", "a", "{a,b}"),
    ("wide ranges", "echo ", "{1..99999999} ", ""),
    ("globs", "ls ", "*", ""),
    ("globs between names", "rm -rf /", "*/", ""),
    ("question marks", "rm ", "?*", ""),
    ("classes", "ls ", "[a-z]*", ""),
    ("one long word", "echo ", "a", ""),
    ("one long name", "", "a", ""),
    ("operands", "rm -rf ", "a ", ""),
    ("paths", "rm -rf ", "/a/b/../c ", ""),
    ("deep paths", "rm -rf /", "a/", ""),
    ("dots", "rm -rf ", "../", ""),
    ("options", "ls ", "-a ", ""),
    ("long options", "git log ", "--aaa=b ", ""),
    ("bundles", "ls -", "a", ""),
    ("unicode", "echo ", "é🦀", ""),
    ("zero width", "echo ", "\u{200b}", ""),
    ("arithmetic", "echo ", "$((1+", ""),
    ("closed arithmetic", "echo ", "$((1+1))", ""),
    ("arithmetic in arithmetic or a subshell", "do", "$((", ""),
    ("options broken by quotes", "cd ", "-\trf /\\\" ", ""),
    ("tests", "", "[[ ", ""),
    ("cases", "", "case a in a) ", ""),
    ("ifs", "", "if a; then ", ""),
    ("loops", "", "for i in 1 2 3; do ", ""),
    ("closed loops", "", "for i in 1 2 3; do a; done;", ""),
    ("functions", "", "a() { a; };", ""),
    ("functions that call", "", "f() { g; }; g() { f; };", "f"),
    ("assignments", "", "a=b ", ""),
    ("growing variables", "", "a=$a$a;", "echo $a"),
    ("growing variables that run", "a=ls;", "a=\"$a $a\";", "$a"),
    ("arrays", "", "a+=(b c);", "${a[@]}"),
    ("many variables", "", "a$RANDOM=1;", ""),
    ("substitutions", "echo ", "$(a)", ""),
    ("redirections", "a ", ">a ", ""),
    ("comments", "", "#", ""),
    ("lines", "", "\n", ""),
    ("continuations", "", "\\\n", ""),
    ("evals", "", "eval ", "ls"),
    ("shells", "", "bash -c ", "ls"),
    ("sudos", "", "sudo ", "ls"),
    ("environment", "env ", "A=b ", "ls"),
    ("xargs", "", "xargs ", "ls"),
    ("pipes to shells", "echo ls", "|sh", ""),
    ("encoded pipes", "echo aaaa", "|base64 -d", "|sh"),
    ("find expressions", "find . ", "-exec a ; ", ""),
    ("find parentheses", "find . ", "\\( ", ""),
    ("aliases", "", "alias a='a a';", "a"),
    ("directories", "", "cd a;", "rm -rf b"),
    ("deletions below directories", "", "cd build; rm -rf *;", ""),
    ("recipes that run", "", "printf 'all:\\n\\trm x\\n' > Makefile; make;", ""),
    ("copies that run", "", "cp a b; ./b;", ""),
    ("moves that run", "", "mv a b; ./b;", ""),
    ("downloads that run", "", "curl -o a https://b.c/d; sh a;", ""),
    ("arithmetic commands", "", "(( x ));", ""),
    ("exports and cleaning", "", "export A=/x; make clean;", ""),
    ("containers", "", "docker run -v /:/x a b;", ""),
    ("placeholders", "", "cat <a> <b>;", ""),
    ("templates", "echo ", "${{ a.b }}", ""),
    ("tools in variables", "", "$CC a; $HELM b;", ""),
    ("functions of the project", ". ./a.sh;", "b_c \"ls x\";", ""),
    ("sed", "sed '", "s/a/b/g;", "' x"),
    ("sed groups", "sed '", "{", "' x"),
    ("awk", "awk '", "{print $1}", "' x"),
    ("awk parentheses", "awk '", "((", "' x"),
    ("jq", "jq '", ".a|", ".' x"),
    ("sql", "psql -c '", "select 1;", "'"),
    ("sql parentheses", "psql -c '", "((", "'"),
    ("sql comments", "psql -c '", "/*", "'"),
    ("python", "python3 -c '", "print(1);", "'"),
    ("python parentheses", "python3 -c '", "f(", "'"),
    ("python constants", "python3 -c '", "p=\"a\"\nopen(p)\n", "'"),
    ("python strings", "python3 -c '", "\"a\"+", "1'"),
    ("javascript", "node -e '", "f(\"a\");", "'"),
    ("perl", "perl -e '", "q(a).", "1'"),
    ("powershell", "powershell -Command '", "Get-Item a;", "'"),
    ("powershell groups", "powershell -Command '", "$(", "'"),
    ("cmd", "cmd /c '", "a&", "'"),
    ("urls", "curl ", "https://a.b/c ", ""),
    ("secrets", "echo ", "ghp_", ""),
    ("hexadecimal", "echo ", "deadbeef", ""),
    ("escapes of bytes", "", "\\x41", ""),
    ("escapes of bytes, quoted", "echo $'", "\\x41", "'"),
    ("escapes of letters", "echo ", "\\u0041", ""),
    ("escapes of letters, quoted", "echo $'", "\\u0041", "'"),
    ("escapes of addresses", "curl https://a.b/", "%41", ""),
    ("base64", "echo ", "QUFB", ""),
    ("base64 that runs", "echo ", "QUFB", "|base64 -d|sh"),
    ("links that are written through", "", "ln -s a b; echo c > b;", ""),
    ("repositories elsewhere", "", "git -C /a/b add c;", ""),
    ("dates", "echo ", "2024-01-01 ", ""),
];

/// Judges hostile text of growing size. Returns the names of what is too slow.
fn hostile() -> Vec<String> {
    const KIB: usize = 1024;
    println!(
        "\n{:<30} {:>8} {:>8} {:>8} {:>8} {:>7}  (ms)",
        "hostile text", "8 KiB", "16 KiB", "32 KiB", "64 KiB", "growth"
    );
    let mut slow = Vec::new();
    for (name, ..) in PIECES {
        if let Some(timed) = in_a_child(&[SHAPE, name]) {
            report(name, timed, &mut slow);
        } else {
            println!("{name:<30} ABORTED");
            slow.push((*name).to_owned());
        }
    }
    let nested = |times: usize| format!("{}ls{}", "$(".repeat(times), ")".repeat(times));
    report(
        "10 000 nested substitutions",
        [1_250, 2_500, 5_000, 10_000].map(|times| time_text(&nested(times))),
        &mut slow,
    );
    report(
        "100 000 separators",
        [12_500, 25_000, 50_000, 100_000].map(|times| time_text(&"a;".repeat(times))),
        &mut slow,
    );
    report(
        "just below the limit",
        [1, 2, 4, 8].map(|part| {
            time_text(&format!(
                "echo {}",
                "a ".repeat((SCRIPT_BYTES_MAX - 8) * part / 16)
            ))
        }),
        &mut slow,
    );
    for (name, tool, field) in [
        ("written file", "write_file", "content"),
        ("message", "send_message", "text"),
        ("message with crisis words", "send_message", "body"),
        ("unknown tool", "frobnicate", "data"),
    ] {
        let timed = [30, 60, 120, 240].map(|kib| {
            let text = "I don't want to live any more. ghp_0123456789 +49 170 1234567 "
                .repeat(kib * KIB / 62);
            let call = ToolCall {
                tool: tool.to_owned(),
                args: serde_json::json!({ "path": "a.txt", "to": "x", field: text }),
                ..ToolCall::default()
            };
            fastest(3, || {
                black_box(judge(black_box(&call)));
            }) / 1e6
        });
        report(&format!("{name}, up to 240 KiB"), timed, &mut slow);
    }
    texts(&mut slow);
    slow
}

/// Returns the times that this program measures with these arguments, in a process of its own, which
/// nothing but a stack overflow ends early.
fn in_a_child<const TIMES: usize>(arguments: &[&str]) -> Option<[f64; TIMES]> {
    let program = std::env::current_exe().ok()?;
    let answer = Command::new(program).args(arguments).output().ok()?;
    let times: Vec<f64> = String::from_utf8_lossy(&answer.stdout)
        .split_whitespace()
        .filter_map(|time| time.parse().ok())
        .collect();
    times.try_into().ok()
}

fn one_shape(name: &str) {
    let Some((_, before, piece, after)) = PIECES.iter().find(|(known, ..)| *known == name) else {
        return;
    };
    let sized = |size: usize| {
        let times = (size - before.len() - after.len()) / piece.len();
        format!("{before}{}{after}", piece.repeat(times))
    };
    // The first call of a process also compiles what is compiled lazily.
    time_text("ls");
    for kib in [8, 16, 32, 64] {
        println!("{}", time_text(&sized(kib * 1024)));
    }
}

/// Reads text of growing size for what it says and how it is shown.
fn texts(slow: &mut Vec<String>) {
    type Reader = fn(&str);
    let readers: [(&str, Reader); 6] = [
        ("crisis", |text| drop(black_box(crisis::scan(text)))),
        ("secrets", |text| drop(black_box(secrets::scan(text)))),
        ("personal data", |text| {
            drop(black_box(personal::scan(text)));
        }),
        ("impact", |text| drop(black_box(impact::scan(text)))),
        ("display", |text| drop(black_box(display::full(text)))),
        ("deceptions", |text| {
            drop(black_box(display::deceptions(text)));
        }),
    ];
    for (reader, read) in readers {
        for (kind, piece) in [
            (
                "prose",
                "I do not want to be here any more, call me at 030 1234567. ",
            ),
            ("letters", "a"),
            ("spaces", " "),
            ("tokens", "sk-live_0123456789abcdefABCDEF "),
            ("names of tokens", "TOKEN=ghUB_"),
            ("escapes", "\\x41"),
            ("base64", "QUFB"),
            ("dots", "a.b@"),
            ("marks", "\u{202e}é"),
            ("digits", "0123456789 "),
        ] {
            let timed = [8, 16, 32, 64].map(|kib| {
                let text = piece.repeat(kib * 1024 / piece.len());
                fastest(3, || read(black_box(&text))) / 1e6
            });
            report(&format!("{reader}: {kind}"), timed, slow);
        }
    }
}

fn time_text(text: &str) -> f64 {
    let call = ToolCall::command(text);
    fastest(3, || {
        black_box(judge(black_box(&call)));
    }) / 1e6
}

fn report(name: &str, timed: [f64; 4], slow: &mut Vec<String>) {
    let [first, second, third, last] = timed;
    let growth = if third > 0.0 { last / third } else { 1.0 };
    // Growth of what takes no time is noise.
    let bad = last > HOSTILE_MILLISECONDS_MAX
        || growth > GROWTH_MAX && last > HOSTILE_MILLISECONDS_MAX * 0.75;
    let mark = if bad { "  SLOW" } else { "" };
    println!("{name:<30} {first:>8.2} {second:>8.2} {third:>8.2} {last:>8.2} {growth:>7.1}{mark}");
    if bad {
        slow.push(name.to_owned());
    }
}
