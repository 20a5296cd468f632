//! Parses a patch into the files it changes.

/// What a patch does to one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// It is created or changed.
    Write,
    /// It is deleted.
    Delete,
}

/// Most files that are listed: more than a reader looks up, so that it notices.
const FILES_MAX: usize = 300;

/// What a patch says.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Patch {
    /// The files it touches.
    pub(crate) files: Vec<(String, Change)>,
    /// The lines it adds.
    pub(crate) added: String,
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
pub(crate) fn read(text: &str) -> Patch {
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

/// Returns the content of a file that the patch adds with a `***` header.
pub(crate) fn added_file(text: &str, path: &str) -> Option<String> {
    let mut lines = text.lines();
    let adds = |line: &str| {
        line.trim_start()
            .strip_prefix("*** Add File:")
            .map(str::trim)
            == Some(path)
    };
    lines.by_ref().find(|line| adds(line))?;
    let mut content = String::new();
    for line in lines {
        let Some(added) = line.strip_prefix('+') else {
            return line.starts_with("***").then_some(content);
        };
        content.push_str(added);
        content.push('\n');
    }
    Some(content)
}

/// Returns `base` after the part of the patch that is about `path`; `None` if that cannot be said for
/// certain.
pub(crate) fn applied(text: &str, path: &str, base: &str) -> Option<String> {
    let mut content = base.to_owned();
    let mut hunk: Option<(String, String)> = None;
    let mut about = false;
    let mut lines = text.lines().chain(["*** End"]).peekable();
    while let Some(line) = lines.next() {
        // A line that is taken out may look like the header of the next file.
        let headed = lines.peek().is_some_and(|next| next.starts_with("+++ "));
        if line.starts_with("--- ") && !headed {
            return None;
        }
        let begins =
            line.starts_with("*** ") || line.starts_with("--- ") || line.starts_with("diff ");
        if begins || line.starts_with("@@") {
            if let Some((old, new)) = hunk.take() {
                if old.is_empty() || content.matches(&old).take(2).count() != 1 {
                    return None;
                }
                content = content.replacen(&old, &new, 1);
            }
            if line.starts_with("*** Move to:") && about {
                return None;
            }
            if begins && !line.starts_with("*** End of File") {
                about = line.strip_prefix("*** Update File:").map(str::trim) == Some(path);
            } else if about {
                hunk = Some((String::new(), String::new()));
            }
            continue;
        }
        if line.starts_with("+++ ") && hunk.is_none() {
            about = line.strip_prefix("+++ ").map(file_name) == Some(path);
            continue;
        }
        if about && hunk.is_none() {
            hunk = Some((String::new(), String::new()));
        }
        if let (true, Some((old, new))) = (about, &mut hunk) {
            let (mark, rest) = line.split_at_checked(1).unwrap_or((" ", ""));
            match mark {
                "-" => add_line(old, rest),
                "+" => add_line(new, rest),
                " " => {
                    add_line(old, rest);
                    add_line(new, rest);
                }
                _ => return None,
            }
        }
    }
    (content != base).then_some(content)
}

fn add_line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
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
    fn a_patch_on_a_known_file_gives_a_known_file() {
        let codex = "*** Begin Patch\n*** Update File: a.py\n@@\n x\n-y\n+z\n*** End Patch";
        assert_eq!(applied(codex, "a.py", "x\ny\n").as_deref(), Some("x\nz\n"));
        let unified = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n";
        assert_eq!(
            applied(unified, "a.py", "x\ny\n").as_deref(),
            Some("x\nz\n")
        );
        assert_eq!(applied(unified, "a.py", "q\n"), None, "it does not fit");
        assert_eq!(
            applied(unified, "a.py", "x\ny\nx\ny\n"),
            None,
            "it fits twice"
        );
        let added = "*** Begin Patch\n*** Add File: b.py\n+one\n+two\n*** End Patch";
        assert_eq!(added_file(added, "b.py").as_deref(), Some("one\ntwo\n"));
        assert_eq!(added_file(codex, "a.py"), None);
    }

    #[test]
    fn added_lines_are_kept() {
        assert_eq!(read("--- a/x\n+++ b/x\n@@\n-old\n+new\n").added, "new\n");
    }
}
