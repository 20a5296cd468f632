//! Files that this script or an earlier call wrote, when they run: their content is judged as part
//! of the call.

use super::Line;
use super::code::{Runs, interpreter_role};
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::names::{MODULE_ENDS, MODULE_STARTERS, TASK_PLACES};
use crate::knowledge::{Effect, Lang, Role, languages};
use crate::language::{self, Deed, Reading};
use crate::place::Place;
use crate::shell::syntax::Span;
use crate::written::{Content, Wanted, name, parent};

/// Modules of one file that are looked for.
const IMPORTS_MAX: usize = 64;
/// Folders of a package in which the file that it starts with usually lies.
const ENTRY_FOLDERS: &[&str] = &["", "/lib", "/dist", "/src", "/bin", "/build"];
/// Words of a command that may name a module.
const MODULES_MAX: usize = 8;
/// Modules that servers find without being told.
const FOUND_MODULES: &[&str] = &["app", "wsgi", "celeryconfig"];
/// How names of modules begin that a project maps to files of its own.
const ALIAS_STARTS: &[&str] = &["#", "@/", "~/"];

impl Walk<'_> {
    /// Judges running the file at `path`, which may hold what `stream` delivers.
    pub(super) fn run_written(
        &mut self,
        path: &str,
        stream: &Stream,
        interpreter: &str,
        span: Span,
    ) {
        self.note_run(path);
        let Some(text) = &stream.text else {
            let why = if stream.taint.network {
                "runs code loaded from the network"
            } else {
                "runs a file that was written before and whose content is not known"
            };
            self.unreadable(why, span);
            return;
        };
        if stream.taint.network {
            self.unreadable("runs code loaded from the network", span);
        }
        if !self.begin(path, text) {
            self.unreadable("files that were written before run each other", span);
            return;
        }
        let role = language_of(path, text, interpreter);
        let code = Arg::literal(text.clone(), span);
        let inside = self.ground.place(path).inside == Some(true);
        let compiled = if inside {
            language::compiled::read(path, text)
        } else {
            language::compiled::read_outside(path, text)
        };
        if let Some(reading) = compiled {
            self.deeds(&reading, interpreter, span);
        } else if role == Role::Shell {
            self.text_with(text, self.here(span), &Stream::default());
        } else if is_program(role) {
            self.code_that(Runs::Script, role, &code, interpreter);
        } else {
            self.mini_language(role, &code, interpreter);
        }
        self.memory.end();
    }

    /// Judges the file that an interpreter finds in the directory it is given, or by a name without its end:
    /// `node .`, `python pkg`, `node tools/gen`.
    pub(super) fn runs_directory(&mut self, path: &str, interpreter: &str, span: Span) {
        if name(path).contains('.') {
            return;
        }
        let mut files: Vec<String> = Vec::new();
        match interpreter_role(interpreter.split(' ').next().unwrap_or("")) {
            Some(Role::Snippet(Lang::JAVASCRIPT)) => {
                let ends = MODULE_ENDS.iter().filter(|end| !end.is_empty());
                files.extend(ends.map(|end| format!("{path}{end}")));
                files.extend(self.main_files(path, span));
            }
            Some(Role::Snippet(Lang::PYTHON)) => files.push(format!("{path}/__main__.py")),
            Some(_) | None => return,
        }
        self.memory.want(Wanted::Directory(path.to_owned()));
        self.memory.want(Wanted::Directory(parent(path).to_owned()));
        for file in files {
            for stream in self.held(&file) {
                self.run_written(&file, &stream, interpreter, span);
            }
        }
    }

    /// Returns the files that the `package.json` of a directory says it starts with, where this session wrote
    /// that. Where it was not seen, every file that the session wrote there may be one.
    fn main_files(&mut self, directory: &str, span: Span) -> Vec<String> {
        let mut files = Vec::new();
        let manifests = self.may_hold(&format!("{directory}/package.json"));
        if manifests.is_empty() {
            self.picks_up_any(directory, span);
        }
        for held in manifests {
            let manifest = held
                .text
                .as_deref()
                .map(serde_json::from_str::<serde_json::Value>);
            let manifest = manifest.and_then(Result::ok).unwrap_or_default();
            for key in ["main", "module", "exports", "bin"] {
                let value = manifest
                    .get(key)
                    .map(ToString::to_string)
                    .unwrap_or_default();
                let texts = value.split('"').filter(|text| text.contains('.'));
                for text in texts.take(MODULES_MAX) {
                    let path = self.ground.place(&format!("{directory}/{text}")).path;
                    self.memory.want(Wanted::File(path.clone()));
                    files.push(path);
                }
            }
        }
        files
    }

    /// Judges the files of a package that this session wrote where its entry is usually found.
    fn picks_up_any(&mut self, directory: &str, span: Span) {
        for folder in ENTRY_FOLDERS {
            let folder = format!("{directory}{folder}");
            self.memory.want(Wanted::Directory(folder.clone()));
            let before = self.knows.written.within(&folder).map(|(path, _)| path);
            let now = self.memory.paths().filter(|path| parent(path) == folder);
            let is_module = |path: &&str| {
                let end = name(path).rsplit_once('.').map_or("", |(_, end)| end);
                matches!(end, "js" | "mjs" | "cjs" | "ts" | "mts" | "cts")
            };
            let found = before.chain(now).filter(is_module).take(IMPORTS_MAX);
            let found: Vec<String> = found.map(str::to_owned).collect();
            for path in found {
                self.picks_up(&path, span);
            }
        }
    }

    /// Judges running a file of the workspace beside which lies code that an earlier call loaded from the
    /// network: it may load it by its name.
    pub(super) fn runs_beside_downloads(&mut self, place: &Place, interpreter: &str, span: Span) {
        let role = interpreter_role(interpreter.split(' ').next().unwrap_or(""));
        if place.vague || !role.is_some_and(is_program) {
            return;
        }
        let directory = parent(&place.path);
        self.memory.want(Wanted::Directory(directory.to_owned()));
        let is_code = |path: &str| {
            let end = name(path).rsplit_once('.').map(|(_, end)| end);
            let language = end.and_then(languages::by_extension);
            language.is_some_and(|language| Some(language.role) == role)
        };
        let loaded = self
            .knows
            .written
            .within(directory)
            .find(|(path, contents)| {
                *path != place.path && is_code(path) && contents.contains(&Content::Fetched)
            });
        if let Some((path, _)) = loaded {
            let act = Act::new(Effect::Exec, interpreter.to_owned(), self.here(span))
                .because("runs a program beside code that was loaded from the network");
            let act = act.on(path);
            self.note(act);
        }
    }

    /// Judges what a runner of tasks finds by the name of a task, where the same agent wrote it.
    pub(super) fn takes_up_task(&mut self, task: &Arg) {
        for directory in TASK_PLACES.iter() {
            let path = self
                .ground
                .place(&format!("{directory}/{}", task.text))
                .path;
            for stream in self.may_hold(&path) {
                self.run_written(&path, &stream, "", task.span);
            }
        }
    }

    /// Judges code in files that something else takes up by itself. Files of languages that are not
    /// read, and files whose content is not known, stay what the workspace's files are.
    pub(super) fn picks_up(&mut self, path: &str, span: Span) {
        for stream in self.held(path) {
            if stream.taint.network {
                self.unreadable("runs code loaded from the network", span);
            }
            if let Some(text) = stream.text
                && self.begin(path, &text)
            {
                self.note_run(path);
                let role = language_of(path, &text, "");
                if let Some(mut reading) = language::compiled::read(path, &text) {
                    // What it computes and calls is the project's business; commands that can be
                    // read are judged, and so are names of secrets among its texts.
                    for deed in &mut reading.deeds {
                        if let Deed::ReadFile(path) = deed {
                            *deed = Deed::MayRead(std::mem::take(path));
                        }
                    }
                    let reading = Reading {
                        hidden: None,
                        unfamiliar: None,
                        ..reading
                    };
                    self.deeds(&reading, "", span);
                } else if is_program(role) {
                    let code = Arg::literal(text, span);
                    self.code_that(Runs::PickedUp, role, &code, "");
                }
                self.memory.end();
            }
        }
    }

    /// Judges modules that code loads, where the same agent wrote them.
    pub(super) fn imports(&mut self, role: Role, modules: &[String], span: Span) {
        if modules.is_empty() {
            return;
        }
        let base = match self.memory.running() {
            Some(file) => parent(file).to_owned(),
            None => self.ground.place(".").path,
        };
        self.memory.want(Wanted::Directory(base.clone()));
        let here = self.ground.place(&base);
        let outside = here.inside == Some(false);
        let foreign = outside && self.brings_modules(&here);
        for module in modules.iter().take(IMPORTS_MAX) {
            if is_elsewhere(role, module) {
                self.script_file(&Arg::literal(module, span), "node");
                continue;
            }
            let mut files = module_files(role, &base, module);
            files.extend(self.mapped_files(&base, module));
            let lies_outside = |path: &String| self.ground.place(path).inside == Some(false);
            // Python looks for a module beside who loads it before it looks elsewhere.
            let local = if role == Role::Snippet(Lang::JAVASCRIPT) && module.starts_with('.') {
                files.iter().any(lies_outside)
            } else {
                foreign && !is_library(role, module)
            };
            if local && !files.iter().any(|path| self.is_seen_file(path)) {
                self.unreadable("loads a file outside the workspace that is not seen", span);
            }
            for path in files {
                let unseen = |stream: &Stream| stream.text.is_none();
                if self.held(&path).iter().any(unseen)
                    && self.ground.place(&path).inside == Some(false)
                {
                    self.unreadable(
                        "loads a file that was written before and whose content is not known",
                        span,
                    );
                }
                let directory = parent(&path);
                if directory != base {
                    self.memory.want(Wanted::Directory(directory.to_owned()));
                }
                self.picks_up(&path, span);
            }
        }
    }

    /// Returns the files that `package.json` says a module such as `#x` stands for, where this session wrote
    /// that, and those that such names usually stand for.
    fn mapped_files(&mut self, base: &str, module: &str) -> Vec<String> {
        let Some(rest) = ALIAS_STARTS
            .iter()
            .find_map(|start| module.strip_prefix(start))
        else {
            return Vec::new();
        };
        let rest = rest.trim_start_matches('/');
        let mut files: Vec<String> = ["src/", "lib/", ""]
            .iter()
            .flat_map(|folder| {
                MODULE_ENDS
                    .iter()
                    .map(move |end| format!("{base}/{folder}{rest}{end}"))
            })
            .collect();
        for held in self.may_hold(&format!("{base}/package.json")) {
            let text = held.text.unwrap_or_default();
            let manifest = serde_json::from_str::<serde_json::Value>(&text).unwrap_or_default();
            let mapped = manifest.get("imports").map(ToString::to_string);
            let mapped = mapped.unwrap_or_default();
            let paths = mapped.split('"').filter_map(|text| text.strip_prefix("./"));
            files.extend(paths.take(IMPORTS_MAX).map(|path| format!("{base}/{path}")));
        }
        files
    }

    fn is_seen_file(&mut self, path: &str) -> bool {
        let place = self.ground.place(path);
        self.is_seen(&place)
    }

    /// Judges `python -m module` by the files that hold the module.
    pub(super) fn runs_module(&mut self, module: &str, span: Span) {
        let base = self.ground.place(".").path;
        let inside = format!("{base}/{}", module.replace('.', "/"));
        for path in [format!("{inside}.py"), format!("{inside}/__main__.py")] {
            for stream in self.may_hold(&path) {
                self.run_written(&path, &stream, "python", span);
            }
        }
    }

    /// Judges the module that a server or a worker is started with, or finds by itself: `uvicorn app:app`,
    /// `celery -A app worker`, `flask run`.
    pub(super) fn starts_module(&mut self, line: &Line<'_>) {
        let program = line.row.name.split(' ').next().unwrap_or("");
        if !MODULE_STARTERS.contains(program) {
            return;
        }
        let values = line.read.hits.iter().filter_map(|hit| hit.value.as_ref());
        let words = line.read.operands.iter().copied().chain(values);
        let named = words.map(|word| word.text.split(':').next().unwrap_or(""));
        let module = |word: &str| word.strip_suffix(".py").unwrap_or(word).to_owned();
        let mut modules: Vec<String> = named.take(MODULES_MAX).map(module).collect();
        modules.extend(FOUND_MODULES.iter().map(|name| (*name).to_owned()));
        for module in modules {
            self.runs_module(&module, line.span);
        }
    }

    /// Whether modules that are loaded in this directory outside the workspace may lie there. The directory
    /// for all temporary files is no project: what this session put there is known by itself.
    pub(super) fn brings_modules(&mut self, here: &Place) -> bool {
        let is_shared = matches!(here.path.as_str(), "/tmp" | "/var/tmp" | "/private/tmp");
        !is_shared && !self.is_owners(here) && !self.is_made(here)
    }

    /// Whether the files of `module` in this directory were seen.
    pub(super) fn is_seen_module(&mut self, module: &str) -> bool {
        let base = self.ground.place(".").path;
        let inside = format!("{base}/{}", module.replace('.', "/"));
        let files = [format!("{inside}.py"), format!("{inside}/__main__.py")];
        files.iter().any(|path| self.is_seen_file(path))
    }

    /// Returns what the file at `path` is known to hold, without asking for more.
    pub(super) fn held(&self, path: &str) -> Vec<Stream> {
        let before = self.knows.written.at(path).map(Stream::from);
        let own = self.memory.written(path).cloned();
        own.into_iter().chain(before).collect()
    }

    /// Notes that a file runs, if an earlier call wrote it.
    pub(super) fn note_run(&mut self, path: &str) {
        if self.knows.written.at(path).next().is_some() {
            self.memory.ran(path);
        }
    }

    /// Whether the file at `path` may be read now; then it counts as running.
    pub(super) fn begin(&mut self, path: &str, text: &str) -> bool {
        self.budget.code(text.len()) && self.memory.begin(path)
    }
}

/// Whether files of this role hold programs of a whole language other than the shell's.
const fn is_program(role: Role) -> bool {
    matches!(role, Role::Snippet(_) | Role::Code)
}

/// Returns the language of a file that `interpreter` runs; of one that is run by its name if it is
/// empty.
fn language_of(path: &str, text: &str, interpreter: &str) -> Role {
    let first = interpreter.split(' ').next().unwrap_or("");
    let by_interpreter = || interpreter_role(first);
    let by_shebang = || {
        let line = text.lines().next()?.strip_prefix("#!")?;
        line.split_whitespace().find_map(interpreter_role)
    };
    let by_end = || {
        let (_, end) = name(path).rsplit_once('.')?;
        languages::by_extension(end).map(|language| language.role)
    };
    let otherwise = if interpreter.is_empty() {
        Role::Shell
    } else {
        Role::Code
    };
    by_interpreter()
        .or_else(by_shebang)
        .or_else(by_end)
        .unwrap_or(otherwise)
}

/// Whether `module` is a well-known library, which no file beside the script is likely to be.
fn is_library(role: Role, module: &str) -> bool {
    let Role::Snippet(lang) = role else {
        return false;
    };
    let first = module.split(['.', '/']).next().unwrap_or(module);
    lang.script().is_some_and(|script| {
        script.knows_module(first) || script.is_standard(first) || !script.is_ordinary(first)
    })
}

/// Whether a module of JavaScript is named by where it lies, outside of who loads it.
fn is_elsewhere(role: Role, module: &str) -> bool {
    role == Role::Snippet(Lang::JAVASCRIPT)
        && (module.starts_with('/') || module.contains("://") || module.starts_with("data:"))
}

/// Returns the files in or below `base` that may hold `module`.
fn module_files(role: Role, base: &str, module: &str) -> Vec<String> {
    if role == Role::Snippet(Lang::JAVASCRIPT) {
        if !module.starts_with("./") && !module.starts_with("../") {
            let installed = format!("{base}/node_modules/{module}");
            return vec![format!("{installed}/index.js"), format!("{installed}.js")];
        }
        let mut directory = base;
        let mut rest = module;
        loop {
            if let Some(more) = rest.strip_prefix("./") {
                rest = more;
            } else if let Some(more) = rest.strip_prefix("../") {
                rest = more;
                directory = parent(directory);
            } else {
                break;
            }
        }
        let ends = MODULE_ENDS.iter();
        return ends.map(|end| format!("{directory}/{rest}{end}")).collect();
    }
    let inside = format!(
        "{base}/{}",
        module.trim_start_matches('.').replace('.', "/")
    );
    vec![format!("{inside}.py"), format!("{inside}/__init__.py")]
}

#[cfg(test)]
mod tests {
    use super::{language_of, module_files};
    use crate::knowledge::{Lang, Role};

    #[test]
    fn the_interpreter_then_the_first_line_then_the_name_says_the_language() {
        let rows = [
            ("x.py", "", "node", Role::Snippet(Lang::JAVASCRIPT)),
            (
                "x",
                "#!/usr/bin/env -S python3 -u\n",
                "",
                Role::Snippet(Lang::PYTHON),
            ),
            ("x.rb", "puts 1", "", Role::Snippet(Lang::RUBY)),
            ("x", "ls", "", Role::Shell),
            ("x.jl", "1", "julia", Role::Code),
            ("x.sql", "select 1", "psql", Role::Sql),
        ];
        for (path, text, interpreter, want) in rows {
            assert_eq!(language_of(path, text, interpreter), want, "{path} {text}");
        }
    }

    #[test]
    fn modules_lie_beside_who_loads_them() {
        assert_eq!(
            module_files(Role::Snippet(Lang::PYTHON), "/w", "a.b"),
            ["/w/a/b.py", "/w/a/b/__init__.py"]
        );
        assert_eq!(
            module_files(Role::Snippet(Lang::JAVASCRIPT), "/w/src", "../lib/x").first(),
            Some(&"/w/lib/x".to_owned())
        );
        assert_eq!(
            module_files(Role::Snippet(Lang::JAVASCRIPT), "/w", "react").first(),
            Some(&"/w/node_modules/react/index.js".to_owned())
        );
    }
}
