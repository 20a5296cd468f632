//! Functions a statement calls that reach beyond the rows it names.

use super::tokens::Token;
use crate::language::{Deed, Reading};

const UNKNOWN: &str = "an unknown database function";
const COMPUTED: &str = "a database function with a computed file or command";
const ELSEWHERE: &str = "a database function that runs other code";

/// Whether names in front of parentheses must be known functions.
///
/// Where a table or a type is defined, other names stand there as well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Unknown {
    Hide,
    Pass,
}

/// What calling a function means.
#[derive(Clone, Copy)]
enum Effect {
    Reads,
    /// Writes the file named by the argument at this place.
    Writes(usize),
    Runs,
    Fetches,
    Sends,
    Admin,
    Kills,
    Changes,
    Destroys,
    Elsewhere,
}

/// Functions with effects, of all databases, in lower case.
const EFFECTS: [(&str, Effect); 84] = [
    ("load_file", Effect::Reads),
    ("pg_read_file", Effect::Reads),
    ("pg_read_binary_file", Effect::Reads),
    ("pg_ls_dir", Effect::Reads),
    ("pg_stat_file", Effect::Reads),
    ("lo_import", Effect::Reads),
    ("readfile", Effect::Reads),
    ("read_text", Effect::Reads),
    ("read_blob", Effect::Reads),
    ("read_csv", Effect::Reads),
    ("read_csv_auto", Effect::Reads),
    ("read_json", Effect::Reads),
    ("read_json_auto", Effect::Reads),
    ("read_parquet", Effect::Reads),
    ("parquet_scan", Effect::Reads),
    ("file", Effect::Reads),
    ("openrowset", Effect::Elsewhere),
    ("opendatasource", Effect::Elsewhere),
    ("openquery", Effect::Elsewhere),
    ("bfilename", Effect::Elsewhere),
    ("writefile", Effect::Writes(0)),
    ("lo_export", Effect::Writes(1)),
    ("pg_file_write", Effect::Writes(0)),
    ("pg_file_unlink", Effect::Writes(0)),
    ("pg_file_rename", Effect::Writes(0)),
    ("lo_unlink", Effect::Destroys),
    ("lo_put", Effect::Changes),
    ("lo_from_bytea", Effect::Changes),
    ("lo_create", Effect::Changes),
    ("xp_cmdshell", Effect::Runs),
    ("sys_exec", Effect::Runs),
    ("sys_eval", Effect::Runs),
    ("shellexec", Effect::Runs),
    ("executable", Effect::Elsewhere),
    ("url", Effect::Fetches),
    ("http_get", Effect::Fetches),
    ("s3", Effect::Fetches),
    ("remote", Effect::Fetches),
    ("http_post", Effect::Sends),
    ("http_put", Effect::Sends),
    ("http_delete", Effect::Sends),
    ("http", Effect::Sends),
    ("dblink", Effect::Elsewhere),
    ("dblink_exec", Effect::Elsewhere),
    ("dblink_connect", Effect::Elsewhere),
    ("dblink_send_query", Effect::Elsewhere),
    ("load_extension", Effect::Elsewhere),
    ("fts3_tokenizer", Effect::Elsewhere),
    ("edit", Effect::Elsewhere),
    ("query_to_xml", Effect::Elsewhere),
    ("query_to_json", Effect::Elsewhere),
    ("cursor_to_xml", Effect::Elsewhere),
    ("database_to_xml", Effect::Elsewhere),
    ("eval", Effect::Elsewhere),
    ("exec", Effect::Elsewhere),
    ("execute", Effect::Elsewhere),
    ("pg_terminate_backend", Effect::Kills),
    ("pg_cancel_backend", Effect::Kills),
    ("pg_reload_conf", Effect::Admin),
    ("pg_rotate_logfile", Effect::Admin),
    ("pg_switch_wal", Effect::Admin),
    ("pg_promote", Effect::Admin),
    ("pg_wal_replay_pause", Effect::Admin),
    ("pg_wal_replay_resume", Effect::Admin),
    ("pg_create_restore_point", Effect::Admin),
    ("pg_backup_start", Effect::Admin),
    ("pg_backup_stop", Effect::Admin),
    ("pg_start_backup", Effect::Admin),
    ("pg_stop_backup", Effect::Admin),
    ("pg_create_physical_replication_slot", Effect::Admin),
    ("pg_create_logical_replication_slot", Effect::Admin),
    ("pg_drop_replication_slot", Effect::Admin),
    ("pg_logical_slot_get_changes", Effect::Admin),
    ("pg_replication_origin_drop", Effect::Admin),
    ("pg_stat_reset", Effect::Admin),
    ("pg_stat_statements_reset", Effect::Admin),
    ("pg_import_system_collations", Effect::Admin),
    ("sqlite3_db_config", Effect::Admin),
    ("setval", Effect::Changes),
    ("nextval", Effect::Changes),
    ("pg_notify", Effect::Changes),
    ("drop_chunks", Effect::Destroys),
    ("master_drop_all_shards", Effect::Destroys),
    ("drop_hypertable", Effect::Destroys),
];

/// Words before a parenthesis that are no functions, and functions that only compute.
const KNOWN: &str = "
    in and or not where from join on using values select exists any some all as over partition
    filter within group by having when then else case union intersect except distinct limit offset
    interval array row rows lateral between like ilike is into table with materialized cast
    try_cast extract returning end key rollup cube grouping sets order for of if explain analyze
    verbose buffers set similar to inner left right full cross outer apply top unique primary
    references constraint check default conflict do update insert replace truncate index recursive
    pivot unpivot tablesample range window escape collate minus xor div mod regexp rlike match
    against binary desc asc only null isnull notnull at zone first last return prewhere global
    array_join sample final format settings columns prior connect start level qualify
    count sum avg min max total group_concat string_agg array_agg json_agg jsonb_agg
    json_object_agg jsonb_object_agg json_group_array json_group_object xmlagg stddev stddev_pop
    stddev_samp variance var_pop var_samp corr covar_pop covar_samp median mode percentile_cont
    percentile_disc every bool_and bool_or bit_and bit_or bit_xor any_value approx_count_distinct
    listagg regr_slope regr_intercept regr_r2 checksum_agg count_big uniq uniqexact quantile
    quantiles topk argmin argmax countif sumif avgif grouparray groupuniqarray anylast mean spread
    derivative difference non_negative_derivative moving_average percentile last_value first_value
    row_number rank dense_rank percent_rank cume_dist ntile lag lead nth_value
    abs ceil ceiling floor round trunc sign sqrt power pow exp ln log log2 log10 mod pi rand random
    setseed sin cos tan asin acos atan atan2 sinh cosh tanh degrees radians cot greatest least div
    gcd lcm factorial width_bucket bit_count conv hex unhex oct bin crc32 randomblob zeroblob
    coalesce nullif ifnull nvl nvl2 isnull iif decode choose typeof pg_typeof try_convert convert
    to_number to_char to_date to_timestamp to_json to_jsonb parse try_parse cast bool int integer
    bigint smallint tinyint numeric decimal float double real text varchar char nvarchar nchar date
    time timestamp timestamptz datetime datetime2 uuid json jsonb bytea blob boolean bit varbinary
    length char_length character_length octet_length bit_length len datalength lower upper lcase
    ucase initcap trim ltrim rtrim btrim lpad rpad left right substr substring substring_index mid
    strpos instr locate position charindex patindex replace translate reverse repeat replicate
    space concat concat_ws format printf sprintf quote quote_ident quote_literal quote_nullable
    ascii chr char unicode soundex difference md5 sha1 sha2 sha224 sha256 sha384 sha512 digest hmac
    encode decode to_base64 from_base64 to_hex split_part string_to_array array_to_string
    string_to_table string_split regexp_match regexp_matches regexp_replace regexp_split_to_array
    regexp_split_to_table regexp_substr regexp_count regexp_like regexp_instr starts_with ends_with
    glob like likely unlikely overlay normalize field find_in_set elt insert export_set make_set
    strcmp uuid gen_random_uuid uuid_generate_v4 newid inet_aton inet_ntoa host network masklen
    now current_timestamp current_date current_time localtime localtimestamp clock_timestamp
    statement_timestamp transaction_timestamp timeofday getdate getutcdate sysdate sysdatetime
    systimestamp utc_timestamp utc_date utc_time curdate curtime unix_timestamp from_unixtime
    date_trunc date_part date_add date_sub datediff date_diff timediff timestampdiff timestampadd
    dateadd datename datepart adddate subdate addtime subtime date_format time_format str_to_date
    strftime julianday unixepoch timediff age make_date make_time make_timestamp make_interval
    justify_days justify_hours year month day hour minute second quarter week weekday dayofweek
    dayofmonth dayofyear dayname monthname last_day months_between add_months next_day eomonth
    isdate to_days from_days sec_to_time time_to_sec makedate maketime period_add extract
    tostartofhour tostartofday tostartofmonth todate todatetime today yesterday toyyyymm
    json json_array json_object json_extract json_extract_scalar json_value json_query json_type
    json_valid json_keys json_length json_array_length json_each json_tree json_set json_insert
    json_replace json_remove json_patch json_quote json_unquote json_contains json_contains_path
    json_search json_table json_pretty json_merge_patch json_merge_preserve json_build_object
    json_build_array jsonb_build_object jsonb_build_array jsonb_extract_path
    jsonb_extract_path_text json_extract_path json_extract_path_text jsonb_array_elements
    jsonb_array_elements_text json_array_elements json_array_elements_text jsonb_array_length
    jsonb_each jsonb_each_text json_each_text jsonb_object_keys json_object_keys jsonb_typeof
    json_typeof jsonb_set jsonb_insert jsonb_pretty jsonb_strip_nulls json_strip_nulls
    jsonb_path_query jsonb_path_exists jsonb_path_query_array jsonb_path_query_first row_to_json
    array_to_json json_populate_record json_to_record json_to_recordset jsonb_to_record
    jsonb_to_recordset isjson openjson
    array_length array_position array_positions array_append array_prepend array_cat array_remove
    array_replace array_dims array_ndims array_upper array_lower array_fill cardinality unnest
    generate_series generate_subscripts arrayjoin arraymap arrayfilter has hasany empty notempty
    tostring toint32 toint64 touint32 touint64 tofloat64 toint8 toint16 touint8 touint16 multiif
    to_tsvector to_tsquery plainto_tsquery phraseto_tsquery websearch_to_tsquery ts_rank
    ts_rank_cd ts_headline similarity word_similarity levenshtein metaphone unaccent bm25 snippet
    highlight numnode querytree setweight tsvector_to_array
    version database schema user current_user session_user system_user current_database
    current_schema current_schemas current_catalog current_setting set_config connection_id
    pg_backend_pid pg_postmaster_start_time pg_conf_load_time pg_is_in_recovery inet_server_addr
    inet_server_port inet_client_addr inet_client_port pg_size_pretty pg_size_bytes
    pg_database_size pg_relation_size pg_total_relation_size pg_table_size pg_indexes_size
    pg_tablespace_size pg_column_size pg_get_viewdef pg_get_functiondef pg_get_constraintdef
    pg_get_indexdef pg_get_triggerdef pg_get_ruledef pg_get_expr pg_get_userbyid
    pg_get_function_arguments pg_get_function_result pg_get_function_identity_arguments
    pg_get_serial_sequence pg_get_keywords pg_table_is_visible pg_function_is_visible
    pg_type_is_visible format_type obj_description col_description shobj_description
    has_table_privilege has_schema_privilege has_database_privilege has_column_privilege
    has_function_privilege has_sequence_privilege pg_has_role pg_encoding_to_char pg_blocking_pids
    pg_current_wal_lsn pg_last_wal_receive_lsn pg_last_wal_replay_lsn
    pg_last_xact_replay_timestamp pg_wal_lsn_diff pg_walfile_name txid_current
    pg_current_xact_id pg_stat_get_activity pg_lock_status pg_show_all_settings pg_sleep sleep
    pg_stat_get_live_tuples pg_stat_get_dead_tuples to_regclass to_regtype to_regproc regclass
    pg_options_to_table pg_available_extensions pg_timezone_names pg_stat_file_none aclexplode
    acldefault pg_try_advisory_lock pg_advisory_lock pg_advisory_unlock pg_advisory_xact_lock
    pg_advisory_unlock_all pg_index_column_has_property pg_relation_filepath currval lastval
    last_insert_id row_count found_rows last_insert_rowid changes total_changes sqlite_version
    sqlite_source_id sqlite_compileoption_used sqlite_compileoption_get pragma_table_info
    pragma_index_list pragma_index_info pragma_foreign_key_list pragma_table_list
    pragma_database_list pragma_function_list pragma_compile_options pragma_table_xinfo
    benchmark get_lock release_lock is_free_lock name_const charset collation coercibility
    extractvalue updatexml xpath xmlelement xmlforest xmlparse xmlserialize xmlconcat xmltable
    st_distance st_within st_contains st_intersects st_area st_length st_astext st_asgeojson
    st_geomfromtext st_makepoint st_setsrid st_transform st_x st_y st_dwithin st_buffer st_point
    object_id object_name object_definition schema_name schema_id db_name db_id col_name
    col_length type_name type_id user_name suser_name suser_sname host_name serverproperty
    databasepropertyex objectproperty columnproperty indexproperty scope_identity ident_current
    isnumeric quotename str stuff checksum binary_checksum error_message app_name
    is_member is_srvrolemember has_perms_by_name sys_context userenv sys_guid rownum
    formatreadablesize formatreadablequantity hostname uptime currentdatabase numbers
    token ttl writetime mintimeuuid maxtimeuuid totimestamp dateof unixtimestampof tuple map
    cidrhash geohash cosinedistance l2distance dictget";

/// Notes what the functions called in `tokens` do.
pub(super) fn check(tokens: &[Token], unknown: Unknown, reading: &mut Reading) {
    // The table is made once; looking up is then cheap for statements of any length.
    static KNOWN_NAMES: std::sync::LazyLock<std::collections::HashSet<&'static str>> =
        std::sync::LazyLock::new(|| KNOWN.split_whitespace().collect());
    for (at, pair) in tokens.windows(2).enumerate() {
        let [Token::Word(name) | Token::Quoted(name), Token::Mark('(')] = pair else {
            continue;
        };
        let name = name.to_ascii_lowercase();
        let arguments = tokens.get(at + 2..).unwrap_or_default();
        if let Some((_, effect)) = EFFECTS.iter().find(|(known, _)| *known == name) {
            apply(*effect, &name, arguments, reading);
        } else if unknown == Unknown::Hide
            && !KNOWN_NAMES.contains(name.as_str())
            && !is_other_name(tokens, at)
        {
            reading.hide(UNKNOWN);
        }
    }
}

/// Whether the name before the parenthesis is a type, an alias or a named subquery.
fn is_other_name(tokens: &[Token], at: usize) -> bool {
    const COLUMN_TOKENS_MAX: usize = 64;
    match at.checked_sub(1).and_then(|at| tokens.get(at)) {
        Some(Token::Mark(')' | ':')) => true,
        Some(token) if token.is_any(&["AS", "WITH", "RECURSIVE"]) => true,
        Some(Token::Mark(',')) => {
            let columns = tokens.get(at..).unwrap_or_default();
            columns
                .iter()
                .take(COLUMN_TOKENS_MAX)
                .position(|token| *token == Token::Mark(')'))
                .is_some_and(|close| {
                    columns.get(close + 1).is_some_and(|next| next.is("AS"))
                        && columns.get(close + 2) == Some(&Token::Mark('('))
                })
        }
        _ => false,
    }
}

fn apply(effect: Effect, name: &str, arguments: &[Token], reading: &mut Reading) {
    let literal = |place: usize| literal_argument(arguments, place);
    let deed = match effect {
        Effect::Reads => literal(0).map(Deed::ReadFile),
        Effect::Writes(place) => literal(place).map(Deed::WriteFile),
        Effect::Runs => literal(0).map(Deed::Shell),
        Effect::Fetches => literal(0).map(Deed::Fetch),
        Effect::Sends => Some(Deed::Send(literal(0).unwrap_or_default())),
        Effect::Admin => Some(Deed::DbAdmin(name.to_owned())),
        Effect::Kills => Some(Deed::Kill(format!("database sessions ({name})"))),
        Effect::Changes => Some(Deed::DbWrite(name.to_owned())),
        Effect::Destroys => Some(Deed::DbDestroy(name.to_owned())),
        Effect::Elsewhere => {
            reading.hide(ELSEWHERE);
            return;
        }
    };
    match deed {
        Some(deed) => reading.see(deed),
        None => reading.hide(COMPUTED),
    }
}

/// The string at one place of an argument list, if it stands there alone.
fn literal_argument(arguments: &[Token], place: usize) -> Option<String> {
    const ARGUMENT_TOKENS_MAX: usize = 64;
    let mut depth = 0_usize;
    let mut current = 0_usize;
    let mut start = 0_usize;
    for (at, token) in arguments.iter().take(ARGUMENT_TOKENS_MAX).enumerate() {
        let ends = match token {
            Token::Mark('(') => {
                depth += 1;
                false
            }
            Token::Mark(')') if depth > 0 => {
                depth -= 1;
                false
            }
            Token::Mark(')') => true,
            Token::Mark(',') => depth == 0,
            Token::Mark(_)
            | Token::Word(_)
            | Token::Quoted(_)
            | Token::Text(_)
            | Token::Number(_)
            | Token::Variable => false,
        };
        if ends {
            if current == place {
                return match arguments.get(start..at) {
                    Some([Token::Text(text) | Token::Quoted(text)]) => Some(text.clone()),
                    _ => None,
                };
            }
            current += 1;
            start = at + 1;
        }
    }
    None
}
