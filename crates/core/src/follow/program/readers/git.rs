//! Git commands whose operands decide: push, checkout, config.

use super::Line;
use crate::act::Act;
use crate::follow::value::{Arg, Stream, Taint};
use crate::follow::walk::Walk;
use crate::glob::{glob_matches, is_glob};
use crate::knowledge::Effect;
use crate::knowledge::names::{
    CARGO_LOADING_WORDS, GIT_BRANCH_OPTIONS, GIT_CONFIG_READING, GIT_HARMLESS_KEYS,
    GIT_PERSONAL_SECTIONS, GIT_RUNNING_KEYS, GIT_RUNNING_PARTS, GIT_SECRET_PARTS,
    GIT_USUAL_PROGRAMS, JJ_SHOWING_SECTIONS, LOCK_FILES, REMOTE_PROGRAMS, REMOTE_RUNNING_KEYS,
};
use crate::place::HOLE;
use crate::score::Score;
use crate::shell::syntax::Span;

/// Files of which one side of a conflict is taken by name; more of them are put to a person.
const SIDES_MAX: usize = 8;

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
        let first = line.read.operands.first().copied();
        let remote = first
            .or_else(|| line.read.value(&["--repo"]))
            .map_or("", |arg| arg.text.as_str());
        // `jj git push --bookmark main`, `--named main=@`
        let named = line.read.hits.iter().filter(|hit| {
            line.row.name != "git push" && matches!(hit.name, "-b" | "--bookmark" | "--named")
        });
        let named = named.filter_map(|hit| hit.value.as_ref());
        let shared = line.read.operands.iter().copied().chain(named).any(|arg| {
            let target = arg.text.rsplit(':').next().unwrap_or("");
            let target = target.split('=').next().unwrap_or("");
            let target = target.trim_start_matches("refs/heads/");
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
            && (shared || !matches!(remote, "" | "origin" | "upstream") && !is_some_remote(remote))
        {
            let mut act = Act::new(Effect::VcsRemote, line.row.name, line.span);
            act.note = if shared {
                "publishes straight to a shared branch"
            } else {
                "publishes commits to another remote"
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
        let creates = line.read.has_any(&GIT_BRANCH_OPTIONS);
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
        // One side of a conflict is a commit. Files that are named are restored at most from the index.
        let sides = ["--ours", "--theirs"];
        let of_conflict = line
            .args
            .iter()
            .any(|arg| sides.contains(&arg.text.as_str()));
        let is_one_file =
            |arg: &&Arg| !arg.vague() && !is_glob(&arg.text) && is_file_name(&arg.text);
        let takes_side =
            of_conflict && operands.len() <= SIDES_MAX && operands.iter().all(is_one_file);
        let discards = !takes_side
            && !staged_only
            && !takes_lock_files(line, after_dashes, restore)
            && ((restore || of_conflict) && !operands.is_empty()
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
        let reads = line.read.has_any(&GIT_CONFIG_READING)
            || line
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
            // `--file` reads whatever has the shape of a configuration: `~/.aws/credentials`.
            let file = line.read.value(&["-f", "--file"]).cloned();
            let taint = file.map_or(Taint::default(), |file| self.reads(&file, line.row.name));
            // What is stored under a credential is a secret, wherever it is asked for.
            let secret = taint.secret
                || words.iter().any(|arg| {
                    let key = arg.text.to_lowercase();
                    GIT_SECRET_PARTS.iter().any(|part| key.contains(part))
                });
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
        // A section that is renamed gives its settings another meaning.
        if first == "rename-section" || line.read.has(&["--rename-section"]) {
            let act = Act::new(Effect::Persist, line.row.name, line.span);
            self.note(act.because("gives settings the name of others"));
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
        if !runs(line.row.name, key) {
            let section = key.split('.').next().unwrap_or("");
            if wide && !GIT_PERSONAL_SECTIONS.contains(section) {
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
            // `-backend-config address=https://…` says where the state goes, with the secrets in it.
            "terraform" if is_set => {
                if value.contains("://") {
                    self.sends_to(&arg.after(key.len() + 1), program);
                }
            }
            "cargo" | "terraform" => {
                self.loads(arg, program);
            }
            "sysctl" => {}
            // `--override_repository=name=/path`: the code of that directory is built.
            "bazel" => {
                self.loads(&arg.after(key.len() + 1), program);
            }
            // `gsutil -o GSUtil:…` says how much at a time; other sections, where and as whom.
            "gsutil" if given.key.starts_with("gsutil:") => {}
            "docker" | "docker-compose" | "buildah" => {
                self.build_setting(&given, &arg.after(key.len() + 1));
            }
            "jj" => {
                if runs(program, &given.key) {
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
        } else if runs(given.program, &given.key) && !harmless_value(&given.key, given.value) {
            self.note(given.runs_something().on(&given.key));
        }
    }

    fn cargo_setting(&mut self, given: &Given<'_>) {
        let loads = |word: &str| given.key.contains(word);
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
        let named = |word: &str| key == word || value.starts_with(&format!("{word}="));
        if key == "remotecommand" || REMOTE_RUNNING_KEYS.iter().any(named) {
            let text = value.split_once('=').map_or(*value, |(_, text)| text);
            let act = given.runs_something();
            self.note(act.on(format!("{key} {text}").trim()));
        } else if key == "stricthostkeychecking" && matches!(*value, "no" | "off")
            || key == "userknownhostsfile"
        {
            let act = Act::new(Effect::Setting, *program, *span).on(key);
            self.note(act.target(Score::new(300)));
        } else if !REMOTE_PROGRAMS.contains(base) {
            let act = Act::new(Effect::Unknown, *program, *span);
            self.note(act.because("an unknown setting").on(key));
        }
    }
}

/// A setting given on the command line.
pub(super) struct Given<'a> {
    /// The program it is given to.
    pub(super) program: &'static str,
    /// Its name, in lower case.
    pub(super) key: String,
    /// Its value.
    value: &'a str,
    /// The position.
    pub(super) span: Span,
}

impl Given<'_> {
    /// Returns the act of a setting whose value runs.
    fn runs_something(&self) -> Act {
        Act::new(Effect::Exec, self.program, self.span).because("a setting that runs something")
    }
}

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

/// Whether a program runs what this setting says, or trusts it. A key that cannot be seen may be
/// any.
fn runs(program: &str, key: &str) -> bool {
    let matches = |pattern: &str| glob_matches(pattern.as_bytes(), key.as_bytes());
    if program.starts_with("jj") {
        let shows = |section: &str| key.starts_with(section);
        return !JJ_SHOWING_SECTIONS.iter().any(shows);
    }
    let last = key.rsplit('.').next().unwrap_or(key);
    let own_section = GIT_PERSONAL_SECTIONS.iter().any(|section| {
        key.strip_prefix(section)
            .is_some_and(|rest| rest.starts_with('.'))
    });
    let running = last.split('-').any(|word| GIT_RUNNING_PARTS.contains(word));
    let named = GIT_RUNNING_KEYS.iter().any(matches) || !own_section && running;
    key.contains(HOLE) || named && !GIT_HARMLESS_KEYS.iter().any(matches)
}

/// Whether a value of a running key runs nothing but a plain, known viewer.
fn harmless_value(key: &str, value: &str) -> bool {
    // Here the plain words are what is dangerous.
    if key.starts_with("http.") || key.starts_with("core.protect") {
        return value.is_empty() || key.ends_with("sslverify") && value == "true";
    }
    if ["branch.", "remote.pushdefault"]
        .iter()
        .any(|part| key.starts_with(part))
    {
        return matches!(value, "" | "." | "origin" | "upstream");
    }
    if ["protocol.", "remote.", "trace2."]
        .iter()
        .any(|part| key.starts_with(part))
    {
        return value.is_empty();
    }
    if key.starts_with("submodule.") && key.ends_with(".update") {
        return matches!(value, "" | "checkout" | "rebase" | "merge" | "none");
    }
    if value.is_empty() || GIT_USUAL_PROGRAMS.contains(value) {
        return true;
    }
    // An alias for one of git's own commands runs nothing else.
    key.starts_with("alias.")
        && !value.starts_with('!')
        && !value.contains("-c ")
        && !value.contains("--exec")
        || key == "credential.helper"
            && (value.starts_with("cache --timeout")
                || matches!(
                    value,
                    "cache" | "osxkeychain" | "manager" | "manager-core" | "libsecret"
                ))
        || key == "safe.directory" && value != "*"
}

/// Whether a word stands for the name of some remote: a part of an address is not what is unknown of it.
fn is_some_remote(word: &str) -> bool {
    word.contains(HOLE) && !word.contains("://") && !word.contains('@')
}

/// Whether all files that a checkout names are lock files, which the next installation writes again. Only a
/// checkout takes a revision, and only dashes tell it from a file.
fn takes_lock_files(line: &Line<'_>, after_dashes: Option<usize>, restore: bool) -> bool {
    let is_lock = |arg: &&Arg| {
        let name = arg.text.rsplit('/').next().unwrap_or("");
        !arg.vague() && !arg.glob && LOCK_FILES.contains(name)
    };
    let operands = line.read.operands.as_slice();
    let before = after_dashes.map_or(0, |count| operands.len().saturating_sub(count));
    let revisions = before.min(usize::from(!restore));
    let files = operands.get(revisions..).unwrap_or(&[]);
    // More files, or other ones.
    let more = ["--pathspec", "--ours", "--theirs", "-2", "-3"];
    let names_more = |arg: &Arg| more.iter().any(|option| arg.text.starts_with(option));
    !files.is_empty() && files.iter().all(is_lock) && !line.args.iter().any(names_more)
}
