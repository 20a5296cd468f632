//! `countersign config`: show, check and change the configuration.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::cli::{Config, ConfigCommand};
use crate::complaint::{Complaint, written};
use crate::config::entries::{Entry, Origin, get, list, plain, set};
use crate::config::{self, Home};

/// Does what the command line says with the configuration.
pub(crate) fn run(args: Config, home: Option<PathBuf>) -> Result<ExitCode, Complaint> {
    let home = Home::new(home)?;
    let (json, shown) = match args.command {
        ConfigCommand::Path => {
            let path = home.file().display().to_string();
            (json!({ "path": path }), format!("{path}\n"))
        }
        ConfigCommand::Check => check(&home)?,
        ConfigCommand::List => {
            let entries = list(&home)?;
            (as_json(&entries), as_lines(&entries))
        }
        ConfigCommand::Get { key } => {
            let value = get(&home, &key)?;
            let shown = format!("{}\n", plain(&value));
            (json!({ "key": key, "value": value }), shown)
        }
        ConfigCommand::Set { key, value } => {
            let done = set(&home, &key, &value)?;
            let shown = format!(
                "{key} = {}\n{}\n",
                plain(&done.value),
                done.effect.sentence()
            );
            let effect = done.effect.word();
            let json = json!({ "key": key, "value": done.value, "takes_effect": effect });
            (json, shown)
        }
    };
    let out = if args.json {
        format!("{json}\n")
    } else {
        shown
    };
    written(
        std::io::stdout().write_all(out.as_bytes()),
        ExitCode::SUCCESS,
    )
}

fn as_json(entries: &[Entry]) -> Value {
    let entries = entries.iter().map(|it| {
        let value = json!({ "value": it.value, "origin": it.origin.word() });
        (it.key.clone(), value)
    });
    Value::Object(entries.collect::<Map<String, Value>>())
}

fn as_lines(entries: &[Entry]) -> String {
    let lines = entries.iter().map(|it| match it.origin {
        Origin::Unset => format!("{}  ({})\n", it.key, it.origin.word()),
        Origin::File | Origin::Default => {
            format!(
                "{} = {}  ({})\n",
                it.key,
                plain(&it.value),
                it.origin.word()
            )
        }
    });
    lines.collect()
}

fn check(home: &Home) -> Result<(Value, String), Complaint> {
    let file = home.file();
    let policy = config::load(home)?;
    let exists = file.exists();
    let mut out = if exists {
        format!("{}: ok\n", file.display())
    } else {
        format!("{}: does not exist; the defaults apply\n", file.display())
    };
    let mut files = vec![json!({ "path": file, "exists": exists, "ok": true })];
    let here = std::env::current_dir().ok();
    if let Some(project) = here.and_then(|here| config::project_file(&here, home)) {
        config::tighten(&policy, &project)?;
        let _infallible = writeln!(out, "{}: ok, and it only tightens", project.display());
        files.push(json!({ "path": project, "exists": true, "ok": true }));
    }
    Ok((json!({ "files": files }), out))
}
