//! The operations of the small programs that phrases are compiled to. The build script writes them, `quick` runs
//! them.

/// The end: everything matched.
pub(crate) const MATCH: u8 = 0;
/// A length in one byte and as many bytes, which stand in the text.
pub(crate) const LITERAL: u8 = 1;
/// One byte of a set.
pub(crate) const SET: u8 = 2;
/// One letter of a set, in UTF-8.
pub(crate) const LETTER: u8 = 3;
/// As many bytes of a set as possible, between two counts.
pub(crate) const SET_RUN: u8 = 4;
/// The same with as few as possible.
pub(crate) const SET_RUN_LAZY: u8 = 5;
/// As many letters of a set as possible, between two counts.
pub(crate) const LETTER_RUN: u8 = 6;
/// Goes on here, and at the given place when that fails.
pub(crate) const SPLIT: u8 = 7;
/// Goes on at the given place, and here when that fails.
pub(crate) const SPLIT_LAZY: u8 = 8;
/// Goes on at the given place.
pub(crate) const JUMP: u8 = 9;
/// Remembers where the first group begins (0) or ends (1).
pub(crate) const SAVE: u8 = 10;
/// A condition on the place.
pub(crate) const LOOK: u8 = 11;

/// The text begins here.
pub(crate) const LOOK_START: u8 = 0;
/// The text ends here.
pub(crate) const LOOK_END: u8 = 1;
/// A line begins here.
pub(crate) const LOOK_LINE_START: u8 = 2;
/// A line ends here.
pub(crate) const LOOK_LINE_END: u8 = 3;
/// A word begins or ends here.
pub(crate) const LOOK_WORD_EDGE: u8 = 4;
/// A word begins here.
pub(crate) const LOOK_WORD_START: u8 = 5;
/// No word reaches up to here.
pub(crate) const LOOK_NO_WORD_BEFORE: u8 = 6;
/// No word goes on from here.
pub(crate) const LOOK_NO_WORD_AFTER: u8 = 7;
