//! Git where words, not options, decide: push, checkout, config.

use super::Line;
use crate::act::Act;
use crate::knowledge::Effect;
use crate::place::{HOLE, glob_matches};
use crate::score::Score;
use crate::shell::syntax::Span;
use crate::shell::value::{Arg, Stream, Taint};
use crate::shell::walk::Walk;

/// Settings whose value git or another tool runs, or which move trust elsewhere. `*` is any part.
const RUNNING_KEYS: &[&str] = &[
    "alias.*",
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.hookspath",
    "core.askpass",
    "core.gitproxy",
    "core.alternaterefscommand",
    "core.worktree",
    "core.attributesfile",
    "sequence.editor",
    "pager.*",
    "diff.external",
    "diff.*.command",
    "diff.*.textconv",
    "difftool.*",
    "mergetool.*",
    "merge.*.driver",
    "filter.*",
    "credential.*",
    "credential.helper",
    "gpg.program",
    "gpg.*",
    "ssh.*",
    "uploadpack.*",
    "receive.*",
    "remote.*.proxy",
    "remote.*.url",
    "remote.*.pushurl",
    "remote.*.mirror",
    "remote.*.push",
    "remote.*.uploadpack",
    "remote.*.receivepack",
    "remote.*.vcs",
    "url.*",
    "include.path",
    "includeif.*",
    "init.templatedir",
    "interactive.difffilter",
    "sendemail.*",
    "browser.*",
    "man.*",
    "web.browser",
    "help.browser",
    "instaweb.*",
    "protocol.*",
    "http.sslverify",
    "http.proxy",
    "http.*.proxy",
    "safe.directory",
    "trailer.*",
    "submodule.*.update",
    "blame.ignorerevsfile",
    "ui.editor",
    "ui.diff-editor",
    "ui.merge-editor",
    "ui.pager",
    "ui.diff-formatter",
    "ui.diff.tool",
    "aliases.*",
    "merge-tools.*",
    "fix.*",
    "signing.*",
    "git.executable-path",
    "hook.*",
    "maintenance.*",
    "tar.*",
    "imap.*",
    "guitool.*",
];

impl Walk<'_> {
    /// `git push`: a refspec may force or delete.
    pub(crate) fn read_git_push(&mut self, line: &Line<'_>) -> Option<Stream> {
        if line.read.left_over.is_some() {
            return None;
        }
        let forced = line.read.operands.iter().any(|arg| {
            arg.text.starts_with('+') || arg.text.starts_with(':') && arg.text.len() > 1
        });
        let does = if forced {
            Effect::VcsForce
        } else {
            Effect::VcsRemote
        };
        // A branch others build on, or a place that is not the usual one, is worth a question.
        let remote = line
            .read
            .operands
            .first()
            .map_or("", |arg| arg.text.as_str());
        let shared = line.read.operands.iter().any(|arg| {
            let target = arg
                .text
                .rsplit(':')
                .next()
                .unwrap_or("")
                .trim_start_matches("refs/heads/");
            matches!(
                target,
                "main"
                    | "master"
                    | "production"
                    | "prod"
                    | "release"
                    | "stable"
                    | "trunk"
                    | "develop"
            )
        });
        if !forced
            && (shared || !matches!(remote, "" | "origin" | "upstream") && !remote.contains(HOLE))
        {
            let mut act = Act::new(Effect::VcsRemote, line.row.name, line.span);
            act.note = if shared {
                "publishes straight to a shared branch"
            } else {
                "publishes commits to another place"
            };
            act.target = Score::new(700);
            self.note(act.on(line.operands_shown()));
        }
        Some(self.by_table(line, does))
    }

    /// `git checkout`, `git restore`, `git switch`: paths throw away what is not committed.
    pub(crate) fn read_git_checkout(&mut self, line: &Line<'_>) -> Stream {
        let after_dashes = line
            .args
            .iter()
            .position(|arg| arg.text == "--")
            .map(|at| line.args.len() - at - 1);
        let restore = line.row.name.ends_with("restore");
        let operands = &line.read.operands;
        let creates = line.read.has(&[
            "-b",
            "-B",
            "--orphan",
            "-c",
            "-C",
            "--create",
            "--force-create",
            "-t",
            "--track",
            "--detach",
            "-d",
        ]);
        let staged_only =
            restore && line.read.has(&["-S", "--staged"]) && !line.read.has(&["-W", "--worktree"]);
        let pathlike = |arg: &&Arg| {
            arg.text == "."
                || arg.text.starts_with("./")
                || arg.text.starts_with(":/")
                || arg.text.starts_with("..")
                || arg.glob
                || arg.text.ends_with('/')
                || is_file_name(&arg.text)
                || (operands.len() > 1 && !creates)
        };
        let discards = !staged_only
            && (restore && !operands.is_empty()
                || after_dashes.is_some_and(|count| count > 0)
                || operands.iter().any(pathlike) && !creates);
        let does = if discards {
            Effect::VcsDiscard
        } else {
            Effect::VcsLocal
        };
        self.by_table(line, does)
    }

    /// `git config`: reading, writing, and keys whose value runs.
    pub(crate) fn read_git_config(&mut self, line: &Line<'_>) -> Stream {
        let words: Vec<&Arg> = line.read.operands.clone();
        let first = words.first().map_or("", |arg| arg.text.as_str());
        let reads = line.read.has(&[
            "--get",
            "--get-all",
            "--get-regexp",
            "--get-urlmatch",
            "--get-color",
            "--get-colorbool",
            "-l",
            "--list",
        ]) || line
            .args
            .iter()
            .any(|arg| matches!(arg.text.as_str(), "--list" | "-l" | "--get"))
            || matches!(first, "list" | "get")
            || words.len() == 1
                && line.row.name == "git config"
                && !line.args.iter().any(|arg| {
                    arg.text.starts_with("--unset")
                        || arg.text.starts_with("--remove")
                        || arg.text == "-e"
                        || arg.text == "--edit"
                });
        if reads {
            // What is stored under a credential is a secret, wherever it is asked for.
            let secret = words
                .iter()
                .any(|arg| arg.text.contains("token") || arg.text.contains("password"));
            let effect = if secret {
                Effect::Secret
            } else {
                Effect::Inspect
            };
            self.note(Act::new(effect, line.row.name, line.span));
            return Stream::unknown(Taint {
                secret,
                ..Taint::default()
            });
        }
        let words = if matches!(first, "set" | "unset") {
            words.get(1..).unwrap_or(&[]).to_vec()
        } else {
            words
        };
        let key = words
            .first()
            .map_or(String::new(), |arg| arg.text.to_lowercase());
        let value = words.get(1).copied();
        let wide = line
            .args
            .iter()
            .any(|arg| matches!(arg.text.as_str(), "--global" | "--system"));
        self.setting(&key, value, line, wide);
        self.by_table(line, Effect::Setting)
    }

    fn setting(&mut self, key: &str, value: Option<&Arg>, line: &Line<'_>, wide: bool) {
        let span = value.map(|value| self.here(value.span)).unwrap_or_default();
        if !runs(key) {
            let section = key.split('.').next().unwrap_or("");
            if wide && !PERSONAL_SECTIONS.contains(&section) {
                let mut act = Act::new(Effect::Setting, line.row.name, span).on(key);
                act.target = Score::new(300);
                self.note(act);
            }
            return;
        }
        let harmless = value.is_none_or(|value| harmless_value(key, &value.text));
        if !harmless {
            self.note(
                Act::new(Effect::Persist, line.row.name, span)
                    .because("sets something that git runs or trusts later")
                    .on(key),
            );
        }
    }

    /// `git -c key=value`, `ssh -o key=value`, `tar --checkpoint-action=…` and the like.
    pub(crate) fn config(&mut self, arg: &Arg, program: &'static str) {
        let (key, value) = arg
            .text
            .split_once('=')
            .or_else(|| arg.text.split_once(' '))
            .unwrap_or((&arg.text, ""));
        let given = Given {
            program,
            key: key.trim().to_lowercase(),
            value: value.trim(),
            span: self.here(arg.span),
        };
        let is_set = arg.text.contains('=');
        match program.split(' ').next().unwrap_or(program) {
            "git" => self.git_setting(&given),
            "cargo" if is_set => self.cargo_setting(&given),
            "npm" => {
                // `scripts.x=…` is a command that runs when its name is called.
                if ["scripts.", "scripts[", "bin"]
                    .iter()
                    .any(|part| given.key.starts_with(part))
                {
                    self.text(given.value, given.span);
                }
            }
            "sysctl" if is_set => {
                self.note(Act::new(Effect::System, program, given.span).on(given.key));
            }
            "cargo" => {
                self.loads(arg, program);
            }
            "sysctl" => {}
            // `--override_repository=name=/path`: the code of that directory is built.
            "bazel" => {
                self.loads(&arg.after(key.len() + 1), program);
            }
            "jj" => {
                if !JJ_SHOWING_SECTIONS
                    .iter()
                    .any(|section| given.key.starts_with(section))
                {
                    self.note(given.runs_something().on(&given.key));
                }
            }
            base => self.remote_setting(&given, base),
        }
    }

    fn git_setting(&mut self, given: &Given<'_>) {
        if given.key.starts_with("alias.") {
            match given.value.strip_prefix('!') {
                Some(text) => self.text(text, given.span),
                None => self.text(&format!("git {}", given.value), given.span),
            };
        } else if runs(&given.key) && !harmless_value(&given.key, given.value) {
            self.note(given.runs_something().on(&given.key));
        }
    }

    fn cargo_setting(&mut self, given: &Given<'_>) {
        let loads = |word: &&str| given.key.contains(*word);
        if CARGO_LOADING_WORDS.iter().any(loads) {
            self.note(given.runs_something().on(&given.key));
        }
    }

    /// Settings of ssh and of what works through it; `tar` takes its actions the same way.
    fn remote_setting(&mut self, given: &Given<'_>, base: &str) {
        let Given {
            program,
            key,
            value,
            span,
        } = given;
        let named = |word: &&str| key == word || value.starts_with(&format!("{word}="));
        if key == "remotecommand" || REMOTE_RUNNING_KEYS.iter().any(named) {
            let text = value.split_once('=').map_or(*value, |(_, text)| text);
            let act = given.runs_something();
            self.note(act.on(format!("{key} {text}").trim()));
        } else if key == "stricthostkeychecking" && matches!(*value, "no" | "off")
            || key == "userknownhostsfile"
        {
            let act = Act::new(Effect::Setting, *program, *span).on(key);
            self.note(act.target(Score::new(300)));
        } else if !REMOTE_PROGRAMS.contains(&base) {
            let act = Act::new(Effect::Unknown, *program, *span);
            self.note(act.because("a setting that is not known").on(key));
        }
    }
}

/// A setting given on the command line.
struct Given<'a> {
    /// The program it is given to.
    program: &'static str,
    /// Its name, in lower case.
    key: String,
    /// What it is set to.
    value: &'a str,
    /// Where it stands.
    span: Span,
}

impl Given<'_> {
    /// Returns the act of a setting whose value runs.
    fn runs_something(&self) -> Act {
        Act::new(Effect::Exec, self.program, self.span).because("a setting that runs something")
    }
}

/// Settings of `jj` that only say how something is shown, found or signed with a name.
const JJ_SHOWING_SECTIONS: &[&str] = &[
    "ui.color",
    "ui.graph",
    "ui.log-word-wrap",
    "ui.paginate",
    "ui.show-cryptographic-signatures",
    "ui.diff.format",
    "colors.",
    "revsets.",
    "revset-aliases.",
    "templates.",
    "template-aliases.",
    "user.",
];

/// Sections of git's settings in which people keep their own taste, whatever the repository.
const PERSONAL_SECTIONS: &[&str] = &[
    "user", "color", "init", "pull", "push", "fetch", "commit", "advice", "merge", "rebase",
    "column", "branch", "diff",
];

/// Words in settings of cargo that name something it runs or loads.
const CARGO_LOADING_WORDS: &[&str] = &[
    "wrapper",
    "runner",
    "linker",
    "rustc",
    "rustdoc",
    "credential",
    "alias",
    "env.",
    "registr",
    "source",
    "proxy",
];

/// Settings of ssh, and actions of tar, whose value runs or is loaded.
const REMOTE_RUNNING_KEYS: &[&str] = &[
    "proxycommand",
    "localcommand",
    "knownhostscommand",
    "permitlocalcommand",
    "exec",
    "command",
    "cmd",
    "script",
    "program",
    "pkcs11provider",
    "securitykeyprovider",
    "xauthlocation",
    "proxyusefdpass",
    "match",
    "include",
    "sendenv",
    "setenv",
];

/// Programs whose other settings do nothing that matters here.
const REMOTE_PROGRAMS: &[&str] = &[
    "ssh",
    "scp",
    "sftp",
    "sshfs",
    "mosh",
    "autossh",
    "rsync",
    "tar",
    "ssh-copy-id",
    "ssh-keygen",
];

/// Whether a word reads like the name of a file rather than of a branch: `src/main.rs`, not `v1.2`.
fn is_file_name(text: &str) -> bool {
    let name = text.rsplit('/').next().unwrap_or(text);
    name.rsplit_once('.').is_some_and(|(stem, extension)| {
        !stem.is_empty()
            && extension.len() <= 5
            && extension.starts_with(|first: char| first.is_ascii_lowercase())
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

/// Whether git runs what this setting says, or trusts it.
fn runs(key: &str) -> bool {
    RUNNING_KEYS
        .iter()
        .any(|pattern| glob_matches(pattern.as_bytes(), key.as_bytes()))
}

/// Whether a value of a running key runs nothing but a plain, known viewer.
fn harmless_value(key: &str, value: &str) -> bool {
    // Here the plain words are what is dangerous.
    if ["http.", "protocol.", "remote."]
        .iter()
        .any(|part| key.starts_with(part))
    {
        return value.is_empty();
    }
    if value.is_empty()
        || matches!(
            value,
            "cat"
                | "less"
                | "less -R"
                | "less -FRX"
                | "true"
                | "false"
                | "delta"
                | "vim"
                | "nano"
                | "vi"
                | "code --wait"
                | "nvim"
                | "emacs"
                | "more"
                | ":"
        )
    {
        return true;
    }
    // An alias for one of git's own commands runs nothing else.
    key.starts_with("alias.")
        && !value.starts_with('!')
        && !value.contains("-c ")
        && !value.contains("--exec")
        || key == "credential.helper"
            && matches!(
                value,
                "cache" | "osxkeychain" | "manager" | "manager-core" | "libsecret"
            )
        || key == "safe.directory" && value != "*"
}
