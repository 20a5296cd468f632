//! Splits a script into tokens by the rules of its language.
//!
//! Where a language is hard to split (Perl above all), the lexer gives up early rather than guess:
//! a wrong guess about where a string ends could hide code in it.

mod escapes;
mod javascript;
mod perl;
mod templates;

pub(super) use self::templates::is_usual_format;
use crate::knowledge::languages::Script;
use crate::knowledge::{Feature, Syntax};
use crate::language::cursor::{Cursor, continues_name, starts_name};

/// One token of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Name(String),
    /// A name with its sigil.
    Variable(String),
    /// `:name` of Ruby.
    Symbol(String),
    /// A string; `None` when something is put into it.
    Text(Option<String>),
    /// A command in backticks; `None` when something is put into it.
    Command(Option<String>),
    Number,
    Mark(&'static str),
    Newline,
}

impl Token {
    pub(crate) fn is_mark(&self, wanted: &str) -> bool {
        matches!(self, Self::Mark(mark) if *mark == wanted)
    }

    pub(crate) fn is_name(&self, wanted: &str) -> bool {
        matches!(self, Self::Name(name) if name == wanted)
    }

    /// Whether a value may end with this token, so that a slash after it divides.
    pub(super) fn ends_operand(&self) -> bool {
        match self {
            Self::Variable(_)
            | Self::Text(_)
            | Self::Number
            | Self::Symbol(_)
            | Self::Command(_) => true,
            Self::Name(name) => !STARTERS.contains(&name.as_str()),
            Self::Mark(mark) => matches!(*mark, ")" | "]" | "}" | "++" | "--"),
            Self::Newline => false,
        }
    }
}

/// Words after which a value begins.
const STARTERS: [&str; 34] = [
    "return", "typeof", "case", "in", "of", "and", "or", "not", "if", "unless", "while", "until",
    "split", "grep", "map", "print", "puts", "p", "when", "then", "else", "elsif", "do", "yield",
    "join", "push", "say", "x", "new", "delete", "void", "await", "xor", "cmp",
];

/// Marks of all languages, longest first.
const MARKS: [&str; 64] = [
    "===", "!==", "...", "**=", "<=>", "||=", "&&=", "??=", "//=", ">>>", "?->", "=>", "->", "::",
    "?.", "&.", "==", "!=", "<=", ">=", "=~", "!~", "**", "&&", "||", "??", "++", "--", "+=", "-=",
    "*=", "/=", "%=", ".=", "|=", "^=", ":=", "//", "..", "<<", ">>", "~=", "(", ")", "[", "]",
    "{", "}", ",", ";", ":", ".", "=", "+", "-", "*", "/", "%", "<", ">", "!", "&", "|", "?",
];

/// Marks that are rare enough to stand apart.
const RARE_MARKS: [&str; 5] = ["^", "~", "@", "#", "$"];

/// What may stand before the quote of a text of Python.
const TEXT_PREFIXES: [&str; 11] = ["r", "u", "b", "br", "rb", "f", "fr", "rf", "t", "tr", "rt"];

/// Characters that end a line in JavaScript.
const ENDS_LINE: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

/// Strings with code in them may nest this deep.
const DEPTH_MAX: usize = 4;

/// How far each line is indented: the place of its first token, and the number of blanks before it.
pub(super) type Indents = Vec<(usize, usize)>;

/// Lines count as indented by at most this much.
const INDENT_MAX: usize = 200;

/// The tokens of `code`, and how its lines are indented; `None` when it cannot be split for certain.
pub(super) fn tokens(script: &'static Script, code: &str) -> Option<(Vec<Token>, Indents)> {
    let mut tokens = Vec::new();
    let mut indents = Vec::new();
    lex(script, code, 0, &mut tokens, &mut indents)?;
    Some((tokens, indents))
}

fn lex(
    script: &'static Script,
    code: &str,
    depth: usize,
    tokens: &mut Vec<Token>,
    indents: &mut Indents,
) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    let mut lexer = Lexer {
        script,
        cursor: Cursor::new(code),
        depth,
        tokens,
        indents,
    };
    while lexer.cursor.peek().is_some() {
        lexer.step()?;
    }
    Some(())
}

struct Lexer<'a> {
    script: &'static Script,
    cursor: Cursor,
    depth: usize,
    tokens: &'a mut Vec<Token>,
    indents: &'a mut Indents,
}

impl Lexer<'_> {
    fn after_operand(&self) -> bool {
        self.tokens.last().is_some_and(Token::ends_operand)
    }

    /// The same for Perl, where a bare word is mostly a function that takes what follows.
    fn after_value(&self) -> bool {
        self.after_operand() && !matches!(self.tokens.last(), Some(Token::Name(_)))
    }

    fn step(&mut self) -> Option<()> {
        let c = self.cursor.peek()?;
        // Python counts indentation anew behind it.
        if c == '\u{c}' && self.script.syntax == Syntax::Python {
            return None;
        }
        if self.leaves_the_language() {
            return None;
        }
        if c == '\n' {
            self.cursor.bump();
            self.tokens.push(Token::Newline);
            if self.depth == 0 {
                let blank = |place: &usize| matches!(self.cursor.peek_at(*place), Some(' ' | '\t'));
                let indent = (0..INDENT_MAX).take_while(blank).count();
                self.indents.push((self.tokens.len(), indent));
            }
        } else if c.is_whitespace() {
            self.cursor.bump();
        } else if c == '\\' && self.cursor.peek_at(1) == Some('\n') {
            self.cursor.skip(2);
        } else if self.comment()? {
            // Nothing of it is kept.
        } else if c == '\'' || c == '"' {
            self.quoted(c)?;
        } else if c == '`' {
            self.backticks()?;
        } else if c.is_ascii_digit() {
            self.cursor.take_while(continues_name);
            if self.cursor.peek() == Some('.')
                && self.cursor.peek_at(1).is_some_and(|c| c.is_ascii_digit())
            {
                self.cursor.bump();
                self.cursor.take_while(continues_name);
            }
            self.tokens.push(Token::Number);
        } else if starts_name(c) || c == '$' && self.script.syntax == Syntax::JavaScript {
            self.word()?;
        } else if c == '/'
            && matches!(
                self.script.syntax,
                Syntax::JavaScript | Syntax::Ruby | Syntax::Perl
            )
            && self.starts_pattern()?
        {
            self.cursor.bump();
            let body = self.pattern('/')?;
            self.pattern_done(&body)?;
        } else if !self.own_mark(c)? {
            let mark = MARKS
                .iter()
                .chain(&RARE_MARKS)
                .find(|mark| self.cursor.eat_text(mark))?;
            self.tokens.push(Token::Mark(mark));
        }
        Some(())
    }

    /// Takes what only this language writes so; says whether there was something.
    fn own_mark(&mut self, c: char) -> Option<bool> {
        match self.script.syntax {
            Syntax::Perl => self.perl_mark(c),
            Syntax::Ruby => self.ruby_mark(c),
            Syntax::Php if c == '$' => {
                self.cursor.bump();
                let name = self.cursor.take_while(continues_name);
                // `$$name` and `${…}` compute which variable is meant.
                if name.is_empty() {
                    return None;
                }
                self.tokens.push(Token::Variable(format!("${name}")));
                Some(true)
            }
            Syntax::Php | Syntax::Plain | Syntax::Python | Syntax::JavaScript => {
                self.long_brackets()
            }
        }
    }

    /// `[[text]]`; `[=[text]=]` is not read.
    fn long_brackets(&mut self) -> Option<bool> {
        if !self.script.has(Feature::LongBrackets) {
            return Some(false);
        }
        if self.cursor.eat_text("[[") {
            let text = self.cursor.take_until("]]")?;
            self.tokens.push(Token::Text(Some(text)));
            return Some(true);
        }
        (!self.cursor.looking_at("[=")).then_some(false)
    }

    fn comment(&mut self) -> Option<bool> {
        let hash = self.script.has(Feature::HashComments);
        let slashes = self.script.has(Feature::SlashComments);
        let starts_hash = hash && self.cursor.peek() == Some('#');
        // An attribute of PHP starts with `#[`; it is not understood.
        if starts_hash && self.script.syntax == Syntax::Php && self.cursor.looking_at("#[") {
            return None;
        }
        if starts_hash || (slashes && self.cursor.looking_at("//")) {
            self.line_comment()?;
        } else if slashes && self.cursor.eat_text("/*") {
            let comment = self.cursor.take_until("*/")?;
            // JavaScript ends a line where a comment does.
            if self.script.syntax == Syntax::JavaScript && comment.contains(ENDS_LINE) {
                self.tokens.push(Token::Newline);
            }
        } else if self.script.has(Feature::DashComments) && self.cursor.eat_text("--") {
            if self.cursor.eat_text("[[") {
                self.cursor.take_until("]]")?;
            } else if self.cursor.looking_at("[=") {
                return None;
            } else {
                self.line_comment()?;
            }
        } else {
            return Some(false);
        }
        Some(true)
    }

    /// Skips the rest of the line. Some interpreters also end a line at the characters below, so code
    /// may follow them.
    fn line_comment(&mut self) -> Option<()> {
        let comment = self.cursor.rest_of_line();
        let comment = comment.strip_suffix('\r').unwrap_or(&comment);
        let closes_php = self.script.syntax == Syntax::Php && comment.contains("?>");
        (!closes_php && !comment.contains(['\r', '\u{2028}', '\u{2029}'])).then_some(())
    }

    fn quoted(&mut self, quote: char) -> Option<()> {
        let mut prefix = String::new();
        if let (Syntax::Python, Some(Token::Name(name)), Some(before)) =
            (self.script.syntax, self.tokens.last(), self.cursor.before())
        {
            // A prefix such as `rb` sticks to the quote, and so may a word such as `or`.
            let lower = name.to_ascii_lowercase();
            if continues_name(before) && TEXT_PREFIXES.contains(&lower.as_str()) {
                prefix = lower;
                self.tokens.pop();
            }
        }
        let triple = format!("{quote}{quote}{quote}");
        if self.script.syntax == Syntax::Python && self.cursor.eat_text(&triple) {
            let body = self.until_triple(&triple)?;
            return self.python_text(&prefix, &body);
        }
        self.cursor.bump();
        let body = self.until(quote)?;
        match self.script.syntax {
            Syntax::Python => self.python_text(&prefix, &body),
            syntax @ (Syntax::JavaScript | Syntax::Plain) => {
                self.tokens.push(Token::Text(escapes::undo(syntax, &body)));
                Some(())
            }
            Syntax::Ruby if quote == '"' => self.interpolated(&body, "#{", false),
            Syntax::Php | Syntax::Perl if quote == '"' => self.sigils(&body, false),
            Syntax::Ruby | Syntax::Php | Syntax::Perl => {
                self.tokens.push(Token::Text(Some(
                    body.replace("\\'", "'").replace("\\\\", "\\"),
                )));
                Some(())
            }
        }
    }

    /// The text up to `quote`, escapes kept as they are.
    fn until(&mut self, quote: char) -> Option<String> {
        let mut body = String::new();
        loop {
            match self.cursor.bump()? {
                '\\' => {
                    body.push('\\');
                    body.push(self.cursor.bump()?);
                }
                c if c == quote => return Some(body),
                '\n' if quote != '`' && self.script.has(Feature::OneLineTexts) => {
                    return None;
                }
                c => body.push(c),
            }
        }
    }

    /// A string into which code between `open` and `}` is put.
    fn interpolated(&mut self, body: &str, open: &str, is_command: bool) -> Option<()> {
        let mut cursor = Cursor::new(body);
        let mut codes = Vec::new();
        while cursor.peek().is_some() {
            if cursor.peek() == Some('\\') {
                cursor.skip(2);
            } else if cursor.eat_text(open) {
                codes.push(braced(&mut cursor)?);
            } else {
                cursor.bump();
            }
        }
        let text = if codes.is_empty() {
            escapes::undo(self.script.syntax, body)
        } else {
            None
        };
        self.tokens.push(if is_command {
            Token::Command(text)
        } else {
            Token::Text(text)
        });
        for code in codes {
            self.inner(&code)?;
        }
        Some(())
    }

    /// A string of Perl or PHP, into which variables are put by their sigils.
    fn sigils(&mut self, body: &str, is_command: bool) -> Option<()> {
        let mut cursor = Cursor::new(body);
        let mut is_plain = true;
        while let Some(c) = cursor.bump() {
            match c {
                '\\' => {
                    cursor.bump();
                }
                '$' | '@' => match cursor.peek() {
                    // Braces may hold code; a bare name may not.
                    Some('{') => {
                        cursor.bump();
                        let code = cursor.take_until("}")?;
                        if !code.chars().all(|c| continues_name(c) || c == '^') {
                            return None;
                        }
                        is_plain = false;
                    }
                    Some('(') if c == '@' => return None,
                    Some(next) if continues_name(next) || "&!/$@,;._0".contains(next) => {
                        is_plain = false;
                        cursor.take_while(continues_name);
                        let method =
                            cursor.looking_at("->") && cursor.peek_at(2).is_some_and(starts_name);
                        if method && self.script.syntax == Syntax::Php && body.contains('(') {
                            return None;
                        }
                        // An index may hold code as well.
                        if matches!(cursor.peek(), Some('[' | '{')) {
                            let index = cursor.take_while(|c| c != ']' && c != '}');
                            if index.contains(['(', '`']) {
                                return None;
                            }
                        }
                    }
                    _ => {}
                },
                '{' if self.script.syntax == Syntax::Php && cursor.peek() == Some('$') => {
                    let code = braced(&mut cursor)?;
                    self.inner(&code)?;
                    is_plain = false;
                }
                _ => {}
            }
        }
        let text = is_plain
            .then(|| escapes::undo(self.script.syntax, body))
            .flatten();
        self.tokens.push(if is_command {
            Token::Command(text)
        } else {
            Token::Text(text)
        });
        Some(())
    }

    /// Adds the tokens of code that stands inside a string.
    fn inner(&mut self, code: &str) -> Option<()> {
        self.tokens.push(Token::Mark("+"));
        self.tokens.push(Token::Mark("("));
        lex(self.script, code, self.depth + 1, self.tokens, self.indents)?;
        self.tokens.push(Token::Mark(")"));
        Some(())
    }

    fn backticks(&mut self) -> Option<()> {
        self.cursor.bump();
        let body = self.until('`')?;
        match self.script.syntax {
            Syntax::JavaScript => {
                // A tag before the string would be called with it.
                if !self.begins_value()? {
                    return None;
                }
                self.template(&body)
            }
            Syntax::Ruby => self.interpolated(&body, "#{", true),
            Syntax::Perl | Syntax::Php => self.sigils(&body, true),
            Syntax::Plain | Syntax::Python => None,
        }
    }

    fn word(&mut self) -> Option<()> {
        let signs = self.script.syntax == Syntax::JavaScript;
        let mut name = self
            .cursor
            .take_while(|c| continues_name(c) || signs && c == '$');
        if self.script.syntax == Syntax::Perl {
            while self.cursor.looking_at("::") && self.cursor.peek_at(2).is_some_and(starts_name) {
                self.cursor.skip(2);
                name.push_str("::");
                name.push_str(&self.cursor.take_while(continues_name));
            }
            // `(0) x3` repeats; the number sticks to the operator.
            let repeats = name.strip_prefix('x').is_some_and(|count| {
                !count.is_empty() && count.chars().all(|c| c.is_ascii_digit())
            });
            if repeats && self.after_operand() {
                self.tokens
                    .extend([Token::Name("x".to_owned()), Token::Number]);
                return Some(());
            }
            let is_member = self
                .tokens
                .last()
                .is_some_and(|t| t.is_mark("->") || t.is_mark("{"));
            if !(is_member && self.cursor.peek() == Some('}')) && self.perl_quote(&name)? {
                return Some(());
            }
            if matches!(name.as_str(), "format" | "__END__" | "__DATA__") {
                return None;
            }
        }
        if self.script.syntax == Syntax::Ruby
            && matches!(self.cursor.peek(), Some('?' | '!'))
            && self.cursor.peek_at(1) != Some('=')
        {
            name.extend(self.cursor.bump());
        }
        self.tokens.push(Token::Name(name));
        Some(())
    }

    /// Whether the slash ahead starts a pattern; `None` when nobody can tell.
    fn starts_pattern(&self) -> Option<bool> {
        if self.script.syntax == Syntax::JavaScript {
            return self.begins_value();
        }
        match (self.script.syntax, self.tokens.last()) {
            (Syntax::Perl, Some(Token::Mark("}"))) => None,
            (Syntax::Perl, Some(Token::Name(name)))
                if matches!(name.as_str(), "shift" | "pop" | "time" | "wantarray") =>
            {
                None
            }
            (_, None) | (Syntax::Perl, Some(Token::Name(_))) => Some(true),
            (Syntax::Ruby, Some(Token::Name(name))) if !STARTERS.contains(&name.as_str()) => {
                // `a / b` divides; `a /b/` would be a call with a pattern.
                (self.cursor.peek_at(1) == Some(' ')).then_some(false)
            }
            (_, Some(token)) => Some(!token.ends_operand()),
        }
    }

    /// The body of a pattern up to `close`, which may stand in brackets except in Perl.
    fn pattern(&mut self, close: char) -> Option<String> {
        let mut body = String::new();
        let mut in_brackets = false;
        loop {
            match self.cursor.bump()? {
                '\\' => {
                    body.push('\\');
                    body.push(self.cursor.bump()?);
                }
                c if c == close && !in_brackets => return Some(body),
                '\n' if self.script.syntax == Syntax::JavaScript => return None,
                c => {
                    if self.script.syntax == Syntax::JavaScript {
                        in_brackets = (in_brackets || c == '[') && c != ']';
                    }
                    body.push(c);
                }
            }
        }
    }

    /// Takes the flags of a pattern and checks that no code hides in it.
    fn pattern_done(&mut self, body: &str) -> Option<()> {
        self.cursor.take_while(|c| c.is_ascii_lowercase());
        let hides_code = body.contains("(?{") || body.contains("(??{") || body.contains("@{");
        let interpolates = self.script.syntax == Syntax::Ruby && body.contains("#{");
        if hides_code || interpolates || (self.script.syntax == Syntax::Perl && body.contains("${"))
        {
            return None;
        }
        self.tokens.push(Token::Text(None));
        Some(())
    }

    /// The text up to the delimiter that closes `open`; pairs nest.
    fn delimited(&mut self, open: char) -> Option<String> {
        let close = closing(open);
        let mut body = String::new();
        let mut depth = 0_usize;
        loop {
            let c = self.cursor.bump()?;
            if c == '\\' {
                body.push(c);
                body.push(self.cursor.bump()?);
                continue;
            }
            if c == close {
                if depth == 0 {
                    return Some(body);
                }
                depth -= 1;
            } else if c == open {
                depth += 1;
            }
            body.push(c);
        }
    }

    /// Symbols, variables and `%w[…]` of Ruby.
    fn ruby_mark(&mut self, c: char) -> Option<bool> {
        match c {
            ':' if self.cursor.peek_at(1).is_some_and(starts_name)
                && self.cursor.before() != Some(':') =>
            {
                self.cursor.bump();
                let name = self
                    .cursor
                    .take_while(|c| continues_name(c) || c == '?' || c == '!');
                self.tokens.push(Token::Symbol(name));
            }
            '$' | '@' => {
                self.cursor.bump();
                self.cursor.eat('@');
                let mut name = format!("{c}{}", self.cursor.take_while(continues_name));
                if name.len() == 1 {
                    name.extend(self.cursor.bump());
                }
                self.tokens.push(Token::Variable(name));
            }
            '%' if !self.after_operand() => {
                self.cursor.bump();
                let kind = self.cursor.take_while(|c| c.is_ascii_alphabetic());
                let open = self.cursor.bump()?;
                let body = self.delimited(open)?;
                match kind.as_str() {
                    "w" | "i" | "q" => self.tokens.push(Token::Text(Some(body))),
                    "" | "Q" | "W" => self.interpolated(&body, "#{", false)?,
                    "x" => self.interpolated(&body, "#{", true)?,
                    _ => return None,
                }
            }
            '<' if self.cursor.looking_at("<<~") || self.cursor.looking_at("<<-") => return None,
            _ => return Some(false),
        }
        Some(true)
    }
}

/// The code up to the brace that closes, braces and quotes inside counted.
fn braced(cursor: &mut Cursor) -> Option<String> {
    let mut code = String::new();
    let mut depth = 0_usize;
    let mut quote: Option<char> = None;
    loop {
        let c = cursor.bump()?;
        match (quote, c) {
            (None, '}') if depth == 0 => return Some(code),
            (None, '{') => depth += 1,
            (None, '}') => depth -= 1,
            (None, '\'' | '"' | '`') => quote = Some(c),
            (Some(open), c) if open == c => quote = None,
            (Some(_), '\\') => {
                code.push(c);
                code.push(cursor.bump()?);
                continue;
            }
            _ => {}
        }
        code.push(c);
    }
}

fn closing(open: char) -> char {
    match open {
        '(' => ')',
        '[' => ']',
        '{' => '}',
        '<' => '>',
        same => same,
    }
}
