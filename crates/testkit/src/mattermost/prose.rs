//! Separates prose from code in a text: code mentions nobody.

/// Returns the names a text mentions, without their `@`.
pub(super) fn mentions(text: &str) -> Vec<String> {
    let prose = outside_code(text);
    let mut names = Vec::new();
    for (at, _) in prose.match_indices('@') {
        let before = prose.get(..at).and_then(|head| head.chars().next_back());
        if before.is_some_and(char::is_alphanumeric) {
            continue;
        }
        let behind = prose.get(at + 1..).unwrap_or("");
        let name: String = behind
            .chars()
            .take_while(|char| char.is_ascii_alphanumeric() || "._-".contains(*char))
            .collect();
        let name = name.trim_end_matches(['.', '-', '_']).to_lowercase();
        if !name.is_empty() {
            names.push(name);
        }
    }
    names
}

/// Returns a text without its code blocks and code spans.
pub fn outside_code(text: &str) -> String {
    let mut prose = String::new();
    let mut fence: Option<(char, usize)> = None;
    for line in text.lines() {
        let start = line.trim_start_matches(' ');
        let indent = line.len() - start.len();
        let run = |char: char| start.chars().take_while(|next| *next == char).count();
        if let Some((char, length)) = fence {
            let closes = indent < 4
                && run(char) >= length
                && start.trim_start_matches(char).trim().is_empty();
            if closes {
                fence = None;
            }
            continue;
        }
        let opened = ['`', '~'].into_iter().find(|char| {
            // A fence of backticks has none behind it; those would be a code span.
            run(*char) >= 3 && (*char == '~' || !start.trim_start_matches('`').contains('`'))
        });
        if let Some(char) = opened.filter(|_| indent < 4) {
            fence = Some((char, run(char)));
        } else {
            prose.push_str(&outside_spans(line));
            prose.push('\n');
        }
    }
    prose
}

/// Returns a line without its code spans: from a run of backticks to the next of the same length.
fn outside_spans(line: &str) -> String {
    let mut prose = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (head, tail) = rest.split_at(at);
        prose.push_str(head);
        let length = tail.chars().take_while(|char| *char == '`').count();
        let (run, behind) = tail.split_at(length);
        if let Some(end) = closing(behind, length) {
            rest = behind.get(end..).unwrap_or("");
        } else {
            prose.push_str(run);
            rest = behind;
        }
    }
    prose.push_str(rest);
    prose
}

/// Returns where the next run of exactly `length` backticks ends.
fn closing(text: &str, length: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text.get(at..)?.find('`') {
        let start = at + found;
        let run = text.get(start..)?.chars().take_while(|c| *c == '`').count();
        if run == length {
            return Some(start + run);
        }
        at = start + run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn what_stands_in_code_mentions_nobody() {
        let rows: [(&str, &str, &[&str]); 8] = [
            ("plain", "hello @ana, and @ben.", &["ana", "ben"]),
            ("an address", "mail ana@example.org", &[]),
            ("a block", "```\n@all\n```\n", &[]),
            ("broken out of", "```\nx\n```\n@all\n```", &["all"]),
            ("a longer fence", "````\nx\n```\n@all\n````", &[]),
            ("a span", "look `@all` there", &[]),
            ("an open span", "look `@all there", &["all"]),
            ("a span of two", "``a ` @all`` @ben", &["ben"]),
        ];
        for (name, text, expected) in rows {
            assert_eq!(mentions(text), expected, "{name}");
        }
    }
}
