//! `countersign channels add`: asks what a platform needs, checks it, and writes it down.
//!
//! Separate from the commands that ask a gateway: this works before there is one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_channels::chat::{Chat, Finding, State};
use countersign_channels::notifier::{Notifier, NotifierKind};
use countersign_channels::platform::{Platform, Question, Settings, Wants};
use countersign_channels::registry::{self, NOTIFIERS, PLATFORMS};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Map, Value, json};

use super::{channels, line, test};
use crate::cli::Channels;
use crate::client::{Client, Reach};
use crate::complaint::Complaint;
use crate::config::borrowed::with_borrowed;
use crate::config::entries::{add_section, has};
use crate::config::{self, Home};
use crate::show::{print, table, text};

/// How often it is looked whether the gateway uses the channel.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// What the command line says.
pub(super) struct Wanted<'a> {
    pub(super) platform: &'a str,
    pub(super) name: Option<&'a str>,
    pub(super) set: &'a [String],
    pub(super) wait: u32,
}

/// What was answered.
#[derive(Default)]
struct Answers {
    /// The section of the channel.
    section: Map<String, Value>,
    /// Secrets, by the variable the gateway finds them in.
    secrets: BTreeMap<String, String>,
}

/// What can be added.
#[derive(Clone, Copy)]
enum Kind {
    /// A chat.
    Chat(&'static Platform),
    /// A channel that only tells.
    Notifier(&'static NotifierKind),
}

/// A channel as it was answered so far.
enum Built {
    Chat(Arc<dyn Chat>),
    Notifier(Arc<dyn Notifier>),
}

impl Kind {
    fn of(name: &str) -> Option<Self> {
        let notifier = || registry::notifier(name).map(Self::Notifier);
        registry::platform(name).map(Self::Chat).or_else(notifier)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Chat(platform) => platform.name,
            Self::Notifier(kind) => kind.name,
        }
    }

    const fn needs(self) -> &'static str {
        match self {
            Self::Chat(platform) => platform.needs,
            Self::Notifier(kind) => kind.needs,
        }
    }

    const fn account(self) -> &'static str {
        match self {
            Self::Chat(platform) => platform.account,
            Self::Notifier(kind) => kind.account,
        }
    }

    /// Returns what is asked, without what `config` says already.
    fn questions(self, config: &Value) -> Vec<&'static Question> {
        match self {
            Self::Chat(platform) => platform.questions.iter().collect(),
            Self::Notifier(kind) => {
                let borrowed = kind.borrows.filter(|it| {
                    let section = config.get(it.section);
                    let host = section.and_then(|section| section.get(it.has));
                    host.is_some_and(Value::is_string)
                });
                let is_spared =
                    |key: &str| borrowed.is_some_and(|borrowed| borrowed.spares.contains(&key));
                let questions = kind.questions.iter();
                questions.filter(|it| !is_spared(it.key)).collect()
            }
        }
    }
}

impl Built {
    async fn examine(&self) -> Vec<Finding> {
        match self {
            Self::Chat(chat) => chat.examine().await,
            Self::Notifier(notifier) => notifier.examine().await,
        }
    }
}

/// Asks, checks, writes, and sends a practice card once the gateway uses the channel.
pub(super) fn add(
    args: &Channels,
    reach: &Reach,
    wanted: &Wanted<'_>,
) -> Result<ExitCode, Complaint> {
    let wait = wanted.wait;
    let Some(kind) = Kind::of(wanted.platform) else {
        let known = PLATFORMS.iter().map(|it| it.name);
        let known: Vec<&str> = known.chain(NOTIFIERS.iter().map(|it| it.name)).collect();
        let hint = format!("there are: {}", known.join(", "));
        let message = format!("`{}` is no kind of channel", text(wanted.platform));
        return Err(Complaint::usage(message, hint));
    };
    let name = wanted.name.unwrap_or(kind.name());
    let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    if name.is_empty() || !name.chars().all(fits) {
        let message = format!("`{}` cannot be the name of a channel", text(name));
        return Err(Complaint::usage(message, "letters, digits, `-` and `_`"));
    }
    let home = Home::new(reach.home.clone())?;
    if has(&home, &format!("channels.{name}"))? {
        let message = format!("there is a channel `{name}` already");
        let hint = format!("`countersign channels doctor {name}` checks it; --name adds another");
        return Err(Complaint::usage(message, hint));
    }
    let config = config::values(&home.file())?.unwrap_or(Value::Null);
    let answers = ask(kind, name, wanted.set, &config)?;
    // It is spoken to before anything is written.
    let channel = built(kind, name, &answers, &config)?;
    let findings = waited_for(channel.examine())?;
    for finding in &findings {
        say(&line(finding))?;
    }
    if findings.iter().any(|finding| finding.state == State::Bad) {
        let hint = "nothing was written; do what the arrows say and try again";
        return Err(Complaint::failed("it does not work like this", hint));
    }
    say(&format!(
        "To answer, somebody must be listed: {}.\n",
        kind.account()
    ))?;
    let account = read("Your account's id, to list you as an approver (empty: later)")?;
    let person = match account.as_str() {
        "" => None,
        account => Some((read("Your name on cards")?, account.to_owned())),
    };
    add_section(&home, &format!("channels.{name}"), &answers.section)?;
    say(&next_steps(&home, name, &answers, wait))?;
    if wait == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    let Some(client) = gateway_with(reach, name, Duration::from_secs(wait.into())) else {
        let hint =
            format!("start it, then `countersign channels test {name}` sends a practice card");
        let message = format!("no gateway uses `{name}` yet");
        return Err(Complaint::failed(message, hint));
    };
    if let Some((person, account)) = person {
        let body = json!({ "name": person, "roles": ["approver"], "accounts": { name: account } });
        client.post("/v1/people", &body)?;
    }
    test(args, &client, name, wait)
}

fn ask(kind: Kind, name: &str, set: &[String], config: &Value) -> Result<Answers, Complaint> {
    let mut answers = Answers::default();
    answers.keep("type", kind.name());
    for pair in set {
        let (key, value) = pair.split_once('=').ok_or_else(|| {
            let message = format!("`{}` is not KEY=VALUE", text(pair));
            Complaint::usage(message, "such as --set url=https://chat.example.org")
        })?;
        answers.keep(key, value);
    }
    let mut open = kind.questions(config);
    open.retain(|it| !answers.section.contains_key(it.key));
    for (number, question) in (1..).zip(open) {
        say(&format!("\n{number}. {}\n", question.how))?;
        match question.wants {
            Wants::Secret(variable) => {
                let secret = secret(question.ask, variable, wanted)?;
                answers.keep_secret(question.key, variable, secret);
            }
            Wants::MaybeSecret(variable) => {
                let secret = secret(question.ask, variable, read)?;
                if !secret.is_empty() {
                    answers.keep_secret(question.key, variable, secret);
                }
            }
            Wants::Text => answers.keep(question.key, &wanted(question.ask)?),
            Wants::Maybe | Wants::Met => {
                if question.wants == Wants::Met {
                    meet(kind, name, &answers, config)?;
                }
                match read(question.ask)?.as_str() {
                    "" => {}
                    text => answers.keep(question.key, text),
                }
            }
        }
    }
    Ok(answers)
}

impl Answers {
    fn keep(&mut self, key: &str, value: &str) {
        let value = Value::String(value.to_owned());
        self.section.insert(key.to_owned(), value);
    }

    fn keep_secret(&mut self, key: &str, variable: &str, secret: String) {
        self.keep(key, variable);
        self.secrets.insert(variable.to_owned(), secret);
    }
}

/// Returns a secret: the one in its variable, or what is typed.
fn secret(
    what: &str,
    variable: &str,
    ask: fn(&str) -> Result<String, Complaint>,
) -> Result<String, Complaint> {
    match std::env::var(variable) {
        Ok(secret) if !secret.is_empty() => {
            say(&format!("{what}: taken from ${variable}\n"))?;
            Ok(secret)
        }
        Ok(_) | Err(_) => unseen(what, ask),
    }
}

/// Lists whom and what the bot has met by now.
fn meet(kind: Kind, name: &str, answers: &Answers, config: &Value) -> Result<(), Complaint> {
    // What is wrong by now is said before anything is to be done.
    let Built::Chat(chat) = built(kind, name, answers, config)? else {
        return Ok(());
    };
    read("Press Enter when you have")?;
    let met = waited_for(chat.met())?;
    let rows: Vec<Vec<String>> = met
        .iter()
        .map(|it| vec![text(&it.id), text(&it.what)])
        .collect();
    if rows.is_empty() {
        return say("The bot has met nobody yet.\n");
    }
    say(&table(&["id", "account or channel"], &rows))
}

/// Returns the channel as it was answered so far.
fn built(kind: Kind, name: &str, answers: &Answers, config: &Value) -> Result<Built, Complaint> {
    let values = Value::Object(answers.section.clone());
    let values = match kind {
        Kind::Chat(_) => values,
        Kind::Notifier(kind) => with_borrowed(kind, &values, config),
    };
    let settings = Settings {
        name,
        values: &values,
        accounts: vec![name.to_owned()],
        variables: answers.secrets.clone(),
    };
    let built = match kind {
        Kind::Chat(platform) => (platform.build)(settings).map(Built::Chat),
        Kind::Notifier(kind) => (kind.build)(&settings).map(Built::Notifier),
    };
    built.map_err(|why| Complaint::usage(format!("it cannot be used: {why}"), kind.needs()))
}

fn waited_for<T>(asked: impl Future<Output = T>) -> Result<T, Complaint> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Complaint::failed(error.to_string(), ""))?;
    Ok(runtime.block_on(asked))
}

/// Returns what is left to do. A secret is not repeated.
fn next_steps(home: &Home, name: &str, answers: &Answers, wait: u32) -> String {
    let mut steps = format!("\n`channels.{name}` is in {}. ", home.file().display());
    steps.push_str("Start the gateway again with what you typed in its environment:\n\n");
    for variable in answers.secrets.keys() {
        let _infallible = writeln!(steps, "  export {variable}=…");
    }
    steps.push_str("  countersign serve\n\n");
    if wait == 0 {
        let _infallible = writeln!(
            steps,
            "`countersign channels test {name}` then sends a practice card."
        );
    } else {
        steps.push_str("A practice card follows as soon as it runs.\n");
    }
    steps
}

/// Waits for a gateway that uses the channel. In a new home there is none to speak to at first.
fn gateway_with(reach: &Reach, name: &str, patience: Duration) -> Option<Client> {
    let since = Instant::now();
    while since.elapsed() < patience {
        if let Ok(client) = Client::new(reach)
            && channels(&client).is_ok_and(|all| all.iter().any(|it| it.name == name))
        {
            return Some(client);
        }
        std::thread::sleep(LOOK_EVERY);
    }
    None
}

/// Asks until something is answered.
fn wanted(what: &str) -> Result<String, Complaint> {
    loop {
        let answer = read(what)?;
        if !answer.is_empty() {
            return Ok(answer);
        }
    }
}

/// Asks for a secret: what is typed does not appear on the screen.
fn unseen(what: &str, ask: fn(&str) -> Result<String, Complaint>) -> Result<String, Complaint> {
    let failed = |error: Errno| Complaint::failed(error.to_string(), "");
    let stdin = std::io::stdin();
    // Where there is no terminal, nothing is shown either.
    let Ok(before) = tcgetattr(&stdin) else {
        return ask(what);
    };
    let mut unseen = before.clone();
    unseen.local_modes.remove(LocalModes::ECHO);
    tcsetattr(&stdin, OptionalActions::Now, &unseen).map_err(failed)?;
    let answer = ask(what);
    tcsetattr(&stdin, OptionalActions::Now, &before).map_err(failed)?;
    // The end of the line was not shown either.
    say("\n")?;
    answer
}

fn read(what: &str) -> Result<String, Complaint> {
    say(&format!("{what}: "))?;
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match read {
        Ok(1..) => Ok(line.trim().to_owned()),
        Ok(0) => Err(Complaint::usage(
            "nothing was answered",
            "`channels add` asks; run it in a terminal, or give it the answers line by line",
        )),
        Err(error) => Err(Complaint::failed(error.to_string(), "")),
    }
}

fn say(text: &str) -> Result<(), Complaint> {
    // A question ends no line, and would wait for its end unseen.
    print(text)
        .and_then(|()| std::io::stdout().flush())
        .map_err(|error| Complaint::failed(error.to_string(), ""))
}
