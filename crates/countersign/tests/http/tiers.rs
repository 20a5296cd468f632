//! Tier T2: the gateway under a user of its own. An agent under another user can ask through the
//! socket, which knows who it is, and can neither read nor change nor stop anything else.

use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::support::{Gateway, RISKY, shell};

/// Users who own nothing, and are not each other.
const GATEWAY: u32 = 64_001;
const AGENT: u32 = 64_002;

/// What an agent may try, and whether the gateway's own user could do it: a try that nobody can
/// make work would prove nothing. `$home` is the gateway's home, `$pid` its process. Attaching a
/// debugger passes the same check of the kernel as opening the memory.
#[rustfmt::skip]
const ATTEMPTS: &[(&str, &str, bool)] = &[
    ("list the home",                     "ls $home",                                     true),
    ("read the key of the command line",  "cat $home/cli.key",                            true),
    ("read the key of tokens",            "cat $home/signing.key",                        true),
    ("read the database",                 "head -c 16 $home/countersign.db",              true),
    ("read what was just written",        "head -c 16 $home/countersign.db-wal",          true),
    ("read the policy",                   "cat $home/config.yaml",                        true),
    ("change the policy",                 "echo >> $home/config.yaml && echo changed",    true),
    ("make a key of its own",             "$countersign keys create --home $home --role admin --name me", true),
    ("answer with the owner's key",       "$countersign approvals --json --home $home",   true),
    ("open the memory",                   "head -c 0 /proc/$pid/mem && echo opened",      false),
    ("read the environment",              "cat /proc/$pid/environ",                       false),
    ("see the open files",                "ls /proc/$pid/fd",                             false),
    ("signal the process",                "kill -0 $pid && echo reached",                 true),
    ("put another home in its place",     "mv $home $home.old && echo moved",             false),
];

/// Sends standard input through a socket and prints what comes back.
const THROUGH_SOCKET: &str = "use Socket; local $/; socket(S, PF_UNIX, SOCK_STREAM, 0) or die $!; \
    connect(S, sockaddr_un($ARGV[0])) or die qq($!\n); syswrite(S, <STDIN>); print <S>;";

#[test]
fn t2_an_agent_under_another_user_can_ask_and_nothing_else() {
    if !rustix::process::geteuid().is_root() {
        countersign_testkit::skipped("only root can run a gateway and an agent as two other users");
        return;
    }
    let gateway = Gateway::under(GATEWAY, "socket_access: everyone");
    let home = gateway.home();
    let (binary, socket, process) = gateway.seen_by_others();
    let as_user = |uid: u32, script: &str| -> Output {
        Command::new("sh")
            .args(["-c", script])
            .uid(uid)
            .gid(uid)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("home", &home)
            .env("pid", process.to_string())
            .env("countersign", &binary)
            .current_dir("/")
            .output()
            .unwrap()
    };
    for (name, script, owner_can) in ATTEMPTS {
        let tried = as_user(AGENT, script);
        assert!(!tried.status.success(), "an agent can {name}: {tried:?}");
        assert_eq!(tried.stdout, b"", "an agent can {name}");
        let tried = as_user(GATEWAY, script);
        assert_eq!(tried.status.success(), *owner_can, "{name}: {tried:?}");
    }

    let ask = |method: &str, path: &str, body: &Value| through_socket(&socket, method, path, body);
    let (status, who) = ask("GET", "/v1/whoami", &Value::Null);
    assert_eq!(status, 200, "{who}");
    let expected = json!(["socket:uid64002", "agent", "socket", "T2"]);
    assert_eq!(
        json!([who["name"], who["role"], who["via"], who["tier"]]),
        expected
    );
    let (status, call) = ask("POST", "/v1/calls", &shell(RISKY));
    assert_eq!(status, 202, "{call}");
    let approval = call["approval_id"].as_str().unwrap();
    let resolve = format!("/v1/approvals/{approval}/resolve");
    let (status, refused) = ask("POST", &resolve, &json!({ "choice": "once" }));
    assert_eq!(status, 404, "the socket has no way to answer: {refused}");
    let (status, refused) = ask(
        "POST",
        "/v1/keys",
        &json!({ "name": "me", "role": "admin" }),
    );
    assert_eq!(status, 404, "nor to make keys: {refused}");

    // A person answers, and the token says under which tier the call was asked.
    assert_eq!(
        gateway.resolve(&gateway.admin(), approval, "once").status,
        200
    );
    let path = format!("/v1/calls/{}", call["call_id"].as_str().unwrap());
    let (_, approved) = ask("GET", &path, &Value::Null);
    let token = approved["token"].as_str().unwrap();
    let claims = BASE64_URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap());
    let claims: Value = serde_json::from_slice(&claims.unwrap()).unwrap();
    assert_eq!(claims["tier"], "T2", "{claims}");
}

/// Sends a request as the agent's user.
fn through_socket(socket: &Path, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: agents\r\nconnection: close\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut child = Command::new("perl")
        .args(["-e", THROUGH_SOCKET])
        .arg(socket)
        .uid(AGENT)
        .gid(AGENT)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), request.as_bytes()).unwrap();
    let answer = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, serde_json::from_str(body).unwrap_or(Value::Null))
}
