//! Lays out where the names of a table are found in it.

use std::fmt::Write as _;

use crate::index::hash;

/// Writes the static `TABLE_INDEX` for a table with these names.
pub(crate) fn write<'n>(
    table: &str,
    names: impl ExactSizeIterator<Item = &'n str>,
    code: &mut String,
) {
    let mut slots: Vec<u16> = vec![0; (names.len() * 2).next_power_of_two()];
    let last = slots.len() - 1;
    for (number, name) in (1..).zip(names) {
        let mut at = hash(name.as_bytes()) as usize & last;
        while slots[at] != 0 {
            at = (at + 1) & last;
        }
        slots[at] = number;
    }
    writeln!(
        code,
        "/// Where the names of the table are found.\nstatic {table}_INDEX: Index = Index {{ slots: &{slots:?} }};"
    )
    .unwrap();
}
