//! The part of HTTP/1.1 that requests to a daemon need, over TLS that identifies the peer by its
//! pin.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    time::Duration,
};

use hushwire_wire::{Pin, pinned_client};
use rustls::{ClientConnection, StreamOwned, pki_types::ServerName};

use crate::BoxError;

/// The longest wait for a daemon.
const PATIENCE: Duration = Duration::from_secs(120);

/// A persistent connection.
pub(super) struct Line {
    stream: BufReader<StreamOwned<ClientConnection, TcpStream>>,
    host: String,
    token: String,
}

/// An answer: its status and its body.
pub(super) struct HttpAnswer {
    pub(super) status: u16,
    pub(super) body: Vec<u8>,
}

impl HttpAnswer {
    /// The body of an answer, unless the answer is an error.
    pub(super) fn good(self) -> Result<Vec<u8>, BoxError> {
        if (200..300).contains(&self.status) {
            return Ok(self.body);
        }
        Err(format!("the service answers {}: {}", self.status, String::from_utf8_lossy(&self.body)).into())
    }
}

impl Line {
    /// Connects to the daemon at `https://host:port`.
    pub(super) fn dial(url: &str, pin: &str, token: &str) -> Result<Self, BoxError> {
        let host = url.trim_start_matches("https://").to_owned();
        let pin: Pin = pin.parse()?;
        // No check uses the name.
        let session =
            ClientConnection::new(pinned_client(vec![pin])?, ServerName::try_from("hushwire.invalid")?)?;
        let socket = TcpStream::connect(&host)?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(PATIENCE))?;
        let stream = BufReader::new(StreamOwned::new(session, socket));
        Ok(Self { stream, host, token: token.to_owned() })
    }

    /// Sends a request, without waiting for the answer.
    pub(super) fn send(&mut self, method: &str, path: &str, key: &str, body: &str) -> Result<(), BoxError> {
        let Self { host, token, .. } = self;
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\n");
        if !key.is_empty() {
            text += &format!("idempotency-key: {key}\r\n");
        }
        text += &format!("content-length: {}\r\n\r\n{body}", body.len());
        let stream = self.stream.get_mut();
        stream.write_all(text.as_bytes())?;
        Ok(stream.flush()?)
    }

    /// Reads the next answer completely.
    pub(super) fn answer(&mut self) -> Result<HttpAnswer, BoxError> {
        answer(&mut self.stream)
    }

    /// Sends a request and waits for the answer.
    pub(super) fn ask(
        &mut self,
        method: &str,
        path: &str,
        key: &str,
        body: &str,
    ) -> Result<HttpAnswer, BoxError> {
        self.send(method, path, key, body)?;
        self.answer()
    }
}

/// Reads an answer with its body, which is whole or in chunks.
pub(super) fn answer(from: &mut impl BufRead) -> Result<HttpAnswer, BoxError> {
    let mut line = || -> Result<String, BoxError> {
        let mut line = String::new();
        if from.by_ref().take(64 << 10).read_line(&mut line)? == 0 {
            return Err("the connection ended before the answer".into());
        }
        Ok(line.trim_end().to_owned())
    };
    let first = line()?;
    let status: u16 = first.split(' ').nth(1).and_then(|text| text.parse().ok()).ok_or("no status")?;
    let (mut length, mut chunked) = (0, false);
    loop {
        let header = line()?.to_ascii_lowercase();
        match header.split_once(':') {
            Some(("content-length", value)) => length = value.trim().parse()?,
            Some(("transfer-encoding", value)) => chunked = value.trim() == "chunked",
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![];
    if !chunked {
        body.resize(length, 0);
        from.read_exact(&mut body)?;
        return Ok(HttpAnswer { status, body });
    }
    loop {
        let mut size = String::new();
        from.read_line(&mut size)?;
        let size = usize::from_str_radix(size.trim(), 16)?;
        let begin = body.len();
        body.resize(begin + size, 0);
        from.read_exact(&mut body[begin..])?;
        let mut end = String::new();
        from.read_line(&mut end)?;
        if size == 0 {
            return Ok(HttpAnswer { status, body });
        }
    }
}
