//! The policy: rules match what they say, examples are checked, and a project only tightens.

use countersign_core::assessment::{Assessment, AssessmentMarks, SideEffect};
use countersign_core::call::ToolCall;
use countersign_core::content::crisis::{AN_UNSURE_TEXT, Sensitivity};
use countersign_core::judge::judge;
use countersign_core::knowledge::owners::Programs;
use countersign_core::policy::{
    ApprovalsMode, Changes, Example, ExampleError, FirewallMode, Policy, PolicyRule, RuleKind,
    Shape, Trust, situation,
};
use countersign_core::score::Score;
use countersign_core::verdict::{Rule, Thresholds, Verdict, verdict};
use proptest::prelude::*;

fn by_command(shape: &str) -> PolicyRule {
    PolicyRule {
        name: shape.to_owned(),
        command: Shape::new(shape),
        ..PolicyRule::default()
    }
}

#[test]
fn a_deny_rule_finds_its_command_wherever_it_would_run() {
    #[rustfmt::skip]
    let rows = [
        // shape                command                                              found
        ("git push --force",  "git push --force",                                   true),
        ("git push --force",  "git push origin main --force",                       true),
        ("git push --force",  "git -C repo push --force",                           true),
        ("git push --force",  "/usr/bin/git push --force",                          true),
        ("git push --force",  "sudo -u deploy git push --force",                    true),
        ("git push --force",  "cd repo && git push --force; ls",                    true),
        ("git push --force",  "echo $(git push --force)",                           true),
        ("git push --force",  "bash -c 'git push --force'",                         true),
        ("git push --force",  "bash <<E\ngit push --force\nE",                      true),
        ("git push --force",  "echo 'git push --force' | sh",                       true),
        ("git push --force",  "timeout 5 env A=b git push --force",                 true),
        ("git push --force",  "if true; then git push --force; fi",                 true),
        ("git push --force",  "f() { git push --force; }; f",                       true),
        ("git push --force",  "cat <(git push --force)",                            true),
        ("git push --force",  "ssh host git push --force",                          true),
        ("git push --force",  "git push",                                           false),
        ("git push --force",  "echo git push --force",                              false),
        ("git push --force",  "git commit -m 'git push --force'",                   false),
        ("git push --force",  "git log --grep='push --force'",                      false),
        ("rm -rf *",          "rm -r -f build",                                     false),
        ("rm -rf *",          "rm -fr build",                                       true),
        ("npm publish",       "npm run publish",                                    false),
        ("terraform destroy", "terraform -chdir=x destroy -auto-approve",           true),
        ("* --help",          "anything --help",                                    true),
    ];
    for (shape, command, found) in rows {
        let rule = by_command(shape);
        assert_eq!(
            rule.matches(&ToolCall::command(command), RuleKind::Deny),
            found,
            "{shape} in {command}"
        );
    }
}

#[test]
fn an_allow_rule_covers_nothing_but_its_words() {
    #[rustfmt::skip]
    let rows = [
        // shape             command                         covered
        ("npm run build",  "npm run build",                true),
        ("npm run build",  "npm run build --watch",        true),
        ("npm run build",  "npm run build && npm run build", true),
        ("npm run build",  "npm run build && rm -rf x",    false),
        ("npm run build",  "npm run build > out",          false),
        ("npm run build",  "npm run build $(id)",          false),
        ("npm run build",  "npm run build `id`",           false),
        ("npm run build",  "npm run build $X",             false),
        ("npm run build",  "A=b npm run build",            false),
        ("npm run build",  "npm run builder",              false),
        ("npm run build",  "npm --prefix x run build",     false),
        ("npm run build",  "/tmp/npm run build",           false),
        ("npm run build",  "sudo npm run build",           false),
        ("npm run build",  "npm run build &",              false),
        ("npm run build",  "npm run build <<E\nx\nE",      false),
        ("npm run build",  "npm run",                      false),
        ("npm run *",      "npm run anything",             true),
        ("make",           "make {a,b}",                   false),
        ("make",           "",                             false),
    ];
    for (shape, command, covered) in rows {
        let rule = by_command(shape);
        assert_eq!(
            rule.matches(&ToolCall::command(command), RuleKind::Allow),
            covered,
            "{shape} for {command}"
        );
    }
}

#[test]
fn an_allow_rule_may_be_bound_to_its_exact_words_and_to_a_directory() {
    let rule = PolicyRule {
        exact: true,
        cwd: Some("/code/shop".to_owned()),
        ..by_command("npm run build")
    };
    #[rustfmt::skip]
    let rows = [
        // command                          from                covered
        ("npm run build",                  Some("/code/shop"), true),
        ("npm run build",                  Some("/code/shop/api"), true),
        ("npm run build",                  Some("/code/shop2"), false),
        ("npm run build",                  Some("/code/shop/../blog"), false),
        ("npm run build",                  Some("/code"),      false),
        ("npm run build",                  Some("shop"),       false),
        ("npm run build",                  None,               false),
        ("npm run build --watch",          Some("/code/shop"), false),
        ("npm run",                        Some("/code/shop"), false),
        ("npm run build && npm run build", Some("/code/shop"), false),
        ("npm run build > out",            Some("/code/shop"), false),
        ("npm run build &",                Some("/code/shop"), false),
        ("A=b npm run build",              Some("/code/shop"), false),
        ("npm run build <<E\nx\nE",        Some("/code/shop"), false),
    ];
    for (command, from, covered) in rows {
        let call = ToolCall {
            cwd: from.map(str::to_owned),
            ..ToolCall::command(command)
        };
        let covers = rule.matches(&call, RuleKind::Allow);
        assert_eq!(covers, covered, "{command} from {from:?}");
    }
    // What an asker claims about its directory must not narrow a prohibition.
    let elsewhere = ToolCall::command("npm run build --watch").from_directory("/tmp");
    assert!(rule.matches(&elsewhere, RuleKind::Deny));
    assert!(rule.matches(&elsewhere, RuleKind::Ask));
}

#[test]
fn a_command_in_words_is_read_as_the_command_it_is() {
    let call = ToolCall {
        tool: "shell".to_owned(),
        args: serde_json::json!({ "command": ["git", "push", "--force"] }),
        ..ToolCall::default()
    };
    assert!(by_command("git push --force").matches(&call, RuleKind::Deny));
    assert!(by_command("git push").matches(&call, RuleKind::Allow));
    assert!(!by_command("git").matches(&ToolCall::command("git; rm x"), RuleKind::Allow));
}

fn by_path(path: &str) -> PolicyRule {
    PolicyRule {
        name: path.to_owned(),
        path: Some(path.to_owned()),
        ..PolicyRule::default()
    }
}

fn write(path: &str) -> ToolCall {
    ToolCall {
        tool: "write_file".to_owned(),
        args: serde_json::json!({ "path": path, "content": "x" }),
        ..ToolCall::default()
    }
}

#[test]
fn a_path_rule_sees_through_the_spelling_of_a_path() {
    #[rustfmt::skip]
    let rows = [
        // pattern        path                          fits
        ("/srv/**",     "/srv/www/index.html",        true),
        ("/srv/**",     "/srv/../srv/www",            true),
        ("/srv/**",     "/tmp/../srv//www",           true),
        ("/srv/**",     "/srv/../etc/passwd",         false),
        ("/srv/*",      "/srv/www",                   true),
        ("/srv/*",      "/srv/www/index.html",        false),
        ("/srv/**/*.pem", "/srv/a/b/key.pem",         true),
        ("/srv/**/*.pem", "/srv/a/b/key.txt",         false),
        ("~/.ssh/**",   "~/.ssh/config",              true),
    ];
    for (pattern, path, fits) in rows {
        assert_eq!(
            by_path(pattern).matches(&write(path), RuleKind::Deny),
            fits,
            "{pattern} for {path}"
        );
    }
}

#[test]
fn a_path_rule_that_denies_looks_into_commands_and_one_that_allows_does_not() {
    let rule = by_path("/srv/**");
    for command in [
        "rm /srv/www",
        "echo x > /srv/www",
        "dd if=a of=/srv/disk",
        "ls; (cat /srv/x)",
    ] {
        let call = ToolCall::command(command);
        assert!(rule.matches(&call, RuleKind::Deny), "{command}");
        assert!(!rule.matches(&call, RuleKind::Allow), "{command}");
    }
}

#[test]
fn a_recipient_rule_allows_only_if_every_recipient_fits() {
    let rule = PolicyRule {
        recipient: Some("*@example.org".to_owned()),
        ..PolicyRule::default()
    };
    let to = |to: serde_json::Value| ToolCall {
        tool: "send_email".to_owned(),
        args: serde_json::json!({ "to": to }),
        ..ToolCall::default()
    };
    assert!(rule.matches(&to("Ana@Example.org".into()), RuleKind::Allow));
    let both = to(serde_json::json!(["ana@example.org", "eve@example.net"]));
    assert!(!rule.matches(&both, RuleKind::Allow));
    assert!(rule.matches(&both, RuleKind::Deny));
}

#[test]
fn a_rule_that_breaks_its_examples_is_named_with_the_example() {
    let mut rule = by_command("git push --force");
    rule.matches = vec![Example::Text("git push".to_owned())];
    let missed = ExampleError::Missed {
        rule: "git push --force".to_owned(),
        example: "git push".to_owned(),
    };
    assert_eq!(rule.check(RuleKind::Deny), Err(missed));
    rule.matches.clear();
    rule.not_match = vec![Example::Text("git push -q --force".to_owned())];
    let error = rule.check(RuleKind::Deny).unwrap_err();
    assert_eq!(
        error.to_string(),
        "rule `git push --force` matches `git push -q --force`, which is listed under not_match"
    );
}

#[test]
fn a_listed_workspace_holds_for_what_lies_in_it_and_for_nothing_else() {
    let policy = Policy {
        trust: Trust::Listed(vec!["/srv/app".to_owned()]),
        ..Policy::default()
    };
    let rows = [
        ("/srv/app", true),
        ("/srv/app/src", true),
        ("/srv/application", false),
        ("/srv/app/../x", false),
        ("/", false),
    ];
    for (path, trusted) in rows {
        assert_eq!(policy.trusts(Some(path)), trusted, "{path}");
    }
    assert!(!policy.trusts(None));
}

#[test]
fn an_outbound_tool_asks_unless_the_owner_says_otherwise() {
    let call = ToolCall {
        tool: "send_message".to_owned(),
        ..ToolCall::default()
    };
    let sends = Assessment {
        marks: AssessmentMarks {
            sender: true,
            ..AssessmentMarks::default()
        },
        ..harmless()
    };
    let asks = |policy: &Policy| situation(policy, &call, &sends).approval_required;
    assert!(asks(&Policy::default()));
    assert!(!asks(&Policy {
        approval_required: vec![("send_message".to_owned(), false)],
        ..Policy::default()
    }));
    assert!(!asks(&Policy {
        require_approval: false,
        ..Policy::default()
    }));
}

fn harmless() -> Assessment {
    Assessment {
        tool_name: String::new(),
        risk: Score::ZERO,
        confidence: Score::ONE,
        side_effect: SideEffect::ReadOnly,
        reversible: true,
        crisis_sensitive: false,
        outbound: false,
        reasons: Vec::new(),
        factors: Vec::new(),
        findings: Vec::new(),
        marks: AssessmentMarks::default(),
    }
}

fn any_score() -> impl Strategy<Value = Score> {
    (0_u16..=1000).prop_map(Score::new)
}

fn any_assessment() -> impl Strategy<Value = Assessment> {
    use SideEffect::{Critical, External, LocalReversible, ReadOnly};
    let effect = prop::sample::select(vec![ReadOnly, LocalReversible, External, Critical]);
    let marks = prop::array::uniform8(prop::bool::weighted(0.2)).prop_map(|it| AssessmentMarks {
        floor: it[0],
        unreadable: it[1],
        guard: it[2],
        money: it[3],
        sender: it[4],
        dangerous_terminal: it[5],
        rollback: it[6],
        crisis_unsure: it[7],
    });
    (any_score(), any_score(), effect, any::<[bool; 3]>(), marks).prop_map(
        |(risk, confidence, side_effect, [reversible, crisis_sensitive, outbound], marks)| {
            Assessment {
                risk,
                confidence,
                side_effect,
                reversible,
                crisis_sensitive,
                outbound,
                marks,
                ..harmless()
            }
        },
    )
}

fn any_rules() -> impl Strategy<Value = Vec<PolicyRule>> {
    let commands = ["ls", "git push", "rm -rf", "npm run build", "*"]
        .map(by_command)
        .to_vec();
    let mut rules = commands;
    rules.push(by_path("/srv/**"));
    rules.push(PolicyRule {
        tool: Some("send_*".to_owned()),
        ..PolicyRule::default()
    });
    prop::collection::vec(prop::sample::select(rules), 0..3)
}

fn any_marked_tools() -> impl Strategy<Value = Vec<(String, bool)>> {
    let name = prop::sample::select(vec!["terminal", "send_message", "send_*", "write_file"]);
    prop::collection::vec((name.prop_map(str::to_owned), any::<bool>()), 0..3)
}

fn any_trust() -> impl Strategy<Value = Trust> {
    let path = prop::sample::select(vec!["/a", "/a/b", "/c", "~/app"]).prop_map(str::to_owned);
    prop_oneof![
        Just(Trust::All),
        prop::collection::vec(path, 0..3).prop_map(Trust::Listed)
    ]
}

fn any_sensitivity() -> impl Strategy<Value = Sensitivity> {
    prop::sample::select(vec![Sensitivity::Default, Sensitivity::High])
}

fn any_changes() -> impl Strategy<Value = Changes> {
    use prop::option::of;
    let modes = (
        of(prop::sample::select(vec![
            FirewallMode::Enforce,
            FirewallMode::Observe,
        ])),
        of(prop::sample::select(vec![
            ApprovalsMode::Manual,
            ApprovalsMode::Smart,
            ApprovalsMode::Off,
        ])),
    );
    let lines = (of(any_score()), of(any_score()), of(any_score()));
    let flags = (of(any::<bool>()), of(any::<bool>()), of(any::<bool>()));
    let rules = (
        any_rules(),
        any_rules(),
        prop_oneof![3 => Just(Vec::new()), 1 => any_rules()],
    );
    (
        lines,
        modes,
        rules,
        any_marked_tools(),
        flags,
        of(any_trust()),
        of(any_sensitivity()),
    )
        .prop_map(
            |(
                (auto_below, ask_above, confidence_min),
                (firewall, approvals),
                (deny, ask, allow),
                approval_required,
                flags,
                trust,
                crisis_sensitivity,
            )| Changes {
                auto_below,
                ask_above,
                confidence_min,
                firewall,
                approvals,
                deny,
                ask,
                allow,
                approval_required,
                require_approval: flags.0,
                review: flags.1,
                vouched: trust
                    .as_ref()
                    .map(|_| vec!["/srv".to_owned(), "/tmp".to_owned()]),
                trust,
                crisis_notice: None,
                crisis_notice_unreachable: None,
                crisis_help_lines: None,
                crisis_sensitivity,
                redact_secrets: flags.2,
                programs: Programs::default(),
            },
        )
}

fn any_call() -> impl Strategy<Value = ToolCall> {
    prop::sample::select(vec![
        ToolCall::command("ls"),
        ToolCall::command("git push --force"),
        ToolCall::command("npm run build"),
        ToolCall::command("rm -rf /srv/www"),
        write("/srv/www"),
        ToolCall::command("./build.sh").from_directory("/tmp/job"),
        ToolCall::command("npm test").from_directory("/srv/app"),
        ToolCall {
            tool: "send_message".to_owned(),
            args: serde_json::json!({ "to": "ana" }),
            ..ToolCall::default()
        },
    ])
}

/// Makes of any changes such as a project may make, so that the law is tried on many of them.
fn tightening(policy: &Policy, mut changes: Changes) -> Changes {
    let thresholds: Thresholds = policy.thresholds;
    changes.auto_below = changes
        .auto_below
        .map(|score| score.min(thresholds.auto_below));
    changes.ask_above = changes
        .ask_above
        .map(|score| score.min(thresholds.ask_above));
    changes.confidence_min = changes
        .confidence_min
        .map(|score| score.max(thresholds.confidence_min));
    changes.allow.clear();
    changes.approval_required.retain(|(_, required)| *required);
    changes.require_approval = changes.require_approval.filter(|it| *it);
    changes.review = changes.review.filter(|it| !*it);
    changes.redact_secrets = changes.redact_secrets.filter(|it| *it);
    changes.trust = changes.trust.filter(|it| *it != Trust::All);
    changes.crisis_sensitivity = changes
        .crisis_sensitivity
        .filter(|it| *it >= policy.crisis_sensitivity);
    changes
}

proptest! {
    /// What a project's file is allowed to say never makes any call easier.
    ///
    /// Grants are a matter of the moment and the same on both sides. Earlier denials are left
    /// out: rule 4 comes before rule 7, so a tool that a project marks is asked about again.
    #[test]
    fn a_project_never_loosens(
        owner in any_changes(), project in any_changes(), tamed: bool,
        assessment in any_assessment(), call in any_call(), granted: bool,
    ) {
        let policy = Policy::default().with(owner);
        let project = if tamed { tightening(&policy, project) } else { project };
        let Ok(tightened) = policy.clone().tightened(project) else { return Ok(()) };
        let rule = |policy: &Policy| -> Verdict {
            let mut now = situation(policy, &call, &assessment);
            now.granted = granted;
            verdict(&assessment, &now).verdict
        };
        let (before, after) = (rule(&policy), rule(&tightened));
        prop_assert!(before <= after, "{before:?} became {after:?}");
        for path in ["/a", "/a/b", "/c/d", "~/app/x", "/"] {
            prop_assert!(policy.trusts(Some(path)) || !tightened.trusts(Some(path)), "{path}");
        }
    }

    /// No text makes the matching of a shape fail or hang.
    #[test]
    fn any_command_can_be_held_against_a_shape(command in "\\PC{0,200}", shape in "[a-z* -]{1,20}") {
        if let Some(shape) = Shape::new(&shape) {
            let _found = shape.found_in(&command);
            let _covered = shape.covers(&command);
        }
    }
}

#[test]
fn what_would_loosen_is_an_error_that_names_the_key() {
    #[rustfmt::skip]
    let rows = [
        ("approvals.thresholds.auto_below", Changes { auto_below: Some(Score::new(300)), ..Changes::default() }),
        ("approvals.thresholds.ask_above", Changes { ask_above: Some(Score::new(700)), ..Changes::default() }),
        ("approvals.thresholds.confidence_min", Changes { confidence_min: Some(Score::new(600)), ..Changes::default() }),
        ("approvals.mode", Changes { approvals: Some(ApprovalsMode::Off), ..Changes::default() }),
        ("firewall.mode", Changes { firewall: Some(FirewallMode::Observe), ..Changes::default() }),
        ("approvals.allow", Changes { allow: vec![by_command("ls")], ..Changes::default() }),
        ("tools.x.approval_required", Changes { approval_required: vec![("x".to_owned(), false)], ..Changes::default() }),
        ("outbound.require_approval", Changes { require_approval: Some(false), ..Changes::default() }),
        ("review.enabled", Changes { review: Some(true), ..Changes::default() }),
        ("crisis.notice", Changes { crisis_notice: Some("all is well".to_owned()), ..Changes::default() }),
        ("crisis.notice_unreachable", Changes { crisis_notice_unreachable: Some("all is well".to_owned()), ..Changes::default() }),
        ("crisis.help_lines", Changes { crisis_help_lines: Some(vec!["call me".to_owned()]), ..Changes::default() }),
        ("security.redact_secrets", Changes { redact_secrets: Some(false), ..Changes::default() }),
    ];
    for (key, changes) in rows {
        assert_eq!(Policy::default().tightened(changes).unwrap_err().key, key);
    }
}

#[test]
fn a_higher_sensitivity_holds_what_the_default_leaves_open_and_a_project_may_only_raise_it() {
    let call = ToolCall {
        tool: "send_message".to_owned(),
        args: serde_json::json!({ "to": "sam", "text": AN_UNSURE_TEXT }),
        ..ToolCall::default()
    };
    let set_to = |sensitivity| Policy {
        crisis_sensitivity: sensitivity,
        ..Policy::default()
    };
    let usual = judge(&set_to(Sensitivity::Default), &call).assessment;
    assert!(!usual.crisis_sensitive && usual.marks.crisis_unsure);
    let high = judge(&set_to(Sensitivity::High), &call);
    assert!(high.assessment.crisis_sensitive && !high.assessment.marks.crisis_unsure);
    assert_eq!(high.ruling.rule, Rule::CrisisGate);
    let says = |sensitivity| Changes {
        crisis_sensitivity: Some(sensitivity),
        ..Changes::default()
    };
    let raised = set_to(Sensitivity::Default).tightened(says(Sensitivity::High));
    assert_eq!(raised.unwrap().crisis_sensitivity, Sensitivity::High);
    let lowered = set_to(Sensitivity::High).tightened(says(Sensitivity::Default));
    assert_eq!(lowered.unwrap_err().key, "crisis.sensitivity");
}
