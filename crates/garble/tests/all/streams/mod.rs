//! An evaluator on arbitrary tables, in memory and in messages, for tests and the fuzzer.

use hushwire_aes::Backend;
use hushwire_block::Block;
use hushwire_circuit::{Program, named};
use hushwire_garble::{
    Cursor, Engine, Evaluate, Family, GarbleError, GateBackend, Memory, Scheme, SessionNonce,
    cursor::{CHUNK, table_bytes},
    half::HalfGates,
    prf::PrfOnly,
    privacy_free::PrivacyFree,
    three_halves::ThreeHalves,
};
use std::sync::OnceLock;

/// The number of bytes before the tables: scheme, instances, length of messages.
pub(crate) const HEAD: usize = 3;

/// Blocks with XORs and ANDs in several layers, and stages of several copies.
fn programs() -> &'static [Program; 2] {
    static MADE: OnceLock<[Program; 2]> = OnceLock::new();
    MADE.get_or_init(|| ["add:5", "sort:4x3"].map(|name| named::program(name).expect("a circuit of ours")))
}

/// The length of the tables for this head.
#[allow(dead_code, reason = "for tests alone")]
pub(crate) fn whole(head: &[u8; HEAD]) -> u64 {
    let (program, instances) = job(head);
    match scheme(head) {
        Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => bytes_of::<HalfGates>(program, instances),
        Scheme::Prf => bytes_of::<PrfOnly>(program, instances),
        Scheme::ThreeHalves => bytes_of::<ThreeHalves>(program, instances),
        Scheme::PrivacyFree => bytes_of::<PrivacyFree>(program, instances),
    }
}

fn bytes_of<F: Family>(program: &Program, instances: usize) -> u64 {
    table_bytes::<F::Evaluator>(program, instances)
}

fn scheme(head: &[u8; HEAD]) -> Scheme {
    Scheme::ALL[usize::from(head[0]) % Scheme::ALL.len()]
}

fn job(head: &[u8; HEAD]) -> (&'static Program, usize) {
    (&programs()[usize::from(head[1] >> 7)], 1 + usize::from(head[1] & 0x7f) % 19)
}

/// Evaluates: the tables are either used to the last byte or found too short, without any other
/// error.
pub(crate) fn fed(bytes: &[u8]) {
    let Some((head, tables)) = bytes.split_first_chunk::<HEAD>() else { return };
    match scheme(head) {
        Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => run::<HalfGates>(head, tables),
        Scheme::Prf => run::<PrfOnly>(head, tables),
        Scheme::ThreeHalves => run::<ThreeHalves>(head, tables),
        Scheme::PrivacyFree => run::<PrivacyFree>(head, tables),
    }
}

fn run<F: Family>(head: &[u8; HEAD], tables: &[u8]) {
    let (program, instances) = job(head);
    let wanted = bytes_of::<F>(program, instances);
    let enough = tables.len() as u64 >= wanted;

    let mut memory = Memory::of(tables.to_vec());
    let in_memory = evaluate::<F>(head, |engine, program, instances, wires| {
        engine.program(program, instances, wires, &mut memory)
    });
    match &in_memory {
        Ok(_) => assert!(enough && memory.bytes().len() as u64 == wanted),
        Err(GarbleError::Short { .. }) => assert!(!enough),
        Err(e) => panic!("{e}"),
    }

    // The same tables in messages, exactly as long as the circuit requires.
    let mut left = tables;
    let streamed = evaluate::<F>(head, |engine, program, instances, wires| {
        let mut cursor = Cursor::new::<F::Evaluator>(program, instances);
        loop {
            let (bytes, last) = cursor.upcoming(CHUNK + 8 * usize::from(head[2]));
            let short = || GarbleError::Short { wanted: bytes, left: left.len() };
            let (message, rest) = left.split_at_checked(bytes).ok_or_else(short)?;
            engine.advance(&mut cursor, wires, message);
            left = rest;
            if last {
                return Ok(());
            }
        }
    });
    assert_eq!(streamed.ok(), in_memory.ok());
}

type Wire<F> = <<F as Family>::Evaluator as GateBackend>::Wire;

/// Evaluates, and computes the signals of the outputs, whatever they are.
fn evaluate<F: Family>(
    head: &[u8; HEAD],
    run: impl FnOnce(&mut Engine<F::Evaluator>, &Program, usize, &mut [Wire<F>]) -> Result<(), GarbleError>,
) -> Result<Vec<u8>, GarbleError> {
    let (program, instances) = job(head);
    let end = F::Evaluator::new(Backend::best(), scheme(head), SessionNonce(Block([head[2]; 16])));
    let bits = program.input_bits() * instances;
    let mut wires = vec![Wire::<F>::default(); program.registers() * instances];
    for (i, wire) in wires.iter_mut().enumerate().take(bits) {
        *wire = end.label(Block([i as u8; 16]));
    }
    let mut engine = Engine::new(end);
    run(&mut engine, program, instances, &mut wires)?;
    let end = engine.into_end();
    Ok(wires.into_iter().map(|wire| end.signal(wire)).collect())
}
