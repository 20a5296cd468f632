//! `Venue`: a strict server of a platform, with people in it, as the shared scenes need it.

use serde_json::Value;

use crate::support::Gateway;

/// The people of every scene. Ana and Ben are approvers; Eve is in the same room and nobody to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    Ana,
    Ben,
    Eve,
}

impl Who {
    pub(crate) const ALL: [Self; 3] = [Self::Ana, Self::Ben, Self::Eve];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Ana => "ana",
            Self::Ben => "ben",
            Self::Eve => "eve",
        }
    }
}

/// How many requests the platform takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    /// As many as come.
    None,
    /// So few that a burst of cards exceeds them, and each card soon fits again.
    Tight,
}

/// A card as the platform keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Card {
    /// Its question.
    pub(crate) subject: String,
    /// Which message it is, in the platform's own words.
    pub(crate) message: String,
    /// Where it is.
    pub(crate) place: String,
    /// Everything people can read on it.
    pub(crate) text: String,
    /// What can be pressed, by the words of `Press`.
    pub(crate) buttons: Vec<String>,
    /// As the platform has it.
    pub(crate) raw: Value,
}

impl Card {
    pub(crate) fn has(&self, button: &str) -> bool {
        self.buttons.iter().any(|it| it == button)
    }
}

/// A strict server of one platform, with Ana, Ben and Eve in one room with our bot.
pub(crate) trait Venue: Sized + Sync {
    /// The platform's name in the configuration.
    const NAME: &'static str;

    /// A press as the platform would tell the gateway of it, and has not yet.
    type Press: Clone + Send + Sync;

    /// Starts the server.
    fn open(limits: Limits) -> Self;

    /// Returns the section of the channel, with the room as the usual place and nobody mentioned.
    fn section(&self) -> Value;

    /// Returns what the gateway's environment holds.
    fn variables(&self) -> Vec<(&'static str, String)>;

    /// Returns the id of an account.
    fn account(&self, who: Who) -> String;

    /// Returns how somebody is written to, as a contact names it.
    fn address(&self, who: Who) -> String;

    /// The gateway is there, for the first time or again.
    fn lead_to(&self, gateway: &Gateway);

    /// The gateway is about to go away.
    fn hold_back(&self);

    /// Returns every card there is, oldest first. It asks nobody over the network.
    fn cards(&self) -> Vec<Card>;

    /// Returns everything `who` can read, cards included. It asks nobody over the network.
    fn read_by(&self, who: Who) -> String;

    /// Waits until `holds`, which is looked at whenever the server has served something. Whether it
    /// came to hold before patience ended.
    fn wait(&self, holds: &dyn Fn() -> bool) -> bool;

    /// Presses a button as the platform's own client does, and returns what only `who` is told.
    fn press(&self, who: Who, card: &Card, button: &str) -> String;

    /// Presses a button and keeps what the platform would tell the gateway.
    fn prepare(&self, who: Who, card: &Card, button: &str) -> Self::Press;

    /// Tells the gateway of a press and returns what only the presser is told.
    fn tell(&self, press: &Self::Press) -> String;

    /// Returns every way to alter a press: by what the platform lets anybody say, by hand, and with
    /// parts of `other`, a genuine press of the same button on another card.
    fn altered(&self, press: &Self::Press, other: &Self::Press)
    -> Vec<(&'static str, Self::Press)>;

    /// Returns how a button of another firewall, `foreign`, can be put on our `card` for its presser.
    fn moved(&self, foreign: &Self::Press, card: &Card) -> Vec<(&'static str, Self::Press)>;

    /// Returns how much `who` has been asked for so far.
    fn asked_for(&self, who: Who) -> usize;

    /// Gives `who` what they were asked for behind the first `seen`: words, or a second yes.
    fn fill_in(&self, who: Who, seen: usize, words: Option<&str>);

    /// Writes to the bot alone.
    fn say(&self, who: Who, text: &str);

    /// Types a command to the bot alone, once the platform offers it, and returns the reply.
    fn command(&self, who: Who, line: &str) -> String;

    /// Returns the full text that *view* has shown of a card.
    fn full_text(&self, card: &Card) -> String;

    /// Returns what the platform, or its clients, would act on in a card besides our buttons: mentions,
    /// links, pictures, commands, markup that is not ours.
    fn acts_on(&self, card: &Card) -> Vec<String>;

    /// Stops the server and starts it again with what it knew.
    fn restart(&mut self);

    /// Returns how many requests came over the limit.
    fn over_the_limit(&self) -> usize;
}
