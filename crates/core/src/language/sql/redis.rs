//! What a command given to `redis-cli` would do.

use crate::language::{Deed, Reading};
use crate::place::HOLE;

const UNKNOWN: &str = "an unknown Redis command";
const SCRIPT: &str = "a script or function that runs inside Redis";

/// Commands that only read, in lower case.
const READS: &str = "
    get mget getrange substr strlen exists type ttl pttl expiretime pexpiretime keys scan randomkey
    dbsize info ping echo time lastsave object memory lolwut command hello auth select quit reset
    client hget hmget hgetall hkeys hvals hlen hexists hstrlen hscan hrandfield httl hpttl
    hexpiretime lrange lindex llen lpos smembers sismember smismember scard srandmember sscan
    sinter sintercard sunion sdiff zrange zrangebyscore zrangebylex zrevrange zrevrangebyscore
    zrevrangebylex zrank zrevrank zscore zmscore zcard zcount zlexcount zscan zrandmember zinter
    zintercard zunion zdiff xrange xrevrange xlen xread xinfo xpending getbit bitcount bitpos
    bitfield_ro lcs pfcount geopos geodist geohash geosearch georadius_ro georadiusbymember_ro
    dump sort_ro touch slowlog latency monitor subscribe psubscribe unsubscribe punsubscribe
    ssubscribe sunsubscribe pubsub role wait waitaof readonly readwrite watch unwatch multi discard
    exec asking help
    json.get json.mget json.type json.strlen json.arrlen json.objkeys json.objlen json.arrindex
    json.resp json.debug ft.search ft.info ft._list ft.aggregate ft.explain ft.explaincli
    ft.profile ft.tagvals ft.dictdump ft.syndump ft.spellcheck ft.sugget ft.suglen ts.get ts.mget
    ts.range ts.revrange ts.mrange ts.mrevrange ts.info ts.queryindex bf.exists bf.mexists bf.info
    bf.card cf.exists cf.count cf.info cms.query cms.info topk.query topk.list topk.info
    graph.ro_query graph.explain graph.list";

/// Commands that change single keys.
const WRITES: &str = "
    set mset setex psetex setnx msetnx setrange append incr incrby incrbyfloat decr decrby getset
    getdel getex del unlink copy rename renamenx expire pexpire expireat pexpireat persist restore
    move hset hmset hsetnx hincrby hincrbyfloat hdel hexpire hpexpire hpersist hgetdel hgetex hsetex
    lpush rpush lpushx rpushx lpop rpop lset linsert lrem ltrim lmove blmove blpop brpop lmpop
    blmpop rpoplpush brpoplpush sadd srem spop smove sinterstore sunionstore sdiffstore zadd zrem
    zincrby zpopmin zpopmax zmpop bzmpop bzpopmin bzpopmax zremrangebyscore zremrangebyrank
    zremrangebylex zrangestore zinterstore zunionstore zdiffstore xadd xdel xtrim xgroup xack
    xclaim xautoclaim xreadgroup xsetid setbit bitop bitfield pfadd pfmerge geoadd geosearchstore
    georadius georadiusbymember sort publish spublish json.set json.mset json.merge json.del
    json.forget json.numincrby json.nummultby json.strappend json.arrappend json.arrinsert
    json.arrpop json.arrtrim json.clear json.toggle ft.create ft.alter ft.aliasadd ft.aliasupdate
    ft.dictadd ft.sugadd ts.create ts.add ts.madd ts.alter ts.incrby ts.decrby ts.createrule bf.add
    bf.madd bf.reserve bf.insert cf.add cf.addnx cf.reserve cf.del cms.incrby cms.initbydim
    topk.add topk.reserve bgsave save bgrewriteaof";

/// Commands that delete the keys they are given.
const TAKES_MANY: &str = "del unlink getdel expire pexpire expireat pexpireat hdel json.del";

/// Commands that delete wholesale.
const DESTROYS: &str = "flushall flushdb swapdb ft.dropindex ft.drop ts.del graph.delete";

/// Commands that change the server, its peers or its rights.
const ADMINS: &str = "
    shutdown replicaof slaveof failover debug migrate acl module cluster sync psync replconf
    pfdebug pfselftest restore-asking";

/// Commands that run code kept in the server or given with the call.
const SCRIPTS: &str =
    "eval evalsha eval_ro evalsha_ro fcall fcall_ro function script graph.query tfcall tfunction";

/// Commands with several forms: those that only read.
const READING_FORMS: [(&str, &[&str]); 7] = [
    ("config", &["get", "help"]),
    (
        "acl",
        &[
            "list", "users", "whoami", "cat", "getuser", "log", "genpass", "dryrun", "help",
        ],
    ),
    ("module", &["list", "help"]),
    (
        "cluster",
        &[
            "info",
            "nodes",
            "slots",
            "shards",
            "myid",
            "keyslot",
            "countkeysinslot",
            "getkeysinslot",
            "links",
            "replicas",
            "slaves",
            "help",
        ],
    ),
    ("script", &["exists", "help"]),
    ("function", &["list", "stats", "dump", "help"]),
    ("debug", &["object", "sleep", "help"]),
];

/// Commands with several forms that mostly read: those that do not.
const CHANGING_FORMS: [(&str, &[&str]); 4] = [
    (
        "client",
        &["kill", "pause", "unpause", "reply", "tracking", "no-evict"],
    ),
    ("slowlog", &["reset"]),
    ("latency", &["reset"]),
    ("memory", &["purge"]),
];

/// Reads the words given to `redis-cli` after its options.
pub fn redis(argv: &[&str]) -> Reading {
    let Some(name) = argv.first().map(|name| name.to_ascii_lowercase()) else {
        return Reading::hidden(UNKNOWN);
    };
    let form = argv
        .get(1)
        .map(|form| form.to_ascii_lowercase())
        .unwrap_or_default();
    let shown = || {
        let words: Vec<&str> = argv.iter().copied().take(3).collect();
        words.join(" ")
    };
    let listed = |list: &str| list.split_whitespace().any(|known| known == name);
    let has_form = |table: &[(&str, &[&str])]| {
        table
            .iter()
            .any(|(known, forms)| *known == name && forms.contains(&form.as_str()))
    };
    let unknown = HOLE.to_string();
    let mut reading = Reading::default();
    if has_form(&READING_FORMS) {
        reading.see(Deed::DbRead);
    } else if has_form(&CHANGING_FORMS) || name == "config" || listed(ADMINS) {
        reading.see(Deed::DbAdmin(shown()));
        if name == "module" {
            reading.hide(SCRIPT);
        }
    } else if listed(DESTROYS) {
        reading.see(Deed::DbDestroy(shown()));
    } else if listed(SCRIPTS) {
        reading.hide(SCRIPT);
    } else if listed(TAKES_MANY) && argv.iter().skip(1).any(|key| *key == unknown.as_str()) {
        // Which keys, and how many of them, cannot be known.
        reading.see(Deed::DbDestroy(shown()));
    } else if listed(WRITES) {
        reading.see(Deed::DbWrite(shown()));
    } else if listed(READS) {
        reading.see(Deed::DbRead);
    } else {
        reading.hide(UNKNOWN);
    }
    reading
}
