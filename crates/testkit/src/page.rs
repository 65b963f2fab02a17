//! Pages of `docs` with parts that are generated from tables in the code.

use std::{env, fs, path::Path};

/// The line after a generated part.
const END: &str = "<!-- end -->\n";

/// Compares a part of a page with the text that a table gives. The part is between the line `begin`
/// and the line `<!-- end -->`, or extends to the end of the page. With `HUSHWIRE_WRITE_PAGES=1`
/// the part is rewritten, so that a review shows the difference.
///
/// # Panics
/// If the page differs, or lacks the line.
pub fn page(path: &str, begin: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(path);
    let page = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (before, rest) =
        page.split_once(begin).unwrap_or_else(|| panic!("{} has no {begin}", path.display()));
    let end = rest.find(END).unwrap_or(rest.len());
    if env::var_os("HUSHWIRE_WRITE_PAGES").is_some() {
        let made = [before, begin, text, &rest[end..]].concat();
        fs::write(&path, made).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    } else {
        let differs = "differs from the table: run this test with HUSHWIRE_WRITE_PAGES=1";
        assert!(&rest[..end] == text, "{} {differs}", path.display());
    }
}
