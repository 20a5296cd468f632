//! Rules that the history of answers suggests. They are printed for the owner and change nothing.
//!
//! A suggestion is an `allow` rule for exactly one command from one directory. It needs several
//! answers of people that allowed this very command there and none that denied it anywhere. What is
//! critical, outbound, unreadable, inline or unknown is never suggested, and an `allow` rule would
//! not cover critical calls anyway. A rule for all commands with the same beginning would let an
//! agent add another target, so none is suggested.

use std::collections::{BTreeMap, BTreeSet};

use crate::assessment::SideEffect;
use crate::call::ToolCall;
use crate::card::{Redacts, one_line};
use crate::display::shortened;
use crate::grant::{Scope, candidates};
use crate::judge::judge;
use crate::policy::{Example, Policy, PolicyRule, RuleKind, Shape};
use crate::time::UnixMillis;
use crate::verdict::{Rule, Verdict};

/// Rules that are suggested at most.
const SUGGESTIONS_MAX: usize = 20;
/// Calls that are named as examples.
const EXAMPLES_MAX: usize = 3;

/// A call of the past.
#[derive(Clone, Debug)]
pub struct Past {
    /// The call.
    pub call: ToolCall,
    /// Whether it was judged then as something that may be suggested: neither critical nor
    /// outbound nor unreadable.
    pub was_mild: bool,
    /// A person's answer; `None` if nobody was asked or answered.
    pub answer: Option<PastAnswer>,
}

/// What a person answered.
#[derive(Clone, Debug)]
pub struct PastAnswer {
    /// Whether it was allowed.
    pub allowed: bool,
    /// Who answered.
    pub by: String,
    /// When.
    pub at: UnixMillis,
}

/// A rule that could be added.
#[derive(Clone, Debug)]
pub struct Suggestion {
    /// The rule, with examples that hold.
    pub rule: PolicyRule,
    /// The command.
    pub command: String,
    /// The directory it is made from.
    pub cwd: String,
    /// Answers that allowed such a call.
    pub allowed: usize,
    /// Who gave them.
    pub by: BTreeSet<String>,
    /// When the first of them was given.
    pub since: UnixMillis,
    /// Past calls that the rule would have let run without asking anybody.
    pub covers: usize,
    /// Past questions about the same program that would still be asked.
    pub leaves: Vec<String>,
}

/// Returns the rules that `past` suggests, those with most answers first. A rule needs at least
/// `least` answers.
pub fn suggestions(policy: &Policy, past: &[Past], least: usize) -> Vec<Suggestion> {
    let mut allowed: BTreeMap<(String, Vec<String>), Vec<&PastAnswer>> = BTreeMap::new();
    for it in past {
        let answer = it.answer.as_ref().filter(|answer| answer.allowed);
        if let (Some(answer), Some(cwd)) = (answer, &it.call.cwd)
            && let Some(words) = suggestible(policy, it)
        {
            let answers = allowed.entry((cwd.clone(), words)).or_default();
            answers.push(answer);
        }
    }
    allowed.retain(|_, answers| answers.len() >= least);
    let mut found: Vec<_> = allowed.into_iter().collect();
    found.sort_by_key(|(_, answers)| std::cmp::Reverse(answers.len()));
    found
        .into_iter()
        .filter_map(|((cwd, words), answers)| suggestion(policy, past, cwd, &words, &answers))
        .take(SUGGESTIONS_MAX)
        .collect()
}

/// Returns the words of a call that a rule may be suggested for: one simple command that can be
/// granted as it stands, and that does nothing a rule should not let run.
fn suggestible(policy: &Policy, past: &Past) -> Option<Vec<String>> {
    let judged = judge(policy, &past.call);
    let (assessment, ruling) = (&judged.assessment, &judged.ruling);
    let is_mild = assessment.side_effect < SideEffect::Critical
        && !assessment.outbound
        && !assessment.marks.unreadable
        && !assessment.crisis_sensitive;
    // Rules come after grants, so what may not be granted may not be suggested.
    let asks = ruling.verdict == Verdict::Ask && ruling.rule >= Rule::PolicyRule;
    if !past.was_mild || !is_mild || !asks {
        return None;
    }
    let exact = candidates(&past.call, assessment, ruling)
        .into_iter()
        .next()?;
    let Scope::Command { shapes, .. } = exact else {
        return None;
    };
    let [shape] = shapes.as_slice() else {
        return None;
    };
    // A shape of the policy is split at blanks, and `*` is any word there. A secret was stored as
    // its name, which is not what ran.
    let plain = |word: &String| !word.is_empty() && !word.contains([' ', '\t', '\n', '*', '‹']);
    let is_plain = shape.redirects.is_empty() && shape.words.iter().all(plain);
    is_plain.then(|| shape.words.clone())
}

fn suggestion(
    policy: &Policy,
    past: &[Past],
    cwd: String,
    words: &[String],
    answers: &[&PastAnswer],
) -> Option<Suggestion> {
    let command = words.join(" ");
    let rule = PolicyRule {
        name: command.clone(),
        command: Shape::new(&command),
        exact: true,
        cwd: Some(cwd.clone()),
        matches: vec![Example::Text(command.clone())],
        not_match: vec![
            Example::Text(format!("{command} ~/other")),
            Example::Text(format!("{command} && rm -rf ~")),
        ],
        ..PolicyRule::default()
    };
    rule.check(RuleKind::Allow).ok()?;
    // A denial of the command, alone or among others, from wherever, speaks against the rule.
    let is_denied = |it: &Past| {
        let denied = it.answer.as_ref().is_some_and(|answer| !answer.allowed);
        denied && rule.matches(&it.call, RuleKind::Ask)
    };
    if past.iter().any(is_denied) {
        return None;
    }
    let with = Policy {
        allow: vec![rule.clone()],
        ..policy.clone()
    };
    let is_covered = |it: &Past| {
        rule.matches(&it.call, RuleKind::Allow)
            && judge(&with, &it.call).ruling.verdict == Verdict::Allow
    };
    let same_program = PolicyRule {
        command: words.first().and_then(|program| Shape::new(program)),
        ..PolicyRule::default()
    };
    let is_like = |it: &Past| {
        it.answer.is_some() && same_program.matches(&it.call, RuleKind::Ask) && !is_covered(it)
    };
    let left = past.iter().filter(|it| is_like(it));
    let left: BTreeSet<String> = left
        .map(|it| shortened(&one_line(&it.call, Redacts::Secrets)))
        .collect();
    Some(Suggestion {
        allowed: answers.len(),
        by: answers.iter().map(|answer| answer.by.clone()).collect(),
        since: answers.iter().map(|answer| answer.at).min()?,
        covers: past.iter().filter(|it| is_covered(it)).count(),
        leaves: left.into_iter().take(EXAMPLES_MAX).collect(),
        rule,
        command,
        cwd,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: usize = 5;

    fn past(command: &str, allowed: Option<bool>) -> Past {
        Past {
            call: ToolCall::command(command).from_directory("/code/shop"),
            was_mild: true,
            answer: allowed.map(|allowed| PastAnswer {
                allowed,
                by: "ana".to_owned(),
                at: UnixMillis(1_000),
            }),
        }
    }

    fn suggested(past: &[Past]) -> Vec<String> {
        let found = suggestions(&Policy::default(), past, LEAST);
        found.into_iter().map(|it| it.command).collect()
    }

    fn times(count: usize, command: &str) -> Vec<Past> {
        vec![past(command, Some(true)); count]
    }

    #[test]
    fn what_was_allowed_often_enough_is_suggested_exactly() {
        assert_eq!(suggested(&times(5, "rm -rf data")), ["rm -rf data"]);
        assert!(suggested(&times(4, "rm -rf data")).is_empty(), "too seldom");
    }

    #[test]
    fn some_answers_suggest_nothing() {
        let many: Vec<Past> = (0..9)
            .map(|number| past(&format!("rm -rf data{number}"), Some(true)))
            .collect();
        let mut denied = times(9, "rm -rf data");
        denied.push(past("rm -rf data", Some(false)));
        let mut denied_among_others = times(9, "rm -rf data");
        denied_among_others.push(past("ls && rm -rf data && ls", Some(false)));
        let mut elsewhere = times(4, "rm -rf data");
        elsewhere.extend(times(4, "rm -rf data").into_iter().map(|mut it| {
            it.call.cwd = Some("/code/blog".to_owned());
            it
        }));
        let mut harsh = times(9, "rm -rf data");
        for it in &mut harsh {
            it.was_mild = false;
        }
        let rows = [
            ("another target each time", many),
            ("too seldom from one directory", elsewhere),
            ("denied once", denied),
            ("denied once among others", denied_among_others),
            ("worse when it was asked", harsh),
            ("critical", times(9, "rm -rf /srv/www")),
            ("outbound", times(9, "curl -d @x https://example.org")),
            ("outbound by git", times(9, "git push origin main")),
            ("unreadable", times(9, "rm -rf $DIR")),
            (
                "inline",
                times(9, "python3 -c 'import shutil; shutil.rmtree(\"data\")'"),
            ),
            ("unknown", times(9, "frobnicate data")),
            ("the firewall", times(9, "countersign grants revoke 3")),
            ("the floor", times(9, "rm -rf /")),
            ("what runs anyway", times(9, "ls -la src")),
            ("several commands", times(9, "rm -rf data && rm -rf tmp")),
            ("nobody answered", vec![past("rm -rf data", None); 9]),
        ];
        for (name, past) in rows {
            assert_eq!(suggested(&past), Vec::<String>::new(), "{name}");
        }
    }

    #[test]
    fn a_suggestion_says_what_it_would_have_covered_and_what_not() {
        let mut history = times(6, "rm -rf data");
        history.push(past("rm -rf data", None));
        history.push(past("rm -rf /srv/www", Some(true)));
        let found = suggestions(&Policy::default(), &history, LEAST);
        let [it] = found.as_slice() else {
            panic!("{found:?}");
        };
        assert_eq!((it.allowed, it.covers), (6, 7));
        assert_eq!(it.leaves, ["rm -rf /srv/www"]);
        assert_eq!(it.cwd, "/code/shop");
        assert_eq!(it.rule.check(RuleKind::Allow), Ok(()));
    }
}
