//! Answers given in the inbox.

use serde_json::json;

use crate::support::{Gateway, RISKY};
use crate::{DOWN, ENTER, ESCAPE, asked, decided, inbox, is_waiting, question};

#[test]
fn a_card_is_opened_read_and_allowed_once() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("1. Allow once");
    let screen = terminal.screen();
    assert!(screen.contains("CRITICAL — deletes /srv/www"), "{screen}");
    assert!(
        screen.contains("❯ 4. Deny"),
        "it starts on the safe side: {screen}"
    );
    terminal.allows_critical();
    terminal.shows("Approved by");
    let decision = decided(&gateway, &agent, &call);
    assert_eq!(decision["status"], "approved", "{decision}");
    assert_eq!(decision["decision"]["choice"], "once");
    terminal.press(ENTER);
    terminal.shows("Nothing waiting.");
}

#[test]
fn a_no_takes_one_key() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    terminal.shows("a number, then Enter, to allow; 4 to deny");
    terminal.press("4");
    terminal.shows("Denied by");
    assert_eq!(decided(&gateway, &agent, &call)["status"], "denied");
}

#[test]
fn a_no_takes_a_note_to_the_agent() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    terminal.press("n");
    terminal.shows("Deny and tell the agent why");
    assert!(is_waiting(&gateway, &agent, &call), "not before the note");
    terminal.press("not 1 of ours");
    terminal.shows("not 1 of ours");
    terminal.press(ENTER);
    terminal.shows("Denied by");
    let decision = decided(&gateway, &agent, &call);
    assert_eq!(decision["status"], "denied");
    assert_eq!(decision["decision"]["note"], "not 1 of ours");
}

#[test]
fn a_long_command_is_opened_in_place_and_read_to_its_end_before_it_can_be_allowed() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let lines: Vec<String> = (0..60)
        .map(|line| format!("rm -rf /srv/part{line}"))
        .collect();
    let lines = lines.join("\n");
    let (call, _) = asked(&gateway, &agent, &lines);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("rm -rf /srv/part0");
    terminal.press(ENTER);
    terminal.armed("Deny");
    terminal.shows("Show full command");
    terminal.press("1");
    terminal.shows("first");
    assert!(
        is_waiting(&gateway, &agent, &call),
        "unread text is not allowed"
    );
    terminal.armed("5. Show full command");
    terminal.press("5");
    terminal.shows_no("Show full command");
    terminal.armed("Deny");
    terminal.press("\u{1b}[F");
    terminal.shows("/srv/part59");
    terminal.allows_critical();
    terminal.shows("Approved by");
    assert_eq!(decided(&gateway, &agent, &call)["status"], "approved");
}

#[test]
fn a_session_is_allowed_by_a_rule_that_was_shown_first() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 100, 30);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("2. Allow for this session");
    terminal.press("2");
    terminal.shows("would have matched");
    assert!(
        is_waiting(&gateway, &agent, &call),
        "not before the rule was read"
    );
    terminal.wait_for("the rule can be taken", |seen| {
        let row = seen.rows().into_iter().find(|row| row.contains("❯ "));
        row.is_some_and(|row| {
            let label: String = row.trim_matches(['│', ' ', '❯']).chars().take(12).collect();
            seen.is_armed(&label)
        })
    });
    terminal.press(ENTER);
    terminal.shows("Approved by");
    assert_eq!(
        decided(&gateway, &agent, &call)["decision"]["choice"],
        "session"
    );
    let grants = gateway.get(&gateway.admin(), "/v1/grants").body;
    assert_eq!(grants["grants"].as_array().unwrap().len(), 1, "{grants}");
}

#[test]
fn a_question_is_answered_by_its_number() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let id = question(&gateway, &agent, &["8080", "9090"]);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("Which port?");
    terminal.press(ENTER);
    terminal.shows("needs your input");
    terminal.armed("2. 9090");
    terminal.press("7");
    terminal.wait_for("the key is noticed", |seen| !seen.is_armed("2. 9090"));
    terminal.armed("2. 9090");
    terminal.press("2");
    let path = format!("/v1/clarifications/{id}?wait_seconds=60");
    let answered = gateway.get(&agent, &path).body;
    assert_eq!(answered["answer"]["choice"], 2, "{answered}");
}

#[test]
fn a_question_is_answered_in_other_words_and_digits_are_text_there() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let id = question(&gateway, &agent, &["8080", "9090"]);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("Which port?");
    terminal.press(ENTER);
    terminal.armed("3. Other (type your answer)");
    terminal.press("3");
    terminal.shows("Other (type below)");
    terminal.press("1234 please");
    terminal.shows("1234 please");
    terminal.press(ENTER);
    let path = format!("/v1/clarifications/{id}?wait_seconds=60");
    let answered = gateway.get(&agent, &path).body;
    assert_eq!(answered["answer"]["text"], "1234 please", "{answered}");
}

#[test]
fn a_burst_of_keys_as_the_card_appears_answers_nothing_then_or_later() {
    let gateway = Gateway::start();
    let agent = gateway.named_key("robot", "agent");
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("Nothing waiting.");
    let (call, _) = asked(&gateway, &agent, RISKY);
    // Somebody is typing while it comes, and goes on.
    terminal.press("111");
    terminal.shows("robot · 1 waiting");
    terminal.press("\r1111111111");
    terminal.armed("1. Allow once");
    assert!(is_waiting(&gateway, &agent, &call), "nothing is allowed");
    terminal.press(ESCAPE);
    terminal.shows("Enter open");
    assert!(is_waiting(&gateway, &agent, &call), "nothing was queued");
    terminal.press("1111\r");
    terminal.armed("1. Allow once");
    assert!(is_waiting(&gateway, &agent, &call));
}

#[test]
fn a_card_that_is_answered_elsewhere_says_by_whom() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let ana = gateway.named_key("ana", "approver");
    let (call, approval) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    let said = gateway.resolve(&ana, &approval, "deny");
    assert_eq!(said.status, 200, "{said:?}");
    terminal.shows("Denied by ana");
    terminal.shows_no("1. Allow once");
    terminal.press("1");
    terminal.press(ENTER);
    terminal.shows("Nothing waiting.");
    assert_eq!(decided(&gateway, &agent, &call)["decision"]["by"], "ana");
}

#[test]
fn a_card_outlives_the_gateway_and_is_answered_when_it_is_back() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 30);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("1. Allow once");
    // It comes back at another port, and is found there.
    let gateway = gateway.killed_and_restarted_after(|| {
        terminal.shows("Calls are being refused");
        assert!(terminal.screen().contains(RISKY), "the card stays");
    });
    terminal.shows_no("Calls are being refused");
    terminal.allows_critical();
    terminal.shows("Approved by");
    assert_eq!(decided(&gateway, &agent, &call)["status"], "approved");
}

#[test]
fn escape_never_answers_and_never_leaves() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    terminal.press(ESCAPE);
    terminal.shows("Enter open");
    terminal.press("/nowhere");
    terminal.shows("No matches.");
    terminal.press(ESCAPE);
    terminal.shows(RISKY);
    assert!(is_waiting(&gateway, &agent, &call));
}

#[test]
fn what_is_filtered_and_selected_is_denied_together_and_nothing_else() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let calls: Vec<String> = ["one", "two", "three"]
        .map(|name| format!("rm -rf /srv/data/{name}"))
        .into_iter()
        .chain([RISKY.to_owned()])
        .map(|command| asked(&gateway, &agent, &command).0)
        .collect();
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("4 × rm -rf /srv/");
    terminal.press("/srv/data\r");
    terminal.shows("3 × rm -rf /srv/data/");
    terminal.press("X");
    terminal.shows("3 selected");
    terminal.press("d");
    terminal.shows("Tell the agent why");
    terminal.press("keep the data");
    terminal.press(ENTER);
    terminal.shows("Denied: 3 calls.");
    for call in calls.iter().take(3) {
        let decision = decided(&gateway, &agent, call);
        assert_eq!(decision["decision"]["note"], "keep the data");
    }
    assert!(is_waiting(&gateway, &agent, &calls[3]));
    terminal.press(ESCAPE);
    terminal.shows(RISKY);
}

#[test]
fn a_batch_allows_what_is_harmless_once_and_leaves_the_rest() {
    let config = "approvals: { ask: [ { command: echo } ] }\n";
    let gateway = Gateway::configured(config);
    let agent = gateway.key("agent");
    let (harmless, _) = asked(&gateway, &agent, "echo one");
    let (dangerous, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows("echo one");
    terminal.shows(RISKY);
    terminal.press("Xa");
    terminal.shows("Allow 1 call once? 1 of higher risk stays");
    terminal.armed("1. Allow 1 call once");
    terminal.press("1");
    terminal.shows("Allowed once: 1 call.");
    let decision = decided(&gateway, &agent, &harmless);
    assert_eq!(decision["decision"]["choice"], "once");
    assert!(is_waiting(&gateway, &agent, &dangerous));
    terminal.press(DOWN);
    terminal.press("a");
    terminal.shows("Only low and medium risk can be allowed from the list.");
}

#[test]
fn an_answer_that_is_held_is_taken_back() {
    let gateway = Gateway::configured("approvals: { undo_seconds: 60 }\n");
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 80, 24);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.allows_critical();
    terminal.shows("z to undo");
    terminal.press("z");
    terminal.armed("1. Allow once");
    assert!(is_waiting(&gateway, &agent, &call));
    assert_eq!(
        gateway.get(&gateway.admin(), "/v1/grants").body["grants"],
        json!([])
    );
}

#[test]
fn a_card_is_given_more_time_where_the_owner_allows_it() {
    let gateway = Gateway::configured("approvals: { timeout: 10m, extend_max: 15m }\n");
    let agent = gateway.key("agent");
    let (call, approval) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 100, 32);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.shows("(+ adds 10 min)");
    terminal.press("+");
    terminal.shows("(+ adds 5 min)");
    terminal.shows("expires in 19 min");
    // Somebody else uses up what is left; nothing is offered any more.
    let path = format!("/v1/approvals/{approval}/extend");
    let ana = gateway.named_key("ana", "approver");
    assert_eq!(gateway.post(&ana, &path, &json!({})).status, 200);
    terminal.shows_no("+ adds");
    terminal.shows("expires in 24 min");
    terminal.press("+");
    terminal.shows("No more time can be added.");
    assert!(is_waiting(&gateway, &agent, &call));
    terminal.press(ESCAPE);
    terminal.shows("24 min");
}

#[test]
fn an_edited_command_is_judged_again_and_allowed_as_edited() {
    let gateway = Gateway::start();
    let agent = gateway.key("agent");
    let (call, _) = asked(&gateway, &agent, RISKY);
    let mut terminal = inbox(&gateway, 100, 32);
    terminal.shows(RISKY);
    terminal.press(ENTER);
    terminal.armed("4. Deny");
    terminal.press("e");
    terminal.shows("Edit `command`");
    terminal.press("/cache1");
    terminal.shows("❯ rm -rf /srv/www/cache1");
    terminal.press(ENTER);
    terminal.shows("Edited call");
    terminal.shows("│ + command: rm -rf /srv/www/cache1");
    // Back to the text, and forth again: nothing is answered by that.
    terminal.press(ESCAPE);
    terminal.shows("Edit `command`");
    assert!(is_waiting(&gateway, &agent, &call));
    terminal.press(ENTER);
    terminal.armed("1. Allow once");
    terminal.allows_critical();
    terminal.shows("with edited arguments");
    let decision = decided(&gateway, &agent, &call);
    let args = json!({ "command": "rm -rf /srv/www/cache1" });
    assert_eq!(decision["decision"]["args"], args, "{decision}");
}
