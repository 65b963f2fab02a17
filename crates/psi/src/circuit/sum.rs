//! Sums the numbers of the matching bins by oblivious transfer: one OT a bin, where a circuit would
//! take 64 ANDs.
//!
//! ```text
//! bin      b = b_R ⊕ b_S; R has b_R and the number v of its item, or 0; S has b_S
//! b v      = b_R v + b_S (1 − 2 b_R) v, modulo 2^64
//! OT       for b_S and c = (1 − 2 b_R) v: R has pads m_0, m_1 and sends d = m_0 + c − m_1;
//!          R keeps −m_0, S gets m_b + b_S d = m_0 + b_S c
//! ```
//!
//! Gilboa's product (CRYPTO 1999) of a bit, on random OTs. Semi-honest, like the protocol that uses
//! it: d is masked by the pad that its receiver lacks.

use hushwire_block::Block;
use hushwire_machine::Channel;
use hushwire_ot::{Context, Driver, Protocol, Receiving, Sending, open_receiver, open_sender};
use hushwire_prg::Seed;
use zeroize::Zeroizing;

use super::opprf::low;
use crate::PsiError;

/// AGREEMENT: the number of OTs per message.
const PIECE: usize = 1 << 15;
/// AGREEMENT: the number of bins from which on OTs from learning parity with noise are worth their
/// longer set-up.
const MANY: usize = 1 << 15;

fn ot(bins: usize) -> Protocol {
    if bins < MANY { Protocol::SoftSpoken4 } else { Protocol::FerretB11 }
}

/// The receiver's share, modulo 2^64, of the sum of `numbers` over the bins with b = 1; `bits` are
/// its shares of b.
pub(super) fn offer(
    channel: &mut Channel,
    context: &Context,
    bits: &[bool],
    numbers: &[u64],
    seed: &Seed,
) -> Result<u64, PsiError> {
    assert_eq!(bits.len(), numbers.len(), "a number for each bin");
    let mut driver = Driver::new();
    let mut end = open_sender(&mut driver, channel, context, ot(bits.len()), seed)?;
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; bits.len().min(PIECE)]);
    let (mut message, mut share) = (vec![], 0u64);
    for (bits, numbers) in bits.chunks(PIECE).zip(numbers.chunks(PIECE)) {
        let pairs = &mut pairs[..bits.len()];
        let mut step = end.extend(Sending::Rot { pairs: &mut *pairs, chosen: true });
        driver.run(channel, &mut step)?;
        let _ = step.finish().trust();
        message.clear();
        for ([zero, one], (bit, number)) in pairs.iter().zip(bits.iter().zip(numbers)) {
            let sign = 0u64.wrapping_sub(u64::from(*bit));
            let factor = (number ^ sign).wrapping_sub(sign);
            let said = low(*zero).wrapping_add(factor).wrapping_sub(low(*one));
            message.extend_from_slice(&said.to_le_bytes());
            share = share.wrapping_add(number & sign).wrapping_sub(low(*zero));
        }
        channel.send("products of a bit", &message)?;
    }
    Ok(share)
}

/// The sender's share; `bits` are its shares of b.
pub(super) fn choose(
    channel: &mut Channel,
    context: &Context,
    bits: &[bool],
    seed: &Seed,
) -> Result<u64, PsiError> {
    let mut driver = Driver::new();
    let mut end = open_receiver(&mut driver, channel, context, ot(bits.len()), seed)?;
    let mut messages = Zeroizing::new(vec![Block::ZERO; bits.len().min(PIECE)]);
    let (mut message, mut share) = (vec![0; 8 * messages.len()], 0u64);
    for bits in bits.chunks(PIECE) {
        let packed =
            bits.chunks(8).map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | u8::from(*bit)));
        let choices: Zeroizing<Vec<u8>> = Zeroizing::new(packed.collect());
        let messages = &mut messages[..bits.len()];
        let mut step = end.extend(Receiving::RotChosen { choices: &choices, messages: &mut *messages });
        driver.run(channel, &mut step)?;
        let _ = step.finish().trust();
        let message = &mut message[..8 * bits.len()];
        channel.recv("products of a bit", message)?;
        for ((bit, own), said) in bits.iter().zip(&*messages).zip(message.as_chunks().0) {
            let added = u64::from_le_bytes(*said) & 0u64.wrapping_sub(u64::from(*bit));
            share = share.wrapping_add(low(*own)).wrapping_add(added);
        }
    }
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_machine::{PartyId, inproc};
    use hushwire_ot::Sid;
    use hushwire_prg::Prg;
    use std::{thread, time::Duration};

    /// Shares of sums of random numbers over random flags, with either OT protocol, and with more
    /// than one message.
    #[test]
    fn shares_add_up_to_the_sum_over_flags() {
        let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
        let mut random = Prg::new(context.backend, &Seed::from_bytes([3; 16]), "sums");
        for len in [1, 8, 77, PIECE + 3] {
            let mut words = || -> Vec<u64> { (0..len).map(|_| random.next_u64()).collect() };
            let [bits, other, numbers] = [(); 3].map(|()| words());
            let [bits, other] =
                [bits, other].map(|words| words.iter().map(|w| w & 1 == 1).collect::<Vec<_>>());
            let all = bits.iter().zip(&other).zip(&numbers);
            let expected =
                all.filter(|((a, b), _)| a != b).fold(0u64, |sum, (_, number)| sum.wrapping_add(*number));
            let ids = [PartyId(0), PartyId(1)];
            let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
            let mut channel =
                |me: usize| nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("a channel");
            let (mut a, mut b) = (channel(0), channel(1));
            let [ours, theirs] = thread::scope(|scope| {
                let [seed, their_seed] = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
                let there = scope.spawn(move || choose(&mut b, &context, &other, &their_seed));
                let here = offer(&mut a, &context, &bits, &numbers, &seed);
                [here, there.join().expect("no panic")].map(|share| share.expect("an honest run"))
            });
            assert_eq!(ours.wrapping_add(theirs), expected, "{len} bins");
        }
    }
}
