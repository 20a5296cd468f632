//! Which push services are talked to: those of the internet, over TLS, and nothing else.
//!
//! A browser names the address of its push service, so whoever may subscribe makes this machine send
//! requests. None of them may reach what only this machine can reach: the address is checked when it
//! is stored, and again for what its name stands for whenever a connection is made.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use reqwest::Url;
use reqwest::dns::{Name, Resolve, Resolving};

/// Longest address of a subscription, in bytes.
const ENDPOINT_BYTES_MAX: usize = 1024;

/// Where push services may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// On the internet.
    #[default]
    Internet,
    /// On this machine as well, without TLS: for tests.
    Loopback,
}

/// Returns the address of a subscription, or why it is not used.
pub(crate) fn endpoint(text: &str, reach: Reach) -> Result<Url, &'static str> {
    if text.len() > ENDPOINT_BYTES_MAX {
        return Err("the endpoint is too long");
    }
    let url = Url::parse(text).map_err(|_| "the endpoint must be an address")?;
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err("the endpoint must have no credentials and no fragment");
    }
    let literal = url.host_str().map(|host| host.trim_matches(['[', ']']));
    let literal = literal.and_then(|host| host.parse::<IpAddr>().ok());
    if reach == Reach::Loopback && literal.is_some_and(|ip| ip.is_loopback()) {
        return Ok(url);
    }
    if url.scheme() != "https" || url.port().is_some() {
        return Err("the endpoint must be https, at its usual port");
    }
    match literal {
        Some(ip) if !is_public(ip) => Err("the endpoint must not be a private address"),
        Some(_) => Ok(url),
        None if url.host_str().is_some_and(|host| host.contains('.')) => Ok(url),
        None => Err("the endpoint must name a host of the internet"),
    }
}

/// Finds the addresses of a name, and none that is not of the internet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicOnly(pub(crate) Reach);

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let Self(reach) = *self;
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let is_fine =
                |ip: IpAddr| is_public(ip) || (reach == Reach::Loopback && ip.is_loopback());
            // One private address among public ones is a trick, so it spoils the name.
            if found.is_empty() || !found.iter().all(|it| is_fine(it.ip())) {
                return Err("its name stands for a private address".into());
            }
            Ok(Box::new(found.into_iter()) as reqwest::dns::Addrs)
        })
    }
}

/// Whether `ip` is an address of the internet, which is not this machine's network.
fn is_public(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(ip) => is_public_v4(ip),
        IpAddr::V6(ip) => is_public_v6(ip),
    }
}

fn is_public_v4(ip: Ipv4Addr) -> bool {
    let [first, second, third, _] = ip.octets();
    // This network, carriers' networks, protocol assignments, 6to4 relays, benchmarks, reserved.
    let is_special = matches!(
        (first, second, third),
        (0 | 240.., ..) | (100, 64..=127, _) | (192, 0, 0) | (192, 88, 99) | (198, 18..=19, _)
    );
    let is_local = ip.is_private() || ip.is_loopback() || ip.is_link_local();
    !(is_special || is_local || ip.is_multicast() || ip.is_documentation())
}

fn is_public_v6(ip: Ipv6Addr) -> bool {
    let of = |high: u16, low: u16| {
        let [a, b] = high.to_be_bytes();
        let [c, d] = low.to_be_bytes();
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match ip.segments() {
        // An IPv4 address in other clothes: mapped, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => of(high, low),
        // Teredo, benchmarks and other protocol assignments; documentation.
        [0x2001, 0..=0x1ff | 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // What is given out on the internet.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_internet_are_public() {
        let public = [
            "8.8.8.8",
            "1.1.1.1",
            "2606:4700::1",
            "::ffff:8.8.8.8",
            "2a00:1450::1",
        ];
        let private = [
            "127.0.0.1",
            "127.9.9.9",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "192.0.0.8",
            "192.0.2.1",
            "198.18.0.1",
            "203.0.113.7",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::a00:1",
            "64:ff9b:1::1",
            "2002:7f00:1::",
            "2001:db8::1",
            "2001::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
        ];
        for (text, expected) in public
            .map(|text| (text, true))
            .into_iter()
            .chain(private.map(|text| (text, false)))
        {
            assert_eq!(is_public(text.parse().unwrap()), expected, "{text}");
        }
    }

    #[test]
    fn an_endpoint_is_https_and_of_the_internet() {
        let good = [
            "https://fcm.googleapis.com/fcm/send/abc",
            "https://updates.push.services.mozilla.com/wpush/v2/x",
            "https://web.push.apple.com/Q",
            "https://8.8.8.8/x",
        ];
        let bad = [
            "http://fcm.googleapis.com/fcm/send/abc",
            "https://fcm.googleapis.com:8443/fcm/send/abc",
            "https://ana:secret@push.example.org/x",
            "https://push.example.org/x#y",
            "https://localhost/x",
            "https://gateway/x",
            "https://127.0.0.1/x",
            "https://127.1/x",
            "https://0x7f000001/x",
            "https://2130706433/x",
            "https://[::1]/x",
            "https://[::ffff:10.0.0.1]/x",
            "https://169.254.169.254/latest/meta-data",
            "http://127.0.0.1:9/x",
            "file:///etc/passwd",
            "push",
            "",
        ];
        for text in good {
            assert!(endpoint(text, Reach::Internet).is_ok(), "{text}");
        }
        for text in bad {
            assert!(endpoint(text, Reach::Internet).is_err(), "{text}");
        }
        let long = format!("https://push.example.org/{}", "x".repeat(1024));
        assert!(endpoint(&long, Reach::Internet).is_err());
    }

    #[test]
    fn a_test_may_use_this_machine_and_no_other_private_address() {
        for text in ["http://127.0.0.1:9/x", "http://[::1]:9/x"] {
            assert!(endpoint(text, Reach::Loopback).is_ok(), "{text}");
        }
        for text in ["http://10.0.0.1:9/x", "https://192.168.0.1/x"] {
            assert!(endpoint(text, Reach::Loopback).is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn a_name_that_stands_for_this_machine_is_not_connected_to() {
        let resolve = |reach| PublicOnly(reach).resolve("localhost".parse().unwrap());
        let refused = resolve(Reach::Internet).await.err().unwrap();
        assert!(refused.to_string().contains("private address"), "{refused}");
        assert!(resolve(Reach::Loopback).await.is_ok());
    }
}
