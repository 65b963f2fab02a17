//! The hash functions of items, different ones for each security level.

use hushwire_aes::Aes128;
use hushwire_block::Block;
use hushwire_ot::vole::Base;
use hushwire_ot::{Context, Level, Security};

use super::ItemDigest;
use crate::{hashes::Hashes, okvs::tail};

/// AGREEMENT: separate the functions for malicious modes and long elements from any other use of
/// BLAKE3, and from each other.
const VALUE_DOMAIN: &str = "hushwire psi value v1";
const OUTPUT_DOMAIN: &str = "hushwire psi output v1";

/// The bytes of a digest's value part.
const TAIL: usize = 8;

/// The function h, and the H at the end of the oblivious PRF.
pub(super) struct Functions {
    context: Context,
    level: Level,
    values: Hashes,
    outputs: Hashes,
}

/// The oblivious PRF's value of an item.
pub(super) struct OprfOutput {
    pub(super) value: u128,
    /// The proof that its sender knows the item; only in the malicious mode.
    pub(super) tag: u64,
}

impl Functions {
    pub(super) fn new<S: Security>(context: &Context) -> Self {
        let context = context.child("psi output", 0);
        let keyed = |domain| Hashes::new(context.backend, blake3::derive_key(domain, &context.sid.0));
        let (values, outputs) = (keyed(VALUE_DOMAIN), keyed(OUTPUT_DOMAIN));
        Functions { context, level: S::LEVEL, values, outputs }
    }

    /// The h(x) of every digest: a part of it, or a hash of it, as long as an element of B. A
    /// shorter value would keep stores within a part of B.
    pub(super) fn values<B: Base>(&self, digests: &[ItemDigest], out: &mut Vec<B>) {
        out.clear();
        if self.level == Level::SemiHonest && B::BYTES == TAIL {
            out.extend(digests.iter().map(|digest| B::from_word(tail(digest))));
        } else {
            self.values.each(digests, |_, hash| out.push(B::from_bytes(hash)));
        }
    }

    /// Calls `take` with H of each of one bin's digests, in order. The inputs are `x`, to which
    /// `mask` is added in the malicious mode. `scratch` is memory.
    pub(super) fn outputs(
        &self,
        bin: usize,
        mask: Block,
        digests: &[ItemDigest],
        x: &[Block],
        scratch: &mut Vec<Block>,
        mut take: impl FnMut(usize, OprfOutput),
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
                take(i, OprfOutput { value: u128::from_le_bytes(*value), tag });
            });
            return;
        }
        // Fixed-key AES with σ under the bin's public key.
        let name = self.context.sid.child("bin", bin as u64);
        let key = Aes128::on(self.context.backend, name.0.first_chunk().expect("32 bytes hold 16"));
        scratch.resize(x.len(), Block::ZERO);
        self.context.backend.ccr(&key, x, scratch);
        for (i, value) in scratch.iter().enumerate() {
            take(i, OprfOutput { value: value.to_u128(), tag: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_aes::Backend;
    use hushwire_block::{Gf64, Gf128};
    use hushwire_ot::{Malicious, SemiHonest, Sid};
    use std::collections::HashSet;

    fn context(sid: u8) -> Context {
        Context { sid: Sid([sid; 32]), backend: Backend::best() }
    }

    /// A digest, and the same with each byte changed.
    fn digests() -> Vec<ItemDigest> {
        let changed = |at: usize| {
            let mut digest = [7; 32];
            digest[at] ^= 1;
            digest
        };
        (0..32).map(changed).chain([[7; 32]]).collect()
    }

    fn values<S: Security, B: Base>(sid: u8) -> Vec<B> {
        let mut values = vec![];
        Functions::new::<S>(&context(sid)).values(&digests(), &mut values);
        values
    }

    /// BLAKE3 under the session's key of that domain, computed by the `blake3` crate alone.
    fn hash(domain: &str, sid: u8, input: &[u8]) -> [u8; 32] {
        let name = context(sid).child("psi output", 0).sid;
        *blake3::keyed_hash(&blake3::derive_key(domain, &name.0), input).as_bytes()
    }

    /// Long elements are 128 bits of a hash of the whole digest, in this session; short ones are
    /// the digest's last bytes.
    #[test]
    fn values_are_as_long_as_elements_and_of_the_whole_digest() {
        for (sid, long) in [
            (1, values::<Malicious, Gf128>(1)),
            (2, values::<Malicious, Gf128>(2)),
            (1, values::<SemiHonest, Gf128>(1)),
        ] {
            for (digest, value) in digests().iter().zip(&long) {
                let hash = hash("hushwire psi value v1", sid, digest);
                assert_eq!(value.0.to_le_bytes(), hash[..16]);
            }
            let halves = long.iter().flat_map(|value| [value.0 as u64, (value.0 >> 64) as u64]);
            assert_eq!(halves.collect::<HashSet<_>>().len(), 2 * 33);
        }
        for (digest, value) in digests().iter().zip(values::<SemiHonest, Gf64>(1)) {
            assert_eq!(value.0.to_le_bytes(), digest[24..]);
        }
    }

    fn outputs<S: Security>(sid: u8, bin: usize, mask: u128, x: u128) -> Vec<(u128, u64)> {
        let (digests, mut scratch, mut outputs) = (digests(), vec![], vec![]);
        let x = vec![Block::from_u128(x); digests.len()];
        let take = |i, OprfOutput { value, tag }| {
            assert_eq!(i, outputs.len());
            outputs.push((value, tag));
        };
        let mask = Block::from_u128(mask);
        Functions::new::<S>(&context(sid)).outputs(bin, mask, &digests, &x, &mut scratch, take);
        outputs
    }

    /// In the malicious mode an output depends on the masks, on the store's value, and on the whole
    /// digest. The masks keep a sender from making values before it knows A'.
    #[test]
    fn malicious_outputs_are_of_the_masks_the_input_and_the_digest() {
        for [mask, x] in [[0, 5], [3 << 100, 5], [3 << 100, 6], [u128::MAX, u128::MAX - 5]] {
            for ((value, tag), digest) in outputs::<Malicious>(1, 0, mask, x).into_iter().zip(digests()) {
                let input = [&(mask ^ x).to_le_bytes()[..], &digest].concat();
                let hash = hash("hushwire psi output v1", 1, &input);
                assert_eq!((&value.to_le_bytes()[..], &tag.to_le_bytes()[..]), (&hash[..16], &hash[16..24]));
            }
        }
        let all: Vec<_> = [(1, 0, 5), (2, 0, 5), (1, 9, 5), (1, 0, 6)]
            .into_iter()
            .flat_map(|(sid, mask, x)| outputs::<Malicious>(sid, 0, mask, x))
            .collect();
        let (values, tags): (HashSet<_>, HashSet<_>) = all.iter().copied().unzip();
        assert_eq!([values.len(), tags.len()], [4 * 33; 2]);
    }

    /// With one key for all bins, the AES calls in every bin would add to the knowledge of Δ.
    #[test]
    fn semi_honest_outputs_are_under_a_key_of_the_bin_and_the_session() {
        let one = |sid, bin, x| outputs::<SemiHonest>(sid, bin, 0, x)[0].0;
        let of_bins: HashSet<_> = (0..40).map(|bin| one(1, bin, 5)).collect();
        assert_eq!(of_bins.len(), 40);
        assert!(one(2, 0, 5) != one(1, 0, 5) && one(1, 0, 6) != one(1, 0, 5));
        // The crate `aes` tests that this is π(σ(x)) ⊕ σ(x), σ(a, b) = (b, a ⊕ b) on halves of 64
        // bits.
        let key = context(1).child("psi output", 0).sid.child("bin", 3);
        let key = Aes128::on(Backend::best(), key.0.first_chunk().expect("16 bytes"));
        let mut expected = [Block::ZERO];
        Backend::best().ccr(&key, &[Block::from_u128(5)], &mut expected);
        assert_eq!(one(1, 3, 5), expected[0].to_u128());
    }
}
