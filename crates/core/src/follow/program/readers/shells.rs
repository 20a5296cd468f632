//! Shells and builtins that evaluate text as commands.

use super::Line;
use crate::act::Act;
use crate::follow::program::options::Hit;
use crate::follow::program::resolve::is_tool_place;
use crate::follow::value::{Arg, Stream, Taint, Value};
use crate::follow::walk::{Walk, is_evaluated_name};
use crate::knowledge::names::USUAL_SCRIPTS;
use crate::knowledge::{Effect, Role};
use crate::place::{HOLE, HOME, mark_home};
use crate::shell::unescape;

/// Returns the words of `powershell` with all that follows `-Command` as one text, which PowerShell makes of them.
pub(in crate::follow::program) fn joined_command(program: &str, rest: &[Arg]) -> Option<Vec<Arg>> {
    if program != "powershell" {
        return None;
    }
    let is_command = |arg: &Arg| {
        let lower = arg.text.to_ascii_lowercase();
        matches!(lower.as_str(), "-command" | "-c" | "/command" | "/c")
    };
    let at = rest.iter().position(is_command)?;
    let (before, words) = rest.split_at_checked(at + 1)?;
    // Before it there are options alone, so that it is none of the words of another command.
    let takes_value = |arg: &Arg| {
        let lower = arg.text.to_ascii_lowercase();
        matches!(lower.as_str(), "-executionpolicy" | "-ep" | "-windowstyle")
    };
    let mut is_value = false;
    let options = before.iter().all(|arg| {
        let was_value = std::mem::replace(&mut is_value, takes_value(arg));
        was_value || arg.text.starts_with(['-', '/'])
    });
    if words.len() < 2 || !options || words.iter().any(|word| word.vague() || word.glob) {
        return None;
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let span = words.first().map(|word| word.span).unwrap_or_default();
    let joined = Arg::literal(texts.join(" "), span);
    Some(before.iter().cloned().chain([joined]).collect())
}

impl Walk<'_> {
    /// `bash -c text`, `bash file`, `… | bash`, `bash -n file`.
    pub(crate) fn read_shell(&mut self, line: &Line<'_>) -> Stream {
        // `-n` reads without running, unless it is only one of a text's own words.
        if line
            .read
            .has(&["-n", "--no-execute", "--dump-strings", "--pretty-print"])
            && line.read.value(&["-c"]).is_none()
        {
            self.note(Act::new(Effect::Read, line.row.name, line.span));
            return Stream::unknown(Taint::default());
        }
        // What stands in other options runs as well: `fish -C text`, `bash --rcfile file`.
        for hit in line.read.hits.iter().filter(|hit| !carries_text(hit)) {
            match hit.meaning() {
                Some((Role::Script, value)) => self.script_file(value, line.name),
                Some((role, value)) => {
                    self.role(role, value, line.row, &Stream::default(), false);
                }
                None => {}
            }
        }
        let texts = shell_texts(line);
        // What is a group of names to other shells, fish runs.
        let runs = |text: &str| line.row.name == "fish" && text.contains("/(");
        if texts.iter().any(|(text, _)| runs(&text.text))
            || line.stdin.text.as_deref().is_some_and(runs)
        {
            self.unreadable("runs what stands in parentheses", line.span);
        }
        let mut out = Stream::unknown(Taint::default());
        for (text, parameters) in &texts {
            let state = self.state();
            self.set_positional(parameters.clone());
            out = self.shell_text(text, line.stdin);
            self.restore(state);
        }
        if !texts.is_empty() {
            return out;
        }
        match line.read.operands.first() {
            Some(script) if !line.read.has(&["-s"]) && script.text != "-" => {
                let parameters = line.read.operands.iter().skip(1);
                let parameters: Vec<Arg> = parameters.map(|arg| (*arg).clone()).collect();
                self.telling_words(script, &parameters);
                self.script_with(script, line.name, parameters);
                Stream::unknown(Taint::default())
            }
            _ if line.stdin.connected => self.stdin_code(line.stdin, "sh", line.span),
            _ => {
                let mut act = Act::new(Effect::Interactive, line.row.name, line.span)
                    .because("opens a shell");
                act.marks.unreadable = true;
                self.note(act);
                Stream::unknown(Taint::default())
            }
        }
    }

    /// A console that runs what is typed into it, whoever types.
    pub(crate) fn read_console(&mut self, line: &Line<'_>) -> Option<Stream> {
        let typed = line.stdin.connected
            && line
                .stdin
                .text
                .as_deref()
                .is_none_or(|text| !text.trim().is_empty());
        // What runs was said already; what it reads is data.
        let spoken = line.read.command.is_some()
            || line.read.option_command.is_some()
            || line.read.hits.iter().any(Hit::carries_code);
        if typed && !spoken {
            self.unreadable("pipes commands into a console", line.span);
        }
        None
    }

    /// `eval words`, and programs that hand their words to a shell as `watch` does.
    pub(crate) fn read_eval(&mut self, line: &Line<'_>) -> Option<Stream> {
        if line.read.operands.is_empty() && line.read.command.is_none() {
            // Without words, one that starts a shell elsewhere hands on what is piped in.
            return (line.stdin.connected && line.does == Effect::Start)
                .then(|| self.stdin_code(line.stdin, "sh", line.span));
        }
        let words: Vec<Arg> = line
            .read
            .operands
            .iter()
            .map(|arg| (*arg).clone())
            .collect();
        self.by_options(line);
        if line.read.has(&["-x", "--exec"]) {
            return Some(self.dispatch(&words, line.stdin));
        }
        if words.iter().any(|word| word.taint.network) {
            self.unreadable(
                "runs code loaded from the network",
                words.first().map(|word| word.span).unwrap_or_default(),
            );
        }
        if line.does != Effect::Compute {
            self.note(Act::new(
                line.does,
                line.row.name,
                words.first().map(|word| word.span).unwrap_or_default(),
            ));
        }
        Some(self.joined_text(&words, line.stdin))
    }

    /// Judges the options of a line, but not its operands.
    pub(crate) fn by_options(&mut self, line: &Line<'_>) -> Taint {
        let mut taint = Taint::default();
        for hit in &line.read.hits {
            for effect in hit.flag.effects {
                self.note(
                    Act::new(
                        *effect,
                        line.row.name,
                        hit.value
                            .as_ref()
                            .map(|value| value.span)
                            .unwrap_or_default(),
                    )
                    .on(line.row.name),
                );
            }
            if let Some((role, value)) = hit.meaning() {
                taint = taint.and(self.role(role, value, line.row, &Stream::default(), false));
            }
        }
        taint
    }

    /// `source file`.
    pub(crate) fn read_source(&mut self, line: &Line<'_>) -> Option<Stream> {
        let script = line.read.operands.first()?;
        // Entering a virtual environment or loading a version manager is how a project is worked on.
        self.heed_sourced(script);
        let place = self.ground.place(&script.text);
        let usual = place.inside == Some(true)
            || place.path.starts_with("~/.")
            || place.path.starts_with("/etc/")
            || place.path.starts_with("/usr/") && !crate::place::is_shared(&place.path)
            || is_script_of_tools(&place.path)
            // Where nothing is claimed; a directory that is no workspace is nobody's.
            || self.ground.cwd.is_none() && !crate::place::is_absolute(&script.text);
        if usual
            && USUAL_SCRIPTS.iter().any(|end| place.path.ends_with(end))
            && script.delivers.is_none()
            && self.may_hold(&place.path).is_empty()
        {
            self.note(Act::new(
                Effect::Project,
                line.row.name,
                self.here(script.span),
            ));
            return Some(Stream::unknown(Taint::default()));
        }
        self.scope.brought.functions |=
            place.inside == Some(true) && self.knows.trusts_workspace && !place.vague;
        self.script_file(script, "sh");
        Some(Stream::unknown(Taint::default()))
    }

    /// `trap text signals`.
    pub(crate) fn read_trap(&mut self, line: &Line<'_>) -> Stream {
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        if let Some(text) = line.read.operands.first()
            && text.text != "-"
            && line.read.operands.len() > 1
        {
            self.shell_text(text, &Stream::default());
        }
        Stream::empty()
    }

    /// `alias name=text`, `hash name=file` of zsh: what runs when the name is used.
    pub(crate) fn read_alias(&mut self, line: &Line<'_>) -> Stream {
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        self.by_options(line);
        for operand in &line.read.operands {
            if let Some((name, text)) = operand.text.split_once('=') {
                self.shadows_guard(name, operand.span);
                self.text(text, operand.span);
                self.scope.alias(name, text);
            }
        }
        Stream::unknown(Taint::default())
    }

    /// `export NAME=value`, `declare NAME=value`.
    pub(crate) fn read_declare(&mut self, line: &Line<'_>) -> Stream {
        let mut taint = Taint::default();
        let refers = line
            .args
            .iter()
            .any(|arg| arg.text.starts_with('-') && arg.text.contains('n'));
        for operand in line.args {
            let names_element = operand.text.split_once('[').is_some_and(|(name, _)| {
                name.bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            });
            if names_element && is_evaluated_name(&operand.text) {
                self.expanded_text(&operand.text, operand.span);
            }
            if let Some((name, _)) = operand.text.split_once('=') {
                let appends = name.ends_with('+');
                let name = name.trim_end_matches('+').to_owned();
                let mut value = operand.after(operand.text.find('=').map_or(0, |at| at + 1));
                if appends {
                    let before = self.text_of(&name);
                    value.text.insert_str(0, &before);
                }
                self.variable_effect(&name, &value);
                if let Some((array, key)) =
                    name.strip_suffix(']').and_then(|name| name.split_once('['))
                {
                    self.element_effect(array, key, &value);
                }
                taint = taint.and(value.taint);
                if refers && !matches!(line.name, "export" | "readonly") {
                    self.subscript(&value.text, value.span);
                    self.refer(&name, &value.text);
                    continue;
                }
                self.assign(
                    &name,
                    Value {
                        items: Some(vec![value.text]),
                        taint: value.taint,
                    },
                );
            }
        }
        let numbers = line.args.iter().any(|arg| arg.text == "-i");
        if numbers {
            self.evaluated("", line.span);
        }
        if numbers
            && line
                .args
                .iter()
                .any(|arg| crate::follow::walk::runs_in_subscript(&arg.text))
        {
            self.unreadable("a subscript that runs a command", line.span);
        }
        let prints = line.args.iter().all(|arg| arg.text.starts_with('-'));
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        // `export` alone prints the environment, secrets included.
        Stream::unknown(Taint {
            secret: taint.secret || prints,
            variables: super::super::disclosure::prints_all_variables(line),
            network: taint.network,
            ..Taint::default()
        })
    }

    /// `set +o history` hides what follows; other options of the shell do nothing by themselves.
    pub(crate) fn read_set(&mut self, line: &Line<'_>) -> Stream {
        let words: Vec<&str> = line.args.iter().map(|arg| arg.text.as_str()).collect();
        if words.windows(2).any(|pair| pair == ["+o", "history"]) {
            self.note(
                Act::new(Effect::Privilege, line.row.name, line.span)
                    .because("turns off the command history"),
            );
        }
        for (index, word) in words.iter().enumerate() {
            let letters = word.strip_prefix(['-', '+']).unwrap_or("");
            let named = letters.ends_with('o') && words.get(index + 1) == Some(&"errexit");
            if named || letters.contains('e') && !letters.starts_with('-') {
                self.scope.ends_on_failure = word.starts_with('-');
            }
        }
        if let Some(at) = words.iter().position(|word| *word == "--") {
            self.set_positional(line.args.get(at + 1..).unwrap_or(&[]).to_vec());
        } else if words
            .first()
            .is_some_and(|word| !word.starts_with(['-', '+']))
        {
            self.set_positional(line.args.to_vec());
        }
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        // `set` alone prints every variable.
        Stream::unknown(Taint {
            secret: words.is_empty(),
            variables: words.is_empty(),
            network: false,
            ..Taint::default()
        })
    }

    /// `unset NAME`.
    pub(crate) fn read_unset(&mut self, line: &Line<'_>) -> Stream {
        for operand in line.args {
            if operand.text.starts_with("COUNTERSIGN_") {
                let act = Act::new(Effect::Guard, line.row.name, self.here(operand.span));
                self.note(act.on(operand.shown()));
            }
            if operand.text.starts_with("HIST") {
                self.note(
                    Act::new(Effect::Privilege, line.row.name, self.here(operand.span))
                        .because("turns off the command history"),
                );
            }
            if is_evaluated_name(&operand.text) {
                self.expanded_text(&operand.text, operand.span);
            }
            self.scope.forget(&operand.text);
        }
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        Stream::empty()
    }

    /// `cd directory`.
    pub(crate) fn read_cd(&mut self, line: &Line<'_>) -> Stream {
        let before = self.ground.cwd.clone();
        let named = match line.read.operands.as_slice() {
            [switch, target] if switch.text.eq_ignore_ascii_case("/d") => {
                self.on_drive(&target.text)
            }
            _ => None,
        };
        match line.read.operands.first() {
            Some(_) if named.is_some() => self.ground.enter(&named.unwrap_or_default()),
            Some(directory) if directory.text == "-" || directory.text.starts_with(['+', '-']) => {
                self.ground.cwd = None;
            }
            Some(directory) => self.ground.enter(&directory.text),
            None if line.name == "cd" => self.ground.enter(&HOME.to_string()),
            None => self.ground.cwd = None,
        }
        let may_fail = line.read.operands.first().is_some_and(|directory| {
            let text = directory.text.as_str();
            text.contains(char::is_alphanumeric) || directory.vague()
        });
        if may_fail && !self.scope.ends_on_failure {
            self.ground.perhaps = self.ground.perhaps.take().or(before);
        }
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        Stream::empty()
    }

    /// Returns the directory that `cd /d` of Windows names, wherever the line is read. A Unix shell takes
    /// backslashes away, so a name without any is only known where it spells the directory at hand.
    fn on_drive(&self, target: &str) -> Option<String> {
        if !self.ground.is_windows {
            return None;
        }
        let squashed = |path: &str| path.replace(['/', '\\'], "").to_lowercase();
        let here = [self.ground.cwd.as_ref(), self.ground.workspace.as_ref()];
        let mut here = here.into_iter().flatten();
        if crate::place::is_absolute(target) && target.contains(['/', '\\']) {
            return Some(target.to_owned());
        }
        here.find(|path| squashed(path) == squashed(target))
            .map(ToString::to_string)
    }

    /// `printf format words`; `-v name` sets a variable.
    pub(crate) fn read_printf(&mut self, line: &Line<'_>) -> Stream {
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        let taint = line
            .args
            .iter()
            .fold(Taint::default(), |taint, arg| taint.and(arg.taint));
        let operands: Vec<&Arg> = line.read.operands.clone();
        let text = formatted(&operands);
        if let Some(variable) = line.read.value(&["-v"]) {
            if variable.text.contains('[') && variable.text.contains("$(") {
                // The subscript of `-v 'a[$(cmd)]'` is expanded.
                self.text(&format!("echo \"{}\"", variable.text), variable.span);
            }
            let value = Value {
                items: text.map(|text| vec![text]),
                taint,
            };
            self.assign(&variable.text, value);
            return Stream::empty();
        }
        Stream {
            text,
            taint,
            connected: true,
            names: self.printed_names(line),
            files: line.stdin.files.clone(),
        }
    }
}

/// Whether an option of a shell carries the text that is to run.
fn carries_text(hit: &Hit) -> bool {
    matches!(hit.name, "-c" | "--command")
}

/// Returns the texts that a shell is told to run, each with its parameters from $1 on.
fn shell_texts(line: &Line<'_>) -> Vec<(Arg, Vec<Arg>)> {
    let given = line.read.hits.iter().filter(|hit| carries_text(hit));
    let given = given.filter_map(|hit| hit.value.as_ref());
    given
        .map(|value| {
            // `bash -ce text`, `bash -c -e text`: to all shells but fish `-c` is a mere switch.
            let in_bundle = |arg: &Arg| {
                arg.text.starts_with('-')
                    && arg.text.len() > value.text.len()
                    && arg.text.ends_with(&value.text)
            };
            let switches = value.text.starts_with(['-', '+']) || line.args.iter().any(in_bundle);
            let behind = line
                .read
                .operands
                .first()
                .filter(|_| switches && line.row.name != "fish");
            let text = behind.map_or(value, |text| *text);
            let named = usize::from(behind.is_some()) + 1;
            let parameters = line.read.operands.iter().skip(named);
            (text.clone(), parameters.map(|arg| (*arg).clone()).collect())
        })
        .collect()
}

/// Returns what `printf` prints where all of it is known.
fn formatted(operands: &[&Arg]) -> Option<String> {
    let (format, words) = operands.split_first()?;
    if operands.iter().any(|arg| arg.text.contains(HOLE)) || words.len() > 64 {
        return None;
    }
    let mut words = words.iter();
    let mut out = String::new();
    loop {
        let mut used = false;
        let mut rest = format.text.as_str();
        while let Some(at) = rest.find('%') {
            out.push_str(&unescape(rest.get(..at)?));
            let directive = rest.get(at + 1..)?;
            let skipped =
                directive.find(|letter: char| letter.is_ascii_alphabetic() || letter == '%')?;
            let letter = directive.get(skipped..)?.chars().next()?;
            rest = directive.get(skipped + 1..)?;
            match letter {
                '%' => out.push('%'),
                's' => {
                    used = true;
                    out.push_str(words.next().map_or("", |word| word.text.as_str()));
                }
                'b' => {
                    used = true;
                    out.push_str(&unescape(
                        words.next().map_or("", |word| word.text.as_str()),
                    ));
                }
                'c' => {
                    used = true;
                    out.extend(words.next().and_then(|word| word.text.chars().next()));
                }
                'd' | 'i' | 'u' => {
                    used = true;
                    out.push_str(words.next().map_or("0", |word| word.text.as_str()));
                }
                _ => return None,
            }
        }
        out.push_str(&unescape(rest));
        if !used || words.len() == 0 || out.len() > 16 * 1024 {
            return Some(out);
        }
    }
}

/// Whether a script belongs to an installation that a package manager keeps: `/opt/conda/bin/activate`.
fn is_script_of_tools(path: &str) -> bool {
    let base = path
        .strip_suffix("/bin/activate")
        .or_else(|| path.split_once("/etc/profile.d/").map(|(base, _)| base));
    base.is_some_and(|base| is_tool_place(&mark_home(&format!("{base}/bin"))))
}
