//! The twelve rules of the verdict, each with rows that name what they show.

use countersign_core::assessment::{Assessment, AssessmentMarks, SideEffect};
use countersign_core::score::Score;
use countersign_core::verdict::{Mode, Pattern, Rule, Situation, Verdict, verdict};

use super::harmless;

struct Case {
    name: &'static str,
    assessment: Assessment,
    situation: Situation,
    verdict: Verdict,
    rule: Rule,
    pattern: Pattern,
}

fn marked(mark: impl FnOnce(&mut AssessmentMarks)) -> Assessment {
    let mut assessment = harmless();
    mark(&mut assessment.marks);
    assessment
}

fn scored(risk: u16, confidence: u16) -> Assessment {
    Assessment {
        risk: Score::new(risk),
        confidence: Score::new(confidence),
        ..harmless()
    }
}

fn critical() -> Assessment {
    Assessment {
        side_effect: SideEffect::Critical,
        ..harmless()
    }
}

fn crisis(outbound: bool, reversible: bool) -> Assessment {
    Assessment {
        crisis_sensitive: true,
        outbound,
        reversible,
        ..harmless()
    }
}

fn when(change: impl FnOnce(&mut Situation)) -> Situation {
    let mut situation = Situation::default();
    change(&mut situation);
    situation
}

fn case(
    name: &'static str,
    assessment: Assessment,
    situation: Situation,
    wanted: (Verdict, Rule, Pattern),
) -> Case {
    Case {
        name,
        assessment,
        situation,
        verdict: wanted.0,
        rule: wanted.1,
        pattern: wanted.2,
    }
}

#[rustfmt::skip]
fn first_rules() -> Vec<Case> {
    use Pattern::{ConfidenceThreshold as Lines, PreExecutionGate as Gate};
    use Verdict::{Allow, Ask, Refuse};
    let all_yes = when(|now| { now.granted = true; now.allowed_by_rule = true; now.mode = Mode::Off; now.review = true; });
    vec![
        case("1: the floor is refused", marked(|marks| marks.floor = true), Situation::default(), (Refuse, Rule::FloorOrDenied, Gate)),
        case("1: the floor is refused against every yes", marked(|marks| marks.floor = true), all_yes, (Refuse, Rule::FloorOrDenied, Gate)),
        case("1: a deny rule beats a grant", harmless(), when(|now| { now.denied_by_rule = true; now.granted = true; }), (Refuse, Rule::FloorOrDenied, Gate)),
        case("1: the floor comes before a crisis", Assessment { marks: AssessmentMarks { floor: true, ..AssessmentMarks::default() }, ..crisis(true, false) }, Situation::default(), (Refuse, Rule::FloorOrDenied, Gate)),
        case("2: a crisis and outbound", crisis(true, true), Situation::default(), (Ask, Rule::CrisisGate, Gate)),
        case("2: a crisis and irreversible", crisis(false, false), Situation::default(), (Ask, Rule::CrisisGate, Gate)),
        case("2: a crisis against every yes", crisis(true, true), all_yes, (Ask, Rule::CrisisGate, Gate)),
        case("2: a crisis that is only read about", crisis(false, true), Situation::default(), (Allow, Rule::Thresholds, Lines)),
        case("3: the firewall itself", marked(|marks| marks.guard = true), all_yes, (Ask, Rule::GuardOrMoney, Gate)),
        case("3: money", marked(|marks| marks.money = true), all_yes, (Ask, Rule::GuardOrMoney, Gate)),
        case("4: a marked tool", harmless(), when(|now| now.approval_required = true), (Ask, Rule::ApprovalRequired, Gate)),
        case("4: a marked tool against a grant", harmless(), when(|now| { now.approval_required = true; now.granted = true; }), (Ask, Rule::ApprovalRequired, Gate)),
        case("4: a marked tool when all is off", harmless(), when(|now| { now.approval_required = true; now.mode = Mode::Off; }), (Ask, Rule::ApprovalRequired, Gate)),
        case("5: a grant covers what is critical", critical(), when(|now| now.granted = true), (Allow, Rule::Granted, Lines)),
        case("5: a grant comes before a denial", critical(), when(|now| { now.granted = true; now.denied_before = true; }), (Allow, Rule::Granted, Lines)),
        case("6: off allows", critical(), when(|now| now.mode = Mode::Off), (Allow, Rule::ModeAllows, Lines)),
        case("6: plain yolo allows what is ordinary", scored(900, 100), when(|now| now.mode = Mode::Yolo), (Allow, Rule::ModeAllows, Gate)),
        case("6: plain yolo allows what cannot be read", marked(|marks| marks.unreadable = true), when(|now| now.mode = Mode::Yolo), (Allow, Rule::ModeAllows, Lines)),
        case("6: plain yolo still asks about what is critical", critical(), when(|now| now.mode = Mode::Yolo), (Ask, Rule::Critical, Gate)),
        case("6: plain yolo still refuses a critical call that was denied", critical(), when(|now| { now.mode = Mode::Yolo; now.denied_before = true; }), (Refuse, Rule::DeniedBefore, Gate)),
        case("6: plain yolo keeps rule 4", harmless(), when(|now| { now.approval_required = true; now.mode = Mode::Yolo; }), (Ask, Rule::ApprovalRequired, Gate)),
        case("6: observe allows", critical(), when(|now| now.mode = Mode::Observe), (Allow, Rule::ModeAllows, Lines)),
        case("6: observe still asks about a dangerous terminal", marked(|marks| marks.dangerous_terminal = true), when(|now| now.mode = Mode::Observe), (Ask, Rule::Critical, Gate)),
    ]
}

#[rustfmt::skip]
fn last_rules() -> Vec<Case> {
    use Pattern::{ConfidenceThreshold as Lines, PostExecutionReview as After, PreExecutionGate as Gate};
    use Verdict::{Allow, AllowThenReview, Ask, Refuse};
    let rollback = |risk, confidence| Assessment { marks: AssessmentMarks { rollback: true, ..AssessmentMarks::default() }, ..scored(risk, confidence) };
    let review = when(|now| now.review = true);
    vec![
        case("7: denied a moment ago", harmless(), when(|now| now.denied_before = true), (Refuse, Rule::DeniedBefore, Gate)),
        case("7: a denial comes before an allow rule", harmless(), when(|now| { now.denied_before = true; now.allowed_by_rule = true; }), (Refuse, Rule::DeniedBefore, Gate)),
        case("7: a denial holds for a marked tool", harmless(), when(|now| { now.denied_before = true; now.approval_required = true; }), (Refuse, Rule::DeniedBefore, Gate)),
        case("7: a denial holds for money", marked(|marks| marks.money = true), when(|now| now.denied_before = true), (Refuse, Rule::DeniedBefore, Gate)),
        case("7: a denial does not come before a crisis", crisis(true, true), when(|now| now.denied_before = true), (Ask, Rule::CrisisGate, Gate)),
        case("8: an ask rule", harmless(), when(|now| now.asked_by_rule = true), (Ask, Rule::PolicyRule, Gate)),
        case("8: an ask rule beats an allow rule", harmless(), when(|now| { now.asked_by_rule = true; now.allowed_by_rule = true; }), (Ask, Rule::PolicyRule, Gate)),
        case("8: an allow rule", scored(900, 100), when(|now| now.allowed_by_rule = true), (Allow, Rule::PolicyRule, Gate)),
        case("8: an allow rule never covers critical", critical(), when(|now| now.allowed_by_rule = true), (Ask, Rule::Critical, Gate)),
        case("9: critical at any score", critical(), Situation::default(), (Ask, Rule::Critical, Gate)),
        case("9: critical in the review lane", Assessment { side_effect: SideEffect::Critical, ..rollback(300, 100) }, review, (Ask, Rule::Critical, Gate)),
        case("10: unreadable at any score", marked(|marks| marks.unreadable = true), Situation::default(), (Ask, Rule::Unreadable, Lines)),
        case("10: unreadable in the review lane", Assessment { marks: AssessmentMarks { unreadable: true, rollback: true, ..AssessmentMarks::default() }, ..scored(100, 900) }, review, (Ask, Rule::Unreadable, Lines)),
        case("11: below the first line", scored(249, 0), Situation::default(), (Allow, Rule::Thresholds, Lines)),
        case("11: on the first line and sure", scored(250, 700), Situation::default(), (Allow, Rule::Thresholds, Lines)),
        case("11: on the first line and unsure", scored(250, 699), Situation::default(), (Ask, Rule::Thresholds, Lines)),
        case("11: on the second line and sure", scored(600, 700), Situation::default(), (Allow, Rule::Thresholds, Lines)),
        case("11: on the second line and unsure", scored(600, 699), Situation::default(), (Ask, Rule::Thresholds, Lines)),
        case("11: above the second line", scored(601, 1000), Situation::default(), (Ask, Rule::Thresholds, Gate)),
        case("12: it can be rolled back", rollback(600, 699), review, (AllowThenReview, Rule::Review, After)),
        case("12: it can be rolled back, the lane is off", rollback(600, 699), Situation::default(), (Ask, Rule::Thresholds, Lines)),
        case("12: it cannot be rolled back", scored(600, 699), review, (Ask, Rule::Thresholds, Lines)),
        case("12: too risky for the lane", rollback(601, 699), review, (Ask, Rule::Thresholds, Gate)),
        case("12: nothing to review", rollback(100, 900), review, (Allow, Rule::Thresholds, Lines)),
    ]
}

#[test]
fn the_first_of_twelve_rules_that_applies_decides() {
    for case in first_rules().into_iter().chain(last_rules()) {
        let ruling = verdict(&case.assessment, &case.situation);
        assert_eq!(
            (ruling.verdict, ruling.rule, ruling.pattern),
            (case.verdict, case.rule, case.pattern),
            "{}",
            case.name
        );
    }
}
