//! Hermes Agent: our plugin in its plugin folder, enabled in `config.yaml`.

use super::{Agent, File, Texts};
use super::{settings_file, text};
use crate::complaint::Complaint;
use crate::config::read::at;
use crate::init::Place;
use crate::init::find::Version;
use crate::init::yaml::{List, YamlError};

const NAME: &str = "hermes";
const PLUGIN: &str = "countersign";
/// The files of the plugin.
const FILES: &[(&str, &str)] = &[
    (
        "__init__.py",
        include_str!("../../../../../integrations/hermes/countersign/__init__.py"),
    ),
    (
        "gateway.py",
        include_str!("../../../../../integrations/hermes/countersign/gateway.py"),
    ),
    (
        "host.py",
        include_str!("../../../../../integrations/hermes/countersign/host.py"),
    ),
    (
        "plugin.py",
        include_str!("../../../../../integrations/hermes/countersign/plugin.py"),
    ),
    (
        "plugin.yaml",
        include_str!("../../../../../integrations/hermes/countersign/plugin.yaml"),
    ),
];
const ENABLED: List = List {
    outer: "plugins",
    inner: "enabled",
};

pub(super) const AGENT: Agent = Agent {
    name: NAME,
    title: "Hermes Agent",
    programs: &["hermes"],
    variables: &["HERMES_HOME"],
    has_key: true,
    known_by_folder: None,
    files,
    with,
    without,
    // The plugin asks the gateway itself.
    command: |_, _| None,
    practice: None,
    warnings,
    stays_open: &[
        "a plugin folder that is removed, or disabled in config.yaml, leaves Hermes without the check",
    ],
};

/// Returns the files of the plugin, and behind them the configuration, so that nothing is enabled
/// that is not there.
fn files(place: &Place) -> Vec<File> {
    let home = place.folder("HERMES_HOME", ".hermes");
    let folder = home.join("plugins").join(PLUGIN);
    let ours = FILES.iter().map(|(name, _)| folder.join(name));
    ours.chain([home.join("config.yaml")])
        .map(settings_file)
        .collect()
}

fn with(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let config = text(texts, FILES.len()).unwrap_or_default();
    let config = ENABLED
        .with(config, PLUGIN)
        .map_err(|it| unfit(place, &it))?;
    let ours = FILES.iter().map(|(_, text)| Some((*text).to_owned()));
    Ok(ours.chain([Some(config)]).collect())
}

fn without(place: &Place, texts: &Texts) -> Result<Texts, Complaint> {
    let config = text(texts, FILES.len());
    let config = config.map(|text| ENABLED.without(text, PLUGIN));
    let config = config.transpose().map_err(|it| unfit(place, &it))?;
    Ok(FILES.iter().map(|_| None).chain([config]).collect())
}

fn unfit(place: &Place, error: &YamlError) -> Complaint {
    let path = place.folder("HERMES_HOME", ".hermes").join("config.yaml");
    let path = path.display();
    match error {
        YamlError::Unreadable(line) => {
            let at = line.map(|line| format!(" at line {line}"));
            let at = at.unwrap_or_default();
            let hint = "fix it there, then run this again; nothing was written";
            Complaint::failed(format!("{path}: it is not YAML{at}"), hint)
        }
        YamlError::OtherForm => {
            let hint = "write `enabled` below `plugins` as a list with one plugin per line, then run this again; nothing was written";
            Complaint::failed(
                format!("{path}: `plugins.enabled` is written in a form this command cannot edit"),
                hint,
            )
        }
    }
}

fn warnings(place: &Place, texts: &Texts, _version: Option<Version>) -> Vec<String> {
    let mut warnings = Vec::new();
    if !place.is_usual_home() {
        warnings.push(format!(
            "the plugin looks for its key where COUNTERSIGN_HOME says: start Hermes with COUNTERSIGN_HOME={}",
            place.directory
        ));
    }
    let config: serde_json::Value = text(texts, FILES.len())
        .and_then(|text| serde_saphyr::from_str(text).ok())
        .unwrap_or_default();
    let disabled = at(&config, "plugins.disabled").as_array();
    if disabled.is_some_and(|list| list.iter().any(|it| it == PLUGIN)) {
        warnings.push(
            "config.yaml lists countersign in plugins.disabled, so Hermes does not load it; remove that line".to_owned(),
        );
    }
    warnings
}
