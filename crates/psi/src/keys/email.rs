//! Normalizes e-mail addresses: the local part in small letters, the domain as in DNS.

use super::{Formed, normal::text};
use core::net::{Ipv4Addr, Ipv6Addr};
use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use std::borrow::Cow;

/// AGREEMENT: the tables by which domains become ASCII. A test compares them with the versions in
/// Cargo.lock.
pub(super) const TABLES: &str = "IDNA mapping 1.1.0";

/// ASCII characters that no domain contains. Underscores are allowed: some networks have them in
/// names of machines.
const NOT_IN_DOMAINS: AsciiDenyList = AsciiDenyList::new(true, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|}~");

/// Writes the address to `out`: `local@domain`, or nothing if it is malformed.
///
/// Letters become small ones, and accented letters get one spelling. A domain is mapped as in UTS
/// #46, without the transitional mappings (`ß` stays), and becomes ASCII: `xn--` and Unicode
/// give the same domain, and a dot at the end is dropped.
pub(super) fn apply(field: &str, out: &mut String) -> Formed {
    if field.is_empty() {
        return Formed::Empty;
    }
    let is_at = |c| matches!(c, '@' | '\u{ff20}');
    let parts = field.split_once(is_at).filter(|(local, domain)| is_local(local) && !domain.contains(is_at));
    let Some((local, domain)) = parts else { return Formed::Malformed };
    let Some(domain) = address_literal(domain).or_else(|| in_dns(domain)) else { return Formed::Malformed };
    text(local, true, true, out);
    out.push('@');
    out.push_str(&domain);
    Formed::Text
}

/// Whether a text can be a local part: no white space, control characters, invisible characters, or
/// the marks around an address in a message's header or in a link.
fn is_local(text: &str) -> bool {
    let around = |c: char| matches!(c, '<' | '>' | '(' | ')' | ',' | ';' | ':' | '"');
    !text.is_empty()
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || around(c) || is_unseen(c))
}

/// Whether a character has neither a glyph nor a width.
fn is_unseen(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}'
    )
}

/// An address literal, as `[192.0.2.1]` or `[ipv6:2001:db8::1]`, in one spelling.
fn address_literal(domain: &str) -> Option<Cow<'_, str>> {
    let inner = domain.strip_prefix('[')?.strip_suffix(']')?;
    let six = inner.get(..5).filter(|tag| tag.eq_ignore_ascii_case("ipv6:")).and_then(|_| inner.get(5..));
    Some(Cow::Owned(match six {
        Some(six) => format!("[ipv6:{}]", six.parse::<Ipv6Addr>().ok()?),
        None => format!("[{}]", inner.parse::<Ipv4Addr>().ok()?),
    }))
}

/// A domain as ASCII, without a dot at the end.
fn in_dns(domain: &str) -> Option<Cow<'_, str>> {
    // Two letters without width join letters of some scripts; the mapping knows where they are
    // allowed.
    if domain.chars().any(|c| is_unseen(c) && !matches!(c, '\u{200c}' | '\u{200d}')) {
        return None;
    }
    let mapped = Uts46::new().to_ascii(
        domain.as_bytes(),
        NOT_IN_DOMAINS,
        Hyphens::CheckFirstLast,
        DnsLength::VerifyAllowRootDot,
    );
    let mut mapped = mapped.ok()?;
    let end = mapped.strip_suffix('.').map_or(mapped.len(), str::len);
    match &mut mapped {
        Cow::Borrowed(domain) => *domain = &domain[..end],
        Cow::Owned(domain) => domain.truncate(end),
    }
    Some(mapped).filter(|domain| !domain.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn formed(field: &str) -> Option<String> {
        let mut out = String::new();
        let formed = apply(field, &mut out);
        assert_eq!(formed == Formed::Text, !out.is_empty(), "{field:?}");
        (formed == Formed::Text).then_some(out)
    }

    #[test]
    fn spellings_of_one_address_are_one_key() {
        for (expected, spellings) in [
            (
                "ann@example.org",
                &["ann@example.org", "ANN@Example.ORG", "ann@example.org.", "ann\u{ff20}example\u{3002}org"]
                    [..],
            ),
            (
                "ann@example.org",
                &["ann@example\u{ff0e}org", "ann@\u{ff45}xample.org\u{ff61}", "ann@EXAMPLE.ORG."],
            ),
            (
                "ann@xn--bcher-kva.example",
                &["ann@b\u{fc}cher.example", "ann@BU\u{308}CHER.example.", "ann@XN--BCHER-KVA.example"],
            ),
            // Not transitional: ß is a letter of its own, and so is the sigma at a word's end.
            ("ann@xn--strae-oqa.de", &["ann@stra\u{df}e.de", "ann@xn--strae-oqa.de", "ann@stra\u{1e9e}e.de"]),
            ("ann@strasse.de", &["ann@STRASSE.de"]),
            ("ann@xn--nxasmm1c.com", &["ann@\u{3b2}\u{3cc}\u{3bb}\u{3bf}\u{3c2}.com"]),
            (
                "ann@xn--nxasmq6b.com",
                &[
                    "ann@\u{392}\u{38c}\u{39b}\u{39f}\u{3a3}.com",
                    "ann@\u{3b2}\u{3cc}\u{3bb}\u{3bf}\u{3c3}.com",
                ],
            ),
            ("ann@xn--mgba3gch31f060k.com", &["ann@\u{646}\u{627}\u{645}\u{647}\u{200c}\u{627}\u{6cc}.com"]),
            ("ann@[192.0.2.1]", &["Ann@[192.0.2.1]"]),
            ("ann@[ipv6:2001:db8::1]", &["ann@[IPv6:2001:DB8:0:0:0:0:0:1]", "ann@[ipv6:2001:db8::1]"]),
            ("zo\u{eb}+tag@my_host", &["Zoe\u{308}+tag@my_host"]),
        ] {
            for spelling in spellings {
                assert_eq!(formed(spelling).as_deref(), Some(expected), "{spelling:?}");
            }
        }
    }

    #[test]
    fn what_is_no_address_is_malformed() {
        let long = "x".repeat(64);
        for field in [
            "ann",
            "@x",
            "a@",
            "a@b@c",
            "a\u{ff20}b@c",
            "a b@c",
            "<a@b.c>",
            "mailto:a@b.c",
            "a@b.c;",
            "a\u{200b}@b.c",
            "a@b\u{200b}.c",
            "a@.",
            "a@..",
            "a@b..",
            "a@b..c",
            "a@.b",
            "a@-b.c",
            "a@b-.c",
            "a@xn--a.example",
            "a@xn--bcher-kvb\u{e9}.example",
            "a@xn--\u{fc}.c",
            "a@b/c",
            "a@b c",
            "a@[1.2.3]",
            "a@[ipv6:x]",
            "a@[1.2.3.4",
            "a@1.2.3.4]",
            "a@[fe80::1]",
            "a@\u{202e}b.c",
            "a@b.c\u{0}",
            &format!("a@{long}.example"),
            "a@\u{200d}b.c",
        ] {
            assert_eq!(formed(field), None, "{field:?}");
        }
    }

    /// Both parties must have the same tables, so their versions are in the agreement.
    #[test]
    fn the_agreed_tables_are_those_of_the_libraries() {
        let lock = include_str!("../../../../Cargo.lock");
        for (name, version) in [
            ("idna", "1.1.0"),
            ("idna_adapter", "1.1.0"),
            ("idna_mapping", "1.1.0"),
            ("unicode-bidi", "0.3.18"),
        ] {
            let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
            assert!(lock.contains(&entry), "another {name}: raise TABLES");
        }
        assert_eq!(TABLES, "IDNA mapping 1.1.0");
    }

    proptest! {
        /// For any field, normalization is idempotent, and the domain is ASCII.
        #[test]
        fn any_text_is_an_address_or_none(text in prop_oneof![
            "\\PC{0,20}",
            "\\PC{1,4}@\\PC{1,12}",
            "[a-zA-Z\u{df}\u{130}]{1,4}@(xn--)?[a-z0-9\u{df}\u{3c2}\u{fc}.\u{3002}-]{1,12}[.]?",
        ]) {
            if let Some(address) = formed(&text) {
                let domain = address.rsplit_once('@').map(|(_, domain)| domain);
                prop_assert!(domain.is_some_and(|d| d.is_ascii() && !d.ends_with('.')), "{address}");
                prop_assert_eq!(formed(&address), Some(address));
            }
        }

        /// Letters, a dot at the end and the spelling of a domain change nothing.
        #[test]
        fn spellings_change_nothing(local in "[a-z0-9]{1,8}", label in "[a-z\u{e4}\u{f6}\u{fc}\u{e9}]{1,12}", dot in any::<bool>()) {
            let key = formed(&format!("{local}@{label}.example"));
            prop_assert!(key.is_some());
            let dot = if dot { "." } else { "" };
            let upper = formed(&format!("{}@{}.EXAMPLE{dot}", local.to_uppercase(), label.to_uppercase()));
            prop_assert_eq!(&upper, &key);
            use unicode_normalization::UnicodeNormalization;
            let apart: String = label.nfd().collect();
            prop_assert_eq!(&formed(&format!("{local}@{apart}\u{ff0e}example{dot}")), &key);
            let wide: String = label.chars().map(|c| if c.is_ascii() { char::from_u32(c as u32 + 0xfee0).unwrap_or(c) } else { c }).collect();
            prop_assert_eq!(&formed(&format!("{local}\u{ff20}{wide}.example")), &key);
        }
    }
}
