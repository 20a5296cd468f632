//! Route table: path, handler, required role.
//!
//! Router, agents' socket and description are made of it, so none can have a route the others do
//! not know. The socket has exactly the routes an agent may use.

use std::sync::Arc;

use axum::http::{StatusCode, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::{Extension, Router};
use countersign_gate::base::principal::Role;
use utoipa_axum::router::{OpenApiRouter, UtoipaMethodRouter};
use utoipa_axum::routes;

use super::App;
use super::auth::{Access, guard};
use super::handle::{
    admin, approvals, calls, channels, chat, clarifications, devices, grants, history, login, mcp,
    operations, page, practice, rules, runs, sessions, usage,
};
use super::mcp::Routes;
use super::problem::Problem;
use super::{events, gzip, openapi, outer};

const OPEN: Access = Access::Open;
const PAGE: Access = Access::Page;
/// Every credential; the gate shows an agent only its own.
const ALL: Access = Access::Roles(&Role::ALL);
/// Who submits calls. Nobody who may answer them.
const ASKS: Access = Access::Roles(&[Role::Agent]);
/// Who answers, grants and reviews. Never an agent.
const ANSWERS: Access = Access::Roles(&[Role::Approver, Role::Admin]);
/// Who sees everything.
const READS: Access = Access::Roles(&[Role::Approver, Role::Admin, Role::Viewer]);
/// Who changes policy, people and keys.
const ADMIN: Access = Access::Roles(&[Role::Admin]);

type Row = (Access, UtoipaMethodRouter<Arc<App>>);

fn table() -> Vec<Row> {
    vec![
        (OPEN, routes!(operations::health)),
        (OPEN, routes!(operations::ready)),
        (OPEN, routes!(operations::metrics)),
        (OPEN, routes!(operations::jwks)),
        (OPEN, routes!(operations::openapi)),
        (PAGE, routes!(login::login)),
        (PAGE, routes!(channels::action)),
        (PAGE, routes!(channels::command)),
        (PAGE, routes!(channels::dialog)),
        (ADMIN, routes!(channels::doctor)),
        (ALL, routes!(login::logout)),
        (ALL, routes!(login::whoami)),
        (READS, routes!(login::code)),
        (ALL, routes!(operations::capabilities)),
        (ALL, routes!(calls::assess)),
        (ASKS, routes!(calls::submit)),
        (ALL, routes!(calls::list)),
        (ALL, routes!(calls::one)),
        (ASKS, routes!(calls::withdraw)),
        (ASKS, routes!(calls::outcome)),
        (ASKS, routes!(calls::consume)),
        (ASKS, routes!(mcp::post, mcp::get, mcp::delete)),
        (ALL, routes!(approvals::list)),
        (READS, routes!(approvals::inbox)),
        (ALL, routes!(approvals::one)),
        (ANSWERS, routes!(approvals::resolve)),
        (ANSWERS, routes!(approvals::assess)),
        (ANSWERS, routes!(approvals::changes)),
        (READS, routes!(approvals::before)),
        (ANSWERS, routes!(approvals::take_back)),
        (ANSWERS, routes!(approvals::extend)),
        (ANSWERS, routes!(approvals::lift)),
        (ANSWERS, routes!(approvals::viewed)),
        (ANSWERS, routes!(practice::ask)),
        (ANSWERS, routes!(approvals::deliveries)),
        (ALL, routes!(events::all)),
        (ALL, routes!(events::of_run)),
        (ANSWERS, routes!(runs::start)),
        (READS, routes!(runs::list)),
        (ALL, routes!(runs::one)),
        (ANSWERS, routes!(runs::stop)),
        (ANSWERS, routes!(runs::steer)),
        (ANSWERS, routes!(runs::approval)),
        (ANSWERS, routes!(chat::completions)),
        (ALL, routes!(operations::models)),
        (READS, routes!(sessions::list)),
        (READS, routes!(sessions::messages)),
        (READS, routes!(sessions::marks)),
        (ANSWERS, routes!(sessions::clear_mark)),
        (READS, routes!(usage::usage)),
        (ASKS, routes!(clarifications::ask)),
        (ALL, routes!(clarifications::list)),
        (ALL, routes!(clarifications::one)),
        (ANSWERS, routes!(clarifications::answer)),
        (READS, routes!(grants::list)),
        (ANSWERS, routes!(grants::revoke)),
        (ANSWERS, routes!(grants::preview)),
        (READS, routes!(grants::overrides)),
        (ANSWERS, routes!(grants::start_override)),
        (ANSWERS, routes!(grants::end_override)),
        (ALL, routes!(grants::reviews)),
        (ANSWERS, routes!(grants::undo)),
        (ANSWERS, routes!(grants::keep)),
        (ALL, routes!(history::traces)),
        (ALL, routes!(history::trace)),
        (READS, routes!(history::stats)),
        (ALL, routes!(history::ledger)),
        (READS, routes!(history::verify)),
        (ANSWERS, routes!(history::replay)),
        (ANSWERS, routes!(admin::keys)),
        (ADMIN, routes!(admin::create_key)),
        (ADMIN, routes!(admin::revoke_key)),
        (ANSWERS, routes!(admin::people)),
        (ADMIN, routes!(admin::put_person)),
        (ADMIN, routes!(admin::remove_person)),
        (READS, routes!(channels::list)),
        (READS, routes!(admin::logins)),
        (READS, routes!(admin::revoke_login)),
        (READS, routes!(rules::in_force)),
        (ANSWERS, routes!(devices::push)),
        (ANSWERS, routes!(devices::list)),
        (ANSWERS, routes!(devices::add)),
        (ANSWERS, routes!(devices::remove)),
        (ANSWERS, routes!(devices::test)),
        (ADMIN, routes!(admin::config)),
        (ADMIN, routes!(admin::set_config)),
    ]
}

/// Returns everything, for the network. Writes the description on the way.
pub(crate) fn network(app: &Arc<App>) -> Router {
    let (rows, description) = described();
    app.description.get_or_init(|| description);
    let inside = Routes(of_agents(app));
    finished(app, page::with_page(app, guarded(app, rows))).layer(Extension(inside))
}

/// Returns what an agent may use, for the socket.
pub(crate) fn socket(app: &Arc<App>) -> Router {
    of_agents(app).layer(Extension(Routes(of_agents(app))))
}

fn of_agents(app: &Arc<App>) -> Router {
    let rows = table().into_iter().filter(|(access, _)| match access {
        Access::Open => true,
        Access::Page => false,
        Access::Roles(roles) => roles.contains(&Role::Agent),
    });
    finished(app, guarded(app, rows.collect()))
}

/// Returns the description of everything there is.
#[cfg(test)]
pub(crate) fn description() -> String {
    described().1
}

fn described() -> (Vec<Row>, String) {
    let rows = table();
    let described = rows
        .iter()
        .map(|(access, (schemas, paths, _))| (*access, schemas.as_slice(), paths));
    let description = openapi::describe(described);
    (rows, description)
}

fn guarded(app: &Arc<App>, rows: Vec<Row>) -> Router<Arc<App>> {
    let mut router = OpenApiRouter::new();
    for (access, (schemas, paths, methods)) in rows {
        let guard = from_fn_with_state((Arc::clone(app), access), guard);
        router = router.routes((schemas, paths, methods.route_layer(guard)));
    }
    router.into()
}

fn finished(app: &Arc<App>, router: Router<Arc<App>>) -> Router {
    router
        .fallback(nowhere)
        .method_not_allowed_fallback(not_so)
        .layer(from_fn(gzip::pack))
        .layer(from_fn_with_state(Arc::clone(app), outer::pass))
        .with_state(Arc::clone(app))
}

async fn nowhere(uri: Uri) -> Problem {
    let message = format!("there is no route `{}`", uri.path());
    Problem::new(StatusCode::NOT_FOUND, "not_found", message)
}

async fn not_so() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this route does not support this method",
    )
}
