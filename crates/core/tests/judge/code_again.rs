//! Code that was written to be misread: another alphabet of signs, another library for the same deed,
//! values that take a detour. Every group that asks has ordinary neighbours that run.

use countersign_core::call::ToolCall;
use countersign_core::judge::consider_after;
use countersign_core::policy::Policy;
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;
use serde_json::{Value, json};

/// The language of a row.
#[derive(Clone, Copy)]
enum In {
    Python,
    Node,
    Shell,
}

use In::{Node, Python, Shell};

fn call(tool: &str, args: Value) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        args,
        cwd: Some("/home/dev/project".to_owned()),
        ..ToolCall::default()
    }
}

/// The strictest verdict over calls of one session, in order.
fn session(calls: &[ToolCall]) -> Verdict {
    let mut written = Written::default();
    let mut strictest = Verdict::Allow;
    for call in calls {
        let considered = consider_after(&Policy::default(), call, &[], written.clone());
        strictest = strictest.max(verdict(&considered.assessment, &considered.situation).verdict);
        for (path, content) in considered.files.writes {
            written.add(&path, content);
        }
    }
    strictest
}

fn run(language: In, code: &str) -> Verdict {
    let command = match language {
        Python => format!("python3 - <<'END'\n{code}\nEND"),
        Node => format!("node - <<'END'\n{code}\nEND"),
        Shell => code.to_owned(),
    };
    session(&[call("terminal", json!({ "command": command }))])
}

fn check(rows: &[(In, &str, &str)], asks: bool) {
    let mut wrong = Vec::new();
    for (language, name, code) in rows {
        let verdict = run(*language, code);
        if (verdict != Verdict::Allow) != asks {
            wrong.push(format!("{name}: {verdict:?}\n{code}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
#[rustfmt::skip]
fn code_is_split_as_the_language_splits_it() {
    const EVIL: &str = "require('child_process').execSync('rm -rf ..')";
    let hidden = [
        ("a pattern behind a condition", "if(1)/`/.test('');EVIL;/`/"),
        ("a pattern behind a loop", "while(0)/`/.test('');EVIL;/`/"),
        ("a pattern in an increment", "++/`/.lastIndex;EVIL;/`/"),
        ("a pattern behind a word", "try{0 instanceof/`/.x}catch{};EVIL;/`/"),
        ("a pattern that is thrown", "try{throw/`/}catch{};EVIL;/`/"),
        ("a division by a name like one of Ruby", "let x=1;x/EVIL/1"),
        ("a division by a member like a word", "const o={in:1};o.in/EVIL/1"),
        ("a division behind the end of a line", "let a=1\nlet b=a\n/EVIL/1"),
        ("a tag with a short name", "import {$ as x} from 'zx';x`rm -rf ../other`"),
        ("the end of a comment of HTML", "x=1\n--> `\nEVIL\n--> `"),
        ("the same behind a comment", "x=1/*\n*/--> `\nEVIL/*\n*/--> `"),
        ("the begin of a comment of HTML", "<!-- `\nEVIL\n<!-- `"),
    ];
    for (name, code) in hidden {
        let code = code.replace("EVIL", EVIL);
        assert_ne!(run(Node, &code), Verdict::Allow, "{name}\n{code}");
    }
    check(&[
        (Python, "signs of a comment that end it", "# -*- coding: utf-7 -*-\n# +AAo-import os+AAo-os.system('rm -rf ..')"),
        (Python, "escapes in a comment", "#!/usr/bin/python3\n# coding: unicode_escape\n# \\nimport os\\nos.system('rm -rf ..')"),
        (Python, "an encoding for an editor", "# vim: set fileencoding=hz :\nprint(1)"),
        (Python, "a word before a quote is no mark of a raw text", "open(''or'.g\\x69t/hooks/pre-commit', 'w').write('x')"),
        (Shell, "a comment of PHP that ends its code", "php -r '// ?><?php system(\"rm -rf ..\");'"),
    ], true);
    check(&[
        (Node, "divisions", "const x = 6, p = (x + 1) / 2 / x;\nconsole.log(p / x, [1][0] / 2, 'a/b'.split('/').length / 2)"),
        (Node, "patterns", "const s = 'a/b';\nif (/a/.test(s)) console.log(s.replace(/[/]b/g, 'c'), s.match(/`/));\nreturn_ = s => /b$/.test(s)"),
        (Node, "counting down to nothing", "let n = 3; while (n-->0) console.log(n)"),
        (Node, "a template behind a sum", "const a = 1;\nconsole.log('x' + `${a}`)"),
        (Python, "the usual encoding", "# -*- coding: utf-8 -*-\n# vim: set fileencoding=latin-1 :\nprint(1)"),
        (Python, "prefixes of texts", "print(r'\\d', b'x', rb'\\x', f'{1}', 'a' if 'b' in'abc' else'c')"),
    ], false);
}
