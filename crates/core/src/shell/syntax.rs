//! The syntax tree of a shell script, as far as the judge needs it.
//!
//! This is not a faithful syntax tree: both arms of an `if` matter alike to a judge, so branches are
//! one list of blocks, and what only affects exit codes is gone. What executes, writes or expands
//! is all here, with its place in the source.

/// A place in the source, in bytes: from, and up to but not including.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One after the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span from `start` up to `end`, saturating where a source is too long to count.
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self {
            start: clip(start),
            end: clip(end),
        }
    }
}

/// A parsed text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Script {
    /// The commands.
    pub block: Block,
    /// Bodies of here-documents. They follow the line that announces them, so a command is
    /// complete before its document is read, and refers to it by number.
    pub documents: Vec<Word>,
}

/// Commands that run one after the other.
pub type Block = Vec<Command>;

/// One command of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    /// Assignments, words and redirections.
    Simple(Simple),
    /// Commands whose output feeds the next.
    Pipeline(Vec<Command>),
    /// `a && b || c`: the first runs, the others may; how each is joined to the one before.
    AndOr(Vec<Command>, Vec<Join>),
    /// `{ … }` or `( … )`.
    Group {
        /// The commands.
        body: Block,
        /// Whether changes to variables and directory end with it.
        subshell: bool,
        /// Redirections of the whole.
        redirects: Vec<Redirect>,
    },
    /// `if`, `while`, `until`, `case`: each block may run.
    Branches {
        /// Whether it is a `while`, which goes on as long as its condition holds.
        repeats: bool,
        /// Words that are expanded on the way: the word of `case` and its patterns.
        words: Vec<Word>,
        /// The conditions and the bodies, in order.
        blocks: Vec<Block>,
        /// Redirections of the whole.
        redirects: Vec<Redirect>,
    },
    /// `for` or `select` over words.
    Loop {
        /// The variable.
        name: String,
        /// The words; `None` means the positional parameters.
        words: Option<Vec<Word>>,
        /// The body.
        body: Block,
        /// Redirections of the whole.
        redirects: Vec<Redirect>,
    },
    /// A function is defined.
    Function {
        /// Its name.
        name: String,
        /// What it runs.
        body: Box<Command>,
        /// Where it is defined.
        span: Span,
    },
    /// `[[ … ]]` or `(( … ))`: expands words, runs nothing itself.
    Test {
        /// The words that are expanded.
        words: Vec<Word>,
        /// Redirections of the whole.
        redirects: Vec<Redirect>,
    },
    /// Runs beside the script: `cmd &`, `coproc`.
    Background(Box<Command>),
    /// `! cmd`: it has failed where the whole has succeeded.
    Not(Box<Command>),
}

/// How a command is joined to the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// `&&`: it runs where the one before has succeeded.
    And,
    /// `||`: it runs where the one before has failed.
    Or,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Simple {
    /// `NAME=value` in front of the words.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Redirections, wherever they stand.
    pub redirects: Vec<Redirect>,
    /// All of it.
    pub span: Span,
}

/// `NAME=value`, `NAME+=value`, `NAME[i]=value` or `NAME=(…)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// Whether the value is added to what is there.
    pub append: bool,
    /// The subscript, expanded when the assignment runs.
    pub index: Option<Word>,
    /// The value: one word, or the words of an array.
    pub value: AssignedValue,
    /// All of it.
    pub span: Span,
}

/// What is assigned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AssignedValue {
    /// One word.
    One(Word),
    /// The words of an array.
    Array(Vec<Word>),
}

/// A word before expansion.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Word {
    /// Its parts, in order.
    pub parts: Vec<Part>,
    /// The position.
    pub span: Span,
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Characters that stand for themselves, except that globs, braces and `~` are live.
    Plain(String),
    /// Characters that stand for themselves.
    Quoted(String),
    /// `$name`, `${…}`.
    Parameter {
        /// Which, and how it is changed on the way.
        expansion: Box<Expansion>,
        /// Whether the result stays one word.
        quoted: bool,
    },
    /// `$( … )` or backticks.
    Substitution {
        /// The commands.
        body: Block,
        /// Whether the result stays one word.
        quoted: bool,
    },
    /// `$(( … ))`: a number, after these parts have been expanded.
    Arithmetic(Vec<Part>),
    /// `<( … )` or `>( … )`.
    Process {
        /// The commands.
        body: Block,
        /// Whether the word is written to (`>( … )`).
        writes: bool,
    },
    /// Syntax that hides what it does, with the reason in words.
    Hidden(&'static str),
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The parameter.
    pub name: String,
    /// The subscript of an array element.
    pub index: Option<Word>,
    /// What is done to the value.
    pub operation: Operation,
}

/// What a parameter expansion does to the value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Nothing.
    Value,
    /// `${#x}`.
    Length,
    /// `${!x}`: the value names another parameter.
    Indirect,
    /// `${x:-word}` and `${x-word}`.
    Default(Word),
    /// `${x:=word}` and `${x=word}`.
    Assign(Word),
    /// `${x:+word}` and `${x+word}`.
    Alternative(Word),
    /// `${x:?word}` and `${x?word}`.
    Error(Word),
    /// `${x:offset:length}`; the word is everything after the first colon.
    Substring(Word),
    /// `${x#word}`, `${x##word}`.
    TrimStart {
        /// The pattern.
        pattern: Word,
        /// Whether the longest match goes.
        longest: bool,
    },
    /// `${x%word}`, `${x%%word}`.
    TrimEnd {
        /// The pattern.
        pattern: Word,
        /// Whether the longest match goes.
        longest: bool,
    },
    /// `${x/a/b}`, `${x//a/b}`.
    Replace {
        /// The pattern.
        pattern: Word,
        /// Its replacement.
        replacement: Word,
        /// Whether every match is replaced.
        all: bool,
    },
    /// `${x^}`, `${x^^}`.
    Upper {
        /// Whether all letters change.
        all: bool,
    },
    /// `${x,}`, `${x,,}`.
    Lower {
        /// Whether all letters change.
        all: bool,
    },
    /// `${x@P}` and other transformations; the letter.
    Transform(char),
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirect {
    /// What is done.
    pub kind: RedirectKind,
    /// The file, descriptor or text.
    pub target: Word,
    /// The descriptor in front of the operator, where one is written.
    pub descriptor: Option<u32>,
}

/// What a redirection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedirectKind {
    /// `<`
    Read,
    /// `>`, `>|`, `&>`
    Write,
    /// `>>`, `&>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&`, `>&` with a descriptor or `-`.
    Duplicate,
    /// `<<`, `<<-`: the body is this one of [`Script::documents`].
    HereDocument(usize),
    /// `<<<`: the target is the text.
    HereString,
}
