//! External assessors: the owner's programs that may raise the risk of a call.
//!
//! Each is given the call and its assessment and answers what it thinks. An assessor that is
//! silent, slow or unreadable may have been about to object, so a person decides instead. One that
//! may lower does so only where risk and confidence decided, or where nothing was known: what the
//! first nine rules ask or refuse stays asked or refused.

use std::process::Stdio;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use countersign_core::call::ToolCall;
use countersign_core::display::inline;
use countersign_core::judge::Judged;
use countersign_core::record;
use countersign_core::score::Score;
use countersign_core::verdict::{Pattern, Rule, Thresholds, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use crate::base::settings::{AssessorReach, AssessorSettings};
use crate::calls::Calls;

/// Longest answer, in bytes.
const ANSWER_BYTES_MAX: usize = 64 * 1024;
/// Most reasons that are taken from one answer.
const REASONS_MAX: usize = 8;
/// What a person is told when an assessor failed.
const SILENT: &str = "an assessor did not respond, so a person decides";

/// How assessors are reached.
#[derive(Debug, Default)]
pub(crate) struct Assessors {
    client: OnceLock<Client>,
}

/// What asks an address, or why nothing can.
type Client = Result<reqwest::Client, String>;

/// What an assessor thinks.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
struct Opinion {
    risk_score: Option<f64>,
    verdict: Option<OpinionVerdict>,
    #[serde(default)]
    reasons: Vec<String>,
    #[serde(default)]
    crisis_sensitive: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OpinionVerdict {
    Allow,
    Ask,
    Refuse,
}

/// Why there is no opinion, for the log.
#[derive(Debug, thiserror::Error)]
enum Silence {
    #[error("it took too long")]
    TooSlow,
    #[error("its answer is longer than {ANSWER_BYTES_MAX} bytes")]
    TooLong,
    #[error("it failed: {0}")]
    Failed(String),
    #[error("its response is invalid: {0}")]
    Unreadable(String),
}

impl Calls {
    /// Returns what is concluded after every assessor was heard.
    pub(crate) async fn consult(&self, call: &ToolCall, mut judged: Judged) -> Judged {
        // Without a readable policy there are no thresholds to hold a score against; all of them ask.
        let thresholds = match self.base.policies.at(call.cwd.as_deref()) {
            Ok(ruleset) => ruleset.policy.thresholds,
            Err(_) => ASK_ALWAYS,
        };
        let question: Arc<[u8]> = question(call, &judged).into();
        let client = self.assessors.client.get_or_init(client);
        let asked: Vec<_> = self
            .base
            .settings
            .assessors
            .iter()
            .map(|assessor| {
                let assessor = assessor.clone();
                let (question, client) = (Arc::clone(&question), client.clone());
                let hearing = Hearing(tokio::spawn({
                    let assessor = assessor.clone();
                    async move { ask(&assessor, &question, &client).await }
                }));
                (assessor, hearing)
            })
            .collect();
        let mut raising = Vec::new();
        for (assessor, mut hearing) in asked {
            let opinion = match (&mut hearing.0).await {
                Ok(opinion) => opinion,
                Err(lost) => Err(Silence::Failed(lost.to_string())),
            };
            // Lowering comes first, so that whoever raises is heard last.
            if let Ok(opinion) = &opinion
                && assessor.may_lower
            {
                lower(&mut judged, opinion, thresholds);
            }
            raising.push(opinion);
        }
        for opinion in raising {
            match opinion {
                Ok(opinion) => raise(&mut judged, &opinion, thresholds),
                Err(silence) => {
                    tracing::warn!(%silence, "an assessor did not respond");
                    judged.assessment.reasons.push(SILENT.to_owned());
                    at_least(&mut judged, Verdict::Ask, Rule::PolicyRule);
                }
            }
        }
        judged
    }
}

fn client() -> Client {
    countersign_channels::http()
        .no_proxy()
        .build()
        .map_err(|error| error.to_string())
}

/// Thresholds above which every score lies.
const ASK_ALWAYS: Thresholds = Thresholds {
    auto_below: Score::ZERO,
    ask_above: Score::ZERO,
    confidence_min: Score::ONE,
};

/// One assessor being heard. It is not heard any longer than somebody listens.
struct Hearing(tokio::task::JoinHandle<Result<Opinion, Silence>>);

impl Drop for Hearing {
    fn drop(&mut self) {
        self.0.abort();
    }
}

fn question(call: &ToolCall, judged: &Judged) -> Vec<u8> {
    let turns: Vec<Value> = call
        .replying_to
        .iter()
        .map(|turn| json!({ "from": turn.from, "text": turn.text }))
        .collect();
    let call = json!({
        "tool": call.tool,
        "args": call.args,
        "cwd": call.cwd,
        "workspace": call.workspace,
        "replying_to": turns,
    });
    let mut question = format!("{{\"call\":{call},\"assessment\":").into_bytes();
    record::write(&mut question, None, judged);
    question.push(b'}');
    question
}

async fn ask(
    assessor: &AssessorSettings,
    question: &[u8],
    client: &Client,
) -> Result<Opinion, Silence> {
    let patience = Duration::from_millis(assessor.timeout_millis);
    let answer = tokio::time::timeout(patience, async {
        match &assessor.reach {
            AssessorReach::Command(command) => run(command, question).await,
            AssessorReach::Url(url) => post(client, url, question).await,
        }
    })
    .await
    .map_err(|_| Silence::TooSlow)??;
    let opinion: Opinion =
        serde_json::from_slice(&answer).map_err(|error| Silence::Unreadable(error.to_string()))?;
    match opinion.risk_score {
        Some(risk) if !(0.0..=1.0).contains(&risk) => Err(Silence::Unreadable(
            "`risk_score` is not between 0 and 1".to_owned(),
        )),
        Some(_) | None => Ok(opinion),
    }
}

/// A program that runs, with everything it started. None of it outlives the question.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let group = self.0.id().and_then(|id| i32::try_from(id).ok());
        if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
            // It may have ended by itself meanwhile.
            let _ended = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }
}

async fn run(command: &str, question: &[u8]) -> Result<Vec<u8>, Silence> {
    let kept = ["PATH", "HOME"]
        .into_iter()
        .filter_map(|name| Some((name, std::env::var_os(name)?)));
    let child = Command::new("sh")
        .arg("-c")
        .arg(command)
        .env_clear()
        .envs(kept)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
        .map_err(failed)?;
    let mut running = Running(child);
    let (stdin, stdout) = (running.0.stdin.take(), running.0.stdout.take());
    let told = async {
        if let Some(mut stdin) = stdin {
            // One that does not read the question may still answer.
            let _unread = stdin.write_all(question).await;
        }
    };
    let heard = async {
        let mut answer = Vec::new();
        if let Some(stdout) = stdout {
            let limit = ANSWER_BYTES_MAX as u64 + 1;
            stdout.take(limit).read_to_end(&mut answer).await?;
        }
        Ok(answer)
    };
    let ((), answer) = tokio::join!(told, heard);
    let answer: Vec<u8> = answer.map_err(|error: std::io::Error| failed(error))?;
    if answer.len() > ANSWER_BYTES_MAX {
        return Err(Silence::TooLong);
    }
    let status = running.0.wait().await.map_err(failed)?;
    if status.success() {
        Ok(answer)
    } else {
        Err(Silence::Failed(status.to_string()))
    }
}

async fn post(client: &Client, url: &str, question: &[u8]) -> Result<Vec<u8>, Silence> {
    let client = client.as_ref().map_err(failed)?;
    let mut response = client
        .post(url)
        .header("content-type", "application/json")
        .body(question.to_vec())
        .send()
        .await
        .map_err(failed)?;
    if !response.status().is_success() {
        return Err(Silence::Failed(response.status().to_string()));
    }
    let mut answer = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(failed)? {
        if answer.len() + chunk.len() > ANSWER_BYTES_MAX {
            return Err(Silence::TooLong);
        }
        answer.extend_from_slice(&chunk);
    }
    Ok(answer)
}

fn failed(error: impl std::fmt::Display) -> Silence {
    Silence::Failed(error.to_string())
}

/// Takes from `opinion` what makes the conclusion stricter.
fn raise(judged: &mut Judged, opinion: &Opinion, thresholds: Thresholds) {
    let Judged { assessment, ruling } = judged;
    let raised = opinion
        .risk_score
        .map(score)
        .filter(|risk| *risk > assessment.risk);
    assessment.risk = raised.unwrap_or(assessment.risk);
    let reasons = opinion.reasons.iter().take(REASONS_MAX);
    assessment.reasons.extend(reasons.map(|text| inline(text)));
    assessment.crisis_sensitive |= opinion.crisis_sensitive;
    let touches_crisis =
        assessment.crisis_sensitive && (assessment.outbound || !assessment.reversible);
    let is_by_score = matches!(ruling.rule, Rule::Thresholds | Rule::Review);
    if raised.is_some() && is_by_score && asks(judged, thresholds) {
        at_least(judged, Verdict::Ask, Rule::Thresholds);
    }
    match opinion.verdict {
        Some(OpinionVerdict::Ask) => at_least(judged, Verdict::Ask, Rule::PolicyRule),
        Some(OpinionVerdict::Refuse) => at_least(judged, Verdict::Refuse, Rule::PolicyRule),
        Some(OpinionVerdict::Allow) | None => {}
    }
    if touches_crisis && judged.ruling.verdict <= Verdict::Ask {
        judged.ruling.verdict = Verdict::Ask;
        judged.ruling.rule = Rule::CrisisGate;
        judged.ruling.pattern = Pattern::PreExecutionGate;
        judged.ruling.once_only = true;
    }
}

/// Takes from `opinion` what makes the conclusion milder, where that is possible at all.
fn lower(judged: &mut Judged, opinion: &Opinion, thresholds: Thresholds) {
    let by_score = matches!(judged.ruling.rule, Rule::Thresholds | Rule::Review);
    if let Some(risk) = opinion.risk_score.map(score)
        && by_score
    {
        judged.assessment.risk = judged.assessment.risk.min(risk);
    }
    let allows = opinion.verdict == Some(OpinionVerdict::Allow)
        && (by_score || judged.ruling.rule == Rule::Unreadable);
    if allows || by_score && !asks(judged, thresholds) {
        judged.ruling.verdict = Verdict::Allow;
        judged.ruling.pattern = Pattern::ConfidenceThreshold;
    }
}

fn at_least(judged: &mut Judged, verdict: Verdict, rule: Rule) {
    if judged.ruling.verdict < verdict {
        judged.ruling.verdict = verdict;
        judged.ruling.rule = rule;
        judged.ruling.pattern = Pattern::PreExecutionGate;
    }
}

/// Whether the thresholds of rule 11 make it a question.
fn asks(judged: &Judged, thresholds: Thresholds) -> bool {
    let assessment = &judged.assessment;
    assessment.risk > thresholds.ask_above
        || assessment.risk >= thresholds.auto_below
            && assessment.confidence < thresholds.confidence_min
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 0 and 1 was checked when the answer was read"
)]
fn score(fraction: f64) -> Score {
    Score::new((fraction * 1000.0).round() as u16)
}
