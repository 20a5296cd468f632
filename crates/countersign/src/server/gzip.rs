//! Compresses what a client asks for in gzip: the files of the page once, lists every time.
//!
//! Only answers to GET are compressed, and event streams never: an event has to leave at once. Nor are
//! answers to strangers, who could make the gateway work for nothing.

use axum::body::{Body, Bytes, HttpBody as _, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, Method, header};
use axum::middleware::Next;
use axum::response::Response;
use miniz_oxide::deflate::compress_to_vec;

pub(crate) const GZIP: HeaderValue = HeaderValue::from_static("gzip");
/// A smaller answer fits into one packet anyway.
const WORTH_BYTES_MIN: u64 = 1400;
/// No answer of ours is as long; a longer one is sent as it is.
const BODY_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Fast, because the reader waits for it; higher levels save little on JSON.
const LEVEL: u8 = 3;
/// For what is compressed once.
pub(crate) const BEST: u8 = 9;

/// Whether the sender of `headers` takes gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    headers
        .get_all(header::ACCEPT_ENCODING)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|coding| {
            let mut parts = coding.split(';').map(str::trim);
            let is_gzip = parts
                .next()
                .is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
            let weight = parts.find_map(|part| part.strip_prefix("q="));
            is_gzip && weight.is_none_or(|it| it.parse::<f32>().is_ok_and(|it| it > 0.0))
        })
}

/// Returns `bytes` in the gzip format (RFC 1952), the same for the same input everywhere.
pub(crate) fn gzip(bytes: &[u8], level: u8) -> Vec<u8> {
    // Deflate, no name, no time, no hint, unknown system.
    let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    packed.extend(compress_to_vec(bytes, level));
    packed.extend(crc32fast::hash(bytes).to_le_bytes());
    let length = u32::try_from(bytes.len() % (1 << 32)).unwrap_or_default();
    packed.extend(length.to_le_bytes());
    packed
}

/// Compresses the answer if it is JSON, long, and wanted in gzip.
pub(crate) async fn pack(request: Request, next: Next) -> Response {
    let is_wanted = request.method() == Method::GET
        && request.uri().path().starts_with("/v1/")
        && is_accepted(request.headers());
    let response = next.run(request).await;
    if is_wanted && is_worth_it(&response) {
        packed(response).await
    } else {
        response
    }
}

fn is_worth_it(response: &Response) -> bool {
    let headers = response.headers();
    let is_json = headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|it| it == "application/json");
    let length = response.body().size_hint().exact().unwrap_or(0);
    is_json
        && !headers.contains_key(header::CONTENT_ENCODING)
        && (WORTH_BYTES_MIN..=BODY_BYTES_MAX).contains(&length)
}

async fn packed(response: Response) -> Response {
    let (mut head, body) = response.into_parts();
    // The length is known and bounded, so this neither waits nor fails.
    let Ok(bytes) = to_bytes(body, usize::MAX).await else {
        return Response::from_parts(head, Body::empty());
    };
    let shared = bytes.clone();
    let body = match tokio::task::spawn_blocking(move || gzip(&shared, LEVEL)).await {
        Ok(packed) => {
            head.headers.insert(header::CONTENT_ENCODING, GZIP);
            Bytes::from(packed)
        }
        Err(_) => bytes,
    };
    head.headers.remove(header::CONTENT_LENGTH);
    Response::from_parts(head, Body::from(body))
}

#[cfg(test)]
mod tests {
    use super::*;
    use miniz_oxide::inflate::decompress_to_vec;

    #[test]
    fn gzip_is_sent_only_to_who_takes_it() {
        let rows = [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("gzip, deflate, br, zstd", true),
            ("gzip;q=0", false),
            ("gzip; q=0.0", false),
            ("gzip;q=high", false),
            ("deflate, br", false),
            ("x-gzip-like", false),
            ("", false),
        ];
        for (value, expected) in rows {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static(value));
            assert_eq!(is_accepted(&headers), expected, "{value}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }

    #[test]
    fn the_format_is_that_of_rfc_1952() {
        // Check value of CRC-32 (ITU-T V.42): `123456789` gives cbf43926.
        let packed = gzip(b"123456789", BEST);
        let (head, rest) = packed.split_at(10);
        let (body, tail) = rest.split_at(rest.len() - 8);
        assert_eq!(head, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
        assert_eq!(decompress_to_vec(body).unwrap(), b"123456789");
        assert_eq!(tail, [0x26, 0x39, 0xf4, 0xcb, 9, 0, 0, 0]);
    }
}
