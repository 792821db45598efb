/**
 * The words that the SQL reader knows: statements, words that write, functions. This is data: a
 * contributor adds a word to its list.
 */

function words(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** Statements that may be reads: whether one is depends on every other word in it. */
export const READING_STATEMENTS = words(
  "select values table with show describe desc explain pragma",
);

/** First words of all other statements. A statement that begins with none of either list is unclear. */
export const WRITING_STATEMENTS = words(`
  insert update delete merge replace upsert truncate
  create alter drop rename comment grant revoke deny refresh reindex cluster vacuum analyze optimize
  call do exec execute prepare deallocate copy load unload import export put get
  begin start commit end rollback savepoint release set reset use lock unlock
  declare if while print listen notify unlisten attach detach discard checkpoint flush kill purge
  handler backup restore shutdown dbcc security reassign install signal waitfor
`);

/** Other spellings of a statement's first word. */
export const SAME_STATEMENTS: ReadonlyMap<string, string> = new Map([
  ["desc", "describe"],
  ["exec", "execute"],
  ["values", "select"],
  ["table", "select"],
  ["with", "select"],
]);

/**
 * Statements that may occur inside another one, or after one without a `;`: each becomes a
 * statement of its own.
 */
export const INNER_STATEMENTS = words(`
  insert update delete merge replace upsert truncate create alter drop rename grant revoke
  call exec execute copy load import export
`);

/** Words that no read may have outside quotes. */
export const WRITING_WORDS = words(`
  insert update delete merge replace upsert create alter drop truncate rename grant revoke call do
  copy into lock vacuum analyze analyse reindex cluster refresh comment set reset begin commit
  rollback savepoint attach detach load unload import export execute exec prepare deallocate listen
  notify unlisten use handler flush kill purge optimize dbcc backup restore shutdown reconfigure deny
  waitfor writetext updatetext xlock updlock tablockx nextval go checkpoint revert setuser outfile dumpfile install signal
`);

/** Words that no read may have before certain others: locks, the next number of a sequence. */
export const WRITING_PAIRS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ["for", words("share key no update")],
  ["next", words("value")],
  ["enable", words("trigger")],
  ["disable", words("trigger")],
]);

/** Functions, and words without parentheses, whose answer changes by itself. */
export const VOLATILE_FUNCTIONS = words(`
  now current_timestamp current_time current_date localtime localtimestamp random rand uuid
  gen_random_uuid newid clock_timestamp statement_timestamp transaction_timestamp getdate sysdate
  sysdatetime timeofday curdate curtime utc_timestamp unix_timestamp last_insert_rowid changes row_count
  found_rows
`);

/** Functions that change nothing. A policy may add more. */
export const PURE_FUNCTIONS = words(`
  count sum avg min max coalesce nullif greatest least abs ceil ceiling floor round trunc truncate mod
  power pow sqrt exp ln log sign lower upper initcap length char_length character_length octet_length
  trim ltrim rtrim btrim substr substring left right replace translate position strpos instr concat
  concat_ws lpad rpad repeat reverse split_part regexp_replace regexp_matches regexp_match regexp_like
  to_char to_date to_timestamp to_number cast convert try_cast date_trunc date_part extract age
  make_date date_add date_sub datediff dateadd date_format strftime julianday datetime year month day
  hour minute second quarter week array_agg string_agg group_concat json_agg jsonb_agg json_object_agg
  json_build_object jsonb_build_object json_extract json_extract_path_text json_array_length
  jsonb_array_length json_each jsonb_each jsonb_array_elements json_array_elements to_json to_jsonb
  row_to_json unnest array_length array_to_string string_to_array cardinality row_number rank
  dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value percentile_cont
  percentile_disc mode stddev stddev_pop stddev_samp variance var_pop var_samp corr bool_and bool_or
  every bit_and bit_or median total generate_series ifnull isnull nvl iif typeof md5 sha256 encode
  decode hex ascii chr char format quote_ident quote_literal pg_typeof pg_get_viewdef
  pg_get_constraintdef pg_get_indexdef pg_get_functiondef pg_size_pretty pg_relation_size
  pg_total_relation_size pg_table_size pg_indexes_size pg_database_size obj_description
  col_description format_type has_table_privilege current_database current_schema current_user version
  to_regclass sqlite_version from_unixtime timestampdiff timestampadd charindex len similarity
  to_tsvector to_tsquery plainto_tsquery websearch_to_tsquery ts_rank ts_headline overlay
  regexp_substr regexp_instr regexp_count array_remove array_append array_cat array_position
  array_upper array_lower array_distinct array_contains jsonb_path_query jsonb_path_exists jsonb_set
  jsonb_typeof json_typeof jsonb_object_keys json_object_keys json_extract_path jsonb_extract_path
  jsonb_pretty jsonb_strip_nulls json_object json_array json_value json_query json_contains
  json_type json_valid json_unquote json_length json_keys width_bucket any_value
  approx_count_distinct count_if countif sum_if sumif arg_max arg_min max_by min_by listagg xmlagg
  bit_length degrees radians pi sin cos tan asin acos atan atan2 cot cbrt div make_interval
  make_timestamp date_diff date_bin datetrunc datepart eomonth last_day add_months months_between
  dayofweek dayofyear weekday monthname dayname hour_of_day to_days from_days str_to_date
  substring_index soundex levenshtein unicode quotename string_split parse_json try_to_number
  safe_cast safe_divide hash ntile bool logical_or logical_and nanvl nvl2 lnnvl stuff find_in_set
  field elt space unaccent grouping st_area st_distance st_contains st_within st_intersects st_astext
  st_asgeojson st_x st_y st_length st_dwithin st_buffer st_centroid st_transform st_makepoint st_setsrid
`);

/** Words that occur before a parenthesis without a call: clauses, operators, types. */
export const UNCALLED_WORDS = words(`
  select from where and or not in exists any all some as on using values over partition by order group
  having union intersect except case when then else end join inner left right full outer cross lateral
  with recursive materialized limit offset fetch distinct filter within rows range between like ilike
  is null interval array row explain show table return if escape similar to tablesample bernoulli
  keep qualify
  varchar char character decimal numeric int integer bigint text timestamp date time float double boolean
`);

/**
 * Words whose case does not matter for identity. All others may be names, whose case matters to
 * some servers.
 */
export const KEYWORDS: ReadonlySet<string> = new Set([
  ...READING_STATEMENTS,
  ...INNER_STATEMENTS,
  ...words(`
    from where and or not in exists any all as on using over partition by order group having union
    intersect except case when then else end join inner left right full outer cross lateral recursive
    limit offset fetch distinct between like ilike is null asc desc set into returning true false for if table view index begin commit default cascade
  `),
]);

/** Pragmas of SQLite that only show what the parentheses name. */
export const SHOWING_PRAGMAS = words(`
  table_info table_xinfo table_list index_list index_info index_xinfo foreign_key_list
  foreign_key_check integrity_check quick_check
`);

/** Pragmas of SQLite that act even without a value. */
export const ACTING_PRAGMAS = words("wal_checkpoint optimize incremental_vacuum shrink_memory");

/** A table, or a list of tables, follows these words. */
export const BEFORE_TABLE = words("from join into table tables references apply straight_join");

/** Statements in which a table may follow the first word. */
export const NAMING_STATEMENTS: ReadonlySet<string> = new Set([
  ...INNER_STATEMENTS,
  ...words(`
    describe desc comment deny refresh reindex cluster vacuum analyze optimize lock handler use
    backup restore
  `),
]);

/** Statements that have their object after `on`. */
export const NAMING_AFTER_ON = words("create alter drop comment grant revoke deny");

/**
 * Words between the first word of a statement and the name. They are reserved everywhere, so no
 * table has such a name.
 */
export const SKIPPED_BEFORE_NAME = words("if not exists only lateral or as insert update delete");

/** As `SKIPPED_BEFORE_NAME`, but only where a name follows: a table may have such a name, too. */
export const KINDS_BEFORE_NAME = words(`
  view index unique materialized temporary temp unlogged global local external foreign function
  procedure trigger sequence schema database type domain extension role user policy rule aggregate
  column constraint concurrently recursive virtual full freeze verbose privileges
`);

/** Words between the first word of a statement that changes rows and its table. */
export const MODIFIERS = words(`
  low_priority high_priority delayed quick ignore replace rollback abort fail overwrite top statistics
`);

/** Words that end a list of tables. */
export const AFTER_TABLES = words(`
  select values set where group order having limit union intersect except returning window offset fetch
  default begin add modify change when then
`);
