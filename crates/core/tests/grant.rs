//! Grants: what may be granted, in which words, and what lies inside.

use countersign_core::assessment::Assessment;
use countersign_core::call::ToolCall;
use countersign_core::digest::Digest;
use countersign_core::grant::{Caller, Grant, Scope, candidates};
use countersign_core::id::{ApprovalId, GrantId, KeyId};
use countersign_core::judge::{Judged, judge};
use countersign_core::policy::{Changes, Policy, PolicyRule};
use countersign_core::time::UnixMillis;
use serde_json::{Value, json};

const HERE: &str = "/srv/app";

fn shell(command: &str) -> ToolCall {
    ToolCall::command(command).from_directory(HERE)
}

fn tool(tool: &str, args: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        args,
        ..ToolCall::default()
    }
    .from_directory(HERE)
}

#[test]
fn probe() {
    for command in [
        "rm -rf data",
        "rm -f a.txt",
        "git push --force origin main",
        "git push origin main",
        "npm publish",
        "frob --check a",
        "kill 123",
        "sudo systemctl restart nginx",
        "python3 x.py",
        "bash deploy.sh",
        "python3 -c 'print(1)'",
        "curl -d a=b https://x.example/",
        "terraform destroy",
        "git reset --hard HEAD~1",
        "docker rm -f web",
        "make 2>&1 | tail -5",
        "npm install left-pad",
        "chmod 777 a",
        "psql -c 'delete from t where id=5'",
        "ssh host ls",
        "kubectl delete pod x",
        "cd build && rm -rf out",
        "rm a b",
    ] {
        let call = shell(command);
        let Judged { assessment, ruling } = judge(&Policy::default(), &call);
        eprintln!(
            "{command}: {:?} rule {} risk {} conf {} {:?} dt={} {:?}",
            ruling.verdict,
            ruling.rule.number(),
            assessment.risk,
            assessment.confidence,
            assessment.side_effect,
            assessment.marks.dangerous_terminal,
            assessment
                .findings
                .iter()
                .map(|f| f.code)
                .collect::<Vec<_>>()
        );
        for scope in candidates(&call, &assessment, &ruling) {
            eprintln!("     {}", scope.words());
        }
    }
}
