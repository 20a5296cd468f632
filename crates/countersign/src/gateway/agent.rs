//! Builds the agent from the configuration: model, tools, limits.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_agent::auxiliary::{Accounts, Router, RouterParts, TASK_TIME};
use countersign_agent::model::{Client, Endpoint, Limits, Usage};
use countersign_agent::outbound::{
    Approval, Chat, Cleared, Contacts, Mail, Mailer, Messenger, SendFailed,
};
use countersign_agent::second_reader::{self, ModelReader};
use countersign_agent::smart::Reviewer;
use countersign_agent::toolbox::Toolbox;
use countersign_agent::tools::{
    Clarify, HttpRequest, Patch, Processes, Processing, ReadFile, SearchFiles, SendEmail,
    SendMessage, Terminal, Todo, Tool, WriteFile,
};
use countersign_agent::{Agent, AgentParts, BoxFuture, CrisisNotices, Models, RunLimits};
use countersign_channels::platform::Settings;
use countersign_channels::smtp::{Letter, Smtp, SmtpError, SmtpSettings};
use countersign_channels::{Channel, DeliveryError};
use countersign_core::policy::Policy;
use countersign_gate::Gate;
use serde_json::Value;

use super::models::FileModels;
use crate::complaint::Complaint;
use crate::config::Home;
use crate::config::read::at;
use crate::config::schema::seconds;

/// Returns the agent that `values` describe, and appoints who answers in smart mode.
pub(crate) fn build(
    gate: &Gate,
    home: &Home,
    values: &Value,
    policy: &Policy,
    channels: Vec<Arc<dyn Channel>>,
) -> Result<Agent, Complaint> {
    let main = endpoint(at(values, "agent"), "agent", None)?;
    if let Some(router) = router(gate, values, main.as_ref())? {
        gate.appoint(Arc::new(Reviewer::new(router)));
    }
    // A gateway does not start with a model it cannot use.
    model(values)?;
    let models: Arc<dyn Models> = Arc::new(FileModels::new(home.clone()));
    let reader = second_reader(values, main.as_ref())?;
    gate.appoint_reader(Arc::new(ModelReader::new(
        gate.downgrade(),
        reader,
        Arc::clone(&models),
        second_reader::READ_TIME,
    )));
    Ok(Agent::new(AgentParts {
        gate: gate.clone(),
        models,
        tools: tools(values, policy, channels)?,
        limits: limits(values),
        cwd: directory(values)?,
        crisis_notices: CrisisNotices {
            asked: policy.crisis_notice.clone(),
            unreachable: policy.crisis_notice_unreachable.clone(),
        },
    }))
}

/// Returns the model that `values` name for the agent itself; `None` if they name none.
pub(super) fn model(values: &Value) -> Result<Option<Client>, Complaint> {
    let main = endpoint(at(values, "agent"), "agent", None)?;
    main.map(|endpoint| Client::new(endpoint, Limits::default()))
        .transpose()
        .map_err(|error| wrong("agent", &error.to_string()))
}

/// Returns where the model of `value` is; `None` if nothing is said. What a task leaves out is as
/// for the agent itself.
fn endpoint(
    value: &Value,
    key: &str,
    like: Option<&Endpoint>,
) -> Result<Option<Endpoint>, Complaint> {
    let text = |name: &str| at(value, name).as_str().filter(|text| !text.is_empty());
    let base_url = text("base_url").or(like.map(|it| it.base_url.as_str()));
    let model = text("model").or(like.map(|it| it.model.as_str()));
    let (Some(base_url), Some(model)) = (base_url, model) else {
        return match text("base_url").or(text("model")) {
            Some(_) => Err(wrong(key, "it needs both `base_url` and `model`")),
            None => Ok(None),
        };
    };
    let api_key = match text("api_key_env") {
        Some(variable) => Some(secret(key, variable)?),
        // A key is for the server it was given for.
        None if text("base_url").is_none() => like.and_then(|it| it.api_key.clone()),
        None => None,
    };
    Ok(Some(Endpoint {
        base_url: base_url.to_owned(),
        model: model.to_owned(),
        api_key,
    }))
}

/// Returns who asks models for side tasks, if any are configured for that.
fn router(
    gate: &Gate,
    values: &Value,
    main: Option<&Endpoint>,
) -> Result<Option<Router>, Complaint> {
    let mut chain = Vec::new();
    let items = at(values, "auxiliary.chain").as_array();
    for (number, item) in items.into_iter().flatten().enumerate() {
        let key = format!("auxiliary.chain[{number}]");
        chain.extend(endpoint(item, &key, None)?);
    }
    let mut tasks = std::collections::BTreeMap::new();
    let named = at(values, "auxiliary.tasks").as_object();
    for (task, item) in named.into_iter().flatten() {
        let key = format!("auxiliary.tasks.{task}");
        if task == second_reader::TASK {
            // It has no fallback: who was not examined does not read.
            continue;
        }
        if let Some(endpoint) = endpoint(item, &key, main)? {
            tasks.insert(task.clone(), endpoint);
        }
    }
    if chain.is_empty() && tasks.is_empty() {
        return Ok(None);
    }
    let parts = RouterParts {
        tasks,
        chain,
        main: main.cloned(),
        accounts: Arc::new(Ledgered(gate.clone())),
        clock: gate.clock().clone(),
        time: TASK_TIME,
    };
    let router = Router::new(parts).map_err(|error| wrong("auxiliary", &error.to_string()))?;
    Ok(Some(router))
}

/// Returns the model of the task `crisis`, if it is configured.
fn second_reader(values: &Value, main: Option<&Endpoint>) -> Result<Option<Client>, Complaint> {
    let key = format!("auxiliary.tasks.{}", second_reader::TASK);
    let item = at(values, &key);
    if item.is_null() {
        return Ok(None);
    }
    let Some(endpoint) = endpoint(item, &key, main)? else {
        return Err(wrong(&key, "it names no model, and the agent has none"));
    };
    let limits = Limits {
        retries: 0,
        ..Limits::default()
    };
    let client = Client::new(endpoint, limits);
    client
        .map(Some)
        .map_err(|error| wrong(&key, &error.to_string()))
}

/// Keeps what models cost where the agent's own costs are kept.
#[derive(Debug)]
struct Ledgered(Gate);

impl Accounts for Ledgered {
    fn record(&self, task: &str, model: &str, usage: Usage) {
        let gate = self.0.clone();
        let (task, model) = (task.to_owned(), model.to_owned());
        tokio::spawn(async move {
            let Usage {
                prompt_tokens,
                completion_tokens,
            } = usage;
            let recorded = gate.record_usage(&task, &model, prompt_tokens, completion_tokens);
            if let Err(error) = recorded.await {
                tracing::warn!(%error, task, "what a model cost could not be kept");
            }
        });
    }
}

fn tools(
    values: &Value,
    policy: &Policy,
    channels: Vec<Arc<dyn Channel>>,
) -> Result<Toolbox, Complaint> {
    let approval = |tool: &str| {
        if policy.waives(tool) {
            Approval::Waived
        } else {
            Approval::Required
        }
    };
    let processes = Arc::new(Processes::default());
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile),
        Arc::new(WriteFile),
        Arc::new(Patch),
        Arc::new(SearchFiles),
        Arc::new(Clarify),
        Arc::new(Todo::default()),
    ];
    match Terminal::new(Arc::clone(&processes)) {
        Ok(terminal) => {
            tools.push(Arc::new(terminal));
            tools.push(Arc::new(Processing::new(processes)));
        }
        Err(why) => tracing::warn!(why, "the agent has no terminal"),
    }
    match HttpRequest::new(approval("http_request")) {
        Ok(http) => tools.push(Arc::new(http)),
        Err(why) => tracing::warn!(why, "the agent makes no web requests"),
    }
    let contacts = contacts(values)?;
    if !channels.is_empty() {
        let chats = Arc::new(Chats(channels));
        let approval = approval("send_message");
        tools.push(Arc::new(SendMessage::new(
            Arc::clone(&contacts),
            chats,
            approval,
        )));
    }
    if let Some(smtp) = smtp(values)? {
        let approval = approval("send_email");
        tools.push(Arc::new(SendEmail::new(contacts, Arc::new(smtp), approval)));
    }
    Ok(Toolbox::new(tools))
}

/// Sends messages through the channels of the configuration.
#[derive(Debug)]
struct Chats(Vec<Arc<dyn Channel>>);

impl Messenger for Chats {
    fn send(&self, message: Cleared<Chat>) -> BoxFuture<'_, Result<(), SendFailed>> {
        Box::pin(async move {
            let chat = message.content();
            let channel = self.0.iter().find(|it| it.name() == chat.channel());
            let channel = channel.ok_or_else(|| {
                SendFailed::NotSent(format!("there is no channel `{}`", chat.channel()))
            })?;
            let sent = channel.send(chat.address(), &chat.text, message.key());
            sent.await.map_err(|error| match error {
                DeliveryError::Never { why, .. } => SendFailed::NotSent(why),
                // It may have arrived before the connection broke.
                DeliveryError::Later { why, .. } => SendFailed::Unknown(why),
            })
        })
    }
}

fn contacts(values: &Value) -> Result<Arc<Contacts>, Complaint> {
    let named = at(values, "contacts").as_object().into_iter().flatten();
    let named = named.map(|(name, reach)| {
        let reach = reach
            .as_str()
            .map_or_else(|| reach.to_string(), str::to_owned);
        (name.clone(), reach)
    });
    let contacts = Contacts::new(named);
    contacts.map(Arc::new).map_err(|why| {
        let hint = "a contact is an e-mail address or CHANNEL:ADDRESS";
        Complaint::usage(why, hint)
    })
}

/// Sends mail through the server of the configuration.
#[derive(Debug)]
struct Post(Smtp);

impl Mailer for Post {
    fn send(&self, mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>> {
        Box::pin(async move {
            let content = mail.content();
            let name = |path: &String| {
                let name = Path::new(path).file_name().unwrap_or_default();
                name.to_string_lossy().into_owned()
            };
            let names = content.attachments.iter().map(name);
            let letter = Letter {
                to: content.address().to_owned(),
                subject: content.subject.clone(),
                text: content.body.clone(),
                attachments: names.zip(mail.attachments().iter().cloned()).collect(),
                id: mail.key().to_owned(),
                ..Letter::default()
            };
            let sent = self.0.send(&letter).await;
            sent.map_err(|error| match error {
                SmtpError::Refused(why) | SmtpError::NotNow(why) => SendFailed::NotSent(why),
                SmtpError::Unknown(why) => SendFailed::Unknown(why),
            })
        })
    }
}

fn smtp(values: &Value) -> Result<Option<Post>, Complaint> {
    let section = Settings {
        name: "smtp",
        values: at(values, "smtp"),
        accounts: Vec::new(),
        variables: BTreeMap::new(),
    };
    let settings = SmtpSettings::of(&section);
    let smtp = settings.and_then(|settings| settings.map(Smtp::new).transpose());
    let smtp = smtp.map_err(|why| wrong("smtp", &why))?;
    Ok(smtp.map(Post))
}

fn limits(values: &Value) -> RunLimits {
    let usual = RunLimits::default();
    let count = |name: &str| at(values, &format!("agent.{name}")).as_u64();
    let time = seconds(at(values, "agent.max_time"));
    RunLimits {
        steps: count("max_steps")
            .and_then(|steps| u32::try_from(steps).ok())
            .unwrap_or(usual.steps),
        tokens: count("max_tokens").unwrap_or(usual.tokens),
        time: time.map_or(usual.time, Duration::from_secs_f64),
        context_bytes: count("context_bytes")
            .and_then(|bytes| usize::try_from(bytes).ok())
            .unwrap_or(usual.context_bytes),
        answer_tokens: count("answer_tokens")
            .and_then(|tokens| u32::try_from(tokens).ok())
            .unwrap_or(usual.answer_tokens),
    }
}

/// Returns the directory runs work in that name none, written out: tools follow no links.
fn directory(values: &Value) -> Result<PathBuf, Complaint> {
    let named = at(values, "agent.cwd").as_str();
    let named = named.filter(|path| !path.is_empty()).map(PathBuf::from);
    let directory = named.map_or_else(std::env::current_dir, |path| path.canonicalize());
    directory
        .and_then(|directory| directory.canonicalize())
        .map_err(|error| wrong("agent.cwd", &error.to_string()))
}

fn secret(key: &str, variable: &str) -> Result<String, Complaint> {
    std::env::var(variable)
        .map_err(|_| wrong(key, &format!("the variable `{variable}` is not set")))
}

fn wrong(key: &str, why: &str) -> Complaint {
    let hint = "`countersign config list` prints the configuration";
    Complaint::usage(format!("`{key}` cannot be used: {why}"), hint)
}
