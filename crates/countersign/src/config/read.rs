//! Converts checked YAML values to policy changes.

use countersign_core::content::crisis::Sensitivity;
use countersign_core::policy::{
    ApprovalsMode, Changes, Example, FirewallMode, PolicyRule, RuleKind, Shape, Trust,
};
use countersign_core::score::Score;
use serde_json::Value;

use super::programs::programs;
use super::schema::{Problem, nearest, word};

/// What a project's file may speak about at all.
const PROJECT_KEYS: &[&str] = &[
    "approvals",
    "crisis",
    "firewall",
    "outbound",
    "review",
    "security",
    "tools",
    "workspaces",
];
/// Keys under those that are the owner's alone.
const OWNERS_KEYS: &[(&str, &str)] = &[
    ("approvals", "timeout"),
    ("approvals", "extend_max"),
    ("approvals", "deny_memory"),
    ("approvals", "undo_seconds"),
    ("approvals", "starter_may_answer"),
    ("approvals", "confirm_critical"),
    ("outbound", "token_ttl"),
];

/// Returns what the owner's file says. `values` has been checked against the schema.
pub(crate) fn changes(values: &Value) -> Result<Changes, Problem> {
    let thresholds = at(values, "approvals.thresholds");
    let (trust, vouched) = trust(values);
    let changes = Changes {
        auto_below: share(at(thresholds, "auto_below")),
        ask_above: share(at(thresholds, "ask_above")),
        confidence_min: share(at(thresholds, "confidence_min")),
        firewall: word(at(values, "firewall.mode")).map(|mode| match mode {
            "observe" => FirewallMode::Observe,
            _ => FirewallMode::Enforce,
        }),
        approvals: word(at(values, "approvals.mode")).map(|mode| match mode {
            "off" => ApprovalsMode::Off,
            "smart" => ApprovalsMode::Smart,
            _ => ApprovalsMode::Manual,
        }),
        deny: rules(values, "deny", RuleKind::Deny)?,
        ask: rules(values, "ask", RuleKind::Ask)?,
        allow: rules(values, "allow", RuleKind::Allow)?,
        approval_required: marked_tools(values),
        require_approval: at(values, "outbound.require_approval").as_bool(),
        review: at(values, "review.enabled").as_bool(),
        trust,
        vouched,
        crisis_notice: at(values, "crisis.notice").as_str().map(str::to_owned),
        crisis_notice_unreachable: at(values, "crisis.notice_unreachable")
            .as_str()
            .map(str::to_owned),
        crisis_help_lines: at(values, "crisis.help_lines").as_array().map(|lines| {
            let lines = lines.iter().filter_map(Value::as_str);
            lines.map(str::to_owned).collect()
        }),
        crisis_sensitivity: word(at(values, "crisis.sensitivity")).map(|it| match it {
            "high" => Sensitivity::High,
            _ => Sensitivity::Default,
        }),
        redact_secrets: at(values, "security.redact_secrets").as_bool(),
        programs: programs(values)?,
    };
    if let (Some(auto), Some(ask)) = (changes.auto_below, changes.ask_above)
        && auto > ask
    {
        let what = format!("{auto} is above ask_above, which is {ask}");
        return Err(Problem::new(
            "approvals.thresholds.auto_below",
            what,
            "set auto_below lower than ask_above",
        ));
    }
    let timed = at(values, "approvals.timeout.channels").as_object();
    for (name, _) in timed.into_iter().flatten() {
        check_channel(values, name)?;
    }
    Ok(changes)
}

/// A time for a channel that is not there would never count, and somebody meant another.
fn check_channel(values: &Value, name: &str) -> Result<(), Problem> {
    let known = at(values, "channels").as_object();
    let mut known = known.into_iter().flatten().map(|(name, _)| name.as_str());
    if known.clone().any(|known| known == name) {
        return Ok(());
    }
    let hint = match nearest(name, known.by_ref()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("configure `channels.{name}`, or remove this timeout"),
    };
    let key = format!("approvals.timeout.channels.{name}");
    Err(Problem::new(&key, "there is no such channel", hint))
}

/// Returns what a project's file says. That it only tightens is checked by the core; that it does
/// not speak about people, channels and keys is checked here.
pub(crate) fn project_changes(values: &Value) -> Result<Changes, Problem> {
    let hint = "move it to the owner's config.yaml";
    let owners = |key: &str| Problem::new(key, "a project may not set this", hint);
    let names = values
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, _)| name.as_str());
    for name in names {
        if !PROJECT_KEYS.contains(&name) {
            return Err(owners(name));
        }
    }
    for (section, name) in OWNERS_KEYS {
        if values
            .get(section)
            .is_some_and(|section| section.get(name).is_some())
        {
            return Err(owners(&format!("{section}.{name}")));
        }
    }
    let changes = changes(values)?;
    let lists = changes.vouched.as_ref().is_some_and(|it| !it.is_empty());
    if lists && !matches!(changes.trust, Some(Trust::Listed(_))) {
        return Err(Problem::new(
            "workspaces.listed",
            "a project may only list fewer workspaces",
            "set `workspaces.trust: listed`, or move it to the owner's config.yaml",
        ));
    }
    Ok(changes)
}

/// Returns what stands under `path`, written with dots; nothing where it is not there.
pub(crate) fn at<'a>(values: &'a Value, path: &str) -> &'a Value {
    path.split('.')
        .try_fold(values, |value, name| value.get(name))
        .unwrap_or(&Value::Null)
}

fn share(value: &Value) -> Option<Score> {
    // The schema has checked that it lies between 0 and 1.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 1000"
    )]
    value
        .as_f64()
        .map(|share| Score::new((share * 1000.0).round() as u16))
}

fn marked_tools(values: &Value) -> Vec<(String, bool)> {
    let tools = values["tools"].as_object().into_iter().flatten();
    tools
        .filter_map(|(name, tool)| Some((name.clone(), at(tool, "approval_required").as_bool()?)))
        .collect()
}

/// Returns which directories count, and the directories that are listed.
fn trust(values: &Value) -> (Option<Trust>, Option<Vec<String>>) {
    let listed = at(values, "workspaces.listed").as_array().map(|listed| {
        let listed = listed.iter().filter_map(Value::as_str);
        listed.map(str::to_owned).collect::<Vec<_>>()
    });
    let trust = match word(at(values, "workspaces.trust")) {
        Some("listed") => Some(Trust::Listed(listed.clone().unwrap_or_default())),
        Some(_) => Some(Trust::All),
        None => None,
    };
    (trust, listed)
}

fn rules(values: &Value, list: &str, kind: RuleKind) -> Result<Vec<PolicyRule>, Problem> {
    let rules = at(values, &format!("approvals.{list}"))
        .as_array()
        .into_iter()
        .flatten();
    rules
        .enumerate()
        .map(|(at, value)| rule(value, &format!("approvals.{list}[{at}]"), kind))
        .collect()
}

fn rule(value: &Value, path: &str, kind: RuleKind) -> Result<PolicyRule, Problem> {
    let text = |key: &str| at(value, key).as_str().map(str::to_owned);
    // A text alone is a command shape.
    let command = value
        .as_str()
        .map(str::to_owned)
        .or_else(|| text("command"));
    let shape = command
        .as_deref()
        .map(|text| Shape::new(text).ok_or_else(|| Problem::new(path, "the command is empty", "")));
    let rule = PolicyRule {
        name: text("name").or(command).unwrap_or_else(|| path.to_owned()),
        tool: text("tool"),
        command: shape.transpose()?,
        path: text("path"),
        recipient: text("recipient"),
        exact: at(value, "exact").as_bool().unwrap_or(false),
        cwd: text("cwd"),
        matches: examples(at(value, "match")),
        not_match: examples(at(value, "not_match")),
    };
    if rule.tool.is_none()
        && rule.command.is_none()
        && rule.path.is_none()
        && rule.recipient.is_none()
    {
        let hint = "give it a tool, a command, a path or a recipient";
        return Err(Problem::new(path, "the rule matches no call", hint));
    }
    let narrows = rule.exact || rule.cwd.is_some();
    if narrows && kind != RuleKind::Allow {
        let hint = "remove it; such a rule holds everywhere";
        let message = "`exact` and `cwd` are for rules that allow";
        return Err(Problem::new(path, message, hint));
    }
    if rule.exact && rule.command.is_none() {
        let message = "`exact` is for rules with a command";
        return Err(Problem::new(path, message, "give it a command"));
    }
    let is_rooted = |path: &String| path.starts_with(['/', '~']);
    if rule.cwd.as_ref().is_some_and(|cwd| !is_rooted(cwd)) {
        let message = "`cwd` must be an absolute path";
        return Err(Problem::new(path, message, "such as /code/shop or ~/shop"));
    }
    let hint = "change the rule or the example";
    rule.check(kind)
        .map_err(|error| Problem::new(path, error.to_string(), hint))?;
    Ok(rule)
}

fn examples(value: &Value) -> Vec<Example> {
    let items = value.as_array().into_iter().flatten();
    items
        .map(|item| match item.as_str() {
            Some(text) => Example::Text(text.to_owned()),
            None => Example::Call {
                tool: at(item, "tool").as_str().unwrap_or_default().to_owned(),
                args: at(item, "args").clone(),
            },
        })
        .collect()
}
