//! OTs ahead of their use, over a channel.

use crate::{TwoError, blocks::Blocks, costs::Ledger, kit::Cots, plan::Distance};
use hushwire_gmw::{Stock, by_windows, open_both_ways};
use hushwire_ot::{
    Context, Driver, Machine, OtError, Protocol, Receiver, Receiving, SemiHonest, Sender, Sending, Triples,
};
use hushwire_prg::Seed;
use hushwire_wire::Channel;

/// AGREEMENT: triples that are made at a time.
pub(crate) const CALL: u64 = 1 << 20;

const STEP: &str = "OTs ahead of their use";

/// Both ends of the OTs of one party.
pub(crate) struct Supply {
    index: usize,
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    /// Whether the sender's messages make chunks.
    silent: bool,
    /// Tells what the peer says next: what is said one way is not always as long as what is said the other way.
    ledger: Ledger,
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
        let contexts = [0, 1].map(|sender| context.child("two OTs from", sender));
        let seeds = [seed.derive("two sender", &[]), seed.derive("two receiver", &[])];
        let (sender, receiver) = open_both_ways(&mut Driver::new(), channel, index, contexts, ot, seeds)?;
        let silent = ot.name().starts_with("ferret");
        let (out, into) = Default::default();
        Ok(Supply { index, sender, receiver, silent, ledger: Ledger::new(ot), out, into })
    }

    /// Lengths of the windows that the peer says while this party sends and receives so many OTs.
    fn heard(&mut self, sent: usize, received: usize, distance: Distance) -> Vec<usize> {
        let counts = if self.index == 0 { [sent, received] } else { [received, sent] };
        let [first, second] = self.ledger.windows(counts, distance);
        if self.index == 0 { second } else { first }
    }

    /// OTs in both directions: `sent` and `received` of them.
    pub(crate) fn cots(
        &mut self,
        channel: &mut Channel,
        distance: Distance,
        sent: usize,
        received: usize,
    ) -> Result<Cots, TwoError> {
        let mut q = Blocks::zeros(sent);
        let mut t = Blocks::zeros(received);
        let heard = self.heard(sent, received, distance);
        let mut send = self.sender.extend(Sending::Rcot(&mut q));
        let mut receive = self.receiver.extend(Receiving::Rcot(&mut t));
        let both: [&mut dyn Machine<Error = OtError>; 2] =
            if self.silent { [&mut send, &mut receive] } else { [&mut receive, &mut send] };
        let buffers = [&mut self.out, &mut self.into];
        let next = |k: usize, _| heard.get(k).copied();
        by_windows::<TwoError>(channel, STEP, both, distance.window(), buffers, next)?;
        drop((send, receive));
        Ok(Cots { delta: self.sender.delta(), q: q.into(), t: t.into() })
    }

    /// As many triples, in whole bytes.
    pub(crate) fn triples(
        &mut self,
        channel: &mut Channel,
        distance: Distance,
        mut count: u64,
        stock: &mut Stock,
    ) -> Result<(), TwoError> {
        while count > 0 {
            let now = count.min(CALL);
            let heard = self.heard(now as usize, now as usize, distance);
            let (sender, receiver) = (&mut self.sender, &mut self.receiver);
            let mut triples = Triples::new(sender, receiver, now as usize, self.index == 0);
            let (talker, listener) = triples.ways();
            let (both, buffers) = ([talker, listener], [&mut self.out, &mut self.into]);
            let next = |k: usize, _| heard.get(k).copied();
            by_windows::<TwoError>(channel, STEP, both, distance.window(), buffers, next)?;
            stock.add(triples.finish());
            count -= now;
        }
        Ok(())
    }
}
