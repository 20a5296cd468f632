//! `countersign usage`: token usage of the models.

use std::process::ExitCode;

use countersign_core::display::inline;
use countersign_gate::runs::usage::UsageView;

use super::history::moment;
use crate::cli::Usage;
use crate::client::{Client, Reach};
use crate::complaint::{Complaint, written};
use crate::show::{print, print_json, table, text};
use crate::wire::lists::UsageList;

/// Shows what models cost, by task and model.
pub(crate) fn run(args: &Usage, reach: &Reach) -> Result<ExitCode, Complaint> {
    let client = Client::new(reach)?;
    let since = moment(&args.since)?;
    let answer = client.get(&format!("/v1/usage?since={since}"))?;
    if args.json {
        return written(print_json(answer.json()), ExitCode::SUCCESS);
    }
    let list: UsageList = answer.read()?;
    written(print(&shown(&list.usage, &args.since)), ExitCode::SUCCESS)
}

fn shown(days: &[UsageView], since: &str) -> String {
    let mut sums: Vec<(String, String, [u64; 3])> = Vec::new();
    for day in days {
        let (task, model) = (text(&day.task), text(&day.model));
        let more = [day.calls, day.prompt_tokens, day.completion_tokens];
        let known = sums.iter_mut().find(|it| it.0 == task && it.1 == model);
        match known {
            Some((_, _, sum)) => {
                for (sum, more) in sum.iter_mut().zip(more) {
                    *sum += more;
                }
            }
            None => sums.push((task, model, more)),
        }
    }
    if sums.is_empty() {
        return format!("No model was used in the last {}.\n", inline(since));
    }
    let rows: Vec<Vec<String>> = sums
        .into_iter()
        .map(|(task, model, counts)| {
            let counts = counts.iter().map(u64::to_string);
            [task, model].into_iter().chain(counts).collect()
        })
        .collect();
    table(
        &["task", "model", "calls", "input tokens", "output tokens"],
        &rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_added_up_by_task_and_model() {
        let day = |task: &str, calls: u64| UsageView {
            task: task.to_owned(),
            model: "m".to_owned(),
            day: 0,
            calls,
            prompt_tokens: 10,
            completion_tokens: 1,
        };
        let days = [day("agent", 2), day("approval", 1), day("agent", 3)];
        let shown = anstream::adapter::strip_str(&shown(&days, "30d")).to_string();
        let lines: Vec<Vec<&str>> = shown
            .lines()
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines[1], ["agent", "m", "5", "20", "2"]);
        assert_eq!(lines[2], ["approval", "m", "1", "10", "1"]);
        assert_eq!(lines.len(), 3);
    }
}
