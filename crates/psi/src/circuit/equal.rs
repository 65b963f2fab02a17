//! Words of two parties compared, bin by bin: shares of a bit that says whether they are equal.
//!
//! ```text
//! level    OTs ahead of their use, in windows of many chunks; d from the chooser; tables from the holder ([`super::digits`])
//! in all   four levels of words, of 61 bits, 21, 6 and 2; then a bit, equal at both where the words were
//! ```

use hushwire_block::pack::{Packer, Unpacker, packed};
use hushwire_gmw::by_windows;
use hushwire_ot::{
    Chunks, Exchanged, Machine, OtError, Protocol, Receiver, Receiving, Role, Round, SemiHonest, Sender,
    Sending,
};
use hushwire_wire::Channel;
use zeroize::Zeroizing;

use super::digits::Level;
use crate::PsiError;

/// AGREEMENT: OTs that are made before they are used, at most.
const AHEAD: usize = 1 << 19;
/// AGREEMENT: chunks of OTs whose messages travel together.
const WINDOW: usize = 128;

const STEP: &str = "OTs of digits";

impl Level {
    /// Words that are under way together.
    fn piece(self) -> usize {
        AHEAD / self.ots()
    }
}

/// The holder's words become single bits.
pub(super) fn hold(
    channel: &mut Channel,
    end: &mut Sender<SemiHonest>,
    ot: Protocol,
    width: usize,
    words: &mut [u64],
) -> Result<(), PsiError> {
    let mut ots = Ots::new(ot, Role::Sender);
    let mut pads = Zeroizing::new(vec![[0; 2]; AHEAD]);
    for level in Level::all(width) {
        for words in words.chunks_mut(level.piece()) {
            let count = words.len() * level.ots();
            let pads = &mut pads[..count];
            ots.make(channel, &mut end.extend(Sending::ShortRot(pads)), count)?;
            let mut asked = vec![0; packed(words.len(), level.ots())];
            channel.recv("digits", &mut asked)?;
            let mut asked = Unpacker::new(&asked);
            let mut tables = Packer::new(packed(words.len(), level.table_bits()));
            for (word, pads) in words.iter_mut().zip(pads.chunks_exact(level.ots())) {
                *word = level.answer(*word, asked.pull(level.ots() as u32), pads, &mut tables);
            }
            channel.send("tables of digits", &tables.finish())?;
        }
    }
    Ok(())
}

/// The chooser's words become single bits.
pub(super) fn choose(
    channel: &mut Channel,
    end: &mut Receiver<SemiHonest>,
    ot: Protocol,
    width: usize,
    words: &mut [u64],
) -> Result<(), PsiError> {
    let mut ots = Ots::new(ot, Role::Receiver);
    let mut choices = Zeroizing::new(vec![0; packed(AHEAD, 1)]);
    let mut pads = Zeroizing::new(vec![0; AHEAD]);
    for level in Level::all(width) {
        for words in words.chunks_mut(level.piece()) {
            let count = words.len() * level.ots();
            let (choices, messages) = (&mut choices[..packed(count, 1)], &mut pads[..count]);
            let receive = Receiving::ShortRot { choices: &mut *choices, messages: &mut *messages };
            ots.make(channel, &mut end.extend(receive), count)?;
            let mut said = Packer::new(packed(words.len(), level.ots()));
            let mut drawn = Unpacker::new(choices);
            words.iter().for_each(|word| level.ask(*word, &mut drawn, &mut said));
            channel.send("digits", &said.finish())?;
            let mut tables = vec![0; packed(words.len(), level.table_bits())];
            channel.recv("tables of digits", &mut tables)?;
            let (mut drawn, mut tables) = (Unpacker::new(choices), Unpacker::new(&tables));
            for (word, pads) in words.iter_mut().zip(messages.chunks_exact(level.ots())) {
                *word = level.finish(*word, &mut drawn, pads, &mut tables);
            }
        }
    }
    Ok(())
}

/// OTs of one end, made ahead of their use.
struct Ots {
    speaks: bool,
    /// Tells the lengths of what the peer says.
    chunks: Chunks,
    out: [Vec<u8>; 2],
    into: [Vec<u8>; 2],
}

impl Ots {
    fn new(ot: Protocol, role: Role) -> Self {
        let chunks = Chunks::new(ot);
        Self { speaks: chunks.speaker() == role, chunks, out: Default::default(), into: Default::default() }
    }

    /// Runs a call of random OTs, in which one end only speaks and the other one only hears.
    fn make(
        &mut self,
        channel: &mut Channel,
        call: &mut dyn Machine<Error = OtError>,
        count: usize,
    ) -> Result<(), PsiError> {
        let windows: Vec<usize> =
            self.chunks.call(count).chunks(WINDOW).map(|chunks| chunks.iter().sum()).collect();
        let speaks = self.speaks;
        let both: [&mut dyn Machine<Error = OtError>; 2] =
            if speaks { [call, &mut Nothing] } else { [&mut Nothing, call] };
        let buffers = [&mut self.out, &mut self.into];
        by_windows(channel, STEP, both, WINDOW, buffers, |k, _| windows.get(k).copied().filter(|_| !speaks))
    }
}

/// The silent half of an end: nothing is said, or nothing heard.
struct Nothing;

impl Machine for Nothing {
    type Error = OtError;

    fn round(&self, _: usize) -> Option<Round> {
        None
    }

    fn write(&mut self, _: usize, _: &mut [u8]) -> Result<(), OtError> {
        Ok(())
    }

    fn read(&mut self, _: &[Exchanged<'_>]) -> Result<(), OtError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::tests::channels;
    use hushwire_aes::Backend;
    use hushwire_ot::{Context, Driver, Sid, open_receiver, open_sender};
    use hushwire_prg::{Prg, Seed};
    use hushwire_wire::Meter;
    use std::thread;

    /// Both parties' bits, and the bytes that each sent beside the set-up of OTs.
    fn compare(ot: Protocol, width: usize, words: [&[u64]; 2]) -> ([Vec<u64>; 2], [u64; 2]) {
        let context = &Context { sid: Sid([6; 32]), backend: Backend::best() };
        let meters = &[Meter::new(), Meter::new()];
        let [mut a, mut b] = channels(meters);
        let [mut held, mut chosen] = words.map(<[u64]>::to_vec);
        thread::scope(|scope| {
            let (held, chosen) = (&mut held, &mut chosen);
            scope.spawn(move || {
                let seed = Seed::from_bytes([1; 16]);
                let mut end =
                    open_receiver(&mut Driver::new(), &mut b, context, ot, &seed).expect("a set-up");
                meters[1].take();
                choose(&mut b, &mut end, ot, width, chosen).expect("an honest run");
            });
            let seed = Seed::from_bytes([2; 16]);
            let mut end = open_sender(&mut Driver::new(), &mut a, context, ot, &seed).expect("a set-up");
            meters[0].take();
            hold(&mut a, &mut end, ot, width, held).expect("an honest run");
        });
        ([held, chosen], meters.each_ref().map(|meter| meter.reading().bytes_sent()))
    }

    /// Bytes that holder and chooser send: OTs, digits and tables.
    fn cost(ot: Protocol, width: usize, bins: usize) -> [u64; 2] {
        let mut chunks = Chunks::new(ot);
        let (mut holder, mut chooser, mut ots) = (0, 0, 0);
        for level in Level::all(width) {
            for from in (0..bins).step_by(level.piece()) {
                let words = level.piece().min(bins - from);
                ots += chunks.call(words * level.ots()).iter().sum::<usize>();
                chooser += packed(words, level.ots());
                holder += packed(words, level.table_bits());
            }
        }
        *(if chunks.speaker() == Role::Sender { &mut holder } else { &mut chooser }) += ots;
        [holder as u64, chooser as u64]
    }

    #[test]
    fn bits_are_equal_where_words_are_and_bytes_are_as_declared() {
        let mut random = Prg::new(Backend::best(), &Seed::from_bytes([9; 16]), "words");
        let many = AHEAD / 60 + 5;
        for (ot, width, bins) in [
            (Protocol::SoftSpoken4, 53, 1),
            (Protocol::SoftSpoken4, 61, 700),
            (Protocol::SoftSpoken4, 63, many),
            (Protocol::FerretB9, 61, many),
        ] {
            let first: Vec<u64> = (0..bins).map(|_| random.next_u64() >> (64 - width)).collect();
            // Every bit alone, then all words alike.
            let differs = |i: usize| if i < 100 { 1u64.checked_shl(i as u32).unwrap_or(0) } else { 0 };
            let second: Vec<u64> = (0..).zip(&first).map(|(i, word)| word ^ differs(i)).collect();
            let ([a, b], bytes) = compare(ot, width, [&first, &second]);
            for i in 0..bins {
                assert!(a[i] < 2 && b[i] < 2);
                assert_eq!(a[i] == b[i], i >= width, "{ot}, bin {i} of {bins}");
            }
            assert_eq!(bytes, cost(ot, width, bins), "{ot}, {width} bits, {bins} bins");
        }
    }
}
