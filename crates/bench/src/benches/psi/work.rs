//! The two parties: their items, runs, and expected results.

use std::time::{Duration, Instant};

use hushwire_aes::Backend;
use hushwire_machine::{Channel, Meter, drive::Driver};
use hushwire_ot::{Context, Level, Sid};
use hushwire_prg::Seed;
use hushwire_psi::{Found, PsiSide, PsiTerms, Store, circuit, intersect, plain};

use super::Point;
use crate::{BoxError, bounds::count, net};

/// A method and the result that it reveals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Vole,
    VoleColumns,
    CircuitSize,
    CircuitFlags,
    CircuitSum,
    Phasing,
    Scs,
}

/// A method's names, its measured levels, stores and sizes, and the bytes of the columns for each
/// of the sender's items.
pub(super) struct MethodLine {
    pub(super) method: Method,
    pub(super) name: &'static str,
    pub(super) reveal: &'static str,
    pub(super) payload: usize,
    pub(super) levels: &'static [Level],
    pub(super) stores: &'static [Option<Store>],
    pub(super) sizes: &'static [usize],
}

/// The measured sizes. The last one is too large for circuits.
pub(super) const SIZES: [usize; 5] = [1 << 12, 1 << 14, 1 << 17, 1 << 20, 10_000_000];

const CLUSTERED: &[Option<Store>] = &[Some(Store::Clustered)];
const BOTH: &[Option<Store>] = &[Some(Store::Clustered), Some(Store::Band)];

const fn vole(
    method: Method,
    reveal: &'static str,
    payload: usize,
    stores: &'static [Option<Store>],
) -> MethodLine {
    let levels = &[Level::SemiHonest, Level::Malicious];
    MethodLine { method, name: "vole", reveal, payload, levels, stores, sizes: &SIZES }
}

const fn whole(method: Method, reveal: &'static str, stores: &'static [Option<Store>]) -> MethodLine {
    let (levels, sizes) = (&[Level::SemiHonest], SIZES.split_at(4).0);
    MethodLine { method, name: "circuit", reveal, payload: 0, levels, stores, sizes }
}

/// A circuit that compares all, or nearly all, pairs of keys, and so serves only a few keys.
const fn small(method: Method, name: &'static str) -> MethodLine {
    let (levels, stores) = (&[Level::SemiHonest], &[None]);
    MethodLine { method, name, reveal: "items", payload: 0, levels, stores, sizes: &[1 << 10] }
}

/// All methods.
pub(super) static METHODS: [MethodLine; 7] = [
    vole(Method::Vole, "items", 0, BOTH),
    vole(Method::VoleColumns, "columns", PAYLOAD, CLUSTERED),
    whole(Method::CircuitSize, "size", BOTH),
    whole(Method::CircuitFlags, "flags", CLUSTERED),
    whole(Method::CircuitSum, "sum", CLUSTERED),
    small(Method::Phasing, "phasing"),
    small(Method::Scs, "scs"),
];

impl Method {
    pub(super) fn line(self) -> &'static MethodLine {
        &METHODS[self as usize]
    }
}

/// The bytes of the columns, if there are any: a field of 15 bytes with its length.
const PAYLOAD: usize = 16;

/// The sender's columns for an item.
fn payload(item: [u8; 8]) -> [u8; PAYLOAD] {
    let word = u64::from_le_bytes(item);
    (u128::from(word) << 64 | u128::from(!word)).to_le_bytes()
}

/// Item `i` out of n of the receiver or the sender. The second half of one party's items is the
/// first half of the other's.
fn item(i: usize, n: usize, is_sender: bool) -> [u8; 8] {
    let i = if is_sender { i + n / 2 } else { i };
    (i as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes()
}

fn digests(context: &Context, n: usize, is_sender: bool) -> Vec<plain::ItemDigest> {
    let digester = plain::Digester::new(&context.sid);
    digester.digest_all(context.backend, (0..n).map(|i| item(i, n, is_sender)))
}

/// The work that every method has at least.
pub(super) fn digest_all(n: usize) {
    let context = Context { sid: Sid([1; 32]), backend: Backend::default() };
    std::hint::black_box(digests(&context, n, false));
}

/// Both parties, connected anew for each repetition.
pub(super) struct Parties {
    point: Point,
    backend: Backend,
    runs: u64,
    meters: [Meter; 2],
}

impl Parties {
    pub(super) fn new(point: &Point, backend: Backend) -> Self {
        Self { point: *point, backend, runs: 0, meters: [Meter::new(), Meter::new()] }
    }

    /// The bytes of the busier party and of both parties, in one repetition.
    pub(super) fn bytes(&self) -> [f64; 2] {
        let runs = count(self.runs.max(1));
        let [a, b] = self.meters.each_ref().map(|meter| count(meter.reading().bytes_sent()) / runs);
        [a.max(b), a + b]
    }

    pub(super) fn rounds(&self) -> u64 {
        let rounds = self.meters.each_ref().map(|meter| meter.reading().rounds());
        rounds[0].max(rounds[1]).div_ceil(self.runs.max(1))
    }

    /// Runs this many repetitions, each from the first party's start to the last one's end.
    pub(super) fn time(&mut self, repetitions: u64) -> Result<Duration, BoxError> {
        let mut took = Duration::ZERO;
        for _ in 0..repetitions {
            let mut channels = net::channels(self.point.transport, self.point.net)?;
            for (channel, meter) in channels.iter_mut().zip(&self.meters) {
                channel.tap(Box::new(meter.clone()));
            }
            let mut sid = [0x70; 32];
            sid[..8].copy_from_slice(&self.runs.to_le_bytes());
            let context = Context { sid: Sid(sid), backend: self.backend };
            let point = self.point;
            let spans = net::each(channels, |party, mut channel| {
                let begin = Instant::now();
                let common = run(&point, &context, party, &mut channel)?;
                let end = Instant::now();
                let expected = point.n - point.n / 2;
                match common {
                    Some(found) if found != expected as u64 => {
                        Err(format!("{found} common items were found instead of {expected}").into())
                    }
                    _ => Ok((begin, end)),
                }
            })?;
            took += net::span(spans.into_iter());
            self.runs += 1;
        }
        Ok(took)
    }
}

/// Runs one party. Returns the number of common items, if the party learns it.
fn run(
    point: &Point,
    context: &Context,
    party: usize,
    channel: &mut Channel,
) -> Result<Option<u64>, BoxError> {
    let (n, is_sender, seed) = (point.n, party == 1, Seed::random());
    match point.method {
        Method::Vole | Method::VoleColumns => {
            let (receiver_items, sender_items) = (n, n);
            let terms = plain::Parameters {
                receiver_items,
                sender_items,
                security: point.security,
                both_learn: false,
                payload_bytes: point.method.line().payload,
                store: point.store.unwrap_or_default(),
            };
            let digests = digests(context, n, is_sender);
            let mut driver = Driver::new();
            if is_sender {
                let mut payloads = plain::Payloads::new(terms.payload_bytes, n);
                if terms.payload_bytes > 0 {
                    (0..n).for_each(|i| payloads.push(&payload(item(i, n, true))));
                }
                let mut sender = plain::Sender::with_payloads(context, &terms, digests, payloads, &seed)?;
                driver.run(channel, &mut sender)?;
                return Ok(None);
            }
            let mut receiver = plain::Receiver::new(context, &terms, digests, &seed)?;
            driver.run(channel, &mut receiver)?;
            let opened = receiver.open();
            if terms.payload_bytes > 0 {
                opened.check()?;
                let is_right = |(at, i): (usize, &u32)| {
                    opened.payloads.get(at) == payload(item(*i as usize, n, false)).as_slice()
                };
                if !opened.common.iter().enumerate().all(is_right) {
                    return Err("columns that are not those of their items".into());
                }
            }
            Ok(Some(opened.common.len() as u64))
        }
        Method::CircuitSize | Method::CircuitFlags | Method::CircuitSum => {
            circuit(point, context, is_sender, channel, &seed)
        }
        Method::Phasing | Method::Scs => {
            let mut terms = PsiTerms::new(hushwire_psi::Reveal::Items);
            let scs = point.method == Method::Scs;
            terms.circuit = Some(if scs { hushwire_psi::Method::Scs } else { hushwire_psi::Method::Phasing });
            let side = if is_sender { PsiSide::B } else { PsiSide::A };
            let keys: Vec<String> =
                (0..n).map(|i| u64::from_le_bytes(item(i, n, is_sender)).to_string()).collect();
            let outcome = intersect(channel, side, &keys, &terms, context.backend, &mut |_, _| {})?;
            Ok(match outcome.found {
                Found::Keys(found) => Some(found.iter().filter(|found| **found).count() as u64),
                Found::Size(size) => Some(size),
                Found::Nothing => None,
            })
        }
    }
}

fn circuit(
    point: &Point,
    context: &Context,
    is_sender: bool,
    channel: &mut Channel,
    seed: &Seed,
) -> Result<Option<u64>, BoxError> {
    let n = point.n;
    let reveal = match point.method {
        Method::CircuitSum => circuit::Reveal::Sum,
        Method::CircuitFlags => circuit::Reveal::Flags,
        _ => circuit::Reveal::Size,
    };
    let terms = circuit::Parameters {
        receiver_items: n,
        sender_items: n,
        reveal,
        store: point.store.unwrap_or_default(),
    };
    let digests = digests(context, n, is_sender);
    let outcome = if is_sender {
        circuit::send(channel, context, &terms, &digests, seed, &mut |_, _| {})?
    } else {
        let numbers: Vec<u64> = (0..n as u64).collect();
        circuit::receive(channel, context, &terms, &digests, &numbers, seed, &mut |_, _| {})?
    };
    match outcome {
        circuit::Outcome::Size(size) => Ok(Some(size)),
        circuit::Outcome::Flags(common) => Ok(Some(common.len() as u64)),
        circuit::Outcome::Nothing => Ok(None),
        // The receiver's second half is common.
        circuit::Outcome::Sum { count, sum } if sum == (n as u64 / 2..n as u64).sum::<u64>() => {
            Ok(Some(count))
        }
        outcome => Err(format!("{outcome:?} is no result of these items").into()),
    }
}
