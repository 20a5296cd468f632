//! The body of a request about an edited call.

use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

/// The arguments of a call as a person would change them.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EditBody {
    /// The arguments, an object.
    #[schema(value_type = Object)]
    pub(crate) args: Value,
}
