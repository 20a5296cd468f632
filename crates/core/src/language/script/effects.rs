//! What a well-known call does with its arguments.

use super::lexer::Token;
use super::{COMPUTED, Lang};
use crate::language::{Deed, Reading};

/// What a call does; arguments are counted from zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// Hands its first argument to a shell; a list of words is run directly.
    Shell,
    /// Runs the program named first, with the rest as arguments.
    Program,
    Read,
    /// Opens a file; the second argument says how.
    Open,
    Write,
    /// Reads the first file and writes the second.
    Copy,
    /// Makes the second path lead to the first.
    Link,
    /// Moves the first file to the second.
    Move,
    Delete,
    DeleteTree,
    /// Deletes a file, or a tree when told to go down.
    DeleteMaybeTree,
    Fetch,
    Send,
    Kill,
    /// Changes rights of a file; the first argument names it.
    Rights,
}

/// Notes what a call with these arguments does; computed arguments stay hidden.
pub(super) fn apply(effect: Effect, lang: Lang, arguments: &[&[Token]], reading: &mut Reading) {
    let literal = |place: usize| arguments.get(place).and_then(|argument| text(argument));
    let deeds: Option<Vec<Deed>> = match effect {
        Effect::Shell => command(arguments).map(|deed| vec![deed]),
        Effect::Program => program(arguments).map(|words| vec![Deed::Run(words)]),
        // Without a name it is the standard input that is read.
        Effect::Read if lang == Lang::Lua && arguments.is_empty() => Some(Vec::new()),
        // Ruby runs a name that starts with a bar.
        Effect::Read
            if lang == Lang::Ruby && literal(0).is_some_and(|path| path.starts_with('|')) =>
        {
            literal(0).map(|path| vec![Deed::Shell(path.trim_start_matches('|').to_owned())])
        }
        Effect::Read => literal(0).map(|path| read(path).into_iter().collect()),
        Effect::Open => open(lang, arguments),
        Effect::Write => literal(0).map(|path| vec![Deed::WriteFile(path)]),
        Effect::Copy => match (literal(0), literal(1)) {
            (Some(from), Some(to)) => Some(vec![Deed::ReadFile(from), Deed::WriteFile(to)]),
            _ => None,
        },
        Effect::Link => match (literal(0), literal(1)) {
            (Some(to), Some(from)) => Some(vec![Deed::Link(to), Deed::WriteFile(from)]),
            _ => None,
        },
        Effect::Move => match (literal(0), literal(1)) {
            (Some(from), Some(to)) => Some(vec![Deed::DeleteFile(from), Deed::WriteFile(to)]),
            _ => None,
        },
        Effect::Delete => all_texts(arguments, Deed::DeleteFile),
        Effect::DeleteTree => literal(0).map(|path| vec![Deed::DeleteTree(path)]),
        Effect::DeleteMaybeTree => literal(0).map(|path| {
            let goes_down = arguments
                .iter()
                .flat_map(|argument| argument.iter())
                .any(|token| {
                    token.is_name("recursive")
                        || matches!(token, Token::Symbol(s) if s == "recursive")
                });
            vec![if goes_down {
                Deed::DeleteTree(path)
            } else {
                Deed::DeleteFile(path)
            }]
        }),
        Effect::Fetch => Some(vec![Deed::Fetch(literal(0).unwrap_or_default())]),
        Effect::Send => Some(vec![Deed::Send(literal(0).unwrap_or_default())]),
        Effect::Kill => Some(vec![Deed::Kill(literal(0).unwrap_or_default())]),
        Effect::Rights => arguments
            .iter()
            .find_map(|argument| text(argument))
            .map(|path| vec![Deed::Privilege(format!("rights of {path}"))]),
    };
    match deeds {
        Some(deeds) => deeds.into_iter().for_each(|deed| reading.see(deed)),
        None => computed(effect, lang, arguments.get(1).copied(), reading),
    }
}

/// Notes a call that computes what it is about. Reading a file whose name is computed is ordinary in
/// the languages whose unknown names may be; which files is found out from the texts at hand. Writing
/// one is not: it may be a program that runs next.
pub(super) fn computed(effect: Effect, lang: Lang, mode: Option<&[Token]>, reading: &mut Reading) {
    let ordinary = matches!(lang, Lang::Python | Lang::JavaScript);
    let only_reads = match mode {
        None | Some([]) => true,
        Some([Token::Text(Some(mode))]) => !mode.contains(['w', 'a', 'x', '+']),
        Some([Token::Name(key), _, Token::Text(Some(mode))]) if key == "mode" => {
            !mode.contains(['w', 'a', 'x', '+'])
        }
        Some([Token::Name(key), Token::Mark("=" | ":"), ..]) => key != "mode",
        Some(_) => false,
    };
    let reads = effect == Effect::Read || effect == Effect::Open && only_reads;
    if ordinary && reads {
        reading.reads_computed = true;
        reading.wonder(COMPUTED);
    } else {
        reading.hide(COMPUTED);
    }
}

/// The string an argument consists of.
fn text(argument: &[Token]) -> Option<String> {
    match argument {
        [Token::Text(Some(text))] => Some(text.clone()),
        _ => None,
    }
}

fn all_texts(arguments: &[&[Token]], deed: fn(String) -> Deed) -> Option<Vec<Deed>> {
    // Callbacks and options may follow a file; the first argument must be one.
    arguments.first().and_then(|first| text(first))?;
    Some(
        arguments
            .iter()
            .filter_map(|argument| text(argument))
            .map(deed)
            .collect(),
    )
}

fn read(path: String) -> Option<Deed> {
    if matches!(path.as_str(), "php://stdin" | "/dev/stdin" | "-") {
        return None;
    }
    let is_address = ["http://", "https://", "ftp://"]
        .iter()
        .any(|scheme| path.starts_with(scheme));
    Some(if is_address {
        Deed::Fetch(path)
    } else {
        Deed::ReadFile(path)
    })
}

fn command(arguments: &[&[Token]]) -> Option<Deed> {
    match arguments.first()? {
        [Token::Text(Some(command))] => {
            let more: Vec<String> = arguments
                .iter()
                .skip(1)
                .map_while(|argument| text(argument))
                .collect();
            // Several strings are the words of a program in the languages that allow it.
            if more.is_empty() {
                Some(Deed::Shell(command.clone()))
            } else {
                Some(Deed::Run(
                    std::iter::once(command.clone()).chain(more).collect(),
                ))
            }
        }
        list => words(list).map(Deed::Run),
    }
}

/// The strings of `["a", "b"]` or `("a", "b")`.
fn words(list: &[Token]) -> Option<Vec<String>> {
    let [Token::Mark("[" | "("), inner @ .., Token::Mark("]" | ")")] = list else {
        return None;
    };
    let words: Option<Vec<String>> = inner
        .split(|token| token.is_mark(","))
        .filter(|word| !word.is_empty())
        .map(text)
        .collect();
    words.filter(|words| !words.is_empty())
}

fn program(arguments: &[&[Token]]) -> Option<Vec<String>> {
    let program = text(arguments.first()?)?;
    let mut all = vec![program];
    for argument in arguments.iter().skip(1) {
        match text(argument) {
            Some(word) => all.push(word),
            None => match words(argument) {
                Some(words) => all.extend(words),
                // Options in an object do not change what is run, as far as it is seen.
                None if argument.first().is_some_and(|token| token.is_mark("{")) => {}
                None => return None,
            },
        }
    }
    Some(all)
}

fn open(lang: Lang, arguments: &[&[Token]]) -> Option<Vec<Deed>> {
    if lang == Lang::Perl {
        return open_perl(arguments);
    }
    // A number is a stream that is open already.
    if let [Token::Number] = arguments.first()? {
        return Some(Vec::new());
    }
    let path = text(arguments.first()?)?;
    let mode = arguments
        .iter()
        .skip(1)
        .find_map(|argument| match argument {
            [Token::Text(Some(mode))] => Some(mode.clone()),
            [Token::Name(key), equals, Token::Text(Some(mode))]
                if key == "mode" && equals.is_mark("=") =>
            {
                Some(mode.clone())
            }
            _ => None,
        });
    // A computed mode may be any.
    let is_computed = mode.is_none()
        && arguments.get(1).is_some_and(|argument| {
            !matches!(argument, [Token::Name(key), Token::Mark("=" | ":"), ..] if key != "mode")
                && !argument
                    .first()
                    .is_some_and(|token| token.is_mark("|") || token.is_mark("{"))
        });
    if is_computed {
        return None;
    }
    if let (Lang::Ruby, Some(command)) = (lang, path.strip_prefix('|')) {
        return Some(vec![Deed::Shell(command.to_owned())]);
    }
    let writes = mode.is_some_and(|mode| mode.contains(['w', 'a', 'x', '+', 'c']));
    Some(if writes {
        vec![Deed::WriteFile(path)]
    } else {
        read(path).into_iter().collect()
    })
}

/// Perl names handle, mode and file, or glues mode and file together.
fn open_perl(arguments: &[&[Token]]) -> Option<Vec<Deed>> {
    let second = text(arguments.get(1)?)?;
    let (mode, path) = if let Some(path) = arguments.get(2) {
        (second.trim().to_owned(), text(path)?)
    } else {
        let name = second.trim_start_matches(['<', '>', '+', ' ']);
        let mode = second
            .get(..second.len() - name.len())
            .unwrap_or_default()
            .to_owned();
        (mode, name.to_owned())
    };
    if mode.contains('|') || path.starts_with('|') || path.ends_with('|') {
        let command = path.trim_matches('|').trim().to_owned();
        return Some(vec![Deed::Shell(command)]);
    }
    Some(vec![if mode.contains('>') || mode.contains('+') {
        Deed::WriteFile(path)
    } else {
        Deed::ReadFile(path)
    }])
}
