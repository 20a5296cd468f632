//! Accounts, teams and what their tokens may do.

use countersign_testkit::mattermost::{BotAccounts, Person, Settings};
use serde_json::json;

use crate::support::started;

#[test]
fn a_token_opens_what_its_account_may_see_and_nothing_else() {
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let outsider = place.outsider("olga").unwrap();
    let (channel, team) = (&place.channel_id, &place.team_id);
    let rows = [
        ("its own account", place.bot.get("/users/me"), 200),
        (
            "an account",
            ana.get(&format!("/users/{}", place.bot.id)),
            200,
        ),
        ("no account", ana.get("/users/nobody"), 404),
        ("the channel", ana.get(&format!("/channels/{channel}")), 200),
        (
            "from outside",
            outsider.get(&format!("/channels/{channel}")),
            403,
        ),
        (
            "its posts from outside",
            outsider.get(&format!("/channels/{channel}/posts")),
            403,
        ),
        (
            "the team from outside",
            outsider.get(&format!("/teams/{team}")),
            403,
        ),
        (
            "others' teams",
            ana.get(&format!("/users/{}/teams", place.bot.id)),
            403,
        ),
        ("the configuration", place.bot.get("/config"), 403),
        ("the same as administrator", place.admin.get("/config"), 200),
        (
            "a bot by somebody",
            ana.post("/bots", &json!({ "username": "x" })),
            403,
        ),
        (
            "a bot by a bot",
            place.bot.post("/bots", &json!({ "username": "x" })),
            403,
        ),
        ("an unknown route", ana.get("/nowhere"), 404),
        (
            "roles",
            ana.put(
                &format!("/teams/{team}/members/{}/schemeRoles", ana.id),
                &json!({ "scheme_admin": true }),
            ),
            403,
        ),
        (
            "another's token",
            ana.post(
                &format!("/users/{}/tokens", place.bot.id),
                &json!({ "description": "x" }),
            ),
            403,
        ),
    ];
    for (name, asked, expected) in rows {
        assert_eq!(asked.status, expected, "{name}: {asked:?}");
    }
    assert!(Person::with_token(server.url(), "wrong").is_err());
    let bot = place.admin.get(&format!("/users/{}", place.bot.id));
    assert_eq!(bot.body["is_bot"], true);
    assert!(
        place
            .admin
            .get(&format!("/users/{}", ana.id))
            .body
            .get("is_bot")
            .is_none()
    );
    place.close_account(&ana.id).unwrap();
    assert_eq!(ana.get("/users/me").status, 401);
    assert_ne!(
        place.admin.get(&format!("/users/{}", ana.id)).body["delete_at"],
        0
    );
}

#[test]
fn who_administers_the_team_writes_where_they_are_not_a_member() {
    let (_server, place) = started(Settings::default());
    let carla = place.colleague("carla").unwrap();
    let path = format!("/channels/{}/members/{}", place.channel_id, place.bot.id);
    assert_eq!(place.admin.delete(&path).status, 200);
    assert_eq!(place.bot.say(&place.channel_id, "", "x").status, 201);
    assert_eq!(carla.say(&place.channel_id, "", "x").status, 403);
    let path = format!(
        "/teams/{}/members/{}/schemeRoles",
        place.team_id, place.bot.id
    );
    let roles = json!({ "scheme_admin": false, "scheme_user": true });
    assert_eq!(place.admin.put(&path, &roles).status, 200);
    assert_eq!(place.bot.say(&place.channel_id, "", "x").status, 403);
}

#[test]
fn a_channel_says_who_came_and_who_left() {
    let (_server, place) = started(Settings::default());
    let path = format!("/channels/{}/posts", place.channel_id);
    let said = place.admin.get(&path).body;
    let kinds = |said: &serde_json::Value| -> Vec<String> {
        let posts = said["posts"].as_object().unwrap().values();
        posts
            .map(|post| post["type"].as_str().unwrap().to_owned())
            .collect()
    };
    assert!(
        kinds(&said)
            .iter()
            .any(|kind| kind == "system_join_channel")
    );
    assert!(
        kinds(&said)
            .iter()
            .any(|kind| kind == "system_add_to_channel")
    );
    assert!(place.posts(&place.channel_id).is_empty());
}

#[test]
fn bots_are_made_only_where_that_is_allowed() {
    let (server, place) = started(Settings::default());
    server.set(|settings| settings.bot_account_creation = BotAccounts::Off);
    let refused = place.admin.post("/bots", &json!({ "username": "x" }));
    assert_eq!(refused.status, 403);
}

#[test]
fn two_people_have_one_conversation_and_others_cannot_open_it() {
    let (_server, place) = started(Settings::default());
    let (ana, ben) = (place.person("ana").unwrap(), place.person("ben").unwrap());
    let channel = ana.direct(&place.bot.id);
    assert_eq!(channel, place.bot.direct(&ana.id));
    let other = ben.post("/channels/direct", &json!([ana.id, place.bot.id]));
    assert_eq!(other.status, 403);
    assert_eq!(ben.say(&channel, "", "hello").status, 403);
    assert_eq!(ana.get(&format!("/channels/{channel}")).text("type"), "D");
}
