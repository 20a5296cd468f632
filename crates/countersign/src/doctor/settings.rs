//! Reads agents' settings: JSON with or without comments, and hook commands inside them.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// Longest settings file that is read, in bytes.
const SETTINGS_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Shells inside shells that a command is looked for in.
const DEPTH_MAX: usize = 3;

/// How an agent reads a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// JSON as it is defined.
    Strict,
    /// With comments.
    Comments,
    /// With comments, and commas before a closing bracket.
    Loose,
}

/// Reads a settings file as its agent does; `None` if there is none.
pub(super) fn read(file: &Path, dialect: Dialect) -> Result<Option<Value>, String> {
    let Some(text) = text(file)? else {
        return Ok(None);
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let json = match dialect {
        Dialect::Strict => text.to_owned(),
        Dialect::Comments => without_comments(text),
        Dialect::Loose => without_last_commas(&without_comments(text)),
    };
    if json.trim().is_empty() {
        return Ok(Some(Value::Null));
    }
    let parsed = serde_json::from_str(&json);
    parsed
        .map(Some)
        .map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// Reads a file as text; `None` if there is none.
pub(super) fn text(file: &Path) -> Result<Option<String>, String> {
    let failed = |error: std::io::Error| format!("{} cannot be read: {error}", file.display());
    match std::fs::metadata(file) {
        Ok(metadata) if metadata.len() > SETTINGS_BYTES_MAX => {
            Err(format!("{} is longer than 4 MiB", file.display()))
        }
        Ok(_) => std::fs::read_to_string(file).map(Some).map_err(failed),
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Replaces comments outside of texts by spaces.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut in_text = false;
    while let Some(letter) = letters.next() {
        match (letter, letters.peek()) {
            ('\\', Some(_)) if in_text => {
                out.push(letter);
                out.extend(letters.next());
            }
            ('"', _) => {
                in_text = !in_text;
                out.push(letter);
            }
            ('/', Some('/')) if !in_text => while letters.next_if(|it| *it != '\n').is_some() {},
            ('/', Some('*')) if !in_text => {
                letters.next();
                let mut before = ' ';
                for inside in letters.by_ref() {
                    if before == '*' && inside == '/' {
                        break;
                    }
                    before = inside;
                }
                out.push(' ');
            }
            _ => out.push(letter),
        }
    }
    out
}

/// Removes commas after which only a closing bracket follows.
fn without_last_commas(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    let (mut in_text, mut is_escaped) = (false, false);
    for (at, letter) in json.char_indices() {
        let ends = |rest: &str| rest.trim_start().starts_with([']', '}']);
        let rest = json.get(at + letter.len_utf8()..).unwrap_or_default();
        if !(letter == ',' && !in_text && ends(rest)) {
            out.push(letter);
        }
        if letter == '"' && !is_escaped {
            in_text = !in_text;
        }
        is_escaped = in_text && letter == '\\' && !is_escaped;
    }
    out
}

/// A start of our hook, as a command in an agent's settings says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Invocation {
    /// The program.
    pub(super) program: PathBuf,
    /// The home it names.
    pub(super) home: Option<PathBuf>,
    /// How many seconds it waits for a person, if it says so.
    pub(super) wait: Option<u64>,
    /// Whether a shell around it turns a hook that fails into a deny.
    pub(super) is_guarded: bool,
}

/// Finds the start of the hook of `agent` in a shell command.
pub(super) fn invocation(command: &str, agent: &str) -> Option<Invocation> {
    let mut found = inside(command, agent, DEPTH_MAX)?;
    found.is_guarded = command.contains("exit 2");
    Some(found)
}

fn inside(command: &str, agent: &str, depth: usize) -> Option<Invocation> {
    let words = words(command);
    let end: &[char] = &[')', ';', '}', '`', '"'];
    let bare = |word: &str| word.trim_end_matches(end).to_owned();
    let is_hook =
        |two: &[String]| matches!(two, [hook, name] if hook == "hook" && bare(name) == agent);
    if let Some(at) = words.windows(2).position(is_hook) {
        let program = program(words.get(..at).unwrap_or_default())?;
        let option = |name: &str| {
            let joined = format!("{name}=");
            let after = words.iter().skip_while(|word| *word != name).nth(1);
            let within = words.iter().find_map(|word| word.strip_prefix(&joined));
            after.map(String::as_str).or(within).map(bare)
        };
        return Some(Invocation {
            program: PathBuf::from(program),
            home: option("--home").map(PathBuf::from),
            wait: option("--wait").and_then(|seconds| seconds.parse().ok()),
            is_guarded: false,
        });
    }
    let deeper = depth.checked_sub(1)?;
    let scripts = words.iter().filter(|word| word.contains(" hook "));
    scripts
        .filter(|word| word.as_str() != command)
        .find_map(|word| inside(word, agent, deeper))
}

/// Returns the program whose options and arguments end `words`.
fn program(mut words: &[String]) -> Option<&str> {
    let takes_value = |option: &str| matches!(option, "--home" | "--url" | "--key-file");
    loop {
        match words {
            [rest @ .., option, _] if takes_value(option) => words = rest,
            [rest @ .., option] if option.starts_with("--") => words = rest,
            [.., program] => {
                let program = program.rsplit_once("$(").map_or(&**program, |it| it.1);
                return Some(program.trim_start_matches(['(', '{', '`', '!']));
            }
            [] => return None,
        }
    }
}

/// Splits a command into words as a shell does, without expanding anything.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut letters = command.chars();
    while let Some(letter) = letters.next() {
        match (letter, quote) {
            (_, Some(open)) if letter == open => quote = None,
            ('\\', None | Some('"')) => {
                word.get_or_insert_default().extend(letters.next());
            }
            ('\'' | '"', None) => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            (letter, None) if letter.is_whitespace() => words.extend(word.take()),
            (letter, _) => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words
}

/// An entry of `{"hooks": {EVENT: [{"matcher", "hooks": [entry, …]}, …]}}`.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    /// Which of the groups of its event it is in, and which of the group's entries it is.
    pub(super) place: (usize, usize),
    /// What its group says beside the entries.
    pub(super) group: &'a Value,
    /// The entry.
    pub(super) value: &'a Value,
    /// How it starts our hook.
    pub(super) invocation: Invocation,
}

fn of_event<'a>(settings: &'a Value, event: &str) -> impl Iterator<Item = &'a Value> {
    let list = settings.get("hooks").and_then(|hooks| hooks.get(event));
    list.and_then(Value::as_array).into_iter().flatten()
}

/// Returns the entries of `event` that start the hook of `agent`.
pub(super) fn grouped<'a>(settings: &'a Value, event: &str, agent: &str) -> Vec<Entry<'a>> {
    let groups = of_event(settings, event);
    let mut found = Vec::new();
    for (outer, group) in groups.enumerate() {
        let entries = group["hooks"].as_array().into_iter().flatten();
        for (inner, value) in entries.enumerate() {
            let invocation = value["command"]
                .as_str()
                .and_then(|command| invocation(command, agent));
            found.extend(invocation.map(|invocation| Entry {
                place: (outer, inner),
                group,
                value,
                invocation,
            }));
        }
    }
    found
}

/// Returns the entries of `{"hooks": {EVENT: [entry, …]}}` that start the hook of `agent`.
pub(super) fn flat<'a>(settings: &'a Value, event: &str, agent: &str) -> Vec<Entry<'a>> {
    let entries = of_event(settings, event);
    let found = entries.enumerate().filter_map(|(at, value)| {
        let command = ["command", "bash"]
            .iter()
            .find_map(|key| value[key].as_str());
        let invocation = invocation(command?, agent)?;
        Some(Entry {
            place: (at, 0),
            group: value,
            value,
            invocation,
        })
    });
    found.collect()
}

/// Whether a group's matcher covers every tool.
pub(super) fn matches_all(entry: &Entry<'_>) -> bool {
    match &entry.group["matcher"] {
        Value::Null => true,
        Value::String(matcher) => matches!(matcher.as_str(), "" | "*" | ".*"),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_hook_is_found_however_the_command_is_wrapped() {
        let rows = [
            (
                "/usr/bin/countersign hook codex",
                "/usr/bin/countersign",
                None,
                false,
            ),
            (
                "/bin/countersign hook codex --wait 60",
                "/bin/countersign",
                None,
                false,
            ),
            (
                "'/opt/my tools/countersign' hook codex --home '/home/ana/.cs'",
                "/opt/my tools/countersign",
                Some("/home/ana/.cs"),
                false,
            ),
            (
                "sh -c '/bin/countersign hook codex || { echo no >&2; exit 2; }'",
                "/bin/countersign",
                None,
                true,
            ),
            (
                "/bin/countersign --home=/h hook codex || exit 2",
                "/bin/countersign",
                Some("/h"),
                true,
            ),
            (
                "/bin/sh -c 'o=$('\\''/opt/my tools/countersign'\\'' hook codex --home /h); c=$?; case $c:$o in 0:|[02]:{*}) \
                 [ -z \"$o\" ] || printf \"%s\\n\" \"$o\"; exit $c;; esac; echo \"no\" >&2; exit 2'",
                "/opt/my tools/countersign",
                Some("/h"),
                true,
            ),
            (
                "o=$(/bin/countersign hook codex) && [ -n \"$o\" ] && printf '%s' \"$o\" || { exit 2; }",
                "/bin/countersign",
                None,
                true,
            ),
        ];
        for (command, program, home, is_guarded) in rows {
            let expected = Invocation {
                program: PathBuf::from(program),
                home: home.map(PathBuf::from),
                wait: command.contains("--wait").then_some(60),
                is_guarded,
            };
            assert_eq!(invocation(command, "codex"), Some(expected), "{command}");
        }
        for command in ["echo hook codex2", "hook", "countersign hook gemini", ""] {
            assert_eq!(invocation(command, "codex"), None, "{command}");
        }
    }

    #[test]
    fn a_file_is_read_as_its_agent_reads_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("settings.json");
        assert_eq!(read(&file, Dialect::Strict), Ok(None));
        let texts = [
            ("{\"a\": \"// no comment\"}", [true, true, true]),
            ("\u{feff}{\"a\": 1}", [true, true, true]),
            ("// why\n{\"a\": /* b */ 1}", [false, true, true]),
            ("{\"a\": [1, 2,], \"b\": \"},\\\"\",}", [false, false, true]),
            ("{\"a\": ", [false, false, false]),
        ];
        for (text, expected) in texts {
            std::fs::write(&file, text).unwrap();
            let dialects = [Dialect::Strict, Dialect::Comments, Dialect::Loose];
            let readable = dialects.map(|dialect| read(&file, dialect).is_ok());
            assert_eq!(readable, expected, "{text}");
        }
        std::fs::write(&file, "{\"a\": \"x, ]\", /* , */ }").unwrap();
        let read = read(&file, Dialect::Loose).unwrap().unwrap();
        assert_eq!(read["a"], "x, ]");
    }
}
