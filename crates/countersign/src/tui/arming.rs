//! Decides whether a key press may answer the card on screen.
//!
//! A card can appear while someone is typing into something else, and the next key they hit may
//! well be `1` or Enter. A press counts only when the card has been in view long enough to be read
//! and the person is not in the middle of a burst of keys. Anything else is dropped, never queued.

use countersign_core::time::UnixMillis;

/// Time a card must be on screen before a key can answer it.
pub(crate) const READ_MILLIS: i64 = 700;
/// Keys closer together than this are typing, not answering.
pub(crate) const BURST_MILLIS: i64 = 300;

/// Since when a card is in view, and when a key was last pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arming {
    shown_at: Option<UnixMillis>,
    key_at: Option<UnixMillis>,
}

/// Whether a key may answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Armed {
    Yes,
    No,
}

impl From<bool> for Armed {
    fn from(may_answer: bool) -> Self {
        if may_answer { Self::Yes } else { Self::No }
    }
}

impl Arming {
    /// It is drawn. Only the first time counts.
    pub(crate) fn in_view(&mut self, now: UnixMillis) {
        self.shown_at.get_or_insert(now);
    }

    /// It is no longer drawn, or something else is drawn in its place.
    pub(crate) const fn out_of_view(&mut self) {
        self.shown_at = None;
    }

    /// Notes a key and returns whether it may answer.
    pub(crate) fn key(&mut self, now: UnixMillis) -> bool {
        let may = self.may_answer(now);
        self.typed(now);
        may
    }

    /// Notes a key that was meant for something else.
    pub(crate) const fn typed(&mut self, now: UnixMillis) {
        self.key_at = Some(now);
    }

    /// Returns whether it has been in view long enough to be read.
    pub(crate) fn had_time_to_read(&self, now: UnixMillis) -> bool {
        self.shown_at
            .is_some_and(|shown| now.since(shown) >= READ_MILLIS)
    }

    /// Returns whether a key pressed at `now` may answer.
    pub(crate) fn may_answer(&self, now: UnixMillis) -> bool {
        // A clock that was set back must not arm anything early, nor disarm it for long.
        let is_typing = self
            .key_at
            .is_some_and(|key| (0..BURST_MILLIS).contains(&now.since(key)));
        self.had_time_to_read(now) && !is_typing
    }

    /// Returns when a key may answer if none is pressed before; `None` if that is now or never.
    pub(crate) fn armed_at(&self, now: UnixMillis) -> Option<UnixMillis> {
        let read = self.shown_at?.plus(READ_MILLIS);
        let calm = self.key_at.map_or(read, |key| key.plus(BURST_MILLIS));
        Some(read.max(calm)).filter(|at| *at > now && !self.may_answer(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_counts_only_after_reading_and_outside_a_burst() {
        // When it came into view, when the key before was pressed, now; whether the key counts.
        let rows = [
            ("never in view", None, None, 10_000, false),
            ("at once", Some(0), None, 0, false),
            ("just too early", Some(0), None, 699, false),
            ("just in time", Some(0), None, 700, true),
            ("long in view", Some(0), None, 60_000, true),
            ("in a burst", Some(0), Some(1_000), 1_299, false),
            ("after a burst", Some(0), Some(1_000), 1_300, true),
            (
                "typing before it came",
                Some(1_000),
                Some(900),
                1_100,
                false,
            ),
            ("calm but unread", Some(1_000), Some(0), 1_699, false),
            (
                "the clock was set back",
                Some(5_000),
                Some(9_000),
                6_000,
                true,
            ),
        ];
        for (name, shown, key, now, counts) in rows {
            let arming = Arming {
                shown_at: shown.map(UnixMillis),
                key_at: key.map(UnixMillis),
            };
            assert_eq!(arming.may_answer(UnixMillis(now)), counts, "{name}");
        }
    }

    #[test]
    fn a_key_held_down_answers_nothing() {
        let mut arming = Arming::default();
        arming.in_view(UnixMillis(0));
        for now in (0..10_000).step_by(30) {
            assert!(!arming.key(UnixMillis(now)), "{now}");
        }
        assert!(arming.key(UnixMillis(10_400)));
    }

    #[test]
    fn what_came_into_view_again_is_read_again() {
        let mut arming = Arming::default();
        arming.in_view(UnixMillis(0));
        arming.in_view(UnixMillis(600));
        assert!(arming.may_answer(UnixMillis(700)));
        arming.out_of_view();
        assert!(!arming.may_answer(UnixMillis(700)));
        arming.in_view(UnixMillis(800));
        assert!(!arming.may_answer(UnixMillis(1_400)));
        assert_eq!(arming.armed_at(UnixMillis(1_400)), Some(UnixMillis(1_500)));
        assert_eq!(arming.armed_at(UnixMillis(1_500)), None);
    }
}
