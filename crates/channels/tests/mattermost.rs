//! The channel against a strict server: what it posts, what it believes, what it keeps in order.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use std::time::Duration;

use countersign_channels::chat::{Callback, Chat as _, Heard, Received, Route, Since, State};
use countersign_channels::mattermost::{Mattermost, MattermostSettings};
use countersign_channels::order::{Aftermath, Attempt, Destination, Order, Subject};
use countersign_channels::press::{Click, Press, Standing, Untrusted};
use countersign_channels::seal::Seal;
use countersign_channels::{Channel as _, DeliveryError};
use countersign_core::approval::{Approval, Choice, State as Life};
use countersign_core::call::ToolCall;
use countersign_core::card::{Card, Definition, Lineage, Redacts};
use countersign_core::command::TABLE;
use countersign_core::digest::Digest;
use countersign_core::id::ApprovalId;
use countersign_core::policy::Policy;
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use countersign_testkit::mattermost::{
    Fault, MattermostServer, Person, Place, RateLimit, Settings, SiteUrl, Version,
};
use countersign_testkit::relay::Relay;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tokio::sync::mpsc;

/// How long anything may take before a test fails.
const PATIENCE: Duration = Duration::from_mins(1);

/// A channel of a bot in a team, and somebody who sees what it does.
struct Scene {
    runtime: Runtime,
    channel: Mattermost,
    server: MattermostServer,
    place: Place,
    relay: Relay,
    ana: Person,
}

impl Scene {
    fn new(settings: Settings) -> Self {
        let server = MattermostServer::start(settings).unwrap();
        let place = Place::prepare(server.url(), server.admin_token()).unwrap();
        let ana = place.person("ana").unwrap();
        let relay = Relay::start().unwrap();
        let runtime = Runtime::new().unwrap();
        let channel = Mattermost::new(settings_of(&place, &relay)).unwrap();
        Self {
            runtime,
            channel,
            server,
            place,
            relay,
            ana,
        }
    }

    fn deliver(&self, order: &Order) -> Result<String, DeliveryError> {
        let delivered = self.runtime.block_on(self.channel.deliver(order));
        delivered.map(|delivered| delivered.reference)
    }

    fn posts(&self) -> Vec<Value> {
        self.place.posts(&self.place.channel_id)
    }

    /// Clicks and returns what the server sends, which nobody has answered.
    fn captured(&self, post: &str, action: &str) -> Value {
        // By its version, the server says so one way or the other.
        let status = self.ana.click(post, action).status;
        assert!(matches!(status, 400 | 503), "{status}");
        let passed = self.relay.passed();
        serde_json::from_slice(&passed.last().unwrap().body).unwrap()
    }

    fn receive(&self, body: &Value) -> Received {
        let body = body.to_string();
        let headers = reqwest::header::HeaderMap::new();
        let received = self.channel.receive(Callback {
            route: Route::Action,
            headers: &headers,
            body: body.as_bytes(),
        });
        self.runtime.block_on(received)
    }

    /// Follows what happens until the returned half is dropped.
    fn follow(&self, at: Option<i64>) -> mpsc::Receiver<Heard> {
        let (tell, heard) = mpsc::channel(64);
        let channel = self.channel.clone();
        let since = Since { at, cursor: None };
        self.runtime
            .spawn(async move { channel.follow(since, tell).await });
        heard
    }

    fn listens(&self) {
        let bot = &self.place.bot.id;
        let path = format!("/users/{bot}/channels");
        assert!(self.server.wait_for_hits(|hits| {
            hits.iter().any(|hit| hit.path == path && hit.status == 200)
        }));
    }
}

fn settings_of(place: &Place, relay: &Relay) -> MattermostSettings {
    MattermostSettings {
        name: "mattermost".to_owned(),
        url: place.url.clone(),
        token: place.bot.token().to_owned(),
        team: Some(place.team_name.clone()),
        channel: Some(place.channel_name.clone()),
        callback_url: Some(relay.url()),
        commands: true,
        command_prefix: "cs-".to_owned(),
        talk: true,
        mention: true,
        accounts: vec!["mattermost".to_owned()],
    }
}

fn order(number: usize, attempt: Attempt) -> Order {
    let call = ToolCall::command(format!("rm -rf /srv/number{number}"));
    let approval = Approval {
        id: ApprovalId(format!("appr_{number}")),
        digest: Digest::of(format!("{number}").as_bytes()),
        asked_at: UnixMillis(0),
        expires_at: UnixMillis(4_000_000_000_000),
        choices: vec![Choice::Once, Choice::Session, Choice::Always, Choice::Deny],
        extended_millis: 0,
        undo_millis: 0,
        state: Life::Waiting,
    };
    let lineage = Lineage {
        key_name: "laptop".to_owned(),
        agent: Some("claude".to_owned()),
        run: "run_1".to_owned(),
        session: "s1".to_owned(),
        explanation: None,
        tier: Tier::T0,
        known_recipients: None,
        help_lines: Vec::new(),
        definition: Definition::Unsaid,
    };
    let judged = countersign_core::judge::judge(&Policy::default(), &call);
    let card = Card::new(
        &approval,
        &call,
        &judged.assessment,
        &lineage,
        Redacts::Secrets,
    );
    Order {
        what: Subject::Card(Box::new(card)),
        key: format!("appr_{number}:mattermost"),
        to: Destination::Usual,
        since: UnixMillis(0),
        attempt,
        is_opened: false,
        closing: None,
        is_crisis: false,
        aftermath: Aftermath::default(),
        callees: Vec::new(),
        seal: Seal::new([7; 32]),
    }
}

fn clicked(received: Received) -> Click {
    match received {
        Received::Click { click, .. } => *click,
        other @ (Received::Typed(_)
        | Received::Refused(_)
        | Received::Nothing
        | Received::Done(_)) => {
            panic!("no click: {other:?}")
        }
    }
}

#[test]
fn a_card_is_posted_on_every_version_and_its_click_is_believed() {
    for version in Version::ALL {
        let scene = Scene::new(Settings::of(version));
        let reference = scene.deliver(&order(1, Attempt::First)).unwrap();
        let (place, post) = reference.split_once('/').unwrap();
        assert_eq!(place, scene.place.channel_id);
        let click = clicked(scene.receive(&scene.captured(post, "once")));
        assert_eq!(click.transport, Ok(()), "{version:?}");
        assert_eq!(click.press, Press::Choose(Choice::Once));
        assert_eq!(click.subject, "appr_1");
        assert_eq!(click.reference, reference);
        assert_eq!(click.clicker.account, scene.ana.id);
        assert_eq!(click.clicker.standing, Standing::Person);
    }
}

#[test]
fn what_the_server_did_not_sign_is_not_believed() {
    let scene = Scene::new(Settings::default());
    let reference = scene.deliver(&order(1, Attempt::First)).unwrap();
    let (_, post) = reference.split_once('/').unwrap();
    let transport = |change: &dyn Fn(&mut Value)| {
        let mut body = scene.captured(post, "once");
        change(&mut body);
        clicked(scene.receive(&body)).transport
    };
    let signed = |apart: i64| {
        let passed = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
        let now = i64::try_from(passed.as_millis()).unwrap();
        json!(scene.server.signer().trigger_id(&scene.ana.id, now + apart))
    };
    assert_eq!(transport(&|_| {}), Ok(()));
    assert_eq!(
        transport(&|body| body["trigger_id"] = json!("")),
        Err(Untrusted::Unsigned)
    );
    assert_eq!(
        transport(&|body| body["trigger_id"] = signed(-61_000)),
        Err(Untrusted::Stale)
    );
    assert_eq!(
        transport(&|body| body["trigger_id"] = signed(61_000)),
        Err(Untrusted::Stale)
    );
    assert_eq!(
        transport(&|body| body["trigger_id"] = signed(-1000)),
        Ok(())
    );
    let others = transport(&|body| body["user_id"] = json!(scene.place.bot.id));
    assert_eq!(others, Err(Untrusted::OtherPerson));
}

#[test]
fn a_delivery_whose_answer_was_lost_is_found_again_also_by_another_process() {
    let settings = Settings {
        pending_post_window: Duration::ZERO,
        ..Settings::default()
    };
    let scene = Scene::new(settings);
    scene.server.fail("POST", "/posts", Fault::DropAfter, 1);
    let lost = scene.deliver(&order(1, Attempt::First));
    assert!(matches!(lost, Err(DeliveryError::Later { .. })), "{lost:?}");
    let found = scene.deliver(&order(1, Attempt::Again)).unwrap();
    let other = Mattermost::new(settings_of(&scene.place, &scene.relay)).unwrap();
    let again = scene
        .runtime
        .block_on(other.deliver(&order(1, Attempt::Again)));
    assert_eq!(again.unwrap().reference, found);
    assert_eq!(scene.posts().len(), 1);
}

#[test]
fn a_failure_says_whether_it_may_work_later() {
    let scene = Scene::new(Settings::default());
    for (fault, is_later) in [
        (Fault::Refuse, true),
        (Fault::DropBefore, true),
        (Fault::Status(500), true),
        (Fault::Status(403), false),
        (Fault::Status(400), false),
    ] {
        scene.server.fail("POST", "/posts", fault, 1);
        let failed = scene.deliver(&order(1, Attempt::First)).unwrap_err();
        let later = matches!(failed, DeliveryError::Later { .. });
        assert_eq!(later, is_later, "{fault:?}: {failed}");
        assert!(!failed.to_string().contains(scene.place.bot.token()));
    }
}

#[test]
fn a_rate_limit_is_kept_to() {
    let limit = RateLimit {
        per_second: 40,
        burst: 10,
    };
    let scene = Scene::new(Settings::default());
    scene
        .server
        .set(|settings| settings.rate_limit = Some(limit));
    scene.runtime.block_on(async {
        let all = (0..60).map(|number| {
            let channel = scene.channel.clone();
            tokio::spawn(async move { channel.deliver(&order(number, Attempt::First)).await })
        });
        for delivered in all.collect::<Vec<_>>() {
            delivered.await.unwrap().unwrap();
        }
    });
    let hits = scene.server.hits();
    let posted = hits.iter().filter(|hit| hit.path == "/posts");
    let statuses: Vec<u16> = posted.map(|hit| hit.status).collect();
    let made = statuses.iter().filter(|status| **status == 201).count();
    assert_eq!(made, 60);
    assert!(
        statuses.len() < 90,
        "{} requests for 60 cards",
        statuses.len()
    );
}

#[test]
fn commands_are_registered_and_known_by_the_name_they_got() {
    for version in Version::ALL {
        let scene = Scene::new(Settings::of(version));
        let _heard = scene.follow(None);
        assert!(scene.server.wait_for_hits(|hits| {
            let made = hits.iter().filter(|hit| hit.path == "/commands");
            made.filter(|hit| hit.status == 201).count() == TABLE.len()
        }));
        let kept = scene.server.kept_commands(&scene.place.team_id);
        assert_eq!(kept.len(), TABLE.len(), "{version:?}");
        assert!(kept.contains_key("approve") && kept.contains_key("cs-help"));
    }
}

#[test]
fn what_is_said_to_the_bot_is_heard_once_also_over_a_restart_of_the_server() {
    let mut scene = Scene::new(Settings::default());
    let mut heard = scene.follow(None);
    scene.listens();
    let direct = scene.ana.direct(&scene.place.bot.id);
    let texts = |heard: &mut mpsc::Receiver<Heard>, count: usize| -> Vec<String> {
        let said = (0..count).map(|_| match next(&scene.runtime, heard) {
            Heard::Message(message) => message.text,
            other @ (Heard::Click(_)
            | Heard::Arrived { .. }
            | Heard::Cursor(_)
            | Heard::Invited { .. }
            | Heard::Connected
            | Heard::Gone { .. }) => {
                format!("{other:?}")
            }
        });
        said.collect()
    };
    scene.ana.say(&direct, "", "one");
    assert_eq!(texts(&mut heard, 1), ["one"]);
    let here = scene.place.channel_id.clone();
    scene.ana.say(&here, "", "not for the bot");
    scene
        .ana
        .say(&here, "", &format!("@{} two", scene.place.bot.name));
    assert_eq!(texts(&mut heard, 1), ["two"]);
    scene.server.stop();
    scene.server.start_again().unwrap();
    // Whether this is heard or found, it is told once.
    scene.ana.say(&direct, "", "three");
    scene.ana.say(&direct, "", "four");
    assert_eq!(texts(&mut heard, 2), ["three", "four"]);
    scene.ana.say(&direct, "", "five");
    assert_eq!(texts(&mut heard, 1), ["five"]);
}

fn next(runtime: &Runtime, heard: &mut mpsc::Receiver<Heard>) -> Heard {
    loop {
        let next = async { tokio::time::timeout(PATIENCE, heard.recv()).await };
        let next = runtime.block_on(next).unwrap().unwrap();
        if !matches!(next, Heard::Connected) {
            return next;
        }
    }
}

#[test]
fn what_was_said_while_nobody_listened_is_found() {
    let scene = Scene::new(Settings::default());
    let direct = scene.ana.direct(&scene.place.bot.id);
    let before = scene.ana.say(&direct, "", "before");
    let since = before.body["create_at"].as_i64().unwrap();
    scene.ana.say(&direct, "", "meanwhile");
    let mut heard = scene.follow(Some(since));
    let Heard::Message(message) = next(&scene.runtime, &mut heard) else {
        panic!("no message");
    };
    assert_eq!(message.text, "meanwhile");
}

#[test]
fn the_doctor_sees_what_is_wrong() {
    let scene = Scene::new(Settings::default());
    let state = |check: &str| {
        let channel = Mattermost::new(settings_of(&scene.place, &scene.relay)).unwrap();
        let all = scene.runtime.block_on(channel.examine());
        let found = all.iter().find(|it| it.check == check);
        found.map(|it| (it.state, !it.fix.is_empty()))
    };
    let good = Some((State::Good, false));
    for check in [
        "server",
        "clock",
        "signing key",
        "SiteURL",
        "token",
        "channel",
        "commands",
    ] {
        assert_eq!(state(check), good, "{check}");
    }
    scene
        .server
        .set(|settings| settings.site_url = SiteUrl::Unset);
    assert_eq!(state("SiteURL"), Some((State::Bad, true)));
    let (place, admin) = (&scene.place, &scene.place.admin);
    let path = format!(
        "/teams/{}/members/{}/schemeRoles",
        place.team_id, place.bot.id
    );
    admin.put(
        &path,
        &json!({ "scheme_admin": false, "scheme_user": true }),
    );
    assert_eq!(state("team admin"), Some((State::Doubtful, true)));
    assert_eq!(state("commands"), Some((State::Bad, true)));
    admin.delete(&format!(
        "/channels/{}/members/{}",
        place.channel_id, place.bot.id
    ));
    assert_eq!(state("channel"), Some((State::Bad, true)));
    place.close_account(&place.bot.id).unwrap();
    assert_eq!(state("token"), Some((State::Bad, true)));
}
