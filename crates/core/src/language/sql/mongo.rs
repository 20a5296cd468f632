//! What a snippet given to `mongosh --eval` would do.
//!
//! The snippet is JavaScript, but of a narrow kind: chains of methods on `db`. Every method called
//! must be known; whatever is computed stays hidden.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::language::cursor::{Cursor, starts_name};
use crate::language::{Deed, FRAGMENT_BYTES_MAX, Reading, TOO_LONG};

const UNPARSED: &str = "a MongoDB script that cannot be parsed";
const UNKNOWN: &str = "an unknown MongoDB method";
const COMPUTED: &str = "a MongoDB script that computes what it calls";

/// Methods and global functions that only read or compute.
const READS: &str = "
    find findOne count countDocuments estimatedDocumentCount distinct aggregate stats getIndexes
    getIndexKeys getIndices explain limit sort skip pretty toArray forEach map filter reduce
    getCollectionNames getCollectionInfos getCollection getSiblingDB getName getMongo getDB getDBs
    getDBNames serverStatus hello isMaster version currentOp printjson print help length size
    hasNext next itcount project hint maxTimeMS batchSize comment collation readPref readConcern
    addOption allowDiskUse tailable returnKey showRecordId min max status conf config
    printReplicationInfo printSecondaryReplicationInfo printSlaveReplicationInfo printShardingStatus
    isCapped dataSize storageSize totalSize totalIndexSize latencyStats listCommands
    getProfilingStatus getProfilingLevel hostInfo getReplicationInfo getUsers getUser getRoles
    getRole serverBuildInfo getLogComponents watch getShardDistribution getShardVersion getPlanCache
    list queryPlanner executionStats isExhausted objsLeftInBatch close
    ObjectId ISODate Date NumberLong NumberInt NumberDecimal UUID BinData Timestamp RegExp
    JSON stringify parse EJSON toString toISOString getTime getTimestamp join push keys values
    entries slice concat includes indexOf startsWith endsWith toLowerCase toUpperCase split trim
    toFixed floor ceil round log error warn tojson tojsononeline printjsononeline match test some
    every flat valueOf hex str quit exit Number String Boolean Array isArray parseInt parseFloat
    if for while function return sleep cls catch";

/// Methods that change few documents or add something.
const WRITES: &str = "
    insert insertOne insertMany updateOne save createIndex createIndexes
    ensureIndex createCollection createView hideIndex unhideIndex reIndex
    convertToCapped initializeOrderedBulkOp initializeUnorderedBulkOp startSession
    startTransaction commitTransaction abortTransaction";

/// Methods that change what their filter meets; an empty filter means all of it, or whatever comes
/// first.
const FILTERED: &str = "
    deleteMany remove updateMany update deleteOne replaceOne findOneAndUpdate findOneAndReplace
    findOneAndDelete";

/// Methods that change or delete, by what stands in their arguments.
const MIXED: &str = "bulkWrite findAndModify";

/// Words in the arguments of those that delete or replace.
const REMOVING_KEYS: [&str; 5] = [
    "deleteOne",
    "deleteMany",
    "replaceOne",
    "remove",
    "removeOne",
];

/// Methods that delete wholesale.
const DESTROYS: &str = "
    drop dropDatabase dropIndex dropIndexes dropSearchIndex emptycapped clear renameCollection";

/// Methods that change rights, the server or the cluster.
const ADMINS: &str = "
    createUser dropUser dropAllUsers updateUser changeUserPassword grantRolesToUser
    revokeRolesFromUser createRole dropRole dropAllRoles updateRole grantPrivilegesToRole
    revokePrivilegesFromRole grantRolesToRole revokeRolesFromRole shutdownServer killOp
    setProfilingLevel setLogLevel fsyncLock fsyncUnlock initiate reconfig add addArb stepDown
    freeze syncFrom enableSharding shardCollection addShard removeShard moveChunk
    splitAt splitFind stopBalancer startBalancer setBalancerState setFeatureCompatibilityVersion
    logout auth cloneDatabase copyDatabase rotateCertificates setParameter";

/// First keys of `runCommand` and `adminCommand` that only read.
const READING_COMMANDS: &str = "
    listDatabases listCollections listIndexes ping serverStatus buildInfo dbStats collStats
    hello isMaster connectionStatus currentOp getParameter hostInfo getCmdLineOpts getLog
    replSetGetStatus replSetGetConfig count distinct find explain dataSize whatsmyuri usersInfo
    rolesInfo top features listCommands dbHash";

/// Reads a snippet for `mongosh` or `mongo`.
pub fn mongo(js: &str) -> Reading {
    if js.len() > FRAGMENT_BYTES_MAX {
        return Reading::hidden(TOO_LONG);
    }
    let Some(tokens) = tokens(js) else {
        return Reading::hidden(UNPARSED);
    };
    let mut reading = Reading::default();
    let shell_words = shell_command(&tokens, &mut reading);
    for (at, token) in tokens.iter().enumerate().skip(shell_words) {
        let next = tokens.get(at + 1);
        match token {
            Token::Name(name) if next == Some(&Token::Mark('(')) => {
                let arguments = tokens.get(at + 2..).unwrap_or_default();
                call(name, arguments, &mut reading);
            }
            Token::Name(name) => {
                let is_key = next == Some(&Token::Mark(':'));
                let forbidden = [
                    "process",
                    "require",
                    "eval",
                    "load",
                    "Function",
                    "constructor",
                    "globalThis",
                    "import",
                    "prototype",
                    "__proto__",
                    "child_process",
                ];
                if !is_key && forbidden.contains(&name.as_str()) {
                    reading.hide(COMPUTED);
                }
            }
            Token::Text(text) => {
                // Stages of a pipeline that write are keys, with or without quotes.
                if (text == "$out" || text == "$merge") && next == Some(&Token::Mark(':')) {
                    // The collection they name is replaced, or rows of it.
                    reading.see(Deed::DbDestroy(text.clone()));
                } else if matches!(text.as_str(), "$where" | "$function" | "$accumulator") {
                    reading.hide(COMPUTED);
                }
            }
            Token::Mark(']' | ')') if next == Some(&Token::Mark('(')) => reading.hide(COMPUTED),
            Token::Mark('`') => reading.hide(COMPUTED),
            Token::Mark(_) => {}
        }
    }
    reading
}

#[derive(Debug, PartialEq, Eq)]
enum Token {
    Name(String),
    Text(String),
    Mark(char),
}

/// `show dbs` and `use name` are commands of the shell, not JavaScript.
fn shell_command(tokens: &[Token], reading: &mut Reading) -> usize {
    match tokens {
        [Token::Name(word), Token::Name(_), ..] if word == "show" || word == "use" => {
            reading.see(Deed::DbRead);
            2
        }
        _ => 0,
    }
}

/// Tokens of arguments that are looked through; more count as the worst.
const MIXED_TOKENS_MAX: usize = 512;

/// What a method does.
#[derive(Clone, Copy)]
enum Means {
    Reads,
    Writes,
    Filtered,
    Mixed,
    Destroys,
    Admin,
}

/// The lists above by name; a text may hold many thousand calls.
static METHODS: LazyLock<HashMap<&str, Means>> = LazyLock::new(|| {
    [
        (READS, Means::Reads),
        (WRITES, Means::Writes),
        (FILTERED, Means::Filtered),
        (MIXED, Means::Mixed),
        (DESTROYS, Means::Destroys),
        (ADMINS, Means::Admin),
    ]
    .into_iter()
    .flat_map(|(names, means)| names.split_whitespace().map(move |name| (name, means)))
    .collect()
});

fn call(name: &str, arguments: &[Token], reading: &mut Reading) {
    if name == "runCommand" || name == "adminCommand" {
        run_command(name, arguments, reading);
        return;
    }
    match METHODS.get(name) {
        Some(Means::Reads) => reading.see(Deed::DbRead),
        Some(Means::Writes) => reading.see(Deed::DbWrite(name.to_owned())),
        Some(Means::Mixed) => {
            let removes = arguments.iter().take(MIXED_TOKENS_MAX).any(|token| {
                matches!(token, Token::Name(key) | Token::Text(key) if REMOVING_KEYS.contains(&key.as_str()))
            });
            // What is not written out may delete as well.
            let open =
                matches!(arguments, [Token::Name(_), ..]) || arguments.len() > MIXED_TOKENS_MAX;
            reading.see(if removes || open {
                Deed::DbDestroy(name.to_owned())
            } else {
                Deed::DbWrite(name.to_owned())
            });
        }
        Some(Means::Destroys) => reading.see(Deed::DbDestroy(name.to_owned())),
        Some(Means::Admin) => reading.see(Deed::DbAdmin(name.to_owned())),
        Some(Means::Filtered) => match arguments {
            [Token::Mark('{'), Token::Mark('}'), ..] | [Token::Mark(')'), ..] => {
                reading.see(Deed::DbDestroy(name.to_owned()));
            }
            [Token::Mark('{'), ..] => reading.see(Deed::DbWrite(name.to_owned())),
            _ => {
                reading.see(Deed::DbDestroy(name.to_owned()));
                reading.hide(COMPUTED);
            }
        },
        None => reading.hide(UNKNOWN),
    }
}

fn run_command(name: &str, arguments: &[Token], reading: &mut Reading) {
    let command = match arguments {
        [
            Token::Mark('{'),
            Token::Name(command) | Token::Text(command),
            ..,
        ]
        | [Token::Text(command), ..] => command.as_str(),
        _ => "",
    };
    if READING_COMMANDS
        .split_whitespace()
        .any(|known| known == command)
    {
        reading.see(Deed::DbRead);
    } else if command == "drop" || command == "dropDatabase" {
        reading.see(Deed::DbDestroy(command.to_owned()));
    } else {
        reading.see(Deed::DbAdmin(format!("{name} {command}")));
    }
}

fn tokens(js: &str) -> Option<Vec<Token>> {
    let mut cursor = Cursor::new(js);
    let mut tokens = Vec::new();
    while let Some(c) = cursor.peek() {
        if c.is_whitespace() {
            cursor.bump();
        } else if cursor.looking_at("//") {
            cursor.rest_of_line();
        } else if cursor.eat_text("/*") {
            cursor.take_until("*/")?;
        } else if c == '\'' || c == '"' {
            cursor.bump();
            tokens.push(Token::Text(text(&mut cursor, c)?));
        } else if c == '/'
            && !matches!(
                tokens.last(),
                Some(Token::Name(_) | Token::Mark(')' | ']' | '0'))
            )
        {
            cursor.bump();
            pattern(&mut cursor)?;
            tokens.push(Token::Mark('0'));
        } else if starts_name(c) || c == '$' {
            let name = cursor.take_while(|c| c.is_alphanumeric() || c == '_' || c == '$');
            // `$out` is a key of a pipeline as well as a string.
            tokens.push(if name.starts_with('$') {
                Token::Text(name)
            } else {
                Token::Name(name)
            });
        } else if c.is_ascii_digit() {
            cursor.take_while(|c| c.is_ascii_alphanumeric() || c == '.');
            tokens.push(Token::Mark('0'));
        } else if c == '\\' {
            return None;
        } else {
            cursor.bump();
            tokens.push(Token::Mark(c));
        }
    }
    Some(tokens)
}

fn text(cursor: &mut Cursor, quote: char) -> Option<String> {
    let mut text = String::new();
    loop {
        match cursor.bump()? {
            '\\' => text.extend(cursor.bump()),
            c if c == quote => return Some(text),
            c => text.push(c),
        }
    }
}

fn pattern(cursor: &mut Cursor) -> Option<()> {
    loop {
        match cursor.bump()? {
            '\\' => {
                cursor.bump()?;
            }
            '/' => break,
            '\n' => return None,
            _ => {}
        }
    }
    cursor.take_while(char::is_alphabetic);
    Some(())
}
