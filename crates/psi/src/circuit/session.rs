//! Both parties' sides of a run.

use hushwire_block::{Block, Gf64};
use hushwire_circuit::Planes;
use hushwire_gmw::Party;
use hushwire_ot::{Context, Protocol};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Channel;
use zeroize::Zeroizing;

use super::opprf::{Value, answer, ask, hear, tell};
use super::program::{COUNT, GROUP, mask_planes, planes, program};
use super::sum::over_flags;
use super::table::{HASHES, Places, distinct};
use super::{Parameters, Reveal};
use crate::PsiError;
use crate::okvs::Digest;

/// Steps that an observer hears of: the oblivious PRF, the store, the circuit.
const STEPS: u64 = 3;

/// AGREEMENT: the OTs below the circuit: large sets pay the longer set-up.
fn ot(parameters: &Parameters) -> Protocol {
    if parameters.bins() < 1 << 15 { Protocol::SoftSpoken4 } else { Protocol::FerretB11 }
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
        /// The sum of the sender's numbers.
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

/// The receiver's side: `digests` are its items, by [`crate::plain::Digester`]. `context` is agreed and of this run alone,
/// `seed` this party's secret randomness, for this run alone. `observer` hears how many of how many steps are done.
///
/// # Errors
/// There are more items than agreed, or than an intersection takes; a message is malformed; the channel failed.
///
/// # Panics
/// If the channel does not lead to the peer and back (the caller's bug).
pub fn receive(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
    parameters.check(digests.len(), parameters.receiver_items)?;
    if parameters.is_empty() {
        return Ok(parameters.nothing_common(true));
    }
    if parameters.reveal == Reveal::Sum {
        receive_as::<Block>(channel, context, parameters, digests, seed, observer)
    } else {
        receive_as::<Gf64>(channel, context, parameters, digests, seed, observer)
    }
}

fn receive_as<V: Value>(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
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
    let told = hear::<V>(channel, &parameters.told(), &asked)?;
    // Empty bins have something random too.
    let mut random = Prg::new(context.backend, &part("psi empty bins"), "empty bins");
    let mut bins = Zeroizing::new(vec![[0; 2]; parameters.bins()]);
    bins.iter_mut().for_each(|bin| *bin = [random.next_u64(), random.next_u64()]);
    for (((bin, _), value), told) in held.iter().zip(&values).zip(&told) {
        bins[*bin] = words_of(V::of(*value ^ *told).block());
    }
    observer(2, STEPS);
    let run = Run { context, parameters, seed: &part("psi gmw") };
    let learnt = run.compare(channel, 0, &bins, &[], &[])?;
    observer(3, STEPS);
    let mut learnt = learnt.into_iter();
    let mut next = || learnt.next().expect("an output for each");
    if parameters.reveal == Reveal::Flags {
        let flags = next();
        let at = |bin: usize| flags[bin / GROUP] >> (bin % GROUP) & 1 == 1;
        let mut common = vec![false; own.len()];
        held.iter().for_each(|(bin, item)| common[*item as usize] = at(*bin));
        let is_common = |item: &u32| common[like[*item as usize] as usize];
        return Ok(Outcome::Flags((0..digests.len() as u32).filter(is_common).collect()));
    }
    let sum = |words: Vec<u64>| words.into_iter().fold(0u64, u64::wrapping_add);
    let count = sum(next());
    let total = if parameters.reveal == Reveal::Sum { run.add_up(channel, true, &bins, &next())? } else { 0 };
    open(channel, parameters, [count, total])
}

/// The sender's side; `numbers` are those of its items where sums are wanted. Of items that come twice the first counts.
///
/// # Errors
/// As [`receive`].
///
/// # Panics
/// As there, and if there is not a number for every item where sums are wanted (the caller's bug).
pub fn send(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    numbers: &[u64],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
    parameters.check(digests.len(), parameters.sender_items)?;
    assert!(parameters.reveal != Reveal::Sum || numbers.len() == digests.len(), "a number for every item");
    if parameters.is_empty() {
        return Ok(parameters.nothing_common(false));
    }
    if parameters.reveal == Reveal::Sum {
        send_as::<Block>(channel, context, parameters, digests, numbers, seed, observer)
    } else {
        send_as::<Gf64>(channel, context, parameters, digests, numbers, seed, observer)
    }
}

fn send_as<V: Value>(
    channel: &mut Channel,
    context: &Context,
    parameters: &Parameters,
    digests: &[Digest],
    numbers: &[u64],
    seed: &Seed,
    observer: &mut dyn FnMut(u64, u64),
) -> Result<Outcome, PsiError> {
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
    let mut bins = Zeroizing::new(vec![[0; 2]; parameters.bins()]);
    bins.iter_mut().for_each(|bin| *bin = [random.next_u64(), random.next_u64()]);
    let masked: Vec<V> = all
        .iter()
        .zip(&values)
        .map(|((item, j), value)| {
            let [r, s] = bins[places.bin(&digests[*item], *j)];
            let number = numbers.get(*item).copied().unwrap_or(0);
            V::of(*value ^ Block::from_u128(u128::from(r) | u128::from(number.wrapping_sub(s)) << 64))
        })
        .collect();
    tell(channel, &parameters.told(), &asked, &masked, &mut random)?;
    let instances = parameters.bins() / GROUP;
    let mut masks =
        || -> Zeroizing<Vec<u64>> { Zeroizing::new((0..instances).map(|_| random.next_u64()).collect()) };
    let (counts, flags) = (masks(), masks());
    observer(2, STEPS);
    let run = Run { context, parameters, seed: &part("psi gmw") };
    run.compare(channel, 1, &bins, &counts, &flags)?;
    observer(3, STEPS);
    if parameters.reveal == Reveal::Flags {
        return Ok(Outcome::Nothing);
    }
    let count = counts.iter().fold(0u64, |sum, mask| sum.wrapping_sub(*mask));
    let sum = if parameters.reveal == Reveal::Sum { run.add_up(channel, false, &bins, &flags)? } else { 0 };
    open(channel, parameters, [count, sum])
}

/// Low and high word.
fn words_of(block: Block) -> [u64; 2] {
    let x = block.to_u128();
    [x as u64, (x >> 64) as u64]
}

struct Run<'a> {
    context: &'a Context,
    parameters: &'a Parameters,
    seed: &'a Seed,
}

impl Run<'_> {
    /// The circuit on all bins, for party `index`; the masks are the sender's. Gives the outputs, instance by instance.
    fn compare(
        &self,
        channel: &mut Channel,
        index: usize,
        bins: &[[u64; 2]],
        counts: &[u64],
        flags: &[u64],
    ) -> Result<Vec<Vec<u64>>, PsiError> {
        let Run { context, parameters, seed } = *self;
        let (program, roles) = program(parameters);
        let instances = bins.len() / GROUP;
        let words: Zeroizing<Vec<u64>> = Zeroizing::new(bins.iter().map(|bin| bin[0]).collect());
        let mut inputs = vec![planes(&words, parameters.width())];
        if index == 1 && parameters.reveal != Reveal::Flags {
            inputs.push(mask_planes(counts, COUNT));
        }
        if index == 1 && parameters.reveal == Reveal::Sum {
            inputs.push(mask_planes(flags, GROUP));
        }
        let inputs = Planes::join(instances, inputs);
        let ot = ot(parameters);
        let mut party = Party::open(channel, index, &context.child("psi bins", 0), ot, seed)?;
        let learnt = party.run(channel, &program, &roles, &inputs)?;
        if index == 1 {
            return Ok(vec![]);
        }
        let widths = program.outputs().to_vec();
        let split = learnt.split(&widths).zip(&widths);
        Ok(split.map(|(planes, width)| numbers_of(&planes, width.div_ceil(8))).collect())
    }
}

impl Run<'_> {
    /// This party's share of the sum of numbers over the bins that match; `flags` are its shares of whether they do, a word for
    /// each instance.
    fn add_up(
        &self,
        channel: &mut Channel,
        is_receiver: bool,
        bins: &[[u64; 2]],
        flags: &[u64],
    ) -> Result<u64, PsiError> {
        let each = flags.iter().flat_map(|word| (0..GROUP).map(move |bin| word >> bin & 1 == 1));
        let bits: Zeroizing<Vec<bool>> = Zeroizing::new(each.collect());
        let numbers: Zeroizing<Vec<u64>> = Zeroizing::new(bins.iter().map(|bin| bin[1]).collect());
        let context = self.context.child("psi sum", 0);
        over_flags(channel, &context, is_receiver, &bits, &numbers, &self.seed.derive("psi sum", &[]))
    }
}

/// Values of up to eight bytes.
fn numbers_of(planes: &Planes, bytes: usize) -> Vec<u64> {
    let number = |value: &[u8]| value.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    planes.unpack().chunks_exact(bytes).map(number).collect()
}

/// Both parties' shares of the results added up: a number modulo 2^32, for more of its sum would tell how often masked numbers
/// wrapped around, and one modulo 2^64.
fn open(channel: &mut Channel, parameters: &Parameters, ours: [u64; 2]) -> Result<Outcome, PsiError> {
    let mut said = Zeroizing::new([0; 16]);
    let mut heard = Zeroizing::new([0; 16]);
    let ours = [u64::from(ours[0] as u32), ours[1]];
    for (out, share) in said.chunks_exact_mut(8).zip(ours) {
        out.copy_from_slice(&share.to_le_bytes());
    }
    channel.exchange("opening results", &said[..], &mut heard[..])?;
    let mut words = heard.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
    let mut result = || words.next().expect("two words");
    let (count, sum) = (ours[0].wrapping_add(result()), ours[1].wrapping_add(result()));
    let count = u64::from(count as u32);
    Ok(match parameters.reveal {
        Reveal::Sum => Outcome::Sum { count, sum },
        _ => Outcome::Size(count),
    })
}
