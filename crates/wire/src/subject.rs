//! The name in a certificate: a label for people.

use crate::validity::{SEQUENCE, VERSION, element};

const SET: u8 = 0x31;
const OBJECT_IDENTIFIER: u8 = 0x06;
/// id-at-commonName, 2.5.4.3.
const COMMON_NAME: [u8; 3] = [0x55, 0x04, 0x03];

/// The subject's common name (RFC 5280 §4.1.2.6), without characters that could disturb a terminal.
pub(crate) fn common_name(certificate: &[u8]) -> Option<String> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut body, _) = element(certificate)?;
    if let (VERSION, _, rest) = element(body)? {
        body = rest;
    }
    // The serial number, signature algorithm, issuer and validity come first.
    for _ in 0..4 {
        body = element(body)?.2;
    }
    let (SEQUENCE, mut names, _) = element(body)? else { return None };
    while let Some((SET, name, rest)) = element(names) {
        names = rest;
        let (_, pair, _) = element(name)?;
        let (OBJECT_IDENTIFIER, kind, value) = element(pair)? else { return None };
        if kind == COMMON_NAME {
            let text = core::str::from_utf8(element(value)?.1).ok()?;
            return Some(text.chars().filter(|c| !c.is_control()).collect());
        }
    }
    None
}
