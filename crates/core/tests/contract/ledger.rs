//! The ledger: whatever is done to it, the first entry that is not what it was is named.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "tests may fail loudly"
)]

use countersign_core::digest::Digest;
use countersign_core::ledger::checkpoint::{
    Checkpoint, CheckpointError, EVENT, sign_checkpoint, verify_checkpoint,
};
use countersign_core::ledger::{
    BrokenChain, Draft, Entry, GENESIS, Verified, Verifier, Walk, commitment,
};
use countersign_core::time::UnixMillis;
use countersign_core::token::PublicKey;
use ed25519_dalek::SigningKey;
use proptest::prelude::*;
use serde_json::{Value, json};

/// Every this many entries one is a checkpoint.
const CHECKPOINT_EVERY: u64 = 7;

fn key() -> SigningKey {
    SigningKey::from_bytes(&[3; 32])
}

fn keys(key: &SigningKey) -> Vec<PublicKey> {
    vec![PublicKey::new(key.verifying_key())]
}

/// Returns a ledger of `length` entries with checkpoints by `key`.
fn ledger(length: u64, key: &SigningKey) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut seq, mut previous) = (0, GENESIS);
    while seq < length {
        let is_checkpoint = (seq + 1).is_multiple_of(CHECKPOINT_EVERY);
        let draft = Draft {
            at: UnixMillis(1_790_000_000_000 + i64::try_from(seq).unwrap()),
            event: if is_checkpoint {
                EVENT
            } else {
                "call.assessed"
            }
            .to_owned(),
            owner: "key_01".to_owned(),
            run: "run_01".to_owned(),
            session: "ses-1 \u{1f}é".to_owned(),
            subject: format!("call_{seq}"),
            body: if is_checkpoint {
                // It speaks of the entry before the last, as if two gateways wrote at once.
                let spoken = entries.len() - 2;
                sign_checkpoint(entries[spoken].seq, entries[spoken].hash, key).to_string()
            } else {
                json!({"event": "call.assessed", "number": seq}).to_string()
            },
        };
        let entry = Entry::seal(draft, seq + 1, previous);
        (seq, previous) = (entry.seq, entry.hash);
        entries.push(entry);
    }
    entries
}

fn verified(entries: &[Entry], verifier: Verifier) -> Result<Verified, BrokenChain> {
    let mut verifier = verifier;
    for entry in entries {
        verifier.take(entry)?;
    }
    verifier.finish()
}

fn first_bad(lines: &[String]) -> Option<u64> {
    let mut verifier = Verifier::new(Some(keys(&key())), None);
    lines
        .iter()
        .find_map(|line| verifier.take_line(line).err())
        .map(|broken| broken.seq)
}

#[test]
fn a_ledger_that_nobody_touched_is_good() {
    let entries = ledger(50, &key());
    let found = verified(&entries, Verifier::new(Some(keys(&key())), None)).unwrap();
    let at = |index: usize| Checkpoint {
        seq: entries[index].seq,
        hash: entries[index].hash,
    };
    let expected = Verified {
        entries: 50,
        checkpoints: 7,
        signed: Some(at(46)),
        head: at(49),
    };
    assert_eq!(found, expected);
    assert_eq!(verified(&entries, Verifier::default()).unwrap(), expected);
    let empty = verified(&[], Verifier::default()).unwrap();
    assert_eq!(
        (empty.entries, empty.signed, empty.head.hash),
        (0, None, GENESIS)
    );
}

#[test]
fn a_walk_may_begin_behind_what_is_known_to_be_good() {
    let entries = ledger(20, &key());
    let mut walk = Walk::behind(entries[9].seq, entries[9].hash);
    for entry in &entries[10..] {
        walk.take(entry).unwrap();
    }
    assert_eq!(walk.head(), (20, entries[19].hash));
}

#[test]
fn a_ledger_written_anew_is_found_by_its_checkpoints() {
    // All hashes right, but another entry 4: the first checkpoint behind it is entry 7.
    let honest = ledger(20, &key());
    let mut forged: Vec<Entry> = Vec::new();
    for entry in &honest {
        let mut draft = entry.draft.clone();
        if entry.seq == 4 {
            draft.body = json!({"event": "approval.resolved"}).to_string();
        }
        let previous = forged.last().map_or(GENESIS, |entry| entry.hash);
        forged.push(Entry::seal(draft, entry.seq, previous));
    }
    let broken = verified(&forged, Verifier::new(Some(keys(&key())), None)).unwrap_err();
    assert_eq!(
        (broken.seq, broken.why),
        (7, "the checkpoint belongs to another ledger")
    );
}

#[test]
fn checkpoints_of_a_stranger_count_only_if_nobody_said_whose_they_must_be() {
    let stranger = SigningKey::from_bytes(&[4; 32]);
    let entries = ledger(20, &stranger);
    assert!(verified(&entries, Verifier::default()).is_ok());
    let broken = verified(&entries, Verifier::new(Some(keys(&key())), None)).unwrap_err();
    assert_eq!(
        (broken.seq, broken.why),
        (7, CheckpointError::UnknownKey.why())
    );
}

#[test]
fn a_head_kept_elsewhere_finds_what_was_cut_off_or_written_anew() {
    let entries = ledger(20, &key());
    let kept = Checkpoint {
        seq: 15,
        hash: entries[14].hash,
    };
    let anchored = || Verifier::new(None, Some(kept));
    assert!(verified(&entries, anchored()).is_ok());
    let broken = verified(&entries[..12], anchored()).unwrap_err();
    assert_eq!(broken.seq, 13, "{broken}");
    let other = Checkpoint {
        hash: Digest::of(b"other"),
        ..kept
    };
    let broken = verified(&entries, Verifier::new(None, Some(other))).unwrap_err();
    assert_eq!(broken.seq, 15, "{broken}");
}

#[test]
fn a_checkpoint_says_nothing_once_it_is_changed() {
    let body = sign_checkpoint(9, Digest::of(b"x"), &key());
    let stranger = SigningKey::from_bytes(&[4; 32]);
    let other = sign_checkpoint(9, Digest::of(b"x"), &stranger);
    let known = keys(&key());
    assert_eq!(
        verify_checkpoint(&body, Some(&known)),
        Ok(Checkpoint {
            seq: 9,
            hash: Digest::of(b"x")
        })
    );
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body[name] = value;
        body
    };
    let mut without = body.clone();
    without.as_object_mut().unwrap().remove("event");
    let rows = [
        (
            "another number",
            with("seq", json!(8)),
            CheckpointError::BadSignature,
        ),
        (
            "another hash",
            with("hash", json!(Digest::of(b"y"))),
            CheckpointError::BadSignature,
        ),
        (
            "another signature",
            with("signature", other["signature"].clone()),
            CheckpointError::BadSignature,
        ),
        (
            "another key",
            with("public_key", other["public_key"].clone()),
            CheckpointError::Malformed,
        ),
        (
            "another name of the key",
            with("kid", other["kid"].clone()),
            CheckpointError::Malformed,
        ),
        (
            "another event",
            with("event", json!("call.assessed")),
            CheckpointError::Malformed,
        ),
        (
            "a member too many",
            with("note", json!("")),
            CheckpointError::Malformed,
        ),
        ("a member too few", without, CheckpointError::Malformed),
        (
            "a number as a text",
            with("seq", json!("9")),
            CheckpointError::Malformed,
        ),
        (
            "a number with a fraction",
            with("seq", json!(9.0)),
            CheckpointError::Malformed,
        ),
        (
            "a hash without its name",
            with("hash", json!(Digest::of(b"x").hex())),
            CheckpointError::Malformed,
        ),
        (
            "a signature cut short",
            with("signature", json!("AAAA")),
            CheckpointError::Malformed,
        ),
        ("a stranger's", other.clone(), CheckpointError::UnknownKey),
        ("nothing", Value::Null, CheckpointError::Malformed),
    ];
    for (name, body, expected) in rows {
        assert_eq!(
            verify_checkpoint(&body, Some(&known)),
            Err(expected),
            "{name}"
        );
    }
    assert!(verify_checkpoint(&other, None).is_ok());
}

#[test]
fn a_commitment_is_the_keyed_hash_everybody_can_compute() {
    // RFC 4231, test case 2.
    assert_eq!(
        commitment(b"Jefe", b"what do ya want for nothing?"),
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    );
    assert_ne!(
        commitment(&[1; 16], b"secret"),
        commitment(&[2; 16], b"secret")
    );
    assert_ne!(
        commitment(&[1; 16], b"secret"),
        commitment(&[1; 16], b"secre")
    );
}

#[test]
fn nothing_can_be_added_to_a_line_that_is_not_hashed() {
    let line = ledger(1, &key())[0].line();
    assert!(Entry::from_line(&line).is_some());
    let rows = [
        ("a member", line.replacen('{', "{\"note\":1,", 1)),
        ("a member twice", line.replacen('{', "{\"seq\":1,", 1)),
        ("white space", line.replacen(':', ": ", 1)),
        ("another spelling", line.replace("\\u001f", "\\u001F")),
        ("something behind", format!("{line} ")),
    ];
    for (name, changed) in rows {
        assert_ne!(changed, line, "{name}");
        assert_eq!(Entry::from_line(&changed), None, "{name}");
    }
}

proptest! {
    #[test]
    fn a_byte_changed_anywhere_names_that_entry(
        length in 1..40_u64, which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), to in 0_u8..128,
    ) {
        let mut lines: Vec<String> = ledger(length, &key()).iter().map(Entry::line).collect();
        prop_assert_eq!(first_bad(&lines), None);
        let which = which.index(lines.len());
        let mut bytes = lines[which].clone().into_bytes();
        let at = at.index(bytes.len());
        prop_assume!(bytes[at] != to);
        bytes[at] = to;
        // A character cut in two is no line of text at all.
        if let Ok(line) = String::from_utf8(bytes) {
            lines[which] = line;
            prop_assert_eq!(first_bad(&lines), Some(which as u64 + 1));
        }
    }

    #[test]
    fn an_entry_dropped_added_or_moved_is_named(
        length in 2..40_u64, a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(), what in 0..4,
    ) {
        let mut lines: Vec<String> = ledger(length, &key()).iter().map(Entry::line).collect();
        let (a, b) = (a.index(lines.len()), b.index(lines.len()));
        let first = match what {
            // The last entry of all leaves no gap; only a head kept elsewhere shows that.
            0 => { prop_assume!(a + 1 < lines.len()); lines.remove(a); a }
            1 => { let copy = lines[b].clone(); lines.insert(a, copy); if a == b { a + 1 } else { a } }
            2 => { prop_assume!(a != b); lines.swap(a, b); a.min(b) }
            _ => {
                // An entry made up to fit, behind which the others do not.
                let previous = if a == 0 { GENESIS } else { Entry::from_line(&lines[a - 1]).unwrap().hash };
                let entry = Entry::seal(Draft::default(), a as u64 + 1, previous);
                lines.insert(a, entry.line());
                a + 1
            }
        };
        prop_assert_eq!(first_bad(&lines), Some(first as u64 + 1));
    }
}
