//! Calls of recorded sessions, judged in their order as a gateway would have judged them.
//!
//! `countersign eval` and the tests measure the judge on such recordings. Both merge and judge them
//! here, so that the figures people reproduce are the figures the tests hold.

use std::collections::{BTreeMap, BTreeSet};

use crate::assessment::Assessment;
use crate::call::ToolCall;
use crate::judge::{Considered, consider_after};
use crate::policy::Policy;
use crate::verdict::{Ruling, verdict};
use crate::written::Written;

/// How often a call is judged again because a file it runs names further ones.
const ROUNDS_MAX: usize = 4;

/// One call of a recorded session, with whatever its reader wants to keep beside it.
#[derive(Clone, Debug)]
pub struct Recorded<T> {
    /// Where the session was recorded.
    pub repository: String,
    /// The session's name, unique in its repository.
    pub session: String,
    /// Its place in the session.
    pub number: u64,
    /// The call.
    pub call: ToolCall,
    /// What else is known of it.
    pub beside: T,
}

/// Merges calls of several files into sessions, by repository and name, each in its order. Calls
/// of one session with the same number keep the order they came in.
pub fn sessions<T>(calls: Vec<Recorded<T>>) -> Vec<Vec<Recorded<T>>> {
    let mut sessions: BTreeMap<(String, String), Vec<Recorded<T>>> = BTreeMap::new();
    for call in calls {
        let name = (call.repository.clone(), call.session.clone());
        sessions.entry(name).or_default().push(call);
    }
    let mut sessions: Vec<_> = sessions.into_values().collect();
    for calls in &mut sessions {
        calls.sort_by_key(|call| call.number);
    }
    sessions
}

/// What one session wrote so far.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    written: Written,
}

impl Memory {
    /// Judges `call` with what the session wrote before, as far as the call wants to know it. What
    /// it writes itself is remembered only by [`Memory::remember`].
    pub fn judge(&self, policy: &Policy, call: &ToolCall) -> (Considered, Ruling) {
        let mut known = Written::default();
        let mut asked = BTreeSet::new();
        let mut considered = consider_after(policy, call, &[], Written::default());
        for _ in 0..ROUNDS_MAX {
            let mut is_new = false;
            for wanted in &considered.files.wanted {
                if asked.insert(wanted.clone()) {
                    is_new |= self.written.look_up(wanted, &mut known);
                }
            }
            if !is_new {
                break;
            }
            considered = consider_after(policy, call, &[], known.clone());
        }
        let ruling = verdict(&considered.assessment, &considered.situation);
        (considered, ruling)
    }

    /// Remembers what a call writes. A question does not hinder it: somebody may have said yes.
    pub fn remember(&mut self, considered: Considered) {
        for (path, content) in considered.files.writes {
            self.written.add(&path, content);
        }
    }
}

/// Returns why a call was judged as it was: the code and the cause of its worst finding.
pub fn cause(assessment: &Assessment) -> (&'static str, &'static str) {
    let worst = assessment.findings.first();
    worst.map_or(("none", "nothing was found"), |found| {
        (found.code, found.cause)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Verdict;

    fn recorded(repository: &str, session: &str, number: u64, command: &str) -> Recorded<()> {
        Recorded {
            repository: repository.to_owned(),
            session: session.to_owned(),
            number,
            call: ToolCall::command(command).from_directory("/code/shop"),
            beside: (),
        }
    }

    #[test]
    fn calls_of_several_files_become_sessions_in_their_order() {
        let calls = vec![
            recorded("b", "s", 2, "two"),
            recorded("a", "s", 1, "one"),
            recorded("b", "s", 1, "one"),
            recorded("b", "t", 0, "zero"),
        ];
        let names = |calls: &Vec<Recorded<()>>| {
            let name = |it: &Recorded<()>| format!("{}/{}{}", it.repository, it.session, it.number);
            calls.iter().map(name).collect::<Vec<_>>().join(" ")
        };
        let merged: Vec<String> = sessions(calls).iter().map(names).collect();
        assert_eq!(merged, ["a/s1", "b/s1 b/s2", "b/t0"]);
    }

    #[test]
    fn what_a_session_wrote_is_known_when_it_runs() {
        let policy = Policy::default();
        let write = recorded("a", "s", 1, "echo 'rm -rf ~/photos' > clean.sh").call;
        let run = recorded("a", "s", 2, "bash clean.sh").call;
        let mut memory = Memory::default();
        let (alone, _) = memory.judge(&policy, &run);
        let (considered, _) = memory.judge(&policy, &write);
        memory.remember(considered);
        let (after, ruling) = memory.judge(&policy, &run);
        assert!(ruling.verdict >= Verdict::Ask, "{:?}", after.assessment);
        assert_ne!(cause(&alone.assessment), cause(&after.assessment));
    }
}
