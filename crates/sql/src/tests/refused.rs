use super::{catalog, plan};
use crate::{Catalog, Options, relation};
use hushwire_fault::{Code, code};

fn refused(sql: &str) -> Code {
    match plan(sql) {
        Ok(made) => panic!("{sql} is taken: {:?}", made.schema()),
        Err(e) => e.code(),
    }
}

/// The code, the place and the fields of each error, as `refused.txt` lists them.
#[test]
fn what_cannot_be_is_refused_with_its_place_and_its_fields() {
    let lines: Vec<&str> = include_str!("refused.txt").lines().skip(2).collect();
    assert_eq!(lines.len() % 2, 0);
    let taken = lines.chunks(2).filter(|case| plan(&case[0].replace("\\n", "\n")).is_ok());
    let taken: Vec<&str> = taken.map(|case| case[0]).collect();
    assert!(taken.is_empty(), "{taken:#?} are taken");
    let mut wrong = vec![];
    for case in lines.chunks(2) {
        let (sql, wanted) = (case[0].replace("\\n", "\n"), case[1].trim_start());
        let error = plan(&sql).expect_err(&sql);
        let place = error.place().map_or("-".to_owned(), |at| format!("{}:{}", at.line, at.column));
        let (found, fields) = (format!("{} {place}", error.code()), wanted.splitn(3, ' ').nth(2));
        let mut alike = wanted == found || wanted.starts_with(&format!("{found} "));
        for (name, value) in
            fields.into_iter().flat_map(|all| all.split("; ")).filter_map(|one| one.split_once('='))
        {
            alike &= error.field(name).as_deref() == Some(value);
        }
        if !alike {
            wrong.push(format!("{sql}\n  wanted {wanted}\n  found {found}: {error}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Other databases read double quotes as a text.
#[test]
fn a_name_between_quotes_may_be_a_text() {
    let remedy = |sql: &str| plan(sql).expect_err(sql).remedy();
    assert!(remedy("SELECT id FROM shop WHERE city = \"Rome\"").contains("'Rome'"));
    assert!(!remedy("SELECT id FROM shop WHERE city = Rome").contains("'Rome'"));
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let sql = format!("SELECT {}1{} FROM shop", "(".repeat(4000), ")".repeat(4000));
    assert_eq!(refused(&sql), code::QUERY_TOO_LARGE);
    let sql = format!("SELECT id FROM shop WHERE {} id = 1", "NOT ".repeat(4000));
    // The parser backtracks, and then reports that a word is wrong.
    assert_eq!(refused(&sql), code::SYNTAX);
    // The depth of a chain equals its length.
    let chain = |n: usize| format!("SELECT {} FROM shop", vec!["id"; n].join("+"));
    assert_eq!(refused(&chain(20_000)), code::QUERY_TOO_LARGE);
    assert!(plan(&chain(400)).is_ok());
    assert_eq!(refused(&format!("SELECT '{}'", "x".repeat(1 << 16))), code::QUERY_TOO_LARGE);
}

#[test]
fn a_common_type_that_does_not_hold_both_is_refused() {
    let double = "CAST(id AS DOUBLE)";
    let queries = [
        "SELECT shop.id FROM shop, sale WHERE DBL = BIG",
        "SELECT BIG FROM sale UNION SELECT DBL FROM shop",
        "SELECT CASE WHEN id > 1 THEN BIG ELSE DBL END FROM shop, sale WHERE id = shop",
        "SELECT COALESCE(BIG, DBL) FROM shop, sale WHERE id = shop",
        "SELECT id FROM shop, sale WHERE id = shop AND BIG > DBL",
        "SELECT id FROM shop LEFT JOIN sale ON DBL = BIG",
        "SELECT id FROM shop WHERE DBL IN (SELECT BIG FROM sale)",
    ];
    let put = |sql: &str, big: &str| sql.replace("DBL", double).replace("BIG", big);
    for sql in queries {
        let error = plan(&put(sql, "pieces * pieces")).expect_err(sql);
        assert_eq!(error.code(), code::TYPE_TOO_NARROW, "{sql}\n{error}");
        assert_eq!(error.field("type").as_deref(), Some("DOUBLE(32)"), "{sql}\n{error}");
        for big in ["pieces", "pieces * 3", "CAST(pieces * pieces AS INTEGER)"] {
            assert_eq!(plan(&put(sql, big)).map(drop), Ok(()), "{sql} of {big}");
        }
    }
    for sql in [
        "SELECT id FROM shop WHERE DBL < 3000000000",
        "SELECT city FROM shop GROUP BY city HAVING COUNT(*) > MAX(DBL)",
        "SELECT goods FROM sale, goods WHERE goods = id GROUP BY goods HAVING AVG(pieces) > AVG(price)",
    ] {
        assert_eq!(plan(&put(sql, "")).map(drop), Ok(()), "{sql}");
    }
}

/// The remedy that an error names works.
#[test]
fn remedies_help() {
    for (sql, code) in [
        ("SELECT MIN(maker) FROM goods", code::NO_ORDER),
        ("SELECT id FROM goods ORDER BY maker", code::NO_ORDER),
        ("SELECT COUNT(COALESCE(maker, 'none')) FROM goods", code::TYPES_DIFFER),
        ("SELECT COALESCE(city, 3) FROM shop", code::TYPES_DIFFER),
        ("SELECT city FROM shop UNION SELECT id FROM goods", code::TYPES_DIFFER),
        ("SELECT COALESCE(id = 3, 3) FROM shop", code::TYPES_DIFFER),
        ("SELECT pieces * pieces * pieces FROM sale", code::TOO_MANY_DIGITS),
        ("SELECT VAR_POP(pieces * pieces) FROM sale", code::TOO_MANY_DIGITS),
    ] {
        assert_eq!(refused(sql), code, "{sql}");
    }
    for sql in [
        "SELECT COALESCE(CAST(id = 3 AS INTEGER), 3) FROM shop",
        "SELECT CAST(pieces * pieces AS DECIMAL(18, 0)) * pieces FROM sale",
        "SELECT VAR_POP(CAST(pieces * pieces AS DOUBLE)) FROM sale",
        "SELECT ROUND(CAST(price AS DOUBLE) * 3, 1), ROUND(CAST(price AS DOUBLE)) FROM goods",
    ] {
        assert_eq!(plan(sql).map(drop), Ok(()), "{sql}");
    }
}

/// Short texts that expand to very large queries. To plan one of them would take years.
#[test]
fn what_grows_with_every_level_is_refused() {
    let repeated = |open: &str, close: &str, n: usize| {
        format!("SELECT {}id{} FROM shop", open.repeat(n), close.repeat(n))
    };
    for (open, close) in [("ABS(", ")"), ("NULLIF(", ", 1)"), ("COALESCE(NULLIF(", ", 2), 3)")] {
        let few = plan(&repeated(open, close, 4)).map(drop);
        assert_eq!(few, Ok(()), "{open}");
        assert_eq!(refused(&repeated(open, close, 20)), code::QUERY_TOO_LARGE, "{open}");
    }
    let named = |n: usize| {
        let more = (1..n).map(|i| format!(", t{i} AS (SELECT a.id FROM t{} a, t{} b)", i - 1, i - 1));
        format!("WITH t0 AS (SELECT id FROM shop){} SELECT id FROM t{}", more.collect::<String>(), n - 1)
    };
    assert_eq!(plan(&named(3)).map(drop), Ok(()));
    assert_eq!(refused(&named(40)), code::QUERY_TOO_LARGE);
    let union = format!("SELECT id FROM shop{}", " UNION ALL SELECT id FROM shop".repeat(1500));
    assert_eq!(refused(&union), code::QUERY_TOO_LARGE);
}

#[test]
fn names_that_differ_in_case_alone_are_one() {
    let tables = catalog().tables().to_vec();
    let mut other = tables[0].clone();
    other.name = "SHOP".into();
    let error = Catalog::new([tables.clone(), vec![other]].concat()).expect_err("twice");
    assert_eq!((error.code(), error.field("name")), (code::NAME_TWICE, Some("SHOP".to_owned())));
    let plan = relation("select CITY from \"shop\" S where s.ID = 3", &catalog(), Options::default());
    assert_eq!(plan.map(|p| p.schema().columns().len()), Ok(1));
    let quoted = relation("SELECT \"City\" FROM shop", &catalog(), Options::default());
    assert!(quoted.is_err(), "letters' case counts between quotes");
}

#[test]
fn with_a_least_size_only_groups_are_shown() {
    let options = Options { min_group: 3, ..Options::default() };
    let ask = |sql: &str| relation(sql, &catalog(), options).map(drop).map_err(|e| e.code());
    for sql in [
        "SELECT city, COUNT(*) FROM shop GROUP BY city ORDER BY 2 LIMIT 3",
        "SELECT COUNT(*) FROM shop",
        "SELECT city FROM shop GROUP BY city UNION SELECT name FROM goods GROUP BY name",
    ] {
        assert_eq!(ask(sql), Ok(()), "{sql}");
    }
    for sql in [
        "SELECT city FROM shop",
        "SELECT DISTINCT city FROM shop",
        "SELECT city, (SELECT COUNT(*) FROM sale) FROM shop",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM shop) AS t, goods",
        "SELECT city FROM shop GROUP BY city UNION SELECT name FROM goods",
    ] {
        assert_eq!(ask(sql), Err(code::GROUPS_ONLY), "{sql}");
    }
}

#[test]
fn a_join_of_many_with_many_needs_a_bound() {
    let mut tables = catalog().tables().to_vec();
    tables[2].parts[0].rows = 1 << 20;
    let catalog = Catalog::new(tables).unwrap_or_else(|e| panic!("{e}"));
    let sql = "SELECT a.day FROM sale a, sale b WHERE a.goods = b.goods";
    let error = relation(sql, &catalog, Options::default()).expect_err("no bound");
    assert_eq!(error.code(), code::JOIN_UNBOUND, "{error}");
    let options = Options { join_bound: Some(5000), ..Options::default() };
    assert_eq!(relation(sql, &catalog, options).map(|plan| plan.rows()), Ok(5000));
}
