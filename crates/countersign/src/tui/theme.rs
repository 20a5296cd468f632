//! The theme: the terminal's sixteen colours. Everything is also readable without them.
//!
//! No background is ever set, so it looks right in light and in dark terminals; what is selected is
//! reversed, which works in both.

use countersign_core::status::Risk;
use ratatui::style::{Color, Modifier, Style};

use super::markdown::Look;
use super::syntax::Kind;

/// Where a list points.
pub(crate) const POINTER: &str = "❯ ";
/// As wide as [`POINTER`].
pub(crate) const NO_POINTER: &str = "  ";
/// The prefix of every line of untrusted text.
pub(crate) const FENCE: &str = "│ ";

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Colours {
    Ansi,
    None,
}

/// How things look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Theme {
    colours: Colours,
}

#[expect(
    clippy::unused_self,
    reason = "every style is asked of the theme, whether it has a colour or not"
)]
impl Theme {
    /// In colours.
    pub(crate) const COLOURED: Self = Self {
        colours: Colours::Ansi,
    };
    /// Bold, dim and reversed alone.
    pub(crate) const COLOURLESS: Self = Self {
        colours: Colours::None,
    };

    /// As the environment wants it: `NO_COLOR` set to anything takes the colours away.
    pub(crate) fn of_environment() -> Self {
        match std::env::var_os("NO_COLOR") {
            Some(value) if !value.is_empty() => Self::COLOURLESS,
            Some(_) | None => Self::COLOURED,
        }
    }

    const fn coloured(self, colour: Color) -> Style {
        match self.colours {
            Colours::Ansi => Style::new().fg(colour),
            Colours::None => Style::new(),
        }
    }

    /// Of a risk.
    pub(crate) fn risk(self, risk: Risk) -> Style {
        let colour = match risk {
            Risk::Low => Color::Green,
            Risk::Medium => Color::Yellow,
            Risk::High => Color::Red,
            Risk::Critical => Color::Magenta,
        };
        self.coloured(colour).add_modifier(Modifier::BOLD)
    }

    /// Of what a person decides about.
    pub(crate) const fn plain(self) -> Style {
        Style::new()
    }

    /// Of a heading.
    pub(crate) const fn heading(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Of a heading in a coloured border, whose colour it does not take.
    pub(crate) const fn title(self) -> Style {
        self.heading()
            .fg(Color::Reset)
            .remove_modifier(Modifier::DIM)
    }

    /// Of what matters less.
    pub(crate) const fn quiet(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Of the row Enter means.
    pub(crate) const fn selected(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// Of the part of a text that a finding is about. Underlined, because colour alone says nothing.
    pub(crate) const fn marked(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::UNDERLINED)
    }

    /// Of a token of code. Red stays with what is marked; nothing of a command is dimmed.
    pub(crate) const fn code(self, kind: Kind) -> Style {
        self.coloured(match kind {
            Kind::Comment => Color::LightBlue,
            Kind::String => Color::Green,
            Kind::Number => Color::Yellow,
            Kind::Keyword => Color::Magenta,
            Kind::Name => Color::Cyan,
        })
    }

    /// Of a part of what an agent says. Each look differs without colours as well.
    pub(crate) const fn spoken(self, look: Look) -> Style {
        match (look, self.colours) {
            (Look::Strong, _) => Style::new().add_modifier(Modifier::BOLD),
            (Look::Emphasis, _) => Style::new().add_modifier(Modifier::ITALIC),
            (Look::Code, Colours::Ansi) => Style::new().fg(Color::Cyan),
            (Look::Code, Colours::None) => Style::new().add_modifier(Modifier::UNDERLINED),
        }
    }

    /// Of something that went well.
    pub(crate) const fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Of something that went wrong or must be read.
    pub(crate) const fn bad(self) -> Style {
        self.coloured(Color::Red)
    }

    /// Of what waits for the person.
    pub(crate) const fn waiting(self) -> Style {
        self.coloured(Color::Yellow)
    }

    /// Of what the person said.
    pub(crate) const fn own(self) -> Style {
        self.coloured(Color::Cyan)
    }

    /// Of a line that would come into a file.
    pub(crate) const fn added(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Of a line that would go out of a file.
    pub(crate) const fn removed(self) -> Style {
        self.coloured(Color::Red)
    }
}
