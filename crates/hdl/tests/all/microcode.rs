//! Microcode compared with the evaluators in the clear, and its file format.

use crate::circuits::{self, Rng, number, random_circuit};
use hushwire_circuit::{Circuit, Gate, Layered, eval, named};
use hushwire_hdl::{
    Microcode, MicrocodeError,
    microcode::{MAX_SLOTS, Opcode},
};
use proptest::prelude::*;

/// A random choice of a circuit's inputs.
fn chosen(rng: &mut Rng, inputs: usize) -> Vec<usize> {
    (0..inputs).filter(|_| rng.below(2) == 0).collect()
}

/// The inputs' bits in the form for microcode: the common inputs' bits, and the rows' bits.
fn split(code: &Microcode, inputs: &[Vec<bool>]) -> [Vec<bool>; 2] {
    let pick = |common: bool| {
        let those = (0..inputs.len()).filter(|i| code.common().contains(i) == common);
        those.flat_map(|i| inputs[i].clone()).collect()
    };
    [pick(true), pick(false)]
}

fn run(code: &Microcode, inputs: &[Vec<bool>]) -> Vec<bool> {
    let [common, rows] = split(code, inputs);
    code.eval(&common, &rows).unwrap()
}

fn text(code: &Microcode) -> String {
    let mut text = vec![];
    code.write(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

proptest! {
    #[test]
    fn microcode_computes_what_the_circuit_does(seed in any::<u64>(), gates in 0usize..120) {
        let circuit = random_circuit(seed, gates, 5);
        let block = Layered::new(&circuit);
        let mut rng = Rng(seed ^ 2);
        let code = Microcode::compile("random", &block, &chosen(&mut rng, circuit.inputs().len())).unwrap();
        for _ in 0..8 {
            let inputs: Vec<Vec<bool>> = circuit.inputs().iter().map(|w| rng.bits(*w)).collect();
            let expected = eval::eval_gates(&circuit, &inputs).unwrap().concat();
            prop_assert_eq!(run(&code, &inputs), expected);
        }
        let ands: Vec<usize> = block.layers().iter().map(|l| l.ands.len()).filter(|n| *n > 0).collect();
        prop_assert_eq!(code.layer_ands(), ands);
        prop_assert_eq!(Microcode::read(text(&code).as_bytes()).unwrap(), code);
    }

    #[test]
    fn shares_of_scalars_add_up_to_them(seed in any::<u64>(), gates in 0usize..120) {
        let circuit = random_circuit(seed, gates, 5);
        let mut rng = Rng(seed ^ 3);
        let common: Vec<usize> = (0..circuit.inputs().len()).collect();
        let code = Microcode::compile("random", &Layered::new(&circuit), &common).unwrap();
        let bits = rng.bits(code.common_bits());
        // Three shares of every bit; party i has shares i and i + 1, and share 0 has the constant.
        let mut shares = [rng.bits(bits.len()), rng.bits(bits.len()), vec![]];
        shares[2] = (0..bits.len()).map(|i| bits[i] ^ shares[0][i] ^ shares[1][i]).collect();
        let packed = shares.map(|bits| eval::to_bytes(&bits));
        let parties: Vec<Vec<[bool; 2]>> = (0..3)
            .map(|i| code.scalar_shares([&packed[i], &packed[(i + 1) % 3]], [i == 0, i == 2]))
            .collect();
        for (k, scalar) in code.scalars().iter().enumerate() {
            let value = scalar.bits.iter().fold(scalar.one, |sum, i| sum ^ bits[*i as usize]);
            prop_assert_eq!(parties.iter().fold(false, |sum, p| sum ^ p[k][0]), value);
            for i in 0..3 {
                prop_assert_eq!(parties[i][k][1], parties[(i + 1) % 3][k][0]);
            }
        }
    }

    #[test]
    fn a_file_with_a_changed_byte_is_read_or_refused(seed in any::<u64>()) {
        let circuit = random_circuit(seed, 40, 5);
        let mut rng = Rng(seed ^ 4);
        let code = Microcode::compile("random", &Layered::new(&circuit), &chosen(&mut rng, circuit.inputs().len()));
        let mut bytes = text(&code.unwrap()).into_bytes();
        let at = rng.below(bytes.len());
        bytes[at] = rng.next() as u8;
        if let Ok(code) = Microcode::read(&bytes[..]) {
            // A file that was read can run.
            let (common, rows) = (rng.bits(code.common_bits()), rng.bits(code.rows_in()));
            prop_assert_eq!(code.eval(&common, &rows).unwrap().len(), code.rows_out());
        }
    }
}

/// The bits of a big-endian number, in the order of AES's wires.
fn hex_bits(hex: &str) -> Vec<bool> {
    let byte = |i: usize| u8::from_str_radix(&hex[2 * i..2 * i + 2], 16).unwrap();
    eval::to_bits(&(0..hex.len() / 2).rev().map(byte).collect::<Vec<u8>>(), 4 * hex.len())
}

/// FIPS-197, appendix A.1: the round keys of 2b7e…4f3c.
const ROUND_KEYS: &str = "\
2b7e151628aed2a6abf7158809cf4f3ca0fafe1788542cb123a339392a6c7605f2c295f27a96b9435935807a7359f67f\
3d80477d4716fe3e1e237e446d7a883bef44a541a8525b7fb671253bdb0bad00d4d1c6f87c839d87caf2b8bc11f915bc\
6d88a37a110b3efddbf98641ca0093fd4e54f70e5f5fc9f384a64fb24ea6dc4fead27321b58dbad2312bf5607f8d292f\
ac7766f319fadc2128d12941575c006ed014f9a8c9ee2589e13f0cc8b6630ca6";

#[test]
fn aes_is_that_of_fips_197() {
    // Appendix B.
    let plaintext = hex_bits("3243f6a8885a308d313198a2e0370734");
    let ciphertext = hex_bits("3925841d02dc09fbdc118597196a0b32");
    for (name, ands, lins) in
        [("aes128-expanded-key", 5120, 17_184), ("aes128-expanded-key-depth4", 5440, 17_024)]
    {
        let block = Layered::new(&named::make(name).unwrap());
        let code = Microcode::compile(name, &block, &[0]).unwrap();
        assert_eq!(code.eval(&hex_bits(ROUND_KEYS), &plaintext).unwrap(), ciphertext, "{name}");
        assert_eq!((code.rows_in(), code.rows_out(), code.common_bits()), (128, 128, 1408));
        // Round keys cost no instruction, and the slots fit into 512.
        let found = code.instructions().iter().filter(|i| i.op() == Opcode::Lin).count();
        assert_eq!((code.ands(), found), (ands, lins), "{name}");
        assert!(code.slots() <= 512, "{name}: {} slots", code.slots());
        assert_eq!(code.digest(), block.digest());
    }
    let key = hex_bits("000102030405060708090a0b0c0d0e0f");
    let plaintext = hex_bits("00112233445566778899aabbccddeeff");
    let ciphertext = hex_bits("69c4e0d86a7b0430d8cdb78070b4c55a");
    let block = Layered::new(&named::make("aes128").unwrap());
    for common in [&[][..], &[0], &[1], &[1, 0]] {
        let code = Microcode::compile("aes128", &block, common).unwrap();
        assert_eq!(run(&code, &[key.clone(), plaintext.clone()]), ciphertext, "{common:?}");
    }
}

#[test]
fn words_add() {
    let code = Microcode::compile("add:8", &Layered::new(&named::make("add:8").unwrap()), &[1]).unwrap();
    let inputs = [200, 99].map(|n| circuits::bits(n, 8));
    assert_eq!(number(&run(&code, &inputs)), 299);
}

#[test]
fn the_program_is_the_same_every_time() {
    // The BLAKE3 digests of the files. A change alters other parties' files, but not their
    // messages.
    let digest = |name: &str, common: &[usize]| {
        let block = Layered::new(&named::make(name).unwrap());
        let code = Microcode::compile(name, &block, common).unwrap();
        blake3::hash(text(&code).as_bytes()).to_hex()[..16].to_owned()
    };
    assert_eq!(digest("add:8", &[]), "13ea9ce8e49e8f8b");
    assert_eq!(digest("less:32", &[1]), "72f585255a293cd1");
    assert_eq!(digest("aes128-expanded-key", &[0]), "b13fecd75f3b19a6");
}

#[test]
fn limits_are_told() {
    let add = Layered::new(&named::make("add:8").unwrap());
    let error = |block: &Layered, common: &[usize]| Microcode::compile("x", block, common).unwrap_err();
    assert!(matches!(error(&add, &[2]), MicrocodeError::NoInput { index: 2, inputs: 2 }));
    let wide = Layered::new(&named::make("add:5000").unwrap());
    let MicrocodeError::Slots { slots } = error(&wide, &[]) else { panic!("too many slots") };
    assert!(slots > MAX_SLOTS);
    // Output i is the sum of common bits 0 to i.
    let n = 70_000;
    let sums = (1..n).map(|i| Gate::Xor { a: if i == 1 { 0 } else { n + i - 2 }, b: i, out: n + i - 1 });
    let sums = Circuit::new(vec![n as usize], vec![1], 2 * n as usize - 1, sums.collect()).unwrap();
    let error = Microcode::compile("x", &Layered::new(&sums), &[0]).unwrap_err();
    assert!(matches!(error, MicrocodeError::Terms { .. }), "{error}");
    // Each output is a different common bit.
    let copies = (0..n).map(|i| Gate::Copy { a: i, out: n + i }).collect();
    let copies = Circuit::new(vec![n as usize], vec![n as usize], 2 * n as usize, copies).unwrap();
    let error = Microcode::compile("x", &Layered::new(&copies), &[0]).unwrap_err();
    assert!(matches!(error, MicrocodeError::Scalars { scalars: 70_001 }), "{error}");
}

#[test]
fn inputs_of_the_wrong_size_are_told() {
    let code = Microcode::compile("x", &Layered::new(&named::make("add:8").unwrap()), &[1]).unwrap();
    let error = |common: usize, rows: usize| {
        code.eval(&vec![false; common], &vec![false; rows]).unwrap_err().to_string()
    };
    assert_eq!(error(7, 8), "the common inputs: found 7 bits, expected 8");
    assert_eq!(error(8, 9), "the input rows: found 9 bits, expected 8");
}

#[test]
fn malformed_files_are_refused_by_line() {
    let block = Layered::new(&named::make("less:2").unwrap());
    let good = text(&Microcode::compile("less:2", &block, &[1]).unwrap());
    let lines: Vec<&str> = good.lines().collect();
    let (head, first) = (12, lines.iter().position(|l| !l.starts_with("//")).unwrap());
    assert!(first > head, "there are scalars");
    let error = |lines: &[&str]| {
        let error = Microcode::read((lines.join("\n") + "\n").as_bytes()).unwrap_err();
        let MicrocodeError::Malformed { line, problem } = error else { panic!("{error}") };
        (line, problem)
    };
    let with = |at: usize, line: &str| {
        let mut lines = lines.clone();
        lines[at] = line;
        error(&lines)
    };
    for (at, key) in ["circuit", "digest", "common", "inputs", "outputs", "rows", "slots", "scalars", "ands"]
        .into_iter()
        .chain(["layers", "instructions", "scalar"])
        .enumerate()
    {
        // Wrong keys, missing lines, and early ends.
        assert_eq!(with(at + 1, "// else 1"), (at + 2, format!("expected '// {key}'")));
        let found = error(&lines[..=at]);
        assert_eq!(found, (at + 2, format!("the file ends where '// {key}' is expected")));
    }
    let wrong = [
        (0, "// hushwire microcode v2", "expected '// hushwire microcode v1'"),
        (1, "// circuit  less", "a name has single spaces"),
        (2, "// digest 00", "expected 64 hexadecimal digits"),
        (3, "// common 2", "expected inputs below 2"),
        (3, "// common 1 1", "expected inputs below 2"),
        (3, "// common x", "expected numbers"),
        (4, "// inputs 18446744073709551615 1", "the numbers are too large"),
        (6, "// rows in 3 out 1", "expected '// rows in 2 out 1'"),
        (7, "// slots 8193", "expected a number up to 8192"),
        (8, "// scalars -1", "expected a number up to 65536"),
        (8, "// scalars 65537", "expected a number up to 65536"),
        (9, "// ands", "expected a number"),
        (10, "// layers 1 1 0", "expected the ANDs of every layer, 2 in all"),
        (10, "// layers 1", "expected the ANDs of every layer, 2 in all"),
        (head, "// scalar 2 = 0", "expected '// scalar 1 ='"),
        (head, "// scalar 1 = 2", "expected '// scalar 1 =' and bits below 2"),
        (head, "// scalar 1 = 1 0", "expected '// scalar 1 =' and bits below 2"),
        (head, "// scalar 1 = one 0", "expected '// scalar 1 =' and bits below 2"),
        (first, "600000000000000", "expected an instruction"),
        (first, "+00000000000000f", "expected an instruction"),
        (first, "e000000000000000", "expected an instruction"),
        (first, "6000000000002000", "expected an instruction"),
        (first, "6000000000000fff", "it names slot 4095"),
    ];
    for (at, line, expected) in wrong {
        let (number, problem) = with(at, line);
        assert_eq!(number, at + 1, "{line}: {problem}");
        assert!(problem.starts_with(expected), "{line}: {problem}");
    }
    // Too many, too few, or no instructions.
    let (number, problem) = error(&[&lines[..], &["0000000000000000"]].concat());
    assert_eq!(
        (number, problem.as_str()),
        (lines.len() + 1, "expected nothing after the end of the program")
    );
    let (number, problem) = error(&lines[..lines.len() - 1]);
    assert_eq!(number, lines.len());
    assert!(problem.starts_with("the file ends here"), "{problem}");
    assert_eq!(error(&[""]).0, 1);
    let long = format!("// circuit {}", "x".repeat(8 << 20));
    assert_eq!(with(1, &long), (2, "expected a line of less than 8388608 bytes".into()));
    // Bytes that are not text.
    let error = Microcode::read(&b"// hushwire microcode v1\n\xff\n"[..]).unwrap_err().to_string();
    assert!(error.starts_with("line 2: expected text; make the file again"), "{error}");
    // Line ends of other systems.
    assert!(Microcode::read(good.replace('\n', "\r\n").as_bytes()).is_ok());
}
