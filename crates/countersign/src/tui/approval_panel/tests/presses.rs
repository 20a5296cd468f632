//! What keys do.
