//! The MCP servers of known clients: which are started through Countersign and which are not.

use countersign_core::display::inline;

use super::report::Line;
use crate::config::Home;
use crate::init::Place;
use crate::init::mcp::{ROWS, Row, State};

const GROUP: &str = "mcp";

/// Looks into the files of every client on this machine and in this directory.
pub(super) fn check(home: &Home) -> Vec<Line> {
    let place = match Place::here(Some(home.directory().to_owned())) {
        Ok(place) => place,
        Err(complaint) => return vec![Line::fail(GROUP, complaint.message(), complaint.hint())],
    };
    ROWS.iter().filter_map(|row| client(row, &place)).collect()
}

fn client(row: &Row, place: &Place) -> Option<Line> {
    let servers = match row.servers(place) {
        Ok(servers) => servers,
        Err(complaint) => return Some(Line::warn(GROUP, complaint.message(), "fix it there")),
    };
    let title = row.agent.title;
    let those = |state: State| -> Vec<String> {
        let found = servers.iter().filter(|it| it.state == state);
        found.map(|it| inline(&it.name)).collect()
    };
    let (wrapped, direct) = (those(State::Wrapped), those(State::Direct));
    if direct.is_empty() {
        let names = wrapped.join(", ");
        let found = format!("{title}: {names} started through Countersign");
        return (!wrapped.is_empty()).then(|| Line::ok(GROUP, found));
    }
    let names = direct.join(", ");
    if let Some(agent) = row.seen_by(place) {
        let found = format!("{title}: the hook of {agent} asks about the calls of {names}");
        return Some(Line::ok(GROUP, found));
    }
    Some(Line::warn(
        GROUP,
        format!("{title}: {names} started without Countersign"),
        format!("countersign init mcp {}", row.name()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_told_apart_by_how_they_are_started() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::made_up(folder.path(), "/opt/countersign");
        let file = folder.path().join(".cursor/mcp.json");
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let row = crate::init::mcp::named("cursor").unwrap();
        let look = |text: &str| {
            std::fs::write(&file, text).unwrap();
            format!("{:?}", client(row, &place))
        };
        let direct = r#""github": { "command": "npx" }"#;
        let wrapped = r#""db": { "command": "/opt/countersign", "args": ["mcp", "--", "db"] }"#;
        let far = r#""far": { "url": "https://example.org" }"#;
        assert_eq!(look("{}"), "None");
        assert_eq!(look(&format!("{{ \"mcpServers\": {{ {far} }} }}")), "None");
        let both = look(&format!("{{ \"mcpServers\": {{ {direct}, {wrapped} }} }}"));
        assert!(
            both.contains("github started without Countersign"),
            "{both}"
        );
        assert!(both.contains("countersign init mcp cursor"), "{both}");
        let closed = look(&format!("{{ \"mcpServers\": {{ {wrapped}, {far} }} }}"));
        assert!(
            closed.contains("db started through Countersign"),
            "{closed}"
        );
        assert!(look("{").contains("cursor"));
        std::fs::create_dir_all(crate::hook::directory(&place.home)).unwrap();
        std::fs::write(crate::hook::directory(&place.home).join("cursor.key"), "k").unwrap();
        let seen = look(&format!("{{ \"mcpServers\": {{ {direct} }} }}"));
        assert!(seen.contains("the hook of Cursor asks"), "{seen}");
    }
}
