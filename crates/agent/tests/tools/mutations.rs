//! Ten thousand messages that are almost what was approved.

use countersign_agent::outbound::{Approval, Mail, Outgoing, check};
use countersign_agent::tools::Tool as _;
use countersign_core::digest::Digest;
use countersign_gate::calls::permit::Presented;
use serde_json::json;

use crate::support::{Sink, send_email, world};

const MUTATIONS: u64 = 10_000;
/// Letters a mutation may put in place of another.
const LETTERS: &[char] = &[
    'a', 'b', 'e', 'o', 'x', 'A', 'Z', '0', '1', '9', ' ', '.', '@', '-', '\n', '\u{430}', 'é',
    '\u{200b}', '<',
];

/// Numbers that look random and are the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(sides.max(1)).unwrap()).unwrap()
    }

    /// Changes one letter: replaced, put in, or taken out.
    fn change(&mut self, text: &str) -> String {
        let mut letters: Vec<char> = text.chars().collect();
        let at = self.roll(letters.len());
        let letter = LETTERS[self.roll(LETTERS.len())];
        match self.roll(3) {
            0 if !letters.is_empty() => letters[at] = letter,
            1 if !letters.is_empty() => drop(letters.remove(at)),
            _ => letters.insert(at, letter),
        }
        letters.into_iter().collect()
    }

    fn mutate(&mut self, mail: &mut Mail, files: &mut Vec<Vec<u8>>) {
        match self.roll(9) {
            0 => mail.to = self.change(&mail.to),
            1 => mail.subject = self.change(&mail.subject),
            2 => mail.body = self.change(&mail.body),
            3 => {
                let others = [
                    "eve@example.org",
                    "bo@example.org",
                    "bo",
                    "bo <bo@example.net>",
                ];
                others[self.roll(others.len())].clone_into(&mut mail.to);
            }
            4 => {
                // One bit of one attachment.
                let number = self.roll(files.len());
                let at = self.roll(files[number].len());
                files[number][at] ^= 1 << self.roll(8);
            }
            5 => {
                let number = self.roll(files.len());
                files.remove(number);
            }
            6 => {
                let number = self.roll(files.len());
                files.push(files[number].clone());
            }
            7 => files.reverse(),
            _ => {
                let number = self.roll(mail.attachments.len());
                mail.attachments[number] = self.change(&mail.attachments[number]);
            }
        }
        // Several at once, now and then.
        if self.roll(4) == 0 && !files.is_empty() {
            self.mutate(mail, files);
        }
    }
}

#[tokio::test]
async fn none_of_ten_thousand_mutations_of_an_approved_letter_is_sent() {
    let world = world().await;
    let files = [b"forty-two".to_vec(), b"forty-three".to_vec()];
    world.write("a.txt", "forty-two");
    world.write("b.txt", "forty-three");
    let sink = Sink::default();
    let tool = send_email(sink.clone());
    let args = json!({
        "to": "bo", "subject": "The report", "body": "Dear Bo,\nhere it is.\n",
        "attachments": ["a.txt", "b.txt"],
    });
    // One yes for whoever presents a token, one for whoever has a permit already.
    let resolved = tool.resolved(args.clone()).unwrap();
    let approved: Mail = serde_json::from_value(resolved).unwrap();
    let first = world.submit(&tool, args.clone()).await;
    let first = world.approved(first).await;
    let permit = world.taken_up(&first).await.unwrap();
    let second = world.submit(&tool, args).await;
    let token = world.approved(second).await.token.unwrap();

    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut tried = 0;
    while tried < MUTATIONS {
        let (mut mail, mut attached) = (approved.clone(), files.to_vec());
        dice.mutate(&mut mail, &mut attached);
        if mail == approved && attached == files {
            continue;
        }
        tried += 1;
        let action = Presented {
            tool: "send_email".to_owned(),
            args: serde_json::to_value(&mail).unwrap(),
            cwd: Some(world.project.to_string_lossy().into_owned()),
            executor: "tool:send_email".to_owned(),
            attachments: attached.iter().map(|bytes| Digest::of(bytes)).collect(),
        };
        let redeemed = world.try_with_token(&tool, action, &token).await;
        assert!(redeemed.is_err(), "{tried}: {mail:?} {attached:?}");
        let outgoing = Outgoing {
            tool: "send_email",
            content: mail,
            attachments: attached,
        };
        let checked = check(&permit, &outgoing, Approval::Required, &world.around).await;
        assert!(checked.is_err(), "{tried}: {outgoing:?}");
    }
    assert_eq!(sink.sent(), []);

    // The letter itself still goes, so it was not for another reason that the others did not.
    let outcome = tool.run(permit, &world.around).await;
    assert!(!outcome.failed, "{}", outcome.text);
    assert_eq!(sink.sent(), [approved]);
}
