//! Grants: what may be granted, in which words, and what lies inside.

#![expect(clippy::panic, reason = "tests may fail loudly")]

mod handles;
mod pairs;

use countersign_core::call::{ToolCall, Turn};
use countersign_core::digest::Digest;
use countersign_core::grant::{Caller, Grant, Scope, candidates};
use countersign_core::id::{ApprovalId, GrantId, KeyId};
use countersign_core::judge::{Judged, consider, judge};
use countersign_core::policy::{Policy, PolicyRule, Shape};
use countersign_core::time::UnixMillis;
use countersign_core::verdict::{Rule, Situation, Verdict, verdict};
use pairs::pairs;
use serde_json::{Value, json};

const HERE: &str = "/code/shop";

fn shell(command: &str) -> ToolCall {
    ToolCall::command(command).from_directory(HERE)
}

fn tool(tool: &str, args: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        args,
        ..ToolCall::default()
    }
    .from_directory(HERE)
}

/// Asks about everything, so that mild calls have candidates too; messages may be granted.
fn asking() -> Policy {
    Policy {
        ask: vec![PolicyRule {
            tool: Some("*".to_owned()),
            ..PolicyRule::default()
        }],
        require_approval: false,
        ..Policy::default()
    }
}

fn offered(policy: &Policy, call: &ToolCall) -> Vec<Scope> {
    let Judged { assessment, ruling } = judge(policy, call);
    candidates(call, &assessment, &ruling)
}

/// The widest grant that is offered for `call`.
fn widest(call: &ToolCall) -> Scope {
    let scopes = offered(&asking(), call);
    scopes
        .last()
        .cloned()
        .unwrap_or_else(|| panic!("nothing is offered for {call:?}"))
}

fn covers(scope: &Scope, call: &ToolCall) -> bool {
    scope.covers(call, &judge(&asking(), call).assessment)
}

#[test]
fn what_is_offered_is_said_in_words() {
    let rows = [
        shell("rm -rf data"),
        shell("cd build && rm -rf out; git push --force origin main"),
        shell("npm publish 2>&1 | tee publish.log"),
        shell("rm -f notes.txt"),
        shell("frobnicate --check 'a b'"),
        shell("sudo systemctl restart nginx"),
        shell(
            "curl -H 'Authorization: Bearer hu9Xk2pq7TbW4zR8mN3v' -d a=1 https://api.example.org/x",
        ),
        tool("write_file", json!({"path": "docs/a.md", "content": "x"})),
        tool("write_file", json!({"path": "a.md", "content": "x"})),
        tool(
            "write_file",
            json!({"path": "/opt/data/a.md", "content": "x"}),
        ),
        tool(
            "write_file",
            json!({"path": ".github/workflows/ci.yml", "content": "x"}),
        ),
        tool("send_message", json!({"to": "#builds", "text": "green"})),
        tool("mcp__acme__frobnicate", json!({"level": 3})),
    ];
    let said: Vec<String> = rows
        .iter()
        .map(|call| {
            let words: Vec<String> = offered(&asking(), call).iter().map(Scope::words).collect();
            format!("{}\n  {}", call.args, words.join("\n  "))
        })
        .collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn some_calls_are_asked_about_every_time() {
    let mut crisis = tool("send_message", json!({"to": "sam", "text": "good night"}));
    crisis.replying_to = vec![Turn {
        from: "sam".to_owned(),
        text: "I want to kill myself tonight".to_owned(),
    }];
    let rows = [
        ("the floor", shell("rm -rf /")),
        (
            "money",
            tool("create_payment", json!({"amount": 5, "to": "x"})),
        ),
        (
            "the firewall",
            shell("countersign keys create --role admin --name me"),
        ),
        ("a person in crisis", crisis),
        ("code in a shell", shell("bash -c 'rm -rf data'")),
        (
            "code in an interpreter",
            shell("python3 -c 'import shutil; shutil.rmtree(\"data\")'"),
        ),
        (
            "code behind a wrapper",
            shell("sudo env A=1 sh -c 'rm -rf data'"),
        ),
        (
            "code behind a program nobody knows",
            shell("frobnicate sh -c 'rm -rf data'"),
        ),
        ("code on another machine", shell("ssh web rm -rf data")),
        (
            "code in a container",
            shell("docker exec web sh -c 'rm -rf data'"),
        ),
        ("code from a pipe", shell("cat x.sh | sh")),
        (
            "code from a printed text",
            shell("echo 'rm -rf data' | bash"),
        ),
        ("code from a redirection", shell("python3 < x.py")),
        ("code in a document", shell("sh <<E\nrm -rf data\nE")),
        ("names from a pipe", shell("ls | xargs rm -rf")),
        ("an evaluated text", shell("eval 'rm -rf data'")),
        (
            "a script that is read in",
            shell("source ./x.sh; rm -rf data"),
        ),
        ("a variable", shell("rm -rf $DIR")),
        ("a substitution", shell("rm -rf $(cat dirs)")),
        ("a pattern", shell("rm -rf data/*")),
        ("braces", shell("rm -rf {a,b}")),
        ("a home", shell("rm -rf ~/data")),
        ("an assignment", shell("GIT_SSH_COMMAND=x git push --force")),
        ("a background job", shell("rm -rf data &")),
        ("a group", shell("(cd x; rm -rf data)")),
        ("a loop", shell("for x in a b; do rm -rf \"$x\"; done")),
        ("a function", shell("f() { rm -rf data; }; f")),
        (
            "output outside the workspace",
            shell("npm publish > /opt/log"),
        ),
        (
            "output into a sensitive file",
            shell("npm publish > .git/hooks/pre-push"),
        ),
        ("output after a move", shell("cd /opt && npm publish > log")),
        ("a comment", shell("rm -rf data # tidy")),
        ("text that cannot be parsed", shell("rm -rf 'data")),
        ("letters that deceive", shell("rm -rf d\u{430}ta \u{202e}x")),
        (
            "variables beside the command",
            tool("bash", json!({"command": "rm -rf data", "env": {"A": "1"}})),
        ),
        (
            "text typed into the command",
            tool("bash", json!({"command": "rm -rf data", "stdin": "y"})),
        ),
        (
            "code of a tool",
            tool(
                "execute_code",
                json!({"code": "import os; os.system('id')"}),
            ),
        ),
        (
            "a tool called through another",
            tool(
                "call_tool",
                json!({"tool_name": "terminal", "arguments": {"command": "rm -rf data"}}),
            ),
        ),
        (
            "a file sent along",
            tool(
                "send_message",
                json!({"to": "ana", "text": "x", "file": "a.pdf"}),
            ),
        ),
        ("arguments that are none", tool("frobnicate", Value::Null)),
        (
            "numbers that fall together",
            tool("frobnicate", json!({"id": 9_007_199_254_740_993_u64})),
        ),
    ];
    for (name, call) in rows {
        let scopes = offered(&asking(), &call);
        assert!(
            scopes.is_empty(),
            "{name}: {:?}",
            scopes.iter().map(Scope::words).collect::<Vec<_>>()
        );
    }
    let marked = tool("send_message", json!({"to": "ana", "text": "hi"}));
    assert!(
        offered(&Policy::default(), &marked).is_empty(),
        "a tool marked as needing approval"
    );
    assert!(
        offered(&Policy::default(), &shell("ls")).is_empty(),
        "a call that runs anyway"
    );
}

#[test]
fn a_grant_covers_what_its_words_say_and_nothing_more() {
    for (name, granted, other, inside) in pairs() {
        let scope = widest(&granted);
        assert!(
            covers(&scope, &granted),
            "{name}: not even itself: {}",
            scope.words()
        );
        assert_eq!(covers(&scope, &other), inside, "{name}: {}", scope.words());
    }
}

#[test]
fn the_value_of_an_option_is_not_taken_for_the_subcommand() {
    let scope = widest(&shell("git -C vendor/evil status"));
    for other in [
        "git -C vendor/evil log",
        "git -C vendor/evil status extra",
        "git -C vendor/evil clean",
    ] {
        assert!(!covers(&scope, &shell(other)), "{other}: {}", scope.words());
    }
}

#[test]
fn a_grant_is_read_back_as_it_was_written() {
    for (name, granted, _, _) in pairs() {
        for scope in offered(&asking(), &granted) {
            let written = serde_json::to_string(&scope).unwrap();
            let read: Scope = serde_json::from_str(&written).unwrap();
            assert_eq!(read, scope, "{name}");
            assert!(
                !scope.words().is_empty() && !scope.words().contains('\n'),
                "{name}"
            );
        }
    }
}

fn grant(scope: Scope) -> Grant {
    Grant {
        id: GrantId("grant_1".to_owned()),
        scope,
        key: KeyId("key_a".to_owned()),
        session: Some("s1".to_owned()),
        tool_definition: Some(Digest::of(b"definition")),
        executor: "tool:terminal".to_owned(),
        expires_at: Some(UnixMillis(1000)),
        uses_left: Some(3),
        uses: 0,
        used_at: None,
        by: "ana".to_owned(),
        given_at: UnixMillis(0),
        approval_id: ApprovalId("appr_1".to_owned()),
        revoked: None,
    }
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one row for each way in which a grant does not hold"
)]
fn a_grant_belongs_to_one_key_session_and_definition_and_ends() {
    let call = shell("rm -rf data");
    let assessment = judge(&asking(), &call).assessment;
    let (own, other) = (KeyId("key_a".to_owned()), KeyId("key_b".to_owned()));
    let definition = Some(Digest::of(b"definition"));
    let base = grant(widest(&call));
    let held = |grant: &Grant, key: &KeyId, session: &str, tool_definition, now| {
        let caller = Caller {
            key,
            session,
            tool_definition,
            executor: "tool:terminal",
            is_asked_by_rule: false,
            is_denied: false,
        };
        grant.covers(caller, &call, &assessment, UnixMillis(now))
    };
    let changed = |change: fn(&mut Grant)| {
        let mut grant = base.clone();
        change(&mut grant);
        grant
    };
    let revoked = changed(|grant| grant.revoked = Some(("ana".to_owned(), UnixMillis(1))));
    let used_up = changed(|grant| grant.uses_left = Some(0));
    let forever = changed(|grant| {
        grant.session = None;
        grant.expires_at = None;
        grant.uses_left = None;
    });
    let run_elsewhere = changed(|grant| grant.executor = "tool:terminal@prod".to_owned());
    let undefined = changed(|grant| grant.tool_definition = None);
    let rows = [
        (
            "its own call",
            held(&base, &own, "s1", definition, 999),
            true,
        ),
        (
            "another session",
            held(&base, &own, "s2", definition, 0),
            false,
        ),
        (
            "another key with the same session",
            held(&base, &other, "s1", definition, 0),
            false,
        ),
        (
            "another definition of the tool",
            held(&base, &own, "s1", Some(Digest::of(b"new")), 0),
            false,
        ),
        (
            "a definition that is gone",
            held(&base, &own, "s1", None, 0),
            false,
        ),
        (
            "a definition that is new",
            held(&undefined, &own, "s1", definition, 0),
            false,
        ),
        (
            "run by somebody else",
            held(&run_elsewhere, &own, "s1", definition, 0),
            false,
        ),
        (
            "the very moment it ends",
            held(&base, &own, "s1", definition, 1000),
            false,
        ),
        ("used up", held(&used_up, &own, "s1", definition, 0), false),
        (
            "taken back",
            held(&revoked, &own, "s1", definition, 0),
            false,
        ),
        (
            "given for good, another session",
            held(&forever, &own, "s2", definition, i64::MAX),
            true,
        ),
        (
            "given for good, another key",
            held(&forever, &other, "s1", definition, 0),
            false,
        ),
    ];
    let wrong = rows
        .into_iter()
        .find(|(_, covers, wanted)| covers != wanted);
    assert_eq!(wrong, None);
}

/// What "always" did elsewhere and must not do here.
#[test]
fn always_does_not_do_what_it_did_elsewhere() {
    let call = shell("git push --force origin main");
    let granted = |policy: &Policy, call: &ToolCall| {
        let scope = widest(&shell("git push --force origin main"));
        let (assessment, situation) = consider(policy, call);
        let situation = Situation {
            granted: scope.covers(call, &assessment),
            ..situation
        };
        verdict(&assessment, &situation)
    };
    assert_eq!(granted(&asking(), &call).rule, Rule::Granted);
    let denying = Policy {
        deny: vec![PolicyRule {
            command: Shape::new("git push --force"),
            ..PolicyRule::default()
        }],
        ..asking()
    };
    assert_eq!(
        granted(&denying, &call).verdict,
        Verdict::Refuse,
        "it does not beat a deny rule"
    );
    for (name, other) in [
        (
            "it does not answer other questions of the program",
            shell("git push --force origin release"),
        ),
        (
            "it does not answer for the whole program",
            shell("git reset --hard"),
        ),
        (
            "it does not answer a question about every tool",
            tool("mcp__git__push", json!({"force": true})),
        ),
    ] {
        assert_eq!(granted(&asking(), &other).verdict, Verdict::Ask, "{name}");
    }
}

#[test]
fn a_claim_that_makes_the_same_words_worse_is_not_covered() {
    let inside = shell("rm -rf dist/data");
    let scope = widest(&inside);
    let mut other = inside.clone();
    other.workspace = Some("/code/elsewhere".to_owned());
    let (was, is) = (
        judge(&asking(), &inside).assessment,
        judge(&asking(), &other).assessment,
    );
    assert!(is.risk > was.risk, "{} {}", is.risk, was.risk);
    assert!(!scope.covers(&other, &is));
}
