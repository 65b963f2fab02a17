//! Triples over a channel: OTs in both directions.

use crate::{GmwError, Stock};
use hushwire_machine::{Channel, NetError, PartyId};
use hushwire_ot::{
    Context, Driver, Exchanged, Machine, OtError, Protocol, Receiver, SemiHonest, Sender, Triples,
    open_receiver, open_sender,
};
use hushwire_prg::Seed;

/// AGREEMENT: triples that are made at a time. The triples under way then take 2 MiB, and the next
/// are made when a layer asks for more than there are.
pub(crate) const CALL: usize = 1 << 20;

/// AGREEMENT: chunks of OTs of which the messages travel together. While one window is on its way
/// the next is computed.
pub(crate) const WINDOW: usize = 8;

const STEP: &str = "bit triples";

/// Both ends of the OTs of one party.
pub(crate) struct Supply {
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    first: bool,
    /// Messages of a window: under way and next out, under way and last in.
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
    /// One party's OTs as sender mirror the other's, so that each sends as much as it receives and
    /// neither waits for the other's chunk before it makes its own.
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

/// Opens OTs in both directions, those that party 0 sends first. `contexts` are those of party 0's
/// and of party 1's sending: each direction has one of its own, so that no party can pass messages
/// back. `seeds` are this party's, to send and to receive.
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

/// Runs a machine of which every round only speaks, and another of which every round only hears, a
/// window of `chunks` chunks at a time: the next window is computed while one is on its way.
/// `heard` tells the length of the window that comes, by its number and the length of the one that
/// goes with it, `None` where either party has no more; a mirror image hears as much as it sends.
/// Buffers are kept by the caller, two each way.
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

/// The messages of a window, one after the other; false when there are no more.
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

/// The reverse of [`talk`], at the other party.
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
