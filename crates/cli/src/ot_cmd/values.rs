//! The files of the command: pairs of messages, choices, and chosen messages.

use crate::{error::Error, files::is_stream};
use hushwire::job::NewFile;
use hushwire_block::Block;
use hushwire_files::mark;
use hushwire_ot::lines::{self, BadLine, Choices, DIGITS};
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};
use zeroize::Zeroizing;

/// Messages, which are wiped when dropped.
pub(super) type SecretBlocks = Zeroizing<Vec<Block>>;

/// Reads the values in the lines of a file. A byte order mark at the begin is not a part of them.
fn read<T>(
    path: &Path,
    lines: impl Fn(&str) -> Result<T, BadLine>,
    remedy: &'static str,
) -> Result<T, Error> {
    let text = if is_stream(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = text.map(Zeroizing::new).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => Error::file("use", path, "it is not text", "write numbers in lines"),
        _ => Error::io("read", path, &e),
    })?;
    let text = mark::strip_str(&text);
    if text.is_empty() {
        return Err(Error::file("use", path, "it is empty", "write a line for each OT"));
    }
    lines(text)
        .map_err(|BadLine(line)| Error::file("use", path, format!("line {} does not fit", line + 1), remedy))
}

/// Reads the sender's pairs.
pub(super) fn messages(path: &Path) -> Result<Zeroizing<Vec<[Block; 2]>>, Error> {
    read(path, lines::messages, "write two numbers of up to 32 hexadecimal digits each")
}

/// Reads the receiver's choices.
pub(super) fn choices(path: &Path) -> Result<Choices, Error> {
    read(path, lines::choices, "write 0 or 1")
}

/// Writes all messages to disk; the file has no name yet.
pub(super) fn put(out: &NewFile, messages: &[Block]) -> Result<(), Error> {
    out.reserve((messages.len() * (DIGITS + 1)) as u64)?;
    let mut writer = BufWriter::new(out.writer()?);
    let put = lines::write(&mut writer, messages).and_then(|()| writer.flush());
    put.map_err(|e| Error::from(out.error(&e)))?;
    Ok(out.sync()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file<T>(text: &str, read: impl Fn(&Path) -> Result<T, Error>) -> Result<T, Error> {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("x");
        fs::write(&path, text).unwrap_or_else(|e| panic!("{e}"));
        read(&path)
    }

    #[test]
    fn errors_name_the_line_and_keep_what_stands_there() {
        let error =
            in_file("1 2\n5ec2e7 5ec2e7 5ec2e7", messages).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("line 2 "), "{error}");
        assert!(!error.contains("5ec2e7"), "messages are secret: {error}");
        let error = in_file("1\n0\n7", choices).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("line 3 "), "{error}");
    }

    #[test]
    fn a_mark_is_no_part_of_the_text() {
        let marked = in_file("\u{feff}0 1\r\n", messages).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(marked[..], [[0, 1].map(Block::from_u128)]);
        let marked = in_file("\u{feff}1\n0\n1\n", choices).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&marked.bits[..], marked.count), (&[0b101][..], 3));
        for text in ["", "\u{feff}"] {
            assert!(in_file(text, messages).is_err() && in_file(text, choices).is_err());
        }
    }

    #[test]
    fn a_result_has_no_name_before_it_is_committed() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("out");
        let out = NewFile::create(&path, 0o600).unwrap_or_else(|e| panic!("{e}"));
        put(&out, &[Block::from_u128(0xabc)]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!path.exists());
        out.commit().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fs::read_to_string(&path).ok(), Some(format!("{:032x}\n", 0xabc)));
    }
}
