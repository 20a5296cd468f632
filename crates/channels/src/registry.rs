//! The chat platforms: adding one takes a module and a row in [`PLATFORMS`].
//!
//! Separate, because this is the only place that knows which platforms exist. The rest of the
//! program sees a [`Chat`](crate::chat::Chat).

use crate::matrix;
use crate::mattermost;
use crate::ntfy::NTFY;
use crate::platform::Platform;
use crate::slack;
use crate::telegram;

/// Every chat platform.
pub const PLATFORMS: &[Platform] = &[
    mattermost::settings::PLATFORM,
    slack::settings::PLATFORM,
    telegram::settings::PLATFORM,
    matrix::settings::PLATFORM,
];

/// The type of a channel that is no chat.
pub const WEBHOOK: &str = "webhook";

/// The types of channels that are no chats.
const PLAIN: [&str; 2] = [WEBHOOK, NTFY];

/// The values of `channels.NAME.type`: those, and every platform.
pub const TYPES: [&str; PLATFORMS.len() + PLAIN.len()] = types();

/// Returns the platform called `name`.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
}

#[expect(
    clippy::indexing_slicing,
    reason = "by the length of the array; it runs only while compiling, where a wrong index is an error"
)]
const fn types() -> [&'static str; PLATFORMS.len() + PLAIN.len()] {
    let mut types = [WEBHOOK; PLATFORMS.len() + PLAIN.len()];
    let mut at = 0;
    while at < types.len() {
        types[at] = if at < PLAIN.len() {
            PLAIN[at]
        } else {
            PLATFORMS[at - PLAIN.len()].name
        };
        at += 1;
    }
    types
}
