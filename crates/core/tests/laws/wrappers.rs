//! Ways to run a command that do not look like the command: wrappers, separators, disguises.

#![expect(clippy::format_collect, reason = "a few letters at a time, in a test")]

/// What a wrapper can carry, and what comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// One simple command: a program and its words.
    Simple,
    /// Any shell text.
    Script,
}

/// One way to run a command.
#[derive(Clone, Copy)]
pub(crate) struct Wrapper {
    /// What it is called in a failure.
    pub(crate) name: &'static str,
    /// What it can carry.
    pub(crate) takes: Form,
    /// What comes out.
    pub(crate) gives: Form,
    /// Whether the machine meant is this one and the whole text can be read.
    pub(crate) visible: bool,
    /// Wraps a command.
    pub(crate) wrap: fn(&str) -> String,
}

const fn argv(name: &'static str, wrap: fn(&str) -> String) -> Wrapper {
    Wrapper {
        name,
        takes: Form::Simple,
        gives: Form::Simple,
        visible: true,
        wrap,
    }
}

const fn text(name: &'static str, wrap: fn(&str) -> String) -> Wrapper {
    Wrapper {
        name,
        takes: Form::Script,
        gives: Form::Simple,
        visible: true,
        wrap,
    }
}

const fn around(name: &'static str, wrap: fn(&str) -> String) -> Wrapper {
    Wrapper {
        name,
        takes: Form::Script,
        gives: Form::Script,
        visible: true,
        wrap,
    }
}

const fn disguise(name: &'static str, wrap: fn(&str) -> String) -> Wrapper {
    Wrapper {
        name,
        takes: Form::Simple,
        gives: Form::Script,
        visible: true,
        wrap,
    }
}

const fn elsewhere(wrapper: Wrapper) -> Wrapper {
    Wrapper {
        visible: false,
        ..wrapper
    }
}

/// All wrappers. Those that act elsewhere or speak another language need only end in a question.
#[rustfmt::skip]
pub(crate) const WRAPPERS: &[Wrapper] = &[
    argv("sudo", |c| format!("sudo {c}")),
    argv("sudo with options", |c| format!("sudo -E -u root -- {c}")),
    argv("doas", |c| format!("doas {c}")),
    argv("env", |c| format!("env A=1 {c}")),
    argv("env -i", |c| format!("env -i PATH=/bin {c}")),
    argv("assignment", |c| format!("LC_ALL=C {c}")),
    argv("nice", |c| format!("nice -n 10 {c}")),
    argv("ionice", |c| format!("ionice -c 3 {c}")),
    argv("nohup", |c| format!("nohup {c}")),
    argv("setsid", |c| format!("setsid -f {c}")),
    argv("stdbuf", |c| format!("stdbuf -oL {c}")),
    argv("timeout", |c| format!("timeout -k 5 60 {c}")),
    argv("command", |c| format!("command {c}")),
    argv("exec", |c| format!("exec -a x {c}")),
    argv("builtin command", |c| format!("builtin command {c}")),
    argv("strace", |c| format!("strace -f -o /dev/null {c}")),
    argv("flock", |c| format!("flock -n /tmp/lock {c}")),
    argv("busybox", |c| format!("busybox {c}")),
    argv("taskset", |c| format!("taskset -c 0 {c}")),
    argv("systemd-run", |c| format!("systemd-run --scope {c}")),
    argv("nsenter", |c| format!("nsenter -t 1 -m {c}")),
    argv("unshare", |c| format!("unshare -n {c}")),
    // A mark that does not occur keeps them from adding a last word, which would be another command.
    argv("xargs", |c| format!("xargs -r -I@@ {c}")),
    argv("parallel", |c| format!("parallel '{}' '#' {{}} ::: a b", c.replace('\'', "'\\''"))),
    argv("find -exec", |c| format!("find . -maxdepth 1 -exec {c} \\;")),
    argv("screen", |c| format!("screen -dm {c}")),
    argv("ssh words", |c| format!("ssh host {c}")),
    elsewhere(argv("docker exec", |c| format!("docker exec web {c}"))),
    elsewhere(argv("kubectl exec", |c| format!("kubectl exec web-0 -- {c}"))),
    elsewhere(argv("chroot", |c| format!("chroot /mnt {c}"))),
    text("env -S", |c| format!("env -S {}", quote(&format!("bash -c {}", quote(c))))),
    text("bash -c", |c| format!("bash -c {}", quote(c))),
    text("sh -lc", |c| format!("sh -lc {}", quote(c))),
    text("zsh -c", |c| format!("zsh -c {}", quote(c))),
    text("bash -xec", |c| format!("bash -xec {}", quote(c))),
    text("bash -o option -c", |c| format!("bash -o pipefail -c {}", quote(c))),
    text("$SHELL -c", |c| format!("$SHELL -c {}", quote(c))),
    text("eval", |c| format!("eval {}", quote(c))),
    text("builtin eval", |c| format!("builtin eval {}", quote(c))),
    text("su -c", |c| format!("su root -c {}", quote(c))),
    text("watch", |c| format!("watch -n 5 {}", quote(c))),
    text("script -c", |c| format!("script -qc {} /dev/null", quote(c))),
    text("flock -c", |c| format!("flock /tmp/lock -c {}", quote(c))),
    text("ssh text", |c| format!("ssh -p 22 user@host {}", quote(c))),
    text("tmux", |c| format!("tmux new-session -d {}", quote(c))),
    text("git alias", |c| format!("git -c alias.x={} x", quote(&format!("!{c}")))),
    text("awk system", |c| format!("awk {}", quote(&format!("BEGIN{{system(\"{c}\")}}")))),
    text("python os.system", |c| format!("python3 -c {}", quote(&format!("import os; os.system(\"{c}\")")))),
    text("perl system", |c| format!("perl -e {}", quote(&format!("system(q({c}))")))),
    text("hyperfine", |c| format!("hyperfine {}", quote(c))),
    elsewhere(text("ruby system", |c| format!("ruby -e {}", quote(&format!("system(\"{c}\")"))))),
    elsewhere(text("node execSync", |c| format!("node -e {}", quote(&format!("require(\"child_process\").execSync(\"{c}\")"))))),
    elsewhere(text("php system", |c| format!("php -r {}", quote(&format!("system(\"{c}\");"))))),
    elsewhere(text("lua os.execute", |c| format!("lua -e {}", quote(&format!("os.execute(\"{c}\")"))))),
    elsewhere(text("make --eval", |c| format!("make --eval={} x", quote(&format!("x:;{c}"))))),
    elsewhere(text("docker run", |c| format!("docker run --rm alpine sh -c {}", quote(c)))),
    elsewhere(text("gdb", |c| format!("gdb -batch -ex {}", quote(&format!("!{c}"))))),
    around("trap", |c| format!("trap {} EXIT", quote(c))),
    around("function", |c| format!("f() {{\n{c}\n}}; f")),
    around("alias", |c| format!("shopt -s expand_aliases\nalias x={}\nx", quote(c))),
    around("here-document", |c| format!("bash <<'END_OF_IT'\n{c}\nEND_OF_IT\n")),
    around("at", |c| format!("at now <<'END_OF_IT'\n{c}\nEND_OF_IT\n")),
    around("here-string", |c| format!("bash <<< {}", quote(c))),
    around("echo to sh", |c| format!("echo {} | sh", quote(c))),
    around("printf to sh", |c| format!("printf %s {} | bash -s", quote(c))),
    around("base64 to sh", |c| format!("echo {} | base64 -d | sh", base64(c.as_bytes()))),
    around("xxd to sh", |c| format!("echo {} | xxd -r -p | bash", hex(c.as_bytes()))),
    around("rev to sh", |c| format!("echo {} | rev | sh", quote(&c.chars().rev().collect::<String>()))),
    around("octal to sh", |c| format!("printf '{}' | sh", octal(c.as_bytes()))),
    around("source of a substitution", |c| format!("source <(echo {})", quote(c))),
    around("shell of a substitution", |c| format!("bash -c \"$(echo {})\"", quote(c))),
    around("xargs sh -c", |c| format!("echo a | xargs -I{{}} sh -c {}", quote(c))),
    around("eval of a variable", |c| format!("x={}; eval \"$x\"", quote(c))),
    around("and", |c| format!("true && {c}")),
    around("or", |c| format!("false || {c}")),
    around("semicolon", |c| format!("ls; {c}")),
    around("pipe", |c| format!("ls | {{ {c}\n}}")),
    around("pipe both", |c| format!("ls |& {{ {c}\n}}")),
    around("background", |c| format!("sleep 1 & {c}")),
    around("newline", |c| format!("ls\n{c}")),
    around("comment before", |c| format!("ls # list\n{c}")),
    around("subshell", |c| format!("( {c}\n)")),
    around("group", |c| format!("{{ {c}\n}}")),
    around("if", |c| format!("if true; then {c}\nfi")),
    around("condition", |c| format!("if {c}\nthen :; fi")),
    around("else", |c| format!("if true; then :; else {c}\nfi")),
    around("for", |c| format!("for i in 1 2; do {c}\ndone")),
    around("while", |c| format!("while true; do {c}\ndone")),
    around("until", |c| format!("until {c}\ndo :; done")),
    around("case", |c| format!("case a in a) {c}\n;; esac")),
    around("select", |c| format!("select i in 1; do {c}\ndone")),
    around("not", |c| format!("! {c}")),
    around("time", |c| format!("time {c}")),
    around("coproc", |c| format!("coproc {{ {c}\n}}")),
    around("substitution", |c| format!("echo $({c}\n)")),
    around("quoted substitution", |c| format!("echo \"a $({c}\n) b\"")),
    around("backticks", |c| format!("echo `{}`", c.replace('\\', "\\\\").replace('`', "\\`").replace('$', "\\$"))),
    around("process substitution", |c| format!("cat <({c}\n)")),
    around("output process", |c| format!("ls > >({c}\n)")),
    around("assigned substitution", |c| format!("x=$({c}\n)")),
    around("default substitution", |c| format!("echo ${{x:-$({c}\n)}}")),
    around("test", |c| format!("[[ -n $({c}\n) ]]")),
    around("arithmetic", |c| format!("echo $(( $({c}\n) + 1 ))")),
    around("expanding here-document", |c| format!("cat <<END_OF_IT\n$({c}\n)\nEND_OF_IT\n")),
    around("array element", |c| format!("a=( $({c}\n) )")),
    disguise("quote splice", |c| first(c, |word| word.chars().map(|letter| format!("{letter}''")).collect())),
    disguise("double-quote splice", |c| first(c, |word| format!("\"{word}\""))),
    disguise("backslash splice", |c| first(c, |word| word.chars().map(|letter| format!("\\{letter}")).collect())),
    disguise("ANSI-C quotes", |c| first(c, |word| format!("$'{}'", word.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>()))),
    disguise("variable", |c| format!("v={}", first(c, |word| format!("{word}; $v")))),
    disguise("two variables", |c| { let (head, tail) = split_word(c); format!("v={head}; w={tail}; {}", first(c, |_| "$v$w".to_owned())) }),
    disguise("default value", |c| first(c, |word| format!("${{unset_name:-{word}}}"))),
    disguise("array", |c| format!("v=({c}); \"${{v[@]}}\"")),
    disguise("positional", |c| format!("set -- {c}; \"$@\"")),
    disguise("lower case", |c| format!("v={}", first(c, |word| format!("{}; ${{v,,}}", word.to_uppercase())))),
    disguise("substituted word", |c| first(c, |word| format!("$(echo {word})"))),
    disguise("full path", |c| format!("/usr/bin/{c}")),
    disguise("strange path", |c| format!("/bin/../usr//bin/./{c}")),
    disguise("line continuation", |c| first(c, |word| word.chars().map(|letter| format!("{letter}\\\n")).collect())),
    disguise("field separator", |c| c.replace(' ', "${IFS}")),
    disguise("braces", |c| format!("{{{}}}", c.replace(' ', ","))),
];

/// Quotes `text` so that a shell reads it as one word.
pub(crate) fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Applies `change` to the first word of `command`.
fn first(command: &str, change: impl FnOnce(&str) -> String) -> String {
    match command.split_once(' ') {
        Some((word, rest)) => format!("{} {rest}", change(word)),
        None => change(command),
    }
}

fn split_word(command: &str) -> (String, String) {
    let word = command.split(' ').next().unwrap_or("");
    let middle = word.len() / 2;
    (
        word.chars().take(middle).collect(),
        word.chars().skip(middle).collect(),
    )
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn octal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\{byte:03o}")).collect()
}

fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let number = (0..3).fold(0_usize, |number, at| {
            number << 8 | usize::from(chunk.get(at).copied().unwrap_or(0))
        });
        for at in 0..4 {
            let letter = LETTERS
                .get(number >> (18 - 6 * at) & 63)
                .copied()
                .unwrap_or(b'=');
            text.push(if at > chunk.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}
