//! Files that say what a build runs, where this very text has written them: `Makefile`,
//! `package.json` and their kin.

use super::Line;
use crate::knowledge::{Effect, Role};
use crate::place::glob_matches;
use crate::shell::syntax::Span;
use crate::shell::value::Arg;
use crate::shell::walk::Walk;

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
    /// All of it is code of a language.
    Code(Role),
    /// All of it is shell text.
    Shell,
}

/// Files by the patterns of their names.
const RECIPES: &[(&str, Recipe)] = &[
    ("Makefile", Recipe::Make),
    ("makefile", Recipe::Make),
    ("GNUmakefile", Recipe::Make),
    ("*.mk", Recipe::Make),
    ("justfile", Recipe::Make),
    ("Justfile", Recipe::Make),
    (".justfile", Recipe::Make),
    ("package.json", Recipe::Json),
    ("composer.json", Recipe::Json),
    ("deno.json", Recipe::Json),
    ("Taskfile.y*ml", Recipe::Yaml),
    ("Procfile*", Recipe::Named),
    ("Rakefile", Recipe::Code(Role::Ruby)),
    ("setup.py", Recipe::Code(Role::Python)),
    ("conftest.py", Recipe::Code(Role::Python)),
    ("noxfile.py", Recipe::Code(Role::Python)),
    ("tasks.py", Recipe::Code(Role::Python)),
    ("fabfile.py", Recipe::Code(Role::Python)),
    ("SConstruct", Recipe::Code(Role::Python)),
    ("wscript", Recipe::Code(Role::Python)),
    ("gulpfile.js", Recipe::Code(Role::JavaScript)),
    ("Gruntfile.js", Recipe::Code(Role::JavaScript)),
    ("configure", Recipe::Shell),
    (".envrc", Recipe::Shell),
];

impl Walk<'_> {
    /// Judges what a build would run out of files this text has just written.
    pub(super) fn written_recipes(&mut self, line: &Line<'_>, does: Effect) {
        if !matches!(does, Effect::Build | Effect::Project | Effect::Install) {
            return;
        }
        // What was judged once need not be judged again by the next command.
        if !std::mem::take(&mut self.unread_recipes) {
            return;
        }
        let written: Vec<(Recipe, String)> = self
            .files
            .iter()
            .filter_map(|(path, stream)| Some((recipe_of(path)?, stream.text.clone()?)))
            .collect();
        for (recipe, text) in written {
            self.recipe(recipe, &text, line.row.name, line.span);
        }
    }

    fn recipe(&mut self, recipe: Recipe, text: &str, program: &'static str, span: Span) {
        let commands: Vec<String> = match recipe {
            Recipe::Code(role) => {
                self.code(role, &Arg::literal(text, span), program);
                return;
            }
            Recipe::Shell => vec![text.to_owned()],
            Recipe::Make => make_commands(text),
            Recipe::Json => json_strings(text),
            Recipe::Yaml => yaml_commands(text),
            Recipe::Named => text
                .lines()
                .filter_map(|line| Some(line.split_once(':')?.1.trim().to_owned()))
                .collect(),
        };
        for command in commands.iter().take(LINES_MAX) {
            self.recipe_line(command, span);
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
    let known = |(pattern, _): &&(&str, Recipe)| glob_matches(pattern.as_bytes(), name.as_bytes());
    RECIPES.iter().find(known).map(|(_, recipe)| *recipe)
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
