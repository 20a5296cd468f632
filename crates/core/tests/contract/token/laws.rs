//! Binding: a token opens exactly one call, and any change to either closes it.

use countersign_core::token::{
    Approver, Arguments, Claims, Expected, PublicKey, TokenError, mint, read, verify,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::case::{Call, NOW, key};

/// Returns what `verify` says about `token` when `call` is about to be made.
fn tried(token: &str, call: &Call) -> Result<Claims, TokenError> {
    let expected = Expected {
        audience: &call.executor,
        tool: &call.tool,
        session: &call.session,
        agent: None,
        arguments: call
            .raw
            .as_deref()
            .map_or(Arguments::Json(&call.arguments), Arguments::Raw),
        cwd: call.cwd.as_deref(),
        attachments: &call.attachments,
    };
    let keys = [PublicKey::new(key().verifying_key())];
    verify(token, &keys, NOW, expected)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-9_007_199_254_740_991_i64..=9_007_199_254_740_991).prop_map(Value::from),
        (-1.0..1.0_f64).prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(".{0,6}", inner, 0..5)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn any_call() -> impl Strategy<Value = Call> {
    (
        ".{0,20}",
        ".{0,20}",
        ".{0,20}",
        any_json(),
        prop::option::of(prop::collection::vec(any::<u8>(), 0..60)),
        prop::option::of(".{0,30}"),
    )
        .prop_map(|(tool, executor, session, arguments, raw, cwd)| Call {
            tool,
            executor,
            session,
            arguments,
            raw,
            cwd,
            ..Call::default()
        })
}

proptest! {
    #[test]
    fn law_3_binding_a_token_opens_its_own_call(call in any_call()) {
        prop_assert!(tried(&call.token(), &call).is_ok());
    }

    #[test]
    fn law_3_binding_a_token_opens_no_other_call(call in any_call(), other in any_call(), which in 0..6) {
        let mut asked = call.clone();
        match which {
            0 => asked.tool = other.tool,
            1 => asked.executor = other.executor,
            2 => asked.session = other.session,
            3 => asked.arguments = other.arguments,
            4 => asked.raw = other.raw,
            _ => asked.cwd = other.cwd,
        }
        let is_same = asked.expected() == call.expected();
        prop_assert_eq!(tried(&call.token(), &asked).is_ok(), is_same);
    }

    #[test]
    fn law_3_binding_any_byte_changed_in_the_token_closes_it(
        call in any_call(), at in any::<prop::sample::Index>(), to in 0_u8..128,
    ) {
        let token = call.token();
        let mut bytes = token.clone().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        let changed = String::from_utf8(bytes).unwrap();
        prop_assert!(tried(&changed, &call).is_err());
        prop_assert!(read(&changed, &[PublicKey::new(key().verifying_key())], NOW).is_err());
    }

    #[test]
    fn law_3_binding_any_byte_changed_in_the_arguments_closes_it(
        raw in prop::collection::vec(any::<u8>(), 1..200), at in any::<prop::sample::Index>(), by in 1_u8..,
    ) {
        let call = Call { raw: Some(raw.clone()), ..Call::default() };
        let mut changed = raw;
        let at = at.index(changed.len());
        changed[at] ^= by;
        let asked = Call { raw: Some(changed), ..Call::default() };
        prop_assert_eq!(tried(&call.token(), &asked), Err(TokenError::Other("call")));
    }

    #[test]
    fn no_text_makes_a_reader_panic_or_opens_anything(token in "\\PC{0,300}") {
        let keys = [PublicKey::new(key().verifying_key())];
        prop_assert_eq!(read(&token, &keys, NOW), Err(TokenError::Malformed));
    }

    #[test]
    fn what_is_minted_is_read_as_it_was(who in ".{0,40}", iss in ".{0,40}", life in 1..=300_i64) {
        let claims = Claims {
            iss,
            exp: NOW + life,
            iat: NOW,
            apr: Approver { who, channel: "web".to_owned(), tier: "T3".to_owned() },
            ..serde_json::from_value(Call::default().claims()).unwrap()
        };
        let keys = [PublicKey::new(key().verifying_key())];
        let token = mint(&claims, &key());
        prop_assert_eq!(read(&token, &keys, NOW), Ok(claims.clone()));
        // By its signer's own clock a token ends when it says, without grace.
        prop_assert_eq!(read(&token, &keys, NOW + life - 1), Ok(claims));
        prop_assert_eq!(read(&token, &keys, NOW + life), Err(TokenError::Expired));
    }
}

#[test]
fn minting_is_the_form_the_vectors_have() {
    let call = Call::with(json!({"to": "ana"}));
    let claims: Claims = serde_json::from_value(call.claims()).unwrap();
    assert_eq!(mint(&claims, &key()), call.token());
}
