//! A computed text: what it may be, and where the unknown parts of it come from.

use crate::place::HOLE;

/// Stands for a part that names something and leads nowhere else: a listed file, a date, a digest.
pub(super) const PLAIN: char = '\u{fdd1}';

/// How the paths of temporary files and directories begin.
pub(super) const SCRATCH: &str = "/tmp/tmp";

/// Texts that one value may be.
const TEXTS_MAX: usize = 64;
/// Longest text that is put together.
const TEXT_BYTES_MAX: usize = 2048;

/// Where the parts of a text come from that are not written in the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::language::script) enum Origin {
    /// Counters and listings, or nothing.
    Script,
    /// What files hold and libraries return.
    Data,
    /// Texts of the script, put together in a way that is not followed.
    Assembled,
    /// Arguments, the environment, the network, the input.
    Foreign,
}

/// What a value may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::language::script) struct Made {
    /// All texts it may be, with marks for parts that are not known.
    texts: Vec<String>,
    pub(in crate::language::script) origin: Origin,
    /// Whether it is a collection of these.
    pub(super) many: bool,
    /// Whether it is an open file of that name.
    pub(super) handle: bool,
}

impl Made {
    pub(in crate::language::script) fn exact(text: impl Into<String>) -> Self {
        Self::all(vec![text.into()], Origin::Script)
    }

    /// A number.
    pub(super) fn number() -> Self {
        Self::exact("0")
    }

    /// A name without any directory.
    pub(super) fn plain() -> Self {
        Self::exact(PLAIN)
    }

    pub(in crate::language::script) fn unknown(origin: Origin) -> Self {
        Self::all(vec![HOLE.to_string()], origin)
    }

    pub(super) fn all(texts: Vec<String>, origin: Origin) -> Self {
        Self {
            texts,
            origin,
            many: false,
            handle: false,
        }
    }

    /// The texts, with holes for what is not known.
    pub(in crate::language::script) fn shapes(&self) -> impl Iterator<Item = String> {
        self.texts
            .iter()
            .map(|text| text.replace(PLAIN, &HOLE.to_string()))
    }

    /// The only text it can be.
    pub(in crate::language::script) fn only(&self) -> Option<&str> {
        match self.texts.as_slice() {
            [text] if !text.contains([HOLE, PLAIN]) => Some(text),
            _ => None,
        }
    }

    /// Whether it is a place in scratch space that the code has made for itself.
    pub(in crate::language::script) fn is_own_scratch(&self) -> bool {
        let own = |text: &String| {
            let rest = text.strip_prefix(SCRATCH).unwrap_or_default();
            rest.chars().eq([PLAIN])
        };
        !self.texts.is_empty() && self.texts.iter().all(own)
    }

    /// Whether it is one text of which at least the beginning is known, and no option is left open.
    pub(super) fn is_one_word(&self) -> bool {
        match self.texts.as_slice() {
            [text] => !text.contains([HOLE, PLAIN]) || !text.starts_with([HOLE, PLAIN, '-']),
            _ => false,
        }
    }

    /// Whether every part of it is written in the script.
    pub(in crate::language::script) fn is_exact(&self) -> bool {
        self.texts.iter().all(|text| !text.contains([HOLE, PLAIN]))
    }

    /// Whether some part of it may be anything, directories included.
    pub(in crate::language::script) fn is_vague(&self) -> bool {
        self.texts.iter().any(|text| text.contains(HOLE))
    }

    /// Whether nothing says where it begins.
    pub(in crate::language::script) fn begins_anywhere(&self) -> bool {
        self.texts.iter().any(|text| {
            let known = text.split(HOLE).next().unwrap_or_default();
            text.contains(HOLE) && known.trim_end_matches('/').is_empty()
        })
    }

    /// Whether it is an open file.
    pub(in crate::language::script) const fn is_open(&self) -> bool {
        self.handle
    }

    /// Whether it can only be a number.
    pub(super) fn is_number(&self) -> bool {
        let counts = |text: &String| text.chars().all(|c| c.is_ascii_digit());
        self.origin == Origin::Script && !self.many && self.texts.iter().all(counts)
    }

    pub(super) fn collected(mut self) -> Self {
        self.many = true;
        self
    }

    pub(super) fn opened(mut self) -> Self {
        self.handle = true;
        self
    }

    pub(super) fn from(mut self, origin: Origin) -> Self {
        self.origin = self.origin.max(origin);
        self
    }

    /// An element of it, by loop or index.
    pub(super) fn element(self) -> Self {
        if self.many {
            return self;
        }
        self.part()
    }

    /// A part of its text.
    pub(super) fn part(self) -> Self {
        let is_plain = |text: &String| {
            text.chars()
                .all(|c| c == PLAIN || c == '-' || c == '_' || c.is_ascii_digit())
        };
        if self.is_number() {
            return Self::number();
        }
        if !self.handle && self.texts.iter().all(is_plain) {
            return Self::plain().from(self.origin);
        }
        // A part of what the script spells out, which is not followed.
        let is_written = !self.handle && !self.is_vague() && self.origin == Origin::Script;
        Self::unknown(if is_written {
            Origin::Assembled
        } else {
            self.origin.max(Origin::Data)
        })
    }

    /// Either of two.
    pub(super) fn or(mut self, other: Self) -> Self {
        for text in other.texts {
            if !self.texts.contains(&text) {
                self.texts.push(text);
            }
        }
        self.many &= other.many;
        self.handle &= other.handle;
        self.origin = self.origin.max(other.origin);
        self.bounded()
    }

    /// Both, one behind the other with `between` in the middle.
    pub(super) fn then(&self, between: &str, other: &Self) -> Self {
        let origin = self.origin.max(other.origin);
        if self.texts.len() * other.texts.len() > TEXTS_MAX {
            return Self::unknown(origin.max(Origin::Data));
        }
        let mut texts = Vec::new();
        for first in &self.texts {
            for second in &other.texts {
                let text = format!("{first}{between}{second}");
                if !texts.contains(&text) {
                    texts.push(text);
                }
            }
        }
        Self::all(texts, origin).bounded()
    }

    /// The path `other` below this one; an absolute path stands for itself.
    pub(super) fn below(&self, other: &Self) -> Self {
        let is_whole =
            |text: &String| text.starts_with('/') || text.starts_with("~/") || text == "~";
        if other.texts.iter().any(is_whole) {
            return self.clone().or(other.clone());
        }
        if self.only() == Some("") || self.only() == Some(".") {
            return other.clone();
        }
        let between = if self.texts.iter().all(|text| text.ends_with('/')) {
            ""
        } else {
            "/"
        };
        let mut joined = self.then(between, other);
        joined.many = self.many || other.many;
        joined
    }

    /// The texts, each changed.
    pub(super) fn map(mut self, change: impl Fn(&str) -> String) -> Self {
        for text in &mut self.texts {
            *text = change(text);
        }
        self.handle = false;
        self.bounded()
    }

    /// The same, whose patterns for file names stand for names.
    pub(super) fn matches(self) -> Self {
        let change = |text: &str| {
            let mut out = String::new();
            let mut in_pattern = false;
            for c in text.chars() {
                let stands_for = matches!(c, '*' | '?' | '[' | ']');
                if stands_for && !in_pattern {
                    out.push(PLAIN);
                } else if !stands_for {
                    out.push(c);
                }
                in_pattern = stands_for;
            }
            out
        };
        self.map(change).collected()
    }

    fn bounded(self) -> Self {
        let too_long = |text: &String| text.len() > TEXT_BYTES_MAX;
        if self.texts.len() > TEXTS_MAX || self.texts.iter().any(too_long) {
            return Self {
                texts: vec![HOLE.to_string()],
                origin: self.origin.max(Origin::Data),
                ..self
            };
        }
        self
    }
}
