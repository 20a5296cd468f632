//! A card as plain text, for screen readers and simple chats. If it does not fit, it says so and
//! offers no *allow*.

use std::fmt::Write as _;

use super::body::NOTE;
use super::{Card, Field, label};
use crate::approval::Choice;
use crate::digest::Digest;
use crate::display::FENCE;

/// What a surface of limited size can show of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fit {
    /// All of it.
    Complete(String),
    /// Only parts. Nobody may allow what they have not seen, so only *deny* and a full view are
    /// left.
    Cut {
        /// Its beginning.
        head: String,
        /// Its end.
        tail: String,
        /// How long all of it is, in characters.
        length: usize,
        /// SHA-256 of all of it.
        digest: Digest,
    },
}

impl Card {
    /// Returns the complete card as text.
    pub fn plain_text(&self) -> String {
        self.text_with(&self.choices)
    }

    /// Returns what a surface of `budget_chars` characters can show.
    pub fn fits(&self, budget_chars: usize) -> Fit {
        let whole = self.plain_text();
        let length = whole.chars().count();
        if length <= budget_chars {
            return Fit::Complete(whole);
        }
        let digest = Digest::of(whole.as_bytes());
        // The text that is cut no longer speaks of allowing.
        let shown = self.text_with(&denials(&self.choices));
        let room = budget_chars.saturating_sub(cut_note(length, length, digest).chars().count());
        let tail_chars = room / 3;
        let head: String = shown.chars().take(room - tail_chars).collect();
        let skipped = shown.chars().count().saturating_sub(tail_chars);
        let tail: String = shown.chars().skip(skipped).collect();
        Fit::Cut {
            head,
            tail,
            length,
            digest,
        }
    }

    /// Returns exactly what would run, as text: the command alone where that is all, otherwise each
    /// argument under its name. Surfaces that set it apart by a frame of their own show this.
    pub fn what_runs(&self) -> String {
        let mut said = self.body.iter().filter(|field| field.name != NOTE);
        let alone = match (said.next(), said.next()) {
            (Some(only), None) if only.code => Some(only),
            (Some(_) | None, _) => None,
        };
        let lines = self.body.iter().map(|field| match alone {
            Some(only) if field == only => field.text.clone(),
            Some(_) | None => field.lines(),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    fn text_with(&self, choices: &[Choice]) -> String {
        let mut text = String::with_capacity(1024);
        row(&mut text, "Approval", &self.approval_id);
        row(&mut text, "Wanted", &self.title);
        if let Some(outcome) = &self.outcome {
            row(&mut text, "Outcome", outcome);
        }
        row(&mut text, "Risk", self.risk.word());
        for reason in &self.reasons {
            row(&mut text, "Why", reason);
        }
        for help in &self.help_lines {
            row(&mut text, "Help line", help);
        }
        row(&mut text, "Tool", &self.tool);
        // Names and values of arguments are the asker's, so both stand behind the fence.
        text.push_str("What would run:\n");
        for field in &self.body {
            fenced(&mut text, &field.lines());
        }
        for field in &self.lineage {
            if field.code {
                let _infallible = writeln!(text, "{}:", field.name);
                fenced(&mut text, &field.text);
            } else {
                row(&mut text, &field.name, &field.text);
            }
        }
        for place in self.look_at() {
            row(&mut text, "Look at", &place);
        }
        let tier = format!("{}, {}", self.tier.word(), self.tier.sentence());
        row(&mut text, "Separation", &tier);
        row(&mut text, "Digest", &self.digest);
        if self.outcome.is_none() {
            row(&mut text, "Open until", &utc(self.expires_at.seconds()));
            row(&mut text, "Then", &self.on_timeout);
            let labels: Vec<String> = choices
                .iter()
                .map(|choice| format!("{} {}", choice.number(), label(*choice)))
                .collect();
            row(&mut text, "Choices", &labels.join(" · "));
        }
        if let Some(words) = &self.explanation {
            text.push_str("The agent says (unverified):\n");
            fenced(&mut text, words);
        }
        text
    }
}

impl Fit {
    /// Returns what may be chosen of what `card` offers.
    pub fn choices(&self, card: &Card) -> Vec<Choice> {
        match self {
            Self::Complete(_) => card.choices.clone(),
            Self::Cut { .. } => denials(&card.choices),
        }
    }

    /// Returns it as one text.
    pub fn text(&self) -> String {
        match self {
            Self::Complete(text) => text.clone(),
            Self::Cut {
                head,
                tail,
                length,
                digest,
            } => {
                let hidden = length.saturating_sub(head.chars().count() + tail.chars().count());
                format!("{head}{}{tail}", cut_note(hidden, *length, *digest))
            }
        }
    }
}

fn cut_note(hidden: usize, length: usize, digest: Digest) -> String {
    format!(
        "\n⟨{hidden} of {length} characters not shown here, {digest}; open the full text to allow⟩\n"
    )
}

fn denials(choices: &[Choice]) -> Vec<Choice> {
    choices
        .iter()
        .copied()
        .filter(|choice| *choice == Choice::Deny)
        .collect()
}

impl Field {
    /// Returns name and text; lines of the text are set in, so none can pass for a name.
    fn lines(&self) -> String {
        if self.code || self.text.contains('\n') {
            let lines: Vec<String> = self
                .text
                .split('\n')
                .map(|line| format!("  {line}"))
                .collect();
            format!("{}:\n{}", self.name, lines.join("\n"))
        } else {
            format!("{}: {}", self.name, self.text)
        }
    }
}

fn row(text: &mut String, name: &str, value: &str) {
    let _infallible = writeln!(text, "{name}: {value}");
}

fn fenced(text: &mut String, lines: &str) {
    for line in lines.split('\n') {
        let _infallible = writeln!(text, "{}", format!("{FENCE}{line}").trim_end());
    }
}

/// Returns a moment as date and time, by the calendar that counts years from March so that the leap
/// day comes last.
pub fn utc(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_people_write_them() {
        for (seconds, written) in [
            (0, "1970-01-01 00:00:00 UTC"),
            (951_782_399, "2000-02-28 23:59:59 UTC"),
            (951_782_400, "2000-02-29 00:00:00 UTC"),
            (1_735_689_599, "2024-12-31 23:59:59 UTC"),
        ] {
            assert_eq!(utc(seconds), written);
        }
    }
}
