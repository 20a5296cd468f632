//! Variables that conventionally hold a tool's name: `$(CC)` in make, `${HELM}` in a script.
//!
//! Where nothing in the text sets such a variable, it is read as the tool it is named after. Unset
//! and outside quotes it would vanish, and the next word would be the command; where that word is a
//! program, it is judged, too.

use super::Walk;
use crate::follow::value::{Arg, Stream};
use crate::knowledge;
use crate::knowledge::names::TOOL_VARIABLES;
use crate::place::HOLE;
use crate::shell::syntax::{Operation, Part, Word};

impl Walk<'_> {
    /// Puts the tool in place of a variable that names one, where `word` is a command's first.
    pub(super) fn name_tool(&mut self, word: &Word, args: &mut [Arg], stdin: &Stream) {
        let [Part::Parameter { expansion, quoted }] = word.parts.as_slice() else {
            return;
        };
        let plain = expansion.index.is_none() && matches!(expansion.operation, Operation::Value);
        let tool = TOOL_VARIABLES
            .iter()
            .find(|(name, _)| *name == expansion.name);
        let (Some((name, tool)), Some((first, rest))) = (tool, args.split_first_mut()) else {
            return;
        };
        let is_unset = first.text.chars().eq([HOLE]) && self.scope.lookup(name, None).is_none();
        if !plain || !is_unset {
            return;
        }
        (*tool).clone_into(&mut first.text);
        let starts = |arg: &Arg| arg.vague() || knowledge::program(&arg.text).is_some();
        if !quoted && rest.first().is_some_and(starts) {
            self.dispatch(rest, stdin);
        }
    }
}
