//! Effects of well-known calls on their arguments.

use super::COMPUTED;
use super::lexer::Token;
use crate::knowledge::languages::{Call, Script};
use crate::knowledge::{CallReader, Effect, Feature, Role, Syntax};
use crate::language::{Deed, Reading, deed_of, deed_on};

/// Notes what a call with these arguments does; computed arguments stay hidden.
pub(super) fn apply(call: &Call, script: &Script, arguments: &[&[Token]], reading: &mut Reading) {
    let deeds = if call.reader == Some(CallReader::Open) {
        open(script, arguments)
    } else if call.reader == Some(CallReader::Remove) {
        remove(arguments)
    } else if call.takes.is_empty() {
        let first = arguments.first().and_then(|argument| text(argument));
        deed_of(call.does, first.unwrap_or_default()).map(|deed| vec![deed])
    } else {
        by_roles(call, script, arguments)
    };
    match deeds {
        Some(deeds) => deeds.into_iter().for_each(|deed| reading.see(deed)),
        None => computed(call, script, arguments.get(1).copied(), reading),
    }
}

/// Returns what happens to each argument by its role. `None`: one of them is computed.
fn by_roles(call: &Call, script: &Script, arguments: &[&[Token]]) -> Option<Vec<Deed>> {
    let mut deeds = Vec::new();
    for (place, operand) in call.takes.iter().enumerate() {
        let literal = arguments.get(place).and_then(|argument| text(argument));
        let role = operand.role;
        if role == Role::Shell {
            deeds.push(command(arguments)?);
        } else if role == Role::Command {
            deeds.push(Deed::Run(program(arguments)?));
        } else if role == Role::Read && arguments.is_empty() && script.has(Feature::ReadsInput) {
            // Without a name it is the standard input that is read.
        } else if role == Role::Read {
            deeds.extend(read(script, literal?));
        } else if role == Role::Url || role == Role::UrlSend {
            deeds.extend(deed_on(role, literal.unwrap_or_default()));
        } else if role == Role::Permission {
            let path = arguments.iter().find_map(|argument| text(argument))?;
            deeds.extend(deed_on(role, path));
        } else if operand.many {
            // Callbacks and options may follow a file; the first argument must be one.
            literal?;
            let texts = arguments.iter().filter_map(|argument| text(argument));
            deeds.extend(texts.filter_map(|path| deed_on(role, path)));
        } else {
            deeds.push(deed_on(role, literal?)?);
        }
    }
    Some(deeds)
}

/// A file, or a tree where an option tells the call to go down.
fn remove(arguments: &[&[Token]]) -> Option<Vec<Deed>> {
    let path = text(arguments.first()?)?;
    let mut tokens = arguments.iter().flat_map(|argument| argument.iter());
    let goes_down = tokens.any(|token| {
        token.is_name("recursive") || matches!(token, Token::Symbol(name) if name == "recursive")
    });
    Some(vec![if goes_down {
        Deed::DeleteTree(path)
    } else {
        Deed::DeleteFile(path)
    }])
}

/// Notes a call that computes what it is about. Reading a file whose name is computed is ordinary in
/// the languages whose unknown names may be; which files is found out from the texts at hand. Writing
/// one is not: it may be a program that runs next.
pub(super) fn computed(
    call: &Call,
    script: &Script,
    mode: Option<&[Token]>,
    reading: &mut Reading,
) {
    let only_reads = match mode {
        None | Some([]) => true,
        Some([Token::Text(Some(mode))]) => !mode.contains(['w', 'a', 'x', '+']),
        Some([Token::Name(key), _, Token::Text(Some(mode))]) if key == "mode" => {
            !mode.contains(['w', 'a', 'x', '+'])
        }
        Some([Token::Name(key), Token::Mark("=" | ":"), ..]) => key != "mode",
        Some(_) => false,
    };
    let opens = call.reader == Some(CallReader::Open);
    let reads = call.does == Effect::Read && (!opens || only_reads);
    if script.has_ordinary_names() && reads {
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

fn read(script: &Script, path: String) -> Option<Deed> {
    if let (Syntax::Ruby, Some(command)) = (script.syntax, path.strip_prefix('|')) {
        // Ruby runs a name that starts with a bar.
        return Some(Deed::Shell(command.to_owned()));
    }
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

fn open(script: &Script, arguments: &[&[Token]]) -> Option<Vec<Deed>> {
    if script.syntax == Syntax::Perl {
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
    if script.syntax == Syntax::Ruby && path.starts_with('|') {
        return Some(read(script, path).into_iter().collect());
    }
    let writes = mode.is_some_and(|mode| mode.contains(['w', 'a', 'x', '+', 'c']));
    Some(if writes {
        vec![Deed::WriteFile(path)]
    } else {
        read(script, path).into_iter().collect()
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
