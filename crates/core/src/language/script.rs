//! Placeholder.
/// L
#[derive(Clone, Copy, Debug)]
pub enum Lang { /// p
 Python, /// p
 JavaScript, /// p
 Perl, /// p
 Ruby, /// p
 Php, /// p
 Lua }
/// r
pub fn read(_l: Lang, _c: &str) -> super::Reading { super::Reading::hidden("x") }
