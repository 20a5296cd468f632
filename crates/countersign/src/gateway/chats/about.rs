//! Commands in chats that say something about the built-in agent: its models, its cost, its tools.
//!
//! Separate from the other commands, which answer questions or change conversations.

use std::fmt::Write as _;

use countersign_channels::chat::Typed;
use countersign_channels::text::code;
use countersign_core::display::inline;
use countersign_gate::GateError;
use countersign_gate::base::principal::Principal;

use super::Desk;
use crate::slash::NO_SKILLS;
use crate::wire::shown::SkillView;

impl Desk {
    /// Says what the agent can do, a line each, and what asks.
    pub(super) fn skills(&self) -> String {
        let skills = SkillView::of(&self.agent);
        if skills.is_empty() {
            return NO_SKILLS.to_owned();
        }
        let lines = skills.iter().map(|it| {
            let name = code(&inline(&it.name));
            format!("{name} · {} · {}", inline(&it.does), it.asks)
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    pub(super) async fn usage(&self, who: &Principal) -> Result<String, GateError> {
        let month = 30 * 24 * 3600 * 1000;
        let since = self.gate.clock().now().plus(-month);
        let usage = self.gate.usage(who, Some(since.0)).await?;
        let sum = |count: fn(&countersign_gate::runs::usage::UsageView) -> u64| -> u64 {
            usage.iter().map(count).sum()
        };
        Ok(format!(
            "Last 30 days: {} tokens in, {} tokens out.",
            sum(|it| it.prompt_tokens),
            sum(|it| it.completion_tokens)
        ))
    }

    /// Says which model answers here, and which others can be chosen.
    pub(super) async fn model(&self, typed: &Typed, who: &Principal) -> Result<String, GateError> {
        let models = self.agent.models();
        let thread = self.gate.thread(who, &typed.thread).await?;
        let chosen = thread.and_then(|thread| thread.model);
        let Some(current) = chosen.as_ref().or(models.first()) else {
            return Ok("No model is configured.".to_owned());
        };
        let mut words = format!("The agent uses {}.", code(&inline(current)));
        let others: Vec<String> = models
            .iter()
            .filter(|name| *name != current)
            .map(|name| code(&inline(name)))
            .collect();
        if let (false, Some(model)) = (others.is_empty(), self.chat.typed_as("model")) {
            let others = others.join(", ");
            let _infallible = write!(words, " `{model} NAME` chooses another: {others}.");
        }
        Ok(words)
    }

    pub(super) async fn choose_model(
        &self,
        typed: &Typed,
        who: &Principal,
        name: &str,
    ) -> Result<String, GateError> {
        let models = self.agent.models();
        if !models.iter().any(|model| model == name) {
            let known: Vec<String> = models.iter().map(|name| code(&inline(name))).collect();
            return Ok(format!(
                "{} is not configured. Configured: {}.",
                code(&inline(name)),
                known.join(", ")
            ));
        }
        if self.gate.thread(who, &typed.thread).await?.is_none() {
            return Ok(
                "There is no conversation with the agent in this thread yet; \
                       send a message first."
                    .to_owned(),
            );
        }
        self.gate
            .note_thread_model(who, &typed.thread, name)
            .await?;
        let name = code(&inline(name));
        Ok(format!("{name} answers your next messages here."))
    }
}
