//! Names and words of scripts that say what a script does whose content nobody shows.

use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{
    JOINING_WORDS, LOOKING_SCRIPT_VERBS, STRESSING_WORDS, TELLING_SCRIPT_WORDS,
};
use crate::score::Score;

impl Walk<'_> {
    /// Raises the question when a script's name or its words say that it deploys or destroys.
    pub(crate) fn telling_words(&mut self, script: &Arg, args: &[Arg]) {
        self.tells_production(script, args);
        let name = script.text.rsplit('/').next().unwrap_or("");
        let looks = looks_by_name(name);
        let is_looking = |word: &str| looks && (word == name || word == script.text);
        let mut words =
            std::iter::once(name).chain(args.iter().map(|arg| arg.text.as_str()).take(8));
        let telling = words.find(|word| word.len() <= 40 && tells(word) && !is_looking(word));
        if let Some(word) = telling {
            let mut act = Act::new(Effect::CloudWrite, name.to_owned(), self.here(script.span))
                .because("a script whose name says that it deploys or destroys something")
                .on(word.to_owned());
            act.target = Score::new(200);
            self.note(act);
        }
    }
}

/// Whether a word says that a script deploys or destroys. In an option the verb stands in front, at most
/// behind a word that stresses it: `--drop-tables`, `--force-delete`. Behind anything else it is a noun:
/// `--frame-drop`.
fn tells(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let name = lower.trim_start_matches('-');
    let mut parts = name.split(['-', '_', '.', ':', '/']).take(6);
    if name.len() == lower.len() {
        return parts.any(|part| TELLING_SCRIPT_WORDS.contains(part));
    }
    let verb = parts.find(|part| !STRESSING_WORDS.contains(part));
    verb.is_some_and(|part| TELLING_SCRIPT_WORDS.contains(part))
}

/// Whether the name of a script begins with a verb that only looks: `check_delete_flag.py`. Two verbs that
/// are joined are two orders: `check-and-delete.sh`.
fn looks_by_name(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let mut parts = lower.split(['-', '_', '.']);
    let verb = parts.next().unwrap_or("");
    LOOKING_SCRIPT_VERBS.contains(verb) && !parts.any(|part| JOINING_WORDS.contains(part))
}
