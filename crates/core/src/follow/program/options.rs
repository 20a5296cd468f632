//! Parses a command line by the option grammar of its row.
//!
//! Bundles (`-rf`), attached values (`-ofile`, `--output=file`), abbreviations (`--outp`), options
//! after operands and `--` are read as getopt would. An abbreviation that could mean several
//! options means the one that does most.

use super::lifts;
use super::network::is_index;
use super::special::holds_template_code;
use crate::follow::value::Arg;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    LOCAL_CONTEXTS, OMITTING_OPTIONS, OUTPUT_FORMS, RELEASE_WORDS, RUNNING_OPTION_WORDS,
    UNIVERSAL_OPTIONS, UNIVERSAL_SWITCHES,
};
use crate::knowledge::{Effect, Flag, Lifts, Reader, Role, Row, Style, Value};
use crate::place::HOLE;

/// An option that was given.
#[derive(Debug)]
pub(crate) struct Hit {
    /// The flag.
    pub(crate) flag: &'static Flag,
    /// The spelling it was given by, in full.
    pub(crate) name: &'static str,
    /// Its value.
    pub(crate) value: Option<Arg>,
}

impl Hit {
    /// Returns its value and what that stands for, where it has one.
    pub(crate) fn meaning(&self) -> Option<(Role, &Arg)> {
        match self.flag.value {
            Value::None => None,
            Value::Next(role) | Value::Attached(role) => Some((role, self.value.as_ref()?)),
        }
    }
}

impl Hit {
    /// Whether it says by a name kept elsewhere on which machine a command acts.
    pub(crate) fn names_context(&self) -> bool {
        self.flag.effects.contains(&Effect::Remote) && matches!(self.name, "-c" | "--context")
    }

    /// Whether its value is code of some language.
    pub(crate) fn carries_code(&self) -> bool {
        matches!(
            self.meaning(),
            Some((
                Role::Shell | Role::Command | Role::Snippet(_) | Role::Sql | Role::Code,
                _
            ))
        )
    }

    /// Whether it is `gawk -i inplace`, which changes the files that are read.
    pub(crate) fn edits_in_place(&self) -> bool {
        let loads = matches!(self.name, "-i" | "--include");
        let library = |value: &Arg| matches!(value.text.as_str(), "inplace" | "inplace.awk");
        loads && self.value.as_ref().is_some_and(library)
    }

    /// Whether the value says that it is not to happen: `--publish never`.
    pub(crate) fn says_never(&self) -> bool {
        let value = self.value.as_ref().map_or("", |value| value.text.as_str());
        matches!(value, "never" | "none" | "false" | "no" | "0")
    }

    /// Whether it names a package index that installers use by default.
    pub(crate) fn names_index(&self) -> bool {
        let address = |(role, value): (Role, &Arg)| role == Role::Url && is_index(&value.text);
        self.meaning().is_some_and(address)
    }

    /// Whether the name it gives is one that tools use for this machine.
    pub(crate) fn stays_here(&self) -> bool {
        let value = self.value.as_ref().map_or("", |value| value.text.as_str());
        LOCAL_CONTEXTS.contains(value)
    }
}

/// A command line, read.
#[derive(Debug, Default)]
pub(crate) struct Options<'a> {
    /// The options that the row lists.
    pub(crate) hits: Vec<Hit>,
    /// The words that are not options.
    pub(crate) operands: Vec<&'a Arg>,
    /// The first option that the row does not list, where it must.
    pub(crate) unknown: Option<String>,
    /// Where the words begin that are a command of their own.
    pub(crate) command: Option<usize>,
    /// Options that the row does not list, where it need not.
    pub(crate) others: u32,
    /// Where the words begin that an option such as `-exec` takes as a command.
    pub(crate) option_command: Option<usize>,
    /// What is left of the command's effect, where an option lifts it.
    pub(crate) left_over: Option<Effect>,
}

impl Options<'_> {
    /// Whether an option with one of these names was given.
    pub(crate) fn has(&self, names: &[&str]) -> bool {
        self.hits.iter().any(|hit| names.contains(&hit.name))
    }

    /// Whether one of the options of a list is given.
    pub(crate) fn has_any(&self, names: &Names) -> bool {
        self.hits.iter().any(|hit| names.contains(hit.name))
    }

    /// Returns the value of the last option with one of these names.
    pub(crate) fn value(&self, names: &[&str]) -> Option<&Arg> {
        let hit = self
            .hits
            .iter()
            .rev()
            .find(|hit| names.contains(&hit.name))?;
        hit.value.as_ref()
    }
}

/// Reads `args`, the words after the program or subcommand.
pub(crate) fn read<'a>(row: &Row, args: &'a [Arg]) -> Options<'a> {
    let mut options = Options::default();
    let mut reader = OptionReader {
        row,
        args,
        at: 0,
        place: 0,
        ended: false,
    };
    while reader.at < args.len() && options.command.is_none() {
        reader.step(&mut options);
    }
    options.left_over = lifts::left_over(row, &options.hits, args);
    if row.has_operand(Role::Sed) && takes_empty_suffix(&options) {
        options.operands.remove(0);
    }
    options
}

/// Whether the first operand is the suffix of `sed -i '' 's/a/b/' file`, as BSD takes it. To GNU it is
/// an empty script, which changes none of the files, so what follows is read as the script.
fn takes_empty_suffix(options: &Options<'_>) -> bool {
    let [first, _, _, ..] = options.operands.as_slice() else {
        return false;
    };
    let is_script = |hit: &Hit| matches!(hit.meaning(), Some((Role::Sed | Role::Script, _)));
    first.text.is_empty() && options.has(&["-i", "-I"]) && !options.hits.iter().any(is_script)
}

/// An option at the front of some words.
#[derive(Debug)]
pub(crate) struct Leading {
    /// The option, where the row lists it.
    pub(crate) hit: Option<Hit>,
    /// How many words it takes.
    pub(crate) words: usize,
    /// The option, where the row does not list it and must.
    pub(crate) unknown: Option<String>,
}

/// Reads one option at the front of `args` by the flags of `row`, or `None` if the first word is no
/// option.
pub(crate) fn leading(row: &Row, args: &[Arg]) -> Option<Leading> {
    let first = args.first()?;
    let marked = marked_flag(row, &first.text).is_some();
    if !marked && (!is_option(&first.text, row.style) || first.text == "--") {
        return None;
    }
    let mut options = Options::default();
    let mut reader = OptionReader {
        row,
        args,
        at: 0,
        place: 0,
        ended: false,
    };
    reader.step(&mut options);
    Some(Leading {
        hit: options.hits.pop(),
        words: reader.at,
        unknown: options.unknown,
    })
}

/// Returns the flag of a word that is known by its first letter: `+q` of an editor, `@file` of a
/// compiler.
fn marked_flag(row: &Row, text: &str) -> Option<(&'static Flag, &'static str)> {
    let mark = ["+", "@"].into_iter().find(|mark| text.starts_with(mark))?;
    let flag = row.flags.iter().find(|flag| flag.names.contains(&mark))?;
    Some((flag, mark))
}

fn is_option(text: &str, style: Style) -> bool {
    match style {
        Style::Plain | Style::Pairs => false,
        Style::Slash => (text.starts_with('/') || text.starts_with('-')) && text.len() > 1,
        Style::Gnu | Style::Single => text.starts_with('-') && text.len() > 1,
    }
}

struct OptionReader<'r, 'a> {
    row: &'r Row,
    args: &'a [Arg],
    at: usize,
    /// The place of the next operand in the row's list.
    place: usize,
    ended: bool,
}

impl<'a> OptionReader<'_, 'a> {
    fn step(&mut self, options: &mut Options<'a>) {
        let Some(arg) = self.args.get(self.at) else {
            return;
        };
        let text = arg.text.as_str();
        if self.ended {
            self.operand(arg, options);
        } else if text == "--" && matches!(self.row.style, Style::Gnu | Style::Single) {
            self.ended = true;
            self.at += 1;
        } else if let Some((flag, name)) = marked_flag(self.row, text) {
            options.hits.push(Hit {
                flag,
                name,
                value: Some(arg.after(1)),
            });
            self.at += 1;
        } else if self.row.style == Style::Pairs {
            self.pair(arg, options);
        } else if self.switches_off(text) {
            self.at += 1;
            if let Some((flag, name)) = self.exact(text) {
                self.take(flag, name, None, options);
            }
        } else if is_option(text, self.row.style) {
            self.at += 1;
            if let Some((flag, name)) = self.exact(text) {
                self.take(flag, name, None, options);
            } else if text.starts_with("--")
                || self.row.style != Style::Gnu
                || self.starred(text).is_some()
            {
                self.long(arg, options);
            } else {
                self.short(arg, options);
            }
        } else {
            self.operand(arg, options);
        }
    }

    fn operand(&mut self, arg: &'a Arg, options: &mut Options<'a>) {
        loop {
            match self.row.operands.get(self.place) {
                Some(place) if matches!(place.role, Role::Command | Role::Redis) => {
                    options.command = Some(self.at);
                    return;
                }
                // `env` and `sudo` take any word with a sign in it, `BASH_FUNC_ls%%=…` too.
                Some(place)
                    if place.role == Role::Assign
                        && place.many
                        && !(is_assignment(&arg.text) || is_odd_assignment(&arg.text)) =>
                {
                    self.place += 1;
                }
                Some(place) if place.role == Role::Release && !is_release(&arg.text) => {
                    self.place += 1;
                }
                // `onchange 'src/**' -- make`: the dashes say where the command begins.
                Some(place) if place.many && self.ended && self.is_command_next() => {
                    self.place += 1;
                }
                Some(place) if place.many => {
                    // What follows the first word of a command is the command's own.
                    self.ended |=
                        place.role == Role::Shell && self.row.reader == Some(Reader::Eval);
                    break;
                }
                Some(place) => {
                    self.place += 1;
                    // What follows a script is the script's own.
                    self.ended |= matches!(place.role, Role::Script | Role::Awk);
                    break;
                }
                None => break,
            }
        }
        options.operands.push(arg);
        self.at += 1;
    }

    fn is_command_next(&self) -> bool {
        let next = self.row.operands.get(self.place + 1);
        next.is_some_and(|operand| operand.role == Role::Command)
    }

    /// Whether a word is an option that a shell switches off: `+e`, `+eu`.
    fn switches_off(&self, text: &str) -> bool {
        let listed = |letter: char| {
            self.row
                .flags
                .iter()
                .flat_map(|flag| flag.names)
                .any(|name| {
                    name.strip_prefix('+')
                        .is_some_and(|known| known.chars().eq([letter]))
                })
        };
        text.strip_prefix('+')
            .is_some_and(|letters| !letters.is_empty() && letters.chars().all(listed))
    }

    fn exact(&self, text: &str) -> Option<(&'static Flag, &'static str)> {
        self.row.flags.iter().find_map(|flag| {
            let name = flag.names.iter().find(|name| **name == text)?;
            Some((flag, *name))
        })
    }

    fn pair(&mut self, arg: &'a Arg, options: &mut Options<'a>) {
        let key = arg
            .text
            .split_once('=')
            .map_or(arg.text.as_str(), |(key, _)| key);
        match self.exact(key) {
            Some((flag, name)) => {
                options.hits.push(Hit {
                    flag,
                    name,
                    value: Some(arg.after(key.len() + 1)),
                });
                self.at += 1;
            }
            None if self.row.closed && self.row.operands.is_empty() => {
                options.unknown.get_or_insert_with(|| arg.shown());
                self.at += 1;
            }
            None => self.operand(arg, options),
        }
    }

    /// Takes `flag`, whose attached value is `attached`.
    fn take(
        &mut self,
        flag: &'static Flag,
        name: &'static str,
        attached: Option<Arg>,
        options: &mut Options<'a>,
    ) {
        if flag.value == Value::Next(Role::Command) && attached.is_none() {
            options.option_command.get_or_insert(self.at);
            options.hits.push(Hit {
                flag,
                name,
                value: None,
            });
            self.at = self.args.len();
            return;
        }
        let value = match (flag.value, attached) {
            (_, Some(value)) => Some(value),
            (Value::Next(_), None) => {
                let next = self.args.get(self.at).cloned();
                self.at += 1;
                next
            }
            (Value::None | Value::Attached(_), None) => None,
        };
        options.hits.push(Hit { flag, name, value });
        self.ended |= flag.last;
    }

    /// Returns the option whose listed name has a star and begins this word, and where its value
    /// begins, as in `-javaagent:file`.
    fn starred(&self, text: &str) -> Option<(&'static Flag, &'static str, usize)> {
        self.row.flags.iter().find_map(|flag| {
            let mut starts = flag
                .names
                .iter()
                .map(|name| (name, value_start(name, text)));
            let (name, start) = starts.find_map(|(name, start)| Some((*name, start?)))?;
            Some((flag, name, start))
        })
    }

    fn long(&mut self, arg: &Arg, options: &mut Options<'a>) {
        let text = arg.text.as_str();
        if let Some((flag, name, start)) = self.starred(text) {
            self.take(flag, name, Some(arg.after(start)), options);
            return;
        }
        let (name, attached) = match text.split_once(if self.row.style == Style::Slash {
            [':', '=']
        } else {
            ['=', '=']
        }) {
            Some((name, _)) => (name, Some(arg.after(name.len() + 1))),
            None => (text, None),
        };
        let bare = name.trim_start_matches(['-', '/']);
        let same = |known: &&&'static str| {
            **known == name
                || self.row.style != Style::Gnu
                    && known
                        .trim_start_matches(['-', '/'])
                        .eq_ignore_ascii_case(bare)
        };
        let found = self
            .row
            .flags
            .iter()
            .find_map(|flag| Some((flag, *flag.names.iter().find(same)?)));
        if let Some((flag, name)) = found {
            self.take(flag, name, attached, options);
            return;
        }
        // A unique beginning is enough for getopt, and several count as the worst of them.
        let begins = |known: &&&'static str| {
            name.len() > 2 && known.starts_with("--") && known.starts_with(name)
        };
        let abbreviated = self
            .row
            .flags
            .iter()
            .filter(|flag| flag.lifts == Lifts::Nothing && !flag.help)
            .filter_map(|flag| Some((flag, *flag.names.iter().find(begins)?)))
            .max_by_key(|(flag, _)| flag_weight(flag));
        match abbreviated {
            Some((flag, name)) if self.row.style == Style::Gnu => {
                let at = self.at;
                self.take(flag, name, attached, options);
                // It may as well be an option of its own that is not listed (`--lf` beside `--lfnf`),
                // and then the next word is no value: it is judged as both.
                self.at = self.at.min(at);
            }
            _ => self.other(arg, options),
        }
    }

    fn short(&mut self, arg: &Arg, options: &mut Options<'a>) {
        // Nobody who writes `-version` means seven options.
        if matches!(arg.text.as_str(), "-help" | "-version" | "-usage") {
            self.other(arg, options);
            return;
        }
        let letters: Vec<(usize, char)> = arg.text.char_indices().skip(1).collect();
        for (at, letter) in letters {
            if letter == HOLE {
                self.other(arg, options);
                return;
            }
            let mut name = String::from("-");
            name.push(letter);
            let next = at + letter.len_utf8();
            let rest = arg.text.get(next..).unwrap_or("");
            match self.exact(&name) {
                // `-hello` does not ask for help.
                Some((flag, _)) if flag.help && arg.text.len() > 2 => self.other(arg, options),
                Some((flag, name)) if flag.value == Value::None => {
                    self.take(flag, name, None, options);
                }
                Some((flag, name)) => {
                    let value = (!rest.is_empty())
                        .then(|| arg.after(next + usize::from(rest.starts_with('='))));
                    self.take(flag, name, value, options);
                    return;
                }
                None if letter.is_ascii_digit() => return,
                // `-n=false`: a value, where the option takes none.
                None if letter == '=' => {
                    self.other(arg, options);
                    return;
                }
                None if self.row.closed => {
                    self.other(arg, options);
                    return;
                }
                None => options.others += 1,
            }
        }
    }

    /// Whether an option that the row does not list says the same of every program: how much is shown, in which
    /// form, how long is waited. Only of programs that look, build or test; the value is a number or a form.
    fn means_the_same_everywhere(&mut self, arg: &Arg) -> bool {
        let quiet = self.row.does <= Effect::Build
            || matches!(
                self.row.does,
                Effect::Project | Effect::Install | Effect::Start
            );
        if !self.row.closed || !quiet || arg.vague() || arg.glob {
            return false;
        }
        let (name, attached) = match arg.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (arg.text.as_str(), None),
        };
        if UNIVERSAL_SWITCHES.contains(name) {
            return attached.is_none_or(is_plain_value);
        }
        if !UNIVERSAL_OPTIONS.contains(name) {
            return false;
        }
        if let Some(value) = attached {
            return is_plain_value(value);
        }
        let next = self.args.get(self.at);
        let takes = next.is_some_and(|next| !next.vague() && is_plain_value(&next.text));
        self.at += usize::from(takes);
        takes
    }

    fn other(&mut self, arg: &Arg, options: &mut Options<'a>) {
        // Where it does not end the command it changes nothing either.
        if arg.text == "--help" {
            return;
        }
        options.others += 1;
        if self.means_the_same_everywhere(arg) {
            return;
        }
        // A glob could turn into an option that matters. And whatever the program, an option that
        // speaks of running something is not harmless because nobody listed it.
        let option = arg.text.split('=').next().unwrap_or("");
        let speaks = option.starts_with("--")
            // No option has a blank in its name: `echo "--- the script ---"` is text.
            && !option.contains(char::is_whitespace)
            && !OMITTING_OPTIONS
                .iter()
                .any(|start| option.starts_with(start))
            && RUNNING_OPTION_WORDS
                .iter()
                .any(|word| option.contains(word));
        if self.row.closed || arg.glob || speaks || holds_template_code(&arg.text) {
            options.unknown.get_or_insert_with(|| arg.shown());
        }
    }
}

/// Whether a word is a number, a time or the name of a form of output.
fn is_plain_value(text: &str) -> bool {
    let number = text.starts_with(|first: char| first.is_ascii_digit())
        && text.len() <= 12
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b':' | b'%'));
    number || OUTPUT_FORMS.contains(text)
}

/// Returns where the value begins in a word that a listed name with a star stands for:
/// `-javaagent:*` and `-B*` are followed by it, `-fdump-*=` by more of the name and a sign.
fn value_start(name: &str, text: &str) -> Option<usize> {
    if let Some(stem) = name.strip_suffix("*=") {
        return text
            .starts_with(stem)
            .then(|| text.find('='))
            .flatten()
            .map(|sign| sign + 1);
    }
    let stem = name.strip_suffix('*')?;
    text.starts_with(stem).then_some(stem.len())
}

/// Whether a word reads `NAME=value`.
pub(crate) fn is_assignment(text: &str) -> bool {
    let Some((name, _)) = text.split_once('=') else {
        return false;
    };
    let mut bytes = name.bytes();
    bytes
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_')
        && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether a word sets a variable by a name that only `env` accepts.
fn is_odd_assignment(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        !name.is_empty() && !name.starts_with('-') && !name.contains(['/', ' '])
    })
}

/// Whether a word reads like a version and not like a program: `20`, `v18.2`, `lts/*`, `node@22`.
fn is_release(text: &str) -> bool {
    let number = text.strip_prefix('v').unwrap_or(text);
    number.starts_with(|first: char| first.is_ascii_digit())
        || text.starts_with("lts/")
        || text.contains('@') && !text.contains('/')
        || RELEASE_WORDS.contains(text)
}

/// How much giving an option can do, for choosing among abbreviations.
fn flag_weight(flag: &Flag) -> (Option<Effect>, Role) {
    let role = match flag.value {
        Value::None => Role::Text,
        Value::Next(role) | Value::Attached(role) => role,
    };
    (flag.effects.iter().max().copied(), role)
}
