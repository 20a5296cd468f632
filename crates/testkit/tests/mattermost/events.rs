//! The websocket: who hears what, under which number.

use std::net::TcpStream;

use countersign_testkit::mattermost::{MattermostServer, Settings};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::{Message, WebSocket, client};

use crate::support::{PATIENCE, started};

fn connect(server: &MattermostServer, query: &str, token: Option<&str>) -> WebSocket<TcpStream> {
    let host = server.url().strip_prefix("http://").unwrap();
    let stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let url = format!("ws://{host}/api/v4/websocket{query}");
    let mut request = url.into_client_request().unwrap();
    if let Some(token) = token {
        let value = format!("Bearer {token}").parse().unwrap();
        request.headers_mut().insert("authorization", value);
    }
    client(request, stream).unwrap().0
}

fn next(socket: &mut WebSocket<TcpStream>) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            return serde_json::from_str(text.as_str()).unwrap();
        }
    }
}

fn send(socket: &mut WebSocket<TcpStream>, value: &Value) {
    socket.send(Message::text(value.to_string())).unwrap();
}

#[test]
fn a_connection_says_who_it_is_before_it_hears_anything() {
    let (server, place) = started(Settings::default());
    let token = place.bot.token();
    let mut by_header = connect(&server, "", Some(token));
    assert_eq!(next(&mut by_header)["event"], "hello");
    let mut by_challenge = connect(&server, "", None);
    let challenge = |token: &str| json!({ "seq": 1, "action": "authentication_challenge", "data": { "token": token } });
    send(&mut by_challenge, &challenge(token));
    assert_eq!(
        next(&mut by_challenge),
        json!({ "status": "OK", "seq_reply": 1 })
    );
    let hello = next(&mut by_challenge);
    assert_eq!(
        (&hello["event"], &hello["seq"]),
        (&json!("hello"), &json!(0))
    );
    assert!(
        hello["data"]["server_version"]
            .as_str()
            .unwrap()
            .starts_with("11.9.0")
    );
    send(&mut by_challenge, &json!({ "seq": 2, "action": "ping" }));
    assert_eq!(next(&mut by_challenge)["data"]["text"], "pong");
    let mut wrong = connect(&server, "", None);
    send(&mut wrong, &challenge("wrong"));
    assert_eq!(next(&mut wrong)["status"], "FAIL");
    assert!(wrong.read().is_err(), "it is cut off");
}

#[test]
fn events_are_numbered_and_go_to_the_members_of_the_channel_alone() {
    let (server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let colleague = place.colleague("carla").unwrap();
    let mut socket = connect(&server, "", Some(place.bot.token()));
    next(&mut socket);
    let post = ana.say(&place.channel_id, "", &format!("hello @{}", place.bot.name));
    let posted = next(&mut socket);
    assert_eq!(
        (&posted["event"], &posted["seq"]),
        (&json!("posted"), &json!(1))
    );
    let data = &posted["data"];
    let inner: Value = serde_json::from_str(data["post"].as_str().unwrap()).unwrap();
    assert_eq!(inner["id"], post.text("id"));
    assert_eq!(data["mentions"], json!([place.bot.id]).to_string());
    assert_eq!(data["sender_name"], format!("@{}", ana.name));
    assert_eq!(data["channel_type"], "P");
    assert_eq!(ana.react(post.text("id"), "white_check_mark").status, 200);
    let reaction = next(&mut socket);
    assert_eq!(
        (&reaction["event"], &reaction["seq"]),
        (&json!("reaction_added"), &json!(2))
    );
    let inner: Value =
        serde_json::from_str(reaction["data"]["reaction"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&inner["user_id"], &inner["emoji_name"]),
        (&json!(ana.id), &json!("white_check_mark"))
    );
    let forged = json!({ "user_id": place.bot.id, "post_id": post.text("id"), "emoji_name": "x" });
    assert_eq!(ana.post("/reactions", &forged).status, 403);
    // What carla hears next is said to her alone, so she heard nothing of the channel before.
    let direct = ana.direct(&colleague.id);
    ana.say(&direct, "", "only you");
    let heard = colleague.wait_for_post(|_| true).unwrap();
    assert_eq!(heard["message"], "only you");
}

#[test]
fn a_lost_connection_gets_what_it_missed_unless_the_server_was_restarted() {
    let (mut server, place) = started(Settings::default());
    let ana = place.person("ana").unwrap();
    let mut socket = connect(&server, "", Some(place.bot.token()));
    let id = next(&mut socket)["data"]["connection_id"]
        .as_str()
        .unwrap()
        .to_owned();
    socket.close(None).unwrap();
    while socket.read().is_ok() {}
    drop(socket);
    ana.say(&place.channel_id, "", "missed");
    let query = format!("?connection_id={id}&sequence_number=1");
    let mut socket = connect(&server, &query, Some(place.bot.token()));
    let missed = next(&mut socket);
    assert_eq!(
        (&missed["event"], &missed["seq"]),
        (&json!("posted"), &json!(1))
    );
    server.stop();
    assert!(socket.read().is_err());
    server.start_again().unwrap();
    let query = format!("?connection_id={id}&sequence_number=2");
    let mut socket = connect(&server, &query, Some(place.bot.token()));
    let hello = next(&mut socket);
    assert_eq!(
        (&hello["event"], &hello["seq"]),
        (&json!("hello"), &json!(0))
    );
    assert_ne!(hello["data"]["connection_id"], id);
}
