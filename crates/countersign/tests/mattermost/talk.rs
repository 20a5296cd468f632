//! The built-in agent in a chat: somebody writes, it answers there, and what it wants to do is asked
//! there.

use countersign_testkit::mattermost::{Person, outside_code};
use countersign_testkit::model::{Call, MODEL, ModelServer, Reply};
use serde_json::{Value, json};

use crate::commands::registered;
use crate::scene::{Card, Scene};

const CRY: &str = "I want to kill myself tonight.";
const DRAFT: &str = "Zebra words that nobody has looked at.";

struct Talk {
    scene: Scene,
    model: ModelServer,
    work: tempfile::TempDir,
}

fn talk(script: Vec<Reply>, approvers: &[&'static str]) -> Talk {
    talk_with(script, approvers, &json!({}))
}

fn talk_with(script: Vec<Reply>, approvers: &[&'static str], more: &Value) -> Talk {
    let model = ModelServer::start(script).unwrap();
    let work = tempfile::tempdir().unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "cwd": work.path() });
    let scene = Scene::with(|wanted| {
        wanted.config = more.clone();
        wanted.config["agent"] = agent;
        wanted.approvers = approvers.to_vec();
    });
    // Some scenes type commands, and a server that does not know them yet says so.
    registered(&scene);
    Talk { scene, model, work }
}

/// Waits for something the bot says that contains `words`.
fn hears(person: &Person, bot: &str, words: &str) -> Value {
    let post = person.wait_for_post(|post| {
        post["user_id"] == bot && post["message"].as_str().unwrap().contains(words)
    });
    post.unwrap_or_else(|| panic!("nobody said {words}"))
}

#[test]
fn a_message_starts_a_run_and_answer_and_card_appear_where_it_was_written() {
    let wants = Call::new("c1", "terminal", &json!({ "command": "rm -rf ~/precious" }));
    let talk = talk(
        vec![
            Reply::calls(["Let me look. "], &[wants]),
            Reply::text(["All ", "is ", "clean."]),
        ],
        &["ana"],
    );
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let precious = scene.gateway.home().join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "x").unwrap();
    let here = &scene.place().channel_id;
    let message = format!("@{} clean up please", scene.place().bot.name);
    let said = scene.ana.say(here, "", &message);
    let card = scene.ana.wait_for_post(|post| {
        let card = Card(post.clone());
        post["user_id"] == bot.as_str() && !card.actions().is_empty()
    });
    let card = Card(card.unwrap());
    assert_eq!(card.0["root_id"], said.text("id"), "in the same thread");
    assert!(card.text().contains("rm -rf"), "{card:?}");
    assert!(precious.exists());
    assert_eq!(scene.ben.click(card.id(), "once").status, 200);
    assert!(precious.exists(), "ben may not");
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    let answer = hears(&scene.ana, &bot, "All is clean.");
    assert_eq!(answer["root_id"], said.text("id"), "in the same thread");
    let typing = scene.ana.wait_after(0, |event| {
        (event["event"] == "typing").then(|| event["data"].clone())
    });
    assert_eq!(typing.unwrap()["user_id"], bot.as_str());
    assert!(!precious.exists(), "it ran");
    assert!(talk.work.path().exists());
    let asked = talk.model.requests();
    assert!(asked[0]["messages"].to_string().contains("clean up please"));
}

#[test]
fn a_conversation_of_two_goes_on_where_it_was() {
    let talk = talk(
        vec![
            Reply::text(["First answer."]),
            Reply::text(["Second answer."]),
        ],
        &["ana"],
    );
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", None);
    scene.ana.say(&direct, "", "one");
    let first = hears(&scene.ana, &bot, "First answer.");
    assert_eq!(first["channel_id"], direct.as_str());
    // Its last words are seen a moment before it is over; then the next may begin.
    events.named("run.completed");
    scene.ana.say(&direct, "", "two");
    hears(&scene.ana, &bot, "Second answer.");
    let requests = talk.model.requests();
    let last = requests.last().unwrap()["messages"].to_string();
    assert!(
        last.contains("one") && last.contains("First answer.") && last.contains("two"),
        "{last}"
    );
}

/// Waits for a card with buttons that shows `words`.
fn card_about(person: &Person, words: &str) -> Card {
    let card = person.wait_for_post(|post| {
        let card = Card(post.clone());
        !card.actions().is_empty() && card.text().contains(words)
    });
    Card(card.unwrap_or_else(|| panic!("no card about {words}")))
}

#[test]
fn a_run_asks_and_ends_where_it_was_started_after_a_new_conversation_was_begun() {
    let wants = |id: &str, path: &str| {
        let command = format!("rm -rf ~/{path}");
        Reply::calls(
            [],
            &[Call::new(id, "terminal", &json!({ "command": command }))],
        )
    };
    let script = vec![
        wants("c1", "first"),
        wants("c2", "second"),
        Reply::text(["All is done."]),
    ];
    let talk = talk(script, &["ana", "ben"]);
    let bot = talk.scene.place().bot.id.clone();
    let scene = &talk.scene;
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", "clean up please");
    let first = card_about(&scene.ana, "first");
    assert_eq!(first.0["channel_id"], direct.as_str());
    let typed = scene.ana.command(&direct, &scene.place().team_id, "/new");
    let words = typed.body.to_string();
    assert!(
        words.contains("still under way") && words.contains("/stop"),
        "{words}"
    );
    assert_eq!(scene.ana.click(first.id(), "deny").status, 200);
    let second = card_about(&scene.ana, "second");
    assert_eq!(
        second.0["channel_id"],
        direct.as_str(),
        "a private run stays private"
    );
    let scene = talk.scene.restart_gateway();
    assert_eq!(scene.ana.click(second.id(), "deny").status, 200);
    let end = hears(&scene.ana, &bot, "All is done.");
    assert_eq!(end["channel_id"], direct.as_str());
    let shared = scene.place().posts(&scene.place().channel_id);
    let shared = json!(shared).to_string();
    assert!(!shared.contains("rm -rf"), "{shared}");
}

#[test]
fn who_is_not_listed_and_what_is_not_meant_for_it_starts_nothing() {
    let talk = talk(vec![Reply::text(["Answer to ana."])], &["ana"]);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let here = &scene.place().channel_id;
    let direct = scene.ben.direct(&bot);
    scene.ben.say(&direct, "", "do something");
    scene.ana.say(here, "", "nothing for the bot");
    let quoted = format!("look: `@{}`", scene.place().bot.name);
    assert_eq!(scene.ana.say(here, "", &quoted).status, 201);
    let anas = scene.ana.direct(&bot);
    scene.ana.say(&anas, "", "hello");
    hears(&scene.ana, &bot, "Answer to ana.");
    let requests = talk.model.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
}

#[test]
fn a_message_written_while_the_gateway_was_away_is_answered_once() {
    let talk = talk(vec![Reply::text(["Here again."])], &["ana"]);
    let bot = talk.scene.place().bot.id.clone();
    let direct = talk.scene.ana.direct(&bot);
    let scene = talk.scene.restart_gateway_after(|scene| {
        let said = scene.ana.say(&direct, "", "are you there?");
        assert_eq!(said.status, 201);
    });
    hears(&scene.ana, &bot, "Here again.");
    assert_eq!(talk.model.requests().len(), 1);
}

#[test]
fn to_a_person_in_crisis_only_the_notice_is_shown_until_somebody_else_has_looked() {
    let talk = talk(
        vec![Reply::text([
            "Zebra words ",
            "that nobody ",
            "has looked at.",
        ])],
        &["ana", "ben"],
    );
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", CRY);
    hears(&scene.ana, &bot, countersign_core::policy::CRISIS_NOTICE);
    let card = scene.ben.wait_for_post(|post| {
        let card = Card(post.clone());
        !card.actions().is_empty() && card.text().contains("Zebra")
    });
    let card = Card(card.unwrap());
    assert_eq!(card.actions().first(), Some(&"once"));
    assert!(!card.actions().contains(&"always"), "{card:?}");
    assert_ne!(
        card.0["channel_id"],
        direct.as_str(),
        "not where ana sees it as an answer"
    );
    let posts = scene
        .ana
        .get(&format!("/channels/{direct}/posts"))
        .body
        .to_string();
    assert!(!posts.contains("ebra"), "{posts}");
    // She cannot get at it by typing either.
    let approval = card.0["props"]["countersign"].as_str().unwrap();
    let approval = approval.split(':').next().unwrap();
    assert_eq!(
        scene.ana.click(card.id(), "once").status,
        403,
        "she does not even see the card"
    );
    for line in [
        "/pending",
        &format!("/show {approval}"),
        &format!("/approve {approval}"),
        "/approve",
    ] {
        let typed = scene.ana.command(&direct, &scene.place().team_id, line);
        assert!(
            !typed.body.to_string().contains("ebra"),
            "{line}: {typed:?}"
        );
    }
    let posts = scene
        .ana
        .get(&format!("/channels/{direct}/posts"))
        .body
        .to_string();
    assert!(!posts.contains("ebra"), "{posts}");
    assert_eq!(scene.ben.click(card.id(), "once").status, 200);
    let said = scene.ana.wait_for_post(|post| {
        post["channel_id"] == direct.as_str() && post["message"].as_str().unwrap().contains(DRAFT)
    });
    assert!(said.is_some());
}

#[test]
fn what_such_a_run_does_is_asked_in_the_conversation_and_of_everybody_else() {
    let wants = Call::new("c1", "terminal", &json!({ "command": "rm -rf ~/precious" }));
    let help = json!({ "crisis": { "help_lines": ["Lifeline 0800 111"] } });
    let script = vec![Reply::calls([], &[wants]), Reply::text([DRAFT])];
    let talk = talk_with(script, &["ana", "ben"], &help);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", CRY);
    let card_in = |person: &Person, place: &str| {
        let card = person.wait_for_post(|post| {
            post["channel_id"] == place && !Card(post.clone()).actions().is_empty()
        });
        Card(card.unwrap_or_else(|| panic!("no card in {place}")))
    };
    let hers = card_in(&scene.ana, &direct);
    let theirs = card_in(&scene.ben, &scene.place().channel_id);
    for card in [&hers, &theirs] {
        assert!(card.text().contains("rm -rf"), "{card:?}");
        assert!(card.0.to_string().contains("Lifeline 0800 111"), "{card:?}");
    }
    assert_eq!(
        scene.ana.click(hers.id(), "deny").status,
        200,
        "she may still answer"
    );
}

#[test]
fn yolo_says_what_it_lifts_is_in_the_status_and_can_be_ended() {
    let talk = talk(vec![Reply::text(["Hello."])], &["ana"]);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", "hello");
    hears(&scene.ana, &bot, "Hello.");
    let rows = [
        (
            "/yolo 5",
            "runs without questions, except about critical calls",
        ),
        (
            "/cs-status",
            "runs without questions, except about critical calls",
        ),
        (
            "/grants",
            "runs without questions, except about critical calls",
        ),
        ("/yolo all 5", "including critical calls"),
        ("/yolo off", "asks questions again"),
    ];
    for (line, wanted) in rows {
        let typed = scene.ana.command(&direct, &scene.place().team_id, line);
        assert!(typed.body.to_string().contains(wanted), "{line}: {typed:?}");
    }
    let after = scene
        .ana
        .command(&direct, &scene.place().team_id, "/cs-status");
    assert!(
        !after.body.to_string().contains("without questions"),
        "{after:?}"
    );
}

#[test]
fn the_agent_is_told_something_while_it_works_and_more_time_is_given() {
    let wants = Call::new("c1", "terminal", &json!({ "command": "rm -rf ~/precious" }));
    let script = vec![
        Reply::calls([], &[wants]),
        Reply::text(["Then I leave the logs."]),
    ];
    let talk = talk(script, &["ana", "ben"]);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    let types = |person: &Person, line: &str| {
        let typed = person.command(&direct, &scene.place().team_id, line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        typed.text("text").to_owned()
    };
    scene.ana.say(&direct, "", "clean up please");
    let card = card_about(&scene.ana, "precious");
    scene.ana.say(&direct, "", "are you there?");
    let busy = hears(&scene.ana, &bot, "I am still working");
    assert!(
        busy["message"].as_str().unwrap().contains("/steer TEXT"),
        "{busy}"
    );
    let told = types(&scene.ana, "/steer but leave the logs");
    assert!(told.contains("before its next step"), "{told}");
    let extended = types(&scene.ana, "/extend");
    assert!(extended.contains("It now expires in 10 min"), "{extended}");
    assert_eq!(scene.ana.click(card.id(), "deny").status, 200);
    hears(&scene.ana, &bot, "Then I leave the logs.");
    let requests = talk.model.requests();
    assert_eq!(requests.len(), 2, "it is read within the same run");
    let heard = requests[1]["messages"].to_string();
    assert!(heard.contains("but leave the logs"), "{heard}");
    let late = types(&scene.ana, "/extend");
    assert!(late.contains("No call is waiting for you."), "{late}");
}

#[test]
fn a_model_is_chosen_for_a_conversation_and_stays_after_a_restart() {
    let model = ModelServer::answering(|asked| {
        let name = asked["model"].as_str().unwrap_or_default().to_owned();
        Reply::text([format!("This is {name}.").as_str()])
    });
    let model = model.unwrap();
    let agent = json!({ "base_url": model.url(), "model": MODEL, "models": ["large"] });
    let scene = Scene::with(|wanted| {
        wanted.config["agent"] = agent;
        wanted.approvers = vec!["ana"];
    });
    let bot = scene.place().bot.id.clone();
    let direct = scene.ana.direct(&bot);
    let types = |scene: &Scene, line: &str| {
        let typed = scene.ana.command(&direct, &scene.place().team_id, line);
        assert_eq!(typed.status, 200, "{line}: {typed:?}");
        typed.text("text").to_owned()
    };
    let admin = scene.gateway.admin();
    let mut events = scene.gateway.events(&admin, "/v1/events", None);
    let early = types(&scene, "/model large");
    assert!(early.contains("send a message first"), "{early}");
    scene.ana.say(&direct, "", "one");
    hears(&scene.ana, &bot, &format!("This is {MODEL}."));
    events.named("run.completed");
    let shown = types(&scene, "/model");
    assert!(
        shown.contains(MODEL) && shown.contains("`large`"),
        "{shown}"
    );
    let unknown = types(&scene, "/model huge");
    assert!(unknown.contains("`huge` is not configured"), "{unknown}");
    let chosen = types(&scene, "/model large");
    assert!(
        chosen.contains("`large` answers your next messages"),
        "{chosen}"
    );
    let scene = scene.restart_gateway();
    scene.ana.say(&direct, "", "two");
    hears(&scene.ana, &bot, "This is large.");
    assert!(types(&scene, "/model").contains("The agent uses `large`"));
}

#[test]
fn a_long_answer_comes_whole_in_messages_the_server_takes() {
    let words = "0123456789 abcdefghijklmnop ".repeat(1500);
    let talk = talk(vec![Reply::text([words.as_str(), "The end."])], &["ana"]);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", "tell me everything");
    hears(&scene.ana, &bot, "The end.");
    let posts = scene.place().posts(&direct);
    let said: Vec<&str> = posts
        .iter()
        .filter(|post| post["user_id"] == bot.as_str())
        .map(|post| post["message"].as_str().unwrap())
        .collect();
    assert!(said.len() >= 3, "{}", said.len());
    let whole: String = said.concat();
    assert_eq!(whole.matches("abcdefghijklmnop").count(), 1500);
}

#[test]
fn what_the_model_says_calls_nobody_and_draws_no_button() {
    let text =
        "@all @channel see ![x](http://evil.example/x.png) [Allow](mmaction://once?x=1) <!channel>";
    let talk = talk(vec![Reply::text([text, " Done."])], &["ana"]);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let here = &scene.place().channel_id;
    let message = format!("@{} hello", scene.place().bot.name);
    let said = scene.ana.say(here, "", &message);
    let answer = hears(&scene.ana, &bot, "Done.");
    assert_eq!(answer["root_id"], said.text("id"));
    let shown = answer["message"].as_str().unwrap();
    let prose = outside_code(shown);
    assert!(
        !prose.contains("mmaction:") && !prose.contains("evil.example"),
        "{shown}"
    );
    let by_bot = |event: &Value| {
        let post = event["data"]["post"].as_str().unwrap_or("");
        post.contains(&format!("\"user_id\":\"{bot}\""))
    };
    for event in scene.ana.events().iter().filter(|event| by_bot(event)) {
        assert!(event["data"].get("mentions").is_none(), "{event}");
    }
}

#[test]
fn who_started_a_run_does_not_answer_its_cards_where_that_is_forbidden() {
    let wants = Call::new("c1", "terminal", &json!({ "command": "rm -rf ~/precious" }));
    let more = json!({ "approvals": { "starter_may_answer": false } });
    let script = vec![
        Reply::calls(["Let me look. "], &[wants]),
        Reply::text(["Done."]),
    ];
    let talk = talk_with(script, &["ana", "ben"], &more);
    let (scene, bot) = (&talk.scene, talk.scene.place().bot.id.clone());
    let precious = scene.gateway.home().join("precious");
    std::fs::create_dir(&precious).unwrap();
    std::fs::write(precious.join("file"), "x").unwrap();
    let direct = scene.ana.direct(&bot);
    scene.ana.say(&direct, "", "clean up please");
    let card = scene
        .ben
        .wait_for_post(|post| !Card(post.clone()).actions().is_empty());
    let card = Card(card.unwrap());
    let seen = scene.ana.events_so_far();
    assert_eq!(scene.ana.click(card.id(), "once").status, 200);
    assert!(scene.ana.wait_for_whisper(seen).is_some());
    assert!(precious.exists());
    assert_eq!(scene.ben.click(card.id(), "once").status, 200);
    hears(&scene.ana, &bot, "Done.");
    assert!(!precious.exists());
}
