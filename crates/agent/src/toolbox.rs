//! The tool registry of an agent.

use std::sync::Arc;

use crate::model::ToolSchema;
use crate::tools::{Asks, Tool};

/// The tools an agent has.
#[derive(Clone, Debug, Default)]
pub struct Toolbox {
    tools: Vec<(ToolSchema, Arc<dyn Tool>)>,
}

/// Something an agent can do, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// The tool.
    pub name: String,
    /// What it does, in a sentence.
    pub does: String,
    /// When a person is asked before.
    pub asks: Asks,
}

impl Toolbox {
    /// Returns a box of `tools`.
    pub fn new(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Self {
        Self {
            tools: tools
                .into_iter()
                .map(|tool| (tool.schema(), tool))
                .collect(),
        }
    }

    /// Returns the tool called `name`.
    pub(crate) fn get(&self, name: &str) -> Option<&dyn Tool> {
        let found = self.tools.iter().find(|(schema, _)| schema.name == name);
        found.map(|(_, tool)| &**tool)
    }

    /// Returns how models are told of all of them.
    pub fn schemas(&self) -> Vec<ToolSchema> {
        self.tools
            .iter()
            .map(|(schema, _)| schema.clone())
            .collect()
    }

    /// Returns what they do, for people.
    pub fn skills(&self) -> Vec<Skill> {
        let skill = |(schema, tool): &(ToolSchema, Arc<dyn Tool>)| Skill {
            name: schema.name.clone(),
            does: tool.does(),
            asks: tool.asks(),
        };
        self.tools.iter().map(skill).collect()
    }

    /// Returns their names.
    pub fn names(&self) -> Vec<&str> {
        self.tools
            .iter()
            .map(|(schema, _)| schema.name.as_str())
            .collect()
    }
}
