//! Literals of a script, as evidence about names that it computes.

use super::lexer::Token;
use super::{COMPUTED, Reader};
use crate::language::Deed;

/// Literals of one script that a computed name may be made of.
const LITERALS_MAX: usize = 64;
/// Longest literal that may be part of a path.
const LITERAL_BYTES_MAX: usize = 256;

impl Reader<'_> {
    /// Whether the arguments of the call at `end` name a place outside the project.
    pub(super) fn names_elsewhere(&self, end: usize) -> bool {
        let arguments = self.arguments(end).ranges;
        let tokens = arguments
            .iter()
            .flat_map(|(from, to)| self.tokens.get(*from..*to).unwrap_or_default());
        tokens.into_iter().any(
            |token| matches!(token, Token::Text(Some(text)) if text.starts_with(['/', '~']) || text.contains("..")),
        )
    }

    /// Where a file is opened by a name that is computed, the name is made of the texts at hand: each
    /// that may be part of a path counts as opened.
    pub(super) fn reaches_by_literals(&mut self) {
        if !self.reading.reads_computed && !self.reading.writes_computed {
            return;
        }
        let texts = self.tokens.iter().filter_map(|token| match token {
            Token::Text(Some(text)) => Some(text),
            Token::Text(None)
            | Token::Name(_)
            | Token::Variable(_)
            | Token::Symbol(_)
            | Token::Command(_)
            | Token::Mark(_)
            | Token::Number
            | Token::Newline => None,
        });
        let may_be_path = |text: &&String| {
            text.len() <= LITERAL_BYTES_MAX
                && !text.contains("://")
                && !text.contains(char::is_whitespace)
                && (text.contains('/') || text.starts_with(['.', '~']) || text.contains("id_"))
        };
        let paths: Vec<String> = texts
            .filter(may_be_path)
            .take(LITERALS_MAX + 1)
            .cloned()
            .collect();
        if paths.len() > LITERALS_MAX {
            self.reading.hide(COMPUTED);
        }
        for path in paths {
            if self.reading.writes_computed {
                self.reading.see(Deed::MayWrite(path.clone()));
            }
            if self.reading.reads_computed {
                self.reading.see(Deed::ReadFile(path));
            }
        }
    }
}
