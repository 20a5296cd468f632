//! Writes a proposal as YAML, alone or into the text of a configuration.

use std::fmt::Write as _;

use countersign_core::policy::programs::speaks_of_more;

use super::{Opt, Proposal, Takes};

/// Options without a value that are written on one line.
const PER_LINE: usize = 6;
/// What an unmarked row does.
const UNMARKED: &str = "unknown";

/// Returns the item of the list `programs`, indented by so many blanks.
pub(crate) fn items(proposal: &Proposal, indent: usize) -> String {
    let blanks = " ".repeat(indent);
    let mut out = String::new();
    let mut line = |text: &str| {
        let _infallible = writeln!(out, "{blanks}{text}");
    };
    let has_subs = !proposal.subs.is_empty();
    line(
        "# Everything here asks until you replace `unknown` by what it does: inspect, read, net_read, build,",
    );
    line(
        "# write, delete, net_send, … (all of them: docs/configuration.md, Programs). Values of options:",
    );
    line(
        "# =text plain words, =read a file it reads, =write a file it writes. Delete what you do not need.",
    );
    line(&format!("- names: [\"{}\"]", proposal.program));
    if !has_subs {
        line(&format!("  does: {UNMARKED}"));
    }
    line(if has_subs {
        "  everywhere:"
    } else {
        "  flags:"
    });
    for flags in flags(&proposal.options) {
        line(&format!("    - \"{flags}\""));
    }
    if !has_subs {
        line("  operands: \"name*\"");
        return out;
    }
    line("  subs:");
    for names in &proposal.subs {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        line(&format!("    - names: [{}]", names.join(", ")));
        line(&format!("      does: {UNMARKED}"));
        line("      operands: \"name*\"");
    }
    out
}

/// Returns the lines of `flags`: what asks for help, switches that look plain, switches whose name
/// speaks of more, and options with a value, of which nobody has said what it is.
fn flags(options: &[Opt]) -> Vec<String> {
    let asks = ["-h", "--help", "--version"];
    let mut lines = vec!["--help --version !help".to_owned()];
    let mut plain: Vec<&str> = Vec::new();
    for option in options {
        let names = option.names.iter().map(String::as_str);
        let names: Vec<&str> = names.filter(|name| !asks.contains(name)).collect();
        let is_help = option.names.iter().any(|name| name == "--help");
        match option.value {
            Takes::Nothing if is_help => {
                let short = option.names.iter().any(|name| name == "-h");
                lines.extend(short.then(|| "-h !help".to_owned()));
            }
            _ if names.is_empty() => {}
            Takes::Nothing if names.iter().any(|name| speaks_of_more(name)) => {
                lines.push(format!("{} !{UNMARKED}", names.join(" ")));
            }
            Takes::Nothing => plain.extend(names),
            Takes::Value => lines.push(format!("{} ={UNMARKED}", names.join(" "))),
            Takes::Attached => lines.push(format!("{} ?{UNMARKED}", names.join(" "))),
        }
    }
    lines.extend(plain.chunks(PER_LINE).map(|names| names.join(" ")));
    lines
}

/// Returns the text of a configuration with the proposal in it; `None` where `programs` is written in
/// a form that is not edited.
pub(crate) fn with_row(text: &str, proposal: &Proposal) -> Option<String> {
    let mut lines: Vec<&str> = text.lines().collect();
    let is_key = |line: &&str| line.split(':').next().map(str::trim_end) == Some("programs");
    let Some(at) = lines.iter().position(is_key) else {
        let gap = if text.is_empty() || text.ends_with('\n') {
            ""
        } else {
            "\n"
        };
        return Some(format!("{text}{gap}programs:\n{}", items(proposal, 2)));
    };
    let behind = lines.get(at)?.split_once(':')?.1;
    let behind = behind.split(" #").next().unwrap_or("").trim();
    if behind == "[]" {
        let new = items(proposal, 2);
        *lines.get_mut(at)? = "programs:";
        lines.insert(at + 1, new.trim_end_matches('\n'));
        return Some(lines.join("\n") + "\n");
    }
    if !behind.is_empty() {
        return None;
    }
    let below = lines.iter().enumerate().skip(at + 1);
    let is_inside =
        |line: &str| line.is_empty() || line.starts_with([' ', '#']) || line.starts_with("- ");
    let end = below
        .clone()
        .find(|(_, line)| !is_inside(line))
        .map_or(lines.len(), |(end, _)| end);
    let inside = lines.get(at + 1..end)?;
    let item = inside
        .iter()
        .find(|line| line.trim_start().starts_with("- "));
    let indent = item.map_or(2, |item| item.len() - item.trim_start().len());
    // Blank lines and comments before the next key belong to that key.
    let last = inside
        .iter()
        .rposition(|line| !line.is_empty() && !line.starts_with('#'));
    let new = items(proposal, indent);
    lines.insert(
        at + 1 + last.map_or(0, |last| last + 1),
        new.trim_end_matches('\n'),
    );
    Some(lines.join("\n") + "\n")
}
