//! Reads the arguments of a known tool by the roles its row gives them.

use serde_json::{Map, Value};

use super::gather::{Gathered, Inner};
use super::infer::{deed_of, is_reading};
use super::named::Named;
use super::question::is_other_query;
use super::{
    arguments, carried, edits, evidence, line, loose, page_script, people, terminal, when,
};
use crate::act::Breadth;
use crate::assessment::{Finding, Severity, SideEffect};
use crate::encoding::percent_decoded;
use crate::follow::patch::{self, Change};
use crate::follow::program::trees;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Knows, Walk, Writing};
use crate::knowledge::{ArgumentRole, Effect, PathKind, Role, ToolRow, languages};
use crate::place::below::Look;
use crate::place::{Ground, HOME, mark_home};
use crate::score::Score;
use crate::shell::syntax::Span;

/// Tools whose code is always of one language, by the first name of their row.
const FIXED_LANGUAGES: &[(&str, &str)] = &[
    ("execute_code", "python"),
    ("powershell", "powershell"),
    ("cmd", "cmd"),
    ("browser_console", PAGE),
];
/// JavaScript that runs in a page, where other things are dangerous than in a program.
const PAGE: &str = "page";
/// Content above this is worth a word.
const CONTENT_BYTES_LARGE: usize = 100 * 1024;
/// How much an external change of a listed service weighs.
const BEYOND: Score = Score::new(250);
/// How hard it is to have a process back that the agent itself started.
const OWN_PROCESS: Score = Score::new(500);

/// Most paths, and most addresses, that are looked up for one call.
const PLACES_MAX: u32 = 256;

/// Whether two spellings name the same argument: `filePath`, `file_path`.
pub(crate) fn same_key(one: &str, other: &str) -> bool {
    fn letters(key: &str) -> impl Iterator<Item = char> {
        let letters = key.chars().filter(|letter| !matches!(letter, '_' | '-'));
        letters.flat_map(char::to_lowercase)
    }
    fn bytes(key: &str) -> impl Iterator<Item = u8> {
        let bytes = key.bytes().filter(|byte| !matches!(byte, b'_' | b'-'));
        bytes.map(|byte| byte.to_ascii_lowercase())
    }
    // Most keys differ in their first letter.
    let first = |key: &str| bytes(key).next().filter(u8::is_ascii);
    if let (Some(first), Some(another)) = (first(one), first(other))
        && first != another
    {
        return false;
    }
    if one.is_ascii() && other.is_ascii() {
        return bytes(one).eq(bytes(other));
    }
    letters(one).eq(letters(other))
}

/// Gathers what a call of a known tool would do.
pub(super) fn apply(
    row: &'static ToolRow,
    named: &Named,
    call: &Inner<'_>,
    args: &Map<String, Value>,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    let (effect, by_value) = when::effect(row, args);
    let mut reading = RowReading::new(row, named, effect, Walk::new(ground.clone(), knows));
    let role_of = |key: &str| {
        row.args
            .iter()
            .find(|(known, _)| same_key(known, key))
            .map(|(_, role)| *role)
    };
    let given: Vec<(&str, ArgumentRole, &Value)> = args
        .iter()
        .filter(|(_, value)| !value.is_null())
        .filter_map(|(key, value)| Some((key.as_str(), role_of(key)?, value)))
        .collect();
    for (_, role, value) in &given {
        match (role, value.as_str()) {
            (ArgumentRole::Cwd, Some(directory)) => {
                reading.walk.ground.enter(&mark_home(directory));
            }
            (ArgumentRole::Language, Some(language)) => {
                reading.language = language.trim().to_lowercase();
            }
            _ => {}
        }
    }
    reading.wide = args
        .get("recursive")
        .is_some_and(|value| value == &Value::Bool(true))
        || row.names.contains(&"delete_directory");
    reading.numbered = args.contains_key("pid") || args.contains_key("pids");
    // What is written is judged by where it goes, so the places come first.
    let is_content =
        |role: ArgumentRole| matches!(role, ArgumentRole::Content | ArgumentRole::Patch);
    let (content, rest): (Vec<_>, Vec<_>) =
        given.iter().partition(|(_, role, _)| is_content(*role));
    for (key, role, value) in rest.into_iter().chain(content) {
        reading.argument(key, role, value, gathered);
    }
    reading.trees(&given, args);
    carried::nested(row, &given, call, ground, knows, gathered);
    if !by_value && reading.lacks_what_matters(&given) && !is_other_query(named, effect, args) {
        reading.unreadable("the argument that says what is done is missing");
    }
    reading.base_act(by_value, gathered);
    if is_reading(effect) && loose::keeps_secrets(named) {
        let note = "asks for something secret";
        gathered.acts.push(named.act(Effect::Secret).because(note));
    }
    reading.roll_back(gathered);
    edits::remember(row, effect, &named.whole, args, &given, &mut reading.walk);
    gathered.absorb(reading.walk);
    if let Some(effect) = deed_of(&named.skipped) {
        gathered.acts.push(named.act(effect));
    }
    let left: Map<String, Value> = args
        .iter()
        .filter(|(key, _)| {
            role_of(key).is_none() && !row.when.iter().any(|(known, _, _)| same_key(known, key))
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    loose::arguments(&left, effect, named, ground, knows, gathered);
}

/// One call of a known tool, while its arguments are read.
struct RowReading<'k, 'n> {
    row: &'static ToolRow,
    named: &'n Named,
    effect: Effect,
    walk: Walk<'k>,
    language: String,
    /// Whether a directory goes with everything in it.
    wide: bool,
    /// Whether the call names a process by its number.
    numbered: bool,
    /// Paths that were judged, and whether all of them lie in the workspace.
    paths: u32,
    all_inside: bool,
    /// Kinds of the places that are written.
    written: Vec<PathKind>,
    urls: u32,
    attached: usize,
    subjects: Vec<String>,
}

impl<'k, 'n> RowReading<'k, 'n> {
    fn new(row: &'static ToolRow, named: &'n Named, effect: Effect, walk: Walk<'k>) -> Self {
        let fixed = FIXED_LANGUAGES
            .iter()
            .find(|(name, _)| row.names.first() == Some(name));
        let language = fixed.map_or("", |(_, language)| language).to_owned();
        Self {
            row,
            named,
            effect,
            walk,
            language,
            wide: false,
            numbered: false,
            paths: 0,
            all_inside: true,
            written: Vec::new(),
            urls: 0,
            attached: 0,
            subjects: Vec::new(),
        }
    }

    fn unreadable(&mut self, why: &'static str) {
        let mut act = self.named.act(Effect::Exec).because(why);
        act.clarity = Score::new(200);
        self.walk.note(act);
    }

    fn argument(&mut self, key: &str, role: ArgumentRole, value: &Value, gathered: &mut Gathered) {
        match role {
            ArgumentRole::Text
            | ArgumentRole::Method
            | ArgumentRole::Tool
            | ArgumentRole::Arguments => {}
            ArgumentRole::Cwd | ArgumentRole::Language => {
                if !value.is_string() {
                    self.unreadable("an argument is not a text");
                }
            }
            ArgumentRole::Read
            | ArgumentRole::Write
            | ArgumentRole::Edit
            | ArgumentRole::Delete => match arguments::words(value) {
                Some(paths) => paths.iter().for_each(|path| self.path(path, role)),
                None => self.unreadable("a path is not a text"),
            },
            ArgumentRole::Content => self.content(value, gathered),
            ArgumentRole::Shell => match terminal::command_text(key, value) {
                Some(command) => self.shell(&command, gathered),
                None => self.unreadable("the command is not a text"),
            },
            ArgumentRole::Code => match value.as_str() {
                Some(code) => self.code(code, gathered),
                None => self.unreadable("the code is not a text"),
            },
            ArgumentRole::Sql => match arguments::words(value) {
                Some(statements) => {
                    for statement in statements {
                        self.walk
                            .mini_language(Role::Sql, &word(&statement), &self.named.whole);
                    }
                }
                None => self.unreadable("the statement is not a text"),
            },
            ArgumentRole::Url => match arguments::words(value) {
                Some(addresses) => addresses.iter().for_each(|address| self.url(address)),
                None => self.unreadable("an address is not a text"),
            },
            ArgumentRole::Recipient => {
                arguments::each_text(value, &mut |_, text| self.subjects.push(text.to_owned()));
            }
            ArgumentRole::Body => arguments::each_text(value, &mut |_, text| {
                let files = people::attached_paths(text);
                self.attach(files.iter().copied());
            }),
            ArgumentRole::Attachment => match arguments::words(value) {
                Some(files) => self.attach(files.iter().map(String::as_str)),
                None => self.unreadable("which file is sent cannot be read"),
            },
            ArgumentRole::Goal => arguments::each_text(value, &mut |_, text| {
                if evidence::orders_unasked(text) {
                    let note = "tells a helper to do something final without asking";
                    self.walk
                        .note(self.named.act(Effect::Privilege).because(note));
                }
            }),
            ArgumentRole::Line | ArgumentRole::PathLine => match self.line(value) {
                Some(_) if role == ArgumentRole::Line => {}
                Some(words) => self.operands(&words),
                None => self.unreadable("the line holds more than one plain command"),
            },
            ArgumentRole::Patch => match arguments::words(value).map(|words| words.join("\n")) {
                Some(text) => self.patch(&text, gathered),
                None => self.unreadable("the patch is not a text"),
            },
        }
    }

    /// Returns the words of a line behind the name of the tool, which may have a prefix.
    fn line(&self, value: &Value) -> Option<Vec<String>> {
        let tool = self.named.tool.rsplit(['.', '/', ':']).next()?;
        line::operands(tool, value.as_str()?)
    }

    /// Judges the words of a line as paths. An editor that holds a file open may change it later
    /// without naming it, so what it opens is from then on unknown.
    fn operands(&mut self, words: &[String]) {
        for path in words.iter().filter(|word| !word.starts_with('-')) {
            if path.contains(['*', '?', '[', '{']) {
                self.unreadable("which files it opens cannot be seen");
            }
            self.path(path, ArgumentRole::Edit);
            if !is_reading(self.effect) {
                let unseen = Stream::unknown(Taint::default());
                self.walk.remember_file(&path_word(path), unseen);
            }
        }
        if self.paths == 0 {
            self.unreadable("a path is empty");
        }
    }

    /// Notes once that a call names more than is looked up.
    fn too_many(&mut self) {
        const WHY: &str = "it names too many places to check";
        if !self.walk.acts.iter().any(|act| act.note == WHY) {
            self.unreadable(WHY);
        }
    }

    /// Judges files that are sent along.
    fn attach<'f>(&mut self, files: impl Iterator<Item = &'f str>) {
        for file in files.filter(|file| !file.contains("://") || file.starts_with("file:")) {
            self.attached += 1;
            if self.attached > people::ATTACHED_MAX {
                self.unreadable("sends too many files to check");
                return;
            }
            self.walk.uploads(&path_word(file), &self.named.whole);
        }
    }

    /// Judges one path. A call that only reads reads whatever its paths are called.
    fn path(&mut self, path: &str, role: ArgumentRole) {
        if path.contains("://") && !path.starts_with("file:") {
            self.url(path);
            return;
        }
        if self.paths >= PLACES_MAX {
            self.too_many();
            return;
        }
        // A file tool knows no standard input, so `-` is a file.
        let arg = path_word(if path.trim() == "-" { "./-" } else { path });
        if arg.text.is_empty() && role != ArgumentRole::Read {
            self.unreadable("a path is empty");
        }
        let place = self.walk.ground.place(&arg.text);
        self.paths += 1;
        self.all_inside &= place.inside == Some(true);
        let tool = self.named.whole.as_str();
        let only_reads = is_reading(self.effect) && self.effect != Effect::NetRead;
        if role == ArgumentRole::Read || only_reads {
            self.walk.reads(&arg, tool);
            // What copies or packs a directory takes along what is in it.
            if !only_reads {
                self.walk.reads_tree(&arg, &Look::default(), tool);
            }
        } else if role == ArgumentRole::Delete {
            self.walk.deletes(
                &arg,
                tool,
                if self.wide {
                    Breadth::Tree
                } else {
                    Breadth::One
                },
            );
        } else {
            self.written.push(place.kind);
            let how = if self.effect == Effect::Create {
                Writing::Create
            } else if role == ArgumentRole::Edit {
                Writing::Edit
            } else {
                Writing::Replace
            };
            self.walk.writes(&arg, tool, how);
        }
        self.subjects.push(place.path);
    }

    /// Judges the directories that a search reads as a whole.
    fn trees(&mut self, given: &[(&str, ArgumentRole, &Value)], args: &Map<String, Value>) {
        let name = self.named.tool.to_lowercase();
        let known = self.row.names.iter().find(|known| name.ends_with(*known));
        let Some(tree) = trees::tool(&name).or_else(|| trees::tool(known?)) else {
            return;
        };
        let mut look = Look::default();
        for (key, value) in args {
            let has = |keys: &[&str]| keys.iter().any(|known| same_key(known, key));
            let text = arguments::plain(value).unwrap_or_default();
            let says = |rule: &&str| {
                let rule = rule.split_once('=');
                rule.is_some_and(|(known, value)| same_key(known, key) && value == text)
            };
            if tree.unless.iter().any(says) {
                return;
            }
            for pattern in arguments::words(value).unwrap_or_default() {
                if has(tree.only) {
                    look.limit(&pattern);
                } else if has(tree.not) {
                    look.not.push(pattern);
                }
            }
        }
        let is_root = |role: &ArgumentRole| *role == ArgumentRole::Read;
        let roots = given.iter().filter(|(_, role, _)| is_root(role));
        let roots = roots.filter_map(|(_, _, value)| arguments::words(value));
        let mut roots: Vec<String> = roots.flatten().take(PLACES_MAX as usize).collect();
        if roots.is_empty() && tree.here {
            roots.push(".".to_owned());
        }
        for root in roots {
            self.walk
                .reads_tree(&path_word(&root), &look, &self.named.whole);
        }
    }

    /// Looks at what is written into a file.
    fn content(&mut self, value: &Value, gathered: &mut Gathered) {
        if is_reading(self.effect) {
            return;
        }
        // Files that are given as a list of path and content name their paths here.
        if let Value::Array(items) = value {
            for path in items.iter().filter_map(arguments::path_in) {
                self.path(path, ArgumentRole::Edit);
            }
        }
        let mut text = String::new();
        arguments::each_text(value, &mut |_, part| {
            text.push_str(part);
            text.push('\n');
        });
        self.written_text(&text, gathered);
    }

    fn written_text(&mut self, text: &str, gathered: &mut Gathered) {
        let mut finding = |code: &'static str, severity: Severity, message: String| {
            gathered.findings.push(Finding {
                code,
                cause: code,
                severity,
                message,
                span: None,
            });
        };
        if text.len() > CONTENT_BYTES_LARGE {
            finding(
                "content.large",
                Severity::Info,
                format!("writes {} bytes", text.len()),
            );
        }
        let later = |kind: &PathKind| {
            matches!(
                kind,
                PathKind::Startup | PathKind::Hook | PathKind::Schedule | PathKind::Ci
            )
        };
        if text.starts_with("#!") && self.written.iter().any(later) {
            finding(
                "content.script",
                Severity::High,
                "writes a script where it runs by itself".to_owned(),
            );
        }
        let keeps_secrets =
            |kind: &PathKind| matches!(kind, PathKind::Credential | PathKind::Environment);
        let kinds = people::secret_kinds(text);
        if kinds.is_empty() {
            return;
        }
        finding(
            "content.secret",
            Severity::Medium,
            format!("writes a secret ({kinds})"),
        );
        if self.written.is_empty() || !self.written.iter().all(keeps_secrets) {
            let act = self
                .named
                .act(Effect::Write)
                .because("writes a secret into a file")
                .on(kinds)
                .target(Score::new(700));
            self.walk.note(act);
        }
    }

    fn shell(&mut self, command: &str, gathered: &mut Gathered) {
        let program = self.named.tool.to_lowercase();
        let starts = command.split_whitespace().next() == Some(program.as_str());
        // `kubectl {"command": "get pods"}` leaves its own name out.
        let command =
            if !starts && crate::knowledge::program(&program).is_some() && program != "bash" {
                format!("{program} {command}")
            } else {
                command.to_owned()
            };
        terminal::shell(
            &command,
            self.walk.ground.clone(),
            self.walk.knows,
            gathered,
        );
    }

    fn code(&mut self, code: &str, gathered: &mut Gathered) {
        if self.language == PAGE {
            if !page_script::only_looks(code) {
                let mut act = self
                    .named
                    .act(Effect::NetSend)
                    .because("acts in a web page by code");
                act.marks.critical = true;
                self.walk.note(act);
            }
            return;
        }
        let program = self.named.whole.as_str();
        match languages::by_name(&self.language).map(|language| language.role) {
            Some(Role::Shell) => {
                terminal::shell(code, self.walk.ground.clone(), self.walk.knows, gathered);
            }
            Some(role @ (Role::PowerShell | Role::Cmd | Role::Sql)) => {
                self.walk.mini_language(role, &word(code), program);
                if role == Role::Cmd && terminal::may_be_another_shell(code, &self.walk.ground) {
                    terminal::shell(code, self.walk.ground.clone(), self.walk.knows, gathered);
                }
            }
            Some(role) => self.walk.code(role, &word(code), program),
            None => self.unreadable("runs code in an unsupported language"),
        }
    }

    fn url(&mut self, address: &str) {
        if self.urls >= PLACES_MAX {
            self.too_many();
            return;
        }
        self.urls += 1;
        let address = address.trim();
        if let Some(script) = address.strip_prefix("javascript:") {
            if !page_script::only_looks(script) {
                self.unreadable("runs code in a web page");
            }
            return;
        }
        if address.starts_with("file:") {
            self.path(address, ArgumentRole::Read);
            return;
        }
        if is_reading(self.effect) {
            self.walk.fetches(&word(address), &self.named.whole);
        } else {
            self.walk.sends_to(&word(address), &self.named.whole);
        }
    }

    fn patch(&mut self, text: &str, gathered: &mut Gathered) {
        let patch = patch::read(text);
        for (path, change) in &patch.files {
            let role = match change {
                Change::Write => ArgumentRole::Edit,
                Change::Delete => ArgumentRole::Delete,
            };
            self.path(path, role);
        }
        self.written_text(&patch.added, gathered);
    }

    /// Whether the argument is missing that says what such a tool would do.
    fn lacks_what_matters(&self, given: &[(&str, ArgumentRole, &Value)]) -> bool {
        let in_row =
            |roles: &[ArgumentRole]| self.row.args.iter().any(|(_, role)| roles.contains(role));
        let lacks = |roles: &[ArgumentRole]| {
            in_row(roles) && !given.iter().any(|(_, role, _)| roles.contains(role))
        };
        let changes = [
            ArgumentRole::Write,
            ArgumentRole::Edit,
            ArgumentRole::Delete,
            ArgumentRole::Patch,
        ];
        lacks(&[
            ArgumentRole::Shell,
            ArgumentRole::Line,
            ArgumentRole::PathLine,
        ]) || lacks(&[ArgumentRole::Code]) && self.language != PAGE
            || lacks(&[ArgumentRole::Sql])
            || lacks(&[ArgumentRole::Tool])
            || !in_row(&[ArgumentRole::Tool]) && lacks(&[ArgumentRole::Arguments])
            || !is_reading(self.effect)
                && self.paths == 0
                && (lacks(&changes) || in_row(&[ArgumentRole::Patch]))
    }

    /// Notes what the tool itself does, where its arguments have not said it already.
    fn base_act(&mut self, by_value: bool, gathered: &mut Gathered) {
        let carries_calls = self
            .row
            .args
            .iter()
            .any(|(_, role)| matches!(role, ArgumentRole::Tool | ArgumentRole::Arguments));
        let said = matches!(self.effect, Effect::Write | Effect::Create | Effect::Delete)
            && self.paths > 0
            || matches!(self.effect, Effect::NetRead | Effect::NetSend) && self.urls > 0
            || self.effect == Effect::Inspect && carries_calls;
        let mut act = self.named.act(self.effect);
        if !by_value {
            act.note = self.row.what;
        }
        act.subject = shorten(&self.subjects.join(", "));
        if self.effect == Effect::Kill && !self.numbered {
            // Without a number of its own choosing, an agent ends only what it started.
            act.reversal = OWN_PROCESS;
        }
        let changes = !is_reading(self.effect);
        if self.row.outbound && changes || self.effect == Effect::Message {
            act.marks.outbound = true;
            gathered.outbound = true;
            gathered.sender = true;
        }
        if !by_value && let Some(class) = self.row.class {
            gathered.at_least = gathered.at_least.max(class);
            act.marks.critical |= class == SideEffect::Critical;
            if class == SideEffect::External {
                act.target = act.target.max(BEYOND);
            }
        }
        gathered.tool_certainty = gathered.tool_certainty.min(self.named.certainty);
        if !said || act.marks.critical {
            self.walk.note(act);
        }
    }

    /// An ordinary change inside the workspace can be undone by putting the old file back.
    fn roll_back(&self, gathered: &mut Gathered) {
        let ordinary = matches!(self.effect, Effect::Write | Effect::Create);
        let mild =
            self.walk.acts.iter().all(|act| {
                act.side_effect() <= SideEffect::LocalReversible && !act.marks.unreadable
            });
        if ordinary && mild && self.paths > 0 && self.all_inside {
            gathered.rollback = true;
        }
    }
}

/// Returns a word of plain text.
pub(super) fn word(text: &str) -> Arg {
    Arg::literal(text, Span::default())
}

/// Returns a path as an argument gives it, homes marked.
pub(super) fn path_word(path: &str) -> Arg {
    let path = path.trim();
    let decoded;
    let path = match path.strip_prefix("file://") {
        Some(rest) => {
            decoded = percent_decoded(rest).unwrap_or_else(|| rest.to_owned());
            decoded.strip_prefix("localhost").unwrap_or(&decoded)
        }
        None => path,
    };
    for front in ["$HOME", "${HOME}", "%USERPROFILE%", "$env:USERPROFILE"] {
        if let Some(rest) = path.strip_prefix(front) {
            return word(&format!("{HOME}{rest}"));
        }
    }
    Arg {
        glob: path.contains('*'),
        ..word(&mark_home(path))
    }
}

/// Returns as much of a text as fits into a sentence.
fn shorten(text: &str) -> String {
    const LONGEST: usize = 120;
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    format!(
        "{}…",
        text.get(..text.floor_char_boundary(LONGEST)).unwrap_or("")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_an_argument_are_the_same() {
        assert!(
            same_key("file_path", "filePath")
                && same_key("file_path", "filepath")
                && !same_key("file", "path")
        );
    }

    #[test]
    fn homes_are_marked_in_every_spelling() {
        for path in [
            "~/.ssh/x",
            "$HOME/.ssh/x",
            "${HOME}/.ssh/x",
            "file:///root/.ssh/x",
            "file://localhost/root/.ss%68/x",
        ] {
            let place = Ground::default().place(&path_word(path).text);
            assert_eq!(place.path, "~/.ssh/x", "{path}");
        }
    }
}
