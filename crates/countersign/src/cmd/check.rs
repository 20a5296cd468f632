//! `countersign check`: judge one tool call, or a stream of them. Nothing is run.

mod batch;
mod human;

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use countersign_core::call::ToolCall;
use countersign_core::card::Redacts;
use countersign_core::verdict::Verdict;
use serde_json::Value;

use crate::cli::Check;
use crate::complaint::{Complaint, written};
use crate::config::Home;
use crate::config::policies::PolicyCache;
use crate::wire;
use countersign_core::judge::judge;
use countersign_core::{canonical, record};

/// Longest call read from standard input; far beyond what is judged, so that what is too long is
/// still put to a person instead of failing.
const INPUT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// Judges what the command line names.
pub(crate) fn run(check: Check, home: Option<PathBuf>) -> Result<ExitCode, Complaint> {
    let policies = if check.no_config {
        PolicyCache::defaults()
    } else {
        PolicyCache::of(Home::new(home)?)?
    };
    if check.jsonl {
        return stream(&check, &policies);
    }
    one(check, policies)
}

fn one(check: Check, mut policies: PolicyCache) -> Result<ExitCode, Complaint> {
    let json = check.json;
    let cwd = directory(check.cwd.clone())?;
    let mut call = call(check.command, check.tool, check.args)?;
    call.cwd = Some(cwd);
    if let Some(text) = check.replying_to {
        call.replying_to = conversation(text)?;
    }
    let policy = policies.at(call.cwd.as_deref())?;
    let judged = judge(&policy, &call);
    let code = match judged.ruling.verdict {
        Verdict::Allow => 0,
        Verdict::Ask => 10,
        Verdict::AllowThenReview => 11,
        Verdict::Refuse => 20,
    };
    let result = if json {
        let mut out = Vec::with_capacity(2048);
        record::write(&mut out, None, &judged);
        out.push(b'\n');
        std::io::stdout().write_all(&out)
    } else {
        let redacts = if policy.redact_secrets {
            Redacts::Secrets
        } else {
            Redacts::Nothing
        };
        let shown = human::paint(&call, &judged, redacts);
        anstream::stdout().lock().write_all(shown.as_bytes())
    };
    written(result, ExitCode::from(code))
}

fn stream(check: &Check, policies: &PolicyCache) -> Result<ExitCode, Complaint> {
    let single = [
        ("a command", check.command.is_some()),
        ("--tool", check.tool.is_some()),
        ("--args", check.args.is_some()),
        ("--cwd", check.cwd.is_some()),
        ("--replying-to", check.replying_to.is_some()),
    ];
    if let Some((what, _)) = single.iter().find(|(_, given)| *given) {
        let hint = "with --jsonl, set it in each line of standard input";
        return Err(Complaint::usage(
            format!("--jsonl cannot be combined with {what}"),
            hint,
        ));
    }
    let tally = batch::run(policies, std::io::stdin(), std::io::stdout());
    let code = |tally: &batch::Tally| ExitCode::from(u8::from(tally.unreadable > 0));
    match tally {
        Ok(tally) => Ok(code(&tally)),
        Err(error) => written(Err(error), ExitCode::FAILURE),
    }
}

fn call(
    command: Option<String>,
    tool: Option<String>,
    args: Option<String>,
) -> Result<ToolCall, Complaint> {
    let see = "see `countersign check --help`";
    match (command, tool, args) {
        (Some(_), Some(_), _) => {
            let hint = "give either a shell command or `--tool NAME --args JSON`";
            Err(Complaint::usage(
                "both a command and --tool are given",
                hint,
            ))
        }
        (_, None, Some(_)) => Err(Complaint::usage("--args needs --tool", see)),
        (None, None, None) => {
            let hint = "countersign check 'rm -rf /srv/www'";
            Err(Complaint::usage("there is no call to judge", hint))
        }
        (Some(command), None, None) => {
            let command = if command == "-" { input()? } else { command };
            if command.trim().is_empty() {
                return Err(Complaint::usage(
                    "the command is empty",
                    "countersign check 'ls -la'",
                ));
            }
            Ok(ToolCall::command(command))
        }
        (None, Some(tool), args) => {
            let args = match args.as_deref() {
                Some("-") => input()?,
                Some(args) => args.to_owned(),
                None => "{}".to_owned(),
            };
            let hint = r#"--args takes a JSON object, such as '{"path": "notes.txt"}'"#;
            let args = canonical::parse(args.as_bytes()).map_err(|error| {
                Complaint::usage(format!("the arguments are not JSON: {error}"), hint)
            })?;
            wire::call::with_args(tool, args).map_err(|message| Complaint::usage(message, hint))
        }
    }
}

/// Reads one call's text from standard input.
pub(super) fn input() -> Result<String, Complaint> {
    let mut bytes = Vec::new();
    let read = std::io::stdin()
        .lock()
        .take(INPUT_BYTES_MAX + 1)
        .read_to_end(&mut bytes);
    if let Err(error) = read {
        return Err(Complaint::usage(
            format!("cannot read standard input: {error}"),
            "",
        ));
    }
    if bytes.len() as u64 > INPUT_BYTES_MAX {
        let limit = INPUT_BYTES_MAX / 1024 / 1024;
        let message = format!("standard input is longer than {limit} MiB");
        return Err(Complaint::usage(
            message,
            "it is too long to judge; do not run it",
        ));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let hint = "a command must be UTF-8 text; do not run it";
        Complaint::usage(
            format!("standard input is not UTF-8 from byte {at} on"),
            hint,
        )
    })?;
    Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
}

fn conversation(text: String) -> Result<Vec<countersign_core::call::Turn>, Complaint> {
    // A text that merely begins with a bracket is a text.
    let list = text
        .trim_start()
        .starts_with('[')
        .then(|| canonical::parse(text.as_bytes()).ok());
    let value = list.flatten().unwrap_or(Value::String(text));
    wire::call::replying_to(value).map_err(|message| {
        let hint = r#"--replying-to takes a text, or '[{"from": "ana", "text": "hello"}]'"#;
        Complaint::usage(message, hint)
    })
}

/// Returns the directory a call is made from, absolute.
fn directory(claimed: Option<PathBuf>) -> Result<String, Complaint> {
    let path = claimed.unwrap_or_else(|| PathBuf::from("."));
    let absolute = std::path::absolute(&path).map_err(|error| {
        Complaint::usage(
            format!("cannot determine the current directory: {error}"),
            "use --cwd DIR",
        )
    })?;
    let text = absolute.into_os_string().into_string();
    text.map_err(|path| {
        let message = format!("the directory {} is not UTF-8", path.display());
        Complaint::usage(message, "use --cwd DIR with a UTF-8 path")
    })
}
