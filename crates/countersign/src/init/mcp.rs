//! The MCP servers of known clients, started through `countersign mcp` instead of directly.
//!
//! One row of [`ROWS`] for each client: where its files are, where servers stand in them, and how one
//! is written. [`json`] and [`toml`] edit the files; planning, writing and undoing are those of agents.

mod json;
#[cfg(test)]
mod tests;
mod toml;
mod wrapping;

use std::path::PathBuf;

use super::Place;
use super::agents::{Agent, File, Texts};
use crate::complaint::Complaint;
use crate::hook;

/// The name by which all clients are meant on the command line.
const NAME: &str = "mcp";
/// What stands in front of a client's name, so that it is not taken for the agent of that name.
const PREFIX: &str = "mcp-";
/// The mode of settings; they are never created.
const MODE: u32 = 0o600;

/// What stands for all clients on the command line.
pub(crate) const SERVERS: Agent = Agent {
    name: NAME,
    title: "MCP servers",
    programs: &[],
    variables: &[],
    has_key: false,
    known_by_folder: None,
    files: |_| Vec::new(),
    with: |_, _| Ok(Vec::new()),
    without: |_, _| Ok(Vec::new()),
    command: |_, _| None,
    practice: None,
    warnings: |_, _, _| Vec::new(),
    stays_open: &[],
};

/// A client that starts MCP servers.
#[derive(Debug)]
pub(crate) struct Client {
    /// The agent whose hook sees the calls of these servers already.
    pub(crate) hook: Option<&'static str>,
    files: &'static [Spot],
}

/// A file in which servers stand.
#[derive(Debug)]
struct Spot {
    base: Base,
    path: &'static str,
    form: Form,
    /// The keys that lead to the servers; `*` stands for every key.
    servers: &'static [&'static [&'static str]],
}

/// Where a path begins.
#[derive(Clone, Copy, Debug)]
enum Base {
    /// The person's home directory.
    Home,
    /// The folder for settings: `$XDG_CONFIG_HOME` or `~/.config`; on macOS `~/Library/Application Support`.
    Settings,
    /// The same, but on macOS `~/.config`, too.
    Config,
    /// The folder that a variable names, or one below the home directory.
    Named(&'static str, &'static str),
    /// The directory in which the command is run.
    Project,
}

/// How a server is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// JSON: `"command": "npx", "args": ["-y", "a"]`
    Words,
    /// JSON: `"command": ["npx", "-y", "a"]`
    List,
    /// TOML, as in [`Form::Words`].
    Toml,
}

/// A server as it stands in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Server {
    /// Its name in the file.
    pub(crate) name: String,
    /// How it is started.
    pub(crate) state: State,
}

/// How a server is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Through Countersign.
    Wrapped,
    /// Directly.
    Direct,
    /// By its address; nothing is started.
    Remote,
    /// It is Countersign's own server.
    Own,
    /// In a form that is not known.
    Unknown,
}

/// A client and how it is set up.
#[derive(Debug)]
pub(crate) struct Row {
    /// How it is set up.
    pub(crate) agent: Agent,
    /// What is known of it.
    pub(crate) client: Client,
}

macro_rules! row {
    ($name:literal, $title:literal, $client:expr) => {{
        const CLIENT: Client = $client;
        Row {
            agent: Agent {
                name: concat!("mcp-", $name),
                title: concat!("MCP servers of ", $title),
                programs: &[],
                variables: &["CLAUDE_CONFIG_DIR", "XDG_CONFIG_HOME", "CODEX_HOME", "COPILOT_HOME"],
                has_key: true,
                known_by_folder: None,
                files: |place| CLIENT.existing(place),
                with: |place, texts| CLIENT.with(place, concat!("mcp-", $name), texts),
                without: |place, texts| CLIENT.without(place, texts),
                command: |_, _| None,
                practice: None,
                warnings: |place, texts, _| CLIENT.warnings(place, texts),
                stays_open: &[
                    "whoever starts a server without Countersign is not asked; secrets that the server needs are best known to it alone",
                ],
            },
            client: CLIENT,
        }
    }};
}

const SERVERS_KEY: &[&[&str]] = &[&["mcpServers"]];

const fn spot(base: Base, path: &'static str) -> Spot {
    Spot {
        base,
        path,
        form: Form::Words,
        servers: SERVERS_KEY,
    }
}

/// Every client, in the order in which people are shown them.
pub(crate) const ROWS: &[Row] = &[
    row!(
        "claude-code",
        "Claude Code",
        Client {
            hook: Some("claude-code"),
            files: &[
                Spot {
                    base: Base::Named("CLAUDE_CONFIG_DIR", ""),
                    path: ".claude.json",
                    form: Form::Words,
                    servers: &[&["mcpServers"], &["projects", "*", "mcpServers"]],
                },
                spot(Base::Project, ".mcp.json"),
            ],
        }
    ),
    row!(
        "claude-desktop",
        "Claude Desktop",
        Client {
            hook: None,
            files: &[spot(Base::Settings, "Claude/claude_desktop_config.json")],
        }
    ),
    row!(
        "cursor",
        "Cursor",
        Client {
            hook: Some("cursor"),
            files: &[
                spot(Base::Home, ".cursor/mcp.json"),
                spot(Base::Project, ".cursor/mcp.json"),
            ],
        }
    ),
    row!(
        "vscode",
        "VS Code",
        Client {
            hook: None,
            files: &[
                Spot {
                    base: Base::Settings,
                    path: "Code/User/mcp.json",
                    form: Form::Words,
                    servers: &[&["servers"]],
                },
                Spot {
                    base: Base::Project,
                    path: ".vscode/mcp.json",
                    form: Form::Words,
                    servers: &[&["servers"]],
                },
            ],
        }
    ),
    row!(
        "gemini",
        "Gemini CLI",
        Client {
            hook: Some("gemini"),
            files: &[
                spot(Base::Home, ".gemini/settings.json"),
                spot(Base::Project, ".gemini/settings.json"),
            ],
        }
    ),
    row!(
        "codex",
        "Codex",
        Client {
            hook: Some("codex"),
            files: &[Spot {
                base: Base::Named("CODEX_HOME", ".codex"),
                path: "config.toml",
                form: Form::Toml,
                servers: &[&["mcp_servers"]],
            }],
        }
    ),
    row!(
        "opencode",
        "OpenCode",
        Client {
            hook: Some("opencode"),
            files: &[
                Spot {
                    base: Base::Config,
                    path: "opencode/opencode.json",
                    form: Form::List,
                    servers: &[&["mcp"]]
                },
                Spot {
                    base: Base::Config,
                    path: "opencode/opencode.jsonc",
                    form: Form::List,
                    servers: &[&["mcp"]]
                },
                Spot {
                    base: Base::Project,
                    path: "opencode.json",
                    form: Form::List,
                    servers: &[&["mcp"]]
                },
            ],
        }
    ),
    row!(
        "copilot",
        "Copilot CLI",
        Client {
            hook: Some("copilot"),
            files: &[spot(
                Base::Named("COPILOT_HOME", ".copilot"),
                "mcp-config.json"
            )],
        }
    ),
    row!(
        "cline",
        "Cline",
        Client {
            hook: Some("cline"),
            files: &[
                spot(Base::Home, ".cline/data/settings/cline_mcp_settings.json"),
                spot(
                    Base::Settings,
                    "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
                ),
            ],
        }
    ),
    row!(
        "windsurf",
        "Windsurf",
        Client {
            hook: None,
            files: &[spot(Base::Home, ".codeium/windsurf/mcp_config.json")],
        }
    ),
    row!(
        "zed",
        "Zed",
        Client {
            hook: None,
            files: &[Spot {
                base: Base::Config,
                path: "zed/settings.json",
                form: Form::Words,
                servers: &[&["context_servers"]],
            }],
        }
    ),
];

/// Returns the client of this name.
pub(crate) fn named(name: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.name() == name)
}

/// Returns the name behind `init mcp` of what `agent` sets up, if that is a client.
pub(crate) fn client_of(agent: &Agent) -> Option<&'static str> {
    agent.name.strip_prefix(PREFIX)
}

impl Row {
    /// Returns its name on the command line, behind `init mcp`.
    pub(crate) fn name(&self) -> &'static str {
        client_of(&self.agent).unwrap_or(self.agent.name)
    }

    /// Returns its servers.
    pub(crate) fn servers(&self, place: &Place) -> Result<Vec<Server>, Complaint> {
        let files = self.client.existing(place);
        let texts: Result<Texts, Complaint> = files
            .iter()
            .map(|file| {
                let bytes = super::files::read(&file.path)?;
                Ok(bytes.map(|it| String::from_utf8_lossy(&it).into_owned()))
            })
            .collect();
        self.client.servers(place, &texts?)
    }

    /// Returns the title of the agent whose hook is set up and sees the calls of these servers.
    pub(crate) fn seen_by(&self, place: &Place) -> Option<&'static str> {
        let agent = super::agents::named(self.client.hook?)?;
        let key = hook::directory(&place.home).join(format!("{}.key", agent.name));
        key.exists().then_some(agent.title)
    }
}

impl Client {
    fn spots(&self, place: &Place) -> Vec<(&'static Spot, PathBuf)> {
        let found = self.files.iter().map(|spot| (spot, spot.resolve(place)));
        found.filter(|(_, path)| path.is_file()).collect()
    }

    fn existing(&self, place: &Place) -> Vec<File> {
        let paths = self.spots(place).into_iter().map(|(_, path)| path);
        paths.map(|path| File { path, mode: MODE }).collect()
    }

    fn with(&self, place: &Place, agent: &str, texts: &Texts) -> Result<Texts, Complaint> {
        let wrapping = wrapping::Wrapping::new(place, agent);
        self.edited(place, texts, |spot, path, text| match spot.form {
            Form::Words | Form::List => json::wrap(spot, path, text, &wrapping),
            Form::Toml => toml::wrap(spot, path, text, &wrapping),
        })
    }

    fn without(&self, place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
        self.edited(place, texts, |spot, path, text| match spot.form {
            Form::Words | Form::List => json::unwrap(spot, path, text),
            Form::Toml => toml::unwrap(spot, path, text),
        })
    }

    fn edited(
        &self,
        place: &Place,
        texts: &Texts,
        edit: impl Fn(&Spot, &std::path::Path, &str) -> Result<String, Complaint>,
    ) -> Result<Texts, Complaint> {
        let spots = self.spots(place);
        let edited = spots.iter().zip(texts).map(|((spot, path), text)| {
            text.as_ref().map(|text| edit(spot, path, text)).transpose()
        });
        edited.collect()
    }

    fn servers(&self, place: &Place, texts: &Texts) -> Result<Vec<Server>, Complaint> {
        let mut servers = Vec::new();
        for ((spot, path), text) in self.spots(place).iter().zip(texts) {
            let Some(text) = text else { continue };
            servers.extend(match spot.form {
                Form::Words | Form::List => json::servers(spot, path, text)?,
                Form::Toml => toml::servers(spot, path, text)?,
            });
        }
        Ok(servers)
    }

    fn warnings(&self, place: &Place, texts: &Texts) -> Vec<String> {
        let servers = self.servers(place, texts).unwrap_or_default();
        let told = servers.iter().filter_map(|server| {
            let name = countersign_core::display::inline(&server.name);
            let why = match server.state {
                State::Remote => {
                    "has an address; only servers that are started are put behind Countersign"
                }
                State::Unknown => "is written in a form that is not known",
                State::Wrapped | State::Direct | State::Own => return None,
            };
            Some(format!("`{name}` stays as it is: it {why}"))
        });
        told.collect()
    }
}

impl Spot {
    fn resolve(&self, place: &Place) -> PathBuf {
        let is_macos = cfg!(target_os = "macos");
        let config = || place.folder("XDG_CONFIG_HOME", ".config");
        let base = match self.base {
            Base::Home => place.user.clone(),
            Base::Settings if is_macos => place.user.join("Library/Application Support"),
            Base::Settings | Base::Config => config(),
            Base::Named(variable, usual) => place.folder(variable, usual),
            Base::Project => place.project.clone(),
        };
        base.join(self.path)
    }
}
