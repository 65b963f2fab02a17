//! Calls of other databases that are rewritten as equivalent calls of this one.

use sqlparser::ast::{Expr, Value, ValueWithSpan};

/// A name, its number of arguments, and the equivalent text, in which `{0}` is the first argument.
/// No argument occurs twice.
const CALLS: &[(&str, usize, &str)] = &[
    ("charindex", 2, "POSITION({0} IN {1})"),
    ("dayofmonth", 1, "DAY({0})"),
    ("eomonth", 1, "LAST_DAY({0})"),
    ("format_date", 2, "STRFTIME({1}, {0})"),
    ("iff", 3, "IF({0}, {1}, {2})"),
    ("isnull", 2, "COALESCE({0}, {1})"),
    ("len", 1, "LENGTH({0})"),
    ("locate", 2, "POSITION({0} IN {1})"),
    ("mid", 3, "SUBSTRING({0}, {1}, {2})"),
    ("nullifzero", 1, "NULLIF({0}, 0)"),
    ("parse_date", 2, "CAST(STRPTIME({1}, {0}) AS DATE)"),
    ("safe_divide", 2, "({0}) / ({1})"),
    ("zeroifnull", 1, "COALESCE({0}, 0)"),
];

/// Calls that name a unit by a word, which is `{u}` in the equivalent text. The number after the
/// name is the place of the unit among the arguments.
const UNITS: &[(&str, usize, usize, &str)] = &[
    ("date_trunc", 1, 2, "DATE_TRUNC('{u}', {0})"),
    ("datetime_trunc", 1, 2, "DATE_TRUNC('{u}', {0})"),
    ("timestamp_trunc", 1, 2, "DATE_TRUNC('{u}', {0})"),
    ("trunc", 1, 2, "DATE_TRUNC('{u}', {0})"),
    ("date_trunc", 0, 2, "DATE_TRUNC('{u}', {1})"),
    ("datetrunc", 0, 2, "DATE_TRUNC('{u}', {1})"),
    ("date_diff", 2, 3, "DATE_DIFF('{u}', {1}, {0})"),
    ("datetime_diff", 2, 3, "DATE_DIFF('{u}', {1}, {0})"),
    ("timestamp_diff", 2, 3, "DATE_SUB('{u}', {1}, {0})"),
    ("date_diff", 0, 3, "DATE_DIFF('{u}', {1}, {2})"),
    ("datediff", 0, 3, "DATE_DIFF('{u}', {1}, {2})"),
    ("date_part", 0, 2, "EXTRACT({u} FROM {1})"),
    ("datepart", 0, 2, "EXTRACT({u} FROM {1})"),
    ("dateadd", 0, 3, "({2}) + ({1}) * INTERVAL '1' {u}"),
    ("timestampadd", 0, 3, "({2}) + ({1}) * INTERVAL '1' {u}"),
];

/// The unit that a word or text of another database names.
fn unit(expr: &Expr) -> Option<&'static str> {
    let word = match expr {
        Expr::Identifier(name) if name.quote_style.is_none() => &name.value,
        Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) => text,
        _ => return None,
    };
    Some(match word.to_ascii_lowercase().as_str() {
        "year" | "years" | "yy" | "yyyy" => "year",
        "quarter" | "quarters" | "qq" | "q" => "quarter",
        "month" | "months" | "mm" | "mon" => "month",
        "isoweek" | "iso_week" | "week" | "weeks" | "wk" | "ww" => "week",
        "day" | "days" | "dd" => "day",
        "hour" | "hours" | "hh" => "hour",
        "minute" | "minutes" | "mi" => "minute",
        "second" | "seconds" | "ss" => "second",
        _ => return None,
    })
}

/// Whether a call names a unit whose meaning differs between databases.
pub(super) fn is_week(name: &str, args: &[&Expr]) -> bool {
    let word = |e: &Expr| match e {
        Expr::Identifier(name) if name.quote_style.is_none() => name.value.to_ascii_lowercase(),
        _ => String::new(),
    };
    let is_week = |e: &Expr| matches!(word(e).as_str(), "week" | "weeks" | "wk" | "ww" | "weekday" | "dw");
    UNITS.iter().any(|(other, place, count, _)| {
        (*other, *count) == (name, args.len()) && !name.ends_with("add") && is_week(args[*place])
    })
}

/// The codes of a format in Oracle, PostgreSQL and Snowflake, in any case of letters, and those of
/// C. Longer codes come first. Others are left out, whose meaning differs: names of months may be
/// padded or in capitals.
const FORMATS: &[(&str, &str)] = &[
    ("YYYY", "%Y"),
    ("HH24", "%H"),
    ("HH12", "%I"),
    ("DDD", "%j"),
    ("YY", "%y"),
    ("MM", "%m"),
    ("DD", "%d"),
    ("HH", "%I"),
    ("MI", "%M"),
    ("SS", "%S"),
];

/// A format of TO_CHAR with the codes of STRFTIME; `None` if it has another code.
fn strftime(format: &str) -> Option<String> {
    let (mut made, mut rest) = (String::new(), format);
    while let Some(first) = rest.chars().next() {
        let code = FORMATS
            .iter()
            .find(|(code, _)| rest.get(..code.len()).is_some_and(|start| start.eq_ignore_ascii_case(code)));
        if let Some((code, of_c)) = code {
            made += of_c;
            rest = &rest[code.len()..];
        } else if first == '"' {
            let (text, behind) = rest[1..].split_once('"')?;
            made += &text.replace('%', "%%");
            rest = behind;
        } else if " -/.,:;".contains(first) {
            made.push(first);
            rest = &rest[1..];
        } else {
            return None;
        }
    }
    Some(made)
}

/// The equivalent text of a call with a format as its second argument.
fn formatted(name: &str, args: &[&Expr]) -> Option<String> {
    let [of, Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(format), .. })] = args else {
        return None;
    };
    let format = strftime(format)?.replace('\'', "''");
    match name {
        "to_char" | "to_varchar" => Some(format!("STRFTIME({of}, '{format}')")),
        "to_date" => Some(format!("CAST(STRPTIME({of}, '{format}') AS DATE)")),
        "to_timestamp" => Some(format!("STRPTIME({of}, '{format}')")),
        _ => None,
    }
}

/// The equivalent text of a call; `None` if the list does not have the call.
pub(super) fn respelt(name: &str, args: &[&Expr]) -> Option<String> {
    let filled = |text: &str| {
        (0..args.len())
            .fold(text.to_owned(), |text, k| text.replace(&format!("{{{k}}}"), &args[k].to_string()))
    };
    let is_text = |e: &Expr| matches!(e, Expr::Value(v) if matches!(v.value, Value::SingleQuotedString(_)));
    for (_, place, _, text) in
        UNITS.iter().filter(|(other, _, count, _)| (*other, *count) == (name, args.len()))
    {
        // After a text, which is then the unit, a word is a column.
        let is_unit =
            matches!(name, "trunc" | "dateadd" | "timestampadd") || args.iter().all(|e| !is_text(e));
        if let Some(unit) = unit(args[*place]).filter(|_| is_unit) {
            return Some(filled(&text.replace("{u}", unit)));
        }
    }
    if let ("decode", [of, rest @ ..]) = (name, args)
        && rest.len() > 1
        && rest.chunks_exact(2).all(|pair| matches!(pair[0], Expr::Value(v) if v.value != Value::Null))
    {
        let whens = rest.chunks_exact(2).map(|pair| format!(" WHEN {} THEN {}", pair[0], pair[1]));
        let other = rest.chunks_exact(2).remainder().first().map(|e| format!(" ELSE {e}"));
        return Some(format!("CASE {of}{}{} END", whens.collect::<String>(), other.unwrap_or_default()));
    }
    if let Some(call) = formatted(name, args) {
        return Some(call);
    }
    let call = CALLS.iter().find(|(other, count, _)| (*other, *count) == (name, args.len()));
    call.map(|(.., text)| filled(text))
}
