//! Ways into libraries that their users do not take: inner names, names that are computed, code that is
//! loaded without an import.

use super::Reader;
use super::lexer::Token;
use crate::knowledge::Syntax;

/// Tokens that an index may have.
const INDEX_TOKENS_MAX: usize = 128;

impl Reader<'_> {
    /// Whether the bracket at `at` ends the index by which a function of a module is taken that reaches out:
    /// `fs[a + b](…)`.
    pub(super) fn calls_by_key(&self, at: usize) -> bool {
        let mut depth = 0_usize;
        for back in 0..INDEX_TOKENS_MAX {
            let Some(place) = at.checked_sub(back) else {
                return false;
            };
            if self.is_mark(place, "]") {
                depth += 1;
            } else if self.is_mark(place, "[") {
                depth = depth.saturating_sub(1);
            }
            if depth == 0 {
                let module = match self.before(place) {
                    Some(Token::Name(name)) => self.paths.get(name.as_str()),
                    _ => None,
                };
                return module.is_some_and(|path| !self.script.is_ordinary(path));
            }
        }
        false
    }

    /// Whether something is taken from a module that reaches out, by a name that is computed.
    pub(super) fn takes_by_name(&self, at: usize, name: &str) -> bool {
        let first = self.arguments(at + 1).ranges.first().copied();
        let object = first.and_then(|(from, _)| self.token(from));
        let path = match object {
            Some(Token::Name(object)) => self.paths.get(object.as_str()),
            _ => None,
        };
        name == "getattr" && path.is_some_and(|path| !self.script.is_ordinary(path))
    }

    /// Whether a path leads to what a module of the standard library keeps for itself: `uuid._popen`.
    pub(super) fn is_private(&self, parts: &[String]) -> bool {
        let [module, rest @ ..] = parts else {
            return false;
        };
        let is_own = |part: &String| part.starts_with('_') && !part.starts_with("__");
        self.script.syntax == Syntax::Python
            && self.bindings.modules.contains(module.as_str())
            && self.script.is_standard(module)
            && rest.iter().any(is_own)
    }

    /// Whether a path leads to what runs other code than that of a module, or loads a module that reaches
    /// out without an import.
    pub(super) fn loads_by_force(&self, path: &str, end: usize) -> bool {
        let starts = path
            .match_indices('.')
            .map(|(at, _)| at)
            .chain([path.len()]);
        let mut starts = starts.filter_map(|end| path.get(..end));
        if starts.any(|start| self.script.loaders.contains(start)) {
            return true;
        }
        let arguments = self.arguments(end).ranges;
        let module = arguments
            .first()
            .and_then(|(from, to)| self.tokens.get(*from..*to));
        path.ends_with("import_module")
            && matches!(module, Some([Token::Text(Some(module))]) if !self.script.is_ordinary(module))
    }
}
