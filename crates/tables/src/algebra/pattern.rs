//! Patterns of LIKE.

/// A part of a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// This byte.
    Byte(u8),
    /// Any one character: a byte, and its continuation bytes in UTF-8.
    One,
    /// Any number of bytes.
    Many,
}

/// Whether a byte is a continuation byte of UTF-8.
pub(crate) const fn continues(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// The parts of a pattern; `None` if it ends with its escape.
pub(crate) fn tokens(pattern: &str, escape: Option<char>) -> Option<Vec<Token>> {
    let mut out = vec![];
    let mut characters = pattern.chars();
    while let Some(c) = characters.next() {
        match c {
            c if Some(c) == escape => {
                let mut bytes = [0; 4];
                out.extend(characters.next()?.encode_utf8(&mut bytes).bytes().map(Token::Byte));
            }
            '%' if out.last() == Some(&Token::Many) => {}
            '%' => out.push(Token::Many),
            '_' => out.push(Token::One),
            c => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(Token::Byte)),
        }
    }
    Some(out)
}
