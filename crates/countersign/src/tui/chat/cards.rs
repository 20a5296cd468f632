//! The waiting cards of a conversation. One is on screen: approvals before questions, the oldest
//! first.

use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;

use crate::tui::approval_panel::ApprovalPanel;
use crate::tui::clarify_panel::ClarifyPanel;
use crate::tui::panel::{Focus, Reaction};
use crate::tui::screen::{News, Wish};

/// One of the two panels.
#[derive(Clone, Debug)]
pub(crate) enum Panel {
    Approval(Box<ApprovalPanel>),
    Question(Box<ClarifyPanel>),
}

impl Panel {
    pub(in crate::tui) fn id(&self) -> &str {
        match self {
            Self::Approval(panel) => panel.id(),
            Self::Question(panel) => panel.id(),
        }
    }

    pub(crate) const fn is_waiting(&self) -> bool {
        match self {
            Self::Approval(panel) => panel.is_waiting(),
            Self::Question(panel) => panel.is_waiting(),
        }
    }

    /// Whether there is nothing left to see: it was answered here, and cannot be taken back.
    fn is_finished(&self, now: UnixMillis) -> bool {
        match self {
            Self::Approval(panel) => panel.was_answered_here() && !self.is_held(now),
            Self::Question(panel) => panel.was_answered_here(),
        }
    }

    /// Whether it was answered and that can still be undone.
    pub(in crate::tui) fn is_held(&self, now: UnixMillis) -> bool {
        match self {
            Self::Approval(panel) => panel.is_held(now),
            Self::Question(_) => false,
        }
    }

    pub(in crate::tui) fn is_armed(&self, now: UnixMillis) -> bool {
        match self {
            Self::Approval(panel) => panel.is_armed(now),
            Self::Question(panel) => panel.is_armed(now),
        }
    }

    pub(in crate::tui) const fn is_typing(&self) -> bool {
        match self {
            Self::Approval(panel) => panel.is_typing(),
            Self::Question(panel) => panel.is_typing(),
        }
    }

    pub(in crate::tui) fn key(&mut self, key: KeyEvent, now: UnixMillis) -> Reaction {
        match self {
            Self::Approval(panel) => panel.key(key, now),
            Self::Question(panel) => panel.key(key, now),
        }
    }

    pub(in crate::tui) fn pasted(&mut self, text: &str, now: UnixMillis) {
        match self {
            Self::Approval(panel) => panel.pasted(text, now),
            Self::Question(panel) => panel.pasted(text, now),
        }
    }

    pub(in crate::tui) const fn typed_elsewhere(&mut self, now: UnixMillis) {
        match self {
            Self::Approval(panel) => panel.typed_elsewhere(now),
            Self::Question(panel) => panel.typed_elsewhere(now),
        }
    }

    const fn out_of_view(&mut self) {
        match self {
            Self::Approval(panel) => panel.out_of_view(),
            Self::Question(panel) => panel.out_of_view(),
        }
    }

    pub(in crate::tui) fn height(&mut self, width: u16, focus: Focus, now: UnixMillis) -> u16 {
        match self {
            Self::Approval(panel) => panel.height(width, focus, now),
            Self::Question(panel) => panel.height(width, focus, now),
        }
    }

    pub(in crate::tui) fn draw(
        &mut self,
        frame: &mut Frame<'_>,
        area: Rect,
        focus: Focus,
        now: UnixMillis,
    ) {
        match self {
            Self::Approval(panel) => panel.draw(frame, area, focus, now),
            Self::Question(panel) => panel.draw(frame, area, focus, now),
        }
    }

    pub(in crate::tui) fn changes_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        match self {
            Self::Approval(panel) => panel.changes_at(now),
            Self::Question(panel) => panel.changes_at(now),
        }
    }

    pub(in crate::tui) fn told(&mut self, news: &News) -> Vec<Wish> {
        match self {
            Self::Approval(panel) => panel.told(news),
            Self::Question(panel) => panel.told(news),
        }
    }
}

/// Everything that waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Cards {
    panels: Vec<Panel>,
}

impl Cards {
    /// Returns the one that is on the screen.
    pub(super) fn front(&mut self) -> Option<&mut Panel> {
        self.panels.first_mut()
    }

    /// Returns the one that is on the screen.
    pub(super) fn shown(&self) -> Option<&Panel> {
        self.panels.first()
    }

    /// Returns how many wait.
    pub(super) fn waiting(&self) -> usize {
        self.panels
            .iter()
            .filter(|panel| panel.is_waiting())
            .count()
    }

    /// Returns the approval `id`; without an id the only one, or the one on the screen.
    pub(super) fn approval(&mut self, id: Option<&str>) -> Option<&mut ApprovalPanel> {
        self.panels.iter_mut().find_map(|panel| match panel {
            Panel::Approval(panel)
                if panel.is_waiting() && id.is_none_or(|id| panel.id() == id) =>
            {
                Some(panel.as_mut())
            }
            Panel::Approval(_) | Panel::Question(_) => None,
        })
    }

    /// Whether `id` is among them.
    pub(super) fn has(&self, id: &str) -> bool {
        self.panels.iter().any(|panel| panel.id() == id)
    }

    /// Takes a card; approvals come before questions.
    pub(super) fn add(&mut self, panel: Panel) {
        if self.has(panel.id()) {
            return;
        }
        let is_approval = |panel: &Panel| matches!(panel, Panel::Approval(_));
        let place = if is_approval(&panel) {
            self.panels.iter().take_while(|it| is_approval(it)).count()
        } else {
            self.panels.len()
        };
        // What is covered has to be read again.
        if place == 0 {
            self.panels.iter_mut().for_each(Panel::out_of_view);
        }
        self.panels.insert(place, panel);
    }

    /// Puts `id` on the screen.
    pub(super) fn bring_forward(&mut self, id: &str) {
        if let Some(place) = self.panels.iter().position(|panel| panel.id() == id) {
            self.panels.iter_mut().for_each(Panel::out_of_view);
            if let Some(front) = self.panels.get_mut(..=place) {
                front.rotate_right(1);
            }
        }
    }

    /// Takes the one on the screen away.
    pub(super) fn dismiss(&mut self) {
        if !self.panels.is_empty() {
            self.panels.remove(0);
        }
    }

    /// Takes everything away.
    pub(super) fn clear(&mut self) {
        self.panels.clear();
    }

    /// Hands news to all, and takes away what is finished.
    pub(super) fn told(&mut self, news: &News, now: UnixMillis) -> Vec<Wish> {
        let wishes = self
            .panels
            .iter_mut()
            .flat_map(|panel| panel.told(news))
            .collect();
        self.sweep(now);
        wishes
    }

    /// Takes away what was answered here.
    pub(super) fn sweep(&mut self, now: UnixMillis) {
        self.panels.retain(|panel| !panel.is_finished(now));
    }

    /// The run is over: what still waits waits for nobody. What was answered elsewhere stays until
    /// it was seen.
    pub(super) fn end_run(&mut self) {
        self.panels.retain(|panel| !panel.is_waiting());
    }
}
