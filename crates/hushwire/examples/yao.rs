//! Two parties learn which of them has more, and nothing else: Yao's protocol on a comparison, with
//! a thousand instances at once.
//!
//! `cargo run -p hushwire --example yao`

use std::{error::Error, thread, time::Duration};

use hushwire::{
    aes::Backend,
    circuit::{Planes, TwoParty, named},
    garble::{
        Role,
        yao::{Terms, YaoParty},
    },
    machine::{Channel, PartyId, inproc},
    ot::{Context, Sid},
    prg::Seed,
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

const PAIRS: usize = 1000;

/// One party's part: the same function serves both. Only this party knows `numbers`.
fn party(role: Role, channel: &mut Channel, numbers: &[u32]) -> Outcome<Vec<u8>> {
    // Both agree on all of this: a session name that is never used twice, the terms, the circuit,
    // and which party brings and learns which values. If they differ, both parties get an error.
    let context = Context { sid: Sid([43; 32]), backend: Backend::best() };
    let program = named::program("less:32")?;
    let roles = TwoParty::new(&program, vec![0, 1], vec![[true, true]]);

    let mut party = YaoParty::open(channel, role, &context, Terms::default(), &Seed::random())?;
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
    let output = party.run(channel, &program, &roles, &Planes::pack(&bytes, 32, PAIRS))?;
    let stats = party.stats();
    println!("{role:?}: {} ANDs, {} bytes of tables", stats.ands, stats.table_bytes);
    Ok(output.unpack())
}

fn main() -> Outcome<()> {
    let alice: Vec<u32> = (0..PAIRS as u32).map(|i| 7919 * i % 1000).collect();
    let bob: Vec<u32> = (0..PAIRS as u32).map(|i| 104_729 * i % 1000).collect();

    // Over a network, use `wire::connect` in two processes.
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(10)).into_iter();
    let (Some(mut zero), Some(mut one)) = (nets.next(), nets.next()) else {
        return Err("two parties".into());
    };
    let less = thread::scope(|scope| {
        let garbling =
            scope.spawn(|| party(Role::Garbler, &mut zero.channel(0, Some(ids[1]), Some(ids[1]))?, &alice));
        let less = party(Role::Evaluator, &mut one.channel(0, Some(ids[0]), Some(ids[0]))?, &bob)?;
        let same = garbling.join().map_err(|_| "the garbler panicked")??;
        assert_eq!(less, same, "both learn it");
        Outcome::Ok(less)
    })?;

    for ((a, b), bit) in alice.iter().zip(&bob).zip(&less) {
        assert_eq!(*bit == 1, a < b);
    }
    println!("{} of {PAIRS} pairs are in order", less.iter().filter(|bit| **bit == 1).count());
    Ok(())
}
