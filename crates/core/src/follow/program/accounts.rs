//! Programs that are installed for a whole account, from a registry where anybody can publish.
//!
//! What a project depends on is installed for the project, and reviewed with it. A tool that is
//! installed for the account is run by whoever types its name, in every project.

use super::Line;
use crate::act::Act;
use crate::follow::value::Arg;
use crate::follow::walk::Walk;
use crate::knowledge::Effect;
use crate::knowledge::names::{
    ACCOUNT_INSTALLS, GLOBAL_INSTALLERS, GLOBAL_OPTIONS, KNOWN_TOOL_SOURCES, KNOWN_TOOLS,
};
use crate::score::Score;

impl Walk<'_> {
    /// Judges the removal of programs from the account, and the installation of those that are not widely known.
    pub(super) fn installs_for_account(&mut self, line: &Line<'_>) {
        let program = line.name.split(' ').next().unwrap_or("");
        let given = |arg: &Arg| {
            let option = arg.text.split('=').next().unwrap_or("");
            GLOBAL_OPTIONS.contains(arg.text.as_str()) || GLOBAL_OPTIONS.contains(option)
        };
        let globally = GLOBAL_INSTALLERS.contains(program) && line.args.iter().any(given);
        if globally && line.does == Effect::Uninstall && !line.read.is_dry() {
            self.removes_for_account(line);
        }
        if line.does != Effect::Install || line.read.is_dry() {
            return;
        }
        if !globally && !ACCOUNT_INSTALLS.contains(line.name) {
            return;
        }
        let pinned = line.name.starts_with("go ");
        let mut operands = line.read.operands.iter();
        let unknown = operands.find(|operand| {
            let text = operand.text.as_str();
            // Without a version, `go install` builds what the module at hand has declared.
            let own = text.starts_with(['.', '/', '~']) || pinned && !text.contains('@');
            !own && !is_known(text)
        });
        if let Some(unknown) = unknown {
            let act = Act::new(Effect::Install, line.row.name, line.span)
                .because("installs a program for the whole account that is not widely known")
                .on(unknown.shown());
            self.note(act.target(Score::new(700)));
        }
    }

    /// Judges the removal of programs that every project of the account may use. What this session has
    /// installed of the project itself is its own to remove.
    fn removes_for_account(&mut self, line: &Line<'_>) {
        let operands: Vec<&Arg> = line.read.operands.clone();
        let other = operands
            .into_iter()
            .find(|operand| operand.vague() || !self.is_own_program(&operand.text));
        if let Some(other) = other {
            let act = Act::new(Effect::Uninstall, line.row.name, line.span)
                .because("removes a program of the whole account")
                .on(other.shown());
            self.note(act.target(Score::new(700)));
        }
    }
}

/// Whether a package, with or without a version, is a tool that many people use.
pub(super) fn is_known(package: &str) -> bool {
    let scoped = usize::from(package.starts_with('@'));
    let behind = package.get(scoped..).unwrap_or("");
    let end = behind.find(['@', '[', '=', '<', '>', '~', '!', ':']);
    let name = package
        .get(..end.map_or(package.len(), |end| end + scoped))
        .unwrap_or(package);
    KNOWN_TOOLS.contains(name)
        || KNOWN_TOOL_SOURCES
            .iter()
            .any(|source| name.starts_with(source))
}
