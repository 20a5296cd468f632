//! The grant step of the panel: shows, selects and limits the grant before the answer is sent.

use countersign_core::approval::Choice;
use countersign_core::card::label;
use countersign_gate::records::view::ScopeView;
use ratatui::crossterm::event::KeyEvent;
use ratatui::text::{Line, Span};
use serde_json::{Map, Value, json};

use crate::config::schema::seconds_of;
use crate::tui::arming::Armed;
use crate::tui::input::{Input, Lines};
use crate::tui::keys::{Act, Place, act};
use crate::tui::panel::{IsSelected, choice_rows, prose};
use crate::tui::theme::Theme;

/// Longest limit that is read, in bytes.
const LIMIT_BYTES_MAX: usize = 64;
/// How a limit is written.
const LIMIT_HINT: &str = "30m, 8h, x3 or 30m x3; empty for no limit";

/// A permission that is being chosen.
#[derive(Clone, Debug)]
pub(super) struct Granting {
    pub(super) choice: Choice,
    /// Whose calls it is about, in words.
    whose: String,
    offered: Offered,
    selected: usize,
    /// How long and how often, as typed.
    limit: Input,
    /// The limit as it was before it was edited.
    kept: String,
    is_editing: bool,
    wrong: Option<String>,
}

#[derive(Clone, Debug)]
enum Offered {
    Asked,
    Scopes(Vec<ScopeView>),
    Failed(String),
}

/// The result of a key press.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Chosen {
    /// Nothing yet.
    Stays,
    /// Back to the choices.
    Leaves,
    /// This is to be sent.
    Answer(Value),
    /// A key that answers came too soon.
    TooSoon,
}

impl Granting {
    pub(super) const fn new(choice: Choice, whose: String) -> Self {
        Self {
            choice,
            whose,
            offered: Offered::Asked,
            selected: 0,
            limit: Input::new(Lines::One, LIMIT_BYTES_MAX),
            kept: String::new(),
            is_editing: false,
            wrong: None,
        }
    }

    /// Takes the answer to the preview.
    pub(super) fn offer(&mut self, mut scopes: Vec<ScopeView>) {
        scopes.retain(|scope| self.choice == Choice::Session || !scope.session_only);
        self.offered = if scopes.is_empty() {
            Offered::Failed("No grant is possible for this call.".to_owned())
        } else {
            Offered::Scopes(scopes)
        };
    }

    /// The preview could not be had.
    pub(super) fn fail(&mut self, why: &str) {
        self.offered = Offered::Failed(why.to_owned());
    }

    fn scopes(&self) -> &[ScopeView] {
        match &self.offered {
            Offered::Scopes(scopes) => scopes,
            Offered::Asked | Offered::Failed(_) => &[],
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, armed: Armed) -> Chosen {
        if self.is_editing {
            match act(Place::Line, key) {
                Some(Act::Confirm) => match limit(&self.limit.text()) {
                    Ok(_) => {
                        self.is_editing = false;
                        self.wrong = None;
                    }
                    Err(why) => self.wrong = Some(why),
                },
                // It cancels the edit; a limit that was set before stays.
                Some(Act::Leave) => {
                    self.limit.set(&self.kept);
                    self.is_editing = false;
                    self.wrong = None;
                }
                Some(_) | None => {
                    self.limit.key(key);
                }
            }
            return Chosen::Stays;
        }
        let last = self.scopes().len().saturating_sub(1);
        match act(Place::Grant, key) {
            Some(Act::Up) => self.selected = self.selected.saturating_sub(1),
            Some(Act::Down) => self.selected = (self.selected + 1).min(last),
            Some(Act::Leave) => return Chosen::Leaves,
            Some(Act::EditLimit) if !self.scopes().is_empty() => {
                self.kept = self.limit.text();
                self.is_editing = true;
            }
            Some(Act::Confirm) if !self.scopes().is_empty() => {
                return if armed == Armed::Yes {
                    self.answer()
                } else {
                    Chosen::TooSoon
                };
            }
            Some(_) | None => {}
        }
        Chosen::Stays
    }

    /// Takes pasted text, if there is a line to paste it into.
    pub(super) fn pasted(&mut self, text: &str) {
        if self.is_editing {
            self.limit.insert(text);
        }
    }

    fn answer(&self) -> Chosen {
        let (Some(scope), Ok(limit)) =
            (self.scopes().get(self.selected), limit(&self.limit.text()))
        else {
            return Chosen::Stays;
        };
        let mut body = Map::new();
        body.insert("choice".to_owned(), json!(self.choice.word()));
        body.insert("scope".to_owned(), json!(scope.scope));
        if let Some(seconds) = limit.seconds {
            body.insert("lasts_seconds".to_owned(), json!(seconds));
        }
        if let Some(uses) = limit.uses {
            body.insert("uses".to_owned(), json!(uses));
        }
        Chosen::Answer(Value::Object(body))
    }

    /// Returns what is being typed, if something is.
    pub(super) const fn edited(&self) -> Option<&Input> {
        if self.is_editing {
            Some(&self.limit)
        } else {
            None
        }
    }

    /// Returns the rows below the card.
    pub(super) fn lines(&self, width: usize, armed: Armed, theme: Theme) -> Vec<Line<'static>> {
        let mut lines = Vec::new();
        let title = format!(
            "{}. These calls of {} would then run without a question:",
            label(self.choice),
            self.whose
        );
        lines.extend(prose(&title, width, theme.heading()));
        match &self.offered {
            Offered::Asked => lines.extend(prose("Checking past calls…", width, theme.quiet())),
            Offered::Failed(why) => lines.extend(prose(why, width, theme.bad())),
            Offered::Scopes(scopes) => {
                for (number, scope) in scopes.iter().enumerate() {
                    let style = if armed == Armed::Yes {
                        theme.plain()
                    } else {
                        theme.quiet()
                    };
                    let is_chosen = number == self.selected;
                    let is_selected = IsSelected::from(is_chosen && !self.is_editing);
                    lines.extend(choice_rows(
                        None,
                        &scope.words,
                        is_selected,
                        style,
                        theme,
                        width,
                    ));
                    // The others show theirs when they are selected; there are not many rows.
                    if is_chosen {
                        lines.extend(history(scope, width, theme));
                    }
                }
                lines.extend(self.limit_lines(width, theme));
            }
        }
        lines
    }

    fn limit_lines(&self, width: usize, theme: Theme) -> Vec<Line<'static>> {
        if self.is_editing {
            let mut lines = prose(&format!("Limit: {LIMIT_HINT}"), width, theme.quiet());
            if let Some(wrong) = &self.wrong {
                lines.extend(prose(wrong, width, theme.bad()));
            }
            return lines;
        }
        let holds = match (
            limit(&self.limit.text()).unwrap_or_default().words(),
            self.choice,
        ) {
            (Some(words), _) => words,
            (None, Choice::Session) => "until this session ends".to_owned(),
            (None, Choice::Always | Choice::Once | Choice::Deny) => {
                "until it is revoked".to_owned()
            }
        };
        prose(
            &format!("Valid {holds} · e to change"),
            width,
            theme.quiet(),
        )
    }
}

/// Returns what `scope` would have let run before.
fn history(scope: &ScopeView, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let indent = "     ";
    let room = width.saturating_sub(indent.len());
    let mut lines = Vec::new();
    if !scope.excludes.is_empty() {
        let words = format!("not: {}", scope.excludes);
        lines.extend(prose(&words, room, theme.quiet()));
    }
    if let Some((matched, of)) = scope.matched.zip(scope.of) {
        let calls = if of == 1 { "call" } else { "calls" };
        let words = format!("would have matched {matched} of the last {of} {calls}");
        lines.extend(prose(&words, room, theme.quiet()));
    }
    if let Some(riskiest) = &scope.riskiest {
        let words = crate::tui::wrap::cut(&format!("riskiest: {riskiest}"), room);
        lines.push(Line::from(Span::styled(words, theme.quiet())));
    }
    for line in &mut lines {
        line.spans.insert(0, Span::raw(indent));
    }
    lines
}

/// How long and how often a permission holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Limit {
    seconds: Option<u32>,
    uses: Option<u32>,
}

impl Limit {
    fn words(self) -> Option<String> {
        let time = self
            .seconds
            .map(|seconds| format!("for {}", crate::words::span(i64::from(seconds) * 1000)));
        let times = self.uses.map(|uses| match uses {
            1 => "once".to_owned(),
            uses => format!("{uses} times"),
        });
        match (time, times) {
            (Some(time), Some(times)) => Some(format!("{time}, {times}")),
            (one, other) => one.or(other),
        }
    }
}

/// Reads `30m`, `x3` or both.
fn limit(text: &str) -> Result<Limit, String> {
    let mut limit = Limit::default();
    for word in text.split_whitespace() {
        let wrong = || {
            let word = countersign_core::display::inline(word);
            format!("`{word}` is not a limit; use {LIMIT_HINT}")
        };
        let times = word.strip_prefix(['x', 'X', '×']);
        let times = times.or(word.strip_suffix(['x', 'X', '×']));
        if let Some(times) = times {
            let times: u32 = times.parse().map_err(|_| wrong())?;
            limit.uses = Some(times).filter(|times| *times > 0);
            limit.uses.ok_or_else(wrong)?;
        } else {
            limit.seconds = Some(whole_seconds(word).ok_or_else(wrong)?);
        }
    }
    Ok(limit)
}

fn whole_seconds(word: &str) -> Option<u32> {
    let seconds = seconds_of(word)?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it lies between one and the limit"
    )]
    (1.0..=f64::from(u32::MAX))
        .contains(&seconds)
        .then_some(seconds as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_time_a_count_or_both() {
        let of = |seconds, uses| Ok(Limit { seconds, uses });
        let rows = [
            ("", of(None, None)),
            ("30m", of(Some(1_800), None)),
            ("x3", of(None, Some(3))),
            ("3x", of(None, Some(3))),
            ("30m x3", of(Some(1_800), Some(3))),
            ("×2 1d", of(Some(86_400), Some(2))),
        ];
        for (text, wanted) in rows {
            assert_eq!(limit(text), wanted, "{text}");
        }
        for text in ["x0", "x", "-3m", "0s", "soon", "30", "99999999999d", "x-1"] {
            assert!(limit(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_grant_for_sessions_is_not_offered_for_good() {
        let scope = |session_only| {
            let call =
                countersign_core::call::ToolCall::command("rm -rf data").from_directory("/w/x");
            let policy = countersign_core::policy::Policy::default();
            let judged = countersign_core::judge::judge(&policy, &call);
            let (assessment, ruling) = (&judged.assessment, &judged.ruling);
            let scopes = countersign_core::grant::candidates(&call, assessment, ruling);
            let mut scopes = scopes.into_iter();
            let scope = scopes.find(|it| it.is_for_session() == session_only);
            let scope = scope.unwrap();
            ScopeView {
                words: scope.words(),
                excludes: scope.excludes(),
                session_only,
                scope,
                matched: None,
                of: None,
                riskiest: None,
            }
        };
        for (choice, offered) in [(Choice::Session, 2), (Choice::Always, 1)] {
            let mut granting = Granting::new(choice, String::new());
            granting.offer(vec![scope(false), scope(true)]);
            assert_eq!(granting.scopes().len(), offered, "{choice:?}");
        }
    }
}
