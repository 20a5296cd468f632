//! A gate on a database of its own, with a clock that moves only when told to.

use std::sync::Arc;
use std::time::Duration;

use countersign_channels::Channel;
use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::id::{ApprovalId, KeyId};
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::{OnePolicy, Policies, Ruleset, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::records::request::{Reply, Submission};
use countersign_gate::records::view::{ApprovalView, CallView};
use countersign_gate::sessions::OverrideRequest;
use countersign_gate::{Gate, Parts};
use countersign_store::Database;

/// When every test begins.
pub(crate) const START: UnixMillis = UnixMillis(1_700_000_000_000);
/// A call that is always asked about.
pub(crate) const DANGEROUS: &str = "rm -rf /srv/www";

/// A gate and what it stands on.
pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) clock: Clock,
    pub(crate) home: Arc<tempfile::TempDir>,
    pub(crate) agent: Principal,
    pub(crate) ana: Principal,
}

/// What a test wants to be different.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
    pub(crate) channels: Vec<Arc<dyn Channel>>,
}

impl World {
    /// Submits a call as the agent.
    pub(crate) async fn submit(&self, submission: Submission) -> CallView {
        self.gate.submit(&self.agent, submission).await.unwrap()
    }

    /// Lets Ana answer.
    pub(crate) async fn answer(&self, approval: &str, choice: Choice) -> ApprovalView {
        let reply = reply(approval, choice);
        self.gate.answer(&self.ana, reply).await.unwrap()
    }

    /// Returns how the agent's call stands now.
    pub(crate) async fn call(&self, id: &str) -> CallView {
        let waits = Duration::ZERO;
        self.gate.call(&self.agent, id, waits).await.unwrap()
    }
}

pub(crate) async fn world() -> World {
    world_with(Wishes::default()).await
}

pub(crate) async fn world_with(wishes: Wishes) -> World {
    let home = Arc::new(tempfile::tempdir().unwrap());
    let clock = Clock::manual(START);
    let policies = AtHome {
        policies: OnePolicy::new(wishes.policy.clone()),
        _home: Arc::clone(&home),
    };
    let gate = opened(home.path(), &clock, wishes, Arc::new(policies)).await;
    let agent = principal(&gate, "claude", Role::Agent).await;
    let ana = principal(&gate, "ana", Role::Approver).await;
    World {
        gate,
        clock,
        home,
        agent,
        ana,
    }
}

/// Opens another gate on the same database, as after a restart or beside the first.
pub(crate) async fn open(home: &std::path::Path, clock: &Clock, wishes: Wishes) -> Gate {
    let policies = OnePolicy::new(wishes.policy.clone());
    opened(home, clock, wishes, Arc::new(policies)).await
}

async fn opened(
    home: &std::path::Path,
    clock: &Clock,
    wishes: Wishes,
    policies: Arc<dyn Policies>,
) -> Gate {
    let store = Database::sqlite(&home.join("countersign.db"))
        .await
        .unwrap();
    Gate::open(Parts {
        store,
        clock: clock.clone(),
        signer: Signer::from_seed([7; 32]),
        policies,
        settings: wishes.settings,
        channels: wishes.channels,
    })
    .await
    .unwrap()
}

/// A gate's policies, and the folder its database lies in: the folder stays for as long as the
/// gate, even if a test takes the world apart and lets the rest go.
#[derive(Debug)]
struct AtHome {
    policies: OnePolicy,
    _home: Arc<tempfile::TempDir>,
}

impl Policies for AtHome {
    fn at(&self, cwd: Option<&str>) -> Result<Arc<Ruleset>, String> {
        self.policies.at(cwd)
    }
}

pub(crate) async fn principal(gate: &Gate, name: &str, role: Role) -> Principal {
    let key = gate.create_key("test", name, role).await.unwrap();
    Principal {
        key: KeyId(key.id),
        name: name.to_owned(),
        role,
        via: "api".to_owned(),
        tier: Tier::T0,
    }
}

pub(crate) fn command(text: &str) -> Submission {
    in_session("s1", text)
}

pub(crate) fn in_session(session: &str, text: &str) -> Submission {
    Submission {
        call: ToolCall::command(text).from_directory("/home/dev/project"),
        session: session.to_owned(),
        ..Submission::default()
    }
}

pub(crate) fn reply(approval: &str, choice: Choice) -> Reply {
    Reply {
        approval: ApprovalId(approval.to_owned()),
        choice,
        note: None,
        grant: None,
        args: None,
    }
}

/// An override that lets critical calls run without a question, too.
pub(crate) const fn yolo_all(minutes: u32, reason: &str) -> OverrideRequest<'_> {
    OverrideRequest {
        minutes,
        reason,
        all: true,
    }
}

/// Submits a call that must wait, and returns it with the id of its question.
pub(crate) async fn ask(world: &World, submission: Submission) -> (CallView, String) {
    let call = world.submit(submission).await;
    assert_eq!(call.status.word(), "waiting", "{call:?}");
    let approval = call.approval_id.clone().unwrap();
    (call, approval)
}
