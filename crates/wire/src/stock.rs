//! Links that outlive a session: the links of a session that ended well serve another session of
//! the same members.
//!
//! ```text
//! LinkStock ──lends all──► Net ──► channels      each link returns when its channel ends in
//!      ▲                              │          order; one that fails spoils the stock
//!      └──────────────────────────────┘
//! ```

use hushwire_machine::{Hold, Net, Overseer, PartyId, Process, Rx, SessionId, Signal, Tx, Wait, Watch, lock};
use std::{
    any::Any,
    collections::BTreeMap,
    io, mem,
    sync::{Arc, Mutex},
    time::Duration,
};

/// A peer and a lane.
type Lane = (PartyId, u16);

/// The links of one member's session, and the watch over them. Clones share the same links.
///
/// The stock lends all links as a [`Net`], and gets each back when its channel is dropped in order.
/// When the stock and everything that it lent are dropped, the links close as those of a net do.
#[derive(Clone)]
pub struct LinkStock(Arc<Inner>);

struct Inner {
    me: PartyId,
    lanes: u16,
    stall: Duration,
    state: Mutex<StockState>,
    process: Process,
    overseer: Arc<dyn Overseer>,
    /// This field is last, so that the links close before the goodbye.
    keeps: Arc<dyn Any + Send + Sync>,
}

struct StockState {
    session: SessionId,
    tx: BTreeMap<Lane, Box<dyn Tx>>,
    rx: BTreeMap<Lane, Box<dyn Rx>>,
    /// The number of lent links.
    lent: usize,
    /// A link failed, or was left in the middle of a message.
    spoiled: bool,
}

impl LinkStock {
    pub(crate) fn new(
        (me, lanes, stall): (PartyId, u16, Duration),
        session: SessionId,
        (overseer, keeps): (Arc<dyn Overseer>, Arc<dyn Any + Send + Sync>),
        tx: BTreeMap<Lane, Box<dyn Tx>>,
        rx: BTreeMap<Lane, Box<dyn Rx>>,
    ) -> Self {
        let state = Mutex::new(StockState { session, tx, rx, lent: 0, spoiled: false });
        Self(Arc::new(Inner { me, lanes, stall, state, process: Process::here(), overseer, keeps }))
    }

    fn hold(&self) -> Hold {
        Hold::new(self.0.overseer.clone(), self.0.keeps.clone())
    }

    /// The watch, which says why the session ends, and whether another member has ended it.
    #[must_use]
    pub fn watch(&self) -> Watch {
        self.hold().watch()
    }

    /// Whether all links have been returned, and none has failed.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let state = lock(&self.0.state);
        state.lent == 0 && !state.spoiled && self.0.overseer.check("").is_ok()
    }

    /// The name of the last session.
    #[must_use]
    pub fn session(&self) -> SessionId {
        lock(&self.0.state).session
    }

    /// Begins another session on the links, under a name on which all members have agreed.
    pub fn renew(&self, session: SessionId) {
        lock(&self.0.state).session = session;
    }

    /// Lends all links, for the session of the last name. `None` if a link is lent or has failed.
    #[must_use]
    pub fn lend(&self) -> Option<Net> {
        if !self.is_whole() {
            return None;
        }
        let mut state = lock(&self.0.state);
        let mut net = Net::new(self.0.me, self.0.lanes, self.0.stall);
        let (tx, rx) = (mem::take(&mut state.tx), mem::take(&mut state.rx));
        state.lent = tx.len() + rx.len();
        for (at, link) in tx {
            let lent = LentTx { link: Some(link), at, closed: false, stock: self.0.clone() };
            net.add_tx(at.0, at.1, Box::new(lent));
        }
        for (at, link) in rx {
            net.add_rx(at.0, at.1, Box::new(LentRx { link: Some(link), at, stock: self.0.clone() }));
        }
        net.attend(state.session, self.hold());
        Some(net)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner);
        let failed = state.spoiled || !self.process.is_here() || self.overseer.check("").is_err();
        if !failed && !std::thread::panicking() {
            state.tx.values_mut().for_each(|tx| tx.close());
        }
        state.tx.clear();
        state.rx.clear();
    }
}

fn gone() -> io::Error {
    io::ErrorKind::NotConnected.into()
}

/// A lent link for sending.
struct LentTx {
    link: Option<Box<dyn Tx>>,
    at: Lane,
    /// Whether its channel has ended in order.
    closed: bool,
    stock: Arc<Inner>,
}

impl Tx for LentTx {
    fn try_send(&mut self, out: &[u8]) -> io::Result<usize> {
        self.link.as_mut().ok_or_else(gone)?.try_send(out)
    }

    fn try_flush(&mut self) -> io::Result<bool> {
        self.link.as_mut().ok_or_else(gone)?.try_flush()
    }

    fn close(&mut self) {
        // The link itself stays open for the next session.
        self.closed = true;
    }

    fn wait_on(&self) -> Wait<'_> {
        self.link.as_ref().map_or(Wait::Ready, |link| link.wait_on())
    }

    fn signal(&self) -> Option<Arc<Signal>> {
        self.link.as_ref()?.signal()
    }
}

impl Drop for LentTx {
    fn drop(&mut self) {
        let mut state = lock(&self.stock.state);
        state.lent -= 1;
        match self.link.take() {
            Some(link) if self.closed => _ = state.tx.insert(self.at, link),
            _ => state.spoiled = true,
        }
    }
}

/// A lent link for receiving.
struct LentRx {
    link: Option<Box<dyn Rx>>,
    at: Lane,
    stock: Arc<Inner>,
}

impl Rx for LentRx {
    fn try_recv(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.link.as_mut().ok_or_else(gone)?.try_recv(into)
    }

    fn wait_on(&self) -> Wait<'_> {
        self.link.as_ref().map_or(Wait::Ready, |link| link.wait_on())
    }
}

impl Drop for LentRx {
    fn drop(&mut self) {
        let mut state = lock(&self.stock.state);
        state.lent -= 1;
        if let Some(link) = self.link.take() {
            state.rx.insert(self.at, link);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Identity, Listener, PeerConfig, SessionConfig, TransportKind, connect_kept, connect_or_news,
    };
    use std::thread;

    /// Two members that are connected.
    fn met() -> [(Net, LinkStock); 2] {
        let identities = [0, 1].map(|n| Identity::generate(&format!("{n}")).expect("a key"));
        let listeners = [0, 1].map(|_| Listener::bind("127.0.0.1:0").expect("a port"));
        let config = |me: usize| {
            let other = 1 - me;
            let peer = PeerConfig {
                id: PartyId(other as u8),
                address: Some(listeners[other].address()),
                pin: identities[other].pin(),
            };
            let name = SessionId([7; 16]);
            SessionConfig::new(PartyId(me as u8), name, vec![peer], TransportKind::TcpTls)
        };
        thread::scope(|scope| {
            let join = |me: usize| {
                let (config, identity, listener) = (config(me), &identities[me], &listeners[me]);
                scope.spawn(move || {
                    let quiet: crate::Observer = Arc::new(|_| {});
                    connect_kept(&config, identity, Some(listener), quiet, None).map_err(|(e, _)| e)
                })
            };
            [join(0), join(1)].map(|thread| thread.join().expect("no panic").expect("they meet"))
        })
    }

    fn exchange(nets: [&mut Net; 2], word: u8) {
        thread::scope(|scope| {
            for (me, net) in nets.into_iter().enumerate() {
                scope.spawn(move || {
                    let peer = Some(PartyId(1 - me as u8));
                    let mut channel = net.channel(0, peer, peer).expect("a channel");
                    let mut heard = [0; 1000];
                    channel.exchange("a test", &[word; 1000], &mut heard).expect("a message");
                    assert_eq!(heard, [word; 1000]);
                });
            }
        });
    }

    #[test]
    fn links_come_back_and_serve_again_under_another_name() {
        let [(mut a, one), (mut b, other)] = met();
        assert!(!one.is_whole() && one.lend().is_none(), "they are out");
        exchange([&mut a, &mut b], 1);
        drop((a, b));
        for n in 2..5 {
            let name = SessionId([n; 16]);
            let [mut a, mut b] = [&one, &other].map(|stock| {
                assert!(stock.is_whole());
                stock.renew(name);
                stock.lend().expect("all links")
            });
            assert_eq!((a.session(), b.session()), (Some(name), Some(name)));
            exchange([&mut a, &mut b], n);
        }
    }

    #[test]
    fn a_link_in_the_middle_of_a_message_spoils_them() {
        let [(mut a, one), (b, other)] = met();
        let peer = Some(PartyId(1));
        let mut channel = a.channel(0, peer, peer).expect("a channel");
        channel.start("a test", &[1; 10]).expect("room");
        drop((channel, a, b));
        assert!(!one.is_whole() && one.lend().is_none());
        assert!(other.is_whole(), "it does not know yet");
    }

    #[test]
    fn a_peer_that_ends_spoils_them() {
        let [(a, one), (b, other)] = met();
        drop((a, b));
        // The session ends badly, and the other member is told.
        one.watch().abort(PartyId(0), hushwire_machine::Reason::Failed, "a test");
        let until = std::time::Instant::now() + Duration::from_secs(10);
        while other.is_whole() {
            assert!(std::time::Instant::now() < until);
            thread::sleep(Duration::from_millis(10));
        }
        assert!(!one.is_whole() && one.lend().is_none() && other.lend().is_none());
    }

    /// One member may keep its links while another does not.
    #[test]
    fn links_of_a_net_alone_end_with_it() {
        let identities = [0, 1].map(|n| Identity::generate(&format!("{n}")).expect("a key"));
        let listener = Listener::bind("127.0.0.1:0").expect("a port");
        let of = |me: u8, peer: u8, address| {
            let peer = PeerConfig { id: PartyId(peer), address, pin: identities[usize::from(peer)].pin() };
            SessionConfig::new(PartyId(me), SessionId([7; 16]), vec![peer], TransportKind::TcpTls)
        };
        let (one, other) = (of(0, 1, None), of(1, 0, Some(listener.address())));
        let quiet: crate::Observer = Arc::new(|_| {});
        let (mut a, (mut b, stock)) = thread::scope(|scope| {
            let first = {
                let quiet = quiet.clone();
                let (one, identity, listener) = (&one, &identities[0], &listener);
                scope.spawn(move || connect_or_news(one, identity, Some(listener), quiet, None))
            };
            let second = connect_kept(&other, &identities[1], None, quiet.clone(), None);
            let first = first.join().expect("no panic").map_err(|(e, _)| e).expect("they meet");
            (first, second.map_err(|(e, _)| e).expect("they meet"))
        });
        exchange([&mut a, &mut b], 3);
        drop((a, b));
        // The other end has closed. The next session on these links would fail.
        let mut net = stock.lend().expect("it has not heard of it");
        let mut channel = net.channel(0, None, Some(PartyId(0))).expect("a channel");
        assert!(channel.recv("a test", &mut [0]).is_err());
    }
}
