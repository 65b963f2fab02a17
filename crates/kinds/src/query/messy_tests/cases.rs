//! Files as users have them, and what is read of each.

/// A file, the options with which it is read, and the expected result.
pub(super) struct Messy {
    /// The names and bytes of its files, which form one table.
    pub(super) files: &'static [(&'static str, &'static [u8])],
    pub(super) options: &'static [(&'static str, &'static str)],
    pub(super) wanted: Wanted,
    /// DuckDB's options, if they mean the same. Columns and their types are added to them.
    pub(super) duck: Option<&'static str>,
}

pub(super) enum Wanted {
    /// The types of columns, and the rows as text, `|` between fields and `~` for NULL.
    Rows(&'static str, &'static [&'static str]),
    /// Parts of the error's text.
    Refused(&'static [&'static str]),
    /// The types of columns; a part of the reason why one of them is text, and a part of the
    /// remedy.
    Doubt(&'static str, &'static [&'static str]),
    /// Rows, and a part of the remark for the owner.
    Told(&'static str, &'static [&'static str], &'static str),
}

use Wanted::{Doubt, Refused, Rows as Read, Told};

const fn file(
    files: &'static [(&'static str, &'static [u8])],
    options: &'static [(&'static str, &'static str)],
    wanted: Wanted,
    duck: Option<&'static str>,
) -> Messy {
    Messy { files, options, wanted, duck }
}

const PLAIN: Option<&str> = Some("header=true");

pub(super) const FILES: [Messy; 76] = [
    // Separators.
    file(&[("a.csv", b"id,n\n1,2\n")], &[], Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2"]), PLAIN),
    file(
        &[("a.csv", b"id;n\n1;2,5\n")],
        &[("decimal", ",")],
        Read("id INTEGER NOT NULL, n DECIMAL(2, 1) NOT NULL", &["1|2.5"]),
        Some("header=true, delim=';', decimal_separator=','"),
    ),
    file(
        &[("a.tsv", b"id\tname\n1\tAnn, B.\n")],
        &[],
        Read("id INTEGER NOT NULL, name VARCHAR(7) NOT NULL", &["1|Ann, B."]),
        Some("header=true, delim='\\t'"),
    ),
    file(
        &[("a.csv", b"id|n\n1|2\n")],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2"]),
        Some("header=true, delim='|'"),
    ),
    file(
        &[("a.csv", b"id:n\n1:2\n")],
        &[("separator", ":")],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2"]),
        Some("header=true, delim=':'"),
    ),
    file(
        &[("a.csv", b"id;n\n1;2\n")],
        &[("separator", ",")],
        Read("id;n VARCHAR(3) NOT NULL", &["1;2"]),
        Some("header=true, delim=','"),
    ),
    file(
        &[("a.csv", b"id,n\n1,2\n3\n")],
        &[],
        Refused(&["a.csv, line 3: it has 1 field where the first line has 2", "put quotes around a field"]),
        None,
    ),
    // Quotes.
    file(
        &[("a.csv", b"id,name\n1,'Ann, B.'\n")],
        &[("quote", "'")],
        Read("id INTEGER NOT NULL, name VARCHAR(7) NOT NULL", &["1|Ann, B."]),
        Some("header=true, quote=''''"),
    ),
    file(
        &[("a.csv", b"id,inch\n1,12\"\n")],
        &[("quote", "none")],
        Read("id INTEGER NOT NULL, inch VARCHAR(3) NOT NULL", &["1|12\""]),
        None,
    ),
    file(
        &[("a.csv", b"id,inch\n1,12\"\n")],
        &[],
        Refused(&[
            "a.csv, line 2, character 5: a quote stands in a field",
            "put quotes around the whole field",
        ]),
        None,
    ),
    file(
        &[("a.csv", b"id,note\r\n1,\"two\r\nlines\"\r\n")],
        &[],
        Read("id INTEGER NOT NULL, note VARCHAR(10) NOT NULL", &["1|two\r\nlines"]),
        PLAIN,
    ),
    // Headers.
    file(
        &[("a.csv", b"1,Ann\n2,Bob\n")],
        &[("header", "no")],
        Read("c1 INTEGER NOT NULL, c2 VARCHAR(3) NOT NULL", &["1|Ann", "2|Bob"]),
        Some("header=false"),
    ),
    file(
        &[("a.csv", b"1,Ann\n2,Bob\n")],
        &[("header", "auto")],
        Read("c1 INTEGER NOT NULL, c2 VARCHAR(3) NOT NULL", &["1|Ann", "2|Bob"]),
        Some("header=false"),
    ),
    file(
        &[("a.csv", b"id,name\n2,Bob\n")],
        &[("header", "auto")],
        Read("id INTEGER NOT NULL, name VARCHAR(3) NOT NULL", &["2|Bob"]),
        PLAIN,
    ),
    file(
        &[("a.csv", b"1,Ann\n2,Bob\n")],
        &[],
        Told(
            "1 INTEGER NOT NULL, Ann VARCHAR(3) NOT NULL",
            &["2|Bob"],
            "a.csv, line 1 is read as the names of columns, and 1 of its 2 fields are numbers or dates",
        ),
        None,
    ),
    file(&[("a.csv", b",id\n0,7\n")], &[], Read("c1 INTEGER NOT NULL, id INTEGER NOT NULL", &["0|7"]), None),
    // Numbers.
    file(
        &[("a.csv", b"n\n\"1.234,50\"\n\"-7,25\"\n")],
        &[("decimal", ","), ("thousands", ".")],
        Read("n DECIMAL(6, 2) NOT NULL", &["1234.50", "-7.25"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n\"1,234\"\n\"1,234,567\"\n")],
        &[("thousands", ",")],
        Read("n INTEGER NOT NULL", &["1234", "1234567"]),
        None,
    ),
    file(
        &[("a.csv", "n\n1\u{a0}234\n12\n".as_bytes())],
        &[("thousands", "space")],
        Read("n INTEGER NOT NULL", &["1234", "12"]),
        None,
    ),
    file(
        &[("a.csv", "n;p\n12,50 €;5 %\n-3,00 €;7,5 %\n".as_bytes())],
        &[("decimal", ","), ("units", "yes")],
        Read("n DECIMAL(4, 2) NOT NULL, p DECIMAL(2, 1) NOT NULL", &["12.50|5.0", "-3.00|7.5"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n($1.50)\n$2\n")],
        &[("units", "yes")],
        Read("n DECIMAL(3, 2) NOT NULL", &["-1.50", "2.00"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n1.5\n\"2,5\"\n3.5\n")],
        &[],
        Doubt("n VARCHAR(3) NOT NULL", &["a.csv, line 3", "9,9", "--null WORD"]),
        None,
    ),
    file(&[("a.csv", b"n\n\"1,5\"\n\"2,5\"\n")], &[], Doubt("n VARCHAR(3) NOT NULL", &["decimal ,"]), None),
    file(
        &[("a.csv", b"zip\n01234\n8001\n")],
        &[],
        Doubt("zip VARCHAR(5) NOT NULL", &["1 is a code that begins with 0 or +"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n1\n2e300\n")],
        &[],
        Refused(&["a.csv, line 3: column n: it is no number below 2^63", "VARCHAR(n) keeps the text"]),
        None,
    ),
    // NULL.
    file(
        &[("a.csv", b"id,n\n1,5\n2,n/a\n3,\n4,NA\n")],
        &[("null", "NA,n/a")],
        Read("id INTEGER NOT NULL, n INTEGER", &["1|5", "2|~", "3|~", "4|~"]),
        Some("header=true, nullstr=['', 'NA', 'n/a']"),
    ),
    file(
        &[("a.csv", b"id,n\n1,5\n2,6\n3,7\n4,n/a\n")],
        &[],
        Doubt("id INTEGER NOT NULL, n VARCHAR(3) NOT NULL", &["a.csv, line 5", "a/a", "add --null n/a"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n\\N\n5\n")],
        &[("null", "\\N")],
        Read("n INTEGER", &["~", "5"]),
        Some("header=true, nullstr='\\N'"),
    ),
    file(
        &[("a.csv", b"n\n-\n5\n")],
        &[("null", "-")],
        Read("n INTEGER", &["~", "5"]),
        Some("header=true, nullstr='-'"),
    ),
    // Dates and times.
    file(
        &[("a.csv", b"d\n23.11.2026\n1.2.2025\n")],
        &[("date-format", "%d.%m.%Y")],
        Read("d DATE NOT NULL", &["2026-11-23", "2025-02-01"]),
        Some("header=true, dateformat='%d.%m.%Y'"),
    ),
    file(
        &[("a.csv", b"d\n11/23/2026 9:05 PM\n")],
        &[("date-format", "%m/%d/%Y %I:%M %p")],
        Read("d TIMESTAMP NOT NULL", &["2026-11-23 21:05:00"]),
        Some("header=true, timestampformat='%m/%d/%Y %I:%M %p'"),
    ),
    file(
        &[("a.csv", b"t\n2024-01-01 00:00:01\n2024-01-01T00:00:00Z\n2024-01-01T02:00:00.5+02:00\n")],
        &[],
        Read(
            "t TIMESTAMP NOT NULL",
            &["2024-01-01 00:00:01", "2024-01-01 00:00:00", "2024-01-01 00:00:00.500000"],
        ),
        None,
    ),
    file(
        &[("a.csv", b"d\n23.11.2026\n24.11.2026\n")],
        &[],
        Doubt("d VARCHAR(10) NOT NULL", &["date-format %d.%m.%Y"]),
        None,
    ),
    file(
        &[("a.csv", b"d\n2026-11-23\n2026-02-30\n")],
        &[],
        Doubt("d VARCHAR(10) NOT NULL", &["a.csv, line 3", "9999-99-99"]),
        None,
    ),
    file(
        &[("a.csv", b"d\n1/2/2026\n3/4/2026\n")],
        &[],
        Doubt("d VARCHAR(8) NOT NULL", &["date-format %d/%m/%Y", "date-format %m/%d/%Y"]),
        None,
    ),
    // Blanks.
    file(
        &[("a.csv", b" id , name \n 1 , Ann \n")],
        &[],
        Read("id INTEGER NOT NULL, name VARCHAR(3) NOT NULL", &["1|Ann"]),
        None,
    ),
    file(
        &[("a.csv", b"id,name\n1, Ann \n")],
        &[("trim", "no")],
        Read("id INTEGER NOT NULL, name VARCHAR(5) NOT NULL", &["1| Ann "]),
        PLAIN,
    ),
    file(
        &[("a.csv", b"\n\nid,n\n\n1,2\n\n\n3,4\n\n")],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2", "3|4"]),
        None,
    ),
    // Encodings.
    file(
        &[("a.csv", b"\xef\xbb\xbfid,name\n1,Z\xc3\xbcrich\n")],
        &[],
        Read("id INTEGER NOT NULL, name VARCHAR(7) NOT NULL", &["1|Zürich"]),
        PLAIN,
    ),
    file(
        &[("a.csv", b"\xff\xfei\0d\0;\0n\0\n\x001\0;\0\xfc\0\n\0")],
        &[],
        Read("id INTEGER NOT NULL, n VARCHAR(2) NOT NULL", &["1|ü"]),
        None,
    ),
    file(
        &[("a.csv", b"id,name\n1,Z\xfcrich \x80\n")],
        &[("encoding", "windows-1252")],
        Read("id INTEGER NOT NULL, name VARCHAR(11) NOT NULL", &["1|Zürich €"]),
        None,
    ),
    file(
        &[("a.csv", b"id,name\n1,Z\xfcrich\n")],
        &[],
        Refused(&["a.csv, line 2: column name is not UTF-8", "set the encoding of the file, as latin1"]),
        None,
    ),
    // Files of other programs.
    file(
        &[("a.csv", b"sep=;\r\nid;n\r\n1;2,5\r\n")],
        &[("decimal", ",")],
        Read("id INTEGER NOT NULL, n DECIMAL(2, 1) NOT NULL", &["1|2.5"]),
        None,
    ),
    file(
        &[("a.csv", b"sep=;\nid;n\n1;2\nx\n")],
        &[],
        Refused(&["a.csv, line 4: it has 1 field where the first line has 2"]),
        None,
    ),
    file(
        &[("a.csv", b"n\n12.50-\n3.00\n")],
        &[("units", "yes")],
        Read("n DECIMAL(4, 2) NOT NULL", &["-12.50", "3.00"]),
        None,
    ),
    file(
        &[("a.csv", b"n;m\n1.234,56-;(12,00)\n5,00;3,00\n")],
        &[],
        Doubt(
            "n VARCHAR(9) NOT NULL, m VARCHAR(7) NOT NULL",
            &["decimal ,, thousands ., units yes", "decimal ,, units yes"],
        ),
        None,
    ),
    file(
        &[("a.csv", "n\n\u{2212}12.5\n3\n".as_bytes())],
        &[],
        Read("n DECIMAL(3, 1) NOT NULL", &["-12.5", "3.0"]),
        None,
    ),
    file(
        &[("a.csv", b"id\tname, first\tn\n1\tAnn, B\t2\n")],
        &[],
        Read("id INTEGER NOT NULL, name, first VARCHAR(6) NOT NULL, n INTEGER NOT NULL", &["1|Ann, B|2"]),
        None,
    ),
    file(
        &[("a.txt", b"id   name\n1    Ann\n22   Bob\n")],
        &[],
        Told(
            "id   name VARCHAR(8) NOT NULL",
            &["1    Ann", "22   Bob"],
            "a.txt is read as one column; if its fields are aligned by blanks, save it as CSV",
        ),
        None,
    ),
    file(
        &[("a.csv", "\u{feff}\u{200b}id,n\n1,2\n".as_bytes())],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2"]),
        None,
    ),
    file(
        &[("a.csv", b"\xef\xbb\xbf\"id\",\"name\"\n\"1\",\"Ann, \"\"B\"\"\"")],
        &[],
        Read("id INTEGER NOT NULL, name VARCHAR(8) NOT NULL", &["1|Ann, \"B\""]),
        PLAIN,
    ),
    // Lines that are no rows.
    file(
        &[("a.csv", b"id,n\n1,2\n  \t\n3,4\n \n")],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2", "3|4"]),
        None,
    ),
    file(
        &[("a.csv", b"# made on Monday\nid,n\n1,2\n")],
        &[],
        Refused(&[
            "a.csv, line 2: it has 2 fields where the first line has 1",
            "a title or comments, delete them",
        ]),
        None,
    ),
    file(
        &[("a.csv", b"Sales of May\n\nid;n\n1;2\n")],
        &[("separator", ";")],
        Refused(&["a.csv, line 3: it has 2 fields", "the first line must name the columns"]),
        None,
    ),
    file(
        &[("a.csv", b"id,n\n1,2\nTotal: 2\n")],
        &[],
        Refused(&["a.csv, line 3: it has 1 field", "if it is a comment or a total, delete the line"]),
        None,
    ),
    file(
        &[("a.csv", b"id,n\n1,10\n2,20\nTotal,30\n")],
        &[],
        Doubt("id VARCHAR(5) NOT NULL, n INTEGER NOT NULL", &["a.csv, line 4", "aaaaa", "mend these values"]),
        None,
    ),
    file(
        &[("a.csv", b"id,n\r\n1,2\r\n\x1a")],
        &[],
        Refused(&["a.csv, line 3", "delete the last character of the file"]),
        None,
    ),
    file(
        &[("a.csv", b"id,n\n1,2,\n3,4,\n")],
        &[],
        Refused(&["a.csv, line 2: it has 3 fields", "take away the separator at the end of lines"]),
        None,
    ),
    file(
        &[("a.csv", b"id,n,\n1,2,\n3,4,\n")],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL, c3 VARCHAR(1)", &["1|2|~", "3|4|~"]),
        None,
    ),
    // Names and characters that queries cannot have.
    file(
        &[("a.csv", b"id,n,n\n1,2,3\n")],
        &[],
        Refused(&["a.csv, line 1: two columns are called n", "rename one of them"]),
        None,
    ),
    file(
        &[("a.csv", b"id,Name,name\n1,2,3\n")],
        &[],
        Refused(&["a.csv: columns Name and name differ in capital letters alone", "rename one of them"]),
        None,
    ),
    file(
        &[("a.csv", b"id,t\n1,a\0b\n2,c\n")],
        &[],
        Refused(&["a.csv, line 2: column t: a field has a zero byte", "take it out"]),
        None,
    ),
    // Words for NULL in most rows.
    file(
        &[("a.csv", b"id,n\n1,NULL\n2,7\n3,-\n4,NaN\n")],
        &[],
        Doubt("id INTEGER NOT NULL, n VARCHAR(4) NOT NULL", &["add --null NULL,-,NaN"]),
        None,
    ),
    file(
        &[("a.csv", b"d\n2024-01-02\n03.02.2024\n2024-05-06\n")],
        &[("date-format", "%d.%m.%Y")],
        Read("d DATE NOT NULL", &["2024-01-02", "2024-02-03", "2024-05-06"]),
        None,
    ),
    file(
        &[("a.csv", b"t\n2024-01-01 00:00:00 UTC\n2024-01-01 00:00:01+00\n2024-01-01 02:00:00 +0200\n")],
        &[],
        Read("t TIMESTAMP NOT NULL", &["2024-01-01 00:00:00", "2024-01-01 00:00:01", "2024-01-01 00:00:00"]),
        None,
    ),
    file(
        &[("a.csv", b"d\n2024-1-5\n2024-12-31\n2024-2-29\n")],
        &[],
        Doubt("d VARCHAR(10) NOT NULL", &["date-format %Y-%m-%d"]),
        None,
    ),
    file(
        &[("a.csv", b"d\n05-Jan-2024\n29-FEB-2024\n")],
        &[],
        Doubt("d VARCHAR(11) NOT NULL", &["date-format %d-%b-%Y"]),
        None,
    ),
    file(
        &[("a.csv", b"Z\xfcrich,n\n1,2\n")],
        &[],
        Told(
            "Z\u{fffd}rich INTEGER NOT NULL, n INTEGER NOT NULL",
            &["1|2"],
            "a.csv, line 1: the name of column 1 is not UTF-8; set `encoding` to latin1",
        ),
        None,
    ),
    // Files that are no text.
    file(&[("a.csv", b"\xfd7zXZ\0\0\x04")], &[], Refused(&["a.csv: it is compressed", "unpack it"]), None),
    file(
        &[("a.csv", b"%PDF-1.7\n")],
        &[],
        Refused(&["a.csv: it is a PDF document", "export the table"]),
        None,
    ),
    file(
        &[("a.csv", b"\xff\xfe\0\0i\0\0\0d\0\0\0\n\0\0\0")],
        &[],
        Refused(&["a.csv: it is UTF-32", "save it as UTF-8"]),
        None,
    ),
    file(
        &[("a.csv", b"<?xml version=\"1.0\"?>\n<rows/>\n")],
        &[],
        Refused(&["a.csv: it is XML", "save the table as CSV"]),
        None,
    ),
    // Several files, packed files, and files without rows.
    file(
        &[("a-1.csv", b"id,n\n1,2\n"), ("a-2.csv", b"n,id\n4,3\n"), ("a-3.csv", b"id,n\n")],
        &[],
        Read("id INTEGER NOT NULL, n INTEGER NOT NULL", &["1|2", "3|4"]),
        None,
    ),
    file(
        &[("a-1.csv", b"id,n\n1,2\n"), ("a-2.csv", b"id,m\n4,3\n")],
        &[],
        Refused(&["a-2.csv: column n is not in all files of the table", "give all files the same columns"]),
        None,
    ),
    file(&[("a.csv", b"id,n\n")], &[], Read("id VARCHAR(1) NOT NULL, n VARCHAR(1) NOT NULL", &[]), None),
    file(&[("a.csv", b"")], &[], Refused(&["a.csv: it is empty", "a schema must declare them"]), None),
];
