//! Keys, people and browsers that are signed in.

use countersign_core::id::KeyId;
use serde::{Deserialize, Serialize};

use crate::principal::{Principal, Role};
use crate::view::Page;
use crate::{Gate, GateError};

/// A key as it is made: the only time its secret is seen.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub struct NewKey {
    /// The key.
    pub id: String,
    /// Its secret.
    pub key: String,
    /// Its role.
    #[schema(value_type = String)]
    pub role: Role,
    /// Its name.
    pub name: String,
}

/// A key as people see it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct KeyView {
    /// The key.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its role.
    #[schema(value_type = String)]
    pub role: Role,
    /// When it was made, in seconds.
    pub created_at: f64,
    /// Who made it.
    pub created_by: String,
    /// When it was made useless, in seconds.
    pub revoked_at: Option<f64>,
}

/// A person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
pub struct PersonView {
    /// The name answers are recorded under.
    pub name: String,
    /// What the person may do.
    pub roles: Vec<String>,
    /// Accounts, by channel.
    #[serde(default)]
    pub accounts: std::collections::BTreeMap<String, String>,
}

/// A browser that was signed in: the only time the secret of its cookie is seen.
#[derive(Debug)]
pub struct NewLogin {
    /// The cookie's secret.
    pub secret: String,
    /// Who is signed in.
    pub principal: Principal,
}

/// A browser that is signed in, as people see it.
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct LoginView {
    /// The login.
    pub id: String,
    /// Who.
    pub name: String,
    /// Since when, in seconds.
    pub created_at: f64,
    /// Until when, in seconds.
    pub expires_at: f64,
}

impl Gate {
    /// Returns whose secret this is.
    pub async fn authenticate(&self, secret: &str) -> Result<Principal, GateError> {
        let _ = (secret, &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Makes a key; the secret is returned once and kept only as a hash. `by` is who made it.
    pub async fn create_key(&self, by: &str, name: &str, role: Role) -> Result<NewKey, GateError> {
        let _ = (by, name, role, &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Returns all keys.
    pub async fn keys(&self, who: &Principal) -> Result<Page<KeyView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Makes a key useless, and every browser that was signed in with it.
    pub async fn revoke_key(&self, who: &Principal, id: &str) -> Result<KeyView, GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Returns the people who may answer.
    pub async fn people(&self, who: &Principal) -> Result<Page<PersonView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "person",
            id: String::new(),
        })
    }

    /// Adds a person, or changes what is known of one.
    pub async fn put_person(
        &self,
        who: &Principal,
        person: PersonView,
    ) -> Result<PersonView, GateError> {
        let _ = (who, person, &self.inner);
        Err(GateError::NotFound {
            kind: "person",
            id: String::new(),
        })
    }

    /// Removes a person: nobody answers under that name any more.
    pub async fn remove_person(&self, who: &Principal, name: &str) -> Result<(), GateError> {
        let _ = (who, name, &self.inner);
        Err(GateError::NotFound {
            kind: "person",
            id: String::new(),
        })
    }

    /// Whether there is any live approver: a key of that role, or a person with an account in a chat.
    pub async fn has_approver(&self) -> Result<bool, GateError> {
        let _ = ((), &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Returns a one-time code with which a browser signs in as `key`, for ten minutes.
    pub async fn login_code(&self, key: &KeyId) -> Result<String, GateError> {
        let _ = (key, &self.inner);
        Err(GateError::NotFound {
            kind: "key",
            id: String::new(),
        })
    }

    /// Turns a one-time code into a browser that is signed in: the secret of its cookie.
    pub async fn redeem_login_code(&self, code: &str) -> Result<NewLogin, GateError> {
        let _ = (code, &self.inner);
        Err(GateError::NotFound {
            kind: "code",
            id: String::new(),
        })
    }

    /// Returns who a browser is signed in as.
    pub async fn authenticate_login(&self, secret: &str) -> Result<Principal, GateError> {
        let _ = (secret, &self.inner);
        Err(GateError::NotFound {
            kind: "login",
            id: String::new(),
        })
    }

    /// Returns the browsers that are signed in.
    pub async fn logins(&self, who: &Principal) -> Result<Page<LoginView>, GateError> {
        let _ = (who, &self.inner);
        Err(GateError::NotFound {
            kind: "login",
            id: String::new(),
        })
    }

    /// Signs a browser out.
    pub async fn revoke_login(&self, who: &Principal, id: &str) -> Result<(), GateError> {
        let _ = (who, id, &self.inner);
        Err(GateError::NotFound {
            kind: "login",
            id: String::new(),
        })
    }
}
