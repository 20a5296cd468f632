//! Finds in a text what Discord's clients act on: mentions, links, emoji and formatting.
//!
//! It reads the dialect as the clients do: a code block ends at the first three backticks, a code span at as
//! many backticks as began it, and a backslash takes the meaning from a sign.

/// Returns what a client acts on, in its own words; code and bold text are nothing.
pub(super) fn found(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = text;
    let mut begins_line = true;
    while let Some(letter) = rest.chars().next() {
        let taken = block(rest)
            .or_else(|| span(rest))
            .or_else(|| escape(rest))
            .unwrap_or(0);
        if taken > 0 {
            rest = rest.get(taken..).unwrap_or_default();
            begins_line = false;
            continue;
        }
        if let Some((what, length)) = acting(rest, begins_line) {
            all.push(what);
            rest = rest.get(length..).unwrap_or_default();
            begins_line = false;
            continue;
        }
        begins_line = letter == '\n' || (begins_line && letter == ' ');
        // The two stars of bold text are ours.
        let step = if rest.starts_with("**") {
            2
        } else {
            letter.len_utf8()
        };
        rest = rest.get(step..).unwrap_or_default();
    }
    all
}

/// Returns the length of a code block.
fn block(text: &str) -> Option<usize> {
    let inside = text.strip_prefix("```")?;
    let end = inside.find("```")?;
    let content = inside.get(..end)?;
    (!content.trim_matches('\n').is_empty()).then_some(end + 6)
}

/// Returns the length of a code span.
fn span(text: &str) -> Option<usize> {
    let inside = text.trim_start_matches('`');
    let run = text.len() - inside.len();
    if run == 0 {
        return None;
    }
    let mut at = 0;
    loop {
        let start = at + inside.get(at..)?.find('`')?;
        let found = inside.get(start..)?;
        let length = found.len() - found.trim_start_matches('`').len();
        if length == run && start > 0 {
            return Some(run + start + run);
        }
        at = start + length;
    }
}

/// Returns the length of a sign whose meaning is taken away.
fn escape(text: &str) -> Option<usize> {
    let next = text.strip_prefix('\\')?.chars().next()?;
    let is_sign = !next.is_ascii_alphanumeric() && !next.is_whitespace();
    is_sign.then(|| 1 + next.len_utf8())
}

/// Returns what a client acts on at the beginning of a text, and how long it is.
fn acting(text: &str, begins_line: bool) -> Option<(String, usize)> {
    for word in [
        "@everyone",
        "@here",
        "http://",
        "https://",
        "steam://",
        "discord://",
    ] {
        if text.starts_with(word) {
            return Some((word.to_owned(), word.len()));
        }
    }
    let pairs = [
        ("<", ">"),
        (":", ":"),
        ("~~", "~~"),
        ("||", "||"),
        ("__", "__"),
        ("_", "_"),
    ];
    for (begin, end) in pairs {
        let Some(inside) = text.strip_prefix(begin) else {
            continue;
        };
        let Some(length) = inside.find(end).filter(|it| *it > 0) else {
            continue;
        };
        let inside = inside.get(..length).unwrap_or_default();
        let acts = match begin {
            "<" => is_reference(inside),
            ":" => inside
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || "_+-".contains(it)),
            _ => !inside.contains('\n'),
        };
        if acts {
            let length = begin.len() + length + end.len();
            return Some((text.get(..length).unwrap_or_default().to_owned(), length));
        }
    }
    if text.starts_with('[')
        && let Some(middle) = text.find("](")
        && let Some(end) = text.get(middle..).and_then(|it| it.find(')'))
    {
        let length = middle + end + 1;
        return Some((text.get(..length).unwrap_or_default().to_owned(), length));
    }
    if text.starts_with('*') && !text.starts_with("**") {
        let inside = text.get(1..).unwrap_or_default();
        let end = inside.find('*').filter(|it| *it > 0)?;
        let is_words = !inside.starts_with(' ') && !inside.get(..end)?.contains('\n');
        return is_words.then(|| ("italics".to_owned(), end + 2));
    }
    if begins_line {
        let starts = ["# ", "## ", "### ", "-# ", "> ", ">>> ", "- ", "* "];
        let start = starts.iter().find(|it| text.starts_with(**it))?;
        return Some(((*start).to_owned(), start.len()));
    }
    None
}

/// Whether what stands between angle brackets is a mention, an emoji, a time, a command or a link.
fn is_reference(inside: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|it| it.is_ascii_digit());
    let mention = ["@!", "@&", "@", "#"]
        .iter()
        .find_map(|it| inside.strip_prefix(it));
    let named = inside
        .strip_prefix(['/', ':'])
        .or_else(|| inside.strip_prefix("a:"))
        .or_else(|| inside.strip_prefix("t:"));
    mention.is_some_and(is_number) || named.is_some() || inside.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_act_on_is_found_and_nothing_in_code() {
        let rows: [(&str, &[&str]); 18] = [
            ("plain words, a:b 10:20 and 5 * 3", &[]),
            ("**Risk:** high", &[]),
            ("`@everyone` and ```\n<@1>\n```", &[]),
            ("``a`b``", &[]),
            ("\\*a\\* \\<@1>", &[]),
            ("@everyone", &["@everyone"]),
            ("<@1> <@&2> <#3>", &["<@1>", "<@&2>", "<#3>"]),
            ("see https://a.example", &["https://"]),
            ("[a](b)", &["[a](b)"]),
            (":fire:", &[":fire:"]),
            ("<t:1>", &["<t:1>"]),
            ("</a:1>", &["</a:1>"]),
            ("||x||", &["||x||"]),
            ("# head", &["# "]),
            ("a\n> b", &["> "]),
            ("*x*", &["italics"]),
            ("```\na\n``` @here\n```", &["@here"]),
            ("````\n```\n@here\n````", &["@here"]),
        ];
        for (text, expected) in rows {
            assert_eq!(found(text), expected, "{text}");
        }
    }
}
