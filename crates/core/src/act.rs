//! One thing a call would do: effect, target, reversibility, breadth, and what that scores.
//!
//! Every reader of the core (shell, file tools, messages) ends in acts; the assessment is the worst
//! of them. The numbers are here and nowhere else.
//!
//! Risk is a noisy-or of three factors: each adds to it and none can lower it, so one more warning
//! sign never makes a call easier.

pub mod words;

use std::borrow::Cow;
use std::rc::Rc;

use self::words::Words;
use crate::assessment::SideEffect;
use crate::knowledge::Effect;
use crate::score::Score;
use crate::shell::syntax::Span;

/// One thing a call would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// What kind of thing.
    pub effect: Effect,
    /// The program or tool that does it.
    pub program: Cow<'static, str>,
    /// The object, as text; empty if there is none.
    pub subject: String,
    /// Why it matters, where more is known than the effect says.
    pub note: &'static str,
    /// How sensitive the target is.
    pub target: Score,
    /// How hard it is to undo.
    pub reversal: Score,
    /// How much is touched.
    pub breadth: Breadth,
    /// How clear the words are.
    pub clarity: Score,
    /// How sure we are of what the program does.
    pub certainty: Score,
    /// Marks that decide more than a score does.
    pub marks: Marks,
    /// Where in the text.
    pub span: Span,
    /// The words of the command that does it, where they were asked for.
    pub words: Option<Rc<Words>>,
}

/// How much an act touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Breadth {
    /// One named thing.
    One,
    /// A few named things.
    Few,
    /// A directory with all that is in it, or all that a pattern finds.
    Tree,
    /// Whatever turns up.
    Unbounded,
}

/// What a search deletes that keeps to some of what lies in a directory.
pub(crate) const FOUND_DELETED: &str = "deletes the files that a search finds";

/// Marks of an act that decide more than a score does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each mark is its own yes or no"
)]
pub struct Marks {
    /// Catastrophic: refused, whoever says yes.
    pub floor: bool,
    /// Cannot be seen, or nothing is known about it: asks at any score.
    pub unreadable: bool,
    /// Always asks.
    pub critical: bool,
    /// Carries something out of the machine.
    pub outbound: bool,
    /// Changes or stops the firewall, or an agent's permissions.
    pub guard: bool,
    /// Moves money.
    pub money: bool,
}

/// What an effect weighs by itself.
#[derive(Clone, Copy, Debug)]
pub struct Profile {
    /// The factor "tool class".
    pub class: Score,
    /// The factor "reversibility", unless the target says otherwise.
    pub reversal: Score,
    /// The side-effect class.
    pub side_effect: SideEffect,
    /// A verb phrase: "deletes", "sends data to".
    pub verb: &'static str,
    /// The stable code of the finding.
    pub code: &'static str,
}

const fn row(
    class: u16,
    reversal: u16,
    side_effect: SideEffect,
    verb: &'static str,
    code: &'static str,
) -> Profile {
    Profile {
        class: Score::new(class),
        reversal: Score::new(reversal),
        side_effect,
        verb,
        code,
    }
}

/// Returns what `effect` weighs.
#[rustfmt::skip]
pub const fn profile(effect: Effect) -> Profile {
    use SideEffect::{Critical, External, LocalReversible as Local, ReadOnly};
    match effect {
        //                             class  undo  side effect  verb                         code
        Effect::Compute     => row(       10,    0, ReadOnly, "prints text",                   "compute"),
        Effect::Inspect     => row(       20,    0, ReadOnly, "shows",                         "inspect"),
        Effect::Read        => row(       50,    0, ReadOnly, "reads",                         "fs.read"),
        Effect::DbRead      => row(       60,    0, ReadOnly, "reads from the database",       "db.read"),
        Effect::CloudRead   => row(       80,    0, ReadOnly, "looks up",                      "cloud.read"),
        Effect::NetRead     => row(      150,    0, ReadOnly, "loads from the network",        "net.read"),
        Effect::Create      => row(      150,   50, Local,    "creates",                       "fs.create"),
        Effect::Build       => row(      150,  100, Local,    "builds or tests the project",   "build"),
        Effect::VcsLocal    => row(      150,  100, Local,    "changes the local repository",  "vcs.local"),
        Effect::Setting     => row(      250,  200, Local,    "changes a setting",             "setting"),
        Effect::Write       => row(      300,  350, Local,    "writes",                        "fs.write"),
        Effect::Project     => row(      350,  200, Local,    "runs code of the project",      "exec.project"),
        Effect::Install     => row(      350,  250, Local,    "installs packages",             "package.install"),
        Effect::Start       => row(      300,  200, Local,    "starts",                        "service.start"),
        Effect::DbWrite     => row(      400,  400, Local,    "changes rows in the database",  "db.write"),
        Effect::VcsRemote   => row(      400,  450, External, "publishes commits",             "vcs.push"),
        Effect::Interactive => row(      300,  300, Local,    "opens an interactive program",  "interactive"),
        Effect::Uninstall   => row(      400,  400, Local,    "removes packages or images",    "package.remove"),
        Effect::Kill        => row(      450,  700, Local,    "ends processes",                "process.kill"),
        Effect::Delete      => row(      400,  700, Local,    "deletes",                       "fs.delete"),
        Effect::VcsDiscard  => row(      500, 1000, Critical, "discards work",                 "vcs.discard"),
        Effect::VcsForce    => row(      600, 1000, Critical, "rewrites or deletes shared history", "vcs.force"),
        Effect::Permission  => row(      450,  450, Local,    "changes permissions of",        "fs.permission"),
        Effect::NetSend     => row(      600,  950, External, "sends data to",                 "net.send"),
        Effect::CloudWrite  => row(      650,  750, External, "changes",                       "cloud.write"),
        Effect::CloudDelete => row(      700, 1000, Critical, "deletes or stops",              "cloud.delete"),
        Effect::DbDestroy   => row(      700, 1000, Critical, "destroys data in the database", "db.destroy"),
        Effect::DbAdmin     => row(      700,  700, Critical, "changes users or settings of the database", "db.admin"),
        Effect::Publish     => row(      700,  900, Critical, "publishes",                     "publish"),
        Effect::Message     => row(      600, 1000, External, "writes to people",              "message"),
        Effect::Pay         => row(      900, 1000, Critical, "moves money",                   "money"),
        Effect::Secret      => row(      500,  900, Critical, "reveals a secret",              "secret.read"),
        Effect::Exec        => row(      800,  800, Critical, "runs code that cannot be seen", "exec.hidden"),
        Effect::Remote      => row(      600,  700, Critical, "acts on another machine",       "remote"),
        Effect::System      => row(      700,  700, Critical, "changes the system",            "system"),
        Effect::Control     => row(      700,  600, Critical, "stops or restarts a service",   "service.control"),
        Effect::Lifecycle   => row(      700,  600, Critical, "restarts, updates or stops an agent's gateway", "agent.lifecycle"),
        Effect::Persist     => row(      800,  700, Critical, "changes a file that can run code later", "persist"),
        Effect::Privilege   => row(      800,  700, Critical, "raises privileges or weakens a protection", "privilege"),
        Effect::Guard       => row(      900,  900, Critical, "changes or stops the firewall or an agent's permissions", "guard"),
        Effect::Halt        => row(      900,  900, Critical, "halts or restarts the machine", "machine.halt"),
        Effect::Wipe        => row(     1000, 1000, Critical, "wipes",                         "disk.wipe"),
        Effect::Unknown     => row(      500,  600, Local,    "does something unknown",        "unknown"),
    }
}

/// Bytes that most sentences have room in.
const SENTENCE_BYTES: usize = 96;
/// How much of each factor counts: tool class, target sensitivity, reversibility.
const WEIGHTS: [Score; 3] = [Score::new(500), Score::new(700), Score::new(700)];

impl Act {
    /// Returns an act with the usual weights of `effect`.
    pub fn new(effect: Effect, program: impl Into<Cow<'static, str>>, span: Span) -> Self {
        let marks = Marks {
            unreadable: matches!(effect, Effect::Unknown | Effect::Exec),
            critical: profile(effect).side_effect == SideEffect::Critical,
            floor: matches!(effect, Effect::Halt),
            outbound: matches!(
                effect,
                Effect::NetSend
                    | Effect::Publish
                    | Effect::Message
                    | Effect::Pay
                    | Effect::VcsRemote
                    | Effect::VcsForce
            ),
            guard: effect == Effect::Guard,
            money: effect == Effect::Pay,
        };
        Self {
            effect,
            program: program.into(),
            subject: String::new(),
            note: "",
            target: Score::ZERO,
            reversal: profile(effect).reversal,
            breadth: Breadth::One,
            clarity: Score::new(970),
            certainty: if effect == Effect::Unknown {
                Score::new(300)
            } else {
                Score::new(980)
            },
            marks,
            span,
            words: None,
        }
    }

    /// Names what it is done to.
    #[must_use]
    pub fn on(mut self, subject: impl Into<String>) -> Self {
        self.subject = subject.into();
        self
    }

    /// Says why it matters.
    #[must_use]
    pub const fn because(mut self, note: &'static str) -> Self {
        self.note = note;
        self
    }

    /// Sets how sensitive the target is.
    #[must_use]
    pub const fn target(mut self, target: Score) -> Self {
        self.target = target;
        self
    }

    /// Sets how hard it is to undo.
    #[must_use]
    pub(crate) const fn reversal(mut self, reversal: Score) -> Self {
        self.reversal = reversal;
        self
    }

    /// Returns the risk of this act alone.
    pub fn risk(&self) -> Score {
        let factors = [profile(self.effect).class, self.target, self.reversal];
        let spared = factors
            .iter()
            .zip(WEIGHTS)
            .fold(Score::ONE, |spared, (factor, weight)| {
                spared.times(weight.times(*factor).complement())
            });
        spared.complement()
    }

    /// Returns the side-effect class.
    pub fn side_effect(&self) -> SideEffect {
        if self.marks.critical || self.marks.floor {
            SideEffect::Critical
        } else {
            profile(self.effect).side_effect
        }
    }

    /// Whether it changes nothing that could not be had back.
    pub fn reversible(&self) -> bool {
        self.reversal < Score::new(600)
    }

    /// The sort key for picking the worst effect, from loosest to strictest.
    pub fn weight(&self) -> (bool, bool, bool, bool, Score) {
        (
            self.marks.floor,
            self.marks.guard || self.marks.money,
            self.side_effect() == SideEffect::Critical,
            self.marks.unreadable,
            self.risk(),
        )
    }

    /// Returns the sentence without what it names.
    pub const fn cause(&self) -> &'static str {
        if self.note.is_empty() {
            profile(self.effect).verb
        } else {
            self.note
        }
    }

    /// Returns the sentence a person reads: what, where, why it cannot be undone.
    pub fn sentence(&self) -> String {
        let mut text = String::with_capacity(SENTENCE_BYTES);
        if !self.note.is_empty() {
            text.push_str(self.note);
            if !self.subject.is_empty() {
                text.push_str(": ");
                text.push_str(&self.subject);
            }
        } else if self.effect == Effect::Unknown && !self.program.is_empty() {
            text.push_str("nothing is known about `");
            text.push_str(&self.program);
            text.push('`');
        } else if self.subject.is_empty() {
            text.push_str(without_object(self.effect));
        } else {
            text.push_str(profile(self.effect).verb);
            text.push_str(joiner(self.effect));
            text.push_str(&self.subject);
        }
        match self.breadth {
            Breadth::Tree if self.effect == Effect::Delete && self.note != FOUND_DELETED => {
                text.push_str(" with everything in it");
            }
            Breadth::Unbounded => text.push_str("; the extent is unknown"),
            Breadth::One | Breadth::Few | Breadth::Tree => {}
        }
        if self.reversal >= Score::new(950) && self.risk() > Score::new(600) {
            text.push_str("; it cannot be undone");
        }
        text
    }
}

/// Returns the verb phrase of an effect where nothing is named that it happens to.
const fn without_object(effect: Effect) -> &'static str {
    match effect {
        Effect::Inspect => "shows something and changes nothing",
        Effect::Read => "reads files",
        Effect::CloudRead => "looks something up",
        Effect::Create => "creates files",
        Effect::Write => "writes files",
        Effect::Start => "starts something",
        Effect::Delete => "deletes files",
        Effect::Permission => "changes permissions",
        Effect::NetSend => "sends data over the network",
        Effect::CloudWrite => "changes something in a service or account",
        Effect::CloudDelete => "deletes or stops something in a service or account",
        Effect::Publish => "publishes something",
        Effect::Wipe => "wipes data irrecoverably",
        Effect::Compute
        | Effect::DbRead
        | Effect::NetRead
        | Effect::Build
        | Effect::VcsLocal
        | Effect::Setting
        | Effect::Project
        | Effect::Install
        | Effect::DbWrite
        | Effect::VcsRemote
        | Effect::Interactive
        | Effect::Uninstall
        | Effect::Kill
        | Effect::VcsDiscard
        | Effect::VcsForce
        | Effect::DbDestroy
        | Effect::DbAdmin
        | Effect::Message
        | Effect::Pay
        | Effect::Secret
        | Effect::Exec
        | Effect::Remote
        | Effect::System
        | Effect::Control
        | Effect::Lifecycle
        | Effect::Persist
        | Effect::Privilege
        | Effect::Guard
        | Effect::Halt
        | Effect::Unknown => profile(effect).verb,
    }
}

/// Returns what stands between the verb and the subject.
const fn joiner(effect: Effect) -> &'static str {
    match effect {
        Effect::NetRead
        | Effect::Build
        | Effect::VcsLocal
        | Effect::Setting
        | Effect::Project
        | Effect::Install
        | Effect::DbRead
        | Effect::DbWrite
        | Effect::DbDestroy
        | Effect::DbAdmin
        | Effect::VcsRemote
        | Effect::VcsDiscard
        | Effect::VcsForce
        | Effect::Interactive
        | Effect::Uninstall
        | Effect::Kill
        | Effect::Message
        | Effect::Pay
        | Effect::Exec
        | Effect::Remote
        | Effect::System
        | Effect::Control
        | Effect::Lifecycle
        | Effect::Persist
        | Effect::Privilege
        | Effect::Guard
        | Effect::Halt
        | Effect::Secret
        | Effect::Unknown
        | Effect::Compute => ": ",
        Effect::Inspect
        | Effect::Read
        | Effect::CloudRead
        | Effect::Create
        | Effect::Write
        | Effect::Start
        | Effect::Delete
        | Effect::Permission
        | Effect::NetSend
        | Effect::CloudWrite
        | Effect::CloudDelete
        | Effect::Publish
        | Effect::Wipe => " ",
    }
}
