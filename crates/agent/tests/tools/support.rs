//! A gate on a database of its own, a project to work in, and a person who says yes.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use countersign_agent::BoxFuture;
use countersign_agent::outbound::{
    Approval, Chat, Cleared, Contacts, Mail, Mailer, Messenger, SendFailed,
};
use countersign_agent::tools::{Around, Outcome, SendEmail, SendMessage, Tool, attached};
use countersign_channels::smtp::{Letter, Smtp, SmtpError, SmtpSettings, SmtpTls};
use countersign_channels::{Channel as _, Recorder};
use countersign_core::approval::Choice;
use countersign_core::call::ToolCall;
use countersign_core::id::{ApprovalId, KeyId};
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_gate::base::clock::Clock;
use countersign_gate::base::principal::{Principal, Role};
use countersign_gate::base::settings::{OnePolicy, Settings};
use countersign_gate::base::signer::Signer;
use countersign_gate::calls::permit::{Permit, Presented};
use countersign_gate::records::request::{Reply, Submission};
use countersign_gate::records::view::CallView;
use countersign_gate::{Gate, GateError, Parts};
use countersign_store::Database;
use serde_json::Value;
use tokio::sync::watch;

/// When every test begins.
pub(crate) const START: UnixMillis = UnixMillis(1_700_000_000_000);

/// A gate, a project and two people's keys.
pub(crate) struct World {
    pub(crate) gate: Gate,
    pub(crate) clock: Clock,
    pub(crate) ana: Principal,
    pub(crate) around: Around,
    pub(crate) stop: watch::Sender<bool>,
    pub(crate) project: PathBuf,
    _home: tempfile::TempDir,
}

pub(crate) async fn world() -> World {
    world_with(Policy::default()).await
}

pub(crate) async fn world_with(mut policy: Policy) -> World {
    let home = tempfile::tempdir().unwrap();
    let real = home.path().canonicalize().unwrap();
    let project = real.join("project");
    std::fs::create_dir(&project).unwrap();
    // It lies in scratch space, so the owner lists it.
    policy.vouched.push(project.display().to_string());
    let clock = Clock::manual(START);
    let gate = open(&real, &clock, policy).await;
    let agent = principal(&gate, "agent", Role::Agent).await;
    let ana = principal(&gate, "ana", Role::Approver).await;
    let (stop, stopped) = watch::channel(false);
    let around = Around {
        gate: gate.clone(),
        who: agent,
        cwd: project.clone(),
        session: "s1".to_owned(),
        run: "run_1".to_owned(),
        stop: stopped,
    };
    World {
        gate,
        clock,
        ana,
        around,
        stop,
        project,
        _home: home,
    }
}

pub(crate) async fn open(home: &Path, clock: &Clock, policy: Policy) -> Gate {
    let store = Database::sqlite(&home.join("countersign.db"))
        .await
        .unwrap();
    Gate::open(Parts {
        store,
        clock: clock.clone(),
        signer: Signer::from_seed([7; 32]),
        policies: Arc::new(OnePolicy::new(policy)),
        settings: Settings::default(),
        channels: Vec::new(),
    })
    .await
    .unwrap()
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

impl World {
    /// Submits a call as a dispatcher does.
    pub(crate) async fn submit(&self, tool: &dyn Tool, args: Value) -> CallView {
        let args = tool.resolved(args).unwrap();
        let attachments = attached(tool, &args, &self.project).await.unwrap();
        let call = ToolCall {
            tool: tool.schema().name,
            args,
            ..ToolCall::default().from_directory(self.project.to_string_lossy())
        };
        let submission = Submission {
            call,
            session: self.around.session.clone(),
            run: Some(self.around.run.clone()),
            attachments,
            ..Submission::default()
        };
        self.gate
            .submit(&self.around.who, submission)
            .await
            .unwrap()
    }

    /// Lets a person say yes to a call that waits, and collects the token.
    pub(crate) async fn approved(&self, call: CallView) -> CallView {
        let Some(approval) = call.approval_id.clone().filter(|_| call.is_waiting()) else {
            return call;
        };
        let reply = Reply {
            approval: ApprovalId(approval),
            choice: Choice::Once,
            note: None,
            grant: None,
            args: None,
        };
        self.gate.answer(&self.ana, reply).await.unwrap();
        let wait = std::time::Duration::ZERO;
        let who = &self.around.who;
        self.gate.call(who, &call.call_id, wait).await.unwrap()
    }

    /// Returns the permit for a call that was let through.
    pub(crate) async fn taken_up(&self, call: &CallView) -> Result<Permit, GateError> {
        let who = &self.around.who;
        self.gate
            .take_up(who, &call.call_id, call.token.as_deref())
            .await
    }

    /// Does all of it: judged, approved where that is asked for, run.
    pub(crate) async fn run(&self, tool: &dyn Tool, args: Value) -> Outcome {
        let call = self.submit(tool, args).await;
        let call = self.approved(call).await;
        let permit = self.taken_up(&call).await.unwrap();
        tool.run(permit, &self.around).await
    }

    /// Tries to run a tool with a token that came some other way.
    pub(crate) async fn try_with_token(
        &self,
        tool: &dyn Tool,
        action: Presented,
        token: &str,
    ) -> Result<Outcome, GateError> {
        let Around { who, session, .. } = &self.around;
        let permit = self.gate.redeem(who, session, action, token).await?;
        Ok(tool.run(permit, &self.around).await)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.project.join(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.project.join(name)).unwrap()
    }
}

/// A chat that keeps what it is given.
#[derive(Clone, Debug)]
pub(crate) struct Chats(pub(crate) Recorder);

impl Messenger for Chats {
    fn send(&self, message: Cleared<Chat>) -> BoxFuture<'_, Result<(), SendFailed>> {
        Box::pin(async move {
            let chat = message.content();
            assert_eq!(chat.channel(), "mattermost");
            self.0
                .send(chat.address(), &chat.text, message.key())
                .await
                .map_err(|error| SendFailed::NotSent(error.to_string()))
        })
    }
}

/// A mailer that keeps what it is given.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sink(Arc<Mutex<Vec<Mail>>>);

impl Sink {
    pub(crate) fn sent(&self) -> Vec<Mail> {
        self.0.lock().unwrap().clone()
    }
}

impl Mailer for Sink {
    fn send(&self, mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>> {
        self.0.lock().unwrap().push(mail.content().clone());
        Box::pin(async { Ok(()) })
    }
}

pub(crate) fn contacts() -> Arc<Contacts> {
    let named = [("ana", "mattermost:@ana"), ("bo", "bo@example.org")];
    let named = named.map(|(name, address)| (name.to_owned(), address.to_owned()));
    Arc::new(Contacts::new(named).unwrap())
}

pub(crate) fn send_message() -> (SendMessage, Recorder) {
    let recorder = Recorder::new("mattermost");
    let chats = Arc::new(Chats(recorder.clone()));
    let tool = SendMessage::new(contacts(), chats, Approval::Required);
    (tool, recorder)
}

pub(crate) fn send_email(mailer: impl Mailer + 'static) -> SendEmail {
    SendEmail::new(contacts(), Arc::new(mailer), Approval::Required)
}

/// Returns a mailer for a server on this machine.
pub(crate) fn smtp(port: u16) -> Post {
    let smtp = Smtp::new(SmtpSettings {
        host: "127.0.0.1".to_owned(),
        port,
        username: None,
        password: None,
        from: "Countersign <agent@example.org>".to_owned(),
        tls: SmtpTls::None,
    });
    Post(smtp.unwrap())
}

/// Sends letters to a server.
#[derive(Debug)]
pub(crate) struct Post(Smtp);

impl Mailer for Post {
    fn send(&self, mail: Cleared<Mail>) -> BoxFuture<'_, Result<(), SendFailed>> {
        Box::pin(async move {
            let content = mail.content();
            let files = content.attachments.iter().cloned();
            let letter = Letter {
                to: content.address().to_owned(),
                subject: content.subject.clone(),
                text: content.body.clone(),
                attachments: files.zip(mail.attachments().iter().cloned()).collect(),
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
