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

/// Returns the Unix seconds of the date of an answer: `Sun, 06 Nov 1994 08:49:37 GMT`.
pub(crate) fn http_date(text: &str) -> Option<i64> {
    const MONTHS: [&str; 12] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ];
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, _] = words.as_slice() else {
        return None;
    };
    let month = MONTHS.iter().position(|name| name == month)?;
    let month = i64::try_from(month).ok()? + 1;
    let (year, day): (i64, i64) = (year.parse().ok()?, day.parse().ok()?);
    let mut parts = time.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    // Counted from March, so that the leap day comes last.
    let (from_march, years) = if month > 2 {
        (month - 3, year)
    } else {
        (month + 9, year - 1)
    };
    let days = 365 * years + years / 4 - years / 100 + years / 400;
    let days = days + (153 * from_march + 2) / 5 + day - 1 - 719_468;
    Some(((days * 24 + hours) * 60 + minutes) * 60 + seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_answers_are_read() {
        let rows = [
            ("Thu, 01 Jan 1970 00:00:00 GMT", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(784_111_777)),
            ("Thu, 29 Feb 2024 12:00:00 GMT", Some(1_709_208_000)),
            ("yesterday", None),
        ];
        for (text, expected) in rows {
            assert_eq!(http_date(text), expected, "{text}");
        }
    }

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
