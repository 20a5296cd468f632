//! The life of an approval, tried in every order.
//!
//! Every sequence of six happenings out of a small alphabet is walked through, and long random ones
//! besides; after each step the invariants are looked at. The names are those of the laws.

#![expect(clippy::panic, clippy::unwrap_used, reason = "a failing test panics")]

use countersign_core::approval::{
    Answer, Approval, COLLECT_MILLIS_MAX, Choice, Collected, ExpiryCause, Followup, Happened,
    State, StepError, step,
};
use countersign_core::digest::Digest;
use countersign_core::id::{ApprovalId, TokenId};
use countersign_core::tier::Tier;
use countersign_core::time::UnixMillis;
use proptest::prelude::*;

const START: UnixMillis = UnixMillis(1_000_000);
const TIMEOUT: i64 = 300_000;
const TOKEN_MILLIS: i64 = 120_000;
/// How much time people may add: once all of its own, and then less.
const EXTEND_MAX: i64 = TIMEOUT + 100_000;

fn approval(undo_millis: i64) -> Approval {
    Approval {
        id: ApprovalId("appr_1".to_owned()),
        digest: Digest([1; 32]),
        asked_at: START,
        expires_at: START.plus(TIMEOUT),
        extended_millis: 0,
        choices: vec![Choice::Once, Choice::Session, Choice::Deny],
        undo_millis,
        state: State::Waiting,
    }
}

fn answer(choice: Choice, by: &str) -> Happened {
    Happened::Answered(Answer {
        choice,
        by: by.to_owned(),
        via: "api".to_owned(),
        tier: Tier::T0,
        note: None,
        at: START,
        grant_id: None,
        rebound: None,
    })
}

fn collected(jti: &str, now: UnixMillis) -> Happened {
    Happened::Collected(Collected {
        jti: TokenId(jti.to_owned()),
        issued: Some((0, 120)),
        until: now.plus(TOKEN_MILLIS),
    })
}

/// What can happen, by number, so that sequences can be counted through.
const ALPHABET: u8 = 14;

/// Returns what happens, and how much time goes by before it.
fn happening(number: u8, now: UnixMillis) -> (i64, Happened) {
    let later = |millis: i64| now.plus(millis);
    match number {
        0 => (1, answer(Choice::Once, "ana")),
        1 => (1, answer(Choice::Deny, "bo")),
        2 => (1, answer(Choice::Session, "cy")),
        3 => (1, answer(Choice::Always, "di")),
        4 => (1, Happened::TakenBack),
        5 => (1, Happened::Withdrawn { note: None }),
        6 => (1, collected("tok_1", later(1))),
        7 => (1, collected("tok_2", later(1))),
        8 => (
            1,
            Happened::Used {
                jti: TokenId("tok_1".to_owned()),
            },
        ),
        9 => (5_000, Happened::TimePassed { reached: true }),
        10 => (TOKEN_MILLIS, Happened::TimePassed { reached: true }),
        11 => (TIMEOUT, Happened::TimePassed { reached: false }),
        12 => (
            1,
            Happened::Extended {
                max_millis: EXTEND_MAX,
            },
        ),
        _ => (COLLECT_MILLIS_MAX, Happened::TimePassed { reached: true }),
    }
}

/// What an observer has seen so far.
#[derive(Default)]
struct Seen {
    answers: u32,
    uses: u32,
    grants: u32,
    denied: bool,
    withdrawn: bool,
}

/// Lets one thing happen and looks at every invariant.
fn walk(approval: Approval, happened: &Happened, now: UnixMillis, seen: &mut Seen) -> Approval {
    let before = approval.clone();
    let (after, followups) = match step(approval, happened.clone(), now) {
        Ok(stepped) => stepped,
        Err(error) => {
            let stands = lapsed(&before, now);
            assert!(
                !matches!(
                    (&stands, &error),
                    (
                        State::Waiting,
                        StepError::AlreadyAnswered | StepError::Withdrawn
                    )
                ),
                "{before:?} {happened:?} {error:?}"
            );
            return before;
        }
    };
    let told = format!("{before:?}\n{happened:?} at {now:?}\n{after:?}");
    // Law 4, one decision: what a person or the asker has settled stays settled.
    match &before.state {
        State::Denied { .. }
        | State::Expired { .. }
        | State::Withdrawn { .. }
        | State::Consumed { .. } => assert_eq!(before, after, "{told}"),
        State::Approved { answer, .. } => {
            if let Some(still) = after.answer() {
                assert_eq!(
                    (answer.choice, &answer.by),
                    (still.choice, &still.by),
                    "{told}"
                );
            }
        }
        State::Waiting | State::Held { .. } => {}
    }
    // Law 6, fail closed: nothing is allowed that no person allowed, and nothing after its time.
    let is_allowed = matches!(after.state, State::Approved { .. } | State::Consumed { .. });
    if is_allowed {
        let choice = after.answer().map(|answer| answer.choice);
        assert!(
            choice.is_some_and(|choice| choice != Choice::Deny),
            "{told}"
        );
        assert!(
            choice.is_some_and(|it| after.choices.contains(&it)),
            "{told}"
        );
    }
    if before.state == State::Waiting && after.answer().is_some() {
        assert!(now < before.expires_at, "answered after its time: {told}");
        seen.answers += 1;
    }
    if matches!(before.state, State::Held { .. }) && after.state == State::Waiting {
        seen.answers -= 1;
    }
    assert!(seen.answers <= 1, "{told}");
    // Law 5, one use.
    if matches!(after.state, State::Consumed { .. }) && before.state != after.state {
        let State::Approved {
            collected: Some(token),
            ..
        } = &before.state
        else {
            panic!("used without having been handed out: {told}");
        };
        assert!(now < token.until, "used after its time: {told}");
        seen.uses += 1;
    }
    assert!(seen.uses <= 1, "{told}");
    seen.denied |= matches!(after.state, State::Denied { .. });
    seen.withdrawn |= matches!(after.state, State::Withdrawn { .. });
    assert!(!((seen.denied || seen.withdrawn) && is_allowed), "{told}");
    seen.grants += u32::from(followups.contains(&Followup::LeaveGrant));
    assert!(seen.grants <= 1, "{told}");
    // Whoever waits is woken exactly when there is something to say.
    let ended = |state: &State| !matches!(state, State::Waiting | State::Held { .. });
    if !ended(&before.state) && ended(&after.state) {
        assert!(followups.contains(&Followup::Resolve), "{told}");
    }
    extends_only_time(&before, happened, now, &after, &followups);
    after
}

/// More time is all that an extension gives, to a question that waits, and not without end.
fn extends_only_time(
    before: &Approval,
    happened: &Happened,
    now: UnixMillis,
    after: &Approval,
    followups: &[Followup],
) {
    let told = format!("{before:?}\n{happened:?} at {now:?}\n{after:?}");
    if !matches!(happened, Happened::Extended { .. }) {
        assert_eq!(before.expires_at, after.expires_at, "{told}");
        return;
    }
    assert!(now < before.expires_at, "revived: {told}");
    assert!(before.expires_at < after.expires_at, "{told}");
    assert!(
        after.expires_at <= START.plus(TIMEOUT + EXTEND_MAX),
        "{told}"
    );
    let unextended = Approval {
        expires_at: before.expires_at,
        extended_millis: before.extended_millis,
        ..after.clone()
    };
    assert_eq!(&unextended, before, "{told}");
    assert_eq!(after.state, State::Waiting, "{told}");
    assert_eq!(followups, [Followup::Repaint], "{told}");
}

fn lapsed(approval: &Approval, now: UnixMillis) -> State {
    step(
        approval.clone(),
        Happened::TimePassed { reached: true },
        now,
    )
    .unwrap()
    .0
    .state
}

#[test]
fn every_order_of_six_happenings_keeps_the_laws() {
    fn deeper(approval: &Approval, now: UnixMillis, seen: &Seen, depth: u8, count: &mut u64) {
        if depth == 0 {
            return;
        }
        for number in 0..ALPHABET {
            let (passes, happened) = happening(number, now);
            let now = now.plus(passes);
            let mut seen = Seen { ..*seen };
            let after = walk(approval.clone(), &happened, now, &mut seen);
            *count += 1;
            deeper(&after, now, &seen, depth - 1, count);
        }
    }
    for undo_millis in [0, 3_000] {
        let mut count = 0;
        let depth = if cfg!(debug_assertions) { 4 } else { 6 };
        deeper(
            &approval(undo_millis),
            START,
            &Seen::default(),
            depth,
            &mut count,
        );
        assert!(count >= u64::from(ALPHABET).pow(4));
    }
}

proptest! {
    #[test]
    fn long_lives_keep_the_laws(
        numbers in prop::collection::vec((0..ALPHABET, 0i64..400_000), 1..60),
        undo_millis in prop_oneof![Just(0i64), 1i64..10_000],
    ) {
        let mut approval = approval(undo_millis);
        let mut seen = Seen::default();
        let mut now = START;
        for (number, pause) in numbers {
            // Most pauses are short, or nothing would happen before the time is over.
            now = now.plus(pause / 40);
            let (passes, happened) = happening(number, now);
            now = now.plus(passes);
            approval = walk(approval, &happened, now, &mut seen);
        }
    }

    /// Law 4: whatever two people answer in whatever order, the first holds and the second is told.
    #[test]
    fn the_second_answer_changes_nothing(first in 0u8..3, second in 0u8..4) {
        let (_, one) = happening(first, START);
        let (_, two) = happening(second, START);
        let (after, _) = step(approval(0), one, START.plus(1)).unwrap();
        prop_assert_eq!(
            step(after.clone(), two, START.plus(2)),
            Err(StepError::AlreadyAnswered),
        );
    }
}

#[test]
fn the_edges_of_time_are_where_the_table_says() {
    let once = || answer(Choice::Once, "ana");
    let at = |millis: i64| START.plus(millis);
    assert!(
        step(approval(0), once(), at(TIMEOUT - 1)).is_ok(),
        "the last millisecond"
    );
    assert_eq!(
        step(approval(0), once(), at(TIMEOUT)),
        Err(StepError::Expired),
        "the deadline itself is too late"
    );
    let (held, followups) = step(approval(3_000), once(), at(10)).unwrap();
    assert_eq!(
        held.status().word(),
        "waiting",
        "a held answer has released nothing"
    );
    assert_eq!(followups, [Followup::Repaint]);
    let (back, _) = step(held.clone(), Happened::TakenBack, at(3_009)).unwrap();
    assert_eq!(
        back.state,
        State::Waiting,
        "taken back in the last millisecond"
    );
    assert_eq!(
        step(held.clone(), Happened::TakenBack, at(3_010)),
        Err(StepError::NothingHeld),
        "it has taken effect"
    );
    let (allowed, _) = step(held, Happened::TimePassed { reached: true }, at(3_010)).unwrap();
    assert_eq!(allowed.status().word(), "approved");
    let (expired, _) = step(
        allowed,
        Happened::TimePassed { reached: true },
        at(3_010 + COLLECT_MILLIS_MAX),
    )
    .unwrap();
    assert_eq!(expired.status().word(), "expired", "nobody came for it");
}

#[test]
fn nobody_reached_is_told_apart_from_nobody_answering() {
    for (reached, cause) in [
        (true, ExpiryCause::Expiry),
        (false, ExpiryCause::Undeliverable),
    ] {
        let over = START.plus(TIMEOUT);
        let (after, _) = step(approval(0), Happened::TimePassed { reached }, over).unwrap();
        assert_eq!(after.state, State::Expired { cause, at: over });
    }
}

#[test]
fn a_changed_call_is_bound_as_it_was_changed() {
    let Happened::Answered(given) = answer(Choice::Once, "ana") else {
        panic!("an answer");
    };
    let changed = Digest([2; 32]);
    let happened = Happened::Answered(Answer {
        rebound: Some(changed),
        ..given
    });
    let (after, _) = step(approval(0), happened.clone(), START.plus(1)).unwrap();
    assert_eq!(after.digest, changed);
    let (held, _) = step(approval(3_000), happened, START.plus(1)).unwrap();
    assert_eq!(held.digest, Digest([1; 32]), "not before it takes effect");
    let passed = Happened::TimePassed { reached: true };
    let (after, _) = step(held, passed, START.plus(3_001)).unwrap();
    assert_eq!(after.digest, changed);
}

fn at(millis: i64) -> UnixMillis {
    START.plus(millis)
}

fn extend(approval: &Approval, max_millis: i64, now: UnixMillis) -> Result<Approval, StepError> {
    let happened = Happened::Extended { max_millis };
    step(approval.clone(), happened, now).map(|(approval, _)| approval)
}

#[test]
fn law_6_an_extension_adds_the_questions_own_time_until_all_is_used_and_then_it_expires() {
    let asked = approval(0);
    let once = extend(&asked, EXTEND_MAX, at(1_000)).unwrap();
    assert_eq!(once.expires_at, at(2 * TIMEOUT));
    let twice = extend(&once, EXTEND_MAX, at(2_000)).unwrap();
    assert_eq!(twice.expires_at, at(TIMEOUT + EXTEND_MAX));
    assert_eq!(
        extend(&twice, EXTEND_MAX, at(3_000)),
        Err(StepError::NoMoreTime)
    );
    // The owner now allows less than was given: nothing is taken away.
    assert_eq!(extend(&twice, 1, at(3_000)), Err(StepError::NoMoreTime));
    assert_eq!(twice.extension(EXTEND_MAX), None);
    assert_eq!(once.extension(EXTEND_MAX), Some(100_000));

    assert_eq!(lapsed(&once, at(2 * TIMEOUT - 1)), State::Waiting);
    let State::Expired { cause, .. } = lapsed(&once, at(2 * TIMEOUT)) else {
        panic!("an extension must not keep a question open after its time");
    };
    assert_eq!(cause, ExpiryCause::Expiry);
    assert_eq!(
        step(once, answer(Choice::Once, "ana"), at(2 * TIMEOUT)),
        Err(StepError::Expired)
    );
}

#[test]
fn law_4_an_extension_revives_nothing_that_is_settled() {
    let settles: [(&str, Happened, StepError); 4] = [
        (
            "allowed",
            answer(Choice::Once, "ana"),
            StepError::AlreadyAnswered,
        ),
        (
            "denied",
            answer(Choice::Deny, "ana"),
            StepError::AlreadyAnswered,
        ),
        (
            "withdrawn",
            Happened::Withdrawn { note: None },
            StepError::Withdrawn,
        ),
        ("unreachable", Happened::Unreachable, StepError::Expired),
    ];
    for undo_millis in [0, 3_000] {
        for (name, happened, error) in settles.clone() {
            let (settled, _) = step(approval(undo_millis), happened, at(1_000)).unwrap();
            assert_eq!(
                extend(&settled, EXTEND_MAX, at(2_000)),
                Err(error),
                "{name}"
            );
            assert_eq!(settled.extension(EXTEND_MAX), None, "{name}");
        }
    }
    // Its time is over, though nobody has looked since.
    assert_eq!(
        extend(&approval(0), EXTEND_MAX, at(TIMEOUT)),
        Err(StepError::Expired)
    );
    // The owner offers none.
    for none in [0, -1, i64::MIN] {
        assert_eq!(
            extend(&approval(0), none, at(1)),
            Err(StepError::NoMoreTime)
        );
    }
}
