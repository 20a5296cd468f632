//! Judges unknown tools and unknown arguments by their names and shapes.

use serde_json::{Map, Value};

use super::evidence;
use super::gather::Gathered;
use super::infer::{By, deed_of, is_about_permission, is_reading, meaning_of, words};
use super::named::Named;
use super::roles::{path_word, word};
use super::terminal;
use crate::act::{Act, Breadth, profile};
use crate::assessment::SideEffect;
use crate::follow::value::{Stream, Taint};
use crate::follow::walk::{Knows, Walk, Writing};
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    AMOUNT_KEYS, ANSWER_WORDS, BESIDE_CODE_KEYS, BODY_KEYS, CODE_KEYS, MONEY_KEYS, PICTURE_WORDS,
    PROSE_KEYS, REACHED_KEYS, READ_KEYS, RECIPIENT_KEYS, SEARCH_KEYS, SECRET_KEEPERS, SENT_TO_KEYS,
    SHELL_KEYS, SQL_KEYS, WHOLE_TREE_WORDS, WRITE_KEYS,
};
use crate::knowledge::{Effect, Lang, PathKind, Role};
use crate::language;
use crate::place::below::Look;
use crate::place::{Ground, is_absolute, mark_home};
use crate::score::Score;

/// Most texts that are looked at.
const TEXTS_MAX: u32 = 512;
/// Longest text that is taken for a path.
const PATH_BYTES_MAX: usize = 4096;
/// Sensitive enough to count in an argument nobody named.
const SENSITIVE: Score = Score::new(600);

/// Gathers what a tool would do that no table knows.
pub(super) fn unknown_tool(
    named: &Named,
    args: &Map<String, Value>,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    gathered.tool_certainty = gathered.tool_certainty.min(named.certainty);
    let name_words = words(&named.tool);
    let own = named.server.as_deref() == Some("countersign") || is_about_permission(&name_words);
    let (mut effect, telemetry) = named_effect(&name_words, args);
    effect = deed_of(&named.skipped).map_or(effect, |deed| worse(effect, deed));
    if is_reading(effect) && keeps_secrets(named) {
        effect = Effect::Secret;
    }
    let answers = |key: &String| {
        words(key)
            .iter()
            .any(|it| ANSWER_WORDS.contains(it.as_str()))
    };
    if own && (!is_reading(effect) || args.keys().any(answers)) {
        effect = Effect::Guard;
    }
    let has = |keys: &Names| {
        args.iter()
            .any(|(key, value)| !value.is_null() && keys.contains(key.to_lowercase().as_str()))
    };
    if !is_reading(effect) && has(&AMOUNT_KEYS) && has(&MONEY_KEYS) {
        effect = worse(effect, Effect::Pay);
    } else if !is_reading(effect) && has(&RECIPIENT_KEYS) && has(&BODY_KEYS) {
        effect = worse(effect, Effect::Message);
    }
    if telemetry && effect == Effect::Create {
        if !has(&SENT_TO_KEYS) && !has(&REACHED_KEYS) {
            report(named, args, ground, knows, gathered);
            return;
        }
        effect = Effect::Message;
    }
    let before = gathered.acts.len();
    let read = arguments(args, effect, named, ground, knows, gathered);
    // Code that was read says better than a name what running it does.
    if effect == Effect::Exec && read && args.iter().all(|(key, value)| is_plain(key, value)) {
        gathered.at_least = gathered.at_least.max(SideEffect::LocalReversible);
        if gathered
            .acts
            .iter()
            .skip(before)
            .all(|act| !act.marks.unreadable)
        {
            return;
        }
    }
    if effect == Effect::Message {
        gathered.outbound = true;
        gathered.sender = true;
    }
    gathered.acts.push(act_by_name(named, effect));
}

/// Whether the server keeps secrets and little else.
pub(super) fn keeps_secrets(named: &Named) -> bool {
    let server = named
        .server
        .as_deref()
        .map(|server| words(server).join("_"));
    server.is_some_and(|server| SECRET_KEEPERS.contains(server.as_str()))
}

/// Returns what the name of a tool says it does, and whether that is a report on itself.
fn named_effect(name: &[String], args: &Map<String, Value>) -> (Effect, bool) {
    let keys: Vec<String> = args.keys().map(|key| key.to_lowercase()).collect();
    let said = evidence::with_action(meaning_of(name, &keys), args);
    match said {
        Some(said) if is_reading(said.effect) && evidence::goes_to_somebody(name, args) => {
            (Effect::Message, false)
        }
        Some(said) if said.by == By::Nouns && is_reading(said.effect) => {
            let shows = !evidence::brings_content(name, args);
            (if shows { said.effect } else { Effect::Unknown }, false)
        }
        Some(said) => (said.effect, said.by == By::Telemetry),
        None => (Effect::Unknown, false),
    }
}

/// Returns the worse of two effects. What is known to be bad is worse than what is unknown.
fn worse(effect: Effect, other: Effect) -> Effect {
    if effect == Effect::Unknown {
        other
    } else {
        effect.max(other)
    }
}

/// Gathers what a tool does by which a program reports on itself. It writes to nobody, but what it
/// reports leaves the machine, so addresses, files and secrets in it count.
fn report(
    named: &Named,
    args: &Map<String, Value>,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) {
    arguments(args, Effect::NetSend, named, ground, knows, gathered);
    gathered.at_least = gathered.at_least.max(SideEffect::External);
    let note = "reports a measurement";
    gathered.acts.push(named.act(Effect::Create).because(note));
}

/// Returns the act that nothing but a tool's name speaks for.
pub(super) fn act_by_name(named: &Named, effect: Effect) -> Act {
    let mut act = named
        .act(effect)
        .on(format!("judging by its name `{}`", named.tool));
    if effect != Effect::Unknown {
        act.note = profile(effect).verb;
    }
    act
}

/// Whether an argument of a tool that runs code is the code, or cannot change what runs.
fn is_plain(key: &str, value: &Value) -> bool {
    let key = key.to_lowercase();
    let key = key.as_str();
    let code = SHELL_KEYS.contains(key) || SQL_KEYS.contains(key) || CODE_KEYS.contains(key);
    code || BESIDE_CODE_KEYS.contains(key)
        || matches!(value, Value::Null | Value::Bool(_) | Value::Number(_))
}

/// Judges arguments by their names and looks. Returns whether one of them was code that was read.
pub(super) fn arguments(
    args: &Map<String, Value>,
    effect: Effect,
    named: &Named,
    ground: &Ground,
    knows: &Knows,
    gathered: &mut Gathered,
) -> bool {
    let mut loose = Loose {
        effect,
        named,
        walk: Walk::new(ground.clone(), knows),
        code: false,
        language: String::new(),
        texts: 0,
    };
    if let Some(language) = args
        .get("language")
        .or_else(|| args.get("lang"))
        .and_then(Value::as_str)
    {
        loose.language = language.to_lowercase();
    }
    for (key, value) in args {
        loose.value(key, value, gathered);
    }
    let Loose { walk, code, .. } = loose;
    gathered.absorb(walk);
    code
}

struct Loose<'k, 'n> {
    effect: Effect,
    named: &'n Named,
    walk: Walk<'k>,
    code: bool,
    language: String,
    texts: u32,
}

impl Loose<'_, '_> {
    fn value(&mut self, key: &str, value: &Value, gathered: &mut Gathered) {
        // `outputPath` and `output_path` are the same.
        let lower = words(key).join("_");
        if SHELL_KEYS.contains(lower.as_str()) && (value.is_string() || value.is_array()) {
            match terminal::command_text(&lower, value) {
                Some(command) => self.shell(&command, gathered),
                None => self.each(&lower, value, gathered),
            }
            return;
        }
        self.each(&lower, value, gathered);
    }

    fn each(&mut self, key: &str, value: &Value, gathered: &mut Gathered) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.text(key, text, gathered),
            Value::Array(items) => items.iter().for_each(|item| self.each(key, item, gathered)),
            Value::Object(map) => map
                .iter()
                .for_each(|(key, value)| self.value(key, value, gathered)),
        }
    }

    fn shell(&mut self, command: &str, gathered: &mut Gathered) {
        self.code = true;
        terminal::shell(command, self.walk.ground.clone(), self.walk.knows, gathered);
    }

    fn text(&mut self, key: &str, text: &str, gathered: &mut Gathered) {
        self.texts += 1;
        if self.texts > TEXTS_MAX {
            if self.texts == TEXTS_MAX + 1 {
                let why = "it has too many arguments to check";
                self.walk.note(self.named.act(Effect::Exec).because(why));
            }
            return;
        }
        let tool = self.named.whole.as_str();
        if is_sql_key(key) && !PROSE_KEYS.contains(key)
            || SQL_KEYS.contains(key) && (key.contains("sql") || language::sql::looks_like(text))
        {
            self.code = true;
            self.walk.mini_language(Role::Sql, &word(text), tool);
            return;
        }
        if CODE_KEYS.contains(key) && looks_like_code(text) && !is_reading(self.effect) {
            self.code(text, gathered);
            return;
        }
        if PROSE_KEYS.contains(key) || text.len() > PATH_BYTES_MAX {
            return;
        }
        // `{"table": "users; drop table users"}`.
        let behind = text.split_once(';').map(|(_, behind)| behind.trim());
        if let Some(statement) = behind.filter(|it| language::sql::looks_like(it)) {
            self.walk.mini_language(Role::Sql, &word(statement), tool);
        }
        if is_address(text) {
            self.address(text);
        } else if WRITE_KEYS.contains(key) && looks_like_path(text) {
            let file = path_word(text);
            self.walk.writes(&file, tool, Writing::Replace);
            let unseen = Stream::unknown(Taint::default());
            self.walk.remember_file(&file, unseen);
        } else if READ_KEYS.contains(key) && looks_like_path(text) {
            self.path(text);
        } else {
            self.by_look(key, text);
        }
    }

    fn code(&mut self, text: &str, gathered: &mut Gathered) {
        let tool = self.named.whole.as_str();
        let shebang = text.lines().next().unwrap_or("");
        let language = if self.language.is_empty() && shebang.starts_with("#!") {
            shebang
        } else {
            self.language.as_str()
        };
        if language.contains("python") {
            self.code = true;
            self.walk
                .code(Role::Snippet(Lang::PYTHON), &word(text), tool);
        } else if language.contains("sh") && !language.contains("powershell") {
            self.shell(text, gathered);
        } else if matches!(language, "javascript" | "js" | "node" | "typescript") {
            self.code = true;
            self.walk
                .code(Role::Snippet(Lang::JAVASCRIPT), &word(text), tool);
        } else if language::sql::looks_like(text) {
            self.code = true;
            self.walk.mini_language(Role::Sql, &word(text), tool);
        } else {
            let act = self
                .named
                .act(Effect::Exec)
                .because("runs code in an unsupported language");
            self.walk.note(act);
        }
    }

    fn path(&mut self, text: &str) {
        let arg = path_word(text);
        let tool = self.named.whole.as_str();
        if words(&self.named.tool)
            .iter()
            .any(|word| WHOLE_TREE_WORDS.contains(word.as_str()))
        {
            self.walk.reads_tree(&arg, &Look::default(), tool);
        }
        if is_reading(self.effect) {
            self.walk.reads(&arg, tool);
            if self.leaves_file() {
                self.walk.writes(&arg, tool, Writing::Replace);
            }
        } else if matches!(self.effect, Effect::Delete | Effect::CloudDelete) {
            self.walk.deletes(&arg, tool, Breadth::One);
        } else if self.effect == Effect::Message
            || self.effect == Effect::NetSend
            || self.effect == Effect::Publish
        {
            self.walk.uploads(&arg, tool);
        } else {
            self.walk.reads(&arg, tool);
            self.walk.writes(&arg, tool, Writing::Edit);
        }
    }

    /// Whether a tool that looks puts what it sees into the file it is given: `take_screenshot`.
    fn leaves_file(&self) -> bool {
        let name = words(&self.named.tool);
        name.iter()
            .any(|word| PICTURE_WORDS.contains(word.as_str()))
    }

    fn address(&mut self, text: &str) {
        let tool = self.named.whole.as_str();
        if is_reading(self.effect) || self.effect == Effect::Unknown {
            self.walk.fetches(&word(text), tool);
        } else if matches!(self.effect, Effect::NetSend | Effect::Message) {
            self.walk.sends_to(&word(text), tool);
        } else {
            self.walk.guards(&word(text), tool, true);
        }
    }

    /// Judges a text under a name that says nothing: only a sensitive place counts.
    fn by_look(&mut self, key: &str, text: &str) {
        let marked = mark_home(text.trim());
        let is_rooted = is_absolute(&marked) || text.starts_with("$HOME");
        // `owner/repository` is written like a path, so only what is read is taken for one.
        let is_pattern = SEARCH_KEYS.contains(key) || text.contains(['*', '?', '|', '(', '[']);
        let is_path = text.contains(['/', '\\']) && !text.contains("://");
        let is_below = is_reading(self.effect) && is_path && !is_pattern;
        if !is_rooted && !is_below || text.contains(char::is_whitespace) {
            return;
        }
        let arg = path_word(text);
        let place = self.walk.ground.place(&arg.text);
        let guarded = matches!(
            place.kind,
            PathKind::Guard | PathKind::Agent | PathKind::Instruction
        );
        if is_reading(self.effect) {
            if place.read >= SENSITIVE {
                self.walk.reads(&arg, &self.named.whole);
            }
        } else if place.write >= SENSITIVE && (guarded || place.kind != PathKind::Document) {
            self.walk.writes(&arg, &self.named.whole, Writing::Edit);
        }
    }
}

/// Whether a key says that it holds SQL: `raw_sql`, `ddl`.
fn is_sql_key(key: &str) -> bool {
    key.split('_')
        .any(|word| matches!(word, "sql" | "ddl" | "dml"))
}

fn is_address(text: &str) -> bool {
    let front = text.trim_start().get(..8).unwrap_or(text).to_lowercase();
    [
        "http://", "https://", "ftp://", "ws://", "wss://", "file://",
    ]
    .iter()
    .any(|scheme| front.starts_with(scheme.get(..scheme.len().min(8)).unwrap_or(scheme)))
}

fn looks_like_path(text: &str) -> bool {
    !text.contains('\n')
        && (text.contains(['/', '\\', '.', '~']) || text.starts_with('$'))
        && !text.contains("://")
}

fn looks_like_code(text: &str) -> bool {
    text.contains('\n') || text.contains(['(', ';', '=', '{', '$', '|', '>'])
}
