//! An evaluator on tables of any bytes, in memory and over a channel: for tests and the fuzzer.

use hushwire_aes::Backend;
use hushwire_block::{Block, Buffer};
use hushwire_circuit::{Program, named};
use hushwire_garble::{
    Engine, Evaluate, Family, GarbleError, GateBackend, Memory, Receive, Scheme, SessionNonce,
    engine::table_bytes, half::HalfGates, prf::PrfOnly, privacy_free::PrivacyFree, three_halves::ThreeHalves,
};
use hushwire_wire::{NetError, PartyId, inproc};
use std::{sync::OnceLock, time::Duration};

/// Bytes before the tables: scheme, instances, cut of messages, by how much the stream is said to be longer or shorter.
pub(crate) const HEAD: usize = 4;

/// Blocks with XORs and ANDs in several layers, and stages of several copies.
fn programs() -> &'static [Program; 2] {
    static MADE: OnceLock<[Program; 2]> = OnceLock::new();
    MADE.get_or_init(|| ["add:5", "sort:4x3"].map(|name| named::program(name).expect("a circuit of ours")))
}

/// The length of the tables that these bytes ask for.
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

/// Evaluates: the tables are taken to the last byte, or found too short; nothing else happens.
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
    let in_memory = evaluate::<F>(head, &mut memory);
    match &in_memory {
        Ok(_) => assert!(enough && memory.bytes().len() as u64 == wanted),
        Err(GarbleError::Short { .. }) => assert!(!enough),
        Err(e) => panic!("{e}"),
    }

    // What the circuit says is what `Receive` is told; other totals are a caller's mistake and end as short streams.
    let said = (wanted + u64::from(head[3] & 0x0f)).saturating_sub(u64::from(head[3] >> 4));
    let ids = [PartyId(0), PartyId(1)];
    let [mut garbler, mut evaluator] =
        <[_; 2]>::try_from(inproc::mesh(&ids, 1, Duration::from_secs(20))).ok().expect("two");
    let mut from = garbler.channel(0, Some(ids[1]), None).expect("a channel");
    let mut to = evaluator.channel(0, None, Some(ids[0])).expect("a channel");
    for part in tables.chunks(1 + 8 * usize::from(head[2])) {
        from.send("tables", part).expect("a queue takes everything");
    }
    drop((from, garbler));
    let mut buffer = Buffer::new();
    let received = evaluate::<F>(head, &mut Receive::new(&mut to, &mut buffer, said));
    match received {
        Ok(signals) => {
            assert!(enough && said >= wanted);
            assert_eq!(in_memory.expect("the same tables"), signals);
        }
        Err(GarbleError::Short { .. }) => assert!(said < wanted),
        Err(GarbleError::Net(NetError::Closed { .. })) => assert!((tables.len() as u64) < said),
        Err(e) => panic!("{e}"),
    }
}

/// Signals of the outputs, whatever they mean.
fn evaluate<F: Family>(
    head: &[u8; HEAD],
    tables: &mut dyn hushwire_garble::Tables,
) -> Result<Vec<u8>, GarbleError> {
    let (program, instances) = job(head);
    let end = F::Evaluator::new(Backend::best(), scheme(head), SessionNonce(Block([head[2]; 16])));
    let bits = program.input_bits() * instances;
    let mut wires = vec![<F::Evaluator as GateBackend>::Wire::default(); program.registers() * instances];
    for (i, wire) in wires.iter_mut().enumerate().take(bits) {
        *wire = end.label(Block([i as u8; 16]));
    }
    let mut engine = Engine::new(end);
    engine.program(program, instances, &mut wires, tables)?;
    let end = engine.into_end();
    Ok(wires.into_iter().map(|wire| end.signal(wire)).collect())
}
