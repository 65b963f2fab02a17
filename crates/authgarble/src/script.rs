//! A phase among all parties, written as straight-line code and run as a machine. Each
//! [`Talk::exchange`] is one round with every peer.

use crate::AuthError;
use hushwire_machine::drive::{Line, Talk as Messages};

/// A phase in progress, a machine with a slot for each peer
/// ([`Wiring::Mesh`](hushwire_machine::drive::Wiring::Mesh)).
///
/// Run its steps under any driver, then call [`finish`](Line::finish).
pub type Script<'a, T> = Line<'a, T, AuthError>;

/// The endpoint of the messages for a phase's code: one party among `n`, with a slot for each peer,
/// in the order of parties.
pub(crate) struct Talk {
    messages: Messages,
    me: usize,
    n: usize,
    threads: usize,
}

/// A phase of party `me` among `n`, which works on `threads` threads.
pub(crate) fn script<'a, T, F>(
    [me, n]: [usize; 2],
    threads: usize,
    phase: impl FnOnce(Talk) -> F,
) -> Script<'a, T>
where
    F: Future<Output = Result<T, AuthError>> + Send + 'a,
{
    Line::over(n - 1, |messages| phase(Talk { messages, me, n, threads: threads.max(1) }))
}

impl Talk {
    /// This party's number.
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    /// LOCAL: the number of threads for this party's own work.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// The number of parties.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// The number of peers.
    pub(crate) fn slots(&self) -> usize {
        self.n - 1
    }

    /// The party of a slot.
    pub(crate) fn peer(&self, slot: usize) -> usize {
        slot + usize::from(slot >= self.me)
    }

    /// Runs one round: sends a message to each slot, and receives one from each, of the number of
    /// bytes in `into`.
    pub(crate) async fn exchange(
        &self,
        name: &'static str,
        out: Vec<Vec<u8>>,
        into: &[usize],
    ) -> Vec<Vec<u8>> {
        self.messages.exchange_all(name, out, into).await
    }
}
