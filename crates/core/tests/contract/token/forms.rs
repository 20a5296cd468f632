//! Vectors about the form of the token as text, and about signatures.

use ed25519_dalek::Signer as _;
use serde_json::json;

use super::case::{Call, Case, encoded, key, second_key, signed, signed_bytes};

/// The order of the group, little-endian: added to the second half of a signature it gives another
/// that a lax verifier takes.
const ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];

/// The same token in other spellings.
pub(crate) fn spellings() -> Vec<Case> {
    let token = Call::default().token();
    let [header, claims, signature] = parts(&token);
    let rows = [
        ("nothing", String::new()),
        ("dots", "..".to_owned()),
        ("one part", header.clone()),
        ("two parts", format!("{header}.{claims}")),
        ("four parts", format!("{token}.{signature}")),
        ("a dot in front", format!(".{token}")),
        ("a dot behind", format!("{token}.")),
        ("five parts", format!("{header}..{claims}..{signature}")),
        ("no header", format!(".{claims}.{signature}")),
        ("a space in front", format!(" {token}")),
        ("a space behind", format!("{token} ")),
        ("a line end behind", format!("{token}\n")),
        ("a line end of Windows behind", format!("{token}\r\n")),
        ("a line end within", format!("{header}.{claims}.\n{signature}")),
        ("a line end in a part", format!("{header}.{}\n{}.{signature}", &claims[..64], &claims[64..])),
        ("a tab within", format!("{header}\t.{claims}.{signature}")),
        ("a null behind", format!("{token}\0")),
        ("a zero-width space behind", format!("{token}\u{200b}")),
        ("a wide dot", format!("{header}．{claims}.{signature}")),
        ("a wide letter", token.replacen('e', "ｅ", 1)),
        ("a percent sign", token.replacen('.', "%2E", 1)),
        ("the word Bearer", format!("Bearer {token}")),
        ("quotes", format!("\"{token}\"")),
        ("padding behind the signature", format!("{token}==")),
        ("padding behind the claims", format!("{header}.{claims}==.{signature}")),
        ("padding behind the header", format!("{header}=.{claims}.{signature}")),
        ("spare bits in the signature", format!("{header}.{claims}.{}", spare_bits(&signature))),
        ("as JSON", json!({"payload": claims, "protected": header, "signature": signature}).to_string()),
        ("as JSON with a list", json!({"payload": claims, "signatures": [{"protected": header, "signature": signature}]}).to_string()),
        ("twenty thousand letters", "A".repeat(20_000)),
        ("a token and twenty thousand letters", format!("{token}{}", "A".repeat(20_000))),
    ];
    let mut cases: Vec<Case> = rows
        .iter()
        .map(|(name, token)| Case::new(&format!("spelling: {name}"), token, "malformed"))
        .collect();
    for (name, part) in [("header", 0), ("claims", 1)] {
        let mut parts = parts(&token_with_spare_bits());
        parts[part] = spare_bits(&parts[part]);
        let text = format!("{}.{}", parts[0], parts[1]);
        // Signed as it is spelled, so that only the spelling is wrong.
        let token = format!(
            "{text}.{}",
            encoded(&key().sign(text.as_bytes()).to_bytes())
        );
        let name = format!("spelling: spare bits in the {name}, signed so");
        cases.push(Case::new(&name, &token, "malformed"));
    }
    let [header, claims, signature] = parts(&token_in_both_alphabets());
    for (name, token) in [
        (
            "signature",
            format!("{header}.{claims}.{}", standard(&signature)),
        ),
        (
            "claims",
            format!("{header}.{}.{signature}", standard(&claims)),
        ),
    ] {
        let name = format!("spelling: the other alphabet in the {name}");
        cases.push(Case::new(&name, &token, "malformed"));
    }
    cases.extend(sizes());
    cases
}

fn sizes() -> Vec<Case> {
    // Three bytes of a claim are four of the token; the rest is found by trying.
    let sized = |bytes: usize| {
        (2000..3000).find_map(|letters| {
            let call = Call {
                session: "s".repeat(letters),
                ..Call::default()
            };
            (call.token().len() >= bytes).then_some(call)
        })
    };
    let fits = sized(4095).unwrap();
    let over = sized(4097).unwrap();
    assert!(fits.token().len() <= 4096, "{}", fits.token().len());
    vec![
        Case::new("as long as a token may be", &fits.token(), "ok").doing(fits.expected()),
        Case::new("longer than a token may be", &over.token(), "malformed").doing(over.expected()),
    ]
}

/// Signatures that are none.
pub(crate) fn signatures() -> Vec<Case> {
    let token = Call::default().token();
    let [header, claims, _] = parts(&token);
    let text = format!("{header}.{claims}");
    let honest = key().sign(text.as_bytes()).to_bytes();
    let (r, s) = honest.split_at(32);
    let flipped = |at: usize| {
        let mut bytes = honest;
        bytes[at] ^= 1;
        bytes.to_vec()
    };
    let other = Call::with(json!({"to": "bo"})).token();
    let [_, other_claims, other_signature] = parts(&other);
    let rows = [
        ("empty", Vec::new()),
        ("a byte short", honest[..63].to_vec()),
        ("a byte long", [honest.as_slice(), &[0]].concat()),
        ("half", r.to_vec()),
        ("twice", [honest, honest].concat()),
        ("all zeros", vec![0; 64]),
        ("all ones", vec![0xff; 64]),
        ("first bit flipped", flipped(0)),
        ("last bit of the first half flipped", flipped(31)),
        ("first bit of the second half flipped", flipped(32)),
        ("last byte changed", flipped(63)),
        ("halves exchanged", [s, r].concat()),
        (
            "with the order of the group added",
            [r, &plus_order(s)].concat(),
        ),
        (
            "of the claims alone",
            key().sign(claims.as_bytes()).to_bytes().to_vec(),
        ),
        ("of the text decoded", key().sign(b"{}").to_bytes().to_vec()),
        (
            "by another key",
            second_key().sign(text.as_bytes()).to_bytes().to_vec(),
        ),
        (
            "the neutral point and zero",
            [[1].as_slice(), &[0; 63]].concat(),
        ),
        (
            "in hexadecimal",
            honest
                .iter()
                .flat_map(|byte| format!("{byte:02x}").into_bytes())
                .collect(),
        ),
    ];
    let mut cases: Vec<Case> = rows
        .iter()
        .map(|(name, signature)| {
            let token = format!("{text}.{}", encoded(signature));
            Case::new(&format!("signature: {name}"), &token, "bad_signature")
        })
        .collect();
    for (name, token) in [
        ("of another token", format!("{text}.{other_signature}")),
        ("over no claims", format!("{header}..{}", encoded(&honest))),
        (
            "over other claims",
            format!("{header}.{other_claims}.{}", encoded(&honest)),
        ),
    ] {
        cases.push(Case::new(
            &format!("signature: {name}"),
            &token,
            "bad_signature",
        ));
    }
    for (claim, value) in [
        ("exp", json!(super::case::NOW + 111)),
        ("jti", json!("tok_02")),
        ("apr", json!({"who": "bo", "channel": "web", "tier": "T1"})),
        ("tier", json!("T4")),
        ("admin", json!(true)),
    ] {
        let mut changed = Call::default().claims();
        changed[claim] = value;
        let [_, changed, _] = parts(&signed(&changed));
        let token = format!("{header}.{changed}.{}", encoded(&honest));
        let name = format!("claim {claim} changed after signing");
        cases.push(Case::new(&name, &token, "bad_signature"));
    }
    cases
}

fn parts(token: &str) -> [String; 3] {
    let parts: Vec<String> = token.split('.').map(str::to_owned).collect();
    parts.try_into().unwrap()
}

/// Returns `part` with a bit set that no byte uses.
fn spare_bits(part: &str) -> String {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    assert_ne!(part.len() % 4, 0, "every bit of this part is used");
    let (rest, last) = part.split_at(part.len() - 1);
    let value = letters.find(last).unwrap();
    format!("{rest}{}", &letters[value | 1..=value | 1])
}

/// Returns a token whose header and claims leave bits unused.
fn token_with_spare_bits() -> String {
    (0..3)
        .map(|letters| {
            let mut claims = Call::default().claims();
            claims["iss"] = json!("i".repeat(letters));
            signed(&claims)
        })
        .find(|token| !parts(token)[1].len().is_multiple_of(4))
        .unwrap()
}

/// Returns a token whose parts use the letters in which the two alphabets differ.
fn token_in_both_alphabets() -> String {
    let differs = |part: &String| part.contains(['-', '_']);
    (0..1000)
        .map(|number| {
            let mut claims = Call::default().claims();
            claims["iss"] = json!(format!("ÿ>?{number}"));
            signed(&claims)
        })
        .find(|token| parts(token)[1..].iter().all(differs))
        .unwrap()
}

fn standard(part: &str) -> String {
    part.replace('-', "+").replace('_', "/")
}

fn plus_order(s: &[u8]) -> Vec<u8> {
    let mut carry = 0;
    s.iter()
        .zip(ORDER)
        .map(|(a, b)| {
            let sum = u16::from(*a) + u16::from(b) + carry;
            carry = sum >> 8;
            u8::try_from(sum & 0xff).unwrap()
        })
        .collect()
}

#[test]
fn the_header_leaves_bits_unused() {
    let token = signed_bytes(b"{}", b"{}");
    assert_eq!(parts(&token)[0].len(), 3);
    assert_ne!(parts(&Call::default().token())[0].len() % 4, 0);
}
