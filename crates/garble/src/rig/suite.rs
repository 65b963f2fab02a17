//! The tests of every scheme of any family; [`crate::rig::suite_of`] instantiates them.
//!
//! Outputs are compared with the plain evaluator's. Tables and permute bits are compared over tiers
//! and widths, and with the scheme's formulas ([`same_as_plain_formulas`]).

use super::circuits::{of_gates, wide};
use super::{Rig, RigRun, plain};
use crate::{Family, Format, Garble, GateBackend, Scheme};
use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Gate, Program, bristol, eval, named};
use hushwire_testkit::Trace;
use proptest::prelude::*;
use std::collections::HashSet;

/// The widths of batches; the last one is odd on purpose.
const WIDTHS: [usize; 7] = [1, 2, 4, 8, 16, 32, 37];

pub(crate) fn named_program(name: &str) -> Program {
    named::program(name).expect("a circuit of ours")
}

/// Runs on random inputs, and compares the outputs with those of plain evaluation.
fn check<F: Family>(rig: &Rig<F>, program: &Program, instances: usize) -> RigRun {
    let inputs = rig.random_inputs(program, instances);
    let run = rig.run_through(program, instances, &inputs, |t| t).expect("whole tables");
    assert!(run.outputs == plain(program, instances, &inputs), "{rig:?}: {} × {instances}", program.name());
    run
}

/// Our circuits with every backend, while the other endpoint uses the next backend and another
/// width of batches.
pub(crate) fn named_circuits<F: Family>(scheme: Scheme) {
    let all = Backend::all();
    let best = ["aes192", "aes256", "sha1", "sha256", "mul:16", "sha256-fast", "aes128-expanded-key-depth4"];
    let each = ["aes128", "add:33", "less:32", "equal:17", "mux:9", "sub:8", "less-signed:12"];
    for (k, backend) in all.iter().enumerate() {
        let mut rig = Rig::<F>::new(*backend, scheme, 1);
        rig.backends[1] = all[(k + 1) % all.len()];
        rig.widths = [WIDTHS[k % 7], WIDTHS[(k + 3) % 7]];
        for (i, name) in each.iter().enumerate() {
            check(&rig, &named_program(name), 1 + (i + k) % 5);
        }
    }
    let rig = Rig::<F>::new(Backend::best(), scheme, 2);
    best.iter().for_each(|name| drop(check(&rig, &named_program(name), 1)));
}

/// Stages of many copies, in several strips, on several instances.
pub(crate) fn programs<F: Family>(scheme: Scheme) {
    for backend in [Backend::best(), Backend::best().unbatched()] {
        let rig = Rig::<F>::new(backend, scheme, 3);
        for (name, instances) in
            [("sort:16x8", 1), ("sort:5x3", 40), ("psi-scs:4x5", 3), ("shuffle:7x4", 2), ("less:4", 131)]
        {
            check(&rig, &named_program(name), instances);
        }
    }
}

/// Tables and permute bits are the same bytes for every width and tier, at both endpoints.
pub(crate) fn width_and_tier_change_no_byte<F: Family>(scheme: Scheme) {
    let few = [("less:32", named_program("less:32"), 5), ("sort:6x5", named_program("sort:6x5"), 3)];
    let pieces =
        [("wide", Program::flat("wide", &wide(200, 1500)), 1), ("add:8", named_program("add:8"), 150)];
    for (programs, widths) in [(&few, &WIDTHS[..]), (&pieces, &[16, 37, usize::MAX][..])] {
        for (name, program, instances) in programs {
            let first = Rig::<F>::new(Backend::best(), scheme, 4);
            let whole = check(&first, program, *instances);
            for backend in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
                for (k, width) in widths.iter().enumerate() {
                    let mut rig = Rig::<F>::new(backend, scheme, 4);
                    rig.backends[1] = if k % 2 == 0 { backend } else { Backend::best() };
                    rig.widths = [*width, widths[widths.len() - 1 - k]];
                    let run = check(&rig, program, *instances);
                    assert!(run.tables == whole.tables, "{rig:?}: tables of {name}");
                    assert!(run.permute_bits == whole.permute_bits, "{rig:?}: permute bits of {name}");
                }
            }
        }
    }
}

/// Circuits of all kinds of gates: equal operands, constants, chains of NOT and copies, unused
/// wires, outputs that are inputs.
pub(crate) fn random_circuits<F: Family>(scheme: Scheme) {
    let gates = proptest::collection::vec((0..7u8, 0..1usize << 20, 0..1usize << 20), 0..80);
    let inputs = proptest::collection::vec(0..7usize, 1..4);
    let all = (inputs, gates, 0..12usize, 1..6usize, 0..WIDTHS.len(), any::<u8>());
    let mut runner = proptest::test_runner::TestRunner::new_with_rng(
        ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let backends = Backend::all();
    let result = runner.run(&all, |(inputs, gates, outputs, instances, width, seed)| {
        let circuit = of_gates(inputs, &gates, outputs);
        let mut rig = Rig::<F>::new(backends[seed as usize % backends.len()], scheme, seed);
        rig.backends[1] = backends[seed as usize / 16 % backends.len()];
        rig.widths = [WIDTHS[width], WIDTHS[6 - width]];
        check(&rig, &Program::flat("random", &circuit), instances);
        Ok(())
    });
    result.unwrap_or_else(|e| panic!("{e}"));
    // These gates are written by hand, so that no case depends on chance.
    let w = |a, b, out| {
        [Gate::And { a, b, out }, Gate::Xor { a, b, out: out + 1 }, Gate::Inv { a, out: out + 2 }]
    };
    let gates = [
        Gate::Const { value: true, out: 2 },
        Gate::Copy { a: 0, out: 3 },
        Gate::Const { value: false, out: 4 },
    ];
    let gates =
        gates.into_iter().chain([w(0, 0, 5), w(2, 1, 8), w(4, 1, 11), w(3, 0, 14), w(2, 4, 17)].concat());
    let circuit =
        hushwire_circuit::Circuit::new(vec![1, 1], vec![15], 20, gates.collect()).expect("a circuit");
    check(&Rig::<F>::new(Backend::best(), scheme, 5), &Program::flat("by hand", &circuit), 4);
}

/// A hexadecimal number as bits, with its last digit in the lowest bits.
fn hex(digits: &str) -> Vec<bool> {
    let digits: Vec<u32> = digits.chars().filter_map(|c| c.to_digit(16)).collect();
    digits.iter().rev().flat_map(|d| (0..4).map(move |i| d >> i & 1 == 1)).collect()
}

fn gives<F: Family>(rig: &Rig<F>, program: &Program, inputs: &[Vec<bool>], output: &[bool]) {
    let inputs: Vec<_> = inputs.iter().map(|bits| eval::to_bytes(bits)).collect();
    assert!(rig.run(program, 1, &inputs) == [eval::to_bytes(output)], "{}", program.name());
}

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const PLAINTEXT: &str = "00112233445566778899aabbccddeeff";
const SHA1_START: &str = "67452301efcdab8998badcfe10325476c3d2e1f0";
const SHA256_START: &str = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";

/// FIPS 197, appendix C; FIPS 180-4's examples of one block, "abc".
pub(crate) fn vectors_of_standards<F: Family>(scheme: Scheme) {
    let rig = Rig::<F>::new(Backend::best(), scheme, 6);
    for (bits, ciphertext) in [
        (128, "69c4e0d86a7b0430d8cdb78070b4c55a"),
        (192, "dda97ca4864cdfe06eaf70a0ec0d7191"),
        (256, "8ea2b7ca516745bfeafc49904b496089"),
    ] {
        let inputs = [hex(&KEY[..bits / 4]), hex(PLAINTEXT)];
        gives(&rig, &named_program(&format!("aes{bits}")), &inputs, &hex(ciphertext));
    }
    let abc = format!("61626380{:0>120}", "18");
    let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
    gives(&rig, &named_program("sha1"), &[hex(&abc), hex(SHA1_START)], &hex(sha1));
    let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    gives(&rig, &named_program("sha256"), &[hex(&abc), hex(SHA256_START)], &hex(sha256));
}

/// Published circuits, if the checkout has them.
pub(crate) fn published_files<F: Family>(scheme: Scheme) {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    let rig = Rig::<F>::new(Backend::best(), scheme, 7);
    for name in ["aes_128.txt", "AES-non-expanded.txt", "adder_32bit.txt", "sha256.txt"] {
        match std::fs::read(dir.join(name)) {
            Ok(bytes) => {
                let (circuit, _) = bristol::read(&bytes[..]).expect("a Bristol file");
                let program = Program::flat(name, &circuit);
                check(&rig, &program, 2);
                if name == "aes_128.txt" {
                    let inputs = [hex(&KEY[..32]), hex(PLAINTEXT)];
                    gives(&rig, &program, &inputs, &hex("69c4e0d86a7b0430d8cdb78070b4c55a"));
                }
            }
            Err(e) => println!("skipped {name}: {e}; the published files are not part of this repository"),
        }
    }
}

/// Six standard deviations of `n` fair coins: a fair coin fails twice in 10^9 tests.
fn fair(ones: usize, n: usize, what: &str) {
    let (ones, n) = (ones as f64, n as f64);
    assert!((ones - n / 2.0).abs() <= 3.0 * n.sqrt(), "{what}: {ones} ones of {n}");
}

/// Bits of tables, permute bits and their products with neighbours are fair coins; the two labels
/// of a wire have different signals.
pub(crate) fn bits_are_uniform<F: Family>(scheme: Scheme) {
    let (n, private) = (1500, scheme != Scheme::PrivacyFree);
    let program = Program::flat("wide", &wide(200, n));
    let (mut columns, mut total, mut pairs) = (vec![0; 8 * scheme.format().and_bytes], 0, [0; 2]);
    let (mut signals, mut ones) = (0, 0);
    for seed in 10..14 {
        let run = check(&Rig::<F>::new(Backend::best(), scheme, seed), &program, 1);
        // The first piece has the whole bytes of its tables first, then their bits.
        for table in run.tables.chunks_exact(scheme.format().and_bytes).take(1024) {
            for (i, c) in columns.iter_mut().enumerate() {
                *c += usize::from(table[i / 8] >> (i % 8) & 1);
            }
            total += 1;
        }
        let format = scheme.format();
        let packed = &run.tables[1024 * format.and_bytes..format.piece(1024)];
        ones += packed.iter().map(|b| b.count_ones() as usize).sum::<usize>();
        let bits = &run.permute_bits[200..200 + n];
        let count = |f: &dyn Fn(usize) -> u8| (1..n).map(|i| usize::from(f(i))).sum::<usize>();
        pairs[0] += count(&|i| bits[i]);
        pairs[1] += count(&|i| bits[i] ^ bits[i - 1]);
        signals += run.signals[200..200 + n].iter().map(|s| usize::from(*s)).sum::<usize>();
    }
    for (i, ones) in columns.into_iter().enumerate() {
        if scheme == Scheme::Prf && i % 128 == 0 {
            assert_eq!(ones, 0, "pads stay out of ciphertexts");
        } else if scheme == Scheme::PrivacyFree && i == 0 {
            assert_eq!(ones, 0, "bit 0 of a label is the wire's value, and of a table nothing");
        } else {
            fair(ones, total, &format!("table bit {i}"));
        }
    }
    let packed = 4 * 1024 * scheme.format().and_bits;
    if packed > 0 {
        fair(ones, packed, "packed bits");
    }
    if private {
        fair(pairs[0], 4 * (n - 1), "permute bits");
        fair(pairs[1], 4 * (n - 1), "neighbouring permute bits");
        fair(signals, 4 * n, "signals");
    }
    for seed in 0..8 {
        let mut garbler = Rig::<F>::new(Backend::best(), scheme, seed).garbler();
        let active = Block([seed; 16]);
        let [a, b] = [0, 1].map(|bit| {
            let wire = garbler.own(active, bit);
            garbler.permute_bit(wire)
        });
        assert_eq!(a ^ b, u8::from(private), "both labels of a wire have different signals");
    }
}

/// Records the tables of a few runs.
pub(crate) fn tables<F: Family>(scheme: Scheme, backend: Backend) -> Trace {
    let (rig, trace) = (Rig::<F>::new(backend, scheme, 8), Trace::new());
    for (name, instances) in [("aes128", 2), ("sort:4x4", 3), ("add:9", 7)] {
        trace.hear("garbler", 0, &check(&rig, &named_program(name), instances).tables);
    }
    trace
}

/// A garbler that follows the formulas gate by gate, and records the tweaks of its hash.
pub(crate) trait Recorded: Garble {
    /// Everything that distinguishes two calls of the hash, apart from the label: the tweak, and
    /// the key if there are several. Calls on the two labels of a wire count once.
    fn tweaks(&self) -> &[u128];
    /// Continues as if `gates` ANDs had been garbled.
    fn skip(&mut self, gates: u64);
}

/// A family whose garbler follows the formulas.
pub(crate) trait PlainFormulas: Family<Garbler: Recorded> {}
impl<F: Family<Garbler: Recorded>> PlainFormulas for F {}

/// Tables equal those of the formulas. The formulas use no tweak twice, so that the scheme does
/// not, either.
pub(crate) fn same_as_plain_formulas<F: Family, P: PlainFormulas>(scheme: Scheme) {
    let wide = Program::flat("wide", &wide(50, 1100));
    let aes = named_program("aes128");
    for (program, instances) in [(&wide, 1), (&aes, 2), (&named_program("sort:5x4"), 7)] {
        let rig = Rig::<F>::new(Backend::best(), scheme, 9);
        let run = check(&rig, program, instances);
        let formulas = Rig::<P>::new(Backend::best(), scheme, 9);
        let inputs = formulas.random_inputs(program, instances);
        let (expected, garbler) = formulas.garble(program, instances, &inputs);
        assert!(run.tables == expected.tables, "{scheme}: tables of {}", program.name());
        let distinct: HashSet<u128> = garbler.tweaks().iter().copied().collect();
        assert_eq!(distinct.len(), garbler.tweaks().len(), "{scheme}: a tweak is used twice");
        assert!(distinct.len() as u64 >= garbler.gates(), "every gate hashes");
    }
}

/// Tables have exactly the number of bytes that the format declares.
pub(crate) fn tables_are_as_long_as_they_should_be<F: Family>(scheme: Scheme) {
    let format: Format = scheme.format();
    assert_eq!(<F::Garbler as GateBackend>::FORMAT, format);
    assert_eq!(<F::Evaluator as GateBackend>::FORMAT, format);
    let rig = Rig::<F>::new(Backend::best(), scheme, 15);
    let program = Program::flat("wide", &wide(50, 1100));
    let inputs = rig.random_inputs(&program, 1);
    let run = rig.run_through(&program, 1, &inputs, |t| t).expect("whole tables");
    assert_eq!(run.tables.len(), format.piece(1024) + format.piece(76));
    for left in [0, run.tables.len() - 1] {
        let cut = rig.run_through(&program, 1, &inputs, |mut t| {
            t.truncate(left);
            t
        });
        assert!(matches!(cut, Err(crate::GarbleError::Short { .. })), "{left} bytes are not enough");
    }
}
