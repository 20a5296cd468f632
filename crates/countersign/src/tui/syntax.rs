//! Colours of code on a card: which parts of a text are comments, strings, numbers, keywords and names.
//!
//! The tokens are those of the page (`web/src/syntax.ts`); `corpus/syntax.jsonl` is the table that both are
//! tested against. Colours only repeat what the letters say, and a text without them reads the same. It is
//! no parser and takes no part in a verdict. A text is read once, whatever is in it.

use std::ops::Range;

use serde_json::Value;

/// Longer texts have no colours: nobody reads them for their looks.
const TEXT_CHARS_MAX: usize = 20_000;
/// Longest name in `${…}`, in bytes.
const BRACED_MAX: usize = 200;
/// Longest key of a setting, in bytes.
const KEY_MAX: usize = 80;
/// Widest indentation before a key, and widest gap behind it, in bytes.
const INDENT_MAX: usize = 40;
const GAP_MAX: usize = 8;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Comment,
    String,
    Number,
    Keyword,
    Name,
}

/// A part of a text, in bytes. Tokens do not overlap and stand in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

/// A way of writing code.
#[derive(Debug)]
pub(crate) struct Language {
    comments: &'static [Comment],
    quotes: &'static [Quote],
    names: Names,
    keywords: &'static str,
}

/// How a comment begins, and where it ends.
#[derive(Debug)]
enum Comment {
    /// To the end of the line.
    Line(&'static str),
    /// To the end of the line; at its start, or behind white space or one of these.
    LineAfter(&'static str, &'static [u8]),
    /// From `/*` to `*/`, or to the end of the text.
    Block,
}

/// How a string is written.
#[derive(Debug)]
enum Quote {
    /// A backslash takes the next character.
    Escaped(u8),
    /// A backslash is a backslash.
    Literal(u8),
    /// Opened and closed by this; goes on to the end of the text if it is not closed.
    Long(&'static str),
}

/// What counts as a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Names {
    None,
    /// Variables and options.
    Shell,
    /// Keys and sections of a file of settings.
    Keys,
}

const SHELL: Language = Language {
    comments: &[Comment::LineAfter("#", b";")],
    quotes: &[Quote::Escaped(b'"'), Quote::Literal(b'\'')],
    names: Names::Shell,
    keywords: "if then elif else fi for while until do done case esac in function select export local return",
};
const PYTHON: Language = Language {
    comments: &[Comment::Line("#")],
    quotes: &[
        Quote::Long("\"\"\""),
        Quote::Long("'''"),
        Quote::Escaped(b'"'),
        Quote::Escaped(b'\''),
    ],
    names: Names::None,
    keywords: "and as assert async await break case class continue def del elif else end except False finally for \
               from global if import in is lambda match module None nonlocal not or pass raise require return self \
               True try while with yield",
};
const BRACES: Language = Language {
    comments: &[Comment::Line("//"), Comment::Block],
    quotes: &[
        Quote::Escaped(b'"'),
        Quote::Escaped(b'\''),
        Quote::Escaped(b'`'),
    ],
    names: Names::None,
    keywords: "abstract as async await break case catch class const continue default defer delete do dyn else enum \
               export extends extern false final finally fn for from func function go if impl import in instanceof \
               interface let loop match mod mut namespace new nil null package private protected pub public return \
               self static struct super switch template this throw trait true try type typedef typeof unsafe use \
               using var virtual void where while yield",
};
const SETTINGS: Language = Language {
    comments: &[Comment::LineAfter("#", b""), Comment::LineAfter(";", b"")],
    quotes: &[Quote::Escaped(b'"'), Quote::Escaped(b'\'')],
    names: Names::Keys,
    keywords: "true false null yes no on off",
};
const SQL: Language = Language {
    comments: &[Comment::Line("--"), Comment::Block],
    quotes: &[Quote::Escaped(b'"'), Quote::Escaped(b'\'')],
    names: Names::None,
    keywords: "SELECT FROM WHERE INSERT INTO VALUES UPDATE SET DELETE DROP TABLE CREATE ALTER JOIN ON AND OR NOT \
               NULL GROUP BY ORDER LIMIT TRUNCATE GRANT select from where insert into values update set delete \
               drop table create alter join on and or not null group by order limit truncate grant",
};

/// How names of files end, and what such files are written in.
const BY_ENDING: &[(&str, &Language)] = &[
    ("sh bash zsh ksh env Dockerfile Makefile mk", &SHELL),
    ("py pyi rb pl r jl ex exs", &PYTHON),
    (
        "js mjs cjs ts tsx jsx rs go java kt swift c h cc cpp hpp cs scala dart php proto json jsonc css scss",
        &BRACES,
    ),
    (
        "yml yaml toml ini cfg conf properties service tf hcl",
        &SETTINGS,
    ),
    ("sql", &SQL),
];
/// Arguments that hold code, whatever the tool.
const BY_ARGUMENT: &[(&str, &Language)] = &[
    ("Command", &SHELL),
    ("command", &SHELL),
    ("script", &SHELL),
    ("sql", &SQL),
    ("query", &SQL),
];
/// Arguments that name a file.
const PATHS: &[&str] = &[
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "notebook_path",
];

/// Returns the language of the file at `path`, by how its name ends.
pub(crate) fn language_of(path: &str) -> Option<&'static Language> {
    let ending = path.rsplit(['/', '\\', '.']).next()?;
    BY_ENDING
        .iter()
        .find(|(endings, _)| endings.split(' ').any(|it| it == ending))
        .map(|(_, language)| *language)
}

/// Returns the language of the argument `name` of a call with `args`: its own, or that of the file it goes to.
pub(crate) fn language_of_argument(name: &str, args: &Value) -> Option<&'static Language> {
    if let Some((_, own)) = BY_ARGUMENT.iter().find(|(known, _)| *known == name) {
        return Some(own);
    }
    let text = |key: &str| args.get(key).and_then(Value::as_str);
    if name == "code" {
        return Some(match text("language") {
            Some("javascript") => &BRACES,
            Some(_) | None => &PYTHON,
        });
    }
    if PATHS.contains(&name) {
        return None;
    }
    PATHS.iter().find_map(|key| text(key)).and_then(language_of)
}

/// Returns the tokens of `text`. What is between them is nothing in particular.
pub(crate) fn tokens(text: &str, of: &Language) -> Vec<Token> {
    if text.chars().count() > TEXT_CHARS_MAX {
        return Vec::new();
    }
    let reader = Reader {
        text: text.as_bytes(),
        of,
    };
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        match reader.token(at) {
            Some((end, kind)) if end > at => {
                found.push(Token {
                    range: at..end,
                    kind,
                });
                at = end;
            }
            Some(_) | None => at += 1,
        }
    }
    found
}

/// Reads tokens. Everything it looks for is ASCII, so no token begins or ends inside a character.
struct Reader<'a> {
    text: &'a [u8],
    of: &'a Language,
}

impl Reader<'_> {
    fn token(&self, at: usize) -> Option<(usize, Kind)> {
        let comment = self.of.comments.iter().find_map(|it| self.comment(at, it));
        let string = || self.of.quotes.iter().find_map(|it| self.string(at, it));
        let is = |kind: Kind| move |end: usize| (end, kind);
        comment
            .map(is(Kind::Comment))
            .or_else(|| string().map(is(Kind::String)))
            .or_else(|| self.name(at).map(is(Kind::Name)))
            .or_else(|| self.keyword(at).map(is(Kind::Keyword)))
            .or_else(|| self.number(at).map(is(Kind::Number)))
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    fn before(&self, at: usize) -> Option<u8> {
        self.byte(at.checked_sub(1)?)
    }

    fn begins(&self, at: usize, with: &str) -> bool {
        self.rest(at).starts_with(with.as_bytes())
    }

    fn rest(&self, at: usize) -> &[u8] {
        self.text.get(at..).unwrap_or_default()
    }

    /// Returns where the bytes from `at` on stop being like `wanted`.
    fn while_like(&self, at: usize, wanted: impl Fn(u8) -> bool) -> usize {
        let like = self.rest(at).iter().take_while(|it| wanted(**it)).count();
        at + like
    }

    /// Returns the end of the next `wanted` from `at` on.
    fn behind(&self, at: usize, wanted: &str) -> Option<usize> {
        let found = self
            .rest(at)
            .windows(wanted.len())
            .position(|it| it == wanted.as_bytes());
        found.map(|found| at + found + wanted.len())
    }

    fn comment(&self, at: usize, how: &Comment) -> Option<usize> {
        let end_of_line = || self.while_like(at, |it| it != b'\n');
        match how {
            Comment::Line(sign) => self.begins(at, sign).then(end_of_line),
            Comment::LineAfter(sign, also) => {
                let may_begin = self
                    .before(at)
                    .is_none_or(|it| it.is_ascii_whitespace() || also.contains(&it));
                (may_begin && self.begins(at, sign)).then(end_of_line)
            }
            Comment::Block => self
                .begins(at, "/*")
                .then(|| self.behind(at + 2, "*/").unwrap_or(self.text.len())),
        }
    }

    fn string(&self, at: usize, how: &Quote) -> Option<usize> {
        match how {
            Quote::Long(sign) => self.begins(at, sign).then(|| {
                self.behind(at + sign.len(), sign)
                    .unwrap_or(self.text.len())
            }),
            // Behind a backslash it opens nothing; this is also why an unclosed one is searched once only.
            Quote::Escaped(sign) | Quote::Literal(sign)
                if self.byte(at) != Some(*sign) || self.before(at) == Some(b'\\') =>
            {
                None
            }
            Quote::Escaped(sign) => {
                let mut escaped = false;
                let closing = self.rest(at + 1).iter().position(|it| {
                    let closes = !escaped && it == sign;
                    escaped = !escaped && *it == b'\\';
                    closes
                });
                closing.map(|closing| at + closing + 2)
            }
            Quote::Literal(sign) => {
                let closing = self.rest(at + 1).iter().position(|it| it == sign);
                closing.map(|closing| at + closing + 2)
            }
        }
    }

    fn name(&self, at: usize) -> Option<usize> {
        match self.of.names {
            Names::None => None,
            Names::Shell => self.shell_name(at),
            Names::Keys => self.key(at),
        }
    }

    fn shell_name(&self, at: usize) -> Option<usize> {
        match (self.byte(at)?, self.byte(at + 1)?) {
            (b'$', b'{') => {
                let inside = self
                    .rest(at + 2)
                    .iter()
                    .take(BRACED_MAX + 1)
                    .position(|it| matches!(it, b'}' | b'\n'))?;
                let end = at + 2 + inside;
                (self.byte(end) == Some(b'}')).then_some(end + 1)
            }
            (b'$', next) if is_word(next) => Some(self.while_like(at + 1, is_word)),
            (b'$', b'?' | b'!' | b'@' | b'#' | b'*' | b'$' | b'-') => Some(at + 2),
            (b'-', _) if self.before(at).is_some_and(|it| it.is_ascii_whitespace()) => {
                let begin = at + if self.begins(at, "--") { 2 } else { 1 };
                let is_option = self.byte(begin)?.is_ascii_alphabetic();
                is_option.then(|| self.while_like(begin, |it| is_word(it) || it == b'-'))
            }
            _ => None,
        }
    }

    fn key(&self, at: usize) -> Option<usize> {
        if !self.may_be_key(at) {
            return None;
        }
        if self.byte(at)? == b'[' {
            let end = self.while_like(at, |it| it != b']' && it != b'\n');
            return (self.byte(end) == Some(b']')).then_some(end + 1);
        }
        let end = self.while_like(at, |it| is_word(it) || matches!(it, b'.' | b'-'));
        let gap_end = self.while_like(end, |it| matches!(it, b' ' | b'\t'));
        let is_key = (1..=KEY_MAX).contains(&(end - at))
            && gap_end - end <= GAP_MAX
            && matches!(self.byte(gap_end), Some(b':' | b'='));
        is_key.then_some(end)
    }

    /// Whether only indentation, and the dash of a list, stand before `at` in its line.
    fn may_be_key(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let before = before.strip_suffix(b"- ").unwrap_or(before);
        let blank = before
            .iter()
            .rev()
            .take(INDENT_MAX + 1)
            .take_while(|it| matches!(it, b' ' | b'\t'))
            .count();
        let line = before.get(..before.len() - blank).unwrap_or_default();
        blank <= INDENT_MAX && line.last().is_none_or(|it| *it == b'\n')
    }

    fn keyword(&self, at: usize) -> Option<usize> {
        let joins = |it: u8| is_word(it) || it == b'-';
        if self.before(at).is_some_and(|it| joins(it) || it == b'$') || !is_word(self.byte(at)?) {
            return None;
        }
        let end = self.while_like(at, joins);
        let word = self.text.get(at..end)?;
        let mut keywords = self.of.keywords.split_ascii_whitespace();
        keywords.any(|it| it.as_bytes() == word).then_some(end)
    }

    fn number(&self, at: usize) -> Option<usize> {
        let joins = |it: u8| is_word(it) || it == b'.';
        if self.before(at).is_some_and(joins) || !self.byte(at)?.is_ascii_digit() {
            return None;
        }
        let digits = |from: usize| self.while_like(from, |it| it.is_ascii_digit());
        let mut end = if self.begins(at, "0x") {
            self.while_like(at + 2, |it| it.is_ascii_hexdigit() || it == b'_')
        } else {
            self.while_like(at, |it| it.is_ascii_digit() || it == b'_')
        };
        if self.byte(end) == Some(b'.') && digits(end + 1) > end + 1 {
            end = digits(end + 1);
        }
        if matches!(self.byte(end), Some(b'e' | b'E')) {
            let sign = usize::from(matches!(self.byte(end + 1), Some(b'+' | b'-')));
            if digits(end + 1 + sign) > end + 1 + sign {
                end = digits(end + 1 + sign);
            }
        }
        let is_whole = !self.byte(end).is_some_and(joins);
        is_whole.then_some(end)
    }
}

const fn is_word(it: u8) -> bool {
    it.is_ascii_alphanumeric() || it == b'_'
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../corpus/syntax.jsonl"
    ));

    fn cut(text: &str, of: &Language) -> Vec<(String, &'static str)> {
        let word = |kind: Kind| match kind {
            Kind::Comment => "comment",
            Kind::String => "string",
            Kind::Number => "number",
            Kind::Keyword => "keyword",
            Kind::Name => "name",
        };
        tokens(text, of)
            .into_iter()
            .map(|it| (text.get(it.range).unwrap().to_owned(), word(it.kind)))
            .collect()
    }

    #[test]
    fn tokens_are_those_of_the_table_that_the_page_is_tested_against() {
        let mut rows = 0;
        for line in TABLE.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let text = row["text"].as_str().unwrap();
            let language = language_of(row["file"].as_str().unwrap()).unwrap();
            let wanted: Vec<(String, String)> =
                serde_json::from_value(row["tokens"].clone()).unwrap();
            let found: Vec<(String, String)> = cut(text, language)
                .into_iter()
                .map(|(text, kind)| (text, kind.to_owned()))
                .collect();
            assert_eq!(found, wanted, "{line}");
            rows += 1;
        }
        assert!(rows > 20, "{rows}");
    }

    #[test]
    fn an_argument_has_its_own_language_or_that_of_its_file() {
        let name = |of: Option<&'static Language>| {
            let known = [
                (&SHELL, "shell"),
                (&PYTHON, "python"),
                (&BRACES, "braces"),
                (&SETTINGS, "settings"),
                (&SQL, "sql"),
            ];
            let Some(of) = of else { return "none" };
            let found = known.iter().find(|(it, _)| it.keywords == of.keywords);
            found.unwrap().1
        };
        let rows = [
            ("Command", serde_json::json!({}), "shell"),
            ("query", serde_json::json!({}), "sql"),
            ("code", serde_json::json!({}), "python"),
            (
                "code",
                serde_json::json!({ "language": "javascript" }),
                "braces",
            ),
            (
                "content",
                serde_json::json!({ "path": "/srv/a.yaml" }),
                "settings",
            ),
            (
                "content",
                serde_json::json!({ "file_path": "C:\\b\\Makefile" }),
                "shell",
            ),
            (
                "content",
                serde_json::json!({ "path": "notes.txt" }),
                "none",
            ),
            ("path", serde_json::json!({ "path": "a.py" }), "none"),
            ("text", serde_json::json!({ "text": "if" }), "none"),
            ("content", Value::Null, "none"),
        ];
        for (argument, args, wanted) in rows {
            let found = name(language_of_argument(argument, &args));
            assert_eq!(found, wanted, "{argument} {args}");
        }
    }

    #[test]
    fn hostile_texts_are_read_once_and_cut_at_characters() {
        let texts = [
            format!("\"{}", "\\\"".repeat(9_999)),
            "\n".repeat(20_000),
            "${".repeat(10_000),
            " ".repeat(20_000),
            "a.".repeat(10_000),
            "'\"`".repeat(6_000),
            "\"é⟨U+202E⟩\"\u{301}$ü#".repeat(900),
        ];
        let begun = std::time::Instant::now();
        for text in &texts {
            for (_, of) in BY_ENDING {
                for token in tokens(text, of) {
                    assert!(text.get(token.range.clone()).is_some(), "{token:?}");
                }
            }
        }
        // Searching each again from every character took minutes.
        assert!(begun.elapsed().as_secs() < 20, "{:?}", begun.elapsed());
        assert_eq!(tokens(&"if ".repeat(7_000), &SHELL), []);
    }
}
