//! Kinds of gates in files of other tools: each against its truth table, in both formats.

use crate::common::run;
use hushwire_circuit::bristol::{Format, read, write};
use hushwire_circuit::{Circuit, Gates, Program, eval};
use proptest::prelude::*;

/// A kind, its number of inputs, its value, and its ANDs.
type Kind = (&'static str, usize, fn(bool, bool) -> bool, u64);

const KINDS: [Kind; 10] = [
    ("XOR", 2, |a, b| a ^ b, 0),
    ("AND", 2, |a, b| a & b, 1),
    ("OR", 2, |a, b| a | b, 1),
    ("NAND", 2, |a, b| !(a & b), 1),
    ("NOR", 2, |a, b| !(a | b), 1),
    ("XNOR", 2, |a, b| a == b, 0),
    ("INV", 1, |a, _| !a, 0),
    ("NOT", 1, |a, _| !a, 0),
    ("BUF", 1, |a, _| a, 0),
    ("EQW", 1, |a, _| a, 0),
];

fn header(format: Format, gates: usize, wires: usize, outputs: usize) -> String {
    match format {
        Format::Fashion => format!("{gates} {wires}\n2 1 1\n1 {outputs}\n\n"),
        Format::Old => format!("{gates} {wires}\n1 1   {outputs}\n\n"),
    }
}

fn circuit(text: &str) -> Circuit {
    read(text.as_bytes()).map_or_else(|e| panic!("{e}: {text}"), |(circuit, _)| circuit)
}

#[test]
fn every_kind_has_its_truth_table() {
    for format in [Format::Fashion, Format::Old] {
        for (kind, inputs, value, ands) in KINDS {
            for name in [kind.to_owned(), kind.to_lowercase()] {
                let reads = ["0", "0 1"][inputs - 1];
                let text = header(format, 1, 3, 1) + &format!("{inputs} 1 {reads} 2 {name}\n");
                let circuit = circuit(&text);
                let program = Program::flat(kind, &circuit);
                assert_eq!((circuit.counts().and, program.depth() as u64), (ands, ands), "{text}");
                for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
                    assert_eq!(run(&circuit, &[vec![a], vec![b]]), [[value(a, b)]], "{text}: {a} {b}");
                }
            }
        }
        for (bit, name) in [(false, "EQ"), (true, "EQ"), (true, "eq")] {
            let text = header(format, 1, 3, 1) + &format!("1 1 {} 2 {name}\n", u8::from(bit));
            assert_eq!(run(&circuit(&text), &[vec![false], vec![true]]), [[bit]], "{text}");
        }
    }
}

/// A gate that needs new wires: the outputs stay the last wires, even if they are inputs.
#[test]
fn outputs_stay_last() {
    // Wires 1 (an input) and 2.
    let text = header(Format::Fashion, 1, 3, 2) + "2 1 0 1 2 OR\n";
    assert_eq!(run(&circuit(&text), &[vec![true], vec![false]]), [[false, true]]);
    // Both inputs, and wire 2.
    let text = header(Format::Old, 1, 3, 3) + "2 1 0 0 2 NOR\n";
    for (a, b) in [(false, true), (true, false)] {
        assert_eq!(run(&circuit(&text), &[vec![a], vec![b]]), [[a, b, !a]]);
    }
    // Later gates read outputs, which are written in another order.
    let text = header(Format::Fashion, 3, 5, 2) + "2 1 0 1 4 NAND\n2 1 4 0 2 OR\n2 1 2 4 3 XNOR\n";
    for (a, b) in [(false, false), (false, true), (true, false), (true, true)] {
        let nand = !(a & b);
        assert_eq!(run(&circuit(&text), &[vec![a], vec![b]]), [[(nand | a) == nand, nand]]);
    }
}

#[test]
fn gates_with_other_operands_are_told_with_their_line() {
    for (gate, expected) in [
        ("1 1 0 2 OR", "`2 1 A B OUT OR`"),
        ("2 1 0 2 nand", "`2 1 A B OUT NAND`"),
        ("2 1 0 1 1 2 NOR", "`2 1 A B OUT NOR`"),
        ("2 2 0 1 2 XNOR", "`2 1 A B OUT XNOR`"),
        ("2 1 0 1 2 BUF", "`1 1 A OUT BUF`"),
        ("1 1 2 2 EQ", "`1 1 0 OUT EQ` or `1 1 1 OUT EQ`"),
        ("2 1 0 3 2 OR", "a wire below 3"),
        ("2 1 0 2 2 OR", "an input or a wire that an earlier line writes"),
        ("2 1 0 1 1 OR", "a wire that is no input and that no earlier gate writes"),
    ] {
        for format in [Format::Fashion, Format::Old] {
            let text = header(format, 1, 3, 1) + gate + "\n";
            let line = if format == Format::Fashion { 5 } else { 4 };
            let error = read(text.as_bytes()).map_or_else(|e| e.to_string(), |_| panic!("{text}"));
            assert!(
                error.starts_with(&format!("line {line}: found ")) && error.ends_with(expected),
                "{error}"
            );
        }
    }
}

proptest! {
    /// Files of all kinds, with inner wires in any order and outputs anywhere at the end, against
    /// an evaluation of the lines themselves.
    #[test]
    fn files_of_all_kinds_are_what_their_lines_say(
        gates in prop::collection::vec((0usize..KINDS.len(), any::<[u16; 2]>()), 1..30),
        order in any::<u64>(),
        outputs in 1usize..34,
        old in any::<bool>(),
    ) {
        let wires = 2 + gates.len();
        let outputs = outputs.min(wires);
        // The places of gates' outputs: a permutation of 2...
        let mut places: Vec<usize> = (2..wires).collect();
        places.sort_by_key(|place| (*place as u64 + 1).wrapping_mul(order | 1));
        let format = if old { Format::Old } else { Format::Fashion };
        let mut text = header(format, gates.len(), wires, outputs);
        let mut lines = vec![];
        for (i, (kind, picks)) in gates.iter().enumerate() {
            let known = |pick: u16| if usize::from(pick) % (i + 2) < 2 { usize::from(pick) % (i + 2) } else { places[usize::from(pick) % (i + 2) - 2] };
            let (name, count, value, _) = KINDS[*kind];
            let [a, b] = picks.map(known);
            let reads = if count == 2 { format!("{a} {b}") } else { a.to_string() };
            text += &format!("{count} 1 {reads} {} {name}\n", places[i]);
            lines.push((a, b, places[i], value));
        }
        let circuit = circuit(&text);
        let program = Program::flat("kinds", &circuit);
        let mut file = vec![];
        write(&circuit, Format::Fashion, &mut file).unwrap();
        prop_assert_eq!(&read(&file[..]).unwrap().0, &circuit);
        for bits in 0..4u8 {
            let mut values = vec![false; wires];
            (values[0], values[1]) = (bits & 1 == 1, bits & 2 == 2);
            for (a, b, out, value) in &lines {
                values[*out] = value(values[*a], values[*b]);
            }
            let inputs = [vec![values[0]], vec![values[1]]];
            let expected = vec![values[wires - outputs..].to_vec()];
            prop_assert_eq!(eval::eval_gates(&circuit, &inputs).unwrap(), expected.clone(), "{}", text);
            prop_assert_eq!(eval::eval_bits(&program, &inputs).unwrap(), expected, "{}", text);
        }
    }
}
