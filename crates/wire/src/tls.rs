//! TLS 1.3 with pinned certificates at both ends.
//!
//! In a session, each end shows a certificate that the other one lists by its pin, and proves that
//! it holds the key. The certificate must be valid today. Names and issuers are ignored. TLS 1.2 is
//! not negotiated and sessions are not resumed. The preferred key exchange is the hybrid
//! X25519MLKEM768.

use std::{
    io,
    net::TcpStream,
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use hushwire_machine::TlsError;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    ServerConfig, SignatureScheme,
    client::{
        Resumption, UnbufferedClientConnection,
        danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    },
    crypto::{CryptoProvider, aws_lc_rs, verify_tls13_signature},
    pki_types::{CertificateDer, ServerName, UnixTime},
    server::{
        NoServerSessionStorage, UnbufferedServerConnection,
        danger::{ClientCertVerified, ClientCertVerifier},
    },
    sign::SingleCertAndKey,
    version::TLS13,
};

use crate::{
    Identity, Pin, Validity, tcp::Guard, tls_greet::greet, tls_link::TlsLink, tls_records::tls_error,
};

/// One party's endpoint of all TLS connections of a session: its cryptography, its certificate and
/// the certificate's pin.
pub(crate) struct TlsSide {
    provider: Arc<CryptoProvider>,
    certificate: Arc<SingleCertAndKey>,
    pin: Pin,
}

/// The hybrid key exchange comes first, so that shares sent today stay secret against future
/// quantum computers. Among the ciphers, AES-128 comes first: it is as strong as the protocols' κ =
/// 128, and the fastest.
pub(crate) fn provider() -> CryptoProvider {
    use aws_lc_rs::{cipher_suite, kx_group};
    CryptoProvider {
        cipher_suites: vec![
            cipher_suite::TLS13_AES_128_GCM_SHA256,
            cipher_suite::TLS13_AES_256_GCM_SHA384,
            cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ],
        kx_groups: vec![kx_group::X25519MLKEM768, kx_group::X25519, kx_group::SECP256R1],
        ..aws_lc_rs::default_provider()
    }
}

impl TlsSide {
    pub(crate) fn new(identity: &Identity) -> Self {
        Self::with_provider(identity, provider())
    }

    pub(crate) fn with_provider(identity: &Identity, provider: CryptoProvider) -> Self {
        let certificate = Arc::new(SingleCertAndKey::from(identity.certified()));
        Self { provider: Arc::new(provider), certificate, pin: identity.pin() }
    }

    /// The pin that the others should list.
    pub(crate) fn pin(&self) -> Pin {
        self.pin
    }

    /// A verifier for one connection whose other end must have one of `pins`. `None` accepts any
    /// certificate, to be judged later.
    pub(crate) fn pinned(&self, pins: impl Into<Option<Vec<Pin>>>) -> Arc<Pinned> {
        Arc::new(Pinned { pins: pins.into(), provider: self.provider.clone(), outdated: OnceLock::new() })
    }

    /// The configuration for dialling only the holder of a pin.
    pub(crate) fn client(&self, pinned: Arc<Pinned>) -> Result<ClientConfig, Error> {
        let mut config = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_cert_resolver(self.certificate.clone());
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        // This crate's record layer needs the secrets: it takes over after the handshake.
        config.enable_secret_extraction = true;
        Ok(config)
    }

    /// The configuration for accepting the holders of pins.
    pub(crate) fn server(&self, pinned: Arc<Pinned>) -> Result<ServerConfig, Error> {
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(pinned)
            .with_cert_resolver(self.certificate.clone());
        // There is no resumption: all connections of a session are made at once, and a ticket would
        // be data in the wrong direction.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.enable_secret_extraction = true;
        Ok(config)
    }

    /// The configuration for accepting all clients, without asking for a certificate.
    pub(crate) fn open_server(&self) -> Result<ServerConfig, Error> {
        let config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_no_client_auth()
            .with_cert_resolver(self.certificate.clone());
        Ok(config)
    }

    /// Runs the dialler's handshake, only with the holder of `pin`.
    pub(crate) fn dial(
        &self,
        socket: TcpStream,
        pin: Pin,
        guard: &Guard<'_>,
    ) -> io::Result<(TlsLink, ShownCertificate)> {
        self.dial_named(socket, pin, None, guard)
    }

    /// As [`dial`](Self::dial), with a server name in the TLS greeting.
    pub(crate) fn dial_named(
        &self,
        socket: TcpStream,
        pin: Pin,
        name: Option<&str>,
        guard: &Guard<'_>,
    ) -> io::Result<(TlsLink, ShownCertificate)> {
        let pinned = self.pinned(vec![pin]);
        let mut config = self.client(pinned.clone()).map_err(tls_error)?;
        config.enable_sni = name.is_some();
        // No check reads the name: the pin identifies the peer.
        let name = ServerName::try_from(name.unwrap_or("hushwire.invalid").to_owned());
        let name = name.map_err(io::Error::other)?;
        let conn = UnbufferedClientConnection::new(Arc::new(config), name).map_err(tls_error)?;
        pinned.shown(greet(conn, socket, guard, &[]))
    }

    /// Runs the listener's handshake, with a holder of one of `pins` or with any peer. `first`
    /// holds the bytes that were already read. Returns the peer's certificate as well.
    pub(crate) fn accept(
        &self,
        socket: TcpStream,
        pins: impl Into<Option<Vec<Pin>>>,
        guard: &Guard<'_>,
        first: &[u8],
    ) -> io::Result<(TlsLink, ShownCertificate)> {
        let pinned = self.pinned(pins);
        let config = self.server(pinned.clone()).map_err(tls_error)?;
        let conn = UnbufferedServerConnection::new(Arc::new(config)).map_err(tls_error)?;
        pinned.shown(greet(conn, socket, guard, first))
    }
}

/// The TLS configuration of an HTTP client that has no key and dials the holder of one of these
/// pins. The name of the host is not checked.
///
/// # Errors
/// TLS cannot be set up.
pub fn pinned_client(pins: Vec<Pin>) -> Result<Arc<ClientConfig>, Error> {
    let provider = Arc::new(provider());
    let pinned = Pinned { pins: Some(pins), provider: provider.clone(), outdated: OnceLock::new() };
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(pinned))
        .with_no_client_auth();
    config.resumption = Resumption::disabled();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Whether a TLS greeting can have this server name.
pub(crate) fn is_server_name(name: &str) -> bool {
    matches!(ServerName::try_from(name), Ok(ServerName::DnsName(_)))
}

/// The certificate whose key a peer proved to hold: its pin and its validity.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShownCertificate {
    pub(crate) pin: Pin,
    pub(crate) validity: Validity,
}

/// A listed certificate whose key the peer holds, but which is not valid today.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("it holds {validity}, and not by our clock")]
pub(crate) struct Outdated {
    pub(crate) pin: Pin,
    validity: Validity,
}

/// The certificate whose dates made the handshake fail, if they did.
pub(crate) fn outdated(e: &io::Error) -> Option<Outdated> {
    e.get_ref().and_then(|e| e.downcast_ref()).copied()
}

/// Accepts certificates with listed pins, and checks that the peer holds the key.
#[derive(Debug)]
pub(crate) struct Pinned {
    pins: Option<Vec<Pin>>,
    provider: Arc<CryptoProvider>,
    /// The certificate that was refused for its dates.
    outdated: OnceLock<Outdated>,
}

impl Pinned {
    /// Names and issuers are ignored, since the pin covers the whole certificate.
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let pin = Pin::of(certificate);
        if self.pins.as_ref().is_none_or(|pins| pins.contains(&pin)) {
            return Ok(());
        }
        let wrong = OtherError(Arc::new(WrongPin(pin)));
        Err(Error::InvalidCertificate(CertificateError::Other(wrong)))
    }

    fn signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let valid =
            verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)?;
        // The dates are checked only now, so that a process without the key cannot end a session in
        // the holder's name.
        let validity = Validity::of(cert).ok_or(CertificateError::BadEncoding)?;
        if !validity.holds_at(SystemTime::now()) {
            let _ = self.outdated.set(Outdated { pin: Pin::of(cert), validity });
            return Err(CertificateError::Expired.into());
        }
        Ok(valid)
    }

    /// The link at the end of a handshake, and the certificate that the peer showed.
    fn shown(
        &self,
        greeted: io::Result<(TlsLink, Option<CertificateDer<'static>>)>,
    ) -> io::Result<(TlsLink, ShownCertificate)> {
        let (link, certificate) =
            greeted.map_err(|e| self.outdated.get().map_or(e, |&outdated| io::Error::other(outdated)))?;
        let certificate = certificate.ok_or_else(|| tls_error(Error::NoCertificatesPresented))?;
        let validity =
            Validity::of(&certificate).ok_or_else(|| tls_error(CertificateError::BadEncoding.into()))?;
        Ok((link, ShownCertificate { pin: Pin::of(&certificate), validity }))
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A certificate that this session does not list.
#[derive(Debug, thiserror::Error)]
#[error("the certificate {0} is not listed")]
struct WrongPin(Pin);

/// The pin of the certificate that made TLS fail, if one did.
pub(crate) fn wrong_pin(e: &TlsError) -> Option<Pin> {
    match e.get() {
        Some(Error::InvalidCertificate(CertificateError::Other(OtherError(why)))) => {
            why.downcast_ref::<WrongPin>().map(|wrong| wrong.0)
        }
        _ => None,
    }
}

fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::PeerIncompatible(rustls::PeerIncompatible::SupportedVersionsExtensionRequired))
}

/// The common part of both verifiers. TLS 1.2 is never negotiated.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _message: &[u8],
            _cert: &CertificateDer<'_>,
            _dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            no_tls12()
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            cert: &CertificateDer<'_>,
            dss: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.signature(message, cert, dss)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            self.schemes()
        }
    };
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pinned {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
