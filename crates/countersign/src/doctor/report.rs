//! Lines of a diagnosis, and how they are shown.

use std::io::Write as _;

use anstyle::{AnsiColor, Style};
use countersign_core::display::inline;
use serde_json::{Value, json};

/// Widest name of a group, in cells.
const GROUP_CELLS: usize = 13;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    /// As it should be.
    Ok,
    /// It works, but not all of it, or it could not be seen.
    Warn,
    /// It does not work, or does not protect.
    Fail,
}

impl State {
    /// Returns the word for programs.
    const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// Returns sign and word for people, who may not see colours.
    const fn label(self) -> &'static str {
        match self {
            Self::Ok => "✓ ok  ",
            Self::Warn => "! warn",
            Self::Fail => "✗ FAIL",
        }
    }

    const fn style(self) -> Style {
        match self {
            Self::Ok => AnsiColor::Green.on_default(),
            Self::Warn => AnsiColor::Yellow.on_default(),
            Self::Fail => AnsiColor::Red.on_default().bold(),
        }
    }
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it belongs to: `home`, `gateway`, an agent.
    group: String,
    pub(crate) state: State,
    /// What was found.
    found: String,
    /// What to do about it; empty where nothing is to be done.
    fix: String,
}

impl Line {
    /// Something is as it should be.
    pub(crate) fn ok(group: &str, found: impl AsRef<str>) -> Self {
        Self::new(State::Ok, group, found, "")
    }

    /// Something works, but not all of it, or could not be seen.
    pub(crate) fn warn(group: &str, found: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self::new(State::Warn, group, found, fix)
    }

    /// Something does not work, or does not protect.
    pub(crate) fn fail(group: &str, found: impl AsRef<str>, fix: impl AsRef<str>) -> Self {
        Self::new(State::Fail, group, found, fix)
    }

    /// Returns a line. Texts may come from files, agents and servers, so they are made harmless here.
    pub(crate) fn new(
        state: State,
        group: &str,
        found: impl AsRef<str>,
        fix: impl AsRef<str>,
    ) -> Self {
        Self {
            group: inline(group),
            state,
            found: inline(found.as_ref().trim()),
            fix: inline(fix.as_ref().trim()),
        }
    }

    fn text(&self) -> String {
        let (style, label) = (self.state.style(), self.state.label());
        let (group, found) = (&self.group, &self.found);
        let fix = match self.fix.as_str() {
            "" => String::new(),
            fix => format!(" → {fix}"),
        };
        format!("{style}{label}{style:#} {group:GROUP_CELLS$} {found}{fix}\n")
    }

    fn json(&self) -> Value {
        json!({
            "group": self.group,
            "state": self.state.word(),
            "found": self.found,
            "fix": (!self.fix.is_empty()).then_some(&self.fix),
        })
    }
}

/// When lines are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Each as it is found: running an agent takes a while.
    AtOnce,
    /// All together, as JSON.
    AtTheEnd,
}

/// All lines so far.
#[derive(Debug)]
pub(crate) struct Report {
    lines: Vec<Line>,
    shown: Shown,
    written: std::io::Result<()>,
}

impl Report {
    pub(crate) const fn new(shown: Shown) -> Self {
        Self {
            lines: Vec::new(),
            shown,
            written: Ok(()),
        }
    }

    /// Adds a line, and shows it if lines are shown at once.
    pub(crate) fn add(&mut self, line: Line) {
        if self.shown == Shown::AtOnce && self.written.is_ok() {
            let mut stdout = anstream::stdout().lock();
            self.written = stdout
                .write_all(line.text().as_bytes())
                .and_then(|()| stdout.flush());
        }
        self.lines.push(line);
    }

    /// Adds several lines.
    pub(crate) fn add_all(&mut self, lines: impl IntoIterator<Item = Line>) {
        for line in lines {
            self.add(line);
        }
    }

    /// Whether anything does not work.
    pub(crate) fn has_failed(&self) -> bool {
        self.worst() == State::Fail
    }

    fn worst(&self) -> State {
        let states = self.lines.iter().map(|line| line.state);
        states.max().unwrap_or(State::Ok)
    }

    /// Returns all of it for programs.
    pub(crate) fn json(&self) -> Value {
        let checks: Vec<Value> = self.lines.iter().map(Line::json).collect();
        json!({ "ok": !self.has_failed(), "state": self.worst().word(), "checks": checks })
    }

    /// Returns the last line for people.
    pub(crate) fn summary(&self) -> String {
        let count = |state| self.lines.iter().filter(|it| it.state == state).count();
        let (failed, warned) = (count(State::Fail), count(State::Warn));
        match (failed, warned) {
            (0, 0) => "Everything works.\n".to_owned(),
            (0, warned) => format!("Nothing failed; {warned} to look at (!).\n"),
            (failed, 0) => format!("{failed} failed (✗).\n"),
            (failed, warned) => format!("{failed} failed (✗), {warned} to look at (!).\n"),
        }
    }

    /// Returns how showing the lines went.
    pub(crate) fn written(self) -> std::io::Result<()> {
        self.written
    }
}

/// Returns lines as people see them, without colours.
#[cfg(test)]
pub(crate) fn plain(lines: &[Line]) -> String {
    let text: String = lines.iter().map(Line::text).collect();
    anstream::adapter::strip_str(&text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> Vec<Line> {
        vec![
            Line::ok("home", "/home/ana/.countersign belongs to you alone"),
            Line::warn("store", "300 MB are left on the disk", "free some space"),
            Line::fail(
                "claude-code",
                "its hook runs \u{202e}evil\n",
                "countersign init claude-code",
            ),
        ]
    }

    #[test]
    fn a_line_has_sign_word_group_finding_and_fix() {
        insta::assert_snapshot!(plain(&all()), @r"
        ✓ ok   home          /home/ana/.countersign belongs to you alone
        ! warn store         300 MB are left on the disk → free some space
        ✗ FAIL claude-code   its hook runs ⟨U+202E⟩evil → countersign init claude-code
        ");
    }

    #[test]
    fn programs_get_the_same_as_json() {
        let mut report = Report::new(Shown::AtTheEnd);
        report.add_all(all());
        insta::assert_snapshot!(report.json().to_string(), @r#"{"ok":false,"state":"fail","checks":[{"group":"home","state":"ok","found":"/home/ana/.countersign belongs to you alone","fix":null},{"group":"store","state":"warn","found":"300 MB are left on the disk","fix":"free some space"},{"group":"claude-code","state":"fail","found":"its hook runs ⟨U+202E⟩evil","fix":"countersign init claude-code"}]}"#);
        assert_eq!(report.summary(), "1 failed (✗), 1 to look at (!).\n");
    }

    #[test]
    fn only_a_failure_fails() {
        let mut report = Report::new(Shown::AtTheEnd);
        assert!(!report.has_failed());
        report.add(Line::warn("home", "odd", ""));
        assert!(!report.has_failed());
        report.add(Line::fail("home", "bad", ""));
        assert!(report.has_failed());
    }
}
