//! Draws the chat: messages, the waiting card, the prompt, and a status line.

use countersign_core::display::inline;
use countersign_core::time::UnixMillis;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::Chat;
use super::transcript::spinner;
use crate::tui::panel::{Focus, draw_lines, draw_typed, prose};
use crate::tui::wrap::cut;
use crate::words::sentence;

/// Rows that a page is scrolled by.
pub(super) const PAGE_ROWS: usize = 10;
/// Most rows of the prompt.
const INPUT_ROWS_MAX: usize = 8;
/// Rows of what was said that stay above a card where there is room.
const CONTEXT_ROWS: u16 = 4;
/// Rows below which a screen has no room for context.
const ROOMY_ROWS: u16 = 30;
const PROMPT: &str = "❯ ";
const WELCOME: &str = "Tell the agent what to do. Its calls pass the firewall; calls that need your approval appear here.";

impl Chat {
    pub(super) fn draw_all(&mut self, frame: &mut Frame<'_>, now: UnixMillis) {
        let area = frame.area();
        let takes_keys = self.card_takes_keys(now);
        let rows = self
            .input
            .drawn(usize::from(area.width).saturating_sub(PROMPT.width()));
        let rows = u16::try_from(rows.len().min(INPUT_ROWS_MAX)).unwrap_or(1);
        let prompt_rows = rows.min(area.height.saturating_sub(2)).max(1);
        let queued = self.queue.lines(usize::from(area.width), self.theme);
        let queued_rows = u16::try_from(queued.len()).unwrap_or(0);
        // What is queued, the rule above the prompt and the line below it.
        let bottom = prompt_rows + 2 + queued_rows;
        let upper = area.height.saturating_sub(bottom);
        let focus = if takes_keys {
            Focus::Here
        } else {
            Focus::Elsewhere
        };
        let card_rows = self.cards.front().map_or(0, |panel| {
            let context = if area.height >= ROOMY_ROWS {
                CONTEXT_ROWS
            } else {
                0
            };
            let wanted = panel.height(area.width, focus, now);
            wanted.min(upper.saturating_sub(context))
        });
        let gap = u16::from(card_rows > 0 && card_rows < upper);
        let said = upper - card_rows - gap;
        let heights = [said, gap, card_rows, queued_rows, 1, prompt_rows, 1];
        let [said, _, card, queue, rule, prompt, line] = stack(area, heights);
        draw_lines(frame, queue, &queued);
        if self.transcript.is_empty() {
            let words = prose(WELCOME, usize::from(said.width), self.theme.quiet());
            draw_lines(frame, said, &words);
        } else {
            self.transcript.draw(frame, said, self.theme, now);
        }
        if let Some(panel) = self.cards.front() {
            panel.draw(frame, card, focus, now);
        }
        self.draw_rule(frame, rule);
        let focus = if takes_keys {
            Focus::Elsewhere
        } else {
            Focus::Here
        };
        draw_typed(frame, prompt, PROMPT, (&self.input, focus), self.theme);
        draw_lines(frame, line, &[self.status(usize::from(line.width), now)]);
    }

    fn draw_rule(&self, frame: &mut Frame<'_>, area: Rect) {
        let width = usize::from(area.width);
        let label = match (self.transcript.is_scrolled(), self.cards.waiting()) {
            (true, _) => " more below · PgDn ".to_owned(),
            (false, 0 | 1) => String::new(),
            (false, waiting) => format!(" {} more waiting ", waiting - 1),
        };
        let label = cut(&label, width.saturating_sub(4));
        let rest = width.saturating_sub(label.width() + 2);
        let rule = format!("──{label}{}", "─".repeat(rest));
        let line = Line::from(Span::styled(rule, self.theme.quiet()));
        draw_lines(frame, area, &[line]);
    }

    fn status(&self, width: usize, now: UnixMillis) -> Line<'static> {
        let theme = self.theme;
        if let Some(why) = &self.away {
            let words = format!(
                " The gateway is down; reconnecting. {}",
                sentence(&inline(why))
            );
            return Line::from(Span::styled(cut(&words, width), theme.bad()));
        }
        if let Some(mut work) = self.at_work(now) {
            let more: &[&str] = match (self.queue.is_empty(), self.waits()) {
                (false, _) => &[
                    " · ↑ takes the last queued message back · Ctrl-S sends the first now",
                    " · ↑ takes the last queued message back",
                ],
                (true, Some(_)) if self.input.is_empty() => &[],
                (true, _) => &[
                    " · Enter queues a message, Ctrl-S sends it now",
                    " · Enter queues a message",
                ],
            };
            let fits = |more: &&&str| work.width() + more.width() + 3 <= width;
            if let Some(more) = more.iter().find(fits) {
                work.push_str(more);
            }
            return Line::from(vec![
                Span::styled(format!(" {} ", spinner(now)), theme.waiting()),
                Span::styled(cut(&work, width.saturating_sub(3)), theme.quiet()),
            ]);
        }
        let wide = " Enter sends · Alt-Enter new line · PgUp scrolls · /help · Ctrl-D leaves";
        let narrow = " Enter sends · /help · Ctrl-D leaves";
        let words = if wide.width() <= width { wide } else { narrow };
        Line::from(Span::styled(cut(words, width), theme.quiet()))
    }
}

/// Returns areas of these heights, one below the other.
fn stack<const COUNT: usize>(area: Rect, heights: [u16; COUNT]) -> [Rect; COUNT] {
    let mut y = area.y;
    heights.map(|height| {
        let height = height.min(area.bottom().saturating_sub(y));
        let part = Rect { y, height, ..area };
        y += height;
        part
    })
}
