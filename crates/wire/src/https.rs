//! TLS with the parties' keys for HTTP: the server of clients, and the daemons among themselves.
//!
//! Certificates, pins, ciphers and checks are those of sessions. The record layer is that of
//! rustls, since HTTP libraries bring their own.

use crate::{Identity, Pin, tls::TlsSide};
use rustls::{ClientConfig, Error, ServerConfig, pki_types::CertificateDer};
use std::sync::Arc;

/// The TLS of an HTTP client or server of a party.
pub struct Https(TlsSide);

impl Https {
    /// With a party's key.
    #[must_use]
    pub fn new(identity: &Identity) -> Self {
        Self(TlsSide::new(identity))
    }

    /// A server that anybody may dial; tokens say who it is.
    ///
    /// # Errors
    /// The key does not do for TLS.
    pub fn open_server(&self) -> Result<Arc<ServerConfig>, Error> {
        self.0.open_server().map(http)
    }

    /// A server for the holders of these pins, and nobody else.
    ///
    /// # Errors
    /// As [`Https::open_server`].
    pub fn server(&self, pins: Vec<Pin>) -> Result<Arc<ServerConfig>, Error> {
        self.0.server(self.0.pinned(pins)).map(http)
    }

    /// For dialling the holder of one of these pins. The name in the greeting is sent.
    ///
    /// # Errors
    /// As [`Https::open_server`].
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
