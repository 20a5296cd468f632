//! Programs that the owner describes: by rows in the configuration, and with `teach`.

use crate::support::Sandbox;

const ROWS: &str = "programs:
  - names: [tix]
    everywhere: [\"--json\"]
    subs:
      - { names: [close], does: write, operands: \"name*\", match: [tix close t-1] }
      - names: [hook]
        does: unknown
";

const HELP: &[u8] = b"Usage: tix <COMMAND>

Commands:
  close   Close a ticket
  on      Switch the watcher on
Options:
  --db <FILE>   The database
";

fn owner(text: &str) -> Sandbox {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.config(), text).unwrap();
    sandbox
}

#[test]
fn a_described_program_runs_as_its_row_says() {
    let rows = [
        ("described", ROWS, "tix close t-12", 0),
        ("not described", "", "tix close t-12", 10),
        ("not marked", ROWS, "tix hook install", 10),
        ("a path", ROWS, "/opt/tix close t-12", 10),
        (
            "beside another command",
            ROWS,
            "tix close t-12 && git push --force",
            10,
        ),
        ("beside a catastrophe", ROWS, "tix close t-12; rm -rf /", 20),
    ];
    for (name, config, command, code) in rows {
        let ran = owner(config).run(&["check", command]);
        assert_eq!(ran.code, code, "{name}: {}{}", ran.stdout, ran.stderr);
    }
    let ran = owner(ROWS).run(&["check", "--no-config", "tix close t-12"]);
    assert_eq!(ran.code, 10, "without a configuration nothing is described");
}

#[test]
fn a_question_about_an_unknown_program_says_what_to_type() {
    let ran = owner("").run(&["check", "glimmer merge x"]);
    assert_eq!(ran.code, 10);
    let shown = ran.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = "`glimmer --help | countersign teach glimmer -`";
    assert!(shown.contains(hint), "{}", ran.stdout);
}

#[test]
fn a_wrong_row_is_an_error_with_its_line_and_a_hint() {
    #[rustfmt::skip]
    let rows = [
        // name                        text                                                                                              words
        ("an effect that is none",     "review: {enabled: true}\nprograms:\n  - names: [tix]\n    does: reed\n",                          &["config.yaml:4:", "`programs[0].does`", "row `tix`", "hint: did you mean `read`?"][..]),
        ("an example that fails",      "programs:\n  - names: [tix]\n    subs:\n      - names: [list]\n        does: read\n        match:\n          - tix list\n          - tix lost\n", &["config.yaml:8:", "programs[0].subs[0].match[1]", "row `tix list`", "`tix lost`", "hint: change the row or the example"]),
        ("a flag that cannot be read", "programs:\n  - names: [tix]\n    does: read\n    flags:\n      - \"-a\"\n      - \"-b =reed\"\n", &["config.yaml:6:", "-b =reed", "hint: write names"]),
        ("a path as a name",           "programs:\n  - names: [./tix]\n    does: read\n",                                                 &["config.yaml:2:", "no path"]),
        ("a column that is none",      "programs:\n  - names: [tix]\n    reader: shell\n    does: read\n",                                &["programs[0].reader", "there is no such key"]),
        ("a row without a list",       "programs: {names: [tix]}\n",                                                                      &["must be a list"]),
    ];
    for (name, text, words) in rows {
        for arguments in [
            &["config", "check"][..],
            &["policy", "check"],
            &["check", "ls"],
        ] {
            let ran = owner(text).run(arguments);
            assert_eq!(ran.code, 2, "{name}: {}", ran.stdout);
            for word in words {
                assert!(ran.stderr.contains(word), "{name}: {word}: {}", ran.stderr);
            }
        }
    }
}

#[test]
fn a_projects_file_describes_no_programs() {
    let sandbox = Sandbox::new();
    std::fs::write(sandbox.project().join(".countersign.yaml"), ROWS).unwrap();
    let ran = sandbox.run(&["check", "tix close t-12"]);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("a project may not set this"),
        "{}",
        ran.stderr
    );
}

#[test]
fn the_rows_are_listed_and_counted() {
    let sandbox = owner(ROWS);
    let ran = sandbox.run(&["config", "get", "programs"]);
    assert!(ran.stdout.contains("\"close\""), "{}", ran.stdout);
    let ran = sandbox.run(&["policy", "check"]);
    assert!(
        ran.stdout
            .contains("0 rules, 1 described program, and every example matches"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_example_in_the_documentation_holds() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let text = std::fs::read_to_string(file).unwrap();
    let (_, section) = text.split_once("## Programs\n").unwrap();
    let (_, yaml) = section.split_once("```yaml\n").unwrap();
    let (yaml, rest) = yaml.split_once("```").unwrap();
    let sandbox = owner(yaml);
    let ran = sandbox.run(&["config", "check"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let (_, shown) = rest.split_once("in words that it calls plain: ").unwrap();
    let shown = shown.split(" still ask").next().unwrap();
    let commands: Vec<&str> = shown.split('`').skip(1).step_by(2).collect();
    assert_eq!(commands.len(), 2, "{shown}");
    for command in commands {
        assert_eq!(sandbox.run(&["check", command]).code, 10, "{command}");
    }
    let mut effects = rest.split("`does`: ").nth(1).unwrap().split('`').skip(1);
    let effects = effects.next().unwrap().split_whitespace();
    for effect in effects {
        let row = format!("programs: [{{names: [tix], does: {effect}}}]\n");
        let ran = owner(&row).run(&["config", "check"]);
        assert_eq!(ran.code, 0, "{effect}: {}", ran.stderr);
    }
}

#[test]
fn teach_proposes_a_row_that_loads_and_asks() {
    let sandbox = owner("");
    let ran = sandbox.run_with(&["teach", "tix", "-"], HELP);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    std::fs::write(sandbox.config(), &ran.stdout).unwrap();
    assert_eq!(sandbox.run(&["config", "check"]).code, 0);
    for command in ["tix close t-12", "tix on", "tix close --db x t-12"] {
        assert_eq!(sandbox.run(&["check", command]).code, 10, "{command}");
    }
    let marked = ran.stdout.replacen("does: unknown", "does: write", 1);
    std::fs::write(sandbox.config(), marked).unwrap();
    assert_eq!(sandbox.run(&["check", "tix close t-12"]).code, 0);
    assert_eq!(sandbox.run(&["check", "tix on"]).code, 10);

    let ran = sandbox.run_with(&["teach", "tix", "-", "--json"], HELP);
    let row: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(row["subs"][1]["names"][0], "on");
}

#[test]
fn teach_writes_nothing_where_nobody_can_be_asked() {
    let sandbox = owner("review: {enabled: true}\n");
    let ran = sandbox.run_with(&["teach", "tix", "-", "--write"], HELP);
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(
        ran.stderr.contains("there is nobody to ask"),
        "{}",
        ran.stderr
    );
    let kept = std::fs::read_to_string(sandbox.config()).unwrap();
    assert_eq!(kept, "review: {enabled: true}\n");
}

#[test]
fn teach_says_what_is_wrong() {
    let sandbox = owner(ROWS);
    #[rustfmt::skip]
    let rows = [
        ("a known program",       &["teach", "git", "-"][..],             HELP,        "`git` is known already"),
        ("a path",                &["teach", "./tix", "-"],               HELP,        "no name that can be described"),
        ("no manual page",        &["teach", "no-such-program-anywhere"], b"",         "no manual page"),
        ("nothing in the text",   &["teach", "tixy", "-"],                b"hello\n",  "no subcommands and no options"),
        ("a row that is there",   &["teach", "tix", "-", "--write"],      HELP,        "`tix` has a row"),
    ];
    for (name, arguments, help, words) in rows {
        let ran = sandbox.run_with(arguments, help);
        assert_ne!(ran.code, 0, "{name}: {}", ran.stdout);
        assert!(ran.stderr.contains(words), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("hint:"), "{name}: {}", ran.stderr);
    }
}

#[test]
fn teach_reads_a_manual_page() {
    let sandbox = owner("");
    let pages = sandbox.project().join("man/man1");
    std::fs::create_dir_all(&pages).unwrap();
    let page = ".TH TIX 1\n.SH COMMANDS\n.TP\n.B close\nCloses a ticket.\n.SH OPTIONS\n.TP\n\\fB\\-\\-db\\fR \\fIFILE\\fR\nThe database.\n";
    std::fs::write(pages.join("tix.1"), page).unwrap();
    let manpath = sandbox.project().join("man");
    let ran = sandbox.run_in(&["teach", "tix"], &[("MANPATH", manpath.to_str().unwrap())]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.contains("\"close\""), "{}", ran.stdout);
    assert!(ran.stdout.contains("--db =unknown"), "{}", ran.stdout);
}

#[test]
fn an_agent_that_teaches_changes_the_firewall() {
    for command in [
        "countersign teach tix",
        "tix --help | countersign teach tix -",
        "countersign teach tix --write <<< y",
        "script -qc 'countersign teach tix --write' /dev/null",
    ] {
        let ran = owner("").run(&["check", command, "--json"]);
        assert_eq!(ran.code, 10, "{command}: {}", ran.stdout);
        let judged: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        let codes = judged["findings"].to_string();
        assert!(codes.contains("\"guard\""), "{command}: {codes}");
    }
}
