//! The key table, used by the code and by the help.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The focus when a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Looking at a card or a question with choices.
    Card,
    /// Choosing what a permission covers.
    Grant,
    /// Typing one line into a panel.
    Line,
    /// Talking to the agent.
    Chat,
    /// Looking at a list of the inbox.
    List,
}

/// What a key does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Answers with the choice of this number.
    Number(usize),
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// Answers with the selected row, or sends what was typed.
    Confirm,
    /// Denies, after asking what to tell the agent.
    DenyWithNote,
    /// Edits the call before it is allowed.
    Edit,
    /// Leaves without answering.
    Leave,
    /// A page up in the text.
    PageUp,
    /// A page down in the text.
    PageDown,
    /// To the beginning of the text.
    Top,
    /// To the end of the text.
    End,
    /// To the next marked part of the text.
    NextMark,
    /// Opens or closes why a person is asked.
    Why,
    /// Opens or closes what led to the call.
    Before,
    /// Shows a change in one column or in two.
    SideBySide,
    /// Takes an answer back.
    TakeBack,
    /// Gives the question more time.
    Extend,
    /// Changes how long and how often a permission holds.
    EditLimit,
    /// Lists the keys.
    Keys,
    /// Goes to the card, or back to the prompt.
    SwitchFocus,
    /// Begins another line.
    NewLine,
    /// Sends what is typed or queued to the agent at work.
    Steer,
    /// The previous input.
    Earlier,
    /// The next input.
    Later,
    /// Stops the run; pressed again, leaves.
    Interrupt,
    /// Leaves if nothing is typed.
    EndOfInput,
    /// Something of the inbox's lists alone.
    List(ListAct),
}

/// What a key does in a list of the inbox and nowhere else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListAct {
    /// To the next tab.
    NextTab,
    /// To the tab before.
    PreviousTab,
    /// Shows only what has certain words.
    Filter,
    /// Selects a row for a batch, or no longer.
    Select,
    /// Selects all of a run for a batch, or no longer.
    SelectRun,
    /// Denies what is selected.
    Deny,
    /// Allows what is selected, once.
    AllowOnce,
    /// Undoes what ran.
    Undo,
    /// Keeps what ran.
    Keep,
    /// Takes a permission back.
    Revoke,
    /// Lifts a denial.
    Lift,
    /// Ends the program.
    Quit,
}

/// A way to press a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Press {
    /// The key alone. Shift is part of a letter.
    Key(KeyCode),
    /// With Control.
    Control(char),
    /// With Alt.
    Alt(KeyCode),
    /// Any of `1` to `9`.
    Digit,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    place: Place,
    presses: &'static [Press],
    act: Act,
    /// The keys, as people call them.
    pub(crate) keys: &'static str,
    /// What they do.
    pub(crate) does: &'static str,
}

const fn row(
    place: Place,
    presses: &'static [Press],
    act: Act,
    keys: &'static str,
    does: &'static str,
) -> Row {
    Row {
        place,
        presses,
        act,
        keys,
        does,
    }
}

/// Every key, in the order of the help.
const TABLE: &[Row] = {
    use Place::{Card, Chat, Grant, Line, List};
    use Press::{Alt, Control, Digit, Key};
    const ENTER: &[Press] = &[Key(KeyCode::Enter)];
    const ESCAPE: &[Press] = &[Key(KeyCode::Esc)];
    const UP: &[Press] = &[Key(KeyCode::Up), Key(KeyCode::Char('k'))];
    const DOWN: &[Press] = &[Key(KeyCode::Down), Key(KeyCode::Char('j'))];
    const HELP: &[Press] = &[Key(KeyCode::Char('?'))];
    const HOME: &[Press] = &[Key(KeyCode::Home), Key(KeyCode::Char('g'))];
    const END: &[Press] = &[Key(KeyCode::End), Key(KeyCode::Char('G'))];
    const PAGE_UP: &[Press] = &[Key(KeyCode::PageUp), Control('b')];
    const PAGE_DOWN: &[Press] = &[
        Key(KeyCode::PageDown),
        Key(KeyCode::Char(' ')),
        Control('f'),
    ];
    &[
        row(
            Card,
            &[Digit],
            Act::Number(0),
            "1-9",
            "answer with that choice; a critical call is allowed by Enter after it",
        ),
        row(Card, UP, Act::Up, "↑ or k", "select the choice above"),
        row(Card, DOWN, Act::Down, "↓ or j", "select the choice below"),
        row(
            Card,
            ENTER,
            Act::Confirm,
            "Enter",
            "answer with the selected choice",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('n'))],
            Act::DenyWithNote,
            "n",
            "deny, with a note to the agent",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('e'))],
            Act::Edit,
            "e",
            "edit the call before allowing it",
        ),
        row(Card, ESCAPE, Act::Leave, "Esc", "close without answering"),
        row(Card, PAGE_UP, Act::PageUp, "PgUp", "scroll the text up"),
        row(
            Card,
            PAGE_DOWN,
            Act::PageDown,
            "PgDn or Space",
            "open the full text, scroll down",
        ),
        row(
            Card,
            HOME,
            Act::Top,
            "Home or g",
            "to the beginning of the text",
        ),
        row(Card, END, Act::End, "End or G", "to the end of the text"),
        row(
            Card,
            &[Key(KeyCode::Char('m'))],
            Act::NextMark,
            "m",
            "to the next marked part of the text",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('w'))],
            Act::Why,
            "w",
            "why a person is asked",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('b'))],
            Act::Before,
            "b",
            "what led here: the message and the calls before",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('d'))],
            Act::SideBySide,
            "d",
            "compare with the file; again, side by side from 120 columns",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('z'))],
            Act::TakeBack,
            "z",
            "undo an answer before it takes effect",
        ),
        row(
            Card,
            &[Key(KeyCode::Char('+'))],
            Act::Extend,
            "+",
            "give it more time, where that is offered",
        ),
        row(Card, HELP, Act::Keys, "?", "these keys"),
        row(Grant, UP, Act::Up, "↑ or k", "select the one above"),
        row(Grant, DOWN, Act::Down, "↓ or j", "select the one below"),
        row(
            Grant,
            ENTER,
            Act::Confirm,
            "Enter",
            "create the selected rule",
        ),
        row(
            Grant,
            &[Key(KeyCode::Char('e'))],
            Act::EditLimit,
            "e",
            "limit how long and how often",
        ),
        row(Grant, ESCAPE, Act::Leave, "Esc", "back to the choices"),
        row(Line, ENTER, Act::Confirm, "Enter", "send it"),
        row(Line, ESCAPE, Act::Leave, "Esc", "back without sending"),
        row(Chat, ENTER, Act::Confirm, "Enter", "send"),
        row(
            Chat,
            &[Alt(KeyCode::Enter), Control('j')],
            Act::NewLine,
            "Alt-Enter, Ctrl-J",
            "insert a line break",
        ),
        row(
            Chat,
            &[Control('s')],
            Act::Steer,
            "Ctrl-S",
            "send to the agent at work at once, instead of queueing",
        ),
        row(
            Chat,
            &[Key(KeyCode::Up)],
            Act::Earlier,
            "↑",
            "previous input",
        ),
        row(Chat, &[Key(KeyCode::Down)], Act::Later, "↓", "next input"),
        row(
            Chat,
            &[Key(KeyCode::PageUp)],
            Act::PageUp,
            "PgUp",
            "scroll up",
        ),
        row(
            Chat,
            &[Key(KeyCode::PageDown)],
            Act::PageDown,
            "PgDn",
            "scroll down",
        ),
        row(
            Chat,
            &[Key(KeyCode::Tab)],
            Act::SwitchFocus,
            "Tab",
            "switch between prompt and card",
        ),
        row(
            Chat,
            &[Control('c')],
            Act::Interrupt,
            "Ctrl-C",
            "stop the agent; again, leave",
        ),
        row(
            Chat,
            &[Control('d')],
            Act::EndOfInput,
            "Ctrl-D",
            "leave, if nothing is typed",
        ),
        row(List, UP, Act::Up, "↑ or k", "one row up"),
        row(List, DOWN, Act::Down, "↓ or j", "one row down"),
        row(List, PAGE_UP, Act::PageUp, "PgUp", "a page up"),
        row(List, PAGE_DOWN, Act::PageDown, "PgDn", "a page down"),
        row(List, HOME, Act::Top, "Home or g", "to the first row"),
        row(List, END, Act::End, "End or G", "to the last row"),
        row(
            List,
            &[
                Key(KeyCode::Tab),
                Key(KeyCode::Right),
                Key(KeyCode::Char('l')),
            ],
            Act::List(ListAct::NextTab),
            "Tab, →",
            "the next tab",
        ),
        row(
            List,
            &[
                Key(KeyCode::BackTab),
                Key(KeyCode::Left),
                Key(KeyCode::Char('h')),
            ],
            Act::List(ListAct::PreviousTab),
            "Shift-Tab, ←",
            "the previous tab",
        ),
        row(
            List,
            ENTER,
            Act::Confirm,
            "Enter",
            "open the card, the row, the details",
        ),
        row(
            List,
            ESCAPE,
            Act::Leave,
            "Esc",
            "close, clear the selection, clear the filter",
        ),
        row(
            List,
            &[Key(KeyCode::Char('/'))],
            Act::List(ListAct::Filter),
            "/",
            "filter",
        ),
        row(
            List,
            &[Key(KeyCode::Char('x'))],
            Act::List(ListAct::Select),
            "x",
            "select or deselect for a batch",
        ),
        row(
            List,
            &[Key(KeyCode::Char('X'))],
            Act::List(ListAct::SelectRun),
            "X",
            "select or deselect the whole run",
        ),
        row(
            List,
            &[Key(KeyCode::Char('d'))],
            Act::List(ListAct::Deny),
            "d",
            "deny the selection, with a note",
        ),
        row(
            List,
            &[Key(KeyCode::Char('a'))],
            Act::List(ListAct::AllowOnce),
            "a",
            "allow the selection once (low and medium risk only)",
        ),
        row(
            List,
            &[Key(KeyCode::Char('u'))],
            Act::List(ListAct::Undo),
            "u",
            "reviews: undo what ran",
        ),
        row(
            List,
            &[Key(KeyCode::Char('K'))],
            Act::List(ListAct::Keep),
            "K",
            "reviews: keep what ran",
        ),
        row(
            List,
            &[Key(KeyCode::Char('r'))],
            Act::List(ListAct::Revoke),
            "r",
            "grants: revoke",
        ),
        row(
            List,
            &[Key(KeyCode::Char('L'))],
            Act::List(ListAct::Lift),
            "L",
            "history: lift a denial",
        ),
        row(List, HELP, Act::Keys, "?", "these keys"),
        row(
            List,
            &[Key(KeyCode::Char('q')), Control('c')],
            Act::List(ListAct::Quit),
            "q or Ctrl-C",
            "leave",
        ),
    ]
};

impl Press {
    fn reads(self, key: KeyEvent) -> bool {
        let KeyEvent {
            code, modifiers, ..
        } = key;
        let bare = modifiers.difference(KeyModifiers::SHIFT).is_empty();
        match self {
            Self::Key(wanted) => bare && code == wanted,
            Self::Control(letter) => {
                modifiers == KeyModifiers::CONTROL && code == KeyCode::Char(letter)
            }
            Self::Alt(wanted) => modifiers == KeyModifiers::ALT && code == wanted,
            Self::Digit => modifiers.is_empty() && digit(code).is_some(),
        }
    }
}

fn digit(code: KeyCode) -> Option<usize> {
    let KeyCode::Char(letter) = code else {
        return None;
    };
    let number = usize::try_from(letter.to_digit(10)?).ok()?;
    (number > 0).then_some(number)
}

/// Returns what `key` does in `place`; nothing if it has no meaning there.
pub(crate) fn act(place: Place, key: KeyEvent) -> Option<Act> {
    let reads = |row: &&Row| row.place == place && row.presses.iter().any(|it| it.reads(key));
    let row = TABLE.iter().find(reads)?;
    if matches!(row.act, Act::Number(_)) {
        return digit(key.code).map(Act::Number);
    }
    Some(row.act)
}

/// Whether something was pressed, or is held down; letting go is no key.
pub(crate) fn is_press(key: KeyEvent) -> bool {
    key.kind != KeyEventKind::Release
}

/// Returns the rows of the help for `place`.
pub(crate) fn help(place: Place) -> impl Iterator<Item = &'static Row> {
    TABLE.iter().filter(move |row| row.place == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letter(letter: char) -> KeyEvent {
        KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE)
    }

    fn with(modifiers: KeyModifiers, code: KeyCode) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn keys_do_what_the_table_says() {
        use KeyModifiers as With;
        use Place::{Card, Chat, Line};
        let enter = KeyCode::Enter;
        let rows = [
            ("a digit", Card, letter('3'), Some(Act::Number(3))),
            ("nought", Card, letter('0'), None),
            (
                "Alt and a digit",
                Card,
                with(With::ALT, KeyCode::Char('3')),
                None,
            ),
            ("another script", Card, letter('٣'), None),
            (
                "space scrolls and answers nothing",
                Card,
                letter(' '),
                Some(Act::PageDown),
            ),
            ("y answers nothing", Card, letter('y'), None),
            ("j", Card, letter('j'), Some(Act::Down)),
            (
                "G",
                Card,
                with(With::SHIFT, KeyCode::Char('G')),
                Some(Act::End),
            ),
            ("Enter", Card, with(With::NONE, enter), Some(Act::Confirm)),
            ("Alt-Enter", Card, with(With::ALT, enter), None),
            ("a digit on a line", Line, letter('3'), None),
            ("a digit in a chat", Chat, letter('3'), None),
            (
                "a line break",
                Chat,
                with(With::ALT, enter),
                Some(Act::NewLine),
            ),
            (
                "Ctrl-C",
                Chat,
                with(With::CONTROL, KeyCode::Char('c')),
                Some(Act::Interrupt),
            ),
        ];
        for (name, place, key, wanted) in rows {
            assert_eq!(act(place, key), wanted, "{name}");
        }
    }

    #[test]
    fn no_key_means_two_things_in_one_place() {
        for (number, row) in TABLE.iter().enumerate() {
            for other in TABLE.iter().skip(number + 1) {
                let shared = row
                    .presses
                    .iter()
                    .any(|press| other.presses.contains(press));
                assert!(!(shared && row.place == other.place), "{row:?} {other:?}");
            }
        }
    }
}
