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
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
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

/// Who may dial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Door {
    /// Clients, with tokens.
    Api,
    /// The other parties, with pins.
    Peers,
}

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
    bound.map_err(|source| Fault::from(hushwire_machine::NetError::Listen { address: address.to_owned(), source }))
}

/// Serves a port until the process ends.
pub(crate) async fn serve(party: Arc<Party>, listener: TcpListener, door: Door) -> Result<(), Fault> {
    let https = Https::new(&party.identity);
    let pins = party.config.peers.iter().flat_map(|peer| peer.pins.clone()).collect();
    let config = match door {
        Door::Api => https.open_server(),
        Door::Peers => https.server(pins),
    };
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
            if let Err(e) = connection(party, tls, socket, from, door).await {
                tracing::debug!(%from, ?door, "a connection ended: {e}");
            }
            drop(place);
        });
    }
}

async fn connection(
    party: Arc<Party>,
    tls: TlsAcceptor,
    socket: TcpStream,
    from: SocketAddr,
    door: Door,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    socket.set_nodelay(true)?;
    let stream = timeout(HEAD, tls.accept(socket)).await??;
    let peer = match (door, stream.get_ref().1.peer_certificates()) {
        (Door::Api, _) => None,
        (Door::Peers, Some([certificate, ..])) => {
            let pin = Https::pin(certificate);
            let peer = party.config.peers.iter().find(|peer| peer.pins.contains(&pin));
            Some(peer.ok_or("its pin is no party's")?.party)
        }
        (Door::Peers, _) => return Err("it showed no certificate".into()),
    };
    let service = service_fn(move |request| {
        let (party, with_content) = (party.clone(), request.method() != hyper::Method::HEAD);
        let request = Request::new(request, from.ip());
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
