//! Runs one fuzz target under libFuzzer, which mutates towards code it has not seen yet.
//!
//! `COUNTERSIGN_FUZZ_TARGET` names the target; the arguments are libFuzzer's. Separate from
//! `countersign-fuzz`, which needs no C++ compiler and no flags but knows nothing of coverage.
#![no_main]

use std::sync::LazyLock;

use countersign_fuzz::{Target, run};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("COUNTERSIGN_FUZZ_TARGET").unwrap_or_default();
    let target = Target::ALL.into_iter().find(|target| target.name() == name);
    target.unwrap_or_else(|| panic!("COUNTERSIGN_FUZZ_TARGET: there is no target `{name}`"))
});

fuzz_target!(|data: &[u8]| {
    if let Some(broken) = run(*TARGET, &String::from_utf8_lossy(data)) {
        panic!("{broken}");
    }
});
