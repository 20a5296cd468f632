//! Unknown programs: what can be inferred from their arguments.
//!
//! Asking a program what it is, to show something or to build or test the project is inferred from
//! the table `unknown` of `verbs.toml`. One word that could mean more, one address or one sensitive
//! place, and nothing is inferred. A name that is a phrase itself (`x-theme-list`) counts like words.

use super::resolve::{Named, resolve};
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, is_secret_name};
use crate::knowledge::names::{
    ASKED_ADDRESSES, DESKTOP_NAME_WORDS, DESKTOP_PARTS, DESTROYING_NAME_WORDS, LISTED_NOUNS,
    LOOKING_COMMAND_ENDS, LOOKING_NAME_ENDS, LOOKING_NAME_VERBS, QUERYING_WORDS, QUESTION_WORDS,
    READING_DOT_COMMANDS, READING_QUERY_WORDS, SELECTING_OPTIONS, SHOWN_FORMATS, TELLING_VERBS,
    WRITING_QUERY_WORDS,
};
use crate::knowledge::{self, Effect, Verbs};
use crate::language::{self, Deed};
use crate::score::Score;
use crate::shell::syntax::Span;

/// How many of the leading words can say what is asked for.
const LEADING_WORDS: u32 = 3;
/// How many words name a command of a program whose help is asked for.
const COMMAND_WORDS: usize = 4;
/// Parts of one word that are looked at.
const PARTS_MAX: usize = 8;
/// Programs behind a verb that are looked at.
const STARTED_MAX: usize = 3;
/// How sensitive a place may be that an unknown program is pointed to.
const SENSITIVE: Score = Score::new(600);

impl Walk<'_> {
    /// Judges a program that has no row.
    pub(super) fn unknown_program(&mut self, name: &str, first: &Arg, rest: &[Arg]) -> Stream {
        let span = self.here(first.span);
        if is_cmdlet(name) {
            let words = rest
                .iter()
                .map(|arg| language::powershell::quoted(&arg.text));
            let words = std::iter::once(name.into()).chain(words);
            let reading = language::powershell::read(&words.collect::<Vec<_>>().join(" "));
            self.deeds(&reading, name, first.span);
            self.note(Act::new(Effect::Unknown, name.to_owned(), span).on(name));
        } else if name.contains(char::is_whitespace) && !is_no_name(name) {
            // No program is called so. Whoever hands it on may give it to a shell.
            let words = std::iter::once(first).chain(rest);
            let text: Vec<&str> = words.map(|word| word.text.as_str()).collect();
            self.text(&text.join(" "), span);
            self.note(Act::new(Effect::Unknown, name.to_owned(), span).on(name));
        } else if self.is_lone_option(name)
            || asks_what_it_is(rest) && !is_telling_name(name)
            || is_no_name(name)
            || is_foreign_assignment(name, rest)
        {
            self.note(Act::new(Effect::Inspect, name.to_owned(), span));
        } else if let Some(effect) = self
            .inferred_with(self.said_by_installed(name), rest)
            .filter(|_| !is_telling_name(name))
        {
            self.may_start(rest);
            if self.scope.brought.variables {
                self.note_shown(name, span);
            }
            self.note_inferred(effect, name, span);
        } else if let Some(script) = self
            .runs_own_script(first, rest)
            .filter(|_| !is_telling_name(name))
        {
            self.telling_words(&script, &[]);
            self.script_with(&script, "", Vec::new());
            self.note_inferred(Effect::Project, name, span);
        } else if self.is_own_program(name) && self.hands_on_nothing_hidden(rest) {
            self.telling_words(first, rest);
            self.takes_up_sources(first.span);
            self.note_inferred(Effect::Project, name, span);
        } else if self.scope.brought.functions
            && is_function_name(name)
            && self.hands_on_nothing_hidden(rest)
        {
            // The script that was loaded is the project's, and so are the functions in it.
            self.telling_words(first, rest);
            self.note_inferred(Effect::Project, name, span);
        } else {
            self.note(Act::new(Effect::Unknown, name.to_owned(), span).on(name));
        }
        Stream::unknown(Taint::default())
    }

    /// Returns what the name of an installed program says. A package that the same command fetches
    /// may be anybody's, under any name: `npx x-status`.
    fn said_by_installed(&self, name: &str) -> Option<Effect> {
        said_by_name(name).filter(|_| !self.fetched)
    }

    /// Whether a text begins with an option: a line that has lost the command before it. A shell
    /// answers that it does not know it, and nothing has run yet.
    fn is_lone_option(&self, name: &str) -> bool {
        name.starts_with('-') && self.is_first_word()
    }

    /// Notes what was inferred, which is never as sure as what is known.
    pub(super) fn note_inferred(&mut self, effect: Effect, name: &str, span: Span) {
        let mut act = Act::new(effect, name.to_owned(), span).on(name);
        act.certainty = Score::new(760);
        self.note(act);
    }

    /// Infers what an unknown program does from its words: `x list`, `x describe y` and `x --list`
    /// only look.
    pub(super) fn inferred(&mut self, rest: &[Arg]) -> Option<Effect> {
        self.inferred_with(None, rest)
    }

    /// The same, where the name of the program has already said something.
    fn inferred_with(&mut self, said: Option<Effect>, rest: &[Arg]) -> Option<Effect> {
        let table = knowledge::verbs("unknown")?;
        let queries = rest.last().is_some_and(is_reading_query);
        let mut found = said.or_else(|| lists_a_noun(rest).then_some(Effect::Inspect));
        let shown = names_a_thing(table, rest);
        let mut leading = 0_u32;
        let mut addressed = false;
        for (at, arg) in rest.iter().enumerate() {
            let is_option = arg.text.starts_with('-');
            leading += u32::from(!is_option);
            if arg.vague() && leading <= LEADING_WORDS || arg.taint.secret || arg.delivers.is_some()
            {
                return None;
            }
            if queries && at + 1 == rest.len() {
                break;
            }
            if queries && at + 2 == rest.len() && QUERYING_WORDS.contains(arg.text.as_str()) {
                found = found.or(Some(Effect::Inspect));
                continue;
            }
            // Nobody knows what it does with what it is shown.
            let against = speaks_against(table, &arg.text)
                && shown != Some(at)
                && !says_format(rest, at)
                && !selects(rest, at);
            if is_code(&arg.text)
                || against
                || points_away(rest, at)
                || self.is_sensitive(&arg.text)
            {
                return None;
            }
            addressed |= arg.text.contains("://");
            // An option can be what is asked for only when it stands before all other words.
            let can_ask = if is_option {
                // `--help=false` asks for nothing.
                let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
                leading == 0 && (value.is_empty() || !QUESTION_WORDS.contains(name))
            } else if QUESTION_WORDS.contains(arg.text.as_str()) {
                // `x delete y help` is no question about x.
                leading == 1
            } else {
                leading <= LEADING_WORDS
            };
            if can_ask && found.is_none() && !selects(rest, at) {
                found =
                    verb(table, &arg.text).filter(|_| arg.text != "read" || reads_file(rest, at));
                if found.is_none() && leading == 1 && !is_option && ends_in_a_look(&arg.text) {
                    found = Some(Effect::Inspect);
                }
            }
        }
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        found.filter(|effect| *effect != Effect::Build || trusted && !addressed)
    }

    /// Judges what an unknown program would start if it were a wrapper: a program that its words
    /// name before any verb, or behind dashes. `x cat status` may run `cat`, and so may
    /// `x status -- cat`.
    fn may_start(&mut self, rest: &[Arg]) {
        let Some(table) = knowledge::verbs("unknown") else {
            return;
        };
        let is_program = |arg: &Arg| knowledge::program(&arg.text).is_some();
        let before_verb = rest
            .iter()
            .take_while(|arg| arg.text != "--" && verb(table, &arg.text).is_none())
            .position(is_program);
        let behind_dashes = rest
            .iter()
            .position(|arg| arg.text == "--")
            .map(|at| at + 1)
            .filter(|at| rest.get(*at).is_some_and(is_program));
        // `x db exec "SELECT 1"` asks a database.
        let queries = rest.last().is_some_and(is_reading_query);
        let asks = |at: usize| {
            let word = rest.get(at).map_or("", |arg| arg.text.as_str());
            queries && at + 2 == rest.len() && QUERYING_WORDS.contains(word)
        };
        // `x stat curl host` may run `curl`; a program's name alone is data, a shell's is not.
        let starts = |at: &usize| {
            if asks(*at) {
                return false;
            }
            let shell = rest.get(*at).is_some_and(|arg| is_shell(&arg.text));
            rest.get(*at).is_some_and(is_program) && (shell || rest.len() > at + 1)
        };
        let behind_verb = (1..rest.len()).filter(starts).take(STARTED_MAX);
        let mut found: Vec<usize> = before_verb.into_iter().chain(behind_dashes).collect();
        found.extend(behind_verb);
        found.sort_unstable();
        found.dedup();
        for at in found {
            self.program(rest.get(at..).unwrap_or(&[]), &Stream::default());
        }
        for arg in rest.iter().filter(|arg| is_command_line(&arg.text)) {
            self.text(&arg.text, self.here(arg.span));
        }
    }

    /// Whether the words behind a runner of tasks are a task of the project, or a program of its
    /// environment that nobody knows, and none of its words speaks of more than running it.
    pub(super) fn is_own_task(&mut self, words: &[Arg]) -> bool {
        let trusted = self.ground.workspace.is_some() && self.knows.trusts_workspace;
        let (Some((task, rest)), true) = (words.split_first(), trusted) else {
            return false;
        };
        let Some(table) = knowledge::verbs("unknown") else {
            return false;
        };
        let is_name = task.text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b':')
        });
        let named = is_name
            && task
                .text
                .starts_with(|first: char| first.is_ascii_lowercase())
            && !task.vague()
            && matches!(resolve(task), Named::Unknown(_));
        named
            && !rest.iter().any(|arg| {
                arg.taint.secret
                    || arg.delivers.is_some()
                    || arg.text.contains("://")
                    || is_code(&arg.text)
                    || speaks_against(table, &arg.text)
                    || self.is_sensitive(&arg.text)
            })
    }

    /// Judges what a function of the project may run of its words: all of them, or one by itself.
    /// Returns whether nothing else in them is sensitive.
    fn hands_on_nothing_hidden(&mut self, rest: &[Arg]) -> bool {
        let starts =
            |word: Option<&str>| word.is_some_and(|word| knowledge::program(word).is_some());
        if starts(rest.first().map(|arg| arg.text.as_str())) {
            self.program(rest, &Stream::default());
        }
        for arg in rest {
            let runs = arg.text.contains(char::is_whitespace)
                && starts(arg.text.split_whitespace().next());
            if runs {
                self.text(&arg.text, self.here(arg.span));
            } else if arg.text.contains(['`', ';', '|', '&']) {
                return false;
            }
        }
        !rest
            .iter()
            .any(|arg| arg.taint.secret || arg.delivers.is_some() || self.is_sensitive(&arg.text))
    }

    /// Whether a word, or the value in it, is a place to which no unknown program is pointed.
    pub(super) fn is_sensitive(&mut self, word: &str) -> bool {
        let value = word.rsplit('=').next().unwrap_or("");
        let place = self.place(value.trim_start_matches('@'));
        let outside = place.inside != Some(true) && value.contains(['/', '~', '.']);
        place.read >= SENSITIVE || outside && !value.contains("://") && place.write >= SENSITIVE
    }
}

/// Whether the option at `at` gives an address to load something from or to send it to. What is asked
/// for may stand at an address: `--url`, `--host`.
fn points_away(rest: &[Arg], at: usize) -> bool {
    let Some(option) = rest.get(at).filter(|arg| arg.text.starts_with('-')) else {
        return false;
    };
    let (name, value) = option.text.split_once('=').unwrap_or((&option.text, ""));
    let next = rest.get(at + 1).map_or("", |arg| arg.text.as_str());
    let value = if value.is_empty() { next } else { value };
    value.contains("://") && !ASKED_ADDRESSES.contains(name.trim_start_matches('-'))
}

/// Whether a word with blanks begins with a program: whoever gets it may hand it to a shell.
fn is_command_line(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or("");
    first.len() < text.len() && knowledge::program(first).is_some()
}

/// Whether a program runs what it reads when it is given no words.
fn is_shell(name: &str) -> bool {
    matches!(name, "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish")
}

/// Whether the name of a program says that it does more than look: `k3s-uninstall.sh`. Not every
/// script stops at `--help`.
fn is_telling_name(name: &str) -> bool {
    parts(&name.to_ascii_lowercase()).any(|part| DESTROYING_NAME_WORDS.contains(part))
}

/// Whether one part of a word could mean more than looking or building.
pub(super) fn speaks_against(table: &Verbs, word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    parts(&word).any(|part| {
        table
            .effect(part)
            .is_some_and(|effect| effect >= Effect::VcsDiscard)
    })
}

/// Whether the option at `at` says in what shape something is shown, and not where it goes:
/// `-o json`, `--output=table`.
fn says_format(rest: &[Arg], at: usize) -> bool {
    let Some(arg) = rest.get(at) else {
        return false;
    };
    let (name, value) = arg.text.split_once('=').unwrap_or((&arg.text, ""));
    let value = match (value, rest.get(at + 1)) {
        ("", Some(next)) if !next.vague() => next.text.as_str(),
        _ => value,
    };
    matches!(name, "-o" | "--output" | "--out") && SHOWN_FORMATS.contains(value)
}

/// Whether the word at `at` says what is shown, although it could be an order elsewhere:
/// `auth status`, `explain --commit 1f0c2ab`.
fn selects(rest: &[Arg], at: usize) -> bool {
    let (Some(arg), Some(next)) = (rest.get(at), rest.get(at + 1)) else {
        return false;
    };
    let is_revision = |text: &str| {
        (7..=40).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    !next.vague()
        && match arg.text.as_str() {
            "auth" => next.text == "status" && at == 0,
            "--commit" => is_revision(&next.text),
            _ => false,
        }
}

/// Whether the only word that is no option, and no value of one that selects, names things that are
/// listed then: `x tools`, `x prompts --since 1d`.
fn lists_a_noun(rest: &[Arg]) -> bool {
    let selected = |at: usize| {
        let option = at.checked_sub(1).and_then(|at| rest.get(at));
        option.is_some_and(|option| SELECTING_OPTIONS.contains(option.text.as_str()))
    };
    let words = rest.iter().enumerate();
    let mut words = words.filter(|(at, arg)| !arg.text.starts_with('-') && !selected(*at));
    let only = words.next().filter(|_| words.next().is_none());
    only.is_some_and(|(_, word)| !word.vague() && LISTED_NOUNS.contains(word.text.as_str()))
}

/// Returns which word names a thing that a program is asked to tell about: `x info server/add-user`.
/// What it is called is no order.
fn names_a_thing(table: &Verbs, rest: &[Arg]) -> Option<usize> {
    let mut words = rest.iter().enumerate();
    let (_, verb) = words.next()?;
    let (at, thing) = words.find(|(_, arg)| !arg.text.starts_with('-'))?;
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'/');
    let is_name = thing.text.bytes().all(plain)
        && thing.text.contains('/')
        && thing
            .text
            .starts_with(|first: char| first.is_ascii_alphanumeric());
    let alone = words.all(|(_, arg)| arg.text.starts_with('-'));
    let tells = TELLING_VERBS.contains(verb.text.as_str())
        && table.effect(&verb.text) == Some(Effect::Inspect);
    (tells && is_name && alone && !is_secret_name(&thing.text)).then_some(at)
}

/// Returns what the name of a program says that it does: `x-theme-list` and `x-get-info` look,
/// `x-restart-panel` changes something of the desktop that comes back by itself.
fn said_by_name(name: &str) -> Option<Effect> {
    let table = knowledge::verbs("unknown")?;
    let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'0'..=b'9' | b'-' | b'_');
    let parts: Vec<&str> = name.split(['-', '_']).take(PARTS_MAX + 1).collect();
    if !name.bytes().all(plain) || !(2..=PARTS_MAX).contains(&parts.len()) {
        return None;
    }
    let (last, before) = parts.split_last()?;
    let (_, inner) = before.split_first()?;
    let means_more = |part: &&str| {
        let effect = table.effect(part);
        effect.is_some_and(|effect| effect >= Effect::VcsDiscard)
            || DESTROYING_NAME_WORDS.contains(part)
    };
    let asks = |part: &&str| LOOKING_NAME_VERBS.contains(part);
    let looks = LOOKING_NAME_ENDS.contains(last) || inner.iter().any(asks);
    if looks && !parts.iter().any(&means_more) {
        return Some(Effect::Inspect);
    }
    // All that follows the name of the family is about the desktop: one order and its objects.
    let (_, phrase) = parts.split_first()?;
    let orders = phrase
        .iter()
        .filter(|part| DESKTOP_NAME_WORDS.contains(part));
    let objects = phrase.iter().filter(|part| DESKTOP_PARTS.contains(part));
    let (orders, objects) = (orders.count(), objects.count());
    let family = parts.first().is_some_and(|part| !means_more(part));
    (family && orders == 1 && objects > 0 && orders + objects == phrase.len())
        .then_some(Effect::Setting)
}

/// Whether a word is a query that only reads, whatever program takes it. Signs by which a shell would
/// do more with it are not allowed in it: nobody knows who reads the word.
fn is_reading_query(arg: &Arg) -> bool {
    let text = arg.text.trim().trim_end_matches(';');
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").to_ascii_lowercase();
    // `.schema users` of a client of a database
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b' ' | b'.');
    if READING_DOT_COMMANDS.contains(first.as_str()) {
        return text.bytes().all(plain) && !text.get(1..).unwrap_or("").contains('.');
    }
    if arg.vague()
        || words.next().is_none()
        || !READING_QUERY_WORDS.contains(first.as_str())
        || text.contains(['`', ';', '|', '&', '>', '<', '$', '!', '\\', '\n'])
    {
        return false;
    }
    let reading = language::sql::read(text, language::sql::Dialect::Generic);
    reading.hidden.is_none()
        && !reading.deeds.is_empty()
        && reading.deeds.iter().all(|deed| *deed == Deed::DbRead)
}

/// Whether a word may be code: nobody knows in what language an unknown program is asked.
fn is_code(text: &str) -> bool {
    text.contains(['`', ';', '|']) || text.starts_with('!') || is_writing_query(text)
}

/// Whether the word behind `read` at `at` is called like a file: nobody knows what else is read.
fn reads_file(rest: &[Arg], at: usize) -> bool {
    let mut words = rest.iter().skip(at + 1);
    words
        .find(|arg| !arg.text.starts_with('-'))
        .is_some_and(|arg| {
            let name = arg.text.rsplit('/').next().unwrap_or("");
            name.trim_start_matches('.').contains('.')
        })
}

/// Returns what the beginning of a word asks for.
fn verb(table: &Verbs, word: &str) -> Option<Effect> {
    let word = word.to_ascii_lowercase();
    parts(&word).next().and_then(|part| table.effect(part))
}

/// Whether a command that is a phrase ends in what is shown: `watch-list`, `device_info`.
fn ends_in_a_look(word: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'-' | b'_');
    let end = word
        .rsplit_once(['-', '_'])
        .filter(|(before, _)| !before.is_empty());
    word.bytes().all(plain) && end.is_some_and(|(_, end)| LOOKING_COMMAND_ENDS.contains(end))
}

fn parts(word: &str) -> impl Iterator<Item = &str> {
    word.trim_start_matches('-')
        .split(['-', '_', ':', '/', '.', '='])
        .take(PARTS_MAX)
}

/// Whether a program is only asked what it is, or what one of its commands can do: that changes
/// nothing, whatever it is.
fn asks_what_it_is(rest: &[Arg]) -> bool {
    let Some((last, others)) = rest.split_last() else {
        return false;
    };
    let is_word = |arg: &Arg| {
        !arg.vague()
            && !arg.text.is_empty()
            && arg
                .text
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-' || byte == b'_')
            && !arg.text.starts_with('-')
    };
    // A wrapper would start a program that stands before other words.
    let starts = |arg: &Arg| knowledge::program(&arg.text).is_some();
    if others.is_empty() {
        QUESTION_WORDS.contains(last.text.as_str())
    } else {
        last.text == "--help"
            && others.len() <= COMMAND_WORDS
            && others.iter().all(is_word)
            && !others.iter().rev().skip(1).any(starts)
    }
}

/// Whether a name reads like a function of a script: `print_header`.
fn is_function_name(name: &str) -> bool {
    name.contains('_')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Whether it is an assignment of another language, a makefile's perhaps: `GOARCH := arm64`. A shell
/// answers that it does not know the name.
fn is_foreign_assignment(name: &str, rest: &[Arg]) -> bool {
    name.bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && rest
            .first()
            .is_some_and(|sign| matches!(sign.text.as_str(), "=" | ":=" | "::=" | "?=" | "+="))
}

/// Whether no program is called so: a line of JSON or YAML (`"model":`, `"id":1`), an option or a
/// point of a list on a line of its own (`-t,`, `@name`), a branch of a drawn tree (`├──`). A shell
/// answers that it does not know it.
fn is_no_name(name: &str) -> bool {
    let drawn = |letter: char| {
        matches!(
            letter,
            '\u{2500}'..='\u{257f}' | '•' | '…' | '→' | '✓' | '✗'
        )
    };
    let is_key = |key: &str| {
        key.len() > 1
            && key
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let member = name.split_once(':').is_some_and(|(key, value)| {
        let is_value = value.ends_with([',', '{', '[']) || value.parse::<f64>().is_ok();
        is_key(key) && (value.is_empty() || is_value)
    });
    // `{{`, `},`, `===`. Signs by which a shell repeats an older command are not among them.
    let is_sign = !name.is_empty() && name.chars().all(|sign| "{}[](),=".contains(sign));
    let is_mark = !name.contains(['/', '\\'])
        && (name.starts_with('@') || name.starts_with('-') && name.ends_with(','));
    member || is_mark || is_sign || !name.is_empty() && name.chars().all(drawn)
}

/// Whether a text is a query that changes something: `DELETE FROM users`.
fn is_writing_query(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or("").to_ascii_lowercase();
    words.next().is_some() && WRITING_QUERY_WORDS.contains(first.as_str())
}

/// Whether a name reads like a command of PowerShell: `Remove-Item`.
pub(crate) fn is_cmdlet(name: &str) -> bool {
    name.split_once('-').is_some_and(|(verb, noun)| {
        let word = |text: &str| {
            text.starts_with(|first: char| first.is_ascii_uppercase())
                && text.bytes().all(|byte| byte.is_ascii_alphabetic())
        };
        word(verb) && word(noun)
    })
}
