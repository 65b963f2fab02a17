//! Random queries, whose rows are those of SQLite.

use super::{A, B, check, world};

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn number(&mut self, depth: u64) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.pick(&["a.k", "a.x", "b.k", "b.y", "1", "2", "3"]).to_owned();
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(5) {
            0 => format!("COALESCE({left}, {right})"),
            1 => format!("CASE WHEN {} THEN {left} ELSE {right} END", self.condition(depth - 1)),
            _ => format!("({left} {} {right})", self.pick(&["+", "-", "*"])),
        }
    }

    fn condition(&mut self, depth: u64) -> String {
        if depth == 0 || self.below(3) == 0 {
            return match self.below(4) {
                0 => format!("{} IS {}NULL", self.number(0), self.pick(&["", "NOT "])),
                1 => format!("a.t {} b.t", self.pick(&["=", "<", "<>", ">="])),
                2 => format!("{} {}IN (1, 2, 7)", self.number(0), self.pick(&["", "NOT "])),
                _ => format!(
                    "{} {} {}",
                    self.number(1),
                    self.pick(&["=", "<>", "<", "<=", ">", ">="]),
                    self.number(1)
                ),
            };
        }
        let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.below(3) {
            0 => format!("NOT ({left})"),
            _ => format!("({left} {} {right})", self.pick(&["AND", "OR"])),
        }
    }

    fn query(&mut self) -> String {
        let join = match self.below(4) {
            0 => "a LEFT JOIN b ON a.x = b.k",
            1 => "b LEFT JOIN a ON a.k = b.y",
            2 => "a JOIN b ON a.x = b.y",
            _ => "a, b",
        };
        let condition = self.condition(2);
        if self.below(2) == 0 {
            let (one, two) = (self.number(2), self.condition(1));
            return format!("SELECT {one} AS one, {two} AS two FROM {join} WHERE {condition}");
        }
        let (key, of) = (self.number(1), self.number(2));
        let having = self.pick(&["", " HAVING COUNT(*) > 1", " HAVING SUM(a.k) > 6"]);
        format!(
            "SELECT {key}, COUNT(*), SUM({of}), MIN({of}), COUNT(DISTINCT {of}) FROM {join} WHERE {condition} GROUP BY {key}{having}"
        )
    }
}

#[test]
fn random_queries_have_the_rows_of_sqlite() {
    let mut dice = Dice(0x5eed);
    let queries: Vec<String> = (0..120).map(|_| dice.query()).collect();
    // A constant in GROUP BY is a place of the list.
    let queries: Vec<&str> = queries
        .iter()
        .map(String::as_str)
        .filter(|sql| !["BY 1", "BY 2", "BY 3"].iter().any(|by| sql.contains(by)))
        .collect();
    check(&world(&A, &B), &queries);
}
