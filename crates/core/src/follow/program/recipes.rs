//! Build recipes that this script or an earlier call wrote: `Makefile`, `package.json` and similar,
//! and tests.

use super::Line;
use super::options::Hit;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::glob::glob_matches;
use crate::knowledge::languages::Names;
use crate::knowledge::names::{
    CMAKE_FILES, CODE_RECIPES, COMPILED_SOURCES, COMPILING_TOOLS, ENVIRONMENT_FILES,
    ENVIRONMENT_PROGRAMS, FILE_RUNNERS, GRADLE_FILES, JAVASCRIPT_SETTINGS, JAVASCRIPT_TOOLS,
    MAKE_FILES, MAKE_PROGRAMS, MANIFEST_PROGRAMS, PROCESS_FILES, PROCESS_PROGRAMS, PYTHON_FOLDERS,
    PYTHON_SETTINGS, PYTHON_TOOLS, RUBY_SETTINGS, RUBY_TOOLS, SCRIPT_MANIFESTS,
    SELF_RUNNING_SCRIPTS, SHELL_RECIPES, SOURCE_FOLDERS, TASK_FILES, TASK_PROGRAMS, TEST_FOLDERS,
    TEST_SETTINGS,
};
use crate::knowledge::{Effect, Role, Value};
use crate::shell::syntax::Span;
use crate::written::{Wanted, name};

/// How many lines of one recipe are followed.
const LINES_MAX: usize = 256;

/// How a file says what runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recipe {
    /// Indented lines, and what follows `target:;`.
    Make,
    /// Strings of a JSON object.
    Json,
    /// `cmd: text`, `- text`.
    Yaml,
    /// `name: text`.
    Named,
    /// `commands = text`, and the lines below it.
    Settings,
    /// What follows `COMMAND` in a call.
    Calls,
    /// `delete 'x'`, `commandLine 'a', 'b'`, `'a b'.execute()`.
    Gradle,
    /// All of it is code of a language.
    Code(Role),
    /// All of it is shell text.
    Shell,
}

/// Files that hold commands of their own, by the patterns of their names.
static RECIPES: &[(&Names, Recipe)] = &[
    (&MAKE_FILES, Recipe::Make),
    (&SCRIPT_MANIFESTS, Recipe::Json),
    (&TASK_FILES, Recipe::Yaml),
    (&PROCESS_FILES, Recipe::Named),
    (&SHELL_RECIPES, Recipe::Shell),
    (&TEST_SETTINGS, Recipe::Settings),
    (&CMAKE_FILES, Recipe::Calls),
    (&GRADLE_FILES, Recipe::Gradle),
];

/// Programs, and the patterns of names of files that these take up by themselves.
static TAKEN_UP: &[(&Names, &Names)] = &[
    (&MAKE_PROGRAMS, &MAKE_FILES),
    (&MANIFEST_PROGRAMS, &SCRIPT_MANIFESTS),
    (&JAVASCRIPT_TOOLS, &JAVASCRIPT_SETTINGS),
    (&PYTHON_TOOLS, &PYTHON_SETTINGS),
    (&RUBY_TOOLS, &RUBY_SETTINGS),
    (&TASK_PROGRAMS, &TASK_FILES),
    (&PROCESS_PROGRAMS, &PROCESS_FILES),
    (&ENVIRONMENT_PROGRAMS, &ENVIRONMENT_FILES),
    (&COMPILING_TOOLS, &COMPILED_SOURCES),
    (&PYTHON_TOOLS, &TEST_SETTINGS),
    (&COMPILING_TOOLS, &CMAKE_FILES),
    (&COMPILING_TOOLS, &GRADLE_FILES),
];

/// Words of a command that may name what is built or tested.
const NAMED_MAX: usize = 8;

impl Walk<'_> {
    /// Judges what a build or a test run would take up out of files that this text or an earlier call
    /// has written.
    pub(super) fn written_recipes(&mut self, line: &Line<'_>, does: Effect) {
        // A row may be called after another program: `rake` stands beside `rails`.
        let program = line.name.split(' ').next().unwrap_or("");
        let builds = matches!(does, Effect::Build | Effect::Project | Effect::Install);
        if !builds && !FILE_RUNNERS.contains(program) {
            return;
        }
        let here = self.ground.place(".").path;
        self.memory.want(Wanted::Directory(here.clone()));
        let mut paths = self.recipes_in(&here, program);
        let folders = [
            (&COMPILING_TOOLS, &SOURCE_FOLDERS),
            (&JAVASCRIPT_TOOLS, &TEST_FOLDERS),
            (&PYTHON_TOOLS, &PYTHON_FOLDERS),
        ];
        let folders = folders.iter().filter(|(tools, _)| tools.contains(program));
        for folder in folders.flat_map(|(_, folders)| folders.iter()) {
            let folder = format!("{here}/{folder}");
            self.memory.want(Wanted::Directory(folder.clone()));
            paths.extend(self.recipes_in(&folder, program));
        }
        // What was judged once need not be judged again by the next command.
        if self.memory.take_unread_recipes() {
            let own = self.memory.paths().map(str::to_owned);
            paths.extend(own.filter(|path| is_recipe(path)));
        }
        let operands = line.read.operands.iter().take(NAMED_MAX);
        let named: Vec<String> = operands
            .filter(|operand| !operand.vague() && !operand.text.is_empty())
            // `tests/test_a.py::test_b` names a part of a file.
            .map(|operand| operand.text.split("::").next().unwrap_or(""))
            .map(|path| self.ground.place(path).path)
            .collect();
        for path in named {
            self.memory.want(if name(&path).contains('.') {
                Wanted::File(path.clone())
            } else {
                Wanted::Directory(path.clone())
            });
            paths.extend(self.recipes_in(&path, program));
            paths.push(path);
        }
        paths.sort();
        paths.dedup();
        for path in paths {
            self.takes_up(&path, line);
        }
        self.takes_up_named(line);
    }

    /// Judges a makefile that an option names: `make -f anything`.
    fn takes_up_named(&mut self, line: &Line<'_>) {
        let names = |hit: &&Hit| hit.flag.value == Value::Next(Role::Script);
        let hits = line.read.hits.iter().filter(names);
        let files = hits.filter_map(|hit| hit.value.as_ref());
        let files = files.map(|file| self.ground.place(&file.text).path);
        let files: Vec<String> = files.collect();
        for path in files
            .iter()
            .filter(|_| MAKE_PROGRAMS.contains(line.row.name))
        {
            self.memory.want(Wanted::File(path.clone()));
            self.follows(Recipe::Make, path, line);
        }
    }

    /// Returns the files right in `directory` that earlier calls wrote and that `program` takes up.
    fn recipes_in(&self, directory: &str, program: &str) -> Vec<String> {
        let taken_up = |path: &str| {
            TAKEN_UP.iter().any(|(programs, patterns)| {
                let matches =
                    |pattern: &str| glob_matches(pattern.as_bytes(), name(path).as_bytes());
                programs.contains(program) && patterns.iter().any(matches)
            })
        };
        let written = self.knows.written.within(directory);
        let paths = written.map(|(path, _)| path);
        paths
            .filter(|path| taken_up(path))
            .map(str::to_owned)
            .collect()
    }

    /// Judges one file that a build or a test run takes up.
    fn takes_up(&mut self, path: &str, line: &Line<'_>) {
        match recipe_of(path) {
            Some(recipe) => self.follows(recipe, path, line),
            None => self.picks_up(path, line.span),
        }
    }

    /// Judges what the file at `path` says is run.
    fn follows(&mut self, recipe: Recipe, path: &str, line: &Line<'_>) {
        let held = self.held(path);
        if held.iter().any(|stream| stream.taint.network) {
            self.unreadable("runs code loaded from the network", line.span);
        }
        let replaced = held.iter().any(|stream| stream.text.is_none());
        if replaced && recipe == Recipe::Make {
            self.unreadable(
                "runs a recipe that was written before and whose content is not known",
                line.span,
            );
        }
        self.runs_brought(path, line.row.name, line.span);
        for text in held.into_iter().filter_map(|held| held.text) {
            // What it runs may be a build that would take up the same file again.
            if self.begin(path, &text) {
                self.note_run(path);
                self.recipe(recipe, &text, line);
                self.memory.end();
            }
        }
    }

    fn recipe(&mut self, recipe: Recipe, text: &str, line: &Line<'_>) {
        let words: Vec<&str> = line.args.iter().map(|arg| arg.text.as_str()).collect();
        let commands: Vec<String> = match recipe {
            Recipe::Code(role) => {
                self.code(role, &Arg::literal(text, line.span), line.row.name);
                return;
            }
            Recipe::Shell => vec![text.to_owned()],
            Recipe::Make => make_commands(text),
            Recipe::Json => json_commands(text, line.name, &words),
            Recipe::Yaml => yaml_commands(text),
            Recipe::Settings => settings_commands(text),
            Recipe::Calls => call_commands(text),
            Recipe::Gradle => gradle_commands(text),
            Recipe::Named => text
                .lines()
                .filter_map(|line| Some(line.split_once(':')?.1.trim().to_owned()))
                .collect(),
        };
        for command in commands.iter().take(LINES_MAX) {
            self.recipe_line(command, line.span);
        }
    }

    /// Judges one line of a recipe. What it cannot be read as, or a program nobody knows, is the
    /// project's own business as it would be had the file been there before.
    fn recipe_line(&mut self, command: &str, span: Span) {
        let first = command.split_whitespace().next().unwrap_or("");
        let name = first.rsplit('/').next().unwrap_or(first);
        let runs = crate::knowledge::program(name).is_some();
        if runs && crate::shell::parse::parse(command).is_ok() {
            self.text(command, self.here(span));
        }
    }
}

/// Whether a file of this name says what a build runs.
pub(super) fn is_recipe(path: &str) -> bool {
    recipe_of(path).is_some()
}

fn recipe_of(path: &str) -> Option<Recipe> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_like = |pattern: &str| glob_matches(pattern.as_bytes(), name.as_bytes());
    let code = CODE_RECIPES.iter().find(|(pattern, _)| is_like(pattern));
    let code = code.map(|(_, role)| Recipe::Code(*role));
    code.or_else(|| {
        let known = |(patterns, _): &&(&Names, Recipe)| patterns.iter().any(is_like);
        RECIPES.iter().find(known).map(|(_, recipe)| *recipe)
    })
}

/// Returns the commands of a makefile: indented lines, and what follows `target:;`.
fn make_commands(text: &str) -> Vec<String> {
    let line_command = |line: &str| {
        let recipe = if line.starts_with(['\t', ' ']) {
            line.trim()
        } else {
            line.split_once(';')
                .filter(|(target, _)| target.contains(':'))?
                .1
                .trim()
        };
        let command = recipe.trim_start_matches(['@', '-', '+']).trim();
        // Make's own `$(CC)` is not a command; `$$` is the shell's dollar.
        (!command.is_empty()).then(|| command.replace("$(", "${").replace("$$", "$"))
    };
    let joined = text.replace("\\\n", " ");
    let functions = joined
        .match_indices("$(shell ")
        .filter_map(|(at, opening)| {
            let inside = joined.get(at + opening.len()..)?;
            Some(inside.get(..inside.find([')', '\n'])?)?.to_owned())
        })
        .take(LINES_MAX);
    let functions: Vec<String> = functions.collect();
    let lines = joined.lines().filter_map(line_command);
    lines.chain(functions).collect()
}

/// Returns the scripts of a `package.json` that `words` name or that run by themselves; all texts
/// where it cannot be told.
fn json_commands(text: &str, program: &str, words: &[&str]) -> Vec<String> {
    let parsed = serde_json::from_str::<serde_json::Value>(text).ok();
    let scripts = parsed.as_ref().and_then(|parsed| parsed.get("scripts"));
    let Some(scripts) = scripts.and_then(serde_json::Value::as_object) else {
        return json_strings(text);
    };
    let named = |script: &str| {
        let base = script.strip_prefix("pre").or(script.strip_prefix("post"));
        let bases = [script, base.unwrap_or(script)];
        let called = |base: &str| {
            words.contains(&base)
                || program.split(' ').any(|word| word == base)
                || SELF_RUNNING_SCRIPTS.contains(base)
        };
        bases.into_iter().any(called)
    };
    let mut chosen: Vec<String> = Vec::new();
    for (script, command) in scripts {
        let texts = || json_strings(&format!("{command}"));
        if named(script) {
            chosen.extend(command.as_str().map(str::to_owned));
            if command.as_str().is_none() {
                chosen.extend(texts());
            }
        }
    }
    // `npm run a` with a script that runs another: that one runs as well.
    let further: Vec<String> = scripts
        .iter()
        .filter(|(script, _)| {
            let runs = |command: &String| command.split_whitespace().any(|word| word == *script);
            chosen.iter().any(runs)
        })
        .filter_map(|(_, command)| command.as_str().map(str::to_owned))
        .collect();
    chosen.extend(further);
    chosen
}

/// Returns the strings of a JSON text, escapes undone as far as commands need it.
fn json_strings(text: &str) -> Vec<String> {
    let mut strings = Vec::new();
    let mut string: Option<String> = None;
    let mut escaped = false;
    for letter in text.chars() {
        match (&mut string, letter) {
            (Some(inside), letter) if escaped => {
                inside.push(match letter {
                    'n' => '\n',
                    't' => '\t',
                    other => other,
                });
                escaped = false;
            }
            (Some(_), '\\') => escaped = true,
            (Some(_), '"') => strings.extend(string.take()),
            (Some(inside), letter) => inside.push(letter),
            (None, '"') => string = Some(String::new()),
            (None, _) => {}
        }
    }
    strings.retain(|string| string.contains(char::is_whitespace));
    strings
}

/// Returns the commands of a settings file: `commands = a`, and the indented lines below it.
fn settings_commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let lines = text.lines().filter_map(|line| {
        let indented = line.starts_with([' ', '\t']);
        let command = match line.split_once('=') {
            Some((key, command)) if !indented => {
                inside = key.trim_start().starts_with("commands");
                command
            }
            _ if indented => line,
            _ => {
                inside = false;
                return None;
            }
        };
        let command = command.trim().trim_start_matches('-');
        // `{posargs}` stands for words of the person who runs it.
        let words = command.split_whitespace();
        let words: Vec<&str> = words.filter(|word| !word.contains(['{', '}'])).collect();
        (inside && !words.is_empty()).then(|| words.join(" "))
    });
    lines.collect()
}

/// Returns what follows `COMMAND` in calls such as `execute_process(COMMAND a b)`.
fn call_commands(text: &str) -> Vec<String> {
    let calls = text.split("COMMAND ").skip(1).take(LINES_MAX);
    let commands = calls.map(|rest| rest.split([')', '\n']).next().unwrap_or("").trim());
    commands.map(str::to_owned).collect()
}

/// Returns what a build file of Gradle deletes and runs, as commands of a shell.
fn gradle_commands(text: &str) -> Vec<String> {
    let texts = |rest: &str| {
        let line = rest.lines().next().unwrap_or("");
        let parts = line.split(['\'', '"']).skip(1).step_by(2);
        parts.map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let after = |word: &'static str| text.split(word).skip(1).take(LINES_MAX);
    let deletes = after("delete").map(texts).filter(|it| !it.is_empty());
    let deletes = deletes.map(|paths| format!("rm -rf {paths}"));
    let runs = after("commandLine").map(texts);
    let executes = text.lines().filter(|line| line.contains(".execute("));
    let executes = executes.map(texts);
    deletes.chain(runs).chain(executes).collect()
}

/// Returns what follows `- ` and `cmd: ` in a YAML text.
fn yaml_commands(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| {
            let line = line.trim();
            let item = line.strip_prefix("- ").unwrap_or(line).trim();
            let command = match item.split_once(": ") {
                Some((key, command)) => matches!(key, "cmd" | "sh").then_some(command)?,
                None => line.strip_prefix("- ")?,
            };
            Some(command.trim().trim_matches(['"', '\'']).to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{json_strings, make_commands, yaml_commands};

    #[test]
    fn recipes_are_found_where_each_format_keeps_them() {
        assert_eq!(
            make_commands("all: a\n\t@rm -rf x\nb:; ls $$HOME\nA = b;c\n"),
            ["rm -rf x", "ls $HOME"]
        );
        assert_eq!(
            json_strings(r#"{"scripts":{"x":"rm -rf \"a\""},"n":1}"#),
            ["rm -rf \"a\""]
        );
        assert_eq!(
            yaml_commands("tasks:\n  x:\n    cmds:\n      - rm -rf a\n      - cmd: ls b\n"),
            ["rm -rf a", "ls b"]
        );
    }
}
