//! Device routes: browsers that take notifications.

use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use countersign_channels::push::Subscription;
use countersign_gate::base::settings::PushShows;
use countersign_gate::delivery::push::DeviceTest;
use countersign_gate::people::DeviceView;

use super::{Answer, Reach};
use crate::server::auth::Caller;
use crate::server::body::JsonBody;
use crate::server::problem::Problem;
use crate::wire::lists::DeviceList;
use crate::wire::requests::DeviceBody;
use crate::wire::shown::PushView;

/// Shows how devices are notified
#[utoipa::path(get, path = "/v1/push",
    responses((status = 200, description = "the key to subscribe for", body = PushView)))]
pub(crate) async fn push(State(app): Reach) -> Answer<PushView> {
    Ok(Json(PushView {
        public_key: app.gate.push_key().to_owned(),
        shows_what: app.gate.settings().push_shows == PushShows::What,
    }))
}

/// Lists devices that take notifications; an admin sees everybody's
#[utoipa::path(get, path = "/v1/devices",
    responses((status = 200, description = "devices", body = DeviceList)))]
pub(crate) async fn list(State(app): Reach, caller: Caller) -> Answer<DeviceList> {
    Ok(Json(app.gate.devices(&caller.principal).await?.into()))
}

/// Adds a device; the same endpoint again is the same device
#[utoipa::path(post, path = "/v1/devices", request_body = DeviceBody,
    responses((status = 201, description = "the device", body = DeviceView)))]
pub(crate) async fn add(
    State(app): Reach,
    caller: Caller,
    JsonBody(body): JsonBody<DeviceBody>,
) -> Result<(StatusCode, Json<DeviceView>), Problem> {
    let subscription = Subscription {
        endpoint: body.endpoint,
        p256dh: body.p256dh,
        auth: body.auth,
    };
    let device = app
        .gate
        .add_device(&caller.principal, &body.name, subscription)
        .await?;
    Ok((StatusCode::CREATED, Json(device)))
}

/// Removes a device
#[utoipa::path(delete, path = "/v1/devices/{id}",
    params(("id" = String, Path, description = "the device")),
    responses((status = 204, description = "removed")))]
pub(crate) async fn remove(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
) -> Result<StatusCode, Problem> {
    app.gate.remove_device(&caller.principal, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test notification to a device
#[utoipa::path(post, path = "/v1/devices/{id}/test",
    params(("id" = String, Path, description = "the device")),
    responses((status = 200, description = "whether the push service took it", body = DeviceTest)))]
pub(crate) async fn test(
    State(app): Reach,
    caller: Caller,
    Path(id): Path<String>,
) -> Answer<DeviceTest> {
    Ok(Json(app.gate.test_device(&caller.principal, &id).await?))
}
