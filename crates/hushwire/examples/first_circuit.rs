//! Three parties compare a thousand pairs of numbers that no party sees.
//!
//! `cargo run -p hushwire --example first_circuit`

use hushwire::aes::Backend;
use hushwire::circuit::{Planes, named};
use hushwire::machine::drive::Lockstep;
use hushwire::prg::{Prg, Seed};
use hushwire::rep3::{CircuitBatch, CircuitWorkspace, Rep3Party, circuit_cost, open, share};
use std::sync::Arc;

const PAIRS: usize = 1000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The numbers of two owners, as bit planes: bit i of all numbers, then bit i + 1, …
    let alice: Vec<u8> = (0..PAIRS as u32).flat_map(|i| (7919 * i % 1000).to_le_bytes()).collect();
    let bob: Vec<u8> = (0..PAIRS as u32).flat_map(|i| (104_729 * i % 1000).to_le_bytes()).collect();
    let inputs = Planes::join(PAIRS, [&alice, &bob].map(|numbers| Planes::pack(numbers, 32, PAIRS)));
    // Each party gets two of the three shares, which look random.
    let shares = share(&mut Prg::new(Backend::best(), &Seed::random(), "first circuit"), &inputs);

    // In one process, the parties' keys are drawn at once. Over a network, `Rep3Party::open` draws
    // them.
    let program = Arc::new(named::program("less:32")?);
    let mut parties = vec![];
    for (mut party, inputs) in Rep3Party::three(Backend::best()).into_iter().zip(&shares) {
        let (context, ws) = (party.next_batch()?.context(), CircuitWorkspace::default());
        parties.push(CircuitBatch::new(program.clone(), context, inputs, PAIRS, ws)?);
    }
    Lockstep::new().run(&mut parties)?;

    let out: Vec<_> = parties.iter().map(CircuitBatch::output).collect();
    let opened = Planes::new(1, PAIRS, open([&out[0].own, &out[1].own, &out[2].own])?)?.unpack();
    let less = opened.iter().filter(|bit| **bit == 1).count();
    let cost = circuit_cost(&program, PAIRS);
    println!(
        "{less} of {PAIRS} pairs are in order; each party sent {} bytes in {} rounds",
        cost.bytes_sent, cost.rounds
    );
    let number =
        |v: &[u8], i: usize| u32::from_le_bytes([v[4 * i], v[4 * i + 1], v[4 * i + 2], v[4 * i + 3]]);
    assert_eq!(less, (0..PAIRS).filter(|&i| number(&alice, i) < number(&bob, i)).count());
    Ok(())
}
