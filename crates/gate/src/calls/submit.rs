//! Submits a call: judges it, then allows it, refuses it or asks people.

pub(in crate::calls) mod asking;

use std::sync::Arc;

use countersign_core::assess::heeds_definition;
use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::canonical::canonical;
use countersign_core::card::one_line;
use countersign_core::digest::{Digest, definition};
use countersign_core::id::CallId;
use countersign_core::judge::Judged;
use countersign_core::ledger::{Draft, commitment};
use countersign_core::policy::{Policy, denied_by};
use countersign_core::status::{Cause, Outcome, Status};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::{Mode, Rule, Ruling, Situation, Verdict, verdict};
use countersign_store::{Change, Expect, Put, StoreError};
use serde_json::Value;

use crate::GateError;
use crate::approvals::denials::Denial;
use crate::base::principal::Principal;
use crate::base::random::random_id;
use crate::base::settings::{Ruleset, redacts};
use crate::calls::Calls;
use crate::calls::idempotency::idempotency_put;
use crate::calls::let_run;
use crate::calls::permit::Permit;
use crate::grants::VersionedGrant;
use crate::records::entries::call_assessed;
use crate::records::error::invalid;
use crate::records::identifiers::{self, run_of};
use crate::records::request::Submission;
use crate::records::stored::{Decision, Pin, StoredCall, base64, written_assessment};
use crate::records::view::CallView;
use crate::reviews::review_of;
use crate::sessions::SessionFacts;
use crate::sessions::crisis::crisis_puts;
use crate::sessions::written_files::{Looked, written_puts};

/// Questions of one key that may wait.
pub const WAITING_OF_ONE_MAX: u64 = 20;
/// Questions that may wait in all.
pub const WAITING_MAX: u64 = 10_000;
/// How often a call is judged anew because something it rested on has changed.
const TRIES_MAX: usize = 8;
/// Longest explanation that is kept, in bytes.
const EXPLANATION_BYTES_MAX: usize = 4096;

/// A call with everything the gate found out about it.
pub(crate) struct Considered {
    pub(crate) call: StoredCall,
    pub(crate) judged: Judged,
    ruleset: Arc<Ruleset>,
    pub(crate) grant: Option<VersionedGrant>,
    pub(crate) command: String,
    commitment: String,
    /// The definition of the tool, as the asker says the model was shown it.
    definition: Option<Value>,
    /// Additional writes: the session, the idempotency key.
    puts: Vec<Put>,
    /// What the call would leave in files.
    writes: Vec<Put>,
    entries: Vec<Draft>,
    /// Whether it ran before anybody here heard of it.
    pub(crate) has_run: bool,
    runner: Runner,
}

/// When a call that is allowed runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runner {
    /// When somebody takes it up.
    Later,
    /// Now, by who submits it.
    AtOnce,
}

/// How a call stands that was submitted.
#[derive(Debug)]
pub struct Submitted {
    /// How it stands.
    pub view: CallView,
    /// The permit to run it, if it has begun.
    pub permit: Option<Permit>,
}

impl From<CallView> for Submitted {
    fn from(view: CallView) -> Self {
        Self { view, permit: None }
    }
}

impl Considered {
    /// Returns the policy it was judged under.
    pub(crate) fn policy(&self) -> &Policy {
        &self.ruleset.policy
    }
}

impl Calls {
    /// Takes a call and returns how it stands at once.
    pub async fn submit(
        &self,
        who: &Principal,
        submission: Submission,
    ) -> Result<CallView, GateError> {
        let submitted = self.submit_for(who, submission, Runner::Later).await?;
        Ok(submitted.view)
    }

    /// Takes a call that whoever submits it runs at once. One that needs no token has begun when it
    /// is written down, which is one commit instead of two.
    pub async fn submit_and_begin(
        &self,
        who: &Principal,
        submission: Submission,
    ) -> Result<Submitted, GateError> {
        self.submit_for(who, submission, Runner::AtOnce).await
    }

    async fn submit_for(
        &self,
        who: &Principal,
        submission: Submission,
        runner: Runner,
    ) -> Result<Submitted, GateError> {
        if !who.role.asks() {
            return Err(GateError::Forbidden("only agent keys can submit calls"));
        }
        check(&submission)?;
        for _ in 0..TRIES_MAX {
            match Box::pin(self.submit_once(who, &submission, runner)).await {
                // What was concluded rested on a grant, a session or an idempotency key that has
                // changed in this very moment. It is concluded anew.
                Err(GateError::Store(StoreError::Conflict { .. })) => {
                    self.grants.reload();
                    self.sessions.forget_session(&who.key, &submission.session);
                }
                settled => return settled,
            }
        }
        Err(GateError::TooMany {
            message: "too many concurrent calls of this session",
            retry_after: 1,
        })
    }

    async fn submit_once(
        &self,
        who: &Principal,
        submission: &Submission,
        runner: Runner,
    ) -> Result<Submitted, GateError> {
        if let Some(call) = self.repeated(who, submission).await? {
            return Ok(call.into());
        }
        let mut considered = self.consider_call(who, submission).await?;
        considered.runner = runner;
        let noted = self
            .approvals
            .note_definition(&considered.call, considered.definition.as_ref())
            .await?;
        considered.puts.extend(noted.puts);
        considered.entries.extend(noted.entries);
        if let Some(name) = &submission.idempotency_key {
            let put = idempotency_put(who, name, submission, &considered.call);
            considered.puts.push(put);
        }
        if let Some(at) = submission.let_run_at {
            let_run::mark(&mut considered, at);
            return Box::pin(self.record_decided(considered)).await;
        }
        let verdict = considered.judged.ruling.verdict;
        if verdict == Verdict::Ask && !self.people.has_approver_for(&considered.call).await? {
            considered.call.decision = Some(self.nobody_to_ask(&considered.call).await?);
            return Box::pin(self.record_decided(considered)).await;
        }
        match verdict {
            Verdict::Ask => Box::pin(self.ask(considered)).await.map(Submitted::from),
            Verdict::Allow | Verdict::AllowThenReview | Verdict::Refuse => {
                Box::pin(self.record_decided(considered)).await
            }
        }
    }

    /// Returns how a call ends that nobody can be asked about. The draft of a reply to the only
    /// person there is shown to nobody and is over at once.
    async fn nobody_to_ask(&self, call: &StoredCall) -> Result<Decision, GateError> {
        let outcome = if call.answers_starter && self.people.has_approver().await? {
            Outcome::Expired
        } else {
            Outcome::Refused
        };
        Ok(Decision::new(outcome, Cause::NoApprover, call.at))
    }

    /// Judges a call under everything that holds at this moment.
    async fn consider_call(
        &self,
        who: &Principal,
        submission: &Submission,
    ) -> Result<Considered, GateError> {
        let now = self.base.clock.now();
        let facts = self
            .sessions
            .session_facts(&who.key, &submission.session)
            .await?;
        let mut tool_call = submission.call.clone();
        let claimed = tool_call.workspace.take().or(tool_call.cwd.clone());
        tool_call.workspace = facts.workspace.clone().or_else(|| claimed.clone());
        let pin = self.approvals.pin_of(submission, facts.crisis).await?;
        tool_call.pinned = pin == Some(Pin::Holds);
        let ruleset = self
            .base
            .policies
            .at(tool_call.cwd.as_deref())
            .map_err(GateError::Policy)?;
        let bound = self
            .people
            .bound_to(who, tool_call.workspace.as_deref())
            .await?;
        let on_disk = &submission.on_disk;
        let Looked {
            considered,
            digests,
            held,
        } = self
            .sessions
            .consider_written(&who.key, &ruleset.policy, &tool_call, &bound, on_disk)
            .await?;
        let (mut assessment, mut situation) = (considered.assessment, considered.situation);
        let concern = self
            .sessions
            .crisis_concern(who, submission, &tool_call, facts.crisis, &mut assessment)
            .await?;
        let mut call = stored(who, submission, &tool_call, digests, now)?;
        call.pin = pin;
        call.runs_written = held;
        call.answers_starter |= concern.reaches_starter;
        call.second_reading = concern.second_reading;
        call.policy.clone_from(&ruleset.hash);
        call.bound = bound;
        if situation.mode == Mode::Enforce {
            situation.mode = facts.mode(now);
        }
        let denial = self
            .approvals
            .denial_of(&call, &tool_call, &ruleset.policy)
            .await?;
        situation.denied_before = denial.is_some();
        let (judged, grant) = self.rule(&call, &tool_call, assessment, situation).await?;
        let noted = SessionFacts {
            workspace: facts.workspace.clone().or(claimed),
            crisis: facts.crisis || concern.is_of_session(&judged.assessment),
            ..facts.clone()
        };
        let of_session = self
            .sessions
            .session_put(&who.key, &call.session, &facts, &noted);
        let marks = concern.marks(&ruleset.policy, &tool_call, &judged.assessment);
        let of_crisis = crisis_puts(&call, marks, now);
        let (puts, entries) = of_session.into_iter().chain(of_crisis).unzip();
        call.verdict = judged.ruling.verdict;
        call.assessment = written_assessment(&judged);
        call.decision = decided(judged.ruling, grant.as_ref(), denial, now);
        name_rule(&mut call, judged.ruling, &ruleset.policy, &tool_call);
        let redacts = redacts(&ruleset.policy);
        let command = one_line(&tool_call, redacts);
        let arguments = serde_json::to_vec(&call.args).unwrap_or_default();
        let commitment = commitment(call.salt.as_bytes(), &arguments);
        let writes = written_puts(&who.key, &call.session, &considered.files.writes, now);
        Ok(Considered {
            call,
            judged,
            ruleset,
            grant,
            command,
            commitment,
            definition: submission.tool_definition.clone(),
            puts,
            writes,
            entries,
            has_run: false,
            runner: Runner::Later,
        })
    }

    /// Decides about a call: by the rules, a grant that covers it, and external assessors.
    async fn rule(
        &self,
        call: &StoredCall,
        tool_call: &ToolCall,
        assessment: Assessment,
        mut situation: Situation,
    ) -> Result<(Judged, Option<VersionedGrant>), GateError> {
        let mut ruling = verdict(&assessment, &situation);
        let mut grant = None;
        // A grant is looked for only where it matters: rules 1 to 4 come before it, and what runs
        // anyway does not use one up.
        if ruling.verdict >= Verdict::Ask && ruling.rule > Rule::ApprovalRequired {
            grant = self
                .grants
                .covering_grant(call, tool_call, &assessment, &situation)
                .await?;
            if grant.is_some() {
                situation.granted = true;
                ruling = verdict(&assessment, &situation);
            }
        }
        let mut judged = Judged { assessment, ruling };
        if !self.base.settings.assessors.is_empty() && judged.ruling.verdict != Verdict::Refuse {
            judged = self.consult(tool_call, judged).await;
        }
        if judged.ruling.verdict != Verdict::Allow {
            grant = None;
        }
        Ok((judged, grant))
    }

    /// Records a call that nobody needs to be asked about: it is allowed or refused.
    pub(crate) async fn record_decided(
        &self,
        considered: Considered,
    ) -> Result<Submitted, GateError> {
        let Considered {
            mut call,
            judged,
            ruleset,
            grant,
            command,
            commitment,
            definition: _,
            mut puts,
            writes,
            mut entries,
            has_run,
            runner,
        } = considered;
        let status = call.status();
        let allowed = status == Status::Allowed;
        // A tool that is marked wants a token even where a rule let the call through.
        let mut approval = None;
        if allowed && !has_run && ruleset.policy.wants_token(&call.tool, &judged.assessment) {
            let stored = self.allowed_by_rule(&mut call, &judged, &ruleset.policy);
            puts.push(stored.put(Expect::Absent));
            approval = Some(stored);
        }
        let begins = runner == Runner::AtOnce && allowed && !has_run && approval.is_none();
        if begins {
            call.begun_at = Some(call.at);
        }
        entries.push(call_assessed(&call, status, &judged, &command, &commitment));
        if judged.ruling.verdict == Verdict::AllowThenReview && allowed {
            let (put, entry) = review_of(&call, &command);
            puts.push(put);
            entries.push(entry);
        }
        let durable = begins || grant.is_some() || !puts.is_empty();
        if let Some((grant, version)) = grant {
            let (put, entry) = crate::grants::grant_used(grant, version, &call);
            puts.push(put);
            entries.push(entry);
        }
        if status != Status::Refused {
            puts.extend(writes);
        }
        puts.push(call.put(Expect::Absent));
        if durable {
            self.base.store.commit(Change { puts, entries }).await?;
        } else {
            self.base.store.append(Change { puts, entries })?;
        }
        match approval {
            Some(_) => self.view_of(call).await.map(Submitted::from),
            None => Ok(Submitted {
                view: CallView::of(&call, None),
                permit: begins.then(|| Permit::begun(call)),
            }),
        }
    }
}

fn check(submission: &Submission) -> Result<(), GateError> {
    let given = [
        ("tool", Some(&submission.call.tool)),
        ("session_id", Some(&submission.session)),
        ("run_id", submission.run.as_ref()),
        ("agent", submission.agent.as_ref()),
        ("executor", submission.executor.as_ref()),
        ("Idempotency-Key", submission.idempotency_key.as_ref()),
    ];
    for (param, name) in given {
        if let Some(name) = name {
            identifiers::check(param, name)?;
        }
    }
    Ok(())
}

/// Returns the call as it is kept, before anything was concluded about it.
fn stored(
    who: &Principal,
    submission: &Submission,
    tool_call: &ToolCall,
    digests: Vec<Digest>,
    now: UnixMillis,
) -> Result<StoredCall, GateError> {
    let tool_definition = match &submission.tool_definition {
        None => None,
        Some(value) => Some(definition(value).ok_or_else(|| {
            let message = "`tool_definition` has no canonical form";
            invalid("tool_definition", "not_canonical", message)
        })?),
    };
    let annotations = tool_call.annotations;
    let mut call = StoredCall {
        call_id: submission
            .call_id
            .clone()
            .unwrap_or_else(|| CallId::fresh(now, random_id())),
        tool: tool_call.tool.clone(),
        args: tool_call.args.clone(),
        raw: submission.raw.as_deref().map(base64),
        cwd: tool_call.cwd.clone(),
        workspace: tool_call.workspace.clone(),
        bound: Vec::new(),
        replying_to: tool_call
            .replying_to
            .iter()
            .map(|turn| (turn.from.clone(), turn.text.clone()))
            .collect(),
        annotations: [
            annotations.read_only,
            annotations.destructive,
            annotations.idempotent,
            annotations.open_world,
        ],
        session: submission.session.clone(),
        run: submission
            .run
            .clone()
            .unwrap_or_else(|| run_of(who, &submission.session)),
        tool_call_id: submission.tool_call_id.clone(),
        agent: submission.agent.clone(),
        executor: submission
            .executor
            .clone()
            .unwrap_or_else(|| format!("tool:{}", tool_call.tool)),
        tool_definition,
        definition: tool_call
            .definition
            .clone()
            .filter(|_| heeds_definition(&tool_call.tool)),
        pin: None,
        attachments: [submission.attachments.clone(), digests].concat(),
        runs_written: None,
        explanation: submission.explanation.as_deref().map(shortened),
        starter: submission.starter.clone(),
        answers_starter: submission.answers_starter,
        fixed: submission.fixed,
        key: who.key.clone(),
        key_name: who.name.clone(),
        tier: who.tier,
        at: now,
        digest: Digest([0; 32]),
        policy: String::new(),
        // Until it is judged.
        verdict: Verdict::Refuse,
        assessment: Box::default(),
        approval: None,
        decision: None,
        second_reading: None,
        salt: base64(&random_id::<16>()),
        begun_at: None,
        handed_over_at: None,
        outcome: None,
    };
    let arguments = match &submission.raw {
        Some(raw) => raw.clone(),
        None => canonical(&tool_call.args)
            .map_err(|error| invalid("args", "args_not_canonical", &error.to_string()))?,
    };
    call.digest = call.digest_with(call.encoding(), &arguments);
    Ok(call)
}

fn shortened(text: &str) -> String {
    let mut end = text.len().min(EXPLANATION_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default().to_owned()
}

/// Says which deny rule refused a call.
fn name_rule(call: &mut StoredCall, ruling: Ruling, policy: &Policy, tool_call: &ToolCall) {
    if let Some(decision) = &mut call.decision
        && ruling.rule == Rule::FloorOrDenied
    {
        decision.rule = denied_by(policy, tool_call).map(str::to_owned);
    }
}

fn decided(
    ruling: Ruling,
    grant: Option<&VersionedGrant>,
    denial: Option<Denial>,
    now: UnixMillis,
) -> Option<Decision> {
    let allowed = |cause| Decision {
        grant_id: grant.map(|(grant, _)| grant.id.0.clone()),
        ..Decision::new(Outcome::Allowed, cause, now)
    };
    match (ruling.verdict, ruling.rule, denial) {
        (Verdict::Ask, _, _) => None,
        (Verdict::Allow | Verdict::AllowThenReview, Rule::Granted, _) => {
            Some(allowed(Cause::Grant))
        }
        (Verdict::Allow | Verdict::AllowThenReview, _, _) => Some(allowed(Cause::Rule)),
        (Verdict::Refuse, Rule::DeniedBefore, Some(denial)) => Some(Decision {
            by: Some(denial.by),
            note: denial.note,
            denial_id: Some(denial.id),
            denied_at: Some(denial.at),
            ..Decision::new(Outcome::Refused, Cause::DenyMemory, now)
        }),
        (Verdict::Refuse, _, _) => Some(Decision::new(Outcome::Refused, Cause::Rule, now)),
    }
}
