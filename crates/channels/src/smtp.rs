//! Sends letters by SMTP: one connection per letter, no retry, no header injection.
//!
//! Separate, because the e-mail channel and the mail tool of the built-in agent use the same client
//! and the same settings.

use std::time::Duration;

use lettre::message::header::{ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::{Credentials, Mechanism};
use lettre::transport::smtp::client::{AsyncSmtpConnection, Tls, TlsParameters};
use lettre::transport::smtp::commands::{Mail, Rcpt};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use serde_json::Value;

use crate::platform::Settings;

/// How long the server may take for one step.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Letters of a thread that a follow-up names at most.
const FOLLOWS_MAX: usize = 20;
/// What programs that answer letters by themselves understand (RFC 3834).
const AUTO_SUBMITTED: HeaderName = HeaderName::new_from_ascii_str("Auto-Submitted");
/// What Exchange understands instead.
const SUPPRESS: HeaderName = HeaderName::new_from_ascii_str("X-Auto-Response-Suppress");
/// What people sort letters by (RFC 2919).
const LIST_ID: HeaderName = HeaderName::new_from_ascii_str("List-Id");

/// How the connection is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SmtpTls {
    /// It begins in the clear and must become encrypted.
    #[default]
    StartTls,
    /// It is encrypted from the beginning.
    Implicit,
    /// It is not. No password is sent this way, except on this machine.
    None,
}

impl SmtpTls {
    /// Returns the protection that a configuration calls `word`.
    pub fn of(word: Option<&str>) -> Self {
        match word {
            Some("implicit") => Self::Implicit,
            Some("none") => Self::None,
            Some(_) | None => Self::StartTls,
        }
    }

    /// Returns the port that servers usually have for it.
    pub const fn port(self) -> u16 {
        match self {
            Self::StartTls => 587,
            Self::Implicit => 465,
            Self::None => 25,
        }
    }
}

/// How a mail server is reached.
#[derive(Clone)]
pub struct SmtpSettings {
    /// Its name.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// As whom we sign in.
    pub username: Option<String>,
    /// And with what.
    pub password: Option<String>,
    /// Whom mail comes from: an address, or `Name <address>`.
    pub from: String,
    /// How the connection is protected.
    pub tls: SmtpTls,
}

impl std::fmt::Debug for SmtpSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SmtpSettings")
            .field("host", &self.host)
            .field("port", &self.port)
            .field("from", &self.from)
            .field("tls", &self.tls)
            .finish_non_exhaustive()
    }
}

/// A letter to one person.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Letter {
    /// The address.
    pub to: String,
    /// The subject.
    pub subject: String,
    /// The text.
    pub text: String,
    /// The same as HTML.
    pub html: Option<String>,
    /// Files that go with it: their names and bytes.
    pub attachments: Vec<(String, Vec<u8>)>,
    /// Names it; the same when it is sent again.
    pub id: String,
    /// The letters it follows, as [`Smtp::message_id`] names them.
    pub follows: Vec<String>,
    /// The list it belongs to, if a program wrote it for people to sort.
    pub list: Option<String>,
}

/// Why a letter was not sent, or may not have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SmtpError {
    /// It was not sent, and will not be until somebody changes something.
    #[error("{0}")]
    Refused(String),
    /// It was not sent; it may be later.
    #[error("{0}")]
    NotNow(String),
    /// The connection failed. Nobody can tell.
    #[error("{0}")]
    Unknown(String),
}

/// How far a conversation with the server comes, from its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// It is connected, in the clear or by TLS.
    Connected,
    /// The connection became encrypted.
    Encrypted,
    /// We are signed in, or need not be.
    SignedIn,
    /// It takes letters of the sender.
    Sender,
}

/// Sends letters by SMTP.
#[derive(Clone, Debug)]
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    settings: SmtpSettings,
    from: Mailbox,
}

impl Smtp {
    /// Returns a sender, or what is wrong with its settings.
    pub fn new(settings: SmtpSettings) -> Result<Self, String> {
        // Another part of the process may have chosen already; the first choice holds.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let from: Mailbox = settings
            .from
            .parse()
            .map_err(|_| "`from` is no e-mail address".to_owned())?;
        let protection = match settings.tls {
            SmtpTls::StartTls => Tls::Required(parameters(&settings)?),
            SmtpTls::Implicit => Tls::Wrapper(parameters(&settings)?),
            SmtpTls::None => Tls::None,
        };
        if settings.tls == SmtpTls::None && settings.password.is_some() && !settings.is_local() {
            return Err("a password is not sent over an unprotected connection".to_owned());
        }
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
            .port(settings.port)
            .tls(protection)
            .hello_name(hello(&from))
            .timeout(Some(TIMEOUT));
        match (&settings.username, &settings.password) {
            (Some(_), Some(_)) | (None, None) => {}
            (Some(_), None) => return Err("`username` needs a password".to_owned()),
            (None, Some(_)) => return Err("a password needs `username`".to_owned()),
        }
        if let Some(credentials) = settings.credentials() {
            transport = transport.credentials(credentials);
        }
        Ok(Self {
            transport: transport.build(),
            settings,
            from,
        })
    }

    /// Returns the settings.
    pub const fn settings(&self) -> &SmtpSettings {
        &self.settings
    }

    /// Returns the domain that letters come from.
    pub fn domain(&self) -> &str {
        self.from.email.domain()
    }

    /// Returns the `Message-ID` of the letter that is named `id`.
    pub fn message_id(&self, id: &str) -> String {
        format!("<{id}@{}>", self.domain())
    }

    /// Sends `letter`, once.
    pub async fn send(&self, letter: &Letter) -> Result<(), SmtpError> {
        let message = self.message(letter).map_err(SmtpError::Refused)?;
        let sent = self.transport.send(message).await;
        sent.map(drop).map_err(|error| failure(&error))
    }

    /// Talks to the server as far as the sender's name, and sends nothing. Returns how far it came
    /// and what stopped it.
    pub async fn talk(&self) -> (Option<Step>, Result<(), SmtpError>) {
        let mut reached = None;
        let talked = match self.talk_to(&mut reached).await {
            Ok(mut connection) => {
                connection.abort().await;
                Ok(())
            }
            Err(error) => Err(failure(&error)),
        };
        (reached, talked)
    }

    /// Asks the server whether it takes letters for `address`, and sends none.
    pub async fn takes(&self, address: &str) -> Result<(), SmtpError> {
        let no = || SmtpError::Refused("the address is no e-mail address".to_owned());
        let address: Address = address.parse().map_err(|_| no())?;
        let asked = async {
            let mut connection = self.talk_to(&mut None).await?;
            let taken = connection.command(Rcpt::new(address, Vec::new())).await;
            connection.abort().await;
            taken
        };
        asked.await.map(drop).map_err(|error| failure(&error))
    }

    async fn talk_to(
        &self,
        reached: &mut Option<Step>,
    ) -> Result<AsyncSmtpConnection, lettre::transport::smtp::Error> {
        let settings = &self.settings;
        let parameters = || TlsParameters::new(settings.host.clone());
        let wrapped = match settings.tls {
            SmtpTls::Implicit => Some(parameters()?),
            SmtpTls::StartTls | SmtpTls::None => None,
        };
        let server = (settings.host.as_str(), settings.port);
        let hello = hello(&self.from);
        let timeout = Some(TIMEOUT);
        let connecting =
            AsyncSmtpConnection::connect_tokio1(server, timeout, &hello, wrapped, None);
        let mut connection = connecting.await?;
        *reached = Some(Step::Connected);
        if settings.tls == SmtpTls::StartTls {
            connection.starttls(parameters()?, &hello).await?;
        }
        *reached = Some(Step::Encrypted);
        if let Some(credentials) = settings.credentials() {
            let mechanisms = [Mechanism::Plain, Mechanism::Login];
            connection.auth(&mechanisms, &credentials).await?;
        }
        *reached = Some(Step::SignedIn);
        let sender = Mail::new(Some(self.from.email.clone()), Vec::new());
        connection.command(sender).await?;
        *reached = Some(Step::Sender);
        Ok(connection)
    }

    fn message(&self, letter: &Letter) -> Result<Message, String> {
        let to: Address = letter
            .to
            .parse()
            .map_err(|_| "the address is no e-mail address".to_owned())?;
        let mut message = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .message_id(Some(self.message_id(&letter.id)))
            .subject(&letter.subject);
        if !letter.follows.is_empty() {
            let follows = letter.follows.iter().take(FOLLOWS_MAX);
            let follows = follows.map(String::as_str).collect::<Vec<_>>().join(" ");
            message = message.in_reply_to(follows.clone()).references(follows);
        }
        if let Some(list) = &letter.list {
            let list = format!("<{list}.{}>", self.domain());
            message = message
                .raw_header(HeaderValue::new(LIST_ID, list))
                .raw_header(HeaderValue::new(
                    AUTO_SUBMITTED,
                    "auto-generated".to_owned(),
                ))
                .raw_header(HeaderValue::new(SUPPRESS, "All".to_owned()));
        }
        let message = match (&letter.html, letter.attachments.as_slice()) {
            (None, []) => message.singlepart(SinglePart::plain(letter.text.clone())),
            (Some(html), []) => message.multipart(both(letter, html)),
            (html, files) => {
                let parts = match html {
                    Some(html) => MultiPart::mixed().multipart(both(letter, html)),
                    None => MultiPart::mixed().singlepart(SinglePart::plain(letter.text.clone())),
                };
                message.multipart(with_files(parts, files)?)
            }
        };
        message.map_err(|error| error.to_string())
    }
}

impl SmtpSettings {
    /// Returns the server that a section `smtp` of the configuration describes; `None` if it names no
    /// host.
    pub fn of(section: &Settings<'_>) -> Result<Option<Self>, String> {
        let Some(host) = section.text("host") else {
            return Ok(None);
        };
        let port = section.values.get("port").and_then(Value::as_u64);
        let port = port.and_then(|port| u16::try_from(port).ok());
        let password = section.text("password_env");
        let password = password.map(|_| section.secret("password_env"));
        Ok(Some(Self {
            host,
            port: port.unwrap_or(SmtpTls::StartTls.port()),
            username: section.text("username"),
            password: password.transpose()?,
            from: section.text("from").unwrap_or_default(),
            tls: SmtpTls::of(section.text("tls").as_deref()),
        }))
    }

    /// Whether the server is on this machine.
    pub fn is_local(&self) -> bool {
        matches!(self.host.as_str(), "localhost" | "127.0.0.1" | "::1")
    }

    fn credentials(&self) -> Option<Credentials> {
        let (username, password) = (self.username.clone()?, self.password.clone()?);
        Some(Credentials::new(username, password))
    }
}

fn parameters(settings: &SmtpSettings) -> Result<TlsParameters, String> {
    TlsParameters::new(settings.host.clone()).map_err(|error| error.to_string())
}

fn hello(from: &Mailbox) -> ClientId {
    ClientId::Domain(from.email.domain().to_owned())
}

/// Returns text and HTML of a letter; programs show the last one they can.
fn both(letter: &Letter, html: &str) -> MultiPart {
    MultiPart::alternative_plain_html(letter.text.clone(), html.to_owned())
}

fn with_files(mut parts: MultiPart, files: &[(String, Vec<u8>)]) -> Result<MultiPart, String> {
    let kind = ContentType::parse("application/octet-stream").map_err(|error| error.to_string())?;
    for (name, bytes) in files {
        let file = Attachment::new(name.clone()).body(bytes.clone(), kind.clone());
        parts = parts.singlepart(file);
    }
    Ok(parts)
}

/// Returns what an error of the library means for the letter.
fn failure(error: &lettre::transport::smtp::Error) -> SmtpError {
    let words = words(error);
    if error.is_permanent() || error.is_client() {
        SmtpError::Refused(words)
    } else if error.is_transient() || error.is_tls() {
        SmtpError::NotNow(words)
    } else {
        SmtpError::Unknown(words)
    }
}

/// Returns an error with the causes that the library keeps to itself.
fn words(error: &lettre::transport::smtp::Error) -> String {
    let mut words = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        let more = inner.to_string();
        if !words.contains(&more) {
            words = format!("{words}: {more}");
        }
        cause = inner.source();
    }
    words
}
