//! Compares the files a waiting call would change with what they hold now, for approvers.
//!
//! Whoever can look at the disk is told which files to read and hands back what they hold. Nothing
//! of it is stored, and nobody but approvers gets it: an agent must not read files by asking to
//! write them.

use countersign_core::card::without_secrets;
use countersign_core::compare::{comparable, content_after};
use countersign_core::display::{line, unfenced};

use crate::GateError;
use crate::approvals::Approvals;
use crate::approvals::answer::may_answer;
use crate::base::principal::Principal;
use crate::base::settings::redacts;
use crate::records::stored::StoredApproval;
use crate::records::view::{FileChange, FileChanges};

/// The files of a call that are to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparable {
    /// The directory the call is made from.
    pub cwd: Option<String>,
    /// The files, as [`countersign_core::place::Place`] spells them.
    pub paths: Vec<String>,
}

/// A file as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The file.
    pub path: String,
    /// Its text, `None` if there is no such file, or why it could not be read.
    pub now: Result<Option<String>, String>,
}

impl Approvals {
    /// Returns which files of the question `id` are to be read.
    pub async fn comparable(&self, who: &Principal, id: &str) -> Result<Comparable, GateError> {
        let stored = self.to_compare(who, id).await?;
        let call = stored.call.tool_call(None);
        let cwd = call.cwd.clone();
        let ruleset = self.base.policies.at(cwd.as_deref());
        let ruleset = ruleset.map_err(GateError::Policy)?;
        let paths = comparable(&ruleset.policy, &call, &stored.call.bound);
        Ok(Comparable { cwd, paths })
    }

    /// Returns how the call of the question `id` would change the files that were found.
    pub async fn compared(
        &self,
        who: &Principal,
        id: &str,
        found: Vec<Found>,
    ) -> Result<FileChanges, GateError> {
        let stored = self.to_compare(who, id).await?;
        let call = stored.call.tool_call(None);
        let ruleset = self.base.policies.at(call.cwd.as_deref());
        let redacts = redacts(&ruleset.map_err(GateError::Policy)?.policy);
        let shown = |text: &str| unfenced(&without_secrets(text, redacts));
        let files = found.into_iter().map(|Found { path, now }| {
            let (before, after, why) = match now {
                Err(why) => (None, None, Some(line(&why))),
                Ok(now) => match content_after(&call, &path, now.as_deref()) {
                    Some(after) => (now, Some(after), None),
                    None => (None, None, Some(UNFIT.to_owned())),
                },
            };
            FileChange {
                path: line(&path),
                before: before.as_deref().map(shown),
                after: after.as_deref().map(shown),
                why,
            }
        });
        Ok(FileChanges {
            files: files.collect(),
            read_at: self.base.clock.now().as_seconds(),
        })
    }

    async fn to_compare(&self, who: &Principal, id: &str) -> Result<StoredApproval, GateError> {
        may_answer(who)?;
        let stored = self.base.stored_approval(id).await?;
        if stored.call.key == who.key || stored.call.is_hidden_from(&who.name) {
            return Err(GateError::Forbidden("another person answers this"));
        }
        Ok(stored)
    }
}

/// Said where the edit does not fit the file as it is now.
const UNFIT: &str =
    "the file does not hold the text that this call would replace, or holds it several times";
