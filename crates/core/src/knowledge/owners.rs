//! Rows that the owner of this machine wrote for their own programs.
//!
//! They arrive with the configuration, are read by the same grammar as our tables, and stay until the
//! process ends: whoever judges keeps rows by reference, a configuration changes rarely, and only its
//! owner can change it.

use super::grammar::{self, Columns, FlagLine, Misread, with_everywhere};
use super::languages::LANGUAGES;
use super::{Flag, Program, Role, Row, verbs};

/// The programs that the owner described, sorted by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Programs(&'static [Described]);

/// A program by one of the names that the owner gave it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// The name.
    pub name: &'static str,
    /// What the owner said.
    pub program: &'static Program,
    /// Whether our tables speak about that name, too. Then what the owner said is added to what they
    /// say, so it can only tighten, and a table that learns the name later breaks no configuration.
    pub known: bool,
}

impl Programs {
    /// Returns what the owner said about the program called `name`.
    pub fn find(self, name: &str) -> Option<Described> {
        let at = self.0.binary_search_by(|known| known.name.cmp(name));
        self.0.get(at.ok()?).copied()
    }

    /// Whether the owner described none.
    pub const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// Returns each name with its program.
    pub fn iter(self) -> impl Iterator<Item = Described> {
        self.0.iter().copied()
    }
}

/// A row as the owner writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RowText {
    /// The names of the program, or of the subcommand with further words behind blanks.
    pub names: Vec<String>,
    /// What running it does.
    pub does: String,
    /// Whether options must be listed.
    pub options: String,
    /// The manual that was read, where they need not be.
    pub manual: String,
    /// How options are written.
    pub style: String,
    /// The options that matter.
    pub flags: Vec<String>,
    /// The roles of the words that are not options.
    pub operands: String,
    /// Commands the row recognises.
    pub matches: Vec<String>,
    /// Look-alikes in which more, or something else, must be found.
    pub not_match: Vec<String>,
}

/// A program as the owner describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramText {
    /// Its own row.
    pub own: RowText,
    /// Options that may stand before the subcommand and after it.
    pub everywhere: Vec<String>,
    /// The table of verbs that speak for subcommands without a row; empty for none.
    pub verbs: String,
    /// How many leading words may hold the verb.
    pub verb_words: u8,
    /// The rows of its subcommands.
    pub subs: Vec<RowText>,
}

/// What is wrong with a row of the owner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("row `{name}`: {what}")]
pub struct RowError {
    /// Which program of the list.
    pub program: usize,
    /// Which of its subcommands, if it is one of those.
    pub sub: Option<usize>,
    /// The column.
    pub column: &'static str,
    /// Which line of the column, where it has several.
    pub line: Option<usize>,
    /// The row's name.
    pub name: String,
    /// What is wrong.
    pub what: String,
}

/// Reads the rows; `known` says which names our tables speak about. That names can be names and
/// that examples hold is checked by whoever calls.
pub fn compile(texts: &[ProgramText], known: &dyn Fn(&str) -> bool) -> Result<Programs, RowError> {
    let mut named = Vec::new();
    for (place, text) in texts.iter().enumerate() {
        let program: &'static Program = Box::leak(Box::new(program(place, text)?));
        for name in &text.own.names {
            named.push(Described {
                name: name.clone().leak(),
                program,
                known: known(name),
            });
        }
    }
    named.sort_unstable_by_key(|described| described.name);
    Ok(Programs(named.leak()))
}

/// Returns the role that a row calls `word`.
fn role(word: &str) -> Option<Role> {
    let script = LANGUAGES
        .iter()
        .find(|language| language.name == word && matches!(language.role, Role::Snippet(_)));
    match script {
        Some(language) => Some(language.role),
        None => Role::from_word(word),
    }
}

fn program(place: usize, text: &ProgramText) -> Result<Program, RowError> {
    let first = text.own.names.first().cloned().unwrap_or_default();
    let wrong = |sub: Option<usize>, name: &str, misread: Misread| RowError {
        program: place,
        sub,
        column: misread.column,
        line: misread.line,
        name: name.to_owned(),
        what: misread.what,
    };
    let has_subs = !text.subs.is_empty();
    let unsaid = if has_subs { "unknown" } else { "" };
    let own = row(&first, &text.own, unsaid, &text.everywhere)
        .map_err(|misread| wrong(None, &first, misread))?;
    let mut subs: Vec<(&'static str, &'static Row)> = Vec::new();
    for (at, sub) in text.subs.iter().enumerate() {
        let name = format!("{first} {}", sub.names.first().map_or("", String::as_str));
        let read = row(&name, sub, "", &text.everywhere)
            .map_err(|misread| wrong(Some(at), &name, misread))?;
        let read: &'static Row = Box::leak(Box::new(read));
        subs.extend(sub.names.iter().map(|name| (&*name.clone().leak(), read)));
    }
    subs.sort_unstable_by_key(|(name, _)| *name);
    let verbs = match text.verbs.as_str() {
        "" => None,
        table => Some(verbs(table).ok_or_else(|| RowError {
            program: place,
            sub: None,
            column: "verbs",
            line: None,
            name: first.clone(),
            what: format!("no table of verbs is called `{table}`"),
        })?),
    };
    Ok(Program {
        row: own,
        has_subs,
        subs: subs.leak(),
        verbs,
        verb_words: text.verb_words.max(1),
        of_system: false,
    })
}

fn row(name: &str, text: &RowText, unsaid: &str, everywhere: &[String]) -> Result<Row, Misread> {
    let flags = with_everywhere(&text.flags, everywhere);
    let columns = Columns {
        does: if text.does.is_empty() {
            unsaid
        } else {
            &text.does
        },
        options: &text.options,
        manual: &text.manual,
        style: &text.style,
        flags: &flags,
        operands: &text.operands,
    };
    let read = grammar::read(&columns, &role)?;
    if !read.closed && text.manual.is_empty() {
        return Err(Misread {
            column: "manual",
            line: None,
            what: "a row that accepts any option names the `manual` that was read".to_owned(),
        });
    }
    Ok(Row {
        name: name.to_owned().leak(),
        does: read.does,
        closed: read.closed,
        manual: text.manual.clone().leak(),
        style: read.style,
        flags: read.flags.into_iter().map(flag).collect::<Vec<_>>().leak(),
        operands: read.operands.leak(),
        reader: None,
        owned: true,
        matches: kept(&text.matches),
        not_match: kept(&text.not_match),
    })
}

fn flag(line: FlagLine) -> Flag {
    Flag {
        names: kept(&line.names),
        value: line.value,
        effects: line.effects.leak(),
        lifts: line.lifts,
        help: line.help,
        last: line.last,
    }
}

fn kept(texts: &[String]) -> &'static [&'static str] {
    let texts = texts.iter().map(|text| &*text.clone().leak());
    texts.collect::<Vec<_>>().leak()
}
