//! Finds code that forks without end, in any language.
//!
//! The look of it is the same everywhere: a loop whose condition is always true, or a statement that
//! repeats itself, and a call that makes a copy of the process; nothing in it waits or ends.

/// Loops that never end, with blanks taken out.
const ENDLESS: [&str; 15] = [
    "whiletrue",
    "while1",
    "while(1)",
    "while(true)",
    "while!0",
    "while(!0)",
    "for(;;)",
    "loop{",
    "loopdo",
    "untilfalse",
    "until0",
    "forkwhile",
    "forkuntil",
    "1whilefork",
    "whilefork",
];

/// Calls that make a copy of the process, with blanks taken out.
const COPIES: [&str; 10] = [
    "os.fork",
    "fork(",
    "fork;",
    "fork}",
    "forkwhile",
    "forkuntil",
    "process.fork",
    "pcntl_fork",
    "spawn(process.",
    "spawn(process.argv",
];

/// What keeps the number of copies bounded.
const BOUNDS: [&str; 10] = [
    "wait", "sleep", "break", "exit", "accept(", "return", "die", "join(", "last", "if",
];

/// Whether `code` makes copies of its process without end.
pub(crate) fn without_end(code: &str) -> bool {
    if code.len() > super::CODE_BYTES_MAX || !(code.contains("fork") || code.contains("spawn")) {
        return false;
    }
    let packed: String = without_strings(code)
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_ascii_lowercase())
        .collect();
    // Whatever ends with the name ends the call.
    let packed = format!("{packed};");
    let has = |words: &[&str]| words.iter().any(|word| packed.contains(word));
    has(&ENDLESS) && has(&COPIES) && !has(&BOUNDS)
}

/// Returns `code` without what stands in quotes: that is text, not code.
fn without_strings(code: &str) -> String {
    let mut rest = String::new();
    let mut quote = None;
    let mut chars = code.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(_) if c == '\\' => {
                chars.next();
            }
            Some(open) if c == open || c == '\n' => quote = None,
            Some(_) => {}
            None if matches!(c, '\'' | '"' | '`') => quote = Some(c),
            None => rest.push(c),
        }
    }
    rest
}
