//! Computes what our bot may do in a channel, as Discord does: roles first, then exceptions of the channel.

use super::wire::{Guild, Member, Place};

/// What the bot needs in the channel of cards, by bit, as Discord's settings name it.
pub(super) const NEEDED: [(u32, &str); 5] = [
    (10, "View Channel"),
    (11, "Send Messages"),
    (14, "Embed Links"),
    (15, "Attach Files"),
    (16, "Read Message History"),
];
/// May do everything.
const ADMINISTRATOR: u64 = 1 << 3;
/// The exception is for a role, or for a member.
const FOR_ROLE: u8 = 0;
const FOR_MEMBER: u8 = 1;

/// Returns what is missing for the bot `us` in a channel.
pub(super) fn missing(
    guild: &Guild,
    member: &Member,
    place: &Place,
    us: &str,
) -> Vec<&'static str> {
    let permissions = permissions(guild, member, place, us);
    let missing = NEEDED.iter().filter(|(bit, _)| permissions >> bit & 1 == 0);
    missing.map(|(_, name)| *name).collect()
}

fn permissions(guild: &Guild, member: &Member, place: &Place, us: &str) -> u64 {
    // The role that everybody has bears the id of the server.
    let is_ours = |id: &String| *id == guild.id || member.roles.contains(id);
    let roles = guild.roles.iter().filter(|role| is_ours(&role.id));
    let mut all = roles.fold(0, |all, role| all | bits(&role.permissions));
    if guild.owner_id == us || all & ADMINISTRATOR != 0 {
        return u64::MAX;
    }
    let overwrites = &place.permission_overwrites;
    let everybody = overwrites
        .iter()
        .filter(|it| it.kind == FOR_ROLE && it.id == guild.id);
    let roles = overwrites
        .iter()
        .filter(|it| it.kind == FOR_ROLE && it.id != guild.id && member.roles.contains(&it.id));
    let alone = overwrites
        .iter()
        .filter(|it| it.kind == FOR_MEMBER && it.id == us);
    let mut apply = |some: Vec<(u64, u64)>| {
        let (allow, deny) = some
            .into_iter()
            .fold((0, 0), |(allow, deny), (more, less)| {
                (allow | more, deny | less)
            });
        all = all & !deny | allow;
    };
    apply(
        everybody
            .map(|it| (bits(&it.allow), bits(&it.deny)))
            .collect(),
    );
    apply(roles.map(|it| (bits(&it.allow), bits(&it.deny))).collect());
    apply(alone.map(|it| (bits(&it.allow), bits(&it.deny))).collect());
    all
}

fn bits(text: &str) -> u64 {
    text.parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::wire::{Overwrite, Role};
    use super::*;

    #[test]
    fn exceptions_of_the_channel_come_after_roles_and_the_members_own_last() {
        let all: u64 = NEEDED.iter().map(|(bit, _)| 1_u64 << bit).sum();
        let guild = |everybody: u64, ours: u64| Guild {
            id: "1".to_owned(),
            owner_id: "7".to_owned(),
            roles: [("1", everybody), ("2", ours), ("3", u64::MAX)]
                .map(|(id, it)| Role {
                    id: id.to_owned(),
                    permissions: it.to_string(),
                })
                .to_vec(),
            ..Guild::default()
        };
        let member = Member {
            roles: vec!["2".to_owned()],
            ..Member::default()
        };
        let over = |id: &str, kind: u8, allow: u64, deny: u64| Overwrite {
            id: id.to_owned(),
            kind,
            allow: allow.to_string(),
            deny: deny.to_string(),
        };
        let send = 1 << 11;
        let rows = [
            ("all by role", guild(0, all), vec![], 0),
            ("nothing", guild(0, 0), vec![], 5),
            ("an administrator", guild(0, ADMINISTRATOR), vec![], 0),
            (
                "everybody may not",
                guild(all, 0),
                vec![over("1", 0, 0, send)],
                1,
            ),
            (
                "our role may",
                guild(all, 0),
                vec![over("1", 0, 0, send), over("2", 0, send, 0)],
                0,
            ),
            (
                "we may not",
                guild(all, 0),
                vec![over("2", 0, send, 0), over("9", 1, 0, send)],
                1,
            ),
            (
                "somebody else may not",
                guild(all, 0),
                vec![over("8", 1, 0, send), over("3", 0, 0, send)],
                0,
            ),
        ];
        for (name, guild, overwrites, expected) in rows {
            let place = Place {
                permission_overwrites: overwrites,
                ..Place::default()
            };
            let missing = missing(&guild, &member, &place, "9");
            assert_eq!(missing.len(), expected, "{name}: {missing:?}");
        }
    }
}
