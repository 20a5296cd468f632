//! File tools: read, write, patch.

use std::path::{Path, PathBuf};

use countersign_gate::calls::permit::Permit;
use countersign_gate::reviews::{Held, Snapshot};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::place::{host, lexical};
use super::{
    Around, Outcome, Spot, Staged, TEXT_BYTES_MAX, Tool, blocking, bounded, checked, understood,
};
use crate::BoxFuture;
use crate::model::ToolSchema;

/// Largest file that is read or changed, in bytes.
const FILE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Lines that are given back if no number was asked for.
const LINES_DEFAULT: usize = 2000;

/// Longest text a change may make.
const GROWN_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reads a text.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadFile;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reading {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

impl Tool for ReadFile {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "read_file".to_owned(),
            description: "Reads a text file. Long files are given in parts: `offset` is the first \
                          line (from 1), `limit` the number of lines."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "offset": {"type": "integer", "minimum": 1},
                    "limit": {"type": "integer", "minimum": 1},
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
        }
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Reading>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let from = around.directory(&permit);
            let args = match understood::<Reading>(permit.args()) {
                Ok(args) => args,
                Err(why) => return Outcome::failed(why),
            };
            blocking(move || read(&from, &args)).await.into()
        })
    }
}

fn read(from: &Path, args: &Reading) -> Result<String, String> {
    let path = lexical(from, &args.path)?;
    let text = text_at(&path)?;
    let first = args.offset.unwrap_or(1).max(1);
    let count = args.limit.unwrap_or(LINES_DEFAULT);
    let total = text.lines().count();
    let mut out = String::new();
    let mut shown = 0;
    for line in text.split_inclusive('\n').skip(first - 1).take(count) {
        if !out.is_empty() && out.len() + line.len() > TEXT_BYTES_MAX {
            break;
        }
        out.push_str(line);
        shown += 1;
    }
    let mut out = bounded(&out);
    let next = first + shown;
    if first > 1 || next <= total {
        let note = format!("\n(lines {first} to {} of {total})", next - 1);
        out.push_str(&note);
    }
    Ok(out)
}

/// Returns the text at `path`.
fn text_at(path: &Path) -> Result<String, String> {
    let absent = || format!("there is no file {}", path.display());
    let spot = Spot::find(path)?.ok_or_else(absent)?;
    let Held::File { content, .. } = spot.read(FILE_BYTES_MAX)? else {
        return Err(absent());
    };
    let size = content.len();
    let binary = || format!("{} is not a text but {size} bytes", path.display());
    if content.contains(&0) {
        return Err(binary());
    }
    String::from_utf8(content).map_err(|_| binary())
}

/// Writes a file, or writes it anew.
#[derive(Clone, Copy, Debug, Default)]
pub struct WriteFile;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Writing {
    path: String,
    content: String,
}

impl Tool for WriteFile {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "write_file".to_owned(),
            description: "Writes a text file, all of it. Missing directories are made.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "content": {"type": "string"},
                },
                "required": ["path", "content"],
                "additionalProperties": false,
            }),
        }
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Writing>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let change = |from: &Path| {
                let args: Writing = understood(permit.args())?;
                let path = lexical(from, &args.path)?;
                Ok((path, Change::To(args.content)))
            };
            changed(&permit, around, change(&around.directory(&permit)))
                .await
                .into()
        })
    }
}

/// Changes one place in a text, or all that are alike.
#[derive(Clone, Copy, Debug, Default)]
pub struct Patch;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Patching {
    path: String,
    old_string: String,
    new_string: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    replace_all: Option<bool>,
}

impl Tool for Patch {
    fn schema(&self) -> ToolSchema {
        ToolSchema {
            name: "patch".to_owned(),
            description: "Replaces `old_string` in a text file by `new_string`. It must occur \
                          exactly once, character by character, unless `replace_all` is true."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "old_string": {"type": "string"},
                    "new_string": {"type": "string"},
                    "replace_all": {"type": "boolean"},
                },
                "required": ["path", "old_string", "new_string"],
                "additionalProperties": false,
            }),
        }
    }

    fn resolved(&self, args: Value) -> Result<Value, String> {
        checked::<Patching>(&args)
    }

    fn run<'a>(&'a self, permit: Permit, around: &'a Around) -> BoxFuture<'a, Outcome> {
        Box::pin(async move {
            let change = |from: &Path| {
                let args: Patching = understood(permit.args())?;
                let path = lexical(from, &args.path)?;
                Ok((path, Change::Within(args)))
            };
            changed(&permit, around, change(&around.directory(&permit)))
                .await
                .into()
        })
    }
}

/// What becomes of a file.
enum Change {
    To(String),
    Within(Patching),
}

impl Change {
    /// Returns what the file will hold.
    fn content(self, path: &Path) -> Result<String, String> {
        let args = match self {
            Self::To(content) => return Ok(content),
            Self::Within(args) => args,
        };
        let text = text_at(path)?;
        let shown = path.display();
        if args.old_string.is_empty() {
            return Err("`old_string` is empty".to_owned());
        }
        let all = args.replace_all.unwrap_or(false);
        let count = text.matches(&args.old_string).count();
        let grown = args.new_string.len().saturating_mul(count);
        if text.len().saturating_add(grown) > GROWN_BYTES_MAX {
            return Err(format!("{shown} would become larger than 64 MiB"));
        }
        match count {
            0 => Err(format!("`old_string` does not occur in {shown}")),
            1 => Ok(text.replacen(&args.old_string, &args.new_string, 1)),
            _ if all => Ok(text.replace(&args.old_string, &args.new_string)),
            count => Err(format!(
                "`old_string` occurs {count} times in {shown}; give more of the text around it"
            )),
        }
    }
}

/// A change that only has to be published.
struct Ready {
    staged: Staged,
    before: Held,
    content: String,
    made: Vec<PathBuf>,
}

/// Changes a file. Where people will look at it afterwards, it is kept as it was before.
async fn changed(
    permit: &Permit,
    around: &Around,
    change: Result<(PathBuf, Change), String>,
) -> Result<String, String> {
    let (path, change) = change?;
    let place = path.clone();
    let ready = blocking(move || ready(&place, change)).await?;
    if permit.is_reviewed() {
        let snapshot = Snapshot {
            host: host(),
            path: path.to_string_lossy().into_owned(),
            before: ready.before.clone(),
            after: Held::File {
                content: ready.content.as_bytes().to_vec(),
                mode: ready.staged.mode,
            },
            made: ready
                .made
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
        };
        let kept = around
            .gate
            .keep_snapshot(&around.who, permit.call_id(), snapshot);
        if let Err(error) = kept.await {
            let made = ready.made;
            drop(ready.staged);
            return blocking(move || {
                unmake(&made);
                Err(format!("nothing was written: {error}"))
            })
            .await;
        }
    }
    let written = ready.content.len();
    blocking(move || ready.staged.publish()).await?;
    let is_new = ready.before == Held::Absent;
    let how = if is_new { "new file" } else { "replaced" };
    Ok(format!("{}: {written} bytes, {how}", path.display()))
}

fn ready(path: &Path, change: Change) -> Result<Ready, String> {
    let content = change.content(path)?;
    let before = match Spot::find(path)? {
        Some(spot) => spot.read(FILE_BYTES_MAX)?,
        None => Held::Absent,
    };
    let (spot, made) = Spot::make(path)?;
    let staged = spot.stage(content.as_bytes(), None);
    Ok(Ready {
        staged: staged.inspect_err(|_| unmake(&made))?,
        before,
        content,
        made,
    })
}

/// Takes directories away that were made for a file that is not there now.
pub(crate) fn unmake(made: &[PathBuf]) {
    for directory in made.iter().rev() {
        if let Ok(Some(spot)) = Spot::find(directory) {
            spot.remove_empty_directory();
        }
    }
}
