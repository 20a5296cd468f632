//! The grammar of the rows of programs: turns the words of a column into values.
//!
//! The build script reads our tables with the same file, and the owner's rows are read with it when a
//! configuration loads, so a row means the same wherever it stands. `knowledge/README.md` explains it.

use super::vocabulary::{Effect, Role, Style};

/// What an option takes away from what a command does. Each names the effect that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifts {
    /// It takes nothing away.
    Nothing,
    /// The command only says what it would do, whatever the other options ask for.
    Dry(Effect),
    /// The command shows something instead, unless another option changes something.
    Shows(Effect),
    /// The command shows numbers or names instead of what the files it reads hold.
    Counts,
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// It takes none.
    None,
    /// The rest of its word, or the next word.
    Next(Role),
    /// The rest of its word, if there is any.
    Attached(Role),
}

/// One place for words that are not options.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The role of the word.
    pub role: Role,
    /// Whether any number of words may stand here.
    pub many: bool,
}

/// The columns that the rows of programs and subcommands share, as they are written.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'r> {
    /// What it does; empty where nothing is said.
    pub does: &'r str,
    /// `any` or `listed`; empty where nothing is said.
    pub options: &'r str,
    /// The manual all options were looked up in.
    pub manual: &'r str,
    /// How options are written; empty where nothing is said.
    pub style: &'r str,
    /// The options that matter, one line each.
    pub flags: &'r [String],
    /// The roles of the words that are not options.
    pub operands: &'r str,
}

/// The same columns, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// What running it does before its words are looked at.
    pub does: Effect,
    /// Whether an option that is not listed makes the command a question.
    pub closed: bool,
    /// How options are written.
    pub style: Style,
    /// The options that matter.
    pub flags: Vec<FlagLine>,
    /// The roles of the operands.
    pub operands: Vec<Operand>,
}

/// One line of `flags`, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlagLine {
    /// The spellings of the option, dashes included.
    pub names: Vec<String>,
    /// Whether it takes a value, and what that stands for.
    pub value: Value,
    /// What giving it does.
    pub effects: Vec<Effect>,
    /// What the command no longer does when it is given.
    pub lifts: Lifts,
    /// Whether the command then only prints help or a version.
    pub help: bool,
    /// Whether it is the last option.
    pub last: bool,
}

/// A column that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// The column.
    pub column: &'static str,
    /// Which line of the column, where it has several.
    pub line: Option<usize>,
    /// What is wrong with it.
    pub what: String,
}

impl Misread {
    fn new(column: &'static str, what: impl Into<String>) -> Self {
        Self {
            column,
            line: None,
            what: what.into(),
        }
    }
}

/// Reads the columns of a row. `role` knows the words for roles, which include the names of
/// scripting languages.
pub fn read(
    columns: &Columns<'_>,
    role: &dyn Fn(&str) -> Option<Role>,
) -> Result<Meaning, Misread> {
    if columns.does.is_empty() {
        return Err(Misread::new("does", "`does` is missing"));
    }
    let does = Effect::from_word(columns.does).ok_or_else(|| {
        let what = format!("no effect is called `{}`", columns.does);
        Misread::new("does", what)
    })?;
    let closed = match columns.options {
        "any" => false,
        "listed" | "" => true,
        other => {
            let what = format!("options is `any` or `listed`, not `{other}`");
            return Err(Misread::new("options", what));
        }
    };
    if closed && !columns.manual.is_empty() {
        let what = "a row with listed options names no `manual`";
        return Err(Misread::new("manual", what));
    }
    let style = match columns.style {
        "" => Style::Gnu,
        word => Style::from_word(word)
            .ok_or_else(|| Misread::new("style", format!("no style is called `{word}`")))?,
    };
    Ok(Meaning {
        does,
        closed,
        style,
        flags: flags(columns.flags, role)?,
        operands: operands(columns.operands, role)?,
    })
}

/// Reads the lines of `flags`.
pub fn flags(
    lines: &[String],
    role: &dyn Fn(&str) -> Option<Role>,
) -> Result<Vec<FlagLine>, Misread> {
    let mut seen = Vec::new();
    let read = lines.iter().enumerate().map(|(at, line)| {
        flag(line, &mut seen, role).map_err(|what| Misread {
            line: Some(at),
            ..Misread::new("flags", what)
        })
    });
    read.collect()
}

/// Reads one line of `flags`: names, then `=role` or `?role`, then `!effect` …
fn flag<'l>(
    line: &'l str,
    seen: &mut Vec<&'l str>,
    role: &dyn Fn(&str) -> Option<Role>,
) -> Result<FlagLine, String> {
    let mut flag = FlagLine {
        names: Vec::new(),
        value: Value::None,
        effects: Vec::new(),
        lifts: Lifts::Nothing,
        help: false,
        last: false,
    };
    for word in line.split_whitespace() {
        let wrong = || format!("cannot read the flag `{line}` at `{word}`");
        if let Some(name) = word.strip_prefix('=').filter(|name| !name.is_empty()) {
            flag.value = Value::Next(role(name).ok_or_else(wrong)?);
        } else if let Some(name) = word.strip_prefix('?').filter(|name| !name.is_empty()) {
            flag.value = Value::Attached(role(name).ok_or_else(wrong)?);
        } else if let Some(lifts) = lift(word) {
            flag.lifts = lifts.map_err(|()| wrong())?;
        } else if word == "!help" {
            flag.help = true;
        } else if word == "!last" {
            flag.last = true;
        } else if let Some(effect) = word.strip_prefix('!') {
            let effect = Effect::from_word(effect).ok_or_else(wrong)?;
            flag.effects.push(effect);
        } else {
            if seen.contains(&word) {
                return Err(format!("the flag `{word}` is listed twice"));
            }
            seen.push(word);
            flag.names.push(word.to_owned());
        }
    }
    if flag.names.is_empty() {
        return Err(format!("the flag line `{line}` has no name"));
    }
    Ok(flag)
}

/// Reads `!dry`, `!dry=effect`, `!shows`, `!shows=effect` and `!counts`. Returns `None` for any other word.
fn lift(word: &str) -> Option<Result<Lifts, ()>> {
    if word == "!counts" {
        return Some(Ok(Lifts::Counts));
    }
    let (mark, leaves) = word.split_once('=').unwrap_or((word, "inspect"));
    let lifts = match mark {
        "!dry" => Lifts::Dry,
        "!shows" => Lifts::Shows,
        _ => return None,
    };
    Some(Effect::from_word(leaves).map(lifts).ok_or(()))
}

/// Reads the places for words, such as `text read*`.
pub fn operands(words: &str, role: &dyn Fn(&str) -> Option<Role>) -> Result<Vec<Operand>, Misread> {
    let read = words.split_whitespace().map(|word| {
        let (word, many) = word
            .strip_suffix('*')
            .map_or((word, false), |word| (word, true));
        let wrong = || Misread::new("operands", format!("no role is called `{word}`"));
        let role = role(word).ok_or_else(wrong)?;
        Ok(Operand { role, many })
    });
    read.collect()
}

/// Adds the options of a program that may stand anywhere. What a row says itself about one of them
/// counts for that row.
pub fn with_everywhere<'t>(
    flags: &[String],
    everywhere: impl IntoIterator<Item = &'t String>,
) -> Vec<String> {
    let is_name = |word: &&str| !word.starts_with(['=', '?', '!']);
    let mut all = flags.to_vec();
    for line in everywhere {
        let own: Vec<&str> = all
            .iter()
            .flat_map(|line| line.split_whitespace())
            .collect();
        let words = line.split_whitespace();
        let words: Vec<&str> = words
            .filter(|word| !(is_name(word) && own.contains(word)))
            .collect();
        if words.iter().any(is_name) {
            let line = words.join(" ");
            all.push(line);
        }
    }
    all
}
