//! The websocket: receives messages, and catches up after a disconnect.
//!
//! Events are numbered; after a gap, a new connection or a restart, messages are read from the server
//! instead. A message that was heard before is told once.

use std::time::Duration;

use countersign_core::approval::Choice;
use countersign_core::id::{ApprovalId, ClarificationId};
use futures_util::{SinkExt as _, StreamExt as _};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::http::HeaderValue;
use tokio_tungstenite::tungstenite::{Message as Frame, protocol::WebSocketConfig};

use super::api::ApiError;
use super::wire::{Post, PostList, Reaction, SocketEvent};
use super::{KEY_PROP, Known, Mattermost, is_id};
use crate::chat::{Heard, Message};
use crate::memory::Memory;
use crate::press::{Click, Clicker, Press, Proof, Standing};

/// First pause before the websocket is opened again; it doubles up to the longest.
const PAUSE_FIRST: Duration = Duration::from_millis(500);
/// Longest such pause.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// A sign of life is asked for so often; without one the connection is taken for dead.
const BEAT: Duration = Duration::from_secs(20);
/// Largest frame that is read, in bytes.
const FRAME_BYTES_MAX: usize = 1024 * 1024;
/// How far back reactions are looked for after a gap, in milliseconds.
const REACTIONS_MILLIS: i64 = 24 * 3600 * 1000;

/// How long the websocket may take to open.
const OPEN_WITHIN: Duration = Duration::from_secs(15);
/// What the server notes on messages that a program wrote, also in a person's name.
const MACHINES: &[&str] = &["from_bot", "from_webhook", "from_plugin", "from_oauth_app"];

/// What a reaction means.
const EMOJIS: &[(&str, Press)] = &[
    ("white_check_mark", Press::Choose(Choice::Once)),
    ("heavy_check_mark", Press::Choose(Choice::Once)),
    ("x", Press::Choose(Choice::Deny)),
    ("no_entry", Press::Choose(Choice::Deny)),
    ("eyes", Press::View),
];

/// A place of the bot, with what is needed to see whether something was said there.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct Conversation {
    id: String,
    #[serde(rename = "type")]
    kind: String,
    last_post_at: i64,
}

/// Among whom something was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Company {
    /// Nobody but us.
    Direct,
    /// Others, too.
    Others,
}

impl Company {
    /// Reads the server's letter for a place.
    fn of(kind: &str) -> Self {
        if kind == "D" {
            Self::Direct
        } else {
            Self::Others
        }
    }
}

/// What was received so far.
#[derive(Debug, Default)]
struct Received {
    memory: Memory,
    /// The server's time of the last message, in milliseconds.
    last: Option<i64>,
}

impl Mattermost {
    /// Tells what is said, for as long as it is polled.
    pub(super) async fn listen(&self, since: Option<i64>, heard: mpsc::Sender<Heard>) {
        let mut received = Received {
            last: since,
            ..Received::default()
        };
        let mut pause = PAUSE_FIRST;
        loop {
            let since = tokio::time::Instant::now();
            match self.connected(&mut received, &heard).await {
                // One that ends at once is no better than none.
                Ok(()) if since.elapsed() > PAUSE_MAX => pause = PAUSE_FIRST,
                Ok(()) => {}
                Err(why) => tracing::warn!(why, "the websocket ended; it is opened again"),
            }
            if heard.is_closed() {
                return;
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    /// Listens until the connection ends. An error if it never came about.
    async fn connected(
        &self,
        received: &mut Received,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<(), String> {
        let known = self.known().await.map_err(|error| error.to_string())?;
        let mut socket = self.open().await?;
        // Opened first, so that nothing falls between what is read and what is heard.
        self.catch_up(&known, received, heard).await;
        let _gone = heard.send(Heard::Connected).await;
        let mut expected = None;
        let mut beat = tokio::time::interval(BEAT);
        let mut is_alive = true;
        loop {
            let frame = tokio::select! {
                frame = socket.next() => frame,
                () = heard.closed() => return Ok(()),
                _ = beat.tick() => {
                    if !is_alive || socket.send(Frame::Ping(Vec::new().into())).await.is_err() {
                        return Ok(());
                    }
                    is_alive = false;
                    continue;
                }
            };
            is_alive = true;
            let text = match frame {
                Some(Ok(Frame::Text(text))) => text,
                Some(Ok(Frame::Ping(_) | Frame::Pong(_) | Frame::Binary(_) | Frame::Frame(_))) => {
                    continue;
                }
                Some(Ok(Frame::Close(_)) | Err(_)) | None => return Ok(()),
            };
            let Ok(event) = serde_json::from_str::<SocketEvent>(&text) else {
                continue;
            };
            if event.event.is_empty() {
                continue;
            }
            if expected.is_some_and(|expected| expected != event.seq) {
                self.catch_up(&known, received, heard).await;
                let _gone = heard.send(Heard::Connected).await;
            }
            expected = Some(event.seq + 1);
            self.happened(&known, &event, received, heard).await;
        }
    }

    async fn open(
        &self,
    ) -> Result<
        tokio_tungstenite::WebSocketStream<
            tokio_tungstenite::MaybeTlsStream<tokio::net::TcpStream>,
        >,
        String,
    > {
        let mut url = self.inner.api.url(&["websocket"]);
        let scheme = if url.scheme() == "https" { "wss" } else { "ws" };
        url.set_scheme(scheme)
            .map_err(|()| "the address cannot be used".to_owned())?;
        let mut request = url
            .as_str()
            .into_client_request()
            .map_err(|error| error.to_string())?;
        let token = format!("Bearer {}", self.inner.api.token());
        let mut token =
            HeaderValue::from_str(&token).map_err(|_| "the token is invalid".to_owned())?;
        token.set_sensitive(true);
        request.headers_mut().insert("authorization", token);
        let limits = WebSocketConfig::default()
            .max_message_size(Some(FRAME_BYTES_MAX))
            .max_frame_size(Some(FRAME_BYTES_MAX));
        let opening = tokio_tungstenite::connect_async_with_config(request, Some(limits), true);
        let opened = tokio::time::timeout(OPEN_WITHIN, opening).await;
        let opened = opened.map_err(|_| "it took too long to open".to_owned())?;
        let (socket, _) = opened.map_err(|error| error.to_string())?;
        Ok(socket)
    }

    async fn happened(
        &self,
        known: &Known,
        event: &SocketEvent,
        received: &mut Received,
        heard: &mpsc::Sender<Heard>,
    ) {
        let text = |name: &str| event.data.get(name).and_then(Value::as_str);
        match event.event.as_str() {
            "posted" => {
                let post = text("post").and_then(|text| serde_json::from_str::<Post>(text).ok());
                let company = Company::of(text("channel_type").unwrap_or_default());
                if let Some(post) = post {
                    self.said(known, post, company, received, heard).await;
                }
            }
            "reaction_added" => {
                let reaction = text("reaction");
                let reaction =
                    reaction.and_then(|text| serde_json::from_str::<Reaction>(text).ok());
                if let Some(reaction) = reaction {
                    self.reacted(known, &reaction, heard).await;
                }
            }
            "post_deleted" => {
                let post = text("post").and_then(|text| serde_json::from_str::<Post>(text).ok());
                if let Some(gone) = post.and_then(|post| gone(known, &post)) {
                    let _gone = heard.send(gone).await;
                }
            }
            _ => {}
        }
    }

    /// Reads what was said and not heard.
    async fn catch_up(&self, known: &Known, received: &mut Received, heard: &mpsc::Sender<Heard>) {
        let missed = async {
            let path = ["users", known.bot.id.as_str(), "channels"];
            let all: Vec<Conversation> = self.inner.api.get(&path, &[]).await?;
            let Some(since) = received.last else {
                // Nothing was ever heard: it begins now.
                let last = all.iter().map(|it| it.last_post_at).max();
                received.last = last;
                return Ok::<_, ApiError>(Vec::new());
            };
            let mut missed = Vec::new();
            for place in all.iter().filter(|it| it.last_post_at > since) {
                let since = since.to_string();
                let path = ["channels", place.id.as_str(), "posts"];
                let list: PostList = self.inner.api.get(&path, &[("since", &since)]).await?;
                let posts = list.posts.into_values();
                missed.extend(posts.map(|post| (post, Company::of(&place.kind))));
            }
            Ok(missed)
        };
        match missed.await {
            Ok(mut missed) => {
                missed.sort_by_key(|(post, _)| post.create_at);
                let since = received.last.unwrap_or_default();
                for (post, company) in missed {
                    // What was only changed since then was heard when it was said.
                    if post.create_at > since {
                        self.said(known, post, company, received, heard).await;
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "what was said meanwhile could not be read"),
        }
        if self.inner.action_url.is_none()
            && let Err(error) = self.reactions_missed(known, heard).await
        {
            tracing::warn!(%error, "reactions could not be read");
        }
    }

    /// Reads the reactions to our cards that wait.
    async fn reactions_missed(
        &self,
        known: &Known,
        heard: &mpsc::Sender<Heard>,
    ) -> Result<(), ApiError> {
        let Some(place) = &known.place else {
            return Ok(());
        };
        let since = super::unix_millis() - REACTIONS_MILLIS;
        let list = self.page(place, 0).await?;
        let waits = |post: &&Post| {
            post.user_id == known.bot.id
                && post.create_at > since
                && post.key().is_some()
                && post.message.starts_with('⚠')
        };
        for post in list.posts.values().filter(waits) {
            let path = ["posts", post.id.as_str(), "reactions"];
            let reactions: Option<Vec<Reaction>> = self.inner.api.get(&path, &[]).await?;
            for reaction in reactions.unwrap_or_default() {
                self.reacted(known, &reaction, heard).await;
            }
        }
        Ok(())
    }

    /// Tells of a message that is meant for us.
    async fn said(
        &self,
        known: &Known,
        post: Post,
        company: Company,
        received: &mut Received,
        heard: &mpsc::Sender<Heard>,
    ) {
        received.last = received.last.max(Some(post.create_at));
        let is_ours = post.user_id == known.bot.id || post.props.contains_key(KEY_PROP);
        let is_machine = MACHINES.iter().any(|name| post.props.contains_key(*name));
        let is_said = post.kind.is_empty() && post.delete_at == 0 && !post.message.is_empty();
        if is_ours || is_machine || !is_said || !received.memory.is_new(&post.id) {
            return;
        }
        if self.inner.action_url.is_none()
            && !post.root_id.is_empty()
            && let Some(click) = self.reply_to_card(known, &post).await
        {
            let _gone = heard.send(Heard::Click(Box::new(click))).await;
            return;
        }
        let Some(text) = meant_for(&post.message, &known.bot.username, company) else {
            return;
        };
        if !self.inner.settings.talk {
            return;
        }
        let root = match (post.root_id.as_str(), company) {
            ("", Company::Direct) => "",
            ("", Company::Others) => post.id.as_str(),
            (root, _) => root,
        };
        let message = Message {
            thread: format!("{}/{root}", post.channel_id),
            clicker: self.person(&post.user_id).await,
            text,
            at: post.create_at,
            id: post.id,
        };
        let _gone = heard.send(Heard::Message(message)).await;
    }

    async fn person(&self, account: &str) -> Clicker {
        Clicker {
            account: account.to_owned(),
            standing: self.standing(account).await,
        }
    }

    /// Returns what a reply to one of our cards means, where there are no buttons.
    async fn reply_to_card(&self, known: &Known, post: &Post) -> Option<Click> {
        let root = self.our_card(known, &post.root_id).await?;
        let (press, text) = reply(&root.0, &post.message)?;
        let clicker = self.person(&post.user_id).await;
        Some(Click {
            // It is read again after a gap; what was refused must not count then.
            ticket: Some(format!("reply:{}", post.id)),
            proof: Proof::OnCard,
            subject: root.0,
            press,
            reference: format!("{}/{}", post.channel_id, post.root_id),
            place: post.channel_id.clone(),
            text,
            ..self.click(clicker, Ok(()))
        })
    }

    /// Returns the question of one of our cards, and where it is.
    async fn our_card(&self, known: &Known, id: &str) -> Option<(String, String)> {
        if !is_id(id) {
            return None;
        }
        let card: Post = self.inner.api.get(&["posts", id], &[]).await.ok()?;
        if card.user_id != known.bot.id {
            return None;
        }
        let subject = card.key()?.split(':').next()?;
        // What the agent says is ours, too, but it is no question.
        let is_question = ApprovalId::is_id(subject) || ClarificationId::is_id(subject);
        is_question.then(|| (subject.to_owned(), card.channel_id.clone()))
    }

    /// Tells of a reaction that answers a card, where there are no buttons.
    async fn reacted(&self, known: &Known, reaction: &Reaction, heard: &mpsc::Sender<Heard>) {
        let emoji = reaction.emoji_name.as_str();
        let press = EMOJIS.iter().find(|(name, _)| *name == emoji);
        let Some((_, press)) = press else {
            return;
        };
        if self.inner.action_url.is_some() || reaction.user_id == known.bot.id {
            return;
        }
        let Some((subject, place)) = self.our_card(known, &reaction.post_id).await else {
            return;
        };
        let clicker = self.person(&reaction.user_id).await;
        if clicker.standing == Standing::Bot {
            return;
        }
        let Reaction {
            user_id,
            post_id,
            emoji_name,
            create_at,
        } = reaction;
        let click = Click {
            // It is read again after a gap; what was refused must not count then.
            ticket: Some(format!(
                "reaction:{post_id}:{user_id}:{emoji_name}:{create_at}"
            )),
            proof: Proof::OnCard,
            subject,
            press: *press,
            reference: format!("{place}/{}", reaction.post_id),
            place,
            ..self.click(clicker, Ok(()))
        };
        let _gone = heard.send(Heard::Click(Box::new(click))).await;
    }
}

/// Returns what a reply to the card of `subject` means. Only whole commands count: a bare "yes" or
/// "ok" in a conversation is no answer.
fn reply(subject: &str, said: &str) -> Option<(Press, Option<String>)> {
    let said = said.trim();
    if !ApprovalId::is_id(subject) {
        let number = said.parse::<u8>().ok().filter(|it| (1..=9).contains(it));
        return Some(match number {
            Some(number) => (Press::Answer(number), None),
            None => (Press::Other, Some(said.to_owned())),
        });
    }
    let (name, rest) = said.split_once(char::is_whitespace).unwrap_or((said, ""));
    let rest = rest.trim();
    let press = match (name.to_ascii_lowercase().as_str(), rest) {
        ("approve", "" | "once") => Press::Choose(Choice::Once),
        ("approve", "session") => Press::Choose(Choice::Session),
        ("approve", "always") => Press::Choose(Choice::Always),
        ("deny", _) => Press::Choose(Choice::Deny),
        ("show", "") => Press::View,
        _ => return None,
    };
    let note = (name.eq_ignore_ascii_case("deny") && !rest.is_empty()).then(|| rest.to_owned());
    Some((press, note))
}

/// Returns what was said to us: everything in a conversation of two, elsewhere what names us.
fn meant_for(text: &str, us: &str, company: Company) -> Option<String> {
    let name = format!("@{us}");
    let is_named = |word: &str| {
        let word = word.trim_end_matches([',', ':', ';', '.', '!', '?']);
        word.eq_ignore_ascii_case(&name)
    };
    let is_meant = company == Company::Direct || text.split_whitespace().any(is_named);
    if !is_meant {
        return None;
    }
    let first = text.split_whitespace().next().unwrap_or("");
    let rest = if is_named(first) {
        text.trim_start().get(first.len()..).unwrap_or_default()
    } else {
        text
    };
    Some(rest.trim().to_owned()).filter(|rest| !rest.is_empty())
}

/// Returns that a card of ours was deleted, if it was one.
fn gone(known: &Known, post: &Post) -> Option<Heard> {
    let is_card = post.user_id == known.bot.id && post.props.contains_key("attachments");
    let subject = post.key().filter(|_| is_card)?.split(':').next()?;
    Some(Heard::Gone {
        subject: subject.to_owned(),
        reference: format!("{}/{}", post.channel_id, post.id),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_names_us_is_meant_for_us_unless_we_are_alone() {
        let rows = [
            ("directly", "hello", Company::Direct, Some("hello")),
            (
                "directly, by name",
                "@cs: hello",
                Company::Direct,
                Some("hello"),
            ),
            (
                "by name",
                "@cs, clean up",
                Company::Others,
                Some("clean up"),
            ),
            (
                "by name inside",
                "please @cs look",
                Company::Others,
                Some("please @cs look"),
            ),
            ("somebody else", "@css clean up", Company::Others, None),
            ("nobody", "clean up", Company::Others, None),
            ("the name alone", "@cs", Company::Others, None),
        ];
        for (name, text, company, expected) in rows {
            let meant = meant_for(text, "cs", company);
            assert_eq!(meant.as_deref(), expected, "{name}");
        }
    }

    #[test]
    fn a_bare_yes_is_no_answer() {
        let once = Press::Choose(Choice::Once);
        let rows = [
            ("approve", Some((once, None))),
            ("Approve once", Some((once, None))),
            (
                "approve always",
                Some((Press::Choose(Choice::Always), None)),
            ),
            (
                "deny not now",
                Some((Press::Choose(Choice::Deny), Some("not now"))),
            ),
            ("show", Some((Press::View, None))),
            ("yes", None),
            ("ok", None),
            ("approve it all", None),
            ("I approve", None),
            ("👍", None),
        ];
        for (said, expected) in rows {
            let expected = expected.map(|(press, note)| (press, note.map(str::to_owned)));
            assert_eq!(reply("appr_1", said), expected, "{said}");
        }
        let answer = reply("clar_1", "2");
        assert_eq!(answer, Some((Press::Answer(2), None)));
        let words = reply("clar_1", "both of them");
        assert_eq!(words, Some((Press::Other, Some("both of them".to_owned()))));
    }
}
