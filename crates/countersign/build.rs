//! Links the program at a fixed address.
//!
//! A hook starts the program before every tool call. At an address of its own it would have 180 000
//! pointers to correct at every start, most of them in the tables of the judge: 4 ms instead of 1.
//! Stack, heap and libraries still lie elsewhere each time.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
