//! The rows of the tables in `knowledge/`, as they are written there.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::languages::LanguageRow;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tables {
    /// `system` at the top of a file: its programs come with a system, and a package of such a name is
    /// another program.
    #[serde(default)]
    pub(crate) origin: Option<String>,
    #[serde(default)]
    pub(crate) program: Vec<ProgramRow>,
    #[serde(default)]
    pub(crate) sub: Vec<SubRow>,
    #[serde(default)]
    pub(crate) verbs: Vec<VerbsRow>,
    #[serde(default)]
    pub(crate) path: Vec<PathRow>,
    #[serde(default)]
    pub(crate) host: Vec<HostRow>,
    #[serde(default)]
    pub(crate) route: Vec<RouteRow>,
    #[serde(default)]
    pub(crate) tree: Vec<TreeRow>,
    #[serde(default)]
    pub(crate) answer: Vec<AnswerRow>,
    #[serde(default)]
    pub(crate) variable: Vec<VariableRow>,
    #[serde(default)]
    pub(crate) tool: Vec<ToolRow>,
    #[serde(default)]
    pub(crate) handle: Vec<HandleRow>,
    #[serde(default)]
    pub(crate) language: Vec<LanguageRow>,
    #[serde(default)]
    pub(crate) names: Vec<NamesRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProgramRow {
    pub(crate) names: Vec<String>,
    /// Whether it comes with a system and not with a registry of packages.
    #[serde(skip)]
    pub(crate) of_system: bool,
    #[serde(default)]
    pub(crate) does: Option<String>,
    #[serde(default)]
    pub(crate) options: Option<String>,
    /// The manual all options were looked up in, for `options = "any"`.
    #[serde(default)]
    pub(crate) manual: Option<String>,
    #[serde(default)]
    pub(crate) style: Option<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    /// Options that may stand before the subcommand and after it.
    #[serde(default)]
    pub(crate) everywhere: Vec<String>,
    #[serde(default)]
    pub(crate) operands: String,
    #[serde(default)]
    pub(crate) reader: Option<String>,
    #[serde(default)]
    pub(crate) subs: bool,
    #[serde(default)]
    pub(crate) verbs: Option<String>,
    #[serde(default)]
    pub(crate) verb_words: Option<u8>,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubRow {
    pub(crate) of: Vec<String>,
    pub(crate) names: Vec<String>,
    pub(crate) does: String,
    #[serde(default)]
    pub(crate) options: Option<String>,
    /// The manual all options were looked up in, for `options = "any"`.
    #[serde(default)]
    pub(crate) manual: Option<String>,
    #[serde(default)]
    pub(crate) style: Option<String>,
    #[serde(default)]
    pub(crate) flags: Vec<String>,
    #[serde(default)]
    pub(crate) operands: String,
    #[serde(default)]
    pub(crate) reader: Option<String>,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VerbsRow {
    pub(crate) name: String,
    pub(crate) words: BTreeMap<String, Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PathRow {
    pub(crate) like: Vec<String>,
    pub(crate) what: String,
    pub(crate) kind: String,
    #[serde(default)]
    pub(crate) read: u16,
    #[serde(default)]
    pub(crate) write: u16,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HostRow {
    pub(crate) like: Vec<String>,
    pub(crate) what: String,
    pub(crate) kind: String,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RouteRow {
    pub(crate) like: Vec<String>,
    pub(crate) what: String,
    pub(crate) kind: String,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TreeRow {
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    #[serde(default)]
    pub(crate) tools: Vec<String>,
    #[serde(default)]
    pub(crate) with: Vec<String>,
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    #[serde(default)]
    pub(crate) skips_hidden: bool,
    #[serde(default)]
    pub(crate) unhides: Vec<String>,
    #[serde(default)]
    pub(crate) only: Vec<String>,
    #[serde(default)]
    pub(crate) not: Vec<String>,
    #[serde(default)]
    pub(crate) here: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerRow {
    pub(crate) programs: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct VariableRow {
    pub(crate) names: Vec<String>,
    pub(crate) what: String,
    pub(crate) value: String,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolRow {
    pub(crate) names: Vec<String>,
    pub(crate) does: String,
    #[serde(default)]
    pub(crate) class: Option<String>,
    #[serde(default)]
    pub(crate) outbound: bool,
    #[serde(default)]
    pub(crate) builtin: bool,
    #[serde(default)]
    pub(crate) args: BTreeMap<String, String>,
    #[serde(default)]
    pub(crate) when: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub(crate) what: String,
    #[serde(default, rename = "match")]
    pub(crate) matches: Vec<String>,
    #[serde(default)]
    pub(crate) not_match: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HandleRow {
    pub(crate) what: String,
    #[serde(default)]
    pub(crate) arguments: Vec<String>,
    #[serde(default)]
    pub(crate) values: Vec<String>,
    #[serde(default)]
    pub(crate) programs: Vec<String>,
    #[serde(default)]
    pub(crate) options: Vec<String>,
    #[serde(default)]
    pub(crate) words: Vec<String>,
    #[serde(rename = "match")]
    pub(crate) matches: Vec<String>,
    pub(crate) not_match: Vec<String>,
}

/// A list of names; exactly one of the columns after `what` holds it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NamesRow {
    pub(crate) list: String,
    pub(crate) what: String,
    #[serde(default)]
    pub(crate) words: Vec<String>,
    #[serde(default)]
    pub(crate) pairs: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) roles: Vec<(String, String)>,
    #[serde(default)]
    pub(crate) groups: Vec<(String, Vec<String>)>,
}
