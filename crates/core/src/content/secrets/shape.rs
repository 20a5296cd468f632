//! Secret shapes: literal text with `<class:count>` parts, compiled from `knowledge/secrets.tsv`.
//!
//! One notation serves three ends: the regular expression that finds the credential, the keyword
//! that decides whether the expression is worth running, and the samples the tests make.

use regex::bytes::{Regex, RegexBuilder};
use std::fmt::Write as _;
use std::sync::{LazyLock, OnceLock};

/// The letters a part of a shape may be made of: name, regular expression class.
pub const CLASSES: &[(&str, &str)] = &[
    ("an", "[A-Za-z0-9]"),
    ("al", "[A-Za-z]"),
    ("lo", "[a-z]"),
    ("up", "[A-Z]"),
    ("ld", "[a-z0-9]"),
    ("ud", "[A-Z0-9]"),
    ("hx", "[0-9a-f]"),
    ("hu", "[0-9a-f-]"),
    ("uu", "[0-9a-f-]"),
    ("dg", "[0-9]"),
    ("ur", "[A-Za-z0-9_-]"),
    ("b6", "[A-Za-z0-9+/=_-]"),
    ("b3", "[A-Z2-7]"),
    ("be", "[02-9AC-HJ-NP-Z]"),
    ("bl", "[02-9ac-hj-np-z]"),
    ("az", "[A-Za-z0-9_.~-]"),
    ("pc", "[A-Za-z0-9%]"),
];

/// A credential that can be told by its shape alone.
#[derive(Debug)]
pub struct Shape {
    /// What a person calls it.
    pub kind: &'static str,
    /// The shape as written in the table.
    pub text: &'static str,
    /// The longest literal part; without it the expression is not tried.
    pub keyword: String,
    /// Least Shannon entropy, in tenths of a bit per character.
    pub entropy_min: u16,
    pattern: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Shape {
    /// Returns the expression, compiled at first use; group 1 is the credential.
    pub fn regex(&self) -> Option<&Regex> {
        self.compiled
            .get_or_init(|| RegexBuilder::new(&self.pattern).unicode(false).build().ok())
            .as_ref()
    }
}

/// All shapes of the table, in its order: the more telling kind stands before the vaguer one.
pub static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    include_str!("../../../knowledge/secrets.tsv")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(read_row)
        .collect()
});

fn read_row(line: &'static str) -> Option<Shape> {
    let mut columns = line.split('\t');
    let (kind, text) = (columns.next()?, columns.next()?);
    let entropy_min = columns.next()?.parse().ok()?;
    let parts = parts(text)?;
    // A credential may follow an escaped line break, so the letter of `\n` counts as a boundary.
    let mut pattern = String::from(r"(?:^|[^A-Za-z0-9]|\\[nrt])(");
    let mut keyword = "";
    for part in &parts {
        match part {
            Part::Literal(literal) => {
                pattern.push_str(&regex::escape(literal));
                if literal.len() > keyword.len() {
                    keyword = literal;
                }
            }
            Part::Class {
                class, min, max, ..
            } => {
                pattern.push_str(class);
                let upper = max.map_or_else(String::new, |max| max.to_string());
                let _infallible = write!(pattern, "{{{min},{upper}}}");
            }
        }
    }
    pattern.push(')');
    if let Some(Part::Class {
        class,
        max: Some(_),
        ..
    }) = parts.last()
        && !class.contains('-')
    {
        pattern.push_str(r"\b");
    }
    Some(Shape {
        kind,
        text,
        keyword: keyword.to_owned(),
        entropy_min,
        pattern,
        compiled: OnceLock::new(),
    })
}

/// A piece of a shape.
#[derive(Debug, Clone, Copy)]
pub enum Part {
    /// Text that stands as it is.
    Literal(&'static str),
    /// Letters of one class.
    Class {
        /// The name in [`CLASSES`].
        name: &'static str,
        /// The regular expression class.
        class: &'static str,
        /// Least number of letters.
        min: usize,
        /// Most letters; none means no limit.
        max: Option<usize>,
    },
}

/// Returns the pieces of a shape, or nothing when it is not well written.
pub fn parts(shape: &'static str) -> Option<Vec<Part>> {
    let mut found = Vec::new();
    for (position, piece) in shape.split('<').enumerate() {
        if position == 0 {
            if !piece.is_empty() {
                found.push(Part::Literal(piece));
            }
            continue;
        }
        let (inside, literal) = piece.split_once('>')?;
        let (name, count) = inside.split_once(':')?;
        let class = CLASSES.iter().find(|(known, _)| *known == name)?.1;
        let (min, max) = if let Some(min) = count.strip_suffix('+') {
            (min.parse().ok()?, None)
        } else if let Some((min, max)) = count.split_once('-') {
            (min.parse().ok()?, Some(max.parse().ok()?))
        } else {
            let exact = count.parse().ok()?;
            (exact, Some(exact))
        };
        found.push(Part::Class {
            name,
            class,
            min,
            max,
        });
        if !literal.is_empty() {
            found.push(Part::Literal(literal));
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::tables::{SHAPE_KEYWORDS, SHAPES_REVERSED};

    #[test]
    fn every_shape_is_tried_where_its_keyword_stands() {
        for (index, shape) in SHAPES.iter().enumerate() {
            let mut asked = false;
            let text = format!("x {}0", shape.keyword);
            SHAPE_KEYWORDS.each_asking(text.as_bytes(), |who| asked |= usize::from(who) == index);
            assert!(asked, "{}", shape.text);
            let backwards: Vec<u8> = text.bytes().rev().collect();
            let long = shape.keyword.len() >= 4;
            assert!(SHAPES_REVERSED.any(&backwards) >= long, "{}", shape.text);
        }
        assert!(!SHAPES_REVERSED.any(b"nothing of the kind"));
    }
}
