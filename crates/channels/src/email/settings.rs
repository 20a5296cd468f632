//! The settings of an e-mail channel, and its row in the registry.
//!
//! Separate from the channel itself, which does not care where its settings come from.

use std::sync::Arc;

use serde_json::Value;

use super::{EMAIL, Email, EmailSettings, Pace};
use crate::Shows;
use crate::notifier::{Borrowed, Notifier, NotifierKind};
use crate::platform::{PAGE, Question, Settings, Wants};
use crate::smtp::{SmtpSettings, SmtpTls};

/// The section that describes the mail server of the built-in agent, which letters use, too.
const SMTP: &str = "smtp";

/// The row of e-mail in the registry.
pub(crate) const KIND: NotifierKind = NotifierKind {
    name: EMAIL,
    needs: "it needs `type: email`, `page_url`, where people open this page, and a mail server: the one of `smtp`, or `server` \
            (HOST:PORT), `tls`, `from`, and `username` and `password_env` if it wants them",
    build,
    questions: &[
        PAGE,
        Question {
            how: "Letters leave through a mail server that takes them from you: your provider calls it *SMTP* or *outgoing* server.",
            ask: "Its name, and its port if it is not the usual one, such as mail.example.org:587",
            key: "server",
            wants: Wants::Text,
        },
        Question {
            how: "How the connection is protected: `starttls` (usually port 587), `implicit` (usually port 465), or `none` for a \
                  server on this machine.",
            ask: "starttls, implicit or none (empty: starttls)",
            key: "tls",
            wants: Wants::Maybe,
        },
        Question {
            how: "The address that letters come from. The server must accept it from you.",
            ask: "The sender, such as Countersign <gate@example.org>",
            key: "from",
            wants: Wants::Text,
        },
        Question {
            how: "Use an account of its own, which agents do not know.",
            ask: "The name to sign in with (empty: the server wants none)",
            key: "username",
            wants: Wants::Maybe,
        },
        Question {
            how: "Providers with two-factor sign-in want an *app password*.",
            ask: "The password (empty: the server wants none)",
            key: "password_env",
            wants: Wants::MaybeSecret("COUNTERSIGN_SMTP_PASSWORD"),
        },
    ],
    account: "their e-mail address",
    borrows: Some(Borrowed {
        section: SMTP,
        has: "host",
        spares: &["server", "tls", "from", "username", "password_env"],
    }),
};

fn build(settings: &Settings<'_>) -> Result<Arc<dyn Notifier>, String> {
    let own = settings.text("server");
    let nothing = Value::Null;
    let shared = settings.values.get(SMTP).unwrap_or(&nothing);
    let smtp = match &own {
        Some(server) => of_channel(settings, server)?,
        None => of_section(settings, shared)?,
    };
    let mut pace = Pace::default();
    if let Some(every) = settings.time("digest_every")? {
        pace.every = every;
    }
    Ok(Arc::new(Email::new(EmailSettings {
        name: settings.name.to_owned(),
        smtp,
        page_url: settings.text("page_url").unwrap_or_default(),
        shows: Shows::of(settings.text("show").as_deref()).unwrap_or(Shows::What),
        follow_up: settings.flag("follow_up"),
        pace,
        accounts: settings.accounts.clone(),
    })?))
}

/// Returns the server that the channel itself names.
fn of_channel(settings: &Settings<'_>, server: &str) -> Result<SmtpSettings, String> {
    let tls = SmtpTls::of(settings.text("tls").as_deref());
    let (host, port) = match server.rsplit_once(':') {
        Some((host, port)) => {
            let port = port
                .parse()
                .map_err(|_| "the port of `server` is no number");
            (host, port?)
        }
        None => (server, tls.port()),
    };
    let password = settings.text("password_env");
    let password = password.map(|_| settings.secret("password_env"));
    Ok(SmtpSettings {
        host: host.to_owned(),
        port,
        username: settings.text("username"),
        password: password.transpose()?,
        from: settings.text("from").unwrap_or_default(),
        tls,
    })
}

/// Returns the server of the section that the built-in agent uses, too.
fn of_section(settings: &Settings<'_>, section: &Value) -> Result<SmtpSettings, String> {
    let shared = Settings {
        values: section,
        ..settings.clone()
    };
    let smtp = SmtpSettings::of(&shared)?;
    let mut smtp = smtp.ok_or_else(|| "there is no mail server".to_owned())?;
    if let Some(from) = settings.text("from") {
        smtp.from = from;
    }
    Ok(smtp)
}
