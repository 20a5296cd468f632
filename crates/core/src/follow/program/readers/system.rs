//! Files, processes and services: rm, chmod, dd, kill, crontab, systemctl.

use super::Line;
use crate::act::{Act, Breadth};
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::names::{LOCK_FILES, RUNNING_MODES};
use crate::knowledge::{Effect, PathKind, verbs};
use crate::place::{HOLE, JOB};
use crate::score::Score;

/// Named files one `rm` may delete without being broad.
const FEW: usize = 3;

impl Walk<'_> {
    /// `rm`: what is deleted decides.
    pub(crate) fn read_rm(&mut self, line: &Line<'_>) -> Stream {
        let recursive = line.read.has(&["-r", "-R", "--recursive"]);
        let breadth = if recursive {
            Breadth::Tree
        } else if line.read.operands.len() > FEW {
            Breadth::Few
        } else {
            Breadth::One
        };
        for hit in &line.read.hits {
            for effect in hit.flag.effects {
                let mut act = Act::new(*effect, line.row.name, line.span)
                    .because("may delete the root of the file system");
                act.marks.critical = true;
                self.note(act);
            }
        }
        for operand in &line.read.operands {
            // Some names are those of files, so that nothing lies below them.
            let name = operand.text.rsplit('/').next().unwrap_or("");
            let single = breadth == Breadth::Tree && LOCK_FILES.contains(name);
            let breadth = if single { Breadth::One } else { breadth };
            self.deletes(operand, line.row.name, breadth);
        }
        if line.read.operands.is_empty() {
            // Whatever it was meant to delete is missing from the words.
            self.note(
                Act::new(Effect::Unknown, line.row.name, line.span)
                    .because("deletes, but does not say what"),
            );
        }
        Stream::empty()
    }

    /// `chmod`: rights for everybody and the right to become another user are what matter.
    pub(crate) fn read_chmod(&mut self, line: &Line<'_>) -> Option<Stream> {
        let recursive = line.read.has(&["-R", "--recursive"]);
        // A mode such as `-x` or `-rwx` looks like an option.
        let negative = line.args.iter().find(|arg| {
            arg.text.starts_with('-')
                && !arg.text.starts_with("--")
                && arg.text.len() > 1
                && arg
                    .text
                    .bytes()
                    .skip(1)
                    .all(|byte| b"rwxXst".contains(&byte))
        });
        let referred = line.read.value(&["--reference"]).is_some();
        let (mode, files) = match (negative, line.read.operands.split_first()) {
            // The mode of another file is whatever it is.
            (None, Some(_)) if referred => (HOLE.to_string(), line.read.operands.clone()),
            (Some(mode), _) => (mode.text.clone(), line.read.operands.clone()),
            (None, Some((mode, files))) => (mode.text.clone(), files.to_vec()),
            (None, None) => return None,
        };
        if is_private_mode(&mode) {
            // `chmod 600 ~/.ssh/key`: what only its owner may use is what a credential needs.
            let is_credential = |file: &&Arg| {
                let place = self.ground.place(&file.text);
                let own = place.path.starts_with("~/") || place.inside == Some(true);
                own && place.kind == PathKind::Credential && !place.vague && !file.glob
            };
            if !recursive && !files.is_empty() && files.iter().all(is_credential) {
                self.note(Act::new(Effect::Setting, line.row.name, line.span));
                return Some(Stream::empty());
            }
        }
        let mut danger = mode_danger(&mode);
        if recursive && danger > Score::new(150) {
            danger = danger.max(Score::new(500));
        }
        for file in &files {
            if !recursive && RUNNING_MODES.contains(mode.as_str()) && self.is_project_script(file) {
                let path = self.ground.place(&file.text).path;
                self.note(Act::new(Effect::Permission, line.row.name, line.span).on(path));
                continue;
            }
            self.permits(file, line.row.name, danger);
            if recursive
                && (self.ground.place(&file.text).whole_workspace || file.vague())
                && danger >= Score::new(300)
            {
                self.permits(file, line.row.name, Score::new(700));
            }
        }
        Some(Stream::empty())
    }

    /// Whether a file is a script of the project that something else starts: a hook that lies among its
    /// sources, a script of its container. Whoever may run it ran it before by naming a shell; to write it
    /// is a question of its own. Hooks of git lie outside the sources, and those of agents guard something.
    fn is_project_script(&self, file: &Arg) -> bool {
        let place = self.ground.place(&file.text);
        let started = matches!(
            place.kind,
            PathKind::Startup | PathKind::Hook | PathKind::Ci
        );
        self.knows.trusts_workspace
            && started
            && place.inside == Some(true)
            && !place.vague
            && !file.glob
            && !place.path.contains("/.git/")
    }

    /// Judges a mode that something gets when it is made: `install -m 4755`.
    pub(crate) fn makes_with_mode(&mut self, mode: &Arg, program: &'static str) {
        let danger = mode_danger(&mode.text);
        if danger >= Score::new(600) {
            let mut act = Act::new(Effect::Permission, program, self.here(mode.span))
                .because("makes a file writable for others or setuid")
                .on(mode.shown())
                .target(danger);
            act.marks.critical = true;
            self.note(act);
        }
    }

    /// `dd if=… of=…`.
    pub(crate) fn read_dd(&mut self, line: &Line<'_>) -> Stream {
        let mut taint = line.stdin.taint;
        let mut text = line.stdin.text.clone();
        let mut target = None;
        for operand in line.args {
            if operand.text.starts_with("if=") {
                taint = taint.and(self.reads(&operand.after(3), line.row.name));
                text = None;
            } else if operand.text.starts_with("of=") {
                target = Some(operand.after(3));
            }
        }
        match target {
            Some(target) => {
                self.writes(&target, line.row.name, Writing::Replace);
                let content = Stream {
                    text: text.take(),
                    ..Stream::unknown(taint)
                };
                self.remember_file(&target, content);
            }
            None => self.note(Act::new(Effect::Read, line.row.name, line.span)),
        }
        Stream {
            text,
            taint,
            ..Stream::unknown(taint)
        }
    }

    /// `fuser -k`: what uses a port of development can be started again.
    pub(crate) fn read_fuser(&mut self, line: &Line<'_>) -> Option<Stream> {
        let ends = line.read.has(&["-k", "--kill"]) && line.ends_development_server();
        ends.then(|| {
            let mut act = Act::new(Effect::Kill, line.row.name, line.span);
            act.reversal = Score::new(200);
            self.note(act.on(line.operands_shown()));
            Stream::empty()
        })
    }

    /// `kill`: everything, the first process, or what a substitution names.
    pub(crate) fn read_kill(&mut self, line: &Line<'_>) -> Stream {
        let words: Vec<&str> = line.args.iter().map(|arg| arg.text.as_str()).collect();
        if words
            .first()
            .is_some_and(|word| matches!(*word, "-l" | "-L" | "--list" | "--table" | "-0"))
            || words.starts_with(&["-s", "0"])
        {
            self.note(Act::new(Effect::Inspect, line.row.name, line.span));
            return Stream::unknown(Taint::default());
        }
        let all = words
            .iter()
            .enumerate()
            .any(|(at, word)| *word == "-1" && (at > 0 || words.len() == 1));
        let mut act = Act::new(Effect::Kill, line.row.name, line.span).on(words
            .iter()
            .filter(|word| !word.starts_with('-'))
            .copied()
            .collect::<Vec<_>>()
            .join(" ")
            .replace(HOLE, "…")
            .replace(JOB, ""));
        if all {
            act.marks.floor = true;
            act.target = Score::ONE;
            act.note = "ends every process";
        } else if words.contains(&"1") {
            act.marks.critical = true;
            act.target = Score::ONE;
            if ends_the_first(&words) {
                act.marks.floor = true;
                act.note = "ends the first process, and with it the machine";
            }
        } else if line
            .args
            .iter()
            .all(|arg| is_own_job(arg) || is_switch(arg))
        {
            act.reversal = Score::new(200);
        } else if words.iter().any(|word| word.contains(HOLE)) {
            act.target = Score::new(500);
        } else {
            act.target = Score::new(300);
        }
        self.note(act);
        Stream::empty()
    }

    /// `crontab`: `-l` reads; a file or `-` replaces every job.
    pub(crate) fn read_crontab(&mut self, line: &Line<'_>) -> Stream {
        // The last of `-l`, `-r` and `-e` counts, and a file is installed whatever they say.
        let changes = line.read.has(&["-r", "-e"]) || !line.read.operands.is_empty();
        if line.read.has(&["-l"]) && !changes {
            self.note(Act::new(Effect::Inspect, line.row.name, line.span));
            return Stream::unknown(Taint::default());
        }
        let act =
            Act::new(Effect::Persist, line.row.name, line.span).because("changes scheduled jobs");
        self.note(act);
        Stream::empty()
    }

    /// `systemctl verb unit`, `service unit verb`.
    pub(crate) fn read_systemctl(&mut self, line: &Line<'_>) -> Stream {
        self.by_options(line);
        let words: Vec<&str> = line
            .read
            .operands
            .iter()
            .map(|arg| arg.text.as_str())
            .collect();
        let (verb, units) = if line.row.name == "systemctl" {
            (
                words.first().copied().unwrap_or("list-units"),
                words.get(1..).unwrap_or(&[]),
            )
        } else if line.args.iter().any(|arg| arg.text == "--status-all") {
            ("status", [].as_slice())
        } else {
            (
                words.get(1).copied().unwrap_or("status"),
                words.get(..1).unwrap_or(&[]),
            )
        };
        let guarded = units.iter().any(|unit| {
            ["countersign", "hermes", "openclaw"]
                .iter()
                .any(|name| unit.contains(name))
        });
        let known = verbs("systemctl").and_then(|table| table.effect(verb));
        let own = line.args.iter().any(|arg| arg.text == "--user");
        let effect = match known {
            Some(shown @ (Effect::Inspect | Effect::Halt)) => shown,
            _ if verb.contains(HOLE) => Effect::Unknown,
            _ if guarded => Effect::Guard,
            _ if own && matches!(verb, "start" | "daemon-reload") => Effect::Start,
            known => known.unwrap_or(Effect::Unknown),
        };
        self.note(
            Act::new(effect, line.row.name, line.span).on(format!("{verb} {}", units.join(" "))
                .trim()
                .replace(HOLE, "…")),
        );
        Stream::unknown(Taint::default())
    }
}

/// Whether `kill` sends the first process a signal that is no message to it.
fn ends_the_first(words: &[&str]) -> bool {
    let mut signal = "TERM";
    let mut first = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "-s" | "-n" | "--signal" => signal = rest.next().copied().unwrap_or(signal),
            "1" => first = true,
            word => {
                signal = word
                    .strip_prefix('-')
                    .filter(|it| *it != "-")
                    .unwrap_or(signal);
            }
        }
    }
    let signal = signal.trim_start_matches("-signal=").to_ascii_uppercase();
    let signal = signal.strip_prefix("SIG").unwrap_or(&signal);
    let tells = [
        "HUP", "1", "USR1", "10", "USR2", "12", "CONT", "18", "CHLD", "17", "WINCH", "28", "0",
    ];
    first && !tells.contains(&signal)
}

/// Whether a mode leaves a file to its owner alone.
fn is_private_mode(mode: &str) -> bool {
    matches!(
        mode.trim_start_matches('0'),
        "400" | "500" | "600" | "700" | "go-rwx" | "go=" | "og-rwx"
    )
}

/// Returns how dangerous giving a mode to a file is, wherever the file lies.
fn mode_danger(mode: &str) -> Score {
    if mode.contains(HOLE) {
        return Score::new(500);
    }
    if mode.bytes().all(|byte| byte.is_ascii_digit()) {
        let significant = mode.trim_start_matches('0');
        let padded = format!("{significant:0>3}");
        let digits: Vec<u8> = padded.bytes().map(|byte| byte - b'0').collect();
        let special = if digits.len() > 3 {
            digits.first().copied().unwrap_or(0)
        } else {
            0
        };
        let others = digits.last().copied().unwrap_or(0);
        let owner = digits
            .get(digits.len().saturating_sub(3))
            .copied()
            .unwrap_or(7);
        return if special & 6 != 0 {
            Score::new(900)
        } else if others & 2 != 0 {
            Score::new(700)
        } else if owner == 0 {
            Score::new(600)
        } else {
            Score::new(100)
        };
    }
    let mut worst = Score::new(100);
    for clause in mode.split(',') {
        let adds = clause.contains('+') || clause.contains('=');
        let who: &str = clause.split(['+', '-', '=']).next().unwrap_or("");
        let what = clause.get(who.len()..).unwrap_or("");
        let everybody = who.contains('o') || who.contains('a');
        if adds && what.contains('s') {
            worst = worst.max(Score::new(900));
        } else if adds && everybody && what.contains('w') {
            worst = worst.max(Score::new(700));
        } else if !adds
            && (who.is_empty() || who.contains('a') || who.contains('u'))
            && what.contains(['r', 'w', 'x'])
            && !what.contains("-x")
            && !what.contains("-w")
        {
            worst = worst.max(Score::new(450));
        }
    }
    worst
}

/// Whether a word names a job of this shell, the process that this script started last, or what
/// serves a port of development.
pub(in crate::follow) fn is_own_job(arg: &Arg) -> bool {
    let process = arg.text.strip_prefix('-').unwrap_or(&arg.text);
    let started = process.chars().eq([HOLE, JOB]) && !arg.taint.uncertain;
    arg.text.starts_with('%') && !arg.vague() || started
}

fn is_switch(arg: &Arg) -> bool {
    arg.text.starts_with('-') && !arg.vague()
}
