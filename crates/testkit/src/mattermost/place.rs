//! A test team with a channel, a bot and people, created through REST on this server or a real one.

use serde_json::{Value, json};

use super::person::{Asked, Person};
use super::world::new_id;

/// A team with a channel and a bot.
#[derive(Debug)]
pub struct Place {
    /// The server.
    pub url: String,
    /// An administrator of the server.
    pub admin: Person,
    /// The team.
    pub team_id: String,
    /// Its name in addresses.
    pub team_name: String,
    /// The channel.
    pub channel_id: String,
    /// Its name.
    pub channel_name: String,
    /// The bot, which administers the team and is in the channel.
    pub bot: Person,
}

impl Place {
    /// Makes a new team, channel and bot. Names end in something new, because a real server may
    /// have seen earlier runs.
    pub fn prepare(url: &str, admin_token: &str) -> Result<Self, String> {
        let admin = Person::with_token(url, admin_token)?;
        let (team_id, team_name) = new_team(&admin)?;
        let channel_name = named("approvals");
        let channel = done(admin.post(
            "/channels",
            &json!({
                "team_id": team_id, "name": channel_name, "display_name": "Approvals",
                "type": "P",
            }),
        ))?;
        let channel_id = channel.text("id").to_owned();
        let bot = new_bot(&admin)?;
        join_team(&admin, &team_id, &bot.id)?;
        let roles = json!({ "scheme_admin": true, "scheme_user": true });
        let path = format!("/teams/{team_id}/members/{}/schemeRoles", bot.id);
        done(admin.put(&path, &roles))?;
        join_channel(&admin, &channel_id, &bot.id)?;
        Ok(Self {
            url: url.to_owned(),
            admin,
            team_id,
            team_name,
            channel_id,
            channel_name,
            bot,
        })
    }

    /// Returns a new person in the team and the channel, listening.
    pub fn person(&self, name: &str) -> Result<Person, String> {
        let person = self.outsider(name)?;
        join_team(&self.admin, &self.team_id, &person.id)?;
        join_channel(&self.admin, &self.channel_id, &person.id)?;
        Ok(person)
    }

    /// Returns a new person who is in the team alone, listening.
    pub fn colleague(&self, name: &str) -> Result<Person, String> {
        let person = self.outsider(name)?;
        join_team(&self.admin, &self.team_id, &person.id)?;
        Ok(person)
    }

    /// Returns a new person who is in no team, listening.
    pub fn outsider(&self, name: &str) -> Result<Person, String> {
        let (name, password) = (named(name), format!("{}Aa1!", new_id()));
        let email = format!("{name}@example.org");
        let body = json!({ "email": email, "username": name, "password": password });
        let user = done(self.admin.post("/users", &body))?;
        let token = done(self.admin.post(
            &format!("/users/{}/tokens", user.text("id")),
            &json!({ "description": "for a test" }),
        ))?;
        let person = Person::with_token(&self.url, token.text("token"))?;
        person.listen()?;
        Ok(person)
    }

    /// Returns another bot, in the team and the channel.
    pub fn another_bot(&self) -> Result<Person, String> {
        let bot = new_bot(&self.admin)?;
        join_team(&self.admin, &self.team_id, &bot.id)?;
        join_channel(&self.admin, &self.channel_id, &bot.id)?;
        Ok(bot)
    }

    /// Returns another channel of the team, with these people in it.
    pub fn another_channel(&self, people: &[&Person]) -> Result<String, String> {
        let body = json!({
            "team_id": self.team_id, "name": named("elsewhere"), "display_name": "Elsewhere",
            "type": "P",
        });
        let id = done(self.admin.post("/channels", &body))?
            .text("id")
            .to_owned();
        for person in people {
            join_channel(&self.admin, &id, &person.id)?;
        }
        Ok(id)
    }

    /// Returns another team, with these people in it.
    pub fn another_team(&self, people: &[&Person]) -> Result<String, String> {
        let (id, _) = new_team(&self.admin)?;
        for person in people {
            join_team(&self.admin, &id, &person.id)?;
        }
        Ok(id)
    }

    /// Closes an account.
    pub fn close_account(&self, id: &str) -> Result<(), String> {
        let path = format!("/users/{id}/active");
        done(self.admin.put(&path, &json!({ "active": false }))).map(drop)
    }

    /// Returns what people and bots wrote in a channel as the administrator sees it, oldest first;
    /// not what the server writes itself, such as who joined.
    pub fn posts(&self, channel_id: &str) -> Vec<Value> {
        let mut posts = Vec::new();
        for page in 0.. {
            let path = format!("/channels/{channel_id}/posts?page={page}&per_page=200");
            let said = self.admin.get(&path).body;
            let order = said.get("order").and_then(Value::as_array);
            let ids: Vec<&str> = order
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            let is_written = |post: &Value| {
                let kind = post.get("type").and_then(Value::as_str);
                !kind.is_some_and(|kind| kind.starts_with("system_"))
            };
            let found = ids.iter().filter_map(|id| said.get("posts")?.get(id));
            posts.extend(found.filter(|post| is_written(post)).cloned());
            if ids.len() < 200 {
                break;
            }
        }
        posts.reverse();
        posts
    }
}

fn new_team(admin: &Person) -> Result<(String, String), String> {
    let name = named("ops");
    let body = json!({ "name": name, "display_name": "Operations", "type": "O" });
    let team = done(admin.post("/teams", &body))?;
    Ok((team.text("id").to_owned(), name))
}

fn new_bot(admin: &Person) -> Result<Person, String> {
    let body = json!({ "username": named("countersign"), "display_name": "Countersign" });
    let bot = done(admin.post("/bots", &body))?;
    let path = format!("/users/{}/tokens", bot.text("user_id"));
    let token = done(admin.post(&path, &json!({ "description": "for a test" })))?;
    Person::with_token(admin.url(), token.text("token"))
}

fn join_team(admin: &Person, team_id: &str, user_id: &str) -> Result<(), String> {
    let body = json!({ "team_id": team_id, "user_id": user_id });
    done(admin.post(&format!("/teams/{team_id}/members"), &body)).map(drop)
}

fn join_channel(admin: &Person, channel_id: &str, user_id: &str) -> Result<(), String> {
    let path = format!("/channels/{channel_id}/members");
    done(admin.post(&path, &json!({ "user_id": user_id }))).map(drop)
}

fn named(name: &str) -> String {
    let new: String = new_id().chars().take(8).collect();
    format!("{name}-{new}")
}

/// Returns the answer, if it is a good one.
fn done(asked: Asked) -> Result<Asked, String> {
    if matches!(asked.status, 200 | 201) {
        Ok(asked)
    } else {
        Err(format!("{asked:?}"))
    }
}
