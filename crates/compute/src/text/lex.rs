//! Splits characters into tokens.

use crate::{ComputeError, TextPlace, error::wrong};

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name.
    Name(String),
    /// A number as written: digits, a point and digits, or 0x and digits.
    Number(String),
    /// A sign.
    Sign(&'static str),
    /// The end of a statement.
    End,
}

impl Token {
    /// The token as messages show it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Token::Name(text) | Token::Number(text) => format!("`{text}`"),
            Token::Sign(text) => format!("`{text}`"),
            Token::End => "the end of the line".into(),
        }
    }
}

/// Longer signs come before their prefixes.
const SIGNS: [&str; 27] = [
    "==", "!=", "<=", ">=", "<<", ">>", "..", "=", "<", ">", "(", ")", "[", "]", ",", ":", "+", "-", "*",
    "/", "%", "&", "|", "^", "!", "{", "}",
];

/// Tokens with their places. Lines do not end within parentheses and brackets.
pub(crate) fn tokens(text: &str) -> Result<Vec<(Token, TextPlace)>, ComputeError> {
    let mut tokens = vec![];
    let mut depth = 0usize;
    let mut last = TextPlace { line: 1, column: 1 };
    for (at, line) in text.lines().enumerate() {
        let code = line.split('#').next().expect("a split has a first part");
        let mut rest = code;
        loop {
            rest = rest.trim_start();
            let column = code[..code.len() - rest.len()].chars().count() + 1;
            last = TextPlace { line: at + 1, column };
            let Some(first) = rest.chars().next() else { break };
            let long = |ok: fn(&char) -> bool| rest.chars().take_while(ok).map(char::len_utf8).sum::<usize>();
            let token = if first.is_ascii_alphabetic() || first == '_' {
                Token::Name(rest[..long(|c| c.is_ascii_alphanumeric() || *c == '_')].to_owned())
            } else if first.is_ascii_digit() {
                Token::Number(number(rest).to_owned())
            } else if let Some(sign) = SIGNS.iter().find(|s| rest.starts_with(**s)) {
                match *sign {
                    "(" | "[" => depth += 1,
                    ")" | "]" => depth = depth.saturating_sub(1),
                    _ => {}
                }
                Token::Sign(sign)
            } else {
                let shown: String = first.escape_default().collect();
                return Err(wrong(
                    last,
                    format!("`{shown}` stands for nothing here"),
                    "comments begin with #",
                ));
            };
            rest = &rest[match &token {
                Token::Name(text) | Token::Number(text) => text.len(),
                Token::Sign(text) => text.len(),
                Token::End => 0,
            }..];
            tokens.push((token, last));
        }
        if depth == 0 && !matches!(tokens.last(), None | Some((Token::End, _))) {
            tokens.push((Token::End, last));
        }
    }
    if !matches!(tokens.last(), None | Some((Token::End, _))) {
        tokens.push((Token::End, last));
    }
    Ok(tokens)
}

/// Letters and digits, and a point if a digit follows it: in `0..5` the number is 0.
fn number(text: &str) -> &str {
    let word = |text: &str| text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let whole = word(text);
    match text[whole..].strip_prefix('.') {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => &text[..whole + 1 + word(rest)],
        _ => &text[..whole],
    }
}
