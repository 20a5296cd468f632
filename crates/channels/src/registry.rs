//! The kinds of channels: adding one takes a module and a row in [`PLATFORMS`] or [`NOTIFIERS`].
//!
//! Separate, because this is the only place that knows which kinds exist. The rest of the program
//! sees a [`Chat`](crate::chat::Chat) or a [`Notifier`](crate::notifier::Notifier).

use crate::discord;
use crate::email;
use crate::matrix;
use crate::mattermost;
use crate::notifier::NotifierKind;
use crate::ntfy;
use crate::platform::Platform;
use crate::slack;
use crate::telegram;

/// Every chat platform.
pub const PLATFORMS: &[Platform] = &[
    discord::settings::PLATFORM,
    mattermost::settings::PLATFORM,
    slack::settings::PLATFORM,
    telegram::settings::PLATFORM,
    matrix::settings::PLATFORM,
];

/// Every kind of channel that only tells.
pub const NOTIFIERS: &[NotifierKind] = &[email::settings::KIND, ntfy::KIND];

/// The type of a channel that is no chat.
pub const WEBHOOK: &str = "webhook";

/// How many types there are.
const COUNT: usize = 1 + NOTIFIERS.len() + PLATFORMS.len();

/// The values of `channels.NAME.type`.
pub const TYPES: [&str; COUNT] = types();

/// Returns the platform called `name`.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
}

/// Returns the kind of notifier called `name`.
pub fn notifier(name: &str) -> Option<&'static NotifierKind> {
    NOTIFIERS.iter().find(|kind| kind.name == name)
}

#[expect(
    clippy::indexing_slicing,
    reason = "by the length of the array; it runs only while compiling, where a wrong index is an error"
)]
const fn types() -> [&'static str; COUNT] {
    let mut types = [WEBHOOK; COUNT];
    let mut at = 1;
    while at < COUNT {
        let row = at - 1;
        types[at] = if row < NOTIFIERS.len() {
            NOTIFIERS[row].name
        } else {
            PLATFORMS[row - NOTIFIERS.len()].name
        };
        at += 1;
    }
    types
}
