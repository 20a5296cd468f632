//! Whose account something came from: Slack is asked, and nothing in a payload is believed.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::api::ApiError;
use super::wire::{User, UserInfo};
use super::{Slack, locked};
use crate::press::{Clicker, Standing};

/// How long what Slack says of an account counts. Somebody whose account is closed can press so long.
const USER_WITHIN: Duration = Duration::from_secs(5);
/// Most accounts that are remembered.
const USERS_MAX: usize = 4096;

impl Slack {
    /// Returns who did it; Slack is asked about the account once it is known that somebody lists it.
    /// `team` is the workspace where it was done: another one's people are not ours, even if we can
    /// see them in a channel that is shared.
    pub(super) async fn clicker(&self, account: &str, team: Option<&str>) -> Clicker {
        let standing = match self.known().await {
            Ok(known) if team == Some(known.auth.team_id.as_str()) => Standing::Unasked,
            Ok(_) => Standing::Foreign,
            Err(_) => Standing::Unknown,
        };
        Clicker {
            account: account.to_owned(),
            standing,
        }
    }

    /// Asks Slack what kind of account it is.
    pub(super) async fn looked_at(&self, account: &str) -> Standing {
        self.standing(account, self.user_lately(account).await)
            .await
    }

    /// Returns how it stands with an account that Slack describes so.
    pub(super) async fn standing(&self, account: &str, user: Result<User, ApiError>) -> Standing {
        let (known, user) = match (self.known().await, user) {
            (Ok(known), Ok(user)) => (known, user),
            (_, Err(error)) | (Err(error), _) => {
                tracing::warn!(%error, "an account could not be looked at");
                return Standing::Unknown;
            }
        };
        let enterprise = user.enterprise_user.as_ref().map(|it| &it.enterprise_id);
        let is_of_enterprise =
            enterprise.is_some() && enterprise == known.auth.enterprise_id.as_ref();
        let is_ours = user.team_id == known.auth.team_id || is_of_enterprise;
        match user {
            User { id, .. } if id != account => Standing::Unknown,
            User { is_stranger, .. } if is_stranger || !is_ours => Standing::Foreign,
            User { is_bot: true, .. } => Standing::Bot,
            User { id, .. } if id == "USLACKBOT" => Standing::Bot,
            User { deleted: true, .. } => Standing::Closed,
            User { .. } => Standing::Person,
        }
    }

    pub(super) async fn user(&self, account: &str) -> Result<User, ApiError> {
        let args = [("user", account)];
        let info: UserInfo = self.inner.api.call("users.info", &args).await?;
        Ok(info.user)
    }

    /// Returns an account as Slack described it some seconds ago, or now. Anybody can press as often as
    /// they like, and Slack lets us ask only so often for all of them: whoever presses again waits for
    /// what was asked, and nobody else does.
    pub(super) async fn user_lately(&self, account: &str) -> Result<User, ApiError> {
        let seen = {
            let mut users = locked(&self.inner.users);
            if users.len() > USERS_MAX {
                users.clear();
            }
            Arc::clone(users.entry(account.to_owned()).or_default())
        };
        let mut seen = seen.lock().await;
        if let Some((at, user)) = &*seen
            && at.elapsed() < USER_WITHIN
        {
            return Ok(user.clone());
        }
        let user = self.user(account).await?;
        *seen = Some((Instant::now(), user.clone()));
        Ok(user)
    }
}
