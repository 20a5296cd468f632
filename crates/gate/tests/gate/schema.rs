//! The mirrors in the API's schema against the core's types: the same words, the same fields.

use countersign_core::approval::Choice;
use countersign_core::assessment::{Severity, SideEffect};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Field, Mark};
use countersign_core::digest::Digest;
use countersign_core::grant::{CommandShape, Scope, Within};
use countersign_core::judge::judge;
use countersign_core::ledger::{Draft, Entry, GENESIS};
use countersign_core::policy::Policy;
use countersign_core::record;
use countersign_core::status::Risk;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_core::verdict::{Pattern, Verdict};
use countersign_gate::records::schema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use utoipa::PartialSchema;

/// Compares the words of a core enum with those its mirror describes. The match has no wildcard, so
/// a new variant of the core has to be added here.
macro_rules! same_words {
    ($($name:ident: $($variant:ident)*;)*) => {$(
        let word = |it: $name| match it {
            $($name::$variant => json!(it),)*
        };
        let words = vec![$(word($name::$variant)),*];
        let described = json!(<schema::$name as PartialSchema>::schema());
        assert_eq!(described["enum"], json!(words), stringify!($name));
    )*};
}

#[test]
fn the_schema_has_the_words_of_the_core() {
    same_words! {
        Verdict: Allow AllowThenReview Ask Refuse;
        Pattern: PreExecutionGate PostExecutionReview ConfidenceThreshold;
        SideEffect: ReadOnly LocalReversible External Critical;
        Severity: Info Low Medium High Catastrophic;
        Choice: Once Session Always Deny;
        Tier: T0 T1 T2 T3 T4;
    }
}

/// Reads what the core wrote into the mirror; a field that one of them lacks is a difference.
fn same_fields<Mirror: Serialize + DeserializeOwned>(written: &Value) {
    let read: Mirror = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(&json!(read), written);
}

#[test]
fn the_schema_has_the_fields_of_an_assessment() {
    for command in ["ls", "rm -rf /srv/www", "rm -rf /"] {
        let judged = judge(&Policy::default(), &ToolCall::command(command.to_owned()));
        let mut out = Vec::new();
        record::write(&mut out, None, &judged);
        same_fields::<schema::AssessmentView>(&serde_json::from_slice(&out).unwrap());
    }
}

#[test]
fn the_schema_has_the_fields_of_a_card_and_of_an_entry() {
    let field = Field {
        name: "command".to_owned(),
        text: "ls".to_owned(),
        code: true,
        marks: vec![Mark {
            start: 0,
            end: 2,
            severity: Severity::High,
            words: "lists files".to_owned(),
        }],
    };
    let card = Card {
        approval_id: "apr_1".to_owned(),
        title: "Run a command".to_owned(),
        risk: Risk::Low,
        reasons: vec!["lists files".to_owned()],
        tool: "terminal".to_owned(),
        command: "ls".to_owned(),
        body: vec![field.clone()],
        lineage: vec![field],
        help_lines: vec!["112".to_owned()],
        explanation: None,
        choices: vec![Choice::Once, Choice::Deny],
        expires_at: UnixMillis(1),
        on_timeout: "It does not run.".to_owned(),
        tier: Tier::T0,
        digest: GENESIS.to_string(),
        outcome: None,
    };
    same_fields::<schema::Card>(&json!(card));
    same_fields::<schema::Entry>(&json!(Entry::seal(Draft::default(), 1, GENESIS)));
}

#[test]
fn the_schema_has_the_fields_of_every_scope() {
    let digest: Digest = GENESIS;
    let within = Within {
        effects: vec!["read".to_owned()],
        risk: 10,
        side_effect: SideEffect::ReadOnly,
        outbound: false,
        irreversible: false,
        unknown: false,
    };
    let tool = || "terminal".to_owned();
    let scopes = [
        Scope::Exact {
            tool: tool(),
            arguments: digest,
            shown: "ls".to_owned(),
            cwd: None,
            within: within.clone(),
        },
        Scope::Command {
            tool: tool(),
            shapes: vec![CommandShape {
                join: String::new(),
                words: vec!["ls".to_owned()],
                redirects: Vec::new(),
                open: None,
            }],
            cwd: None,
            others: digest,
            within: within.clone(),
        },
        Scope::Reason {
            tool: tool(),
            shapes: Vec::new(),
            beside: Vec::new(),
            workspace: "/srv".to_owned(),
            cwd: None,
            causes: vec!["fs.delete: deletes".to_owned()],
            others: digest,
            within: within.clone(),
        },
        Scope::Path {
            tool: tool(),
            prefix: "/srv".to_owned(),
            others: digest,
            within: within.clone(),
        },
        Scope::Recipient {
            tool: tool(),
            recipient: "ana".to_owned(),
            others: digest,
            within,
        },
    ];
    for scope in scopes {
        same_fields::<schema::Scope>(&json!(scope));
    }
}
