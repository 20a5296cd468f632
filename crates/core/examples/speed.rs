use countersign_core::{assess::assess, call::ToolCall, shell::walk::Knows, verdict::*};
use std::time::Instant;
fn main() {
    let k = Knows {
        trusts_workspace: true,
        ..Default::default()
    };
    let mut calls = vec![];
    for f in std::env::args().skip(1) {
        for l in std::fs::read_to_string(f).unwrap().lines() {
            let v: serde_json::Value = serde_json::from_str(l).unwrap();
            calls.push(ToolCall::command(v["command"].as_str().unwrap()));
        }
    }
    let mut best = vec![u128::MAX; calls.len()];
    for _ in 0..5 {
        for (i, c) in calls.iter().enumerate() {
            let t = Instant::now();
            let a = assess(c, &k);
            let r = verdict(&a, &Situation::default());
            std::hint::black_box(r);
            best[i] = best[i].min(t.elapsed().as_nanos());
        }
    }
    let mut idx: Vec<usize> = (0..calls.len()).collect();
    idx.sort_by_key(|i| best[*i]);
    let mean = best.iter().sum::<u128>() as f64 / best.len() as f64;
    println!(
        "n={} mean={:.2}us p50={:.2} p99={:.2} max={:.2}",
        best.len(),
        mean / 1e3,
        best[idx[idx.len() / 2]] as f64 / 1e3,
        best[idx[idx.len() * 99 / 100]] as f64 / 1e3,
        best[*idx.last().unwrap()] as f64 / 1e3
    );
    for i in idx.iter().rev().take(8) {
        println!(
            "{:.1} {}",
            best[*i] as f64 / 1e3,
            &calls[*i].args["command"]
                .as_str()
                .unwrap()
                .chars()
                .take(100)
                .collect::<String>()
                .replace('\n', "⏎")
        );
    }
}
