//! Walks a script command by command, without running anything, and collects its effects.
//!
//! Variables, functions, the working directory and what flows through pipes are kept as far as
//! they are known. Whatever may run is judged as if it did: both arms of an `if`, every pattern of
//! a `case`. What cannot be known is a hole, and a hole in the wrong place is a question.

mod compound;
mod counted;
mod forks;
mod heard;
mod redirect;
mod shown;
mod tools;
mod variables;

pub(in crate::follow) use variables::{environment, mark_of_name, unset_value};

use std::rc::Rc;

use self::forks::starts_itself;
pub(crate) use self::heard::Heard;
use super::budget::{Allowed, Budget};
use super::memory::Memory;
use super::scope::{Scope, Variables};
use super::value::{Arg, Stream, Taint, Value};
use crate::act::words::Words;
use crate::act::{Act, Marks};
use crate::content::crisis::Sensitivity;
use crate::display::is_deceptive_for_shell;
use crate::knowledge::Effect;
use crate::knowledge::owners::Programs;
pub(crate) use crate::language::is_secret_variable as is_secret_name;
use crate::place::{Ground, HOLE, HOME, Place};
use crate::score::Score;
use crate::shell::parse::parse;
use crate::shell::quote;
use crate::shell::syntax::{
    AssignedValue, Assignment, Block, Command, Redirect, RedirectKind, Script, Simple, Span,
};
use crate::written::Written;

/// How many acts are kept; the worst ones stay.
const ACTS_MAX: usize = 48;

/// A script being followed.
#[derive(Debug)]
pub struct Walk<'k> {
    /// What was found.
    pub acts: Vec<Act>,
    /// Where it happens.
    pub(crate) ground: Ground,
    /// The names it has defined.
    pub(super) scope: Scope,
    /// What it has cost so far.
    pub(super) budget: Budget,
    /// The files it has made and runs.
    pub(super) memory: Memory,
    /// Where in the outermost text the text being followed stands.
    origin: Option<Span>,
    /// The worst that was noted since somebody began to listen.
    loudest: Heard,
    /// Whether only a number comes out of the command at hand, or nothing.
    counted: bool,
    /// Whether something was fetched that may run under any name.
    pub(super) fetched: bool,
    /// How many pipes and substitutions catch what is printed here.
    caught: u32,
    /// Harmless effects already noted, so that a long script does not note them again.
    noted: u64,
    /// The words of the command at hand, where acts are to bear them.
    pub(crate) doing: Option<Rc<Words>>,
    pub(crate) knows: &'k Knows,
}

/// What the firewall knows beyond the call.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is known or not, whatever the others are"
)]
pub struct Knows {
    /// Whether the directory counts as a workspace, so that its code may run without a question.
    pub trusts_workspace: bool,
    /// Whether the owner says so, and not only whoever asks.
    pub vouched_workspace: bool,
    /// Whether the owner's other projects, beside the workspace, may be built and tested as well: not
    /// where the owner has said which directories count.
    pub trusts_beside: bool,
    /// Whether acts bear the words of the command that does them.
    pub recounts: bool,
    /// Files that the same agent wrote in earlier calls.
    pub written: Written,
    /// Programs that the owner described.
    pub programs: Programs,
    /// How much the owner wants held of what may affect a person in crisis.
    pub sensitivity: Sensitivity,
}

/// What a subshell may change: all of it is put back when the subshell ends.
#[derive(Debug)]
pub(crate) struct State {
    variables: Variables,
    ground: Ground,
    positional: Option<Vec<Arg>>,
}

impl<'k> Walk<'k> {
    /// Returns a walk that begins on `ground`.
    pub fn new(ground: Ground, knows: &'k Knows) -> Self {
        Self {
            acts: Vec::new(),
            ground,
            scope: Scope::default(),
            budget: Budget::default(),
            memory: Memory::default(),
            origin: None,
            loudest: Heard::default(),
            counted: false,
            fetched: false,
            caught: 0,
            noted: 0,
            doing: None,
            knows,
        }
    }

    /// Follows shell text that stands at `span`.
    pub fn text(&mut self, text: &str, span: Span) -> Stream {
        self.text_with(text, span, &Stream::default())
    }

    /// Follows shell text that reads `stdin`.
    pub(crate) fn text_with(&mut self, text: &str, span: Span, stdin: &Stream) -> Stream {
        if text.contains(HOLE) {
            self.unreadable("part of the command that would run cannot be known", span);
        }
        // A text that was decoded may hold what nobody would have let through if it stood there.
        if is_deceptive_for_shell(&text.replace([HOLE, HOME], "")).is_some() {
            self.unreadable("a text with characters that hide what runs", span);
        }
        if let Err(why) = self.budget.enter_text(text.len()) {
            self.unreadable(why, span);
            return Stream::unknown(Taint::default());
        }
        let stream = match parse(text) {
            Ok(script) => {
                let origin = self.origin.replace(span);
                let written = self.memory.mark();
                let stream = self.script(script, stdin);
                // What starts this text may fail, or run it on another machine.
                if origin.is_some() {
                    self.memory.doubt_since(written);
                }
                self.origin = origin;
                stream
            }
            Err(error) => {
                self.unreadable(error.what, span);
                Stream::unknown(Taint::default())
            }
        };
        self.budget.leave_text();
        stream
    }

    /// Follows the outermost script, whose spans are real.
    pub fn script(&mut self, script: Script, stdin: &Stream) -> Stream {
        let before = std::mem::replace(&mut self.scope.documents, Rc::new(script.documents));
        if starts_itself(&script.block) {
            self.multiplies("$0".to_owned(), Span::default());
        }
        let functions = self.scope.defined();
        let stream = self.block(&script.block, stdin);
        self.uncalled(functions);
        self.scope.documents = before;
        stream
    }

    /// Returns the place to report for something at `span` of the text being followed.
    pub(crate) fn here(&self, span: Span) -> Span {
        self.origin.unwrap_or(span)
    }

    /// Notes an act.
    pub(crate) fn note(&mut self, mut act: Act) {
        act.words.clone_from(&self.doing);
        self.raise_in_production(&mut act);
        self.builds_of_others(&act);
        self.fetched |= matches!(act.effect, Effect::Install | Effect::NetRead);
        self.loudest.hear(&act);
        let harmless =
            act.marks == Marks::default() && act.target < Score::new(250) && act.subject.is_empty();
        if harmless {
            let bit = 1_u64 << (act.effect as u32 % 64);
            if self.noted & bit != 0 && act.risk() < Score::new(250) {
                return;
            }
            self.noted |= bit;
        }
        if self.acts.len() < ACTS_MAX {
            if self.acts.last() != Some(&act) {
                self.acts.push(act);
            }
            return;
        }
        if let Some(least) = self.acts.iter_mut().min_by_key(|known| known.weight())
            && least.weight() < act.weight()
        {
            *least = act;
        }
    }

    /// Notes that something cannot be seen.
    pub(crate) fn unreadable(&mut self, why: &'static str, span: Span) {
        let mut act = Act::new(Effect::Exec, "", self.here(span)).because(why);
        act.clarity = Score::new(200);
        self.note(act);
    }

    fn block(&mut self, block: &Block, stdin: &Stream) -> Stream {
        let mut out = Stream::empty();
        for command in block {
            let next = self.command(command, stdin);
            out.append(next);
        }
        out
    }

    fn command(&mut self, command: &Command, stdin: &Stream) -> Stream {
        self.deeper(|walk| walk.follow(command, stdin))
    }

    /// Whether what is followed is the first command of all, and not what another one starts.
    pub(crate) fn is_first_word(&self) -> bool {
        self.budget.is_first_command()
    }

    /// Runs `inside` one command deeper, unless that is too deep.
    pub(crate) fn deeper(&mut self, inside: impl FnOnce(&mut Self) -> Stream) -> Stream {
        if !self.budget.descend() {
            self.unreadable(
                "commands are nested too deeply to be followed",
                Span::default(),
            );
            return Stream::unknown(Taint::default());
        }
        let stream = inside(self);
        self.budget.ascend();
        stream
    }

    fn follow(&mut self, command: &Command, stdin: &Stream) -> Stream {
        let allowed = self.budget.command();
        if allowed == Allowed::NoLonger {
            self.unreadable("there are too many commands to follow", Span::default());
        }
        if allowed != Allowed::Yes {
            return Stream::unknown(Taint::default());
        }
        match command {
            Command::Simple(simple) => {
                let names = self.prints_names(command);
                let out = self.simple(simple, stdin);
                self.scope.names = names;
                out
            }
            Command::Pipeline(commands) => {
                let mut stream = stdin.clone();
                let last = commands.len().saturating_sub(1);
                let naming = self.scope.naming(commands);
                for (index, command) in commands.iter().enumerate() {
                    self.scope.names.piped = index < naming;
                    let state = self.state();
                    let caught = u32::from(index < last);
                    self.caught += caught;
                    self.counted = counted::is_counted(commands, index);
                    stream = self.command(command, &stream);
                    self.caught -= caught;
                    stream.connected = true;
                    self.restore(state);
                }
                self.scope.names.piped = false;
                stream
            }
            Command::AndOr(commands, joins) => self.and_or(commands, joins, stdin),
            Command::Group {
                body,
                subshell,
                redirects,
            } => self.group(body, *subshell, redirects, stdin),
            Command::Branches {
                words,
                blocks,
                redirects,
                repeats,
            } => {
                if *repeats {
                    self.endless_loop(blocks);
                }
                self.branches(words, blocks, redirects, stdin)
            }
            Command::Loop {
                name,
                words,
                body,
                redirects,
            } => self.repeat(name, words.as_deref(), body, redirects, stdin),
            Command::Function { name, body, span } => {
                self.define(name, body, *span);
                Stream::empty()
            }
            Command::Test { words, redirects } => {
                // `[[ 1 -eq 'a[$(cmd)]' ]]`: arithmetic evaluates what was quoted.
                let args = self.expand_all(words);
                let compares = |arg: &Arg| NUMBER_TESTS.contains(&arg.text.as_str());
                if args.len() == 1 || args.iter().any(compares) {
                    self.evaluated("", Span::default());
                }
                if let Some(arg) = args.iter().find(|arg| runs_in_subscript(&arg.text)) {
                    self.unreadable("a subscript that runs a command", arg.span);
                }
                let mut stdin = stdin.clone();
                self.redirects(redirects, &mut stdin, None);
                Stream::empty()
            }
            Command::Not(command) => {
                let written = self.memory.mark();
                let out = self.command(command, stdin);
                self.memory.doubt_since(written);
                out
            }
            Command::Background(command) => {
                let state = self.state();
                let written = self.memory.mark();
                let out = self.command(command, &Stream::default());
                self.memory.doubt_since(written);
                self.restore(state);
                out
            }
        }
    }

    fn simple(&mut self, simple: &Simple, stdin: &Stream) -> Stream {
        let counted = std::mem::take(&mut self.counted) || counted::shows_no_content(simple);
        let mut stdin = stdin.clone();
        if simple.words.is_empty() {
            let mut out = Stream::empty();
            for assignment in &simple.assignments {
                out.taint = out.taint.and(self.assignment(assignment));
            }
            let reads = simple
                .redirects
                .iter()
                .any(|redirect| redirect.kind == RedirectKind::Read);
            if let Some(sink) =
                self.redirects(&simple.redirects, &mut stdin, Some(&Stream::empty()))
            {
                return sink;
            }
            // `$(<file)` delivers the file.
            return if reads { stdin } else { out };
        }
        let mut args = self.expand_all(&simple.words);
        if let Some(word) = simple.words.first() {
            self.name_tool(word, &mut args, &stdin);
        }
        let given = self.scope.given.len();
        let reach = self.scope.reach;
        let mut lent = Vec::new();
        for assignment in &simple.assignments {
            lent.push(self.command_variable(assignment));
        }
        let before = self.acts.len();
        // What the names stand for must be the programs.
        self.counted = counted && !self.scope.may_rename();
        let out = self.run(&args, &mut stdin, &simple.redirects);
        self.counted = false;
        for lent in lent.into_iter().rev() {
            self.take_back(lent);
        }
        self.scope.given.truncate(given);
        self.scope.reach = reach;
        if self.origin.is_none() {
            let span = simple.span;
            for act in self.acts.iter_mut().skip(before) {
                if act.span == Span::default() {
                    act.span = span;
                }
            }
        }
        out
    }

    /// Applies redirections, runs the command, and returns what reaches the next one.
    fn run(&mut self, args: &[Arg], stdin: &mut Stream, redirects: &[Redirect]) -> Stream {
        for redirect in redirects.iter().filter(|redirect| is_input(redirect.kind)) {
            self.redirect(redirect, stdin, None);
        }
        let mut out = self.dispatch(args, stdin);
        // A here-document that goes right into a file is followed whatever its length: it stands in
        // the text once, and is copied once.
        if out.text.is_none() && self.is_copied(args, redirects) {
            out.text.clone_from(&stdin.text);
        }
        let before = self.doing.clone();
        self.now_prints(&out);
        let mut sink = None;
        if keeps_files(args) {
            self.memory.distrust();
        }
        let written = self.memory.mark();
        for redirect in redirects.iter().filter(|redirect| !is_input(redirect.kind)) {
            let to_file = self.redirect(redirect, stdin, Some(&out));
            if redirect.descriptor.is_none_or(|number| number == 1) {
                sink = sink.or(to_file);
            }
        }
        if may_fail_before_writing(redirects) {
            self.memory.doubt_since(written);
        }
        self.doing = before;
        if self.caught == 0 {
            let kept = sink.is_some().then_some(redirects);
            self.shown(args, stdin, &out, kept);
        }
        sink.unwrap_or(out)
    }

    /// Whether a command is `cat` alone, from a here-document into a file.
    fn is_copied(&self, args: &[Arg], redirects: &[Redirect]) -> bool {
        let is_document = |it: &Redirect| matches!(it.kind, RedirectKind::HereDocument(_));
        let is_file = |it: &Redirect| it.kind == RedirectKind::Write && it.descriptor.is_none();
        let own = self.scope.function("cat").is_some() || self.scope.aliased("cat").is_some();
        matches!(args, [only] if only.text == "cat")
            && !own
            && redirects.iter().filter(|it| is_input(it.kind)).count() == 1
            && redirects.iter().any(is_document)
            && redirects.iter().any(is_file)
    }

    /// Follows a substitution and returns what it delivers.
    pub(super) fn substitute(&mut self, body: &Block) -> Stream {
        let state = self.state();
        self.caught += 1;
        let out = self.block(body, &Stream::default());
        self.caught -= 1;
        self.restore(state);
        out
    }

    /// Follows `>( … )`, which reads what cannot be known here.
    pub(super) fn process_sink(&mut self, body: &Block) -> Stream {
        let state = self.state();
        self.block(body, &Stream::unknown(Taint::default()).telling());
        self.restore(state);
        Stream::unknown(Taint::default())
    }

    /// Finds what a command's first word names, and follows it.
    pub(crate) fn dispatch(&mut self, args: &[Arg], stdin: &Stream) -> Stream {
        let Some(first) = args.first() else {
            return Stream::empty();
        };
        let name = first.text.as_str();
        let function = self.scope.function(name);
        let alias = self.scope.aliased(name);
        let mut out = Stream::empty();
        if let Some(function) = &function {
            out.append(self.call(name, function, args, stdin));
        } else if let Some(text) = &alias {
            self.scope.forget_alias(name);
            let rest: Vec<String> = args.iter().skip(1).map(|arg| quote(&arg.text)).collect();
            let text = format!("{text} {}", rest.join(" "));
            out.append(self.text_with(&text, first.span, stdin));
        }
        let own = function.is_some() || alias.is_some();
        // A function may be undone, or never have been defined where it seems to be, and aliases
        // count in interactive shells only. So a program of that name is judged as well.
        if !own || crate::knowledge::program(name).is_some() {
            out.append(self.program(args, stdin));
        }
        out
    }

    /// Returns what a subshell may change without anybody noticing afterwards.
    pub(crate) fn state(&self) -> State {
        State {
            variables: self.scope.variables.clone(),
            ground: self.ground.clone(),
            positional: self.scope.positional.clone(),
        }
    }

    /// Takes one expansion from what is left of them.
    pub(super) fn may_expand(&mut self, span: Span) -> bool {
        let allowed = self.budget.expansion();
        if allowed == Allowed::NoLonger {
            self.unreadable("there is too much to expand", span);
        }
        allowed == Allowed::Yes
    }

    /// Puts back what a subshell has changed.
    pub(crate) fn restore(&mut self, state: State) {
        self.scope.restore(state.variables);
        self.ground = state.ground;
        self.scope.positional = state.positional;
    }

    /// Runs `inside`, and returns the worst that was noted in it.
    pub(crate) fn listening<T>(&mut self, inside: impl FnOnce(&mut Self) -> T) -> (T, Heard) {
        let before = std::mem::take(&mut self.loudest);
        let result = inside(self);
        let heard = self.loudest;
        self.loudest = heard.and(before);
        (result, heard)
    }

    /// Whether only a number comes out of the command at hand, or nothing.
    pub(crate) const fn is_counted(&self) -> bool {
        self.counted
    }

    /// Looks a path up; a call that names more paths than can be looked up is unreadable.
    pub(crate) fn place(&mut self, text: &str) -> Place {
        self.budget.lookup();
        self.followed(text)
    }
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writing {
    /// The previous content is gone.
    Replace,
    /// Nothing is put in place of what was there.
    Empty,
    /// Something is added.
    Append,
    /// Parts are changed.
    Edit,
    /// It is made if it is not there.
    Create,
    /// A directory is made if it is not there, with nothing in it.
    Directory,
}

/// Operators of `[[` that evaluate what stands beside them.
const NUMBER_TESTS: &[&str] = &["-eq", "-ne", "-lt", "-gt", "-le", "-ge", "-v"];

/// Whether a text holds a subscript that would run a command if it were evaluated as a number.
pub(crate) fn runs_in_subscript(text: &str) -> bool {
    text.contains("[$(") || text.contains("[`")
}

/// Whether a text is made to be evaluated as a number, and runs a command then: `a[$(id)]`. A
/// pattern that only has such characters in brackets, `[$(]`, is not.
pub(crate) fn is_evaluated_name(text: &str) -> bool {
    let runs = |at: usize, after: &str| {
        let names = text.get(..at).is_some_and(|before| {
            before.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_')
        });
        names
            && after.find([')', '`']).is_some_and(|end| {
                let inside = after.get(..end).unwrap_or("");
                inside.contains(char::is_alphanumeric) && !inside.contains(']')
            })
    };
    ["[$(", "[`"].iter().any(|opening| {
        text.match_indices(opening)
            .take(8)
            .any(|(at, _)| runs(at, text.get(at + opening.len()..).unwrap_or("")))
    })
}

const fn is_input(kind: RedirectKind) -> bool {
    matches!(
        kind,
        RedirectKind::HereDocument(_)
            | RedirectKind::HereString
            | RedirectKind::Read
            | RedirectKind::Duplicate
    )
}

/// Whether a redirection stands before one that writes and may fail, so that nothing is written.
fn may_fail_before_writing(redirects: &[Redirect]) -> bool {
    let opens = |it: &Redirect| {
        !matches!(
            it.kind,
            RedirectKind::HereDocument(_) | RedirectKind::HereString | RedirectKind::Duplicate
        )
    };
    let writes = |it: &Redirect| it.kind == RedirectKind::Write && it.descriptor.is_none();
    let first = redirects.iter().position(opens);
    let last = redirects.iter().rposition(writes);
    first.zip(last).is_some_and(|(first, last)| first < last)
}

/// Whether a command makes the shell leave files that exist as they are: `set -C`.
fn keeps_files(args: &[Arg]) -> bool {
    let Some((name, options)) = args.split_first() else {
        return false;
    };
    let keeps = |arg: &Arg| {
        let short = arg.text.starts_with('-') && arg.text.contains('C');
        short || arg.text.to_lowercase().contains("clobber") || arg.vague()
    };
    matches!(name.text.as_str(), "set" | "setopt" | "unsetopt") && options.iter().any(keeps)
}

fn stream_of(arg: &Arg) -> Stream {
    Stream {
        text: (!arg.vague()).then(|| arg.text.clone()),
        taint: arg.taint,
        connected: true,
        names: Vec::new(),
        files: Vec::new(),
    }
}

fn combine(before: Value, value: Value, assignment: &Assignment) -> Value {
    let taint = before.taint.and(value.taint);
    let array = matches!(assignment.value, AssignedValue::Array(_)) || assignment.index.is_some();
    let items = match (before.items, value.items) {
        (Some(mut items), Some(more)) if array => {
            items.extend(more);
            Some(items)
        }
        (Some(mut items), Some(more)) => {
            if let (Some(text), Some(more)) = (items.first_mut(), more.first()) {
                text.push_str(more);
            }
            Some(items)
        }
        _ => None,
    };
    Value { items, taint }
}
