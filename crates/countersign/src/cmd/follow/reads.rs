//! How a person at this terminal answers: by lines, or by keys in the panel of the chat.

use countersign_gate::clarifications::ClarificationView;
use reqwest::Method;
use tokio::sync::mpsc;

use super::{Asked, Follow, elsewhere, read_lines};
use crate::client::segment;
use crate::complaint::Complaint;
use crate::tui::approval_panel::ApprovalPanel;
use crate::tui::ask::{Ask, Left};
use crate::tui::chat::cards::Panel;
use crate::tui::clarify_panel::ClarifyPanel;
use crate::tui::drive::{Keys, show};
use crate::tui::theme::Theme;

/// How a person at this terminal answers.
#[derive(Debug)]
pub(crate) enum Reads {
    /// Not at all; standard input is left alone.
    Nothing,
    /// By lines.
    Lines(mpsc::Receiver<String>),
    /// By keys, in a panel.
    Keys(Keys),
}

impl Reads {
    /// Reads lines from now on.
    pub(crate) fn lines() -> Self {
        Self::Lines(read_lines())
    }

    /// Whether a line was typed that nobody has taken yet.
    pub(super) fn has_line(&self) -> bool {
        match self {
            Self::Lines(lines) => !lines.is_empty(),
            Self::Keys(_) | Self::Nothing => false,
        }
    }

    /// Reads keys from now on.
    pub(crate) fn keys() -> Result<Self, Complaint> {
        Keys::read().map(Self::Keys).map_err(|error| {
            let hint = "`COUNTERSIGN_PLAIN=1` needs no more of a terminal than lines";
            Complaint::failed(format!("this terminal cannot be used: {error}"), hint)
        })
    }
}

/// What a person did at the terminal.
pub(super) enum Typed {
    /// Typed a line; nothing at the end of input.
    Line(Option<String>),
    /// Pressed Enter where no line is read.
    Enter,
}

/// Returns what is typed; never, if nothing can be.
pub(super) async fn typed(reads: &mut Reads) -> Typed {
    match reads {
        Reads::Lines(lines) => Typed::Line(lines.recv().await),
        Reads::Keys(keys) => {
            keys.enter().await;
            Typed::Enter
        }
        Reads::Nothing => std::future::pending().await,
    }
}

impl Follow<'_> {
    /// Asks in the panel of the chat. The event that settles the question follows.
    pub(super) async fn ask_in_panel(&mut self) -> Result<(), Complaint> {
        let Some(first) = self.asked.front() else {
            return Ok(());
        };
        let theme = Theme::of_environment();
        let (panel, how) = match first {
            Asked::Approval { id, choices } => {
                let path = format!("/v1/approvals/{}", segment(id));
                let answer = self.client.send(Method::GET, &path, None).await?;
                let panel = ApprovalPanel::of_answer(id, &answer, theme);
                (Panel::Approval(Box::new(panel)), elsewhere(id, choices))
            }
            Asked::Clarification(question) => {
                let id = &question.clarification_id;
                let path = format!("/v1/clarifications/{}", segment(id));
                let answer = self.client.send(Method::GET, &path, None).await?;
                let panel =
                    ClarifyPanel::new(&answer.read::<ClarificationView>()?, "The agent", theme);
                let how = format!("Waiting for an answer: countersign answer {id} ANSWER");
                (Panel::Question(Box::new(panel)), how)
            }
        };
        let Reads::Keys(keys) = &mut self.reads else {
            return Ok(());
        };
        // Answered before it could be shown: the event that says so is on its way.
        if !panel.is_waiting() {
            return Ok(());
        }
        let events = format!("/v1/runs/{}/events", segment(&self.run));
        let mut ask = Ask::new(panel, events);
        show(&mut ask, self.client, keys).await?;
        match ask.left() {
            Left::Settled => {}
            Left::Interrupted => self.wants_stop = true,
            Left::Unanswered => {
                eprintln!("{how}");
                eprintln!("Press Enter to open the card again.");
            }
        }
        Ok(())
    }
}
