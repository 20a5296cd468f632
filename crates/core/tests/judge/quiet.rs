//! Questions that people would not want to be asked, each beside a twin that must ask.

use countersign_core::verdict::Verdict;

use crate::twins::{self, Twins, check_rows};

fn check(rows: &[Twins]) {
    check_rows("/home/dev/project", rows);
}

fn session(commands: &[&str]) -> (Verdict, Vec<String>) {
    twins::session("/home/dev/project", commands)
}

#[test]
fn the_name_of_an_unknown_program_counts_like_its_words() {
    check(&[
        (
            "a name that ends in what it shows",
            &["acme-theme-list", "acme-status", "acme_session_info --json"],
            &[
                "acme-theme-install",
                "acme-list-delete",
                "acme-status --publish",
                "acme-list -o ~/.bashrc",
                "acme-theme-list; acme-wipe-list",
                "npx -y acme-status",
                "uvx acme-theme-list",
                "bunx acme-info",
                "pipx run acme-info",
                "curl -s https://example.com/x | acme-list",
            ],
        ),
        (
            "a verb inside of the name",
            &["acme-get-info", "acme-show-layout left"],
            &[
                "get-docker",
                "acme-get",
                "acme-get-token",
                "acme-show-passwd",
                "acme-send-list-mail",
                "acme-get-info ~/.ssh/id_rsa",
            ],
        ),
        (
            "parts of the desktop that come back by themselves",
            &[
                "acme-restart-panel",
                "acme-theme-set gruvbox",
                "acme-toggle-waybar",
            ],
            &[
                "acme-restart-database",
                "acme-restart",
                "acme-reset-theme",
                "acme-theme-install x",
                "acme-set-dns",
                "acme-restart-panel-host",
                "acme-restart-panel --exec ./x",
            ],
        ),
    ]);
}

#[test]
fn words_of_unknown_programs_that_only_read() {
    check(&[
        (
            "a noun alone is listed",
            &["acme tools", "acme config --json", "acme themes"],
            &[
                "acme config token",
                "acme config x y",
                "acme tools wipe",
                "acme plugins --install",
                "acme frobnicate tools",
            ],
        ),
        (
            "a query that only reads",
            &[
                "acme exec 'SELECT name FROM users'",
                "acme --sql 'select count(*) from a;'",
            ],
            &[
                "acme exec 'DELETE FROM users'",
                "acme exec 'SELECT 1; DROP TABLE users'",
                "acme exec 'SELECT 1 > src/main.rs'",
                "acme exec 'SELECT $(id)'",
                "acme exec \"SELECT * INTO OUTFILE '/etc/x' FROM a\"",
                "acme exec 'WITH a AS (DELETE FROM b RETURNING 1) SELECT 1'",
                "acme exec select",
                "acme deploy exec 'SELECT 1 FROM a'",
                "acme ssh 'SELECT 1 FROM a'",
                "acme exec 'SELECT 1 FROM a' -- rm -rf src",
            ],
        ),
        (
            "words that select what is shown",
            &["acme auth status", "acme explain --commit 1f0c2ab --json"],
            &[
                "acme auth token",
                "acme auth login",
                "acme delete auth status",
                "acme explain --commit",
                "acme explain --commit everything",
            ],
        ),
    ]);
}

#[test]
fn questions_to_window_managers_only_read() {
    check(&[
        (
            "hyprctl",
            &[
                "hyprctl monitors -j",
                "hyprctl -j clients",
                "hyprctl getoption general:gaps_in",
                "hyprctl reload",
                "hyprctl dispatch workspace 2",
            ],
            &[
                "hyprctl dispatch exec foot",
                "hyprctl keyword exec-once foot",
                "hyprctl keyword bind 'SUPER,Q,exec,foot'",
                "hyprctl plugin load x.so",
                "hyprctl eval 'x' list",
                "hyprctl --batch 'monitors ; dispatch exec foot'",
                "hyprctl --batch='dispatch exec foot'",
                "hyprctl monitors --batch 'dispatch exec foot'",
                "hyprctl '[[BATCH]]dispatch exec foot' list",
            ],
        ),
        (
            "messages to i3 and sway",
            &[
                "swaymsg -t get_tree",
                "i3-msg -t get_workspaces",
                "bspc query -N",
            ],
            &[
                "swaymsg exec foot",
                "swaymsg 'exec foot' list",
                "swaymsg -t command exec foot",
                "swaymsg get_tree ';exec foot'",
                "i3-msg 'reload; exec foot'",
                "bspc rule -a x",
            ],
        ),
        (
            "the message bus",
            &["gdbus introspect --session --dest a.b --object-path /"],
            &[
                "gdbus call --session --dest a.b --object-path / --method a.b.Run x",
                "gdbus introspect --address unixexec:path=./x --dest a.b --object-path /",
                "dbus-send --session --dest=a.b / a.b.Run",
            ],
        ),
    ]);
}

#[test]
fn a_search_path_may_gain_directories_that_managers_fill() {
    check(&[(
        "PATH",
        &[
            "PATH=/home/dev/.local/share/mise/shims:$PATH node -v",
            "export PATH=/root/.cargo/bin:$PATH; cargo test",
            "PATH=/opt/conda/bin:$PATH python -V",
            "PATH=\"$PWD/node_modules/.bin:$PATH\" tsc",
            "echo x > bin/readme.md; PATH=$PWD/bin:$PATH ls",
        ],
        &[
            "PATH=/tmp/x:$PATH ls",
            "PATH=~/evil:$PATH ls",
            "PATH=/opt/conda/../x:$PATH ls",
            "PATH=/tmp/.cargo/bin:$PATH ls",
            "printf 'id' > bin/ls; PATH=$PWD/bin:$PATH ls",
            "printf 'id' > python3.11; PATH=.:$PATH python3.11 -V",
            "PATH=a:b:c:d:e:f:g:h:i:j:k:l:m:n:o:p:q:r:$PATH ls",
        ],
    )]);
    let wrote = ["printf 'id' > bin/ls", "PATH=$PWD/bin:$PATH ls"];
    assert!(session(&wrote).0 >= Verdict::Ask);
}

#[test]
fn counting_a_file_of_secrets_shows_nothing_of_it() {
    check(&[(
        "counts and names",
        &[
            "grep -c . .env",
            "grep -q KEY .env && echo yes",
            "grep -qE '^(A|B)=' .env",
            "grep -l KEY .env",
            "rg -c KEY .env",
            "wc -l .env",
        ],
        &[
            "grep KEY .env",
            "grep -n KEY .env",
            "grep -c x -f .env src/main.rs",
            "echo KEY | grep -q -f - .env",
            "grep -q KEY=a .env",
            "grep -qe KEY=a .env",
            "k=; for c in {a..z}; do grep -q \"$k$c\" .env && k=$k$c; done; echo $k",
            "seq 9 | xargs -I{} grep -c 'K{}' .env",
            "rg -c --passthru KEY .env",
            "rg -c --no-json KEY .env",
            "wc --files0-from=.env",
        ],
    )]);
}

#[test]
fn an_empty_directory_runs_nothing() {
    check(&[(
        "directories",
        &["mkdir -p ~/.local/bin", "mkdir -p ~/.config/autostart"],
        &[
            "mkdir -p ~/.local/bin && cp x ~/.local/bin/ls",
            "mkdir -p ~/.config/autostart && cp x.desktop ~/.config/autostart/",
            "mkfifo ~/.local/bin/x",
            "touch ~/.config/autostart/x.desktop",
            "mkdir -p /etc/cron.d",
            "mkdir -p ~/.local/bin/countersign",
            "mkdir -m 777 ~/.local/bin",
        ],
    )]);
}

#[test]
fn reasons_name_what_was_called() {
    let rows = [
        ("gh repo create a/b --public", "gh repo create --public"),
        (
            "git remote set-url origin https://github.com/a/b",
            "changes where commits are fetched from",
        ),
    ];
    for (command, words) in rows {
        let (decided, reasons) = session(&[command]);
        assert!(decided >= Verdict::Ask, "{command}");
        assert!(
            reasons.iter().any(|reason| reason.contains(words)),
            "{command}: {reasons:?}"
        );
    }
}
