//! Production: names that say a command reaches systems people depend on, and what that raises.
//!
//! A migration is everyday work on a developer's database and a question in production. The only
//! sign of the difference is a name: of a host, a context, a profile, a settings module, a file or
//! a variable. Looking at production stays looking.

use super::Line;
use super::options::{Hit, is_assignment};
use super::roles::operand_roles;
use crate::act::Act;
use crate::follow::scope::Live;
use crate::follow::value::{Arg, Value};
use crate::follow::walk::Walk;
use crate::host::host_kind;
use crate::knowledge::names::{
    CHANGING_TASK_WORDS, DATA_DUMPS, DATABASE_SCHEMES, LIVE_SYSTEMS, MODE_VARIABLES,
    PRODUCTION_WORDS, QUIET_TASK_WORDS, REHEARSAL_WORDS, SCHEMA_OPTIONS, SCRIPT_ENDS,
    TEST_DIRECTORIES,
};
use crate::knowledge::{Effect, PathKind, Reader, Role};
use crate::place::HOLE;
use crate::score::Score;
use crate::written::parent;

/// Why a console is a question.
const IN_A_CONSOLE: &str = "opens a console in production";
/// Why a change of a database file is a question wherever it lies outside the workspace.
const FOREIGN_DATABASE: &str = "changes a database outside the workspace";
/// What is a question in production, from how far a command reaches into it, and why.
const RAISED: &[(Effect, Live, &str)] = &[
    (Effect::DbWrite, Live::Mode, "changes data in production"),
    (Effect::Interactive, Live::Data, IN_A_CONSOLE),
    (
        Effect::Uninstall,
        Live::Data,
        "removes something in production",
    ),
    (
        Effect::Start,
        Live::Services,
        "starts or replaces services in production",
    ),
];
/// A word that names production only at the end of a name.
const LIVE: &str = "live";
/// How sensitive production is as a target.
const PRODUCTION: Score = Score::new(700);
/// Longest word that can be a name.
const NAME_BYTES_MAX: usize = 512;
/// Words of a script or task that may say what it does.
const TELLING_WORDS: usize = 8;

impl Walk<'_> {
    /// Raises an act that touches production, if it changes something there.
    pub(crate) fn raise_in_production(&self, act: &mut Act) {
        let raised = RAISED.iter().find(|(effect, _, _)| *effect == act.effect);
        let Some((_, from, note)) = raised else {
            return;
        };
        let away = self.scope.reach.foreign_database || self.scope.foreign_database;
        let foreign = act.effect == Effect::DbWrite && away;
        if foreign || self.live() >= *from {
            act.target = act.target.max(PRODUCTION);
            act.marks.critical = true;
            if act.note.is_empty() {
                act.note = if foreign { FOREIGN_DATABASE } else { note };
            }
        }
    }

    /// Returns how far the command at hand reaches into production, by its own words and by the
    /// variables of the script.
    fn live(&self) -> Live {
        self.scope.reach.live.max(self.scope.live)
    }

    /// Takes note of a variable that the script sets. What it named once may still be meant later.
    pub(crate) fn heed_assigned(&mut self, name: &str, value: &Value) {
        let mut texts = value.items.iter().flatten();
        let named = value.taint.live || texts.any(|text| names_production(text));
        self.scope.live = self.scope.live.max(live_variable(name, named));
        let mut texts = value.items.iter().flatten();
        self.scope.foreign_database |= texts.any(|text| is_foreign_database(text));
        for text in value.items.iter().flatten() {
            self.memory.heed_name(text);
        }
    }

    /// Takes note of a file of variables that is loaded into this shell: what it sets counts for all that
    /// follows.
    pub(super) fn heed_sourced(&mut self, file: &Arg) {
        if says_production(file) {
            self.scope.live = self.scope.live.max(Live::Data);
        }
    }

    /// Takes note of a variable that the command at hand is given.
    pub(crate) fn heed_variable(&mut self, name: &str, value: &Arg) {
        let named = value.taint.live || names_production(&value.text);
        self.scope.reach.live = self.scope.reach.live.max(live_variable(name, named));
        self.scope.reach.foreign_database |= is_foreign_database(&value.text);
        self.memory.heed_name(&value.text);
        self.heed_database_host(name, value);
    }

    /// Takes note of what the words of a command say about where it acts.
    pub(super) fn heed_options(&mut self, hits: &[Hit]) {
        for (role, value) in hits.iter().filter_map(Hit::meaning) {
            if selects(role) {
                self.heed_name(value, Live::Services);
            }
        }
    }

    /// Takes note of a word that may name production; `-e NODE_ENV=production` sets a variable.
    fn heed_name(&mut self, word: &Arg, reached: Live) {
        if !says_production(word) {
            return;
        }
        let reached = match word.text.split_once('=') {
            Some((name, _)) if is_assignment(&word.text) => live_variable(name, true),
            Some(_) | None => reached,
        };
        self.scope.reach.live = self.scope.reach.live.max(reached);
    }

    /// Judges a command line by where it acts, before its words are judged one by one.
    pub(super) fn heed_people(&mut self, line: &Line<'_>) {
        self.heed_words(line);
        self.reaches_production(line);
        self.opens_database(line);
        self.heed_database(line);
        self.discloses(line);
        self.installs_for_account(line);
        self.creates_by_package(line);
        self.installs_from_tap(line);
        self.scans(line);
    }

    /// Takes note of what a command line says about where it acts.
    fn heed_words(&mut self, line: &Line<'_>) {
        self.heed_options(&line.read.hits);
        // `--env=production` of a row that need not list the option.
        let options = line.args.iter().filter(|arg| arg.text.starts_with("--"));
        for arg in options.take(TELLING_WORDS) {
            let at = arg.text.find('=').map_or(arg.text.len(), |at| at + 1);
            let own = line.read.command.is_none();
            if own && names_production(arg.text.get(at..).unwrap_or("")) {
                self.scope.reach.live = self.scope.reach.live.max(Live::Data);
            }
        }
        let values = line.read.hits.iter().filter_map(Hit::meaning);
        let mut addresses = line
            .read
            .operands
            .iter()
            .copied()
            .chain(values.map(|(_, value)| value));
        self.scope.reach.foreign_database |=
            addresses.any(|address| is_foreign_database(&address.text));
        if line.read.operands.iter().any(|word| may_name(word)) {
            let roles = operand_roles(line.row, line.read);
            for (operand, role) in line.read.operands.iter().zip(roles) {
                if role.is_some_and(selects) {
                    self.heed_name(operand, Live::Data);
                }
            }
        }
    }

    /// Judges what is a question in production whatever else it does: a console, a copy of the data,
    /// a task of a framework.
    fn reaches_production(&mut self, line: &Line<'_>) {
        if line.does == Effect::Project && line.read.command.is_none() {
            let called = line.name.split(' ').skip(1);
            for word in called.take(TELLING_WORDS) {
                self.tells_production(&Arg::literal(word, line.span), &[]);
            }
        }
        let console = line.row.reader == Some(Reader::Console);
        let dumps = DATA_DUMPS.contains(line.row.name)
            && !line
                .args
                .iter()
                .any(|arg| SCHEMA_OPTIONS.contains(arg.text.as_str()));
        if (dumps || console) && self.live() >= Live::Data {
            let (effect, note) = if dumps {
                (Effect::DbRead, "copies data out of production")
            } else {
                (Effect::Start, IN_A_CONSOLE)
            };
            let mut act = Act::new(effect, line.row.name, line.span)
                .because(note)
                .target(PRODUCTION);
            act.marks.critical = true;
            self.note(act);
        }
    }

    /// Takes note of a database file outside the workspace: what changes it is not the project's work.
    fn opens_database(&mut self, line: &Line<'_>) {
        let is_file = |at: usize, role: Role| {
            line.row
                .operands
                .get(at)
                .is_some_and(|known| known.role == role)
        };
        let file = line.read.operands.first();
        if let Some(file) = file.filter(|_| is_file(0, Role::Read) && is_file(1, Role::Sql)) {
            let place = self.ground.place(&file.text);
            let scratch = matches!(
                place.kind,
                PathKind::Temp | PathKind::Sink | PathKind::Generated
            );
            self.scope.reach.foreign_database |= place.inside == Some(false) && !scratch;
        }
    }

    /// Judges a script or task of the project by its words: `migrate:prod`, `backfill.js --env prod`.
    pub(super) fn tells_production(&mut self, script: &Arg, args: &[Arg]) {
        let name = script.text.rsplit('/').next().unwrap_or("");
        let args = args.iter().filter(|arg| arg.text != script.text);
        let args = || args.clone().take(TELLING_WORDS);
        let words = || args().map(|arg| arg.text.as_str());
        let changes = |word: &str| {
            word.len() <= NAME_BYTES_MAX
                && labels(word)
                    .flat_map(tokens)
                    .any(|token| CHANGING_TASK_WORDS.contains_in_any_case(token))
        };
        // What it is called for stands in its name or in its first word; later words are data.
        let first = words().find(|word| !word.starts_with('-'));
        let ordered = |word: &str| {
            let option = word.split('=').next().unwrap_or(word);
            option.starts_with("--") && changes(option)
        };
        let named = changes(name)
            || first.is_some_and(changes)
            || self.live() >= Live::Data && words().any(ordered);
        if !named && is_quiet_task(name, first) {
            return;
        }
        // `./scripts/prod/migrate.sh`, also after `cd scripts/prod`; a directory above the workspace
        // says nothing.
        let place = self.ground.place(&script.text);
        let workspace = self.ground.workspace.as_deref();
        let workspace = workspace.map(|workspace| self.ground.place(workspace).path);
        let below = workspace
            .as_deref()
            .and_then(|workspace| place.path.strip_prefix(workspace));
        let path = match below {
            Some(below) => below,
            None if script.text.starts_with('/') => name,
            None => script.text.as_str(),
        };
        let rehearsed = path.split('/').any(|part| TEST_DIRECTORIES.contains(part));
        if !named {
            // Its name says nothing, so only where it lies and which settings it gets can.
            let is_script = name
                .rsplit_once('.')
                .is_some_and(|(_, end)| SCRIPT_ENDS.contains(end));
            // A folder called `live` says too little.
            let lies_there = parent(path)
                .split('/')
                .any(|part| part != LIVE && names_production(part))
                && !rehearsed;
            // Variables of production, not a word such as `--production` that only says how to build.
            let given = self.scope.live >= Live::Data || self.scope.reach.live >= Live::Services;
            if is_script && (lies_there || given) {
                self.note_in_production(script);
            }
            return;
        }
        let given = names_production(name)
            || names_production(path) && !rehearsed
            || words().any(names_production)
            || args().any(|arg| arg.taint.live);
        let away = self.scope.reach.foreign_database || self.scope.foreign_database;
        if given || away || self.live() >= Live::Mode {
            self.note_in_production(script);
        }
    }

    fn note_in_production(&mut self, script: &Arg) {
        let mut act = Act::new(Effect::Project, "", self.here(script.span))
            .because("runs a task of the project in production")
            .on(script.shown())
            .target(PRODUCTION);
        act.marks.critical = true;
        self.note(act);
    }

    /// Judges the choice of a cluster, workspace or account that later commands go to.
    pub(super) fn selects_target(&mut self, arg: &Arg, program: &'static str) {
        if arg.taint.live || names_production(&arg.text) {
            let mut act = Act::new(Effect::Setting, program, self.here(arg.span))
                .because("sends later commands to production")
                .on(arg.shown())
                .target(PRODUCTION);
            act.marks.critical = true;
            self.note(act);
        }
    }
}

/// Whether the name of a script, or the first word it is given, says that it looks, builds, tests or serves.
fn is_quiet_task(name: &str, first: Option<&str>) -> bool {
    let says = |word: &str| {
        word.len() <= NAME_BYTES_MAX
            && labels(word)
                .flat_map(tokens)
                .any(|token| QUIET_TASK_WORDS.contains_in_any_case(token))
    };
    says(name) || first.is_some_and(says)
}

/// Returns how far a variable that names production reaches. Builds are made in production mode,
/// so some variables say less than others.
fn live_variable(name: &str, named: bool) -> Live {
    if !named {
        Live::No
    } else if MODE_VARIABLES.contains(name) {
        Live::Mode
    } else {
        Live::Data
    }
}

/// Whether a text is the address of a database that is neither on this machine nor in its network: one
/// that a cloud or a company runs. The name of a container has no dot.
fn is_foreign_database(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once("://") else {
        return false;
    };
    let scheme = scheme.split('+').next().unwrap_or(scheme);
    let host = rest.rsplit('@').next().unwrap_or(rest);
    let host = host.split(['/', '?', ',', ':']).next().unwrap_or(host);
    let rehearsed = || {
        host.split(['.', '-'])
            .any(|word| REHEARSAL_WORDS.contains(word))
    };
    // A name of one word is a machine nearby, unless it says that people depend on it.
    let first = host.split(['.', '-']).next().unwrap_or(host);
    let live = first.trim_end_matches(|last: char| last.is_ascii_digit()) == LIVE;
    DATABASE_SCHEMES.contains(scheme)
        && (live || host.contains('.'))
        && !host.contains(HOLE)
        && host_kind(&format!("https://{host}/")).1.is_none()
        && !rehearsed()
}

/// Whether a word of this role can say where a command acts. Statements, code and messages cannot.
const fn selects(role: Role) -> bool {
    matches!(
        role,
        Role::Text
            | Role::Name
            | Role::Url
            | Role::UrlSend
            | Role::Context
            | Role::Target
            | Role::Config
            | Role::Variables
            | Role::Load
            | Role::Script
            | Role::Store
            | Role::Define
            | Role::Task
            | Role::Cwd
            | Role::Read
            | Role::Write
            | Role::Edit
            | Role::Create
    )
}

/// Whether a word names production. A file of the project's tests only looks like it.
fn says_production(word: &Arg) -> bool {
    let rehearsed = || {
        !word.text.contains("://")
            && word
                .text
                .split('/')
                .any(|part| TEST_DIRECTORIES.contains(part))
    };
    may_name(word) && (word.taint.live || names_production(&word.text)) && !rehearsed()
}

/// Whether a word is worth a closer look.
fn may_name(word: &Arg) -> bool {
    word.taint.live || mentions(&word.text)
}

/// Whether a text holds the beginning of a word for production: a cheap test before the exact one.
fn mentions(text: &str) -> bool {
    // One bit makes a small letter of a great one.
    let small = |byte: &u8| *byte | 0x20;
    let mut parts = text.as_bytes().windows(3);
    parts.any(|part| match part {
        [first, second, third] => matches!(
            [small(first), small(second), small(third)],
            [b'p', b'r', b'o' | b'd'] | [b'l', b'i', b'v']
        ),
        _ => false,
    })
}

/// Whether a name has a word for production in it: `prod-eu`, `db.prod.internal`, `shop_production`,
/// `.env.production`. Neither `product` nor `live-reload` is one, and `pre-prod` is a rehearsal.
pub(crate) fn names_production(text: &str) -> bool {
    // Of a longer word the beginning is looked at, where the host of an address stands.
    let text = text
        .get(..text.floor_char_boundary(NAME_BYTES_MAX))
        .unwrap_or(text);
    // `host=db.prod.internal dbname=x` is how clients of databases write an address.
    let is_name = || {
        let mut parts = text.split_whitespace();
        !text.contains(char::is_whitespace) || parts.all(|part| part.contains('='))
    };
    mentions(text) && is_name() && labels(text).any(is_production)
}

/// Returns the parts of a path, an address or a dotted name.
fn labels(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !(letter.is_alphanumeric() || matches!(letter, '-' | '_')))
}

/// Returns the words of a label: `shopProdDb`, `shop-prod-db` and `shop_prod_db` have the same.
fn tokens(label: &str) -> impl Iterator<Item = &str> {
    label.split(['-', '_']).flat_map(|part| {
        let bytes = part.as_bytes();
        let ends = (1..=bytes.len()).filter(move |at| {
            let small = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_lowercase);
            let great = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_uppercase);
            *at == bytes.len() || small(at - 1) && great(*at)
        });
        ends.scan(0, move |from, to| {
            let token = part.get(*from..to);
            *from = to;
            token
        })
    })
}

fn is_production(label: &str) -> bool {
    if !mentions(label) {
        return false;
    }
    let numbered = |token: &str| {
        token
            .trim_end_matches(|last: char| last.is_ascii_digit())
            .len()
    };
    let bare = |token: &str| {
        token
            .get(..numbered(token))
            .unwrap_or("")
            .to_ascii_lowercase()
    };
    let mut found = false;
    for (at, token) in tokens(label).enumerate() {
        let word = bare(token);
        if REHEARSAL_WORDS.contains(word.as_str()) {
            return false;
        }
        // `live` also begins `live-reload` and `live_orders`: a number, a region or a system follows.
        let last = || {
            tokens(label).skip(at + 1).all(|later| {
                let later = bare(later);
                later.len() <= 2 || LIVE_SYSTEMS.contains(later.as_str())
            })
        };
        found |= PRODUCTION_WORDS.contains(word.as_str()) || word == LIVE && last();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_word_for_production_names_production() {
        let named = [
            "prod",
            "PROD",
            "production",
            "prd",
            "live",
            "prod-eu",
            "eu-prod-2",
            "mysql-prod-1",
            "prod01",
            "shop_production",
            "shopProd",
            "ProdDb",
            "db.prod.internal",
            ".env.production",
            "shop.settings.production",
            "docker-compose.prod.yml",
            "inventories/production",
            "postgres://app@db.internal/shop_production",
            "https://api.prod.example.com/v1",
            "live-cluster",
            "gke_acme_europe-west1_live",
            "live-1",
            "live-eu",
            "db.live.example.com",
            "deploy:live",
            "host=db.prod.internal dbname=x",
        ];
        for name in named {
            assert!(names_production(name), "{name}");
        }
        let other = [
            "",
            "product",
            "products-db",
            "producer",
            "reproduce",
            "alive",
            "liveness",
            "live-server",
            "live-reload",
            "live_orders",
            "livestream",
            "proddy",
            "pre-prod",
            "preprod",
            "non-production",
            "nonprod",
            "prod-like",
            "prod-copy",
            "staging",
            "test",
            "localhost",
            "dev",
            "a production build",
        ];
        for name in other {
            assert!(!names_production(name), "{name}");
        }
    }
}
