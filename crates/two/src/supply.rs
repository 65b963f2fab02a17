//! OTs ahead of their use, over a channel.

use crate::{TwoError, blocks::Blocks, kit::Cots};
use hushwire_gmw::{Stock, mirrored, open_both_ways};
use hushwire_ot::{
    Context, Driver, Exchanged, Machine, OtError, Protocol, Receiver, Receiving, SemiHonest, Sender, Sending,
    Triples,
};
use hushwire_prg::Seed;
use hushwire_wire::Channel;

/// AGREEMENT: triples that are made at a time.
const CALL: u64 = 1 << 20;

const STEP: &str = "OTs ahead of their use";

/// Both ends of the OTs of one party.
pub(crate) struct Supply {
    sender: Sender<SemiHonest>,
    receiver: Receiver<SemiHonest>,
    /// Whether the sender's messages make chunks.
    silent: bool,
    first: bool,
    /// OTs that were made this way more than the other way.
    ahead: i64,
    driver: Driver,
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
        let mut driver = Driver::new();
        let contexts = [0, 1].map(|sender| context.child("two OTs from", sender));
        let seeds = [seed.derive("two sender", &[]), seed.derive("two receiver", &[])];
        let (sender, receiver) = open_both_ways(&mut driver, channel, index, contexts, ot, seeds)?;
        let silent = ot.name().starts_with("ferret");
        let (out, into) = Default::default();
        Ok(Supply { sender, receiver, silent, first: index == 0, ahead: 0, driver, out, into })
    }

    /// OTs in both directions: `sent` and `received` of them.
    pub(crate) fn cots(
        &mut self,
        channel: &mut Channel,
        sent: usize,
        received: usize,
    ) -> Result<Cots, TwoError> {
        let mut q = Blocks::zeros(sent);
        let mut t = Blocks::zeros(received);
        // What is said is as long as what is heard where both ways have made as many OTs as ever.
        let alike = self.ahead == 0 && sent == received;
        self.ahead += sent as i64 - received as i64;
        let mut send = self.sender.extend(Sending::Rcot(&mut q));
        let mut receive = self.receiver.extend(Receiving::Rcot(&mut t));
        let both: [&mut dyn Machine<Error = OtError>; 2] =
            if self.silent { [&mut send, &mut receive] } else { [&mut receive, &mut send] };
        if alike {
            mirrored::<TwoError>(channel, STEP, both, &mut self.out, &mut self.into)?;
        } else {
            by_turns(channel, both, &mut self.out[0], &mut self.into[0])?;
        }
        drop((send, receive));
        Ok(Cots { delta: self.sender.delta(), q: q.into(), t: t.into() })
    }

    /// As many triples, in whole bytes.
    pub(crate) fn triples(
        &mut self,
        channel: &mut Channel,
        mut count: u64,
        stock: &mut Stock,
    ) -> Result<(), TwoError> {
        while count > 0 {
            let now = count.min(CALL);
            let mut triples = Triples::new(&mut self.sender, &mut self.receiver, now as usize, self.first);
            self.driver.run(channel, &mut triples)?;
            stock.add(triples.finish());
            count -= now;
        }
        Ok(())
    }
}

/// A machine that speaks and one that hears, where the two are no mirror images: a message at a time.
fn by_turns(
    channel: &mut Channel,
    [talker, listener]: [&mut dyn Machine<Error = OtError>; 2],
    out: &mut Vec<u8>,
    into: &mut Vec<u8>,
) -> Result<(), TwoError> {
    let peer = channel.from();
    loop {
        let [says, hears] = [talker.round(0), listener.round(0)];
        if says.is_none() && hears.is_none() {
            return Ok(());
        }
        out.clear();
        if let Some(tick) = says {
            out.resize(tick.out, 0);
            let said = talker.write(0, out).and_then(|()| talker.read(&[Exchanged::heard(&[])]));
            said.map_err(|e| e.of(peer))?;
        }
        into.resize(hears.map_or(0, |tick| tick.into), 0);
        channel.start(STEP, out)?;
        channel.finish(STEP, out, into)?;
        if hears.is_some() {
            let heard = listener.write(0, &mut []).and_then(|()| listener.read(&[Exchanged::heard(into)]));
            heard.map_err(|e| e.of(peer))?;
        }
    }
}
