//! Judges tool calls: what a call would do, how risky that is, whether a person must confirm it,
//! and what follows.
//!
//! Pure functions: no clock, no file, no environment, no network, no randomness. What they need
//! to know arrives as an argument, so every verdict can be replayed.
//!
//! The modules stand in layers, lowest first. A module imports only its own layer and lower ones,
//! and no two modules import each other; the project's tests hold both. To follow a call, start at
//! [`call`], which comes in; [`mod@assess`] turns it into acts and a score, [`mod@verdict`] decides,
//! and [`mod@judge`] is the two together.

// Values: a call and its parts, identifiers, digests, numbers, texts in another alphabet.
pub mod call;
pub mod canonical;
pub mod digest;
mod encoding;
mod glob;
pub mod id;
pub mod score;
pub mod status;
pub mod tier;
pub mod time;
pub mod written;

// Knowledge: the shell parser, the tables, and the languages of inline code.
pub mod assessment;
pub mod host;
pub mod knowledge;
pub mod language;
pub mod place;
pub mod shell;

// Text: secrets and personal data in messages, display of untrusted text.
pub mod content;
pub mod display;

// Assessment: follows a call and turns it into acts and a score.
pub mod act;
pub mod assess;
pub mod follow;

// Decision: allow, ask or refuse; what a denial remembers.
pub mod deed;
pub mod judge;
pub mod policy;
pub mod verdict;

// Questions to people: cards, answers, what an answer grants, and its proof.
pub mod approval;
pub mod card;
pub mod command;
pub mod compare;
pub mod ending;
pub mod grant;
pub mod recipient;
pub mod token;

// Records: what is kept of all this.
pub mod ledger;
pub mod record;
pub mod suggest;
pub mod trajectory;
