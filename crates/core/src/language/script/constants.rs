//! Constants of a script: names that always hold one text or path.
//!
//! `p = Path("a.txt")` and `const p = "a.txt"` are read by putting the text where the name stands,
//! so that what is opened, written or deleted by it is seen. A name counts only when nothing else
//! in the script can bind it: one doubt, and it stays a name.

use std::collections::{HashMap, HashSet};

use super::lexer::Token;
use crate::knowledge::Syntax;
use crate::knowledge::languages::Script;

/// Names of one script that may be constants.
const CONSTANTS_MAX: usize = 64;
/// Tokens that the parameters of one function may take.
const PARAMETER_TOKENS_MAX: usize = 256;
/// Tokens that a script may have after its constants were put in.
const TOKENS_MAX: usize = 20_000;

/// Returns the tokens with constants in place of their names.
pub(super) fn fill(script: &Script, tokens: Vec<Token>) -> Vec<Token> {
    let syntax = script.syntax;
    if !matches!(syntax, Syntax::Python | Syntax::JavaScript) {
        return tokens;
    }
    let constants = constants(syntax, &tokens);
    if constants.is_empty() {
        return tokens;
    }
    let mut filled = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let is_member = before(&tokens, at).is_some_and(|token| token.is_mark("."));
        let name = name_of(token).filter(|_| !is_member);
        let value = name.and_then(|name| constants.get(name));
        match value {
            Some((bound, value)) if *bound != at && filled.len() < TOKENS_MAX => {
                filled.extend_from_slice(value);
            }
            _ => filled.push(token.clone()),
        }
    }
    filled
}

/// Finds names that are bound once, to a text: where, and to which tokens.
fn constants(syntax: Syntax, tokens: &[Token]) -> HashMap<&str, (usize, &[Token])> {
    let mut constants: HashMap<&str, (usize, &[Token])> = HashMap::new();
    let mut doubtful: HashSet<&str> = HashSet::new();
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark("(" | "[" | "{") => {
                let starts = depth == 0 && starts_statement(tokens, at);
                if *token != Token::Mark("{") && starts {
                    // `(a, b) = …` binds names that cannot be told from used ones.
                    return HashMap::new();
                }
                depth += usize::from(syntax == Syntax::Python);
            }
            Token::Mark(")" | "]" | "}") => depth = depth.saturating_sub(1),
            Token::Name(word) if binds_what_follows(syntax, word) => {
                doubtful.extend(bound_after(syntax, tokens, at));
            }
            Token::Name(word) if matches!(word.as_str(), "def" | "function") => {
                let Some(head) = parameters(tokens, at) else {
                    return HashMap::new();
                };
                doubtful.extend(head.iter().filter_map(name_of));
            }
            // `const { a, b } = …`
            Token::Name(word) if word == "const" && opens(tokens.get(at + 1)) => {
                doubtful.extend(bound_after(syntax, tokens, at + 1));
            }
            Token::Name(name) => {
                let declared = before(tokens, at).is_some_and(|token| token.is_name("const"));
                let starts = match syntax {
                    Syntax::JavaScript => declared,
                    Syntax::Plain | Syntax::Python | Syntax::Perl | Syntax::Ruby | Syntax::Php => {
                        depth == 0 && starts_statement(tokens, at)
                    }
                };
                let value = value_after(syntax, tokens, at).filter(|_| starts);
                let is_new = value.is_none_or(|value| {
                    constants.len() < CONSTANTS_MAX && constants.insert(name, (at, value)).is_none()
                });
                let rebinds = value.is_none() && (declared || may_bind(tokens, at));
                if !is_new || rebinds {
                    doubtful.insert(name);
                }
            }
            Token::Mark(_)
            | Token::Variable(_)
            | Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number
            | Token::Newline => {}
        }
    }
    constants.retain(|name, _| !doubtful.contains(name));
    constants
}

fn before(tokens: &[Token], at: usize) -> Option<&Token> {
    at.checked_sub(1).and_then(|at| tokens.get(at))
}

fn starts_statement(tokens: &[Token], at: usize) -> bool {
    matches!(
        before(tokens, at),
        None | Some(Token::Newline | Token::Mark(";"))
    )
}

/// Returns the text, or the path of a text, that the name at `at` is set to, where nothing follows.
fn value_after(syntax: Syntax, tokens: &[Token], at: usize) -> Option<&[Token]> {
    tokens.get(at + 1).filter(|token| token.is_mark("="))?;
    let rest = tokens.get(at + 2..)?;
    let length = match rest {
        [Token::Text(Some(_)), ..] => 1,
        [Token::Name(class), open, Token::Text(Some(_)), close, ..]
            if syntax == Syntax::Python
                && class == "Path"
                && open.is_mark("(")
                && close.is_mark(")") =>
        {
            4
        }
        [
            Token::Name(module),
            dot,
            Token::Name(class),
            open,
            Token::Text(Some(_)),
            close,
            ..,
        ] if syntax == Syntax::Python
            && module == "pathlib"
            && class == "Path"
            && dot.is_mark(".")
            && open.is_mark("(")
            && close.is_mark(")") =>
        {
            6
        }
        _ => return None,
    };
    matches!(
        rest.get(length),
        None | Some(Token::Newline | Token::Mark(";"))
    )
    .then(|| rest.get(..length))
    .flatten()
}

/// Whether the name at `at` may be given another value there: `a += 1`, `a, b = …`, `a => …`.
fn may_bind(tokens: &[Token], at: usize) -> bool {
    let assigns = |token: &Token| {
        matches!(token, Token::Mark(mark) if matches!(*mark, "=>" | "++" | "--")
            || mark.ends_with('=')
                && !matches!(*mark, "==" | "===" | "!=" | "!==" | "<=" | ">="))
    };
    let lists =
        tokens.get(at + 1).is_some_and(|token| token.is_mark(",")) && starts_statement(tokens, at);
    // A parameter, where a body follows the parenthesis: `f(a) {`, `(a) => …`.
    let parameter = || {
        let close = tokens
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take(48)
            .position(|token| token.is_mark(")"));
        close.is_some_and(|close| {
            matches!(tokens.get(at + close + 1), Some(Token::Mark("{" | "=>")))
        })
    };
    let stepped = matches!(before(tokens, at), Some(Token::Mark("++" | "--" | "...")));
    tokens.get(at + 1).is_some_and(assigns) || lists || stepped || parameter()
}

fn binds_what_follows(syntax: Syntax, word: &str) -> bool {
    match syntax {
        Syntax::Python => matches!(
            word,
            "for"
                | "as"
                | "lambda"
                | "class"
                | "global"
                | "nonlocal"
                | "del"
                | "import"
                | "except"
                | "case"
        ),
        Syntax::JavaScript => matches!(word, "let" | "var" | "catch" | "class"),
        Syntax::Plain | Syntax::Perl | Syntax::Ruby | Syntax::Php => false,
    }
}

fn opens(token: Option<&Token>) -> bool {
    matches!(token, Some(Token::Mark("{" | "[")))
}

/// Returns the tokens up to where the body of the function at `at` begins. `None`: nowhere near.
fn parameters(tokens: &[Token], at: usize) -> Option<&[Token]> {
    let ends_head = |end: &usize| {
        before(tokens, *end).is_some_and(|token| token.is_mark(")"))
            && matches!(tokens.get(*end), Some(Token::Mark(":" | "->" | "{")))
    };
    let end = (at..tokens.len())
        .take(PARAMETER_TOKENS_MAX)
        .find(ends_head)?;
    tokens.get(at..end)
}

fn name_of(token: &Token) -> Option<&str> {
    match token {
        Token::Name(name) => Some(name.as_str()),
        Token::Mark(_)
        | Token::Variable(_)
        | Token::Symbol(_)
        | Token::Text(_)
        | Token::Command(_)
        | Token::Number
        | Token::Newline => None,
    }
}

/// Returns the names that a word which binds them is followed by.
fn bound_after(syntax: Syntax, tokens: &[Token], at: usize) -> impl Iterator<Item = &str> {
    let rest = tokens.get(at + 1..).unwrap_or_default();
    rest.iter()
        .take_while(move |token| match token {
            Token::Name(name) => name != "in" && name != "of",
            Token::Newline => false,
            Token::Mark(mark) => match syntax {
                Syntax::JavaScript => !matches!(*mark, ";" | "{"),
                Syntax::Plain | Syntax::Python | Syntax::Perl | Syntax::Ruby | Syntax::Php => {
                    !matches!(*mark, ":" | ";")
                }
            },
            Token::Variable(_)
            | Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number => true,
        })
        .take(64)
        .filter_map(name_of)
}

#[cfg(test)]
mod tests {
    use crate::language::Deed;
    use crate::language::script::{Lang, read};

    #[test]
    fn a_name_that_is_bound_once_is_read_as_what_it_stands_for() {
        for (lang, code, wanted) in [
            (
                Lang::PYTHON,
                "from pathlib import Path\np = Path('a.txt')\np.write_text(p.read_text().replace('a', 'b'))",
                Deed::WriteFile("a.txt".to_owned()),
            ),
            (
                Lang::PYTHON,
                "import os\nname = '/etc/passwd'\nos.remove(name)",
                Deed::DeleteFile("/etc/passwd".to_owned()),
            ),
            (
                Lang::JAVASCRIPT,
                "const fs = require('fs'); const to = 'a.json'; fs.writeFileSync(to, '{}');",
                Deed::WriteFile("a.json".to_owned()),
            ),
        ] {
            let reading = read(lang, code);
            assert_eq!(reading.hidden, None, "{code}");
            assert!(
                reading.deeds.contains(&wanted),
                "{code}: {:?}",
                reading.deeds
            );
        }
    }

    #[test]
    fn a_name_that_may_stand_for_something_else_stays_hidden() {
        for (lang, code) in [
            (
                Lang::PYTHON,
                "import os\np = 'a'\np += '/../b'\nos.remove(p)",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\nfor p in ['/etc/x']:\n  os.remove(p)",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\ndef f(a: str, p):\n  os.remove(p)\nf('', '/etc/x')",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\np, q = '/etc/x', 1\nos.remove(p)",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\n(q, p) = 1, '/etc/x'\nos.remove(p)",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\nwith open('x') as p:\n  os.remove(p)",
            ),
            (
                Lang::PYTHON,
                "import os\np = 'a'\nif (p := '/etc/x'):\n  os.remove(p)",
            ),
            (Lang::PYTHON, "import os\np = 'a' + x\nos.remove(p)"),
            (
                Lang::JAVASCRIPT,
                "const fs=require('fs'); const p='a'; for (const p of ['/etc/x']) { fs.unlinkSync(p) }",
            ),
            (
                Lang::JAVASCRIPT,
                "const fs=require('fs'); const p='a'; ['/etc/x'].forEach((p) => { fs.unlinkSync(p) })",
            ),
            (
                Lang::JAVASCRIPT,
                "const fs=require('fs'); const p='a'; function f(q, p) { fs.unlinkSync(p) } f(1, '/etc/x')",
            ),
            (
                Lang::JAVASCRIPT,
                "const fs=require('fs'); const p='a'; { const {p} = JSON.parse('1'); fs.unlinkSync(p) }",
            ),
            (
                Lang::JAVASCRIPT,
                "const fs=require('fs'); let p='a'; p='/etc/x'; fs.unlinkSync(p)",
            ),
        ] {
            assert!(read(lang, code).hidden.is_some(), "{code}");
        }
    }
}
