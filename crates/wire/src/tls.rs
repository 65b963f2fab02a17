//! TLS 1.3 with pinned certificates on both sides.

use std::{io, net::TcpStream, sync::Arc};

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

use crate::{Identity, Pin, tcp::Guard, tls_greet::greet, tls_link::TlsLink};

/// What one party brings to every TLS connection of a session.
pub(crate) struct TlsSide {
    provider: Arc<CryptoProvider>,
    certificate: Arc<SingleCertAndKey>,
}

/// Shares sent today must stay secret against tomorrow's machines: the hybrid exchange comes first. AES-128 comes
/// first among ciphers, as strong as the protocols' κ = 128 and the fastest.
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
        Self { provider: Arc::new(provider), certificate }
    }

    /// How this side dials the holder of `pin`, and nobody else.
    pub(crate) fn client(&self, pin: Pin) -> Result<ClientConfig, Error> {
        let pinned = Arc::new(Pinned { pins: vec![pin], provider: self.provider.clone() });
        let mut config = ClientConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .dangerous()
            .with_custom_certificate_verifier(pinned)
            .with_client_cert_resolver(self.certificate.clone());
        config.resumption = Resumption::disabled();
        config.enable_sni = false;
        // For our own record layer, which takes over after the handshake.
        config.enable_secret_extraction = true;
        Ok(config)
    }

    /// How this side hears the holders of `pins`.
    pub(crate) fn server(&self, pins: Vec<Pin>) -> Result<ServerConfig, Error> {
        let pinned = Arc::new(Pinned { pins, provider: self.provider.clone() });
        let mut config = ServerConfig::builder_with_provider(self.provider.clone())
            .with_protocol_versions(&[&TLS13])?
            .with_client_cert_verifier(pinned)
            .with_cert_resolver(self.certificate.clone());
        // No resumption: a session's connections are all made at once, and a ticket would be data on the way back.
        config.send_tls13_tickets = 0;
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.enable_secret_extraction = true;
        Ok(config)
    }

    /// The handshake of the side that dialled, with nobody but the holder of `pin`.
    pub(crate) fn dial(&self, socket: TcpStream, pin: Pin, guard: &Guard<'_>) -> io::Result<TlsLink> {
        let config = self.client(pin).map_err(io::Error::other)?;
        // No check reads the name: the pin says who it is.
        let name = ServerName::try_from("hushwire.invalid").map_err(io::Error::other)?;
        let conn = UnbufferedClientConnection::new(Arc::new(config), name).map_err(io::Error::other)?;
        Ok(greet(conn, socket, guard)?.0)
    }

    /// The handshake of the side that listened, with a holder of one of `pins`; answers whose.
    pub(crate) fn accept(
        &self,
        socket: TcpStream,
        pins: Vec<Pin>,
        guard: &Guard<'_>,
    ) -> io::Result<(TlsLink, Pin)> {
        let config = self.server(pins).map_err(io::Error::other)?;
        let conn = UnbufferedServerConnection::new(Arc::new(config)).map_err(io::Error::other)?;
        let (link, certificate) = greet(conn, socket, guard)?;
        let certificate = certificate.ok_or_else(|| io::Error::other(Error::NoCertificatesPresented))?;
        Ok((link, Pin::of(&certificate)))
    }
}

/// Accepts the certificates whose pins it holds, and checks that the peer holds the key.
#[derive(Debug)]
struct Pinned {
    pins: Vec<Pin>,
    provider: Arc<CryptoProvider>,
}

impl Pinned {
    /// Neither names, dates nor issuers count: the pin covers the whole certificate.
    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), Error> {
        let pin = Pin::of(certificate);
        if self.pins.contains(&pin) {
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
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// A certificate that this session does not list.
#[derive(Debug, thiserror::Error)]
#[error("the certificate {0} is not listed")]
struct WrongPin(Pin);

/// The pin of the certificate that made TLS fail, if that is why.
pub(crate) fn wrong_pin(e: &Error) -> Option<Pin> {
    match e {
        Error::InvalidCertificate(CertificateError::Other(OtherError(why))) => {
            why.downcast_ref::<WrongPin>().map(|wrong| wrong.0)
        }
        _ => None,
    }
}

/// TLS 1.2 is never negotiated.
fn no_tls12() -> Result<HandshakeSignatureValid, Error> {
    Err(Error::PeerIncompatible(rustls::PeerIncompatible::SupportedVersionsExtensionRequired))
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
}

#[cfg(test)]
#[path = "tls_tests.rs"]
mod tests;
