//! Serves the page from files embedded in the binary. It loads nothing from elsewhere, and text of
//! an agent is never markup. `web/build` generates the files; building the binary needs no Node.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;

use super::Reach;
use crate::server::App;
use crate::server::problem::Problem;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'",
);
/// What a page may ask a browser for, all of it refused.
const PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()",
);

/// A file of the page.
#[derive(Clone, Copy, Debug)]
struct File {
    path: &'static str,
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const FILES: [File; 4] = [
    File {
        path: "/",
        name: "index.html",
        kind: "text/html; charset=utf-8",
        text: include_str!("../../../../../web/dist/index.html"),
    },
    File {
        path: "/page.js",
        name: "page.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("../../../../../web/dist/page.js"),
    },
    File {
        path: "/style.css",
        name: "style.css",
        kind: "text/css; charset=utf-8",
        text: include_str!("../../../../../web/dist/style.css"),
    },
    File {
        path: "/icon.svg",
        name: "icon.svg",
        kind: "image/svg+xml",
        text: include_str!("../../../../../web/dist/icon.svg"),
    },
];

/// Adds the page's files to `router`.
pub(crate) fn with_page(mut router: Router<Arc<App>>) -> Router<Arc<App>> {
    for file in FILES {
        let serve =
            move |State(app): Reach| async move { serve(file, app.web_dir.as_deref()).await };
        router = router.route(file.path, get(serve));
    }
    router
}

/// Answers with `file`, read from `directory` while the page is being worked on.
async fn serve(file: File, directory: Option<&Path>) -> Result<Response, Problem> {
    let text = match directory {
        None => Cow::Borrowed(file.text),
        Some(directory) => {
            let read = tokio::fs::read_to_string(directory.join(file.name)).await;
            Cow::Owned(read.map_err(|error| {
                let message = format!("`{}` of the page cannot be read: {error}", file.name);
                Problem::new(StatusCode::NOT_FOUND, "page_not_found", message)
            })?)
        }
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(file.kind)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (HeaderName::from_static("permissions-policy"), PERMISSIONS),
    ];
    Ok((headers, text.into_owned()).into_response())
}
