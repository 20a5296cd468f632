//! `Press`: interactions with a card, the same for every platform.

use countersign_core::approval::Choice;
use countersign_core::digest::Digest;
use countersign_core::tier::Tier;

/// Most answers of a clarification that have a button.
pub const ANSWERS_MAX: u8 = 9;

/// The buttons of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Press {
    /// One of the choices of an approval.
    Choose(Choice),
    /// *Deny*, with something to say about it.
    DenyNote,
    /// Show the full text.
    View,
    /// One of the answers of a clarification, from 1.
    Answer(u8),
    /// An answer in one's own words.
    Other,
    /// Take back the grant that the answer left.
    Revoke,
}

/// Each press, with its word, and its letter where a button has little room.
const WORDS: &[(&str, char, Press)] = &[
    ("once", 'o', Press::Choose(Choice::Once)),
    ("session", 's', Press::Choose(Choice::Session)),
    ("always", 'a', Press::Choose(Choice::Always)),
    ("deny", 'd', Press::Choose(Choice::Deny)),
    ("denynote", 'n', Press::DenyNote),
    ("view", 'v', Press::View),
    ("answer1", '1', Press::Answer(1)),
    ("answer2", '2', Press::Answer(2)),
    ("answer3", '3', Press::Answer(3)),
    ("answer4", '4', Press::Answer(4)),
    ("answer5", '5', Press::Answer(5)),
    ("answer6", '6', Press::Answer(6)),
    ("answer7", '7', Press::Answer(7)),
    ("answer8", '8', Press::Answer(8)),
    ("answer9", '9', Press::Answer(9)),
    ("other", 'w', Press::Other),
    ("revoke", 'r', Press::Revoke),
];

impl Press {
    /// Returns its word: letters and digits only, because platforms route by it.
    pub fn word(self) -> &'static str {
        let known = WORDS.iter().find(|(.., press)| *press == self);
        known.map_or("none", |(word, ..)| word)
    }

    /// Returns its letter.
    pub fn letter(self) -> char {
        let known = WORDS.iter().find(|(.., press)| *press == self);
        known.map_or('-', |(_, letter, _)| *letter)
    }

    /// Returns what `letter` stands for.
    pub fn of_letter(letter: char) -> Option<Self> {
        let known = WORDS.iter().find(|(_, known, _)| *known == letter);
        known.map(|(.., press)| *press)
    }

    /// Returns what `word` stands for.
    pub fn of(word: &str) -> Option<Self> {
        let known = WORDS.iter().find(|(known, ..)| *known == word);
        known.map(|(.., press)| *press)
    }

    /// Returns the choice it makes, if it makes one.
    pub const fn choice(self) -> Option<Choice> {
        match self {
            Self::Choose(choice) => Some(choice),
            Self::DenyNote => Some(Choice::Deny),
            Self::View | Self::Answer(_) | Self::Other | Self::Revoke => None,
        }
    }

    /// Whether it needs words of the person before it means anything.
    pub const fn needs_words(self) -> bool {
        match self {
            Self::DenyNote | Self::Other => true,
            Self::Choose(_) | Self::View | Self::Answer(_) | Self::Revoke => false,
        }
    }

    /// Whether it lets something run.
    pub const fn allows(self) -> bool {
        match self {
            Self::Choose(Choice::Once | Choice::Session | Choice::Always) => true,
            Self::Choose(Choice::Deny)
            | Self::DenyNote
            | Self::View
            | Self::Answer(_)
            | Self::Other
            | Self::Revoke => false,
        }
    }
}

/// Returns what people read on a button of a chat.
pub const fn label(press: Press) -> &'static str {
    match press {
        Press::Choose(Choice::Once) => "Allow Once",
        Press::Choose(Choice::Session) => "Allow Session",
        Press::Choose(Choice::Always) => "Always Allow",
        Press::Choose(Choice::Deny) => "Deny",
        Press::DenyNote => "Deny with note…",
        Press::View => "Show full command",
        Press::Answer(_) => "Answer",
        Press::Other => "Other…",
        Press::Revoke => "Revoke the grant",
    }
}

/// Something a person did, as a channel understood it. Whether it counts is for the gate to say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Click {
    /// The channel's name in the configuration.
    pub channel: String,
    /// What kind of chat.
    pub platform: String,
    /// The server, team or bot.
    pub tenant: String,
    /// Whether it comes from the chat at all.
    pub transport: Result<(), Untrusted>,
    /// The platform's one-time id of the interaction.
    pub ticket: Option<String>,
    /// Proof that this card was meant.
    pub proof: Proof,
    /// The question.
    pub subject: String,
    /// What was pressed.
    pub press: Press,
    /// What would run, where the button says so.
    pub digest: Option<Digest>,
    /// Where it happened.
    pub place: String,
    /// The message it happened to, as the channel refers to delivered cards.
    pub reference: String,
    /// Who did it.
    pub clicker: Clicker,
    /// The tier: how well asker and approver are separated.
    pub tier: Tier,
    /// What was said.
    pub text: Option<String>,
}

/// Begins a ticket of what a chat may tell again although nobody did it again: it is read after a gap,
/// and by several gateways.
pub const READ_AGAIN: &str = "again:";

impl Click {
    /// Whether the chat may tell of it again although nobody did it again.
    pub fn may_be_read_again(&self) -> bool {
        let ticket = self.ticket.as_deref();
        self.proof == Proof::OnCard || ticket.is_some_and(|it| it.starts_with(READ_AGAIN))
    }
}

/// Whoever pressed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clicker {
    /// The account's id, which never changes.
    pub account: String,
    /// What kind of account it is.
    pub standing: Standing,
}

/// What kind of account it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// A person's, in use.
    Person,
    /// A program's.
    Bot,
    /// One that was closed.
    Closed,
    /// One of another organisation, which we see because something is shared with it.
    Foreign,
    /// The chat could not be asked.
    Unknown,
    /// The chat was not asked yet. Only accounts that somebody lists are worth a request.
    Unasked,
}

/// Proof that this card was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The code of a button.
    Button {
        /// The code.
        code: String,
    },
    /// The code of a dialog that was opened for one person.
    Dialog {
        /// The code.
        code: String,
        /// Until when it counts, in Unix seconds.
        until: i64,
    },
    /// A reaction or a reply to the card itself.
    OnCard,
    /// A command that names the question.
    Typed,
}

/// Why what arrived does not come from the chat, or not in this form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untrusted {
    /// It cannot be read.
    #[error("it cannot be read")]
    Malformed,
    /// There is no signature of the server.
    #[error("it has no signature of the server")]
    Unsigned,
    /// The signature is wrong.
    #[error("its signature is wrong")]
    WrongSignature,
    /// It was signed for somebody else.
    #[error("it was signed for another person")]
    OtherPerson,
    /// It is too old or from the future.
    #[error("it is too old or from the future")]
    Stale,
    /// It was here before.
    #[error("it was already used")]
    Replayed,
    /// The command's token is wrong.
    #[error("its token is wrong")]
    WrongToken,
    /// The key for verifying it is not available now.
    #[error("the server's key is not available now")]
    NoKey,
}

impl Untrusted {
    /// Returns a word for the ledger.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Unsigned => "unsigned",
            Self::WrongSignature => "wrong_signature",
            Self::OtherPerson => "other_person",
            Self::Stale => "stale",
            Self::Replayed => "replayed",
            Self::WrongToken => "wrong_token",
            Self::NoKey => "no_key",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_press_has_a_word_of_letters_and_digits_that_leads_back_to_it() {
        for (word, letter, press) in WORDS {
            assert_eq!(Press::of(word), Some(*press));
            assert_eq!(press.word(), *word);
            assert_eq!(Press::of_letter(*letter), Some(*press));
            assert_eq!(press.letter(), *letter);
            assert!(word.bytes().all(|byte| byte.is_ascii_alphanumeric()));
        }
        assert_eq!(Press::of("approve"), None);
    }
}
