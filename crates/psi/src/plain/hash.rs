//! The functions of items, other ones at each level.

use hushwire_aes::Aes128;
use hushwire_block::Block;
use hushwire_ot::vole::Base;
use hushwire_ot::{Context, Level, Security};

use super::ItemDigest;
use crate::{hashes::Hashes, okvs::tail};

/// AGREEMENT: separate the functions of malicious modes from any other use of BLAKE3, and each other.
const VALUE_DOMAIN: &str = "hushwire psi value v1";
const OUTPUT_DOMAIN: &str = "hushwire psi output v1";

/// h, and H that ends the oblivious PRF.
pub(super) struct Functions {
    context: Context,
    level: Level,
    values: Hashes,
    outputs: Hashes,
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
        let keyed = |domain| Hashes::new(context.backend, blake3::derive_key(domain, &context.sid.0));
        let (values, outputs) = (keyed(VALUE_DOMAIN), keyed(OUTPUT_DOMAIN));
        Functions { context, level: S::LEVEL, values, outputs }
    }

    /// h(x) of every digest: a part of it, or a hash of it that is as long as an element of B.
    pub(super) fn values<B: Base>(&self, digests: &[ItemDigest], out: &mut Vec<B>) {
        out.clear();
        match self.level {
            Level::SemiHonest => out.extend(digests.iter().map(|digest| B::from_word(tail(digest)))),
            Level::Malicious => self.values.each(digests, |_, hash| out.push(B::from_bytes(hash))),
        }
    }

    /// Gives `take` H for each of one bin's digests, in order, with the inputs `x`, to which `mask` is added in malicious
    /// modes; `scratch` is memory.
    pub(super) fn outputs(
        &self,
        bin: usize,
        mask: Block,
        digests: &[ItemDigest],
        x: &[Block],
        scratch: &mut Vec<Block>,
        mut take: impl FnMut(usize, Output),
    ) {
        if self.level == Level::Malicious {
            let inputs = digests.iter().zip(x).map(|(digest, x)| {
                let mut input = [0; 48];
                input[..16].copy_from_slice(&(*x ^ mask).0);
                input[16..].copy_from_slice(digest);
                input
            });
            self.outputs.each(inputs, |i, hash| {
                let (value, rest) = hash.split_first_chunk().expect("32 bytes hold 16");
                let tag = u64::from_le_bytes(*rest.first_chunk().expect("16 bytes hold 8"));
                take(i, Output { value: u128::from_le_bytes(*value), tag });
            });
            return;
        }
        // Fixed-key AES with σ under the bin's public key.
        let name = self.context.sid.child("bin", bin as u64);
        let key = Aes128::on(self.context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
        scratch.resize(x.len(), Block::ZERO);
        self.context.backend.ccr(&key, x, scratch);
        for (i, value) in scratch.iter().enumerate() {
            take(i, Output { value: value.to_u128(), tag: 0 });
        }
    }
}
