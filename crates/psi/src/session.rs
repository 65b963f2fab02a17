//! One party's endpoint of a run.
//!
//! ```text
//! hello     commitment 32, keys 8, terms 32, side 1   ◄──►
//! name      the fresh bytes that were committed to 32   ◄──►
//! salt t    whether one's values fit their tables 1   ◄──►   t = 0, 1, … until both do
//! circuit   the protocol's messages                   ◄──►
//! size      with tables only: a share of the number 4 ◄──►
//! items     A: the values found, in as many places    ───►
//!           as the smaller set has keys, 16 bytes each
//! ```

use crate::{
    Method, PsiError, PsiSide, PsiTerms, Reveal,
    engine::CircuitEngine,
    plan::{MOST_KEYS, SIZE_BITS, TablePiece, TablePlan},
    random,
    salt::Salt,
    tables::{Cuckoo, cuckoo, cuckoo_items, simple_items, stash_items},
};
use hushwire_aes::Backend;
use hushwire_circuit::{oblivious, psi, shuffle};
use hushwire_machine::{Channel, Toss};
use hushwire_ot::{Context, Sid};
use hushwire_prg::Prg;
use zeroize::Zeroizing;

/// AGREEMENT: separates the run's name from any other toss, and from any other use of BLAKE3.
const DOMAINS: [&str; 2] = ["hushwire psi toss v2", "hushwire psi sid v2"];
/// AGREEMENT: the number of salts that are tried.
const ATTEMPTS: u8 = 32;
/// AGREEMENT: the bytes of a value in a list of items.
const ITEM: usize = 16;

/// Receives the number of ANDs that are done, and of all ANDs. The first call comes when sizes are
/// known and no AND is done.
pub type Observer<'a> = dyn FnMut(u64, u64) + 'a;

/// The result of one party.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// The number of keys in both sets.
    Size(u64),
    /// For each of this party's keys, whether it is in both sets.
    Keys(Vec<bool>),
    /// This party learns nothing, as agreed.
    Nothing,
}

/// The result of one party, with its costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The result.
    pub found: Found,
    /// The numbers of different keys of A and of B.
    pub sizes: [usize; 2],
    /// The method by which sets were compared.
    pub circuit: Method,
    /// The width of a value, in bits.
    pub width: usize,
    /// The number of AND gates.
    pub ands: u64,
    /// The number of salts that were tried.
    pub salts: u8,
}

/// Intersects `keys`, which are all different, with the peer's.
///
/// # Errors
/// If the peer has other terms, a party brings more keys than agreed, or the protocol or the
/// channel failed.
///
/// # Panics
/// If there are more keys than 32 bits can count (the caller's bug).
pub fn intersect(
    channel: &mut Channel,
    side: PsiSide,
    keys: &[impl AsRef<[u8]>],
    terms: &PsiTerms,
    backend: Backend,
    observer: &mut Observer<'_>,
) -> Result<Outcome, PsiError> {
    let (sid, sizes) = hello(channel, side, keys.len(), terms)?;
    let plan = TablePlan::new(terms, sizes)?;
    let mut outcome = Outcome {
        found: Found::Nothing,
        sizes,
        circuit: plan.method,
        width: plan.width,
        ands: plan.ands,
        salts: 0,
    };
    if sizes.contains(&0) {
        // Both parties know the sizes, and so the result.
        outcome.found = match (terms.reveal, side) {
            (Reveal::Size, _) => Found::Size(0),
            (Reveal::Flags, PsiSide::B) => Found::Nothing,
            _ => Found::Keys(vec![false; keys.len()]),
        };
        return Ok(outcome);
    }
    observer(0, plan.ands);
    let (salt, salts, own) = fit(channel, side, keys, &plan, &sid)?;
    let context = Context { sid: Sid(sid), backend };
    let engine = CircuitEngine::open(channel, side, &context.child("psi", 0), terms)?;
    let mut run = CircuitRun { channel, side, terms, plan: &plan, salt, own, engine, observer, done: 0 };
    outcome.found = match plan.method {
        Method::Scs => run.scs()?,
        Method::Phasing => run.phasing()?,
    };
    outcome.salts = salts;
    Ok(outcome)
}

/// Agrees on the run's name and the sizes of both sets.
fn hello(
    channel: &mut Channel,
    side: PsiSide,
    count: usize,
    terms: &PsiTerms,
) -> Result<([u8; 32], [usize; 2]), PsiError> {
    let whole = |whose: &str, count: u64| PsiError::TooLarge {
        whose: whose.to_owned(),
        count,
        what: "an intersection",
        most: MOST_KEYS as u64,
        remedy: "split the sets by a first letter or another public rule, and intersect the parts",
    };
    if count > MOST_KEYS {
        return Err(whole("this party has", count as u64));
    }
    let (mut ours, mut theirs) = ([0; 73], [0; 73]);
    let me = usize::from(side == PsiSide::B);
    let mut fresh = [0; 32];
    random::fill(&mut fresh)?;
    let toss = Toss::with(DOMAINS[0], &terms.digest(), me as u8, fresh);
    ours[..32].copy_from_slice(&toss.commitment());
    ours[32..40].copy_from_slice(&(count as u64).to_le_bytes());
    ours[40..72].copy_from_slice(&terms.digest());
    ours[72] = side.name().as_bytes()[0];
    channel.exchange("hello", &ours, &mut theirs)?;
    // Two parties with the same side would wait for each other.
    if ours[40..72] != theirs[40..72] || ours[72] == theirs[72] {
        return Err(PsiError::Terms { peer: channel.from() });
    }
    let mut number = [0; 8];
    number.copy_from_slice(&theirs[32..40]);
    let other = u64::from_le_bytes(number);
    if other > MOST_KEYS as u64 {
        return Err(whole("the peer has", other));
    }
    let other = other as usize;
    let (hellos, sizes) = match side {
        PsiSide::A => ([ours, theirs], [count, other]),
        PsiSide::B => ([theirs, ours], [other, count]),
    };
    terms.most.check(sizes, me)?;
    let (mut commitment, mut opening) = ([0; 32], [0; 32]);
    commitment.copy_from_slice(&theirs[..32]);
    channel.exchange("name", &toss.opening(), &mut opening)?;
    let fresh = toss.name(&[[commitment, opening]]).map_err(|_| channel.unfit("name"))?;
    let mut hash = blake3::Hasher::new_derive_key(DOMAINS[1]);
    hash.update(&fresh).update(hellos.as_flattened());
    Ok((*hash.finalize().as_bytes(), sizes))
}

/// This party's values, and their places in its tables if the method has tables; wiped when
/// dropped.
struct Own {
    /// The values, key by key.
    values: WideValues,
    cuckoo: Option<Cuckoo>,
    simple: WideValues,
}

/// Tries salts until both parties' values fit their tables.
fn fit(
    channel: &mut Channel,
    side: PsiSide,
    keys: &[impl AsRef<[u8]>],
    plan: &TablePlan,
    sid: &[u8; 32],
) -> Result<(Salt, u8, Own), PsiError> {
    for attempt in 0..ATTEMPTS {
        let salt = Salt::new(sid, attempt);
        let own = place(side, keys, plan, &salt);
        let mut theirs = [0];
        channel.exchange("salt", &[u8::from(own.is_some())], &mut theirs)?;
        match (own, theirs) {
            (Some(own), [1]) => return Ok((salt, attempt + 1, own)),
            (_, [0 | 1]) => {}
            _ => return Err(malformed(channel, "salt", "neither 0 nor 1")),
        }
    }
    Err(PsiError::NoSalt(ATTEMPTS))
}

/// The values under a salt; `None` if two are equal, or they do not fit.
fn place(side: PsiSide, keys: &[impl AsRef<[u8]>], plan: &TablePlan, salt: &Salt) -> Option<Own> {
    let mut values = room(keys.len());
    values.extend(keys.iter().map(|key| salt.value(key.as_ref(), plan.width)));
    let equal = sorted(&values).windows(2).fold(false, |any, two| any | (two[0] == two[1]));
    if equal {
        return None;
    }
    let (mut placed, mut simple) = (None, WideValues::default());
    if plan.method == Method::Phasing {
        match side {
            PsiSide::A => placed = Some(cuckoo(&values, salt, &plan.tables)?),
            PsiSide::B => simple = simple_items(&values, salt, &plan.tables)?,
        }
    }
    Some(Own { values, cuckoo: placed, simple })
}

fn malformed(channel: &Channel, message: &'static str, what: &'static str) -> PsiError {
    PsiError::Malformed { peer: channel.from(), message, what }
}

struct CircuitRun<'a, 'o> {
    channel: &'a mut Channel,
    side: PsiSide,
    terms: &'a PsiTerms,
    plan: &'a TablePlan,
    salt: Salt,
    own: Own,
    engine: CircuitEngine,
    observer: &'a mut Observer<'o>,
    /// The number of ANDs that are done.
    done: u64,
}

impl CircuitRun<'_, '_> {
    fn scs(&mut self) -> Result<Found, PsiError> {
        let (program, roles) = self.plan.scs(self.terms);
        let mut inputs = bits(&sorted(&self.own.values), self.plan.width);
        if self.side == PsiSide::B && self.terms.reveal != Reveal::Size {
            let [a, b] = self.plan.sizes;
            let controls = shuffle::route(&secret_order(psi::kept(a, b))?);
            append(&mut inputs, controls.iter().map(|bit| u8::from(*bit)));
        }
        let learnt = self.engine.run(self.channel, &program, &roles, inputs)?;
        self.did(program.ands());
        if self.terms.reveal == Reveal::Size {
            return Ok(Found::Size(number(&learnt) as u64));
        }
        let mut values = room(learnt.len() / self.plan.width);
        values.extend(learnt.chunks_exact(self.plan.width).map(number).filter(|v| *v != 0));
        let found = if self.side == PsiSide::A { self.own_keys(&values, "items")? } else { vec![] };
        self.tell(found)
    }

    fn phasing(&mut self) -> Result<Found, PsiError> {
        let (plan, terms) = (self.plan, self.terms);
        // A match in the stash reveals approximately which of B's values it is, so B's values are
        // in random order.
        let values = shuffled(&self.own.values)?;
        let a = self.own.cuckoo.as_ref();
        let table = a.map(|own| cuckoo_items(own, &self.own.values, &self.salt, &plan.tables));
        let stash = a.map(|own| stash_items(own, &self.own.values, &plan.tables));
        let mut flags = vec![false; plan.tables.places()];
        let mut share = 0u32;
        for piece in plan.pieces() {
            let (program, roles) = plan.piece(terms, &piece);
            let (item, bin) = (plan.tables.item, plan.tables.bin);
            let mut inputs = match (&piece, &table, &stash) {
                (TablePiece::Bins(bins), Some(table), _) => bits(&table[bins.clone()], item),
                (TablePiece::Bins(bins), ..) => {
                    bits(&self.own.simple[bins.start * bin..bins.end * bin], item)
                }
                (TablePiece::Stash(_), _, Some(stash)) => bits(stash, plan.width),
                (TablePiece::Stash(range), ..) => bits(&values[range.clone()], plan.width),
            };
            if self.side == PsiSide::B && terms.reveal == Reveal::Size {
                let mut mask = [0; 4];
                random::fill(&mut mask)?;
                let mask = u32::from_le_bytes(mask);
                share = share.wrapping_sub(mask);
                let mask = bits(&[mask.into()], SIZE_BITS);
                append(&mut inputs, mask.iter().copied());
            }
            assert_eq!(inputs.len(), roles.input_bits(&program, self.side.number()));
            let learnt = self.engine.run(self.channel, &program, &roles, inputs)?;
            match (terms.reveal, self.side, piece) {
                (_, PsiSide::B, _) => {}
                (Reveal::Size, ..) => share = share.wrapping_add(number(&learnt) as u32),
                (_, _, TablePiece::Bins(bins)) => {
                    flags[bins].iter_mut().zip(learnt.iter()).for_each(|(flag, bit)| *flag = *bit == 1);
                }
                (.., TablePiece::Stash(_)) => {
                    let flags = flags[plan.tables.bins..].iter_mut();
                    flags.zip(learnt.iter()).for_each(|(flag, bit)| *flag |= *bit == 1);
                }
            }
            self.did(program.ands());
        }
        if terms.reveal == Reveal::Size {
            let mut theirs = [0; 4];
            self.channel.exchange("size", &share.to_le_bytes(), &mut theirs)?;
            let total = share.wrapping_add(u32::from_le_bytes(theirs));
            return Ok(Found::Size(total.into()));
        }
        let Some(own) = &self.own.cuckoo else { return self.tell(vec![]) };
        let mut found = vec![false; self.own.values.len()];
        let places = own.bins.iter().copied().chain(own.stash.iter().map(|v| Some(*v)));
        for (value, flag) in places.zip(&flags) {
            if let Some(value) = value {
                found[value as usize] = *flag;
            }
        }
        self.tell(found)
    }

    /// Completes A's result, which is also sent to B if both learn it.
    fn tell(&mut self, found: Vec<bool>) -> Result<Found, PsiError> {
        if self.terms.reveal == Reveal::Flags {
            return Ok(if self.side == PsiSide::A { Found::Keys(found) } else { Found::Nothing });
        }
        let places = self.plan.sizes[0].min(self.plan.sizes[1]);
        let mut message = Zeroizing::new(vec![0; places * ITEM]);
        if self.side == PsiSide::A {
            let mut own = room(found.len());
            own.extend(self.own.values.iter().zip(&found).filter(|(_, found)| **found).map(|(v, _)| *v));
            // The sorting hides the values' order in A's file from B.
            oblivious::sort(&mut own);
            if own.len() > places {
                return Err(malformed(
                    self.channel,
                    "circuit outputs",
                    "more items than the smaller set has",
                ));
            }
            for (place, value) in message.chunks_exact_mut(ITEM).zip(own.iter()) {
                place.copy_from_slice(&value.to_le_bytes());
            }
            self.channel.send("items", &message)?;
            return Ok(Found::Keys(found));
        }
        self.channel.recv("items", &mut message)?;
        let value = |place: &[u8; ITEM]| u128::from_le_bytes(*place);
        let mut values = room(places);
        values.extend(message.as_chunks().0.iter().map(value).filter(|v| *v != 0));
        Ok(Found::Keys(self.own_keys(&values, "items")?))
    }

    /// Flags of this party's keys, set for the keys that have these values.
    fn own_keys(&self, values: &[u128], message: &'static str) -> Result<Vec<bool>, PsiError> {
        let mut own = Zeroizing::new(Vec::with_capacity(self.own.values.len()));
        own.extend(self.own.values.iter().enumerate().map(|(key, value)| (*value, key as u128)));
        oblivious::sort(&mut own);
        let mut found = vec![false; own.len()];
        for value in values {
            match own.binary_search_by_key(value, |(value, _)| *value).map(|at| own[at].1 as usize) {
                Ok(key) if !found[key] => found[key] = true,
                _ => {
                    return Err(malformed(
                        self.channel,
                        message,
                        "a value that this party does not have, or twice",
                    ));
                }
            }
        }
        Ok(found)
    }

    fn did(&mut self, ands: u64) {
        self.done += ands;
        (self.observer)(self.done, self.plan.ands);
    }
}

/// Values, wiped when dropped.
type WideValues = Zeroizing<Vec<u128>>;

/// Space for values. It does not grow, so no copies are left behind.
fn room(count: usize) -> WideValues {
    Zeroizing::new(Vec::with_capacity(count))
}

/// The values in ascending order. The steps depend on their number alone.
fn sorted(values: &[u128]) -> WideValues {
    let mut sorted = room(values.len());
    sorted.extend_from_slice(values);
    oblivious::sort(&mut sorted);
    sorted
}

/// A byte, 0 or 1, for every bit of values of `width` bits.
fn bits(values: &[u128], width: usize) -> Zeroizing<Vec<u8>> {
    let mut all = Zeroizing::new(Vec::with_capacity(values.len() * width));
    values.iter().for_each(|v| all.extend((0..width).map(|i| (v >> i & 1) as u8)));
    all
}

/// Appends `more` to the content, and wipes the old memory.
fn append(all: &mut Zeroizing<Vec<u8>>, more: impl ExactSizeIterator<Item = u8>) {
    let mut longer = Zeroizing::new(Vec::with_capacity(all.len() + more.len()));
    longer.extend_from_slice(all);
    longer.extend(more);
    *all = longer;
}

/// The inverse of [`bits`] for one value.
fn number(bits: &[u8]) -> u128 {
    bits.iter().rev().fold(0, |n, bit| n << 1 | u128::from(*bit))
}

/// The values in a secret uniform order: each is paired with 128 random bits, and the pairs are
/// sorted with steps that depend on the number of values alone. Two of n random numbers are equal,
/// so that the order is not uniform, with probability n² 2^−129.
fn shuffled(values: &[u128]) -> Result<WideValues, PsiError> {
    let mut prg = Prg::new(Backend::best(), &random::seed()?, "psi order");
    let mut pairs = Zeroizing::new(Vec::with_capacity(values.len()));
    for value in values {
        let mut bytes = Zeroizing::new([0; 16]);
        prg.fill(&mut bytes[..]);
        pairs.push((u128::from_le_bytes(*bytes), *value));
    }
    oblivious::sort(&mut pairs);
    let mut order = room(values.len());
    order.extend(pairs.iter().map(|(_, value)| *value));
    Ok(order)
}

/// `count` indices in a secret uniform order.
fn secret_order(count: usize) -> Result<Zeroizing<Vec<usize>>, PsiError> {
    let places: Vec<u128> = (0..count as u128).collect();
    Ok(Zeroizing::new(shuffled(&places)?.iter().map(|place| *place as usize).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_machine::{NetError, PartyId};

    /// Each of the 24 orders of four values is about equally frequent: χ² with 23 degrees of
    /// freedom is below 70 except with probability 10^−6.
    #[test]
    fn orders_are_uniform() {
        let mut counts = std::collections::HashMap::new();
        const TRIALS: usize = 4800;
        for _ in 0..TRIALS {
            *counts.entry(shuffled(&[0, 1, 2, 3]).expect("random bytes").to_vec()).or_insert(0u32) += 1;
        }
        assert_eq!(counts.len(), 24);
        let expected = TRIALS as f64 / 24.0;
        let chi: f64 = counts.values().map(|c| (f64::from(*c) - expected).powi(2) / expected).sum();
        assert!(chi < 70.0, "{chi}: {counts:?}");
    }

    /// Runs `hello` against a peer that is written out here. Returns both parties' messages, and
    /// the result of `hello`.
    #[expect(clippy::type_complexity, reason = "two hellos and an ending")]
    fn beside(
        side: PsiSide,
        opens: fn(&Toss, [u8; 32]) -> [u8; 32],
    ) -> ([[u8; 73]; 2], Result<([u8; 32], [usize; 2]), PsiError>) {
        let (ids, terms) = ([PartyId(0), PartyId(1)], PsiTerms::new(Reveal::Size));
        let mut nets = hushwire_machine::inproc::mesh(&ids, 1, std::time::Duration::from_secs(60));
        let mut channel = |me: usize| nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("new");
        let (mut ours, mut theirs) = (channel(0), channel(1));
        let peer = std::thread::spawn(move || {
            let toss =
                Toss::new(DOMAINS[0], &terms.digest(), u8::from(side == PsiSide::A)).expect("it draws");
            let (mut heard, mut said) = ([0; 73], [0; 73]);
            theirs.recv("hello", &mut heard).expect("it comes");
            said[..32].copy_from_slice(&toss.commitment());
            said[32..40].copy_from_slice(&5u64.to_le_bytes());
            said[40..73].copy_from_slice(&heard[40..]);
            said[72] ^= b'a' ^ b'b';
            theirs.send("hello", &said).expect("it goes");
            let mut opening = [0; 32];
            theirs.recv("name", &mut opening).expect("it comes");
            theirs.send("name", &opens(&toss, opening)).expect("it goes");
            [heard, said]
        });
        let ended = hello(&mut ours, side, 3, &terms);
        let [heard, said] = peer.join().expect("it ends");
        (if side == PsiSide::A { [heard, said] } else { [said, heard] }, ended)
    }

    /// The run's name depends on both parties' fresh bytes and sizes, and so do salts.
    #[test]
    fn runs_are_named_by_what_both_say_freshly() {
        let mut names = std::collections::HashSet::new();
        for side in [PsiSide::A, PsiSide::A, PsiSide::B, PsiSide::B] {
            let (hellos, ended) = beside(side, |toss, _| toss.opening());
            let (sid, sizes) = ended.expect("they agree");
            assert_eq!(sizes, if side == PsiSide::A { [3, 5] } else { [5, 3] });
            assert!(names.insert(sid), "a name comes again");
            assert!(hellos.iter().all(|hello| names.iter().all(|name| *name != hello[..32])));
        }
    }

    /// A peer that received this party's bytes before it sent its own could choose the name, and
    /// thereby bins and salts.
    #[test]
    fn a_peer_that_chooses_its_bytes_last_is_named() {
        let other = |_: &Toss, heard: [u8; 32]| heard.map(|byte| byte ^ 1);
        let same = |_: &Toss, heard: [u8; 32]| heard;
        for opens in [other as fn(&Toss, [u8; 32]) -> [u8; 32], same] {
            let (_, ended) = beside(PsiSide::A, opens);
            let Err(PsiError::Net(NetError::Deviated { peer, .. })) = ended else { panic!("{ended:?}") };
            assert_eq!(peer, Some(PartyId(1)));
        }
    }

    #[test]
    fn two_keys_of_one_value_take_the_next_salt() {
        for circuit in [Method::Scs, Method::Phasing] {
            let terms = PsiTerms { circuit: Some(circuit), ..PsiTerms::new(Reveal::Size) };
            let plan = TablePlan::new(&terms, [2, 2]).expect("it is small");
            let placed = |keys: [&str; 2]| place(PsiSide::A, &keys, &plan, &Salt::new(&[1; 32], 0)).is_some();
            assert!(placed(["ann", "bob"]) && !placed(["ann", "ann"]));
        }
    }

    #[test]
    fn secret_orders_are_orders_and_never_the_same() {
        let [a, b] = [(); 2].map(|()| secret_order(100).expect("random bytes"));
        let mut sorted = a.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..100).collect::<Vec<_>>());
        assert!(a != b && *a != sorted);
    }

    #[test]
    fn bits_and_numbers_are_inverse() {
        let all = bits(&[5, 1 << 79], 80);
        assert_eq!((number(&all[..80]), number(&all[80..])), (5, 1 << 79));
    }
}
