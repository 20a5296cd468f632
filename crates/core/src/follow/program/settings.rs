//! Variables in files that programs load by themselves: `.env` and its kin.
//!
//! Frameworks, test runners and agents put what stands in such a file into their environment. A line
//! that sets a variable there is judged like the same assignment in front of a command.

use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::{Effect, PathKind};
use crate::shell::syntax::Span;

/// How variables of the firewall begin.
const OWN: &str = "COUNTERSIGN_";
/// How much of a name or a value in such a script is looked at.
const VALUE_BYTES_MAX: usize = 256;
/// Lines of one file that are looked at; a longer one is put to a person.
const LINES_MAX: usize = 1024;

impl Walk<'_> {
    /// Judges the variables in a text that is written into the file at `path`, if programs load that file.
    pub(crate) fn heed_settings(&mut self, path: &Arg, text: &str) {
        let place = self.ground.place(&path.text);
        if place.kind != PathKind::Environment {
            return;
        }
        let span = path.span;
        for (at, line) in text.lines().enumerate() {
            if at >= LINES_MAX {
                self.unreadable("writes more settings than can be read", span);
                return;
            }
            if let Some((name, value)) = assigned(line) {
                self.heed_setting(name, value, span);
            }
        }
    }

    /// Judges the variables that a command which edits the file at `path` in place may put into it: whatever
    /// its words set, somewhere in a script of `sed` or `perl`.
    pub(crate) fn heed_edit(&mut self, path: &Arg, words: &[Arg]) {
        if self.ground.place(&path.text).kind != PathKind::Environment {
            return;
        }
        for word in words {
            let text = word.text.replace('\\', "");
            for (at, _) in text.match_indices('=').take(LINES_MAX) {
                let end = text.floor_char_boundary(at.saturating_add(VALUE_BYTES_MAX));
                let start = text.floor_char_boundary(at.saturating_sub(VALUE_BYTES_MAX));
                let before = text.get(start..at).unwrap_or("");
                let after = text.get(at + 1..end).unwrap_or("");
                let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
                let start = before.trim_end_matches(is_part).len();
                // What separates the parts of a substitution ends a value, and so does a line.
                let separator = before
                    .get(..start)
                    .and_then(|text| text.chars().next_back());
                let separator = separator.unwrap_or('\n');
                let end = after.find(['\n', separator]).unwrap_or(after.len());
                let value = if separator == '/' {
                    after
                } else {
                    after.get(..end).unwrap_or(after)
                };
                self.heed_setting(before.get(start..).unwrap_or(""), value, path.span);
            }
        }
    }

    fn heed_setting(&mut self, name: &str, value: &str, span: Span) {
        if name.starts_with(OWN) {
            let act = Act::new(Effect::Guard, "", self.here(span))
                .because("sets a variable of the firewall in a file that programs load");
            self.note(act.on(name));
            return;
        }
        self.variable_effect(name, &Arg::literal(value, span));
    }
}

/// Returns the name and the value of a line that sets a variable.
fn assigned(line: &str) -> Option<(&str, &str)> {
    let line = line.trim().trim_start_matches('\u{feff}');
    let line = line.strip_prefix("export ").unwrap_or(line).trim_start();
    let (name, value) = line.split_once('=').or_else(|| line.split_once(": "))?;
    let name = name.trim_end();
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = value.trim();
    let value = match value.as_bytes() {
        [quote @ (b'"' | b'\'' | b'`'), .., last] if quote == last => {
            value.get(1..value.len() - 1).unwrap_or(value)
        }
        _ => value,
    };
    is_name.then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::assigned;

    #[test]
    fn lines_of_such_files_are_read_as_programs_read_them() {
        let rows = [
            ("A=1", Some(("A", "1"))),
            ("  export A = 'b c' ", Some(("A", "b c"))),
            ("A: x", Some(("A", "x"))),
            ("A=", Some(("A", ""))),
            ("# A=1", None),
            ("", None),
        ];
        for (line, want) in rows {
            assert_eq!(assigned(line), want, "{line}");
        }
    }
}
