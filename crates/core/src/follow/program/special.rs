//! Arguments that look like files but are not, and arguments that name a file without looking like
//! one.
//!
//! Many programs open more than files: `|command`, `%pipe%command`, an address, several names at once
//! (`a|b`), or a word whose beginning says what the rest is (`msl:script`, which a row lists as
//! `msl:*`). Whatever a row takes for a file is looked at here first.

use super::network::file_of;
use super::network::is_own_server;
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{FILTER_INPUTS, FILTER_OUTPUTS, LOADING_FILTERS, STORE_RUNNING};
use crate::knowledge::{Effect, Flag, Role, Row, Value};

/// Beginnings of words that hand a stream to a command, in place of a file.
const COMMAND_MARKS: &[&str] = &["|", "%pipe%"];

/// Names in one word that are judged; a word with more is put to a person.
const NAMES_MAX: usize = 64;

impl Walk<'_> {
    /// Judges a word that is no file where one is expected. Returns `None` if it is a file.
    pub(super) fn no_file(
        &mut self,
        role: Role,
        arg: &Arg,
        row: &'static Row,
        dry: bool,
    ) -> Option<Taint> {
        if arg.delivers.is_some() {
            return None;
        }
        if role == Role::Load {
            // A page of this machine's own server is shown, and no code of it runs outside the browser.
            let is_page = ["http://", "https://"]
                .iter()
                .any(|it| arg.text.starts_with(it));
            if row.name == "open" && is_page && is_own_server(&arg.text) && !arg.vague() {
                return Some(Taint::default());
            }
            // Where code or settings are expected, only switches of Windows are something else.
            let (flag, stem) =
                listed_beginning(row, &arg.text).filter(|(_, it)| it.starts_with('/'))?;
            return Some(self.begins_with(flag, &arg.after(stem.len()), row, dry));
        }
        if role == Role::Shell {
            // `concurrently npm:dev`: a word that stands for a command, and is none.
            let (flag, stem) = listed_beginning(row, &arg.text)?;
            let script = arg.after(stem.len());
            if !names_script(&script) {
                return None;
            }
            self.runs_script(stem, &script);
            return Some(self.begins_with(flag, &script, row, dry));
        }
        if !(is_read(role) || is_written(role)) {
            return None;
        }
        // `https:` of an address says nothing about which way it goes.
        let address = is_address(arg);
        let decided = |flag: &Flag| !(address && flag.value == Value::Next(Role::UrlSend));
        match listed_beginning(row, &arg.text) {
            Some((flag, stem)) if decided(flag) => {
                Some(self.begins_with(flag, &arg.after(stem.len()), row, dry))
            }
            Some(_) | None => self.other_than_file(role, arg, row, dry),
        }
    }

    /// Judges a script by the command that `npm:dev` stands for: `npm run dev`.
    fn runs_script(&mut self, stem: &str, script: &Arg) {
        let (runner, verb) = match stem.trim_end_matches(':') {
            "deno" => ("deno", "task"),
            // `node --run` runs the same scripts.
            "node" => ("npm", "run"),
            runner => (runner, "run"),
        };
        let word = |text: &str| Arg::literal(text, script.span);
        self.dispatch(
            &[word(runner), word(verb), script.clone()],
            &Stream::default(),
        );
    }

    /// Judges a word by what the row says about its beginning.
    fn begins_with(&mut self, flag: &Flag, rest: &Arg, row: &'static Row, dry: bool) -> Taint {
        for effect in flag.effects.iter().filter(|_| !dry) {
            let act = Act::new(*effect, row.name, self.here(rest.span));
            self.note(act.on(rest.shown()));
        }
        match flag.value {
            Value::None => rest.taint,
            Value::Next(role) | Value::Attached(role) => {
                let other = self.other_than_file(role, rest, row, dry);
                other.unwrap_or_else(|| self.role_as_is(role, rest, row, &Stream::default(), dry))
            }
        }
    }

    /// Judges a command, an address or several names in place of a file.
    fn other_than_file(
        &mut self,
        role: Role,
        arg: &Arg,
        row: &'static Row,
        dry: bool,
    ) -> Option<Taint> {
        if let Some(command) = command_of(arg, role) {
            self.hook(&command, row.name);
            let act = Act::new(Effect::Exec, row.name, self.here(arg.span))
                .because("takes a command for a file");
            self.note(act.on(arg.shown()));
            return Some(arg.taint);
        }
        if let Some(path) = file_of(&arg.text).filter(|_| is_read(role) || is_written(role)) {
            let path = Arg::literal(path, arg.span);
            return Some(self.role_as_is(role, &path, row, &Stream::default(), dry));
        }
        if is_address(arg) && matches!(role, Role::Read | Role::Edit) {
            return Some(self.fetches(arg, row.name));
        }
        if is_address(arg) && is_written(role) {
            if !dry {
                self.sends_to(&Arg::literal(address_in(&arg.text), arg.span), row.name);
            }
            return Some(arg.taint);
        }
        self.several_files(role, arg, row, dry)
    }

    /// Judges each of the names in one word: `a.mkv|[f=mpegts]b.ts`.
    fn several_files(
        &mut self,
        role: Role,
        arg: &Arg,
        row: &'static Row,
        dry: bool,
    ) -> Option<Taint> {
        if !arg.text.contains('|') || !(is_read(role) || is_written(role)) {
            return None;
        }
        if arg.text.matches('|').count() >= NAMES_MAX {
            self.unreadable("an argument names too many files to check", arg.span);
        }
        let mut taint = arg.taint;
        for name in arg.text.split('|').take(NAMES_MAX) {
            let name = name.trim();
            let name = match name.split_once(']') {
                Some((options, name)) if options.starts_with('[') => name,
                Some(_) | None => name,
            };
            if !name.is_empty() {
                let name = Arg::literal(name, arg.span);
                taint = taint.and(self.role(role, &name, row, &Stream::default(), dry));
            }
        }
        Some(taint)
    }

    /// Judges a text that names a file, or prints fields and may hold code: `${name;code}`.
    pub(super) fn template_text(&mut self, arg: &Arg, program: &'static str) -> Taint {
        if holds_template_code(&arg.text) {
            self.unreadable("runs code from inside a template", arg.span);
            return arg.taint;
        }
        self.reads(arg, program)
    }

    /// Judges the name of a format, in place of which some programs take a script.
    pub(super) fn format_name(&mut self, arg: &Arg, row: &'static Row) -> Taint {
        let is_file = arg.text.contains(['/', '.', '\\']) || arg.vague();
        if is_file {
            return self.role(Role::Script, arg, row, &Stream::default(), false);
        }
        arg.taint
    }

    /// Judges a chain of filters for sound or pictures: some load libraries, read or write files.
    pub(super) fn filters(&mut self, arg: &Arg, program: &'static str) {
        let mut names = arg.text.split(|letter: char| !is_name_letter(letter));
        if names.any(|name| LOADING_FILTERS.contains(name)) {
            let act = Act::new(Effect::Exec, program, self.here(arg.span))
                .because("a filter that loads a library or takes commands");
            self.note(act.on(arg.shown()));
        }
        for option in arg.text.split([':', ',', ';', '[', ']']).take(NAMES_MAX) {
            let Some((key, value)) = option.rsplit_once('=') else {
                continue;
            };
            let key = key.rsplit('=').next().unwrap_or(key);
            let file = Arg::literal(value.trim_matches(['\'', '"']), arg.span);
            if FILTER_OUTPUTS.contains(key) {
                self.writes(&file, program, Writing::Replace);
            } else if FILTER_INPUTS.contains(key) {
                self.reads(&file, program);
            }
        }
    }

    /// Judges a place in a store: `remote:path`, `:backend,option=value:path`, or a local path.
    pub(super) fn store_place(&mut self, arg: &Arg, program: &'static str) -> Taint {
        let text = arg.text.as_str();
        let bare = text.strip_prefix(':').unwrap_or(text);
        let backend = bare.split([',', ':']).next().unwrap_or(bare);
        // A path of this machine has no remote before its colon.
        if backend.is_empty() || backend.contains('/') || !bare.contains(':') {
            return self.reads(arg, program);
        }
        for option in bare.split(',').skip(1) {
            let key = option.split('=').next().unwrap_or(option).to_lowercase();
            if STORE_RUNNING.iter().any(|end| key.ends_with(end)) {
                let act = Act::new(Effect::Exec, program, self.here(arg.span))
                    .because("an address that runs a command");
                self.note(act.on(arg.shown()));
            } else if STORE_NESTING.contains(&key.as_str()) {
                self.unreadable("an address made of other addresses", arg.span);
            }
        }
        if bare.len() < text.len() && matches!(backend, "local" | "alias") {
            let path = bare.rsplit(':').next().unwrap_or("");
            return self.reads(&Arg::literal(path, arg.span), program);
        }
        arg.taint
    }
}

/// Whether a word is the name of a script, or a pattern of such names, to a shell as well.
fn names_script(word: &Arg) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b":_.*-".contains(&byte);
    !word.vague()
        && word.text.bytes().all(plain)
        && !word.text.starts_with('-')
        && !word.text.is_empty()
}

/// Returns the flag of the row that says what a word beginning like this stands for.
fn listed_beginning(row: &'static Row, text: &str) -> Option<(&'static Flag, &'static str)> {
    row.flags.iter().find_map(|flag| {
        let stem = flag.names.iter().find_map(|name| {
            let stem = name.strip_suffix('*')?;
            // No file is called `/p:x`.
            let word =
                !stem.starts_with(['-', '+', '/']) || stem.starts_with('/') && stem.ends_with(':');
            let head = text.get(..stem.len())?;
            (word && !stem.is_empty() && head.eq_ignore_ascii_case(stem)).then_some(stem)
        })?;
        Some((flag, stem))
    })
}

/// Whether a word of this role names a file whose content is used.
fn is_read(role: Role) -> bool {
    matches!(role, Role::Read | Role::Upload | Role::Move)
}

/// Whether a word of this role names a file that is made or changed.
fn is_written(role: Role) -> bool {
    matches!(role, Role::Write | Role::Edit | Role::Create | Role::Empty)
}

fn is_address(arg: &Arg) -> bool {
    arg.text.contains("://")
}

/// Returns the command that a word stands for in place of a file.
fn command_of(arg: &Arg, role: Role) -> Option<Arg> {
    let text = arg.text.as_str();
    let marked = COMMAND_MARKS.iter().find(|mark| text.starts_with(**mark));
    let command = if let Some(mark) = marked.filter(|_| is_read(role) || is_written(role)) {
        arg.after(mark.len())
    } else if is_read(role) {
        // `cmd |`: Perl opens such a name by running it.
        Arg::literal(text.trim_end().strip_suffix('|')?, arg.span)
    } else if is_written(role) {
        text.strip_prefix('!')?;
        arg.after(1)
    } else {
        return None;
    };
    // What separates columns runs nothing: `-d '|'`.
    let named = command.text.contains(char::is_alphanumeric) || command.vague();
    named.then_some(command)
}

/// Returns the part of a word that is an address: `tcp://x` of `a.mkv|[f=mpegts]tcp://x`.
fn address_in(text: &str) -> &str {
    let parts = text.split(['|', ']', ',', ' ', '\'', '"']);
    let mut addresses = parts.filter(|part| part.contains("://"));
    addresses.next().unwrap_or(text)
}

/// Whether a template has code in it: `${FileName;s/a/b/}`.
pub(super) fn holds_template_code(text: &str) -> bool {
    text.split("${")
        .skip(1)
        .any(|field| field.split('}').next().unwrap_or(field).contains(';'))
}

fn is_name_letter(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// Options of a store whose value is another store.
const STORE_NESTING: &[&str] = &["remote", "upstreams"];
