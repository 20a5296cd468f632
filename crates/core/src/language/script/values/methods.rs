//! What methods of values and functions of the script return, as far as the texts in them go.

use super::made::{Made, Origin};
use super::texts::{dated, format_with, parent, reencodes, without_suffix};
use super::{DEPTH_MAX, Range, Values};
use crate::language::script::lexer::Token;

impl Values<'_> {
    pub(super) fn method(&self, made: Made, name: &str, given: &[Range], depth: usize) -> Made {
        let script = self.script;
        if let Some(ranges) = self.gathered.returned.get(name) {
            let own = self.returned(name, ranges, depth);
            let own = if self.gathered.attributes.contains_key(name) {
                own.or(Made::unknown(Origin::Data))
            } else {
                own
            };
            return if script.methods.contains(name) {
                own.or(made)
            } else {
                own
            };
        }
        if self.gathered.replaced.contains(name) {
            return Made::unknown(Origin::Assembled);
        }
        let arguments = self.positional(given, depth);
        if script.foreign.contains(name) {
            return self.arguments_or_foreign(name);
        }
        if script.decoders.contains(name) {
            return Made::unknown(Origin::Assembled.max(made.origin));
        }
        let texts = || arguments.iter().map(Made::only).collect::<Option<Vec<_>>>();
        match name {
            "joinpath" => arguments.iter().fold(made, |path, part| path.below(part)),
            "join" | "concat" => self.joined(&made, given, depth),
            "format" | "format_map" => {
                let values = arguments.into_iter().chain(self.keyed_values(given, depth));
                let values: Vec<Made> = values.collect();
                if self.hides_texts(&values) {
                    return Made::unknown(Origin::Assembled);
                }
                values
                    .into_iter()
                    .reduce(Made::or)
                    .map_or_else(|| made.clone(), |values| format_with(&made, "{", &values))
            }
            "zfill" if made.is_number() => Made::plain(),
            "lower" | "casefold" | "toLowerCase" => made.map(str::to_lowercase),
            "upper" | "toUpperCase" => made.map(str::to_uppercase),
            "strip" | "rstrip" | "lstrip" | "trim" if arguments.is_empty() => {
                made.map(|text| text.trim().to_owned())
            }
            "replace" | "replaceAll" => match texts().as_deref() {
                Some([old, new]) if !old.is_empty() => made.map(|text| text.replace(old, new)),
                _ => made.part(),
            },
            "with_suffix" | "with_name" | "with_stem" => {
                let name = arguments.into_iter().next().unwrap_or_else(Made::plain);
                if name == Made::plain() || name.is_vague() {
                    return Made::unknown(Origin::Data);
                }
                let suffix = made.clone().map(without_suffix).then("", &name);
                suffix.or(made.map(parent).below(&name))
            }
            "iterdir" => made.below(&Made::plain()).collected(),
            "glob" | "rglob" => {
                let pattern = arguments.into_iter().next().unwrap_or_else(Made::plain);
                made.below(&pattern.matches()).collected()
            }
            "split" | "rsplit" | "splitlines" => match (made.only(), texts().as_deref()) {
                (Some(text), Some([])) => {
                    let words = text.split_whitespace().map(str::to_owned).collect();
                    Made::all(words, Origin::Script).collected()
                }
                (Some(text), Some([mark])) if !mark.is_empty() => {
                    let words = text.split(mark).map(str::to_owned).collect();
                    Made::all(words, Origin::Script).collected()
                }
                _ => made.part().collected(),
            },
            "strftime" => arguments.into_iter().next().map_or_else(Made::plain, dated),
            "slice" | "padStart" | "padEnd" | "normalize" if !made.many => made.part(),
            _ if script.plain.contains(name) => Made::plain(),
            _ if script.same.contains(name) && reencodes(name, &arguments) => made.part(),
            _ if script.same.contains(name) => arguments.into_iter().fold(made, Made::or),
            _ => {
                let is_text = made.is_exact() && !made.handle && !made.is_number();
                let spelt = if is_text && !script.members.contains(name) {
                    Origin::Assembled
                } else {
                    Origin::Data
                };
                Made::unknown(self.origin_of(given, depth).max(made.origin).max(spelt))
            }
        }
    }

    /// What a function of the script returns.
    pub(super) fn returned(&self, name: &str, ranges: &[Range], depth: usize) -> Made {
        let Some((name, _)) = self.gathered.returned.get_key_value(name) else {
            return Made::unknown(Origin::Data);
        };
        if depth > DEPTH_MAX || !self.calling.borrow_mut().insert(name) {
            return Made::unknown(Origin::Data);
        }
        let all = ranges
            .iter()
            .take(16)
            .map(|range| self.expression(*range, depth + 1));
        let made = all.reduce(Made::or);
        self.calling.borrow_mut().remove(name);
        let made = made.filter(|_| ranges.len() <= 16);
        let made = made.unwrap_or_else(|| Made::unknown(Origin::Data));
        if self.gathered.decorated.contains(name) {
            return made.or(Made::unknown(Origin::Data));
        }
        made
    }

    /// Where a value comes from that a function makes of its arguments in a way that is not followed. What
    /// it makes of texts of the script alone is put together by the script.
    pub(super) fn unfollowed(&self, given: &[Range], depth: usize) -> Origin {
        let mut origin = self.origin_of(given, depth);
        let mut is_written = true;
        let mut holds_text = false;
        for range in given {
            let tokens = self.tokens.get(range.0..range.1).unwrap_or_default();
            let is_function = |token: &Token| {
                token.is_name("lambda") || token.is_name("function") || token.is_mark("=>")
            };
            // A function says nothing about the texts.
            if tokens.iter().any(is_function) {
                continue;
            }
            let made = self.expression(*range, depth + 1);
            origin = origin.max(made.origin);
            is_written &= made.is_exact() && !made.handle;
            holds_text |= tokens.iter().any(|token| matches!(token, Token::Text(_)));
        }
        if holds_text && is_written || self.gathered.computes_texts {
            origin.max(Origin::Assembled)
        } else {
            origin
        }
    }
}
