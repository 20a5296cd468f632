//! Posts: create, edit, read. Data for integrations is never sent to people.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use serde_json::{Map, Value, json};
use std::time::Instant;

use super::attachments;
use super::error::{Answer, AppError, created, done, needed, object, ok, text};
use super::files;
use super::routes::{Asked, Session};
use super::server::{Shared, locked};
use super::settings::MESSAGE_CHARS_MAX;
use super::world::{ChannelKind, Post, World, new_id};

/// Most posts of one page.
const PAGE_MAX: usize = 200;
/// Posts of one page if nothing is said.
const PAGE: usize = 60;

pub(super) async fn create(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let channel_id = needed(&body, "channel_id")?;
    let pending = text(&body, "pending_post_id").to_owned();
    // What stands beside them, `attachments` for one, is ignored: only properties count.
    let props = props_of(&body);
    let window = shared.settings().pending_post_window;
    let mut world = shared.world();
    world.may_write(&session.user_id, channel_id)?;
    let key = (session.user_id.clone(), pending.clone());
    if let Some((post, at)) = world.pending.get(&key)
        && at.elapsed() < window
    {
        let post = world.post(post)?;
        return created(shown_to_all(post));
    }
    let post = draft(&world, &session.user_id, channel_id, &body, props)?;
    let post = publish(&shared, &mut world, post);
    if !pending.is_empty() {
        world.pending.insert(key, (post.id.clone(), Instant::now()));
    }
    created(shown_to_all(&post))
}

/// Checks a post that somebody wants to write.
fn draft(
    world: &World,
    user_id: &str,
    channel_id: &str,
    body: &Map<String, Value>,
    mut props: Map<String, Value>,
) -> Result<Post, AppError> {
    let message = text(body, "message").to_owned();
    let root_id = text(body, "root_id").to_owned();
    if !root_id.is_empty() {
        let root = world
            .post(&root_id)
            .ok()
            .filter(|root| root.channel_id == channel_id && root.root_id.is_empty());
        if root.is_none() {
            return Err(AppError::bad(
                "api.post.create_post.root_id.app_error",
                "Invalid RootId parameter.",
            ));
        }
    }
    fits(&message)?;
    attachments::accept(&mut props)?;
    let has_files = body.get("file_ids").is_some_and(|ids| ids != &json!([]));
    if message.is_empty() && !props.contains_key("attachments") && !has_files {
        return Err(AppError::bad(
            "model.post.is_valid.empty.app_error",
            "The post is empty.",
        ));
    }
    if world.is_bot(user_id) {
        props.insert("from_bot".to_owned(), json!("true"));
    }
    Ok(Post {
        id: new_id(),
        create_at: 0,
        update_at: 0,
        edit_at: 0,
        delete_at: 0,
        user_id: user_id.to_owned(),
        channel_id: channel_id.to_owned(),
        root_id,
        message,
        props,
        pending_post_id: text(body, "pending_post_id").to_owned(),
        file_ids: files::wanted(world, user_id, channel_id, body),
        kind: "",
        is_pinned: false,
    })
}

/// Keeps a post and tells everybody in the channel.
pub(super) fn publish(shared: &Shared, world: &mut World, mut post: Post) -> Post {
    post.create_at = world.moment();
    post.update_at = post.create_at;
    world.add_post(post.clone());
    for id in &post.file_ids {
        if let Some(file) = world.files.get_mut(id) {
            file.post_id.clone_from(&post.id);
        }
    }
    let audience = world.audience(&post.channel_id);
    let author = world.users.get(&post.user_id);
    let sender = author.map_or("", |user| user.username.as_str());
    let channel = world.channels.get(&post.channel_id);
    let mut data = json!({
        "post": shown_to_all(&post).to_string(),
        "sender_name": format!("@{sender}"),
        "channel_type": channel.map_or("", |channel| channel.kind.letter()),
        "channel_name": channel.map_or("", |channel| channel.name.as_str()),
        "channel_display_name": channel.map_or("", |channel| channel.display_name.as_str()),
        "team_id": channel.map_or("", |channel| channel.team_id.as_str()),
        "set_online": true,
    });
    let mentioned = mentioned(world, &post);
    if let (false, Some(data)) = (mentioned.is_empty(), data.as_object_mut()) {
        // A list, written as a text.
        data.insert("mentions".to_owned(), json!(json!(mentioned).to_string()));
    }
    let broadcast = json!({ "channel_id": post.channel_id });
    locked(&shared.sockets).tell(&audience, "posted", &data, &broadcast);
    post
}

/// Returns the ids of those a post mentions. In a conversation of two that is the other one.
pub(super) fn mentioned(world: &World, post: &Post) -> Vec<String> {
    let Some(channel) = world.channels.get(&post.channel_id) else {
        return Vec::new();
    };
    let names = attachments::mentions(&post.message, &post.props);
    let everybody = names
        .iter()
        .any(|name| matches!(name.as_str(), "all" | "channel" | "here"));
    channel
        .members
        .iter()
        .filter(|id| **id != post.user_id)
        .filter(|id| {
            let name = world.users.get(*id).map(|user| &user.username);
            channel.kind == ChannelKind::Direct
                || everybody
                || name.is_some_and(|name| names.contains(name))
        })
        .cloned()
        .collect()
}

/// Only administrators may; it is seen by one person, and gone when they reload.
pub(super) async fn create_ephemeral(
    State(shared): State<Shared>,
    session: Session,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let user_id = needed(&body, "user_id")?;
    let post = body.get("post").and_then(Value::as_object);
    let post = post.ok_or_else(|| AppError::body("post"))?;
    let world = shared.world();
    if !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let channel_id = needed(post, "channel_id")?;
    world.may_read(user_id, channel_id)?;
    let post = draft(&world, &session.user_id, channel_id, post, props_of(post))?;
    drop(world);
    created(whisper(&shared, user_id, post))
}

/// Shows a post to one person, without keeping it.
pub(super) fn whisper(shared: &Shared, user_id: &str, mut post: Post) -> Value {
    post.create_at = shared.world().moment();
    post.update_at = post.create_at;
    let mut shown = shown_to_all(&post);
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("type".to_owned(), json!("system_ephemeral"));
    }
    let data = json!({ "post": shown.to_string() });
    let broadcast = json!({ "user_id": user_id, "channel_id": post.channel_id });
    locked(&shared.sockets).tell(
        &[user_id.to_owned()],
        "ephemeral_message",
        &data,
        &broadcast,
    );
    shown
}

/// Shows a text of the server to one person.
pub(super) fn whisper_text(shared: &Shared, user_id: &str, channel_id: &str, message: &str) {
    let post = Post {
        id: new_id(),
        create_at: 0,
        update_at: 0,
        edit_at: 0,
        delete_at: 0,
        user_id: user_id.to_owned(),
        channel_id: channel_id.to_owned(),
        root_id: String::new(),
        message: message.to_owned(),
        props: Map::new(),
        pending_post_id: String::new(),
        file_ids: Vec::new(),
        kind: "system_ephemeral",
        is_pinned: false,
    };
    whisper(shared, user_id, post);
}

/// Writes down who came to a channel or left it, as the server does by itself.
pub(super) fn note(
    shared: &Shared,
    world: &mut World,
    (channel_id, user_id): (&str, &str),
    kind: &'static str,
    message: String,
) {
    let post = Post {
        id: new_id(),
        create_at: 0,
        update_at: 0,
        edit_at: 0,
        delete_at: 0,
        user_id: user_id.to_owned(),
        channel_id: channel_id.to_owned(),
        root_id: String::new(),
        message,
        props: Map::new(),
        pending_post_id: String::new(),
        file_ids: Vec::new(),
        kind,
        is_pinned: false,
    };
    publish(shared, world, post);
}

pub(super) async fn by_id(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    let post = world.post(&id)?;
    world.may_read(&session.user_id, &post.channel_id)?;
    ok(shown_to_all(post))
}

/// The whole post anew: what is left out becomes empty.
pub(super) async fn update(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    if text(&body, "id") != id {
        return Err(AppError::body("id"));
    }
    let message = text(&body, "message").to_owned();
    let props = body.contains_key("props").then(|| props_of(&body));
    change(&shared, &session, &id, Some(message), props)
}

/// A part of the post anew: what is left out stays.
pub(super) async fn patch(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let message = body.get("message").and_then(Value::as_str);
    let props = body.get("props").and_then(Value::as_object);
    let (message, props) = (message.map(str::to_owned), props.cloned());
    change(&shared, &session, &id, message, props)
}

fn change(
    shared: &Shared,
    session: &Session,
    id: &str,
    message: Option<String>,
    props: Option<Map<String, Value>>,
) -> Answer {
    let mut world = shared.world();
    let post = world.post(id)?;
    // Others' posts are for administrators.
    let own = post.user_id == session.user_id;
    if !own && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    world.may_write(&session.user_id, &post.channel_id.clone())?;
    let age = super::world::now() - post.create_at;
    let limit = shared.settings().post_edit_limit;
    if limit.is_some_and(|limit| u128::try_from(age).is_ok_and(|age| age > limit.as_millis())) {
        return Err(AppError::bad(
            "api.post.update_post.permissions_time_limit.app_error",
            "Post edit is only allowed for a limited time.",
        ));
    }
    let post = rewrite(shared, &mut world, id, message, props)?;
    ok(shown_to_all(&post))
}

/// Changes a post and tells everybody in the channel.
pub(super) fn rewrite(
    shared: &Shared,
    world: &mut World,
    id: &str,
    message: Option<String>,
    props: Option<Map<String, Value>>,
) -> Result<Post, AppError> {
    let at = world.moment();
    let mut post = world.post(id)?.clone();
    if let Some(message) = message {
        fits(&message)?;
        if message != post.message {
            post.edit_at = at;
        }
        post.message = message;
    }
    if let Some(mut props) = props {
        attachments::accept(&mut props)?;
        if world.is_bot(&post.user_id) {
            props.insert("from_bot".to_owned(), json!("true"));
        }
        post.props = props;
    }
    post.update_at = at;
    *world.post_mut(id)? = post.clone();
    let audience = world.audience(&post.channel_id);
    let data = json!({ "post": shown_to_all(&post).to_string() });
    let broadcast = json!({ "channel_id": post.channel_id });
    locked(&shared.sockets).tell(&audience, "post_edited", &data, &broadcast);
    Ok(post)
}

pub(super) async fn remove(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let mut world = shared.world();
    let own = world.post(&id)?.user_id == session.user_id;
    if !own && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let at = world.moment();
    let post = world.post_mut(&id)?;
    post.delete_at = at;
    let shown = shown_to_all(post);
    let channel_id = post.channel_id.clone();
    let audience = world.audience(&channel_id);
    let data = json!({ "post": shown.to_string() });
    let broadcast = json!({ "channel_id": channel_id });
    locked(&shared.sockets).tell(&audience, "post_deleted", &data, &broadcast);
    done()
}

/// The posts of a channel, newest first: a page of them, or what changed since a moment.
pub(super) async fn of_channel(
    State(shared): State<Shared>,
    session: Session,
    Path(channel): Path<String>,
    Query(asked): Asked,
) -> Answer {
    let world = shared.world();
    world.may_read(&session.user_id, &channel)?;
    let number = |key: &str| asked.get(key).and_then(|value| value.parse::<i64>().ok());
    let size = |key: &str| asked.get(key).and_then(|value| value.parse::<usize>().ok());
    let here = |post: &&Post| post.channel_id == channel && post.delete_at == 0;
    let posts: Vec<&Post> = if let Some(since) = number("since") {
        // What was changed counts, too.
        let newer = |post: &&Post| here(post) && post.update_at > since;
        world.posts.iter().rev().filter(newer).collect()
    } else {
        let per_page = size("per_page").unwrap_or(PAGE).min(PAGE_MAX);
        let skip = size("page").unwrap_or(0).saturating_mul(per_page);
        let newest = world.posts.iter().rev().filter(here);
        newest.skip(skip).take(per_page).collect()
    };
    ok(listed(&posts))
}

/// A post with everything that was answered to it.
pub(super) async fn thread(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    let post = world.post(&id)?;
    world.may_read(&session.user_id, &post.channel_id)?;
    let root = if post.root_id.is_empty() {
        &post.id
    } else {
        &post.root_id
    };
    let in_it = |post: &&Post| post.delete_at == 0 && (post.id == *root || post.root_id == *root);
    let posts: Vec<&Post> = world.posts.iter().filter(in_it).collect();
    ok(listed(&posts))
}

fn listed(posts: &[&Post]) -> Value {
    let order: Vec<&str> = posts.iter().map(|post| post.id.as_str()).collect();
    let by_id: Map<String, Value> = posts
        .iter()
        .map(|post| (post.id.clone(), shown_to_all(post)))
        .collect();
    json!({ "order": order, "posts": by_id, "next_post_id": "", "prev_post_id": "" })
}

/// Returns a post as anybody is sent it.
pub(super) fn shown_to_all(post: &Post) -> Value {
    shown(post, &attachments::stripped(&post.props))
}

pub(super) fn shown(post: &Post, props: &Map<String, Value>) -> Value {
    json!({
        "id": post.id, "create_at": post.create_at, "update_at": post.update_at,
        "edit_at": post.edit_at, "delete_at": post.delete_at, "is_pinned": post.is_pinned,
        "user_id": post.user_id, "channel_id": post.channel_id, "root_id": post.root_id,
        "original_id": "", "message": post.message, "type": post.kind, "props": props, "hashtags": "", "file_ids": post.file_ids,
        "pending_post_id": post.pending_post_id, "reply_count": 0, "metadata": {},
    })
}

fn fits(message: &str) -> Result<(), AppError> {
    if message.chars().count() > MESSAGE_CHARS_MAX {
        return Err(AppError::bad(
            "model.post.is_valid.message_length.app_error",
            "Post Message property is longer than the maximum permitted length.",
        ));
    }
    Ok(())
}

fn props_of(body: &Map<String, Value>) -> Map<String, Value> {
    let props = body.get("props").and_then(Value::as_object);
    props.cloned().unwrap_or_default()
}
