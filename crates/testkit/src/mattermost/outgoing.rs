//! Outgoing requests to integrations: no private networks unless allowed, one try, 200 or an error,
//! at most 1 MiB of response.

use std::net::IpAddr;

use axum::http::StatusCode;
use futures_util::StreamExt as _;
use serde_json::Value;

use super::error::AppError;
use super::server::Shared;
use super::settings::{REPLY_BYTES_MAX, Version};

/// What an integration answered.
#[derive(Clone, Debug)]
pub(super) struct Replied {
    pub(super) body: Vec<u8>,
    pub(super) content_type: String,
}

/// What the server has to say.
#[derive(Clone, Debug)]
pub(super) enum Letter {
    Json(Value),
    /// A form, and the token that travels in the header, too.
    Form(Vec<(String, String)>, String),
}

/// Sends `letter` to `url`. What fails is refused under `id`.
pub(super) async fn call(
    shared: &Shared,
    url: &str,
    letter: Letter,
    id: &'static str,
) -> Result<Replied, AppError> {
    let settings = shared.settings();
    let target = reqwest::Url::parse(url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| AppError::bad(id, "Action integration error: invalid URL."))?;
    if !reachable(&target, &settings.allowed_untrusted_internal_connections) {
        return Err(AppError::bad(
            id,
            "Action integration error: address forbidden, you may need to set \
             AllowedUntrustedInternalConnections to allow an integration access to your internal network.",
        ));
    }
    let request = shared
        .outgoing
        .post(target)
        .timeout(settings.outgoing_timeout)
        .header("accept", "application/json");
    let request = match letter {
        Letter::Json(body) => request.json(&body),
        Letter::Form(fields, token) => request
            .header("content-type", "application/x-www-form-urlencoded")
            .header("authorization", format!("Token {token}"))
            .body(form(&fields)),
    };
    let failed = || AppError::bad(id, "Action integration error.");
    let response = request.send().await.map_err(|_| failed())?;
    let status = response.status().as_u16();
    if status != 200 {
        // Only the newest servers say how an integration failed.
        let shown = match status {
            _ if settings.version < Version::V11_10 => StatusCode::BAD_REQUEST,
            429 => StatusCode::TOO_MANY_REQUESTS,
            503 => StatusCode::SERVICE_UNAVAILABLE,
            500..=599 => StatusCode::BAD_GATEWAY,
            _ => StatusCode::BAD_REQUEST,
        };
        let message = format!("Action integration error: status={status}");
        return Err(AppError::new(shown, id, message));
    }
    let content_type = response
        .headers()
        .get("content-type")
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
        .to_owned();
    let mut body = Vec::new();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        body.extend(piece.map_err(|_| failed())?);
        if body.len() > REPLY_BYTES_MAX {
            return Err(AppError::bad(
                id,
                "Action integration error: the answer is too long.",
            ));
        }
    }
    Ok(Replied { body, content_type })
}

/// Returns whether the server may call `url`.
fn reachable(url: &reqwest::Url, allowed: &str) -> bool {
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    let allowed: Vec<&str> = allowed
        .split([' ', ','])
        .filter(|entry| !entry.is_empty())
        .collect();
    if allowed.contains(&host) {
        return true;
    }
    let address: Option<IpAddr> = if host == "localhost" {
        Some(IpAddr::from([127, 0, 0, 1]))
    } else {
        host.parse().ok()
    };
    // A name that is not this machine is somewhere else, and no test goes there.
    let Some(address) = address else {
        return false;
    };
    !internal(address) || allowed.iter().any(|entry| holds(entry, address))
}

fn internal(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(four) => {
            let [first, second, ..] = four.octets();
            four.is_loopback()
                || four.is_private()
                || four.is_link_local()
                || four.is_unspecified()
                || (first == 100 && (64..128).contains(&second))
        }
        IpAddr::V6(six) => {
            six.is_loopback()
                || six.is_unspecified()
                || six.is_unique_local()
                || six.is_unicast_link_local()
        }
    }
}

/// Returns whether the network `entry` holds an address.
fn holds(entry: &str, address: IpAddr) -> bool {
    let Some((network, bits)) = entry.split_once('/') else {
        return false;
    };
    let (Ok(network), Ok(bits)) = (network.parse::<IpAddr>(), bits.parse::<u32>()) else {
        return false;
    };
    match (network, address) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(bits));
            let mask = if bits == 0 { 0 } else { mask.unwrap_or(0) };
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(bits));
            let mask = if bits == 0 { 0 } else { mask.unwrap_or(0) };
            network.to_bits() & mask == address.to_bits() & mask
        }
        (IpAddr::V4(_), IpAddr::V6(_)) | (IpAddr::V6(_), IpAddr::V4(_)) => false,
    }
}

/// Writes fields as a form.
fn form(fields: &[(String, String)]) -> String {
    let written: Vec<String> = fields
        .iter()
        .map(|(key, value)| format!("{}={}", escaped(key), escaped(value)))
        .collect();
    written.join("&")
}

fn escaped(text: &str) -> String {
    let written = text.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
            char::from(byte).to_string()
        }
        b' ' => "+".to_owned(),
        other => format!("%{other:02X}"),
    });
    written.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn private_addresses_are_called_only_if_they_are_listed() {
        let rows = [
            ("http://127.0.0.1:8750/x", "", false),
            ("http://127.0.0.1:8750/x", "127.0.0.1", true),
            ("http://127.0.0.1:8750/x", "10.0.0.1,127.0.0.0/8", true),
            ("http://127.0.0.1:8750/x", "127.0.0.1:8750", false),
            ("http://127.0.0.1:8750/x", "http://127.0.0.1", false),
            ("http://localhost:1/x", "127.0.0.1/32", true),
            ("http://10.1.2.3/x", "", false),
            ("http://100.64.0.1/x", "", false),
            ("http://169.254.1.1/x", "", false),
            ("http://[::1]/x", "", false),
            ("http://[::1]/x", "::1/128", true),
            ("http://8.8.8.8/x", "", true),
        ];
        for (url, allowed, expected) in rows {
            let parsed = reqwest::Url::parse(url).unwrap();
            assert_eq!(reachable(&parsed, allowed), expected, "{url} {allowed}");
        }
    }

    #[test]
    fn a_form_keeps_what_it_carries() {
        let fields = [("text".to_owned(), "a b&c=d+é".to_owned())];
        assert_eq!(form(&fields), "text=a+b%26c%3Dd%2B%C3%A9");
    }
}
