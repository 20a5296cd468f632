//! Looks up cmdlets, their aliases and methods in `knowledge/languages/powershell.toml`.

use crate::knowledge::languages::{
    Call, POWERSHELL_ALIASES, POWERSHELL_CMDLETS, POWERSHELL_METHODS, POWERSHELL_READING_VERBS,
    POWERSHELL_VERBS,
};

/// The full name, in lower case, of a cmdlet or alias.
pub(super) fn canonical(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    // A module may be named in front: `Microsoft.PowerShell.Management\Remove-Item`.
    let lower = match lower.rsplit_once('\\') {
        Some((module, name)) if module.starts_with("microsoft.powershell") => name.to_owned(),
        _ => lower,
    };
    POWERSHELL_ALIASES.get(&lower).map_or(lower, str::to_owned)
}

/// Whether a name is short for a cmdlet.
pub(super) fn is_alias(name: &str) -> bool {
    POWERSHELL_ALIASES.get(&name.to_ascii_lowercase()).is_some()
}

/// What a cmdlet or an alias of one does; a cmdlet that is not listed is judged by its verb.
pub(super) fn find(name: &str) -> Option<&'static Call> {
    let full = canonical(name);
    if let Some(call) = POWERSHELL_CMDLETS.get(&full) {
        return Some(call);
    }
    let (verb, noun) = full.split_once('-')?;
    let is_noun = noun.starts_with(|c: char| c.is_ascii_alphabetic())
        && noun.chars().all(|c| c.is_ascii_alphanumeric());
    if is_noun && (is_pascal_cmdlet(name) || POWERSHELL_READING_VERBS.contains(verb)) {
        POWERSHELL_VERBS.get(verb)
    } else {
        None
    }
}

/// Whether this is the full name of a listed cmdlet, in any case.
pub(super) fn is_listed(name: &str) -> bool {
    name.contains('-') && POWERSHELL_CMDLETS.contains(&name.to_ascii_lowercase())
}

/// Whether a name is written like a cmdlet: `Verb-Noun` with capitals and a known verb.
pub(super) fn is_pascal_cmdlet(name: &str) -> bool {
    let Some((verb, noun)) = name.split_once('-') else {
        return false;
    };
    let capital = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_uppercase())
            && part.chars().all(|c| c.is_ascii_alphanumeric())
            && part.contains(|c: char| c.is_ascii_lowercase())
    };
    capital(verb) && capital(noun) && POWERSHELL_VERBS.contains(&verb.to_ascii_lowercase())
}

/// What a method does, by its lower-case name.
pub(super) fn method(name: &str) -> Option<&'static Call> {
    POWERSHELL_METHODS.get(name)
}
