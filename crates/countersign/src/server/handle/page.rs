//! The page: three files that are part of the binary. Nothing is loaded from anywhere else, and
//! nothing an agent wrote is ever markup.

use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;

const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types 'none'",
);

/// The page itself.
pub(crate) async fn html() -> impl IntoResponse {
    file("text/html; charset=utf-8", include_str!("page/page.html"))
}

/// What it does.
pub(crate) async fn script() -> impl IntoResponse {
    file(
        "text/javascript; charset=utf-8",
        include_str!("page/page.js"),
    )
}

/// How it looks.
pub(crate) async fn style() -> impl IntoResponse {
    file("text/css; charset=utf-8", include_str!("page/page.css"))
}

fn file(kind: &'static str, text: &'static str) -> ([(HeaderName, HeaderValue); 2], &'static str) {
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, POLICY),
    ];
    (headers, text)
}
