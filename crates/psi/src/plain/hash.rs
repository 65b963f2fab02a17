//! The functions of items, other ones at each level.

use hushwire_aes::Aes128;
use hushwire_block::Block;
use hushwire_ot::vole::Base;
use hushwire_ot::{Context, Level, Security};

use super::ItemDigest;
use crate::okvs::tail;

/// AGREEMENT: separate the functions of malicious modes from any other use of BLAKE3, and each other.
const VALUE_DOMAIN: &str = "hushwire psi value v1";
const OUTPUT_DOMAIN: &str = "hushwire psi output v1";

/// h, and H that ends the oblivious PRF.
pub(super) struct Functions {
    context: Context,
    level: Level,
    value_key: [u8; 32],
    output_key: [u8; 32],
}

/// The oblivious PRF's value of an item.
pub(super) struct Output {
    pub(super) value: u128,
    /// Proof that whoever says it knows the item; in malicious modes alone.
    pub(super) tag: u64,
}

impl Functions {
    pub(super) fn new<S: Security>(context: &Context) -> Self {
        let context = context.child("psi output", 0);
        let key = |domain| blake3::derive_key(domain, &context.sid.0);
        let (value_key, output_key) = (key(VALUE_DOMAIN), key(OUTPUT_DOMAIN));
        Functions { context, level: S::LEVEL, value_key, output_key }
    }

    /// h(x): a part of the digest, or a hash of it that is as long as an element of B.
    #[inline]
    pub(super) fn value<B: Base>(&self, digest: &ItemDigest) -> B {
        match self.level {
            Level::SemiHonest => B::from_word(tail(digest)),
            Level::Malicious => B::from_bytes(blake3::keyed_hash(&self.value_key, digest).as_bytes()),
        }
    }

    /// Gives `take` each of one bin's items with H of its input, for the inputs `x`, to which `mask` is added in malicious
    /// modes; `scratch` is memory.
    pub(super) fn outputs(
        &self,
        bin: usize,
        mask: Block,
        (digests, items): (&[ItemDigest], &[u32]),
        x: &[Block],
        scratch: &mut Vec<Block>,
        mut take: impl FnMut(u32, Output),
    ) {
        if self.level == Level::Malicious {
            for (item, x) in items.iter().zip(x) {
                let mut input = [0; 48];
                input[..16].copy_from_slice(&(*x ^ mask).0);
                input[16..].copy_from_slice(&digests[*item as usize]);
                let hash = blake3::keyed_hash(&self.output_key, &input);
                let (value, rest) = hash.as_bytes().split_first_chunk().expect("32 bytes hold 16");
                let tag = u64::from_le_bytes(*rest.first_chunk().expect("16 bytes hold 8"));
                take(*item, Output { value: u128::from_le_bytes(*value), tag });
            }
            return;
        }
        // Fixed-key AES with σ under the bin's public key.
        let name = self.context.sid.child("bin", bin as u64);
        let key = Aes128::on(self.context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
        scratch.resize(x.len(), Block::ZERO);
        self.context.backend.ccr(&key, x, scratch);
        for (item, value) in items.iter().zip(&*scratch) {
            take(*item, Output { value: value.to_u128(), tag: 0 });
        }
    }
}
