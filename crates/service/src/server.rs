//! Accepts connections: TLS, HTTP/1.1, and bounds on what each side of a connection may hold.

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
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    io,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, BufReader, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{Notify, mpsc},
    time::timeout,
};
use tokio_rustls::TlsAcceptor;

/// LOCAL: the most connections of clients at the same time, in total and from one address.
const CLIENTS: Bounds = Bounds { most: 512, of_one: 64 };
/// LOCAL: the most connections for daemons at the same time that have not shown a party's pin yet,
/// in total and from one address. A daemon has one connection for each of its running requests.
const GREETINGS: Bounds = Bounds { most: 256, of_one: 128 };
/// LOCAL: how long a greeting, or the head of a request, may take. An idle connection is closed
/// after that.
const HEAD: Duration = Duration::from_secs(10);
/// LOCAL: the pause after a connection that could not be accepted.
const PAUSE: Duration = Duration::from_millis(50);

/// The most connections at the same time, in total and from one address.
#[derive(Clone, Copy)]
struct Bounds {
    most: usize,
    of_one: usize,
}

/// The open connections. If there is no room for another one, the oldest connection that has not
/// shown who it is makes room: whoever opens connections and sends nothing keeps nobody out.
struct Guests(Mutex<GuestList>);

struct GuestList {
    bounds: Bounds,
    next: u64,
    /// In the order in which they were accepted.
    all: BTreeMap<u64, Guest>,
}

struct Guest {
    from: IpAddr,
    known: Arc<AtomicBool>,
    leave: Arc<Notify>,
}

/// A connection's place among the guests.
struct Place {
    guests: Arc<Guests>,
    number: u64,
    /// Whether the connection has shown who it is.
    known: Arc<AtomicBool>,
    /// Tells the connection to make room for another one.
    leave: Arc<Notify>,
}

impl GuestList {
    /// Makes room for a connection from an address. Returns false if there is none.
    fn room(&mut self, from: IpAddr) -> bool {
        let mut by_address: HashMap<IpAddr, usize> = HashMap::new();
        self.all.values().for_each(|guest| *by_address.entry(guest.from).or_default() += 1);
        let here = by_address.get(&from).copied().unwrap_or(0);
        let Bounds { most, of_one } = self.bounds;
        if self.all.len() < most && here < of_one {
            return true;
        }
        // A connection leaves from the address that is at its bound, or else from the address with
        // the most.
        let seats = |guest: &Guest| by_address.get(&guest.from).copied().unwrap_or(0);
        let silent = self.all.iter().filter(|(_, guest)| {
            !guest.known.load(Ordering::Relaxed) && (here < of_one || guest.from == from)
        });
        let most = silent.max_by_key(|(number, guest)| (seats(guest), Reverse(**number)));
        let Some(number) = most.map(|(number, _)| *number) else { return false };
        if let Some(guest) = self.all.remove(&number) {
            guest.leave.notify_one();
        }
        true
    }
}

impl Guests {
    fn new(bounds: Bounds) -> Arc<Self> {
        Arc::new(Self(Mutex::new(GuestList { bounds, next: 0, all: BTreeMap::new() })))
    }

    /// A place, if there is room for it.
    fn seat(self: &Arc<Self>, from: IpAddr) -> Option<Place> {
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !list.room(from) {
            return None;
        }
        let (number, known, leave) = (list.next, Arc::default(), Arc::default());
        list.next += 1;
        let place = Place { guests: self.clone(), number, known, leave };
        let guest = Guest { from, known: place.known.clone(), leave: place.leave.clone() };
        list.all.insert(number, guest);
        Some(place)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.guests.0.lock().unwrap_or_else(PoisonError::into_inner).all.remove(&self.number);
    }
}

/// Binds a port.
pub(crate) async fn bind(address: &str) -> Result<TcpListener, Fault> {
    let bound = TcpListener::bind(address).await;
    bound.map_err(|source| {
        Fault::from(hushwire_machine::NetError::Listen { address: address.to_owned(), source })
    })
}

/// A connection of the party port, and the bytes that were already read from it.
pub(crate) type Accepted = (std::net::TcpStream, Vec<u8>);

/// Serves clients until the process ends.
pub(crate) async fn clients(party: Arc<Party>, listener: TcpListener) -> Result<(), Fault> {
    let config = Https::new(&party.identity).open_server();
    let tls = TlsAcceptor::from(config.map_err(|e| Fault::internal("setting up TLS", e))?);
    let guests = Guests::new(CLIENTS);
    loop {
        let (socket, from) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(e) => {
                // For example, there are no descriptors left: open connections will end at some
                // time.
                tracing::warn!("cannot accept a connection: {e}");
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        let Some(place) = guests.seat(from.ip()) else {
            party.meter.crowded.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (party, crowded, tls) = (party.clone(), party.clone(), tls.clone());
        tokio::spawn(async move {
            let served = async {
                socket.set_nodelay(true)?;
                let stream = timeout(HEAD, tls.accept(read_ahead(socket))).await??;
                exchange(party, stream, from.ip(), Asks::Client(place.known.clone())).await
            };
            let served: Result<(), BoxError> = tokio::select! {
                served = served => served,
                () = place.leave.notified() => {
                    crowded.meter.crowded.fetch_add(1, Ordering::Relaxed);
                    Err("it made room for another".into())
                }
            };
            if let Err(e) = served {
                tracing::debug!(%from, "a client's connection ended: {e}");
            }
            drop(place);
        });
    }
}

/// LOCAL: bytes that are read from a connection at once. Uploads come in TLS records of 16 KiB,
/// which TLS reads in pieces of 4 KiB.
const AHEAD: usize = 64 << 10;

fn read_ahead(socket: TcpStream) -> BufReader<TcpStream> {
    BufReader::with_capacity(AHEAD, socket)
}

/// Serves the other parties' daemons until the process ends.
pub(crate) async fn parties(party: Arc<Party>, mut accepted: mpsc::Receiver<Accepted>) -> Result<(), Fault> {
    let pins = party.config.peers.iter().flat_map(|peer| peer.pins.clone()).collect();
    let config = Https::new(&party.identity).server(pins);
    let tls = TlsAcceptor::from(config.map_err(|e| Fault::internal("setting up TLS", e))?);
    let guests = Guests::new(GREETINGS);
    while let Some((socket, first)) = accepted.recv().await {
        // The connection may be closed already.
        let Ok(from) = socket.peer_addr() else { continue };
        let from = from.ip();
        let Some(place) = guests.seat(from) else {
            party.meter.crowded.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let (party, tls) = (party.clone(), tls.clone());
        tokio::spawn(async move {
            let greeted = async {
                socket.set_nodelay(true)?;
                socket.set_nonblocking(true)?;
                let stream = Begun { first, at: 0, rest: TcpStream::from_std(socket)? };
                let stream = timeout(HEAD, tls.accept(stream)).await??;
                let shown = stream.get_ref().1.peer_certificates().and_then(|all| all.first());
                let pin = Https::pin(shown.ok_or("it showed no certificate")?);
                let peer = party.config.peers.iter().find(|peer| peer.pins.contains(&pin));
                Ok((stream, peer.ok_or("its pin is no party's")?.party))
            };
            let greeted: Result<_, BoxError> = tokio::select! {
                greeted = greeted => greeted,
                () = place.leave.notified() => {
                    party.meter.crowded.fetch_add(1, Ordering::Relaxed);
                    Err("it made room for another".into())
                }
            };
            // Known parties have no bound, so the place is free again.
            drop(place);
            let served = match greeted {
                Ok((stream, number)) => exchange(party, stream, from, Asks::Party(number)).await,
                Err(e) => Err(e),
            };
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

/// The peer on a connection.
#[derive(Clone)]
enum Asks {
    /// A client, and whether it has shown a token.
    Client(Arc<AtomicBool>),
    /// The daemon of a party.
    Party(u8),
}

/// Answers the requests of a connection.
async fn exchange<S: AsyncRead + AsyncWrite + Unpin + Send + 'static>(
    party: Arc<Party>,
    stream: S,
    from: IpAddr,
    asks: Asks,
) -> Result<(), BoxError> {
    let service = service_fn(move |request| {
        let (party, with_content) = (party.clone(), request.method() != hyper::Method::HEAD);
        let (request, asks) = (Request::new(request, from), asks.clone());
        async move {
            let reply = match asks {
                Asks::Client(known) => api::answer(party, request, &known).await,
                Asks::Party(peer) => peer_api::answer(party, peer, request).await,
            };
            Ok::<hyper::Response<Content>, Infallible>(reply.response(with_content))
        }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD).max_buf_size(64 << 10).half_close(false);
    http.serve_connection(TokioIo::new(stream), service).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(n: u16) -> IpAddr {
        let [high, low] = n.to_be_bytes();
        Ipv4Addr::new(127, 1, high, low).into()
    }

    #[test]
    fn silent_connections_make_room_and_known_ones_stay() {
        let (guests, most) = (Guests::new(CLIENTS), CLIENTS.most);
        let honest = guests.seat(address(0)).expect("room");
        honest.known.store(true, Ordering::Relaxed);
        let crowd: Vec<Place> =
            (0..2 * most as u16).map(|n| guests.seat(address(1 + n / 32)).expect("room is made")).collect();
        assert_eq!(guests.0.lock().expect("no panic").all.len(), most);
        let left = |place: &Place| !guests.0.lock().expect("no panic").all.contains_key(&place.number);
        assert!(!left(&honest) && left(&crowd[0]) && !left(&crowd[2 * most - 1]));
        // Somebody else can still connect.
        let other = guests.seat(address(60_000)).expect("room is made");
        assert!(!left(&other));
        drop((crowd, other, honest));
        assert!(guests.0.lock().expect("no panic").all.is_empty());
    }

    #[test]
    fn an_address_has_a_bound_that_its_known_connections_fill() {
        let guests = Guests::new(CLIENTS);
        let all: Vec<Place> = (0..CLIENTS.of_one).map(|_| guests.seat(address(1)).expect("room")).collect();
        // The oldest silent connection leaves.
        let next = guests.seat(address(1)).expect("room is made");
        let list = |number| guests.0.lock().expect("no panic").all.contains_key(&number);
        assert!(!list(all[0].number) && list(all[1].number) && list(next.number));
        all.iter().chain([&next]).for_each(|place| place.known.store(true, Ordering::Relaxed));
        assert!(guests.seat(address(1)).is_none() && guests.seat(address(2)).is_some());
    }
}
