//! The uses of a chunk's random correlated OTs: correlated, random and chosen OTs, of blocks or
//! bits, for either role.

use hushwire_block::{Block, from_bytes, from_bytes_mut};
use zeroize::Zeroizing;

use crate::{
    bits::{add_chosen, add_where, bytes, lsbs, put_range, xor_range},
    end::ChunkOts,
    hasher::OtHasher,
};

/// The sender's call of an extension, with its outputs. All lengths are agreed: the receiver
/// requests the same.
#[derive(Debug)]
pub enum Sending<'a> {
    /// Random correlated OT: q, for choices that the extension draws.
    Rcot(&'a mut [Block]),
    /// Correlated OT: q, for choices that the receiver brings.
    Cot(&'a mut [Block]),
    /// Random OT: both messages; `chosen` is whether the receiver brings its choices.
    Rot {
        /// The messages.
        pairs: &'a mut [[Block; 2]],
        /// Whether the receiver brings choices. AGREEMENT.
        chosen: bool,
    },
    /// Chosen OT of these messages.
    Ot(&'a [[Block; 2]]),
    /// Chosen OT of bits, packed: message 0 and message 1 of `count` OTs.
    BitOt {
        /// The messages for choice 0 and for choice 1.
        messages: [&'a [u8]; 2],
        /// The number of OTs.
        count: usize,
    },
}

/// The receiver's call of an extension, with its outputs. Choices are packed bits.
#[derive(Debug)]
pub enum Receiving<'a> {
    /// Random correlated OT: t, with the choice as bit 0.
    Rcot(&'a mut [Block]),
    /// Correlated OT: t for these choices, which are bit 0 of t as well.
    Cot {
        /// The choices.
        choices: &'a [u8],
        /// q ⊕ bΔ.
        t: &'a mut [Block],
    },
    /// Random OT for choices that the extension draws.
    Rot {
        /// The output choices.
        choices: &'a mut [u8],
        /// The output messages.
        messages: &'a mut [Block],
    },
    /// Random OT for these choices.
    RotChosen {
        /// The choices.
        choices: &'a [u8],
        /// The output messages.
        messages: &'a mut [Block],
    },
    /// Chosen OT.
    Ot {
        /// The choices.
        choices: &'a [u8],
        /// The output messages.
        messages: &'a mut [Block],
    },
    /// Chosen OT of bits, packed.
    BitOt {
        /// The choices.
        choices: &'a [u8],
        /// The output messages.
        messages: &'a mut [u8],
        /// The number of OTs.
        count: usize,
    },
}

/// The use of chunks: [`Sending`], [`Receiving`], or none. By default there is no payload, and
/// blocks are not placed in a caller's buffer.
pub trait Work {
    /// The number of OTs in this call.
    fn count(&self) -> usize;
    /// Whether the receiver brings choices.
    fn is_chosen(&self) -> bool;
    /// Uses a chunk. At the receiver this is after the chunk is made. At the sender it is after the
    /// chunk is made and, with chosen choices, `derandomize` was received.
    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut ChunkOts, derandomize: Option<&[u8]>);
    /// Asserts that the buffers fit each other.
    fn assert_sizes(&self) {}
    /// The part of the caller's buffer in which a chunk's blocks can be made, if there is one.
    fn place(&mut self, _start: usize, _len: usize) -> Option<&mut [Block]> {
        None
    }
    /// The number of bytes of the payload of `len` OTs.
    fn payload_bytes(&self, _len: usize) -> usize {
        0
    }
    /// Writes the sender's messages, encrypted with the pads of a chunk.
    fn write_payload(&self, _hasher: &mut OtHasher, _chunk: &ChunkOts, _out: &mut [u8]) {}
    /// Decrypts the receiver's messages from the sender's payload.
    fn read_payload(&mut self, _hasher: &OtHasher, _chunk: &mut ChunkOts, _payload: &[u8]) {}
}

/// A call that only closes and checks.
impl Work for () {
    fn count(&self) -> usize {
        0
    }
    fn is_chosen(&self) -> bool {
        false
    }
    fn take(&mut self, _: &mut OtHasher, _: &mut ChunkOts, _: Option<&[u8]>) {}
}

fn assert_bits(held: usize, count: usize) {
    assert!(held >= bytes(count), "{count} OTs need {} bytes of packed bits, not {held}", bytes(count));
}

impl Work for Sending<'_> {
    fn count(&self) -> usize {
        match self {
            Sending::Rcot(q) | Sending::Cot(q) => q.len(),
            Sending::Rot { pairs, .. } => pairs.len(),
            Sending::Ot(messages) => messages.len(),
            Sending::BitOt { count, .. } => *count,
        }
    }

    fn assert_sizes(&self) {
        if let Sending::BitOt { messages, count } = self {
            assert_bits(messages[0].len().min(messages[1].len()), *count);
        }
    }

    fn is_chosen(&self) -> bool {
        match self {
            Sending::Rcot(_) => false,
            Sending::Rot { chosen, .. } => *chosen,
            Sending::Cot(_) | Sending::Ot(_) | Sending::BitOt { .. } => true,
        }
    }

    fn payload_bytes(&self, len: usize) -> usize {
        match self {
            Sending::Ot(_) => 32 * len,
            Sending::BitOt { .. } => 2 * bytes(len),
            Sending::Rcot(_) | Sending::Cot(_) | Sending::Rot { .. } => 0,
        }
    }

    fn place(&mut self, start: usize, len: usize) -> Option<&mut [Block]> {
        match self {
            Sending::Rcot(q) => Some(&mut q[start..start + len]),
            _ => None,
        }
    }

    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut ChunkOts, derandomize: Option<&[u8]>) {
        let range = chunk.range();
        // The sender does not add Δ itself: bit 0 of q stays 0, and the receiver sets bit 0 of t to
        // its choice.
        let added = hasher.delta() ^ Block::from_u128(1);
        match (&mut *self, derandomize) {
            (Sending::Cot(q), Some(derandomize)) => {
                return add_where(hasher.outputs(), derandomize, added, &chunk.blocks, &mut q[range]);
            }
            (_, Some(derandomize)) => chunk.add_where(hasher.backend(), derandomize, added),
            (_, None) => {}
        }
        if let Sending::Rot { pairs, .. } = self {
            hasher.pairs(chunk.first, &chunk.blocks, &mut pairs[range]);
        }
    }

    fn write_payload(&self, hasher: &mut OtHasher, chunk: &ChunkOts, out: &mut [u8]) {
        match self {
            Sending::Ot(messages) => {
                let out = from_bytes_mut(out).as_chunks_mut().0;
                hasher.encrypt(chunk.first, &chunk.blocks, &messages[chunk.range()], out);
            }
            Sending::BitOt { messages, .. } => {
                let (zero, one) = out.split_at_mut(bytes(chunk.len));
                hasher.pair_bits(chunk.first, &chunk.blocks, zero, one);
                for (message, out) in messages.iter().zip([zero, one]) {
                    xor_range(message, chunk.start, chunk.len, out);
                }
            }
            Sending::Rcot(_) | Sending::Cot(_) | Sending::Rot { .. } => {}
        }
    }
}

impl Work for Receiving<'_> {
    fn count(&self) -> usize {
        match self {
            Receiving::Rcot(t) | Receiving::Cot { t, .. } => t.len(),
            Receiving::Rot { messages, .. }
            | Receiving::RotChosen { messages, .. }
            | Receiving::Ot { messages, .. } => messages.len(),
            Receiving::BitOt { count, .. } => *count,
        }
    }

    fn assert_sizes(&self) {
        let held = match self {
            Receiving::Rcot(_) => return,
            Receiving::Rot { choices, .. } => choices.len(),
            Receiving::Cot { choices, .. }
            | Receiving::RotChosen { choices, .. }
            | Receiving::Ot { choices, .. } => choices.len(),
            Receiving::BitOt { choices, messages, .. } => choices.len().min(messages.len()),
        };
        assert_bits(held, self.count());
    }

    fn is_chosen(&self) -> bool {
        !matches!(self, Receiving::Rcot(_) | Receiving::Rot { .. })
    }

    fn payload_bytes(&self, len: usize) -> usize {
        match self {
            Receiving::Ot { .. } => 32 * len,
            Receiving::BitOt { .. } => 2 * bytes(len),
            _ => 0,
        }
    }

    fn place(&mut self, start: usize, len: usize) -> Option<&mut [Block]> {
        match self {
            Receiving::Rcot(t) => Some(&mut t[start..start + len]),
            _ => None,
        }
    }

    fn take(&mut self, hasher: &mut OtHasher, chunk: &mut ChunkOts, _: Option<&[u8]>) {
        if matches!(self, Receiving::Rcot(_)) {
            return;
        }
        let (start, len, range) = (chunk.start, chunk.len, chunk.range());
        chunk.bits.clear();
        chunk.bits.resize(bytes(len), 0);
        lsbs(&chunk.blocks, &mut chunk.bits);
        match self {
            Receiving::Rcot(_) => {}
            Receiving::Rot { choices, messages } => {
                put_range(&chunk.bits, len, choices, start);
                hasher.hash(chunk.first, &chunk.blocks, &mut messages[range]);
            }
            Receiving::Cot { choices, t } => {
                xor_range(choices, start, len, &mut chunk.bits);
                add_where(hasher.outputs(), &chunk.bits, Block::from_u128(1), &chunk.blocks, &mut t[range]);
            }
            Receiving::RotChosen { choices, messages } => {
                chunk.choose(hasher.backend(), choices);
                hasher.hash(chunk.first, &chunk.blocks, &mut messages[range]);
            }
            Receiving::Ot { choices, .. } | Receiving::BitOt { choices, .. } => {
                chunk.choose(hasher.backend(), choices);
                hasher.hash_here(chunk.first, &mut chunk.blocks);
            }
        }
    }

    fn read_payload(&mut self, hasher: &OtHasher, chunk: &mut ChunkOts, payload: &[u8]) {
        match self {
            Receiving::Ot { choices, messages } => {
                let pairs = from_bytes(payload).as_chunks().0;
                let mut chosen = Zeroizing::new(vec![0; bytes(chunk.len)]);
                xor_range(choices, chunk.start, chunk.len, &mut chosen);
                add_chosen(hasher.outputs(), &chosen, pairs, &chunk.blocks, &mut messages[chunk.range()]);
            }
            Receiving::BitOt { choices, messages, .. } => {
                let n = bytes(chunk.len);
                let (zero, one) = payload.split_at(n);
                let [mut choice, mut plain] = [(); 2].map(|()| Zeroizing::new(vec![0; n]));
                xor_range(choices, chunk.start, chunk.len, &mut choice);
                lsbs(&chunk.blocks, &mut plain);
                for i in 0..n {
                    plain[i] ^= zero[i] ^ (zero[i] ^ one[i]) & choice[i];
                }
                put_range(&plain, chunk.len, messages, chunk.start);
            }
            _ => {}
        }
    }
}
