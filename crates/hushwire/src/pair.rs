//! Two parties in this process, joined by a channel.

use hushwire_fault::Fault;
use hushwire_machine::{Channel, NetError, PartyId, Toss, inproc};
use std::{thread, time::Duration};

/// LOCAL: the time without progress by the peer after which a party gives up.
const STALL: Duration = Duration::from_secs(60);
const STARTING: &str = "starting the parties";

/// Runs both parties of a protocol of two in this process, each on a thread of its own with its end
/// of a channel. Returns the results of both. The channel is a queue in memory, on which the
/// parties send the same bytes as over a network.
///
/// Over a network, each process gets its channel from [`wire::connect`](crate::wire::connect).
///
/// # Errors
/// One party failed. If both did, the error is that of the party whose failure caused the other's.
///
/// # Examples
/// ```
/// # fn main() -> Result<(), hushwire::Fault> {
/// let (_, heard) = hushwire::local_pair(
///     |channel| Ok(channel.send("greeting", b"hello")?),
///     |channel| {
///         let mut heard = [0; 5];
///         channel.recv("greeting", &mut heard)?;
///         Ok(heard)
///     },
/// )?;
/// assert_eq!(&heard, b"hello");
/// # Ok(())
/// # }
/// ```
pub fn local_pair<A: Send, B: Send>(
    zero: impl FnOnce(&mut Channel) -> Result<A, Fault> + Send,
    one: impl FnOnce(&mut Channel) -> Result<B, Fault> + Send,
) -> Result<(A, B), Fault> {
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, STALL);
    let mut end = |me: usize| -> Result<Channel, NetError> {
        let peer = Some(ids[1 - me]);
        nets[me].channel(0, peer, peer)
    };
    let (mut first, mut second) = (end(0)?, end(1)?);
    thread::scope(|scope| {
        // A party that has ended drops its channel, so the other one does not wait for it.
        let zero = scope.spawn(move || zero(&mut first));
        let one = scope.spawn(move || one(&mut second));
        let panicked = |_| Fault::internal(STARTING, "a party panicked");
        let (zero, one) = (zero.join().map_err(panicked)?, one.join().map_err(panicked)?);
        match (zero, one) {
            (Ok(zero), Ok(one)) => Ok((zero, one)),
            (Err(zero), Err(one)) if zero.is_consequence() => Err(one),
            (Err(e), _) | (_, Err(e)) => Err(e),
        }
    })
}

/// Draws a name for a run of two parties that neither of them can choose.
pub(crate) fn name(channel: &mut Channel, domain: &'static str, me: u8) -> Result<[u8; 32], Fault> {
    let toss = Toss::new(domain, &[], me).map_err(|e| Fault::internal("naming the run", e))?;
    Ok(toss.among("naming the run", std::slice::from_mut(channel))?)
}
