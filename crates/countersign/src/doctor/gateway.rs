//! Checks of the running gateway: version, readiness, clock, keys, people, channels.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use countersign_channels::chat::State as Found;
use countersign_core::display::inline;
use countersign_gate::base::principal::Role;
use countersign_gate::sessions::crisis::CrisisView;
use countersign_gate::sessions::second_reader::{Examination, ReaderView};
use reqwest::Method;
use serde_json::Value;

use super::home::hook_keys;
use super::report::{Line, Report};
use crate::client::{Answer, Client, segment};
use crate::complaint::Complaint;
use crate::config::Home;
use crate::wire::lists::{ChannelList, PersonList};
use crate::wire::shown::{Diagnosis, Identity};

const GROUP: &str = "gateway";
const CLOCK: &str = "clock";
const KEYS: &str = "keys";
const PEOPLE: &str = "people";
const CRISIS: &str = "crisis";
const CHANNELS: &str = "channels";

/// The version of this program.
pub(super) const OURS: &str = env!("CARGO_PKG_VERSION");
/// How far two clocks may differ, in seconds, before it is worth a look. The gateway tells whole
/// seconds.
const DRIFT_SECONDS: i64 = 3;
/// How far they may differ before tokens fail: what verifiers accept.
const DRIFT_SECONDS_MAX: i64 = 30;

/// Checks that a gateway answers, of our version and with our time. Returns it if it does.
pub(super) fn check(client: Result<Client, Complaint>, report: &mut Report) -> Option<Client> {
    let client = match client {
        Ok(client) => client,
        Err(complaint) => {
            report.add(Line::fail(GROUP, complaint.message(), complaint.hint()));
            return None;
        }
    };
    let health = client.get("/health");
    let is_away = health.is_err();
    report.add(version(&client.url(), health));
    if is_away {
        return None;
    }
    report.add_all(ready(client.ask(Method::GET, "/ready", None)));
    let first = client.get("/v1/models");
    let second = client.get("/v1/models");
    report.add(clock(first, second, now()));
    Some(client)
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_secs()).unwrap_or(0))
}

fn version(url: &str, health: Result<Answer, Complaint>) -> Line {
    let health = match health {
        Ok(health) => health,
        Err(complaint) => return Line::fail(GROUP, complaint.message(), complaint.hint()),
    };
    match health.json()["version"].as_str() {
        Some(OURS) => Line::ok(GROUP, format!("version {OURS} runs at {url}")),
        Some(other) => Line::warn(
            GROUP,
            format!("version {other} runs at {url}, this program is {OURS}"),
            "restart the gateway with this program, or use the program it was started with",
        ),
        None => Line::fail(
            GROUP,
            format!("something else answers at {url}"),
            "is another program listening there? Start the gateway with `countersign serve`",
        ),
    }
}

fn ready(answer: Result<Answer, Complaint>) -> Option<Line> {
    let answer = match answer {
        Ok(answer) if answer.is_success() => return None,
        Ok(answer) => answer,
        Err(complaint) => return Some(Line::fail(GROUP, complaint.message(), complaint.hint())),
    };
    let reasons = answer.json()["reasons"].as_array().into_iter().flatten();
    let reasons: Vec<&str> = reasons.filter_map(Value::as_str).collect();
    Some(Line::fail(
        GROUP,
        format!("it is not ready: {}", reasons.join("; ")),
        "see the gateway's log for the cause",
    ))
}

/// Compares the time of the gateway, asked twice, with ours.
fn clock(first: Result<Answer, Complaint>, second: Result<Answer, Complaint>, now: i64) -> Line {
    let time = |answer: &Answer| answer.json().pointer("/data/0/created")?.as_i64();
    let (first, second) = match (first, second) {
        (Ok(first), Ok(second)) => (time(&first), time(&second)),
        (Err(complaint), _) | (_, Err(complaint)) => {
            return Line::warn(CLOCK, complaint.message(), complaint.hint());
        }
    };
    let (Some(first), Some(second)) = (first, second) else {
        let fix = "are this program and the gateway of the same version?";
        return Line::warn(CLOCK, "the gateway does not tell its time", fix);
    };
    if second < first {
        let fix = "this is a defect; please report it";
        return Line::fail(CLOCK, "the gateway's time went back", fix);
    }
    let drift = second - now;
    let (ahead, by) = (drift > 0, drift.abs());
    if by <= DRIFT_SECONDS {
        return Line::ok(CLOCK, "the gateway's time is ours and never goes back");
    }
    let found = if ahead {
        format!(
            "the gateway's time is {by} s ahead: this machine's clock was set back after the last entry of the ledger"
        )
    } else {
        format!("the gateway's time is {by} s behind")
    };
    let fix = "set the clock (timedatectl set-ntp true); expiry and tokens depend on it";
    if by > DRIFT_SECONDS_MAX {
        Line::fail(CLOCK, found, fix)
    } else {
        Line::warn(CLOCK, found, fix)
    }
}

/// Checks that the command line's key and those of the hooks work, and that no hook's key can
/// answer.
pub(super) fn check_keys(client: &Client, home: &Home) -> Vec<Line> {
    let mut lines = vec![own_key(client.get("/v1/whoami"))];
    for file in hook_keys(home) {
        let key = match std::fs::read_to_string(&file) {
            Ok(key) => key,
            Err(error) => {
                let found = format!("cannot read {}: {error}", file.display());
                lines.push(Line::fail(KEYS, found, "chmod 600 it, as its owner"));
                continue;
            }
        };
        let who = client.with_key(key.trim()).get("/v1/whoami");
        lines.push(hook_key(&file, who));
    }
    lines
}

fn own_key(who: Result<Answer, Complaint>) -> Line {
    match who.and_then(|who| who.read::<Identity>()) {
        Ok(who) if matches!(who.role, Role::Admin | Role::Approver) => Line::ok(
            KEYS,
            format!("cli.key works: {}, {}", who.name, who.role.word()),
        ),
        Ok(who) => Line::warn(
            KEYS,
            format!(
                "the key in use may not answer: it has the role {}",
                who.role.word()
            ),
            "use the key of a person: --key-file FILE",
        ),
        Err(complaint) => Line::fail(
            KEYS,
            format!(
                "the key of the command line does not work: {}",
                complaint.message()
            ),
            "`countersign keys create --role admin --name NAME > cli.key` in the home replaces it",
        ),
    }
}

fn hook_key(file: &Path, who: Result<Answer, Complaint>) -> Line {
    let agent = file.file_stem().unwrap_or_default().to_string_lossy();
    let shown = file.display();
    // The keys of MCP clients are named apart from those of agents.
    let set_up = match agent.strip_prefix("mcp-") {
        Some(client) => format!("countersign init mcp {client}"),
        None => format!("countersign init {agent}"),
    };
    match who.and_then(|who| who.read::<Identity>()) {
        Ok(who) if who.role == Role::Agent => Line::ok(
            KEYS,
            format!("the hook's key of {agent} works and can only ask"),
        ),
        Ok(who) => Line::fail(
            KEYS,
            format!(
                "the hook's key of {agent} has the role {}: the agent could answer its own questions",
                who.role.word()
            ),
            format!(
                "countersign keys revoke {}; rm {shown}; {set_up}",
                segment(&who.key_id)
            ),
        ),
        Err(complaint) => Line::fail(
            KEYS,
            format!(
                "the hook's key of {agent} does not work: {}",
                complaint.message()
            ),
            format!("rm {shown}; {set_up}"),
        ),
    }
}

/// Checks that somebody can answer.
pub(super) fn check_people(client: &Client) -> Vec<Line> {
    let people = client.get("/v1/people").and_then(|it| it.read());
    vec![people_line(people)]
}

fn people_line(people: Result<PersonList, Complaint>) -> Line {
    let people = match people {
        Ok(people) => people.people,
        Err(complaint) => return Line::warn(PEOPLE, complaint.message(), complaint.hint()),
    };
    let answers = |roles: &[String]| roles.iter().any(|it| it == "approver" || it == "admin");
    let able = people.iter().filter(|person| answers(&person.roles));
    let able: Vec<&str> = able.map(|person| person.name.as_str()).collect();
    if able.is_empty() {
        return Line::fail(
            PEOPLE,
            "nobody may answer, so every call that must be asked about is refused",
            "countersign keys create --role approver --name NAME",
        );
    }
    Line::ok(PEOPLE, format!("{} may answer", able.join(", ")))
}

/// Checks that the model that reads messages again for a person in crisis may do so, if there is one.
pub(super) fn check_second_reader(client: &Client) -> Vec<Line> {
    let crisis: Result<CrisisView, Complaint> = client.get("/v1/crisis").and_then(|it| it.read());
    match crisis {
        Ok(crisis) => crisis.readers.iter().map(reader_line).collect(),
        Err(complaint) => vec![Line::warn(CRISIS, complaint.message(), complaint.hint())],
    }
}

fn reader_line(reader: &ReaderView) -> Line {
    let model = inline(&reader.model);
    let found = format!("second reader {model}: {}", inline(&reader.words));
    let whose = if reader.for_all {
        "what is neither cleared nor held waits for a person until then"
    } else {
        "until then messages of the built-in agent that are neither cleared nor held go out as without a second reader"
    };
    match reader.examination {
        Examination::Passed | Examination::UnderWay => Line::ok(CRISIS, found),
        Examination::Failed => {
            let fix = format!("name a stronger model under `auxiliary.tasks.crisis`; {whose}");
            Line::warn(CRISIS, found, fix)
        }
        Examination::NoAnswer => {
            let fix = "check the address and the key of the model; what it should have read waits for a person";
            Line::warn(CRISIS, found, fix)
        }
    }
}

/// Checks each channel as `countersign channels doctor` does.
pub(super) fn check_channels(client: &Client) -> Vec<Line> {
    let list: ChannelList = match client.get("/v1/channels").and_then(|it| it.read()) {
        Ok(list) => list,
        Err(complaint) => {
            return vec![Line::warn(CHANNELS, complaint.message(), complaint.hint())];
        }
    };
    if list.channels.is_empty() {
        let found = "none configured; cards appear in the terminal and on the page";
        return vec![Line::ok(CHANNELS, found)];
    }
    let mut lines = Vec::new();
    for channel in list.channels {
        let path = format!("/v1/channels/{}/doctor", segment(&channel.name));
        match client.get(&path).and_then(|it| it.read()) {
            Ok(diagnosis) => lines.extend(channel_lines(&diagnosis)),
            Err(complaint) => lines.push(Line::warn(
                CHANNELS,
                format!("{}: {}", channel.name, complaint.message()),
                complaint.hint(),
            )),
        }
    }
    lines
}

/// Returns what is not good about a channel, or one line that says all is.
fn channel_lines(diagnosis: &Diagnosis) -> Vec<Line> {
    let name = &diagnosis.channel;
    let mut lines = Vec::new();
    for finding in &diagnosis.findings {
        let found = format!("{name}: {}: {}", finding.check, finding.found);
        match finding.state {
            Found::Good => {}
            Found::Doubtful => lines.push(Line::warn(CHANNELS, found, &finding.fix)),
            Found::Bad => lines.push(Line::fail(CHANNELS, found, &finding.fix)),
        }
    }
    if lines.is_empty() {
        lines.push(Line::ok(CHANNELS, format!("{name} works")));
    }
    lines
}

#[cfg(test)]
mod tests {
    use countersign_channels::chat::Finding;
    use serde_json::json;

    use super::*;
    use crate::doctor::report::plain;

    #[expect(
        clippy::unnecessary_wraps,
        reason = "the gateway's answers come in results"
    )]
    fn answer(status: u16, body: Value) -> Result<Answer, Complaint> {
        Ok(Answer::scripted(status, body))
    }

    fn refused() -> Result<Answer, Complaint> {
        Err(Complaint::failed("this key or cookie is not valid", ""))
    }

    fn who(role: &str) -> Result<Answer, Complaint> {
        let who =
            json!({ "key_id": "key_1", "name": "ana", "role": role, "via": "cli", "tier": "T0" });
        answer(200, who)
    }

    #[test]
    fn another_version_and_another_program_are_told_apart() {
        let url = "http://127.0.0.1:8750";
        let lines = [
            version(url, answer(200, json!({ "status": "ok", "version": OURS }))),
            version(
                url,
                answer(200, json!({ "status": "ok", "version": "0.0.9" })),
            ),
            version(url, answer(200, json!({ "hello": "world" }))),
            version(url, Err(Complaint::unreachable("no gateway at it"))),
        ];
        let shown = plain(&lines).replace(OURS, "OURS");
        insta::assert_snapshot!(shown, @r"
        ✓ ok   gateway       version OURS runs at http://127.0.0.1:8750
        ! warn gateway       version 0.0.9 runs at http://127.0.0.1:8750, this program is OURS → restart the gateway with this program, or use the program it was started with
        ✗ FAIL gateway       something else answers at http://127.0.0.1:8750 → is another program listening there? Start the gateway with `countersign serve`
        ✗ FAIL gateway       no gateway at it → start one with `countersign serve`, or name it with --url and --key-file
        ");
    }

    #[test]
    fn a_gateway_that_is_not_ready_says_why() {
        assert_eq!(ready(answer(200, json!({ "status": "ready" }))), None);
        let reasons = json!({ "status": "not_ready", "reasons": ["the store does not respond"] });
        let line = ready(answer(503, reasons)).unwrap();
        insta::assert_snapshot!(plain(&[line]), @"✗ FAIL gateway       it is not ready: the store does not respond → see the gateway's log for the cause");
    }

    #[test]
    fn the_clock_is_compared_both_ways() {
        let at = |time: i64| answer(200, json!({ "data": [{ "created": time }] }));
        let rows = [
            (1000, 1000, 1002),
            (1000, 1000, 1010),
            (1000, 1000, 1031),
            (1100, 1100, 1000),
            (1000, 999, 1000),
        ];
        let lines = rows.map(|(first, second, now)| clock(at(first), at(second), now));
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   clock         the gateway's time is ours and never goes back
        ! warn clock         the gateway's time is 10 s behind → set the clock (timedatectl set-ntp true); expiry and tokens depend on it
        ✗ FAIL clock         the gateway's time is 31 s behind → set the clock (timedatectl set-ntp true); expiry and tokens depend on it
        ✗ FAIL clock         the gateway's time is 100 s ahead: this machine's clock was set back after the last entry of the ledger → set the clock (timedatectl set-ntp true); expiry and tokens depend on it
        ✗ FAIL clock         the gateway's time went back → this is a defect; please report it
        ");
    }

    #[test]
    fn a_hook_s_key_that_could_answer_is_a_failure() {
        let file = Path::new("/home/ana/.countersign/hooks/codex.key");
        let lines = [
            own_key(who("admin")),
            own_key(who("viewer")),
            own_key(refused()),
            hook_key(file, who("agent")),
            hook_key(file, who("admin")),
            hook_key(file, refused()),
        ];
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   keys          cli.key works: ana, admin
        ! warn keys          the key in use may not answer: it has the role viewer → use the key of a person: --key-file FILE
        ✗ FAIL keys          the key of the command line does not work: this key or cookie is not valid → `countersign keys create --role admin --name NAME > cli.key` in the home replaces it
        ✓ ok   keys          the hook's key of codex works and can only ask
        ✗ FAIL keys          the hook's key of codex has the role admin: the agent could answer its own questions → countersign keys revoke key_1; rm /home/ana/.countersign/hooks/codex.key; countersign init codex
        ✗ FAIL keys          the hook's key of codex does not work: this key or cookie is not valid → rm /home/ana/.countersign/hooks/codex.key; countersign init codex
        ");
    }

    #[test]
    fn somebody_must_be_able_to_answer() {
        let people = |list: Value| {
            let list = json!({ "people": list, "next": null });
            people_line(answer(200, list).and_then(|it| it.read()))
        };
        let lines = [
            people(
                json!([{ "name": "ana", "roles": ["approver"] }, { "name": "ben", "roles": ["viewer"] }]),
            ),
            people(json!([{ "name": "ben", "roles": ["viewer"] }])),
            people(json!([])),
        ];
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   people        ana may answer
        ✗ FAIL people        nobody may answer, so every call that must be asked about is refused → countersign keys create --role approver --name NAME
        ✗ FAIL people        nobody may answer, so every call that must be asked about is refused → countersign keys create --role approver --name NAME
        ");
    }

    #[test]
    fn a_channel_is_one_line_if_it_is_good_and_one_for_each_defect_otherwise() {
        let finding = |state: Found, fix: &str| Finding {
            check: "token".to_owned(),
            state,
            found: "seen".to_owned(),
            fix: fix.to_owned(),
        };
        let mut diagnosis = Diagnosis {
            channel: "team".to_owned(),
            findings: vec![finding(Found::Good, "")],
        };
        let mut lines = channel_lines(&diagnosis);
        diagnosis.findings.push(finding(Found::Doubtful, "look"));
        diagnosis.findings.push(finding(Found::Bad, "repair"));
        lines.extend(channel_lines(&diagnosis));
        insta::assert_snapshot!(plain(&lines), @r"
        ✓ ok   channels      team works
        ! warn channels      team: token: seen → look
        ✗ FAIL channels      team: token: seen → repair
        ");
    }
}
