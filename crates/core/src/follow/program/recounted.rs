//! The words of the current command, for effects that must be recognised in another spelling.
//!
//! What a shell makes of a text is gone by then: quotes, comments, variables, wrappers. What is
//! left is put into one form: options by their first name, without those that only switch
//! something, paths as they resolve.

use std::rc::Rc;

use super::options::Options;
use crate::act::words::{Words, collapsed, spelled};
use crate::follow::value::{Arg, Stream};
use crate::follow::walk::Walk;
use crate::knowledge::Value;
use crate::place::display;

impl Walk<'_> {
    /// Notes the words of a command about whose options nothing is known yet.
    pub(crate) fn now_does(&mut self, args: &[Arg], stdin: &Stream) {
        if !self.knows.recounts {
            return;
        }
        let operands = args.iter().skip(1).map(|arg| self.word(arg)).collect();
        self.doing = Some(Rc::new(Words {
            cwd: self.ground.cwd.as_deref().map(display).unwrap_or_default(),
            operands,
            options: Vec::new(),
            input: input(stdin),
        }));
    }

    /// Notes the words of a command as its row reads them. What it hands on is for the command that
    /// it is handed to.
    pub(crate) fn now_reads(&mut self, read: &Options<'_>, stdin: &Stream) {
        if !self.knows.recounts {
            return;
        }
        let operands = read.operands.iter().map(|arg| self.word(arg)).collect();
        let given = |hit: &super::options::Hit| {
            let name = hit.flag.names.first().copied().unwrap_or(hit.name);
            let value = match hit.flag.value {
                Value::None => None,
                Value::Next(_) | Value::Attached(_) => hit.value.as_ref(),
            };
            Some((name.to_owned(), self.word(value?)))
        };
        let options = read.hits.iter().filter_map(given).collect();
        self.doing = Some(Rc::new(Words {
            cwd: self.ground.cwd.as_deref().map(display).unwrap_or_default(),
            operands,
            options,
            input: input(stdin),
        }));
    }

    /// Notes that what follows is done with what a command prints.
    pub(crate) fn now_prints(&mut self, out: &Stream) {
        if self.knows.recounts {
            self.doing = Some(Rc::new(Words {
                input: input(out),
                ..Words::default()
            }));
        }
    }

    fn word(&self, arg: &Arg) -> String {
        spelled(&self.ground, &arg.text)
    }
}

fn input(stream: &Stream) -> Option<String> {
    let text = collapsed(stream.text.as_deref()?);
    (!text.is_empty()).then_some(text)
}
