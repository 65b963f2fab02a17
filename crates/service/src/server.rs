//! Accepting connections: TLS, HTTP/1.1, and bounds on what anybody may hold.

use crate::{
    api,
    http::{Content, Request},
    party::Party,
    peer_api,
};
use hushwire_fault::Fault;
use hushwire_wire::Https;
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use std::{
    collections::HashMap,
    convert::Infallible,
    io,
    net::IpAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// LOCAL: connections at the same time, of all clients and of one address.
const MOST: usize = 512;
const MOST_OF_ONE: usize = 64;
/// LOCAL: how long a greeting, and the head of a request, may take. A connection that asks for
/// nothing is closed after that.
const HEAD: Duration = Duration::from_secs(10);
/// LOCAL: how long a connection may last that streams nothing.
const PAUSE: Duration = Duration::from_millis(50);

/// Connections by address.
#[derive(Default)]
struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// A connection's place among them.
struct Place {
    guests: Arc<Guests>,
    from: IpAddr,
}

impl Guests {
    /// A place, if there is room.
    fn seat(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sum: usize = all.values().sum();
        let here = all.entry(from).or_default();
        if sum >= MOST || *here >= MOST_OF_ONE {
            return None;
        }
        *here += 1;
        Some(Place { guests: self.clone(), from })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut all = self.guests.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(here) = all.get_mut(&self.from) {
            *here -= 1;
            if *here == 0 {
                all.remove(&self.from);
            }
        }
    }
}

/// Binds a port.
pub(crate) async fn bind(address: &str) -> Result<TcpListener, Fault> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| {
        Fault::from(hushwire_machine::NetError::Listen { address: address.to_owned(), source })
    })
}

/// A connection of the party port, and the bytes that were read of it.
pub(crate) type Accepted = (std::net::TcpStream, Vec<u8>);

/// Serves clients until the process ends.
pub(crate) async fn clients(party: Arc<Party>, listener: TcpListener) -> Result<(), Fault> {
    let config = Https::new(&party.identity).open_server();
    let tls = TlsAcceptor::from(config.map_err(|e| Fault::internal("setting up TLS", e))?);
    let guests = Arc::new(Guests::default());
    loop {
        let (socket, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(e) => {
                // Out of descriptors, say: those that are open end at some time.
                tracing::warn!("cannot accept a connection: {e}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(place) = guests.seat(from.ip()) else {
            party.meter.crowded.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (party, tls) = (party.clone(), tls.clone());
        tokio::spawn(async move {
            let served = async {
                socket.set_nodelay(true)?;
                let stream = timeout(HEAD, tls.accept(socket)).await??;
                exchange(party, stream, from.ip(), None).await
            };
            let served: Result<(), BoxError> = served.await;
            if let Err(e) = served {
                tracing::debug!(%from, "a client's connection ended: {e}");
            }
            drop(place);
        });
    }
}

/// Serves the other parties' daemons until the process ends.
pub(crate) async fn parties(party: Arc<Party>, mut accepted: mpsc::Receiver<Accepted>) -> Result<(), Fault> {
    let pins = party.config.peers.iter().flat_map(|peer| peer.pins.clone()).collect();
    let config = Https::new(&party.identity).server(pins);
    let tls = TlsAcceptor::from(config.map_err(|e| Fault::internal("setting up TLS", e))?);
    while let Some((socket, first)) = accepted.recv().await {
        let (party, tls) = (party.clone(), tls.clone());
        tokio::spawn(async move {
            let served = async {
                let from = socket.peer_addr()?.ip();
                socket.set_nodelay(true)?;
                socket.set_nonblocking(true)?;
                let stream = Begun { first, at: 0, rest: TcpStream::from_std(socket)? };
                let stream = timeout(HEAD, tls.accept(stream)).await??;
                let shown = stream.get_ref().1.peer_certificates().and_then(|all| all.first());
                let pin = Https::pin(shown.ok_or("it showed no certificate")?);
                let peer = party.config.peers.iter().find(|peer| peer.pins.contains(&pin));
                let number = peer.ok_or("its pin is no party's")?.party;
                exchange(party, stream, from, Some(number)).await
            };
            let served: Result<(), BoxError> = served.await;
            if let Err(e) = served {
                tracing::debug!("a party's connection ended: {e}");
            }
        });
    }
    Err(Fault::internal("serving the other parties", "the party port has ended"))
}

/// A connection whose first bytes were read already.
struct Begun {
    first: Vec<u8>,
    at: usize,
    rest: TcpStream,
}

impl AsyncRead for Begun {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let begun = &this.first[this.at..];
        if begun.is_empty() {
            return Pin::new(&mut this.rest).poll_read(cx, buf);
        }
        let n = begun.len().min(buf.remaining());
        buf.put_slice(&begun[..n]);
        this.at += n;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Begun {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().rest).poll_write(cx, bytes)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().rest).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().rest).poll_shutdown(cx)
    }
}

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Answers the requests of a connection, of a client or of the party `peer`.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    party: Arc<Party>,
    stream: S,
    from: IpAddr,
    peer: Option<u8>,
) -> Result<(), BoxError> {
    let service = service_fn(move |request| {
        let (party, with_content) = (party.clone(), request.method() != hyper::Method::HEAD);
        let request = Request::new(request, from);
        async move {
            let reply = match peer {
                None => api::answer(party, request).await,
                Some(peer) => peer_api::answer(party, peer, request).await,
            };
            Ok::<hyper::Response<Content>, Infallible>(reply.response(with_content))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 << 10).half_close(false);
    http.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}
