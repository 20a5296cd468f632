//! The search tool: text in files, and files by name.

use std::path::Path;
use std::time::{Duration, Instant};

use countersign_core::place::Ground;
use countersign_core::score::Score;
use countersign_gate::calls::permit::Permit;
use countersign_gate::reviews::Held;
use ignore::WalkBuilder;
use ignore::overrides::OverrideBuilder;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::place::lexical;
use super::{Around, Outcome, Spot, TEXT_BYTES_MAX, Tool, blocking, checked, understood};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// Larger files are not looked into.
const FILE_BYTES_MAX: usize = 2 * 1024 * 1024;
/// Most files that are looked into.
const FILES_MAX: usize = 50_000;
/// Longest time a search takes.
const TIME_MAX: Duration = Duration::from_secs(20);
/// Hits that are given back if no number was asked for, and at most.
const HITS_DEFAULT: usize = 100;
const HITS_MAX: usize = 1000;
/// Longest line that is given back, in bytes.
const LINE_BYTES_MAX: usize = 300;
/// Memory a pattern may take.
const PATTERN_BYTES_MAX: usize = 1024 * 1024;
/// Reading a place at least this sensitive is worth a question of its own, which a search of the
/// directory around it did not ask.
const SENSITIVE: Score = Score::new(300);

/// Searches texts in files.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchFiles;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Searching {
    pattern: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    glob: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

impl Tool for SearchFiles {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "search_files".to_owned(),
            description: "Searches text files for a regular expression, line by line. `path` is a \
                          file or a directory (the working directory if it is not given), `glob` \
                          limits the names (`*.rs`). What git ignores, hidden files and files that \
                          hold secrets are left out."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "pattern": {"type": "string"},
                    "path": {"type": "string"},
                    "glob": {"type": "string"},
                    "limit": {"type": "integer", "minimum": 1, "maximum": HITS_MAX},
                },
                "required": ["pattern"],
                "additionalProperties": false,
            }),
        }
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Searching>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let from = around.directory(&permit);
            let args = match understood::<Searching>(permit.args()) {
                Ok(args) => args,
                Err(why) => return Outcome::failed(why),
            };
            blocking(move || search(&from, &args)).await.into()
        })
    }
}

/// The findings so far, and why the search stopped.
struct Found {
    text: String,
    hits: usize,
    hits_max: usize,
    left_out: usize,
}

fn search(from: &Path, args: &Searching) -> Result<String, String> {
    let pattern = RegexBuilder::new(&args.pattern)
        .size_limit(PATTERN_BYTES_MAX)
        .build()
        .map_err(|error| format!("`pattern` cannot be used: {error}"))?;
    let root = lexical(from, args.path.as_deref().unwrap_or("."))?;
    check_root(&root)?;
    let mut walk = WalkBuilder::new(&root);
    walk.require_git(false).sort_by_file_path(Path::cmp);
    if let Some(glob) = &args.glob {
        let mut names = OverrideBuilder::new(&root);
        let names = names.add(glob).and_then(|names| names.build());
        walk.overrides(names.map_err(|error| format!("`glob` cannot be used: {error}"))?);
    }
    let cwd = from.to_string_lossy();
    let ground = Ground::new(Some(&cwd), Some(&cwd));
    let begun = Instant::now();
    let mut found = Found {
        text: String::new(),
        hits: 0,
        hits_max: args.limit.unwrap_or(HITS_DEFAULT).min(HITS_MAX),
        left_out: 0,
    };
    let mut why_ended = None;
    let files = walk.build().filter_map(Result::ok);
    let files = files
        .take_while(|_| begun.elapsed() <= TIME_MAX)
        .filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    for (number, entry) in files.enumerate() {
        if number >= FILES_MAX || begun.elapsed() > TIME_MAX {
            why_ended = Some(format!("(the search ended after {number} files)"));
            break;
        }
        let path = entry.path();
        // The root was judged by its own name.
        if path != root && ground.place(&path.to_string_lossy()).read >= SENSITIVE {
            found.left_out += 1;
            continue;
        }
        if look_into(path, from, &pattern, &mut found).is_none() {
            why_ended = Some(format!("(the search ended after {} hits)", found.hits));
            break;
        }
    }
    if found.hits == 0 {
        found.text.push_str("nothing was found\n");
    }
    if found.left_out > 0 {
        let note = format!(
            "({} files that may hold secrets left out)\n",
            found.left_out
        );
        found.text.push_str(&note);
    }
    found.text.push_str(&why_ended.unwrap_or_default());
    Ok(found.text)
}

/// A root must not be a link, nor lie behind one.
fn check_root(root: &Path) -> Result<(), String> {
    if root.parent().is_none() {
        return Ok(());
    }
    let is_there = match Spot::find(root)? {
        Some(spot) => spot.is_there()?,
        None => false,
    };
    if is_there {
        Ok(())
    } else {
        Err(format!("there is no {}", root.display()))
    }
}

/// Notes the lines of a file that match; `None` if there is no room for more.
fn look_into(path: &Path, from: &Path, pattern: &Regex, found: &mut Found) -> Option<()> {
    let read = Spot::find(path).ok().flatten();
    let read = read.and_then(|spot| spot.read(FILE_BYTES_MAX).ok());
    let Some(Held::File { content, .. }) = read else {
        return Some(());
    };
    let Ok(text) = String::from_utf8(content) else {
        return Some(());
    };
    let shown = path.strip_prefix(from).unwrap_or(path).display();
    for (number, line) in text.lines().enumerate() {
        if !pattern.is_match(line) {
            continue;
        }
        if found.hits >= found.hits_max || found.text.len() > TEXT_BYTES_MAX {
            return None;
        }
        let end = line.floor_char_boundary(LINE_BYTES_MAX);
        let more = if end < line.len() { "…" } else { "" };
        let line = line.get(..end).unwrap_or_default();
        let hit = format!("{shown}:{}:{line}{more}\n", number + 1);
        found.text.push_str(&hit);
        found.hits += 1;
    }
    Some(())
}
