//! The page and its cookie: signed in once, and nobody else's page can use it.

use serde_json::json;

use crate::support::{Gateway, RISKY, heard, said};

/// Signs a browser in and returns its cookie.
fn sign_in(gateway: &Gateway) -> String {
    let link = gateway.login_url.clone().unwrap();
    let (page, code) = link.split_once("#code=").unwrap();
    assert_eq!(page, format!("{}/", gateway.url));
    let request = gateway
        .request("POST", "/v1/login")
        .json(&json!({ "code": code }));
    let response = request.header("origin", &gateway.url).send().unwrap();
    let cookie = response.headers()["set-cookie"]
        .to_str()
        .unwrap()
        .to_owned();
    let who = heard(response);
    assert_eq!((who.status, &who.body["role"]), (200, &json!("admin")));
    for part in ["Path=/", "HttpOnly", "SameSite=Strict"] {
        assert!(cookie.split("; ").any(|it| it == part), "{cookie}");
    }
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn the_link_works_once_and_signing_out_ends_it() {
    let gateway = Gateway::start();
    let cookie = sign_in(&gateway);
    let whoami = || {
        said(
            gateway
                .request("GET", "/v1/whoami")
                .header("cookie", &cookie),
        )
    };
    assert_eq!(whoami().body["via"], "page");
    let code = gateway.login_url.clone().unwrap();
    let code = json!({ "code": code.split_once("#code=").unwrap().1 });
    let again = said(gateway.request("POST", "/v1/login").json(&code));
    assert_eq!((again.status, again.code()), (401, "invalid_code"));
    let out = gateway
        .request("POST", "/v1/logout")
        .header("cookie", &cookie)
        .header("origin", &gateway.url);
    assert_eq!(out.send().unwrap().status().as_u16(), 204);
    assert_eq!(whoami().status, 401);
}

#[test]
fn a_cookie_answers_only_from_the_gateways_own_page() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let cookie = sign_in(&gateway);
    let approval = gateway.ask(&agent, RISKY);
    let path = format!("/v1/approvals/{approval}/resolve");
    let post = |headers: &[(&str, &str)], kind: &str| {
        let mut request = gateway
            .request("POST", &path)
            .header("cookie", &cookie)
            .header("content-type", kind)
            .body(r#"{"choice":"once"}"#);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        said(request)
    };
    let json_type = "application/json";
    let by_name = gateway.url.replace("127.0.0.1", "localhost");
    let foreign: &[(&str, &[(&str, &str)])] = &[
        ("no origin", &[]),
        ("another site", &[("origin", "http://evil.test")]),
        ("another port", &[("origin", "http://127.0.0.1:1")]),
        ("another name for this machine", &[("origin", &by_name)]),
        ("a sandbox", &[("origin", "null")]),
        ("by the browser's word", &[("sec-fetch-site", "cross-site")]),
        (
            "another port, by the browser's word",
            &[("sec-fetch-site", "same-site")],
        ),
    ];
    for (name, headers) in foreign {
        let refused = post(headers, json_type);
        assert_eq!(
            (refused.status, refused.code()),
            (403, "cross_origin"),
            "{name}"
        );
    }
    let own = &[("origin", gateway.url.as_str())];
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        assert_eq!(post(own, kind).status, 415, "{kind}");
    }
    let answered = post(own, json_type);
    assert_eq!(answered.status, 200, "{answered:?}");
    assert_eq!(answered.body["decision"]["via"], "page");
}

#[test]
fn a_foreign_page_cannot_sign_a_browser_in() {
    let gateway = Gateway::start();
    let link = gateway.login_url.clone().unwrap();
    let code = json!({ "code": link.split_once("#code=").unwrap().1 });
    let request = gateway.request("POST", "/v1/login").json(&code);
    let refused = said(request.header("origin", "http://evil.test"));
    assert_eq!((refused.status, refused.code()), (403, "cross_origin"));
}

/// The addresses of the page's files, as its own list says.
fn addresses(gateway: &Gateway) -> Vec<String> {
    let list = gateway.request("GET", "/files.json").send().unwrap();
    let addresses: Vec<String> = serde_json::from_str(&list.text().unwrap()).unwrap();
    assert!(addresses.len() > 10, "{addresses:?}");
    addresses
}

#[test]
fn every_answer_keeps_a_browser_in_check() {
    let gateway = Gateway::start();
    let mut paths = addresses(&gateway);
    paths.extend(["/health", "/v1/approvals", "/nothing"].map(str::to_owned));
    for path in &paths {
        let answer = gateway.request("GET", path).send().unwrap();
        let header = |name: &str| answer.headers()[name].to_str().unwrap();
        assert_eq!(header("x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header("x-frame-options"), "DENY", "{path}");
        assert_eq!(header("referrer-policy"), "no-referrer", "{path}");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(
            policy.contains("frame-ancestors 'none'"),
            "{path}: {policy}"
        );
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert!(answer.headers().contains_key("x-request-id"), "{path}");
    }
    let page = gateway.request("GET", "/").send().unwrap().text().unwrap();
    assert!(page.contains("<script type=\"module\" src=\"/page-"));
    assert_eq!(
        page.matches("<script").count(),
        1,
        "no script in the page itself"
    );
    for path in paths.iter().filter(|path| has_ending(path, "js")) {
        let script = gateway.request("GET", path).send().unwrap().text().unwrap();
        for word in [
            "innerHTML",
            "outerHTML",
            "insertAdjacentHTML",
            "document.write",
            "eval(",
            "importScripts",
        ] {
            assert!(!script.contains(word), "{path}: {word}");
        }
    }
}

fn has_ending(path: &str, ending: &str) -> bool {
    path.rsplit_once('.').is_some_and(|(_, it)| it == ending)
}

#[test]
fn a_browser_keeps_what_cannot_change_and_asks_again_for_the_rest() {
    let gateway = Gateway::start();
    for path in addresses(&gateway) {
        let get = || gateway.request("GET", &path);
        let plain = get().send().unwrap();
        let header = |name: &str| plain.headers()[name].to_str().unwrap().to_owned();
        let (caching, tag) = (header("cache-control"), header("etag"));
        let is_script = has_ending(&path, "js") || has_ending(&path, "css");
        // Browsers look for a new worker under the same name.
        let expected = if is_script && path != "/worker.js" {
            "public, max-age=31536000, immutable"
        } else {
            "no-cache"
        };
        assert_eq!(caching, expected, "{path}");
        assert_eq!(header("vary"), "origin, accept-encoding", "{path}");
        assert!(!plain.headers().contains_key("content-encoding"), "{path}");
        let plain = plain.bytes().unwrap();
        let known = get().header("if-none-match", &tag).send().unwrap();
        assert_eq!(known.status().as_u16(), 304, "{path}");
        assert_eq!(known.headers()["etag"].to_str().unwrap(), tag, "{path}");
        assert!(known.bytes().unwrap().is_empty(), "{path}");
        let other = get().header("if-none-match", "W/\"other\"").send().unwrap();
        assert_eq!(other.status().as_u16(), 200, "{path}");
        let packed = get().header("accept-encoding", "br, gzip").send().unwrap();
        assert_eq!(packed.headers()["content-encoding"], "gzip", "{path}");
        assert_eq!(unpacked(&packed.bytes().unwrap()), plain, "{path}");
    }
}

/// Returns what a gzip file of ours holds.
fn unpacked(packed: &[u8]) -> Vec<u8> {
    assert_eq!(packed[..3], [0x1f, 0x8b, 8]);
    miniz_oxide::inflate::decompress_to_vec(&packed[10..packed.len() - 8]).unwrap()
}

#[test]
fn a_long_list_is_compressed_for_who_asks_and_a_stream_never() {
    let gateway = Gateway::start();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    gateway.ask(&agent, RISKY);
    let get = |path: &str| {
        let request = gateway.request("GET", path).bearer_auth(&admin);
        request.header("accept-encoding", "gzip").send().unwrap()
    };
    let list = get("/v1/approvals");
    assert_eq!(list.headers()["content-encoding"], "gzip");
    let list: serde_json::Value =
        serde_json::from_slice(&unpacked(&list.bytes().unwrap())).unwrap();
    assert_eq!(list, gateway.get(&admin, "/v1/approvals").body);
    for path in ["/v1/whoami", "/v1/events", "/openapi.json"] {
        let answer = get(path);
        assert!(!answer.headers().contains_key("content-encoding"), "{path}");
    }
}

#[test]
fn the_page_can_be_installed() {
    let gateway = Gateway::start();
    let get = |path: &str| gateway.request("GET", path).send().unwrap();
    let page = get("/").text().unwrap();
    let manifest = "manifest.webmanifest";
    assert!(page.contains(&format!("rel=\"manifest\" href=\"/{manifest}\"")));
    assert!(page.contains("rel=\"apple-touch-icon\" href=\"/icon-apple.png\""));
    let manifest: serde_json::Value = get(&format!("/{manifest}")).json().unwrap();
    assert_eq!(manifest["display"], "standalone");
    let icons = manifest["icons"].as_array().unwrap();
    assert!(icons.iter().any(|it| it["purpose"] == "maskable"));
    let others = ["/icon-apple.png", "/icon-badge.png", "/worker.js"].map(str::to_owned);
    let icons = icons
        .iter()
        .map(|it| it["src"].as_str().unwrap().to_owned());
    for path in icons.chain(others) {
        let answer = get(&path);
        assert_eq!(answer.status().as_u16(), 200, "{path}");
        let kind = answer.headers()["content-type"]
            .to_str()
            .unwrap()
            .to_owned();
        let wanted = match path.rsplit_once('.').unwrap().1 {
            "svg" => "image/svg+xml",
            "png" => "image/png",
            _ => "text/javascript; charset=utf-8",
        };
        assert_eq!(kind, wanted, "{path}");
    }
}

#[test]
fn only_listed_origins_may_read_and_never_with_the_cookie() {
    let gateway = Gateway::configured("api: {origins: ['https://inbox.example.org']}\n");
    let admin = gateway.admin();
    let preflight = |origin: &str| {
        let request = gateway
            .request("OPTIONS", "/v1/events")
            .header("origin", origin)
            .header("access-control-request-method", "GET")
            .header("access-control-request-headers", "authorization");
        request.send().unwrap()
    };
    let listed = preflight("https://inbox.example.org");
    assert_eq!(listed.status().as_u16(), 204);
    assert_eq!(
        listed.headers()["access-control-allow-origin"],
        "https://inbox.example.org"
    );
    let allowed = listed.headers()["access-control-allow-headers"]
        .to_str()
        .unwrap();
    for name in [
        "authorization",
        "content-type",
        "idempotency-key",
        "last-event-id",
    ] {
        assert!(allowed.contains(name), "{allowed}");
    }
    assert!(
        !listed
            .headers()
            .contains_key("access-control-allow-credentials")
    );
    let unlisted = preflight("https://evil.test");
    assert_eq!(unlisted.status().as_u16(), 403);
    assert!(
        !unlisted
            .headers()
            .contains_key("access-control-allow-origin")
    );
    // Streams of events are read by other pages, too.
    let stream = gateway
        .request("GET", "/v1/events")
        .bearer_auth(&admin)
        .header("origin", "https://inbox.example.org")
        .send()
        .unwrap();
    assert_eq!(
        stream.headers()["access-control-allow-origin"],
        "https://inbox.example.org"
    );
}

#[test]
fn a_practice_card_is_answered_and_nobody_can_run_it() {
    let gateway = Gateway::start();
    let admin = gateway.admin();
    let asked = gateway.post(&admin, "/v1/practice", &json!({}));
    assert_eq!(asked.status, 202, "{asked:?}");
    let approval = asked.body["approval_id"].as_str().unwrap();
    let shown = gateway
        .get(&admin, &format!("/v1/approvals/{approval}"))
        .body;
    let explanation = shown["card"]["explanation"].as_str().unwrap();
    assert!(explanation.contains("Nothing runs"), "{explanation}");
    let answered = gateway.resolve(&admin, approval, "always");
    assert_eq!(answered.body["decision"]["outcome"], "approved");
    let agent = gateway.key("agent");
    let path = format!("/v1/calls/{}", asked.body["call_id"].as_str().unwrap());
    assert_eq!(gateway.get(&agent, &path).status, 404, "no agent sees it");
    assert!(gateway.get(&admin, &path).body["token"].is_null());
    // What it leaves covers nobody, not even the next practice card.
    let again = gateway.post(&admin, "/v1/practice", &json!({}));
    assert_eq!(again.body["status"], "waiting");
    // It is no call of an agent, and no statistics count it.
    let stats = || gateway.get(&admin, "/v1/stats").body;
    let counted = stats();
    assert_eq!(counted["calls"], 0, "{counted}");
    assert_eq!(counted["answers"]["count"], 0, "{counted}");
    assert_eq!(counted["agents"], json!([]), "{counted}");
    gateway.submit(&agent, "ls");
    assert_eq!(stats()["calls"], 1);
}

#[test]
fn the_inbox_has_rows_and_pages_of_them() {
    let gateway = Gateway::start();
    let (admin, agent) = (gateway.admin(), gateway.key("agent"));
    let long = format!("{RISKY} {}", "x".repeat(20_000));
    let first = gateway.ask(&agent, &long);
    let second = gateway.ask(&agent, "kubectl delete deployment api");
    let answered = gateway.ask(&agent, "systemctl restart nginx");
    gateway.resolve(&admin, &answered, "deny");
    let page = gateway.get(&admin, "/v1/inbox?limit=1").body;
    assert_eq!(page["approvals"][0]["approval_id"], second.as_str());
    let behind = page["next"].as_str().unwrap();
    let rest = gateway.get(&admin, &format!("/v1/inbox?behind={behind}"));
    let rows = rest.body["approvals"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "what was answered is not in it");
    assert_eq!(rest.body["next"], json!(null));
    let (row, full) = (
        &rows[0],
        gateway.get(&admin, &format!("/v1/approvals/{first}")),
    );
    assert_eq!(row["approval_id"], first.as_str());
    for key in [
        "status",
        "session_id",
        "created_at",
        "expires_at",
        "fold_key",
    ] {
        assert_eq!(row[key], full.body[key], "{key}");
    }
    assert!(row["command"].as_str().unwrap().starts_with(RISKY));
    assert!(row.to_string().len() < 3000 && full.body.to_string().len() > 40_000);
}

#[test]
fn a_viewer_signs_in_and_reads_the_rules_without_secrets() {
    let gateway = Gateway::configured(
        "approvals: {deny: ['rm -rf /data']}\n\
         api: {hosts: ['gate.example.org']}\n\
         contacts: {boss: boss@example.org}\n\
         crisis: {notice: 'token ghp_16C7e42F292c6912E7710c838347Ae178B4a'}\n",
    );
    let viewer = gateway.key("viewer");
    let offered = gateway.post(&viewer, "/v1/login/code", &json!({}));
    let code = json!({ "code": offered.body["code"] });
    let request = gateway.request("POST", "/v1/login").json(&code);
    let who = said(request.header("origin", &gateway.url));
    assert_eq!((who.status, &who.body["role"]), (200, &json!("viewer")));
    let rules = gateway.get(&viewer, "/v1/rules").body;
    let key = |name: &str| {
        let keys = rules["keys"].as_array().unwrap();
        keys.iter().find(|it| it["key"] == name).cloned()
    };
    assert_eq!(
        key("approvals.deny").unwrap()["value"],
        json!(["rm -rf /data"])
    );
    assert_eq!(key("approvals.deny").unwrap()["is_default"], false);
    assert_eq!(key("approvals.mode").unwrap()["is_default"], true);
    assert!(key("contacts").is_none() && key("people").is_none());
    assert_eq!(rules["order"].as_array().unwrap().len(), 12);
    assert!(!rules.to_string().contains("ghp_"), "{rules}");
}

#[test]
fn the_page_is_read_from_a_folder_while_it_is_worked_on() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("index.html"), "<title>mine</title>").unwrap();
    let gateway = Gateway::serving(&["--web-dir", folder.path().to_str().unwrap()]);
    let answer = gateway.request("GET", "/").send().unwrap();
    let policy = answer.headers()["content-security-policy"]
        .to_str()
        .unwrap();
    assert!(
        policy.ends_with("trusted-types countersign-worker"),
        "{policy}"
    );
    assert_eq!(answer.text().unwrap(), "<title>mine</title>");
    for path in [
        "/page-AB12CD34.js",
        "/.hidden",
        "/..%2findex.html",
        "/%2e%2e%2fkey",
    ] {
        let missing = said(gateway.request("GET", path));
        assert_eq!(
            (missing.status, missing.code()),
            (404, "page_not_found"),
            "{path}"
        );
    }
}
