//! Oblivious transfer between two parties: [`send`] and [`receive`] for a batch of messages, and
//! all of [`hushwire_ot`] for other uses.
//!
//! The sender has pairs of messages of 16 bytes, and the receiver has a choice bit for each pair.
//! The receiver learns the chosen message of each pair, and nothing about the other one. The sender
//! learns nothing about the choices.
//!
//! **Security.** Against a malicious peer, κ = 128: Chou–Orlandi base OTs and SoftSpoken OT
//! extension with trees of 16 leaves, whose consistency check precedes every message. Other
//! extensions, and correlated or random OTs by the million, are available by the [`Sender`] and
//! [`Receiver`] of [`open_sender`] and [`open_receiver`].

use crate::pair::name;
use hushwire_aes::Backend;
use hushwire_block::{Block, Wiped};
use hushwire_fault::Fault;
use hushwire_machine::Channel;
pub use hushwire_ot::*;

/// AGREEMENT: the domain of the names of these runs.
const DOMAIN: &str = "hushwire 2026-11-28 library oblivious transfer v1";
const STEP: &str = "oblivious transfer";

/// Sets up `count` OTs under a name that both parties have drawn.
fn transfer(channel: &mut Channel, count: usize, me: u8) -> Result<Transfer, Fault> {
    let mut theirs = [0; 8];
    channel.exchange("the number of transfers", &(count as u64).to_le_bytes(), &mut theirs)?;
    let theirs = u64::from_le_bytes(theirs);
    if theirs != count as u64 {
        let cause = format!("this party has {count} of them, and the peer {theirs}");
        return Err(Fault::usage(STEP, cause, "bring a choice for each pair of messages"));
    }
    let sid = Sid(name(channel, DOMAIN, me)?);
    let context = Context { sid, backend: Backend::best() };
    Ok(Transfer { context, protocol: Protocol::SoftSpoken4, level: Level::Malicious })
}

/// Offers pairs of messages to the peer, which calls [`receive`] with a choice for each pair.
///
/// # Errors
/// The peer requests another number of messages or deviates from the protocol, or the channel
/// failed.
pub fn send(channel: &mut Channel, pairs: &[[Block; 2]]) -> Result<(), Fault> {
    let transfer = transfer(channel, pairs.len(), 0)?;
    transfer.send(channel, pairs, &mut |_| {}).map_err(|e| e.fault().during(STEP))
}

/// Learns one message of each pair that the peer offers with [`send`]: the second one if the choice
/// is true.
///
/// # Errors
/// The peer offers another number of pairs or deviates from the protocol, or the channel failed.
pub fn receive(channel: &mut Channel, choices: &[bool]) -> Result<Vec<Block>, Fault> {
    let transfer = transfer(channel, choices.len(), 1)?;
    let byte = |eight: &[bool]| eight.iter().rev().fold(0, |byte, choice| byte << 1 | u8::from(*choice));
    let packed: Wiped<Vec<u8>> = Wiped::new(choices.chunks(8).map(byte).collect());
    let mut messages = vec![Block::ZERO; choices.len()];
    transfer.receive(channel, &packed, &mut messages, &mut |_| {}).map_err(|e| e.fault().during(STEP))?;
    Ok(messages)
}
