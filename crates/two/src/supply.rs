//! Makes OTs and triples for pieces of steps, over a channel of their own. They come in lots, one
//! for each group of pieces that share rounds. Both parties know the lots from the plan, so no
//! message names them.

use crate::{
    TwoError,
    blocks::Home,
    costs::Ledger,
    distance::Distance,
    kit::Cots,
    plan::{Plan, read},
    tally::Tally,
};
use hushwire_gmw::{Stock, by_windows, open_both_ways};
use hushwire_machine::{Channel, Cost, Meter};
use hushwire_ot::{
    Context, Driver, Machine, OtError, Protocol, Receiver, Receiving, SemiHonest, Sender, Sending, Triples,
};
use hushwire_prg::Seed;
use std::collections::VecDeque;

/// AGREEMENT: the triples that are made at a time.
pub(crate) const CALL: u64 = 1 << 20;

pub(crate) const STEP: &str = "OTs ahead of their use";

/// The OTs and triples of pieces that share their rounds.
pub(crate) struct Lot {
    /// The OTs and triples of each piece.
    pub(crate) pieces: Vec<(Cots, Stock)>,
    /// The cost of making them, if there is a meter.
    pub(crate) cost: Cost,
}

/// The first lots of the next run, made before it.
#[derive(Default)]
pub(crate) struct Stocked {
    /// The plan's digest and the distance, which determine the lots.
    of: Option<([u8; 32], Distance)>,
    pub(crate) lots: VecDeque<Lot>,
    /// The OTs of all lots.
    pub(crate) ots: usize,
}

impl Stocked {
    /// The existing stock if it is of this plan, else an empty one.
    pub(crate) fn begin(held: Stocked, plan: &Plan, distance: Distance) -> Stocked {
        let of = Some((plan.digest, distance));
        if held.of == of { held } else { Stocked { of, ..Stocked::default() } }
    }

    /// The lots for a run of a plan. Both parties have compared their plans, so they use the same
    /// lots, or none.
    pub(crate) fn of(self, plan: &Plan, distance: Distance) -> VecDeque<Lot> {
        Stocked::begin(self, plan, distance).lots
    }
}

/// One party's two ends of the OTs, as the sender and as the receiver.
pub(crate) struct Supply {
    pub(crate) channel: Channel,
    pub(crate) meter: Option<Meter>,
    index: usize,
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    /// Whether the sender's messages carry the chunks.
    silent: bool,
    /// Returns the length of the peer's next message. The messages of both directions may differ in
    /// length.
    ledger: Ledger,
    home: Home,
    out: [Vec<u8>; 2],
    into: [Vec<u8>; 2],
}

impl Supply {
    pub(crate) fn open(
        mut channel: Channel,
        index: usize,
        context: &Context,
        ot: Protocol,
        seed: &Seed,
    ) -> Result<Supply, OtError> {
        let contexts = [0, 1].map(|sender| context.child("two OTs from", sender));
        let seeds = [seed.derive("two sender", &[]), seed.derive("two receiver", &[])];
        let (sender, receiver) =
            open_both_ways(&mut Driver::new(), &mut channel, index, contexts, ot, seeds)?;
        let silent = ot.name().starts_with("ferret");
        let (out, into) = Default::default();
        let (ledger, home) = (Ledger::new(ot), Home::default());
        Ok(Supply { channel, meter: None, index, sender, receiver, silent, ledger, home, out, into })
    }

    /// Makes OTs and triples for pieces with these costs: all OTs at once, then the triples piece
    /// by piece.
    pub(crate) fn lot(&mut self, distance: Distance, tallies: &[Tally]) -> Result<Lot, TwoError> {
        let before = read(self.meter.as_ref(), &self.channel);
        let [mine, theirs] = [self.index, 1 - self.index];
        let sum = |party: usize| tallies.iter().map(|tally| tally.cots[party]).sum();
        let made = self.cots(distance, sum(mine), sum(theirs))?;
        let ([mut sent, mut received], mut pieces) = ([0, 0], vec![]);
        for tally in tallies {
            let [q, t] = [tally.cots[mine], tally.cots[theirs]];
            (sent, received) = (sent + q, received + t);
            let [q, t] = [made.q.part(sent - q..sent), made.t.part(received - t..received)];
            pieces.push((Cots { delta: made.delta, q, t }, self.triples(distance, tally.triples)?));
        }
        Ok(Lot { pieces, cost: read(self.meter.as_ref(), &self.channel).since(before) })
    }

    /// The lengths of the windows that the peer sends while this party sends and receives these
    /// numbers of OTs.
    fn heard(&mut self, sent: usize, received: usize, distance: Distance) -> Vec<usize> {
        let counts = if self.index == 0 { [sent, received] } else { [received, sent] };
        let [first, second] = self.ledger.windows(counts, distance);
        if self.index == 0 { second } else { first }
    }

    /// Makes `sent` and `received` OTs in the two directions.
    fn cots(&mut self, distance: Distance, sent: usize, received: usize) -> Result<Cots, TwoError> {
        let [mut q, mut t] = [sent, received].map(|n| self.home.zeros(n));
        let heard = self.heard(sent, received, distance);
        let mut send = self.sender.extend(Sending::Rcot(&mut q));
        let mut receive = self.receiver.extend(Receiving::Rcot(&mut t));
        let both: [&mut dyn Machine<Error = OtError>; 2] =
            if self.silent { [&mut send, &mut receive] } else { [&mut receive, &mut send] };
        let buffers = [&mut self.out, &mut self.into];
        let next = |k: usize, _| heard.get(k).copied();
        by_windows::<TwoError>(&mut self.channel, STEP, both, distance.window(), buffers, next)?;
        drop((send, receive));
        Ok(Cots { delta: self.sender.delta(), q: q.into(), t: t.into() })
    }

    /// Makes `count` triples, in whole bytes.
    fn triples(&mut self, distance: Distance, mut count: u64) -> Result<Stock, TwoError> {
        let mut stock = Stock::new();
        while count > 0 {
            let now = count.min(CALL);
            let heard = self.heard(now as usize, now as usize, distance);
            let (sender, receiver) = (&mut self.sender, &mut self.receiver);
            let mut triples = Triples::new(sender, receiver, now as usize, self.index == 0);
            let (talker, listener) = triples.ways();
            let (both, buffers) = ([talker, listener], [&mut self.out, &mut self.into]);
            let next = |k: usize, _| heard.get(k).copied();
            by_windows::<TwoError>(&mut self.channel, STEP, both, distance.window(), buffers, next)?;
            stock.add(triples.finish());
            count -= now;
        }
        Ok(stock)
    }
}
