//! Both parties' endpoints of a run.

use hushwire_block::Gf64;
use hushwire_circuit::Planes;
use hushwire_gmw::GmwParty;
use hushwire_machine::Channel;
use hushwire_ot::{Context, Protocol};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

use super::opprf::{answer, ask, hear, low, tell};
use super::program::{COUNT, GROUP, mask_planes, planes, program};
use super::sum;
use super::table::{BinPlaces, HASHES, distinct};
use super::{Parameters, Reveal};
use crate::PsiError;
use crate::okvs::Digest;

/// The number of steps that are reported to an observer: the oblivious PRF, the store, the circuit.
const STEPS: u64 = 3;

/// AGREEMENT: the protocol of the circuit's OTs. For large sets a longer set-up pays off.
fn ot(parameters: &Parameters) -> Protocol {
    if parameters.bins() < 1 << 15 { Protocol::SoftSpoken4 } else { Protocol::FerretB11 }
}

/// The result of one party.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The number of common items.
    Size(u64),
    /// The indices of the receiver's common items, ascending.
    Flags(Vec<u32>),
    /// The number of common items, and the sum of their numbers modulo 2^64.
    Sum {
        /// The number of common items.
        count: u64,
        /// The sum of the receiver's numbers.
        sum: u64,
    },
    /// This party learns nothing, as agreed.
    Nothing,
}

impl Parameters {
    /// The result if a set is empty.
    fn nothing_common(&self, is_receiver: bool) -> Outcome {
        match self.reveal {
            Reveal::Size => Outcome::Size(0),
            Reveal::Sum => Outcome::Sum { count: 0, sum: 0 },
            Reveal::Flags if is_receiver => Outcome::Flags(vec![]),
            Reveal::Flags => Outcome::Nothing,
        }
    }
}

/// The receiver's endpoint. `digests` are its items, made by [`crate::plain::Digester`], and
/// `numbers` their numbers if a sum is wanted; for repeated items the first one counts. `context`
/// is agreed and used for this run alone; `seed` is this party's secret randomness for this run
/// alone. `observer` receives the number of steps that are done, and the number of all steps.
///
/// # Errors
/// If there are more items than agreed, or than an intersection takes; if a message is malformed;
/// or if the channel failed.
///
/// # Panics
/// If the channel does not lead to the peer and back, or if a sum is wanted and there is not one
/// number for every item (the caller's bug).
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
    let places = BinPlaces::new(context, parameters.bins());
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
    // Empty bins get random values too.
    let mut random = Prg::new(context.backend, &part("psi empty bins"), "empty bins");
    let mut bins = Zeroizing::new(vec![0; parameters.bins()]);
    bins.iter_mut().for_each(|bin| *bin = random.next_u64());
    for (((bin, _), value), told) in held.iter().zip(&values).zip(&told) {
        bins[*bin] = low(*value) ^ told;
    }
    observer(2, STEPS);
    let run = GmwRun { context, parameters, seed: &part("psi gmw") };
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
    let count = next().iter().copied().fold(0u64, u64::wrapping_add);
    let mut total = 0;
    if parameters.reveal == Reveal::Sum {
        let mut of_bins = Zeroizing::new(vec![0; parameters.bins()]);
        held.iter().for_each(|(bin, item)| of_bins[*bin] = numbers[firsts[*item as usize] as usize]);
        let (context, seed) = run.of_sum();
        total = sum::offer(channel, &context, &flags_of(&next()), &of_bins, &seed)?;
    }
    open(channel, parameters, [count, total])
}

/// The sender's endpoint.
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
    let places = BinPlaces::new(context, parameters.bins());
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
    let instances = parameters.bins() / GROUP;
    let mut masks =
        || -> Zeroizing<Vec<u64>> { Zeroizing::new((0..instances).map(|_| random.next_u64()).collect()) };
    let (counts, flags) = (masks(), masks());
    observer(2, STEPS);
    let run = GmwRun { context, parameters, seed: &part("psi gmw") };
    run.compare(channel, 1, &bins, &counts, &flags)?;
    observer(3, STEPS);
    if parameters.reveal == Reveal::Flags {
        return Ok(Outcome::Nothing);
    }
    let count = counts.iter().fold(0u64, |sum, mask| sum.wrapping_sub(*mask));
    let mut total = 0;
    if parameters.reveal == Reveal::Sum {
        let (context, seed) = run.of_sum();
        total = sum::choose(channel, &context, &flags_of(&flags), &seed)?;
    }
    open(channel, parameters, [count, total])
}

struct GmwRun<'a> {
    context: &'a Context,
    parameters: &'a Parameters,
    seed: &'a Seed,
}

impl GmwRun<'_> {
    /// Runs the circuit on all bins for party `index`; the masks are the sender's. Returns the
    /// outputs, instance by instance.
    fn compare(
        &self,
        channel: &mut Channel,
        index: usize,
        bins: &[u64],
        counts: &[u64],
        flags: &[u64],
    ) -> Result<Vec<Zeroizing<Vec<u64>>>, PsiError> {
        let GmwRun { context, parameters, seed } = *self;
        let (program, roles) = program(parameters);
        let instances = bins.len() / GROUP;
        let mut inputs = vec![planes(bins, parameters.width())];
        if index == 1 && parameters.reveal != Reveal::Flags {
            inputs.push(mask_planes(counts, COUNT));
        }
        if index == 1 && parameters.reveal == Reveal::Sum {
            inputs.push(mask_planes(flags, GROUP));
        }
        let inputs = Planes::join(instances, inputs);
        let ot = ot(parameters);
        let mut party = GmwParty::open(channel, index, &context.child("psi bins", 0), ot, seed)?;
        let learnt = party.run(channel, &program, &roles, &inputs)?;
        if index == 1 {
            return Ok(vec![]);
        }
        let widths = program.outputs().to_vec();
        let split = learnt.split(&widths).zip(&widths);
        Ok(split.map(|(planes, width)| numbers_of(&planes, width.div_ceil(8))).collect())
    }

    /// The context and the randomness of the sum's OTs.
    fn of_sum(&self) -> (Context, Seed) {
        (self.context.child("psi sum", 0), self.seed.derive("psi sum", &[]))
    }
}

/// The bits of words; each word belongs to one instance.
fn flags_of(words: &[u64]) -> Zeroizing<Vec<bool>> {
    Zeroizing::new(words.iter().flat_map(|word| (0..GROUP).map(move |bin| word >> bin & 1 == 1)).collect())
}

/// Numbers from values of up to eight bytes.
fn numbers_of(planes: &Planes, bytes: usize) -> Zeroizing<Vec<u64>> {
    let number = |value: &[u8]| value.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte));
    Zeroizing::new(planes.unpack().chunks_exact(bytes).map(number).collect())
}

/// Adds up both parties' shares of the results: a number modulo 2^32, and a number modulo 2^64.
/// More bits of the first sum would reveal how often masked numbers wrapped around.
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
