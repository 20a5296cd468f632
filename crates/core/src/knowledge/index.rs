//! Finds a name in the compiled tables: the two ways by which most names are ruled out at once.
//!
//! Separate because the build script lays the tables out with the same functions.

/// Returns the shape of a name as one of 128 bits. Length, first and last byte decide, whatever their
/// case. Most words that are looked up are on no list, and most of those have a shape that no name of
/// the list has.
pub(crate) const fn shape(name: &[u8]) -> u128 {
    // One bit makes a small letter of a great one.
    const SMALL: u8 = 0x20;
    let (first, last) = match name {
        [] => (0, 0),
        [only] => (*only, *only),
        [first, .., last] => (*first, *last),
    };
    let ends = u32::from_le_bytes([first | SMALL, last | SMALL, 0, 0]);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the upper half of a length tells no names apart"
    )]
    let length = name.len() as u32;
    let mixed = (ends ^ (length << 16)).wrapping_mul(0x9e37_79b1);
    1 << (mixed >> 25)
}

/// Returns the letters of a text, each as one of 64 bits.
pub(crate) fn letters(text: &[u8]) -> u64 {
    text.iter().fold(0, |found, byte| found | 1 << (byte & 63))
}

/// Returns the number by which a name is found in an [`Index`].
pub(crate) const fn hash(name: &[u8]) -> u32 {
    let mut hash: u32 = 0x811c_9dc5;
    let mut rest = name;
    while let [byte, more @ ..] = rest {
        hash = (hash ^ *byte as u32).wrapping_mul(0x0100_0193);
        rest = more;
    }
    hash ^ (hash >> 15)
}

/// Where the names of a table stand in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    /// The number of a name in the table, plus one, at the place that its hash says or behind it;
    /// zero where none is. The length is a power of two, and at least half of the places are empty.
    pub(crate) slots: &'static [u16],
}

impl Index {
    /// Returns the place of `name` in the table that this is the index of.
    pub(crate) fn find<T>(&self, table: &[(&str, T)], name: &str) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)?;
        let mut slot = hash(name.as_bytes()) as usize;
        loop {
            let place = usize::from(*self.slots.get(slot & last)?).checked_sub(1)?;
            if table.get(place).is_some_and(|(known, _)| *known == name) {
                return Some(place);
            }
            slot += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::names::{SHELL_SETTINGS, TALKERS, TOOL_PLACES, WINDOWS_PROGRAMS};
    use super::super::{PATH_TRIGGERS, PROGRAM_NAMES, TOOL_NAMES, path_patterns, program, tool};

    #[test]
    fn every_name_of_a_table_is_found_and_one_more_letter_makes_another() {
        for (name, _) in PROGRAM_NAMES {
            assert!(program(name).is_some(), "{name}");
            assert!(program(&format!("{name}\u{1}")).is_none(), "{name}");
        }
        for (name, _) in TOOL_NAMES {
            assert!(tool(name).is_some(), "{name}");
            assert!(tool(&format!("\u{1}{name}")).is_none(), "{name}");
        }
        for (name, numbers) in PATH_TRIGGERS {
            assert_eq!(path_patterns(name), *numbers, "{name}");
            assert!(path_patterns(&format!("{name}\u{1}")).is_empty(), "{name}");
        }
    }

    #[test]
    fn every_name_of_a_list_is_found_in_the_order_of_its_table() {
        for list in [SHELL_SETTINGS, TALKERS, TOOL_PLACES, WINDOWS_PROGRAMS] {
            assert!(list.iter().count() > 1);
            for name in list.iter() {
                assert!(list.contains(name), "{name}");
                assert!(!list.contains(&format!("{name}\u{1}")), "{name}");
                assert!(
                    list.starting_with(name).any(|found| found == name),
                    "{name}"
                );
                let start = name.get(..1).unwrap_or(name);
                let begin = list.iter().filter(|name| name.starts_with(start));
                let found = list.starting_with(start);
                assert_eq!(found.count(), begin.count(), "{start}");
            }
        }
        for name in WINDOWS_PROGRAMS.iter() {
            let great = name.to_ascii_uppercase();
            assert!(WINDOWS_PROGRAMS.contains_in_any_case(&great), "{great}");
            assert!(
                great == name || !WINDOWS_PROGRAMS.contains(&great),
                "{great}"
            );
        }
        let first = TOOL_PLACES.iter().next();
        assert_eq!(first, Some("/opt/conda/bin"));
    }
}
