//! TLS with the parties' keys for HTTP: between clients and the server, and among daemons.
//!
//! Certificates, pins, ciphers and checks are those of sessions. The record layer is that of
//! rustls, since HTTP libraries bring their own transport.

use crate::{Identity, Pin, tls::TlsSide};
use rustls::{ClientConfig, Error, ServerConfig, pki_types::CertificateDer};
use std::sync::Arc;

/// The TLS of an HTTP client or server of a party.
pub struct Https(TlsSide);

impl Https {
    /// Makes the TLS configuration of a party with this key.
    #[must_use]
    pub fn new(identity: &Identity) -> Self {
        Self(TlsSide::new(identity))
    }

    /// A server that accepts all clients. Tokens authenticate them.
    ///
    /// # Errors
    /// The key cannot be used for TLS.
    pub fn open_server(&self) -> Result<Arc<ServerConfig>, Error> {
        self.0.open_server().map(http)
    }

    /// A server that accepts only the holders of these pins.
    ///
    /// # Errors
    /// The errors of [`Https::open_server`].
    pub fn server(&self, pins: Vec<Pin>) -> Result<Arc<ServerConfig>, Error> {
        self.0.server(self.0.pinned(pins)).map(http)
    }

    /// A client that dials the holder of one of these pins. The server's name is sent in the TLS
    /// greeting.
    ///
    /// # Errors
    /// The errors of [`Https::open_server`].
    pub fn client(&self, pins: Vec<Pin>) -> Result<Arc<ClientConfig>, Error> {
        let mut config = self.0.client(self.0.pinned(pins))?;
        (config.enable_sni, config.enable_secret_extraction) = (true, false);
        Ok(Arc::new(config))
    }

    /// The pin of a certificate that the other end showed.
    #[must_use]
    pub fn pin(certificate: &CertificateDer<'_>) -> Pin {
        Pin::of(certificate)
    }
}

fn http(mut config: ServerConfig) -> Arc<ServerConfig> {
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    config.enable_secret_extraction = false;
    Arc::new(config)
}
