//! Looks for the usual mistakes in the setup of an e-mail channel.
//!
//! Separate from the channel: it talks to the mail server as far as needed and sends no letter.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::Url;

use crate::chat::Finding;
use crate::smtp::{Smtp, SmtpError, SmtpTls, Step};

/// How long the page may take to answer.
const PAGE_TIMEOUT: Duration = Duration::from_secs(10);

/// Looks at the mail server and at the address of the page.
pub(super) async fn examine(smtp: &Smtp, page: &Url) -> Vec<Finding> {
    let mut findings = server(smtp).await;
    findings.push(protection(smtp));
    findings.extend(address(page).await);
    findings
}

/// Asks the server whether it takes letters for somebody.
pub(super) async fn examine_account(smtp: &Smtp, person: &str, account: &str) -> Vec<Finding> {
    let check = format!("letters for {person}");
    vec![match smtp.takes(account).await {
        Ok(()) => Finding::good(&check, "the server takes them"),
        Err(SmtpError::Refused(why)) => Finding::bad(
            &check,
            why,
            "is the address right, and may this sender write to it? `countersign people` lists it",
        ),
        Err(SmtpError::NotNow(why) | SmtpError::Unknown(why)) => {
            Finding::doubtful(&check, why, "it is tried again with every letter")
        }
    }]
}

async fn server(smtp: &Smtp) -> Vec<Finding> {
    let settings = smtp.settings();
    let (host, port) = (&settings.host, settings.port);
    let (reached, talked) = smtp.talk().await;
    let came_to = |wanted: Step| reached.is_some_and(|step| step >= wanted);
    let mut findings = Vec::new();
    let rows = [
        (Step::Connected, "server", format!("{host}:{port} answers")),
        (Step::Encrypted, "encryption", "as configured".to_owned()),
        (Step::SignedIn, "sign-in", signed_in(smtp)),
        (
            Step::Sender,
            "sender",
            format!("it takes letters from {}", settings.from),
        ),
    ];
    for (wanted, check, found) in rows {
        if came_to(wanted) {
            findings.push(Finding::good(check, found));
            continue;
        }
        let why = match &talked {
            Ok(()) => String::new(),
            Err(error) => error.to_string(),
        };
        findings.push(Finding::bad(check, why, fix(wanted, settings.tls)));
        // What comes after it was not tried.
        break;
    }
    findings
}

fn signed_in(smtp: &Smtp) -> String {
    match &smtp.settings().username {
        Some(username) => format!("as {username}"),
        None => "the server wants none".to_owned(),
    }
}

/// Returns what to do where a conversation with the server ended before `wanted`.
const fn fix(wanted: Step, tls: SmtpTls) -> &'static str {
    match (wanted, tls) {
        (Step::Connected, SmtpTls::Implicit) => {
            "is the host right, and is it a port with TLS from the beginning (usually 465)? A port with STARTTLS (587) wants \
             `tls: starttls`"
        }
        (Step::Connected, SmtpTls::StartTls | SmtpTls::None) => {
            "is the host right, and is the port open from here? A port with TLS from the beginning (465) wants `tls: implicit`"
        }
        (Step::Encrypted, _) => {
            "does the server offer STARTTLS, and is its certificate for this host and of an authority that this machine trusts?"
        }
        (Step::SignedIn, _) => {
            "are `username` and the password right? Providers with two-factor sign-in want an app password"
        }
        (Step::Sender, _) => {
            "may this account send as `from`? If the server wants a sign-in, set `username` and `password_env`"
        }
    }
}

fn protection(smtp: &Smtp) -> Finding {
    let settings = smtp.settings();
    if settings.tls == SmtpTls::None && !settings.is_local() {
        return Finding::doubtful(
            "protection",
            "letters travel in the clear to the server",
            "set `tls: starttls` or `tls: implicit`",
        );
    }
    Finding::good(
        "protection",
        "nobody between here and the server reads letters",
    )
}

/// Looks whether the links in letters lead to the page.
async fn address(page: &Url) -> Vec<Finding> {
    if is_loopback(page) {
        return vec![Finding::doubtful(
            "page",
            format!("{page} opens on this machine only"),
            "set `page_url` to an https address that people's devices reach",
        )];
    }
    let fix = "does `page_url` lead to this gateway, and is its name in `api.hosts`? It may still be reachable for others";
    let client = match crate::http().timeout(PAGE_TIMEOUT).build() {
        Ok(client) => client,
        Err(error) => return vec![Finding::doubtful("page", error.to_string(), fix)],
    };
    let Ok(health) = page.join("/health") else {
        return vec![Finding::bad("page", "its address is invalid", fix)];
    };
    vec![match client.get(health).send().await {
        Ok(response) if response.status().is_success() => {
            Finding::good("page", format!("{page} answers"))
        }
        Ok(response) => {
            let found = format!("{page} responded with {}", response.status());
            Finding::doubtful("page", found, fix)
        }
        Err(error) => {
            let found = format!("{page}: {}", crate::words(&error.without_url()));
            Finding::doubtful("page", found, fix)
        }
    }]
}

fn is_loopback(page: &Url) -> bool {
    let host = page.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|it| it.is_loopback())
}
