//! The id in a path, which people may shorten.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Path};
use axum::http::StatusCode;
use axum::http::request::Parts;

use super::App;
use super::auth::Caller;
use super::problem::Problem;

/// The id in a path; one that was shortened is completed. It stands before [`Caller`] among the
/// arguments of a handler, which takes the caller out of the request.
#[derive(Debug)]
pub(crate) struct WholeId(pub(crate) String);

impl FromRequestParts<Arc<App>> for WholeId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<App>) -> Result<Self, Problem> {
        let path = Path::<String>::from_request_parts(parts, app).await;
        let Path(typed) = path.map_err(|error| {
            Problem::new(StatusCode::BAD_REQUEST, "invalid_path", error.body_text())
        })?;
        let Some(caller) = parts.extensions.get::<Caller>() else {
            return Ok(Self(typed));
        };
        let whole = app.gate.whole_id(&caller.principal, &typed).await?;
        Ok(Self(whole))
    }
}
