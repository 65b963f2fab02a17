//! Files in both formats: a written file is read back, a malformed one is reported with its line,
//! nothing panics.

use crate::common::{Rng, bits, number, random_circuit, run};
use hushwire_circuit::bristol::{Format, MAX_LINE, ReadError, WriteError, read, write};
use hushwire_circuit::{Circuit, Gate, Layered, Program, eval, named};
use proptest::prelude::*;

fn text(circuit: &Circuit, format: Format) -> Result<String, WriteError> {
    let mut file = vec![];
    write(circuit, format, &mut file)?;
    Ok(String::from_utf8(file).unwrap())
}

const FASHION: &str = "3 6\n2 1 2\n1 2\n\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n1 1 3 5 INV\n";
const OLD: &str = "3 6\n1 2   2\n\n2 1 0 1 3 AND\n2 1 3 2 4 XOR\n1 1 3 5 INV\n";

#[test]
fn both_formats_are_told_apart_with_and_without_blank_lines() {
    let (fashion, format) = read(FASHION.as_bytes()).unwrap();
    assert_eq!(format, Format::Fashion);
    let (old, format) = read(OLD.as_bytes()).unwrap();
    assert_eq!(format, Format::Old);
    assert_eq!(fashion, old);
    assert_eq!(fashion.inputs(), [1, 2]);
    assert_eq!(text(&fashion, Format::Fashion).unwrap(), FASHION);
    assert_eq!(text(&fashion, Format::Old).unwrap(), OLD);
    for (file, format) in [(FASHION, Format::Fashion), (OLD, Format::Old)] {
        for variant in [
            file.replace("\n\n", "\n"),
            file.replace('\n', "\r\n"),
            file.replace('\n', " \n\n"),
            file.trim_end().into(),
        ] {
            assert_eq!(read(variant.as_bytes()).unwrap(), (fashion.clone(), format), "{variant:?}");
        }
    }
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_file() {
    let file = "1 3\n1 1 1\n2 1 0 1 2 XOR\n";
    for text in [file.to_owned(), format!("\n{file}")] {
        let plain = read(text.as_bytes()).map(|(circuit, _)| circuit);
        let marked = read(format!("\u{feff}{text}").as_bytes()).map(|(circuit, _)| circuit);
        assert_eq!(marked.unwrap(), plain.unwrap());
    }
}

#[test]
fn a_second_input_may_have_width_0() {
    let (circuit, format) = read("1 3\n2 0 1\n\n2 1 0 1 2 XOR\n".as_bytes()).unwrap();
    assert_eq!((circuit.inputs(), circuit.outputs(), format), (&[2, 0][..], &[1][..], Format::Old));
    let one_input = named::make("sha1-block").unwrap();
    let old = text(&one_input, Format::Old).unwrap();
    assert!(old.lines().nth(1) == Some("512 0   160"), "as published");
    let (back, _) = read(old.as_bytes()).unwrap();
    assert_eq!((back.inputs(), back.gates()), (&[512, 0][..], one_input.gates()));
}

#[test]
fn every_kind_of_gate_is_read() {
    let file = "6 12\n1 4\n2 2 2\n\n4 2 0 1 2 3 4 5 MAND\n1 1 4 6 EQW\n1 1 1 7 EQ\n1 1 5 8 NOT\n\
        4 2 6 0 7 8 9 11 MAND\n1 1 0 10 EQ\n";
    let (circuit, _) = read(file.as_bytes()).unwrap();
    assert_eq!(circuit.gates()[1], Gate::And { a: 1, b: 3, out: 5 });
    for n in 0..16u128 {
        let [a, b, c, d] = [0, 1, 2, 3].map(|i| n >> i & 1);
        let outputs = run(&circuit, &[bits(n, 4)]);
        assert_eq!(number(&outputs[0]), (1 ^ (b & d)) | (a & c) << 1, "input {n}");
        assert_eq!(number(&outputs[1]), (a & (1 ^ (b & d))) << 1, "input {n}");
    }
}

#[test]
fn comments_are_no_part_of_a_file() {
    let plain = "2 5\n2 1 2\n1 2\n\n2 1 0 1 3 XOR\n2 1 1 2 4 AND\n";
    let commented = "# an example\n2 5 // gates, wires\n2 1 2\n//inputs\n1 2\n# 9 9\n\n2 1 0 1 3 XOR # sum\n\
        2 1 1 2 4 AND//carry\n# end";
    assert_eq!(read(commented.as_bytes()).unwrap(), read(plain.as_bytes()).unwrap());
    let old = "1 3\n1 1 1\n2 1 0 1 2 XOR\n";
    let commented = "1 3\n1 1 1 # two inputs\n# no outputs line\n2 1 0 1 2 XOR\n";
    assert_eq!(read(commented.as_bytes()).unwrap(), read(old.as_bytes()).unwrap());
    // One slash begins no comment, and a comment hides no gate that the header counts.
    assert!(read("1 3\n1 1 1\n2 1 0 1 2 XOR / x\n".as_bytes()).is_err());
    let hidden = read("1 3\n1 1 1\n# 2 1 0 1 2 XOR\n".as_bytes()).unwrap_err().to_string();
    assert_eq!(hidden, "line 4: found the end of the file, expected gate 1 of 1");
}

#[test]
fn a_header_may_count_the_ands_of_a_mand() {
    let gates = "4 2 0 1 2 3 4 5 MAND\n2 1 4 5 6 XOR\n";
    let whole = read(format!("2 7\n2 2 2\n1 1\n{gates}").as_bytes()).unwrap();
    assert_eq!(read(format!("3 7\n2 2 2\n1 1\n{gates}").as_bytes()).unwrap(), whole);
    // A file that was cut has neither number.
    let cut = read(format!("4 7\n2 2 2\n1 1\n{gates}").as_bytes()).unwrap_err().to_string();
    assert_eq!(cut, "line 6: found the end of the file, expected gate 3 of 4");
    let more = read(format!("1 7\n2 2 2\n1 1\n{gates}").as_bytes()).unwrap_err().to_string();
    assert!(more.ends_with("expected the end of the file after 1 gates"), "{more}");
}

#[test]
fn malformed_files_are_told_with_line_found_and_expected() {
    const GATES: &str =
        "line 1: found `x 6`, expected the number of gates and the number of wires, both below 2^32";
    let cases = [
        (
            "",
            "line 1: found the end of the file, expected the number of gates and the number of wires, both below 2^32",
        ),
        ("x 6\n", GATES),
        (
            "1 4294967296\n",
            "line 1: found `1 4294967296`, expected the number of gates and the number of wires, both below 2^32",
        ),
        (
            "+1 3\n",
            "line 1: found `+1 3`, expected the number of gates and the number of wires, both below 2^32",
        ),
        (
            "1 3\n",
            "line 2: found the end of the file, expected the number of inputs and the width of each, as in `2 128 128`",
        ),
        (
            "1 3\n2 1 z\n",
            "line 2: found `2 1 z`, expected the number of inputs and the width of each, as in `2 128 128`",
        ),
        (
            "1 3\n3 1 1\n1 1\n",
            "line 2: found `3 1 1`, expected the number of inputs and the width of each, as in `2 128 128`",
        ),
        (
            "1 3\n2 1 1\n2 1\n",
            "line 3: found `2 1`, expected the number of outputs and the width of each, as in `1 128`",
        ),
        (
            "1 3\n1 2\n",
            "line 3: found the end of the file, expected the number of outputs and the width of each, as in `1 128`",
        ),
        (
            "1 3\n1 2\n2 1 0 1 2 AND\n",
            "line 3: found `2 1 0 1 2 AND`, expected the number of outputs and the width of each, as in `1 128`",
        ),
        (
            "1 3\n9 2\n2 1 0 1 2 AND\n",
            "line 2: found `9 2`, expected the widths of two inputs and of the output, as in `128 128 128`, or the number of inputs and the width of each, as in `2 128 128`",
        ),
        (
            "1 3\n2 2 2\n1 1\n",
            "line 2: found inputs of 4 bits, expected at most 3 bits, as there are 3 wires",
        ),
        (
            "1 3\n2 1 1\n2 4294967295 4294967295\n",
            "line 3: found outputs of 8589934590 bits, expected at most 3 bits, as there are 3 wires",
        ),
        ("1 3\n1 1 9\n", "line 2: found outputs of 9 bits, expected at most 3 bits, as there are 3 wires"),
        ("2 4\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n", "line 6: found the end of the file, expected gate 2 of 2"),
        (
            "1 3\n2 1 1\n1 1\n\n2 1 0 1 2 AND\n1 1 0 3 INV\n",
            "line 6: found `1 1 0 3 INV`, expected the end of the file after 1 gates",
        ),
        ("0 1\n1 0 1\ngarbage\n", "line 3: found `garbage`, expected the end of the file after 0 gates"),
        (
            "1 3\n2 1 1\n1 1\n2 1 0 1 2 IMPLY\n",
            "line 4: found `2 1 0 1 2 IMPLY`, expected a gate that ends in XOR, AND, OR, NAND, NOR, XNOR, INV, NOT, BUF, EQ, EQW or MAND",
        ),
        ("1 3\n2 1 1\n1 1\n2 1 0 2 AND\n", "line 4: found `2 1 0 2 AND`, expected `2 1 A B OUT AND`"),
        ("1 3\n2 1 1\n1 1\n2 1 0 1 2 2 AND\n", "line 4: found `2 1 0 1 2 2 AND`, expected `2 1 A B OUT AND`"),
        ("1 3\n2 1 1\n1 1\n1 1 0 1 2 XOR\n", "line 4: found `1 1 0 1 2 XOR`, expected `2 1 A B OUT XOR`"),
        ("1 3\n2 1 1\n1 1\n1 1 x 2 INV\n", "line 4: found `1 1 x 2 INV`, expected `1 1 A OUT INV`"),
        (
            "1 3\n2 1 1\n1 1\n1 1 0 2 EQW 1\n",
            "line 4: found `1 1 0 2 EQW 1`, expected a gate that ends in XOR, AND, OR, NAND, NOR, XNOR, INV, NOT, BUF, EQ, EQW or MAND",
        ),
        (
            "1 3\n2 1 1\n1 1\n1 1 2 2 EQ\n",
            "line 4: found `1 1 2 2 EQ`, expected `1 1 0 OUT EQ` or `1 1 1 OUT EQ`",
        ),
        (
            "1 3\n2 1 1\n1 1\n2 2 0 1 2 MAND\n",
            "line 4: found `2 2 0 1 2 MAND`, expected `2K K` and 3K wires before MAND",
        ),
        ("1 3\n2 1 1\n1 1\nMAND\n", "line 4: found `MAND`, expected `2K K` and 3K wires before MAND"),
        (
            "1 3\n2 1 1\n1 1\n2 1 0 3 2 AND\n",
            "line 4: found wire 3 in `2 1 0 3 2 AND`, expected a wire below 3",
        ),
        (
            "1 3\n2 1 1\n1 1\n2 1 0 1 3 AND\n",
            "line 4: found wire 3 in `2 1 0 1 3 AND`, expected a wire below 3",
        ),
        (
            "1 3\n2 1 1\n1 1\n2 1 0 2 2 AND\n",
            "line 4: found `2 1 0 2 2 AND`, which reads wire 2, expected an input or a wire that an earlier line writes",
        ),
        (
            "1 3\n2 1 1\n1 1\n2 1 0 1 1 AND\n",
            "line 4: found `2 1 0 1 1 AND`, which writes wire 1, expected a wire that is no input and that no earlier gate writes",
        ),
        (
            "1 5\n2 1 1\n1 1\n4 2 0 1 0 1 4 4 MAND\n",
            "line 4: found `4 2 0 1 0 1 4 4 MAND`, which writes wire 4, expected a wire that is no input and that no earlier gate writes",
        ),
        (
            "1 5\n2 1 1\n1 1\n4 2 0 1 3 1 3 4 MAND\n",
            "line 4: found `4 2 0 1 3 1 3 4 MAND`, which reads wire 3, expected an input or a wire that an earlier line writes",
        ),
        (
            "1 4\n2 1 1\n1 1\n2 1 0 1 2 AND\n",
            "line 5: found the end of the file, expected a gate that writes wire 3, an output",
        ),
        (
            "0 1048577\n1 1048577\n1 1\n",
            "line 1: found 1048577 wires, expected at most 1048576 wires for 0 gates",
        ),
    ];
    for (file, message) in cases {
        assert_eq!(read(file.as_bytes()).unwrap_err().to_string(), message, "{file:?}");
    }
    // Terminal escapes and bytes that are not text are shown as text.
    let shown = |file: &[u8]| read(file).unwrap_err().to_string();
    assert!(shown(b"\n\n1 \x1b[31m\n").starts_with("line 3: found `1 \\u{1b}[31m`"));
    assert!(shown(b"1 \xff\xfe").starts_with("line 1: found `1 \u{fffd}\u{fffd}`"));
    let long = vec![b'1'; MAX_LINE + 1];
    assert!(shown(&long).starts_with("line 1: found a line of more than 1048576 bytes"));
    assert!(shown(&vec![b'x'; MAX_LINE]).len() < 200);
}

#[test]
fn claims_of_a_header_take_no_memory() {
    let huge = "4294967295 4294967295\n2 2147483647 2147483647\n1 4294967295\n";
    assert!(read(huge.as_bytes()).unwrap_err().to_string().starts_with("line 4: found the end of the file"));
    let far = "1 4294967295\n1 2\n1 1\n2 1 0 1 4294967294 AND\n";
    let message = read(far.as_bytes()).unwrap_err().to_string();
    assert_eq!(message, "line 1: found 4294967295 wires, expected at most 1048640 wires for 1 gates");
}

#[test]
fn a_failing_reader_is_no_malformed_file() {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is gone"))
        }
    }
    let error = read(std::io::BufReader::new(Broken)).unwrap_err();
    assert!(matches!(&error, ReadError::Io(_)) && error.to_string() == "the disk is gone");
}

#[test]
fn the_older_format_says_what_does_not_fit() {
    let why = |inputs: Vec<usize>, outputs: Vec<usize>, gates: Vec<Gate>| {
        let wires = inputs.iter().sum::<usize>() + gates.len();
        text(&Circuit::new(inputs, outputs, wires, gates).unwrap(), Format::Old).unwrap_err().to_string()
    };
    assert!(why(vec![1, 1, 1], vec![3], vec![]).contains("two inputs only; use Bristol Fashion"));
    assert!(why(vec![2], vec![1, 1], vec![]).contains("exactly one output"));
    assert!(why(vec![], vec![1], vec![Gate::Const { value: true, out: 0 }]).contains("no constants"));
    let copy = Gate::Copy { a: 0, out: 2 };
    assert!(why(vec![2], vec![3], vec![copy]).contains("cannot name inputs as outputs"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn what_is_written_is_read_back(seed in any::<u64>(), gates in 0usize..60) {
        let circuit = random_circuit(seed, gates, 5);
        let file = text(&circuit, Format::Fashion).unwrap();
        prop_assert_eq!(read(file.as_bytes()).unwrap(), (circuit.clone(), Format::Fashion));
        // The older format has more gates and the same results, where it can express the circuit.
        if let Ok(file) = text(&circuit, Format::Old) {
            let (old, format) = read(file.as_bytes()).unwrap();
            prop_assert_eq!(format, Format::Old);
            let mut rng = Rng(seed);
            for _ in 0..8 {
                let inputs: Vec<_> = circuit.inputs().iter().map(|w| rng.bits(*w)).collect();
                let mut padded = inputs.clone();
                padded.resize(2, vec![]);
                prop_assert_eq!(
                    eval::eval_gates(&circuit, &inputs).unwrap(),
                    eval::eval_gates(&old, &padded).unwrap()
                );
            }
        }
    }

    #[test]
    fn a_program_has_the_gates_of_its_circuit(seed in any::<u64>(), gates in 0usize..60) {
        let circuit = random_circuit(seed, gates, 5);
        let program = Program::flat("random", &circuit);
        let flat = program.to_circuit().unwrap();
        prop_assert_eq!((flat.inputs(), flat.outputs()), (circuit.inputs(), circuit.outputs()));
        prop_assert!(Layered::new(&flat).ands() <= program.ands() as usize);
        let mut rng = Rng(seed);
        for _ in 0..8 {
            let inputs: Vec<_> = circuit.inputs().iter().map(|w| rng.bits(*w)).collect();
            prop_assert_eq!(run(&circuit, &inputs), run(&flat, &inputs));
        }
    }

    #[test]
    fn damaged_files_never_panic(seed in any::<u64>(), gates in 1usize..40, old in any::<bool>(), edits in 1usize..6) {
        let circuit = random_circuit(seed, gates, if old { 3 } else { 5 });
        let format = if old { Format::Old } else { Format::Fashion };
        let mut file = text(&circuit, format).unwrap_or_else(|_| OLD.to_owned()).into_bytes();
        let mut rng = Rng(seed ^ 7);
        for _ in 0..edits {
            if file.is_empty() {
                break;
            }
            let at = rng.below(file.len());
            match rng.below(5) {
                0 => file[at] = rng.next() as u8,
                1 => file[at] = b"0123456789 \nXAEINM"[rng.below(18)],
                2 => drop(file.remove(at)),
                3 => file.insert(at, b"019 \n"[rng.below(5)]),
                _ => file.truncate(at + 1),
            }
        }
        if let Ok((circuit, format)) = read(&file[..]) {
            // An accepted file is a circuit: it can be written, read and run.
            let again = text(&circuit, format).unwrap();
            let (back, _) = read(again.as_bytes()).unwrap();
            prop_assert_eq!(back.gates(), circuit.gates());
            if circuit.wires() < 1 << 16 {
                let inputs: Vec<_> = circuit.inputs().iter().map(|w| rng.bits(*w)).collect();
                run(&circuit, &inputs);
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes[..]);
    }
}

#[test]
fn published_files_give_the_standards_vectors() {
    let dir = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/circuits");
    let open = |name: &str| match std::fs::read(dir.join(name)) {
        Ok(bytes) => Some(read(&bytes[..]).unwrap()),
        Err(e) => {
            println!("skipped {name}: {e}; the published files are not part of this repository");
            None
        }
    };
    let key = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
    let plaintext = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
    let ciphertext = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a;
    if let Some((aes, format)) = open("aes_128.txt") {
        assert_eq!((format, Layered::new(&aes).ands()), (Format::Fashion, 6400));
        assert_eq!(number(&run(&aes, &[bits(key, 128), bits(plaintext, 128)])[0]), ciphertext);
        let ours = named::make("aes128").unwrap();
        assert_eq!((ours.inputs(), ours.outputs()), (aes.inputs(), aes.outputs()));
    }
    if let Some((aes, format)) = open("AES-non-expanded.txt") {
        assert_eq!((format, Layered::new(&aes).depth()), (Format::Old, 40));
        let msb = |n: u128| bits(n.reverse_bits(), 128);
        assert_eq!(run(&aes, &[msb(plaintext), msb(key)])[0], msb(ciphertext));
    }
    if let Some((adder, format)) = open("adder_32bit.txt") {
        assert_eq!((format, adder.outputs()), (Format::Old, &[33][..]));
        assert_eq!(number(&run(&adder, &[bits(5, 32), bits(0xffff_fffe, 32)])[0]), 0x1_0000_0003);
    }
    if let Some((sha, _)) = open("sha256.txt") {
        let ours = named::make("sha256").unwrap();
        assert_eq!((ours.inputs(), ours.outputs()), (sha.inputs(), sha.outputs()));
        let mut rng = Rng(1);
        let inputs = [rng.bits(512), rng.bits(256)];
        assert!(run(&sha, &inputs) == run(&ours, &inputs));
    }
}
