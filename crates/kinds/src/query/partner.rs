//! Types for columns without values. Such a column takes the type of its partner in the query: the
//! value or column that it is compared or computed with.

use hushwire_sql::schema;
use hushwire_tables::algebra::{Column, ColumnType};

/// A token of a query's text.
#[derive(Clone, Debug, PartialEq, Eq)]
enum QueryWord {
    /// A name; of a qualified name, the last part.
    Name(String),
    Number(String),
    Text(String),
    Other(String),
}

/// The tokens of a query, as far as the search for partners needs them.
fn tokens(sql: &str) -> Vec<QueryWord> {
    let (mut all, mut rest) = (vec![], sql);
    while let Some(c) = rest.chars().next() {
        let length = |is_part: &dyn Fn(char) -> bool| rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
        let taken = match c {
            c if c.is_whitespace() => length(&char::is_whitespace),
            c if c.is_alphabetic() || c == '_' => {
                let end = length(&|c| c.is_alphanumeric() || c == '_');
                all.push(QueryWord::Name(rest[..end].to_owned()));
                end
            }
            c if c.is_ascii_digit() => {
                let end = length(&|c| c.is_ascii_digit() || c == '.');
                all.push(QueryWord::Number(rest[..end].to_owned()));
                end
            }
            quote @ ('\'' | '"') => {
                // A doubled quote makes two adjacent texts. The first one shows the type.
                let end = rest[1..].find(quote).map_or(rest.len(), |at| at + 2);
                let inner = rest[1..end].trim_end_matches(quote).to_owned();
                all.push(if quote == '"' { QueryWord::Name(inner) } else { QueryWord::Text(inner) });
                end
            }
            '<' | '>' | '=' | '!' => {
                let end = length(&|c| matches!(c, '<' | '>' | '=' | '!'));
                all.push(QueryWord::Other(rest[..end].to_owned()));
                end
            }
            c => {
                all.push(QueryWord::Other(c.to_string()));
                c.len_utf8()
            }
        };
        rest = &rest[taken..];
    }
    // `t.a` is the column a.
    let mut names: Vec<QueryWord> = vec![];
    for token in all {
        let is_point = names.last() == Some(&QueryWord::Other(".".into()));
        if let (true, QueryWord::Name(_)) = (is_point, &token) {
            names.truncate(names.len().saturating_sub(2));
        }
        names.push(token);
    }
    names
}

fn is_name(token: Option<&QueryWord>, of: &[&str]) -> bool {
    matches!(token, Some(QueryWord::Name(name)) if of.iter().any(|word| name.eq_ignore_ascii_case(word)))
}

/// The columns of a query's tables, for the search for partners of columns without a type.
pub struct Partners<'q> {
    tokens: Vec<QueryWord>,
    /// The columns whose types are known.
    known: &'q [Column],
}

impl<'q> Partners<'q> {
    /// Reads a query, whose partners are searched among columns of known types.
    #[must_use]
    pub fn new(sql: &str, known: &'q [Column]) -> Self {
        Self { tokens: tokens(sql), known }
    }

    fn of_name(&self, name: &str) -> Option<ColumnType> {
        self.known.iter().find(|column| column.name.eq_ignore_ascii_case(name)).map(|column| column.ty)
    }

    /// The type of the expression that begins at a token.
    fn at(&self, at: usize) -> Option<ColumnType> {
        match (self.tokens.get(at)?, self.tokens.get(at + 1)) {
            (QueryWord::Name(word), Some(QueryWord::Text(_))) => match word.to_ascii_uppercase().as_str() {
                "DATE" => Some(ColumnType::Date),
                "TIMESTAMP" => Some(ColumnType::Timestamp),
                _ => None,
            },
            (QueryWord::Name(word), _) if ["TRUE", "FALSE"].iter().any(|t| word.eq_ignore_ascii_case(t)) => {
                Some(ColumnType::Boolean)
            }
            (QueryWord::Name(name), _) => self.of_name(name),
            (QueryWord::Number(digits), _) => match digits.split_once('.') {
                None if digits.len() < 10 => Some(ColumnType::Integer),
                None => Some(ColumnType::BigInt),
                Some((whole, behind)) => {
                    schema::parse_type(&format!("DECIMAL({}, {})", whole.len() + behind.len(), behind.len()))
                }
            },
            (QueryWord::Text(text), _) => schema::parse_type(&format!("VARCHAR({})", text.len().max(1))),
            (QueryWord::Other(open), _) if open == "(" => self.at(at + 1),
            (QueryWord::Other(_), _) => None,
        }
    }

    /// The type that the query suggests for a column. It is the type of its partner in a
    /// comparison, or of the number or column that it is computed with. In a sum it is an integer.
    /// Otherwise it is the type of a column of the same name in another table.
    #[must_use]
    pub fn of(&self, column: &str) -> Option<ColumnType> {
        let places = self.tokens.iter().enumerate();
        let here = places.filter(|(_, token)| is_name(Some(token), &[column])).map(|(at, _)| at);
        let is_sign = |token: Option<&QueryWord>| matches!(token, Some(QueryWord::Other(sign)) if ["=", "<>", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/", "%"].contains(&sign.as_str()));
        let shown = |at: usize| {
            let before = |by: usize| at.checked_sub(by);
            if is_sign(self.tokens.get(at + 1)) {
                return self.at(at + 2);
            }
            if is_name(self.tokens.get(at + 1), &["IN", "BETWEEN", "LIKE"]) {
                return self.at(at + 2);
            }
            if is_name(self.tokens.get(at + 1), &["NOT"]) {
                return self.at(at + 3);
            }
            let summed = before(2).is_some_and(|two| is_name(self.tokens.get(two), &["SUM", "AVG"]));
            if summed && before(1).is_some_and(|one| self.tokens[one] == QueryWord::Other("(".into())) {
                return Some(ColumnType::Integer);
            }
            match (before(1), before(2)) {
                (Some(one), Some(two)) if is_sign(self.tokens.get(one)) => match &self.tokens[two] {
                    QueryWord::Text(_)
                        if before(3).is_some_and(|three| is_name(self.tokens.get(three), &["DATE"])) =>
                    {
                        Some(ColumnType::Date)
                    }
                    QueryWord::Text(_)
                        if before(3).is_some_and(|three| is_name(self.tokens.get(three), &["TIMESTAMP"])) =>
                    {
                        Some(ColumnType::Timestamp)
                    }
                    _ => self.at(two),
                },
                _ => None,
            }
        };
        here.into_iter().find_map(shown).or_else(|| self.of_name(column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_take_the_types_of_their_partners() {
        let known = [
            Column::new("k", ColumnType::BigInt),
            Column::new("day", ColumnType::Date),
            Column::new("first name", ColumnType::Varchar(9)),
        ];
        let decimal = Some(ColumnType::Decimal { precision: 3, scale: 2 });
        for (sql, column, wanted) in [
            ("SELECT x FROM t JOIN u ON t.x = u.k", "x", Some(ColumnType::BigInt)),
            ("SELECT x FROM t JOIN u ON u.k = t.X", "x", Some(ColumnType::BigInt)),
            ("SELECT x FROM t WHERE x = \"first name\"", "x", Some(ColumnType::Varchar(9))),
            ("SELECT x FROM t WHERE x >= DATE '2026-01-01'", "x", Some(ColumnType::Date)),
            ("SELECT x FROM t WHERE DATE '2026-01-01' < x", "x", Some(ColumnType::Date)),
            ("SELECT x FROM t WHERE TIMESTAMP '2026-01-01' < x", "x", Some(ColumnType::Timestamp)),
            ("SELECT x FROM t WHERE x > 1.25", "x", decimal),
            ("SELECT x FROM t WHERE x IN (5, 6)", "x", Some(ColumnType::Integer)),
            ("SELECT x FROM t WHERE x NOT IN ('abc')", "x", Some(ColumnType::Varchar(3))),
            ("SELECT x FROM t WHERE x LIKE 'ab%'", "x", Some(ColumnType::Varchar(3))),
            ("SELECT x FROM t WHERE x BETWEEN day AND day", "x", Some(ColumnType::Date)),
            ("SELECT SUM(t.x) FROM t", "x", Some(ColumnType::Integer)),
            ("SELECT 2 * x FROM t", "x", Some(ColumnType::Integer)),
            ("SELECT x FROM t WHERE x = true", "x", Some(ColumnType::Boolean)),
            ("SELECT * FROM t JOIN u USING (day)", "day", Some(ColumnType::Date)),
            ("SELECT x FROM t WHERE x = y", "x", None),
            ("SELECT COUNT(x) FROM t", "x", None),
            ("", "x", None),
            ("SELECT 'x = 5", "x", None),
        ] {
            assert_eq!(Partners::new(sql, &known).of(column), wanted, "{sql}");
        }
    }
}
