//! TLS for HTTP that identifies the server by its pin alone.

use rustls::{ClientConfig, ClientConnection, StreamOwned, pki_types::ServerName};
use std::{
    fmt,
    io::{self, Read, Write},
    sync::Arc,
};
use ureq::{
    Error,
    unversioned::transport::{
        Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport, TransportAdapter,
    },
};

/// Runs TLS over a TCP connection.
pub(crate) struct Pinned(pub(crate) Arc<ClientConfig>);

impl fmt::Debug for Pinned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pinned")
    }
}

/// A connection whose other end has proved to hold the pinned certificate.
pub(crate) struct PinnedLink {
    buffers: LazyBuffers,
    stream: StreamOwned<ClientConnection, TransportAdapter>,
    /// Records that are sent together.
    records: Vec<u8>,
}

/// LOCAL: the bytes that are sealed before they are sent: 15 records, which fit in the TCP buffer.
pub(crate) const TOGETHER: usize = 15 << 14;

impl fmt::Debug for PinnedLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PinnedLink")
    }
}

impl<In: Transport> Connector<In> for Pinned {
    type Out = PinnedLink;

    fn connect(&self, details: &ConnectionDetails, under: Option<In>) -> Result<Option<PinnedLink>, Error> {
        let Some(under) = under else { return Err(Error::ConnectionFailed) };
        // The name is not checked.
        let name = ServerName::try_from("hushwire.invalid").map_err(io::Error::other)?;
        let mut session = ClientConnection::new(self.0.clone(), name).map_err(io::Error::other)?;
        let mut socket = TransportAdapter::new(under.boxed(), details.current_time.clone());
        socket.set_timeout(details.timeout);
        while session.is_handshaking() {
            session.complete_io(&mut socket)?;
        }
        let config = details.config;
        let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
        // `transmit_output` takes out the bytes that it has put in.
        session.set_buffer_limit(None);
        Ok(Some(PinnedLink { buffers, stream: StreamOwned::new(session, socket), records: vec![] }))
    }
}

impl Transport for PinnedLink {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        let Self { buffers, stream: StreamOwned { conn, sock }, records } = self;
        sock.set_timeout(timeout);
        for piece in buffers.output()[..amount].chunks(TOGETHER) {
            conn.writer().write_all(piece)?;
            // A system call for each record would cost as much as sealing it.
            records.clear();
            while conn.wants_write() {
                conn.write_tls(records)?;
            }
            sock.write_all(records)?;
        }
        Ok(sock.flush()?)
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        self.stream.get_mut().set_timeout(timeout);
        let read = match self.stream.read(self.buffers.input_append_buf()) {
            // The other end left without close_notify. The length shows whether the answer is
            // complete.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => 0,
            read => read?,
        };
        self.buffers.input_appended(read);
        Ok(read > 0)
    }

    fn is_open(&mut self) -> bool {
        self.stream.get_mut().get_mut().is_open()
    }

    fn is_tls(&self) -> bool {
        true
    }
}
