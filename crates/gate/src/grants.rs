//! Standing permissions: what people see of them, and taking them back.

use countersign_core::grant::Scope;

use crate::principal::Principal;
use crate::view::{GrantView, Page, ScopeView};
use crate::{Gate, GateError};

impl Gate {
    /// Returns grants, the newest first; only live ones unless asked for all.
    pub async fn grants(&self, who: &Principal, all: bool) -> Result<Page<GrantView>, GateError> {
        let _ = (who, all, &self.inner);
        Err(GateError::NotFound {
            kind: "grant",
            id: String::new(),
        })
    }

    /// Takes a grant back.
    pub async fn revoke_grant(&self, who: &Principal, id: &str) -> Result<GrantView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "grant",
            id: String::new(),
        })
    }

    /// Returns the grants that could be left for an approval, or `scope` alone, each with how many of the last 500 calls of that key it would have matched.
    pub async fn preview(
        &self,
        who: &Principal,
        approval: &str,
        scope: Option<Scope>,
    ) -> Result<Vec<ScopeView>, GateError> {
        let _ = (who, approval, scope, &self.inner);
        Err(GateError::NotFound {
            kind: "approval",
            id: String::new(),
        })
    }
}
