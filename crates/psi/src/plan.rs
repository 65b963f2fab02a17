//! The terms that both parties agree on, and the plan that follows from the sizes of their sets.

use crate::{Most, PsiError, salt::value_width};
use core::{fmt, str::FromStr};
use hushwire_circuit::phasing::{self, PhasingTables};
use hushwire_circuit::sort::{Compare, SortShape};
use hushwire_circuit::{Program, TwoParty, psi, shuffle};
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use std::{collections::HashMap, ops::Range};

/// The side of a party. B garbles: its tables are larger, and a garbler's inputs need no OTs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PsiSide {
    /// The side that learns flags, if they are revealed.
    A,
    /// The other side, which garbles.
    B,
}

/// The parties' numbers in a protocol.
const A: usize = 1;
const B: usize = 0;

impl PsiSide {
    /// This side's party number in a protocol.
    pub(crate) const fn number(self) -> usize {
        match self {
            PsiSide::A => A,
            PsiSide::B => B,
        }
    }
}

/// The result, and the parties that learn it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reveal {
    /// Both parties learn the number of keys in both sets.
    Size,
    /// Both parties learn which keys are in both sets.
    Items,
    /// A learns which of its keys are in both sets; B learns nothing.
    Flags,
}

/// The method of comparing sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Method {
    /// Sort, compare, shuffle: [`hushwire_circuit::psi`].
    Scs,
    /// Hash tables: [`hushwire_circuit::phasing`].
    Phasing,
}

/// The protocol that computes the circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitProtocol {
    /// Garbled circuits, by Yao's protocol.
    Yao,
    /// Shares of bits, by GMW.
    Gmw,
}

/// The terms that both parties agree on before they meet. AGREEMENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PsiTerms {
    /// The result that is revealed.
    pub reveal: Reveal,
    /// The method of comparing sets; `None` for the one with fewer ANDs.
    pub circuit: Option<Method>,
    /// The protocol that computes the circuits.
    pub protocol: CircuitProtocol,
    /// The scheme of the garbled gates, with Yao's protocol.
    pub scheme: Scheme,
    /// The extension that makes the oblivious transfers.
    pub ot: Extension,
    /// The limits on the keys of A and of B.
    pub most: Most,
}

impl PsiTerms {
    /// Terms with this result, and default values otherwise.
    #[must_use]
    pub fn new(reveal: Reveal) -> PsiTerms {
        let (scheme, ot) = (Scheme::default(), Extension::SoftSpoken4);
        PsiTerms { reveal, circuit: None, protocol: CircuitProtocol::Yao, scheme, ot, most: Most::default() }
    }

    pub(crate) fn digest(&self) -> [u8; 32] {
        let circuit = self.circuit.map_or("", Method::name);
        let mut hash = blake3::Hasher::new_derive_key("hushwire psi terms v2");
        for name in [self.reveal.name(), circuit, self.protocol.name(), self.scheme.name(), self.ot.name()] {
            hash.update(&(name.len() as u64).to_le_bytes()).update(name.as_bytes());
        }
        for most in self.most.0 {
            hash.update(&[u8::from(most.is_some())]).update(&most.unwrap_or_default().to_le_bytes());
        }
        *hash.finalize().as_bytes()
    }
}

macro_rules! names {
    ($type:ident, $($variant:ident $name:literal),+) => {
        impl $type {
            /// The name in options and job files.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }
        impl FromStr for $type {
            type Err = String;
            fn from_str(name: &str) -> Result<Self, String> {
                let all = [$($type::$variant),+];
                let names = || all.map($type::name).join(", ");
                all.into_iter().find(|v| v.name() == name).ok_or_else(|| format!("{name:?} is none of {}", names()))
            }
        }
    };
}
names!(PsiSide, A "a", B "b");
names!(Reveal, Size "size", Items "items", Flags "flags");
names!(Method, Scs "scs", Phasing "phasing");
names!(CircuitProtocol, Yao "yao", Gmw "gmw");

/// LOCAL: the largest number of keys of a set.
pub(crate) const MOST_KEYS: usize = 1 << 22;
/// AGREEMENT: the largest number of bit registers of a run: 512 MiB of labels.
const MOST_REGISTERS: usize = 1 << 25;
/// AGREEMENT: the number of bit registers of a piece of tables, if its size can be chosen: 8 MiB of
/// labels.
const PIECE: usize = 1 << 19;
/// AGREEMENT: the number of bits of the size of an intersection.
pub(crate) const SIZE_BITS: usize = 32;
/// AGREEMENT: up to this many values of A are compared with all of B's.
const ALL_IN_STASH: usize = 16;

/// The number of places of the stash in addition to ⌈1.2 n⌉ bins. A set that does not fit needs
/// another salt.
///
/// This was measured in 10^5 to 10^6 trials (without a stash): 2^−5 of all sets of 16 to 32 values
/// do not fit, 2^−6.5 of 64, 2^−9.6 of 128, 2^−15 of 256, and none of 512 or more. Every place of
/// the stash makes this rarer by a factor of 3 to 8. For at least 1024 values, the most frequent
/// failure without a stash is two values with the same bin under all functions, 0.2 n^−3.
pub(crate) fn stash_of(ours: usize) -> usize {
    match ours {
        0..=ALL_IN_STASH => ours,
        17..=512 => 12,
        513..1024 => 4,
        _ => 1,
    }
}

/// The tables of sets of these sizes.
pub(crate) fn tables_of([a, b]: [usize; 2], width: usize) -> PhasingTables {
    if a <= ALL_IN_STASH {
        return PhasingTables { width, item: 2, bins: 0, bin: 0, stash: stash_of(a), theirs: b };
    }
    PhasingTables::new(a, b, width, stash_of(a))
}

/// The plan that follows from terms and sizes, the same for both parties.
pub(crate) struct TablePlan {
    /// The numbers of different keys of A and of B.
    pub(crate) sizes: [usize; 2],
    /// The width of a value, in bits.
    pub(crate) width: usize,
    pub(crate) method: Method,
    pub(crate) tables: PhasingTables,
    pub(crate) ands: u64,
}

/// A part of a comparison of tables that runs as one circuit.
pub(crate) enum TablePiece {
    /// These bins.
    Bins(Range<usize>),
    /// The stash with these of B's values.
    Stash(Range<usize>),
}

impl TablePlan {
    pub(crate) fn new(terms: &PsiTerms, sizes: [usize; 2]) -> Result<TablePlan, PsiError> {
        let [a, b] = sizes;
        let width = value_width(sizes);
        let tables = tables_of(sizes, width);
        let registers = (a + b) * width + psi::kept(a, b) * width + shuffle::switches(psi::kept(a, b));
        let fits = registers <= MOST_REGISTERS;
        // Programs are made when they run; a program that is too large is not made at all.
        let sorted = if fits { scs(terms, sizes, width).0.ands() } else { u64::MAX };
        let method =
            terms.circuit.unwrap_or(if sorted < tables.ands() { Method::Scs } else { Method::Phasing });
        if method == Method::Scs && !fits {
            return Err(PsiError::TooLarge {
                whose: "the parties have".into(),
                count: (a + b) as u64,
                what: "the circuit scs",
                most: (MOST_REGISTERS / (2 * width)) as u64,
                remedy: "take the circuit phasing, which runs in pieces",
            });
        }
        // A bin is not split. The few bins of a small set may hold very many values of a large one.
        if method == Method::Phasing && tables.bins > 0 && tables.item * (tables.bin + 1) > MOST_REGISTERS {
            return Err(PsiError::TooLarge {
                whose: "party B has".into(),
                count: b as u64,
                what: "a bin of the circuit phasing",
                most: (MOST_REGISTERS / tables.item) as u64,
                remedy: "let the party with more keys be A, or split its set",
            });
        }
        let mut plan = TablePlan { sizes, width, method, tables, ands: 0 };
        plan.ands = match method {
            _ if a == 0 || b == 0 => 0,
            Method::Scs => sorted,
            Method::Phasing => plan.piecewise(terms),
        };
        Ok(plan)
    }

    /// The number of ANDs of all pieces; pieces of one size have equally many.
    fn piecewise(&self, terms: &PsiTerms) -> u64 {
        let mut known = HashMap::new();
        let mut ands = |piece: &TablePiece| {
            let size = match piece {
                TablePiece::Bins(bins) => (0, bins.len()),
                TablePiece::Stash(values) => (1, values.len()),
            };
            *known.entry(size).or_insert_with(|| self.piece(terms, piece).0.ands())
        };
        self.pieces().iter().map(&mut ands).sum()
    }

    /// The program of the method of sorted sets.
    pub(crate) fn scs(&self, terms: &PsiTerms) -> (Program, TwoParty) {
        scs(terms, self.sizes, self.width)
    }

    /// The pieces in which the tables are compared, in order.
    pub(crate) fn pieces(&self) -> Vec<TablePiece> {
        let PhasingTables { width, item, bins, bin, stash, theirs, .. } = self.tables;
        let cut = |n: usize, registers: usize| {
            let most = (PIECE / registers.max(1)).max(1);
            let count = n.div_ceil(most);
            (0..count).map(move |k| k * n / count..(k + 1) * n / count)
        };
        let bins = cut(bins, item * (bin + 1)).map(TablePiece::Bins);
        let values = cut(if stash == 0 { 0 } else { theirs }, width).map(TablePiece::Stash);
        bins.chain(values).collect()
    }

    /// The program of a piece.
    pub(crate) fn piece(&self, terms: &PsiTerms, piece: &TablePiece) -> (Program, TwoParty) {
        let tables = match piece {
            TablePiece::Bins(bins) => PhasingTables { bins: bins.len(), stash: 0, theirs: 0, ..self.tables },
            TablePiece::Stash(values) => PhasingTables { bins: 0, theirs: values.len(), ..self.tables },
        };
        let (program, owners) = match terms.reveal {
            Reveal::Size => (phasing::shared_size("psi-phasing", &tables, SIZE_BITS), vec![A, A, B, B, B]),
            Reveal::Items | Reveal::Flags => (phasing::flags("psi-phasing", &tables), vec![A, A, B, B]),
        };
        let roles = TwoParty::new(&program, owners, vec![[false, true]]);
        (program, roles)
    }
}

/// The program of sorted sets. A learns values that are shuffled under B's control bits, so no
/// party learns where they were.
fn scs(terms: &PsiTerms, [a, b]: [usize; 2], width: usize) -> (Program, TwoParty) {
    // The cost of Yao's protocol is in ANDs, that of GMW in layers.
    let compare = if terms.protocol == CircuitProtocol::Yao { Compare::Small } else { Compare::Fast };
    let shape = SortShape { width, key: width, compare };
    let (program, owners, learns) = match terms.reveal {
        Reveal::Size => (psi::size("psi-scs", a, b, shape), vec![A, B], [true; 2]),
        Reveal::Items | Reveal::Flags => {
            (psi::intersect("psi-scs", a, b, shape), vec![A, B, B], [false, true])
        }
    };
    let roles = TwoParty::new(&program, owners, vec![learns]);
    (program, roles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_other_term_is_another_digest() {
        let ours = PsiTerms::new(Reveal::Size);
        for theirs in [
            PsiTerms { reveal: Reveal::Items, ..ours },
            PsiTerms { circuit: Some(Method::Scs), ..ours },
            PsiTerms { protocol: CircuitProtocol::Gmw, ..ours },
            PsiTerms { scheme: Scheme::Prp, ..ours },
            PsiTerms { ot: Extension::Iknp, ..ours },
        ] {
            assert_ne!(ours.digest(), theirs.digest(), "{theirs:?}");
        }
    }

    /// Side B learns nothing from any circuit except a size from `scs`. From tables, A learns a
    /// masked number.
    #[test]
    fn circuits_reveal_to_whom_it_was_agreed() {
        for reveal in [Reveal::Size, Reveal::Items, Reveal::Flags] {
            for protocol in [CircuitProtocol::Yao, CircuitProtocol::Gmw] {
                let terms = PsiTerms { protocol, circuit: Some(Method::Scs), ..PsiTerms::new(reveal) };
                let plan = TablePlan::new(&terms, [20, 30]).expect("it is small");
                let (program, roles) = plan.scs(&terms);
                let width = if reveal == Reveal::Size { 5 } else { psi::kept(20, 30) * plan.width };
                assert_eq!(roles.learns, [[reveal == Reveal::Size, true]], "{terms:?}");
                assert_eq!(program.outputs(), [width], "{terms:?}");

                let terms = PsiTerms { circuit: Some(Method::Phasing), ..terms };
                let plan = TablePlan::new(&terms, [20, 30]).expect("it is small");
                for piece in plan.pieces() {
                    let (program, roles) = plan.piece(&terms, &piece);
                    assert_eq!(roles.learns, [[false, true]], "{terms:?}");
                    let mask = roles.owners.get(4).map(|owner| (*owner, program.inputs()[4]));
                    assert_eq!(mask, (reveal == Reveal::Size).then_some((B, SIZE_BITS)), "{terms:?}");
                }
            }
        }
    }
}
