//! A party's certificate and key, and the pin by which peers recognize it.
//!
//! A certificate is self-signed. Peers list its pin, which is the SHA-256 fingerprint of the
//! certificate. They check its dates, and ignore the name in it.

use core::{fmt, str::FromStr};
use std::{
    borrow::Cow,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use rustls::{
    crypto::aws_lc_rs::{cipher_suite::TLS13_AES_128_GCM_SHA256, sign::any_supported_type},
    pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject},
    sign::CertifiedKey,
};
use thiserror::Error;
use zeroize::Zeroizing;

use crate::{Validity, subject::common_name};

/// The SHA-256 fingerprint of a certificate in DER form. The holder of the certificate's key is the
/// peer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pin(pub [u8; 32]);

impl Pin {
    /// The pin of a certificate. SHA-256 is the hash of this suite.
    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Self {
        let suite = TLS13_AES_128_GCM_SHA256.tls13().unwrap_or_else(|| unreachable!("a suite of TLS 1.3"));
        let mut pin = [0; 32];
        pin.copy_from_slice(suite.common.hash_provider.hash(certificate).as_ref());
        Self(pin)
    }
}

/// 64 hexadecimal digits after `sha256:`.
impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

/// Parses digits in either case, with or without `sha256:`.
impl FromStr for Pin {
    type Err = IdentityError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let digits = s.trim();
        let digits = digits.strip_prefix("sha256:").unwrap_or(digits);
        let mut pin = [0; 32];
        hex::decode_to_slice(digits, &mut pin)
            .map_err(|e| IdentityError::Pin { given: s.to_owned(), cause: e.to_string() })?;
        Ok(Self(pin))
    }
}

/// The reason why an identity could not be made or read. Its text is the [`cause`](Self::cause),
/// then the [`remedy`](Self::remedy).
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The key could not be made.
    Generate(String),
    /// The PEM text lacks a part, or a part is damaged.
    Pem {
        /// The part of the file.
        part: &'static str,
        /// What is wrong with the part.
        cause: String,
    },
    /// The certificate and the key do not match, or have an unsupported kind.
    Pair(String),
    /// A text is not a pin.
    Pin {
        /// The text that was given.
        given: String,
        /// What is wrong with the text.
        cause: String,
    },
}

impl fmt::Display for IdentityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl IdentityError {
    /// The cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Generate(e) => format!("no key could be made: {e}"),
            Self::Pem { part, cause } => format!("the PEM text holds no usable {part}: {cause}"),
            Self::Pair(e) => format!("certificate and key do not work together: {e}"),
            Self::Pin { given, cause } => {
                format!("{given:?} is not a pin of 64 hexadecimal digits: {cause}")
            }
        }
    }

    /// The remedy, as one clause.
    #[must_use]
    pub fn remedy(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Generate(_) => "try again with a plain name",
            Self::Pem { .. } => "make a new one with `hushwire keys init`",
            Self::Pair(_) => "make a new pair with `hushwire keys init`",
            Self::Pin { .. } => "copy what `hushwire keys pin` prints at the peer",
        })
    }
}

/// A self-signed certificate and its private key. It has no `Debug`, since it holds a secret.
///
/// The PEM text is zeroized on drop, and the DER form after it was parsed; aws-lc clears the parsed
/// key. The buffers of the PEM reader and of rcgen, which makes keys, are not zeroized.
pub struct Identity {
    pem: Zeroizing<String>,
    certified: Arc<CertifiedKey>,
    pin: Pin,
    validity: Validity,
}

impl Identity {
    /// Makes a key and a certificate that is valid for a year; see [`Identity::generate_for`].
    ///
    /// # Errors
    /// The errors of [`Identity::generate_for`].
    pub fn generate(name: &str) -> Result<Self, IdentityError> {
        Self::generate_for(name, Validity::lasting(Validity::DEFAULT))
    }

    /// Makes a key and a certificate for `name`, a label for people that no check reads. The pin
    /// alone decides whom to trust, but peers refuse a certificate outside its `validity`.
    ///
    /// # Errors
    /// The operating system has no randomness, or a certificate cannot contain `name`.
    pub fn generate_for(name: &str, validity: Validity) -> Result<Self, IdentityError> {
        let wrong = |e: rcgen::Error| IdentityError::Generate(e.to_string());
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).map_err(wrong)?;
        let mut params = rcgen::CertificateParams::default();
        params.distinguished_name = rcgen::DistinguishedName::new();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        let date = |t: SystemTime| {
            rcgen::date_time_ymd(1970, 1, 1) + t.duration_since(UNIX_EPOCH).unwrap_or_default()
        };
        (params.not_before, params.not_after) = (date(validity.not_before), date(validity.not_after));
        let certificate = params.self_signed(&key).map_err(wrong)?;
        let key_pem = Zeroizing::new(key.serialize_pem());
        Self::from_pem(&Zeroizing::new(certificate.pem() + &key_pem))
    }

    /// The certificate and the PKCS #8 key as PEM text. The text is secret.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        self.pem.clone()
    }

    /// Reads the text of [`Identity::to_pem`]: a certificate and a PKCS #8 key, in either order.
    /// The first of each kind counts.
    ///
    /// # Errors
    /// A part is missing or damaged, or the two do not match.
    pub fn from_pem(text: &str) -> Result<Self, IdentityError> {
        let certificate = first_certificate(text)?;
        let key = PrivatePkcs8KeyDer::from_pem_slice(text.as_bytes())
            .map_err(|e| IdentityError::Pem { part: "private key", cause: e.to_string() })?;
        let key = Zeroizing::new(PrivateKeyDer::Pkcs8(key));
        let (pin, validity) = described(&certificate)?;
        let wrong_pair = |e: rustls::Error| IdentityError::Pair(e.to_string());
        let signing_key = any_supported_type(&key).map_err(wrong_pair)?;
        let certified = CertifiedKey::new(vec![certificate], signing_key);
        certified.keys_match().map_err(wrong_pair)?;
        Ok(Self { pem: Zeroizing::new(text.to_owned()), certified: Arc::new(certified), pin, validity })
    }

    /// The pin that peers write into their party files.
    #[must_use]
    pub fn pin(&self) -> Pin {
        self.pin
    }

    /// The dates between which peers accept the certificate.
    #[must_use]
    pub fn validity(&self) -> Validity {
        self.validity
    }

    /// The pin and dates of the first certificate in PEM text, with or without a key. A party file
    /// lists these for a peer.
    ///
    /// # Errors
    /// There is no certificate, or it is damaged.
    pub fn describe(pem: &str) -> Result<(Pin, Validity), IdentityError> {
        described(&first_certificate(pem)?)
    }

    /// The label in the first certificate of PEM text; `None` if there is no certificate or no
    /// label.
    #[must_use]
    pub fn name_in(pem: &str) -> Option<String> {
        common_name(&first_certificate(pem).ok()?)
    }

    /// The certificate in DER form.
    #[cfg(test)]
    pub(crate) fn certificate(&self) -> CertificateDer<'static> {
        self.certified.cert[0].clone().into_owned()
    }

    pub(crate) fn certified(&self) -> Arc<CertifiedKey> {
        self.certified.clone()
    }
}

fn first_certificate(pem: &str) -> Result<CertificateDer<'static>, IdentityError> {
    CertificateDer::from_pem_slice(pem.as_bytes()).map_err(|e| bad_certificate(e.to_string()))
}

fn described(certificate: &CertificateDer<'_>) -> Result<(Pin, Validity), IdentityError> {
    let validity = Validity::of(certificate);
    let validity = validity.ok_or_else(|| bad_certificate("its dates cannot be read".to_owned()))?;
    Ok((Pin::of(certificate), validity))
}

fn bad_certificate(cause: String) -> IdentityError {
    IdentityError::Pem { part: "certificate", cause }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_survives_pem() {
        let identity = Identity::generate("party 1").unwrap_or_else(|e| panic!("{e}"));
        let again = Identity::from_pem(&identity.to_pem()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(identity.pin(), again.pin());
        assert_eq!(*identity.to_pem(), *again.to_pem());
        assert_eq!(identity.validity(), again.validity());
        let described = Identity::describe(&identity.to_pem()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(described, (identity.pin(), identity.validity()));
        assert_eq!(Identity::name_in(&identity.to_pem()).as_deref(), Some("party 1"));
        assert_ne!(identity.pin(), Identity::generate("party 1").unwrap_or_else(|e| panic!("{e}")).pin());
    }

    #[test]
    fn a_certificate_holds_as_long_as_asked() {
        let second = |n| UNIX_EPOCH + std::time::Duration::from_secs(n);
        // The range includes 2050, where X.509 changes its format of dates.
        let asked = Validity { not_before: second(1_800_000_000), not_after: second(2_600_000_000) };
        let identity = Identity::generate_for("a", asked).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(identity.validity(), asked);
        assert_eq!(asked.to_string(), "2027-01-15 to 2052-05-22");
        let year = Identity::generate("b").unwrap_or_else(|e| panic!("{e}")).validity();
        let now = SystemTime::now();
        assert!(year.holds_at(now) && !year.expires_soon(now));
        assert!(year.expires_soon(year.not_after) && !year.holds_at(year.not_after + Validity::SOON));
        assert!(year.left_at(now) > std::time::Duration::from_secs(364 * 86_400));
    }

    #[test]
    fn another_party_s_key_is_refused() {
        let (a, b) = (Identity::generate("a"), Identity::generate("b"));
        let (a, b) = (a.unwrap_or_else(|e| panic!("{e}")), b.unwrap_or_else(|e| panic!("{e}")));
        let (a, b) = (a.to_pem(), b.to_pem());
        let cut = |text: &str| text.find("-----BEGIN PRIVATE").unwrap_or(0);
        let mixed = format!("{}{}", &a[..cut(&a)], &b[cut(&b)..]);
        assert!(matches!(Identity::from_pem(&mixed), Err(IdentityError::Pair(_))));
        assert!(matches!(
            Identity::from_pem(&a[..cut(&a)]),
            Err(IdentityError::Pem { part: "private key", .. })
        ));
        assert!(matches!(
            Identity::from_pem(&a[cut(&a)..]),
            Err(IdentityError::Pem { part: "certificate", .. })
        ));
    }

    #[test]
    fn pin_reads_what_it_writes() {
        let pin = Pin([0xab; 32]);
        assert_eq!(pin.to_string().parse::<Pin>().ok(), Some(pin));
        assert_eq!("AB".repeat(32).parse::<Pin>().ok(), Some(pin));
        for bad in ["", "sha256:", "sha1:ab", &"ab".repeat(31), &"zz".repeat(32)] {
            assert!(bad.parse::<Pin>().is_err(), "{bad}");
        }
    }
}
