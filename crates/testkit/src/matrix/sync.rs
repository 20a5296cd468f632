//! `/sync`: everything that is new since a point in time, and a wait until there is something.

use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::Instant;

use super::error::{Done, bad, refused};
use super::rooms::{Asker, passes, position};
use super::server::Shared;
use super::world::{Event, News, World};

/// Events of a room that are told at once, if the filter does not say.
const LIMIT: usize = 10;
/// State that may be known before somebody joins.
const STRIPPED: &[&str] = &[
    "m.room.create",
    "m.room.name",
    "m.room.join_rules",
    "m.room.encryption",
];

/// Waits for something new, as long as it was asked to.
pub(super) async fn sync(
    shared: &Shared,
    asker: Asker<'_>,
    query: &(dyn Fn(&str) -> Option<String> + Sync),
) -> Done {
    let filter = match query("filter") {
        Some(text) if text.starts_with('{') => {
            serde_json::from_str(&text).map_err(|_| bad("the filter is no JSON"))?
        }
        Some(id) => {
            let number = id.parse::<usize>().ok();
            let world = shared.world();
            let kept = number.and_then(|number| world.filters.get(number).cloned());
            kept.ok_or_else(|| refused(400, "M_INVALID_PARAM", "No such filter"))?
        }
        None => json!({}),
    };
    let since = position(query("since"))?;
    let wait = query("timeout").and_then(|it| it.parse().ok()).unwrap_or(0);
    let wait = Duration::from_millis(wait);
    let began = Instant::now();
    let mut news = shared.news();
    loop {
        {
            let world = shared.world();
            if since.is_some_and(|since| since > world.news.len()) {
                return Err(refused(400, "M_INVALID_PARAM", "Invalid stream token"));
            }
            let (answer, is_empty) = told(&world, asker, since, &filter);
            if !is_empty || since.is_none() || began.elapsed() >= wait {
                return Ok(answer);
            }
        }
        let left = wait.saturating_sub(began.elapsed());
        // Whether there is something new is looked at in either case.
        let _changed = tokio::time::timeout(left, news.changed()).await.is_ok();
    }
}

fn told(world: &World, asker: Asker<'_>, since: Option<usize>, filter: &Value) -> (Value, bool) {
    let (mut join, mut invite, mut leave) = (Map::new(), Map::new(), Map::new());
    for id in world.rooms.keys() {
        match world.membership(id, asker.user) {
            "join" => {
                if let Some(room) = joined(world, asker, id, since, filter) {
                    join.insert(id.clone(), room);
                }
            }
            "invite" if is_new(world, id, asker.user, since) => {
                let events = stripped(world, id, asker.user);
                invite.insert(id.clone(), json!({ "invite_state": { "events": events } }));
            }
            "leave" if since.is_some() && is_new(world, id, asker.user, since) => {
                leave.insert(id.clone(), json!({ "timeline": { "events": [] } }));
            }
            _ => {}
        }
    }
    let is_empty = join.is_empty() && invite.is_empty() && leave.is_empty();
    let answer = json!({
        "next_batch": format!("s{}", world.news.len()),
        "rooms": { "join": join, "invite": invite, "leave": leave },
        "presence": { "events": [] },
        "account_data": { "events": [] },
        "to_device": { "events": [] },
        "device_lists": { "changed": [], "left": [] },
        "device_one_time_keys_count": {},
    });
    (answer, is_empty)
}

/// Whether how somebody is in a room changed.
fn is_new(world: &World, room: &str, user: &str, since: Option<usize>) -> bool {
    let Some(since) = since else {
        return true;
    };
    let later = world.news.iter().skip(since);
    let mut events = later.filter_map(|news| event_of(world, news));
    events.any(|it| {
        it.room == room && it.kind == "m.room.member" && it.state_key.as_deref() == Some(user)
    })
}

fn event_of<'a>(world: &'a World, news: &News) -> Option<&'a Event> {
    match news {
        News::Event(number) => world.events.get(*number),
        News::Read { .. } | News::Typing { .. } => None,
    }
}

fn joined(
    world: &World,
    asker: Asker<'_>,
    id: &str,
    since: Option<usize>,
    filter: &Value,
) -> Option<Value> {
    let empty = json!({});
    let part = |key: &str| {
        filter
            .get("room")
            .and_then(|it| it.get(key))
            .unwrap_or(&empty)
    };
    // Who has just come is told of what was there before.
    let begin = since.filter(|_| !is_new(world, id, asker.user, since));
    let from = begin.unwrap_or(0);
    let limit = part("timeline").get("limit").and_then(Value::as_u64);
    let limit = limit
        .and_then(|it| usize::try_from(it).ok())
        .unwrap_or(LIMIT);
    let numbered = world.news.iter().enumerate().skip(from);
    let here = numbered.filter_map(|(at, news)| Some((at, event_of(world, news)?)));
    let here: Vec<(usize, &Event)> = here.filter(|(_, it)| it.room == id).collect();
    let is_wanted = |(_, event): &&(usize, &Event)| passes(part("timeline"), event);
    let wanted: Vec<&(usize, &Event)> = here.iter().filter(is_wanted).collect();
    let left_out = wanted.len().saturating_sub(limit);
    let shown: Vec<&(usize, &Event)> = wanted.into_iter().skip(left_out).collect();
    let first = shown.first().map_or(world.news.len(), |(at, _)| *at);
    let state: Vec<Value> = if begin.is_none() {
        let numbers = world.rooms.get(id)?.state.values();
        let state = numbers.filter_map(|number| world.events.get(*number));
        let state = state.filter(|it| passes(part("state"), it));
        state.map(|it| told_of(world, it, asker)).collect()
    } else {
        let gap = here
            .iter()
            .filter(|(at, it)| *at < first && it.state_key.is_some());
        let gap = gap.filter(|(_, it)| passes(part("state"), it));
        gap.map(|(_, it)| told_of(world, it, asker)).collect()
    };
    let ephemeral = ephemeral(world, id, since.unwrap_or(0), part("ephemeral"));
    if begin.is_some() && shown.is_empty() && state.is_empty() && ephemeral.is_empty() {
        return None;
    }
    let timeline: Vec<Value> = shown
        .iter()
        .map(|(_, it)| told_of(world, it, asker))
        .collect();
    let members = world.members(id, &["join"]).len();
    Some(json!({
        "timeline": {
            "events": timeline, "limited": left_out > 0 || begin.is_none(),
            "prev_batch": format!("s{first}"),
        },
        "state": { "events": state },
        "ephemeral": { "events": ephemeral },
        "account_data": { "events": [] },
        "summary": { "m.joined_member_count": members },
        "unread_notifications": {},
    }))
}

fn ephemeral(world: &World, id: &str, since: usize, filter: &Value) -> Vec<Value> {
    let nothing = filter.get("not_types").and_then(Value::as_array);
    if nothing.is_some_and(|types| types.contains(&json!("*"))) {
        return Vec::new();
    }
    let later = world.news.iter().skip(since);
    let events = later.filter_map(|news| match news {
        News::Read {
            room,
            user,
            event,
            at,
        } if room == id => Some(json!({
            "type": "m.receipt",
            "content": { event: { "m.read": { user: { "ts": at } } } },
        })),
        News::Typing { room, users } if room == id => {
            Some(json!({ "type": "m.typing", "content": { "user_ids": users } }))
        }
        News::Event(_) | News::Read { .. } | News::Typing { .. } => None,
    });
    events.collect()
}

/// Returns an event as it is told here: where it is says what is around it.
fn told_of(world: &World, event: &Event, asker: Asker<'_>) -> Value {
    let mut shown = world.shown(event, asker.token);
    if let Some(shown) = shown.as_object_mut() {
        shown.remove("room_id");
    }
    shown
}

/// Returns what somebody who is invited may know.
fn stripped(world: &World, room: &str, user: &str) -> Vec<Value> {
    let state = STRIPPED
        .iter()
        .filter_map(|kind| world.state(room, kind, ""));
    let members = world.state(room, "m.room.member", user).into_iter();
    let inviter = members
        .clone()
        .filter_map(|it| world.state(room, "m.room.member", &it.sender));
    let all = state.chain(inviter).chain(members);
    all.map(|it| {
        json!({
            "type": it.kind, "state_key": it.state_key, "sender": it.sender, "content": it.content,
        })
    })
    .collect()
}
