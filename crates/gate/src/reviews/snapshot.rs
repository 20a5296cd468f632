//! Snapshots of a file before and after a call, for the diff and for undo.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// Largest file that is kept, in bytes.
pub const SNAPSHOT_BYTES_MAX: usize = 1024 * 1024;
/// Longest difference that is shown, in bytes.
const DIFF_BYTES_MAX: usize = 64 * 1024;
/// How long is looked for the shortest difference. After that a longer one has to do.
const DIFF_TIME: Duration = Duration::from_millis(200);

/// One file before and after a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The machine it lies on.
    pub host: String,
    /// Where it lies: absolute, and no part of it is a link.
    pub path: String,
    /// As it was.
    pub before: Held,
    /// As the call leaves it.
    pub after: Held,
    /// Directories the call makes for it, the outermost first.
    pub made: Vec<String>,
}

/// What is found at a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Held {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// What is in it.
        #[serde(serialize_with = "encode", deserialize_with = "decode")]
        content: Vec<u8>,
        /// Who may do what with it.
        mode: u32,
    },
}

impl Held {
    /// Returns how many bytes it holds.
    pub const fn size(&self) -> usize {
        match self {
            Self::Absent => 0,
            Self::File { content, .. } => content.len(),
        }
    }

    const fn content(&self) -> &[u8] {
        match self {
            Self::Absent => &[],
            Self::File { content, .. } => content.as_slice(),
        }
    }
}

impl Snapshot {
    /// Returns what the call did, as a unified difference.
    pub fn diff(&self) -> String {
        diff(&self.path, &self.before, &self.after)
    }

    /// Returns what became of the file since, as a unified difference.
    pub fn diff_since(&self, now: &Held) -> String {
        diff(&self.path, &self.after, now)
    }
}

/// Returns how `path` came from `old` to `new`, for people.
fn diff(path: &str, old: &Held, new: &Held) -> String {
    let mut shown = String::new();
    let mut note = |text: String| {
        shown.push_str(&text);
        shown.push('\n');
    };
    match (old, new) {
        (Held::Absent, Held::Absent) => note(format!("{path} does not exist")),
        (Held::Absent, Held::File { mode, .. }) => note(format!("new file, mode {mode:o}")),
        (Held::File { .. }, Held::Absent) => note("file is gone".to_owned()),
        (Held::File { mode: old, .. }, Held::File { mode: new, .. }) if old != new => {
            note(format!("mode {old:o} changed to {new:o}"));
        }
        (Held::File { .. }, Held::File { .. }) => {}
    }
    let texts = (
        std::str::from_utf8(old.content()),
        std::str::from_utf8(new.content()),
    );
    let (Ok(before), Ok(after)) = texts else {
        let (old, new) = (old.size(), new.size());
        note(format!("binary: {old} bytes changed to {new} bytes"));
        return shown;
    };
    let lines = TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(before, after);
    let unified = lines.unified_diff().header(path, path).to_string();
    let end = unified.floor_char_boundary(DIFF_BYTES_MAX);
    shown.push_str(unified.get(..end).unwrap_or_default());
    let left = unified.len() - end;
    if left > 0 {
        let note = format!("\n… {left} more bytes of diff\n");
        shown.push_str(&note);
    }
    shown
}

fn encode<S: serde::Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn decode<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8], mode: u32) -> Held {
        Held::File {
            content: text.to_vec(),
            mode,
        }
    }

    #[test]
    fn a_difference_says_content_mode_and_absence() {
        let rows = [
            (
                "changed",
                file(b"a\nb\n", 0o644),
                file(b"a\nc\n", 0o644),
                "--- /p\n+++ /p\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n",
            ),
            (
                "new",
                Held::Absent,
                file(b"a\n", 0o600),
                "new file, mode 600\n--- /p\n+++ /p\n@@ -0,0 +1 @@\n+a\n",
            ),
            (
                "gone",
                file(b"a\n", 0o600),
                Held::Absent,
                "file is gone\n--- /p\n+++ /p\n@@ -1 +0,0 @@\n-a\n",
            ),
            (
                "mode",
                file(b"a\n", 0o600),
                file(b"a\n", 0o755),
                "mode 600 changed to 755\n",
            ),
            (
                "not a text",
                file(b"a\n", 0o600),
                file(b"\xff\xfe", 0o600),
                "binary: 2 bytes changed to 2 bytes\n",
            ),
        ];
        for (name, old, new, expected) in rows {
            assert_eq!(diff("/p", &old, &new), expected, "{name}");
        }
    }

    #[test]
    fn a_snapshot_survives_being_kept_byte_by_byte() {
        let bytes: Vec<u8> = (0..=255).collect();
        let snapshot = Snapshot {
            host: "here".to_owned(),
            path: "/p".to_owned(),
            before: file(&bytes, 0o4755),
            after: Held::Absent,
            made: vec!["/d".to_owned()],
        };
        let text = serde_json::to_string(&snapshot).unwrap();
        assert_eq!(serde_json::from_str::<Snapshot>(&text).unwrap(), snapshot);
    }
}
