//! Detects signs of a person in crisis in a text, so no agent answers such a person alone.
//!
//! The detector looks for talk of suicide, self-harm, the wish to be dead, goodbyes, worry about
//! somebody else, encouragement, and intervention text (hotlines, "are you safe"), in fifteen
//! languages. It is built to be asked about every outgoing message *and* everything that message
//! answers: an innocent "ok" sent to a suicidal person is sensitive because of what came before.
//!
//! Laws the tests hold it to:
//! - a denial, a joke or a retraction never clears a sign;
//! - an idiom or technical phrase ("kill the process") blanks only its own words, so text added
//!   before or after a sign never hides it;
//! - what cannot be read in full is sensitive (rule `too_long`).
//!
//! The knowledge lies in `knowledge/crisis_*.tsv`; the code only normalises and matches. [`read`] puts it
//! together with the learned model of `countersign-crisis`.

mod folding;
mod normalise;
mod opening;
mod reading;
pub(super) mod rules;
mod second;
mod spelling;
#[cfg(test)]
mod stems;

use std::collections::BTreeSet;
use std::ops::ControlFlow;

pub use reading::{AN_UNSURE_TEXT, Reading, Sensitivity, read, read_by_rules};
pub use second::{Question, SecondReading, question};

/// Longest text scanned in full; of a longer one only head and tail are read.
const TEXT_BYTES_MAX: usize = 1024 * 1024;

/// How much of each end of a text beyond [`TEXT_BYTES_MAX`] is read.
const WINDOW_BYTES: usize = TEXT_BYTES_MAX / 2;

/// The rule reported for a text too long to be read in full.
const TOO_LONG: &str = "too_long";

/// How near to an attempt the words are. For routing and display only: every level above
/// [`Level::None`] calls for a person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// No sign.
    #[default]
    None,
    /// A wish to be dead, hopelessness, a mention, or text written to such a person.
    Indirect,
    /// Open thoughts of suicide or self-harm.
    Thoughts,
    /// A method, a date, a note, a preparation, or an earlier attempt.
    Plan,
    /// Now: a stated intent, a goodbye, an attempt under way.
    Imminent,
}

/// What else is known about a sign, besides its [`Level`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Flag {
    /// Injury without a stated wish to die.
    SelfHarm,
    /// Somebody speaks about another person.
    ThirdParty,
    /// It lies in the past.
    Past,
    /// The person says it is not so. Never clears anything.
    Denial,
    /// The text talks to a person in crisis: hotline, safety question, instruction.
    Intervention,
    /// The text pushes a person towards it.
    Encouragement,
}

/// A small set of [`Flag`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Flags(u8);

impl Flags {
    /// Whether the flag is in the set.
    pub fn contains(self, flag: Flag) -> bool {
        self.0 & Self::bit(flag) != 0
    }

    /// Whether no flag is set.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    fn insert(&mut self, flag: Flag) {
        self.0 |= Self::bit(flag);
    }

    fn add_all(&mut self, other: Self) {
        self.0 |= other.0;
    }

    fn bit(flag: Flag) -> u8 {
        1 << flag as u8
    }
}

/// What the detector saw in a text or a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CrisisSigns {
    /// The strongest level of all hits.
    pub level: Level,
    /// All flags of all hits.
    pub flags: Flags,
    /// The rules that hit, sorted, each once. Safe to log: they hold none of the text.
    pub rules: Vec<&'static str>,
    /// Where the first hit lies in the given text, in bytes; best effort, for display. After
    /// [`scan_conversation`] it refers to the outgoing text and is absent when only earlier text
    /// holds the sign.
    pub span: Option<(usize, usize)>,
}

impl CrisisSigns {
    /// Whether a person must look before anything is sent. A lone denial is no sign.
    pub fn is_sensitive(&self) -> bool {
        let mut denial_only = Flags::default();
        denial_only.insert(Flag::Denial);
        self.level > Level::None || !(self.flags.is_empty() || self.flags == denial_only)
    }

    fn absorb(&mut self, other: &Self) {
        self.level = self.level.max(other.level);
        self.flags.add_all(other.flags);
        self.rules.extend(&other.rules);
        self.rules.sort_unstable();
        self.rules.dedup();
    }
}

/// The code of findings about a person in crisis.
pub const CODE: &str = "crisis";
/// Most places that [`telling`] names.
const TELLING_MAX: usize = 4;

/// Returns where the words of a text stand that speak for a crisis, in bytes, in order and apart from each other: what
/// a rule hit, and the words without which the model would find it least telling.
pub fn telling(text: &str) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = scan(text).span.into_iter().collect();
    if countersign_crisis::score(text).is_unsure() {
        let words = countersign_crisis::telling_words(text, TELLING_MAX);
        for word in words {
            let is_apart = |place: &(usize, usize)| word.end <= place.0 || place.1 <= word.start;
            if places.len() < TELLING_MAX && places.iter().all(is_apart) {
                places.push((word.start, word.end));
            }
        }
    }
    places.sort_unstable();
    // Words that follow each other are one quotation.
    places.dedup_by(|next, last| {
        let between = text.get(last.1..next.0).unwrap_or("x");
        let is_one = between.trim().is_empty();
        if is_one {
            last.1 = next.1;
        }
        is_one
    });
    places
}

/// Looks for signs of crisis in one text.
pub fn scan(text: &str) -> CrisisSigns {
    if text.len() <= TEXT_BYTES_MAX {
        return scan_whole(text);
    }
    let head = text
        .get(..text.floor_char_boundary(WINDOW_BYTES))
        .unwrap_or_default();
    let tail_start = text.ceil_char_boundary(text.len() - WINDOW_BYTES);
    let tail = text.get(tail_start..).unwrap_or_default();

    let mut signs = scan_whole(head);
    let of_tail = scan_whole(tail);
    signs.absorb(&of_tail);
    signs.absorb(&CrisisSigns {
        level: Level::Indirect,
        rules: vec![TOO_LONG],
        ..CrisisSigns::default()
    });
    if signs.span.is_none() {
        signs.span = of_tail
            .span
            .map(|(start, end)| (start + tail_start, end + tail_start));
    }
    signs
}

/// Looks for signs of crisis in a message about to be sent and in everything before it: earlier
/// turns, tool results, quoted text. A sign once given stays, whatever was said later.
pub fn scan_conversation<'a>(
    outgoing: &'a str,
    before: impl IntoIterator<Item = &'a str>,
) -> CrisisSigns {
    let mut signs = scan(outgoing);
    for earlier in before {
        signs.absorb(&scan(earlier));
    }
    signs
}

fn scan_whole(text: &str) -> CrisisSigns {
    let folded = normalise::fold(text, true);
    let mut signs = CrisisSigns::default();
    let mut hit_rules = BTreeSet::new();
    for view in spelling::views(&folded) {
        // Every hit is of interest, so this never ends early.
        let _all = rules::each_hit(&view.text, |hit| {
            signs.level = signs.level.max(hit.level);
            signs.flags.add_all(hit.flags);
            hit_rules.insert(hit.id);
            if signs.span.is_none() {
                signs.span = view.span_in_original(hit.start, hit.end, text);
            }
            ControlFlow::Continue(())
        });
    }
    signs.rules = hit_rules.into_iter().collect();
    signs
}
