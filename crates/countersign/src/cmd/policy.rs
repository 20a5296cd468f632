//! `countersign policy`: check a policy file, try calls against it, and suggest rules.

mod suggest;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use countersign_core::call::ToolCall;
use countersign_core::judge::judge;
use countersign_core::policy::Policy;
use countersign_core::record;
use countersign_core::verdict::Verdict;
use serde_json::json;

use crate::cli::{PolicyArgs, PolicyCommand};
use crate::client::Reach;
use crate::complaint::{Complaint, written};
use crate::config::{self, Home};
use crate::show::{count, print, print_json};

/// Does what was asked with a policy file.
pub(crate) fn run(
    args: PolicyArgs,
    home: Option<PathBuf>,
    reach: &Reach,
) -> Result<ExitCode, Complaint> {
    let json = args.json;
    match args.command {
        PolicyCommand::Check { file } => {
            let file = match file {
                Some(file) => file,
                None => Home::new(home)?.file(),
            };
            let policy = load(&file)?;
            let rules = policy.deny.len() + policy.ask.len() + policy.allow.len();
            if json {
                let programs = policy.programs.iter().count();
                let found =
                    json!({ "file": file, "ok": true, "rules": rules, "programs": programs });
                return written(print_json(&found), ExitCode::SUCCESS);
            }
            let described = match policy.programs.iter().count() {
                0 => String::new(),
                1 => ", 1 described program".to_owned(),
                more => format!(", {more} names of described programs"),
            };
            let rules = count(rules, "rule", "rules");
            let shown = format!(
                "{} is valid: {rules}{described}, and every example matches.\n",
                file.display()
            );
            written(print(&shown), ExitCode::SUCCESS)
        }
        PolicyCommand::Suggest { calls, least } => suggest::run(calls, least, json, reach),
        PolicyCommand::Test { file, call } => {
            let policy = load(&file)?;
            let cwd = std::env::current_dir().ok();
            let mut call = ToolCall::command(call);
            call.cwd = cwd.map(|cwd| cwd.display().to_string());
            let judged = judge(&policy, &call);
            let code = ExitCode::from(match judged.ruling.verdict {
                Verdict::Allow => 0,
                Verdict::Ask => 10,
                Verdict::AllowThenReview => 11,
                Verdict::Refuse => 20,
            });
            let mut out = Vec::new();
            record::write(&mut out, None, &judged);
            let result = if json {
                let value = serde_json::from_slice(&out).unwrap_or_default();
                print_json(&value)
            } else {
                let reason = judged
                    .assessment
                    .reasons
                    .first()
                    .map(|reason| countersign_core::display::inline(reason))
                    .unwrap_or_default();
                print(&format!(
                    "{}: {} ({reason})\n",
                    judged.ruling.verdict.word(),
                    judged.ruling.rule.sentence()
                ))
            };
            written(result, code)
        }
    }
}

/// Returns the policy of `file`, with its examples checked.
fn load(file: &Path) -> Result<Policy, Complaint> {
    let values = config::values(file)?.ok_or_else(|| {
        let hint = "name a file, or create one with `countersign config set`";
        Complaint::usage(format!("there is no {}", file.display()), hint)
    })?;
    let changes = config::read::changes(&values).map_err(|problem| problem.in_file(file))?;
    Ok(Policy::default().with(changes))
}
