//! Key and event tests of the inbox.

use super::*;

#[test]
fn it_follows_events_before_it_asks_for_lists() {
    let mut inbox = Inbox::new(Theme::COLOURED, Bell::Rings, String::new());
    let wishes = inbox.begin(START);
    let path = "/v1/events".to_owned();
    assert_eq!(wishes.first(), Some(&Wish::Follow { path }));
    assert!(wishes.len() > 4, "{wishes:?}");
}

#[test]
fn a_new_card_is_listed_fetched_and_rung_for_once_per_burst() {
    let mut shown = Shown::with(&[]);
    shown.wishes.clear();
    let card = approval("appr_1", "run_7", "high", "rm -rf /srv/www");
    shown.happens(required(&card));
    assert_eq!(shown.bells(), 1);
    assert!(
        shown
            .wishes
            .contains(&Wish::Title("(1) countersign".to_owned()))
    );
    assert_eq!(shown.sent()[0].0, "/v1/approvals/appr_1");
    assert!(shown.text().contains("rm -rf /srv/www"));
    shown.happens(required(&approval(
        "appr_2",
        "run_7",
        "high",
        "rm -rf /srv/b",
    )));
    assert_eq!(shown.bells(), 0, "that was the same burst");
    shown.answer("card", "appr_1", &card);
    assert_eq!(
        shown.sent()[0].0,
        "/v1/approvals/appr_2",
        "one after the other"
    );
    shown.wait(10_000);
    shown.happens(required(&approval(
        "appr_3",
        "run_7",
        "high",
        "rm -rf /srv/c",
    )));
    assert_eq!(shown.bells(), 1, "that was another");
}

#[test]
fn many_new_cards_are_fetched_as_one_list() {
    let mut shown = Shown::with(&[]);
    shown.wishes.clear();
    for number in 0..50 {
        let id = format!("appr_{number}");
        shown.happens(required(&approval(&id, "run_7", "high", &id)));
    }
    shown.answer(
        "card",
        "appr_0",
        &approval("appr_0", "run_7", "high", "appr_0"),
    );
    let sent = shown.sent();
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(
        sent[1].0.starts_with("/v1/approvals?status=waiting"),
        "{sent:?}"
    );
}

#[test]
fn what_was_settled_does_not_come_back_with_a_list_that_was_on_its_way() {
    let card = approval("appr_1", "run_7", "high", "rm -rf /srv/www");
    let mut shown = Shown::with(std::slice::from_ref(&card));
    let resolved =
        json!({ "event": "approval.resolved", "approval_id": "appr_1", "outcome": "denied" });
    shown.happens(resolved);
    shown.tell(News::Back);
    shown.answer("waiting", "", &json!({ "approvals": [card], "next": null }));
    assert!(
        shown.text().contains("Nothing waiting."),
        "{}",
        shown.text()
    );
}

#[test]
fn a_list_of_several_pages_is_read_to_its_end() {
    let mut shown = Shown::with(&[]);
    shown.tell(News::Back);
    shown.wishes.clear();
    let first = approval("appr_1", "run_7", "high", "one");
    shown.answer(
        "waiting",
        "",
        &json!({ "approvals": [first], "next": "12.appr_1" }),
    );
    let sent = shown.sent();
    assert!(sent[0].0.ends_with("&behind=12.appr_1"), "{sent:?}");
    let second = approval("appr_2", "run_8", "high", "two");
    shown.answer(
        "waiting",
        "12.appr_1",
        &json!({ "approvals": [second], "next": null }),
    );
    let text = shown.text();
    assert!(text.contains("one") && text.contains("two"), "{text}");
}

#[test]
fn digits_and_enter_in_a_list_answer_nothing() {
    let mut shown = busy();
    shown.wait(10_000);
    shown.wishes.clear();
    shown.type_in("123456789 y");
    shown.press(KeyCode::Enter);
    shown.type_in("1");
    assert_eq!(shown.sent(), []);
}

#[test]
fn a_card_with_the_keys_answers_once_it_was_read() {
    let mut shown = Shown::with(&[approval("appr_1", "run_7", "low", "echo")]);
    shown.wait(60_000);
    shown.wishes.clear();
    shown.press(KeyCode::Enter);
    shown.type_in("1");
    assert_eq!(shown.sent(), [], "it was not read yet");
    shown.wait(1_000);
    shown.type_in("1");
    let sent = shown.sent();
    assert_eq!(
        sent,
        [(
            "/v1/approvals/appr_1/resolve".to_owned(),
            json!({ "choice": "once" })
        )]
    );
}

#[test]
fn a_card_beside_the_list_must_be_read_anew_when_it_gets_the_keys() {
    let mut shown = Shown::with(&[approval("appr_1", "run_7", "low", "echo")]);
    shown.size = (140, 30);
    shown.wait(60_000);
    shown.wishes.clear();
    shown.press(KeyCode::Enter);
    shown.wait(400);
    shown.type_in("1");
    assert_eq!(shown.sent(), []);
}

#[test]
fn what_does_not_fit_the_window_is_not_answered() {
    let mut shown = Shown::with(&[approval("appr_1", "run_7", "low", "echo")]);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    shown.wishes.clear();
    shown.size = (10, 3);
    shown.wait(10_000);
    shown.type_in("1");
    assert_eq!(shown.sent(), [], "it is not on the screen");
    shown.size = (80, 24);
    shown.wait(1);
    shown.type_in("1");
    assert_eq!(shown.sent(), [], "it was not read since");

    let mut shown = busy();
    shown.press(KeyCode::End);
    shown.press(KeyCode::Up);
    shown.type_in("a");
    shown.wishes.clear();
    for size in [(80, 6), (25, 8), (10, 3)] {
        shown.size = size;
        shown.wait(10_000);
        shown.type_in("1");
        assert_eq!(shown.sent(), [], "{size:?}: {}", shown.text());
    }
    shown.size = (80, 24);
    shown.wait(1);
    shown.wait(1_000);
    shown.type_in("1");
    assert_eq!(shown.sent().len(), 1);
}

#[test]
fn rows_that_come_do_not_move_the_one_a_person_is_on() {
    let mut shown = busy();
    shown.press(KeyCode::Down);
    let place = |shown: &mut Shown| shown.text().lines().position(|row| row.contains('❯'));
    let (before, row) = (place(&mut shown), shown.row_with("❯"));
    for number in 4..9 {
        let id = format!("appr_{number}");
        shown.answer(
            "card",
            &id,
            &approval(&id, "run_7", "low", "another of the first run"),
        );
        let crisis = approval(&format!("{id}c"), "run_7", "critical", "reply");
        shown.answer("card", &id, &crisis);
    }
    assert_eq!(shown.row_with("❯"), row);
    assert_eq!(place(&mut shown), before);
}

#[test]
fn cards_without_a_fold_key_are_never_folded() {
    // A crisis card has none; an older gateway does not send the field.
    for is_sent in [true, false] {
        let mut cards = ["one", "two", "three"].map(|name| {
            let command = format!("reply {name}");
            approval(&format!("appr_{name}"), "run_7", "critical", &command)
        });
        for card in &mut cards {
            let fields = card.as_object_mut().unwrap();
            fields.remove("fold_key");
            if is_sent {
                fields.insert("fold_key".to_owned(), Value::Null);
                card["assessment"]["crisis_sensitive"] = json!(true);
            }
        }
        let mut shown = Shown::with(&cards);
        let text = shown.text();
        for name in ["reply one", "reply two", "reply three"] {
            assert!(text.contains(name), "{text}");
        }
        assert!(!text.contains('×'), "{text}");
    }
}

#[test]
fn three_with_one_fold_key_are_one_row_and_two_are_not() {
    let mut other_key = approval("appr_2", "run_7", "high", "write docs/b.md");
    other_key["fold_key"] = json!("another");
    let mut shown = Shown::with(&[
        approval("appr_1", "run_7", "high", "write docs/a.md"),
        other_key,
        approval("appr_3", "run_7", "high", "write docs/c.md"),
    ]);
    assert!(!shown.text().contains('×'), "{}", shown.text());
    let third = approval("appr_4", "run_7", "high", "write docs/d.md");
    shown.answer("card", "appr_4", &third);
    let text = shown.text();
    assert!(text.contains("▸ 3 × write docs/…"), "{text}");
    assert!(text.contains("write docs/b.md"), "{text}");
}

#[test]
fn a_call_without_a_command_is_listed_in_words_and_found_by_its_arguments() {
    let mut card = approval(
        "appr_1",
        "run_7",
        "high",
        "write_file {\"path\":\"/etc/motd\"}",
    );
    card["tool"] = json!("write_file");
    card["card"]["title"] = json!("Write /etc/motd ⟨U+202E⟩");
    let mut shown = Shown::with(&[card]);
    assert!(
        shown.row_with("❯").contains("Write /etc/motd ⟨U+202E⟩"),
        "{}",
        shown.text()
    );
    shown.type_in("/path");
    assert!(shown.row_with("❯").contains("Write /etc/motd"));
}

#[test]
fn a_batch_denies_anything_with_one_note() {
    let mut shown = busy();
    shown.wishes.clear();
    shown.type_in("xd");
    assert!(shown.text().contains("Deny 3 calls."), "{}", shown.text());
    shown.type_in("no");
    shown.press(KeyCode::Enter);
    let body = json!({ "choice": "deny", "note": "no" });
    let wanted = ["appr_1", "appr_2", "appr_2b"]
        .map(|id| (format!("/v1/approvals/{id}/resolve"), body.clone()));
    assert_eq!(shown.sent(), wanted);
    shown.answer("batch", "appr_1", &json!({}));
    let late = json!({ "error": { "message": "it is answered" } });
    shown.answer_with("batch", "appr_2", 409, &late);
    shown.answer("batch", "appr_2b", &json!({}));
    let text = shown.text();
    assert!(
        text.contains("Denied: 2 calls. Already answered: 1."),
        "{text}"
    );
}

#[test]
fn a_batch_allows_low_and_medium_once_after_a_question_that_was_read() {
    let mut shown = busy();
    shown.wishes.clear();
    shown.press(KeyCode::Char('x'));
    shown.press(KeyCode::Down);
    shown.type_in("xa");
    let text = shown.text();
    assert!(
        text.contains("Allow 1 call once? 3 of higher risk stay"),
        "{text}"
    );
    assert!(text.contains("❯ 2. Leave them waiting"), "{text}");
    shown.type_in("1");
    assert_eq!(shown.sent(), [], "that came too soon");
    shown.wait(1_000);
    shown.type_in("1");
    let body = json!({ "choice": "once" });
    assert_eq!(
        shown.sent(),
        [("/v1/approvals/appr_3/resolve".to_owned(), body)]
    );
}

#[test]
fn a_card_opened_while_the_gateway_is_away_allows_nothing() {
    let mut shown = busy();
    let why = "nothing is listening there".to_owned();
    shown.tell(News::Away { why });
    shown.press(KeyCode::Down);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    shown.wishes.clear();
    shown.type_in("1");
    assert_eq!(shown.sent(), []);
    let text = shown.text();
    assert!(
        text.contains("nothing can be allowed until it is back"),
        "{text}"
    );
}

#[test]
fn a_batch_allows_nothing_while_the_gateway_is_away_or_its_list_is_read_again() {
    let away = News::Away {
        why: "nothing is listening there".to_owned(),
    };
    for (name, news) in [
        ("away", vec![away.clone()]),
        ("catching up", vec![away, News::Back]),
    ] {
        let mut shown = busy();
        shown.press(KeyCode::Down);
        shown.type_in("xa");
        assert!(shown.text().contains("Allow 1 call once?"), "{name}");
        for news in news {
            shown.tell(news);
        }
        shown.wait(1_000);
        shown.wishes.clear();
        shown.type_in("1");
        let resolved = |(path, _): &(String, Value)| path.ends_with("/resolve");
        assert!(!shown.sent().iter().any(resolved), "{name}");
        let text = shown.text();
        assert!(text.contains("Nothing was allowed"), "{name}: {text}");
    }
}

#[test]
fn escape_answers_nothing_wherever_it_is_pressed() {
    let mut shown = busy();
    shown.wishes.clear();
    for keys in ["", "x", "xd", "/git", "d", "?"] {
        shown.type_in(keys);
        for _ in 0..3 {
            shown.wait(1_000);
            shown.press(KeyCode::Esc);
        }
    }
    shown.press(KeyCode::Down);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    shown.press(KeyCode::Esc);
    assert_eq!(shown.sent(), []);
    assert!(!shown.wishes.contains(&Wish::Leave));
}

#[test]
fn what_is_pasted_is_no_answer() {
    let mut shown = Shown::with(&[approval("appr_1", "run_7", "low", "echo")]);
    shown.press(KeyCode::Enter);
    shown.wait(1_000);
    shown.wishes.clear();
    let wishes = shown.inbox.pasted("1\r1\n", shown.now);
    assert_eq!(wishes, []);
    shown.type_in("1");
    assert_eq!(
        shown.sent(),
        [],
        "a key right behind it is part of the burst"
    );
}

#[test]
fn a_card_that_is_answered_elsewhere_stays_and_says_by_whom() {
    let mut shown = Shown::with(&[approval("appr_1", "run_7", "high", "rm -rf /srv/www")]);
    shown.press(KeyCode::Enter);
    shown.happens(json!({
        "event": "approval.resolved", "approval_id": "appr_1", "call_id": "call_appr_1",
        "outcome": "denied", "by": "ana", "via": "mattermost", "timestamp": START.as_seconds(),
    }));
    let text = shown.text();
    assert!(text.contains("Denied by ana via mattermost"), "{text}");
    assert!(
        shown
            .wishes
            .contains(&Wish::Title("countersign".to_owned()))
    );
    shown.wait(1_000);
    shown.press(KeyCode::Enter);
    assert!(shown.text().contains("Nothing waiting."));
}

#[test]
fn a_gateway_that_was_away_is_asked_for_everything_again() {
    let mut shown = busy();
    let why = "nothing is listening there".to_owned();
    shown.tell(News::Away { why });
    let text = shown.text();
    assert!(
        text.contains("Calls are being refused. Start it with `countersign serve`."),
        "{text}"
    );
    assert!(
        text.contains("rm -rf /srv/"),
        "what was known stays: {text}"
    );
    shown.wishes.clear();
    shown.tell(News::Back);
    assert!(!shown.text().contains("Calls are being refused"));
    let paths: Vec<String> = shown.sent().into_iter().map(|(path, _)| path).collect();
    for path in [
        "/v1/approvals?",
        "/v1/clarifications",
        "/v1/traces?",
        "/v1/grants",
        "/v1/reviews",
    ] {
        assert!(
            paths.iter().any(|it| it.starts_with(path)),
            "{path}: {paths:?}"
        );
    }
}

#[test]
fn history_is_live_and_read_page_by_page() {
    let mut shown = Shown::with(&[]);
    let page: Vec<Value> = (0..100)
        .map(|number| {
            trace(
                &format!("call_{number}"),
                &format!("ls {number}"),
                "allow",
                "allowed",
            )
        })
        .collect();
    shown.answer(
        "history",
        "",
        &json!({ "traces": page, "next": "5.call_99" }),
    );
    shown.press(KeyCode::Tab);
    shown.wishes.clear();
    shown.happens(json!({
        "event": "call.assessed", "call_id": "call_new", "command": "cat notes", "verdict": "allow",
        "status": "allowed", "timestamp": START.as_seconds(), "risk_score": 0.1,
    }));
    assert!(shown.text().contains("cat notes"), "{}", shown.text());
    assert!(
        shown.row_with("❯").contains("ls 0"),
        "who looks at a row stays on it"
    );
    assert_eq!(shown.sent(), []);
    shown.press(KeyCode::End);
    let sent = shown.sent();
    assert_eq!(sent[0].0, "/v1/traces?limit=100&behind=5.call_99");
    shown.press(KeyCode::End);
    assert_eq!(shown.sent(), [], "one page at a time");
}

#[test]
fn a_permission_is_taken_back_after_a_question_that_was_read() {
    let mut shown = Shown::with(&[]);
    shown.answer("grants", "", &json!({ "grants": [grant()] }));
    shown.press(KeyCode::BackTab);
    shown.wishes.clear();
    shown.type_in("r");
    shown.press(KeyCode::Enter);
    assert_eq!(shown.sent(), [], "it starts on leaving it");
    shown.type_in("r");
    shown.wait(1_000);
    shown.type_in("1");
    assert_eq!(
        shown.sent(),
        [("/v1/grants/grant_1".to_owned(), Value::Null)]
    );
}

#[test]
fn a_denial_is_lifted_from_history_after_a_question_and_nothing_else_is() {
    let mut denied = trace("call_1", "rm -rf /srv/den", "ask", "denied");
    denied["approval_id"] = json!("appr_9");
    let mut refused = trace("call_2", "rm  -rf /srv/den", "refuse", "refused");
    refused["decision"]["cause"] = json!("deny_memory");
    refused["decision"]["denial_id"] = json!("appr_9");
    let ran = trace("call_3", "ls", "allow", "allowed");
    for (past, lifts) in [(denied, true), (refused, true), (ran, false)] {
        let mut shown = Shown::with(&[]);
        shown.answer("history", "", &json!({ "traces": [past], "next": null }));
        shown.type_in("l");
        shown.wishes.clear();
        shown.type_in("L");
        shown.wait(1_000);
        shown.type_in("1");
        let wanted = ("/v1/approvals/appr_9/lift".to_owned(), json!({}));
        assert_eq!(shown.sent().contains(&wanted), lifts);
    }
}

#[test]
fn what_ran_is_kept_at_once_and_undone_after_a_question() {
    let mut shown = Shown::with(&[]);
    shown.answer("reviews", "", &json!({ "reviews": [review()] }));
    shown.type_in("ll");
    shown.wishes.clear();
    shown.type_in("K");
    assert_eq!(
        shown.sent(),
        [("/v1/reviews/rev_1/keep".to_owned(), json!({}))]
    );
    shown.type_in("u");
    shown.wait(1_000);
    shown.type_in("1");
    assert_eq!(
        shown.sent(),
        [("/v1/reviews/rev_1/undo".to_owned(), json!({}))]
    );
}

#[test]
fn nothing_is_drawn_again_while_nothing_changes() {
    let mut shown = Shown::with(&[]);
    assert_eq!(shown.inbox.changes_at(shown.now), None);
    shown.answer(
        "card",
        "appr_1",
        &approval("appr_1", "run_7", "low", "echo"),
    );
    let next = shown.inbox.changes_at(shown.now).unwrap();
    assert!(
        next.since(shown.now) > 1_000,
        "minutes are counted in minutes"
    );
    shown.wait(200_000);
    let next = shown.inbox.changes_at(shown.now).unwrap();
    assert!(
        (1..=1_000).contains(&next.since(shown.now)),
        "seconds in seconds"
    );
}

#[test]
fn a_thousand_that_wait_are_drawn_as_one_page_and_counted_down_together() {
    let cards: Vec<Value> = (0..1_000)
        .map(|number| {
            let (id, run) = (format!("appr_{number}"), format!("run_{}", number % 400));
            let mut card = approval(&id, &run, "low", &format!("echo {number}"));
            card["created_at"] = json!(START.as_seconds() - f64::from(number) / 7.0);
            card["fold_key"] = json!(id);
            card
        })
        .collect();
    let mut shown = Shown::with(&cards);
    assert!(shown.text().contains("Waiting 1000"));
    shown.press(KeyCode::End);
    let rows = shown.inbox.waiting.rows().len();
    assert_eq!(rows, 1_400, "every run has a heading");
    assert_eq!(shown.inbox.waiting.cursor.index(), rows - 1);
    shown.wait(200_000);
    let next = shown.inbox.changes_at(shown.now).unwrap();
    assert_eq!(next.0 % 1_000, 0, "all of them at once");
}
