//! Policies per directory, cached.
//!
//! `check` judges many calls of the same few directories; their files are read once.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use countersign_core::policy::Policy;

use super::{Home, load, project_file, tighten};
use crate::complaint::Complaint;

/// Directories whose policy is remembered; more than a session ever works in.
const DIRECTORIES_MAX: usize = 1024;

/// A cache of policies by directory.
#[derive(Debug)]
pub(crate) struct PolicyCache {
    /// `None`: no configuration is read.
    home: Option<Home>,
    base: Arc<Policy>,
    known: HashMap<String, Arc<Policy>>,
}

impl PolicyCache {
    /// Returns policies that are the defaults everywhere.
    pub(crate) fn defaults() -> Self {
        Self {
            home: None,
            base: Arc::new(Policy::default()),
            known: HashMap::new(),
        }
    }

    /// Returns the policies of `home` and of the projects calls are made from.
    pub(crate) fn of(home: Home) -> Result<Self, Complaint> {
        let base = Arc::new(load(&home)?);
        Ok(Self {
            home: Some(home),
            base,
            known: HashMap::new(),
        })
    }

    /// Returns policies with the same home file that is not read again.
    pub(crate) fn share(&self) -> Self {
        Self {
            home: self.home.clone(),
            base: Arc::clone(&self.base),
            known: HashMap::new(),
        }
    }

    /// Returns the policy for a call from `cwd`.
    pub(crate) fn at(&mut self, cwd: Option<&str>) -> Result<Arc<Policy>, Complaint> {
        let (Some(home), Some(cwd)) = (&self.home, cwd) else {
            return Ok(Arc::clone(&self.base));
        };
        if let Some(policy) = self.known.get(cwd) {
            return Ok(Arc::clone(policy));
        }
        let policy = match project_file(Path::new(cwd), home) {
            None => Arc::clone(&self.base),
            Some(file) => Arc::new(tighten(self.base.as_ref(), &file)?),
        };
        if self.known.len() >= DIRECTORIES_MAX {
            self.known.clear();
        }
        self.known.insert(cwd.to_owned(), Arc::clone(&policy));
        Ok(policy)
    }
}
