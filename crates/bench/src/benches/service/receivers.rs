//! Measures the link of an upload without the service. Bytes go over as many TLS connections as a
//! put has, to three processes that read and discard them.
//!
//! ```text
//! this process ──TLS──► receiver 0, 1, 2: programs like this one, ended by the end of their stdin
//!              ◄──────  a byte on each connection, once all has come
//! ```
//! Handshakes are complete before the time begins. Both endpoints have the settings of the
//! service's TLS.

use std::{
    env,
    io::{self, BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use hushwire_wire::{Https, Identity, Pin, pinned_client};
use rustls::{ClientConnection, ServerConfig, ServerConnection, StreamOwned, pki_types::ServerName};

use super::group::beside;
use crate::BoxError;

/// The hidden command that makes this program a receiver.
#[doc(hidden)]
pub const RECEIVES: &str = "__receive";

/// The connections to each receiver. `data put` has as many to each party.
const CONNECTIONS: usize = 3;
/// The bytes that are sealed before they are sent: 15 TLS records, as in the client of the service.
const TOGETHER: usize = 15 << 14;
/// The bytes that a receiver reads at a time.
const AHEAD: usize = 64 << 10;
/// The longest wait between these processes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Three receivers, which end when this is dropped.
pub(super) struct Receivers {
    all: Vec<Receiver>,
}

struct Receiver {
    address: SocketAddr,
    pin: Pin,
    _process: Ending,
}

/// A process that ends when this is dropped.
struct Ending(Child);

type Line = StreamOwned<ClientConnection, TcpStream>;

impl Drop for Ending {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Receivers {
    /// Starts the receivers.
    pub(super) fn start() -> Result<Self, BoxError> {
        let program = env::current_exe().ok().filter(|path| path.ends_with("hushwire-bench"));
        let program = program.map_or_else(|| beside("hushwire-bench"), Ok)?;
        let start = || -> Result<Receiver, BoxError> {
            let process =
                Command::new(&program).arg(RECEIVES).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let mut process = Ending(process);
            let mut line = String::new();
            BufReader::new(process.0.stdout.take().ok_or("no pipe")?).read_line(&mut line)?;
            let (address, pin) = line.trim().split_once(' ').ok_or("a receiver has not said where it is")?;
            Ok(Receiver { address: address.parse()?, pin: pin.parse()?, _process: process })
        };
        Ok(Self { all: (0..3).map(|_| start()).collect::<Result<_, _>>()? })
    }

    /// The rate at which they take `bytes` bytes in all, over all connections at once.
    pub(super) fn rate(&self, bytes: u64) -> Result<f64, BoxError> {
        let mut lines = vec![];
        for receiver in &self.all {
            for _ in 0..CONNECTIONS {
                lines.push(dial(receiver.address, receiver.pin)?);
            }
        }
        sent(lines, bytes)
    }
}

/// The rate of sending `bytes` bytes over all connections at once, until the receivers have all of
/// them.
fn sent(lines: Vec<Line>, bytes: u64) -> Result<f64, BoxError> {
    let each = bytes / lines.len() as u64;
    let piece: Vec<u8> = (0..TOGETHER).map(|n| (n * 7 + n / 251) as u8).collect();
    let begun = Instant::now();
    thread::scope(|scope| {
        let all: Vec<_> = lines.into_iter().map(|line| scope.spawn(|| send(line, each, &piece))).collect();
        all.into_iter()
            .try_for_each(|one| one.join().map_err(|_| "a sender panicked")?.map_err(BoxError::from))
    })?;
    Ok(bytes as f64 / begun.elapsed().as_secs_f64())
}

fn dial(address: SocketAddr, pin: Pin) -> Result<Line, BoxError> {
    let mut session =
        ClientConnection::new(pinned_client(vec![pin])?, ServerName::try_from("hushwire.invalid")?)?;
    session.set_buffer_limit(None);
    let mut socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    while session.is_handshaking() {
        session.complete_io(&mut socket)?;
    }
    Ok(StreamOwned::new(session, socket))
}

/// Sends bytes, and waits until the receiver has them.
fn send(mut line: Line, bytes: u64, piece: &[u8]) -> io::Result<()> {
    let (mut left, mut records) = (bytes, vec![]);
    while left > 0 {
        let now = left.min(piece.len() as u64);
        let StreamOwned { conn, sock } = &mut line;
        conn.writer().write_all(&piece[..now as usize])?;
        records.clear();
        while conn.wants_write() {
            conn.write_tls(&mut records)?;
        }
        sock.write_all(&records)?;
        left -= now;
    }
    line.conn.send_close_notify();
    line.flush()?;
    line.read_exact(&mut [0])
}

/// Runs a receiver: prints its address, and discards all received bytes until its stdin ends.
///
/// # Errors
/// It cannot listen, or its output is closed.
pub fn receive() -> Result<(), BoxError> {
    let (listener, tls, pin) = listen()?;
    let mut out = io::stdout();
    writeln!(out, "{} {pin}", listener.local_addr()?)?;
    out.flush()?;
    thread::spawn(move || serve(&listener, &tls));
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn listen() -> Result<(TcpListener, Arc<ServerConfig>, Pin), BoxError> {
    let identity = Identity::generate("receiver")?;
    let tls = Https::new(&identity).open_server()?;
    Ok((TcpListener::bind(("127.0.0.1", 0))?, tls, identity.pin()))
}

fn serve(listener: &TcpListener, tls: &Arc<ServerConfig>) {
    for socket in listener.incoming().flatten() {
        let tls = tls.clone();
        // If a connection breaks, its sender reports it.
        thread::spawn(move || discard(socket, tls).ok());
    }
}

/// Reads all bytes, and answers with one byte.
fn discard(socket: TcpStream, tls: Arc<ServerConfig>) -> Result<u64, BoxError> {
    socket.set_nodelay(true)?;
    let session = ServerConnection::new(tls)?;
    let mut line = StreamOwned::new(session, socket);
    let mut bytes = 0;
    let mut buffer = vec![0; AHEAD];
    loop {
        match line.read(&mut buffer)? {
            0 => break,
            n => bytes += n as u64,
        }
    }
    line.write_all(&[1])?;
    line.flush()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receiver_takes_every_byte_before_it_answers() {
        let (listener, tls, pin) = listen().unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = thread::spawn(move || {
            let socket = listener.accept().unwrap().0;
            discard(socket, tls).map_err(|e| e.to_string())
        });
        let bytes = 3 * TOGETHER as u64 + 17;
        let rate = sent(vec![dial(address, pin).unwrap()], bytes).unwrap();
        assert!(rate > 0.0);
        assert_eq!(receiver.join().unwrap(), Ok(bytes));
    }

    #[test]
    fn a_receiver_that_goes_away_is_no_rate() {
        let (listener, tls, pin) = listen().unwrap();
        let address = listener.local_addr().unwrap();
        let receiver = thread::spawn(move || {
            let socket = listener.accept().unwrap().0;
            let mut line = StreamOwned::new(ServerConnection::new(tls).unwrap(), socket);
            line.read_exact(&mut [0; 100]).unwrap();
        });
        let line = dial(address, pin);
        let gone = line.map_or(true, |line| sent(vec![line], 64 << 20).is_err());
        receiver.join().unwrap();
        assert!(gone);
    }
}
