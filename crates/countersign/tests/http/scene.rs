//! A gateway whose built-in agent thinks with a scripted model, in a directory of its own.

use std::path::PathBuf;

use countersign_testkit::model::{Call, MODEL, ModelServer, Reply};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Gateway, Said};

pub(crate) struct Scene {
    pub(crate) gateway: Gateway,
    pub(crate) model: ModelServer,
    /// Where the agent works.
    pub(crate) work: PathBuf,
    _directory: TempDir,
}

/// A call of the terminal.
pub(crate) fn shell(id: &str, command: &str) -> Call {
    Call::new(id, "terminal", &json!({ "command": command }))
}

impl Scene {
    pub(crate) fn new(script: Vec<Reply>) -> Self {
        Self::configured(script, "")
    }

    pub(crate) fn configured(script: Vec<Reply>, config: &str) -> Self {
        let model = ModelServer::start(script).unwrap();
        let directory = tempfile::tempdir().unwrap();
        let work = directory.path().canonicalize().unwrap();
        let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work });
        let gateway = Gateway::configured(&format!("agent: {agent}\n{config}"));
        Self {
            gateway,
            model,
            work,
            _directory: directory,
        }
    }

    /// Makes a directory in the user's home with something in it that is worth asking about.
    pub(crate) fn precious(&self, name: &str) -> PathBuf {
        let directory = self.gateway.home().join(name);
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("file"), "x").unwrap();
        directory
    }

    /// Starts a run as the owner and returns its id.
    pub(crate) fn run(&self, body: &Value) -> String {
        let said = self.gateway.post(&self.gateway.admin(), "/v1/runs", body);
        assert_eq!(said.status, 202, "{said:?}");
        assert_eq!(said.body["status"], "started");
        said.body["run_id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn start(&self, input: &str) -> String {
        self.run(&json!({ "input": input }))
    }

    pub(crate) fn status(&self, run: &str) -> Value {
        let path = format!("/v1/runs/{run}");
        let said = self.gateway.get(&self.gateway.admin(), &path);
        assert_eq!(said.status, 200, "{said:?}");
        said.body
    }

    /// Waits for the first question there is, and returns what is told of it to `key`.
    pub(crate) fn asked(&self, key: &str) -> Value {
        let mut events = self.gateway.events(key, "/v1/events", Some(0));
        events.named("approval.required").1
    }

    /// Waits until the run has this status.
    pub(crate) fn wait_for(&self, run: &str, status: &str) -> Value {
        self.when(run, |shown| shown["status"] == status)
    }

    /// Waits until so many questions of the run wait, and returns their ids.
    pub(crate) fn waiting(&self, run: &str, count: usize) -> Vec<String> {
        let pending = |shown: &Value| shown["pending_approvals"].as_array().unwrap().len();
        let shown = self.when(run, |shown| pending(shown) == count);
        assert_eq!(shown["status"], "waiting_for_approval", "{shown}");
        let ids = shown["pending_approvals"].as_array().unwrap().iter();
        ids.map(|it| it["approval_id"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Looks at a run each time something happens to it, until it looks as wanted.
    pub(crate) fn when(&self, run: &str, is_wanted: impl Fn(&Value) -> bool) -> Value {
        let path = format!("/v1/runs/{run}/events");
        let mut events = self.gateway.events(&self.gateway.admin(), &path, None);
        loop {
            let shown = self.status(run);
            if is_wanted(&shown) {
                return shown;
            }
            // The stream ends with the run; after that nothing changes any more.
            if events.any().is_none() {
                let shown = self.status(run);
                assert!(is_wanted(&shown), "it ended otherwise: {shown}");
                return shown;
            }
        }
    }

    pub(crate) fn approve(&self, run: &str, body: &Value) -> Said {
        let path = format!("/v1/runs/{run}/approval");
        self.gateway.post(&self.gateway.admin(), &path, body)
    }

    /// Returns every event of the run, from its beginning to its end.
    pub(crate) fn events(&self, run: &str) -> Vec<Value> {
        let path = format!("/v1/runs/{run}/events");
        let admin = self.gateway.admin();
        self.gateway.events(&admin, &path, None).rest()
    }

    /// Returns what the model was told last by a tool.
    pub(crate) fn told_by_tool(&self) -> String {
        let requests = self.model.requests();
        let messages = requests.last().unwrap()["messages"].as_array().unwrap();
        let tool = messages.iter().rfind(|it| it["role"] == "tool").unwrap();
        tool["content"].as_str().unwrap().to_owned()
    }
}

/// Returns the names of events, in order.
pub(crate) fn names(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|it| it["event"].as_str().unwrap())
        .collect()
}

/// Checks that these events come in this order, whatever comes between.
pub(crate) fn assert_order(events: &[Value], wanted: &[&str]) {
    let names = names(events);
    let mut rest = names.iter();
    for name in wanted {
        assert!(
            rest.any(|it| it == name),
            "{name} is not where it should be: {names:?}"
        );
    }
}

/// Returns what was said in pieces.
pub(crate) fn said(events: &[Value]) -> String {
    let pieces = events.iter().filter(|it| it["event"] == "message.delta");
    pieces.map(|it| it["delta"].as_str().unwrap()).collect()
}
