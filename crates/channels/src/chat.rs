//! `Chat`: a channel that also receives input and carries conversations.
//!
//! The binary joins it to the gate and to the built-in agent. A chat understands its platform; it
//! decides nothing. What people do reaches us in one of two ways, and is treated the same: the
//! platform calls a [`Route`] of the gateway, or the chat hears of it by a connection of its own and
//! tells it as [`Heard::Arrived`].

use countersign_core::tier::Tier;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use crate::order::{Delivered, Order};
use crate::press::{Click, Clicker, Standing, Untrusted};
use crate::zone::Zone;
use crate::{BoxFuture, Channel, DeliveryError};

/// Commands that permit something and, where a tap sends a command, count only below a card or with
/// words behind them.
pub const NEVER_TAPPED: [&str; 2] = ["approve", "yolo"];

/// The reply to a command whose text was sent to the person alone.
pub(crate) const SENT_DIRECTLY: &str = "The full text was sent to you directly.";

/// A channel through which people answer and talk.
pub trait Chat: Channel {
    /// Reads what the platform sent to one of its routes, and finds out who sent it.
    fn receive<'a>(&'a self, call: Callback<'a>) -> BoxFuture<'a, Received>;

    /// Returns what the platform is answered there.
    fn respond(&self, route: Route, response: &Response) -> Reply;

    /// Asks the person behind `click` for words; they come back as a click with
    /// [`Proof::Dialog`](crate::press::Proof::Dialog).
    fn ask_for_words<'a>(
        &'a self,
        order: &'a Order,
        click: &'a Click,
        handle: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Does what it does by itself, and tells what people say, for as long as it is polled. It begins
    /// with what was said after `since`.
    fn follow(&self, since: Since, heard: mpsc::Sender<Heard>) -> BoxFuture<'_, ()>;

    /// Posts into a conversation and returns what it takes to change it. `key` names the post, for
    /// platforms that can tell a second try from a second message.
    fn post<'a>(
        &'a self,
        thread: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<String, DeliveryError>>;

    /// Shows in a conversation that something is being written, for a few seconds.
    fn show_typing<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Changes what was posted.
    fn edit<'a>(
        &'a self,
        reference: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Tells one account something nobody else sees.
    fn whisper<'a>(
        &'a self,
        account: &'a str,
        text: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>>;

    /// Tells whoever typed a command a text that counts as read: it succeeds once every part was sent.
    /// `None` where the reply to the command carries the text.
    fn show_whole<'a>(
        &'a self,
        _typed: &'a Typed,
        _text: &'a str,
    ) -> Option<BoxFuture<'a, Result<(), DeliveryError>>> {
        None
    }

    /// Returns what the reply to a command says once [`Chat::show_whole`] has sent the text; empty if
    /// nothing.
    fn shown_elsewhere(&self) -> &'static str {
        ""
    }

    /// Asks the platform what kind of account it is, for clickers that are
    /// [`Standing::Unasked`].
    fn standing_of<'a>(&'a self, _account: &'a str) -> BoxFuture<'a, Standing> {
        Box::pin(std::future::ready(Standing::Unknown))
    }

    /// Returns how the command `name` is typed there; `None` if it cannot be.
    fn typed_as(&self, name: &str) -> Option<String>;

    /// Whether a tap on a command sends it there: anybody can write one for others to tap.
    fn taps_send(&self) -> bool {
        false
    }

    /// Returns how far an answer from there could have been given by the asker.
    fn separation(&self) -> Tier;

    /// Returns the question whose card `thread` is below, as the card itself says.
    fn card_above<'a>(&'a self, thread: &'a str) -> BoxFuture<'a, Option<String>>;

    /// Returns how many characters one message may have.
    fn message_chars_max(&self) -> usize;

    /// Returns the username of an account, for those that only its id names.
    fn username<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Option<String>>;

    /// Returns the time zone of an account; UTC if the platform does not say it.
    fn zone<'a>(&'a self, account: &'a str) -> BoxFuture<'a, Zone>;

    /// Returns the host, and port, under which the platform calls the gateway back.
    fn callback_host(&self) -> Option<&str>;

    /// Whether people can talk to the built-in agent there.
    fn talks(&self) -> bool;

    /// Returns whom and what the bot has met lately, by id, to choose from while it is set up. Nobody
    /// else may be listening then.
    fn met(&self) -> BoxFuture<'_, Vec<Met>> {
        Box::pin(std::future::ready(Vec::new()))
    }

    /// Looks at everything that usually goes wrong.
    fn examine(&self) -> BoxFuture<'_, Vec<Finding>>;

    /// Looks at the account that is listed for a person; `None` if it is as it should be.
    fn examine_account<'a>(
        &'a self,
        person: &'a str,
        account: &'a str,
    ) -> BoxFuture<'a, Option<Finding>>;
}

/// Where something came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// A button.
    Action,
    /// A typed command.
    Command,
    /// A dialog.
    Dialog,
}

/// What the platform sent to a route, as it came.
#[derive(Clone, Copy, Debug)]
pub struct Callback<'a> {
    /// Where it came in.
    pub route: Route,
    /// Its headers: most platforms sign there.
    pub headers: &'a HeaderMap,
    /// Its body, as it was signed.
    pub body: &'a [u8],
}

/// What a platform is answered at a route.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// HTTP.
    pub status: u16,
    /// JSON.
    pub body: Value,
}

impl Reply {
    /// Returns a good reply that says `body`.
    pub const fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    /// Returns a reply of this status that says nothing.
    pub fn status(status: u16) -> Self {
        let body = json!({});
        Self { status, body }
    }
}

/// Where a chat begins to listen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Since {
    /// When something was last heard, in the platform's own milliseconds.
    pub at: Option<i64>,
    /// What the chat last told as [`Heard::Cursor`].
    pub cursor: Option<String>,
}

/// What came in.
#[derive(Clone, Debug)]
pub enum Received {
    /// Something was pressed. `handle` is what a dialog can be opened with.
    Click {
        /// The click.
        click: Box<Click>,
        /// What a dialog can be opened with.
        handle: String,
    },
    /// A command was typed.
    Typed(Box<Typed>),
    /// It is not from the chat, or means nothing to us.
    Refused(Untrusted),
    /// A dialog was closed without an answer.
    Nothing,
    /// The chat has dealt with it, or refuses it in its platform's own way.
    Done(Reply),
}

/// A command somebody typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typed {
    /// Its name in our registry.
    pub name: String,
    /// What followed it.
    pub rest: String,
    /// Who typed it.
    pub clicker: Clicker,
    /// Where.
    pub place: String,
    /// The conversation it was typed in.
    pub thread: String,
    /// Whether it was typed below a message, and not in the open.
    pub is_reply: bool,
    /// Whether it comes from the chat at all.
    pub transport: Result<(), Untrusted>,
    /// The platform's one-time id of the interaction.
    pub ticket: Option<String>,
}

/// The response to the platform.
#[derive(Clone, Debug)]
pub enum Response {
    /// It counted: the card as it is now, and words for the person alone.
    Counted {
        /// The card.
        order: Box<Order>,
        /// Where it is.
        delivered: Box<Delivered>,
        /// Words for the person alone.
        words: String,
    },
    /// It did not count, or there is nothing to change: words for the person alone.
    Words(String),
    /// It did not count, and what was pressed never will: its question is over, or it is a card that
    /// is not the delivered one. Words for the person alone; its buttons can go.
    Over(String),
    /// Words for a person who has a dialog open.
    DialogError(String),
    /// All is well and there is nothing to say.
    Nothing,
}

/// What a chat hears by a connection of its own.
#[derive(Debug)]
pub enum Heard {
    /// Something said to us.
    Message(Message),
    /// A button or a command, as it would come in at a route. It is answered there.
    Arrived {
        /// Which route.
        route: Route,
        /// What it is.
        received: Received,
        /// Where the response goes.
        reply: oneshot::Sender<Response>,
    },
    /// Everything before this was heard. It is kept, and given back in [`Since`].
    Cursor(String),
    /// A reaction or a reply that answers a card.
    Click(Box<Click>),
    /// Somebody wants the bot in a place. It goes there if the reply is true: they are listed.
    Invited {
        /// Who invited it.
        clicker: Clicker,
        /// Where the reply goes.
        reply: oneshot::Sender<bool>,
    },
    /// It listens from now on. What was deleted before that it does not tell.
    Connected,
    /// A card was deleted.
    Gone {
        /// Its question.
        subject: String,
        /// Where it was, as [`Delivered`] says it.
        reference: String,
    },
}

/// Something said to us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// The conversation, to post into.
    pub thread: String,
    /// Who said it.
    pub clicker: Clicker,
    /// The text, without the mention of the bot.
    pub text: String,
    /// When, in the platform's own milliseconds.
    pub at: i64,
}

/// Somebody, or a place, that a bot has met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Met {
    /// The id, as the configuration wants it.
    pub id: String,
    /// What it is, for people.
    pub what: String,
}

/// The results of a channel diagnosis.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What was looked at.
    pub check: String,
    /// How it is.
    pub state: State,
    /// What was found.
    pub found: String,
    /// The suggested fix; empty if none.
    pub fix: String,
}

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// As it should be.
    Good,
    /// It works, but not all of it, or it could not be seen.
    Doubtful,
    /// It does not work.
    Bad,
}

impl Finding {
    /// All is well.
    pub fn good(check: &str, found: impl Into<String>) -> Self {
        Self {
            check: check.to_owned(),
            state: State::Good,
            found: found.into(),
            fix: String::new(),
        }
    }

    /// It works, but not all of it, or it could not be seen.
    pub fn doubtful(check: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            state: State::Doubtful,
            fix: fix.into(),
            ..Self::good(check, found)
        }
    }

    /// It does not work.
    pub fn bad(check: &str, found: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            state: State::Bad,
            fix: fix.into(),
            ..Self::good(check, found)
        }
    }
}
