//! Teams and channels, and who is in them.

use std::collections::{BTreeMap, BTreeSet};

use axum::body::Bytes;
use axum::extract::{Path, State};
use serde_json::{Value, json};

use super::error::{Answer, AppError, created, done, needed, object, ok, says, text};
use super::posts;
use super::routes::Session;
use super::server::{Shared, locked};
use super::world::{Channel, ChannelKind, Standing, Team, new_id};

const NO_TEAM: &str = "app.team.get_by_name.missing.app_error";
const NO_CHANNEL: &str = "app.channel.get_by_name.missing.app_error";
const NO_TEAM_MEMBER: &str = "app.team.get_member.missing.app_error";
const NO_CHANNEL_MEMBER: &str = "app.channel.get_member.missing.app_error";

pub(super) async fn create(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let body = object(&body)?;
    let name = needed(&body, "name")?.to_owned();
    let display_name = needed(&body, "display_name")?.to_owned();
    needed(&body, "type")?;
    let mut world = shared.world();
    if world.teams.values().any(|team| team.name == name) {
        return Err(AppError::bad(
            "app.team.save.existing.app_error",
            "A team with that name already exists.",
        ));
    }
    let team = Team {
        id: new_id(),
        name,
        display_name,
        members: BTreeMap::from([(session.user_id, Standing::Admin)]),
    };
    let shown = team.public();
    world.teams.insert(team.id.clone(), team);
    created(shown)
}

pub(super) async fn by_id(
    State(shared): State<Shared>,
    session: Session,
    Path(team): Path<String>,
) -> Answer {
    let world = shared.world();
    let found = world.team(&team)?;
    if !world.in_team(&session.user_id, &team) {
        return Err(AppError::forbidden());
    }
    ok(found.public())
}

pub(super) async fn by_name(
    State(shared): State<Shared>,
    session: Session,
    Path(name): Path<String>,
) -> Answer {
    let world = shared.world();
    let mut teams = world.teams.values();
    let found = teams
        .find(|team| team.name == name)
        .filter(|team| world.in_team(&session.user_id, &team.id));
    ok(found.ok_or_else(|| AppError::missing(NO_TEAM))?.public())
}

/// The teams an account is in; others' are for administrators.
pub(super) async fn of_user(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    let user = session.meant(&id);
    if user != session.user_id && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let teams = world.teams.values();
    let teams = teams.filter(|team| team.members.contains_key(user));
    ok(Value::from(teams.map(Team::public).collect::<Vec<_>>()))
}

pub(super) async fn add_member(
    State(shared): State<Shared>,
    session: Session,
    Path(team): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let user = needed(&body, "user_id")?.to_owned();
    if needed(&body, "team_id")? != team {
        return Err(AppError::body("team_id"));
    }
    let mut world = shared.world();
    world.user(&user)?;
    world.team(&team)?;
    // Members add others; the team is open, so people add themselves.
    if !world.in_team(&session.user_id, &team) && session.user_id != user {
        return Err(AppError::forbidden());
    }
    let team = world.teams.get_mut(&team);
    let team = team.ok_or_else(|| AppError::missing(NO_TEAM))?;
    team.members.entry(user.clone()).or_insert(Standing::Member);
    created(team.member(&user).unwrap_or_default())
}

pub(super) async fn member(
    State(shared): State<Shared>,
    session: Session,
    Path((team, user)): Path<(String, String)>,
) -> Answer {
    let world = shared.world();
    let found = world.team(&team)?;
    if !world.in_team(&session.user_id, &team) {
        return Err(AppError::forbidden());
    }
    let member = found.member(session.meant(&user));
    ok(member.ok_or_else(|| AppError::missing(NO_TEAM_MEMBER))?)
}

/// Who administers a team makes others administer it.
pub(super) async fn set_roles(
    State(shared): State<Shared>,
    session: Session,
    Path((team, user)): Path<(String, String)>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let mut world = shared.world();
    // The same accounts may do both.
    world.may_command(&session.user_id, &team)?;
    let standing = if says(&body, "scheme_admin") {
        Standing::Admin
    } else {
        Standing::Member
    };
    let member = world
        .teams
        .get_mut(&team)
        .and_then(|team| team.members.get_mut(&user));
    *member.ok_or_else(|| AppError::missing(NO_TEAM_MEMBER))? = standing;
    done()
}

pub(super) async fn create_channel(
    State(shared): State<Shared>,
    session: Session,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let team_id = needed(&body, "team_id")?.to_owned();
    let name = needed(&body, "name")?.to_owned();
    let display_name = needed(&body, "display_name")?.to_owned();
    let kind = match needed(&body, "type")? {
        "O" => ChannelKind::Open,
        "P" => ChannelKind::Private,
        _ => return Err(AppError::body("type")),
    };
    let mut world = shared.world();
    if !world.in_team(&session.user_id, &team_id) {
        return Err(AppError::forbidden());
    }
    let taken = |channel: &Channel| channel.team_id == team_id && channel.name == name;
    if world.channels.values().any(taken) {
        return Err(AppError::bad(
            "store.sql_channel.save_channel.exists.app_error",
            "A channel with that name already exists on the same team.",
        ));
    }
    let channel = Channel {
        id: new_id(),
        team_id,
        name,
        display_name,
        kind,
        members: BTreeSet::from([session.user_id.clone()]),
        last_post_at: 0,
    };
    let shown = channel.public();
    let (id, kind) = (channel.id.clone(), "system_join_channel");
    let name = world.user(&session.user_id)?.username.clone();
    world.channels.insert(id.clone(), channel);
    let message = format!("{name} joined the channel.");
    posts::note(&shared, &mut world, (&id, &session.user_id), kind, message);
    created(shown)
}

/// The conversation of two accounts; one of them is the caller's. There is only one.
pub(super) async fn direct(State(shared): State<Shared>, session: Session, body: Bytes) -> Answer {
    let ids: Vec<String> = serde_json::from_slice(&body).map_err(|_| AppError::body("user_ids"))?;
    let [first, second] = ids.as_slice() else {
        return Err(AppError::body("user_ids"));
    };
    let mut world = shared.world();
    world.user(first)?;
    world.user(second)?;
    if !ids.contains(&session.user_id) && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let (low, high) = (first.min(second), first.max(second));
    let name = format!("{low}__{high}");
    let known = world
        .channels
        .values()
        .find(|channel| channel.name == name)
        .map(Channel::public);
    if let Some(known) = known {
        return created(known);
    }
    let channel = Channel {
        id: new_id(),
        team_id: String::new(),
        name,
        display_name: String::new(),
        kind: ChannelKind::Direct,
        members: BTreeSet::from([first.clone(), second.clone()]),
        last_post_at: 0,
    };
    let shown = channel.public();
    let id = channel.id.clone();
    world.channels.insert(id.clone(), channel);
    drop(world);
    let data = json!({ "creator_id": first, "teammate_id": second });
    locked(&shared.sockets).tell(&ids, "direct_added", &data, &json!({ "channel_id": id }));
    created(shown)
}

pub(super) async fn channel(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    world.may_read(&session.user_id, &id)?;
    ok(world.channel(&id)?.public())
}

pub(super) async fn channel_by_name(
    State(shared): State<Shared>,
    session: Session,
    Path((team, name)): Path<(String, String)>,
) -> Answer {
    let world = shared.world();
    let mut channels = world.channels.values();
    let found = channels
        .find(|channel| channel.team_id == team && channel.name == name)
        .ok_or_else(|| AppError::missing(NO_CHANNEL))?;
    world.may_read(&session.user_id, &found.id)?;
    ok(found.public())
}

pub(super) async fn channels_of(
    State(shared): State<Shared>,
    session: Session,
    Path((user, team)): Path<(String, String)>,
) -> Answer {
    list_channels(&shared, &session, &user, Some(&team))
}

pub(super) async fn all_channels_of(
    State(shared): State<Shared>,
    session: Session,
    Path(user): Path<String>,
) -> Answer {
    list_channels(&shared, &session, &user, None)
}

/// An account's channels: those of one team and its conversations, or all of them.
fn list_channels(shared: &Shared, session: &Session, user: &str, team: Option<&str>) -> Answer {
    let world = shared.world();
    let user = session.meant(user);
    if user != session.user_id && !world.is_admin(&session.user_id) {
        return Err(AppError::forbidden());
    }
    let here = |channel: &&Channel| {
        let fits = team.is_none_or(|team| channel.team_id == team || channel.team_id.is_empty());
        fits && channel.members.contains(user)
    };
    let channels = world.channels.values().filter(here).map(Channel::public);
    ok(Value::from(channels.collect::<Vec<_>>()))
}

pub(super) async fn channel_members(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
) -> Answer {
    let world = shared.world();
    world.may_read(&session.user_id, &id)?;
    let channel = world.channel(&id)?;
    let members = channel.members.iter();
    let members = members.filter_map(|user| channel.member(user));
    ok(Value::from(members.collect::<Vec<_>>()))
}

pub(super) async fn channel_member(
    State(shared): State<Shared>,
    session: Session,
    Path((id, user)): Path<(String, String)>,
) -> Answer {
    let world = shared.world();
    world.may_read(&session.user_id, &id)?;
    let member = world.channel(&id)?.member(session.meant(&user));
    ok(member.ok_or_else(|| AppError::missing(NO_CHANNEL_MEMBER))?)
}

/// Whoever is added must be in the team already.
pub(super) async fn add_channel_member(
    State(shared): State<Shared>,
    session: Session,
    Path(id): Path<String>,
    body: Bytes,
) -> Answer {
    let body = object(&body)?;
    let user = needed(&body, "user_id")?.to_owned();
    let mut world = shared.world();
    world.user(&user)?;
    let channel = world.channel(&id)?;
    let joins_open = channel.kind == ChannelKind::Open && user == session.user_id;
    if !joins_open {
        world.may_write(&session.user_id, &id)?;
    }
    let team = world.team(&world.channel(&id)?.team_id)?;
    if !team.members.contains_key(&user) {
        return Err(AppError::bad(
            "api.channel.add_user.to.channel.failed.deleted.app_error",
            "Failed to add user to channel because they are not in the team.",
        ));
    }
    let channel = world.channels.get_mut(&id);
    let channel = channel.ok_or_else(|| AppError::missing(NO_CHANNEL))?;
    let is_new = channel.members.insert(user.clone());
    let member = channel.member(&user).unwrap_or_default();
    if is_new {
        let name = |id: &str| world.user(id).map(|user| user.username.clone());
        let message = format!(
            "{} added to the channel by {}.",
            name(&user)?,
            name(&session.user_id)?
        );
        let kind = "system_add_to_channel";
        posts::note(&shared, &mut world, (&id, &session.user_id), kind, message);
    }
    created(member)
}

pub(super) async fn remove_channel_member(
    State(shared): State<Shared>,
    session: Session,
    Path((id, user)): Path<(String, String)>,
) -> Answer {
    let mut world = shared.world();
    world.may_write(&session.user_id, &id)?;
    let user = session.meant(&user);
    let channel = world.channels.get_mut(&id);
    if channel.is_some_and(|channel| channel.members.remove(user)) {
        let message = format!(
            "{} was removed from the channel.",
            world.user(user)?.username
        );
        let kind = "system_remove_from_channel";
        posts::note(&shared, &mut world, (&id, &session.user_id), kind, message);
    }
    done()
}

/// Returns name and address of the team a channel is in; both empty for conversations of people.
pub(super) fn team_of(world: &super::world::World, channel: &Channel) -> (String, String) {
    let team = world.teams.get(&channel.team_id);
    team.map(|team| (team.id.clone(), team.name.clone()))
        .unwrap_or_default()
}

/// Returns a text of a body, or the default.
pub(super) fn text_or<'a>(
    body: &'a serde_json::Map<String, Value>,
    key: &str,
    default: &'a str,
) -> &'a str {
    let given = text(body, key);
    if given.is_empty() { default } else { given }
}
