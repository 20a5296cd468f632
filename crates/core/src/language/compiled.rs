//! Sources of compiled languages that a call writes and then runs: Go, C, C++, Rust, Java.
//!
//! They are not parsed. A table lists the names by which such a program runs, deletes, writes,
//! connects or loads something; a source that has none of them computes and prints. A name counts
//! wherever it stands, in comments and texts, too, because a reader that skips those can be made to
//! skip code. Whatever puts names together (macros that paste, escapes in names) hides the source.

use super::{Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG};
use crate::knowledge::names::{
    COMPILED_CALLS, COMPILED_DELETING, COMPILED_ENDINGS, COMPILED_HIDING, COMPILED_LOADING,
    COMPILED_REACHING, COMPILED_RUNNERS, COMPILED_SHELLS, COMPUTING_HEADERS, COMPUTING_PACKAGES,
    OUTSIDE_C, OUTSIDE_GO, OUTSIDE_JAVA, OUTSIDE_RUST, TELLING_COMMANDS,
};

/// Why such a source stays hidden.
const REACHES: &str = "a program that runs, changes, sends or loads something";
/// Why such a source is not known to the last name.
const ORDINARY: &str = "a program of a compiled language";

/// Endings of the languages whose sources are read by a preprocessor first.
const C_ENDINGS: [&str; 4] = ["c", "cc", "cpp", "cxx"];

/// Commands in one source that are judged.
const COMMANDS_MAX: usize = 16;

/// Whether the file at `path` is a source of a compiled language.
pub(crate) fn is_source(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, end)| COMPILED_ENDINGS.contains(end))
}

/// Returns what the source at `path` was seen to do, if it is one of a compiled language.
pub(crate) fn read(path: &str, text: &str) -> Option<Reading> {
    let (_, end) = path.rsplit_once('.')?;
    if !COMPILED_ENDINGS.contains(end) {
        return None;
    }
    if text.len() > FRAGMENT_BYTES_MAX {
        return Some(Reading::hidden(TOO_LONG));
    }
    // A line that goes on may end in the middle of a name.
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let mut reading = Reading::default();
    reading.wonder(ORDINARY);
    let escapes = end != "go" && end != "rs" && (text.contains("\\u") || text.contains("\\U"));
    let hides = |sign: &str| text.contains(sign);
    if escapes || COMPILED_HIDING.iter().any(hides) || COMPILED_LOADING.iter().any(hides) {
        reading.hide(REACHES);
    }
    for (name, after) in names(&text) {
        let called = after
            .trim_start()
            .starts_with(['(', ')', ';', ',', '/', '}', '!', '<', ':']);
        if COMPILED_REACHING.contains(name) || called && COMPILED_CALLS.contains(name) {
            reading.hide(REACHES);
        }
        if reading.deeds.len() < COMMANDS_MAX
            && let Some(argument) = first_text(after)
        {
            if COMPILED_SHELLS.contains(name) {
                reading.see(Deed::Shell(argument));
            } else if COMPILED_DELETING.contains(name) {
                reading.see(Deed::DeleteTree(argument));
            }
        }
        if COMPILED_RUNNERS.contains(name)
            && reading.deeds.len() < COMMANDS_MAX
            && let Some(command) = command_after(after)
        {
            reading.see(Deed::Run(command));
        }
    }
    for command in texts(&text)
        .filter(|text| is_command(text))
        .take(COMMANDS_MAX)
    {
        reading.see(Deed::MayRun(command.to_owned()));
    }
    for path in texts(&text).filter(|text| is_path(text)).take(COMMANDS_MAX) {
        reading.see(Deed::ReadFile(path.to_owned()));
    }
    Some(reading)
}

/// Returns what a source outside the workspace was seen to do, where nobody reviews it: it stays
/// hidden unless all it loads is known to compute.
pub(crate) fn read_outside(path: &str, text: &str) -> Option<Reading> {
    let mut reading = read(path, text)?;
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    let text = text.replace("\\\r\n", "").replace("\\\n", "");
    let in_c = C_ENDINGS.contains(&end);
    let further = match end {
        "go" => &OUTSIDE_GO,
        "rs" => &OUTSIDE_RUST,
        "java" => &OUTSIDE_JAVA,
        _ => &OUTSIDE_C,
    };
    let reaches = |name: &str| further.contains(name) || in_c && COMPILED_CALLS.contains(name);
    let loads = match end {
        "go" => !packages_compute(&text),
        _ if in_c => !text.lines().all(directive_computes),
        _ => false,
    };
    if loads || names(&text).any(|(name, _)| reaches(name)) {
        reading.hide(REACHES);
    }
    Some(reading)
}

/// Whether a line of C is no directive, or one that loads and renames nothing unknown. A sign that
/// stands elsewhere may become a directive once comments are gone.
fn directive_computes(line: &str) -> bool {
    if !line.contains('#') {
        return true;
    }
    let Some(directive) = line.trim_start().strip_prefix('#') else {
        return false;
    };
    let directive = directive.trim();
    let (word, rest) = directive
        .split_once(char::is_whitespace)
        .unwrap_or((directive, ""));
    match word {
        _ if rest.contains(['#', '\\']) || rest.contains("/*") => false,
        "include" => {
            let header = rest
                .trim()
                .strip_prefix('<')
                .and_then(|it| it.strip_suffix('>'));
            header.is_some_and(|header| COMPUTING_HEADERS.contains(header))
        }
        // A macro may give another name to what it stands for.
        "define" => {
            let value = rest.trim().split_once(char::is_whitespace);
            value.is_none_or(|(_, value)| {
                value
                    .trim()
                    .bytes()
                    .all(|byte| byte.is_ascii_digit() || b"-.()*+ ".contains(&byte))
            })
        }
        "ifdef" | "ifndef" | "endif" | "else" | "undef" => true,
        _ => false,
    }
}

/// Whether all packages that a source of Go loads compute, under their own names.
fn packages_compute(text: &str) -> bool {
    names(text)
        .filter(|(name, _)| *name == "import")
        .all(|(_, after)| {
            let after = after.trim_start();
            let specs = match after.strip_prefix('(') {
                Some(inside) => inside.split(')').next(),
                None => after.split(['\n', ';']).next(),
            };
            // Between the quotes stand packages; anything else is another name or a comment.
            let mut parts = specs.unwrap_or("(").split(['"', '`']);
            let mut computes = true;
            while let Some(between) = parts.next() {
                computes &= between
                    .trim_matches([' ', '\t', '\r', '\n', ';'])
                    .is_empty();
                if let Some(package) = parts.next() {
                    computes &= COMPUTING_PACKAGES.contains(package);
                }
            }
            computes
        })
}

/// Returns every name in a text, with what follows it.
fn names(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|letter| !is_letter(letter));
        let end = rest.find(|letter| !is_letter(letter)).unwrap_or(rest.len());
        let (name, after) = rest.split_at_checked(end)?;
        rest = after;
        (!name.is_empty()).then_some((name, after))
    })
}

/// Returns the text that is the first argument of a call, as it stands.
fn first_text(after: &str) -> Option<String> {
    let argument = after.trim_start().strip_prefix('(')?.trim_start();
    let (text, _) = argument.strip_prefix('"')?.split_once('"')?;
    (!text.contains('\\')).then(|| text.to_owned())
}

/// Returns the texts of the statement that goes on with `after`, if the first is a program whose command
/// lines are known for what they are: `Command::new("rm").args(["-rf", "a"])`.
fn command_after(after: &str) -> Option<Vec<String>> {
    const STATEMENT_BYTES_MAX: usize = 512;
    let end = after
        .char_indices()
        .map(|(at, _)| at)
        .take_while(|at| *at <= STATEMENT_BYTES_MAX);
    let statement = after.get(..end.last()?)?;
    let mut parts = statement.split('"');
    let mut words = Vec::new();
    while let (Some(between), Some(text)) = (parts.next(), parts.next()) {
        let ends = between.contains(';') || between.trim_end().contains("\n\n");
        if ends || text.contains('\\') {
            break;
        }
        words.push(text.to_owned());
    }
    let first = words.first()?;
    (TELLING_COMMANDS.contains(first.as_str()) && words.len() > 1).then_some(words)
}

/// Whether a text is a command line that is known for what it is.
fn is_command(text: &str) -> bool {
    let mut words = text.split_whitespace();
    let first = words.next().unwrap_or_default();
    let acts = |word: &str| word.starts_with(['-', '/', '~']) || word.contains("://");
    TELLING_COMMANDS.contains(first) && words.any(acts) && !text.contains(['\\', '\n', '%', '{'])
}

/// Returns what stands between quotes, whichever of them open a text.
fn texts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['"', '`'])
}

/// Whether a text is the path of a file that may be secret.
fn is_path(text: &str) -> bool {
    let begins = text.starts_with(['/', '~']) || text.contains("/.");
    begins && text.len() > 1 && !text.contains([' ', '\n', '%', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hidden(path: &str, text: &str) -> bool {
        read(path, text).unwrap().hidden.is_some()
    }

    #[test]
    fn a_source_that_computes_and_prints_is_ordinary() {
        for (path, text) in [
            (
                "a.go",
                "package main\nimport \"fmt\"\nfunc main() { fmt.Println(1, \"\\u00e9\") }",
            ),
            (
                "a.c",
                "#include <stdio.h>\n/* the file system is fine */\nint main(void) { puts(\"x\"); return 0; }",
            ),
            (
                "a.rs",
                "fn main() { let v: Vec<u8> = vec![1]; println!(\"{v:?}\"); }",
            ),
            (
                "A.java",
                "class A { public static void main(String[] a) { System.out.println(1); } }",
            ),
            (
                "a.go",
                "package main\nimport \"example.org/lib/detect\"\nfunc main() { detect.New().Run() }",
            ),
        ] {
            assert!(!hidden(path, text), "{text}");
        }
        assert_eq!(read("a.py", "print(1)"), None);
        assert_eq!(read("Makefile", "all:"), None);
    }

    #[test]
    fn a_source_that_reaches_further_stays_hidden() {
        for (path, text) in [
            (
                "a.go",
                "import \"os/exec\"\nfunc main() { exec.Command(\"id\").Run() }",
            ),
            ("a.go", "import o \"os\"\nfunc main() { o.RemoveAll(x) }"),
            (
                "a.go",
                "import \"net/http\"\nfunc main() { http.Post(u, t, b) }",
            ),
            ("a.go", "//go:linkname x os.RemoveAll\nfunc x(string) error"),
            ("a.go", "/*\n#cgo LDFLAGS: -lx\n*/\nimport \"C\""),
            ("a.c", "int main(void) { system(x); }"),
            (
                "a.c",
                "int (*f)(const char *) = &system; int main(void) { f(x); }",
            ),
            ("a.c", "int main(void) { sys\\\ntem(x); }"),
            (
                "a.c",
                "#define GLUE(a, b) a ## b\nint main(void) { GLUE(sys, tem)(x); }",
            ),
            ("a.c", "int main(void) { \\u0073ystem(x); }"),
            ("a.c", "int main(void) { char c = 'a\"'; unlink(x); }"),
            ("a.c", "int main(void) { system/**/(x); }"),
            ("a.c", "int main(void) { fopen(x, \"w\"); }"),
            ("a.c", "int main(void) { __asm__(\"syscall\"); }"),
            (
                "a.cpp",
                "#include <fstream>\nint main() { std::ofstream f(x); }",
            ),
            (
                "a.rs",
                "use std::process::Command;\nfn main() { Command::new(x); }",
            ),
            (
                "a.rs",
                "use std::fs as f;\nfn main() { f::remove_dir_all(x); }",
            ),
            ("a.rs", "fn main() { unsafe { libc::system(x) } }"),
            ("A.java", "class A { { Runtime.getRuntime().exec(x); } }"),
            ("A.java", "class A { { new ProcessBuilder(x).start(); } }"),
            ("A.java", "class A { { \\u0052untime.getRuntime(); } }"),
        ] {
            assert!(hidden(path, text), "{text}");
        }
    }

    #[test]
    fn commands_and_paths_that_stand_in_it_are_told() {
        let reading = read("a.c", "int main(void) { system(\"rm -rf ~\"); }").unwrap();
        let command = "rm -rf ~".to_owned();
        assert_eq!(
            reading.deeds,
            [Deed::Shell(command.clone()), Deed::MayRun(command)]
        );
        let reading = read("a.go", "x := \"/home/ana/.ssh/id_rsa\"").unwrap();
        let path = "/home/ana/.ssh/id_rsa".to_owned();
        assert_eq!(reading.deeds, [Deed::ReadFile(path)]);
    }
}
