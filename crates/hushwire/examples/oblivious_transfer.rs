//! Two parties in one process: a million random correlated OTs, checked, then a chosen OT of three
//! messages.
//!
//! `cargo run --release -p hushwire --example oblivious_transfer`

use std::{error::Error, thread, time::Duration};

use hushwire::{
    aes::Backend,
    block::{Block, Buffer},
    machine::{Channel, PartyId, inproc},
    ot::{Context, Driver, Malicious, Protocol, Receiving, Sending, Sid, open_receiver, open_sender},
    prg::Seed,
};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A million at a time. It is a multiple of a chunk's 8192, so that no OT is left over.
const OTS: usize = 1 << 20;

/// Both parties agree on this name before they begin, and use it once. Draw it, or derive it from
/// the session.
fn context() -> Context {
    Context { sid: Sid([42; 32]), backend: Backend::best() }
}

fn sender(channel: &mut Channel) -> Outcome<()> {
    let driver = &mut Driver::new();
    let mut sender =
        open_sender::<Malicious>(driver, channel, &context(), Protocol::SoftSpoken4, &Seed::random())?;
    let mut buffer = Buffer::new();
    buffer.set_len(16 * OTS);

    // q, for choices that the receiver does not choose. It is unverified until the check.
    let mut steps = sender.extend(Sending::Rcot(buffer.blocks_mut()));
    driver.run(channel, &mut steps)?;
    let made = steps.finish();
    let mut check = sender.verify();
    driver.run(channel, &mut check)?;
    if let Sending::Rcot(q) = made.open(&check.finish())? {
        println!("sender: {} verified correlated OTs, the first q is {:02x?}", q.len(), &q[0].0[..4]);
    }

    // Messages are sent only after a check of the OTs that hide them.
    let messages = [1, 2, 3].map(|i| [Block::from_u128(i), Block::from_u128(100 * i)]);
    driver.run(channel, &mut sender.extend(Sending::Ot(&messages)))?;
    Ok(())
}

fn receiver(channel: &mut Channel) -> Outcome<Vec<u128>> {
    let driver = &mut Driver::new();
    let mut receiver =
        open_receiver::<Malicious>(driver, channel, &context(), Protocol::SoftSpoken4, &Seed::random())?;
    let mut buffer = Buffer::new();
    buffer.set_len(16 * OTS);
    let mut steps = receiver.extend(Receiving::Rcot(buffer.blocks_mut()));
    driver.run(channel, &mut steps)?;
    let made = steps.finish();
    let mut check = receiver.verify();
    driver.run(channel, &mut check)?;
    if let Receiving::Rcot(t) = made.open(&check.finish())? {
        println!("receiver: choice bits {:?}…", t[..8].iter().map(|t| u8::from(t.lsb())).collect::<Vec<_>>());
    }

    // Choices 0, 1, 1: bit i of byte 0.
    let mut messages = [Block::ZERO; 3];
    let mut steps = receiver.extend(Receiving::Ot { choices: &[0b110], messages: &mut messages });
    driver.run(channel, &mut steps)?;
    let made = steps.finish();
    let mut check = receiver.verify();
    driver.run(channel, &mut check)?;
    made.open(&check.finish())?;
    Ok(messages.map(Block::to_u128).to_vec())
}

fn main() -> Outcome<()> {
    let ids = [PartyId(0), PartyId(1)];
    let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(10)).into_iter();
    let (Some(mut zero), Some(mut one)) = (nets.next(), nets.next()) else {
        return Err("two parties".into());
    };
    let got = thread::scope(|scope| {
        let sending = scope.spawn(move || sender(&mut zero.channel(0, Some(ids[1]), Some(ids[1]))?));
        let got = receiver(&mut one.channel(0, Some(ids[0]), Some(ids[0]))?)?;
        sending.join().map_err(|_| "the sender panicked")??;
        Outcome::Ok(got)
    })?;
    assert_eq!(got, [1, 200, 300]);
    println!("receiver: messages {got:?}");
    Ok(())
}
