//! Functions and scripts that start themselves without end.

use crate::shell::syntax::{Command, Part, Simple, Word};

/// Whether a function starts itself more than once, or starts itself beside itself.
pub(super) fn is_fork_bomb(name: &str, body: &Command) -> bool {
    let mut calls = 0;
    let mut beside = false;
    count_calls(name, body, false, &mut calls, &mut beside);
    calls >= 2 || beside
}

/// Whether a script starts itself, without any words, more than once or beside itself.
pub(super) fn starts_itself(block: &[Command]) -> bool {
    let (mut calls, mut beside) = (0, false);
    for command in block {
        count_calls("$0", command, false, &mut calls, &mut beside);
    }
    calls >= 2 && beside
}

fn count_calls(name: &str, command: &Command, apart: bool, calls: &mut u32, beside: &mut bool) {
    let is_itself = |simple: &Simple| {
        let only = simple.words.len() == 1;
        let zero = |part: &Part| matches!(part, Part::Parameter { expansion, .. } if expansion.name == "0");
        only && simple
            .words
            .first()
            .is_some_and(|word| matches!(word.parts.as_slice(), [part] if zero(part)))
    };
    match command {
        Command::Simple(simple) => {
            let named = |word: &Word| matches!(word.parts.as_slice(), [Part::Plain(text) | Part::Quoted(text)] if text == name);
            let called = if name == "$0" {
                is_itself(simple)
            } else {
                simple.words.first().is_some_and(named)
            };
            if called {
                *calls += 1;
                *beside |= apart;
            }
        }
        Command::Pipeline(commands) => {
            for command in commands {
                count_calls(name, command, true, calls, beside);
            }
        }
        Command::AndOr(commands, _)
        | Command::Group { body: commands, .. }
        | Command::Loop { body: commands, .. } => {
            for command in commands {
                count_calls(name, command, apart, calls, beside);
            }
        }
        Command::Background(command) => count_calls(name, command, true, calls, beside),
        Command::Not(command) => count_calls(name, command, apart, calls, beside),
        // One call in each branch is ordinary recursion; a call beside itself is not.
        Command::Branches { blocks, .. } => {
            let mut ignored = 0;
            for command in blocks.iter().flatten() {
                count_calls(name, command, apart, &mut ignored, beside);
            }
        }
        Command::Function { .. } | Command::Test { .. } => {}
    }
}
