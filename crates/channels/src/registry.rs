//! The chat platforms: adding one takes a module and a row in [`PLATFORMS`].
//!
//! Separate, because this is the only place that knows which platforms exist. The rest of the
//! program sees a [`Chat`](crate::chat::Chat).

use crate::mattermost;
use crate::platform::Platform;

/// Every chat platform.
pub const PLATFORMS: &[Platform] = &[mattermost::settings::PLATFORM];

/// The type of a channel that is no chat.
pub const WEBHOOK: &str = "webhook";

/// The values of `channels.NAME.type`: webhooks, and every platform.
pub const TYPES: [&str; PLATFORMS.len() + 1] = types();

/// Returns the platform called `name`.
pub fn platform(name: &str) -> Option<&'static Platform> {
    PLATFORMS.iter().find(|platform| platform.name == name)
}

#[expect(
    clippy::indexing_slicing,
    reason = "by the length of the array; it runs only while compiling, where a wrong index is an error"
)]
const fn types() -> [&'static str; PLATFORMS.len() + 1] {
    let mut types = [WEBHOOK; PLATFORMS.len() + 1];
    let mut at = 0;
    while at < PLATFORMS.len() {
        types[at + 1] = PLATFORMS[at].name;
        at += 1;
    }
    types
}
