//! Redirections: input and output of a command.

use std::rc::Rc;

use super::{Walk, Writing, stream_of};
use crate::follow::value::Stream;
use crate::shell::syntax::{Operation, Part, Redirect, RedirectKind};

impl Walk<'_> {
    /// Applies redirections of a compound command. Returns the stream that replaces its output.
    pub(in crate::follow) fn redirects(
        &mut self,
        redirects: &[Redirect],
        stdin: &mut Stream,
        out: Option<&Stream>,
    ) -> Option<Stream> {
        let mut sink = None;
        for redirect in redirects {
            let to_file = self.redirect(redirect, stdin, out);
            if redirect.descriptor.is_none_or(|number| number == 1) {
                sink = sink.or(to_file);
            }
        }
        sink
    }

    pub(in crate::follow) fn redirect(
        &mut self,
        redirect: &Redirect,
        stdin: &mut Stream,
        out: Option<&Stream>,
    ) -> Option<Stream> {
        match redirect.kind {
            RedirectKind::HereDocument(number) => {
                let documents = Rc::clone(&self.scope.documents);
                if let Some(body) = documents.get(number) {
                    let body = self.expand_one(body);
                    *stdin = stream_of(&body);
                }
                None
            }
            RedirectKind::HereString => {
                let text = self.expand_one(&redirect.target);
                *stdin = stream_of(&text);
                if let Some(text) = &mut stdin.text {
                    text.push('\n');
                }
                None
            }
            RedirectKind::Read => {
                let target = self.expand_one(&redirect.target);
                let taint = self.reads(&target, "<");
                let files = vec![self.ground.place(&target.text).path];
                let unknown = || Stream {
                    files,
                    ..Stream::unknown(taint)
                };
                *stdin = target.delivers.map_or_else(unknown, |stream| *stream);
                None
            }
            RedirectKind::Duplicate => {
                self.expand_one(&redirect.target);
                None
            }
            // `2>$null` of PowerShell: a Unix shell has no such variable, and writes nothing.
            RedirectKind::Write
                if redirect.descriptor == Some(2)
                    && self.ground.is_windows
                    && is_null(&redirect.target.parts) =>
            {
                None
            }
            RedirectKind::Write | RedirectKind::Append | RedirectKind::ReadWrite => {
                let target = self.expand_one(&redirect.target);
                let empties = redirect.kind == RedirectKind::Write
                    && redirect.descriptor.is_none_or(|number| number == 1)
                    && out.is_some_and(|out| out.text.as_deref() == Some(""));
                let append = redirect.kind == RedirectKind::Append;
                self.writes(
                    &target,
                    ">",
                    if append {
                        Writing::Append
                    } else if empties {
                        Writing::Empty
                    } else {
                        Writing::Replace
                    },
                );
                match out {
                    Some(out) if append => self.remember_added(&target, out),
                    Some(out) => self.remember_file(&target, out.clone()),
                    None => {}
                }
                Some(Stream::empty())
            }
        }
    }
}

/// Whether a word is PowerShell's name for nothing.
fn is_null(parts: &[Part]) -> bool {
    matches!(
        parts,
        [Part::Parameter { expansion, .. }]
            if expansion.name.eq_ignore_ascii_case("null")
                && expansion.index.is_none()
                && expansion.operation == Operation::Value
    )
}
