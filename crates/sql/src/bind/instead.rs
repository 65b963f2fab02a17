//! Substitutes for functions and operators of other databases, which error messages name.

use hushwire_tables::{aggregates::AGGREGATES, functions::FUNCTIONS};
use sqlparser::ast::BinaryOperator as B;

/// Functions that analysts know from other databases, and the text to write instead.
const KNOWN: &[(&[&str], &str)] = &[
    (
        &["to_char", "to_varchar", "format_date", "formatdatetime"],
        "write STRFTIME(day, '%d.%m.%Y') of a date, and CAST(n AS VARCHAR) of a number",
    ),
    (
        &["to_date", "parse_date", "date_parse"],
        "write STRPTIME(text, '%d.%m.%Y'), or CAST(text AS DATE) of 2026-11-28",
    ),
    (
        &["dateadd", "timestampadd", "date_add_days"],
        "write day + INTERVAL '3' MONTH, or DATE_ADD(day, INTERVAL 3 MONTH)",
    ),
    (
        &["timestampdiff", "months_between", "datediff_big"],
        "write DATE_DIFF('month', first, last), or DATE_SUB for whole units",
    ),
    (&["charindex", "locate"], "write POSITION(part IN text)"),
    (&["substring_index"], "write SPLIT_PART(text, '-', 1)"),
    (&["decode"], "write CASE value WHEN 1 THEN 'a' ELSE 'b' END"),
    (
        &["convert", "try_convert", "safe_cast"],
        "write CAST(value AS type), which is NULL where it does not fit",
    ),
    (
        &["to_days", "to_weeks", "to_months", "to_years", "to_hours", "to_minutes", "to_seconds"],
        "write an interval: INTERVAL (n) DAY, or n * INTERVAL '1' MONTH",
    ),
    (
        &["time_bucket", "date_bucket", "date_bin", "time_slice"],
        "write DATE_TRUNC('month', day); for other widths day - (day - DATE '2000-01-01') % 7",
    ),
    (
        &["make_timestamp", "timestampfromparts", "datetimefromparts"],
        "write CAST(MAKE_DATE(year, month, day) AS TIMESTAMP) + INTERVAL (h) HOUR",
    ),
    (&["isfinite", "isinf", "isnan", "is_nan"], "leave it out: no number here is infinite, or not a number"),
    (&["columns"], "name the columns, or write * EXCLUDE (a, b)"),
    (&["isnull", "zeroifnull"], "write COALESCE(value, 0)"),
    (&["ratio_to_report"], "write a / SUM(a) OVER (PARTITION BY b)"),
    (&["choose", "elt"], "write CASE n WHEN 1 THEN 'a' WHEN 2 THEN 'b' END"),
    (
        &["format", "printf", "format_number"],
        "write CONCAT(a, '-', b), LPAD(CAST(n AS VARCHAR), 5, '0') or ROUND(x, 2)",
    ),
    (&["datename"], "write MONTHNAME(day) or DAYNAME(day)"),
    (&["yearweek"], "write EXTRACT(ISOYEAR FROM day) * 100 + EXTRACT(WEEK FROM day)"),
    (
        &["regexp_count", "regexp_instr", "regexp_position"],
        "write REGEXP_MATCHES(text, pattern), or LENGTH(text) - LENGTH(REPLACE(text, 'a', '')) for a count",
    ),
    (&["safe_divide", "div0"], "write a / b, which is NULL where b is 0"),
    (
        &["unnest", "explode", "flatten", "generate_series", "range", "sequence"],
        "write it in FROM: FROM GENERATE_SERIES(1, 5) AS n, FROM UNNEST([1, 2]) AS n or FROM (VALUES (1), (2)) AS t(n)",
    ),
    (
        &[
            "string_split",
            "str_split",
            "split",
            "string_to_array",
            "regexp_split_to_array",
            "regexp_extract_all",
        ],
        "write SPLIT_PART(text, ',', 1) or REGEXP_EXTRACT(text, pattern) for each part: there are no lists",
    ),
    (
        &["json_extract", "json_extract_string", "json_value", "get_json_object", "parse_json"],
        "bring the field as a column of the table, or take it by REGEXP_EXTRACT(text, '\"name\": *\"([^\"]*)\"', 1)",
    ),
    (
        &["uuid", "gen_random_uuid", "newid", "setseed"],
        "bring a column of identifiers: members compute the same values",
    ),
    (
        &["sha256", "sha1", "hash", "crc32"],
        "write MD5(text) of one owner's column, or declare the column DIGEST, which is compared and never shown",
    ),
    (&["unix_timestamp", "to_unixtime", "epoch_ms"], "write EXTRACT(EPOCH FROM paid_at)"),
    (
        &[
            "row_number",
            "rank",
            "dense_rank",
            "percent_rank",
            "cume_dist",
            "ntile",
            "lag",
            "lead",
            "first_value",
            "last_value",
            "nth_value",
        ],
        "write its window behind it, as in RANK() OVER (PARTITION BY team ORDER BY n)",
    ),
    (
        &["pivot_wider", "pivot_longer", "crosstab"],
        "write PIVOT (SUM(n) FOR status IN ('paid', 'open')), or UNPIVOT",
    ),
    (
        &["at_timezone", "convert_timezone", "convert_tz", "timezone"],
        "times are in UTC: add the distance, as in paid_at + INTERVAL '2' HOUR",
    ),
    (&["timestamp_millis", "timestamp_micros"], "write TO_TIMESTAMP(n / 1000.0)"),
    (
        &[
            "hll_count",
            "approx_quantile",
            "approx_percentile",
            "approx_quantiles",
            "percentile",
            "percentile_approx",
        ],
        "write PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY value), or APPROX_COUNT_DISTINCT(value), which are exact here",
    ),
    (
        &["kurtosis", "skewness", "entropy", "product", "geomean", "histogram"],
        "write it by SUM, COUNT and LN, as in EXP(AVG(LN(value))), or group by the value and count",
    ),
    (
        &["levenshtein", "soundex", "jaccard", "similarity", "edit_distance"],
        "bring the measure, or the key by which texts are alike, as a column",
    ),
    (
        &["xor", "bit_and", "bit_or", "bit_xor", "bit_count"],
        "write truth values: (a AND NOT b) OR (b AND NOT a), BOOL_AND and BOOL_OR",
    ),
    (
        &["factorial", "cbrt", "gamma", "sinh", "cosh", "tanh"],
        "write it by POWER and EXP, as in POWER(x, 1 / 3.0), and (EXP(x) - EXP(-x)) / 2",
    ),
    (
        &["current_user", "user", "session_user", "version", "database", "current_schema"],
        "leave it out: a query knows its tables and its time",
    ),
];

/// The substitute for a function of the list.
pub(super) fn known(name: &str) -> Option<&'static str> {
    KNOWN.iter().find(|(names, _)| names.contains(&name)).map(|(_, remedy)| *remedy)
}

/// The substitute for a function that does not exist.
pub(super) fn of_function(name: &str) -> String {
    if let Some(remedy) = known(name) {
        return remedy.to_owned();
    }
    let functions = FUNCTIONS.iter().flat_map(|function| function.names);
    let all = functions.chain(AGGREGATES.iter().flat_map(|aggregate| aggregate.names));
    let near = all.map(|known| (strsim::damerau_levenshtein(name, known), known)).min();
    match near {
        Some((distance, known)) if distance <= 1 + name.len() / 4 => {
            format!("write {}, if that is meant; docs/reference/sql.md lists all", known.to_uppercase())
        }
        _ => "take one of the functions that docs/reference/sql.md lists, or bring its values as a column"
            .to_owned(),
    }
}

/// The substitute for a statement or a clause at which the parser stops. It is `None` for others,
/// which are most likely misspelt.
pub(crate) fn of_syntax(query: &str, cause: &str) -> Option<&'static str> {
    let upper = query.trim_start().to_uppercase();
    let begins = |word: &str| upper.split_whitespace().next() == Some(word);
    let found = cause.rsplit_once("found: ").map_or("", |(_, found)| found.trim());
    let has = |words: &str| upper.contains(words);
    Some(match found {
        "PIVOT" | "UNPIVOT" if begins(found) => {
            "write SELECT * FROM (SELECT team, status, n FROM t) PIVOT (SUM(n) FOR status IN ('paid', 'open'))"
        }
        "SUMMARIZE" => {
            "write SELECT COUNT(*), MIN(a), MAX(a), AVG(a) FROM t; `hushwire table describe` shows a file's columns"
        }
        "FROM" if begins("FROM") => "begin with SELECT: SELECT * FROM t",
        "SEPARATOR" => "write CAST(STRING_AGG(name, ', ' ORDER BY name) AS VARCHAR(100))",
        "PERCENT" => "write LIMIT with a number of rows, or QUALIFY PERCENT_RANK() OVER (ORDER BY a) < 0.1",
        "AGAINST" => "write text ILIKE '%word%', or REGEXP_MATCHES(text, 'word') of one owner's column",
        "ON" if has("ASOF") => {
            "write both tables under each other by UNION ALL, and take LAST_VALUE(price IGNORE NULLS) OVER (PARTITION BY item ORDER BY at)"
        }
        "EXCLUDE" => "take the row's own value from the aggregate: SUM(a) OVER (…) - a",
        "USING" | "TABLESAMPLE" if has("SAMPLE") => {
            "write LIMIT, or a condition on a column of numbers that the owner drew"
        }
        "{" | "[" => {
            "there are no lists and structs: write one column for each part, and a name between double quotes"
        }
        _ if has(" MINUS ") => "write EXCEPT in place of MINUS",
        _ if has("BETWEEN SYMMETRIC") => "write a BETWEEN LEAST(b, c) AND GREATEST(b, c)",
        _ if ["BOTH FROM", "LEADING FROM", "TRAILING FROM"].iter().any(|words| has(words)) => {
            "write TRIM(text), LTRIM(text) or RTRIM(text)"
        }
        _ => return None,
    })
}

/// The substitute for an operator that does not exist.
pub(super) fn of_operator(op: &B) -> &'static str {
    match op {
        B::BitwiseAnd | B::BitwiseOr | B::PGBitwiseShiftLeft | B::PGBitwiseShiftRight | B::PGBitwiseXor => {
            "write bits by arithmetic: a // 4 % 2 is bit 2 of a, and a * 2 ** n moves bits"
        }
        B::Xor => "write (a AND NOT b) OR (b AND NOT a)",
        B::Arrow | B::LongArrow | B::HashArrow | B::HashLongArrow | B::AtArrow | B::ArrowAt => {
            "bring the field as a column of the table, or take it by REGEXP_EXTRACT(text, '\"name\": *\"([^\"]*)\"', 1)"
        }
        B::Overlaps => "write a.first < b.last AND b.first < a.last",
        B::PGStartsWith => "write STARTS_WITH(text, part)",
        B::PGLikeMatch | B::PGILikeMatch => "write LIKE or ILIKE",
        B::PGNotLikeMatch | B::PGNotILikeMatch => "write NOT LIKE or NOT ILIKE",
        _ => "write + - * / // % ** || and comparisons, and functions for others",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_nearly_right_are_told() {
        assert!(of_function("uper").starts_with("write UPPER"));
        assert!(of_function("medain").starts_with("write MEDIAN"));
        assert!(of_function("to_char").contains("STRFTIME"));
        assert!(of_function("row_number").contains("OVER"));
        for (query, word, remedy) in [
            ("PIVOT t ON f USING SUM(a)", "PIVOT", "FOR status IN"),
            ("FROM t", "FROM", "begin with SELECT"),
            ("SELECT GROUP_CONCAT(s SEPARATOR ', ') FROM t", "SEPARATOR", "STRING_AGG"),
            ("SELECT a FROM t MINUS SELECT a FROM u", "SELECT", "write EXCEPT"),
            ("SELECT TRIM(LEADING FROM a) FROM t", "a", "LTRIM"),
            ("SELECT [a] FROM t", "[", "double quotes"),
            ("SELECT * FROM t asof JOIN u ON t.d >= u.d", "ON", "IGNORE NULLS"),
        ] {
            let found = of_syntax(query, &format!("Expected: something, found: {word}"));
            assert!(found.is_some_and(|found| found.contains(remedy)), "{query}: {found:?}");
        }
        assert_eq!(of_syntax("SELEC a FROM t", "Expected: an SQL statement, found: SELEC"), None);
        assert!(of_function("frobnicate").starts_with("take one"));
    }

    /// No name of the list has become a function of this crate.
    #[test]
    fn known_names_are_no_functions() {
        for name in KNOWN.iter().flat_map(|(names, _)| names.iter()) {
            let is_there = hushwire_tables::functions::find(name).is_some()
                || hushwire_tables::aggregates::find(name).is_some();
            assert!(!is_there, "{name}");
        }
    }
}
