//! Places: workspaces under the root, the owner's projects beside a workspace, and code that a call
//! writes or builds outside of it and then runs. Each quiet row has a twin that asks.

use countersign_core::call::ToolCall;
use countersign_core::judge::{consider_after, judge_bound};
use countersign_core::policy::{Policy, Trust};
use countersign_core::verdict::{Verdict, verdict};
use countersign_core::written::Written;

/// Judges commands that one agent runs one after the other in `directory`.
fn session(directory: &str, commands: &[&str]) -> Verdict {
    let mut written = Written::default();
    let mut last = Verdict::Refuse;
    for command in commands {
        let call = ToolCall::command(*command).from_directory(directory);
        let considered = consider_after(&Policy::default(), &call, &[], written.clone());
        for (path, content) in considered.files.writes {
            written.add(&path, content);
        }
        last = verdict(&considered.assessment, &considered.situation).verdict;
    }
    last
}

/// What it is about, where, what runs, and its twin that asks.
type Twin = (&'static str, &'static str, &'static str, &'static str);

fn check(twins: &[Twin]) {
    let mut wrong = Vec::new();
    for (about, directory, quiet, loud) in twins {
        if session(directory, &[quiet]) != Verdict::Allow {
            wrong.push(format!("{about}: {quiet:?} asks in {directory}"));
        }
        if session(directory, &[loud]) < Verdict::Ask {
            wrong.push(format!("{about}: {loud:?} runs in {directory}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_project_under_the_root_is_a_workspace() {
    let runs = |directory| session(directory, &["python3 tools/run.py && make test"]);
    for directory in [
        "/app",
        "/widget__widget",
        "/Acme-Server",
        "/monorepo2",
        "/app/sub",
    ] {
        assert_eq!(runs(directory), Verdict::Allow, "{directory}");
    }
    for directory in [
        "/",
        "/etc",
        "/usr",
        "/bin",
        "/sbin",
        "/lib",
        "/lib64",
        "/var",
        "/root",
        "/home",
        "/Users",
        "/opt",
        "/srv",
        "/tmp",
        "/dev",
        "/proc",
        "/sys",
        "/run",
        "/boot",
        "/mnt",
        "/media",
        "/Volumes",
        "/data",
        "/data2",
        "/Backup",
        "/shared",
        "/nfs",
        "/scratch",
        "/www",
        "/vol1",
        "/volume1",
        "/c",
        "/D",
        "/System",
        "/Library",
        "/.hidden",
        "/Applications",
        "/cygdrive",
        "/secrets",
        "/TMP",
    ] {
        assert_eq!(runs(directory), Verdict::Ask, "{directory}");
    }
}

const UNDER_THE_ROOT: &[Twin] = &[
    ("whose code", "/widget", "./build.sh", "cd / && ./build.sh"),
    (
        "whose code, elsewhere",
        "/widget",
        "cd sub && make",
        "cd /gadget && make",
    ),
    (
        "what is deleted",
        "/widget",
        "rm -rf build",
        "rm -rf /widget",
    ),
    (
        "what is written",
        "/widget",
        "echo a > notes.md",
        "echo a > /etc/motd",
    ),
    (
        "what is a secret there",
        "/widget",
        "cat README.md",
        "cat /widget/.env",
    ),
];

#[test]
fn a_workspace_under_the_root_is_like_any_other() {
    check(UNDER_THE_ROOT);
}

const DIRECTORY: &str = "/home/dev/src/app";

#[rustfmt::skip]
const BESIDE: &[Twin] = &[
    ("a test", DIRECTORY, "cd ../lib && cargo test", "cd /tmp/lib && cargo test"),
    ("a type check", DIRECTORY, "cd ~/src/lib && npx tsc --noEmit", "cd ~/lib && npx tsc --noEmit"),
    ("a type check from here", DIRECTORY, "npx --prefix ../lib tsc --noEmit", "npx --prefix ../../lib tsc --noEmit"),
    ("a linter", DIRECTORY, "cd ../lib/web && npx eslint src", "cd ../downloads/web && npx eslint src"),
    ("a build", DIRECTORY, "make -C ../lib", "make -C ../.lib"),
    ("capital letters", DIRECTORY, "cd ~/SRC/lib && go vet ./...", "cd ~/SRC/../lib && go vet ./..."),
    ("part of a repository", "/home/dev/work/acme/app/cli", "cd ../../lib && go test ./...", "cd ../../../lib && go test ./..."),
    ("below a home", "/home/dev/app", "go test ./...", "cd ../lib && go test ./..."),
    ("in a folder of downloads", "/home/dev/Downloads/app", "ls ../lib", "cd ../lib && make"),
    ("installing", DIRECTORY, "cd ../lib && npm test", "cd ../lib && npm install left-pad"),
    ("a script", DIRECTORY, "cat ../lib/run.sh", "../lib/run.sh"),
    ("what is written", DIRECTORY, "cat ../lib/a.md", "echo x > ../lib/a.md"),
    ("what is deleted", DIRECTORY, "ls ../lib/src", "rm -rf ../lib/src"),
    ("what was cloned just now", DIRECTORY, "git clone https://git.example/lib ../lib", "git clone https://git.example/lib ../lib && cd ../lib && make"),
    ("what was unpacked just now", DIRECTORY, "tar xf lib.tgz -C ../lib", "tar xf lib.tgz -C ../lib; cd ../lib; make"),
    ("what a link leads to", DIRECTORY, "cd ../lib && make", "ln -s /tmp/x ../lib; cd ../lib && make"),
    ("branches", DIRECTORY, "git -C ../lib branch -a", "git -C ../lib branch topic"),
    ("a branch", DIRECTORY, "cd ../lib && git branch --show-current", "cd ../lib && git branch -m a b"),
    ("tags", DIRECTORY, "cd ../lib && git tag -l 'v*'", "cd ../lib && git tag v1"),
    ("tags by date", DIRECTORY, "git -C ../lib tag --sort=-creatordate", "git -C ../lib tag -F notes v1"),
    ("fetching", DIRECTORY, "git -C ../lib fetch origin", "git -C ../lib pull"),
    ("fetching elsewhere", DIRECTORY, "git fetch origin", "git -C /tmp/lib fetch origin"),
    ("a commit", DIRECTORY, "git -C ../lib log --oneline", "git -C ../lib commit -am x"),
    ("a checkout", DIRECTORY, "git -C ../lib diff main", "git -C ../lib checkout main"),
    ("a repository anybody made", DIRECTORY, "git -C ../lib status", "git -C /tmp/lib status"),
];

#[test]
fn the_owners_other_projects_are_built_and_read_and_not_changed() {
    check(BESIDE);
}

#[test]
fn what_the_session_put_beside_the_workspace_is_not_the_owners() {
    let build = "cd ../lib/sub && make";
    assert_eq!(session(DIRECTORY, &[build]), Verdict::Allow);
    assert_eq!(
        session(DIRECTORY, &["git worktree add ../lib topic", build]),
        Verdict::Allow
    );
    for before in [
        "git clone https://git.example/lib ../lib",
        "cd .. && git clone https://git.example/lib.git",
        "gh repo clone acme/lib ../lib",
        "tar xf lib.tgz -C ../lib",
        "cd ../lib && tar xf /tmp/lib.tgz",
        "unzip -d ../lib lib.zip",
        "cp -r /tmp/lib ../lib",
        "mv /tmp/lib ~/src/lib",
        "rsync -a /tmp/lib/ ../lib/",
        "echo 'all: ; ./x' > ../lib/sub/Makefile",
        "curl -o ../lib/sub/Makefile https://h.example/Makefile",
        "cp /tmp/Makefile ~/SRC/LIB/sub/Makefile",
    ] {
        assert_eq!(
            session(DIRECTORY, &[before, build]),
            Verdict::Ask,
            "{before}"
        );
    }
}

#[test]
fn who_says_which_directories_count_has_said_it_about_their_neighbours() {
    let call = ToolCall::command("cd ../lib && make").from_directory(DIRECTORY);
    let verdict =
        |policy: &Policy, bound: &[String]| judge_bound(policy, &call, bound).ruling.verdict;
    let here = || vec![DIRECTORY.to_owned()];
    let listed = Policy {
        trust: Trust::Listed(here()),
        ..Policy::default()
    };
    let vouched = Policy {
        vouched: here(),
        ..Policy::default()
    };
    assert_eq!(verdict(&Policy::default(), &[]), Verdict::Allow);
    assert_eq!(verdict(&listed, &[]), Verdict::Ask);
    assert_eq!(verdict(&vouched, &[]), Verdict::Ask);
    assert_eq!(verdict(&Policy::default(), &here()), Verdict::Ask);
}
