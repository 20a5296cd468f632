//! What can be done in rooms: create, join, invite, send, redact, read.

use serde_json::{Map, Value, json};

use super::error::{Done, Refusal, bad, forbidden, not_found, refused};
use super::schema;
use super::world::{Event, Limit, News, Room, SERVER, World, now, relation};

/// Who asks, and with which token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asker<'a> {
    pub(super) user: &'a str,
    pub(super) token: &'a str,
}

/// State that can be in a room from its beginning, by preset: who may join it.
const PRESETS: &[(&str, &str)] = &[
    ("private_chat", "invite"),
    ("trusted_private_chat", "invite"),
    ("public_chat", "public"),
];

pub(super) fn create(world: &mut World, asker: Asker<'_>, body: &Map<String, Value>) -> Done {
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    let preset = text("preset").unwrap_or("private_chat");
    let Some((_, rule)) = PRESETS.iter().find(|(name, _)| *name == preset) else {
        return Err(bad(&format!("'{preset}' is not a valid preset")));
    };
    let invited = body.get("invite").and_then(Value::as_array);
    let invited: Vec<&str> = invited
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if let Some(nobody) = invited.iter().find(|it| !is_user(it)) {
        return Err(refused(
            400,
            "M_INVALID_PARAM",
            &format!("{nobody} is no user id"),
        ));
    }
    let id = format!("!{}:{SERVER}", world.unique());
    world.rooms.insert(id.clone(), Room::default());
    let user = asker.user;
    let put = |world: &mut World, kind: &str, key: &str, content: Value| {
        world.put(&id, user, (kind, Some(key)), content, None);
    };
    put(world, "m.room.create", "", json!({ "room_version": "11" }));
    put(
        world,
        "m.room.member",
        user,
        json!({ "membership": "join" }),
    );
    let mut powers = json!({
        "users": { user: 100 }, "users_default": 0, "events_default": 0, "state_default": 50,
        "invite": 0, "redact": 50, "events": { "m.room.encryption": 100, "m.room.power_levels": 100 },
    });
    let more = body
        .get("power_level_content_override")
        .and_then(Value::as_object);
    if let (Some(powers), Some(more)) = (powers.as_object_mut(), more) {
        powers.extend(more.clone());
    }
    if let (true, Some(users)) = (preset == "trusted_private_chat", powers.get_mut("users")) {
        for user in &invited {
            if let Some(users) = users.as_object_mut() {
                users.insert((*user).to_owned(), json!(100));
            }
        }
    }
    put(world, "m.room.power_levels", "", powers);
    put(world, "m.room.join_rules", "", json!({ "join_rule": rule }));
    put(
        world,
        "m.room.history_visibility",
        "",
        json!({ "history_visibility": "shared" }),
    );
    let initial = body.get("initial_state").and_then(Value::as_array);
    for state in initial.into_iter().flatten() {
        let part = |key: &str| state.get(key).and_then(Value::as_str).unwrap_or_default();
        let content = state.get("content").cloned().unwrap_or_default();
        put(world, part("type"), part("state_key"), content);
    }
    if let Some(name) = text("name") {
        put(world, "m.room.name", "", json!({ "name": name }));
    }
    let is_direct = body.get("is_direct") == Some(&json!(true));
    for user in invited {
        let mut content = json!({ "membership": "invite" });
        if let (true, Some(content)) = (is_direct, content.as_object_mut()) {
            content.insert("is_direct".to_owned(), json!(true));
        }
        put(world, "m.room.member", user, content);
    }
    if let Some(name) = text("room_alias_name") {
        world
            .aliases
            .insert(format!("#{name}:{SERVER}"), id.clone());
    }
    Ok(json!({ "room_id": id }))
}

pub(super) fn join(world: &mut World, asker: Asker<'_>, room: &str) -> Done {
    let room = match world.aliases.get(room) {
        Some(id) => id.clone(),
        None => room.to_owned(),
    };
    if !world.rooms.contains_key(&room) {
        return Err(refused(
            404,
            "M_NOT_FOUND",
            "Can't join remote room: no known servers",
        ));
    }
    let rules = world.state(&room, "m.room.join_rules", "");
    let rule = rules.and_then(|it| it.content.get("join_rule")?.as_str());
    let is_open = rule == Some("public");
    match world.membership(&room, asker.user) {
        "join" => {}
        "invite" => member(world, &room, asker.user, asker.user, "join"),
        _ if is_open => member(world, &room, asker.user, asker.user, "join"),
        _ => return Err(forbidden("You are not invited to this room.")),
    }
    Ok(json!({ "room_id": room }))
}

pub(super) fn leave(world: &mut World, asker: Asker<'_>, room: &str) -> Done {
    if !["join", "invite"].contains(&world.membership(room, asker.user)) {
        return Err(forbidden("User is not in the room."));
    }
    member(world, room, asker.user, asker.user, "leave");
    Ok(json!({}))
}

pub(super) fn invite(
    world: &mut World,
    asker: Asker<'_>,
    room: &str,
    body: &Map<String, Value>,
) -> Done {
    world.is_in(room, asker.user)?;
    let user = body
        .get("user_id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if !is_user(user) {
        return Err(refused(400, "M_INVALID_PARAM", "Expected a user id"));
    }
    if world.membership(room, user) == "join" {
        return Err(forbidden(&format!("{user} is already in the room.")));
    }
    member(world, room, asker.user, user, "invite");
    Ok(json!({}))
}

fn member(world: &mut World, room: &str, sender: &str, user: &str, how: &str) {
    let content = json!({ "membership": how });
    world.put(room, sender, ("m.room.member", Some(user)), content, None);
}

/// Sends an event, once under the same transaction id.
pub(super) fn send(
    world: &mut World,
    asker: Asker<'_>,
    (room, kind, txn): (&str, &str, &str),
    body: Map<String, Value>,
    limit: Option<Limit>,
) -> Done {
    let key = (asker.token.to_owned(), format!("{room} {kind} {txn}"));
    if let Some(id) = world.sent.get(&key) {
        return Ok(json!({ "event_id": id }));
    }
    if kind == "m.room.redaction" {
        let target = body
            .get("redacts")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let target = target.to_owned();
        return redact(world, asker, (room, &target, txn), &body);
    }
    world.may_send(room, asker.user, kind, false)?;
    schema::content(kind, &body)?;
    let content = Value::Object(body);
    check_relation(world, asker, room, kind, &content)?;
    let shown = json!({
        "type": kind, "content": content, "sender": asker.user, "room_id": room,
        "origin_server_ts": now(),
    });
    schema::size(&shown)?;
    world.take(asker.user, limit)?;
    let named = Some((asker.token.to_owned(), txn.to_owned()));
    let id = world.put(room, asker.user, (kind, None), content, named);
    world.sent.insert(key, id.clone());
    Ok(json!({ "event_id": id }))
}

fn check_relation(
    world: &World,
    asker: Asker<'_>,
    room: &str,
    kind: &str,
    content: &Value,
) -> Result<(), Refusal> {
    let (how, target) = (relation(content, "rel_type"), relation(content, "event_id"));
    if how.is_empty() {
        return Ok(());
    }
    if target.is_empty() {
        return Err(bad("strict: a relation names an event"));
    }
    if world.event(room, target).is_none() {
        return Err(refused(
            400,
            "M_UNKNOWN",
            "Can't send relation to unknown event",
        ));
    }
    if how == "m.annotation" {
        let key = relation(content, "key");
        if key.is_empty() || key.len() > 500 {
            return Err(bad("Aggregation key is missing or too long"));
        }
        let is_same = |it: &Event| {
            it.room == room
                && it.kind == kind
                && it.sender == asker.user
                && it.redacted.is_none()
                && relation(&it.content, "rel_type") == how
                && relation(&it.content, "event_id") == target
                && relation(&it.content, "key") == key
        };
        if world.events.iter().any(is_same) {
            let words = "Can't send same reaction twice";
            return Err(refused(400, "M_DUPLICATE_ANNOTATION", words));
        }
    }
    if how == "m.replace" && content.get("m.new_content").is_none() {
        return Err(bad("strict: an edit has `m.new_content`"));
    }
    Ok(())
}

/// Takes away what an event says.
pub(super) fn redact(
    world: &mut World,
    asker: Asker<'_>,
    (room, target, txn): (&str, &str, &str),
    body: &Map<String, Value>,
) -> Done {
    let key = (asker.token.to_owned(), format!("{room} {target} {txn}"));
    if let Some(id) = world.sent.get(&key) {
        return Ok(json!({ "event_id": id }));
    }
    world.may_send(room, asker.user, "m.room.redaction", false)?;
    let event = world
        .event(room, target)
        .ok_or_else(|| not_found("Event not found."))?;
    if event.sender != asker.user && world.power(room, asker.user) < 50 {
        return Err(forbidden("You don't have permission to redact events"));
    }
    let mut content = json!({ "redacts": target });
    if let (Some(reason), Some(content)) = (body.get("reason"), content.as_object_mut()) {
        content.insert("reason".to_owned(), reason.clone());
    }
    let kind = ("m.room.redaction", None);
    let id = world.put(room, asker.user, kind, content, None);
    let redaction = world.event(room, &id).map(World::bare);
    world.redact(room, target, &redaction.unwrap_or_default());
    world.sent.insert(key, id.clone());
    Ok(json!({ "event_id": id }))
}

pub(super) fn set_state(
    world: &mut World,
    asker: Asker<'_>,
    (room, kind, key): (&str, &str, &str),
    body: Map<String, Value>,
) -> Done {
    world.may_send(room, asker.user, kind, true)?;
    if key.starts_with('@') && key != asker.user && kind != "m.room.member" {
        return Err(forbidden("You are not allowed to set others state"));
    }
    if kind == "m.room.encryption" && world.state(room, kind, key).is_some() {
        return Err(forbidden("strict: encryption stays as it is"));
    }
    schema::body(
        &format!("state {kind}"),
        Value::Object(body.clone()).to_string().as_bytes(),
    )?;
    let content = Value::Object(body);
    let id = world.put(room, asker.user, (kind, Some(key)), content, None);
    Ok(json!({ "event_id": id }))
}

pub(super) fn state(world: &World, asker: Asker<'_>, room: &str, kind: &str, key: &str) -> Done {
    world.is_in(room, asker.user)?;
    let found = world.state(room, kind, key);
    let found = found.ok_or_else(|| not_found("Event not found."))?;
    Ok(found.content.clone())
}

pub(super) fn members(world: &World, asker: Asker<'_>, room: &str, not: Option<&str>) -> Done {
    world.is_in(room, asker.user)?;
    let all = world.members(room, &["join", "invite", "leave", "ban"]);
    let all = all
        .iter()
        .filter(|user| Some(world.membership(room, user)) != not);
    let all = all.filter_map(|user| world.state(room, "m.room.member", user));
    let chunk: Vec<Value> = all.map(|it| world.shown(it, asker.token)).collect();
    Ok(json!({ "chunk": chunk }))
}

pub(super) fn event(world: &World, asker: Asker<'_>, room: &str, id: &str) -> Done {
    world.is_in(room, asker.user)?;
    let found = world.event(room, id);
    let found = found.ok_or_else(|| not_found("Event not found."))?;
    Ok(world.shown(found, asker.token))
}

/// Returns a page of what happened.
pub(super) fn messages(
    world: &World,
    asker: Asker<'_>,
    room: &str,
    query: &dyn Fn(&str) -> Option<String>,
) -> Done {
    world.is_in(room, asker.user)?;
    let is_back = match query("dir").as_deref() {
        Some("b") => true,
        Some("f") => false,
        _ => {
            return Err(refused(
                400,
                "M_MISSING_PARAM",
                "Missing query parameter: dir",
            ));
        }
    };
    let limit = query("limit")
        .and_then(|it| it.parse().ok())
        .unwrap_or(10_usize);
    let filter = query("filter").unwrap_or_else(|| "{}".to_owned());
    let filter: Value = serde_json::from_str(&filter).map_err(|_| bad("the filter is no JSON"))?;
    let end = if is_back { world.news.len() } else { 0 };
    let from = position(query("from"))?.unwrap_or(end);
    let to = position(query("to"))?;
    let numbered = world.news.iter().enumerate();
    let here = numbered.filter_map(|(at, news)| match news {
        News::Event(number) => {
            let event = world.events.get(*number).filter(|it| it.room == room)?;
            Some((at + 1, event))
        }
        News::Read { .. } | News::Typing { .. } => None,
    });
    let mut found: Vec<(usize, &Event)> = if is_back {
        let all = here.filter(|(at, _)| *at <= from && to.is_none_or(|to| *at > to));
        let mut all: Vec<(usize, &Event)> = all.collect();
        all.reverse();
        all
    } else {
        let all = here.filter(|(at, _)| *at > from && to.is_none_or(|to| *at <= to));
        all.collect()
    };
    found.retain(|(_, event)| passes(&filter, event));
    let is_more = found.len() > limit;
    found.truncate(limit);
    let chunk: Vec<Value> = found
        .iter()
        .map(|(_, it)| world.shown(it, asker.token))
        .collect();
    let mut page = json!({ "chunk": chunk, "start": format!("s{from}") });
    if let (true, Some((last, _)), Some(page)) = (is_more, found.last(), page.as_object_mut()) {
        let end = if is_back { last - 1 } else { *last };
        page.insert("end".to_owned(), json!(format!("s{end}")));
    }
    Ok(page)
}

/// Returns what relates to an event.
pub(super) fn relations(world: &World, asker: Asker<'_>, room: &str, path: &[&str]) -> Done {
    world.is_in(room, asker.user)?;
    let (target, how, kind) = (path.first(), path.get(1), path.get(2));
    let related = world.events.iter().rev().filter(|it| {
        it.room == room
            && it.redacted.is_none()
            && target == Some(&relation(&it.content, "event_id"))
            && how.is_none_or(|how| relation(&it.content, "rel_type") == *how)
            && kind.is_none_or(|kind| it.kind == *kind)
    });
    let chunk: Vec<Value> = related.map(|it| world.shown(it, asker.token)).collect();
    Ok(json!({ "chunk": chunk }))
}

/// Whether an event passes a filter of events.
pub(super) fn passes(filter: &Value, event: &Event) -> bool {
    let list = |key: &str| filter.get(key).and_then(Value::as_array);
    let fits = |list: &Vec<Value>, text: &str| {
        list.iter()
            .filter_map(Value::as_str)
            .any(|it| match it.strip_suffix('*') {
                Some(head) => text.starts_with(head),
                None => it == text,
            })
    };
    list("types").is_none_or(|types| fits(types, &event.kind))
        && !list("not_types").is_some_and(|types| fits(types, &event.kind))
        && list("senders").is_none_or(|senders| fits(senders, &event.sender))
        && !list("not_senders").is_some_and(|senders| fits(senders, &event.sender))
}

/// Reads a point in time.
pub(super) fn position(token: Option<String>) -> Result<Option<usize>, Refusal> {
    let Some(token) = token else {
        return Ok(None);
    };
    let number = token.strip_prefix('s').and_then(|it| it.parse().ok());
    let number = number.ok_or_else(|| refused(400, "M_INVALID_PARAM", "Invalid stream token"))?;
    Ok(Some(number))
}

fn is_user(id: &str) -> bool {
    id.starts_with('@') && id.contains(':')
}
