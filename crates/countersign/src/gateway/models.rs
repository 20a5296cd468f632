//! The model of the built-in agent, from the current `config.yaml`: a change takes effect with the
//! next request.

use std::sync::{Mutex, PoisonError};

use countersign_agent::Models;
use countersign_agent::model::Client;
use serde_json::Value;

use super::agent;
use super::policies::{Stamp, stamp};
use crate::config::read::at;
use crate::config::{self, Home};

/// The model of a home.
#[derive(Debug)]
pub(crate) struct FileModels {
    home: Home,
    seen: Mutex<Option<Seen>>,
}

type Outcome = Result<Option<Client>, String>;

/// The content of the file at that state.
#[derive(Clone, Debug)]
struct Seen {
    at: Option<Stamp>,
    model: Outcome,
    others: Vec<String>,
}

impl FileModels {
    /// Returns the model of `home`.
    pub(crate) fn new(home: Home) -> Self {
        Self {
            home,
            seen: Mutex::default(),
        }
    }

    fn read(&self, at: Option<Stamp>) -> Seen {
        let values = config::values(&self.home.file());
        let values = values.map(|values| values.unwrap_or(Value::Null));
        let others = values.as_ref().map_or_else(|_| Vec::new(), others);
        let model = values.and_then(|values| agent::model(&values));
        Seen {
            at,
            model: model.map_err(|complaint| complaint.message().to_owned()),
            others,
        }
    }

    fn seen(&self) -> Seen {
        let at = stamp(&self.home.file());
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(seen) = seen.as_ref().filter(|seen| seen.at == at) {
            return seen.clone();
        }
        let read = self.read(at);
        *seen = Some(read.clone());
        read
    }
}

/// Returns the other models that `values` name.
fn others(values: &Value) -> Vec<String> {
    let names = at(values, "agent.models").as_array();
    let names = names.into_iter().flatten().filter_map(Value::as_str);
    names.map(str::to_owned).collect()
}

impl Models for FileModels {
    fn current(&self) -> Outcome {
        self.seen().model
    }

    fn others(&self) -> Vec<String> {
        self.seen().others
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_configured_while_the_gateway_runs_is_used() {
        let directory = tempfile::tempdir().unwrap();
        let home = Home::new(Some(directory.path().to_owned())).unwrap();
        let models = FileModels::new(home.clone());
        let name = || {
            models
                .current()
                .map(|it| it.map(|it| it.model().to_owned()))
        };
        assert_eq!(name(), Ok(None));
        let half = "agent: { base_url: \"http://127.0.0.1:9/v1\" }\n";
        std::fs::write(home.file(), half).unwrap();
        assert!(name().unwrap_err().contains("needs both"));
        let whole = "agent: { base_url: \"http://127.0.0.1:9/v1\", model: small }\n";
        std::fs::write(home.file(), whole).unwrap();
        assert_eq!(name(), Ok(Some("small".to_owned())));
    }
}
