//! Name bindings of a script: its own values, and names imported from modules.

use std::collections::HashSet;

use super::lexer::Token;
use super::{FOREIGN_CODE, Paths};
use crate::knowledge::Syntax;
use crate::knowledge::languages::Script;

/// Names of a script that are not the language's own.
#[derive(Debug, Default)]
pub(super) struct Bindings {
    /// Variables, parameters, functions and classes.
    pub(super) locals: HashSet<String>,
    /// Locals that are functions for certain.
    pub(super) functions: HashSet<String>,
    /// Names that stand for a module or something in it.
    pub(super) paths: Paths,
    /// The first parts of these paths.
    pub(super) modules: HashSet<String>,
    /// Places of tokens that only bind names to modules.
    pub(super) understood: HashSet<usize>,
    /// Why some import could not be followed.
    pub(super) refused: Option<&'static str>,
    /// Whether a module is loaded that is not known and may be an ordinary one.
    pub(super) unfamiliar: bool,
    /// Modules that are loaded.
    pub(super) imports: Vec<String>,
    /// Whether all names of some module are taken, so that any name may be one of them.
    pub(super) all_of_one: bool,
}

/// How many tokens one binding may span.
const BINDING_TOKENS_MAX: usize = 48;

impl Bindings {
    pub(super) fn collect(script: &'static Script, tokens: &[Token]) -> Self {
        let syntax = script.syntax;
        let mut bindings = Self::default();
        for (at, token) in tokens.iter().enumerate() {
            let rest = tokens.get(at + 1..).unwrap_or_default();
            match token {
                Token::Name(word) if syntax == Syntax::Python && word == "import" => {
                    if !bindings.understood.contains(&at) {
                        bindings.python_import(script, tokens, at);
                    }
                }
                Token::Name(word) if syntax == Syntax::JavaScript && word == "import" => {
                    bindings.javascript_import(script, at, rest);
                }
                Token::Name(word) if script.binders.contains(word) => {
                    bindings.binder(word, rest);
                }
                Token::Mark("=" | ":=") => {
                    bindings.assignment(script, tokens, at);
                    bindings.alias(script, tokens, at);
                }
                Token::Mark("=>") if syntax == Syntax::JavaScript => bindings.arrow(tokens, at),
                Token::Mark("|") if syntax == Syntax::Ruby => bindings.block(rest),
                Token::Mark(_)
                | Token::Name(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number
                | Token::Newline => {}
            }
        }
        bindings
    }

    /// Notes that `module` is loaded.
    fn loads(&mut self, script: &Script, module: &str) {
        if !self.imports.iter().any(|known| known == module) {
            self.imports.push(module.to_owned());
        }
        // Modules that begin so are the inner parts of others: `_pickle`.
        let is_inner = script.syntax == Syntax::Python
            && module.starts_with('_')
            && !script.knows_module(module);
        if script.forbidden.contains(module) || is_inner {
            self.refused = Some(FOREIGN_CODE);
        } else if !script.knows_module(module) {
            // What a module that reaches out is used for is judged where it is used.
            self.unfamiliar = true;
            if !script.has_ordinary_names() {
                self.refused = Some(FOREIGN_CODE);
            }
        }
    }

    fn local(&mut self, name: &str) {
        self.locals.insert(name.to_owned());
    }

    fn path(&mut self, name: &str, path: String) {
        if let Some(module) = path.split('.').next() {
            self.modules.insert(module.to_owned());
        }
        self.modules.insert(name.to_owned());
        self.paths.insert(name.to_owned(), path);
    }

    fn binder(&mut self, word: &str, rest: &[Token]) {
        if let (true, Some(Token::Name(name))) = (
            matches!(word, "def" | "function" | "sub" | "class"),
            rest.first(),
        ) {
            self.functions.insert(name.clone());
        }
        for token in rest.iter().take(BINDING_TOKENS_MAX) {
            match token {
                Token::Name(name) if matches!(name.as_str(), "in" | "of" | "do" | "if") => break,
                Token::Name(name) => self.local(name),
                Token::Mark("=" | ")" | ":" | "=>" | ";") | Token::Newline => break,
                Token::Mark(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number => {}
            }
        }
    }

    /// Names before an equals sign; in JavaScript they may be taken from a module.
    fn assignment(&mut self, script: &Script, tokens: &[Token], at: usize) {
        let required = match tokens.get(at + 1..at + 5) {
            Some([require, open, Token::Text(Some(module)), close])
                if script.syntax == Syntax::JavaScript
                    && require.is_name("require")
                    && open.is_mark("(")
                    && close.is_mark(")")
                    && !is_data(module) =>
            {
                let module = module.strip_prefix("node:").unwrap_or(module);
                Some(
                    module
                        .strip_suffix("/promises")
                        .unwrap_or(module)
                        .to_owned(),
                )
            }
            _ => None,
        };
        let is_function = match tokens.get(at + 1..at + 3) {
            Some([Token::Name(first), second]) => {
                first == "function" || first == "async" || second.is_mark("=>")
            }
            Some([open, _]) if open.is_mark("(") => arrow_follows(tokens, at + 1),
            _ => false,
        };
        let deeper = tokens.get(at + 5).is_some_and(|token| token.is_mark("."));
        let destructures = at
            .checked_sub(1)
            .and_then(|at| tokens.get(at))
            .is_some_and(|token| token.is_mark("}"));
        if let (Some(module), false) = (&required, deeper) {
            self.understood.extend(at + 1..at + 5);
            self.loads(script, module);
        }
        for back in 1..=BINDING_TOKENS_MAX {
            let Some(place) = at.checked_sub(back) else {
                break;
            };
            if required.is_some() {
                self.understood.insert(place);
            }
            let is_member = place
                .checked_sub(1)
                .and_then(|before| tokens.get(before))
                .is_some_and(|before| before.is_mark(".") || before.is_mark("->"));
            match tokens.get(place) {
                Some(Token::Name(_)) if is_member => break,
                Some(Token::Name(name)) if script.binders.contains(name) => break,
                Some(Token::Name(name)) => match &required {
                    Some(module) if destructures => self.path(name, format!("{module}.{name}")),
                    // `x = require('a').b` binds a part that is checked where it is read.
                    Some(_) if deeper => self.local(name),
                    Some(module) => self.path(name, module.clone()),
                    None => {
                        self.local(name);
                        if is_function && back == 1 {
                            self.functions.insert(name.clone());
                        }
                    }
                },
                Some(Token::Mark("," | "*" | "{" | "}" | "[" | "]" | ":" | "...")) => {}
                _ => break,
            }
        }
    }

    /// `f = os.remove` gives a function another name.
    fn alias(&mut self, script: &Script, tokens: &[Token], at: usize) {
        let value = tokens.get(at + 1..).unwrap_or_default();
        let is_end = |token: &Token| *token == Token::Newline || token.is_mark(";");
        let end = value.iter().take(BINDING_TOKENS_MAX).position(is_end);
        let path = dotted(value.get(..end.unwrap_or(value.len())).unwrap_or_default());
        let name = at.checked_sub(1).and_then(|at| tokens.get(at));
        let before = at.checked_sub(2).and_then(|at| tokens.get(at));
        let is_alone = before.is_none_or(|token| {
            is_end(token) || matches!(token, Token::Name(word) if script.binders.contains(word))
        });
        if let (Some(path), Some(Token::Name(name)), true) = (path, name, is_alone) {
            let (first, rest) = path.split_at(path.find('.').unwrap_or(path.len()));
            let whole = self
                .paths
                .get(first)
                .map(|module| format!("{module}{rest}"));
            if let Some(whole) = whole.filter(|whole| script.calls.contains(whole)) {
                self.path(name, whole);
            }
        }
    }

    /// The parameters before `=>`.
    fn arrow(&mut self, tokens: &[Token], at: usize) {
        for back in 1..=BINDING_TOKENS_MAX {
            match at.checked_sub(back).and_then(|place| tokens.get(place)) {
                Some(Token::Name(name)) => {
                    self.local(name);
                    if back == 1 {
                        break;
                    }
                }
                Some(Token::Mark("(")) | None => break,
                Some(_) => {}
            }
        }
    }

    /// The parameters between the bars of a Ruby block.
    fn block(&mut self, rest: &[Token]) {
        for token in rest.iter().take(BINDING_TOKENS_MAX) {
            match token {
                Token::Name(name) => self.local(name),
                Token::Mark("," | "(" | ")" | "*") => {}
                Token::Mark(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number
                | Token::Newline => break,
            }
        }
    }

    /// `import a.b, c as d` and `from a import b as c, d`.
    fn python_import(&mut self, script: &Script, tokens: &[Token], at: usize) {
        let statement_start = (1..=BINDING_TOKENS_MAX)
            .filter_map(|back| at.checked_sub(back))
            .take_while(|place| {
                !matches!(
                    tokens.get(*place),
                    None | Some(Token::Newline | Token::Mark(";" | ":"))
                )
            })
            .find(|place| {
                tokens
                    .get(*place)
                    .is_some_and(|token| token.is_name("from"))
            });
        let source = statement_start.and_then(|start| dotted(tokens.get(start + 1..at)?));
        if statement_start.is_some() && source.is_none() {
            self.refused = Some(FOREIGN_CODE);
            return;
        }
        let rest = tokens.get(at + 1..).unwrap_or_default();
        let in_parentheses = rest.first().is_some_and(|token| token.is_mark("("));
        let end = rest
            .iter()
            .position(|token| match token {
                Token::Newline => !in_parentheses,
                Token::Mark(mark) => matches!(*mark, ";" | ")"),
                Token::Name(_)
                | Token::Variable(_)
                | Token::Symbol(_)
                | Token::Text(_)
                | Token::Command(_)
                | Token::Number => false,
            })
            .unwrap_or(rest.len());
        self.understood
            .extend(statement_start.unwrap_or(at)..=at + end);
        let names: Vec<Token> = rest
            .iter()
            .take(end)
            .filter(|token| !token.is_mark("(") && **token != Token::Newline)
            .cloned()
            .collect();
        if let (Some(source), [Token::Mark("*")]) = (&source, names.as_slice()) {
            self.loads(script, source);
            self.all_of_one = true;
            if !script.is_ordinary(source) {
                self.refused = Some(FOREIGN_CODE);
            }
            return;
        }
        for item in names.split(|token| token.is_mark(",")) {
            self.python_item(script, source.as_deref(), item);
        }
    }

    fn python_item(&mut self, script: &Script, source: Option<&str>, item: &[Token]) {
        let (path, alias) = match item {
            [path @ .., word, Token::Name(alias)] if word.is_name("as") => {
                (dotted(path), Some(alias.clone()))
            }
            [] => return,
            path => (dotted(path), None),
        };
        let Some(path) = path else {
            self.refused = Some(FOREIGN_CODE);
            return;
        };
        self.loads(script, source.unwrap_or(&path));
        match (source, alias) {
            (Some(source), alias) => {
                let name = alias.unwrap_or_else(|| path.clone());
                let whole = format!("{source}.{path}");
                if !script.knows_module(source) {
                    // What is taken from a package may be a module in it.
                    self.imports.push(whole.clone());
                }
                self.path(&name, whole);
            }
            (None, Some(alias)) => self.path(&alias, path),
            (None, None) => {
                let first = path.split('.').next().unwrap_or(&path).to_owned();
                self.path(&first.clone(), first);
            }
        }
    }

    /// `import x from 'm'`, `import * as x from 'm'`, `import {a, b as c} from 'm'`.
    fn javascript_import(&mut self, script: &Script, at: usize, rest: &[Token]) {
        // `import('./dist/index.js')`: a file of the project, as `require` would load it.
        if let [open, Token::Text(Some(module)), close, ..] = rest
            && open.is_mark("(")
            && close.is_mark(")")
            && module.starts_with(['.'])
        {
            self.loads(script, module);
            self.understood.insert(at);
            return;
        }
        // `import(…)` loads while running.
        if rest.first().is_some_and(|token| token.is_mark("(")) {
            self.refused = Some(FOREIGN_CODE);
            return;
        }
        let head = rest
            .iter()
            .take(BINDING_TOKENS_MAX)
            .position(|t| matches!(t, Token::Text(_)));
        let Some((head, Some(Token::Text(Some(module))))) = head.map(|at| (at, rest.get(at)))
        else {
            self.refused = Some(FOREIGN_CODE);
            return;
        };
        let module = module.strip_prefix("node:").unwrap_or(module);
        let module = module
            .strip_suffix("/promises")
            .unwrap_or(module)
            .to_owned();
        self.loads(script, &module);
        self.understood.extend(at..=at + 1 + head);
        let names = rest.get(..head).unwrap_or_default();
        let mut braces = false;
        let mut whole: Option<&str> = None;
        for (at, token) in names.iter().enumerate() {
            match token {
                Token::Mark("{") => braces = true,
                Token::Name(word) if matches!(word.as_str(), "from" | "as") => {}
                Token::Name(name) => {
                    let is_alias = names
                        .get(at.wrapping_sub(1))
                        .is_some_and(|token| token.is_name("as"));
                    match (braces, is_alias, whole) {
                        (true, true, Some(original)) => {
                            self.path(name, format!("{module}.{original}"));
                        }
                        (true, _, _) => {
                            self.path(name, format!("{module}.{name}"));
                            whole = Some(name);
                        }
                        (false, _, _) => self.path(name, module.clone()),
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
    }
}

/// `a.b.c` as text; `None` if the tokens are anything else.
fn dotted(tokens: &[Token]) -> Option<String> {
    let mut path = String::new();
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::Name(part) if place % 2 == 0 => path.push_str(part),
            Token::Mark(".") if place % 2 == 1 => path.push('.'),
            Token::Name(_)
            | Token::Mark(_)
            | Token::Variable(_)
            | Token::Symbol(_)
            | Token::Text(_)
            | Token::Command(_)
            | Token::Number
            | Token::Newline => return None,
        }
    }
    (!path.is_empty() && !path.ends_with('.')).then_some(path)
}

/// Whether a module is a file of data, which is read and not run.
pub(super) fn is_data(module: &str) -> bool {
    std::path::Path::new(module)
        .extension()
        .is_some_and(|extension| extension == "json")
}

/// Whether the parenthesis at `open` holds the parameters of an arrow function.
fn arrow_follows(tokens: &[Token], open: usize) -> bool {
    let mut depth = 0_usize;
    for (at, token) in tokens
        .iter()
        .enumerate()
        .skip(open)
        .take(BINDING_TOKENS_MAX)
    {
        if token.is_mark("(") {
            depth += 1;
        } else if token.is_mark(")") {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                return tokens.get(at + 1).is_some_and(|next| next.is_mark("=>"));
            }
        }
    }
    false
}
