//! Perl code outside `-e`: modules, split patterns, and files that it opens.

use super::Line;
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::{Effect, Lang, Role};

impl Walk<'_> {
    /// Judges the options of perl whose values end up in the program it runs.
    pub(super) fn perl_options(&mut self, line: &Line<'_>) {
        for hit in &line.read.hits {
            let Some(value) = &hit.value else {
                if hit.name == "-d" && line.stdin.connected {
                    self.unreadable("pipes commands into a debugger", line.span);
                }
                continue;
            };
            let code = match hit.name {
                "-M" | "-m" => use_statement(&value.text),
                "-F" => split_call(&value.text),
                _ => None,
            };
            if let Some(text) = code {
                let code = Arg {
                    text,
                    ..value.clone()
                };
                self.code(Role::Snippet(Lang::PERL), &code, line.row.name);
            }
            // `perl -Mlib=/tmp` is `-I/tmp`.
            if hit.name == "-M" && value.text.starts_with("lib=") {
                self.loads(&value.after("lib=".len()), line.row.name);
            }
        }
    }

    /// Judges words that `<>` of perl opens as more than a file: a bar at either end makes a command
    /// of it, and so does one at the front for `open` of Ruby; `>` writes. Returns whether it was one.
    pub(super) fn opened_word(&mut self, word: &Arg, line: &Line<'_>) -> bool {
        let text = word.text.trim();
        let piped = text.strip_prefix('|').or_else(|| text.strip_suffix('|'));
        if let Some(command) = piped.filter(|command| !command.trim().is_empty()) {
            let act = Act::new(Effect::Exec, line.row.name, self.here(word.span))
                .because("a word that is opened as a command");
            self.note(act.on(word.shown()));
            let command = Arg {
                text: command.to_owned(),
                ..word.clone()
            };
            self.shell_text(&command, &Stream::default());
            return true;
        }
        if let Some(path) = text.strip_prefix(['>', '+']) {
            let path = path.trim_start_matches(['>', '<', '+']).trim();
            let file = Arg {
                text: path.to_owned(),
                ..word.clone()
            };
            self.writes(&file, line.row.name, Writing::Replace);
            return true;
        }
        false
    }
}

/// Returns the statement that `-Mtext` stands for, unless it only names a module and what to import.
fn use_statement(text: &str) -> Option<String> {
    let module = text.split('=').next().unwrap_or(text);
    let named = module
        .trim_start_matches('-')
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':'));
    (!named).then(|| format!("use {};", text.trim_start_matches('-')))
}

/// Returns the call that `-Ftext` stands for, where the text is one of perl: a pattern or a string.
fn split_call(text: &str) -> Option<String> {
    text.starts_with(['/', '"', '\''])
        .then(|| format!("split({text});"))
}
