//! Which files a patch touches, and how.

/// What a patch does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It is created or changed.
    Write,
    /// It is deleted.
    Delete,
}

/// Most files that are listed: more than a reader looks up, so that it notices.
const FILES_MAX: usize = 300;

/// What a patch says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Patch {
    /// The files it touches.
    pub(super) files: Vec<(String, Change)>,
    /// The lines it adds.
    pub(super) added: String,
}

/// Headers that name one file by themselves.
const HEADERS: &[(&str, Change)] = &[
    ("*** Add File:", Change::Write),
    ("*** Update File:", Change::Write),
    ("*** Delete File:", Change::Delete),
    ("*** Move to:", Change::Write),
    ("rename from ", Change::Delete),
    ("rename to ", Change::Write),
    ("copy to ", Change::Write),
];

/// Reads a unified diff, a diff of git, or a patch with `***` headers.
///
/// A line that merely looks like a header names one file too many, which can only make the patch
/// look worse.
pub(super) fn read(text: &str) -> Patch {
    let mut patch = Patch::default();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let trimmed = line.trim_start();
        if let Some((path, change)) = HEADERS
            .iter()
            .find_map(|(header, change)| Some((trimmed.strip_prefix(header)?, *change)))
        {
            patch.touch(path.trim(), change);
            continue;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            // Only a header without hunks (a mode, a rename, a binary) needs this line.
            if let Some((_, new)) = names.rsplit_once(" b/") {
                patch.touch(new, Change::Write);
            }
            continue;
        }
        if let Some(old) = line.strip_prefix("--- ")
            && let Some(new) = lines.peek().and_then(|next| next.strip_prefix("+++ "))
        {
            let (old, new) = (file_name(old), file_name(new));
            if new == "/dev/null" {
                patch.touch(old, Change::Delete);
            } else {
                patch.touch(new, Change::Write);
            }
            lines.next();
            continue;
        }
        if let Some(added) = line.strip_prefix('+') {
            patch.added.push_str(added);
            patch.added.push('\n');
        }
    }
    patch
}

impl Patch {
    fn touch(&mut self, path: &str, change: Change) {
        if self.files.len() >= FILES_MAX {
            return;
        }
        let file = (path.trim_matches('"').to_owned(), change);
        if !path.is_empty() && path != "/dev/null" && !self.files.contains(&file) {
            self.files.push(file);
        }
    }
}

/// Returns the file a `---` or `+++` line names: without its time, its quotes and git's first letter.
fn file_name(text: &str) -> &str {
    let name = text
        .split('\t')
        .next()
        .unwrap_or("")
        .trim()
        .trim_matches('"');
    name.strip_prefix("a/")
        .or_else(|| name.strip_prefix("b/"))
        .unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = (
        &'static str,
        &'static str,
        &'static [(&'static str, Change)],
    );

    #[test]
    fn every_format_names_its_files() {
        let rows: &[Row] = &[
            (
                "update",
                "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** End Patch",
                &[("src/a.rs", Change::Write)],
            ),
            (
                "add and delete",
                "*** Add File: x\n+1\n*** Delete File: /etc/y",
                &[("x", Change::Write), ("/etc/y", Change::Delete)],
            ),
            (
                "move",
                "*** Update File: a\n*** Move to: ~/.bashrc",
                &[("a", Change::Write), ("~/.bashrc", Change::Write)],
            ),
            (
                "unified",
                "--- a/x.c\t2020\n+++ b/x.c\t2020\n@@ -1 +1 @@\n-a\n+b",
                &[("x.c", Change::Write)],
            ),
            (
                "unified, absolute",
                "--- /etc/hosts\n+++ /etc/hosts\n@@",
                &[("/etc/hosts", Change::Write)],
            ),
            (
                "deleted",
                "--- a/x\n+++ /dev/null\n@@",
                &[("x", Change::Delete)],
            ),
            (
                "git mode only",
                "diff --git a/run b/run\nold mode 100644\nnew mode 100755",
                &[("run", Change::Write)],
            ),
            ("nothing", "hello", &[]),
        ];
        for (name, text, want) in rows {
            let files = read(text).files;
            let files: Vec<(&str, Change)> = files
                .iter()
                .map(|(path, change)| (path.as_str(), *change))
                .collect();
            assert_eq!(files, *want, "{name}");
        }
    }

    #[test]
    fn added_lines_are_kept() {
        assert_eq!(read("--- a/x\n+++ b/x\n@@\n-old\n+new\n").added, "new\n");
    }
}
