//! Options that a compiler passes to the linker and the assembler.

use super::options;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::{self, Effect, Role, Value};

impl Walk<'_> {
    /// Judges `-Wl,-o,file`: the words between the commas are options of `ld`.
    pub(super) fn linker_words(&mut self, arg: &Arg) {
        let Some(linker) = knowledge::program("ld") else {
            return;
        };
        let words = arg.text.split(',').map(|word| Arg::literal(word, arg.span));
        let words: Vec<Arg> = words.collect();
        let read = options::read(&linker.row, &words);
        self.hits(&linker.row, linker.row.name, &read.hits, false);
        // `-Xlinker -o -Xlinker file`: the value stands in a word that is not seen together with it.
        let is_cut = |hit: &&options::Hit| {
            hit.value.is_none()
                && matches!(hit.flag.value, Value::Next(role) if !matches!(role, Role::Text | Role::Read))
        };
        if let Some(hit) = read.hits.iter().find(is_cut) {
            let act = Act::new(Effect::Unknown, linker.row.name, self.here(arg.span))
                .because("an option whose value stands elsewhere");
            self.note(act.on(hit.name));
        }
    }
}
