//! The command line of `powershell` and `pwsh` itself.

use super::effects::{slashed, slashed_word};
use super::{RUNS_TEXT, UNKNOWN, read_at, words};
use crate::language::{Deed, Reading};

const ENCODED: &str = "an encoded PowerShell command that cannot be decoded";

/// Reads such arguments, `depth` commands deep inside others.
pub(crate) fn arguments_at(arguments: &[&str], depth: usize) -> Reading {
    let mut reading = Reading::default();
    let mut shows = false;
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        let Some(name) = argument.strip_prefix(['-', '/']) else {
            // Without a parameter the rest is a command.
            let text: Vec<&str> = std::iter::once(*argument).chain(rest.copied()).collect();
            reading.absorb(read_at(&text.join(" "), depth));
            return reading;
        };
        let name = name.trim_start_matches('-').to_ascii_lowercase();
        let is = |full: &str, least: usize| name.len() >= least && full.starts_with(name.as_str());
        if is("command", 1) || name == "commandwithargs" || name == "cwa" {
            let text: Vec<&str> = rest.copied().collect();
            match text.as_slice() {
                ["-"] | [] => reading.hide(RUNS_TEXT),
                text => reading.absorb(read_at(&text.join(" "), depth)),
            }
            return reading;
        } else if is("encodedcommand", 1) && !is("executionpolicy", 2) || name == "ec" {
            match rest.next().and_then(|encoded| words::decode(encoded)) {
                Some(text) => reading.absorb(read_at(&text, depth + 1)),
                None => reading.hide(ENCODED),
            }
            shows = true;
        } else if is("executionpolicy", 2) || name == "ep" {
            // The policy holds for this process only; the command itself is judged.
            rest.next();
        } else if is("file", 1) {
            // A script runs like a program that is called by its path.
            match rest.next() {
                Some(&script) if script != "-" => {
                    let script = slashed(script);
                    let place = if script.contains('/') { "" } else { "./" };
                    let words = std::iter::once(format!("{place}{script}"));
                    let words = words.chain(rest.map(|word| slashed_word(word)));
                    reading.see(Deed::Run(words.collect()));
                }
                _ => reading.hide(RUNS_TEXT),
            }
            return reading;
        } else if is("noprofile", 3)
            || is("noninteractive", 4)
            || is("nologo", 3)
            || is("sta", 3)
            || is("mta", 3)
            || is("noexit", 3)
            || is("login", 1)
        {
            // These change how it starts, not what it does.
        } else if is("version", 1) || is("help", 1) || name == "?" {
            shows = true;
        } else if is("windowstyle", 1)
            || is("inputformat", 2)
            || is("outputformat", 1)
            || is("configurationname", 3)
        {
            rest.next();
        } else if is("workingdirectory", 2) || name == "wd" {
            let path = rest.next().map_or_else(String::new, |path| slashed(path));
            let returns = false;
            reading.see(Deed::Enter { path, returns });
        } else {
            reading.hide(UNKNOWN);
        }
    }
    if !shows {
        // Without a command it runs what it reads.
        reading.hide(RUNS_TEXT);
    }
    reading
}
