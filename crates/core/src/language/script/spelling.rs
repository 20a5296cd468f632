//! The first lines of Python and Ruby may name an encoding in which signs of a comment stand for the
//! end of a line: such code is written in another way than it seems.

/// Whether the code is written as it seems, by what its first lines say of their encoding.
pub(super) fn is_plain(code: &str) -> bool {
    const USUAL: [&str; 7] = [
        "utf-8",
        "utf8",
        "utf-8-sig",
        "ascii",
        "us-ascii",
        "latin-1",
        "iso-8859-1",
    ];
    let comments = code.lines().take(2).filter_map(|line| {
        let line = line.trim_start_matches(['\u{feff}', ' ', '\t']);
        line.strip_prefix('#')
    });
    let mut named = comments.flat_map(|comment| comment.split("coding").skip(1));
    named.all(|rest| {
        let rest = rest.trim_start_matches([' ', '\t']);
        let Some(name) = rest.strip_prefix([':', '=']) else {
            return true;
        };
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name: String = name
            .trim_start()
            .chars()
            .take_while(|c| is_part(*c))
            .collect();
        let name = name.to_ascii_lowercase().replace('_', "-");
        name.is_empty() || USUAL.contains(&name.as_str())
    })
}
