use crate::cell::{DAY, days_later, months_later, read, show};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{ColumnType, Value},
    plain::civil,
};
use proptest::prelude::*;

const MONEY: ColumnType = ColumnType::Decimal { precision: 6, scale: 2 };

#[test]
fn fields_are_read_as_their_type_has_them() {
    use ColumnType::{BigInt, Boolean, Date, Double, Integer, SmallInt, Timestamp, Varchar};
    let number = |n| Some(Value::Number(n));
    let cases = [
        ("1", Boolean, Some(Value::Boolean(true))),
        ("False", Boolean, Some(Value::Boolean(false))),
        ("maybe", Boolean, None),
        (" -7 ", SmallInt, number(-7)),
        ("+7", Integer, number(7)),
        ("32768", SmallInt, None),
        ("1.0", Integer, number(1)),
        ("1.5", Integer, None),
        ("", Integer, None),
        ("-", BigInt, None),
        ("12a", BigInt, None),
        ("9223372036854775807", BigInt, number(i64::MAX.into())),
        ("9223372036854775808", BigInt, None),
        ("12.3", MONEY, number(1230)),
        ("-.05", MONEY, number(-5)),
        ("12.", MONEY, number(1200)),
        ("12.340", MONEY, number(1234)),
        ("12.345", MONEY, None),
        ("9999.99", MONEY, number(999_999)),
        ("10000", MONEY, None),
        ("1,000", MONEY, None),
        ("1e3", MONEY, None),
        ("00000000000000000000000000000000000000000000001.00", MONEY, number(100)),
        ("1970-01-01", Date, number(0)),
        ("1969-12-31", Date, number(-1)),
        ("2000-02-29", Date, number(11_016)),
        ("1900-02-29", Date, None),
        ("2023-4-01", Date, None),
        ("2023-13-01", Date, None),
        ("1970-01-02 00:00:01", Timestamp, number(86_401_000_000)),
        ("1970-01-01T00:00:00.5", Timestamp, number(500_000)),
        ("1970-01-01 24:00:00", Timestamp, None),
        ("0.5", Double { frac: 8 }, number(128)),
        ("nan", Double { frac: 8 }, None),
        ("-2147483648", Double { frac: 32 }, number(i64::MIN.into())),
        ("2147483647.5", Double { frac: 32 }, number(i128::from(i64::MAX) - (1 << 31) + 1)),
        ("2147483648", Double { frac: 32 }, None),
        (" a ", Varchar(3), Some(Value::text(" a "))),
        ("four", Varchar(3), None),
        ("a\0", Varchar(3), None),
        ("1", ColumnType::Digest { bits: 64 }, None),
    ];
    for (text, ty, value) in cases {
        assert_eq!(read(text, ty).ok(), value, "{text:?} as {ty}");
    }
}

#[test]
fn months_keep_to_the_calendar() {
    let day = |text| match read(text, ColumnType::Date) {
        Ok(Value::Number(n)) => n,
        other => panic!("{other:?}"),
    };
    for (from, months, to) in [
        ("1995-01-31", 1, "1995-02-28"),
        ("1996-01-31", 1, "1996-02-29"),
        ("1995-12-01", 1, "1996-01-01"),
        ("1995-03-31", -1, "1995-02-28"),
        ("1996-02-29", 12, "1997-02-28"),
    ] {
        assert_eq!(months_later(day(from), months), Some(day(to)), "{from}");
    }
    assert_eq!(months_later(day("9999-12-01"), 1), None);
    assert_eq!(days_later(day("9999-12-30"), 1), Some(day("9999-12-31")));
    assert_eq!(days_later(day("9999-12-31"), 1), None);
    assert_eq!(days_later(day("0001-01-01"), -1), None);
}

#[test]
fn dates_outside_of_four_digits_are_shown_and_not_read() {
    // Columns may hold such dates; Python and ISO 8601 count the same days.
    for (day, text) in [
        (2_932_896, "9999-12-31"),
        (2_932_897, "10000-01-01"),
        (2_932_897 + 146_097, "10400-01-01"),
        (-719_162, "0001-01-01"),
        (-719_163, "0000-12-31"),
        (-719_528, "0000-01-01"),
        (-719_529, "-0001-12-31"),
        (-719_528 - 146_097, "-0400-01-01"),
    ] {
        let written = (1..=9999).contains(&civil(day)[0]);
        for (ty, n, text) in [
            (ColumnType::Date, day, text.to_owned()),
            (ColumnType::Timestamp, day * DAY, format!("{text} 00:00:00")),
        ] {
            let value = Value::Number(n);
            assert_eq!(show(&value, ty), text);
            let found = read(&text, ty).map_err(|e| e.code());
            assert_eq!(found, if written { Ok(value) } else { Err(code::VALUE) }, "{text}");
        }
    }
}

proptest! {
    #[test]
    fn what_is_shown_is_read(n in any::<i64>(), scale in 0u8..=18, frac in 0u8..=20) {
        let types = [
            (ColumnType::BigInt, i128::from(n)),
            (ColumnType::Decimal { precision: 38, scale }, n.into()),
            (ColumnType::Date, i128::from(n % 2_000_000)),
            (ColumnType::Timestamp, i128::from(n % 60_000_000_000_000_000)),
            (ColumnType::Double { frac }, i128::from(n % (1 << 50))),
        ];
        for (ty, n) in types {
            let value = Value::Number(n);
            let year = if ty == ColumnType::Date { civil(n)[0] } else { 1 };
            prop_assume!((1..=9999).contains(&year));
            prop_assert_eq!(read(&show(&value, ty), ty), Ok(value), "{}", ty);
        }
    }
}
