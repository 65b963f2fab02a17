//! Any bytes are read as a circuit or refused with a line; what is read is written, read again and
//! run.
#![no_main]

use hushwire_circuit::{
    Gate, Program,
    bristol::{self, Format, ReadError},
    eval,
};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (circuit, format) = match bristol::read(bytes) {
        Ok(read) => read,
        Err(ReadError::Malformed(e)) => return assert!(e.line >= 1 && !e.expected.is_empty()),
        Err(ReadError::Io(e)) => panic!("bytes in memory can be read: {e}"),
    };
    // The older format is written without constants and copies, and Bristol Fashion has all: gates
    // come back as they are.
    let fashion = circuit.gates().iter().any(|gate| matches!(gate, Gate::Const { .. } | Gate::Copy { .. }));
    let format = if fashion { Format::Fashion } else { format };
    let mut file = vec![];
    bristol::write(&circuit, format, &mut file).expect("what was read in a format fits it");
    let (again, same) = bristol::read(&file[..]).expect("what is written is right");
    assert_eq!(same, format);
    assert_eq!(again, circuit);
    if format == Format::Fashion {
        let mut old = vec![];
        if bristol::write(&circuit, Format::Old, &mut old).is_ok() {
            bristol::read(&old[..]).expect("what is written is right");
        }
    }
    // Large widths cost time and find nothing.
    if circuit.wires() < 1 << 12 {
        let inputs: Vec<Vec<bool>> =
            circuit.inputs().iter().map(|w| (0..*w).map(|i| i % 3 == 0).collect()).collect();
        let gates = eval::eval_gates(&circuit, &inputs).expect("inputs fit");
        let program = Program::flat("fuzzed", &circuit);
        assert_eq!(eval::eval_bits(&program, &inputs).expect("inputs fit"), gates);
    }
});
