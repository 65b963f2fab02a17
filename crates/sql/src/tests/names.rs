//! Names that need quotes.

use crate::is_plain_name;

#[test]
fn words_of_sql_are_no_plain_names() {
    // The parser takes some words of SQL as names.
    for name in ["id", "_x1", "Name", "Größe", "year", "name", "value", "date", "count", "order", "select"]
    {
        assert!(is_plain_name(name), "{name}");
    }
    for name in ["", "1a", "first name", "a-b", "a,b", "a\"b", "FROM", "all", "true", "null", "current_date"]
    {
        assert!(!is_plain_name(name), "{name}");
    }
}
