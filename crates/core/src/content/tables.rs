//! The tables of phrases and keywords, compiled by the build script from `knowledge/*.tsv`.

#![expect(
    clippy::unreadable_literal,
    reason = "written by a program for a program"
)]

use super::crisis::rules::Entry;
use super::impact::phrase::{Families, Family};
use super::keywords::{Keywords, Slot};
use super::quick::Program;

include!(concat!(env!("OUT_DIR"), "/phrases.rs"));
