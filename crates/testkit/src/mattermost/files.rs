//! Files: sent to a channel first, then attached to a post of whoever sent them.

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use serde_json::{Map, Value, json};

use super::error::{Answer, AppError, created};
use super::routes::{Asked, Session};
use super::server::Shared;
use super::settings::FileAttachments;
use super::world::{File, World, new_id};

/// Most files of one post.
const FILES_MAX: usize = 10;

/// Takes one file, as it is, in the body.
pub(super) async fn upload(
    State(shared): State<Shared>,
    session: Session,
    Query(asked): Asked,
    body: Bytes,
) -> Answer {
    if shared.settings().file_attachments == FileAttachments::Off {
        return Err(AppError::new(
            StatusCode::FORBIDDEN,
            "api.file.attachments.disabled.app_error",
            "File attachments have been disabled on this server.",
        ));
    }
    let text = |key: &str| asked.get(key).cloned().unwrap_or_default();
    let (channel_id, name) = (text("channel_id"), text("filename"));
    let mut world = shared.world();
    world.may_write(&session.user_id, &channel_id)?;
    if name.is_empty() {
        return Err(AppError::body("filename"));
    }
    let id = new_id();
    let info = json!({
        "id": id, "user_id": session.user_id, "channel_id": channel_id, "name": name,
        "size": body.len(), "post_id": "",
    });
    let file = File {
        user_id: session.user_id,
        channel_id,
        name,
        content: body.to_vec(),
        post_id: String::new(),
    };
    world.files.insert(id, file);
    created(json!({ "file_infos": [info], "client_ids": [] }))
}

/// Returns the content, once it belongs to a post, to who reads the channel.
pub(super) async fn content(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    let file = world.files.get(&id);
    let file = file.ok_or_else(|| AppError::missing("app.file_info.get.app_error"))?;
    world.may_read(&session.user_id, &file.channel_id)?;
    if file.post_id.is_empty() && file.user_id != session.user_id {
        return Err(AppError::forbidden());
    }
    let named = format!("attachment; filename=\"{}\"", file.name);
    Ok(([("content-disposition", named)], file.content.clone()).into_response())
}

/// Returns the files a post may have of those it asks for: one's own, in that channel, and of no other
/// post. The others are left out without a word.
pub(super) fn wanted(
    world: &World,
    user_id: &str,
    channel_id: &str,
    body: &Map<String, Value>,
) -> Vec<String> {
    let ids = body.get("file_ids").and_then(Value::as_array);
    let ids = ids.into_iter().flatten().filter_map(Value::as_str);
    let may = |id: &&str| {
        world.files.get(*id).is_some_and(|file| {
            file.user_id == user_id && file.channel_id == channel_id && file.post_id.is_empty()
        })
    };
    ids.filter(may).take(FILES_MAX).map(str::to_owned).collect()
}
