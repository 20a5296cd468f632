//! Token usage by task, model and day.

use countersign_store::{Change, Expect, Kind, Put, Query, Record};
use serde::{Deserialize, Serialize};

use crate::GateError;
use crate::base::principal::Principal;
use crate::records::retry::{busy, retry_on_conflict};
use crate::records::stored::{read, written};
use crate::runs::Runs;

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// Token usage of one model for one task on one day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct UsageView {
    /// The task: `agent`, `approval`, `title` …
    pub task: String,
    /// The model.
    pub model: String,
    /// The day's beginning, in Unix seconds.
    pub day: i64,
    /// How often it was asked.
    pub calls: u64,
    /// Tokens that were read.
    pub prompt_tokens: u64,
    /// Tokens that were written.
    pub completion_tokens: u64,
}

impl Runs {
    /// Adds what one answer of a model cost.
    pub async fn record_usage(
        &self,
        task: &str,
        model: &str,
        prompt_tokens: u64,
        completion_tokens: u64,
    ) -> Result<(), GateError> {
        retry_on_conflict(|| async {
            let tokens = (prompt_tokens, completion_tokens);
            let change = Change {
                puts: vec![self.usage_put(task, model, tokens).await?],
                entries: Vec::new(),
            };
            self.base.store.commit(change).await?;
            Ok(())
        })
        .await
        .map_err(busy("too many concurrent changes of this usage record"))
    }

    /// Returns what has to be written to add what one answer cost: tokens that were read and written.
    pub(super) async fn usage_put(
        &self,
        task: &str,
        model: &str,
        tokens: (u64, u64),
    ) -> Result<Put, GateError> {
        let day = self.base.clock.now().0.div_euclid(DAY_MILLIS) * DAY_MILLIS;
        let id = format!("{day}\n{task}\n{model}");
        let before = self.base.store.get(Kind::Usage, &id).await?;
        let mut usage = match &before {
            Some(record) => read(record)?,
            None => UsageView {
                task: task.to_owned(),
                model: model.to_owned(),
                day: day / 1000,
                ..UsageView::default()
            },
        };
        usage.calls += 1;
        usage.prompt_tokens = usage.prompt_tokens.saturating_add(tokens.0);
        usage.completion_tokens = usage.completion_tokens.saturating_add(tokens.1);
        let record = Record::new(Kind::Usage, id, day, written(&usage));
        let expect = before.map_or(Expect::Absent, |it| Expect::Version(it.version));
        Ok(Put { record, expect })
    }

    /// Returns what models cost since `since` (Unix milliseconds), the oldest day first.
    pub async fn usage(
        &self,
        who: &Principal,
        since: Option<i64>,
    ) -> Result<Vec<UsageView>, GateError> {
        if !who.role.sees_all() {
            return Err(GateError::Forbidden("agents cannot see model usage"));
        }
        let query = Query {
            // A day counts if any of it lies behind `since`.
            since: since.map(|since| since.div_euclid(DAY_MILLIS) * DAY_MILLIS),
            ..Query::of(Kind::Usage)
        };
        let records = self.base.find_all(query).await?;
        Ok(records.iter().map(read).collect::<Result<_, _>>()?)
    }
}
