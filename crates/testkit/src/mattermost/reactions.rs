//! Reactions: a person's emoji under a post.

use axum::body::Bytes;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::error::{Answer, AppError, done, needed, object, ok};
use super::routes::Session;
use super::server::{Shared, locked};
use super::world::Reaction;

/// Longest name of an emoji, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Everybody reacts for themselves alone; the same reaction twice is one.
pub(super) async fn add(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let post_id = needed(&body, "post_id")?.to_owned();
    let emoji_name = needed(&body, "emoji_name")?.to_owned();
    if needed(&body, "user_id")? != session.user_id {
        return Err(AppError::forbidden());
    }
    let named = emoji_name
        .chars()
        .all(|char| char.is_ascii_alphanumeric() || "_-+".contains(char));
    if !named || emoji_name.len() > NAME_BYTES_MAX {
        return Err(AppError::bad(
            "model.reaction.is_valid.emoji_name.app_error",
            "Invalid emoji name.",
        ));
    }
    let mut world = shared.world();
    let channel_id = world.post(&post_id)?.channel_id.clone();
    world.may_write(&session.user_id, &channel_id)?;
    let reaction = Reaction {
        user_id: session.user_id,
        post_id,
        emoji_name,
        create_at: world.moment(),
    };
    let same = |known: &&Reaction| {
        known.user_id == reaction.user_id
            && known.post_id == reaction.post_id
            && known.emoji_name == reaction.emoji_name
    };
    if let Some(known) = world.reactions.iter().find(same) {
        return ok(known.public());
    }
    world.reactions.push(reaction.clone());
    let audience = world.audience(&channel_id);
    let data = json!({ "reaction": reaction.public().to_string() });
    let broadcast = json!({ "channel_id": channel_id });
    locked(&shared.sockets).tell(&audience, "reaction_added", &data, &broadcast);
    ok(reaction.public())
}

pub(super) async fn of_post(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    world.may_read(&session.user_id, &world.post(&id)?.channel_id)?;
    let here = world.reactions.iter().filter(|known| known.post_id == id);
    ok(Value::from(here.map(Reaction::public).collect::<Vec<_>>()))
}

pub(super) async fn remove(
    State(shared): State<Shared>,
    session: Session,
    Path((user, post, emoji)): Path<(String, String, String)>,
) -> Answer {
    let user = session.meant(&user).to_owned();
    if user != session.user_id {
        return Err(AppError::forbidden());
    }
    let mut world = shared.world();
    let channel_id = world.post(&post)?.channel_id.clone();
    let gone = |known: &Reaction| {
        known.user_id == user && known.post_id == post && known.emoji_name == emoji
    };
    let removed: Vec<Reaction> = world
        .reactions
        .extract_if(.., |known| gone(known))
        .collect();
    let audience = world.audience(&channel_id);
    for reaction in removed {
        let data = json!({ "reaction": reaction.public().to_string() });
        let broadcast = json!({ "channel_id": channel_id });
        locked(&shared.sockets).tell(&audience, "reaction_removed", &data, &broadcast);
    }
    done()
}
