//! Data transfer: httpie, rsync, scp, ssh, tar.

use super::Line;
use crate::act::{Act, Breadth};
use crate::follow::program::carried::{is_far, is_given_to_another};
use crate::follow::program::files::obeyed_elsewhere;
use crate::follow::program::options::Hit;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::CODE_HOSTS;
use crate::knowledge::{Effect, Flag, PathKind, Role, Value};
use crate::place::HOLE;
use crate::score::Score;

/// Whether a command only asks a code host whether it knows the key: `ssh -T git@github.com`. Such a host
/// starts no shell. Every option has to be one that changes nothing about that.
fn asks_forge(line: &Line<'_>) -> bool {
    let [host] = line.read.operands.as_slice() else {
        return false;
    };
    let known = host
        .text
        .strip_prefix("git@")
        .is_some_and(|host| CODE_HOSTS.contains(host));
    let plain = |hit: &Hit| {
        matches!(
            hit.name,
            "-T" | "-v" | "-q" | "-4" | "-6" | "-p" | "-i" | "-o" | "-n"
        )
    };
    known && line.read.others == 0 && line.read.has(&["-T"]) && line.read.hits.iter().all(plain)
}

impl Walk<'_> {
    /// `gh api path`: the method decides, and a field makes it a change.
    pub(crate) fn read_api(&mut self, line: &Line<'_>) -> Stream {
        let method = line
            .read
            .value(&["-X", "--method"])
            .map(|value| value.text.to_uppercase());
        let fields = line
            .read
            .has(&["-f", "--raw-field", "-F", "--field", "--input"]);
        let query = line
            .read
            .operands
            .first()
            .is_some_and(|arg| arg.text == "graphql")
            && !line.read.has(&["--input"])
            && !line.args.iter().any(|arg| {
                let unseen = arg.text.starts_with("query=@")
                    || arg.text.starts_with("query=") && arg.text.contains(HOLE);
                unseen || arg.text.contains("mutation")
            });
        let effect = match method.as_deref() {
            Some("GET" | "HEAD") => Effect::CloudRead,
            Some("DELETE") => Effect::CloudDelete,
            Some(_) => Effect::CloudWrite,
            None if fields && !query => Effect::CloudWrite,
            None => Effect::CloudRead,
        };
        for hit in &line.read.hits {
            if let Some((role, value)) = hit.meaning()
                && (role != Role::Send || value.text.contains('@'))
            {
                self.role(role, value, line.row, line.stdin, false);
            }
        }
        self.note(Act::new(effect, line.row.name, line.span).on(line.operands_shown()));
        Stream::unknown(Taint {
            network: true,
            ..Taint::default()
        })
    }

    /// `http METHOD url item…`.
    pub(crate) fn read_httpie(&mut self, line: &Line<'_>) -> Option<Stream> {
        let operands = &line.read.operands;
        let first = operands.first()?;
        let named = matches!(
            first.text.to_uppercase().as_str(),
            "GET" | "HEAD" | "OPTIONS" | "POST" | "PUT" | "PATCH" | "DELETE"
        );
        let method = named.then(|| first.text.to_uppercase());
        let url = operands.get(usize::from(named))?;
        let items = operands.get(usize::from(named) + 1..).unwrap_or(&[]);
        let body = items.iter().any(|item| {
            let sign = item.text.find('=');
            let query = sign.is_some_and(|at| {
                item.text
                    .get(at..)
                    .is_some_and(|rest| rest.starts_with("=="))
            });
            sign.is_some() && !query || item.text.contains('@')
        });
        let reads = method
            .as_deref()
            .map_or(!body && !line.stdin.connected, |method| {
                matches!(method, "GET" | "HEAD" | "OPTIONS")
            });
        self.by_options(line);
        if reads {
            self.fetches(url, line.row.name);
            let near = !is_far(url);
            for item in items.iter().filter(|_| !near) {
                let file = [":@", "==@"]
                    .iter()
                    .find_map(|sign| Some(item.text.find(sign)? + sign.len()));
                if let Some(at) = file {
                    self.uploads(&item.after(at), line.row.name);
                } else if item.vague()
                    && (item.taint.data
                        || item.taint.secret
                            && (item.text.contains("==") || is_given_to_another(item.taint, line)))
                {
                    self.sends(item, line.row.name);
                }
            }
        } else {
            self.sends_to(url, line.row.name);
            for item in items {
                self.sends(item, line.row.name);
            }
            if method.as_deref() == Some("DELETE") {
                self.note(
                    Act::new(Effect::CloudDelete, line.row.name, self.here(url.span))
                        .because("asks a server to delete something")
                        .on(url.shown()),
                );
            }
        }
        Some(Stream::unknown(Taint {
            secret: false,
            network: true,
            ..Taint::default()
        }))
    }

    /// `rsync`: from or to another machine, and what it deletes.
    pub(crate) fn read_rsync(&mut self, line: &Line<'_>) -> Option<Stream> {
        if line.read.left_over.is_some() {
            return None;
        }
        let deletes = line
            .read
            .hits
            .iter()
            .any(|hit| hit.flag.effects.contains(&Effect::Delete));
        let (target, sources) = line.read.operands.split_last()?;
        self.by_options_but_delete(line);
        let away = is_remote(&target.text);
        for source in sources {
            if is_remote(&source.text) {
                self.note(
                    Act::new(Effect::NetRead, line.row.name, self.here(source.span))
                        .on(source.shown()),
                );
            } else if away {
                self.uploads(source, line.row.name);
            } else {
                self.reads(source, line.row.name);
            }
            if line.read.has(&["--remove-source-files"]) {
                self.deletes(source, line.row.name, Breadth::Tree);
            }
        }
        self.remember_copies(sources, target);
        if !away && !sources.is_empty() {
            self.writes(target, line.row.name, Writing::Replace);
        }
        let place = self.ground.place(&target.text);
        let scratch = place.kind == PathKind::Temp && !place.vague && !away;
        if deletes && scratch && !self.is_whole(target) {
            self.deletes(target, line.row.name, Breadth::Tree);
        } else if deletes {
            let mut act = Act::new(Effect::Delete, line.row.name, self.here(target.span))
                .because("deletes what the source does not have")
                .on(target.shown());
            act.target = Score::new(600);
            act.reversal = Score::ONE;
            act.marks.critical = true;
            self.note(act);
            if !away && self.is_whole(target) {
                self.loses_all(
                    target,
                    line.row.name,
                    "deletes what the source does not have",
                );
            }
        }
        Some(Stream::unknown(Taint::default()))
    }

    fn by_options_but_delete(&mut self, line: &Line<'_>) {
        for hit in &line.read.hits {
            for effect in hit
                .flag
                .effects
                .iter()
                .filter(|effect| !matches!(effect, Effect::Delete | Effect::Write))
            {
                self.note(Act::new(*effect, line.row.name, line.span).on(line.row.name));
            }
            if let Some((role, value)) = hit.meaning() {
                let plain =
                    role == Role::Program && matches!(value.text.split(' ').next(), Some("ssh"));
                if plain
                    && !value.text.contains("ProxyCommand")
                    && !value.text.contains("LocalCommand")
                {
                    continue;
                }
                self.role(role, value, line.row, &Stream::default(), false);
            }
        }
    }

    /// `scp`, `sftp`: local files that leave, remote files that arrive.
    pub(crate) fn read_scp(&mut self, line: &Line<'_>) -> Option<Stream> {
        self.by_options(line);
        let (target, sources) = line.read.operands.split_last()?;
        let span = self.here(target.span);
        if sources.is_empty() {
            self.note(Act::new(Effect::Remote, line.row.name, span).on(target.shown()));
        }
        for source in sources {
            if is_remote(&source.text) {
                self.note(Act::new(Effect::NetRead, line.row.name, span).on(source.shown()));
            } else {
                self.uploads(source, line.row.name);
            }
        }
        self.remember_copies(sources, target);
        if !is_remote(&target.text) && !sources.is_empty() {
            self.writes(target, line.row.name, Writing::Replace);
        } else if !sources.is_empty() {
            self.note(Act::new(Effect::Remote, line.row.name, span).on(target.shown()));
        }
        Some(Stream::unknown(Taint {
            secret: false,
            network: true,
            ..Taint::default()
        }))
    }

    /// Remembers that copies of another machine's files are not this project's own.
    fn remember_copies(&mut self, sources: &[&Arg], target: &Arg) {
        for source in sources
            .iter()
            .filter(|source| is_remote(&source.text))
            .take(16)
        {
            let name = source.text.rsplit(['/', ':']).next().unwrap_or("");
            let stream = Stream::unknown(Taint {
                network: true,
                ..Taint::default()
            });
            let inside = format!("{}/{name}", target.text.trim_end_matches('/'));
            self.remember_file(&Arg::literal(inside, source.span), stream.clone());
            self.remember_file(target, stream);
        }
    }

    /// `ssh host text`: what runs there is judged as if it ran here.
    pub(crate) fn read_ssh(&mut self, line: &Line<'_>) -> Stream {
        self.by_options(line);
        for hit in &line.read.hits {
            if matches!(hit.name, "-L" | "-R" | "-D" | "-w" | "-W") {
                self.note(
                    Act::new(Effect::Remote, line.row.name, line.span).because("opens a tunnel"),
                );
            }
        }
        if line.read.has(&["-G", "-Q"]) {
            self.note(Act::new(Effect::Inspect, line.row.name, line.span));
            return Stream::unknown(Taint::default());
        }
        if line.stdin.connected && line.stdin.taint.secret {
            self.leak(line.row, line.span);
        }
        let ground = std::mem::take(&mut self.ground);
        let (out, heard) = self.listening(|walk| match line.read.command {
            Some(at) => walk.joined_text(line.args.get(at..).unwrap_or(&[]), line.stdin),
            None if line.stdin.connected => walk.stdin_code(line.stdin, "sh", line.span),
            None if asks_forge(line) => Stream::unknown(Taint::default()),
            None => {
                let act = Act::new(Effect::Remote, line.row.name, line.span)
                    .because("opens a shell on another machine");
                walk.note(act);
                Stream::unknown(Taint::default())
            }
        });
        self.ground = ground;
        let host = line
            .read
            .operands
            .first()
            .map(|host| host.shown())
            .unwrap_or_default();
        let effect = if heard.is_more_than_looking() {
            Effect::Remote
        } else {
            Effect::NetRead
        };
        self.note(Act::new(effect, line.row.name, line.span).on(host));
        Stream {
            taint: Taint {
                network: true,
                ..out.taint
            },
            ..out
        }
    }

    /// `tar`: what it does is a letter, bundled or not.
    pub(crate) fn read_tar(&mut self, line: &Line<'_>) -> Stream {
        let asked = TarWords::of(line);
        let ground = self.ground.clone();
        let mut taint = line.stdin.taint.and(self.tar_options(line, &asked));
        if asked.has('t', &["--list"]) {
            self.note(Act::new(Effect::Read, line.row.name, line.span));
        } else if asked.has('x', &["--extract", "--get"]) {
            if !asked.has('O', &["--to-stdout"]) {
                self.extracts(&Arg::literal(".", line.span), line, &asked.letters);
            }
        } else if asked.has('c', &["--create"]) || asked.changes() {
            let (archive, files) = asked.archive_and_files(line);
            for file in files {
                taint = taint.and(self.reads(file, line.row.name));
            }
            // The archive lies where tar was called, whatever `-C` says.
            self.ground = ground.clone();
            if let Some(archive) = archive.filter(|archive| archive.text != "-") {
                self.packs(archive, line, asked.changes());
            }
        } else if !line.args.is_empty() {
            self.note(
                Act::new(Effect::Unknown, line.row.name, line.span)
                    .because("what tar does here is not clear"),
            );
        }
        self.ground = ground;
        Stream::unknown(taint)
    }

    /// Judges the options of `tar` but the archive.
    fn tar_options(&mut self, line: &Line<'_>, asked: &TarWords<'_>) -> Taint {
        let mut taint = Taint::default();
        for (letter, value) in asked.bundled(line) {
            let names = |flag: &&Flag| flag.names.iter().any(|name| is_letter(name, letter));
            let flag = line.row.flags.iter().find(names);
            if let Some(Value::Next(role)) = flag.map(|flag| flag.value)
                && letter != 'f'
            {
                taint = taint.and(self.role(role, value, line.row, &Stream::default(), false));
            }
        }
        let hits = line.read.hits.iter();
        for hit in hits.filter(|hit| !matches!(hit.name, "-f" | "--file")) {
            for effect in hit.flag.effects {
                let mut act = Act::new(*effect, line.row.name, line.span).on(hit.name);
                if *effect == Effect::Delete {
                    act = act
                        .because("deletes files after packing them")
                        .target(Score::new(600))
                        .reversal(Score::new(900));
                }
                self.note(act);
            }
            if let Some((role, value)) = hit.meaning() {
                taint = taint.and(self.role(role, value, line.row, &Stream::default(), false));
            }
        }
        taint
    }

    /// Judges writing the archive.
    fn packs(&mut self, archive: &Arg, line: &Line<'_>, changes: bool) {
        if is_remote(&archive.text) {
            let act = Act::new(Effect::Remote, line.row.name, line.span);
            self.note(act.on(archive.shown()));
            return;
        }
        let how = if changes {
            Writing::Edit
        } else {
            Writing::Replace
        };
        self.writes(archive, line.row.name, how);
    }

    /// Judges unpacking into `directory`, which is the working directory after `-C`.
    fn extracts(&mut self, directory: &Arg, line: &Line<'_>, letters: &str) {
        let span = self.here(directory.span);
        let place = obeyed_elsewhere(self.place(&directory.text));
        self.fills(&place, line.row.name, directory.span);
        let absolute = letters.contains('P')
            || line
                .args
                .iter()
                .any(|arg| arg.text.starts_with("--absolute-n"));
        let mut act = Act::new(Effect::Create, line.row.name, span)
            .because("unpacks files into")
            .on(place.path.clone());
        // `.git` holds what version control runs and obeys.
        let obeyed = matches!(place.kind, PathKind::Hook | PathKind::Startup)
            && place.write >= Score::new(600)
            || place.write >= Score::new(800);
        act.target = if place.inside == Some(true) && !obeyed
            || place.whole_workspace && place.kind == PathKind::Document
        {
            Score::new(100)
        } else {
            place.write
        };
        if absolute || act.target >= Score::new(600) {
            act.effect = Effect::Write;
            act.target = act.target.max(Score::new(700));
            act.marks.critical = true;
        }
        self.note(act);
    }
}

/// The words of a `tar` command line that say what it does.
struct TarWords<'a> {
    args: &'a [Arg],
    /// The first word, where it is a bundle of letters without a dash.
    bundle: Option<&'a Arg>,
    /// All letters that were given.
    letters: String,
}

impl<'a> TarWords<'a> {
    fn of(line: &Line<'a>) -> Self {
        let bundle = line.args.first().filter(|arg| {
            !arg.text.starts_with('-') && arg.text.bytes().all(|byte| byte.is_ascii_alphabetic())
        });
        let letters = match bundle {
            Some(arg) => arg.text.clone() + &short_letters(line.args),
            None => short_letters(line.args),
        };
        Self {
            args: line.args,
            bundle,
            letters,
        }
    }

    /// Whether the letter or one of the long options was given, perhaps abbreviated.
    fn has(&self, letter: char, long: &[&str]) -> bool {
        self.letters.contains(letter) || long.iter().any(|name| self.has_long(name))
    }

    fn has_long(&self, name: &str) -> bool {
        self.args.iter().any(|arg| {
            arg.text.len() > 3
                && arg.text.starts_with("--")
                && name.starts_with(arg.text.split('=').next().unwrap_or(""))
        })
    }

    /// Whether an archive that is there is changed.
    fn changes(&self) -> bool {
        self.has('r', &["--append"])
            || self.has('u', &["--update"])
            || self.has('A', &["--concatenate"])
            || self.has_long("--delete")
    }

    /// Returns the archive and the files: the archive is the value of `-f`, or the first operand
    /// after a bundle with an `f`.
    fn archive_and_files(&self, line: &Line<'a>) -> (Option<&'a Arg>, Vec<&'a Arg>) {
        let mut files = line.read.operands.clone();
        let mut archive = line.read.value(&["-f", "--file"]);
        if self.bundle.is_some() {
            let bundled = self.bundled(line);
            files.drain(..files.len().min(bundled.len() + 1));
            let named = bundled.iter().find(|(letter, _)| *letter == 'f');
            archive = named.map(|(_, value)| *value).or(archive);
        }
        (archive, files)
    }

    /// Returns the letters of a bundle without a dash that take a value, with it: the words that
    /// follow, one after the other, as in `tar cfI a.tar zstd src`.
    fn bundled(&self, line: &Line<'a>) -> Vec<(char, &'a Arg)> {
        let letters = self.bundle.map_or("", |bundle| bundle.text.as_str());
        let taking = letters.chars().filter(|letter| TAKING.contains(*letter));
        let words = line.read.operands.iter().copied().skip(1);
        taking.zip(words).collect()
    }
}

/// Letters of `tar` that take a value.
const TAKING: &str = "fCITXbgKLNVFH";

/// Whether `name` is the short option with this letter.
fn is_letter(name: &str, letter: char) -> bool {
    name.strip_prefix('-')
        .is_some_and(|rest| rest.chars().eq([letter]))
}

/// Returns the letters of short options of `tar`, without the values some of them take.
fn short_letters(args: &[Arg]) -> String {
    let mut letters = String::new();
    let mut is_value = false;
    for arg in args {
        if std::mem::take(&mut is_value) || arg.text.starts_with("--") {
            continue;
        }
        let Some(bundle) = arg.text.strip_prefix('-') else {
            continue;
        };
        let taking = bundle.find(|letter| TAKING.contains(letter));
        let own = taking.map_or(bundle.len(), |at| at + 1);
        letters.push_str(bundle.get(..own).unwrap_or(bundle));
        is_value = taking.is_some() && own == bundle.len();
    }
    letters
}

/// Whether a word of rsync or scp names another machine.
fn is_remote(text: &str) -> bool {
    if text.contains("://") {
        return true;
    }
    text.split_once(':').is_some_and(|(host, _)| {
        let is_drive = host.len() == 1 && host.bytes().all(|byte| byte.is_ascii_alphabetic());
        !host.is_empty() && !host.contains('/') && !is_drive
    })
}
