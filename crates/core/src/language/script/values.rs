//! What the computed texts of a script may be.
//!
//! A path that is joined from a directory and a name, a command whose last word is a counter: to judge
//! them it is enough to know how they begin and where the rest comes from. Names are followed without
//! regard to order and scope: a name may hold whatever anything in the script binds it to. That is
//! more than it ever holds, so nothing is missed; and what cannot be followed is a hole in the text.

mod calls;
mod evaluate;
mod gather;
mod lists;
mod loose;
mod made;
mod methods;
mod python;
mod texts;

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, HashSet};

pub(super) use self::made::{Made, Origin};

use self::gather::Gathered;
use super::Paths;
use super::lexer::{Indents, Token};
use crate::knowledge::Syntax;
use crate::knowledge::languages::Script;

/// Tokens that may be looked at for all values of one script.
const STEPS_MAX: usize = 200_000;
/// How deep values may be made of each other.
const DEPTH_MAX: usize = 24;
/// Bindings of one name that are followed.
const BOUND_MAX: usize = 24;

/// Longest stretch of tokens that is evaluated.
const RANGE_MAX: usize = 800;

/// A stretch of tokens.
pub(super) type Range = (usize, usize);

/// What a name is bound to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// The value of this expression.
    Value(Range),
    /// An element of it.
    Element(Range),
    /// A collection that holds it.
    Holder(Range),
    /// Something that cannot be followed.
    Anything,
}

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Variable,
    Attribute,
}

/// The values of one script.
#[derive(Debug)]
pub(super) struct Values<'a> {
    script: &'static Script,
    tokens: &'a [Token],
    /// What imports bind names to.
    paths: &'a Paths,
    /// The words after the script, where they are known.
    arguments: Option<&'a [String]>,
    gathered: Gathered<'a>,
    known: RefCell<HashMap<(Kind, &'a str), Made>>,
    pending: RefCell<HashSet<(Kind, &'a str)>>,
    /// Functions whose value is being found out.
    calling: RefCell<HashSet<&'a str>>,
    steps: Cell<usize>,
}

impl<'a> Values<'a> {
    pub(super) fn new(
        script: &'static Script,
        tokens: &'a [Token],
        indents: &Indents,
        paths: &'a Paths,
        arguments: Option<&'a [String]>,
    ) -> Self {
        let mut gathered = match script.syntax {
            Syntax::Python => python::gather(tokens, indents),
            Syntax::JavaScript => Gathered::javascript(tokens),
            Syntax::Plain | Syntax::Perl | Syntax::Ruby | Syntax::Php => Gathered::default(),
        };
        gathered.changed_by_functions(tokens, paths);
        gathered.changes_others(tokens);
        gathered.settle(tokens);
        Self {
            script,
            tokens,
            paths,
            arguments,
            gathered,
            known: RefCell::default(),
            pending: RefCell::default(),
            calling: RefCell::default(),
            steps: Cell::new(0),
        }
    }

    /// Names that the script binds.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.gathered.names.keys().copied()
    }

    /// What the expression in `range` may be.
    pub(super) fn of(&self, range: Range) -> Made {
        self.expression(range, 0)
    }

    /// The words of the list in `range`, in order, in all ways they may be. `None`: they cannot be
    /// told.
    pub(super) fn words(&self, range: Range) -> Option<Vec<Vec<Made>>> {
        self.lists(range)
    }

    /// What stands between the bracket at `open` and the one that closes it, by commas.
    pub(super) fn items(&self, open: usize) -> Vec<Range> {
        gather::items(self.tokens, open)
    }

    /// Where the bracket at `open` is closed.
    pub(super) fn closing(&self, open: usize) -> usize {
        let to = self.tokens.len().min(open + RANGE_MAX);
        self.behind(open, to).saturating_sub(1)
    }

    /// Where the value ends that begins at `from`.
    pub(super) fn value_end(&self, from: usize) -> usize {
        gather::value_end(self.tokens, from)
    }

    /// Counts what is looked at; says whether there may be more.
    fn spend(&self, tokens: usize) -> bool {
        let steps = self.steps.get().saturating_add(tokens.saturating_add(1));
        self.steps.set(steps);
        steps <= STEPS_MAX
    }

    /// What the variable `name` may hold; `None` if nothing in the script binds it.
    fn held(&self, name: &str, depth: usize) -> Option<Made> {
        self.bound(Kind::Variable, name, depth)
    }

    /// A collection with what is put into collections that may be this one.
    fn with_loose(&self, made: Made, depth: usize) -> Made {
        if self.gathered.loose.len() > BOUND_MAX || self.gathered.has_lost_bindings {
            return made.or(Made::unknown(Origin::Data).collected());
        }
        let loose = self.gathered.loose.iter();
        let loose = loose.map(|range| self.expression(*range, depth + 1).collected());
        loose.fold(made, Made::or)
    }

    fn bound(&self, kind: Kind, name: &str, depth: usize) -> Option<Made> {
        let names = match kind {
            Kind::Variable => &self.gathered.names,
            Kind::Attribute => &self.gathered.attributes,
        };
        let (name, bound) = names.get_key_value(name)?;
        let key = (kind, *name);
        if let Some(made) = self.known.borrow().get(&key) {
            return Some(made.clone());
        }
        if depth > DEPTH_MAX || bound.len() > BOUND_MAX || !self.pending.borrow_mut().insert(key) {
            return Some(Made::unknown(Origin::Data));
        }
        let mut all: Option<Made> = None;
        for bound in bound {
            let made = match bound {
                Bound::Value(range) => self.expression(*range, depth + 1),
                Bound::Element(range) => self.expression(*range, depth + 1).element(),
                Bound::Holder(range) => self.expression(*range, depth + 1).collected(),
                Bound::Anything => Made::unknown(Origin::Data),
            };
            all = Some(match all {
                Some(all) => all.or(made),
                None => made,
            });
        }
        let made = all.unwrap_or_else(|| Made::unknown(Origin::Data));
        let made = if made.many {
            self.with_loose(made, depth)
        } else {
            made
        };
        self.pending.borrow_mut().remove(&key);
        self.known.borrow_mut().insert(key, made.clone());
        Some(made)
    }
}
