//! Secrets are found in every shape the table knows, in messages as people and agents write them, and
//! hashes, references and stand-ins are left alone. No credential is stored here: all are made at run time.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests read data, run the generator and may fail loudly"
)]

use countersign_core::content::secrets::shape::{CLASSES, Part, SHAPES, parts};
use countersign_core::content::secrets::{View, redact, scan};
use proptest::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A small generator of numbers: tests must give the same answer every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % sides
    }

    fn letters(&mut self, alphabet: &str, count: usize) -> String {
        let alphabet: Vec<char> = alphabet.chars().collect();
        (0..count)
            .map(|_| alphabet[self.roll(alphabet.len())])
            .collect()
    }
}

const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
const LARGE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

fn alphabet(class: &str) -> String {
    match class {
        "an" | "b6" | "pc" => format!("{SMALL}{LARGE}{DIGITS}"),
        "al" => format!("{SMALL}{LARGE}"),
        "lo" => SMALL.to_owned(),
        "up" => LARGE.to_owned(),
        "ld" => format!("{SMALL}{DIGITS}"),
        "ud" => format!("{LARGE}{DIGITS}"),
        "hx" => "0123456789abcdef".to_owned(),
        "dg" => DIGITS.to_owned(),
        "ur" | "az" => format!("{SMALL}{LARGE}{DIGITS}_-"),
        "b3" => format!("{LARGE}234567"),
        "be" => "023456789ACDEFGHJKLMNPQRSTUVWXYZ".to_owned(),
        "bl" => "023456789acdefghjklmnpqrstuvwxyz".to_owned(),
        other => panic!("no alphabet for {other}"),
    }
}

fn uuid(dice: &mut Dice) -> String {
    [8, 4, 4, 4, 12]
        .map(|count| dice.letters("0123456789abcdef", count))
        .join("-")
}

fn sample(shape: &'static str, dice: &mut Dice) -> String {
    let mut made = String::new();
    for part in parts(shape).unwrap() {
        match part {
            Part::Literal(text) => made.push_str(text),
            Part::Class {
                name: "uu" | "hu", ..
            } => made.push_str(&uuid(dice)),
            Part::Class { name, min, .. } => made.push_str(&dice.letters(&alphabet(name), min)),
        }
    }
    made
}

const MESSAGES: &[&str] = &[
    "{}",
    "Here is the key: {}",
    "use {} for staging",
    "can you try {} please?",
    "<code>{}</code>",
    "auth={}",
    "- {}\n- ask Ben",
    "\"{}\", don't share",
    "curl -H 'X-Api-Key: {}' https://api.example.org",
    "v1?key={}&page=2",
    r#"{"body":"line one\n{}\nthanks"}"#,
];

#[test]
fn every_row_of_the_table_can_be_read() {
    let rows = include_str!("../../knowledge/secrets.tsv")
        .lines()
        .filter(|row| !row.starts_with('#'))
        .count();
    assert_eq!(SHAPES.len(), rows);
    for shape in SHAPES.iter() {
        assert!(shape.regex().is_some(), "{}: {}", shape.kind, shape.text);
        assert!(!shape.keyword.is_empty(), "{}: {}", shape.kind, shape.text);
    }
    assert!(CLASSES.len() > 10);
}

#[test]
fn every_shape_is_found_in_every_kind_of_message() {
    let mut missed = Vec::new();
    let mut dice = Dice(0x5EED_0001);
    let mut total = 0;
    for shape in SHAPES.iter() {
        for message in MESSAGES {
            total += 1;
            let value = sample(shape.text, &mut dice);
            let text = message.replacen("{}", &value, 1);
            if scan(&text).is_empty() {
                missed.push(format!("{}: {} in {message}", shape.kind, shape.text));
            }
        }
    }
    // A random value may look like a stand-in or have too little variety; that is rare.
    assert!(
        missed.len() * 200 <= total,
        "{} of {total} missed: {missed:#?}",
        missed.len()
    );
}

#[derive(Deserialize)]
struct Row {
    id: String,
    text: String,
    label: String,
    kind: String,
    split: String,
}

/// Runs the generator of the corpus into a temporary folder; nothing if there is no Python.
fn generated() -> Option<Vec<Row>> {
    let folder = std::env::temp_dir().join(format!("countersign-secrets-{}", std::process::id()));
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/gen_secrets.py");
    let made = std::process::Command::new("python3")
        .arg(generator)
        .arg(&folder)
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        crate::skipped::skipped("python3 is missing, so no credentials were generated");
        return None;
    }
    let rows = std::fs::read_to_string(folder.join("secrets_all.jsonl")).unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    Some(
        rows.lines()
            .map(|row| serde_json::from_str(row).unwrap())
            .collect(),
    )
}

#[test]
fn generated_secrets_are_found_and_hard_negatives_are_not() {
    let Some(rows) = generated() else { return };
    let mut tally: BTreeMap<(&str, &str), (usize, usize)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for row in &rows {
        let found = !scan(&row.text).is_empty();
        let class = if row.kind.starts_with("evasion") {
            "evasion"
        } else {
            row.label.as_str()
        };
        let entry = tally.entry((class, row.split.as_str())).or_default();
        entry.0 += usize::from(found);
        entry.1 += 1;
        if found != (row.label == "secret") {
            let shown: String = row.text.chars().take(110).collect();
            wrong.push(format!("{} {} {}: {shown}", row.id, row.kind, row.label));
        }
    }
    println!("{tally:#?}\n{wrong:#?}");
    let sum = |class: &str| {
        tally
            .iter()
            .filter(|((c, _), _)| *c == class)
            .fold((0, 0), |s, (_, n)| (s.0 + n.0, s.1 + n.1))
    };
    let (secret, clean, evasion) = (sum("secret"), sum("clean"), sum("evasion"));
    assert!(secret.1 > 0 && clean.1 > 0, "nothing was measured");
    assert!(secret.0 * 100 >= secret.1 * 98, "recall {secret:?}");
    assert!(clean.0 * 1000 <= clean.1 * 5, "false alarms {clean:?}");
    assert!(evasion.0 >= 55, "evasions {evasion:?}");
}

/// Writes a value as an agent could write it to get past a scanner.
fn disguises(value: &str) -> Vec<(View, String)> {
    let base64 = |bytes: &[u8]| {
        let alphabet: Vec<char> = format!("{LARGE}{SMALL}{DIGITS}+/").chars().collect();
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let word =
                chunk.iter().fold(0u32, |w, b| (w << 8) | u32::from(*b)) << (8 * (3 - chunk.len()));
            for place in 0..=chunk.len() {
                out.push(alphabet[usize::try_from(word >> (18 - 6 * place)).unwrap() & 63]);
            }
        }
        out
    };
    let each = |write: fn(char) -> String| value.chars().map(write).collect::<String>();
    let middle = value.len() / 2;
    vec![
        (View::Base64, base64(value.as_bytes())),
        (
            View::Base64,
            base64(format!("password: {value}").as_bytes()),
        ),
        (View::Base64, base64(base64(value.as_bytes()).as_bytes())),
        (View::Hex, each(|c| format!("{:02x}", u32::from(c)))),
        (View::Percent, each(|c| format!("%{:02X}", u32::from(c)))),
        (
            View::UnicodeEscape,
            each(|c| format!("\\u{:04x}", u32::from(c))),
        ),
        (
            View::UnicodeEscape,
            each(|c| format!("\\x{:02x}", u32::from(c))),
        ),
        (View::HtmlEntity, each(|c| format!("&#{};", u32::from(c)))),
        (
            View::HtmlEntity,
            each(|c| format!("&#x{:x};", u32::from(c))),
        ),
        (View::ZeroWidth, each(|c| format!("{c}\u{200b}"))),
        (
            View::ZeroWidth,
            each(|c| char::from_u32(0xE0000 + u32::from(c)).unwrap().to_string()),
        ),
        (
            View::Compatibility,
            each(|c| char::from_u32(0xFEE0 + u32::from(c)).unwrap().to_string()),
        ),
        (View::Spaced, each(|c| format!("{c} "))),
        (View::Spaced, each(|c| format!("{c}|"))),
        (
            View::Joined,
            format!("{}\n{}", &value[..middle], &value[middle..]),
        ),
        (
            View::Joined,
            format!("{}\n    {}", &value[..middle], &value[middle..]),
        ),
        (View::Reversed, value.chars().rev().collect()),
    ]
}

#[test]
fn disguised_secrets_are_found_and_taken_out() {
    let mut dice = Dice(0x5EED_0002);
    let shapes = [
        "ghp_<an:36>",
        "glpat-<ur:20>",
        "sk-ant-<ur:95>",
        "hf_<al:34>",
        "dop_v1_<hx:64>",
        "shpat_<hx:32>",
    ];
    let (mut total, mut missed, mut left) = (0, Vec::new(), Vec::new());
    for shape in shapes {
        let value = sample(shape, &mut dice);
        for (view, written) in disguises(&value) {
            total += 1;
            let text = format!("note for later: {written} thanks");
            if scan(&text).is_empty() {
                missed.push((shape, view));
            }
            let shown = redact(&text);
            if shown.contains(written.get(..written.len() / 2).unwrap_or(&written)) {
                left.push((shape, view));
            }
        }
    }
    assert!(
        missed.len() * 20 <= total,
        "{} of {total}: {missed:?}",
        missed.len()
    );
    assert!(
        left.len() * 20 <= total,
        "{} of {total} not taken out: {left:?}",
        left.len()
    );
}

#[test]
fn credentials_of_unlisted_vendors_are_found() {
    let mut dice = Dice(0x5EED_0003);
    let shapes = [
        "acme_live_<an:32>",
        "zz_sk_<an:24>",
        "qux-api-<hx:40>",
        "wobble_pat_<ur:40>",
        "nimbus_<an:44>",
        "kiwi-token-<ld:32>",
        "foo.secret.<an:36>",
        "vx1_prod_<an:30>",
        "blip_secret_<hx:48>",
    ];
    let names = [
        "ACME_SECRET",
        "nimbus_api_key",
        "x-auth-token",
        "ZED_ACCESS_TOKEN",
        "encryptionKey",
        "db.password",
        "service_credentials",
        "SIGNING_KEY",
    ];
    let values = ["<hx:32>", "<an:40>", "<ld:36>", "<ur:44>", "<ud:32>"];
    let mut missed = Vec::new();
    for shape in shapes {
        for message in MESSAGES {
            let text = message.replacen("{}", &sample(shape, &mut dice), 1);
            if scan(&text).is_empty() {
                missed.push(text);
            }
        }
    }
    for name in names {
        for value in values {
            for form in [
                "{k}={v}",
                "{k}: {v}",
                "export {k}=\"{v}\"",
                "{\"{k}\": \"{v}\"}",
                "the {k} is {v}",
                "{k} => '{v}'",
                "<{k}>{v}</{k}>",
                "--{k} {v}",
                "{k}: \n  {v}",
            ] {
                let text = form
                    .replace("{k}", name)
                    .replace("{v}", &sample(value, &mut dice));
                if scan(&text).is_empty() {
                    missed.push(text);
                }
            }
        }
    }
    assert!(missed.len() <= 9, "{} missed: {missed:#?}", missed.len());
}

/// Forms and what they look like, written as shapes.
const CARRIERS: &[(&str, &str)] = &[
    (
        "netrc",
        "machine git.example.org login bob password <an:14>",
    ),
    ("address", "amqp://svc:<an:12>@mq.example.org/"),
    ("curl", "curl -u bob:<an:12> https://x.example"),
    ("cookie", "Cookie: theme=dark; sessionid=<ld:32>"),
    ("basic", "authorization: basic <an:27>="),
    (
        "connection string",
        "Server=db;User Id=sa;Password=Xy9<an:10>;Encrypt=true",
    ),
    (
        "storage",
        "DefaultEndpointsProtocol=https;AccountKey=<an:86>==",
    ),
    ("json", r#"{"client_secret":"<ur:40>"}"#),
    ("escaped json", r#"{\"api_key\":\"<an:32>\"}"#),
    ("German", "Das Passwort lautet Xy9<an:8>"),
    ("Spanish", "la contraseña es Xy9<an:8>"),
    (
        "words between",
        "the password for the staging server is Xy9<an:8>",
    ),
    ("words and a sign", "password for prod: Xy9<an:8>"),
    ("option", "mytool --password Xy9<an:8>"),
    ("sshpass", "sshpass -p Xy9<an:8> ssh root@x"),
    ("shadow", "root:$6$<an:16>$<an:60>:19000:0:99999:7:::"),
    ("signed token", "eyJ<ur:30>.eyJ<ur:60>.<ur:43>"),
    (
        "key block",
        "-----BEGIN PRIVATE KEY-----\n<an:64>\n-----END PRIVATE KEY-----",
    ),
    ("one-time password", "otpauth://totp/x?secret=<b3:32>"),
];

#[test]
fn forms_that_carry_a_credential_are_found() {
    let mut dice = Dice(0x5EED_0004);
    for (name, shape) in CARRIERS {
        for _ in 0..5 {
            let text = sample(shape, &mut dice);
            assert!(!scan(&text).is_empty(), "{name}: {text}");
        }
    }
    let seed = format!("my recovery phrase: {}", ["apple"; 12].join(" "));
    assert!(!scan(&seed).is_empty());
}

#[test]
fn references_mentions_and_stand_ins_are_left_alone() {
    let rows = [
        "password: ${DB_PASSWORD}",
        "api_key = os.getenv('API_KEY')",
        "token=$(cat token.txt)",
        "secret: !vault |",
        "password: string",
        "\"password\": \"required\"",
        "const token = req.headers.authorization",
        "apiKey: process.env.API_KEY",
        "token: Option<String>",
        "password=hunter",
        "Authorization: Bearer <token>",
        "https://user:password@example.org",
        "https://$USER:$PASS@example.org",
        "-----BEGIN PRIVATE KEY----- is the first line",
        "secretName: my-app-tls-2024",
        "the key is under the mat",
        "token_type: bearer",
        "max_tokens: 4096",
        "author: jane-doe-1984",
        "compass=north-by-northwest",
        "primary_key: user_id_2024_index",
        "key: value",
        "the password is in the vault",
        "session: 2024-05-01T10:00:00Z",
        "keyboard: qwerty-us-intl-2",
        "sha256: 0000",
        "passed: 12/14",
        "see https://example.org/reset?next=/home",
        "git rev-parse HEAD",
        "auth: oauth2-proxy",
        "tokenizer: gpt2-medium-v1",
        "secret: kubernetes.io/tls",
        "uses: actions/checkout@v4",
        "pass the salt",
        "My passport expires in 2031",
        "a monkey=banana12345 test of words",
    ];
    let wrong: Vec<_> = rows
        .iter()
        .map(|text| (text, scan(text)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    assert!(wrong.len() <= 1, "{wrong:#?}");
}

#[test]
fn the_chip_says_kind_and_fingerprint_only() {
    let mut dice = Dice(0x5EED_0005);
    let value = sample("ghp_<an:36>", &mut dice);
    let text = format!("use {value} please");
    let shown = redact(&text);
    assert!(!shown.contains(&value));
    assert!(
        shown.starts_with("use ‹secret: github token, sha256 ") && shown.ends_with("› please"),
        "{shown}"
    );
    assert_eq!(redact(&shown), shown);
    assert_eq!(redact("nothing here"), "nothing here");
}

fn mixed_text() -> impl Strategy<Value = String> {
    let token = (0..SHAPES.len(), any::<u64>())
        .prop_map(|(row, seed)| sample(SHAPES[row].text, &mut Dice(seed | 1)));
    let piece = prop_oneof![
        3 => "[ -~]{0,20}",
        2 => "\\PC{0,8}",
        2 => token,
        2 => prop::sample::select(vec!["password=", "token: ", "\n", "\"", "‹secret: ", ", sha256 ab12›", "%41", "\\u0041", "&#65;", "\u{200b}", "key is ", "://a:", "@b"]).prop_map(str::to_owned),
    ];
    prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn redacting_twice_changes_nothing_more(text in mixed_text()) {
        let once = redact(&text).into_owned();
        prop_assert_eq!(redact(&once), once.as_str());
    }

    #[test]
    fn spans_are_in_order_and_in_the_text(text in mixed_text()) {
        let finds = scan(&text);
        prop_assert_eq!(&finds, &scan(&text));
        let mut end = 0;
        for find in finds {
            prop_assert!(find.span.0 >= end && find.span.0 < find.span.1, "{find:?}");
            prop_assert!(text.get(find.span.0..find.span.1).is_some());
            end = find.span.1;
        }
    }
}

#[test]
fn long_hostile_text_takes_no_time() {
    for piece in [
        "password=",
        "a b ",
        "x\n",
        "%41",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "eyJa.",
        "aB3",
        "seed ",
        "\u{200b}",
        "://:@",
        "cookie:",
    ] {
        let text = piece.repeat(64 * 1024 / piece.len());
        let (found, taken) = crate::processor::time(|| scan(&text).len());
        assert!(
            taken.as_secs() < 10,
            "{piece:?} took {taken:?}, {found} finds"
        );
        println!("{piece:?} {taken:?}");
    }
}
