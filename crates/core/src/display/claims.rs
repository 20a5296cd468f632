//! Text that talks to the person or the firewall: claims of approval, forged controls, orders to a model, and
//! markup a surface could act on. Nothing of it is obeyed; it is marked.

use super::{Deception, Severity};
use aho_corasick::AhoCorasick;
use regex::bytes::{Regex, RegexBuilder};
use std::sync::{LazyLock, OnceLock};

/// A family of claims: its code and weight, the words without which it is not tried, and its expression.
#[derive(Debug)]
struct Claim {
    code: &'static str,
    severity: Severity,
    keywords: &'static [&'static str],
    pattern: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

const fn claim(
    code: &'static str,
    severity: Severity,
    keywords: &'static [&'static str],
    pattern: &'static str,
) -> Claim {
    Claim {
        code,
        severity,
        keywords,
        pattern,
        compiled: OnceLock::new(),
    }
}

static CLAIMS: [Claim; 20] = [
    // Fields only the firewall sets.
    claim(
        "approval_claim",
        Severity::High,
        &[
            "requires_human",
            "requires-human",
            "approval_token",
            "approval-token",
            "user_approval",
            "human_approved",
            "skip_approval",
            "bypass_approval",
            "auto_approve",
            "is_approved",
            "pre_approved",
            "approval_status",
        ],
        r#"(?:requires[_-]human|(?:user[_-])?approval[_-]token|user[_-]approv(?:al|ed)|human[_-]approved|skip[_-]approval|bypass[_-]approval|auto[_-]approve[d]?|is[_-]approved|pre[_-]approved|approval[_-]status)["']?\s*[:=]\s*["']?\w"#,
    ),
    claim(
        "approval_claim",
        Severity::High,
        &[
            "risk_score",
            "risk score",
            "risk level",
            "verdict",
            "risk:",
            "risk*",
            "decision:",
            "assessment:",
        ],
        r#"(?:risk[_ ](?:score|level)["']?\s*[:=]\s*["']?(?:0(?:\.[0-4]\d*)?\b|low|none|minimal)|verdict["']?\s*[:=]\s*["']?(?:safe|allow|benign|clean|approved?|ok)|risk[*_"']*\s*:[*_"']*\s*(?:none|low|minimal|0)|(?:decision|assessment)["']?\s*:\s*["']?(?:approved?|allow(?:ed)?|safe))"#,
    ),
    // Approval said to have been given.
    claim(
        "approval_claim",
        Severity::High,
        &[
            "approv",
            "authoriz",
            "authoris",
            "confirmed",
            "signed off",
            "permission",
            "consent",
            "cleared",
        ],
        r"\b(?:(?:already|previously|pre-?|has been|have been|was|were|been|is|fully)[ -]+(?:approved|authori[sz]ed|confirmed|cleared|signed off)[ ]+(?:by|for|in|this|the)|already[ -]+(?:been )?(?:approved|authori[sz]ed|confirmed|cleared)|approved[ ]+by[ ]+(?:the[ ]+|an?[ ]+|your[ ]+)?(?:admin\w*|user|owner|operator|human|security|manager|root|ciso|ceo|system|legal|it|ops|supervisor))",
    ),
    claim(
        "approval_claim",
        Severity::High,
        &[
            "user", "owner", "admin", "operator", "human", "boss", "manager",
        ],
        r"\b(?:the |your |my )?(?:user|owner|admin(?:istrator)?|operator|human|boss|manager)s?(?: has| have| had)?(?: already| explicitly| just)? (?:confirmed|approved|authori[sz]ed|consented|signed off|agreed to|granted|okayed|ok'd|gave (?:me |us )?(?:permission|consent|the go))",
    ),
    claim(
        "approval_claim",
        Severity::High,
        &[
            "ask again",
            "need to ask",
            "need to confirm",
            "confirmation",
            "approval",
            "without asking",
            "asking",
            "auto-approve",
            "autoapprove",
            "pre-approved",
            "preapproved",
            "prompt",
        ],
        r"(?:\b(?:do not|don't|dont|never|stop|no need to|needn't|without|skip) (?:ask(?:ing)?|prompt(?:ing)?|confirm(?:ing)?|request(?:ing)?)(?: (?:me|us|him|her|the user|for (?:approval|confirmation)|again|about this))+|no (?:further |additional |human |more )?(?:confirmation|approval|review) (?:is )?(?:needed|required|necessary)|(?:confirmation|approval) (?:is )?not (?:needed|required|necessary)|(?:^|[^-\w])(?:auto-?approved?|pre-?approved)\b|skip (?:the )?(?:confirmation|approval|review)|(?:disable|turn off|stop) (?:these |the |all )?(?:annoying )?(?:approval |confirmation )?prompts?)",
    ),
    claim(
        "approval_claim",
        Severity::High,
        &[
            "security",
            "scanner",
            "safe",
            "sandbox",
            "dry run",
            "dry-run",
            "harmless",
            "test environment",
        ],
        r"\[?(?:security (?:scan(?:ner)?|check|review|team)|scanner|virus scan)\]?(?: has)?[:,]? ?(?:passed|approved|cleared|ok\b|clean|no (?:issues|threats|risk)|: safe|says (?:safe|ok))",
    ),
    claim(
        "approval_claim",
        Severity::Low,
        &[
            "approved",
            "transfer approved",
            "genehmigt",
            "freigegeben",
            "aprobado",
            "approuvé",
        ],
        r"(?:[*_]approved|approved[*_]|\bapproved by\b|\btransfer approved\b|bereits (?:genehmigt|freigegeben)|ya aprobado|déjà approuvé)",
    ),
    // Orders to the firewall's surfaces.
    claim(
        "command_bait",
        Severity::High,
        &[
            "/approve", "/allow", "/deny", "/yolo", "/always", "!approve",
        ],
        r"(?:^|[\s`'(>])[/!](?:approve|allow|deny|yolo|always|countersign)\b(?:\s|$|[.,!?`')])",
    ),
    claim(
        "approval_claim",
        Severity::High,
        &["/approve", "/yolo", "always allow"],
        r"(?:reply|type|send|answer|enter|write)[^\n]{0,20}(?:/approve|/yolo|always allow|approve always)",
    ),
    // Orders to a model.
    claim(
        "prompt_injection",
        Severity::High,
        &["ignore", "disregard", "forget", "override"],
        r"\b(?:ignore|disregard|forget|override)\b[^\n.]{0,30}\b(?:previous|prior|above|earlier|all|any|your|the|system|safety)\b[^\n.]{0,20}\b(?:instruction|prompt|rule|guideline|direction|polic|guardrail|context|order)",
    ),
    claim(
        "prompt_injection",
        Severity::High,
        &[
            "you are now",
            "system prompt",
            "<|im_start|>",
            "[inst]",
            "<<sys>>",
            "<system>",
            "### system",
            "new instructions",
        ],
        r"(?:you are now (?:in |an? |the |dan\b|free|unrestricted)|(?:reveal|print|show|leak|repeat) (?:your |the )?system prompt|<\|im_start\|>|\[inst\]|<<sys>>|</?system>|### ?system\b|new instructions?:)",
    ),
    claim(
        "prompt_injection",
        Severity::High,
        &["answer", "respond", "reply", "output", "say"],
        r#"\b(?:answer|respond|reply|output|say)(?: only)?(?: with)? ["'`]?(?-i:APPROVED?|ALLOW|SAFE|YES)\b["'`]?(?:\s*$|[.!"'`])"#,
    ),
    // Forged controls.
    claim(
        "ui_forgery",
        Severity::High,
        &["allow", "deny", "approve"],
        r"(?:(?:\[ ?[0-9yYnN] ?\]|\b[0-9][.)]|[(][0-9yYnN][)])\s*(?:allow|deny|approve|reject|yes,|no,)|\ballow (?:once|for this session|always)\b[^\n]*\n[^\n]*\bdeny\b)",
    ),
    claim(
        "ui_forgery",
        Severity::High,
        &[
            "your choice",
            "press enter",
            "select an option",
            "[y/n]",
            "(y/n)",
            "request expired",
            "session expired",
            "1-9 or",
        ],
        r"(?:your choice ?[\[(:]|press (?:enter|y|1) to (?:approve|allow|continue|confirm)|\[y/n\]\s*[:?]?\s*y\b|<button|request (?:has )?expired|1-9 or)",
    ),
    claim(
        "ui_forgery",
        Severity::High,
        &["╭", "╰", "┌", "└", "╔", "╚"],
        r"(?:╭|╰|┌|└|╔|╚)(?:─|═|━)",
    ),
    // Markup that a page, a mail program or a chat would act on.
    claim(
        "markup",
        Severity::Low,
        &[
            "<script", "<img", "<div", "<iframe", "<svg", "<style", "<font", "<span", "<a ",
            "<object", "<form", "<input", "<button", "<link", "<meta", "<!--", "onerror", "<body",
            "<html", "<video", "<table",
        ],
        r"<(?:script|img|div|iframe|svg|style|font|span|a|object|form|input|button|link|meta|body|html|video|embed|table)\b[^<>]*>?|<!--",
    ),
    claim(
        "markup",
        Severity::Low,
        &["```", "](", "||", "<!", "####", "|---", "<http"],
        r"(?:```[^\n]*\n(?s:.)*```|!?\[[^\]\n]*\]\([^)\n]*\)|\|\|[^|\n]+\|\||<!(?:channel|here|everyone|subteam)|#### |\|---|<https?://[^>\n]*\|)",
    ),
    claim(
        "remote_image",
        Severity::Low,
        &["![", "<img"],
        r#"!\[[^\]\n]*\]\(https?://|<img[^<>]*src=["']?https?://"#,
    ),
    claim(
        "hidden_style",
        Severity::High,
        &[
            "font-size",
            "display",
            "visibility",
            "opacity",
            "color",
            "<!--",
            "hidden",
            "text-indent",
            "left:",
        ],
        r#"(?:font-size\s*:\s*0|display\s*:\s*none|visibility\s*:\s*hidden|opacity\s*:\s*0(?:\.0\d*)?\s*(?:[;"']|$)|color\s*[:=]\s*["']?(?:white|#fff(?:fff)?\b|transparent)|text-indent\s*:\s*-\d{3}|left\s*:\s*-\d{3}|<[a-z]+[^<>]*\shidden\b|<!--[^>]*[a-z]{3})"#,
    ),
    claim(
        "hidden_style",
        Severity::Low,
        &["||"],
        r"\|\|[^|\n]*\b(?:rm|sudo|transfer|send|wire|delete)\b[^|\n]*\|\|",
    ),
];

static PREFILTER: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let mut words = Vec::new();
    let mut owners = Vec::new();
    for (index, claim) in CLAIMS.iter().enumerate() {
        for keyword in claim.keywords {
            words.push(*keyword);
            owners.push(index);
        }
    }
    let prefilter = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(words)
        .ok()?;
    Some((prefilter, owners))
});

/// Longest text looked at for claims, in bytes.
const TEXT_BYTES_MAX: usize = 256 * 1024;

/// Adds every claim in `text`.
pub(super) fn deceptions(text: &str, found: &mut Vec<Deception>) {
    let Some((prefilter, owners)) = PREFILTER.as_ref() else {
        return;
    };
    let bytes = text.as_bytes();
    let bytes = bytes
        .get(..bytes.len().min(TEXT_BYTES_MAX))
        .unwrap_or_default();
    let mut wanted = [false; CLAIMS.len()];
    for hit in prefilter.find_overlapping_iter(bytes) {
        if let Some(flag) = owners
            .get(hit.pattern().as_usize())
            .and_then(|owner| wanted.get_mut(*owner))
        {
            *flag = true;
        }
    }
    for (claim, _) in CLAIMS.iter().zip(wanted).filter(|(_, wanted)| *wanted) {
        let regex = claim.compiled.get_or_init(|| {
            RegexBuilder::new(claim.pattern)
                .unicode(false)
                .case_insensitive(true)
                .multi_line(true)
                .build()
                .ok()
        });
        let Some(regex) = regex else { continue };
        for hit in regex.find_iter(bytes).take(super::DECEPTIONS_PER_CODE_MAX) {
            found.push(Deception {
                code: claim.code,
                span: (hit.start(), hit.end()),
                severity: claim.severity,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expression_compiles() {
        for claim in &CLAIMS {
            let built = RegexBuilder::new(claim.pattern).unicode(false).build();
            assert!(built.is_ok(), "{}: {:?}", claim.code, built.err());
        }
    }
}
