//! Families that somebody found who read what the judge says about repositories nobody had tuned it on.

use super::{Family, judge_families};

/// What runs on a machine that is not the developer's own.
const ELSEWHERE: &[Family] = &[Family {
    name: "everyday work is none on another machine",
    asks: &[
        "ssh root@host 'cd /srv/shop && git pull origin main'",
        "ssh root@host git checkout main",
        "ssh deploy@host 'git stash && git merge origin/main'",
        "ssh host npm run build",
        "ssh host 'cargo build --release'",
        "ssh host mkdir backups",
        "git pull && ssh host git pull",
        "npm run build; ssh host npm run build",
        "ssh host 'bash -c \"cd app && git fetch && git checkout v2\"'",
        "ssh a ssh b git pull",
        "kubectl exec web-0 -- npm run build",
        "kubectl exec -n shop deploy/web -- git pull",
    ],
    runs: &[
        "ssh root@host ls /var/www",
        "ssh host 'cd /srv/shop && git status && git log -3'",
        "ssh host 'tail -n 50 /var/log/nginx/error.log 2>/dev/null'",
        "ssh host 'sudo journalctl -u shop | tail -5'",
        "ssh host 'for i in 1 2; do uptime; sleep 5; done'",
        "kubectl exec web-0 -- ls /app",
        "kubectl exec web-0 -- sh -c 'cat /etc/hosts 2>/dev/null'",
        "docker exec web npm run build",
        "git pull && npm run build",
    ],
}];

#[test]
fn what_runs_elsewhere_asks_unless_it_only_looks() {
    judge_families(ELSEWHERE);
}
