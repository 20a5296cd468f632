//! The arguments of `find`: where it searches, what it runs, deletes, writes and reads.
//!
//! The primaries of GNU, BSD and macOS `find` are known with the number of their arguments. An
//! unknown one hides the rest, because nobody knows how many words belong to it.

const UNKNOWN_PRIMARY: &str = "an unknown find expression";
const NO_PRIMARY: &str = "a word where a find expression should be";
const UNFINISHED: &str = "a find expression without its end";
/// Names by which one command may be looked for; more are anything.
const NAMES_MAX: usize = 16;
const GLOBBED: &str = "a find expression the shell completes from file names";

/// What a `find` command line asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindReading {
    /// Where it starts; `.` when nothing is named.
    pub paths: Vec<String>,
    /// The commands of `-exec` and its kin, with `{}` kept, without `;` or `+`.
    pub runs: Vec<Vec<String>>,
    /// What the files are called that each of these commands gets, in the same order.
    pub run_names: Vec<Sought>,
    /// Whether `-delete` is present.
    pub deletes: bool,
    /// What the files are called that `-delete` gets.
    pub delete_names: Sought,
    /// The files `-fprint` and its kin write.
    pub writes: Vec<String>,
    /// The files whose names or times it takes from disk.
    pub reads: Vec<String>,
    /// Whether every path through the expression passes a test on name, age, size or owner before it deletes
    /// or runs something.
    pub filters: bool,
    /// Why some of it could not be seen.
    pub hidden: Option<&'static str>,
    /// Whether `find` will not start: it reads the whole expression first, and a word that is
    /// no primary or a missing end makes it print an error and do nothing.
    pub refused: bool,
}

/// What files are called at some point of an expression.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Sought {
    /// Like one of these patterns, each with a slash before it.
    Named(Vec<String>),
    /// Anything.
    #[default]
    Anything,
}

impl Sought {
    /// What holds where both hold. Either of them says enough; a name says more than a path.
    fn and(self, other: Self) -> Self {
        let rank = |sought: &Self| match sought {
            Self::Named(names) => {
                let paths = names.iter().filter(|name| name.matches('/').count() > 1);
                (0, paths.count(), names.len())
            }
            Self::Anything => (1, 0, 0),
        };
        if rank(&other) < rank(&self) {
            other
        } else {
            self
        }
    }

    /// What holds where one of them holds.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Named(mut names), Self::Named(more))
                if names.len() + more.len() <= NAMES_MAX =>
            {
                names.extend(more);
                Self::Named(names)
            }
            (Self::Named(_) | Self::Anything, Self::Named(_) | Self::Anything) => Self::Anything,
        }
    }

    /// What a primary with this name says about the names of files.
    fn of(primary: &str, pattern: &str) -> Self {
        match primary {
            "name" | "path" | "wholename" => Self::Named(vec![format!("/{pattern}")]),
            // Names of secrets are mostly written small.
            "iname" | "ipath" | "iwholename" => {
                Self::Named(vec![format!("/{}", pattern.to_lowercase())])
            }
            "regex" | "iregex" => {
                let pattern = pattern.replace(".*", "*").replace('\\', "");
                Self::Named(vec![format!("/{pattern}")])
            }
            _ => Self::Anything,
        }
    }
}

/// What a primary means for the reading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Primary {
    /// Takes this many arguments and changes nothing this module reports.
    Plain(usize),
    /// Takes this many arguments and narrows what is found.
    Narrow(usize),
    /// Takes a file to compare with, and narrows what is found.
    NarrowByFile,
    /// Takes a file to read starting points from.
    Source,
    /// Takes a file to write to, then this many arguments.
    Write(usize),
    Delete,
    Run,
    Or,
    Not,
    /// Takes a number on BSD, nothing on GNU.
    Depth,
}

/// Every primary known, without its dash.
const PRIMARIES: [(&str, Primary); 108] = [
    ("a", Primary::Plain(0)),
    ("and", Primary::Plain(0)),
    ("acl", Primary::Plain(0)),
    ("amin", Primary::Narrow(1)),
    ("anewer", Primary::NarrowByFile),
    ("asince", Primary::Narrow(1)),
    ("atime", Primary::Narrow(1)),
    ("Bmin", Primary::Narrow(1)),
    ("Bnewer", Primary::NarrowByFile),
    ("Btime", Primary::Narrow(1)),
    ("cmin", Primary::Narrow(1)),
    ("cnewer", Primary::NarrowByFile),
    ("context", Primary::Narrow(1)),
    ("csince", Primary::Narrow(1)),
    ("ctime", Primary::Narrow(1)),
    ("d", Primary::Plain(0)),
    ("daystart", Primary::Plain(0)),
    ("delete", Primary::Delete),
    ("depth", Primary::Depth),
    ("empty", Primary::Narrow(0)),
    ("exec", Primary::Run),
    ("execdir", Primary::Run),
    ("executable", Primary::Plain(0)),
    ("exit", Primary::Plain(0)),
    ("false", Primary::Plain(0)),
    ("files0-from", Primary::Source),
    ("flags", Primary::Narrow(1)),
    ("fls", Primary::Write(0)),
    ("follow", Primary::Plain(0)),
    ("fprint", Primary::Write(0)),
    ("fprint0", Primary::Write(0)),
    ("fprintf", Primary::Write(1)),
    ("fstype", Primary::Plain(1)),
    ("gid", Primary::Narrow(1)),
    ("group", Primary::Narrow(1)),
    ("help", Primary::Plain(0)),
    ("-help", Primary::Plain(0)),
    ("ignore_readdir_race", Primary::Plain(0)),
    ("ilname", Primary::Narrow(1)),
    ("iname", Primary::Narrow(1)),
    ("inum", Primary::Narrow(1)),
    ("ipath", Primary::Narrow(1)),
    ("iregex", Primary::Narrow(1)),
    ("iwholename", Primary::Narrow(1)),
    ("links", Primary::Narrow(1)),
    ("lname", Primary::Narrow(1)),
    ("ls", Primary::Plain(0)),
    ("maxdepth", Primary::Plain(1)),
    ("mindepth", Primary::Plain(1)),
    ("mmin", Primary::Narrow(1)),
    ("mnewer", Primary::NarrowByFile),
    ("mount", Primary::Plain(0)),
    ("mtime", Primary::Narrow(1)),
    ("name", Primary::Narrow(1)),
    ("newer", Primary::NarrowByFile),
    ("nogroup", Primary::Narrow(0)),
    ("noignore_readdir_race", Primary::Plain(0)),
    ("noleaf", Primary::Plain(0)),
    ("not", Primary::Not),
    ("nouser", Primary::Narrow(0)),
    ("nowarn", Primary::Plain(0)),
    ("o", Primary::Or),
    ("ok", Primary::Run),
    ("okdir", Primary::Run),
    ("or", Primary::Or),
    ("path", Primary::Narrow(1)),
    ("perm", Primary::Narrow(1)),
    ("print", Primary::Plain(0)),
    ("print0", Primary::Plain(0)),
    ("printf", Primary::Plain(1)),
    ("printx", Primary::Plain(0)),
    ("prune", Primary::Plain(0)),
    ("quit", Primary::Plain(0)),
    ("readable", Primary::Plain(0)),
    ("regex", Primary::Narrow(1)),
    ("regextype", Primary::Plain(1)),
    ("rm", Primary::Delete),
    ("samefile", Primary::NarrowByFile),
    ("show-control-chars", Primary::Plain(1)),
    ("since", Primary::Narrow(1)),
    ("size", Primary::Narrow(1)),
    ("sparse", Primary::Plain(0)),
    ("true", Primary::Plain(0)),
    ("type", Primary::Plain(1)),
    ("uid", Primary::Narrow(1)),
    ("used", Primary::Narrow(1)),
    ("user", Primary::Narrow(1)),
    ("version", Primary::Plain(0)),
    ("-version", Primary::Plain(0)),
    ("warn", Primary::Plain(0)),
    ("wholename", Primary::Narrow(1)),
    ("writable", Primary::Plain(0)),
    ("x", Primary::Plain(0)),
    ("xattr", Primary::Plain(0)),
    ("xattrname", Primary::Narrow(1)),
    ("xdev", Primary::Plain(0)),
    ("xtype", Primary::Plain(1)),
    // Global options may also stand behind the paths with some implementations.
    ("E", Primary::Plain(0)),
    ("H", Primary::Plain(0)),
    ("L", Primary::Plain(0)),
    ("P", Primary::Plain(0)),
    ("X", Primary::Plain(0)),
    ("s", Primary::Plain(0)),
    ("O0", Primary::Plain(0)),
    ("O1", Primary::Plain(0)),
    ("O2", Primary::Plain(0)),
    ("O3", Primary::Plain(0)),
    ("fulltree", Primary::Plain(0)),
];

/// Reads the arguments of `find`, without the program's name.
pub fn read(args: &[&str]) -> FindReading {
    let mut reader = Reader {
        words: args.iter().copied(),
        reading: FindReading::default(),
    };
    let first = reader.options_and_paths();
    match reader.expression(first) {
        Ok(()) => {}
        // One that would delete or run something stays in doubt: not every find is so strict.
        Err(NO_PRIMARY | UNFINISHED)
            if !reader.reading.deletes
                && reader.reading.runs.is_empty()
                && reader.reading.writes.is_empty()
                && !args.iter().any(|word| word.contains(crate::place::HOLE)) =>
        {
            return FindReading {
                refused: true,
                ..FindReading::default()
            };
        }
        Err(why) => reader.reading.hidden = Some(why),
    }
    if reader.reading.paths.is_empty() && reader.reading.reads.is_empty() {
        reader.reading.paths.push(".".to_owned());
    }
    reader.reading
}

/// Whether `-delete` sees links alone: `-type l` stands before it, and no alternative leads around that.
pub fn deletes_only_links(args: &[&str]) -> bool {
    let branches = |word: &&str| matches!(*word, "-o" | "-or" | "," | "(" | ")" | "-rm");
    let at = |name: &str| args.iter().position(|word| *word == name);
    let Some(test) = at("-type").filter(|test| args.get(test + 1) == Some(&"l")) else {
        return false;
    };
    let before = args.get(..test).unwrap_or(&[]);
    !args.iter().any(branches)
        && !matches!(before.last(), Some(&("!" | "-not")))
        && at("-delete").is_some_and(|delete| delete > test)
}

/// What one parenthesis level knows about its alternatives.
struct Level {
    all_narrow: bool,
    this_narrow: bool,
    /// Whether the whole level was negated by its parent.
    negated: bool,
    /// What holds in this alternative so far.
    sought: Sought,
    /// What the alternatives before it found.
    others: Option<Sought>,
}

impl Level {
    fn new(negated: bool) -> Self {
        Self {
            all_narrow: true,
            this_narrow: false,
            negated,
            sought: Sought::Anything,
            others: None,
        }
    }

    /// Begins the next alternative.
    fn next(&mut self) {
        self.all_narrow &= self.this_narrow;
        self.this_narrow = false;
        let sought = std::mem::take(&mut self.sought);
        self.others = Some(match self.others.take() {
            Some(others) => others.or(sought),
            None => sought,
        });
    }

    /// Takes note of a further test in this alternative.
    fn narrows(&mut self, sought: Sought) {
        self.sought = std::mem::take(&mut self.sought).and(sought);
    }

    /// What was found by the level, after its last alternative.
    fn found(&self) -> Sought {
        match &self.others {
            Some(_) if self.negated => Sought::Anything,
            Some(others) => others.clone(),
            None => Sought::Anything,
        }
    }

    fn is_narrow(&self) -> bool {
        self.all_narrow && self.this_narrow && !self.negated
    }
}

struct Reader<'a, Words: Iterator<Item = &'a str>> {
    words: Words,
    reading: FindReading,
}

impl<'a, Words: Iterator<Item = &'a str>> Reader<'a, Words> {
    /// Takes global options and starting points; returns the first word of the expression.
    fn options_and_paths(&mut self) -> Option<&'a str> {
        while let Some(word) = self.words.next() {
            match word {
                "-D" => {
                    self.words.next();
                }
                "-f" => self
                    .reading
                    .paths
                    .extend(self.words.next().map(str::to_owned)),
                "--" => {}
                _ if is_option_bundle(word) && self.reading.paths.is_empty() => {}
                "(" | ")" | "!" | "," => return Some(word),
                _ if word.len() > 1 && word.starts_with('-') => return Some(word),
                _ => self.reading.paths.push(word.to_owned()),
            }
        }
        None
    }

    fn expression(&mut self, first: Option<&'a str>) -> Result<(), &'static str> {
        let mut levels = Vec::new();
        let mut level = Level::new(false);
        let mut negated = false;
        // Whether something is deleted or run before any test.
        let mut early = false;
        let mut pending = first;
        while let Some(word) = pending.take().or_else(|| self.words.next()) {
            match word {
                "(" => {
                    levels.push(std::mem::replace(&mut level, Level::new(negated)));
                    negated = false;
                    continue;
                }
                ")" => {
                    let last = level.this_narrow;
                    level.next();
                    level.this_narrow = last;
                    let (narrow, found) = (level.is_narrow(), level.found());
                    level = levels.pop().ok_or(UNFINISHED)?;
                    level.this_narrow |= narrow;
                    level.narrows(found);
                    continue;
                }
                "!" => {
                    negated = !negated;
                    continue;
                }
                "," => {
                    level.next();
                    continue;
                }
                _ => {}
            }
            let name = word.strip_prefix('-').ok_or(NO_PRIMARY)?;
            if word.contains(['*', '?', '[']) {
                return Err(GLOBBED);
            }
            let primary = primary(name).ok_or(UNKNOWN_PRIMARY)?;
            if matches!(primary, Primary::Delete | Primary::Run) {
                let mut around = levels.iter().chain([&level]);
                early |= !around.any(|level: &Level| level.this_narrow);
                let around = levels.iter().chain([&level]);
                let known = around.map(|level| level.sought.clone());
                self.acts_on(primary, known.fold(Sought::Anything, Sought::and));
            }
            match primary {
                Primary::Not => {
                    negated = !negated;
                    continue;
                }
                Primary::Or => level.next(),
                Primary::Depth => {
                    pending = self.words.next();
                    if pending.is_some_and(is_number) {
                        pending = None;
                    }
                }
                other @ (Primary::Plain(_)
                | Primary::Narrow(_)
                | Primary::NarrowByFile
                | Primary::Source
                | Primary::Write(_)
                | Primary::Delete
                | Primary::Run) => {
                    let (narrow, sought) = self.apply(other, name)?;
                    level.this_narrow |= narrow && !negated;
                    if !negated {
                        level.narrows(sought);
                    }
                }
            }
            negated = false;
        }
        level.all_narrow &= level.this_narrow;
        self.reading.filters = level.is_narrow() && !early;
        if levels.is_empty() {
            Ok(())
        } else {
            Err(UNFINISHED)
        }
    }

    /// Remembers what the files are called that are deleted or given to a command.
    fn acts_on(&mut self, primary: Primary, sought: Sought) {
        if primary == Primary::Run {
            self.reading.run_names.push(sought);
        } else if self.reading.deletes {
            let before = std::mem::take(&mut self.reading.delete_names);
            self.reading.delete_names = before.or(sought);
        } else {
            self.reading.delete_names = sought;
        }
    }

    /// Takes the arguments of a primary; says whether it narrows what is found, and to which names.
    fn apply(&mut self, primary: Primary, name: &str) -> Result<(bool, Sought), &'static str> {
        match primary {
            Primary::Plain(count) => self.skip(count)?,
            Primary::Narrow(count) => {
                let (mut narrow, mut sought) = (true, Sought::Anything);
                for _ in 0..count {
                    let argument = self.argument()?;
                    narrow &= !matches!(argument, "*" | "**" | "*.*" | "/*" | ".*");
                    sought = Sought::of(name, argument);
                }
                return Ok((narrow, sought));
            }
            Primary::NarrowByFile => {
                let file = self.argument()?;
                // The last letter of `-newermt` says that the argument is a time, not a file.
                if !(name.len() > "newer".len() && name.ends_with('t')) {
                    self.reading.reads.push(file.to_owned());
                }
                return Ok((true, Sought::Anything));
            }
            Primary::Source => {
                let file = self.argument()?;
                self.reading.reads.push(file.to_owned());
            }
            Primary::Write(count) => {
                let file = self.argument()?;
                self.reading.writes.push(file.to_owned());
                self.skip(count)?;
            }
            Primary::Delete => self.reading.deletes = true,
            Primary::Run => self.run()?,
            Primary::Or | Primary::Not | Primary::Depth => {}
        }
        Ok((false, Sought::Anything))
    }

    fn skip(&mut self, count: usize) -> Result<(), &'static str> {
        for _ in 0..count {
            self.argument()?;
        }
        Ok(())
    }

    fn argument(&mut self) -> Result<&'a str, &'static str> {
        self.words.next().ok_or(UNFINISHED)
    }

    fn run(&mut self) -> Result<(), &'static str> {
        let mut command: Vec<String> = Vec::new();
        loop {
            let Some(word) = self.words.next() else {
                // What was seen still counts, so that a cut command line is not a blind spot.
                self.reading.runs.push(command);
                return Err(UNFINISHED);
            };
            let ends_batch = word == "+" && command.last().is_some_and(|last| last == "{}");
            if word == ";" || word == "\\;" || ends_batch {
                break;
            }
            command.push(word.to_owned());
        }
        if command.is_empty() {
            return Err(UNFINISHED);
        }
        self.reading.runs.push(command);
        Ok(())
    }
}

fn primary(name: &str) -> Option<Primary> {
    let known = PRIMARIES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, primary)| *primary);
    known.or_else(|| {
        // `-newerXY` compares one time of the found file with one of another file.
        let letters = name.strip_prefix("newer")?;
        let valid = letters.len() == 2 && letters.chars().all(|c| "aBcmt".contains(c));
        valid.then_some(Primary::NarrowByFile)
    })
}

fn is_option_bundle(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(|letters| {
        (!letters.is_empty() && letters.chars().all(|c| "HLPEXdsx".contains(c)))
            || matches!(letters, "O0" | "O1" | "O2" | "O3")
    })
}

fn is_number(word: &str) -> bool {
    let digits = word.trim_start_matches(['+', '-']);
    !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit())
}
