//! Numbers of the bins that match, added up by oblivious transfer: two OTs a bin, where a circuit would take 128 ANDs.
//!
//! ```text
//! bin      b = b_R ⊕ b_S, v = p + s modulo 2^64 where b is 1; R has b_R and p, S has b_S and s
//! b v      = b_R p + b_S (1 − 2 b_R) p + b_S s + b_R (1 − 2 b_S) s
//! OT       for b_S and c = (1 − 2 b_R) p: R has pads m_0, m_1 and says d = m_0 + c − m_1; it keeps −m_0, S has m_b + b d = m_0 + b c
//!          for b_R and c = (1 − 2 b_S) s the other way
//! ```
//!
//! Gilboa's product (CRYPTO 1999) of a bit, on random OTs. Semi-honest, as what it serves: d is masked by the pad that its hearer lacks.

use hushwire_block::Block;
use hushwire_ot::{
    Context, Driver, Protocol, Receiver, Receiving, SemiHonest, Sender, Sending, open_receiver, open_sender,
};
use hushwire_prg::Seed;
use hushwire_wire::Channel;
use zeroize::{Zeroize, Zeroizing};

use crate::PsiError;

/// AGREEMENT: OTs of a message.
const PIECE: usize = 1 << 15;
/// AGREEMENT: bins from which on OTs by learning parity with noise pay their longer set-up.
const MANY: usize = 1 << 15;

/// This party's share, modulo 2^64, of the sum of v over the bins with b = 1: `bits` are its shares of b, `numbers` of v.
/// `is_receiver` tells the two parties apart.
pub(super) fn over_flags(
    channel: &mut Channel,
    context: &Context,
    is_receiver: bool,
    bits: &[bool],
    numbers: &[u64],
    seed: &Seed,
) -> Result<u64, PsiError> {
    assert_eq!(bits.len(), numbers.len(), "a number for each bin");
    let ot = if bits.len() < MANY { Protocol::SoftSpoken4 } else { Protocol::FerretB11 };
    let mut driver = Driver::new();
    // c, and what needs no OT.
    let own = bits.iter().zip(numbers).map(|(bit, number)| number & 0u64.wrapping_sub(u64::from(*bit)));
    let mut share = own.fold(0, u64::wrapping_add);
    let factor = |(bit, number): (&bool, &u64)| {
        let sign = 0u64.wrapping_sub(u64::from(*bit));
        (number ^ sign).wrapping_sub(sign)
    };
    let factors: Zeroizing<Vec<u64>> = Zeroizing::new(bits.iter().zip(numbers).map(factor).collect());
    for (turn, name) in ["sum of the receiver's", "sum of the sender's"].into_iter().enumerate() {
        let (context, seed) = (context.child(name, 0), seed.derive(name, &[]));
        let part = if is_receiver == (turn == 0) {
            let mut end = open_sender(&mut driver, channel, &context, ot, &seed)?;
            offer(&mut driver, channel, &mut end, &factors)?
        } else {
            let mut end = open_receiver(&mut driver, channel, &context, ot, &seed)?;
            choose(&mut driver, channel, &mut end, bits)?
        };
        share = share.wrapping_add(part);
    }
    Ok(share)
}

fn low(block: Block) -> u64 {
    block.to_u128() as u64
}

/// The share of Σ b c of who has c.
fn offer(
    driver: &mut Driver,
    channel: &mut Channel,
    end: &mut Sender<SemiHonest>,
    factors: &[u64],
) -> Result<u64, PsiError> {
    let mut pairs = vec![[Block::ZERO; 2]; factors.len().min(PIECE)];
    let (mut message, mut share) = (vec![], 0u64);
    for factors in factors.chunks(PIECE) {
        let pairs = &mut pairs[..factors.len()];
        let mut step = end.extend(Sending::Rot { pairs: &mut *pairs, chosen: true });
        driver.run(channel, &mut step)?;
        let _ = step.finish().trust();
        message.clear();
        for ([zero, one], factor) in pairs.iter().zip(factors) {
            let said = low(*zero).wrapping_add(*factor).wrapping_sub(low(*one));
            message.extend_from_slice(&said.to_le_bytes());
            share = share.wrapping_sub(low(*zero));
        }
        channel.send("products of a bit", &message)?;
    }
    pairs.zeroize();
    Ok(share)
}

/// The share of Σ b c of who has b.
fn choose(
    driver: &mut Driver,
    channel: &mut Channel,
    end: &mut Receiver<SemiHonest>,
    bits: &[bool],
) -> Result<u64, PsiError> {
    let mut messages = vec![Block::ZERO; bits.len().min(PIECE)];
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
    messages.zeroize();
    Ok(share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_ot::Sid;
    use hushwire_prg::Prg;
    use hushwire_wire::{PartyId, inproc};
    use std::{thread, time::Duration};

    /// Shares of sums of random numbers over random flags, with either kind of OTs, and more than a message.
    #[test]
    fn shares_add_up_to_the_sum_over_flags() {
        let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
        let mut random = Prg::new(context.backend, &Seed::from_bytes([3; 16]), "sums");
        for len in [1, 8, 77, PIECE + 3] {
            let mut words = || -> Vec<u64> { (0..len).map(|_| random.next_u64()).collect() };
            let [bits, other, numbers, rest] = [(); 4].map(|()| words());
            let [bits, other] =
                [bits, other].map(|words| words.iter().map(|w| w & 1 == 1).collect::<Vec<_>>());
            let all = bits.iter().zip(&other).zip(numbers.iter().zip(&rest));
            let expected = all
                .filter(|((a, b), _)| a != b)
                .fold(0u64, |sum, (_, (p, s))| sum.wrapping_add(*p).wrapping_add(*s));
            let ids = [PartyId(0), PartyId(1)];
            let mut nets = inproc::mesh(&ids, 1, Duration::from_secs(60));
            let mut channel =
                |me: usize| nets[me].channel(0, Some(ids[1 - me]), Some(ids[1 - me])).expect("a channel");
            let (mut a, mut b) = (channel(0), channel(1));
            let [ours, theirs] = thread::scope(|scope| {
                let [seed, their_seed] = [1, 2].map(|seed| Seed::from_bytes([seed; 16]));
                let there =
                    scope.spawn(move || over_flags(&mut b, &context, false, &other, &rest, &their_seed));
                let here = over_flags(&mut a, &context, true, &bits, &numbers, &seed);
                [here, there.join().expect("no panic")].map(|share| share.expect("an honest run"))
            });
            assert_eq!(ours.wrapping_add(theirs), expected, "{len} bins");
        }
    }
}
