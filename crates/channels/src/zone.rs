//! `Zone`: the time zone a person has set in their chat.
//!
//! A card has many readers, so it says UTC. A reply has one, and says their time. The names of the
//! zones and their rules are compiled in, because a container may have none.

use countersign_core::card::utc;
use countersign_core::time::UnixMillis;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// A time zone; UTC where a person has set none that is known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Zone(Option<TimeZone>);

impl Zone {
    /// Returns the zone with this name of the IANA database, such as `Europe/Berlin`.
    pub fn named(name: &str) -> Self {
        Self(TimeZone::get(name).ok())
    }

    /// Returns a moment as date and time: `2026-11-16 15:02:05 (Europe/Berlin)`.
    pub fn moment(&self, at: UnixMillis) -> String {
        let local = self.0.as_ref().and_then(|zone| {
            let at = Timestamp::from_second(at.seconds()).ok()?;
            let time = at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S");
            Some(format!("{time} ({})", zone.iana_name()?))
        });
        local.unwrap_or_else(|| utc(at.seconds()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_told_in_the_zone_of_the_reader_or_in_utc() {
        // The clocks go back on 25 October at 01:00 UTC.
        let (summer, winter) = (UnixMillis(1_792_889_999_000), UnixMillis(1_792_890_000_000));
        let rows = [
            (
                "Europe/Berlin",
                summer,
                "2026-10-25 02:59:59 (Europe/Berlin)",
            ),
            (
                "Europe/Berlin",
                winter,
                "2026-10-25 02:00:00 (Europe/Berlin)",
            ),
            (
                "Asia/Kathmandu",
                winter,
                "2026-10-25 06:45:00 (Asia/Kathmandu)",
            ),
            ("", winter, "2026-10-25 01:00:00 UTC"),
            ("Mars/Olympus", winter, "2026-10-25 01:00:00 UTC"),
            ("../../etc/passwd", winter, "2026-10-25 01:00:00 UTC"),
            (
                "Europe/Berlin",
                UnixMillis(i64::MAX),
                "292278994-08-17 07:12:55 UTC",
            ),
        ];
        for (name, at, told) in rows {
            assert_eq!(Zone::named(name).moment(at), told, "{name}");
        }
    }
}
