//! Turns a manual page into lines that read like a help text.
//!
//! Only what tells entries from prose is kept: headings, the tags of lists, and text further in.

/// Lines of a page that are looked at.
const LINES_MAX: usize = 50_000;

/// Returns `page` as a help text: headings end in a colon, entries are indented by two blanks.
pub(super) fn plain(page: &str) -> String {
    let mut out = String::new();
    let mut is_tag = false;
    for line in page.lines().take(LINES_MAX) {
        let (macro_name, rest) = match line.strip_prefix(['.', '\'']) {
            Some(request) => {
                let request = request.trim_start();
                let end = request.find(' ').unwrap_or(request.len());
                let (name, rest) = request.split_at(end);
                (name, unescaped(rest.trim()))
            }
            None => ("", unescaped(line)),
        };
        match macro_name {
            "SH" | "SS" | "Sh" | "Ss" => {
                out.extend([rest.trim_matches('"'), ":\n"]);
                is_tag = false;
            }
            "TP" | "TQ" => is_tag = true,
            "IP" => {
                let tag = words(&rest).into_iter().next().unwrap_or_default();
                out.extend(["  ", &tag, "  \n"]);
            }
            "It" => out.extend(["  ", &tagged(&rest), "  \n"]),
            "" | "B" | "I" | "BR" | "BI" | "IR" | "RB" | "IB" | "RI" | "SM" | "SB" => {
                let text = match macro_name {
                    "" => rest,
                    "B" | "I" | "SM" | "SB" => words(&rest).join(" "),
                    _ => words(&rest).concat(),
                };
                let indent = if is_tag { "  " } else { "        " };
                out.extend([indent, &text, "  \n"]);
                is_tag = false;
            }
            _ => {}
        }
    }
    out
}

/// Returns the words of a request; quotes hold blanks together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut quoted, mut any) = (false, false);
    for letter in text.chars() {
        match letter {
            '"' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            letter => {
                word.push(letter);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

/// Returns the tag of a list in mdoc: `Fl o Ar file` is `-o <file>`.
fn tagged(rest: &str) -> String {
    let mut out = String::new();
    let mut words = rest.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let gap = if out.is_empty() { "" } else { " " };
        match word {
            "Fl" => {
                let name = words.next().unwrap_or("");
                out.extend([gap, "-", name]);
            }
            "Ar" => {
                let name = words.next().unwrap_or("value");
                out.extend([gap, "<", name, ">"]);
            }
            "Cm" | "Ic" | "Nm" | "Xo" | "Xc" | "Oo" | "Oc" | "Op" | "Ns" => {}
            word => out.extend([gap, word]),
        }
    }
    out.replace(" ,", ",")
}

/// Returns a line without the escapes of roff.
fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter != '\\' {
            out.push(letter);
            continue;
        }
        match letters.next() {
            // `\fB`, `\f(CW`, `\f[B]` and the like: fonts, sizes, strings.
            Some('f' | 's' | '*' | 'm' | 'F') => match letters.next() {
                Some('(') => {
                    letters.by_ref().take(2).for_each(drop);
                }
                Some('[') => {
                    letters.by_ref().find(|letter| *letter == ']');
                }
                Some(_) | None => {}
            },
            Some('(') => {
                let name: String = letters.by_ref().take(2).collect();
                out.push_str(match name.as_str() {
                    "hy" | "mi" | "en" => "-",
                    "aq" => "'",
                    "dq" => "\"",
                    _ => "",
                });
            }
            Some('-') => out.push('-'),
            Some('e') => out.push('\\'),
            Some(' ' | '~' | '0') => out.push(' '),
            Some('"') => break,
            Some(_) | None => {}
        }
    }
    out
}
