//! Sends mail by SMTP: one connection per mail, no retry, no header injection.

use std::path::Path;
use std::time::Duration;

use lettre::message::header::ContentType;
use lettre::message::{Attachment, Mailbox, Message, MultiPart, SinglePart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls, TlsParameters};
use lettre::transport::smtp::extension::ClientId;
use lettre::{Address, AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};

use super::{Cleared, Mail, Mailer, SendFailed};
use crate::BoxFuture;

/// How long the server may take for one step.
const TIMEOUT: Duration = Duration::from_secs(30);

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

/// Sends mail by SMTP.
#[derive(Clone, Debug)]
pub struct Smtp {
    transport: AsyncSmtpTransport<Tokio1Executor>,
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
        let tls = || TlsParameters::new(settings.host.clone()).map_err(|error| error.to_string());
        let protection = match settings.tls {
            SmtpTls::StartTls => Tls::Required(tls()?),
            SmtpTls::Implicit => Tls::Wrapper(tls()?),
            SmtpTls::None => Tls::None,
        };
        let is_local = matches!(settings.host.as_str(), "localhost" | "127.0.0.1" | "::1");
        if settings.tls == SmtpTls::None && settings.password.is_some() && !is_local {
            return Err("a password is not sent over an unprotected connection".to_owned());
        }
        let domain = from.email.domain().to_owned();
        let mut transport = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(&settings.host)
            .port(settings.port)
            .tls(protection)
            .hello_name(ClientId::Domain(domain))
            .timeout(Some(TIMEOUT));
        match (settings.username, settings.password) {
            (Some(username), Some(password)) => {
                transport = transport.credentials(Credentials::new(username, password));
            }
            (None, None) => {}
            (Some(_), None) => return Err("`username` needs a password".to_owned()),
            (None, Some(_)) => return Err("a password needs `username`".to_owned()),
        }
        Ok(Self {
            transport: transport.build(),
            from,
        })
    }

    fn letter(&self, mail: &Cleared<Mail>) -> Result<Message, String> {
        let content = mail.content();
        let to: Address = content
            .address()
            .parse()
            .map_err(|_| "the address cannot be used".to_owned())?;
        let domain = self.from.email.domain();
        let letter = Message::builder()
            .from(self.from.clone())
            .to(Mailbox::new(None, to))
            .message_id(Some(format!("<{}@{domain}>", mail.key())))
            .subject(&content.subject);
        let text = SinglePart::plain(content.body.clone());
        let letter = if mail.attachments().is_empty() {
            letter.singlepart(text)
        } else {
            let kind = ContentType::parse("application/octet-stream")
                .map_err(|error| error.to_string())?;
            let mut parts = MultiPart::mixed().singlepart(text);
            for (path, bytes) in content.attachments.iter().zip(mail.attachments()) {
                let name = Path::new(path).file_name().unwrap_or_default();
                let name = name.to_string_lossy().into_owned();
                parts = parts.singlepart(Attachment::new(name).body(bytes.clone(), kind.clone()));
            }
            letter.multipart(parts)
        };
        letter.map_err(|error| error.to_string())
    }
}

impl Mailer for Smtp {
    fn send(&self, mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>> {
        Box::pin(async move {
            let letter = self.letter(&mail).map_err(SendFailed::NotSent)?;
            match self.transport.send(letter).await {
                Ok(_) => Ok(()),
                // The server said no, or we never came as far as handing it over.
                Err(error)
                    if error.is_permanent()
                        || error.is_transient()
                        || error.is_client()
                        || error.is_tls() =>
                {
                    Err(SendFailed::NotSent(error.to_string()))
                }
                Err(error) => Err(SendFailed::Unknown(error.to_string())),
            }
        })
    }
}
