//! The bodies of the fuzz targets: each takes any text and must neither panic nor take long.
//!
//! Two programs drive them: the binary of this crate, which mutates the corpora and measures time,
//! and `fuzz/guided`, which runs them under libFuzzer, guided by coverage.

mod proof;

use countersign_core::assess::assess;
use countersign_core::call::{ToolCall, Turn};
use countersign_core::content::{crisis, impact, personal, secrets};
use countersign_core::display;
use countersign_core::follow::walk::Knows;
use countersign_core::language::script::Lang;
use countersign_core::language::sql::Dialect;
use countersign_core::language::{awk, cmd, find, jq, powershell, script, sed, sql};
use countersign_core::shell::placeholder::parse_filled;
use countersign_core::verdict::{Situation, Verdict, verdict};
use serde_json::Value;

pub use proof::{claims, tokens};

/// What is fuzzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Shell text of a terminal call.
    Shell,
    /// A tool call as JSON.
    Call,
    /// SQL, in all dialects.
    Sql,
    /// Scripts of sed, awk and jq, and expressions of find.
    Filter,
    /// Python, JavaScript, Perl, Ruby, PHP and Lua.
    Script,
    /// `PowerShell` and `cmd.exe`.
    Windows,
    /// Text that people write: crisis, secrets, personal data, impact.
    Content,
    /// Text that is shown.
    Display,
    /// Arguments as JSON, their canonical form and the digest of the call.
    Arguments,
    /// Tokens, and claims that a good key signs.
    Token,
}

impl Target {
    /// All targets.
    pub const ALL: [Self; 10] = [
        Self::Shell,
        Self::Call,
        Self::Sql,
        Self::Filter,
        Self::Script,
        Self::Windows,
        Self::Content,
        Self::Display,
        Self::Arguments,
        Self::Token,
    ];

    /// Returns the name used on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shell => "shell",
            Self::Call => "call",
            Self::Sql => "sql",
            Self::Filter => "filter",
            Self::Script => "script",
            Self::Windows => "windows",
            Self::Content => "content",
            Self::Display => "display",
            Self::Arguments => "arguments",
            Self::Token => "token",
        }
    }

    /// Returns how many readers a run of the target goes through, each of which may take its time.
    pub const fn readers(self) -> u32 {
        match self {
            Self::Shell | Self::Token => 1,
            Self::Call
            | Self::Sql
            | Self::Filter
            | Self::Windows
            | Self::Content
            | Self::Display
            | Self::Arguments => 4,
            Self::Script => 6,
        }
    }
}

/// Runs `target` on `text`. Returns what law was broken, if one was.
pub fn run(target: Target, text: &str) -> Option<&'static str> {
    match target {
        Target::Shell => return shell(text),
        Target::Call => return call(text),
        Target::Sql => {
            for dialect in DIALECTS {
                sql::read(text, *dialect);
            }
            sql::looks_like(text);
        }
        Target::Filter => {
            sed::read(text);
            sed::empties(text);
            awk::read(text);
            jq::read(text);
            find::read(&text.split(' ').collect::<Vec<_>>());
        }
        Target::Script => {
            for language in LANGUAGES {
                script::read(*language, text);
            }
        }
        Target::Windows => {
            powershell::read(text);
            powershell::read_arguments(&text.split(' ').collect::<Vec<_>>());
            powershell::looks_like(text);
            cmd::read(text);
            cmd::looks_like(text);
        }
        Target::Content => {
            crisis::scan(text);
            let found = secrets::scan(text);
            let redacted = secrets::redact(text);
            personal::scan(text);
            impact::scan(text);
            if found.is_empty() && redacted != text {
                return Some("something was redacted that was not found");
            }
        }
        Target::Display => return shown(text),
        Target::Arguments => return proof::arguments(text),
        Target::Token => return proof::token(text),
    }
    None
}

/// The dialects SQL is read in.
const DIALECTS: &[Dialect] = &[
    Dialect::Generic,
    Dialect::Psql,
    Dialect::Mysql,
    Dialect::Sqlite,
];

/// The languages scripts are read in.
const LANGUAGES: &[Lang] = &[
    Lang::PYTHON,
    Lang::JAVASCRIPT,
    Lang::PERL,
    Lang::RUBY,
    Lang::PHP,
    Lang::LUA,
];

fn shell(text: &str) -> Option<&'static str> {
    let readable = parse_filled(text).is_ok();
    let (assessed, ruled) = judge(&ToolCall::command(text));
    if !readable && ruled < Verdict::Ask {
        return Some("what cannot be read is not asked");
    }
    if assessed.reasons.is_empty() {
        return Some("no reason is given");
    }
    let outside = |start: u32, end: u32| start > end || end as usize > text.len();
    let broken = assessed
        .findings
        .iter()
        .filter_map(|finding| finding.span)
        .any(|span| outside(span.start, span.end));
    broken.then_some("a finding lies outside the text")
}

fn call(text: &str) -> Option<&'static str> {
    let Ok(value) = serde_json::from_str::<Value>(text) else {
        return None;
    };
    let word = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let call = ToolCall {
        tool: word("tool").unwrap_or_default(),
        args: value.get("args").cloned().unwrap_or(Value::Null),
        cwd: word("cwd"),
        workspace: word("workspace"),
        replying_to: word("replying_to")
            .map(|text| Turn {
                from: "user".to_owned(),
                text,
            })
            .into_iter()
            .collect(),
        ..ToolCall::default()
    };
    let (first, _) = judge(&call);
    let (second, _) = judge(&call);
    (first != second).then_some("the same call was judged differently")
}

fn judge(call: &ToolCall) -> (countersign_core::assessment::Assessment, Verdict) {
    let assessment = assess(
        call,
        &Knows {
            trusts_workspace: true,
            ..Knows::default()
        },
    );
    let ruled = verdict(&assessment, &Situation::default()).verdict;
    (assessment, ruled)
}

fn shown(text: &str) -> Option<&'static str> {
    display::deceptions(text);
    display::plain(text);
    let shown = [display::full(text), display::inline(text)];
    let is_hostile = |letter: char| {
        letter != '\n' && letter.is_control()
            || matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    shown
        .iter()
        .any(|shown| shown.contains(is_hostile))
        .then_some("a hostile character is shown as it is")
}
