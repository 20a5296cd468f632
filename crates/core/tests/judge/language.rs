//! What the readers of embedded languages see in fragments, as tables with named rows.

use countersign_core::language::{Deed, Reading};

mod databases;
mod properties;
mod registry;
mod scripts;
mod text_tools;
mod windows;
mod windows_lines;

/// What a row expects of a reading.
enum Want {
    /// Nothing but computing, printing and reading rows.
    Harmless,
    /// Exactly these deeds, and nothing hidden.
    Deeds(Vec<Deed>),
    /// These deeds among others, whether or not something is hidden.
    Sees(Deed),
    Hidden,
    /// Nothing is hidden, but something is not known: ordinary code inside a project, a question
    /// everywhere else.
    Unfamiliar,
}

use Want::{Deeds, Harmless, Hidden, Sees, Unfamiliar};

fn check(reader: &str, read: impl Fn(&str) -> Reading, rows: Vec<(&str, &str, Want)>) {
    let mut failures = Vec::new();
    for (name, fragment, want) in rows {
        let reading = read(fragment);
        let good = match &want {
            Harmless => reading.is_harmless(),
            Deeds(deeds) => {
                let seen = reading.hidden.is_none() && reading.unfamiliar.is_none();
                seen && reading.deeds == *deeds
            }
            Sees(deed) => reading.deeds.contains(deed),
            Hidden => reading.hidden.is_some(),
            Unfamiliar => reading.hidden.is_none() && reading.unfamiliar.is_some(),
        };
        if !good {
            failures.push(format!("{reader}: {name}: `{fragment}` gives {reading:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn shell(text: &str) -> Deed {
    Deed::Shell(text.to_owned())
}

fn reads(path: &str) -> Deed {
    Deed::ReadFile(path.to_owned())
}

fn enters(path: &str) -> Deed {
    Deed::Enter {
        path: path.to_owned(),
        returns: false,
    }
}

fn writes(path: &str) -> Deed {
    Deed::WriteFile(path.to_owned())
}

fn db_write(text: &str) -> Deed {
    Deed::DbWrite(text.to_owned())
}

fn db_destroy(text: &str) -> Deed {
    Deed::DbDestroy(text.to_owned())
}

fn db_admin(text: &str) -> Deed {
    Deed::DbAdmin(text.to_owned())
}

fn deletes(path: &str) -> Deed {
    Deed::DeleteFile(path.to_owned())
}

fn deletes_tree(path: &str) -> Deed {
    Deed::DeleteTree(path.to_owned())
}

fn runs(words: &[&str]) -> Deed {
    Deed::Run(words.iter().map(ToString::to_string).collect())
}

fn fetches(address: &str) -> Deed {
    Deed::Fetch(address.to_owned())
}

fn sends(address: &str) -> Deed {
    Deed::Send(address.to_owned())
}

fn kills(text: &str) -> Deed {
    Deed::Kill(text.to_owned())
}

fn controls(text: &str) -> Deed {
    Deed::Control(text.to_owned())
}

fn persists(text: &str) -> Deed {
    Deed::Persist(text.to_owned())
}

fn raises(text: &str) -> Deed {
    Deed::Privilege(text.to_owned())
}

fn wipes(text: &str) -> Deed {
    Deed::WipeDisk(text.to_owned())
}
