//! File effects: reads, writes and deletions, by the sensitivity of the path.

use super::carried::is_version_file;
use super::resolve::is_tool_place;
use crate::act::{Act, Breadth};
use crate::follow::budget::Allowed;
use crate::follow::value::{Arg, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{
    BUILD_CACHES, DISPOSABLE_WORDS, PERSONAL_ENDINGS, PERSONAL_FOLDERS, PROGRAM_FILES,
    SCRATCH_FOLDERS, WRAPPER_NAMES,
};
use crate::knowledge::{Effect, PathKind};
use crate::place::{Place, shares};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::written::parent;

/// How sensitive a place must be for reading it to be a question of its own.
const DOUBTFUL: Score = Score::new(250);
/// How sensitive a place must be for a person to be asked.
const SENSITIVE: Score = Score::new(600);
/// How sensitive a directory is whose programs are trusted by their names.
const GUARDED: Score = Score::new(650);

impl Walk<'_> {
    /// Looks a path up, or says that there are too many to look up.
    fn look_up(&mut self, arg: &Arg) -> Option<Place> {
        let allowed = self.budget.allows_lookup();
        if allowed == Allowed::NoLonger {
            self.unreadable("it names too many files to check", arg.span);
        }
        if allowed != Allowed::Yes {
            return None;
        }
        // `qemu-img convert 'json:{"file.filename": …}'`
        if arg.text.starts_with("json:{") {
            self.unreadable("names a file inside a description", arg.span);
        }
        if self.ground.is_windows
            && let Some(host) = shares::host_of(&arg.text)
        {
            self.opens_share(host, arg.span);
        }
        Some(self.place(&arg.text))
    }

    /// Judges a path on another machine, to which Windows sends the user's login.
    pub(crate) fn opens_share(&mut self, host: &str, span: Span) {
        let home = self.ground.cwd.as_deref().unwrap_or("");
        let mut parts = home.split('/').filter(|part| !part.is_empty());
        if parts
            .next()
            .is_some_and(|first| first.eq_ignore_ascii_case(host))
        {
            return;
        }
        let act = Act::new(Effect::NetSend, "", self.here(span))
            .because("opens a share of another machine, which is sent the user's login");
        self.note(act.on(host).target(Score::new(400)));
    }

    /// Looks up what is deleted or moved: a link is, and not what it leads to.
    fn look_up_itself(&mut self, arg: &Arg) -> Option<Place> {
        let place = self.look_up(arg)?;
        Some(obeyed_elsewhere(if self.is_link(&arg.text) {
            self.ground.place(&arg.text)
        } else {
            place
        }))
    }

    /// Judges reading the file `arg`.
    pub(crate) fn reads(&mut self, arg: &Arg, program: &str) -> Taint {
        if arg.text == "-" || arg.text.is_empty() {
            return arg.taint;
        }
        if let Some(stream) = &arg.delivers {
            return stream.taint;
        }
        let Some(place) = self.look_up(arg) else {
            return arg.taint;
        };
        if let Some(address) = shell_connection(&place.path) {
            return self.fetches(&Arg::literal(address, arg.span), program);
        }
        if place.read < DOUBTFUL {
            if arg.glob && !place.vague {
                let taint = self.reads_matches(arg, program);
                if taint.secret {
                    return taint;
                }
            }
            let network = self
                .memory
                .written(&place.path)
                .is_some_and(|stream| stream.taint.network);
            return Taint {
                network: network || arg.taint.network,
                data: !is_version_file(&place.path) && place.kind != PathKind::Sink,
                ..arg.taint
            };
        }
        if self.is_counted() && place.kind != PathKind::Guard {
            return Taint {
                data: true,
                ..arg.taint
            };
        }
        if self.scope.names.only && place.kind == PathKind::Environment {
            self.note(Act::new(
                Effect::Read,
                program.to_owned(),
                self.here(arg.span),
            ));
            return Taint {
                data: true,
                ..arg.taint
            };
        }
        let secret = matches!(
            place.kind,
            PathKind::Credential
                | PathKind::Environment
                | PathKind::Process
                | PathKind::History
                | PathKind::Guard
        );
        let effect = if place.read >= SENSITIVE && secret {
            Effect::Secret
        } else {
            Effect::Read
        };
        let mut act = Act::new(effect, program.to_owned(), self.here(arg.span))
            .on(name(&place))
            .target(place.read);
        act.marks.critical |= place.read >= SENSITIVE;
        if effect == Effect::Secret {
            act.note = "reads a place that holds secrets";
            // Whoever has the firewall's keys can answer in a person's name.
            act.marks.guard = place.kind == PathKind::Guard;
        }
        self.note(act);
        Taint {
            secret: secret || arg.taint.secret,
            network: false,
            data: true,
            ..Taint::default()
        }
    }

    /// Judges writing the file `arg`.
    pub(crate) fn writes(&mut self, arg: &Arg, program: &str, how: Writing) {
        if arg.text == "-" || arg.text.is_empty() {
            return;
        }
        if arg.delivers.is_some() {
            return;
        }
        let Some(place) = self.look_up(arg).map(obeyed_elsewhere) else {
            return;
        };
        if place.kind == PathKind::Sink {
            return;
        }
        let place = match how {
            Writing::Directory => runs_nothing_yet(place),
            Writing::Replace
            | Writing::Empty
            | Writing::Append
            | Writing::Edit
            | Writing::Create => place,
        };
        let makes = matches!(how, Writing::Create | Writing::Directory);
        self.fills(&place, program, arg.span);
        let byproduct = place.kind == PathKind::Generated && place.inside == Some(true);
        let reversal = match how {
            Writing::Empty if byproduct || place.kind == PathKind::Temp => Score::new(350),
            Writing::Replace => Score::new(350),
            Writing::Empty => Score::new(1000),
            Writing::Append | Writing::Edit => Score::new(300),
            Writing::Create | Writing::Directory => Score::new(50),
        };
        let effect = place_effect(&place, if makes { Effect::Create } else { Effect::Write });
        let mut act = Act::new(effect, program.to_owned(), self.here(arg.span)).target(place.write);
        if effect == Effect::Write || effect == Effect::Create {
            act.reversal = reversal;
        }
        if how == Writing::Empty && !matches!(place.kind, PathKind::Temp | PathKind::Generated) {
            act.note = "empties a file";
        }
        if arg.glob && !makes && is_personal(&place) {
            act.reversal = act.reversal.max(Score::new(700));
            act.note = "changes somebody's documents";
        }
        if place.vague {
            // An unknown directory with a known name is common in builds; an unknown path is not.
            act.clarity = if place.write <= Score::new(300) {
                Score::new(780)
            } else {
                Score::new(720)
            };
        }
        // What is made where nothing is known to be touches nobody: `mkdir /work`.
        let is_new = makes && place.kind == PathKind::Document;
        if place.write > SENSITIVE || place.write == SENSITIVE && !is_new {
            act.marks.critical = true;
        }
        if self.ground.is_windows && how != Writing::Directory && hides_program(&place.path) {
            act = Act::new(Effect::Persist, program.to_owned(), act.span)
                .because("puts a file where Windows looks for a program of that name first");
        }
        if let Some(address) = shell_connection(&place.path) {
            self.guards(&Arg::literal(address, arg.span), program, true);
            act = Act::new(Effect::NetSend, program.to_owned(), act.span)
                .because("opens a connection of the shell's own")
                .target(Score::new(900));
            act.marks.critical = true;
        } else if effect == Effect::Wipe {
            act.marks.floor = true;
            act.note = "overwrites a disk";
        } else if super::floor::halts_when_written(&place.path) {
            act = Act::new(Effect::Halt, program.to_owned(), act.span);
        } else if matches!(how, Writing::Empty | Writing::Replace)
            && (arg.glob || arg.text.contains('*'))
            && self.is_all_of_a_whole(arg)
        {
            act.marks.floor = true;
            act.target = Score::ONE;
        }
        self.note(act.on(name(&place)));
    }

    /// Judges deleting `arg`.
    pub(crate) fn deletes(&mut self, arg: &Arg, program: &str, breadth: Breadth) {
        // `cd build; rm -rf *`: had the `cd` failed, the pattern would stand for all that is here.
        if let Some(perhaps) = self.ground.perhaps.take_if(|_| names_nothing(&arg.text)) {
            let entered = self.ground.cwd.replace(perhaps.clone());
            self.deletes(arg, program, breadth);
            self.ground.cwd = entered;
            self.ground.perhaps = Some(perhaps);
        }
        let Some(place) = self.look_up_itself(arg) else {
            return;
        };
        if place.kind == PathKind::Sink && breadth == Breadth::One {
            return;
        }
        let tree = breadth >= Breadth::Tree;
        // A star may have lost its mark on the way through a variable.
        let many = arg.glob || arg.text.contains('*');
        let moved = (tree || many) && self.holds_moved(&place);
        let place = if moved { moved_there(place) } else { place };
        let effect = place_effect(&place, Effect::Delete);
        let mut act = Act::new(effect, program.to_owned(), self.here(arg.span)).target(place.write);
        act.breadth = breadth;
        act.reversal = match (place.kind, tree) {
            (PathKind::Generated, _) if place.inside == Some(true) || !tree => Score::new(100),
            (PathKind::Generated, _) if is_build_cache(&place) => Score::new(100),
            // Outside a known project nobody can tell whether a build made it.
            (PathKind::Generated, _) => {
                act.clarity = Score::new(650);
                Score::new(300)
            }
            (PathKind::Temp, _) => Score::new(250),
            (_, true) => Score::ONE,
            (_, false) if many => Score::new(900),
            (_, false) => Score::new(500),
        };
        if arg.taint.uncertain {
            act.clarity = Score::new(600);
        }
        if moved {
            act.note = "deletes what was moved there before";
        }
        let whole = is_whole(&place, many) || many && self.is_all_of_a_whole(arg);
        if place.vague && place.kind != PathKind::Temp && place.kind != PathKind::Generated {
            act.reversal = act.reversal.max(Score::new(900));
            act.target = act.target.max(Score::new(500));
            act.clarity = Score::new(500);
        } else if place.whole_workspace {
            act.target = Score::new(900);
            if place.kind == PathKind::Document {
                act.note = "deletes the working directory";
            }
            act.marks.critical = true;
        } else if tree
            && place.inside != Some(true)
            && !matches!(place.kind, PathKind::Generated | PathKind::Temp)
        {
            act.target = act.target.max(Score::new(600));
        }
        if is_irreplaceable(&place) {
            act.target = act.target.max(SENSITIVE);
            act.note = "deletes a document that no build makes";
        }
        if place.write >= SENSITIVE {
            act.marks.critical = true;
        }
        if tree && whole || effect == Effect::Wipe || whole && many {
            act.marks.floor = true;
            act.target = Score::ONE;
        }
        if place.kind == PathKind::Temp && whole {
            act.marks.floor = false;
            act.target = Score::new(700);
            act.reversal = Score::new(900);
        }
        self.note(act.on(name(&place)));
    }

    /// Judges deleting a directory that holds the output of a build by what stands beside it.
    pub(crate) fn deletes_built(&mut self, arg: &Arg, program: &str) {
        let place = self.ground.place(&arg.text);
        let is_own = place.inside == Some(true) && place.kind == PathKind::Document;
        if !is_own || place.vague || place.whole_workspace || !self.knows.trusts_workspace {
            self.deletes(arg, program, Breadth::Tree);
            return;
        }
        let mut act = Act::new(Effect::Delete, program.to_owned(), self.here(arg.span))
            .on(name(&place))
            .reversal(Score::new(100));
        act.breadth = Breadth::Tree;
        self.note(act);
    }

    /// Judges a link to `arg`: whoever writes through it later writes there.
    pub(crate) fn links(&mut self, arg: &Arg, program: &str) {
        let Some(place) = self.look_up(arg) else {
            return;
        };
        let obeyed = matches!(
            place.kind,
            PathKind::Guard
                | PathKind::Agent
                | PathKind::Instruction
                | PathKind::Startup
                | PathKind::Schedule
                | PathKind::Hook
                | PathKind::Ci
                | PathKind::Credential
        );
        if obeyed && place.write >= SENSITIVE {
            let effect = place_effect(&place, Effect::Write);
            let mut act = Act::new(effect, program.to_owned(), self.here(arg.span))
                .because("makes a link through which a sensitive place can be written")
                .on(name(&place))
                .target(place.write);
            act.marks.critical = true;
            self.note(act);
        }
    }

    /// Whether a pattern stands for all that is in a root, a home or a system directory.
    fn is_all_of_a_whole(&mut self, arg: &Arg) -> bool {
        let Some((parent, last)) = arg.text.trim_end_matches('/').rsplit_once('/') else {
            return false;
        };
        if last.chars().any(char::is_alphanumeric) || !last.contains('*') {
            return false;
        }
        let parent = self.place(if parent.is_empty() { "/" } else { parent });
        parent.kind != PathKind::Temp && is_whole(&parent, false)
    }

    /// Judges moving `arg` away.
    pub(crate) fn moves(&mut self, arg: &Arg, program: &str) {
        let Some(place) = self.look_up_itself(arg) else {
            return;
        };
        if place.kind == PathKind::Temp || place.kind == PathKind::Sink && place.path != "/dev/null"
        {
            return;
        }
        let effect = place_effect(&place, Effect::Write);
        let mut act = Act::new(effect, program.to_owned(), self.here(arg.span)).target(place.write);
        act.reversal = Score::new(250);
        if is_personal(&place) {
            act.target = act.target.max(SENSITIVE);
            act.reversal = Score::new(500);
            act.note = "moves somebody's documents";
        }
        // Another project, or a directory of somebody: whoever looks for it finds it gone.
        let is_folder =
            !crate::written::name(&place.path).contains('.') && place.kind == PathKind::Document;
        if place.inside == Some(false) && is_folder && !place.vague {
            act.target = act.target.max(SENSITIVE);
            act.note = "moves a directory outside the workspace away";
            act.marks.critical = true;
        }
        if place.write >= SENSITIVE {
            act.marks.critical = true;
        }
        if place.whole_workspace && !place.vague
            || matches!(place.kind, PathKind::Root | PathKind::Home)
        {
            act.marks.critical = true;
            act.target = Score::new(900);
        }
        if place.kind == PathKind::Root && !place.vague {
            act.marks.floor = true;
            act.note = "moves a whole file system away";
        }
        self.note(act.on(name(&place)));
    }

    /// Judges changing owner, mode or attributes of `arg`.
    pub(crate) fn permits(&mut self, arg: &Arg, program: &str, danger: Score) {
        let Some(place) = self.look_up(arg) else {
            return;
        };
        let mut act = Act::new(Effect::Permission, program.to_owned(), self.here(arg.span));
        act.target = place.write.max(danger);
        if act.target >= SENSITIVE {
            act.marks.critical = true;
        }
        self.note(act.on(name(&place)));
    }
}

/// Whether a place lies in a cache of the user into which builds alone put what they can make again at once.
fn is_build_cache(place: &Place) -> bool {
    let below = |cache: &str| {
        place
            .path
            .strip_prefix(cache)
            .is_some_and(|rest| !rest.is_empty())
    };
    !place.vague && BUILD_CACHES.iter().any(below)
}

/// Returns a place that may be emptied as one that may not, because something was moved there.
fn moved_there(place: Place) -> Place {
    Place {
        kind: PathKind::Document,
        write: place.write.max(Score::new(400)),
        ..place
    }
}

/// Raises a place outside the workspace with instructions that agents follow: other agents and later
/// sessions obey it, and nobody reviews it with the project. Raises a place, too, whose programs are
/// trusted by their names.
pub(super) fn obeyed_elsewhere(mut place: Place) -> Place {
    let scratch = || {
        SCRATCH_FOLDERS
            .iter()
            .any(|start| place.path.starts_with(start))
    };
    if place.kind == PathKind::Instruction
        && place.inside == Some(false)
        && place.write < SENSITIVE
        && !scratch()
    {
        place.write = Score::new(650);
    }
    // What runs by its name is guarded like what runs by itself.
    let runs_by_name = || is_tool_place(&place.path) || is_tool_place(parent(&place.path));
    if place.inside != Some(true) && place.write < GUARDED && runs_by_name() {
        place.write = GUARDED;
        place.kind = PathKind::Startup;
    }
    place
}

/// Whether a place outside the workspace lies among what people keep for themselves.
fn is_personal(place: &Place) -> bool {
    place.inside == Some(false)
        && place.kind == PathKind::Document
        && PERSONAL_FOLDERS
            .iter()
            .any(|folder| place.path.starts_with(folder))
}

/// Returns the address of a connection that the shell opens like a file: `/dev/tcp/host/port`.
fn shell_connection(path: &str) -> Option<String> {
    let rest = path
        .strip_prefix("/dev/tcp/")
        .or_else(|| path.strip_prefix("/dev/udp/"))?;
    let (host, port) = rest.split_once('/').unwrap_or((rest, ""));
    Some(if host.contains(':') {
        format!("[{host}]:{port}")
    } else {
        format!("{host}:{port}")
    })
}

/// Whether a path consists of dots and patterns alone, so that the directory it is taken from says
/// all of what it stands for.
fn names_nothing(text: &str) -> bool {
    let mut in_brackets = false;
    !text.starts_with('/')
        && !text.contains("..")
        && text.chars().all(|letter| {
            let pattern = in_brackets || matches!(letter, '.' | '/' | '*' | '?' | '[');
            in_brackets = letter == '[' || in_brackets && letter != ']';
            pattern
        })
}

/// Returns the place of a directory that is made empty below a home or in the workspace: what runs by
/// itself are the files in it, and each of them is judged when it is written.
fn runs_nothing_yet(mut place: Place) -> Place {
    let runs = matches!(
        place.kind,
        PathKind::Startup
            | PathKind::Schedule
            | PathKind::Ci
            | PathKind::Hook
            | PathKind::Instruction
    );
    let own = place.path.starts_with("~/") || place.inside == Some(true);
    if runs && !place.vague && own {
        place.kind = PathKind::Document;
        place.write = place.write.min(Score::new(250));
    }
    place
}

/// What changing a place of this kind amounts to.
fn place_effect(place: &Place, ordinary: Effect) -> Effect {
    if place.write < SENSITIVE {
        return ordinary;
    }
    match place.kind {
        PathKind::Guard | PathKind::Agent => Effect::Guard,
        PathKind::Device => Effect::Wipe,
        PathKind::Startup
        | PathKind::Schedule
        | PathKind::Ci
        | PathKind::Hook
        | PathKind::Instruction => {
            if ordinary == Effect::Delete {
                Effect::Delete
            } else {
                Effect::Persist
            }
        }
        PathKind::ContainerSocket => Effect::Privilege,
        PathKind::Root
        | PathKind::Home
        | PathKind::System
        | PathKind::Sink
        | PathKind::Temp
        | PathKind::Credential
        | PathKind::History
        | PathKind::Process
        | PathKind::Log
        | PathKind::Generated
        | PathKind::Document
        | PathKind::Environment => ordinary,
    }
}

/// Whether a file in a project is somebody's document: no source and no output, so that a repository
/// rarely has it.
fn is_irreplaceable(place: &Place) -> bool {
    let file = crate::written::name(&place.path);
    let is_document = file
        .rsplit_once('.')
        .is_some_and(|(_, ending)| PERSONAL_ENDINGS.contains(ending.to_ascii_lowercase().as_str()));
    let mut words = place.path.split(['/', '-', '_', '.', ' ']);
    is_document
        && place.kind == PathKind::Document
        && !words.any(|word| DISPOSABLE_WORDS.contains(word.to_ascii_lowercase().as_str()))
}

/// Whether a file bears the name of a program that the shells of Windows would find before the program
/// itself: `git.exe`, `npm.cmd`. Wrappers and scripts of projects are called like what they wrap.
fn hides_program(path: &str) -> bool {
    let file = crate::written::name(path).to_ascii_lowercase();
    let Some((program, ending)) = file.rsplit_once('.') else {
        return false;
    };
    PROGRAM_FILES.contains(ending)
        && !WRAPPER_NAMES.contains(program)
        && crate::knowledge::program(program).is_some()
}

/// Whether deleting it deletes a root, a home, or a directory the system stands on.
fn is_whole(place: &Place, globbed: bool) -> bool {
    let path = place.path.trim_end_matches('/');
    let base = path.trim_end_matches(['*', '.', '?']).trim_end_matches('/');
    match place.kind {
        PathKind::Root | PathKind::Home => true,
        PathKind::Temp => {
            let own = base.trim_end_matches('…').trim_end_matches('/');
            let depth = own.split('/').filter(|name| !name.is_empty()).count();
            depth <= if base.starts_with("/var") { 2 } else { 1 }
        }
        PathKind::System
        | PathKind::Device
        | PathKind::Sink
        | PathKind::Credential
        | PathKind::Startup
        | PathKind::Schedule
        | PathKind::Guard
        | PathKind::Agent
        | PathKind::Instruction
        | PathKind::Ci
        | PathKind::Hook
        | PathKind::History
        | PathKind::Process
        | PathKind::Log
        | PathKind::Generated
        | PathKind::Document
        | PathKind::ContainerSocket
        | PathKind::Environment => {
            place.path.starts_with(['/', '~'])
                && matches!(base, "" | "~")
                && (globbed || base == "~")
        }
    }
}

/// Returns the path with what the table calls it.
fn name(place: &Place) -> String {
    if place.what.is_empty() {
        place.path.clone()
    } else {
        format!("{} ({})", place.path, place.what)
    }
}
