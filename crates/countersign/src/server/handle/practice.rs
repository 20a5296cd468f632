//! The practice card route.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::call::ToolCall;
use countersign_core::id::KeyId;
use countersign_core::tier::Tier;
use countersign_gate::base::principal::{PRACTICE, Principal, Role};
use countersign_gate::records::request::Submission;
use countersign_gate::records::view::CallView;
use serde_json::json;

use super::Reach;
use crate::server::problem::Problem;
use crate::wire::practice::{COMMAND, EXPLANATION};

/// Creates a harmless practice card
#[utoipa::path(post, path = "/v1/practice",
    responses((status = 202, description = "waiting; nothing runs, whatever the answer", body = CallView)))]
pub(crate) async fn ask(State(app): Reach) -> Result<(StatusCode, Json<CallView>), Problem> {
    // A grant that is left here covers nobody's calls, not even those of the next card.
    let name = format!("{PRACTICE}{}", app.gate.clock().now().0);
    let asker = Principal {
        key: KeyId(name.clone()),
        name: "practice".to_owned(),
        role: Role::Agent,
        via: "page".to_owned(),
        tier: Tier::T0,
    };
    let submission = Submission {
        call: ToolCall {
            tool: "terminal".to_owned(),
            args: json!({ "command": COMMAND }),
            ..ToolCall::default()
        },
        session: name,
        agent: Some("practice".to_owned()),
        explanation: Some(EXPLANATION.to_owned()),
        ..Submission::default()
    };
    let call = app.gate.submit(&asker, submission).await?;
    Ok((StatusCode::ACCEPTED, Json(call)))
}
