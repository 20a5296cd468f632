//! Questions about calls: how they are answered, change, expire and are limited.

pub(crate) mod admission;
pub mod answer;
pub(crate) mod change;
pub mod comparing;
pub(crate) mod definitions;
pub(crate) mod denials;
mod editing;
pub mod quota;
pub(crate) mod recipients;
pub mod smart;

use std::sync::{Arc, OnceLock};

use crate::base::Base;
use admission::Admission;
use denials::Denials;
use smart::Deputy;

/// Questions about calls.
#[derive(Debug)]
pub struct Approvals {
    base: Arc<Base>,
    pub(crate) admission: Admission,
    denials: Denials,
    deputy: OnceLock<Arc<dyn Deputy>>,
}

impl Approvals {
    pub(crate) fn new(base: Arc<Base>) -> Self {
        Self {
            base,
            admission: Admission::default(),
            denials: Denials::default(),
            deputy: OnceLock::new(),
        }
    }
}
