//! What a command shows of credentials: whatever reaches the end of a command line is given to a model.

use super::Walk;
use super::compound::plain_text;
use super::counted::NOWHERE;
use crate::act::Act;
use crate::follow::value::{Arg, Stream};
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Redirect;

impl Walk<'_> {
    /// Judges what a command shows whose output nothing else takes up. `kept` are its redirections where
    /// the output goes to a file.
    pub(super) fn shown(
        &mut self,
        args: &[Arg],
        stdin: &Stream,
        out: &Stream,
        kept: Option<&[Redirect]>,
    ) {
        let name = args.first().map_or("", |arg| arg.text.as_str());
        let prints = match name {
            "echo" | "printf" => args.iter().any(|arg| arg.taint.secret),
            // A here-document; what a pipe delivers was looked at where it was read.
            "cat" | "tee" => stdin.taint.secret && !stdin.taint.command && stdin.text.is_none(),
            _ => false,
        };
        let why = if out.taint.variables && !kept.is_some_and(goes_nowhere) {
            "shows all variables of the environment, credentials included"
        } else if prints && kept.is_none() {
            "prints a variable that holds a secret"
        } else {
            return;
        };
        let span = self.here(args.first().map(|arg| arg.span).unwrap_or_default());
        let act = Act::new(Effect::Secret, name.to_owned(), span).because(why);
        self.note(act.target(Score::new(300)));
    }
}

/// Whether nobody sees what is written.
fn goes_nowhere(redirects: &[Redirect]) -> bool {
    redirects
        .iter()
        .any(|redirect| plain_text(&redirect.target).as_deref() == Some(NOWHERE))
}
