//! Chat messages to the built-in agent: each starts or continues a run for that person in that
//! conversation.

use std::collections::HashMap;
use std::time::Duration;

use countersign_agent::RunRequest;
use countersign_agent::message::Message as Said;
use countersign_channels::chat::{Heard, Message, Since};
use countersign_channels::memory::Seldom;
use countersign_channels::press::{Click, Untrusted};
use countersign_gate::GateError;
use countersign_gate::base::principal::Principal;
use countersign_gate::chats::click::Refusal;
use countersign_gate::clarifications::Clarified;
use countersign_gate::runs::threads::Thread;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use super::Desk;

/// Messages that may wait to be taken.
const HEARD_MAX: usize = 256;
/// How often somebody is told that we do not know them.
const STRANGERS_EVERY: Duration = Duration::from_mins(10);
/// Conversations in which something may be under way at once.
const TURNS_MAX: usize = 1000;
/// What is being done in conversations, by the last of each.
#[derive(Debug, Default)]
struct Turns(HashMap<String, JoinHandle<()>>);

impl Turns {
    /// Does something after what came before it in the same conversation. Others do not wait for it.
    fn take(&mut self, conversation: String, turn: impl Future<Output = ()> + Send + 'static) {
        self.0.retain(|_, last| !last.is_finished());
        let before = self.0.remove(&conversation);
        if self.0.len() >= TURNS_MAX {
            tracing::warn!("too much is said at once; something was not taken");
            return;
        }
        let turn = tokio::spawn(async move {
            if let Some(before) = before {
                // However it ended.
                let _ended = before.await;
            }
            turn.await;
        });
        self.0.insert(conversation, turn);
    }
}

impl Desk {
    /// Hears what is said in the chat and does it, for as long as it is polled.
    pub(crate) async fn listen(&self) {
        let name = self.chat.name();
        let since = self.since().await.unwrap_or_else(|error| {
            tracing::warn!(%error, "what was said before cannot be known");
            Since::default()
        });
        self.resume().await;
        let (sender, mut heard) = mpsc::channel(HEARD_MAX);
        let strangers = Seldom::new(STRANGERS_EVERY);
        let mut turns = Turns::default();
        let following = self.chat.follow(since, sender);
        let taking = async {
            while let Some(heard) = heard.recv().await {
                match heard {
                    Heard::Message(mut message) => {
                        self.look_at(&mut message.clicker).await;
                        self.take(message, &strangers, &mut turns).await;
                    }
                    Heard::Click(mut click) => {
                        self.look_at(&mut click.clicker).await;
                        self.take_click(&click, &strangers, &mut turns).await;
                    }
                    Heard::Arrived {
                        route,
                        received,
                        reply,
                    } => {
                        // One that has to wait holds no other up.
                        let desk = self.clone();
                        tokio::spawn(async move {
                            // Who does not wait for it any more has gone away.
                            let _heard = reply.send(desk.done(route, received).await);
                        });
                    }
                    Heard::Cursor(cursor) => {
                        if let Err(error) = self.gate.note_cursor(name, &cursor).await {
                            tracing::warn!(%error, "how far the chat was heard is not kept");
                        }
                    }
                    Heard::Invited { clicker, reply } => {
                        let desk = self.clone();
                        tokio::spawn(async move {
                            let is_listed = desk.person(&clicker).await.is_ok();
                            // Who does not wait for it any more has gone away.
                            let _heard = reply.send(is_listed);
                        });
                    }
                    Heard::Connected => {
                        if let Err(error) = self.gate.look_for_cards(name).await {
                            tracing::warn!(%error, "deleted cards cannot be looked for");
                        }
                    }
                    Heard::Gone { subject, reference } => {
                        let gone = self.gate.card_gone(&subject, name, &reference);
                        if let Err(error) = gone.await {
                            tracing::warn!(%error, subject, "a deleted card is not posted again");
                        }
                    }
                }
            }
            // Nothing is heard, but what the chat does by itself goes on.
            std::future::pending::<()>().await;
        };
        tokio::join!(following, taking);
    }

    /// Returns where listening goes on.
    async fn since(&self) -> Result<Since, GateError> {
        let name = self.chat.name();
        Ok(Since {
            at: self.gate.heard_at(name).await?,
            cursor: self.gate.cursor(name).await?,
        })
    }

    /// A reaction or a reply that answers a card. Who is refused is told so alone.
    async fn take_click(&self, click: &Click, strangers: &Seldom, turns: &mut Turns) {
        let Err(refusal) = self.gate.click(click).await else {
            return;
        };
        let account = &click.clicker.account;
        // Several gateways hear the same reaction, and it is read again after a gap; the card says
        // how it ended.
        if matches!(
            refusal,
            Refusal::Answered(_) | Refusal::Untrusted(Untrusted::Replayed)
        ) {
            return;
        }
        // Passers-by react to anything; they are told once.
        if refusal == Refusal::Stranger && !strangers.is_due(account) {
            return;
        }
        self.refuse(account.clone(), &refusal, turns);
    }

    /// Tells somebody alone why what they did does not count.
    fn refuse(&self, account: String, refusal: &Refusal, turns: &mut Turns) {
        let (desk, words) = (self.clone(), refusal.words());
        turns.take(account.clone(), async move {
            desk.whisper(&account, &words).await;
        });
    }

    async fn take(&self, message: Message, strangers: &Seldom, turns: &mut Turns) {
        let who = match self.person(&message.clicker).await {
            Ok(who) => who,
            Err(Refusal::Bot) => return,
            Err(refusal) => {
                let account = message.clicker.account;
                if strangers.is_due(&account) {
                    self.refuse(account, &refusal, turns);
                }
                return;
            }
        };
        // Noted in the order in which it came; what follows may take its time.
        let heard = self
            .gate
            .hear(&who, &message.thread, &message.id, message.at)
            .await;
        let desk = self.clone();
        turns.take(message.thread.clone(), async move {
            let done = match heard {
                Ok(Some(thread)) => desk.converse(&who, &thread, &message).await,
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = done {
                tracing::warn!(%error, "a message could not be taken");
                let words = format!("That did not work: {error}.");
                let key = format!("{}:failed", message.id);
                desk.say(&message.thread, &words, &key).await;
            }
        });
    }

    async fn converse(
        &self,
        who: &Principal,
        thread: &Thread,
        message: &Message,
    ) -> Result<(), GateError> {
        let request = RunRequest {
            input: vec![Said::User {
                content: message.text.clone(),
            }],
            session: Some(thread.session.clone()),
            model: thread.model.clone(),
            ..RunRequest::default()
        };
        match self.agent.start(who, request).await {
            Ok(run) => self.speak_soon(who, &thread.place, &run.run_id).await,
            Err(GateError::AlreadySettled { .. }) => self.while_busy(who, thread, message).await,
            Err(error) => Err(error),
        }
    }

    /// A run is under way in the conversation: the message answers its question, if it has one.
    async fn while_busy(
        &self,
        who: &Principal,
        thread: &Thread,
        message: &Message,
    ) -> Result<(), GateError> {
        let questions = self.gate.clarifications(who).await?.items;
        let asked = questions
            .iter()
            .find(|question| question.session_id == thread.session);
        if let Some(question) = asked {
            let reply = Clarified::Text(message.text.clone());
            self.gate
                .clarify(who, &question.clarification_id, reply)
                .await?;
            return Ok(());
        }
        let how = |name: &str, does: &str| {
            let typed = self.chat.typed_as(name);
            typed.map_or_else(String::new, |typed| format!(" `{typed}{does}"))
        };
        let steer = how("steer", " TEXT` tells me something at once.");
        let stop = how("stop", "` stops it.");
        let words = format!("I am still working on your last message.{steer}{stop}");
        self.say(&message.thread, &words, &format!("{}:busy", message.id))
            .await;
        Ok(())
    }

    /// Tells the ends of runs that a restart interrupted.
    async fn resume(&self) {
        match self.gate.threads_untold(self.chat.name()).await {
            Ok(threads) => {
                for thread in threads {
                    if let Some(run) = thread.run {
                        self.end_soon(thread.place, run);
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "interrupted conversations cannot be taken up"),
        }
    }

    pub(super) async fn say(&self, thread: &str, words: &str, key: &str) {
        if let Err(error) = self.chat.post(thread, words, key).await {
            tracing::warn!(%error, "something could not be said");
        }
    }

    async fn whisper(&self, account: &str, words: &str) {
        if let Err(error) = self.chat.whisper(account, words).await {
            tracing::warn!(%error, "somebody could not be told");
        }
    }
}
