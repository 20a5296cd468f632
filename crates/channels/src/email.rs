//! The e-mail channel: a card as a letter, with a link to the card on the page.
//!
//! Nobody answers by mail. A sender's address can be forged, and programs open every link of a letter,
//! so a reply counts nowhere and the link changes nothing: people answer on the page, signed in. Each
//! letter goes to one person. A letter cannot be changed, so whoever got one is told once, in the same
//! thread, how the question ended.

mod doctor;
mod letter;
mod pace;
pub(crate) mod settings;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use countersign_core::card::Card;
use countersign_core::digest::Digest;
use reqwest::Url;
use tokio::time::Instant;

pub use pace::Pace;

use crate::chat::Finding;
use crate::notifier::Notifier;
use crate::order::{Destination, Shown, Subject};
use crate::smtp::{Letter, Smtp, SmtpError, SmtpSettings};
use crate::{BoxFuture, Channel, Delivered, DeliveryError, Order, Shows};
use letter::{Row, Tells, Written};
use pace::{Lines, Told, Turn};

/// The type of this channel in the configuration.
pub(crate) const EMAIL: &str = "email";
/// The list that letters belong to, in front of the sender's domain.
const LIST: &str = "countersign";
/// Letters that name a letter, of its digest.
const NAME_LETTERS: usize = 32;
/// The subject of a message that an agent sends through this channel.
const MESSAGE: &str = "A message";

/// How an e-mail channel is set up.
#[derive(Clone, Debug)]
pub struct EmailSettings {
    /// Its name in the configuration.
    pub name: String,
    /// The mail server.
    pub smtp: SmtpSettings,
    /// Where people open the page.
    pub page_url: String,
    /// How much a letter tells.
    pub shows: Shows,
    /// Whether those who got a letter are told how the question ended.
    pub follow_up: bool,
    /// How fast letters follow each other.
    pub pace: Pace,
    /// The names under which people list their addresses.
    pub accounts: Vec<String>,
}

/// A channel that writes letters. Clones share their pace.
#[derive(Clone, Debug)]
pub struct Email(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    settings: EmailSettings,
    smtp: Smtp,
    page: Url,
    lines: Lines<Entry>,
}

/// What a line of letters is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// Cards that wait.
    Cards,
    /// Questions that ended.
    Endings,
}

/// Something that waits to be written.
#[derive(Clone, Debug)]
struct Entry {
    row: Row,
    /// The letter it follows.
    follows: Option<String>,
}

impl Email {
    /// Returns the channel, or what is wrong with its settings.
    pub fn new(settings: EmailSettings) -> Result<Self, String> {
        let page = crate::checked_url(&settings.page_url)
            .map_err(|_| "its page_url must be the https address of the page".to_owned())?;
        let smtp = Smtp::new(settings.smtp.clone())?;
        Ok(Self(Arc::new(Shared {
            lines: Lines::new(settings.pace),
            settings,
            smtp,
            page,
        })))
    }

    /// Writes to somebody: a letter of its own, or with others that wait.
    async fn pass(
        &self,
        to: &str,
        about: About,
        name: &str,
        entry: Entry,
        write: impl FnOnce() -> Written,
    ) -> Told {
        let shared = &self.0;
        let line = format!("{about:?} {to}");
        let follows = entry.follows.clone();
        match shared.lines.enter(&line, name, entry, Instant::now()) {
            Turn::Alone => {
                let follows = follows.into_iter().collect();
                let names = [name.to_owned()];
                let told = shared.send(to, name, write(), follows, &names).await;
                if told.is_err() {
                    shared.lines.give_back(&line);
                }
                told
            }
            Turn::Waits { told, wants_driver } => {
                if wants_driver {
                    let driver = Arc::clone(shared).drive(line, to.to_owned(), about);
                    tokio::spawn(driver);
                }
                told.await
                    .unwrap_or_else(|_| Err(shared.later("the letter was not written".to_owned())))
            }
        }
    }
}

impl Shared {
    /// Sends the collected letters of a line, until nothing waits in it.
    async fn drive(self: Arc<Self>, line: String, to: String, about: About) {
        while let Some(due) = self.lines.due(&line) {
            tokio::time::sleep_until(due).await;
            let batch = self.lines.take(&line, Instant::now());
            if batch.entries.is_empty() {
                continue;
            }
            let rows: Vec<Row> = batch.entries.iter().map(|(_, it)| it.row.clone()).collect();
            let follows = batch.entries.iter();
            let mut follows: Vec<String> =
                follows.filter_map(|(_, it)| it.follows.clone()).collect();
            follows.dedup();
            let names: Vec<String> = batch.entries.iter().map(|(name, _)| name.clone()).collect();
            let letter = batch
                .again
                .clone()
                .unwrap_or_else(|| named(&names.concat()));
            let written = match about {
                About::Cards => letter::many_waiting(&rows),
                About::Endings => letter::many_settled(&rows),
            };
            let told = self.send(&to, &letter, written, follows, &names).await;
            batch.tell(&told);
        }
    }

    /// Sends a letter in which the entries `names` stand.
    async fn send(
        &self,
        to: &str,
        id: &str,
        written: Written,
        follows: Vec<String>,
        names: &[String],
    ) -> Told {
        let letter = Letter {
            to: to.to_owned(),
            subject: written.subject,
            text: written.text,
            html: Some(written.html),
            attachments: Vec::new(),
            id: id.to_owned(),
            follows,
            list: Some(LIST.to_owned()),
        };
        let sent = self.smtp.send(&letter).await;
        let entries = names.iter().map(String::as_str);
        match sent {
            Err(SmtpError::Unknown(_)) => self.lines.note_unsure(entries, id),
            Ok(()) | Err(SmtpError::Refused(_) | SmtpError::NotNow(_)) => {
                self.lines.note_sure(entries);
            }
        }
        match sent {
            Ok(()) => Ok(self.smtp.message_id(id)),
            Err(SmtpError::Refused(why)) => Err(self.never(&why)),
            Err(SmtpError::NotNow(why) | SmtpError::Unknown(why)) => Err(self.later(why)),
        }
    }

    fn address<'a>(&self, to: &'a Destination) -> Result<&'a str, DeliveryError> {
        match to {
            Destination::Person(address) => Ok(address),
            Destination::Usual => Err(self.never("letters go to each person")),
            Destination::Thread(_) => Err(self.never("it has no conversations")),
        }
    }

    /// Returns how much of a card a letter may tell: servers on its way read along, so nothing of a
    /// person in crisis.
    fn tells(&self, order: &Order) -> Tells {
        if self.settings.shows == Shows::What && !order.is_crisis {
            Tells::What
        } else {
            Tells::That
        }
    }

    fn link(&self, card: &Card) -> Url {
        crate::card_link(&self.page, &card.approval_id)
    }

    fn later(&self, why: String) -> DeliveryError {
        DeliveryError::Later {
            channel: self.settings.name.clone(),
            why,
        }
    }

    fn never(&self, why: &str) -> DeliveryError {
        DeliveryError::Never {
            channel: self.settings.name.clone(),
            why: why.to_owned(),
        }
    }
}

impl Channel for Email {
    fn name(&self) -> &str {
        &self.0.settings.name
    }

    fn kind(&self) -> &'static str {
        EMAIL
    }

    fn accounts(&self) -> Vec<&str> {
        let accounts = self.0.settings.accounts.iter();
        accounts.map(String::as_str).collect()
    }

    fn has_usual_place(&self) -> bool {
        false
    }

    fn tells_once(&self) -> bool {
        true
    }

    fn deliver<'a>(&'a self, order: &'a Order) -> BoxFuture<'a, Result<Delivered, DeliveryError>> {
        Box::pin(async move {
            let shared = &self.0;
            let Subject::Card(card) = &order.what else {
                return Err(shared.never("it takes no questions"));
            };
            let to = shared.address(&order.to)?;
            let (tells, link) = (shared.tells(order), shared.link(card));
            let entry = Entry {
                row: letter::row(card, tells, &link),
                follows: None,
            };
            let write = || letter::waiting(card, tells, &link);
            let name = named(&order.key);
            let reference = self.pass(to, About::Cards, &name, entry, write).await?;
            Ok(Delivered {
                channel: shared.settings.name.clone(),
                reference,
                shown: Shown::Whole,
            })
        })
    }

    fn repaint<'a>(
        &'a self,
        delivered: &'a Delivered,
        order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let shared = &self.0;
            let Subject::Card(card) = &order.what else {
                return Ok(());
            };
            if order.closing.is_none() || !shared.settings.follow_up {
                return Ok(());
            }
            let to = shared.address(&order.to)?;
            let (tells, link) = (shared.tells(order), shared.link(card));
            let entry = Entry {
                row: letter::ended_row(order, card, tells, &link),
                follows: Some(delivered.reference.clone()),
            };
            let write = || letter::settled(order, card, tells, &link);
            let name = named(&format!("{}\0settled", order.key));
            let told = self.pass(to, About::Endings, &name, entry, write).await;
            told.map(drop)
        })
    }

    fn unfold<'a>(
        &'a self,
        _delivered: &'a Delivered,
        _order: &'a Order,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        // The link leads to all of it.
        Box::pin(async { Ok(()) })
    }

    fn say<'a>(&'a self, _text: &'a str) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async { Err(self.0.never("letters go to each person")) })
    }

    fn send<'a>(
        &'a self,
        to: &'a str,
        text: &'a str,
        key: &'a str,
    ) -> BoxFuture<'a, Result<(), DeliveryError>> {
        Box::pin(async move {
            let shared = &self.0;
            let letter = Letter {
                to: to.to_owned(),
                subject: MESSAGE.to_owned(),
                text: text.to_owned(),
                id: named(key),
                ..Letter::default()
            };
            let sent = shared.smtp.send(&letter).await;
            sent.map_err(|error| match error {
                SmtpError::Refused(why) | SmtpError::NotNow(why) => shared.never(&why),
                SmtpError::Unknown(why) => shared.later(why),
            })
        })
    }
}

impl Notifier for Email {
    fn examine(&self) -> BoxFuture<'_, Vec<Finding>> {
        Box::pin(doctor::examine(&self.0.smtp, &self.0.page))
    }

    fn examine_account<'a>(
        &'a self,
        person: &'a str,
        account: &'a str,
    ) -> BoxFuture<'a, Vec<Finding>> {
        Box::pin(doctor::examine_account(&self.0.smtp, person, account))
    }
}

/// Returns the name of the letter for `key`, which tells nothing of it.
fn named(key: &str) -> String {
    let Digest(hash) = Digest::of(format!("countersign/v1/email\0{key}").as_bytes());
    let mut name = URL_SAFE_NO_PAD.encode(hash);
    name.truncate(NAME_LETTERS);
    name
}
