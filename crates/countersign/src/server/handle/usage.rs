//! Usage routes.

use axum::Json;
use axum::extract::State;

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::Params;
use crate::wire::lists::UsageList;
use crate::wire::queries::millis;
use crate::wire::runs::UsageQuery;

/// Shows token usage by day, task and model
#[utoipa::path(get, path = "/v1/usage", params(UsageQuery),
    responses((status = 200, description = "token usage", body = UsageList)))]
pub(crate) async fn usage(
    State(app): Reach,
    caller: Caller,
    Params(query): Params<UsageQuery>,
) -> Answer<UsageList> {
    let since = query.since.map(millis);
    let usage = app.gate.usage(&caller.principal, since).await?;
    Ok(Json(UsageList { usage, next: None }))
}
