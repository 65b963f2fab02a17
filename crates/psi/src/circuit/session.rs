//! Both parties' sides of a run.

use hushwire_block::Gf64;
use hushwire_ot::{Context, Driver, Protocol, open_receiver, open_sender};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Channel;
use zeroize::Zeroizing;

use super::equal::{choose, hold};
use super::opprf::{answer, ask, hear, low, tell};
use super::sum::{self, Share};
use super::table::{HASHES, Places, distinct};
use super::{Parameters, Reveal};
use crate::PsiError;
use crate::okvs::Digest;

/// Steps that an observer hears of: the oblivious PRF, the store, the comparison.
const STEPS: u64 = 3;

/// AGREEMENT: the OTs of the comparison: large sets pay the longer set-up. A table of b10 stays in a core's second cache; sums, which send
/// eight bytes a bin more, take the set with half as many bytes.
fn ot(parameters: &Parameters) -> Protocol {
    match parameters.reveal {
        _ if parameters.bins() < 1 << 15 => Protocol::SoftSpoken4,
        Reveal::Size | Reveal::Flags => Protocol::FerretB10,
        Reveal::Sum => Protocol::FerretB11,
    }
}

/// The result of one party.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The number of common items.
    Size(u64),
    /// The numbers of the receiver's common items, rising.
    Flags(Vec<u32>),
    /// The number of common items, and the sum of their numbers modulo 2^64.
    Sum {
        /// The number of common items.
        count: u64,
        /// The sum of the receiver's numbers.
        sum: u64,
    },
    /// Nothing, as agreed.
    Nothing,
}

impl Parameters {
    /// The result where a set is empty.
    fn nothing_common(&self, is_receiver: bool) -> Outcome {
        match self.reveal {
            Reveal::Size => Outcome::Size(0),
            Reveal::Sum => Outcome::Sum { count: 0, sum: 0 },
            Reveal::Flags if is_receiver => Outcome::Flags(vec![]),
            Reveal::Flags => Outcome::Nothing,
        }
    }
}

/// The receiver's side: `digests` are its items, by [`crate::plain::Digester`], and `numbers` theirs where sums are wanted; of items that
/// come twice the first counts. `context` is agreed and of this run alone, `seed` this party's secret randomness, for this run alone.
/// `observer` hears how many of how many steps are done.
///
/// # Errors
/// There are more items than agreed, or than an intersection takes; a message is malformed; the channel failed.
///
/// # Panics
/// If the channel does not lead to the peer and back, or there is not a number for every item where sums are wanted (the caller's bug).
pub fn receive(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    numbers: &[u64],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
    parameters.check(digests.len(), parameters.receiver_items)?;
    assert!(parameters.reveal != Reveal::Sum || numbers.len() == digests.len(), "a number for every item");
    if parameters.is_empty() {
        return Ok(parameters.nothing_common(true));
    }
    observer(0, STEPS);
    let (firsts, like) = distinct(digests);
    let own: Vec<Digest> = firsts.iter().map(|item| digests[*item as usize]).collect();
    let places = Places::new(context, parameters.bins());
    let table = places.cuckoo(context, &own, &seed.derive("psi table", &context.sid.0))?;
    let held: Vec<(usize, u32)> =
        (0..).zip(&table).filter_map(|(bin, held)| Some((bin, held.as_ref()?.0))).collect();
    let pairs: Vec<_> = table.iter().flatten().map(|(item, j)| (own[*item as usize], *j)).collect();
    drop(table);
    let asked = places.digests(context.backend, pairs.into_iter());
    let part = |label| seed.derive(label, &context.sid.0);
    let values = ask(channel, &context.child("opprf", 0), &parameters.asked(), &asked, &part("psi vole"))?;
    observer(1, STEPS);
    let told = hear(channel, context, &parameters.told(), &asked)?;
    // Empty bins have something random too.
    let mut random = Prg::new(context.backend, &part("psi empty bins"), "empty bins");
    let mut bins = Zeroizing::new(vec![0; parameters.bins()]);
    bins.iter_mut().for_each(|bin| *bin = random.next_u64());
    for (((bin, _), value), told) in held.iter().zip(&values).zip(&told) {
        bins[*bin] = low(*value) ^ told;
    }
    observer(2, STEPS);
    let (comparing, ot) = (context.child("psi bins", 0), ot(parameters));
    let mut end = open_sender(&mut Driver::new(), channel, &comparing, ot, &part("psi comparison"))?;
    hold(channel, &mut end, ot, parameters.width(), &mut bins)?;
    observer(3, STEPS);
    if parameters.reveal == Reveal::Flags {
        let mut theirs = vec![0; bins.len().div_ceil(8)];
        channel.recv("flags", &mut theirs)?;
        let mut common = vec![false; own.len()];
        for (bin, item) in held {
            common[item as usize] = bins[bin] ^ u64::from(theirs[bin / 8] >> (bin % 8) & 1) == 1;
        }
        let is_common = |item: &u32| common[like[*item as usize] as usize];
        return Ok(Outcome::Flags((0..digests.len() as u32).filter(is_common).collect()));
    }
    let mut of_bins = Zeroizing::new(vec![]);
    if parameters.reveal == Reveal::Sum {
        of_bins.resize(bins.len(), 0);
        held.iter().for_each(|(bin, item)| of_bins[*bin] = numbers[firsts[*item as usize] as usize]);
    }
    let numbers = Some(&of_bins[..]).filter(|_| parameters.reveal == Reveal::Sum);
    let share = sum::offer(channel, &mut end, &bins, numbers)?;
    open(channel, parameters, share)
}

/// The sender's side.
///
/// # Errors
/// As [`receive`].
///
/// # Panics
/// If the channel does not lead to the peer and back (the caller's bug).
pub fn send(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
    parameters.check(digests.len(), parameters.sender_items)?;
    if parameters.is_empty() {
        return Ok(parameters.nothing_common(false));
    }
    observer(0, STEPS);
    let (firsts, _) = distinct(digests);
    let places = Places::new(context, parameters.bins());
    let all: Vec<(usize, usize)> =
        firsts.iter().flat_map(|item| (0..HASHES).map(|j| (*item as usize, j))).collect();
    let asked = places.digests(context.backend, all.iter().map(|(item, j)| (digests[*item], *j as u8)));
    let part = |label| seed.derive(label, &context.sid.0);
    let values = answer(channel, &context.child("opprf", 0), &parameters.asked(), &asked, &part("psi vole"))?;
    observer(1, STEPS);
    let mut random = Prg::new(context.backend, &part("psi bins"), "bins");
    let mut bins = Zeroizing::new(vec![0; parameters.bins()]);
    bins.iter_mut().for_each(|bin| *bin = random.next_u64());
    let masked =
        |((item, j), value): (&(usize, usize), &_)| Gf64(low(*value) ^ bins[places.bin(&digests[*item], *j)]);
    let masked: Vec<Gf64> = all.iter().zip(&values).map(masked).collect();
    tell(channel, context, &parameters.told(), &asked, &masked, &mut random)?;
    observer(2, STEPS);
    let (comparing, ot) = (context.child("psi bins", 0), ot(parameters));
    let mut end = open_receiver(&mut Driver::new(), channel, &comparing, ot, &part("psi comparison"))?;
    choose(channel, &mut end, ot, parameters.width(), &mut bins)?;
    // Bits are equal where words are: one party's, turned, is its share of the flag.
    bins.iter_mut().for_each(|bit| *bit ^= 1);
    observer(3, STEPS);
    if parameters.reveal == Reveal::Flags {
        channel.send("flags", &sum::pack_bits(&bins))?;
        return Ok(Outcome::Nothing);
    }
    let share = sum::choose(channel, &mut end, &bins, parameters.reveal == Reveal::Sum)?;
    open(channel, parameters, share)
}

/// Both parties' shares of the results added up.
fn open(channel: &mut Channel, parameters: &Parameters, ours: Share) -> Result<Outcome, PsiError> {
    let mut said = Zeroizing::new([0; 16]);
    let mut heard = Zeroizing::new([0; 16]);
    for (out, share) in said.chunks_exact_mut(8).zip([ours.count, ours.sum]) {
        out.copy_from_slice(&share.to_le_bytes());
    }
    channel.exchange("opening results", &said[..], &mut heard[..])?;
    let mut words = heard.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut word = || words.next().expect("two words");
    let Share { count, sum } = ours.with(Share { count: word(), sum: word() });
    Ok(match parameters.reveal {
        Reveal::Sum => Outcome::Sum { count, sum },
        _ => Outcome::Size(count),
    })
}
