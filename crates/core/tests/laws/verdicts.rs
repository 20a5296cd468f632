//! The laws as far as they are the verdict's: random assessments in random situations.

use countersign_core::assessment::{Assessment, AssessmentMarks, SideEffect};
use countersign_core::score::Score;
use countersign_core::shell::parse::parse;
use countersign_core::verdict::{Mode, Rule, Situation, Verdict, verdict};
use proptest::prelude::*;

use super::{judge_command, rows};

mod rules;

/// An assessment that every rule lets pass.
fn harmless() -> Assessment {
    Assessment {
        tool_name: "terminal".to_owned(),
        risk: Score::new(100),
        confidence: Score::new(950),
        side_effect: SideEffect::ReadOnly,
        reversible: true,
        crisis_sensitive: false,
        outbound: false,
        reasons: Vec::new(),
        factors: Vec::new(),
        findings: Vec::new(),
        marks: AssessmentMarks::default(),
    }
}

prop_compose! {
    fn some_assessment()(
        numbers in (0_u16..=1000, 0_u16..=1000, 0_usize..4),
        flags in (any::<bool>(), any::<bool>(), any::<bool>()),
        marks in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
    ) -> Assessment {
        let classes = [SideEffect::ReadOnly, SideEffect::LocalReversible, SideEffect::External, SideEffect::Critical];
        Assessment {
            risk: Score::new(numbers.0),
            confidence: Score::new(numbers.1),
            side_effect: classes.get(numbers.2).copied().unwrap_or(SideEffect::Critical),
            reversible: flags.0,
            crisis_sensitive: flags.1,
            outbound: flags.2,
            marks: AssessmentMarks {
                floor: marks.0, unreadable: marks.1, guard: marks.2, money: marks.3, sender: marks.4, dangerous_terminal: marks.5, rollback: marks.6,
                crisis_unsure: marks.7,
            },
            ..harmless()
        }
    }
}

prop_compose! {
    fn some_situation()(
        flags in (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()),
        mode in prop_oneof![Just(Mode::Enforce), Just(Mode::Observe), Just(Mode::Yolo), Just(Mode::Off)],
    ) -> Situation {
        Situation {
            denied_by_rule: flags.0, approval_required: flags.1, granted: flags.2, denied_before: flags.3, asked_by_rule: flags.4,
            allowed_by_rule: flags.5, review: flags.6, mode, ..Situation::default()
        }
    }
}

fn proptest_config() -> ProptestConfig {
    let cases = if rows::is_soak() {
        100_000
    } else {
        ProptestConfig::default().cases
    };
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(proptest_config())]

    #[test]
    fn law_1_crisis_gate(mut assessment in some_assessment(), situation in some_situation(), irreversible in any::<bool>()) {
        assessment.crisis_sensitive = true;
        if irreversible { assessment.reversible = false } else { assessment.outbound = true }
        let ruling = verdict(&assessment, &situation);
        if assessment.marks.floor || situation.denied_by_rule {
            prop_assert_eq!(ruling.verdict, Verdict::Refuse);
        } else {
            prop_assert_eq!(ruling.verdict, Verdict::Ask);
            prop_assert_eq!(ruling.rule, Rule::CrisisGate);
            prop_assert!(ruling.once_only);
        }
    }

    #[test]
    fn law_2_nothing_lifts_the_floor(mut assessment in some_assessment(), situation in some_situation()) {
        assessment.marks.floor = true;
        prop_assert_eq!(verdict(&assessment, &situation).verdict, Verdict::Refuse);
    }

    #[test]
    fn yolo_lifts_questions_about_ordinary_calls_and_yolo_all_those_about_critical_ones(assessment in some_assessment(), situation in some_situation()) {
        let under = |mode| verdict(&assessment, &Situation { mode, ..situation });
        let (enforce, yolo, all) = (under(Mode::Enforce), under(Mode::Yolo), under(Mode::Off));
        prop_assert!(enforce.verdict >= yolo.verdict && yolo.verdict >= all.verdict);
        if assessment.side_effect == SideEffect::Critical {
            prop_assert_eq!(yolo, enforce, "a critical call is judged as if there were no override");
        } else {
            prop_assert_eq!(yolo, all);
        }
        // What they ask about is refused when it was denied a moment ago.
        let first_asked = Situation { mode: Mode::Enforce, denied_before: false, ..situation };
        if verdict(&assessment, &first_asked).rule.number() <= 4 {
            prop_assert_eq!(yolo, enforce, "rules 1 to 4 stand");
            prop_assert_eq!(all, enforce, "rules 1 to 4 stand");
        } else {
            prop_assert_eq!(all.verdict, Verdict::Allow);
        }
    }

    #[test]
    fn a_verdict_never_falls_as_risk_rises(assessment in some_assessment(), situation in some_situation(), more in 0_u16..=1000) {
        let riskier = Assessment { risk: assessment.risk.max(Score::new(more)), ..assessment.clone() };
        prop_assert!(verdict(&riskier, &situation).verdict >= verdict(&assessment, &situation).verdict);
    }

    #[test]
    fn a_verdict_never_falls_as_confidence_falls(assessment in some_assessment(), situation in some_situation(), less in 0_u16..=1000) {
        let vaguer = Assessment { confidence: assessment.confidence.min(Score::new(less)), ..assessment.clone() };
        prop_assert!(verdict(&vaguer, &situation).verdict >= verdict(&assessment, &situation).verdict);
    }

    #[test]
    fn only_once_is_offered_exactly_under_rules_2_to_4(assessment in some_assessment(), situation in some_situation()) {
        let ruling = verdict(&assessment, &situation);
        prop_assert_eq!(ruling.once_only, (2..=4).contains(&ruling.rule.number()));
    }

    #[test]
    fn any_text_is_judged_without_a_panic(text in "\\PC{0,200}") {
        let (assessment, verdict) = judge_command(&text);
        prop_assert!(parse(&text).is_ok() || verdict >= Verdict::Ask);
        prop_assert!(assessment.risk <= Score::ONE);
    }
}
