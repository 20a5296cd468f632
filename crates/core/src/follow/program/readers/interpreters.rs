//! Interpreters, and programs that build a command from input: find, xargs.

use super::Line;
use crate::act::{Act, Breadth, FOUND_DELETED};
use crate::follow::program::code::{Filled, interpreter_role};
use crate::follow::value::{Arg, NAMES_MAX, Stream, Taint};
use crate::follow::walk::{Walk, Writing};
use crate::knowledge::{self, Effect, Lang, PathKind, Role, Value, languages};
use crate::language::find::Sought;
use crate::language::{find, script};
use crate::place::below::Look;
use crate::place::{HOLE, Place, is_absolute, mark_home};
use crate::score::Score;

impl Walk<'_> {
    /// Judges what `node -p` prints.
    fn prints_value(&mut self, line: &Line<'_>) {
        let prints = |name: &str| matches!(name, "-p" | "-pe" | "--print");
        for hit in line.read.hits.iter().filter(|hit| prints(hit.name)) {
            if let (Value::Next(Role::Snippet(lang)), Some(code)) = (hit.flag.value, &hit.value)
                && lang == Lang::JAVASCRIPT
            {
                let shown = script::printed(lang, &code.text);
                self.deeds(&shown, line.row.name, code.span);
            }
        }
    }

    /// `python file`, `python -c code`, `python -m module`, `… | python`.
    pub(crate) fn read_interpreter(&mut self, line: &Line<'_>) -> Option<Stream> {
        let role =
            interpreter_role(line.row.name.split(' ').next().unwrap_or("")).unwrap_or(Role::Code);
        if let Some(module) = line.read.value(&["-m", "--module"])
            && role == Role::Snippet(Lang::PYTHON)
        {
            return Some(self.module(&module.text, line));
        }
        let carries = line
            .read
            .hits
            .iter()
            .any(|hit| matches!(hit.flag.value, Value::Next(value) if value == role));
        let taint = self.by_options_quietly(line);
        if carries {
            let edits = line
                .read
                .hits
                .iter()
                .any(|hit| hit.flag.effects.contains(&Effect::Write));
            let files = role == Role::Snippet(Lang::PERL) || role == Role::Snippet(Lang::RUBY);
            let mut taint = taint.and(line.stdin.taint);
            self.words_of_code(line);
            self.prints_value(line);
            for operand in line.read.operands.iter().filter(|_| files) {
                if self.opened_word(operand, line) {
                    continue;
                }
                if edits {
                    self.writes(operand, line.row.name, Writing::Edit);
                    self.remember_file(operand, Stream::unknown(Taint::default()));
                } else {
                    taint = taint.and(self.reads(operand, line.row.name));
                }
            }
            self.note(Act::new(Effect::Compute, line.row.name, line.span));
            return Some(Stream::unknown(taint));
        }
        // `node --check` and `ruby -c` read without running.
        let checks = languages::by_role(role).map_or(&[][..], |language| language.checks);
        if line.read.has(checks) {
            self.note(Act::new(Effect::Read, line.row.name, line.span));
            return Some(Stream::unknown(Taint::default()));
        }
        match line.read.operands.first() {
            Some(script) if script.text != "-" => {
                let base = script.text.rsplit('/').next().unwrap_or("");
                if base.contains(['.', 'a'])
                    && matches!(base, "manage.py" | "setup.py" | "artisan" | "console")
                    && knowledge::program(base).is_some()
                {
                    return Some(self.known_script(line, script, base));
                }
                let at = line.args.iter().position(|arg| arg == *script);
                let words = at.and_then(|at| line.args.get(at + 1..)).unwrap_or(&[]);
                if role == Role::Snippet(Lang::JAVASCRIPT)
                    && let Some(program) = self.package_program(script)
                {
                    let words = [&[program], words].concat();
                    return Some(self.program(&words, line.stdin));
                }
                self.script_with(script, line.row.name, words.to_vec());
                self.telling_words(script, line.args);
                if role == Role::Snippet(Lang::PERL) {
                    for word in line.read.operands.iter().skip(1) {
                        self.opened_word(word, line);
                    }
                }
                Some(Stream::unknown(Taint::default()))
            }
            _ if line.stdin.connected => {
                self.words_of_code(line);
                Some(self.stdin_code(
                    line.stdin,
                    line.row.name.split(' ').next().unwrap_or(""),
                    line.span,
                ))
            }
            _ if !line.read.hits.is_empty() || line.read.others > 0 => None,
            _ => {
                self.note(Act::new(Effect::Interactive, line.row.name, line.span));
                Some(Stream::unknown(Taint::default()))
            }
        }
    }

    /// `python manage.py flush`: a script of which is known what it does with its words.
    fn known_script(&mut self, line: &Line<'_>, script: &Arg, base: &str) -> Stream {
        if base == "setup.py" {
            // Whatever it is asked to do, it runs code of the package itself.
            self.script_file(script, line.row.name);
        }
        // What this session wrote into it runs before the words are looked at.
        let path = self.place(&script.text).path;
        for stream in self.may_hold(&path) {
            self.run_written(&path, &stream, line.row.name, script.span);
        }
        let at = line.args.iter().position(|arg| arg == script).unwrap_or(0);
        let mut args = vec![Arg::literal(base, script.span)];
        args.extend_from_slice(line.args.get(at + 1..).unwrap_or(&[]));
        self.program(&args, line.stdin)
    }

    /// Code opens what it is given: words that name a place with secrets are read.
    fn words_of_code(&mut self, line: &Line<'_>) {
        for operand in &line.read.operands {
            self.may_read(operand, line.row.name);
        }
        // So does what it reads from its input, line by line.
        let lines = line.stdin.text.as_deref().unwrap_or_default().lines();
        let is_path = |line: &&str| !line.is_empty() && !line.contains(char::is_whitespace);
        for path in lines.take(INPUT_LINES_MAX).filter(is_path) {
            let path = Arg::literal(mark_home(path), line.span);
            self.may_read(&path, line.row.name);
        }
        for path in &line.stdin.names {
            self.may_read(&Arg::literal(path.clone(), line.span), line.row.name);
        }
    }

    fn by_options_quietly(&mut self, line: &Line<'_>) -> Taint {
        let mut taint = Taint::default();
        for hit in &line.read.hits {
            for effect in hit
                .flag
                .effects
                .iter()
                .filter(|effect| **effect != Effect::Write)
            {
                self.note(Act::new(*effect, line.row.name, line.span).on(line.row.name));
            }
            if let Some((role, value)) = hit.meaning() {
                taint = taint.and(self.role(role, value, line.row, &Stream::default(), false));
            }
        }
        if line.row.name == "perl" {
            self.perl_options(line);
        }
        taint
    }

    fn module(&mut self, module: &str, line: &Line<'_>) -> Stream {
        if module.contains(HOLE) {
            self.unreadable("which module runs cannot be known", line.span);
            return Stream::unknown(Taint::default());
        }
        self.runs_module(module, line.span);
        // The words after `-m module` belong to the module.
        let at = line
            .args
            .iter()
            .position(|arg| arg.text == module || arg.text.ends_with(&format!("-m{module}")));
        let rest = line.args.get(at.map_or(0, |at| at + 1)..).unwrap_or(&[]);
        // Rows for modules that are no programs of their own are called as they are run.
        let called = format!("python -m {module}");
        if let Some(name) = [called.as_str(), module, &module.to_lowercase()]
            .into_iter()
            .find(|name| knowledge::program(name).is_some())
        {
            let mut args = vec![Arg::literal(name, line.span)];
            args.extend_from_slice(rest);
            return self.dispatch(&args, line.stdin);
        }
        let tool = module.split(['.', '_']).next().unwrap_or(module);
        if matches!(tool, "hermes" | "countersign") {
            let mut args = vec![Arg::literal(tool, line.span)];
            args.extend_from_slice(rest);
            return self.program(&args, line.stdin);
        }
        // Python's own modules have rows, so this is the project's or one it has installed.
        let mut act =
            Act::new(Effect::Project, called, line.span).on(format!("the module {module}"));
        if self.ground.workspace.is_none() {
            act.clarity = Score::new(650);
        }
        // In a directory outside the workspace it is a file that lies there.
        let here = self.place(".");
        let foreign = here.inside == Some(false) && self.brings_modules(&here);
        if foreign && !self.is_seen_module(module) {
            act.effect = Effect::Exec;
            act = act.because("runs code of a directory outside the workspace");
        }
        self.note(act);
        for operand in rest {
            if !operand.text.starts_with('-') && is_absolute(&operand.text) {
                self.loads(operand, line.row.name);
            }
        }
        Stream::unknown(line.stdin.taint)
    }

    /// `uv run command`, `uv run script.py`, `uv run -m module`, `… | uv run -`.
    pub(crate) fn read_python_runner(&mut self, line: &Line<'_>) -> Option<Stream> {
        let word = |text: &str| Arg::literal(text, line.span);
        let (mut words, at) = if let Some(module) = line.read.value(&["-m", "--module"]) {
            let ends = |arg: &Arg| arg.text.ends_with(&module.text);
            let at = line.args.iter().position(ends)?;
            (vec![word("python"), word("-m"), module.clone()], at + 1)
        } else {
            let at = line.read.command?;
            let first = line.args.get(at)?.text.as_str();
            let is_script = matches!(first, "-")
                || line.read.has(&["-s", "--script", "--gui-script"])
                || [".py", ".pyw", ".pyz"]
                    .iter()
                    .any(|end| first.ends_with(end));
            if !is_script {
                return None;
            }
            (vec![word("python")], at)
        };
        self.by_options(line);
        words.extend_from_slice(line.args.get(at..).unwrap_or(&[]));
        Some(self.program(&words, line.stdin))
    }

    /// `find`: its expression may run, delete and write.
    pub(crate) fn read_find(&mut self, line: &Line<'_>) -> Stream {
        let words: Vec<&str> = line.args.iter().map(|arg| arg.text.as_str()).collect();
        let globbed = line
            .args
            .iter()
            .any(|arg| arg.glob && arg.text.starts_with('-'));
        let reading = find::read(&words);
        self.note(Act::new(Effect::Inspect, line.row.name, line.span));
        if reading.hidden.is_some() || globbed {
            let why = reading
                .hidden
                .unwrap_or("a find expression the shell completes from file names");
            self.note(
                Act::new(Effect::Unknown, line.row.name, line.span)
                    .because("an unknown expression")
                    .on(why),
            );
        }
        let mut taint = Taint::default();
        let roots: Vec<Arg> = if reading.paths.is_empty() {
            vec![Arg::literal(".", line.span)]
        } else {
            reading
                .paths
                .iter()
                .map(|path| Arg::literal(path.clone(), line.span))
                .collect()
        };
        if reading.deletes {
            for root in &roots {
                self.found_deleted(root, &reading, &words, line);
            }
        }
        for path in &reading.writes {
            self.writes(
                &Arg::literal(path.clone(), line.span),
                line.row.name,
                Writing::Replace,
            );
        }
        for path in &reading.reads {
            taint = taint.and(self.reads(&Arg::literal(path.clone(), line.span), line.row.name));
        }
        // What is found is called what it was looked for by.
        let names = sought(&words);
        let below = |root: &Arg, name: &str| {
            let root = root.text.trim_end_matches('/');
            format!("{root}/{HOLE}{name}")
        };
        let lies = |root| names.iter().map(move |name| below(root, name));
        let mut found = self.sensitive(roots.iter().flat_map(lies).collect());
        // Whoever finds all that is in a home finds the keys in it.
        let look = looked_for(&words);
        let keys = |root: &Arg| self.ground.sensitive_below(&root.text, look.as_ref()?);
        let keys: Vec<String> = roots.iter().filter_map(keys).collect();
        for (run, names) in reading.runs.iter().zip(&reading.run_names) {
            for key in &keys {
                let filled = Filled {
                    marker: Some("{}".to_owned()),
                    with: key.clone(),
                    ..Filled::default()
                };
                taint = taint.and(self.template(run, line.span, &filled).taint);
            }
            for root in &roots {
                // What is found lies below the root; which of it cannot be known. It is called like one of
                // the names that lead to this command, not like those of other alternatives.
                let mut paths: Vec<String> = match names {
                    Sought::Named(names) => names.iter().map(|name| below(root, name)).collect(),
                    Sought::Anything => vec![below(root, "")],
                };
                paths.extend(lies(root).filter(|path| found.contains(path)));
                paths.dedup();
                for with in paths {
                    let filled = Filled {
                        marker: Some("{}".to_owned()),
                        with,
                        ..Filled::default()
                    };
                    taint = taint.and(self.template(run, line.span, &filled).taint);
                }
                // Without a test on what is found, it is all that lies below.
                if !reading.filters && self.is_whole(root) {
                    let all = Filled {
                        marker: Some("{}".to_owned()),
                        with: format!("{}/*", root.text.trim_end_matches('/')),
                        glob: true,
                        ..Filled::default()
                    };
                    self.template(run, line.span, &all);
                }
            }
        }
        let whole = roots.iter().filter(|_| !reading.filters);
        let whole: Vec<&Arg> = whole.filter(|root| self.is_whole(root)).collect();
        found.extend(
            whole
                .iter()
                .map(|root| format!("{}/*", root.text.trim_end_matches('/'))),
        );
        // Names of secret files are listed, not read; what reads them next is judged then.
        found.extend(keys);
        found.truncate(NAMES_MAX);
        Stream {
            names: found,
            ..Stream::unknown(taint)
        }
    }

    fn found_deleted(
        &mut self,
        root: &Arg,
        reading: &find::FindReading,
        words: &[&str],
        line: &Line<'_>,
    ) {
        let (program, span) = (line.row.name, line.span);
        let place = self.place(&root.text);
        let only_links = reading.hidden.is_none() && find::deletes_only_links(words);
        if only_links && place.inside == Some(true) && !place.vague {
            // Settings of agents are often links; a search from above them would take those away.
            let is_open =
                !crate::written::name(&place.path).starts_with('.') && !place.whole_workspace;
            let plain = matches!(
                place.kind,
                PathKind::Document | PathKind::Generated | PathKind::Instruction
            );
            let mut act = Act::new(Effect::Delete, program, span)
                .because("deletes links, not what they lead to")
                .on(place.path)
                .target(Score::new(300));
            act.reversal = Score::new(if is_open && plain { 500 } else { 900 });
            act.breadth = Breadth::Few;
            self.note(act);
        } else if reading.filters {
            let mut act = Act::new(Effect::Delete, program, span)
                .because(FOUND_DELETED)
                .on(place.path.clone())
                .target(place.write.max(Score::new(300)));
            act.breadth = Breadth::Tree;
            act.reversal = Score::new(900);
            // Each name by which a file may be found must be that of something made; a path is looked at
            // with its last part alone.
            let found: Vec<Place> = match &reading.delete_names {
                Sought::Named(names) => {
                    let root = root.text.trim_end_matches('/');
                    let plain =
                        |name: &String| !name.contains(HOLE) && name.matches('/').count() == 1;
                    let all = names.iter().all(plain);
                    let names = names.iter().filter(|_| all);
                    names
                        .map(|name| self.place(&format!("{root}{name}")))
                        .collect()
                }
                Sought::Anything => Vec::new(),
            };
            let made = |place: &Place| matches!(place.kind, PathKind::Temp | PathKind::Generated);
            let all_made = found
                .iter()
                .all(|found| made(found) && found.inside == Some(true));
            if let Some(found) = found.into_iter().next().filter(|_| all_made) {
                // `find . -name '*.pyc' -delete`: the next build makes them again.
                act.reversal = Score::new(100);
                act.target = found.write;
                act.subject = found.path;
            } else if made(&place) {
                act.reversal = Score::new(250);
                act.target = place.write;
            }
            self.note(act);
        } else {
            self.deletes(root, program, Breadth::Tree);
        }
    }

    /// `xargs command`: the last words come from what it reads.
    pub(crate) fn read_xargs(&mut self, line: &Line<'_>) -> Stream {
        self.by_options(line);
        let Some(at) = line.read.command else {
            return self.repeats_input(line);
        };
        let command = line.args.get(at..).unwrap_or(&[]);
        let words: Vec<String> = command.iter().map(|arg| arg.text.clone()).collect();
        let names = ["-i", "--replace"];
        let given = line.read.value(&["-I", "-J", "-i", "--replace"]);
        let marker = given
            .map(|value| value.text.clone())
            .or_else(|| line.read.has(&names).then(|| "{}".to_owned()));
        if line.row.name == "parallel" {
            let marker = marker.unwrap_or_else(|| "{}".to_owned());
            return self.parallel(line, words, &marker);
        }
        let mut out = Stream::unknown(line.stdin.taint);
        for text in inputs(line, marker.is_some()) {
            let stream = if marker.is_none() && !text.contains(HOLE) {
                let mut all = words.clone();
                all.extend(text.split_whitespace().map(str::to_owned));
                self.template(&all, line.span, &Filled::default())
            } else {
                let filled = Filled {
                    marker: marker.clone(),
                    with: text,
                    glob: false,
                    appended: marker.is_none(),
                    taint: Taint {
                        command: line.stdin.taint.secret,
                        data: line.stdin.taint.data || line.read.has(&["-a", "--arg-file"]),
                        ..line.stdin.taint
                    },
                };
                self.template(&words, line.span, &filled)
            };
            out.taint = out.taint.and(stream.taint);
        }
        out
    }

    /// `xargs` alone prints what it reads; `parallel` alone runs it.
    fn repeats_input(&mut self, line: &Line<'_>) -> Stream {
        self.note(Act::new(Effect::Compute, line.row.name, line.span));
        let listed = line.read.has(&["-a", "--arg-file"]);
        if line.name.contains("parallel") && (line.stdin.connected || listed) {
            self.unreadable("runs every line it reads as a command", line.span);
        }
        Stream {
            text: line.stdin.text.clone(),
            taint: line.stdin.taint,
            connected: true,
            names: line.stdin.names.clone(),
            files: line.stdin.files.clone(),
        }
    }

    /// `parallel command ::: word…`: the command is shell text, once per word or line.
    fn parallel(&mut self, line: &Line<'_>, mut words: Vec<String>, marker: &str) -> Stream {
        let is_separator =
            |word: &String| matches!(word.as_str(), ":::" | "::::" | ":::+" | "::::+");
        let mut given: Option<Vec<String>> = None;
        if let Some(cut) = words.iter().position(is_separator) {
            let after = words.split_off(cut);
            if let Some((separator, rest)) = after.split_first()
                && separator == ":::"
            {
                given = Some(rest.to_vec());
            }
        }
        let text = words.join(" ");
        if text.is_empty() {
            // `parallel ::: 'cmd'` runs the words themselves.
            for word in few(given.clone().unwrap_or_default()) {
                self.text(&word, line.span);
            }
            if given.is_none() {
                self.unreadable("runs every line it reads as a command", line.span);
            }
            return Stream::unknown(Taint::default());
        }
        let mut out = Stream::unknown(line.stdin.taint);
        let inputs = given.map_or_else(|| inputs(line, true), few);
        for input in inputs {
            let filled = if text.contains(marker) {
                text.replace(marker, &input)
            } else {
                format!("{text} {input}")
            };
            let command = ["bash".to_owned(), "-c".to_owned(), filled];
            let stream = self.template(&command, line.span, &Filled::default());
            out.taint = out.taint.and(stream.taint);
        }
        out
    }
}

/// Returns what `find` looks for by name, each with a slash before it.
fn sought(words: &[&str]) -> Vec<String> {
    let tests = words.iter().enumerate().filter_map(|(at, word)| {
        let negated = at > 0 && matches!(words.get(at - 1), Some(&("!" | "-not")));
        let name = words.get(at + 1).filter(|_| !negated)?;
        match *word {
            "-name" | "-path" | "-wholename" => Some(format!("/{name}")),
            // Names of secrets are mostly written small.
            "-iname" | "-ipath" | "-iwholename" => Some(format!("/{}", name.to_lowercase())),
            "-regex" | "-iregex" => Some(format!("/{}", name.replace(".*", "*").replace('\\', ""))),
            _ => None,
        }
    });
    tests.take(FILLINGS_MAX).collect()
}

/// Returns which of the files in its directories `find` finds by name, or `None` if it finds no files.
fn looked_for(words: &[&str]) -> Option<Look> {
    let mut look = Look::default();
    let any = has_other_way(words);
    for (at, word) in words.iter().enumerate() {
        let Some(value) = words.get(at + 1) else {
            break;
        };
        let negated = at > 0 && matches!(words.get(at - 1), Some(&("!" | "-not")));
        let pruned = words.get(at + 2) == Some(&"-prune");
        match *word {
            "-type" | "-xtype" if *value == "d" && !negated && !any => return None,
            "-maxdepth" => look.depth = value.parse().ok(),
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" => {
                let value = (*value).to_owned();
                if negated || pruned {
                    look.not.push(value);
                } else if !any {
                    look.only.push(value);
                }
            }
            "-regex" | "-iregex" if !negated && !any => {
                look.only.push(value.replace(".*", "*").replace('\\', ""));
            }
            _ => {}
        }
    }
    Some(look)
}

/// Whether a file may be found that none of the names fits: there is an alternative that is not a plain list
/// of names in parentheses.
fn has_other_way(words: &[&str]) -> bool {
    let mut names_alone = false;
    let mut skipped = false;
    for (at, word) in words.iter().enumerate() {
        if std::mem::take(&mut skipped) {
            continue;
        }
        match *word {
            "(" => {
                let inside = words.get(at + 1..).unwrap_or(&[]);
                let mut inside = inside.iter().take_while(|word| **word != ")");
                names_alone = loop {
                    match inside.next() {
                        None => break true,
                        Some(&("-o" | "-or")) => {}
                        Some(&("-name" | "-iname")) => {
                            inside.next();
                        }
                        Some(_) => break false,
                    }
                };
            }
            ")" => names_alone = false,
            "-name" | "-iname" => skipped = true,
            "-o" | "-or" | "," if !names_alone => return true,
            _ => {}
        }
    }
    false
}

/// How many words or lines a command is filled with one by one.
const FILLINGS_MAX: usize = 16;
/// Lines of the input of code that are looked at for names of files.
const INPUT_LINES_MAX: usize = 64;

/// Returns `inputs` where they are few enough to be tried, or what stands for any of them.
fn few(inputs: Vec<String>) -> Vec<String> {
    if inputs.len() > FILLINGS_MAX {
        vec![HOLE.to_string()]
    } else {
        inputs
    }
}

/// Returns what `xargs` reads: line by line, or all of it as words of one command.
fn inputs(line: &Line<'_>, by_line: bool) -> Vec<String> {
    let from_file = line.read.has(&["-a", "--arg-file"]);
    match &line.stdin.text {
        Some(text) if line.stdin.connected && !from_file => {
            if by_line {
                few(text.lines().map(str::to_owned).collect())
            } else {
                vec![text.split_whitespace().collect::<Vec<_>>().join(" ")]
            }
        }
        Some(_) | None => {
            let mut inputs = vec![HOLE.to_string()];
            inputs.extend(line.stdin.names.iter().cloned());
            inputs
        }
    }
}
