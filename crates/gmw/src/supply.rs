//! Makes triples over a channel, from OTs in both directions.

use crate::{GmwError, Stock};
use hushwire_machine::{Channel, NetError, PartyId};
use hushwire_ot::{
    Context, Driver, Exchanged, Machine, OtError, Protocol, Receiver, SemiHonest, Sender, Triples,
    open_receiver, open_sender,
};
use hushwire_prg::Seed;

/// AGREEMENT: the number of triples that are made at a time. Triples in progress then take 2 MiB;
/// the next ones are made when a layer needs more than there are.
pub(crate) const CALL: usize = 1 << 20;

/// AGREEMENT: the number of chunks of OTs whose messages are sent together, as a window. While one
/// window is on its way, the next is computed.
pub(crate) const WINDOW: usize = 8;

const STEP: &str = "bit triples";

/// Both endpoints of the OTs of one party.
pub(crate) struct Supply {
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    first: bool,
    /// The messages of a window: the current and the next outgoing one, and the current and the
    /// last incoming one.
    out: [Vec<u8>; 2],
    into: [Vec<u8>; 2],
}

impl Supply {
    pub(crate) fn open(
        channel: &mut Channel,
        index: usize,
        context: &Context,
        ot: Protocol,
        seed: &Seed,
    ) -> Result<Supply, OtError> {
        let contexts = [0, 1].map(|sender| context.child("gmw triples from", sender));
        let seeds = [seed.derive("gmw sender", &[]), seed.derive("gmw receiver", &[])];
        let (sender, receiver) = open_both_ways(&mut Driver::new(), channel, index, contexts, ot, seeds)?;
        Ok(Supply { sender, receiver, first: index == 0, out: Default::default(), into: Default::default() })
    }

    /// Makes `count` triples, a multiple of 8, and adds them to the stock.
    ///
    /// One party's OTs as a sender mirror the other's, so that each sends as much as it receives,
    /// and neither waits for the other's chunk before it makes its own.
    pub(crate) fn make(
        &mut self,
        channel: &mut Channel,
        count: usize,
        stock: &mut Stock,
    ) -> Result<(), GmwError> {
        let mut triples = Triples::new(&mut self.sender, &mut self.receiver, count, self.first);
        let (talker, listener) = triples.ways();
        let (both, buffers) = ([talker, listener], [&mut self.out, &mut self.into]);
        by_windows::<GmwError>(channel, STEP, both, WINDOW, buffers, |_, said| said)?;
        stock.add(triples.finish());
        Ok(())
    }
}

/// Opens OTs in both directions; those in which party 0 is the sender come first. `contexts` has
/// one for party 0's sending and one for party 1's: each direction has a context of its own, so
/// that no party can reflect messages. `seeds` are this party's, for sending and for receiving.
///
/// # Errors
/// `ot` has no semi-honest form, an OT message is malformed, or the channel failed.
///
/// # Panics
/// If `index` is neither 0 nor 1 (the caller's bug).
pub fn open_both_ways(
    driver: &mut Driver,
    channel: &mut Channel,
    index: usize,
    contexts: [Context; 2],
    ot: Protocol,
    [send, receive]: [Seed; 2],
) -> Result<(Sender<SemiHonest>, Receiver<SemiHonest>), OtError> {
    let (own, peers) = (&contexts[index], &contexts[1 - index]);
    if index == 0 {
        let sender = open_sender(driver, channel, own, ot, &send)?;
        Ok((sender, open_receiver(driver, channel, peers, ot, &receive)?))
    } else {
        let receiver = open_receiver(driver, channel, peers, ot, &receive)?;
        Ok((open_sender(driver, channel, own, ot, &send)?, receiver))
    }
}

/// Runs a machine that only sends in every round, and another one that only receives, a window of
/// `chunks` chunks at a time. The next window is computed while one is on its way. `heard` gives
/// the length of the incoming window, from its number and the length of the outgoing one; either is
/// `None` after its last window. A mirrored machine receives as much as it sends. The caller keeps
/// the buffers, two in each direction.
///
/// # Errors
/// The channel failed, or a machine did.
pub fn by_windows<E: From<OtError> + From<NetError>>(
    channel: &mut Channel,
    step: &'static str,
    [talker, listener]: [&mut dyn Machine<Error = OtError>; 2],
    chunks: usize,
    [[out, next], [into, last]]: [&mut [Vec<u8>; 2]; 2],
    mut heard: impl FnMut(usize, Option<usize>) -> Option<usize>,
) -> Result<(), E> {
    let peer = channel.from();
    let (mut more, mut came) = (talk(talker, chunks, out, peer)?, false);
    for window in 0.. {
        let comes = heard(window, more.then_some(out.len()));
        if !more && comes.is_none() {
            break;
        }
        channel.start(step, out)?;
        if came {
            listen(listener, chunks, last, peer)?;
        }
        next.clear();
        more = more && talk(talker, chunks, next, peer)?;
        into.resize(comes.unwrap_or(0), 0);
        channel.finish(step, out, into)?;
        came = comes.is_some();
        std::mem::swap(out, next);
        std::mem::swap(into, last);
    }
    if came {
        listen(listener, chunks, last, peer)?;
    }
    Ok(())
}

/// Makes the messages of a window, one after the other; returns false if there are no more.
fn talk(
    talker: &mut dyn Machine<Error = OtError>,
    chunks: usize,
    out: &mut Vec<u8>,
    peer: Option<PartyId>,
) -> Result<bool, OtError> {
    out.clear();
    for chunk in 0..chunks {
        let Some(tick) = talker.round(0) else { return Ok(chunk > 0) };
        let from = out.len();
        out.resize(from + tick.out, 0);
        talker
            .write(0, &mut out[from..])
            .and_then(|()| talker.read(&[Exchanged::heard(&[])]))
            .map_err(|e| e.of(peer))?;
    }
    Ok(true)
}

/// Reads the messages of a window, as the reverse of [`talk`].
fn listen(
    listener: &mut dyn Machine<Error = OtError>,
    chunks: usize,
    mut message: &[u8],
    peer: Option<PartyId>,
) -> Result<(), OtError> {
    for _ in 0..chunks {
        let Some(tick) = listener.round(0) else { return Ok(()) };
        let (chunk, rest) = message.split_at(tick.into.min(message.len()));
        listener
            .write(0, &mut [])
            .and_then(|()| listener.read(&[Exchanged::heard(chunk)]))
            .map_err(|e| e.of(peer))?;
        message = rest;
    }
    Ok(())
}
