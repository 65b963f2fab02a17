//! Expressions, one query each, so that a failure names its expression.

use super::*;
use Arithmetic::{Add, Divide, Multiply, Remainder, Subtract};
use hushwire_fault::code;

const DECIMAL: ColumnType = ColumnType::Decimal { precision: 12, scale: 4 };

fn all() -> Vec<Expr> {
    let [key, small, text, flag, price, day, long, near, time, digest, big] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map(column);
    let word = |t: &str| Expr::literal(Value::text(t), ColumnType::Varchar(3));
    let null = |ty| Expr::literal(Value::Null, ty);
    let mut all = vec![];
    for op in [Add, Subtract, Multiply, Divide, Remainder] {
        for (a, b) in [
            (&key, &small),
            (&small, &key),
            (&price, &small),
            (&small, &price),
            (&price, &price),
            (&near, &price),
            (&key, &near),
            (&big, &big),
        ] {
            all.push(a.clone().arithmetic(op, b.clone()));
        }
        all.push(price.clone().arithmetic(op, int(7)));
    }
    all.extend([
        day.clone().arithmetic(Add, small.clone()),
        day.clone().arithmetic(Subtract, small.clone()),
        day.clone().arithmetic(Subtract, day.clone()),
        time.clone().arithmetic(Subtract, day.clone()),
        time.clone().arithmetic(Add, int(5)),
        Expr::Negate(Box::new(price.clone())),
        Expr::Negate(Box::new(big.clone())),
    ]);
    for c in Comparison::ALL {
        for (a, b) in [
            (&key, &small),
            (&price, &small),
            (&price, &near),
            (&day, &time),
            (&text, &long),
            (&flag, &flag),
            (&text, &word("ab")),
            (&big, &key),
        ] {
            all.push(a.clone().compare(c, b.clone()));
        }
    }
    let low = || greater(key.clone(), int(0));
    let truths = [flag.clone(), low(), null(ColumnType::Boolean), text.clone().is_null()];
    for a in &truths {
        all.push(a.clone().not());
        for b in &truths {
            all.push(a.clone().and(b.clone()));
            all.push(a.clone().or(b.clone()));
        }
    }
    all.push(digest.clone().equals(digest.clone()));
    all.push(key.clone().between(small.clone(), int(1)));
    all.push(Expr::Case {
        branches: vec![(flag.clone(), key.clone()), (low(), price.clone())],
        otherwise: None,
    });
    all.push(Expr::Case {
        branches: vec![(low(), flag.clone())],
        otherwise: Some(Box::new(text.clone().is_null())),
    });
    all.push(Expr::Case {
        branches: vec![(flag.clone(), text.clone())],
        otherwise: Some(Box::new(long.clone())),
    });
    all.push(coalesce(vec![key.clone(), price.clone(), small.clone()]));
    all.push(coalesce(vec![flag.clone(), low()]));
    all.push(coalesce(vec![text.clone(), null(ColumnType::Varchar(2))]));
    let double = ColumnType::Double { frac: 16 };
    for (e, to) in [
        (&price, ColumnType::Integer),
        (&price, ColumnType::Decimal { precision: 5, scale: 1 }),
        (&price, DECIMAL),
        (&price, double),
        (&near, double),
        (&near, ColumnType::Double { frac: 3 }),
        (&near, ColumnType::Integer),
        (&near, DECIMAL),
        (&big, ColumnType::SmallInt),
        (&small, DECIMAL),
        (&flag, ColumnType::Integer),
        (&flag, DECIMAL),
        (&day, ColumnType::Timestamp),
        (&time, ColumnType::Date),
        (&text, ColumnType::Varchar(1)),
        (&text, ColumnType::Varchar(5)),
        (&long, ColumnType::Varchar(3)),
    ] {
        all.push(e.clone().cast(to));
    }
    for list in [vec![], vec![Value::Number(1)], vec![Value::Number(-1), Value::Null, Value::Number(2)]] {
        all.push(Expr::InList(Box::new(key.clone()), list));
    }
    all.push(Expr::InList(Box::new(text.clone()), vec![Value::text("a"), Value::text("abbab")]));
    for pattern in ["a%", "%a", "%b%", "a_", "_", "%", "", "ab", "%a%b%", "abbbb", "_%A", "%_"] {
        all.push(text.clone().like(pattern));
    }
    all.push(Expr::Like { of: Box::new(text.clone()), pattern: "a!_".into(), escape: Some('!') });
    all.push(long.clone().like("common%A"));
    for (from, length) in [(1, 1), (2, 5), (3, 1), (1, 3)] {
        all.push(called("substring", vec![text.clone(), int(from), int(length)]));
    }
    for part in ["year", "month", "day"] {
        all.push(called(part, vec![day.clone()]));
        all.push(called(part, vec![time.clone()]));
        let any = key.clone().arithmetic(Multiply, int(250_000)).cast(ColumnType::Integer);
        let moved = Expr::literal(Value::Number(3), ColumnType::Date).arithmetic(Add, any);
        all.push(called(part, vec![moved]));
    }
    all.extend(chosen());
    all
}

/// Calls of functions that select values by their order, and of SIGN.
pub(super) fn chosen() -> Vec<Expr> {
    let [key, small, text, flag, price, day, long, near, time, big] =
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 10].map(column);
    let pairs = [
        (&key, &small),
        (&price, &near),
        (&price, &small),
        (&day, &time),
        (&text, &long),
        (&flag, &flag),
        (&big, &key),
    ];
    let mut all: Vec<Expr> =
        [&key, &price, &near, &big].map(|e| called("sign", vec![e.clone()])).into_iter().collect();
    for name in ["greatest", "least"] {
        all.extend(pairs.map(|(a, b)| called(name, vec![a.clone(), b.clone()])));
        all.push(called(name, vec![key.clone(), price.clone(), small.clone(), int(1), big.clone()]));
    }
    all
}

#[test]
fn expressions_are_what_they_are_in_the_open() {
    for seed in 1..4 {
        let mut dice = Dice(seed);
        let mut data = Data::default();
        let table = data.table(&mut dice, "t", columns(), 40);
        for e in all() {
            check(&table.project(named([e])).unwrap(), &data).unwrap();
        }
    }
}

#[test]
fn conditions_keep_what_is_true_for_sure() {
    let conditions: Vec<Expr> = {
        let mut data = Data::default();
        let table = data.table(&mut Dice(1), "t", columns(), 1);
        all().into_iter().filter(|e| e.check(table.schema()).unwrap().ty == ColumnType::Boolean).collect()
    };
    for (seed, condition) in conditions.into_iter().enumerate() {
        let mut data = Data::default();
        let rows = [0, 1, 9][seed % 3];
        let table = data.table(&mut Dice(seed as u64), "t", columns(), rows);
        let kept = table.filter(condition).unwrap().select(&[0, 2]).unwrap();
        check(&kept, &data).unwrap();
    }
}

/// A table of one owner's rows.
fn table_of(columns: Vec<Column>, rows: Vec<Row>) -> (Relation, Data) {
    let mut data = Data::default();
    let parts = vec![TablePart { owner: "a".into(), rows: rows.len() as u64 }];
    data.parts.insert("t".into(), vec![rows]);
    let table = Table { name: "t".into(), schema: Schema(columns), parts, padded: false, unique: vec![] };
    (Relation::scan(table).unwrap(), data)
}

/// Numbers at the ends of their types. Their sums, products and quotients have more bits than the
/// types.
fn ends() -> (Relation, Data) {
    let columns = vec![
        Column::new("x", ColumnType::Decimal { precision: 38, scale: 6 }),
        Column::new("y", ColumnType::BigInt),
        Column::new("z", ColumnType::SmallInt),
        Column::new("d", ColumnType::Double { frac: 32 }),
        Column::new("e", ColumnType::Double { frac: 20 }).nullable(),
    ];
    let most = 10i128.pow(38) - 1;
    let mut rows = vec![];
    for (x, d) in [(most, i64::MAX), (-most, i64::MIN), (0, 0), (1, 1), (123_456_789_000_001, -(5 << 31))] {
        for (y, e) in [(i64::MIN, 1), (i64::MAX, i64::MIN), (-1, 3 << 19), (3, i64::MAX)] {
            for z in [i16::MIN, -1, 0, 7] {
                let numbers: [i128; 5] = [x, y.into(), z.into(), d.into(), e.into()];
                rows.push(numbers.map(Value::Number).to_vec());
            }
        }
    }
    table_of(columns, rows)
}

#[test]
fn wide_numbers_are_exact_or_refused() {
    let (table, data) = ends();
    let mut taken = vec![];
    let mut take = |e: Expr| {
        if e.check(table.schema()).is_ok() {
            check(&table.project(named([e.clone()])).unwrap(), &data).unwrap();
            taken.push(e.shown(table.schema()).to_string());
        }
    };
    for op in [Add, Subtract, Multiply, Divide, Remainder] {
        for a in 0..5 {
            for b in 0..5 {
                take(column(a).arithmetic(op, column(b)));
            }
        }
    }
    let [d, e, y] = [column(3), column(4), column(1)];
    let product = d.clone().arithmetic(Multiply, e.clone());
    let square = d.clone().arithmetic(Multiply, d.clone());
    take(square.clone().arithmetic(Multiply, d.clone()));
    take(d.clone().arithmetic(Multiply, square));
    take(product.clone().arithmetic(Multiply, d.clone()));
    take(d.clone().arithmetic(Multiply, product.clone()));
    take(product.clone().arithmetic(Divide, d.clone()));
    take(d.clone().arithmetic(Divide, product.clone()));
    take(product.clone().arithmetic(Divide, product.clone()).arithmetic(Multiply, int(100)));
    take(y.clone().arithmetic(Multiply, y.clone()).arithmetic(Divide, y.clone()));
    take(Expr::Negate(Box::new(y.clone())));
    take(d.compare(Comparison::Less, y));
    for to in [
        ColumnType::SmallInt,
        ColumnType::BigInt,
        ColumnType::Double { frac: 20 },
        ColumnType::Decimal { precision: 20, scale: 2 },
    ] {
        (0..5).for_each(|at| take(column(at).cast(to)));
        take(product.clone().cast(to));
    }
    for shown in ["(d * e)", "((d * d) * d)", "(d / e)", "(y * y)", "((y * y) / y)", "-y", "d < y", "(x / y)"]
    {
        assert!(taken.iter().any(|e| e == shown), "{shown} is refused; {taken:?}");
    }
}

/// Results that 64 bits do not hold; all evaluations agree.
#[test]
fn nothing_wraps() {
    let double = ColumnType::Double { frac: 32 };
    let columns = vec![
        Column::new("d", double),
        Column::new("y", ColumnType::BigInt),
        Column::new("k", ColumnType::Integer),
    ];
    let row = [50_000 << 32, i128::from(i64::MAX), 2].map(Value::Number).to_vec();
    let (table, data) = table_of(columns, vec![row]);
    let [d, y, k] = [0, 1, 2].map(column);
    let times = |a: &Expr, b: &Expr| a.clone().arithmetic(Multiply, b.clone());
    let made = [
        (times(&d, &d), 2_500_000_000 << 32),
        (times(&times(&d, &d), &d), 125_000_000_000_000 << 32),
        (d.clone().arithmetic(Add, int(i32::MAX.into())), (i128::from(i32::MAX) + 50_000) << 32),
        (y.clone().arithmetic(Add, int(1)), 1 << 63),
        (times(&y, &y), i128::from(i64::MAX) * i128::from(i64::MAX)),
        (times(&times(&y, &k), &k), i128::from(i64::MAX) * 4),
    ];
    let (exprs, expected): (Vec<Expr>, Vec<i128>) = made.into_iter().unzip();
    let relation = table.project(exprs.iter().map(|e| ("e".to_owned(), e.clone())).collect()).unwrap();
    let expected: Row = expected.into_iter().map(Value::Number).collect();
    assert_eq!(check(&relation, &data).unwrap(), vec![expected]);
    let query = Query::new("q", &relation, &["analyst"]).unwrap();
    let types: Vec<String> = query.schema().columns().iter().map(|c| c.ty.to_string()).collect();
    assert_eq!(types[3..], ["DECIMAL(38, 0)"; 3], "whole numbers of more than 64 bits are none of BIGINT");
    // An expression that might have more than 128 bits is refused, and its remedy helps.
    let large = times(&times(&y, &y), &y);
    assert_eq!(large.check(table.schema()).unwrap_err().code(), code::TOO_MANY_DIGITS);
    let cast = times(&times(&y, &y).cast(ColumnType::Decimal { precision: 18, scale: 0 }), &y);
    assert_eq!(check(&table.project(named([cast])).unwrap(), &data).unwrap(), vec![vec![Value::Null]]);
}

/// Sums, means and variances at the ends; some of them are NULL because of their size.
#[test]
fn figures_that_are_too_large_are_null() {
    let (table, data) = ends();
    let figures = |at: usize| {
        let all = [&SUM, &AVG, &VAR_POP, &VAR_SAMP].map(|figure| Aggregate::new("f", figure, column(at)));
        let made = table.aggregate(vec![], all.to_vec(), 0, None).is_ok();
        if made { all.to_vec() } else { all[..2].to_vec() }
    };
    let mut nulls = 0;
    for at in 0..5 {
        assert!(figures(at).len() == 4 || at == 0, "squares of 64 bits have 128");
        for keys in [vec![], vec![2], vec![4], vec![0]] {
            let keys = named(keys.into_iter().map(column));
            let made = table.aggregate(keys, figures(at), 0, None).unwrap();
            nulls += check(&made, &data).unwrap().concat().iter().filter(|v| v.is_null()).count();
        }
        let window = Window {
            partition: vec![column(2)],
            order: (0..5)
                .map(|at| SortKey { expr: column(at), descending: false, nulls_first: false })
                .collect(),
            functions: vec![("s".into(), WindowFunction::RunningSum(column(at), Frame::Rows))],
        };
        let made = table.window(window).unwrap();
        nulls += check(&made, &data).unwrap().concat().iter().filter(|v| v.is_null()).count();
    }
    assert!(nulls > 20, "{nulls} are NULL");
    // The sum of a single 64-bit number is that number.
    let [sum, mean] = [&SUM, &AVG].map(|f| Aggregate::new("f", f, column(1)));
    let ends =
        table.filter(column(1).equals(Expr::literal(Value::Number(i64::MAX.into()), ColumnType::BigInt)));
    let made = ends.unwrap().aggregate(vec![], vec![sum, mean], 0, None).unwrap();
    let [sum, mean] = [20, 10_000].map(|n| Value::Number(i128::from(i64::MAX) * n));
    assert_eq!(check(&made, &data).unwrap(), vec![vec![sum, mean]]);
}

/// `_` matches one UTF-8 character of any number of bytes.
#[test]
fn one_character_is_one_of_any_length() {
    let texts = ["Ünal", "Unal", "nal", "日本", "日本語", "é", "", "aé", "🙂b", "éé"];
    let columns = vec![Column::new("text", ColumnType::Varchar(12))];
    let part = TablePart { owner: "owner".into(), rows: texts.len() as u64 };
    let schema = Schema(columns);
    let table = Table { name: "t".into(), schema, parts: vec![part], padded: false, unique: vec![] };
    let rows: Vec<Row> = texts.iter().map(|text| vec![Value::text(text)]).collect();
    let table = Relation::scan(table).unwrap();
    for (pattern, expected) in [
        ("_nal", &["Ünal", "Unal"][..]),
        ("__", &["日本", "aé", "🙂b", "éé"]),
        ("_", &["é"]),
        ("%_本%", &["日本", "日本語"]),
        ("___", &["nal", "日本語"]),
        ("%é_", &["éé"]),
        ("_é", &["aé", "éé"]),
        ("_%_%_", &["Ünal", "Unal", "nal", "日本語"]),
    ] {
        let kept = table.filter(column(0).like(pattern)).unwrap();
        let query = Query::new("q", &kept, &["analyst"]).unwrap();
        let outputs = evaluate(query.computation(), &query.inputs("t", 0, &rows).unwrap()).unwrap();
        let expected: Vec<Row> = expected.iter().map(|text| vec![Value::text(text)]).collect();
        assert_eq!(query.rows(&outputs).unwrap(), expected, "LIKE {pattern}");
        let data = BTreeMap::from([("t".to_owned(), rows.clone())]);
        assert_eq!(plain::evaluate(&kept, &data).unwrap(), expected, "LIKE {pattern}");
    }
}

/// Products of decimals that exceed 38 digits are refused, unless bounds of their factors show that
/// they are smaller.
#[test]
fn decimals_that_would_wrap_are_refused() {
    let wide = ColumnType::Decimal { precision: 22, scale: 2 };
    let columns = vec![
        Column::new("wide", wide),
        Column::new("bound", wide).within(-1_000_000, 1_000_000),
        Column::new("widest", ColumnType::Decimal { precision: 38, scale: 0 }),
    ];
    let schema = Schema(columns);
    let product = |a: Expr, b: Expr| a.arithmetic(Multiply, b).check(&schema);
    let error = product(column(0), column(0)).unwrap_err();
    let operation = error.field("operation");
    assert_eq!((error.code(), operation.as_deref()), (code::TOO_MANY_DIGITS, Some("(wide * wide)")));
    assert!(column(0).arithmetic(Add, column(0)).check(&schema).is_ok());
    assert!(column(2).arithmetic(Add, column(2)).check(&schema).is_err());
    assert!(product(column(2), column(2)).is_err());
    assert!(product(column(0), column(1)).is_ok());
    let narrow = |at| column(at).cast(ColumnType::Decimal { precision: 18, scale: 2 });
    assert!(product(narrow(0), narrow(0)).is_ok());
}

/// However a column reaches a SUBSTRING, its owner is told.
#[test]
fn columns_that_are_cut_by_bytes_are_known() {
    let mut data = Data::default();
    let columns = || ["a", "b", "c"].map(|name| Column::new(name, ColumnType::Varchar(8))).to_vec();
    let mut table = |name: &str| data.table(&mut Dice(1), name, columns(), 3);
    let (t, u) = (table("t"), table("u"));
    let part = |at| called("substring", vec![column(at), int(1), int(2)]);
    let cut = |relation: &Relation| {
        let query = Query::new("q", relation, &["analyst"]).unwrap();
        let places = |table| query.letters(table).into_iter().map(|(at, _)| at).collect::<Vec<_>>();
        (places("t"), places("u"))
    };
    assert_eq!(cut(&t), (vec![], vec![]));
    assert_eq!(cut(&t.project(named([part(1)])).unwrap()), (vec![1], vec![]));
    let turned = t.select(&[2, 0]).unwrap();
    assert_eq!(cut(&turned.filter(part(0).equals(part(0))).unwrap()), (vec![2], vec![]));
    let most = Aggregate::new("most", &MAX, column(1));
    let grouped = t.aggregate(named([column(2)]), vec![most], 0, None).unwrap();
    assert_eq!(cut(&grouped.project(named([part(1), column(0)])).unwrap()), (vec![1], vec![]));
    let joined = t.join(&u, JoinKind::Inner, vec![(column(0), part(1))], None, Some(9)).unwrap();
    assert_eq!(cut(&joined), (vec![], vec![1]));
    assert_eq!(cut(&joined.project(named([part(5)])).unwrap()), (vec![], vec![1, 2]));
    let both = t.set(SetOperation::Union, true, &u).unwrap();
    assert_eq!(
        cut(&both.order_by(vec![SortKey { expr: part(2), descending: false, nulls_first: false }]).unwrap()),
        (vec![2], vec![2])
    );
    let lag = vec![("lag".to_owned(), WindowFunction::Lag(column(1), 1))];
    let window = Window { partition: vec![part(0)], order: vec![], functions: lag };
    let window = t.window(window).unwrap();
    assert_eq!(cut(&window.project(named([part(3)])).unwrap()), (vec![0, 1], vec![]));
}
