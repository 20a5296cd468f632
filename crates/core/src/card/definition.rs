//! What a card says of the definition of a tool that a server offers.
//!
//! Separate because it is the only text of a server on a card: untrusted, and never the first thing.

use super::fit::utc;
use super::text::{Redacts, without_secrets};
use super::{Definition, Field};
use crate::display::unfenced_plain;

/// Returns the reason that a changed definition adds.
pub(super) fn reason(definition: &Definition) -> Option<String> {
    match definition {
        Definition::Unsaid => None,
        Definition::NotListed => {
            Some("its server did not list this tool, so only its name is known".to_owned())
        }
        Definition::Changed { .. } => {
            Some("its server changed the definition of this tool".to_owned())
        }
    }
}

/// Returns the part of a card that shows how a definition changed.
pub(super) fn field(definition: &Definition, redacts: Redacts) -> Option<Field> {
    match definition {
        Definition::Unsaid | Definition::NotListed => None,
        Definition::Changed { since, difference } => Some(Field {
            name: format!(
                "The tool's definition changed since {}",
                utc(since.seconds())
            ),
            text: unfenced_plain(&without_secrets(difference, redacts)),
            code: true,
            marks: Vec::new(),
        }),
    }
}
