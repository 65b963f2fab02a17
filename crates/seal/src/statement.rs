//! A party's statement about itself, signed by its own key.
//!
//! ```text
//! text        canonical JSON: format, group, next, parties, party, pin, protocol, seal_to, sign,
//!             since
//! signature   Ed25519 by `sign`, domain "hushwire group v1"
//! ```
//!
//! The parties store each other's statements and pass them on. A client that asks one party thus
//! gets the statements of all, and no party can give another key as its peer's. The first statement
//! of a party is trusted because its pin is: clients and peers get it over TLS.

use crate::{SealError, SealTo, SignKey, Signature, VerifyKey, canonical, domain, from_canonical};
use serde::{Deserialize, Serialize};

const FORMAT: &str = "hushwire group v1";
/// The statement's name in errors.
const WHAT: &str = "the statement of a party";

/// A party's statement about itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statement {
    /// The format, `hushwire group v1`.
    pub format: String,
    /// The group's name.
    pub group: String,
    /// The number of parties.
    pub parties: u8,
    /// The number of the party that makes the statement.
    pub party: u8,
    /// The pin of the party's certificate.
    pub pin: String,
    /// The protocol of the group.
    pub protocol: String,
    /// The key to which data sets are sealed.
    pub seal_to: SealTo,
    /// The next such key, until every other party knows it.
    pub next: Option<SealTo>,
    /// The key that checks this statement.
    pub sign: VerifyKey,
    /// The time of the last change of its keys, in milliseconds since 1970. The later statement
    /// counts.
    pub since: u64,
}

/// A statement, the text that was signed, and the signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedStatement {
    statement: Statement,
    text: String,
    signature: Signature,
}

/// The form in which a statement is sent.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SentStatement {
    text: String,
    signature: Signature,
}

impl Statement {
    /// The format of this release.
    #[must_use]
    pub fn format() -> String {
        FORMAT.to_owned()
    }
}

impl SignedStatement {
    /// Signs a statement.
    ///
    /// # Errors
    /// The statement names another key than this one, or another format.
    pub fn sign(statement: &Statement, key: &SignKey) -> Result<Self, SealError> {
        let text = canonical(statement)?;
        Self::read(&text, key.sign(domain::GROUP, text.as_bytes()))
    }

    /// Reads a statement with its signature.
    ///
    /// # Errors
    /// The statement is not canonical, is invalid, or is not signed by the key that it names.
    pub fn read(text: &str, signature: Signature) -> Result<Self, SealError> {
        let statement: Statement = from_canonical(WHAT, text.as_bytes())?;
        statement.sign.verify(WHAT, domain::GROUP, text.as_bytes(), &signature)?;
        if statement.format != FORMAT {
            let cause = format!("its format is {:?} and not {FORMAT:?}", statement.format);
            return Err(SealError::format(WHAT, cause));
        }
        if statement.party >= statement.parties {
            let cause = format!("party {} is none of {}", statement.party, statement.parties);
            return Err(SealError::format(WHAT, cause));
        }
        Ok(Self { statement, text: text.to_owned(), signature })
    }

    /// The statement.
    #[must_use]
    pub fn statement(&self) -> &Statement {
        &self.statement
    }
}

impl Serialize for SignedStatement {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        SentStatement { text: self.text.clone(), signature: self.signature }.serialize(to)
    }
}

impl<'de> Deserialize<'de> for SignedStatement {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let SentStatement { text, signature } = SentStatement::deserialize(from)?;
        Self::read(&text, signature).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::OpenKey;

    fn statement(key: &SignKey) -> Statement {
        Statement {
            format: Statement::format(),
            group: "heart".to_owned(),
            parties: 3,
            party: 1,
            pin: "sha256:00".to_owned(),
            protocol: "rep3".to_owned(),
            seal_to: OpenKey::generate().public(),
            next: None,
            sign: key.public(),
            since: 7,
        }
    }

    #[test]
    fn a_statement_is_read_as_it_was_signed_and_not_otherwise() {
        let key = SignKey::generate();
        let signed = SignedStatement::sign(&statement(&key), &key).unwrap_or_else(|e| panic!("{e}"));
        let sent = serde_json::to_string(&signed).expect("JSON");
        assert_eq!(serde_json::from_str::<SignedStatement>(&sent).expect("it holds"), signed);
        for (from, to) in [
            ("heart", "lungs"),
            ("rep3", "two"),
            (r#"\"since\":7"#, r#"\"since\":8"#),
            ("sha256:00", "sha256:01"),
        ] {
            let edited = sent.replacen(from, to, 1);
            assert_ne!(edited, sent, "{from}");
            let error = serde_json::from_str::<SignedStatement>(&edited).err().map(|e| e.to_string());
            assert!(error.is_some_and(|e| e.contains("signature")), "{from}");
        }
        // The first signature is by another key; the second key is not named in the statement.
        let other = SignKey::generate();
        let forged = other.sign(domain::GROUP, signed.text.as_bytes());
        assert!(matches!(SignedStatement::read(&signed.text, forged), Err(SealError::Signature { .. })));
        assert!(SignedStatement::sign(&statement(&key), &other).is_err());
        // A signature in another domain.
        let policy = key.sign(domain::POLICY, signed.text.as_bytes());
        assert!(SignedStatement::read(&signed.text, policy).is_err());
    }

    #[test]
    fn a_statement_that_makes_no_sense_is_refused_though_it_is_signed() {
        let key = SignKey::generate();
        let outside = Statement { party: 3, ..statement(&key) };
        let older = Statement { format: "hushwire group v0".to_owned(), ..statement(&key) };
        for odd in [outside, older] {
            assert!(matches!(SignedStatement::sign(&odd, &key), Err(SealError::Format { .. })));
        }
    }
}
