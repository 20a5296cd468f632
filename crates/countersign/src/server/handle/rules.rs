//! The route of the rules and the configuration in force.

use std::path::Path;

use axum::Json;
use axum::extract::State;

use super::{Answer, Reach};
use crate::config::entries;
use crate::server::problem::Problem;
use crate::wire::rules::{ProjectRules, RulesView, keys, order, safe};

/// Shows rules and configuration in force, and where each comes from
#[utoipa::path(get, path = "/v1/rules",
    responses((status = 200, description = "rules and keys, without secrets", body = RulesView)))]
pub(crate) async fn in_force(State(app): Reach) -> Answer<RulesView> {
    let rows = entries::list(&app.home).map_err(|complaint| Problem::unreadable(&complaint))?;
    let files = app.policies.project_files();
    Ok(Json(RulesView {
        file: safe(&app.home.file().display().to_string()),
        order: order(),
        keys: keys(rows),
        projects: files.iter().map(|file| project(file)).collect(),
    }))
}

fn project(file: &Path) -> ProjectRules {
    let read = entries::project(file);
    let (rows, problem) = match read {
        Ok(rows) => (rows, None),
        Err(complaint) => (Vec::new(), Some(safe(complaint.message()))),
    };
    ProjectRules {
        file: safe(&file.display().to_string()),
        keys: keys(rows),
        problem,
    }
}
