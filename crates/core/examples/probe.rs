use countersign_core::{assess::assess, call::ToolCall, shell::walk::Knows, verdict::*};
use std::io::{BufRead, Write};
fn main() {
    let cwd = std::env::args().nth(1);
    let knows = Knows {
        trusts_workspace: true,
        ..Knows::default()
    };
    let out = std::io::stdout();
    let mut out = std::io::BufWriter::new(out.lock());
    for l in std::io::stdin().lock().lines() {
        let v: serde_json::Value = serde_json::from_str(&l.unwrap()).unwrap();
        let mut c = ToolCall::command(v["command"].as_str().unwrap());
        c.cwd = cwd.clone();
        let a = assess(&c, &knows);
        let r = verdict(&a, &Situation::default());
        writeln!(
            out,
            "{}\t{}\t{}\t{}\t{}",
            match r.verdict {
                Verdict::Allow => "allow",
                Verdict::AllowThenReview => "allow",
                Verdict::Ask => "ask",
                Verdict::Refuse => "deny",
            },
            r.rule.number(),
            a.risk,
            a.confidence,
            a.reasons.join(" | ").replace('\n', "⏎")
        )
        .unwrap();
    }
}
