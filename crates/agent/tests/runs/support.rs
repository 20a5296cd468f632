//! A gate, an agent with a scripted model, a project to work in, and people.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use countersign_agent::message::Message;
use countersign_agent::model::{Client, Endpoint, Limits};
use countersign_agent::toolbox::Toolbox;
use countersign_agent::tools::{Clarify, Processes, ReadFile, Terminal, Tool, WriteFile};
use countersign_agent::{Agent, AgentParts, CrisisNotices, RunLimits, RunRequest};
use countersign_core::approval::Choice;
use countersign_core::id::{ApprovalId, KeyId};
use countersign_core::policy::Policy;
use countersign_core::status::Status;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::approvals::answer::ApprovalFilter;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::records::request::Reply as Answer;
use countersign_gate::records::view::ApprovalView;
use countersign_gate::runs::Run;
use countersign_gate::{Gate, Parts};
use countersign_store::Database;
use countersign_testkit::model::{MODEL, ModelServer, Reply};
use serde_json::Value;

/// How long anything may take before a test fails; generous, because machines are busy.
const PATIENCE: Duration = Duration::from_mins(2);

/// What a person in crisis is shown meanwhile.
pub(crate) const NOTICE: &str = "Somebody looks at this.";
pub(crate) const UNREACHABLE: &str = "Nobody is there.";

pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) agent: Agent,
    pub(crate) model: ModelServer,
    pub(crate) ana: Principal,
    pub(crate) ben: Principal,
    pub(crate) project: PathBuf,
    home: tempfile::TempDir,
}

/// What a test wants to be different.
#[derive(Default)]
pub(crate) struct Wishes {
    pub(crate) policy: Policy,
    pub(crate) settings: Settings,
    pub(crate) limits: RunLimits,
}

impl World {
    pub(crate) async fn new(script: Vec<Reply>) -> Self {
        Self::with(script, Wishes::default()).await
    }

    pub(crate) async fn with(script: Vec<Reply>, wishes: Wishes) -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().canonicalize().unwrap().join("project");
        std::fs::create_dir(&project).unwrap();
        let gate = open(home.path(), wishes.policy, wishes.settings).await;
        let ana = principal(&gate, "ana", Role::Approver).await;
        let ben = principal(&gate, "ben", Role::Approver).await;
        let model = ModelServer::start(script).unwrap();
        let agent = agent(&gate, &model.url(), &project, wishes.limits);
        Self {
            gate,
            agent,
            model,
            ana,
            ben,
            project,
            home,
        }
    }

    /// Returns the same world with another model.
    pub(crate) fn thinking_at(mut self, url: &str) -> Self {
        let limits = RunLimits {
            steps: 4,
            answer_tokens: 200,
            ..RunLimits::default()
        };
        self.agent = agent(&self.gate, url, &self.project, limits);
        self
    }

    /// Returns the run when it has ended; whatever it asks meanwhile is denied.
    pub(crate) async fn ended_denying(&self, run: &Run) -> Run {
        self.seen(|| async {
            let filter = ApprovalFilter {
                status: Some(Status::Waiting),
                run: Some(run.run_id.clone()),
                ..ApprovalFilter::default()
            };
            for asked in self.gate.approvals(&self.ana, filter).await.unwrap().items {
                let denied = answer(&asked.approval_id, Choice::Deny);
                self.gate.answer(&self.ben, denied).await.unwrap();
            }
            let run = self.gate.run_of(&self.ana, &run.run_id).await.unwrap();
            run.status.is_final().then_some(run)
        })
        .await
    }

    /// Starts a run in which ana says `text`.
    pub(crate) async fn start(&self, text: &str) -> Run {
        self.start_in(None, text).await
    }

    pub(crate) async fn start_in(&self, session: Option<&str>, text: &str) -> Run {
        let request = RunRequest {
            input: vec![Message::User {
                content: text.to_owned(),
            }],
            session: session.map(str::to_owned),
            ..RunRequest::default()
        };
        self.agent.start(&self.ana, request).await.unwrap()
    }

    /// Returns the run when it has ended.
    pub(crate) async fn ended(&self, run: &Run) -> Run {
        self.seen(|| async {
            let run = self.gate.run_of(&self.ana, &run.run_id).await.unwrap();
            run.status.is_final().then_some(run)
        })
        .await
    }

    /// Returns the questions of a run when there are `count` of them.
    pub(crate) async fn questions(&self, run: &Run, count: usize) -> Vec<ApprovalView> {
        self.seen(|| async {
            let filter = ApprovalFilter {
                status: Some(Status::Waiting),
                run: Some(run.run_id.clone()),
                ..ApprovalFilter::default()
            };
            let items = self.gate.approvals(&self.ben, filter).await.unwrap().items;
            (items.len() == count).then_some(items)
        })
        .await
    }

    /// Looks each time the ledger has grown until `look` finds what it looks for.
    pub(crate) async fn seen<T, F: Future<Output = Option<T>>>(&self, look: impl Fn() -> F) -> T {
        let mut last = self.gate.store().tail().last();
        let found = async {
            loop {
                last.borrow_and_update();
                if let Some(found) = look().await {
                    return found;
                }
                last.changed().await.unwrap();
            }
        };
        let found = tokio::time::timeout(PATIENCE, found).await;
        found.unwrap_or_else(|_| panic!("it did not happen"))
    }

    pub(crate) async fn answer(&self, who: &Principal, approval: &str, choice: Choice) {
        let answer = answer(approval, choice);
        self.gate.answer(who, answer).await.unwrap();
    }

    /// Returns the names of what happened in a run, in order.
    pub(crate) async fn events(&self, run: &Run) -> Vec<String> {
        self.gate.store().flush().await.unwrap();
        let entries = self.gate.store().entries(0, 10_000).await.unwrap();
        let of_run = entries.iter().filter(|it| it.draft.run == run.run_id);
        of_run.map(|it| it.draft.event.clone()).collect()
    }

    /// Returns what the model was told came of its request `id`.
    pub(crate) fn told(&self, id: &str) -> String {
        let requests = self.model.requests();
        let messages = requests.last().unwrap()["messages"].as_array().unwrap();
        let answer = messages.iter().find(|it| it["tool_call_id"] == id);
        let answer = answer.unwrap_or_else(|| panic!("no answer to {id} in {messages:?}"));
        answer["content"].as_str().unwrap().to_owned()
    }

    /// Opens everything again, as after a restart; what the first agent drives goes on unseen.
    pub(crate) async fn restarted(&self) -> (Gate, Agent) {
        let gate = open(self.home.path(), Policy::default(), Settings::default()).await;
        let agent = agent(
            &gate,
            &self.model.url(),
            &self.project,
            RunLimits::default(),
        );
        (gate, agent)
    }
}

async fn open(home: &Path, policy: Policy, settings: Settings) -> Gate {
    let file = home.join("countersign.db");
    Gate::open(Parts {
        store: Database::sqlite(&file).await.unwrap(),
        clock: Clock::system(UnixMillis(0)),
        signer: Signer::from_seed([7; 32]),
        policies: Arc::new(OnePolicy::new(policy)),
        settings,
        channels: Vec::new(),
    })
    .await
    .unwrap()
}

fn agent(gate: &Gate, url: &str, project: &Path, limits: RunLimits) -> Agent {
    let endpoint = Endpoint {
        base_url: url.to_owned(),
        model: MODEL.to_owned(),
        api_key: None,
    };
    let quick = Limits {
        retries: 0,
        ..Limits::default()
    };
    let tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(ReadFile),
        Arc::new(WriteFile),
        Arc::new(Terminal::new(Arc::new(Processes::default())).unwrap()),
        Arc::new(Clarify),
    ];
    Agent::new(AgentParts {
        gate: gate.clone(),
        models: Arc::new(Some(Client::new(endpoint, quick).unwrap())),
        tools: Toolbox::new(tools),
        limits,
        cwd: project.to_owned(),
        crisis_notices: CrisisNotices {
            asked: NOTICE.to_owned(),
            unreachable: UNREACHABLE.to_owned(),
        },
    })
}

async fn principal(gate: &Gate, name: &str, role: Role) -> Principal {
    let key = gate.create_key("test", name, role).await.unwrap();
    Principal {
        key: KeyId(key.id),
        name: name.to_owned(),
        role,
        via: "api".to_owned(),
        tier: Tier::T0,
    }
}

pub(crate) fn answer(approval: &str, choice: Choice) -> Answer {
    Answer {
        approval: ApprovalId(approval.to_owned()),
        choice,
        note: None,
        grant: None,
        args: None,
    }
}

/// A reply that wants to use one tool.
pub(crate) fn uses(id: &str, tool: &str, args: &Value) -> Reply {
    Reply::calls([], &[countersign_testkit::model::Call::new(id, tool, args)])
}
