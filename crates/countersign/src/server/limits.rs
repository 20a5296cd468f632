//! Rate limits: requests per key, and wrong credentials per address.
//!
//! A good credential is never refused because somebody at the same address tried bad ones;
//! otherwise an agent could lock its approver out by guessing.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;

use super::problem::Problem;

/// Wrong credentials an address may send in [`WRONG_WINDOW`].
const WRONG_MAX: u32 = 10;
const WRONG_WINDOW: Duration = Duration::from_mins(1);
/// Addresses and keys that are remembered at once.
const REMEMBERED_MAX: usize = 4096;

/// Token usage, by model.
#[derive(Debug)]
pub(crate) struct Limits {
    rate: f64,
    keys: Mutex<HashMap<String, Bucket>>,
    wrong: Mutex<HashMap<IpAddr, Wrong>>,
}

#[derive(Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

#[derive(Debug)]
struct Wrong {
    since: Instant,
    count: u32,
}

impl Limits {
    /// Returns limits of so many requests per second and key, with bursts of twice that.
    pub(crate) fn new(per_second: u32) -> Self {
        Self {
            rate: f64::from(per_second.max(1)),
            keys: Mutex::default(),
            wrong: Mutex::default(),
        }
    }

    /// Takes one request of `key` into account.
    pub(crate) fn spend(&self, key: &str, now: Instant) -> Result<(), Problem> {
        let full = self.rate * 2.0;
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if !keys.contains_key(key) {
            if keys.len() >= REMEMBERED_MAX {
                // Whoever is full again has spent nothing worth remembering.
                keys.retain(|_, bucket| bucket.level(self.rate, now) < full);
            }
            keys.insert(
                key.to_owned(),
                Bucket {
                    left: full,
                    at: now,
                },
            );
        }
        let Some(bucket) = keys.get_mut(key) else {
            return Ok(());
        };
        bucket.left = bucket.level(self.rate, now);
        bucket.at = now;
        if bucket.left < 1.0 {
            return Err(too_many("too many requests with this key"));
        }
        bucket.left -= 1.0;
        Ok(())
    }

    /// Takes a wrong credential from `address` into account.
    pub(crate) fn wrong(&self, address: IpAddr, now: Instant) -> Result<(), Problem> {
        let mut wrong = self.wrong.lock().unwrap_or_else(PoisonError::into_inner);
        if wrong.len() >= REMEMBERED_MAX {
            wrong.retain(|_, it| now.duration_since(it.since) < WRONG_WINDOW);
        }
        if wrong.len() >= REMEMBERED_MAX {
            wrong.clear();
        }
        let entry = wrong.entry(one_address(address)).or_insert(Wrong {
            since: now,
            count: 0,
        });
        if now.duration_since(entry.since) >= WRONG_WINDOW {
            *entry = Wrong {
                since: now,
                count: 0,
            };
        }
        entry.count = entry.count.saturating_add(1);
        if entry.count > WRONG_MAX {
            let left = WRONG_WINDOW.saturating_sub(now.duration_since(entry.since));
            let seconds = u32::try_from(left.as_secs()).unwrap_or(60).max(1);
            return Err(Problem {
                retry_after: Some(seconds),
                ..too_many("too many wrong credentials from this address")
            });
        }
        Ok(())
    }
}

impl Bucket {
    fn level(&self, rate: f64, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.at).as_secs_f64();
        (self.left + passed * rate).min(rate * 2.0)
    }
}

/// The same machine under one address: no second budget for IPv4 written as IPv6, and none for
/// every address of one IPv6 network.
pub(crate) fn one_address(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => IpAddr::V4(address),
        IpAddr::V6(address) => {
            IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !(u128::MAX >> 64)))
        }
    }
}

fn too_many(message: &'static str) -> Problem {
    Problem {
        retry_after: Some(1),
        ..Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "rate_limit_exceeded",
            message,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_has_spent_its_burst_waits_and_others_do_not() {
        let limits = Limits::new(5);
        let start = Instant::now();
        let spent = (0..20).filter(|_| limits.spend("a", start).is_ok()).count();
        assert_eq!(spent, 10);
        assert!(limits.spend("b", start).is_ok());
        assert!(
            limits
                .spend("a", start + Duration::from_millis(250))
                .is_ok()
        );
    }

    #[test]
    fn wrong_credentials_run_out_per_machine_however_its_address_is_written() {
        let limits = Limits::new(5);
        let now = Instant::now();
        let plain: IpAddr = "192.0.2.7".parse().unwrap();
        let mapped: IpAddr = "::ffff:192.0.2.7".parse().unwrap();
        for _ in 0..5 {
            assert!(limits.wrong(plain, now).is_ok());
            assert!(limits.wrong(mapped, now).is_ok());
        }
        let refused = limits.wrong(mapped, now).unwrap_err();
        assert!(refused.retry_after.is_some_and(|seconds| seconds > 50));
        assert!(limits.wrong("192.0.2.8".parse().unwrap(), now).is_ok());
        assert!(limits.wrong(plain, now + WRONG_WINDOW).is_ok());
    }
}
