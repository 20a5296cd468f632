//! SQL in its dialects, client commands, `MongoDB` and Redis.

use countersign_core::language::sql::{self, Dialect};

use super::*;

#[test]
#[rustfmt::skip]
fn sql_statements_are_judged_by_verb_condition_and_functions() {
    check(
        "sql",
        |text| sql::read(text, Dialect::Psql),
        vec![
            ("select", "SELECT * FROM users LIMIT 5", Harmless),
            ("danger is only mentioned", "SELECT 'DROP TABLE x; DELETE FROM y'", Harmless),
            ("danger in a comment", "SELECT 1 -- ; DROP TABLE x\n/* DROP /* x */ y */", Harmless),
            ("danger as a name", "SELECT \"drop table\" FROM \"delete\"", Harmless),
            ("functions", "select count(*), max(lower(a)), now()::date from t where b in (1,2)", Harmless),
            ("named subquery", "WITH a(x) AS (SELECT 1), b AS (SELECT 2) SELECT * FROM a, b", Harmless),
            ("explain a delete", "EXPLAIN DELETE FROM t", Harmless),
            ("explain analyze a select", "EXPLAIN (ANALYZE, BUFFERS) SELECT 1", Harmless),
            ("show and set", "SHOW work_mem; SET statement_timeout = 0; RESET ALL", Harmless),
            ("transaction", "BEGIN; SELECT 1; ROLLBACK;", Harmless),
            ("lock rows", "SELECT * FROM t FOR UPDATE", Harmless),
            ("catalog", "SELECT pg_size_pretty(pg_database_size(current_database()))", Harmless),
            ("dollar quotes", "SELECT $$DROP TABLE x;$$, $a$ it's $a$", Harmless),
            ("copy out", "COPY (SELECT 1) TO STDOUT WITH CSV", Harmless),
            ("describe tables", "\\dt", Harmless),
            ("describe more", "\\d+ users\n\\l\n\\x\n\\timing on\n\\conninfo", Harmless),
            ("connect and query", "\\c app\nSELECT 1;", Harmless),
            ("sleep", "SELECT pg_sleep(1)", Harmless),
            ("insert", "INSERT INTO t (a, b) VALUES (1, now())", Deeds(vec![db_write("INSERT INTO t")])),
            ("upsert", "INSERT INTO t VALUES (1) ON CONFLICT (a) DO UPDATE SET b = 1", Deeds(vec![db_write("INSERT INTO t VALUES")])),
            ("update with condition", "UPDATE t SET a = 1 WHERE id = 5", Deeds(vec![db_write("UPDATE t SET a")])),
            ("delete with condition", "DELETE FROM s.t WHERE id = 5 RETURNING *", Deeds(vec![db_write("DELETE FROM s.t WHERE")])),
            ("delete everything", "DELETE FROM users", Deeds(vec![db_destroy("DELETE FROM users")])),
            ("condition only in a subquery", "UPDATE t SET a = (SELECT b FROM c WHERE d = 1)", Deeds(vec![db_destroy("UPDATE t SET a")])),
            ("true", "DELETE FROM t WHERE true", Deeds(vec![db_destroy("DELETE FROM t WHERE true")])),
            ("one is one", "delete from t where 1=1", Sees(db_destroy("delete from t where"))),
            ("or true", "DELETE FROM t WHERE id=5 OR (1 = 1)", Sees(db_destroy("DELETE FROM t WHERE id"))),
            ("both terms true", "DELETE FROM t WHERE ((1=1) AND id IS NOT NULL)", Sees(db_destroy("DELETE FROM t WHERE"))),
            ("keys are positive", "DELETE FROM t WHERE id > 0", Sees(db_destroy("DELETE FROM t WHERE id"))),
            ("true and a condition", "DELETE FROM t WHERE 1=1 AND id=5", Deeds(vec![db_write("DELETE FROM t WHERE")])),
            ("drop", "DROP DATABASE production;", Deeds(vec![db_destroy("DROP DATABASE production")])),
            ("drop in odd case and comments", "dRoP/**/tAbLe x", Deeds(vec![db_destroy("dRoP tAbLe x")])),
            ("truncate", "TRUNCATE orders CASCADE", Deeds(vec![db_destroy("TRUNCATE orders CASCADE")])),
            ("second statement", "SELECT 1; DROP TABLE x", Sees(db_destroy("DROP TABLE x"))),
            ("alter drops a column", "ALTER TABLE t DROP COLUMN c", Deeds(vec![db_destroy("ALTER TABLE t DROP COLUMN c")])),
            ("alter adds a column", "ALTER TABLE t ADD COLUMN c int", Deeds(vec![db_write("ALTER TABLE t ADD COLUMN c")])),
            ("deleting subquery", "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", Deeds(vec![db_destroy("DELETE FROM t RETURNING"), Deed::DbRead])),
            ("explain analyze runs", "EXPLAIN ANALYZE DELETE FROM t", Deeds(vec![Deed::DbRead, db_destroy("DELETE FROM t")])),
            ("create table", "CREATE TABLE IF NOT EXISTS t (id int primary key, n varchar(20))", Deeds(vec![db_write("CREATE TABLE IF NOT EXISTS t")])),
            ("create user", "CREATE USER evil SUPERUSER", Deeds(vec![db_admin("CREATE USER evil SUPERUSER")])),
            ("grant", "GRANT ALL ON t TO x", Deeds(vec![db_admin("GRANT ALL ON t TO x")])),
            ("alter system", "ALTER SYSTEM SET a = 1", Deeds(vec![db_admin("ALTER SYSTEM SET a")])),
            ("copy to a program", "COPY t TO PROGRAM 'rm -rf ~'", Sees(shell("rm -rf ~"))),
            ("copy from a program", "COPY t FROM PROGRAM 'curl x'", Sees(shell("curl x"))),
            ("copy to a file", "COPY t TO '/etc/cron.d/x'", Sees(writes("/etc/cron.d/x"))),
            ("copy from a file", "COPY t FROM '/etc/passwd'", Sees(reads("/etc/passwd"))),
            ("read a file", "SELECT pg_read_file('/etc/passwd')", Sees(reads("/etc/passwd"))),
            ("export an object", "SELECT lo_export(16, '/tmp/x')", Sees(writes("/tmp/x"))),
            ("end sessions", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity", Sees(Deed::Kill("database sessions (pg_terminate_backend)".to_owned(), ))),
            ("other server", "SELECT * FROM dblink('h','DROP TABLE x') AS t(a int)", Hidden),
            ("unknown function", "SELECT delete_everything()", Hidden),
            ("quoted function", "SELECT \"pg_read_file\"('/etc/passwd')", Sees(reads("/etc/passwd"))),
            ("block", "DO $$ BEGIN DROP TABLE x; END $$", Hidden),
            ("procedure", "CALL cleanup()", Hidden),
            ("select into", "SELECT * INTO t2 FROM t", Sees(db_write("INTO t2 FROM t"))),
            ("shell", "\\! rm -rf ~", Deeds(vec![shell("rm -rf ~")])),
            ("shell after another", "\\dt \\! id", Sees(shell("id"))),
            ("shell in backticks", "\\set x `id`", Sees(shell("id"))),
            ("output to a program", "\\o |sh", Sees(shell("sh"))),
            ("output to a file", "\\o /tmp/x", Sees(writes("/tmp/x"))),
            ("result to a program", "SELECT 'rm -rf /' \\g |sh", Sees(shell("sh"))),
            ("run what a query returns", "SELECT 'DROP TABLE x' \\gexec", Hidden),
            ("condition after the end", "DELETE FROM t \\g\nWHERE id = 1", Sees(db_destroy("DELETE FROM t"))),
            ("include", "\\i evil.sql", Hidden),
            ("client copy", "\\copy t to 'x.csv' csv", Sees(writes("x.csv"))),
            ("client copy to program", "\\copy t to program 'sh'", Sees(shell("sh"))),
            ("variable", ":sql;", Hidden),
            ("unfinished string", "SELECT 'x", Hidden),
            ("unknown verb", "FROBNICATE x", Hidden),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn dialects_differ_in_quotes_comments_and_client_commands() {
    check(
        "mysql",
        |text| sql::read(text, Dialect::Mysql),
        vec![
            ("show", "SHOW TABLES", Harmless),
            ("vertical output", "SELECT * FROM t\\G", Harmless),
            ("escaped quote", "SELECT 'it\\'s; DROP TABLE x'", Harmless),
            ("double quotes are strings", "SELECT \"; DROP TABLE x\"", Harmless),
            ("hash comment", "SELECT 1 # ; DROP TABLE x", Harmless),
            ("names in backticks", "SELECT `drop` FROM `t`", Harmless),
            ("versioned comment runs", "SELECT 1; /*!50000 DROP TABLE x */", Sees(db_destroy("DROP TABLE x"))),
            ("dashes without blank", "DELETE FROM t --1 WHERE id=2", Sees(db_write("DELETE FROM t"))),
            ("outfile", "SELECT 1 INTO OUTFILE '/etc/cron.d/x'", Sees(writes("/etc/cron.d/x"))),
            ("load file", "SELECT LOAD_FILE('/etc/passwd')", Sees(reads("/etc/passwd"))),
            ("load data", "LOAD DATA LOCAL INFILE 'x' INTO TABLE t", Sees(reads("x"))),
            ("replace", "REPLACE INTO t VALUES (1)", Sees(db_destroy("REPLACE INTO t VALUES"))),
            ("global setting", "SET GLOBAL general_log = 1", Sees(db_admin("SET GLOBAL general_log"))),
            ("flush", "FLUSH PRIVILEGES", Sees(db_admin("FLUSH PRIVILEGES"))),
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
            ("settings", ".headers on\n.mode column\nSELECT * FROM t;", Harmless),
            ("schema", ".schema sessions", Harmless),
            ("ask", "PRAGMA table_info(t); PRAGMA journal_mode", Harmless),
            ("names in brackets", "SELECT [drop ' x] FROM [t]", Harmless),
            ("set", "PRAGMA journal_mode=WAL", Sees(db_write("PRAGMA journal_mode"))),
            ("shell", ".shell rm -rf ~", Deeds(vec![shell("rm -rf ~")])),
            ("abbreviated shell", ".sys id", Deeds(vec![shell("id")])),
            ("output", ".output /etc/cron.d/x", Sees(writes("/etc/cron.d/x"))),
            ("output to a program", ".once |sh", Sees(shell("sh"))),
            ("output back", ".output stdout", Harmless),
            ("import", ".import data.csv t", Sees(reads("data.csv"))),
            ("read", ".read evil.sql", Hidden),
            ("load", ".load ./evil", Hidden),
            ("restore", ".restore old.db", Sees(db_destroy("restore"))),
            ("backup", ".backup main /tmp/x.db", Sees(writes("/tmp/x.db"))),
            ("attach", "ATTACH DATABASE '/var/www/x.php' AS x", Sees(writes("/var/www/x.php"))),
            ("extension", "SELECT load_extension('./x')", Hidden),
            ("write a file", "SELECT writefile('/tmp/x', 'y')", Sees(writes("/tmp/x"))),
            ("vacuum into", "VACUUM INTO 'copy.db'", Sees(writes("copy.db"))),
        ],
    );
    check(
        "generic",
        |text| sql::read(text, Dialect::Generic),
        vec![
            ("no semicolon", "SELECT 1 DROP TABLE x", Sees(db_destroy("DROP TABLE x"))),
            ("batches", "SELECT 1\nGO\nDROP TABLE x\nGO", Sees(db_destroy("DROP TABLE x"))),
            ("command shell", "EXEC xp_cmdshell 'del x'", Sees(shell("del x"))),
            ("command shell with schema", "EXEC master..xp_cmdshell 'whoami'", Sees(shell("whoami"))),
            ("ambiguous escape", "SELECT 'a\\'; DROP TABLE x; --'", Hidden),
            ("versioned comment", "SELECT 1 /*!1 ; DROP TABLE x */", Hidden),
            ("measurements", "SHOW MEASUREMENTS", Harmless),
            ("drop measurement", "DROP MEASUREMENT cpu", Sees(db_destroy("DROP MEASUREMENT cpu"))),
            ("drop keyspace", "DROP KEYSPACE prod", Sees(db_destroy("DROP KEYSPACE prod"))),
            ("clickhouse delete", "ALTER TABLE t DELETE WHERE 1", Sees(db_destroy("ALTER TABLE t DELETE WHERE"))),
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
#[rustfmt::skip]
fn mongo_and_redis_commands_are_judged() {
    check(
        "mongo",
        sql::mongo,
        vec![
            ("find", "db.users.find({name: 'drop'}).limit(5).pretty()", Harmless),
            ("stats", "db.stats()", Harmless),
            ("show", "show dbs", Harmless),
            ("count", "printjson(db.getCollection('x').countDocuments({}))", Harmless),
            ("aggregate", "db.x.aggregate([{$match: {a: 1}}, {$group: {_id: '$b'}}])", Harmless),
            ("status", "rs.status().ok", Harmless),
            ("ping", "db.adminCommand('ping')", Harmless),
            ("ping with a document", "db.runCommand({ping: 1})", Harmless),
            ("drop", "db.users.drop()", Sees(db_destroy("drop"))),
            ("drop the database", "db.dropDatabase()", Sees(db_destroy("dropDatabase"))),
            ("delete all", "db.users.deleteMany({})", Sees(db_destroy("deleteMany"))),
            ("delete some", "db.users.deleteMany({a: 1})", Deeds(vec![db_write("deleteMany")])),
            ("remove all", "db.users.remove({ } )", Sees(db_destroy("remove"))),
            ("pipeline that writes", "db.x.aggregate([{$out: 'y'}])", Sees(db_write("$out"))),
            ("insert", "db.x.insertOne({a: 1})", Sees(db_write("insertOne"))),
            ("create user", "db.createUser({user: 'x'})", Sees(db_admin("createUser"))),
            ("shutdown", "db.adminCommand({shutdown: 1})", Sees(db_admin("adminCommand shutdown"))),
            ("computed method", "db.users['dr'+'op']()", Hidden),
            ("node module", "require('child_process').execSync('id')", Hidden),
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
            ("flush one", "flushdb async", Sees(db_destroy("flushdb async"))),
            ("change a setting", "config set dir /var/www", Sees(db_admin("config set dir"))),
            ("shutdown", "SHUTDOWN NOSAVE", Sees(db_admin("SHUTDOWN NOSAVE"))),
            ("replicate", "SLAVEOF h 6379", Sees(db_admin("SLAVEOF h 6379"))),
            ("module", "MODULE LOAD /tmp/x.so", Hidden),
            ("script", "EVAL return 0", Hidden),
            ("unknown", "FROB x", Hidden),
            ("nothing", "", Hidden),
        ],
    );
}
