//! Law 13: a command that is only mentioned is not a command.

use std::collections::BTreeMap;

use countersign_core::verdict::Verdict;

use super::rows::{Row, is_soak};
use super::wrappers::quote;
use super::{corpus, judge_command, no_failures};

/// Puts a command into a text that does not run it.
type Mention = fn(&str) -> String;

/// Ways to mention a command without running it, and the same with harmless text.
#[rustfmt::skip]
const MENTIONS: &[(&str, Mention)] = &[
    ("echo", |c| format!("echo {}", quote(c))),
    ("printf", |c| format!("printf '%s\\n' {}", quote(c))),
    ("grep", |c| format!("grep -rn -e {} src", quote(c))),
    ("rg", |c| format!("rg -F -e {} src", quote(c))),
    ("git commit", |c| format!("git commit -m {}", quote(c))),
    ("git log --grep", |c| format!("git log --grep={}", quote(c))),
    ("gh issue list --search", |c| format!("gh issue list --search {}", quote(c))),
    ("quoted here-document to cat", |c| format!("cat <<'END_OF_IT'\n{c}\nEND_OF_IT\n")),
    ("document", |c| format!("cat > notes.md <<'END_OF_IT'\n{c}\nEND_OF_IT\n")),
    ("here-string to wc", |c| format!("wc -c <<< {}", quote(c))),
    ("comparison", |c| format!("[ \"$answer\" = {} ]", quote(c))),
    ("pattern of case", |c| format!("case \"$answer\" in {}) echo no;; esac", quote(c))),
    ("variable that is printed", |c| format!("text={}; echo \"$text\"", quote(c))),
    ("echo to wc", |c| format!("echo {} | wc -c", quote(c))),
];

/// Characters that deceive are a question wherever they stand.
fn deceives(command: &str) -> bool {
    let is_plain = |letter: char| matches!(letter, '\n' | '\t' | ' '..='~');
    !command.chars().all(is_plain)
}

#[test]
fn law_13_prose_is_not_a_command() {
    let rows: Vec<Row> = corpus()
        .into_iter()
        .filter(|row| row.label == "dangerous" && !deceives(&row.command))
        .collect();
    let step = if is_soak() { 1 } else { 7 };
    let mut failures: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, mention) in MENTIONS {
        let (_, harmless) = judge_command(&mention("hello"));
        assert_eq!(
            harmless,
            Verdict::Allow,
            "{name} asks even about harmless text"
        );
        for row in rows.iter().step_by(step) {
            let text = mention(&row.command);
            let (assessment, verdict) = judge_command(&text);
            if verdict != harmless {
                let failure = format!(
                    "{text:?} is {} ({})",
                    verdict.word(),
                    assessment.reasons.join("; ")
                );
                failures
                    .entry((*name).to_owned())
                    .or_default()
                    .push(failure);
            }
        }
    }
    no_failures("law 13", &failures);
}
