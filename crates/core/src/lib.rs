//! What a tool call would do, how risky that is, whether a person must confirm it, and what
//! follows.
//!
//! Pure functions: no clock, no file, no environment, no network, no randomness. What they need
//! to know arrives as an argument, so every verdict can be replayed.
//!
//! Reading order: [`call`] is what comes in, [`mod@assess`] turns it into acts and a score,
//! [`mod@verdict`] decides, [`mod@judge`] is the two together. [`approval`] is the life of a
//! question, [`card`] what people see of it, [`grant`] what an answer leaves, [`deed`] what a denial
//! remembers, [`token`] its proof, [`ledger`] the record of it all. [`written`] is what earlier calls
//! wrote. [`command`] is what people type. [`shell`] parses
//! commands, [`follow`] follows them by the tables of [`knowledge`]; [`content`] reads messages; [`display`] shows untrusted text.

pub mod act;
pub mod approval;
pub mod assess;
pub mod assessment;
pub mod call;
pub mod canonical;
pub mod card;
pub mod command;
pub mod content;
pub mod deed;
pub mod digest;
pub mod display;
pub mod ending;
pub mod follow;
pub mod grant;
pub mod host;
pub mod id;
pub mod judge;
pub mod knowledge;
pub mod language;
pub mod ledger;
pub mod place;
pub mod policy;
pub mod recipient;
pub mod record;
pub mod score;
pub mod shell;
pub mod tier;
pub mod time;
pub mod token;
pub mod verdict;
pub mod written;
