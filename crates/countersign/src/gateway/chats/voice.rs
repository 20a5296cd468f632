//! Posts the output of a run to its chat, by a limited number of edits.
//!
//! Only what the run's feed says is shown, and the feed says nothing that law 1 holds back.

use std::time::Duration;

use countersign_agent::feed::{Piece, Reader};
use countersign_channels::DeliveryError;
use countersign_channels::text::{code, pieces};
use countersign_core::display::inline;
use countersign_core::status::RunStatus;
use countersign_gate::GateError;
use countersign_gate::base::principal::Principal;
use countersign_gate::runs::{Run, builtin};
use tokio::time::Instant;

use super::Desk;

/// Time between two edits.
const EDIT_EVERY: Duration = Duration::from_secs(1);
/// How long the first words are collected.
const FIRST_AFTER: Duration = Duration::from_millis(300);
/// How long a gateway that takes a conversation up leaves its end to the one that had it.
const OTHERS_FIRST: Duration = Duration::from_secs(3);
/// How often it is shown that the agent works; chats take it back after some seconds.
const TYPING_EVERY: Duration = Duration::from_secs(4);
/// How often something that could not be said is tried again at the end.
const TRIES_MAX: u32 = 6;

/// One message as it is shown so far.
struct Voice<'a> {
    desk: &'a Desk,
    thread: &'a str,
    run: &'a str,
    /// Counts the posts of the run.
    posts: u32,
    text: String,
    /// The posts of this message, and what each shows.
    shown: Vec<(String, String)>,
    /// When it may be shown next, if there is something new.
    due: Option<Instant>,
    /// The last message that was complete.
    last: String,
}

impl Desk {
    /// Notes that a run goes on in a conversation, and shows there what it says.
    pub(super) async fn speak_soon(
        &self,
        who: &Principal,
        thread: &str,
        run: &str,
    ) -> Result<(), GateError> {
        // Heard from the start on, before anything else is waited for.
        let reader = self.agent.feed(run).map(|feed| feed.listen());
        self.gate.note_thread_run(who, thread, run).await?;
        let desk = self.clone();
        let (thread, run) = (thread.to_owned(), run.to_owned());
        tokio::spawn(async move {
            let said = match reader {
                Some(reader) => desk.speak(&thread, &run, reader).await,
                None => String::new(),
            };
            desk.tell_end(&thread, &run, &said).await;
        });
        Ok(())
    }

    /// Tells the end of a run that was begun before a restart.
    pub(super) fn end_soon(&self, thread: String, run: String) {
        let desk = self.clone();
        tokio::spawn(async move {
            match desk.ended(&run).await {
                Ok(Some(_)) => tokio::time::sleep(OTHERS_FIRST).await,
                Ok(None) | Err(_) => return,
            }
            // Another gateway may have shown it all the while.
            if let Ok(false) = desk.gate.is_told(desk.chat.name(), &run).await {
                desk.tell_end(&thread, &run, "").await;
            }
        });
    }

    /// Shows what a run says until it is over here, and returns its last message.
    async fn speak(&self, thread: &str, run: &str, mut reader: Reader) -> String {
        let mut voice = Voice {
            desk: self,
            thread,
            run,
            posts: 0,
            text: String::new(),
            shown: Vec::new(),
            due: None,
            last: String::new(),
        };
        let mut typing = tokio::time::interval(TYPING_EVERY);
        loop {
            let due = voice.due;
            let is_over = tokio::select! {
                said = reader.said() => said.is_err(),
                _ = typing.tick() => {
                    // Nobody misses it if it cannot be shown.
                    drop(self.chat.show_typing(thread).await);
                    continue;
                }
                () = until(due) => {
                    voice.show().await;
                    continue;
                }
            };
            while let Some(piece) = reader.before(u64::MAX) {
                voice.hear(piece).await;
            }
            if is_over {
                voice.end().await;
                return voice.last;
            }
        }
    }

    /// Waits for the end of a run and tells it, unless `said` was it.
    async fn tell_end(&self, thread: &str, run: &str, said: &str) {
        let ended = match self.ended(run).await {
            Ok(Some(ended)) => ended,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(%error, run, "the end of a run cannot be told");
                return;
            }
        };
        let words = match (&ended.status, &ended.output, &ended.error) {
            (RunStatus::Completed, Some(output), _) if output.trim() == said.trim() => None,
            (RunStatus::Completed, Some(output), _) => Some(output.clone()),
            (RunStatus::Failed, _, Some(error)) => {
                Some(format!("The run failed: {}", code(&inline(error))))
            }
            (RunStatus::Cancelled, ..) => Some("Stopped.".to_owned()),
            (
                RunStatus::Completed | RunStatus::Failed | RunStatus::Running | RunStatus::Stopping,
                ..,
            ) => None,
        };
        if let Some(words) = words {
            let all = pieces(&words, self.chat.message_chars_max());
            for (number, piece) in (1..).zip(&all) {
                let key = format!("{run}:end:{number}");
                if !self.post_surely(thread, piece, &key).await {
                    return;
                }
            }
        }
        if let Err(error) = self.gate.note_thread_told(self.chat.name(), run).await {
            tracing::warn!(%error, run, "that the end was told could not be noted");
        }
    }

    async fn post_surely(&self, thread: &str, words: &str, key: &str) -> bool {
        let mut pause = EDIT_EVERY;
        for _ in 0..TRIES_MAX {
            match self.chat.post(thread, words, key).await {
                Ok(_) => return true,
                Err(error @ DeliveryError::Never { .. }) => {
                    tracing::warn!(%error, "something could not be said");
                    return true;
                }
                Err(error @ DeliveryError::Later { .. }) => {
                    tracing::warn!(%error, "something will be said later");
                }
            }
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
        false
    }

    /// Waits until a run has ended; `None` if the ledger is not there any more.
    async fn ended(&self, run: &str) -> Result<Option<Run>, GateError> {
        let mut last = self.gate.store().tail().last();
        loop {
            // Seen before it is looked at, so that what comes in between wakes us again.
            last.borrow_and_update();
            let seen = self.gate.run_of(&builtin(), run).await?;
            if seen.status.is_final() {
                return Ok(Some(seen));
            }
            if last.changed().await.is_err() {
                return Ok(None);
            }
        }
    }
}

impl Voice<'_> {
    async fn hear(&mut self, piece: Piece) {
        match piece {
            Piece::Text(text) => self.text.push_str(&text),
            Piece::SoFar(text) | Piece::Notice(text) => self.text = text,
            Piece::End => {
                self.end().await;
                return;
            }
        }
        let pause = if self.shown.is_empty() {
            FIRST_AFTER
        } else {
            EDIT_EVERY
        };
        self.due.get_or_insert(Instant::now() + pause);
    }

    async fn end(&mut self) {
        self.show().await;
        // What could not be shown was not said.
        let is_shown = self.due.is_none() && !self.text.trim().is_empty();
        if is_shown {
            self.last.clone_from(&self.text);
        }
        self.text.clear();
        self.shown.clear();
        self.due = None;
    }

    /// Brings the chat to what was said so far.
    async fn show(&mut self) {
        self.due = None;
        if self.text.trim().is_empty() {
            return;
        }
        let chat = &self.desk.chat;
        let all = pieces(&self.text, chat.message_chars_max());
        for (at, piece) in all.into_iter().enumerate() {
            let shown = match self.shown.get_mut(at) {
                Some((_, before)) if *before == piece => continue,
                Some((reference, before)) => {
                    let edited = chat.edit(reference, &piece).await;
                    if edited.is_ok() {
                        *before = piece;
                    }
                    edited
                }
                None => {
                    self.posts += 1;
                    let key = format!("{}:{}", self.run, self.posts);
                    let posted = chat.post(self.thread, &piece, &key).await;
                    posted.map(|reference| self.shown.push((reference, piece)))
                }
            };
            if let Err(error) = shown {
                tracing::warn!(%error, "what the agent says will be shown later");
                self.due = Some(Instant::now() + EDIT_EVERY);
                return;
            }
        }
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}
