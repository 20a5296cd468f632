//! Responses outside the gate: runs and conversations in Hermes' format, and the caller's identity.

use std::borrow::Cow;

use countersign_agent::Agent;
use countersign_agent::toolbox::Skill;
use countersign_channels::chat::Finding;
use countersign_core::status::{Ended, RunPhase, RunStatus};
use countersign_core::tier::Tier;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::clarifications::ClarificationView;
use countersign_gate::records::event::Usage;
use countersign_gate::records::schema;
use countersign_gate::records::view::ApprovalView;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// The principal of the request.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Identity {
    /// The key in use.
    pub(crate) key_id: String,
    /// Its name; of a person's key the person's.
    pub(crate) name: String,
    /// Its role.
    pub(crate) role: Role,
    /// Where: `page`, `terminal`, `cli`, `socket`, `api`, or the name of a channel.
    pub(crate) via: String,
    /// How far an agent could pretend to be this one.
    #[schema(value_type = schema::Tier)]
    pub(crate) tier: Tier,
}

impl From<&Principal> for Identity {
    fn from(who: &Principal) -> Self {
        Self {
            key_id: who.key.0.clone(),
            name: who.name.clone(),
            role: who.role,
            via: who.via.clone(),
            tier: who.tier,
        }
    }
}

/// A code that signs a browser in, once.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct LoginCode {
    /// The code.
    pub(crate) code: String,
    /// As the end of a link.
    pub(crate) fragment: String,
    /// For how many seconds it works.
    pub(crate) expires_in: u32,
}

/// How devices are told.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct PushView {
    /// The public key that a browser subscribes for, in base64url.
    pub(crate) public_key: String,
    /// Whether a notification says what waits, and not only that something does.
    pub(crate) shows_what: bool,
}

/// One run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunView {
    /// `hermes.run`.
    pub(crate) object: Cow<'static, str>,
    /// The run.
    pub(crate) run_id: String,
    /// `started`, `running`, `waiting_for_approval`, `stopping`, `completed`, `failed` or
    /// `cancelled`.
    #[schema(value_type = String)]
    pub(crate) status: RunPhase,
    /// When it last changed, in seconds.
    pub(crate) updated_at: f64,
    /// When it began, in seconds.
    pub(crate) created_at: f64,
    /// The conversation it belongs to.
    pub(crate) session_id: String,
    /// The model; null for the run of another agent.
    pub(crate) model: Option<String>,
    /// The last event.
    pub(crate) last_event: Option<String>,
    /// Its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// Its token usage.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) usage: Option<Usage>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<String>,
    /// The person who started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_by: Option<String>,
    /// The directory it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<String>,
    /// What the person said meanwhile and the agent has not read yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) unread: Vec<String>,
    /// Questions that wait, of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_approvals: Option<Vec<ApprovalView>>,
    /// What its agent asks people, of one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) pending_clarifications: Option<Vec<ClarificationView>>,
}

/// Runs, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunList {
    /// The items of this page.
    pub(crate) runs: Vec<RunView>,
    /// The value of `behind` for the next page; null at the end.
    pub(crate) next: Option<String>,
}

/// The status of a run.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct RunStanding {
    /// The run.
    pub(crate) run_id: String,
    /// `started`, `stopping`, or how it ended.
    #[schema(value_type = String)]
    pub(crate) status: RunPhase,
}

/// One conversation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SessionView {
    /// The conversation.
    pub(crate) session_id: String,
    /// Who began it.
    pub(crate) started_by: String,
    /// The model.
    pub(crate) model: String,
    /// How many runs it has.
    pub(crate) runs: u64,
    /// The last of them.
    pub(crate) last_run: String,
    /// How that one stands.
    #[schema(value_type = String)]
    pub(crate) status: RunStatus,
    /// When it began, in seconds.
    pub(crate) created_at: f64,
    /// When it last changed, in seconds.
    pub(crate) updated_at: f64,
}

/// Conversations, the newest first.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SessionList {
    /// The items of this page.
    pub(crate) sessions: Vec<SessionView>,
    /// Always null.
    pub(crate) next: Option<String>,
}

/// The messages of a conversation.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct MessageList {
    /// The conversation.
    pub(crate) session_id: String,
    /// The oldest first.
    #[schema(value_type = Vec<MessageView>)]
    pub(crate) messages: Vec<Value>,
    /// Always null.
    pub(crate) next: Option<String>,
}

/// One message, in the shape of `OpenAI`'s chat completions.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct MessageView {
    /// `user`, `assistant`, `system` or `tool`.
    pub(crate) role: String,
    /// The text; null if it is not shown.
    pub(crate) content: Option<String>,
    /// Tools the model wants to use.
    pub(crate) tool_calls: Option<Vec<ToolCallView>>,
    /// Which request a tool answers.
    pub(crate) tool_call_id: Option<String>,
    /// How the use of that tool ended; not there in messages of older versions.
    pub(crate) ended: Option<EndedView>,
    /// The run it belongs to.
    #[expect(dead_code, reason = "the page reads it; the terminal does not")]
    pub(crate) run_id: Option<String>,
}

/// The outcome of a tool call, in the same words on every surface.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct EndedView {
    /// The call it was.
    pub(crate) call_id: String,
    /// `done`, `failed`, `denied`, `refused`, `expired`, `withdrawn`, `unknown` or `not_run`.
    #[schema(value_type = String)]
    pub(crate) outcome: Ended,
    /// That, for people.
    pub(crate) words: String,
}

/// A tool the model wants to use.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct ToolCallView {
    /// Names the request.
    pub(crate) id: String,
    /// The tool and its arguments.
    pub(crate) function: FunctionView,
}

/// The tool and its arguments.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct FunctionView {
    /// The tool.
    pub(crate) name: String,
    /// The arguments as JSON text; null where they are not shown.
    pub(crate) arguments: Option<String>,
}

/// What the gateway is and can do.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct Capabilities {
    /// `hermes.api_server.capabilities`.
    pub(crate) object: String,
    /// `countersign`.
    pub(crate) platform: String,
    /// The model of the built-in agent.
    pub(crate) model: String,
    /// The gateway's version.
    pub(crate) version: String,
    /// How clients sign in.
    #[schema(value_type = Object)]
    pub(crate) auth: Value,
    /// What it can do.
    #[schema(value_type = Object)]
    pub(crate) features: Value,
    /// Where.
    #[schema(value_type = Object)]
    pub(crate) endpoints: Value,
    /// What the built-in agent can do; nothing without a model.
    #[serde(default)]
    pub(crate) skills: Vec<SkillView>,
}

/// Something the built-in agent can do.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct SkillView {
    /// The tool.
    pub(crate) name: String,
    /// What it does, in a sentence.
    pub(crate) does: String,
    /// Whether a person is asked before it runs.
    pub(crate) asks: String,
}

impl SkillView {
    /// Returns what `agent` can do.
    pub(crate) fn of(agent: &Agent) -> Vec<Self> {
        if agent.model().is_none() {
            return Vec::new();
        }
        let skills = agent.tools().skills().into_iter();
        let view = |skill: Skill| Self {
            name: skill.name,
            does: skill.does,
            asks: skill.asks.words().to_owned(),
        };
        skills.map(view).collect()
    }
}

/// Models, in the shape of `OpenAI`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ModelList {
    /// `list`.
    pub(crate) object: String,
    /// The models of the built-in agent, the usual one first.
    pub(crate) data: Vec<ModelView>,
}

/// A model, in the shape of `OpenAI`.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(crate) struct ModelView {
    /// Its name.
    pub(crate) id: String,
    /// `model`.
    pub(crate) object: String,
    /// Now, in seconds.
    pub(crate) created: i64,
    /// `countersign`.
    pub(crate) owned_by: String,
    /// Always empty.
    #[schema(value_type = Vec<Object>)]
    pub(crate) permission: Vec<Value>,
    /// Its name.
    pub(crate) root: String,
    /// Always null.
    pub(crate) parent: Option<String>,
}

/// The results of a channel diagnosis.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Diagnosis {
    /// The channel.
    pub(crate) channel: String,
    /// What was found, each with what to do.
    pub(crate) findings: Vec<Finding>,
}
