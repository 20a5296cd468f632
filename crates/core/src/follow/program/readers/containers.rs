//! `docker run` and similar: mounts and privileges first, then the command in the container.

use super::Line;
use super::git::Given;
use crate::act::Act;
use crate::follow::program::options::{self, Hit};
use crate::follow::program::resolve::{Named, resolve};
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::glob::glob_matches;
use crate::knowledge::names::{BAKE_KEYS, HARMLESS_DEVICES};
use crate::knowledge::{self, Effect, PathKind};
use crate::place::HOME;
use crate::score::Score;

/// Puts the program in front that gets the words after the image: the entry point, or the program
/// that the image is named after where those words are options.
fn with_entrypoint(image: &Arg, entrypoint: Option<&Arg>, command: &[Arg]) -> Vec<Arg> {
    let base = image.text.rsplit('/').next().unwrap_or("");
    let base = base.split([':', '@']).next().unwrap_or("");
    let options = command.first().is_some_and(|arg| arg.text.starts_with('-'));
    let named =
        (options && knowledge::program(base).is_some()).then(|| Arg::literal(base, image.span));
    let first = entrypoint.cloned().or(named);
    first.into_iter().chain(command.iter().cloned()).collect()
}

impl Walk<'_> {
    /// `docker run [options] image [command]`.
    pub(crate) fn read_container(&mut self, line: &Line<'_>) -> Option<Stream> {
        let mut at = 0;
        while let Some(arg) = line.args.get(at).filter(|arg| arg.text.starts_with('-')) {
            if arg.text == "--" {
                at += 1;
                break;
            }
            let leading = options::leading(line.row, line.args.get(at..).unwrap_or(&[]))?;
            let (hit, words) = (leading.hit, leading.words);
            if let Some(hit) = &hit {
                for effect in hit.flag.effects {
                    self.note(
                        Act::new(*effect, line.row.name, line.span)
                            .on(format!("{} {}", line.row.name, hit.name)),
                    );
                }
                self.container_option(hit, line);
            } else {
                self.note(
                    Act::new(Effect::Unknown, line.row.name, line.span)
                        .because("an unknown option")
                        .on(format!("`{}` of {}", arg.text, line.row.name)),
                );
            }
            at += words.max(1);
        }
        let Some(image) = line.args.get(at) else {
            self.note(Act::new(Effect::Unknown, line.row.name, line.span));
            return Some(Stream::unknown(Taint::default()));
        };
        let mut start = Act::new(Effect::Start, line.row.name, line.span).on(image.shown());
        if image.vague() {
            start.clarity = Score::new(750);
        }
        self.note(start);
        let command = line.args.get(at + 1..).unwrap_or(&[]);
        if !command.is_empty() {
            let command = with_entrypoint(image, line.read.value(&["--entrypoint"]), command);
            self.inside_container(&command, line.stdin);
        } else if line.stdin.connected && line.read.has(&["-i", "--interactive"]) {
            self.unreadable(
                "runs code in a container that comes from elsewhere",
                line.span,
            );
        }
        Some(Stream::unknown(Taint::default()))
    }

    /// Follows a command that runs in a container, where nothing of this machine's directories
    /// holds. A container is thrown away; what it may reach was judged by its options.
    fn inside_container(&mut self, command: &[Arg], stdin: &Stream) {
        // What an image brings along is the image's own, like what it starts when nothing is said.
        let own = command.first().is_some_and(|first| {
            // `-c text`, `-e text`: whatever the image starts, the text is code.
            let option = first.text.starts_with('-');
            let code = option && first.text.len() <= 4 && first.text.ends_with(['c', 'e']);
            let brought = matches!(resolve(first), Named::Unknown(_) | Named::File)
                && !first.text.starts_with(['.', '~']);
            !code && (option || brought)
        });
        if own && self.ground.workspace.is_some() && self.knows.trusts_workspace {
            return;
        }
        let ground = std::mem::take(&mut self.ground);
        self.dispatch(command, stdin);
        self.ground = ground;
    }

    /// Judges one option of `docker run`.
    fn container_option(&mut self, hit: &Hit, line: &Line<'_>) {
        let value = hit.value.as_ref();
        let span = self.here(value.map(|value| value.span).unwrap_or_default());
        let text = value.map_or("", |value| value.text.as_str());
        let opens =
            |why: &'static str| Act::new(Effect::Privilege, line.row.name, span).because(why);
        match hit.name {
            "--privileged" if text != "false" => {
                self.note(opens("gives a container all rights on this machine"));
            }
            "--pid" | "--userns" | "--ipc" | "--uts" | "--cgroupns" if text == "host" => {
                self.note(opens("lets a container see this machine's processes").on(text));
            }
            "--cap-add"
                if !matches!(
                    text.to_uppercase().trim_start_matches("CAP_"),
                    "NET_BIND_SERVICE" | "CHOWN" | "KILL" | "SYS_PTRACE"
                ) =>
            {
                self.note(opens("gives a container more rights").on(text));
            }
            "--security-opt" => self.protection(value, line),
            "--device" => {
                let device = text.split(':').next().unwrap_or(text);
                let known = |pattern: &str| glob_matches(pattern.as_bytes(), device.as_bytes());
                if !HARMLESS_DEVICES.iter().any(known) {
                    self.note(opens("gives a container a device of this machine").on(text));
                }
            }
            // `--entrypoint` and `--health-cmd` run inside; the first is judged with its words.
            "--entrypoint" => {}
            _ => {
                if let Some((role, value)) = hit.meaning() {
                    self.role(role, value, line.row, line.stdin, false);
                }
            }
        }
    }

    /// Judges `--security-opt`: all but a few of its values take protection away.
    fn protection(&mut self, value: Option<&Arg>, line: &Line<'_>) {
        let Some(value) = value else { return };
        let text = value.text.as_str();
        let kept = matches!(
            text,
            "no-new-privileges"
                | "no-new-privileges=true"
                | "no-new-privileges:true"
                | "apparmor=docker-default"
                | "seccomp=builtin"
        );
        match text.strip_prefix("seccomp=") {
            _ if kept => {}
            Some(profile) if profile != "unconfined" => {
                let profile = value.after(text.len() - profile.len());
                self.loads(&profile, line.row.name);
            }
            Some(_) | None => {
                let act = Act::new(Effect::Privilege, line.row.name, self.here(value.span));
                self.note(act.because("removes a protection of a container").on(text));
            }
        }
    }

    /// Judges what of this machine a container gets to see: `-v /host:/inside`,
    /// `--mount type=bind,src=/host,dst=/inside`, `--opt device=/host`.
    pub(crate) fn mounts(&mut self, arg: &Arg, program: &'static str) {
        let mount = arg.text.as_str();
        let named = mount.split(',').filter_map(|part| {
            let part = part.trim_matches('"');
            let part = part.strip_prefix("volume-opt=").unwrap_or(part);
            ["source=", "src=", "device="]
                .iter()
                .find_map(|key| part.strip_prefix(key))
        });
        let mut sources: Vec<&str> = named.collect();
        if sources.is_empty() {
            sources.extend(mount.split(':').next());
        }
        let read_only =
            mount.ends_with(":ro") || mount.contains(",ro") || mount.contains("readonly");
        if arg.taint.free && arg.vague() {
            let act = Act::new(Effect::Privilege, program, self.here(arg.span))
                .because("mounts a directory that cannot be known into a container");
            self.note(act.on(arg.shown()));
        }
        for source in sources {
            if source.starts_with(['/', '.', '~']) || source.starts_with(HOME) {
                self.opens_to_container(source, read_only, arg, program);
            }
        }
    }

    /// Judges opening one place of this machine to a container.
    fn opens_to_container(
        &mut self,
        source: &str,
        read_only: bool,
        arg: &Arg,
        program: &'static str,
    ) {
        let place = self.place(source);
        let sensitivity = if read_only { place.read } else { place.write };
        let root = place.path == "/" || place.path == "~";
        if root
            || sensitivity >= Score::new(600)
                && (!read_only || place.read >= Score::new(600))
                && place.inside != Some(true)
                && place.kind != PathKind::Document
        {
            let mut act = Act::new(Effect::Privilege, program, self.here(arg.span))
                .because("mounts a sensitive directory into a container")
                .on(place.path);
            act.target = Score::new(900);
            self.note(act);
        }
    }

    /// Judges a file that is handed to a build or a container: `id=key,src=file`, `default=file`.
    pub(crate) fn hands_over(&mut self, arg: &Arg, program: &'static str) -> Taint {
        let mut taint = arg.taint;
        for part in arg.text.split(',') {
            let part = part.trim_matches('"');
            let (key, path) = part.split_once('=').unwrap_or(("", part));
            let names_file = match key {
                "env" | "type" | "mode" | "uid" | "gid" | "target" | "required" => false,
                // `--ssh id=~/.ssh/key,~/.ssh/other`: here the first word is a name of its own.
                "" | "id" => path.contains('/'),
                _ => !path.is_empty(),
            };
            if names_file {
                let file = Arg::literal(path, arg.span);
                taint = taint.and(self.reads(&file, program));
            }
        }
        taint
    }

    /// Judges a setting of a build: `--build-context name=place`, `--set target.key=value`.
    pub(super) fn build_setting(&mut self, given: &Given<'_>, value: &Arg) {
        if !given.program.ends_with("bake") {
            // An image is what `FROM` names, too.
            if !value.text.starts_with("docker-image://") && !value.text.starts_with("target:") {
                self.loads(value, given.program);
            }
            return;
        }
        let key = given
            .key
            .split('.')
            .nth(1)
            .unwrap_or("")
            .trim_end_matches('+');
        match key {
            "output" | "cache-to" => self.puts_result(value, given.program),
            "secrets" | "ssh" => {
                self.hands_over(value, given.program);
            }
            "context" | "dockerfile" | "contexts" => {
                self.loads(value, given.program);
            }
            _ if BAKE_KEYS.contains(key) => {}
            _ => {
                let act = Act::new(Effect::Unknown, given.program, given.span);
                self.note(act.because("an unknown setting").on(&given.key));
            }
        }
    }
}
