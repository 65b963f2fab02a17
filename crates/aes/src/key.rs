//! Key schedules (FIPS-197, section 5.2).

use crate::Backend;
use hushwire_simd::{Kernel, Lanes};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// `R` round keys. They are secret, so that they can be neither printed nor compared.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct RoundKeys<const R: usize> {
    round: [[u8; 16]; R],
}

/// AES with a 128-bit key: 10 rounds.
pub type Aes128 = RoundKeys<11>;
/// AES with a 192-bit key: 12 rounds.
pub type Aes192 = RoundKeys<13>;
/// AES with a 256-bit key: 14 rounds.
pub type Aes256 = RoundKeys<15>;

macro_rules! sized {
    ($rounds:literal, $bytes:literal) => {
        impl RoundKeys<$rounds> {
            /// Expands a key with the best backend.
            #[must_use]
            pub fn new(key: &[u8; $bytes]) -> Self {
                Self::on(Backend::best(), key)
            }

            /// Expands a key with the given backend.
            #[must_use]
            pub fn on(backend: Backend, key: &[u8; $bytes]) -> Self {
                let mut round = [[0; 16]; $rounds];
                backend.run(Expand { key, round: round.as_flattened_mut() });
                let expanded = RoundKeys { round };
                round.zeroize();
                expanded
            }
        }
    };
}
sized!(11, 16);
sized!(13, 24);
sized!(15, 32);

impl Aes128 {
    /// The key itself: the first round key's 16 bytes.
    pub(crate) fn bytes(&self) -> &[u8; 16] {
        &self.round[0]
    }
}

impl<const R: usize> RoundKeys<R> {
    /// The round keys' bytes, for fused kernels.
    #[must_use]
    pub fn round_keys(&self) -> &[[u8; 16]; R] {
        &self.round
    }

    /// Every round key in every lane, for kernels over [`Lanes`].
    #[inline(always)]
    pub fn vectors<L: Lanes>(&self, l: L) -> [L::V; R] {
        let mut v = [l.zero(); R];
        for (v, key) in v.iter_mut().zip(&self.round) {
            *v = l.splat(key);
        }
        v
    }
}

/// Writes the schedule of `key` to `round`. The last AES round computes the S-boxes, in constant
/// time on every tier.
struct Expand<'a> {
    key: &'a [u8],
    round: &'a mut [u8],
}

impl Kernel for Expand<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let words = self.key.len() / 4;
        let mut buffer = Zeroizing::new([0u8; 64]);
        let mut rcon = 1u8;
        let word =
            |bytes: &[u8], i: usize| u32::from_le_bytes(*bytes[4 * i..].first_chunk().expect("a word"));
        self.round[..self.key.len()].copy_from_slice(self.key);
        for i in words..self.round.len() / 4 {
            let mut t = word(self.round, i - 1);
            if i % words == 0 || words > 6 && i % words == 4 {
                // The four columns are equal, so that ShiftRows changes nothing.
                let column = u128::from(t) * 0x1_0000_0001_0000_0001_0000_0001;
                l.store(l.enc_last(l.splat(&column.to_le_bytes()), l.zero()), &mut *buffer);
                t = word(&*buffer, 0);
                if i % words == 0 {
                    t = t.rotate_right(8) ^ u32::from(rcon);
                    rcon = rcon << 1 ^ 0x1b & 0u8.wrapping_sub(rcon >> 7);
                }
            }
            let t = t ^ word(self.round, i - words);
            self.round[4 * i..4 * i + 4].copy_from_slice(&t.to_le_bytes());
        }
    }
}
