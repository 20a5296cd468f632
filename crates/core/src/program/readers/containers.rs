//! `docker run` and its kin: mounts and privileges decide, then a command in a container.

use super::Line;
use crate::act::Act;
use crate::knowledge::{self, Effect, PathKind};
use crate::place::HOME;
use crate::program::options;
use crate::program::resolve::{Named, resolve};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::shell::value::{Arg, Stream, Taint};
use crate::shell::walk::Walk;

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
            let text = arg.text.as_str();
            let (hit, words) = options::leading(line.row, line.args.get(at..).unwrap_or(&[]))?;
            let value = hit.as_ref().and_then(|hit| hit.value.clone());
            let name = text.split('=').next().unwrap_or(text);
            if let Some(hit) = &hit {
                for effect in hit.flag.effects {
                    self.note(
                        Act::new(*effect, line.row.name, line.span)
                            .on(format!("{} {name}", line.row.name)),
                    );
                }
            } else {
                self.note(
                    Act::new(Effect::Unknown, line.row.name, line.span)
                        .because("an option that is not known")
                        .on(format!("`{text}` of {}", line.row.name)),
                );
            }
            self.container_option(name, value.as_ref(), text, line);
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
    fn container_option(&mut self, name: &str, value: Option<&Arg>, text: &str, line: &Line<'_>) {
        let span = self.here(value.map(|value| value.span).unwrap_or_default());
        let value_text = value.map_or("", |value| value.text.as_str());
        let opens =
            |why: &'static str| Act::new(Effect::Privilege, line.row.name, span).because(why);
        match name {
            "--privileged" if value_text != "false" => {
                self.note(opens("gives a container all rights on this machine"));
            }
            "--pid" | "--userns" if value_text == "host" => {
                self.note(opens("lets a container see this machine's processes"));
            }
            "--cap-add"
                if !matches!(
                    value_text.to_uppercase().trim_start_matches("CAP_"),
                    "NET_BIND_SERVICE" | "CHOWN" | "KILL" | "SYS_PTRACE"
                ) =>
            {
                self.note(opens("gives a container more rights").on(value_text));
            }
            "--security-opt"
                if value_text.contains("unconfined") || value_text.contains("disable") =>
            {
                self.note(opens("takes a container's protection away").on(value_text));
            }
            "--device"
                if value_text.starts_with("/dev/sd")
                    || value_text.starts_with("/dev/nvme")
                    || value_text.starts_with("/dev/mem") =>
            {
                self.note(opens("gives a container a device of this machine").on(value_text));
            }
            "--env-file" => {
                if let Some(file) = value {
                    self.reads(file, line.row.name);
                }
            }
            "-v" | "--volume" | "--mount" => self.mount(value_text, line, span),
            _ if text.starts_with("-v") && name.len() > 2 && !name.starts_with("--") => {
                self.mount(text.get(2..).unwrap_or(""), line, span);
            }
            _ => {}
        }
    }

    /// Judges what of this machine a container gets to see.
    fn mount(&mut self, mount: &str, line: &Line<'_>, span: Span) {
        let source = if mount.contains("source=") || mount.contains("src=") {
            mount
                .split(',')
                .find_map(|part| {
                    part.strip_prefix("source=")
                        .or_else(|| part.strip_prefix("src="))
                })
                .unwrap_or("")
        } else {
            mount.split(':').next().unwrap_or("")
        };
        let read_only =
            mount.ends_with(":ro") || mount.contains(",ro") || mount.contains("readonly");
        let pathlike = source.starts_with(['/', '.', '~']) || source.starts_with(HOME);
        if !pathlike {
            return;
        }
        let place = self.place(source);
        let sensitivity = if read_only { place.read } else { place.write };
        let root = place.path == "/" || place.path == "~";
        if root
            || sensitivity >= Score::new(600)
                && (!read_only || place.read >= Score::new(600))
                && place.inside != Some(true)
                && place.kind != PathKind::Document
        {
            let mut act = Act::new(Effect::Privilege, line.row.name, span)
                .because("opens a sensitive place to a container")
                .on(place.path);
            act.target = Score::new(900);
            self.note(act);
        }
    }
}
