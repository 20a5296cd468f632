//! Serves the page from files embedded in the binary. It loads nothing from elsewhere, and text of
//! an agent is never markup. `web/build` generates the files and their list; building the binary
//! needs no Node.
//!
//! A file whose name has a hash of its content never changes, so browsers keep it for good. Any
//! other, such as the page itself, they ask for again and get only if it has changed.

use std::path::Path;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{self, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use countersign_core::digest::Digest;

use super::Reach;
use crate::server::App;
use crate::server::gzip::{self, GZIP, gzip};
use crate::server::problem::Problem;

/// What the page may do. The one policy for script addresses returns the service worker's, always.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; \
     manifest-src 'self'; worker-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
     require-trusted-types-for 'script'; trusted-types countersign-worker",
);
/// What a page may ask a browser for, all of it refused.
const PERMISSIONS: HeaderValue = HeaderValue::from_static(
    "camera=(), microphone=(), geolocation=(), usb=(), serial=(), payment=()",
);
const FOR_GOOD: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Names and contents, as `web/build` wrote them down.
const EMBEDDED: &[(&str, &[u8])] = &include!("../../../../../web/dist/files.rs");
/// The file at `/`.
const FIRST: &str = "index.html";
/// Endings of names and their media types.
const KINDS: [(&str, &str); 7] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("json", "application/json"),
    ("webmanifest", "application/manifest+json"),
];
/// Length of the hash that esbuild writes into a name.
const HASH_CHARS: usize = 8;

/// A file of the page.
#[derive(Debug)]
struct File {
    name: &'static str,
    plain: Bytes,
    packed: LazyLock<Bytes, Box<dyn FnOnce() -> Bytes + Send>>,
    tag: HeaderValue,
}

/// Adds the page's files to `router`: those of the binary, or of a directory while the page is
/// being worked on.
pub(crate) fn with_page(app: &App, router: Router<Arc<App>>) -> Router<Arc<App>> {
    if app.web_dir.is_some() {
        return router
            .route("/", get(read_first))
            .route("/{file}", get(read_named));
    }
    EMBEDDED.iter().fold(router, |router, (name, content)| {
        let file = Arc::new(File::new(name, content));
        let path = if *name == FIRST {
            "/".to_owned()
        } else {
            format!("/{name}")
        };
        let serve = move |headers: HeaderMap| async move { file.serve(&headers) };
        router.route(&path, get(serve))
    })
}

impl File {
    fn new(name: &'static str, content: &'static [u8]) -> Self {
        let pack = move || Bytes::from(gzip(content, gzip::BEST));
        let hash = Digest::of(content).hex();
        Self {
            name,
            plain: Bytes::from_static(content),
            packed: LazyLock::new(Box::new(pack)),
            tag: HeaderValue::try_from(format!("W/\"{hash}\"")).unwrap_or(ASK_AGAIN),
        }
    }

    /// Answers with the file, or that the browser's copy is still right.
    fn serve(&self, headers: &HeaderMap) -> Response {
        let known = headers
            .get(header::IF_NONE_MATCH)
            .and_then(|it| it.to_str().ok());
        let is_known = self.tag.to_str().is_ok_and(|tag| {
            known.is_some_and(|known| known.split(',').any(|it| it.trim() == tag))
        });
        let mut response = if is_known {
            StatusCode::NOT_MODIFIED.into_response()
        } else if gzip::is_accepted(headers) {
            let encoding = [(header::CONTENT_ENCODING, GZIP)];
            (encoding, LazyLock::force(&self.packed).clone()).into_response()
        } else {
            self.plain.clone().into_response()
        };
        let caching = if is_hashed(self.name) {
            FOR_GOOD
        } else {
            ASK_AGAIN
        };
        response
            .headers_mut()
            .insert(header::CACHE_CONTROL, caching);
        response
            .headers_mut()
            .insert(header::ETAG, self.tag.clone());
        dressed(self.name, response)
    }
}

async fn read_first(State(app): Reach) -> Result<Response, Problem> {
    read(app.web_dir.as_deref(), FIRST).await
}

async fn read_named(
    State(app): Reach,
    extract::Path(name): extract::Path<String>,
) -> Result<Response, Problem> {
    read(app.web_dir.as_deref(), &name).await
}

/// Answers with the file `name` of `directory` as it is now.
async fn read(directory: Option<&Path>, name: &str) -> Result<Response, Problem> {
    let missing = |message: String| Problem::new(StatusCode::NOT_FOUND, "page_not_found", message);
    let is_plain = name
        .chars()
        .all(|it| it.is_ascii_alphanumeric() || "-._".contains(it));
    let path = directory
        .filter(|_| is_plain && !name.starts_with('.'))
        .map(|directory| directory.join(name))
        .ok_or_else(|| missing("the page has no such file".to_owned()))?;
    let content = tokio::fs::read(path)
        .await
        .map_err(|error| missing(format!("`{name}` of the page cannot be read: {error}")))?;
    Ok(dressed(name, content.into_response()))
}

/// Returns `response` with the headers that every file of the page has.
fn dressed(name: &str, mut response: Response) -> Response {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let kind = KINDS
        .iter()
        .find(|(known, _)| *known == ending)
        .map_or("application/octet-stream", |(_, kind)| kind);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(header::CONTENT_SECURITY_POLICY, POLICY);
    headers.insert(HeaderName::from_static("permissions-policy"), PERMISSIONS);
    response
}

/// Whether `name` has a hash of the content: `page-ABCD1234.js`.
fn is_hashed(name: &str) -> bool {
    name.rsplit_once('.')
        .and_then(|(stem, _)| stem.rsplit_once('-'))
        .is_some_and(|(_, hash)| {
            hash.len() == HASH_CHARS
                && hash
                    .chars()
                    .all(|it| it.is_ascii_uppercase() || it.is_ascii_digit())
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_embedded_file_has_a_kind_and_the_page_itself_is_there() {
        assert!(EMBEDDED.iter().any(|(name, _)| *name == FIRST));
        for (name, _) in EMBEDDED {
            let known = KINDS.iter().any(|(ending, _)| name.ends_with(ending));
            assert!(known, "`{name}` has no media type");
        }
    }

    #[test]
    fn only_a_name_with_a_hash_is_kept_for_good() {
        for (name, expected) in [
            ("page-AB12CD34.js", true),
            ("history-ZZZZZZZZ.js", true),
            ("style-Q2W3E4R5.css", true),
            ("index.html", false),
            ("worker.js", false),
            ("page-short.js", false),
            ("apple-touch-icon.png", false),
            ("maskable-icon-512x512.png", false),
        ] {
            assert_eq!(is_hashed(name), expected, "{name}");
        }
    }
}
