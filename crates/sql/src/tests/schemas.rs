use crate::schema::{Inferred, column, declaration, parse_type};
use hushwire_fault::code;
use hushwire_tables::algebra::{Column, ColumnType};

#[test]
fn declarations_are_read_as_they_are_written() {
    for text in [
        "a BOOLEAN",
        "a SMALLINT NOT NULL",
        "a INTEGER",
        "a BIGINT NOT NULL",
        "a DECIMAL(12, 2)",
        "a DATE NOT NULL",
        "a TIMESTAMP",
        "a VARCHAR(512)",
        "a DIGEST NOT NULL",
        "a DIGEST(128)",
        "a DOUBLE(48)",
    ] {
        assert_eq!(column(text).map(|c| c.to_string()), Ok(text.to_owned()));
    }
    let money = ColumnType::Decimal { precision: 12, scale: 2 };
    assert_eq!(
        column("  Total  numeric( 12,2 )  not  null ").map(|c| (c.ty, c.nullable)),
        Ok((money, false))
    );
    for wrong in [
        "",
        "a",
        "a TEXT",
        "a VARCHAR",
        "a VARCHAR(0)",
        "a VARCHAR(9999)",
        "a DECIMAL(39)",
        "a DIGEST(96)",
        "a INTEGER(3)",
        "a DECIMAL(3",
        "a NOT NULL",
    ] {
        assert!(column(wrong).is_err(), "{wrong}");
    }
    assert_eq!(parse_type("decimal(5)"), Some(ColumnType::Decimal { precision: 5, scale: 0 }));
}

/// A file may give its columns any names.
#[test]
fn names_of_more_than_a_word_are_quoted() {
    for name in ["n", "it's", "first name", "", " ", "\"", "\"a\"", "a \"b\" c", "x\ty NOT NULL", "a,b"] {
        for made in [Column::new(name, ColumnType::Date), Column::new(name, ColumnType::Date).nullable()] {
            assert_eq!(column(&declaration(&made)), Ok(made), "{name:?}");
        }
    }
    assert_eq!(declaration(&Column::new("n", ColumnType::Date)), "n DATE NOT NULL");
    assert_eq!(declaration(&Column::new("a b", ColumnType::Date)), "\"a b\" DATE NOT NULL");
    for wrong in ["\"a b DATE", "\"a b\"DATE", "\"a b\"", "a b DATE", "\"\"\" DATE"] {
        assert!(column(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn types_are_the_narrowest_that_take_all_fields() {
    let inferred = |fields: &[&str]| {
        let mut all = Inferred::default();
        fields.iter().for_each(|field| all.see(field).unwrap_or_else(|e| panic!("{e}")));
        all.column("c").unwrap_or_else(|e| panic!("{e}")).to_string()
    };
    for (fields, expected) in [
        (&["1", "-2"][..], "c INTEGER NOT NULL"),
        (&["1", ""], "c INTEGER"),
        (&["1", "3000000000"], "c BIGINT NOT NULL"),
        (&["1", "30000000000000000000"], "c DECIMAL(20, 0) NOT NULL"),
        (&["1.5", "-220"], "c DECIMAL(4, 1) NOT NULL"),
        (&["0.25", "0"], "c DECIMAL(3, 2) NOT NULL"),
        (&["1.0"], "c DECIMAL(2, 1) NOT NULL"),
        (&["007", "1"], "c VARCHAR(3) NOT NULL"),
        (&["+49", "1"], "c VARCHAR(3) NOT NULL"),
        (&["-01", "1"], "c VARCHAR(3) NOT NULL"),
        (&["-0.5", "0"], "c DECIMAL(2, 1) NOT NULL"),
        (&["true", "FALSE"], "c BOOLEAN NOT NULL"),
        (&["1.5e3", "-2", "4E-2"], "c DOUBLE(32) NOT NULL"),
        (&["1e10", "0.5"], "c DOUBLE(29) NOT NULL"),
        (&["12345678901234.5", "0.1234567890123456789012345"], "c DOUBLE(19) NOT NULL"),
        (&["1e5", "2f6"], "c VARCHAR(3) NOT NULL"),
        (&["1", "nan"], "c VARCHAR(3) NOT NULL"),
        // A field of forty digits is a name.
        (&["1234567890123456789012345678901234567890"], "c VARCHAR(40) NOT NULL"),
        (&["2026-11-23"], "c DATE NOT NULL"),
        (&["2026-11-23", "2026-11-23 10:00"], "c TIMESTAMP NOT NULL"),
        (&["2026-11-23", "soon"], "c VARCHAR(10) NOT NULL"),
        (&[], "c VARCHAR(1) NOT NULL"),
        (&["", ""], "c VARCHAR(1)"),
    ] {
        assert_eq!(inferred(fields), expected, "{fields:?}");
    }
    let guess = |field: Option<&str>| {
        let mut all = Inferred::default();
        field.iter().for_each(|field| all.see(field).unwrap_or_else(|e| panic!("{e}")));
        all.is_a_guess()
    };
    assert!(guess(None) && guess(Some("")) && !guess(Some("x")), "only what has no values is a guess");
    assert!(Inferred::default().see(&"x".repeat(513)).is_err());
}

#[test]
fn what_a_file_declares_bounds_the_choice() {
    let inferred = |declared: &[&str], fields: &[&str]| {
        let mut all = Inferred::default();
        declared.iter().for_each(|ty| all.declare(parse_type(ty)));
        for field in fields {
            match *field {
                "NULL" => all.null(),
                field => all.see(field).unwrap_or_else(|e| panic!("{e}")),
            }
        }
        all.column("c").unwrap_or_else(|e| panic!("{e}")).to_string()
    };
    for (declared, fields, expected) in [
        (&["VARCHAR"][..], &["12", "7"][..], "c VARCHAR(2) NOT NULL"),
        (&["VARCHAR"], &["true", "NULL"], "c VARCHAR(4)"),
        (&["BIGINT"], &["1", "2"], "c INTEGER NOT NULL"),
        (&["BIGINT"], &["3000000000", "NULL"], "c BIGINT"),
        (&["DECIMAL(22, 2)"], &["1.50"], "c DECIMAL(3, 2) NOT NULL"),
        (&["DOUBLE"], &["0.1", "1000000"], "c DOUBLE(32) NOT NULL"),
        (&["BIGINT", "DOUBLE"], &["5"], "c DOUBLE(32) NOT NULL"),
        (&["DOUBLE", "BIGINT"], &["5"], "c DOUBLE(32) NOT NULL"),
        (&["DOUBLE"], &["2147483647.5", "-2147483648"], "c DOUBLE(32) NOT NULL"),
        (&["DOUBLE"], &["0.5", "2147483648"], "c DOUBLE(31) NOT NULL"),
        (&["DOUBLE"], &["NULL", "9007199254740993"], "c DOUBLE(9)"),
        (&["DOUBLE"], &["9223372036854774784", "-9223372036854775808"], "c DOUBLE(0) NOT NULL"),
        (&["DOUBLE"], &["NULL"], "c DOUBLE(32)"),
        (&["BIGINT", "DOUBLE"], &["9007199254740993"], "c DOUBLE(9) NOT NULL"),
        (&["DATE"], &["NULL"], "c DATE"),
        (&["DATE", "BIGINT"], &["2026-11-23", "5"], "c VARCHAR(10) NOT NULL"),
        (&["TIMESTAMP"], &["2026-11-23 00:00:00"], "c TIMESTAMP NOT NULL"),
    ] {
        assert_eq!(inferred(declared, fields), expected, "{declared:?} {fields:?}");
    }
}

/// A column of numbers does not become text because one of them is too large.
#[test]
fn numbers_that_no_type_holds_are_refused() {
    for (declared, fields) in [
        (Some("DOUBLE"), &["1", "9223372036854775808", "2"][..]),
        (Some("DOUBLE"), &["NaN"]),
        (Some("DOUBLE"), &["-inf", "1"]),
        (None, &["1e300", "1"]),
        (None, &["12345678901234567890.5", "0.12345678901234567891"]),
    ] {
        let mut all = Inferred::default();
        declared.iter().for_each(|ty| all.declare(parse_type(ty)));
        fields.iter().for_each(|field| all.see(field).unwrap_or_else(|e| panic!("{e}")));
        assert!(!all.has_double(), "{fields:?}");
        let refused = all.column("c").expect_err("no type holds it");
        assert_eq!(refused.code(), code::COLUMN_WITHOUT_TYPE, "{fields:?}");
    }
}
