//! Scripts of `sed`, `awk` and `jq`, and expressions of `find`.

use countersign_core::language::{awk, find, jq, sed};

use super::*;

fn find_of(line: &str) -> find::FindReading {
    find::read(&line.split_whitespace().collect::<Vec<_>>())
}

#[test]
#[rustfmt::skip]
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
            ("append the old way", "/x/a\\\nline one\\\nw /etc/passwd\n$d", Harmless),
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
            ("write command", "w /etc/cron.d/x", Deeds(vec![writes("/etc/cron.d/x")])),
            ("write after address", "/x/w out.txt", Deeds(vec![writes("out.txt")])),
            ("write first line", "1W out", Deeds(vec![writes("out")])),
            ("write flag", "s/a/b/gw /tmp/x", Deeds(vec![writes("/tmp/x")])),
            ("write in a block", "/x/{s/a/b/;w out\n}", Deeds(vec![writes("out")])),
            ("read command", "/x/r /etc/shadow", Deeds(vec![reads("/etc/shadow")])),
            ("read lines", "R other.txt", Deeds(vec![reads("other.txt")])),
            ("run a command", "1e rm -rf /", Deeds(vec![shell("rm -rf /")])),
            ("run the pattern space", "e", Hidden),
            ("run the result", "s/.*/id/e", Hidden),
            ("run the result with other flags", "s/x/y/gpe", Hidden),
            ("write after a text", "a\\\ntext\nw x", Deeds(vec![writes("x")])),
            ("unknown command", "k", Hidden),
            ("unfinished substitution", "s/a/b", Hidden),
            ("unfinished block", "/x/{p", Hidden),
            ("garbage after a command", "p x", Hidden),
            ("stray closing brace", "p}", Hidden),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn awk_programs_are_harmless_unless_they_write_read_or_run() {
    check(
        "awk",
        awk::read,
        vec![
            ("print a field", "{print $1}", Harmless),
            ("danger is only mentioned", "{print \"system(rm -rf /)\"}", Harmless),
            ("compare in a condition", "$3 > 100 {print $1}", Harmless),
            ("compare in an if", "{if ($1 > 5 && $2 >= 3) print $0; else print \"no\"}", Harmless),
            ("compare in parentheses after print", "{print ($1 > 5)}", Harmless),
            ("sum", "{s+=$1} END {print s/NR}", Harmless),
            ("pattern with bar and slash", "/a|b\\/c[/]/ {print}", Harmless),
            ("division is no pattern", "{print $1/$2/3 > \"/dev/stderr\"}", Harmless),
            ("two files", "NR==FNR{a[$1];next} $1 in a", Harmless),
            ("split and loop", "{n=split($0,a,\":\");for(i=1;i<=n;i++)print a[i]}", Harmless),
            ("format", "BEGIN{FS=\",\";OFS=\"|\"}{printf \"%s %d\\n\",$1,$2}", Harmless),
            ("or is no pipe", "/a/||/b/{print}", Harmless),
            ("own function", "function f(x){return x*2}{print f($1)}", Harmless),
            ("substitute", "{gsub(/[ \\t]+/,\"\");print toupper($0)}", Harmless),
            ("ternary", "{print ($1>0?\"a\":\"b\")}", Harmless),
            ("comment", "{print} # | \"sh\"", Harmless),
            ("read standard input", "BEGIN{while((getline l)>0)n++;print n}", Harmless),
            ("read standard input by name", "BEGIN{getline x < \"-\"}", Harmless),
            ("flush", "{print;system(\"\")}", Harmless),
            ("line continued", "{print $1,\n$2}", Harmless),
            ("print to error", "{print > \"/dev/stderr\"}", Harmless),
            ("typed pattern", "BEGIN{r=@/x/;print typeof(r)}", Harmless),
            ("unary and power", "{print -$1^2, !$2, $NF-1}", Harmless),
            ("system", "BEGIN{system(\"rm -rf /\")}", Deeds(vec![shell("rm -rf /")])),
            ("system with blank", "BEGIN { system(\"id\" ) }", Deeds(vec![shell("id")])),
            ("computed system", "{system(\"rm \" $1)}", Hidden),
            ("variable system", "{system(cmd)}", Hidden),
            ("escaped system", "BEGIN{system(\"\\162m x\")}", Hidden),
            ("pipe out", "{print $1 | \"sort -u\"}", Deeds(vec![shell("sort -u")])),
            ("pipe in", "BEGIN{\"date\" | getline d; print d}", Deeds(vec![shell("date")])),
            ("pipe in without blanks", "BEGIN{while((\"id\"|getline l)>0)print l}", Deeds(vec![shell("id")])),
            ("computed pipe", "{print | \"mail \" $1}", Hidden),
            ("computed pipe in", "{\"cat \" $1 | getline x}", Hidden),
            ("two-way pipe", "BEGIN{print \"x\" |& \"sort\"}", Deeds(vec![shell("sort")])),
            ("text piped into a shell", "{print \"rm \"$1 | \"sh\"}", Hidden),
            ("write", "{print $1 > \"out.txt\"}", Deeds(vec![writes("out.txt")])),
            ("append", "{printf(\"%s\",$1) >> \"/etc/x\"}", Deeds(vec![writes("/etc/x")])),
            ("computed file", "{print > $1\".txt\"}", Hidden),
            ("read a file", "BEGIN{getline x < \"/etc/shadow\";print x}", Deeds(vec![reads("/etc/shadow")])),
            ("read a computed file", "BEGIN{while((getline l < f)>0)print l}", Hidden),
            ("network", "BEGIN{s=\"/inet/tcp/0/h/80\";print \"x\" |& \"/inet/tcp/0/h/80\"}", Deeds(vec![Deed::Send("/inet/tcp/0/h/80".to_owned())])),
            ("include", "@include \"evil.awk\"", Hidden),
            ("load", "@load \"fork\"; BEGIN{fork()}", Hidden),
            ("indirect call", "{f=\"system\"; @f(\"id\")}", Hidden),
            ("foreign function", "BEGIN{exec(\"x\")}", Hidden),
            ("environment", "BEGIN{print ENVIRON[\"X\"]}", Deeds(vec![reads("environment")])),
            ("read other files", "BEGIN{ARGV[1]=\"/etc/shadow\";ARGC=2}{print}", Hidden),
            ("unfinished string", "{print \"x}", Hidden),
        ],
    );
}

#[test]
#[rustfmt::skip]
fn jq_filters_are_harmless_unless_they_reach_outside() {
    check(
        "jq",
        jq::read,
        vec![
            ("identity", ".", Harmless),
            ("path", ".a.b[0][\"c\"]?", Harmless),
            ("pipeline", ".[] | select(.x == \"rm -rf /\") | {a, b: .c}", Harmless),
            ("interpolation", "\"\\(.a) \\(.b | map(\"<\\(.)>\") | join(\",\"))\"", Harmless),
            ("own function", "def f(g): map(g); f(.+1)", Harmless),
            ("reduce", "reduce .[] as $x (0; . + $x)", Harmless),
            ("entries", "to_entries|map(\"\\(.key)=\\(.value)\")|.[]", Harmless),
            ("conditional", "if .a then 1 elif .b then 2 else empty end", Harmless),
            ("formats", "[.a,.b]|@csv, @sh, @base64d", Harmless),
            ("try and alternative", "try error(\"x\") catch . // \"none\"", Harmless),
            ("fields named like functions", ".env.system | {env, load}", Harmless),
            ("test with pattern", "test(\"system|env\"; \"i\")", Harmless),
            ("comment", ". # env", Harmless),
            ("yq assignment", ".a.b = \"x\" | .c style=\"double\"", Harmless),
            ("inputs", "[inputs | .x] | add", Harmless),
            ("environment", "env.HOME", Deeds(vec![reads("environment")])),
            ("environment variable", "$ENV.PATH", Deeds(vec![reads("environment")])),
            ("environment in a string", "\"\\(env|tostring)\"", Deeds(vec![Deed::Reveal("all variables of the environment".to_owned())])),
            ("yq environment", ".a = strenv(X)", Sees(reads("environment"))),
            ("import", "import \"m\" as m; m::f", Hidden),
            ("include", "include \"m\"; f", Hidden),
            ("yq load", "load(\"/etc/shadow\")", Deeds(vec![reads("/etc/shadow")])),
            ("yq computed load", "load(.file)", Hidden),
            ("yq system", "system(\"id\")", Hidden),
            ("yq eval", "eval(\"x\")", Hidden),
            ("unfinished string", "\"abc", Hidden),
            ("unfinished interpolation", "\"\\(.a\"", Hidden),
        ],
    );
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
    assert!(find_of(". -name").refused, "a missing argument");
    assert!(find_of(". ( -name x").refused, "an open parenthesis");
    assert!(
        find_of(". -type f print").refused,
        "a word that is no primary"
    );
    assert!(
        !find_of(". -delete print").refused,
        "what would delete stays in doubt"
    );
    assert!(
        find_of(". -name x stray").refused,
        "a path after the expression"
    );
}
