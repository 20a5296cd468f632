//! What arguments order a tool to do whose name, or whose row, says that it only looks.
//!
//! A server may give any tool any name, and many real ones do several things under one: a search that
//! deletes what it finds, a lookup that runs code, a reader that posts what it read. So arguments that
//! say what else is done are heeded wherever they stand. Separate from [`super::evidence`] because
//! the tools of an agent itself have arguments that are known and are not looked at here. It only raises.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::gather::Gathered;
use super::infer::{is_deed, is_reading, meaning_of, names_secret, singular, verb_of, words};
use super::named::Named;
use super::roles::{same_key, word};
use super::terminal;
use super::{evidence, narrow, page_script};
use crate::act::Act;
use crate::assessment::SideEffect;
use crate::follow::walk::{Knows, Walk, is_secret_name};
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    CALL_ARGUMENT_KEYS, CALLED_KEYS, CODE_MARKS, COMPUTED_KEYS, COMPUTING_VIEWS, ENTRY_KEYS,
    ENVIRONMENT_WORDS, INSTRUCTION_KEYS, KIND_KEYS, LEADING_PARTICLES, LOOKS_AT_TEXT,
    MESSAGE_SEARCH_WORDS, NAMED_CALL_KEYS, OPTION_VERBS, ORDER_KEYS, ORDER_WORDS, PAGE_CODE_KEYS,
    PAGE_MARKS, PROSE_KEYS, QUERY_LANGUAGE_WORDS, QUERY_TEXT_KEYS, REPORT_KEYS, REPOSITORY_KEYS,
    REVEALING_WORDS, RUN_CODE_KEYS, SEARCH_KEYS, SENDING_WORDS, SENT_TO_KEYS, STARTED_KEYS,
    SWITCHED_WORDS, UPDATE_OPERATORS, VARIABLE_KEYS, WRAPPED_PROGRAMS, WRITING_GRAPH_WORDS,
    WRITING_QUERY_WORDS,
};
use crate::knowledge::{self, Effect, Lang, Role};
use crate::place::Ground;

/// Longest text that names an operation.
const NAME_BYTES_MAX: usize = 64;
/// Values deeper than this were refused before.
const DEPTH_MAX: usize = 64;
/// Longest text that is read as JSON.
const JSON_BYTES_MAX: usize = 16 * 1024;
/// Most texts of one call that are read as commands or code.
const TEXTS_MAX: usize = 16;

/// Adds what the arguments of a server's tool order beyond looking. `before` is where its own acts
/// begin.
pub(super) fn weigh(
    named: &Named,
    args: &Map<String, Value>,
    before: usize,
    (ground, knows): (&Ground, &Knows),
    gathered: &mut Gathered,
) {
    if named.is_agents_own() || !stays_here(gathered, before) {
        return;
    }
    let mut orders = Orders {
        named,
        name: words(&named.tool),
        server: named.server.as_deref().map(words).unwrap_or_default(),
        found: Vec::new(),
        texts: Vec::new(),
        in_text: false,
        variables: Vec::new(),
    };
    let is_listed = |key: &str| {
        named.row.is_some_and(|row| {
            let mut keys = row.args.iter().map(|(key, _)| *key);
            keys.any(|it| same_key(it, key)) || row.when.iter().any(|(it, _, _)| same_key(it, key))
        })
    };
    let left = args.iter().filter(|(key, _)| !is_listed(key));
    orders.object(left.clone(), args, DEPTH_MAX);
    if named.row.is_some() {
        let left: Map<String, Value> = left.map(|(key, it)| (key.clone(), it.clone())).collect();
        orders.said(&left);
    }
    for (effect, note) in std::mem::take(&mut orders.found) {
        gathered.acts.push(named.act(effect).because(note));
    }
    let texts = std::mem::take(&mut orders.texts);
    if texts.len() > TEXTS_MAX {
        gathered.unreadable(&named.whole, "it holds more code than can be read");
    }
    for text in texts.into_iter().take(TEXTS_MAX) {
        orders.run(text, (ground, knows), gathered);
    }
    let mut walk = Walk::new(ground.clone(), knows);
    for (name, value) in orders.variables.iter().take(TEXTS_MAX) {
        walk.variable_effect(name, &word(value.as_str().unwrap_or_default()));
    }
    gathered.absorb(walk);
    for line in orders.wrapped(args).into_iter().take(TEXTS_MAX) {
        terminal::shell(&line, ground.clone(), knows, gathered);
    }
}

/// Whether nothing was found that reaches beyond this machine.
pub(super) fn stays_here(gathered: &Gathered, before: usize) -> bool {
    let mut own = gathered.acts.iter().skip(before);
    own.all(|act: &Act| act.side_effect() <= SideEffect::LocalReversible)
}

/// Whether the arguments of something that is called stand in an object.
#[derive(Clone, Copy)]
struct Calls {
    by_key: bool,
    /// Whether they are of the kind that only a call has, so that a plain name is its name.
    by_name: bool,
}

/// A text among the arguments that the tool runs.
#[derive(Clone, Copy)]
enum Text<'a> {
    Shell(&'a str),
    Page(&'a str),
    Python(&'a str),
    Hidden,
}

struct Orders<'a> {
    named: &'a Named,
    name: Vec<String>,
    server: Vec<String>,
    found: Vec<(Effect, &'static str)>,
    texts: Vec<Text<'a>>,
    /// Whether the arguments stand in a text of another argument.
    in_text: bool,
    /// Variables that a program is started with.
    variables: Vec<(&'a String, &'a Value)>,
}

impl<'a> Orders<'a> {
    /// Looks at the arguments `pairs` of one object. `all` are those beside them.
    fn object(
        &mut self,
        pairs: impl Iterator<Item = (&'a String, &'a Value)>,
        all: &Map<String, Value>,
        depth: usize,
    ) {
        let has = |list: &Names| all.keys().any(|key| Key::new(key).on(list));
        let calls = Calls {
            by_key: has(&CALL_ARGUMENT_KEYS),
            by_name: has(&NAMED_CALL_KEYS),
        };
        for (key, value) in pairs {
            let key = Key::new(key);
            self.switch(&key, value);
            self.operation(&key, value, calls);
            self.ordered_by_key(&key, value);
            self.report(&key, value);
            self.kind(&key, value);
            self.below(&key, value, depth);
            if let Some(map) = value.as_object().filter(|_| key.on(&VARIABLE_KEYS)) {
                self.variables.extend(map.iter());
            }
        }
    }

    fn below(&mut self, key: &Key, value: &'a Value, depth: usize) {
        match value {
            // What is looked for may be a deed: `{"filter": {"action": "delete"}}`.
            Value::Object(map) if depth > 0 && key.on(&SEARCH_KEYS) => {
                let pairs = map.iter();
                pairs.for_each(|(key, item)| self.below(&Key::new(key), item, depth - 1));
            }
            Value::Object(map) if depth > 0 => self.object(map.iter(), map, depth - 1),
            Value::Array(items) if depth > 0 => {
                for item in items {
                    self.below(key, item, depth - 1);
                }
            }
            Value::String(text) => self.text(key, text),
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => {}
        }
    }

    /// `{"postprocess": "drop"}`: a verb under a key that says neither which things nor what they are like.
    fn said(&mut self, left: &Map<String, Value>) {
        for word in narrow::ordered(left) {
            let effect = meaning_of(&words(word), &[]).map(|said| said.effect);
            if let Some(effect) = effect.filter(|effect| !is_reading(*effect)) {
                self.add(effect, "names an operation that changes something");
            }
        }
    }

    fn add(&mut self, effect: Effect, note: &'static str) {
        if !self.found.contains(&(effect, note)) {
            self.found.push((effect, note));
        }
    }

    /// `{"refund": true}`, `{"markAsRead": true}`.
    fn switch(&mut self, key: &Key, value: &Value) {
        let is_on = value == &Value::Bool(true)
            || value.as_i64() == Some(1)
            || value.as_str().is_some_and(|it| {
                it.eq_ignore_ascii_case("true") || it.eq_ignore_ascii_case("yes")
            });
        let mut key = key
            .words
            .iter()
            .skip_while(|word| LEADING_PARTICLES.contains(word.as_str()));
        let Some(first) = key.next().filter(|_| is_on) else {
            return;
        };
        if REVEALING_WORDS.contains(first.as_str()) {
            self.add(Effect::Secret, "asks for something secret");
        }
        if acts(first) || SWITCHED_WORDS.contains(first.as_str()) {
            let effect = verb_of(first).unwrap_or(Effect::CloudWrite);
            self.add(effect, "is told to act on what it finds");
        }
    }

    /// `{"method": "chat.postMessage"}`, `{"tool": "delete_file", "args": {}}`.
    fn operation(&mut self, key: &Key, value: &Value, calls: Calls) {
        let last = key.last();
        let names = key.on(&ORDER_KEYS)
            || ORDER_WORDS.contains(last)
            || calls.by_key && key.on(&CALLED_KEYS)
            || calls.by_name && last == "name";
        let Some(text) = value.as_str().filter(|_| names) else {
            return;
        };
        let is_name = text.len() <= NAME_BYTES_MAX && !text.contains(char::is_whitespace);
        let said = meaning_of(&words(text), &[]).map(|said| said.effect);
        let effect = match said.filter(|_| is_name) {
            Some(effect) if !is_reading(effect) => effect,
            _ if text.eq_ignore_ascii_case("mutation") => Effect::CloudWrite,
            _ => return,
        };
        self.add(effect, "names an operation that changes something");
    }

    /// `{"update": {"role": "admin"}}`, `{"drop": "users"}`, `{"$set": {}}`.
    fn ordered_by_key(&mut self, key: &Key, value: &Value) {
        let is_given = !matches!(value, Value::Null | Value::Bool(_));
        if is_given && key.words.len() > 1 && key.first() == "new" {
            self.add(Effect::CloudWrite, "brings what is to be changed");
        }
        let [only] = key.words.as_slice() else {
            return;
        };
        let effect = verb_of(only).unwrap_or(Effect::CloudWrite);
        let orders = match value {
            Value::Object(map) => !map.is_empty() && (acts(only) || updates(only)),
            Value::Array(items) => {
                items.iter().any(Value::is_object) && (acts(only) || updates(only))
            }
            // A word behind a verb may as well be an option: `{"join": "left"}`.
            Value::String(text) => {
                !text.trim().is_empty() && acts(only) && effect > Effect::CloudWrite
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        if orders {
            self.add(effect, "brings what is to be changed");
        }
    }

    /// `{"email_to": "ana@example.org"}`, `{"callback_url": "https://…"}`.
    fn report(&mut self, key: &Key, value: &Value) {
        let is_given = match value {
            Value::String(text) => !text.trim().is_empty(),
            Value::Array(items) => !items.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        };
        let goes = match key.words.as_slice() {
            [verb, .., to] if to == "to" => verb_of(verb).is_some_and(|effect| !is_reading(effect)),
            _ => false,
        };
        let is_address = |text: &str| text.contains("://") || text.contains('@');
        let mut addressed = false;
        super::arguments::each_text(value, &mut |_, text| addressed |= is_address(text));
        let sends = |it: &String| {
            verb_of(it) == Some(Effect::Message) || SENDING_WORDS.contains(it.as_str())
        };
        let searches = |it: &String| MESSAGE_SEARCH_WORDS.contains(it.as_str());
        let computes = |it: &String| COMPUTING_VIEWS.contains(it) || LOOKS_AT_TEXT.contains(it);
        let is_about_messages =
            self.name.iter().any(searches) || self.name.last().is_some_and(computes);
        let goes = goes
            || addressed && key.words.iter().any(sends) && !is_about_messages
            || addressed && key.on(&SENT_TO_KEYS) && !is_about_messages;
        if is_given && (goes || key.on(&REPORT_KEYS)) {
            self.add(Effect::NetSend, "sends what it finds to somebody");
        }
    }

    /// `{"kind": "Secret"}`, `{"uri": "secret://db"}`.
    fn kind(&mut self, key: &Key, value: &Value) {
        let Some(text) = value.as_str().filter(|it| it.len() <= NAME_BYTES_MAX) else {
            return;
        };
        let scheme = text.split_once("://").map(|(scheme, _)| scheme);
        let is_kind = KIND_KEYS.contains(key.last());
        let named = scheme.or_else(|| Some(text).filter(|_| is_kind));
        let one = named.filter(|it| !it.contains(char::is_whitespace));
        let is_entry = key.on(&ENTRY_KEYS) && text.contains("/secrets/");
        let of_environment = |it: &String| ENVIRONMENT_WORDS.contains(it.as_str());
        let is_variable = key.on(&ENTRY_KEYS)
            && is_secret_name(text)
            && self.name.iter().chain(&self.server).any(of_environment);
        if one.is_some_and(|it| names_secret(&words(it))) || is_entry || is_variable {
            self.add(Effect::Secret, "asks for something secret");
        }
    }

    fn text(&mut self, key: &Key, text: &'a str) {
        let trimmed = text.trim();
        if trimmed.starts_with('{') && !self.in_text && text.len() <= JSON_BYTES_MAX {
            self.json(trimmed);
        }
        if is_request(trimmed) {
            self.add(Effect::NetSend, "makes a request that changes something");
        }
        if self.asks_in_language(key) && key.on(&QUERY_TEXT_KEYS) && writes(text) {
            self.add(Effect::CloudWrite, "a query that changes what it is about");
        }
        if key.on(&INSTRUCTION_KEYS) && evidence::orders_final(text) {
            self.add(Effect::CloudWrite, "is told in words to change something");
        }
        if key.on(&STARTED_KEYS) {
            let first = text.split_whitespace().next().unwrap_or("");
            if knowledge::program(first).is_some() {
                self.texts.push(Text::Shell(text));
            }
        }
        let looks = self
            .name
            .iter()
            .any(|it| LOOKS_AT_TEXT.contains(it.as_str()));
        if looks && !key.on(&PAGE_CODE_KEYS) {
            return;
        }
        let has = |marks: &Names| marks.iter().any(|mark| text.contains(mark));
        if key.on(&PAGE_CODE_KEYS) || key.on(&RUN_CODE_KEYS) && has(&PAGE_MARKS) {
            self.texts.push(Text::Page(text));
        } else if key.on(&RUN_CODE_KEYS) && has(&CODE_MARKS) {
            let is_python = key.words.iter().any(|it| it == "python") || text.contains("import ");
            self.texts.push(if is_python {
                Text::Python(text)
            } else {
                Text::Hidden
            });
        } else if key.on(&COMPUTED_KEYS) && has(&CODE_MARKS) {
            self.texts.push(Text::Hidden);
        }
    }

    /// Looks at arguments that are written as a text: `"{\"method\":\"POST\"}"`.
    fn json(&mut self, text: &str) {
        let Ok(Value::Object(map)) = serde_json::from_str::<Value>(text) else {
            return;
        };
        let mut inner = Orders {
            named: self.named,
            name: self.name.clone(),
            server: self.server.clone(),
            found: Vec::new(),
            texts: Vec::new(),
            in_text: true,
            variables: Vec::new(),
        };
        // One text inside another is looked at no further.
        inner.object(map.iter(), &map, DEPTH_MAX);
        let hides = !inner.texts.is_empty();
        self.found.append(&mut inner.found);
        if evidence::changing_request(self.named, &map).is_some() {
            self.add(Effect::NetSend, "makes a request that changes something");
        }
        if hides {
            self.texts.push(Text::Hidden);
        }
    }

    /// Whether the tool asks in a language of its own, by its name or the key of the text.
    fn asks_in_language(&self, key: &Key) -> bool {
        let mut all = self.name.iter().chain(&key.words).chain(&self.server);
        all.any(|word| QUERY_LANGUAGE_WORDS.contains(word.as_str()))
    }

    fn run(&self, text: Text<'_>, (ground, knows): (&Ground, &Knows), gathered: &mut Gathered) {
        let hidden = |gathered: &mut Gathered| {
            let act = self.named.act(Effect::Exec);
            gathered
                .acts
                .push(act.because("runs code whose effects are not known"));
        };
        match text {
            Text::Shell(line) => terminal::shell(line, ground.clone(), knows, gathered),
            Text::Page(script) if page_script::only_looks(script) => {}
            Text::Page(_) | Text::Hidden => hidden(gathered),
            Text::Python(code) => {
                let mut walk = Walk::new(ground.clone(), knows);
                walk.code(Role::Snippet(Lang::PYTHON), &word(code), &self.named.whole);
                gathered.absorb(walk);
            }
        }
    }

    /// Returns the command lines that a tool named after a program may run: what looks like an option,
    /// or holds signs of a shell, is handed to the program as it stands.
    fn wrapped(&self, args: &Map<String, Value>) -> Vec<String> {
        let is_program = |it: &&String| WRAPPED_PROGRAMS.contains(it.as_str());
        let mut all = self.name.iter().chain(&self.server);
        let Some(program) = all.find(is_program) else {
            return Vec::new();
        };
        let has_subs = knowledge::program(program).is_some_and(|known| known.has_subs);
        let mut behind = self.name.iter().skip_while(|it| *it == program);
        let sub = behind.next().filter(|_| has_subs);
        let start = format!("{program} {}", sub.map_or("", String::as_str));
        let mut lines = Vec::new();
        for (key, value) in args {
            let key = Key::new(key);
            if key.on(&PROSE_KEYS) || key.on(&SEARCH_KEYS) {
                continue;
            }
            let mut given = String::new();
            super::arguments::each_text(value, &mut |_, text| {
                let is_option = text.starts_with('-') && text.len() > 1;
                if is_option
                    || text.contains("::")
                    || text.contains("&&")
                    || text.contains(SHELL_SIGNS)
                {
                    given.push(' ');
                    given.push_str(&if value.is_array() {
                        quoted(text)
                    } else {
                        text.to_owned()
                    });
                }
            });
            if !given.is_empty() {
                lines.push(format!("{start}{given}"));
                // Many tools that are called `grep` run a faster program with options of its own.
                if program == "grep" {
                    lines.push(format!("rg{given}"));
                }
            }
            if program == "git" && key.on(&REPOSITORY_KEYS) {
                let directory = value.as_str().unwrap_or_default();
                lines.push(format!(
                    "git -C {} {}",
                    quoted(directory),
                    sub.map_or("status", String::as_str)
                ));
            }
        }
        lines
    }
}

/// Signs with which a text for a program becomes a command of its own where a shell reads it.
const SHELL_SIGNS: [char; 5] = [';', '|', '`', '\n', '$'];

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Whether a word is a verb that changes something and not a way to say how something is shown.
fn acts(word: &str) -> bool {
    is_deed(word) && !OPTION_VERBS.contains(word)
}

fn updates(word: &str) -> bool {
    UPDATE_OPERATORS.contains(word)
}

/// Whether a text is a web request as it goes over the wire, and changes something.
fn is_request(text: &str) -> bool {
    let mut words = text.split(' ');
    let method = words.next().unwrap_or("");
    let rest = text.lines().next().unwrap_or("");
    ["POST", "PUT", "PATCH", "DELETE"].contains(&method) && rest.contains(" HTTP/")
}

/// Whether a query holds a word that changes something.
fn writes(text: &str) -> bool {
    let mut words = text.split(|letter: char| !letter.is_ascii_alphanumeric());
    words.any(|word| {
        WRITING_QUERY_WORDS.contains_in_any_case(word)
            || WRITING_GRAPH_WORDS.contains_in_any_case(word)
    })
}

/// The name of an argument in all its spellings.
struct Key {
    words: Vec<String>,
    joined: String,
    one: Option<String>,
    glued: String,
}

impl Key {
    fn new(key: &str) -> Self {
        let words = words(key);
        let joined = words.join("_");
        Self {
            one: singular(&joined).map(Cow::into_owned),
            glued: words.concat(),
            words,
            joined,
        }
    }

    /// Whether it is on a list.
    fn on(&self, list: &Names) -> bool {
        let is = |spelling: &String| list.contains(spelling.as_str());
        is(&self.joined) || self.one.as_ref().is_some_and(is) || is(&self.glued)
    }

    fn first(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    fn last(&self) -> &str {
        self.words.last().map_or("", String::as_str)
    }
}
