//! Bins that match, counted, and their numbers added up, by oblivious transfer: an OT a bin, where a circuit would take 64 ANDs for a number.
//!
//! ```text
//! bin      b = b_R ⊕ b_S; R has b_R and the number v of its item, or 0, S has b_S
//! b v      = b_R v + b_S (1 − 2 b_R) v, modulo 2^64
//! OT       for b_S and c = (1 − 2 b_R) v: R has pads m_0, m_1 and says d = m_0 + c − m_1; it keeps −m_0, S has m_b + b d = m_0 + b c
//! count    the same with v = 1, modulo 2^24, under another part of the pads
//! ```
//!
//! Gilboa's product (CRYPTO 1999) of a bit, on random OTs. Semi-honest, as what it serves: d is masked by the pad that its hearer lacks.

use hushwire_block::{Block, pack::Packer};
use hushwire_ot::{Driver, Receiver, Receiving, SemiHonest, Sender, Sending};
use hushwire_wire::Channel;
use zeroize::Zeroizing;

use super::opprf::low;
use crate::PsiError;

/// AGREEMENT: OTs of a message.
const PIECE: usize = 1 << 15;
/// AGREEMENT: bytes of a count: more than there are bins.
const COUNT: usize = 3;
/// AGREEMENT: bytes of a number.
const NUMBER: usize = 8;

const STEP: &str = "products of a bit";

/// Shares of the number of bins that match, modulo 2^24, and of their numbers' sum, modulo 2^64.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Share {
    pub(super) count: u64,
    pub(super) sum: u64,
}

impl Share {
    fn add(&mut self, count: u64, number: u64) {
        *self = Share { count: self.count.wrapping_add(count), sum: self.sum.wrapping_add(number) };
    }

    /// The result, from both.
    pub(super) fn with(self, other: Share) -> Share {
        let mut both = self;
        both.add(other.count, other.sum);
        both.cut()
    }

    /// The count modulo 2^24: more of a share would tell how often it wrapped around.
    fn cut(self) -> Share {
        Share { count: self.count & ((1 << (8 * COUNT)) - 1), ..self }
    }
}

/// The pads of a count and of a number.
fn pads(block: &Block) -> [u64; 2] {
    [(block.to_u128() >> 64) as u64, low(*block)]
}

/// Bytes that R says of a bin.
fn said(with_numbers: bool) -> usize {
    if with_numbers { COUNT + NUMBER } else { COUNT }
}

/// R's share; `bits` are its shares of b, `numbers` those of its bins, where they are added up.
pub(super) fn offer(
    channel: &mut Channel,
    end: &mut Sender<SemiHonest>,
    bits: &[u64],
    numbers: Option<&[u64]>,
) -> Result<Share, PsiError> {
    assert!(numbers.is_none_or(|numbers| numbers.len() == bits.len()), "a number for each bin");
    let mut driver = Driver::new();
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; bits.len().min(PIECE)]);
    let (mut message, mut share) = (vec![], Share::default());
    for (k, bits) in bits.chunks(PIECE).enumerate() {
        let pairs = &mut pairs[..bits.len()];
        let mut step = end.extend(Sending::Rot { pairs: &mut *pairs, chosen: true });
        driver.run(channel, &mut step)?;
        let _ = step.finish().trust();
        message.clear();
        for (i, ([zero, one], bit)) in pairs.iter().zip(bits).enumerate() {
            let (zero, one, sign) = (pads(zero), pads(one), 0u64.wrapping_sub(*bit));
            let number = numbers.map_or(0, |numbers| numbers[k * PIECE + i]);
            let [count, sum] = [(1, 0), (number, 1)].map(|(value, k)| {
                let factor = (value ^ sign).wrapping_sub(sign);
                zero[k].wrapping_add(factor).wrapping_sub(one[k]).to_le_bytes()
            });
            message.extend_from_slice(&count[..COUNT]);
            message.extend_from_slice(&sum[..said(numbers.is_some()) - COUNT]);
            share.add(bit.wrapping_sub(zero[0]), (number & sign).wrapping_sub(zero[1]));
        }
        channel.send(STEP, &message)?;
    }
    Ok(share.cut())
}

/// S's share; `bits` are its shares of b.
pub(super) fn choose(
    channel: &mut Channel,
    end: &mut Receiver<SemiHonest>,
    bits: &[u64],
    with_numbers: bool,
) -> Result<Share, PsiError> {
    let (mut driver, each) = (Driver::new(), said(with_numbers));
    let mut messages = Zeroizing::new(vec![Block::ZERO; bits.len().min(PIECE)]);
    let (mut message, mut share) = (vec![0; each * messages.len()], Share::default());
    for bits in bits.chunks(PIECE) {
        let choices = Zeroizing::new(pack_bits(bits));
        let messages = &mut messages[..bits.len()];
        let mut step = end.extend(Receiving::RotChosen { choices: &choices, messages: &mut *messages });
        driver.run(channel, &mut step)?;
        let _ = step.finish().trust();
        let message = &mut message[..each * bits.len()];
        channel.recv(STEP, message)?;
        for ((bit, own), said) in bits.iter().zip(&*messages).zip(message.chunks_exact(each)) {
            let (mut count, mut sum) = ([0; 8], [0; 8]);
            count[..COUNT].copy_from_slice(&said[..COUNT]);
            sum[..each - COUNT].copy_from_slice(&said[COUNT..]);
            let (own, chosen) = (pads(own), 0u64.wrapping_sub(*bit));
            let [count, sum] = [count, sum].map(|said| u64::from_le_bytes(said) & chosen);
            share.add(own[0].wrapping_add(count), own[1].wrapping_add(sum));
        }
    }
    Ok(share.cut())
}

/// Bits of words of their own, packed.
pub(super) fn pack_bits(bits: &[u64]) -> Vec<u8> {
    let mut packer = Packer::new(bits.len().div_ceil(8));
    bits.iter().for_each(|bit| packer.push(*bit, 1));
    packer.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::circuit::tests::channels;
    use hushwire_aes::Backend;
    use hushwire_ot::{Context, Protocol, Sid, open_receiver, open_sender};
    use hushwire_prg::{Prg, Seed};
    use hushwire_wire::Meter;
    use std::thread;

    /// Shares of counts, and of sums of random numbers, over random flags, with either kind of OTs, and more than a message.
    #[test]
    fn shares_add_up_to_count_and_sum_over_flags() {
        let context = Context { sid: Sid([4; 32]), backend: Backend::best() };
        let mut random = Prg::new(context.backend, &Seed::from_bytes([3; 16]), "sums");
        for (len, ot) in
            [(1, Protocol::SoftSpoken4), (77, Protocol::SoftSpoken4), (PIECE + 3, Protocol::FerretB9)]
        {
            let mut words = || -> Vec<u64> { (0..len).map(|_| random.next_u64()).collect() };
            let [bits, other, numbers] = [(); 3].map(|()| words());
            let [bits, other] = [bits, other].map(|words| words.iter().map(|w| w & 1).collect::<Vec<_>>());
            let flags = || bits.iter().zip(&other).map(|(a, b)| a ^ b);
            let count = flags().sum();
            let sum = flags().zip(&numbers).fold(0u64, |sum, (flag, number)| sum.wrapping_add(flag * number));
            for with_numbers in [true, false] {
                let [mut a, mut b] = channels(&[Meter::new(), Meter::new()]);
                let shares = thread::scope(|scope| {
                    let other = &other;
                    let there = scope.spawn(move || {
                        let seed = Seed::from_bytes([1; 16]);
                        let mut end = open_receiver(&mut Driver::new(), &mut b, &context, ot, &seed)?;
                        choose(&mut b, &mut end, other, with_numbers)
                    });
                    let seed = Seed::from_bytes([2; 16]);
                    let mut end = open_sender(&mut Driver::new(), &mut a, &context, ot, &seed)?;
                    let here = offer(&mut a, &mut end, &bits, with_numbers.then_some(&numbers[..]))?;
                    Ok::<_, PsiError>([here, there.join().expect("no panic")?])
                });
                let [ours, theirs] = shares.expect("an honest run");
                let expected = Share { count, sum: if with_numbers { sum } else { 0 } };
                assert_eq!(ours.with(theirs), expected, "{len} bins");
            }
        }
    }
}
