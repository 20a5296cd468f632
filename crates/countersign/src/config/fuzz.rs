//! Fuzz target: any text is read as a policy file or rejected with a reason, without a panic.
//!
//! Two thousand texts in a test; `COUNTERSIGN_FUZZ_SECONDS` goes on for so long.

use std::time::{Duration, Instant};

use countersign_core::policy::Policy;

use super::{parse, read};

/// Texts that come close to what people write.
const SEEDS: &[&str] = &[
    "approvals:\n  mode: smart\n  timeout: 5m\n  thresholds: { auto_below: 0.2, ask_above: 0.5 }\n",
    "approvals:\n  deny:\n    - name: no force\n      command: git push --force\n      match: [git push -f]\n",
    "tools: { \"mcp__crm__notify\": { approval_required: true } }\nreview: { enabled: true }\n",
    "people:\n  - { name: ana, roles: [approver], email: ana@example.org, accounts: { pager: a1 } }\n",
    "workspaces: { trust: listed, listed: [~/src, /srv/app] }\nstore: { url: sqlite }\n",
    "programs:\n  - names: [tix]\n    everywhere: [\"--json\"]\n    subs:\n      - { names: [list], does: read, operands: \"name*\", match: [tix list] }\n",
    "a: &x [1, 2]\nb: *x\nfirewall: { mode: off }\n",
];
/// Pieces that turn one thing into another.
const PIECES: &[&str] = &[
    ":",
    "-",
    "[",
    "]",
    "{",
    "}",
    "&a",
    "*a",
    "!!binary",
    "|",
    ">",
    "\n",
    "  ",
    "\t",
    "\"",
    "'",
    "#",
    "0.5",
    "-1",
    "1e999",
    "off",
    "~",
    "null",
    "\u{202e}",
    "\u{0}",
    "<<:",
    "? ",
    "%YAML 1.2",
    "---",
];

#[test]
fn a_policy_file_of_any_text_is_read_or_refused_with_a_reason() {
    let seconds = std::env::var("COUNTERSIGN_FUZZ_SECONDS")
        .ok()
        .and_then(|text| text.parse().ok());
    let until = Instant::now() + Duration::from_secs(seconds.unwrap_or(0));
    let mut random = 0x2545_f491_4f6c_dd1du64;
    let mut next = |below: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        usize::try_from(random >> 16).unwrap_or(0) % below.max(1)
    };
    let (mut tried, mut understood) = (0u64, 0u64);
    while tried < 2000 || Instant::now() < until {
        let mut text = SEEDS[next(SEEDS.len())].to_owned();
        for _ in 0..next(6) {
            let at = (0..=next(text.len() + 1))
                .rev()
                .find(|at| text.is_char_boundary(*at))
                .unwrap_or(0);
            match next(3) {
                0 => text.insert_str(at, PIECES[next(PIECES.len())]),
                1 => {
                    if let Some(letter) = text.get(at..).and_then(|rest| rest.chars().next()) {
                        text.replace_range(at..at + letter.len_utf8(), "");
                    }
                }
                _ => text.insert_str(at, SEEDS[next(SEEDS.len())]),
            }
        }
        tried += 1;
        match parse(&text).and_then(|values| read::changes(&values)) {
            Ok(changes) => {
                understood += 1;
                let _policy = Policy::default().with(changes);
            }
            Err(problem) => {
                let complaint = problem.in_file(std::path::Path::new("config.yaml"));
                assert!(!complaint.message().is_empty(), "{text:?}");
            }
        }
    }
    assert!(
        understood > 0,
        "nothing was understood, so nothing was tried"
    );
    eprintln!("{tried} texts, {understood} of them understood");
}
