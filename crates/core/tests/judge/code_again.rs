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

#[test]
#[rustfmt::skip]
fn the_same_deed_by_another_library_is_the_same_deed() {
    check(&[
        (Python, "the inner part of a library", "import _pickle\n_pickle.loads(b'cos\\nsystem\\n(S\\'id\\'\\ntR.')"),
        (Python, "another interpreter in this one", "import _interpreters as i\ni.run_string(i.create(), 'x')"),
        (Python, "what a library keeps for itself", "import uuid\nuuid._popen('rm', '-rf x')"),
        (Python, "the same, renamed", "from unittest.mock import _importer as i\ni('subprocess').run(['ls'])"),
        (Python, "a module that another holds for itself", "import random\nrandom._os.remove('/home/dev/notes.txt')"),
        (Python, "annotations that are code", "import typing\ndef f(x: \"__import__('os')\"): pass\ntyping.get_type_hints(f)"),
        (Python, "the same by a signature", "import inspect\ndef f(x: \"__import__('os')\"): pass\ninspect.signature(f, eval_str=True)"),
        (Python, "helpers of the tests of the language", "from test.support import script_helper\nscript_helper.assert_python_ok('-c', 'x')"),
        (Python, "an extension of a database", "import sqlite3\nc = sqlite3.connect(':memory:')\nc.load_extension('/tmp/evil')"),
        (Python, "a member of an archive", "import zipfile\nfrom pathlib import Path\nzipfile.ZipFile('a.zip').extract('x', Path.home())"),
        (Python, "a member of an archive by name", "import tarfile\ntarfile.open('a.tgz').extract('x', path='/home/dev')"),
        (Python, "a log in a profile, spelt in parts", "import logging\nlogging.basicConfig(filename=''.join(['/home/dev/.bas', 'hrc']))"),
        (Python, "a compressed file", "import bz2\nbz2.BZ2File('/home/dev/x', 'w').write(b'x')"),
        (Python, "a loaded library of C by key", "import numpy.ctypeslib as c\nc.load_library('libc.so.6', '/lib')['system'](b'x')"),
        (Python, "code as a text", "import six\nsix.exec_('x')"),
        (Python, "a function by its name", "from django.utils.module_loading import import_string as i\ni('os.system')('x')"),
        (Python, "a client of the versions", "import git\ngit.Repo('.').git.push('--force', 'origin', 'main')"),
        (Python, "a library that publishes", "from twine.commands.upload import upload\nupload(None, ['dist/x'])"),
        (Python, "a library that writes to people", "import resend\nresend.Emails.send({'to': 'x@example.org', 'text': 'x'})"),
        (Python, "a statement by another method", "import records\nrecords.Database('postgres://prod/db').query('DROP TABLE users')"),
        (Node, "a statement by another method", "const D = require('better-sqlite3'); new D('x.db').exec('DROP TABLE users')"),
        (Node, "a program in an object", "Bun.spawn({cmd: ['rm', '-rf', '/home/dev/other']})"),
        (Node, "an extension of a database", "const D = require('better-sqlite3'); new D('x.db').loadExtension('/tmp/evil')"),
    ], true);
    check(&[
        (Python, "own names that begin so", "from app.core import _parse\nimport app\nprint(_parse('x'), app._version)"),
        (Python, "a log of the project", "import logging\nlogging.basicConfig(level=logging.INFO)\nlogging.basicConfig(filename='out/a.log')\nlogging.getLogger('x').info('y')"),
        (Python, "a member of an archive in the project", "import zipfile\nzipfile.ZipFile('a.zip').extract('x')\nzipfile.ZipFile('a.zip').extract('x', 'out')"),
        (Python, "a pattern in a column", "import pandas as pd\nprint(pd.Series(['a1']).str.extract(r'(\\d)'))"),
        (Python, "libraries that compute", "import numpy as np, typing, concurrent.futures, unittest\nprint(np.zeros(3), typing.Optional[int])"),
        (Node, "texts that are no statement", "const m = /a/.exec('drop'); const r = require('./runner'); r.run('all the tests')"),
    ], false);
}

/// Modules of the standard library by which code is run, files are changed or others are reached.
#[test]
#[rustfmt::skip]
fn no_module_of_the_standard_library_is_a_way_around() {
    const MODULES: &[&str] = &[
        "os", "posix", "nt", "subprocess", "_posixsubprocess", "shutil", "socket", "_socket", "socketserver", "ssl", "importlib",
        "imp", "runpy", "code", "codeop", "builtins", "ctypes", "_ctypes", "pickle", "_pickle", "marshal", "shelve", "dbm", "pty",
        "tty", "fcntl", "signal", "atexit", "gc", "inspect", "site", "sysconfig", "zipimport", "pkgutil", "zipapp", "venv",
        "ensurepip", "distutils", "smtplib", "ftplib", "telnetlib", "poplib", "imaplib", "nntplib", "http", "xmlrpc",
        "wsgiref", "smtpd", "asyncore", "asynchat", "webbrowser", "pdb", "bdb", "trace", "profile", "cProfile", "pydoc",
        "doctest", "tkinter", "_tkinter", "turtle", "pipes", "cgitb", "netrc", "spwd", "test", "idlelib", "_testcapi",
        "_interpreters", "_xxsubinterpreters", "annotationlib", "rlcompleter", "winreg", "_winapi", "_imp", "_io", "_pyio",
        "_frozen_importlib_external",
    ];
    for module in MODULES {
        for code in [
            format!("import {module}\n{module}.anything('x')"),
            format!("import {module} as m\nm.anything('x')"),
            format!("from {module} import anything as f\nf('x')"),
            format!("from {module} import anything\nx = [anything]\nx[0]('x')"),
        ] {
            assert_ne!(run(Python, &code), Verdict::Allow, "{code}");
        }
    }
}
