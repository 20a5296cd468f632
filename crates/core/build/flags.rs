//! Writes options and operands of a row as Rust.

use std::fmt::Write as _;

use crate::grammar::{FlagLine, Lifts, Operand, Value};

/// Returns the Rust source of options.
pub(crate) fn flag_list(flags: &[FlagLine]) -> String {
    let mut code = String::new();
    for flag in flags {
        let value = match flag.value {
            Value::None => "None".to_owned(),
            Value::Next(role) => format!("Next(Role::{role:?})"),
            Value::Attached(role) => format!("Attached(Role::{role:?})"),
        };
        let lifts = match flag.lifts {
            Lifts::Nothing => "Nothing".to_owned(),
            Lifts::Dry(leaves) => format!("Dry(Effect::{leaves:?})"),
            Lifts::Counts => "Counts".to_owned(),
            Lifts::Shows(leaves) => format!("Shows(Effect::{leaves:?})"),
        };
        let effects: String = flag
            .effects
            .iter()
            .map(|effect| format!("Effect::{effect:?},"))
            .collect();
        write!(
            code,
            "Flag {{ names: &{:?}, value: Value::{value}, effects: &[{effects}], lifts: Lifts::{lifts}, help: {}, last: {} }},",
            flag.names, flag.help, flag.last
        )
        .unwrap();
    }
    code
}

/// Returns the Rust source of the places for words.
pub(crate) fn operand_list(operands: &[Operand]) -> String {
    operands
        .iter()
        .map(|operand| {
            format!(
                "Operand {{ role: Role::{:?}, many: {} }},",
                operand.role, operand.many
            )
        })
        .collect()
}
