//! Computes the cost of operations from sizes alone. Each protocol has a function here, which must
//! count its rounds, bytes, OTs and triples. Tests compare the two.

use crate::{
    compare::{ComparePart, half, table_bytes},
    kit::{OtRun, and_bytes, chunk_bytes, chunks},
    ops::MatrixShape,
    ring::{Holders, packed},
    shift::wrap_width,
};
use hushwire_circuit::{Program, TwoParty};
use hushwire_gmw::{circuit_cost, triples};
use hushwire_machine::Cost;
use hushwire_plan::Sign;

/// The cost of a run, without making OTs and triples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of consecutive messages.
    pub rounds: u64,
    /// The bytes that each party sends.
    pub bytes: [u64; 2],
    /// The correlated OTs that each party sends.
    pub cots: [usize; 2],
    /// The bit triples.
    pub triples: u64,
}

impl Tally {
    /// The cost for one party.
    #[must_use]
    pub fn cost(&self, party: usize) -> Cost {
        Cost { rounds: self.rounds, bytes_sent: self.bytes[party] }
    }

    /// The OTs of both directions. A triple counts as two: one sent and one received.
    #[must_use]
    pub fn ots(&self) -> usize {
        self.cots[0] + self.cots[1] + 2 * self.triples as usize
    }

    fn sum(self, other: Tally, rounds: u64) -> Tally {
        let each = [0, 1];
        Tally {
            rounds,
            bytes: each.map(|i| self.bytes[i] + other.bytes[i]),
            cots: each.map(|i| self.cots[i] + other.cots[i]),
            triples: self.triples + other.triples,
        }
    }

    /// The cost of this and then `other`.
    pub(crate) fn then(self, other: Tally) -> Tally {
        self.sum(other, self.rounds + other.rounds)
    }

    /// The cost of both at the same time.
    pub(crate) fn beside(self, other: Tally) -> Tally {
        self.sum(other, self.rounds.max(other.rounds))
    }

    /// The cost of one message in each direction.
    pub(crate) fn message(bytes: [usize; 2]) -> Tally {
        Tally { rounds: u64::from(bytes != [0, 0]), bytes: bytes.map(|b| b as u64), ..Tally::default() }
    }

    /// The cost of the choices for OTs that each party sends.
    pub(crate) fn choices(cots: [usize; 2]) -> Tally {
        Tally { cots, ..Tally::message([packed(cots[1], 1), packed(cots[0], 1)]) }
    }
}

/// The numbers of rows in which each party sends.
fn turns(rows: usize) -> [usize; 2] {
    [half(rows), rows - half(rows)]
}

/// The cost of products of choices and vectors of `each` numbers. The runs are those that each
/// party sends.
pub(crate) fn products(runs: [&[OtRun]; 2], each: usize) -> Tally {
    Tally::choices(ots(runs)).then(payload(runs, each))
}

/// The numbers of OTs that each party sends.
fn ots(runs: [&[OtRun]; 2]) -> [usize; 2] {
    runs.map(|runs| runs.iter().map(|run| run.count).sum())
}

/// The cost of the messages of products after their choices.
fn payload(runs: [&[OtRun]; 2], each: usize) -> Tally {
    let parts = runs.map(|runs| chunks(runs, each));
    let bytes = [0, 1].map(|i| parts[i].iter().map(|chunk| chunk_bytes(chunk, each) as u64).sum());
    let rounds = parts[0].len().max(parts[1].len()) as u64;
    Tally { rounds, bytes, ..Tally::default() }
}

fn and(runs: &[OtRun]) -> Tally {
    let count = runs.iter().map(|run| run.count).sum();
    Tally { cots: [count; 2], ..Tally::message([packed(count, 1) + and_bytes(runs); 2]) }
}

/// The cost of a comparison of numbers in parts.
pub(crate) fn compare(rows: usize, parts: &[ComparePart]) -> Tally {
    let turns = turns(rows);
    let digits: Vec<Vec<_>> = parts.iter().map(|part| part.digits()).collect();
    let bits: u32 = digits.iter().flatten().map(|(_, d, _)| d).sum();
    let leaves = Tally::choices(turns.map(|n| n * bits as usize));
    let mut all = leaves.then(Tally::message(turns.map(|n| table_bytes(n, digits.iter().flatten()))));
    let mut trees: Vec<Vec<bool>> =
        digits.iter().map(|tree| tree.iter().map(|(_, _, equal)| *equal).collect()).collect();
    while trees.iter().any(|tree| tree.len() > 1) {
        let joins = trees.iter().flat_map(|tree| tree.chunks_exact(2));
        let runs: Vec<OtRun> = joins.map(|two| OtRun { count: rows, width: 1 + u32::from(two[0]) }).collect();
        all = all.then(and(&runs));
        trees.iter_mut().for_each(|tree| *tree = tree.chunks(2).map(|two| two[0]).collect());
    }
    all
}

/// The cost of the highest bits of numbers.
pub(crate) fn signs(rows: usize, ring: u32) -> Tally {
    compare(rows, &[ComparePart::order(ring - 1)])
}

pub(crate) fn less(rows: usize, ring: u32) -> Tally {
    signs(3 * rows, ring).then(and(&[OtRun { count: rows, width: 1 }]))
}

pub(crate) fn equal(rows: usize, ring: u32) -> Tally {
    compare(rows, &[ComparePart { from: 0, bits: ring, equal: true }])
}

pub(crate) fn times_bit(rows: usize, ring: u32) -> Tally {
    let run = [OtRun { count: rows, width: ring }];
    products([&run, &run], 1)
}

fn bits_by_bits(rows: usize, widths: impl Iterator<Item = u32>) -> Tally {
    let widths: Vec<u32> = widths.filter(|w| *w > 0).collect();
    let runs = turns(rows)
        .map(|count| widths.iter().map(|width| OtRun { count, width: *width }).collect::<Vec<_>>());
    products([&runs[0], &runs[1]], 1)
}

pub(crate) fn to_words(rows: usize, bits: usize, ring: u32) -> Tally {
    bits_by_bits(rows, (0..ring.min(bits as u32)).map(|i| ring - 1 - i))
}

pub(crate) fn truncate(rows: usize, ring: u32, by: u32, sign: Sign) -> Tally {
    if by == 0 {
        return Tally::default();
    }
    let last = bits_by_bits(rows, [ring - 1, wrap_width(by, sign)].into_iter());
    if sign.is_known() {
        return compare(rows, &[ComparePart::order(by)]).then(last);
    }
    let parts = [ComparePart::order(by), ComparePart { from: by, bits: ring - by, equal: true }];
    compare(rows, &parts).then(and(&[OtRun { count: rows, width: 1 }])).then(last)
}

/// The cost of numbers without lower bits, with negative ones replaced by 0.
pub(crate) fn rectify(rows: usize, ring: u32, by: u32) -> Tally {
    let parts = [ComparePart::order(by), ComparePart { from: by, bits: ring - 1 - by, equal: true }];
    let sign = compare(rows, &parts).then(and(&[OtRun { count: rows, width: 1 }]));
    let run = |count, width| OtRun { count, width };
    let carry = turns(rows).map(|count| Vec::from_iter((ring > by + 1).then(|| run(count, ring - by - 1))));
    let (carry, keep) = ([&carry[0][..], &carry[1]], [run(rows, ring - by)]);
    let choices = ots(carry).map(|count| count + rows);
    sign.then(Tally::choices(choices)).then(payload(carry, 1)).then(payload([&keep, &keep], 1))
}

/// The cost of moving nonnegative numbers to a larger ring.
pub(crate) fn extend(rows: usize, ring: u32, to: u32) -> Tally {
    bits_by_bits(rows, [to - ring].into_iter())
}

/// The cost of widening signed numbers by one bit.
pub(crate) fn widen(rows: usize, ring: u32) -> Tally {
    compare(rows, &[ComparePart::order(ring)])
}

/// The cost of a truncation without the carry out of the lowest bits.
pub(crate) fn truncate_below(rows: usize, by: u32, sign: Sign) -> Tally {
    if by == 0 { Tally::default() } else { bits_by_bits(rows, [wrap_width(by, sign)].into_iter()) }
}

pub(crate) fn matmul(shape: MatrixShape, holders: [Holders; 2], ring: u32) -> Tally {
    let [rows, inner, columns] = shape;
    let [a, b] = holders;
    if columns > rows {
        return crossed(inner * rows, columns, [b, a], ring);
    }
    crossed(inner * columns, rows, [a, b], ring)
}

/// The cost of rows of `each` numbers times one factor for each row.
pub(crate) fn multiply(rows: usize, each: usize, holders: [Holders; 2], ring: u32) -> Tally {
    crossed(rows, each, holders, ring)
}

/// The cost of the bits of `entries` numbers as choices.
fn crossed(entries: usize, each: usize, [a, b]: [Holders; 2], ring: u32) -> Tally {
    let runs = [0, 1].map(|sender: usize| {
        let run = |i| OtRun { count: entries, width: ring - i };
        if a[sender] && b[1 - sender] { (0..ring).map(run).collect() } else { vec![] }
    });
    products([&runs[0], &runs[1]], each)
}

/// The cost of a circuit on `rows` rows.
pub(crate) fn circuit(program: &Program, rows: usize) -> Tally {
    if rows == 0 || program.ands() == 0 {
        return Tally::default();
    }
    let nobody =
        TwoParty::new(program, vec![0; program.inputs().len()], vec![[false; 2]; program.outputs().len()]);
    // The cost has no digest, because the plan's digest covers the circuit.
    let cost = circuit_cost(program, &nobody, 0, rows);
    Tally {
        rounds: cost.rounds - 1,
        bytes: [cost.bytes_sent - blake3::OUT_LEN as u64; 2],
        triples: triples(program, rows),
        ..Tally::default()
    }
}
