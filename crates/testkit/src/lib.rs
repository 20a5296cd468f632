//! Shared test servers. Not part of the product.

mod background;
pub mod discord;
pub mod matrix;
pub mod mattermost;
pub mod model;
pub mod ntfy;
pub mod postgres;
pub mod push;
pub mod relay;
mod serving;
mod skipped;
pub mod slack;
pub mod smtp;
pub mod telegram;

pub use skipped::{SKIPS_FILE, skipped};

// Not beside `skipped`: the tests of the core include that file.
#[cfg(test)]
mod tests {
    use std::process::Command;

    #[test]
    #[ignore = "the test below starts it, as a process of its own"]
    fn one_that_is_skipped() {
        crate::skipped("there is no moon");
    }

    #[test]
    fn a_skip_in_a_passing_test_is_seen_and_counted() {
        let line = "skipped: tests::one_that_is_skipped: there is no moon\n";
        let file = std::env::temp_dir().join(format!("countersign-skips-{}", std::process::id()));
        let ran = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "tests::one_that_is_skipped"])
            // With one thread the harness runs tests in its own, which has another name.
            .arg("--test-threads=2")
            .env(crate::SKIPS_FILE, &file)
            .output()
            .unwrap();
        let noted = std::fs::read_to_string(&file).unwrap();
        std::fs::remove_file(&file).unwrap();
        assert!(ran.status.success());
        assert_eq!(noted, line);
        assert!(String::from_utf8_lossy(&ran.stderr).contains(line));
    }
}
