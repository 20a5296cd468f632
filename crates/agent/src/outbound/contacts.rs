//! Contacts: resolves names to addresses, which cards then show.

use std::collections::BTreeMap;

use lettre::Address;

/// Longest name and longest address, in bytes.
const NAME_BYTES_MAX: usize = 100;
const ADDRESS_BYTES_MAX: usize = 320;
/// What has a meaning in a recipient that is written out.
const RESERVED: &[char] = &['<', '>', '(', ')', ',', ';', '"', '@', ':'];

/// People by name.
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    named: BTreeMap<String, Reach>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Reach {
    Mail(String),
    /// Channel and address.
    Chat(String, String),
}

impl Contacts {
    /// Returns the contacts of a configuration: each name with `CHANNEL:ADDRESS` or an e-mail
    /// address; or what is wrong with them.
    pub fn new(named: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let named = named.into_iter().map(|(name, text)| {
            let reach = reach(&name, &text).map_err(|why| format!("`contacts.{name}`: {why}"))?;
            Ok((name, reach))
        });
        Ok(Self {
            named: named.collect::<Result<_, String>>()?,
        })
    }

    /// Returns the channels that are named.
    pub fn channels(&self) -> impl Iterator<Item = &str> {
        self.named.values().filter_map(|reach| match reach {
            Reach::Chat(channel, _) => Some(channel.as_str()),
            Reach::Mail(_) => None,
        })
    }

    /// Returns who is meant by `to` in a chat, written out: `ana (mattermost:@ana)`.
    pub fn chat(&self, to: &str) -> Result<String, String> {
        let name = to.split_once(" (").map_or(to, |(name, _)| name);
        match self.named.get(name) {
            Some(Reach::Chat(channel, address)) => {
                written_out(to, name, &format!("{name} ({channel}:{address})"))
            }
            Some(Reach::Mail(_)) => Err(format!("{name} has an e-mail address; use send_email")),
            None => Err(self.unknown(to)),
        }
    }

    /// Returns who is meant by `to` in a letter, written out: `ana <ana@example.org>`, or an
    /// address as it is.
    pub fn mail(&self, to: &str) -> Result<String, String> {
        let name = to.split_once(" <").map_or(to, |(name, _)| name);
        match self.named.get(name) {
            Some(Reach::Mail(address)) => written_out(to, name, &format!("{name} <{address}>")),
            Some(Reach::Chat(..)) => Err(format!("{name} is in a chat; use send_message")),
            None if is_mail(to) => Ok(to.to_owned()),
            None => Err(self.unknown(to)),
        }
    }

    fn unknown(&self, to: &str) -> String {
        let names: Vec<&str> = self.named.keys().map(String::as_str).collect();
        let known = if names.is_empty() {
            "the configuration names none".to_owned()
        } else {
            format!("there are {}", names.join(", "))
        };
        format!("there is no contact `{to}`; {known}")
    }
}

/// Whoever names a contact by more than the name must name the right address.
fn written_out(to: &str, name: &str, right: &str) -> Result<String, String> {
    if to == name || to == right {
        Ok(right.to_owned())
    } else {
        Err(format!("`{to}` is not {right}"))
    }
}

fn reach(name: &str, text: &str) -> Result<Reach, String> {
    let is_plain = |text: &str, bytes_max: usize| {
        !text.is_empty()
            && text.len() <= bytes_max
            && text.trim() == text
            && !text.chars().any(char::is_control)
    };
    if !is_plain(name, NAME_BYTES_MAX) || name.contains(RESERVED) {
        return Err("a name has no brackets, `@`, `:` or quotes in it".to_owned());
    }
    if !is_plain(text, ADDRESS_BYTES_MAX) || text.contains(['(', ')', '<', '>']) {
        return Err("its address cannot be used".to_owned());
    }
    match text.split_once(':') {
        Some((channel, address)) if !channel.is_empty() && !address.is_empty() => {
            Ok(Reach::Chat(channel.to_owned(), address.to_owned()))
        }
        None if is_mail(text) => Ok(Reach::Mail(text.to_owned())),
        Some(_) | None => Err("it is neither `CHANNEL:ADDRESS` nor an e-mail address".to_owned()),
    }
}

fn is_mail(text: &str) -> bool {
    // A quoted name could hold anything, brackets included.
    !text.contains(['"', '<', '>', '(', ')', ',', ';', ':'])
        && !text
            .chars()
            .any(|letter| letter.is_control() || letter.is_whitespace())
        && text.parse::<Address>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contacts() -> Contacts {
        let named = [
            ("ana", "mattermost:@ana"),
            ("bo", "bo@example.org"),
            ("the team", "pager:room:7"),
        ];
        Contacts::new(named.map(|(name, text)| (name.to_owned(), text.to_owned()))).unwrap()
    }

    #[test]
    fn a_name_is_written_out_and_a_wrong_address_beside_it_is_refused() {
        let chats = [
            ("ana", Ok("ana (mattermost:@ana)")),
            ("ana (mattermost:@ana)", Ok("ana (mattermost:@ana)")),
            ("the team", Ok("the team (pager:room:7)")),
            (
                "ana (mattermost:@eve)",
                Err("`ana (mattermost:@eve)` is not ana (mattermost:@ana)"),
            ),
            ("bo", Err("bo has an e-mail address; use send_email")),
            (
                "eve (mattermost:@eve)",
                Err("there is no contact `eve (mattermost:@eve)`; there are ana, bo, the team"),
            ),
            (
                "Ana",
                Err("there is no contact `Ana`; there are ana, bo, the team"),
            ),
        ];
        for (to, expected) in chats {
            let got = contacts().chat(to);
            let got = got.as_ref().map(String::as_str).map_err(String::as_str);
            assert_eq!(got, expected, "{to}");
        }
        let mails = [
            ("bo", Some("bo <bo@example.org>")),
            ("bo <bo@example.org>", Some("bo <bo@example.org>")),
            ("bo <eve@example.org>", None),
            ("boss <eve@example.org>", None),
            ("eve@example.org", Some("eve@example.org")),
            ("eve@example.org, bo@example.org", None),
            ("eve@example.org\r\nBcc: x@example.org", None),
            ("\"bo <bo@example.org>\"@example.net", None),
            ("ana", None),
            ("nobody", None),
        ];
        for (to, expected) in mails {
            assert_eq!(contacts().mail(to).ok().as_deref(), expected, "{to}");
        }
    }

    #[test]
    fn contacts_that_could_be_read_in_two_ways_are_refused() {
        let rows = [
            ("a (b)", "mattermost:@a"),
            ("a@b", "mattermost:@a"),
            ("", "mattermost:@a"),
            ("a", "nothing"),
            ("a", ":x"),
            ("a", "mattermost:"),
            ("a", "mattermost:@a)"),
            ("a", "a@example.org\nx"),
        ];
        for (name, text) in rows {
            let made = Contacts::new([(name.to_owned(), text.to_owned())]);
            assert!(made.is_err(), "{name}: {text}");
        }
    }
}
