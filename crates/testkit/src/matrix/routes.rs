//! Which request is which operation, and what accounts and files can do.

use serde_json::{Map, Value, json};

use super::error::{Done, Refusal, bad, forbidden, not_found, refused};
use super::rooms::{self, Asker};
use super::schema;
use super::server::Shared;
use super::sync;
use super::world::{File, News, SERVER, User, World, now};

/// A request, as it came.
#[derive(Clone, Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// The parts of the path, decoded.
    pub(super) path: Vec<String>,
    pub(super) query: Vec<(String, String)>,
    pub(super) token: Option<String>,
    pub(super) content_type: String,
    pub(super) body: Vec<u8>,
}

impl Request {
    fn query(&self, key: &str) -> Option<String> {
        let found = self.query.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.clone())
    }
}

/// Does what a request asks for.
pub(super) async fn done(shared: &Shared, request: &Request) -> Done {
    let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
    let Some((["_matrix", area, version], rest)) = path.split_at_checked(3).map(|(head, rest)| {
        let head: [&str; 3] = head.try_into().unwrap_or_default();
        (head, rest)
    }) else {
        return Err(unrecognized());
    };
    let method = request.method.as_str();
    match (area, version, method, rest) {
        ("client", "versions", "GET", []) => {
            return Ok(json!({ "versions": ["v1.11", "v1.12", "v1.13"] }));
        }
        ("client", "v3", "GET", ["login"]) => {
            return Ok(json!({ "flows": [{ "type": "m.login.password" }] }));
        }
        ("client", "v3", "POST", ["login"]) => {
            let body = schema::body("login", &request.body)?;
            return login(&mut shared.world(), &body);
        }
        ("client", "v3", "POST", ["register"]) => {
            let body = schema::body("register", &request.body)?;
            return register(&mut shared.world(), &body);
        }
        _ => {}
    }
    let token = request.token.as_deref();
    let token = token.ok_or_else(|| refused(401, "M_MISSING_TOKEN", "Missing access token"))?;
    let user = shared.world().tokens.get(token).cloned();
    let unknown = || refused(401, "M_UNKNOWN_TOKEN", "Invalid access token passed.");
    let user = user.ok_or_else(unknown)?;
    let asker = Asker { user: &user, token };
    match (area, version, method, rest) {
        ("client", "v3", "GET", ["sync"]) => {
            sync::sync(shared, asker, &|key: &str| request.query(key)).await
        }
        ("client", "v3", _, ["rooms", room, rest @ ..]) => {
            in_room(shared, asker, request, room, rest)
        }
        ("client", "v1", "GET", ["rooms", room, "relations", rest @ ..]) => {
            rooms::relations(&shared.world(), asker, room, rest)
        }
        ("client", "v3", ..) => account(shared, asker, request, rest),
        ("media", "v3", "POST", ["upload"]) => upload(&mut shared.world(), request),
        _ => Err(unrecognized()),
    }
}

fn in_room(
    shared: &Shared,
    asker: Asker<'_>,
    request: &Request,
    room: &str,
    rest: &[&str],
) -> Done {
    let limit = shared.limit().filter(|(user, _)| user == asker.user);
    let limit = limit.map(|(_, limit)| limit);
    let mut world = shared.world();
    let world = &mut *world;
    let body = |name: &str| schema::body(name, &request.body);
    match (request.method.as_str(), rest) {
        ("POST", ["join"]) => {
            body("join")?;
            rooms::join(world, asker, room)
        }
        ("POST", ["leave"]) => {
            body("leave")?;
            rooms::leave(world, asker, room)
        }
        ("POST", ["invite"]) => rooms::invite(world, asker, room, &body("invite")?),
        ("PUT", ["send", kind, txn]) => {
            let body = schema::body("send", &request.body)?;
            rooms::send(world, asker, (room, kind, txn), body, limit)
        }
        ("PUT", ["redact", event, txn]) => {
            rooms::redact(world, asker, (room, event, txn), &body("redact")?)
        }
        ("PUT", ["state", kind, key @ ..]) => {
            let key = key.first().copied().unwrap_or_default();
            rooms::set_state(world, asker, (room, kind, key), body("state")?)
        }
        ("GET", ["state", kind, key @ ..]) => {
            let key = key.first().copied().unwrap_or_default();
            rooms::state(world, asker, room, kind, key)
        }
        ("GET", ["members"]) => rooms::members(
            world,
            asker,
            room,
            request.query("not_membership").as_deref(),
        ),
        ("GET", ["joined_members"]) => {
            world.is_in(room, asker.user)?;
            let all = world.members(room, &["join"]).into_iter();
            let all: Map<String, Value> = all.map(|user| (user, json!({}))).collect();
            Ok(json!({ "joined": all }))
        }
        ("GET", ["event", id]) => rooms::event(world, asker, room, id),
        ("GET", ["messages"]) => {
            rooms::messages(world, asker, room, &|key: &str| request.query(key))
        }
        ("POST", ["receipt", "m.read", event]) => {
            body("receipt")?;
            world.is_in(room, asker.user)?;
            world
                .event(room, event)
                .ok_or_else(|| not_found("Event not found."))?;
            world.news.push(News::Read {
                room: room.to_owned(),
                user: asker.user.to_owned(),
                event: (*event).to_owned(),
                at: now(),
            });
            Ok(json!({}))
        }
        ("PUT", ["typing", user]) => {
            let body = body("typing")?;
            world.is_in(room, asker.user)?;
            if *user != asker.user {
                return Err(forbidden("Cannot set another user's typing state"));
            }
            let is_typing = body.get("typing") == Some(&json!(true));
            let users = is_typing.then(|| (*user).to_owned()).into_iter().collect();
            let room = room.to_owned();
            world.news.push(News::Typing { room, users });
            Ok(json!({}))
        }
        _ => Err(unrecognized()),
    }
}

fn account(shared: &Shared, asker: Asker<'_>, request: &Request, rest: &[&str]) -> Done {
    let mut world = shared.world();
    let world = &mut *world;
    let body = |name: &str| schema::body(name, &request.body);
    let own = |user: &str| {
        if user == asker.user {
            return Ok(());
        }
        Err(forbidden("Cannot act for other users"))
    };
    match (request.method.as_str(), rest) {
        ("GET", ["account", "whoami"]) => {
            Ok(json!({ "user_id": asker.user, "device_id": "TEST", "is_guest": false }))
        }
        ("POST", ["logout"]) => {
            world.tokens.remove(asker.token);
            Ok(json!({}))
        }
        ("POST", ["createRoom"]) => rooms::create(world, asker, &body("createRoom")?),
        ("POST", ["join", room]) => {
            body("join")?;
            rooms::join(world, asker, room)
        }
        ("GET", ["joined_rooms"]) => {
            let all = world.rooms.keys();
            let all = all.filter(|room| world.membership(room, asker.user) == "join");
            let all: Vec<&String> = all.collect();
            Ok(json!({ "joined_rooms": all }))
        }
        ("GET", ["directory", "room", alias]) => {
            let room = world.aliases.get(*alias);
            let room = room.ok_or_else(|| not_found("Room alias not found"))?;
            Ok(json!({ "room_id": room, "servers": [SERVER] }))
        }
        ("GET", ["profile", user] | ["profile", user, "displayname"]) => {
            let user = world.users.get(*user);
            let user = user.ok_or_else(|| not_found("Profile was not found"))?;
            Ok(json!({ "displayname": user.name }))
        }
        ("PUT", ["profile", user, "displayname"]) => {
            let body = body("displayname")?;
            own(user)?;
            let name = body.get("displayname").and_then(Value::as_str);
            if let Some(user) = world.users.get_mut(*user) {
                name.unwrap_or_default().clone_into(&mut user.name);
            }
            Ok(json!({}))
        }
        ("POST", ["user", user, "filter"]) => {
            let filter = body("filter")?;
            own(user)?;
            world.filters.push(Value::Object(filter));
            Ok(json!({ "filter_id": (world.filters.len() - 1).to_string() }))
        }
        ("GET", ["user", user, "account_data", kind]) => {
            own(user)?;
            let kept = world
                .account_data
                .get(&((*user).to_owned(), (*kind).to_owned()));
            kept.cloned()
                .ok_or_else(|| not_found("Account data not found"))
        }
        ("PUT", ["user", user, "account_data", kind]) => {
            own(user)?;
            let kept = Value::Object(body("account_data")?);
            world
                .account_data
                .insert(((*user).to_owned(), (*kind).to_owned()), kept);
            Ok(json!({}))
        }
        _ => Err(unrecognized()),
    }
}

fn login(world: &mut World, body: &Map<String, Value>) -> Done {
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    if text("type") != "m.login.password" {
        return Err(refused(400, "M_UNKNOWN", "Unknown login type"));
    }
    let identifier = body.get("identifier");
    let kind = identifier.and_then(|it| it.get("type")?.as_str());
    if identifier.is_some() && kind != Some("m.id.user") {
        return Err(bad("Unknown identifier type"));
    }
    let user = identifier.and_then(|it| it.get("user")?.as_str());
    let user = whole(user.unwrap_or_else(|| text("user")));
    let known = world.users.get(&user);
    let is_right = known.is_some_and(|it| it.password == text("password") && !it.is_closed);
    if !is_right {
        return Err(forbidden("Invalid username or password"));
    }
    Ok(session(world, &user))
}

/// Opens a session and returns what its client needs.
fn session(world: &mut World, user: &str) -> Value {
    let token = format!("syt_{}_{:x}", world.unique(), now());
    world.tokens.insert(token.clone(), user.to_owned());
    json!({
        "user_id": user, "access_token": token, "device_id": "TEST", "home_server": SERVER,
    })
}

fn register(world: &mut World, body: &Map<String, Value>) -> Done {
    let text = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default();
    let auth = body.get("auth").and_then(|it| it.get("type")?.as_str());
    if auth != Some("m.login.dummy") {
        let body =
            json!({ "flows": [{ "stages": ["m.login.dummy"] }], "params": {}, "session": "x" });
        return Err(Refusal { status: 401, body });
    }
    let user = whole(text("username"));
    if world.users.contains_key(&user) {
        return Err(refused(400, "M_USER_IN_USE", "User ID already taken."));
    }
    let new = User {
        password: text("password").to_owned(),
        name: text("username").to_owned(),
        is_closed: false,
    };
    world.users.insert(user.clone(), new);
    Ok(session(world, &user))
}

fn whole(name: &str) -> String {
    if name.starts_with('@') {
        return name.to_owned();
    }
    format!("@{name}:{SERVER}")
}

fn upload(world: &mut World, request: &Request) -> Done {
    if request.body.is_empty() {
        return Err(bad("strict: an empty file"));
    }
    let id = format!("file{}", world.unique());
    let file = File {
        kind: request.content_type.clone(),
        bytes: request.body.clone(),
    };
    world.files.insert(id.clone(), file);
    Ok(json!({ "content_uri": format!("mxc://{SERVER}/{id}") }))
}

fn unrecognized() -> Refusal {
    refused(404, "M_UNRECOGNIZED", "Unrecognized request")
}
