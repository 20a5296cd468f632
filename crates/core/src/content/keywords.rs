//! Finds many keywords in one pass over a text, by tables made at build time.

use std::ops::ControlFlow;

/// An automaton for a list of keywords.
#[derive(Debug)]
pub(crate) struct Keywords {
    /// The class of each byte; those in no keyword have class 0.
    classes: &'static [u8; 256],
    slots: &'static [Slot],
    /// Who asks for the keywords that end in a state.
    sets: &'static [&'static [u16]],
}

/// A state. The one that follows it by a byte lies at its base plus the class of the byte.
#[derive(Debug)]
pub(crate) struct Slot {
    base: u32,
    /// The state this one follows.
    parent: u32,
    /// The longest other state that the text read so far ends in.
    fail: u32,
    set: u16,
}

impl Slot {
    pub(super) const fn new(base: u32, parent: u32, fail: u32, set: u16) -> Self {
        Self {
            base,
            parent,
            fail,
            set,
        }
    }
}

impl Keywords {
    pub(super) const fn new(
        classes: &'static [u8; 256],
        slots: &'static [Slot],
        sets: &'static [&'static [u16]],
    ) -> Self {
        Self {
            classes,
            slots,
            sets,
        }
    }

    /// Calls `found` once with each who asks for a keyword that stands in `text`; perhaps more often with those
    /// that ask for several.
    pub(crate) fn each_asking(&self, text: &[u8], mut found: impl FnMut(u16)) {
        // Most texts hold none.
        let mut seen = Vec::new();
        self.each_hit(text, |set, _| {
            seen.resize(self.sets.len(), false);
            if let Some(seen) = seen.get_mut(usize::from(set)).filter(|seen| !**seen) {
                *seen = true;
                self.asking(set).iter().for_each(|who| found(*who));
            }
            ControlFlow::Continue(())
        });
    }

    /// Whether any keyword stands in `text`.
    pub(crate) fn any(&self, text: &[u8]) -> bool {
        let mut any = false;
        self.each_hit(text, |_, _| {
            any = true;
            ControlFlow::Break(())
        });
        any
    }

    /// Returns who asks for the keywords of a hit.
    pub(crate) fn asking(&self, set: u16) -> &'static [u16] {
        self.sets.get(usize::from(set)).copied().unwrap_or_default()
    }

    /// Calls `found` wherever keywords end, with their set and the place behind them, until it says stop.
    pub(crate) fn each_hit(
        &self,
        text: &[u8],
        mut found: impl FnMut(u16, usize) -> ControlFlow<()>,
    ) {
        let mut state = 0;
        let Some(root) = self.slots.first() else {
            return;
        };
        let mut slot = root;
        for (at, byte) in text.iter().enumerate() {
            let class = u32::from(self.classes.get(usize::from(*byte)).copied().unwrap_or(0));
            if class == 0 {
                (state, slot) = (0, root);
                continue;
            }
            loop {
                let next = slot.base + class;
                match self.slots.get(next as usize) {
                    Some(child) if child.parent == state => {
                        (state, slot) = (next, child);
                        break;
                    }
                    _ if state == 0 => break,
                    _ => {
                        state = slot.fail;
                        slot = self.slots.get(state as usize).unwrap_or(root);
                    }
                }
            }
            if slot.set != 0 && found(slot.set, at + 1).is_break() {
                return;
            }
        }
    }
}
