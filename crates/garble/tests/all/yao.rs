//! Yao's protocol compared with plain evaluation.

use crate::common::{ROLES, due, inproc_nets, open, parties, run, tcp_nets, terms, values};
use hushwire_aes::Backend;
use hushwire_circuit::{Bit, Builder, Layered, Planes, Program, Stage, TwoParty, named};
use hushwire_garble::{Scheme, yao::Terms};
use hushwire_ot::Protocol;
use hushwire_prg::{Prg, Seed};
use hushwire_testkit::random_program;
use std::sync::Arc;

/// All assignments of two inputs and one output to the parties.
fn all_roles(program: &Program) -> Vec<TwoParty> {
    let mut all = vec![];
    for owners in [[0, 1], [1, 0], [0, 0], [1, 1]] {
        for learns in [[true, true], [true, false], [false, true], [false, false]] {
            all.push(TwoParty::new(program, owners.to_vec(), vec![learns]));
        }
    }
    all
}

#[test]
fn parties_learn_what_plain_evaluation_gives() {
    let program = named::program("less:32").expect("a circuit of ours");
    let all = all_roles(&program);
    for scheme in Scheme::PRIVATE {
        let results = parties(inproc_nets(), |role, channel| {
            let mut party = open(role, channel, terms(scheme)).expect("set up");
            let mut outputs = vec![];
            // Each runs twice: the second run repeats one that both parties know.
            for (i, roles) in all.iter().flat_map(|r| [r, r]).enumerate() {
                for n in [1, 3, 8, 21] {
                    let values = values(&program, n, i as u8);
                    outputs.push(run(&mut party, channel, &program, roles, n, &values).expect("a run"));
                }
            }
            outputs
        });
        for (role, results) in ROLES.into_iter().zip(&results) {
            let mut results = results.iter();
            for (i, roles) in all.iter().flat_map(|r| [r, r]).enumerate() {
                for n in [1, 3, 8, 21] {
                    let expected = due(&program, roles, role, n, &values(&program, n, i as u8));
                    assert_eq!(results.next(), Some(&expected), "{scheme} {role:?} {n} {roles:?}");
                }
            }
        }
    }
}

#[test]
fn named_circuits_over_tcp() {
    for name in ["aes128", "mul:16", "sort:8x8"] {
        let program = named::program(name).expect("a circuit of ours");
        let owners = (0..program.inputs().len()).map(|i| i % 2).collect();
        let roles = TwoParty::new(&program, owners, vec![[true; 2]; program.outputs().len()]);
        let values = values(&program, 5, 9);
        let results = parties(tcp_nets(), |role, channel| {
            let mut party = open(role, channel, terms(Scheme::Mi)).expect("set up");
            run(&mut party, channel, &program, &roles, 5, &values).expect("a run")
        });
        for (role, result) in ROLES.into_iter().zip(&results) {
            assert_eq!(*result, due(&program, &roles, role, 5, &values), "{name}");
        }
    }
}

/// Runs many programs in one session and compares both parties' outputs.
fn compare(terms: Terms, programs: &[(Program, TwoParty, usize)]) {
    let all = || programs.iter().enumerate().map(|(i, (p, roles, n))| (p, roles, *n, values(p, *n, i as u8)));
    let results = parties(inproc_nets(), |role, channel| {
        let mut party = open(role, channel, terms).expect("set up");
        all().map(|(p, roles, n, v)| run(&mut party, channel, p, roles, n, &v).expect("a run")).collect()
    });
    for (role, results) in ROLES.into_iter().zip::<[Vec<Vec<u8>>; 2]>(results) {
        for ((p, roles, n, v), result) in all().zip(results) {
            assert_eq!(result, due(p, roles, role, n, &v), "{terms:?} {role:?} {} × {n}", p.name());
        }
    }
}

#[test]
fn random_circuits_with_random_roles() {
    for (i, scheme) in Scheme::PRIVATE.into_iter().enumerate() {
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([i as u8; 16]), "random circuits");
        let programs: Vec<_> = (0..40)
            .map(|_| {
                let program = random_program(&mut prg);
                let owners = program.inputs().iter().map(|_| (prg.next_u64() % 2) as usize).collect();
                let learns = program.outputs().iter().map(|_| [prg.next_u64() % 2, prg.next_u64() % 2]);
                let learns = learns.map(|l| l.map(|l| l == 1)).collect();
                let roles = TwoParty::new(&program, owners, learns);
                (program, roles, (prg.next_u64() % 20) as usize)
            })
            .collect();
        compare(terms(scheme), &programs);
    }
}

#[test]
fn inputs_over_every_kind_of_ot() {
    let program = named::program("add:20").expect("a circuit of ours");
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true; 2]]);
    // 20 × 421 choices are more than one chunk of rows.
    let runs = [(program.clone(), roles.clone(), 421), (program, roles, 7)];
    for ot in [Protocol::Iknp, Protocol::SoftSpoken2, Protocol::SoftSpoken8, Protocol::FerretB10] {
        for scheme in [Scheme::Mi, Scheme::Prf] {
            compare(Terms { scheme, ot }, &runs);
        }
    }
}

#[test]
fn registers_that_nothing_was_written_to_are_zero() {
    let mut builder = Builder::new();
    let (x, y) = (builder.input(4), builder.input(4));
    let both: Vec<Bit> = x.iter().zip(&y).map(|(x, y)| builder.and(*x, *y)).collect();
    let block = Arc::new(Layered::new(&builder.finish(&[both])));
    // Copy 1 reads an input and registers that are 0; registers 12 to 15 are outputs that are never
    // written.
    let reads = (0..8).chain([0, 1, 2, 3, 20, 21, 22, 23]).collect();
    let stage = Stage { block, copies: 2, reads, writes: (8..12).chain(16..20).collect() };
    let outputs = vec![8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19];
    let program = Program::new("zeros", vec![4, 4], vec![4, 8], 24, outputs, Arc::new(vec![stage]));
    let roles = TwoParty::new(&program, vec![1, 0], vec![[true, true], [true, false]]);
    for scheme in Scheme::PRIVATE {
        // The second run finds the wires of the first.
        compare(terms(scheme), &[(program.clone(), roles.clone(), 3), (program.clone(), roles.clone(), 3)]);
    }
}

/// A hexadecimal number as bytes, with its last digits first.
fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2).rev();
    pairs.map(|d| u8::from_str_radix(core::str::from_utf8(d).expect("digits"), 16).expect("digits")).collect()
}

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const SHA256_START: &str = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19";
const SHA1_START: &str = "67452301efcdab8998badcfe10325476c3d2e1f0";

/// FIPS 197, appendix C; FIPS 180-4's examples of one block, "abc".
#[test]
fn vectors_of_standards_over_tcp() {
    let plaintext = hex("00112233445566778899aabbccddeeff");
    let abc = hex(&format!("61626380{:0>120}", "18"));
    let vectors = [
        ("aes128", [hex(&KEY[..32]), plaintext.clone()], "69c4e0d86a7b0430d8cdb78070b4c55a"),
        ("aes192", [hex(&KEY[..48]), plaintext.clone()], "dda97ca4864cdfe06eaf70a0ec0d7191"),
        ("aes256", [hex(KEY), plaintext], "8ea2b7ca516745bfeafc49904b496089"),
        ("sha1", [abc.clone(), hex(SHA1_START)], "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (
            "sha256",
            [abc, hex(SHA256_START)],
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        ),
    ];
    let programs = vectors.each_ref().map(|(name, ..)| named::program(name).expect("a circuit of ours"));
    for scheme in Scheme::PRIVATE {
        let results = parties(tcp_nets(), |role, channel| {
            let mut party = open(role, channel, terms(scheme)).expect("set up");
            let mut results = vec![];
            for (program, (_, values, _)) in programs.iter().zip(&vectors) {
                let roles = TwoParty::new(program, vec![0, 1], vec![[true; 2]]);
                let out = run(&mut party, channel, program, &roles, 1, values).expect("a run");
                results.push(Planes::new(program.output_bits(), 1, out).expect("all outputs").unpack());
            }
            results
        });
        for results in results {
            for (result, (name, _, expected)) in results.iter().zip(&vectors) {
                assert_eq!(*result, hex(expected), "{name} {scheme}");
            }
        }
    }
}
