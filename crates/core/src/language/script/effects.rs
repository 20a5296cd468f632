//! Effects of well-known calls on their arguments.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "roles without a rule of their own are those of paths"
)]

use super::lexer::Token;
use super::values::{Made, Origin, Range, Values};
use super::{COMPUTED, CONCEALED, processes};
use crate::knowledge::languages::{Call, Script};
use crate::knowledge::names::CALL_ARGUMENTS;
use crate::knowledge::{CallReader, Effect, Feature, Role, Syntax};
use crate::language::sql::{self, Dialect};
use crate::language::{Deed, Reading, deed_of, deed_on};
use crate::place::HOLE;

/// The arguments of a call.
#[derive(Debug)]
pub(super) struct Arguments<'r, 'a> {
    pub(super) script: &'static Script,
    pub(super) tokens: &'a [Token],
    pub(super) values: &'r Values<'a>,
    pub(super) ranges: Vec<Range>,
}

impl<'a> Arguments<'_, 'a> {
    pub(super) fn slice(&self, (from, to): Range) -> &'a [Token] {
        self.tokens.get(from..to).unwrap_or_default()
    }

    /// The argument at `place` among those that are not given by name.
    pub(super) fn range(&self, place: usize) -> Option<Range> {
        let mut ranges = self.ranges.iter().copied();
        ranges
            .by_ref()
            .filter(|range| self.key(*range).is_none())
            .nth(place)
    }

    /// The name an argument is given by.
    pub(super) fn key(&self, range: Range) -> Option<&'a str> {
        match self.slice(range) {
            [Token::Name(key), Token::Mark("="), ..] if self.script.syntax == Syntax::Python => {
                Some(key)
            }
            _ => None,
        }
    }

    /// The value that is given by one of these names.
    pub(super) fn keyed(&self, names: &[&str]) -> Option<Range> {
        let range = self.ranges.iter().copied().find(|range| {
            let key = self.key(*range);
            key.is_some_and(|key| names.contains(&key))
        })?;
        Some((range.0 + 2, range.1))
    }

    pub(super) fn made(&self, range: Range) -> Option<Made> {
        match (self.script.syntax, self.slice(range)) {
            (Syntax::Python | Syntax::JavaScript, _) => Some(self.values.of(range)),
            (_, [Token::Text(Some(text))]) => Some(Made::exact(text.clone())),
            _ => None,
        }
    }

    /// The only text that the argument at `place` can be.
    pub(super) fn text(&self, place: usize) -> Option<String> {
        let made = self.made(self.range(place)?)?;
        made.only().map(str::to_owned)
    }

    /// The argument with `role` that is due at `place`, by place or by name.
    pub(super) fn of_role(&self, place: usize, role: Role) -> Option<Range> {
        let by_name = || {
            let mut roles = CALL_ARGUMENTS.iter();
            let (_, names) = roles.find(|(known, _)| Role::from_word(known) == Some(role))?;
            self.keyed(names)
        };
        self.range(place).or_else(by_name)
    }

    /// Whether what the call returns is closed without being used.
    fn closes_at_once(&self) -> bool {
        let end = self.ranges.last().map_or(0, |(_, to)| *to);
        matches!(
            self.tokens.get(end..),
            Some([Token::Mark(")"), Token::Mark("."), Token::Name(name), ..]) if name == "close"
        )
    }

    /// Whether there is one argument, and it may be a path.
    pub(super) fn names_one_file(&self) -> bool {
        let [range] = self.ranges.as_slice() else {
            return false;
        };
        let is_table = self
            .slice(*range)
            .first()
            .is_some_and(|token| token.is_mark("{"));
        self.key(*range).is_none_or(|key| key == "target") && !is_table
    }

    /// Whether arguments are handed on that cannot be told apart: `f(*a)`, `f(**a)`.
    fn spreads(&self) -> bool {
        self.ranges.iter().any(|range| {
            matches!(
                self.slice(*range).first(),
                Some(Token::Mark("*" | "**" | "..."))
            )
        })
    }
}

/// Notes what a call with these arguments does.
pub(super) fn apply(call: &Call, arguments: &Arguments<'_, '_>, reading: &mut Reading) {
    let seen = if arguments.spreads() {
        None
    } else if call.reader == Some(CallReader::Open) {
        open(arguments, reading)
    } else if call.reader == Some(CallReader::Remove) {
        remove(arguments, reading)
    } else if call.takes.is_empty() {
        let first = arguments.text(0).unwrap_or_default();
        deed_of(call.does, first).map(|deed| reading.see(deed))
    } else {
        by_roles(call, arguments, reading)
    };
    if seen.is_none() {
        reading.hide(COMPUTED);
    }
}

/// Notes what happens to each argument by its role. `None`: for one of them it cannot be told.
fn by_roles(call: &Call, arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    for (place, operand) in call.takes.iter().enumerate() {
        let role = operand.role;
        let range = arguments.of_role(place, role);
        match role {
            Role::Shell => processes::command(arguments, reading)?,
            Role::Command => processes::program(arguments, reading)?,
            // Without a name it is the standard input that is read.
            Role::Read if range.is_none() && arguments.script.has(Feature::ReadsInput) => {}
            // Some calls write a file only where they are given one.
            Role::Create if range.is_none() => {}
            Role::Url | Role::UrlSend => {
                let made = range.and_then(|range| arguments.made(range));
                address(role, made.as_ref(), reading);
            }
            Role::Permission => {
                // Some languages name the rights first.
                let mut places = (0..arguments.ranges.len()).filter_map(|at| arguments.text(at));
                let keyed = range.and_then(|range| arguments.made(range));
                let keyed = keyed.and_then(|made| made.only().map(str::to_owned));
                let path = keyed.or_else(|| places.next())?;
                reading.deeds.extend(deed_on(role, path));
            }
            Role::Sql => statement(&arguments.made(range?)?, reading)?,
            Role::Load => {
                // Some of these functions take the content itself, which can name what it calls.
                let made = arguments.made(range?)?;
                let is_content =
                    |text: String| text.contains(|c: char| c == '!' || c.is_whitespace());
                if !made.is_open() && made.shapes().any(is_content) {
                    return None;
                }
                path(arguments.script, role, &made, reading)?;
            }
            _ if operand.many => {
                // Callbacks and options may follow a file; the first argument must be one.
                path(arguments.script, role, &arguments.made(range?)?, reading)?;
                let more = (place + 1..).map_while(|place| arguments.range(place));
                for text in more.filter_map(|range| arguments.made(range)) {
                    if let Some(text) = text.only() {
                        reading.deeds.extend(deed_on(role, text.to_owned()));
                    }
                }
            }
            _ => path(arguments.script, role, &arguments.made(range?)?, reading)?,
        }
    }
    Some(())
}

/// Notes what happens to a file. Parts of its path that the script counts or lists change nothing in
/// where it lies; others may lead anywhere, so what is written there must begin at a known place, and
/// what is deleted must be known.
pub(super) fn path(script: &Script, role: Role, made: &Made, reading: &mut Reading) -> Option<()> {
    if role == Role::Read {
        return read(script, made, reading);
    }
    let reaches = made.origin >= Origin::Assembled && !made.is_exact();
    let writes = matches!(role, Role::Write | Role::Create);
    if reaches || made.begins_anywhere() || made.is_vague() && !writes {
        conceals(made, reading);
        return None;
    }
    if writes {
        reading
            .deeds
            .extend(made.shapes().filter_map(|shape| hidden_place(&shape)));
    }
    if made.is_vague() {
        reading.writes_computed = true;
        reading.wonder(COMPUTED);
    }
    for shape in made.shapes() {
        reading.see(deed_on(role, shape)?);
    }
    Some(())
}

/// Notes that what `made` names is kept from being seen, if the script has spelt it in parts.
pub(super) fn conceals(made: &Made, reading: &mut Reading) {
    if made.origin == Origin::Assembled && !made.is_exact() {
        reading.conceals = true;
        reading.hide(CONCEALED);
    }
}

/// What a path may be that begins with a directory of the project which is found by listing: where what
/// follows says so, it is that of the repository, whose files are obeyed.
fn hidden_place(shape: &str) -> Option<Deed> {
    let may_be = |part: &str, name: &str| {
        let (start, rest) = part.split_once(HOLE)?;
        let end = rest.rsplit(HOLE).next().unwrap_or(rest);
        let fits = name.len() >= start.len() + end.len();
        Some(fits && name.starts_with(start) && name.ends_with(end))
    };
    let mut parts = shape.trim_start_matches("./").split('/');
    let directory = parts.next()?;
    let inner = parts.find(|part| !matches!(*part, "" | "."))?;
    let is_repository = may_be(directory, ".git")?;
    let named =
        |name: &str| inner == name || may_be(inner, name) == Some(inner.len() > HOLE.len_utf8());
    let obeyed = ["hooks", "config"].into_iter().find(|name| named(name))?;
    let path = if obeyed == "hooks" {
        ".git/hooks/pre-commit"
    } else {
        ".git/config"
    };
    is_repository.then(|| Deed::MayWrite(path.to_owned()))
}

/// Notes that a file is read. Which one may be computed, as long as nothing spells it in pieces; what
/// it may be is found out from the texts at hand.
fn read(script: &Script, made: &Made, reading: &mut Reading) -> Option<()> {
    if made.origin == Origin::Assembled && !made.is_exact() {
        conceals(made, reading);
        return None;
    }
    if !made.is_exact() {
        reading.reads_computed = true;
        reading.wonder(COMPUTED);
    }
    for shape in made.shapes().filter(|shape| !shape.starts_with(HOLE)) {
        // A name that may be any is every file of the directory.
        let known = shape.split(HOLE).next().unwrap_or_default();
        let directory = known.rsplit_once('/').map(|(directory, _)| directory);
        let names = |directory: &&str| !directory.is_empty() || !made.is_vague();
        let directory = directory.filter(|_| known.len() < shape.len());
        if let Some(directory) = directory.filter(names) {
            reading.deeds.extend(reads(script, format!("{directory}/")));
        }
        if let Some(deed) = reads(script, shape) {
            reading.see(deed);
        }
    }
    Some(())
}

fn reads(script: &Script, path: String) -> Option<Deed> {
    if let (Syntax::Ruby, Some(command)) = (script.syntax, path.strip_prefix('|')) {
        // Ruby runs a name that starts with a bar.
        return Some(Deed::Shell(command.to_owned()));
    }
    if matches!(path.as_str(), "php://stdin" | "/dev/stdin" | "-") {
        return None;
    }
    let is_address = ["http://", "https://", "ftp://"]
        .iter()
        .any(|scheme| path.starts_with(scheme));
    Some(if is_address {
        Deed::Fetch(path)
    } else {
        Deed::ReadFile(path)
    })
}

/// Notes that something is loaded from an address or sent to it.
fn address(role: Role, made: Option<&Made>, reading: &mut Reading) {
    let unseen = Made::unknown(Origin::Data);
    for shape in made.unwrap_or(&unseen).shapes() {
        let address = if shape.starts_with(HOLE) {
            String::new()
        } else {
            shape
        };
        if let Some(deed) = deed_on(role, address) {
            reading.see(deed);
        }
    }
}

/// Notes what a statement for a database does. Values that are put into one that only reads are
/// data; in any other they decide what is changed.
pub(super) fn statement(made: &Made, reading: &mut Reading) -> Option<()> {
    if made.begins_anywhere() || made.origin >= Origin::Assembled && !made.is_exact() {
        return None;
    }
    for shape in made.shapes() {
        let is_vague = shape.contains(HOLE);
        let read = sql::read(&shape.replace(HOLE, "x"), Dialect::Generic);
        if is_vague && !read.is_harmless() {
            return None;
        }
        if is_vague {
            reading.wonder(COMPUTED);
        }
        reading.absorb(read);
    }
    Some(())
}

/// A file, or a tree where an option tells the call to go down, or where nobody sees the options.
fn remove(arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    let made = arguments.made(arguments.range(0)?)?;
    let named = |token: &Token| {
        token.is_name("recursive") || matches!(token, Token::Symbol(name) if name == "recursive")
    };
    let unseen = |slice: &[Token]| {
        !slice.first().is_some_and(|token| token.is_mark("{"))
            && !slice.iter().any(|token| token.is_mark("=>"))
            && arguments.script.syntax == Syntax::JavaScript
    };
    let options = arguments.ranges.iter().skip(1);
    let goes_down = arguments
        .ranges
        .iter()
        .any(|range| arguments.slice(*range).iter().any(named))
        || options.map(|range| arguments.slice(*range)).any(unseen);
    let role = if goes_down {
        Role::DeleteTree
    } else {
        Role::Delete
    };
    path(arguments.script, role, &made, reading)
}

/// Whether a mode lets a file be written. `None`: it cannot be told.
fn mode_writes(arguments: &Arguments<'_, '_>, place: usize) -> Option<bool> {
    let range = arguments
        .keyed(&["mode"])
        .or_else(|| arguments.range(place));
    let Some(range) = range else {
        return Some(false);
    };
    let slice = arguments.slice(range);
    // A block or a function that gets the file.
    if slice
        .first()
        .is_some_and(|token| token.is_mark("|") || token.is_mark("{"))
        || slice.iter().any(|token| token.is_mark("=>"))
    {
        return Some(false);
    }
    let made = arguments.made(range)?;
    made.is_exact().then(|| {
        made.shapes()
            .any(|mode| mode.contains(['w', 'a', 'x', '+', 'c']))
    })
}

fn open(arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    let script = arguments.script;
    if script.syntax == Syntax::Perl {
        return open_perl(arguments, reading);
    }
    let range = arguments.of_role(0, Role::Read)?;
    // A number is a stream that is open already.
    if let [Token::Number] = arguments.slice(range) {
        return Some(());
    }
    let made = arguments.made(range)?;
    let writes = mode_writes(arguments, 1)?;
    if writes && !made.is_exact() && arguments.closes_at_once() {
        // Nothing is left of whatever the names stand for.
        return path(script, Role::Delete, &made, reading);
    }
    opened(script, &made, writes, reading)
}

/// Notes that a file is opened, by call or by method.
fn opened(script: &Script, made: &Made, writes: bool, reading: &mut Reading) -> Option<()> {
    let runs = script.syntax == Syntax::Ruby && made.shapes().any(|path| path.starts_with('|'));
    let role = if writes && !runs {
        Role::Write
    } else {
        Role::Read
    };
    path(script, role, made, reading)
}

/// Whether a call gives the file its object stands for another name.
pub(super) fn moves(call: &Call) -> bool {
    call.does == Effect::Delete && call.takes(Role::Write)
}

/// Notes a statement that is spelt out and changes a database, whatever object it is given to.
pub(super) fn spelt_statement(arguments: &Arguments<'_, '_>, reading: &mut Reading) {
    let made = arguments.range(0).and_then(|range| arguments.made(range));
    for shape in made.iter().flat_map(Made::shapes) {
        let read = sql::read(&shape.replace(HOLE, "x"), Dialect::Generic);
        let changes = |deed: &Deed| {
            matches!(
                deed,
                Deed::DbWrite(_) | Deed::DbDestroy(_) | Deed::DbAdmin(_)
            )
        };
        if read.deeds.iter().any(changes) {
            reading.absorb(read);
        }
    }
}

/// Notes what a method does to the file its object stands for.
pub(super) fn apply_to(
    call: &Call,
    receiver: &Made,
    arguments: &Arguments<'_, '_>,
    reading: &mut Reading,
) {
    let script = arguments.script;
    let target = || arguments.range(0).or_else(|| arguments.keyed(&["target"]));
    let first = || arguments.made(target()?);
    let mut done = Some(());
    if call.reader == Some(CallReader::Open) && receiver.is_open() {
        // A member of an archive that is open already.
        let writes = mode_writes(arguments, 1);
        done = writes.and_then(|writes| opened(script, receiver, writes, reading));
    } else if call.reader == Some(CallReader::Open) {
        let seen =
            mode_writes(arguments, 0).map(|writes| opened(script, receiver, writes, reading));
        done = seen.flatten();
    } else if call.takes(Role::Link) || moves(call) {
        // `Path("x").symlink_to("y")` and `Path("y").rename("x")` name two files.
        let (from, to) = if call.takes(Role::Link) {
            (first(), Some(receiver.clone()))
        } else {
            (Some(receiver.clone()), first())
        };
        for (operand, made) in call.takes.iter().zip([from, to]) {
            let seen = made.and_then(|made| path(script, operand.role, &made, reading));
            done = done.and(seen);
        }
    } else {
        for (place, operand) in call.takes.iter().enumerate() {
            let seen = match operand.role {
                Role::Text => Some(()),
                Role::Permission => receiver.only().map(|path| {
                    reading
                        .deeds
                        .extend(deed_on(Role::Permission, path.to_owned()));
                }),
                Role::Sql => first().and_then(|made| statement(&made, reading)),
                // What is unpacked goes into the directory that is given, or else stays here.
                Role::Create => match arguments.of_role(place, Role::Write) {
                    Some(range) => arguments
                        .made(range)
                        .and_then(|made| path(script, Role::Write, &made, reading)),
                    None => Some(()),
                },
                role => path(script, role, receiver, reading),
            };
            done = done.and(seen);
        }
    }
    if done.is_none() {
        reading.hide(COMPUTED);
    }
}

/// Perl names handle, mode and file, or glues mode and file together.
fn open_perl(arguments: &Arguments<'_, '_>, reading: &mut Reading) -> Option<()> {
    let second = arguments.text(1)?;
    let (mode, path) = if arguments.range(2).is_some() {
        (second.trim().to_owned(), arguments.text(2)?)
    } else {
        let name = second.trim_start_matches(['<', '>', '+', ' ']);
        let mode = second
            .get(..second.len() - name.len())
            .unwrap_or_default()
            .to_owned();
        (mode, name.to_owned())
    };
    if mode.contains('|') || path.starts_with('|') || path.ends_with('|') {
        let command = path.trim_matches('|').trim().to_owned();
        reading.see(Deed::Shell(command));
        return Some(());
    }
    reading.see(if mode.contains('>') || mode.contains('+') {
        Deed::WriteFile(path)
    } else {
        Deed::ReadFile(path)
    });
    Some(())
}
