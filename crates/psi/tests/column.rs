//! Files that are fine, and what is said of those that are not.

use hushwire_psi::{Column, PsiError};
use std::path::Path;

fn read(csv: &[u8], name: &str) -> Result<Column, String> {
    Column::from_csv(Path::new("a.csv"), csv, name).map_err(|e| {
        assert!(matches!(e, PsiError::File { .. }));
        e.to_string()
    })
}

#[test]
fn files_of_many_programs_are_read() {
    let keys = |csv: &[u8]| read(csv, "id").map(|c| c.keys);
    let expected = Ok(vec!["a".to_owned(), "b c".to_owned()]);
    assert_eq!(keys(b"id\na\nb c\n"), expected);
    assert_eq!(
        keys(b"\xef\xbb\xbfid,x\r\na,1\r\nb c,2"),
        expected,
        "a mark, Windows lines, no last line end"
    );
    assert_eq!(keys(b"x, id \n1,\"a\"\n2,\" b c\"\n3,a\n"), expected, "quotes, white space, a duplicate");
    assert_eq!(keys(b"id,x\na,\"two\nlines\"\nb c,\xff\n"), expected, "other columns may hold anything");
    assert_eq!(keys(b"id\n"), Ok(vec![]));
    assert_eq!(read(b"id\nAnn\nann\n", "id").map(|c| c.keys.len()), Ok(2));
    assert_eq!(Column::of(["x", "y", "x"]).rows, [Some(0), Some(1), Some(0)]);
}

#[test]
fn what_is_wrong_is_said_with_file_line_and_remedy() {
    let error = |csv: &[u8], name: &str| read(csv, name).unwrap_err();
    assert_eq!(
        error(b"", "id"),
        "cannot read a.csv: it is empty; its first line must name the columns, id among them"
    );
    assert_eq!(
        error(b"name,mail\nx,y\n", "id"),
        "cannot read a.csv, line 1: no column is called id; the first line names name, mail; name one of these, or put a line with the columns' names first"
    );
    assert!(error(b"id;mail\n1;2\n", "id").ends_with("save the file with commas between columns"));
    assert_eq!(
        error(b"id,x,id\n1,2,3\n", "id"),
        "cannot read a.csv, line 1: two columns are called id; rename one of them"
    );
    assert_eq!(
        error(b"id,x\n1,2\n3\n", "id"),
        "cannot read a.csv, line 3: it has 1 fields where the first line has 2; give it as many; put quotes around a field that has commas in it"
    );
    assert_eq!(
        error(b"x,id\n1,2\n3,\xff\xfe\n", "id"),
        "cannot read a.csv, line 3: the key in column id is not UTF-8; save the file as UTF-8 at both parties"
    );
    let missing = Column::read(Path::new("/nowhere/a.csv"), "id").unwrap_err().to_string();
    assert!(
        missing.starts_with("cannot read /nowhere/a.csv: ") && missing.ends_with("; check the spelling"),
        "{missing}"
    );
}
