//! The open card, beside the list or in its place. It answers only while it has the focus.

use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use super::waiting::{Item, Whole};
use crate::tui::approval_panel::ApprovalPanel;
use crate::tui::clarify_panel::ClarifyPanel;
use crate::tui::panel::{Focus, Reaction};
use crate::tui::screen::{News, Wish};
use crate::tui::theme::Theme;

/// What is shown.
#[derive(Clone, Debug)]
enum Panel {
    Approval(Box<ApprovalPanel>),
    Question(Box<ClarifyPanel>),
}

/// The card that is shown.
#[derive(Clone, Debug)]
pub(super) struct Open {
    id: String,
    panel: Panel,
    focus: Focus,
}

impl Open {
    /// Shows `item`, which `asker` asks, beside the list; `None` while its card is not known.
    pub(super) fn beside(item: &Item, asker: &str, theme: Theme) -> Option<Self> {
        let panel = match &item.whole {
            Whole::Missing => return None,
            Whole::Unreadable => {
                Panel::Approval(Box::new(ApprovalPanel::unreadable(&item.id, theme)))
            }
            Whole::Approval(approval) => {
                let approval = approval.as_ref().clone();
                Panel::Approval(Box::new(ApprovalPanel::new(approval, theme)))
            }
            Whole::Question(question) => {
                Panel::Question(Box::new(ClarifyPanel::new(question, asker, theme)))
            }
        };
        Some(Self {
            id: item.id.clone(),
            panel,
            focus: Focus::Beside,
        })
    }

    /// Returns what it is about.
    pub(super) fn id(&self) -> &str {
        &self.id
    }

    /// Whether it has the keys.
    pub(super) fn has_keys(&self) -> bool {
        self.focus == Focus::Here
    }

    /// Gives it the keys. It has to be read from now on, even if it was in view before: whoever
    /// goes to a card has not read it on the way.
    pub(super) fn give_keys(&mut self) {
        self.focus = Focus::Here;
        self.out_of_view();
    }

    /// It is not drawn, or has to be read anew.
    pub(super) fn out_of_view(&mut self) {
        match &mut self.panel {
            Panel::Approval(panel) => panel.out_of_view(),
            Panel::Question(panel) => panel.out_of_view(),
        }
    }

    /// Takes a key.
    pub(super) fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Reaction {
        match &mut self.panel {
            Panel::Approval(panel) => panel.key(key, now),
            Panel::Question(panel) => panel.key(key, now),
        }
    }

    /// Takes what was pasted.
    pub(super) fn pasted(&mut self, text: &str, now: UnixMillis) {
        match &mut self.panel {
            Panel::Approval(panel) => panel.pasted(text, now),
            Panel::Question(panel) => panel.pasted(text, now),
        }
    }

    /// Takes news.
    pub(super) fn told(&mut self, news: &News) -> Vec<Wish> {
        match &mut self.panel {
            Panel::Approval(panel) => panel.told(news),
            Panel::Question(panel) => panel.told(news),
        }
    }

    /// The gateway is away, and was already when this was opened.
    pub(super) fn is_away(&mut self, why: &str) {
        let why = why.to_owned();
        // Nothing is asked of a gateway that is away.
        let _no_wishes = self.told(&News::Away { why });
    }

    /// Draws it, no higher than it needs to be.
    pub(super) fn draw(&mut self, frame: &mut Frame<'_>, area: Rect, now: UnixMillis) {
        let wanted = match &mut self.panel {
            Panel::Approval(panel) => panel.height(area.width, self.focus, now),
            Panel::Question(panel) => panel.height(area.width, self.focus, now),
        };
        let area = Rect {
            height: area.height.min(wanted),
            ..area
        };
        match &mut self.panel {
            Panel::Approval(panel) => panel.draw(frame, area, self.focus, now),
            Panel::Question(panel) => panel.draw(frame, area, self.focus, now),
        }
    }

    /// Returns when it looks different.
    pub(super) fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        match &self.panel {
            Panel::Approval(panel) => panel.changes_at(now),
            Panel::Question(panel) => panel.changes_at(now),
        }
    }
}
