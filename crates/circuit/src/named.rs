//! Circuits by name, as in `hushwire circuit make` and job files: `aes128`, `add:32`, `sort:16x32`.

use crate::aes::{self, KeySize, Sbox};
use crate::phasing::{self, PhasingTables};
use crate::sha::{self, Adder};
use crate::sort::{Compare, SortShape};
use crate::{Bit, Builder, Circuit, Program, psi, shuffle, sort, words};
use std::fmt;

/// A family of circuits: a name, and the meaning of its numbers.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name, without numbers.
    pub name: &'static str,
    /// The form of its numbers: "", ":N", ":NxW" or ":NxMxWxS".
    pub numbers: &'static str,
    /// Inputs → outputs, and the function.
    pub does: &'static str,
    make: FamilyMaker,
}

#[derive(Clone, Copy, Debug)]
enum FamilyMaker {
    /// A circuit whose name has no numbers.
    Fixed(fn(&mut Builder) -> Vec<Vec<Bit>>),
    /// A width up to a largest one.
    Width(usize, fn(&mut Builder, usize) -> Vec<Vec<Bit>>),
    /// A number of values and their width; made in stages.
    Staged(fn(&str, usize, usize) -> Program),
    /// The hash tables of two sets.
    Tables(fn(&str, &PhasingTables) -> Program),
}

/// The circuit or program that a name denotes.
#[derive(Clone)]
pub enum Named {
    /// A list of gates.
    Circuit(Circuit),
    /// Stages of blocks: repetitive work that may be large.
    Program(Program),
}

/// The reason why a name denotes no circuit. Its text is [`cause`](Self::cause), then
/// [`remedy`](Self::remedy).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// No family has this name.
    Unknown {
        /// The name that was asked for.
        name: String,
        /// Similar names, or all of them.
        hint: String,
    },
    /// The family exists, but its numbers do not fit.
    Numbers {
        /// The name that was asked for.
        name: String,
        /// The number that does not fit, and its range.
        problem: String,
        /// A valid name of the family.
        example: String,
    },
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause(), self.remedy())
    }
}

impl NameError {
    /// The cause, as one clause.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Self::Unknown { name, .. } => format!("there is no circuit called '{name}'"),
            Self::Numbers { name, problem, .. } => format!("'{name}': {problem}"),
        }
    }

    /// The remedy, as one clause.
    #[must_use]
    pub fn remedy(&self) -> String {
        match self {
            Self::Unknown { hint, .. } => hint.clone(),
            Self::Numbers { example, .. } => format!("write it as in {example}"),
        }
    }
}

/// The families, in the order of lists.
pub const FAMILIES: &[Family] = &[
    fixed("aes128", "key 128, plaintext 128 → 128 bits; 32 ANDs an S-box", |b| {
        aes(b, KeySize::Aes128, Sbox::Small)
    }),
    fixed(
        "aes128-depth4",
        "key 128, plaintext 128 → 128 bits; 34 ANDs an S-box, AND-depth 4 a round",
        |b| aes(b, KeySize::Aes128, Sbox::Shallow),
    ),
    fixed("aes128-expanded-key", "round keys 1408, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes128, Sbox::Small)
    }),
    fixed("aes128-expanded-key-depth4", "round keys 1408, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes128, Sbox::Shallow)
    }),
    fixed("aes192", "key 192, plaintext 128 → 128 bits; 32 ANDs an S-box", |b| {
        aes(b, KeySize::Aes192, Sbox::Small)
    }),
    fixed(
        "aes192-depth4",
        "key 192, plaintext 128 → 128 bits; 34 ANDs an S-box, AND-depth 4 a round",
        |b| aes(b, KeySize::Aes192, Sbox::Shallow),
    ),
    fixed("aes192-expanded-key", "round keys 1664, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes192, Sbox::Small)
    }),
    fixed("aes192-expanded-key-depth4", "round keys 1664, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes192, Sbox::Shallow)
    }),
    fixed("aes256", "key 256, plaintext 128 → 128 bits; 32 ANDs an S-box", |b| {
        aes(b, KeySize::Aes256, Sbox::Small)
    }),
    fixed(
        "aes256-depth4",
        "key 256, plaintext 128 → 128 bits; 34 ANDs an S-box, AND-depth 4 a round",
        |b| aes(b, KeySize::Aes256, Sbox::Shallow),
    ),
    fixed("aes256-expanded-key", "round keys 1920, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes256, Sbox::Small)
    }),
    fixed("aes256-expanded-key-depth4", "round keys 1920, plaintext 128 → 128 bits", |b| {
        expanded(b, KeySize::Aes256, Sbox::Shallow)
    }),
    fixed("sha1", "block 512, chaining value 160 → 160 bits", |b| {
        let (block, chaining) = (b.input(512), b.input(160));
        vec![sha::sha1(b, &block, &chaining)]
    }),
    fixed("sha1-block", "block 512 → 160 bits, from the standard's first chaining value", |b| {
        let block = b.input(512);
        vec![sha::sha1(b, &block, &sha::constant(&sha::SHA1_START))]
    }),
    fixed("sha256", "block 512, chaining value 256 → 256 bits", |b| {
        let (block, chaining) = (b.input(512), b.input(256));
        vec![sha::sha256(b, Adder::Small, &block, &chaining)]
    }),
    fixed("sha256-fast", "as sha256, with fewer layers and more ANDs", |b| {
        let (block, chaining) = (b.input(512), b.input(256));
        vec![sha::sha256(b, Adder::Fast, &block, &chaining)]
    }),
    fixed("sha256-block", "block 512 → 256 bits, from the standard's first chaining value", |b| {
        let block = b.input(512);
        vec![sha::sha256(b, Adder::Small, &block, &sha::constant(&sha::SHA256_START))]
    }),
    width("add", "N + N → N+1 bits, the sum in full", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        let (mut sum, carry) = words::add(b, &x, &y, Bit::ZERO);
        sum.push(carry);
        vec![sum]
    }),
    width("add-fast", "as add, with AND-depth 1 + log N", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        let (mut sum, carry) = words::add_fast(b, &x, &y);
        sum.push(carry);
        vec![sum]
    }),
    width("add-mod", "N + N → N bits, the sum modulo 2^N", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![words::add_mod(b, &x, &y)]
    }),
    width("sub", "N − N → N+1 bits, two's complement", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        let (mut difference, borrow) = words::sub(b, &x, &y);
        difference.push(borrow);
        vec![difference]
    }),
    width("mul", "N · N → 2N bits, the product in full", MAX_FACTOR, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![words::mul(b, &x, &y, 2 * n)]
    }),
    width("mul-mod", "N · N → N bits, the product modulo 2^N", MAX_FACTOR, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![words::mul(b, &x, &y, n)]
    }),
    width("less", "N, N → 1 bit: input 0 < input 1, unsigned", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![vec![words::less(b, &x, &y)]]
    }),
    width("less-fast", "as less, with AND-depth 1 + log N", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![vec![words::less_fast(b, &x, &y)]]
    }),
    width("less-signed", "as less, in two's complement", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![vec![words::less_signed(b, &x, &y)]]
    }),
    width("equal", "N, N → 1 bit", MAX_WIDTH, |b, n| {
        let (x, y) = (b.input(n), b.input(n));
        vec![vec![words::equal(b, &x, &y)]]
    }),
    width("mux", "1, N, N → N bits: input 1 where input 0 is 1, else input 2", MAX_WIDTH, |b, n| {
        let (choose, x, y) = (b.input(1), b.input(n), b.input(n));
        vec![words::mux(b, choose[0], &x, &y)]
    }),
    staged("sort", "N values of W bits → the same, ascending; value 0 lowest", |name, n, width| {
        sort::sort(name, n, shape(width, Compare::Small))
    }),
    staged("sort-fast", "as sort, with fewer layers and more ANDs", |name, n, width| {
        sort::sort(name, n, shape(width, Compare::Fast))
    }),
    staged("merge", "two ascending inputs of N values of W bits → one", |name, n, width| {
        sort::merge(name, n, n, shape(width, Compare::Small))
    }),
    staged("merge-fast", "as merge, with fewer layers and more ANDs", |name, n, width| {
        sort::merge(name, n, n, shape(width, Compare::Fast))
    }),
    staged("shuffle", "N values of W bits, control bits → the values, permuted", shuffle::shuffle),
    staged(
        "psi-scs",
        "two ascending sets of N values of W bits, none 0, control bits → N values, 0 or in both",
        |name, n, width| psi::intersect(name, n, n, shape(width, Compare::Small)),
    ),
    staged("psi-scs-fast", "as psi-scs, with fewer layers and more ANDs", |name, n, width| {
        psi::intersect(name, n, n, shape(width, Compare::Fast))
    }),
    staged(
        "psi-scs-size",
        "two ascending sets of N values of W bits → how many are in both",
        |name, n, width| psi::size(name, n, n, shape(width, Compare::Small)),
    ),
    tables(
        "psi-phasing",
        "N values in a cuckoo table and a stash of S, M values of W bits in a simple one → flags",
        phasing::flags,
    ),
    tables("psi-phasing-size", "as psi-phasing → how many flags are 1", phasing::size),
    tables("psi-phasing-items", "as psi-phasing, values and control bits → the values found", phasing::items),
];

/// The largest width; a larger one in a name is probably a mistake.
const MAX_WIDTH: usize = 1 << 16;
/// The largest number of bits of all values together: 256 Ki values of 64 bits.
const MAX_BITS: usize = 1 << 24;
/// The largest stash, more than any set's cuckoo table needs.
const MAX_STASH: usize = 64;
/// The largest width of a factor; such a product has two million ANDs.
const MAX_FACTOR: usize = 1 << 10;

fn aes(b: &mut Builder, size: KeySize, sbox: Sbox) -> Vec<Vec<Bit>> {
    let (key, plaintext) = (b.input(size.bits()), b.input(128));
    vec![aes::encrypt(b, size, sbox, &key, &plaintext)]
}

fn expanded(b: &mut Builder, size: KeySize, sbox: Sbox) -> Vec<Vec<Bit>> {
    let (round_keys, plaintext) = (b.input(128 * (size.rounds() + 1)), b.input(128));
    vec![aes::encrypt_expanded(b, size, sbox, &round_keys, &plaintext)]
}

const fn fixed(name: &'static str, does: &'static str, make: fn(&mut Builder) -> Vec<Vec<Bit>>) -> Family {
    Family { name, numbers: "", does, make: FamilyMaker::Fixed(make) }
}

const fn staged(name: &'static str, does: &'static str, make: fn(&str, usize, usize) -> Program) -> Family {
    Family { name, numbers: ":NxW", does, make: FamilyMaker::Staged(make) }
}

const fn tables(name: &'static str, does: &'static str, make: fn(&str, &PhasingTables) -> Program) -> Family {
    Family { name, numbers: ":NxMxWxS", does, make: FamilyMaker::Tables(make) }
}

const fn shape(width: usize, compare: Compare) -> SortShape {
    SortShape { width, key: width, compare }
}

const fn width(
    name: &'static str,
    does: &'static str,
    max: usize,
    make: fn(&mut Builder, usize) -> Vec<Vec<Bit>>,
) -> Family {
    Family { name, numbers: ":N", does, make: FamilyMaker::Width(max, make) }
}

/// Makes the circuit or program that `name` denotes.
///
/// # Errors
/// [`NameError::Unknown`] if no family has the name, [`NameError::Numbers`] if its numbers do not
/// fit.
pub fn find(name: &str) -> Result<Named, NameError> {
    let (family, numbers) = split(name)?;
    let mut b = Builder::new();
    let outputs = match family.make {
        FamilyMaker::Fixed(make) if numbers.is_none() => make(&mut b),
        FamilyMaker::Fixed(_) => return Err(problem(family, name, "it takes no numbers".into())),
        FamilyMaker::Width(max, make) => {
            let [width] = parse(family, name, numbers)?;
            check(family, name, "N", width, max)?;
            make(&mut b, width)
        }
        FamilyMaker::Staged(make) => {
            let [n, width] = parse(family, name, numbers)?;
            check(family, name, "W", width, MAX_WIDTH)?;
            check(family, name, "N", n, MAX_BITS / width)?;
            return Ok(Named::Program(make(name, n, width)));
        }
        FamilyMaker::Tables(make) => {
            let [n, m, width, stash] = parse(family, name, numbers)?;
            check(family, name, "W", width, MAX_WIDTH)?;
            // A table has more bits than its set: up to thirty times as many for small sets.
            check(family, name, "N", n, MAX_BITS / width)?;
            check(family, name, "M", m, MAX_BITS / width)?;
            if stash > MAX_STASH {
                return Err(problem(family, name, format!("S is {stash} and may be 0 to {MAX_STASH}")));
            }
            if n.ilog2() as usize + 2 > width {
                let found = format!("{n} values of {width} bits leave nothing to compare in a bin");
                return Err(problem(family, name, found));
            }
            return Ok(Named::Program(make(name, &PhasingTables::new(n, m, width, stash))));
        }
    };
    Ok(Named::Circuit(b.finish(&outputs)))
}

/// Makes the circuit that `name` denotes, all of it in memory.
///
/// # Errors
/// The same as for [`find`]; a program in stages may also be too large.
pub fn make(name: &str) -> Result<Circuit, NameError> {
    match find(name)? {
        Named::Circuit(circuit) => Ok(circuit),
        Named::Program(program) => {
            let (family, _) = split(name)?;
            program.to_circuit().map_err(|e| problem(family, name, e.to_string()))
        }
    }
}

/// Makes the program that `name` denotes: in stages if it is repetitive, otherwise as one block.
///
/// # Errors
/// The same as for [`find`].
pub fn program(name: &str) -> Result<Program, NameError> {
    Ok(match find(name)? {
        Named::Circuit(circuit) => Program::flat(name, &circuit),
        Named::Program(program) => program,
    })
}

fn split(name: &str) -> Result<(&'static Family, Option<&str>), NameError> {
    let (base, numbers) = name.split_once(':').map_or((name, None), |(a, b)| (a, Some(b)));
    match FAMILIES.iter().find(|f| f.name == base) {
        Some(family) => Ok((family, numbers)),
        None => Err(NameError::Unknown { name: name.to_owned(), hint: hint(base) }),
    }
}

/// The numbers of a name; the family takes `K`.
fn parse<const K: usize>(
    family: &Family,
    name: &str,
    numbers: Option<&str>,
) -> Result<[usize; K], NameError> {
    let parts: Option<Vec<usize>> = numbers.unwrap_or("").split('x').map(|n| n.parse().ok()).collect();
    let fits = parts.and_then(|p| p.try_into().ok());
    fits.ok_or_else(|| problem(family, name, format!("its numbers are {}", &family.numbers[1..])))
}

fn check(family: &Family, name: &str, what: &str, found: usize, max: usize) -> Result<(), NameError> {
    if (1..=max).contains(&found) {
        return Ok(());
    }
    Err(problem(family, name, format!("{what} is {found} and may be 1 to {max}")))
}

fn problem(family: &Family, name: &str, problem: String) -> NameError {
    let numbers = [("N", "16"), ("M", "16"), ("W", "32"), ("S", "1")];
    let numbers = numbers.iter().fold(family.numbers.to_owned(), |text, (letter, n)| text.replace(letter, n));
    let example = format!("{}{}", family.name, numbers);
    NameError::Numbers { name: name.to_owned(), problem, example }
}

/// The families with the most similar names, or all families.
fn hint(name: &str) -> String {
    let near: Vec<&str> = FAMILIES
        .iter()
        .map(|f| f.name)
        .filter(|f| distance(name, f) <= 2 || (name.len() > 2 && f.starts_with(name)))
        .collect();
    if near.is_empty() {
        let all: Vec<String> = FAMILIES.iter().map(|f| format!("{}{}", f.name, f.numbers)).collect();
        return format!("choose one of {}", all.join(", "));
    }
    format!("did you mean {}?", near.join(" or "))
}

/// Levenshtein's distance: letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
