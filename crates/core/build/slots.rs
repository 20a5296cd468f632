//! Lays out where the names of a table are found in it, and writes the bits that rule names out.

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

/// Returns bits as a number that Rust reads: `0x1_0000`.
pub(crate) fn bits(bits: u128) -> String {
    let digits = format!("{bits:x}");
    let ahead = digits.len() % 4;
    let (first, rest) = digits.split_at(ahead);
    let groups = (0..rest.len()).step_by(4).map(|at| &rest[at..at + 4]);
    let groups: Vec<&str> = Some(first)
        .filter(|first| !first.is_empty())
        .into_iter()
        .chain(groups)
        .collect();
    format!("0x{}", groups.join("_"))
}
