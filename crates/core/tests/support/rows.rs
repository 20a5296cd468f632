//! Labelled commands: the project's own corpus, and the folder named by `COUNTERSIGN_DATA_DIR`.

use std::path::{Path, PathBuf};

/// One labelled command.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    /// The shell text.
    pub(crate) command: String,
    /// `dangerous`, `safe`, `ask` or `unlabelled`.
    pub(crate) label: String,
    /// The family it belongs to.
    pub(crate) category: String,
    /// The file it comes from, without folder and ending.
    pub(crate) set: String,
    /// Deceptive characters: a silent allow is a failure.
    pub(crate) must_gate: bool,
}

/// Returns the rows of the project's own corpus whose file name begins with one of `prefixes`.
pub(crate) fn corpus(prefixes: &[&str]) -> Vec<Row> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus");
    load(&folder, prefixes)
}

/// Returns the rows of the folder of data sets that may not be copied; `None`, and a skip, without
/// it.
pub(crate) fn data_sets(prefixes: &[&str]) -> Option<Vec<Row>> {
    let Some(folder) = std::env::var_os("COUNTERSIGN_DATA_DIR") else {
        crate::skipped::skipped("COUNTERSIGN_DATA_DIR is not set: no data sets");
        return None;
    };
    Some(load(&PathBuf::from(folder).join("commands"), prefixes))
}

/// Whether the long run was asked for.
pub(crate) fn is_soak() -> bool {
    std::env::var_os("COUNTERSIGN_SOAK").is_some_and(|value| value == "1")
}

fn load(folder: &Path, prefixes: &[&str]) -> Vec<Row> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", folder.display()))
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"))
        .filter(|path| {
            stem(path).is_some_and(|stem| prefixes.iter().any(|prefix| stem.starts_with(prefix)))
        })
        .collect();
    files.sort();
    files.iter().flat_map(|file| read(file)).collect()
}

fn stem(path: &Path) -> Option<&str> {
    path.file_stem()
        .and_then(|stem| stem.to_str())
        .map(|stem| stem.trim_start_matches("cmd-"))
}

fn read(file: &Path) -> Vec<Row> {
    let text = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("cannot read {}: {error}", file.display()));
    let set = stem(file).unwrap_or("").to_owned();
    text.lines()
        .map(|line| {
            let value: serde_json::Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{set}: {error}: {line}"));
            let field = |name: &str| {
                value
                    .get(name)
                    .and_then(|field| field.as_str())
                    .unwrap_or("")
                    .to_owned()
            };
            Row {
                command: field("command"),
                label: field("label"),
                category: field("category"),
                set: set.clone(),
                must_gate: value
                    .get("must_gate")
                    .and_then(serde_json::Value::as_bool)
                    .unwrap_or(false),
            }
        })
        .collect()
}
