//! AES (FIPS 197) with and without the key schedule.
//!
//! Wires are those of the published Bristol Fashion files: input 0 is the key (or the round keys,
//! first to last), input 1 the plaintext. Each is one big-endian number, so that bit `b` of byte
//! `k` of `n` is on wire `8 (n−1−k) + b`.
//!
//! ```text
//!               S-boxes   ANDs (32 each)   AND-depth      with depth 4 (34 each)
//! aes128        200       6400             60             6800, 40
//! aes192        224       7168             72             7616, 48
//! aes256        276       8832             84             9384, 56
//! … expanded    160, 192, 224
//! ```

use crate::{Bit, Builder, words};
use hushwire_simd::sbox;

/// The circuit of the S-box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sbox {
    /// 32 ANDs, AND-depth 6.
    Small,
    /// 34 ANDs, AND-depth 4.
    Shallow,
}

/// The size of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeySize {
    /// 128 bits, 10 rounds.
    Aes128,
    /// 192 bits, 12 rounds.
    Aes192,
    /// 256 bits, 14 rounds.
    Aes256,
}

impl KeySize {
    /// The number of bits of the key.
    #[must_use]
    pub const fn bits(self) -> usize {
        32 * self.words()
    }

    /// The number of rounds; there is one more round key.
    #[must_use]
    pub const fn rounds(self) -> usize {
        self.words() + 6
    }

    /// `Nk` of the standard.
    const fn words(self) -> usize {
        match self {
            Self::Aes128 => 4,
            Self::Aes192 => 6,
            Self::Aes256 => 8,
        }
    }
}

/// A byte, bit 0 first.
type Byte = [Bit; 8];

/// Encrypts `plaintext` under `key`, including the key schedule.
///
/// # Panics
/// If `key` does not have the width of `size`, or `plaintext` does not have 128 bits (the caller's
/// bug).
#[must_use]
pub fn encrypt(b: &mut Builder, size: KeySize, sbox: Sbox, key: &[Bit], plaintext: &[Bit]) -> Vec<Bit> {
    assert_eq!(key.len(), size.bits());
    let round_keys = schedule(b, size, sbox, &to_bytes(key));
    from_bytes(&cipher(b, sbox, &round_keys, &to_bytes(plaintext)))
}

/// Encrypts `plaintext` under expanded round keys of `128 (rounds + 1)` bits.
///
/// # Panics
/// The same as for [`encrypt`].
#[must_use]
pub fn encrypt_expanded(
    b: &mut Builder,
    size: KeySize,
    sbox: Sbox,
    round_keys: &[Bit],
    plaintext: &[Bit],
) -> Vec<Bit> {
    assert_eq!(round_keys.len(), 128 * (size.rounds() + 1));
    from_bytes(&cipher(b, sbox, &to_bytes(round_keys), &to_bytes(plaintext)))
}

/// Expands `key` to the round keys that [`encrypt_expanded`] takes.
///
/// # Panics
/// The same as for [`encrypt`].
#[must_use]
pub fn expand_key(b: &mut Builder, size: KeySize, sbox: Sbox, key: &[Bit]) -> Vec<Bit> {
    assert_eq!(key.len(), size.bits());
    from_bytes(&schedule(b, size, sbox, &to_bytes(key)))
}

/// The bytes of a big-endian number.
fn to_bytes(bits: &[Bit]) -> Vec<Byte> {
    bits.as_chunks::<8>().0.iter().rev().copied().collect()
}

fn from_bytes(bytes: &[Byte]) -> Vec<Bit> {
    bytes.iter().rev().flatten().copied().collect()
}

fn xor(b: &mut Builder, x: &[Byte], y: &[Byte]) -> Vec<Byte> {
    words::xor(b, x.as_flattened(), y.as_flattened()).as_chunks().0.to_vec()
}

fn sub_byte(b: &mut Builder, sbox: Sbox, x: Byte) -> Byte {
    match sbox {
        Sbox::Small => sbox::forward(b, x),
        Sbox::Shallow => sbox::forward_depth4(b, x),
    }
}

/// KEYEXPANSION(), FIPS 197, Sec. 5.2.
fn schedule(b: &mut Builder, size: KeySize, sbox: Sbox, key: &[Byte]) -> Vec<Byte> {
    let nk = size.words();
    let mut w = key.to_vec();
    let mut rcon = 1u8;
    for i in nk..4 * (size.rounds() + 1) {
        let mut last = w[4 * i - 4..].to_vec();
        if i % nk == 0 {
            last.rotate_left(1);
        }
        if i % nk == 0 || (nk > 6 && i % nk == 4) {
            last = last.into_iter().map(|x| sub_byte(b, sbox, x)).collect();
        }
        if i % nk == 0 {
            last[0] = std::array::from_fn(|bit| b.xor(last[0][bit], Bit::constant(rcon >> bit & 1 == 1)));
            rcon = rcon << 1 ^ if rcon & 0x80 == 0 { 0 } else { 0x1b };
        }
        let before = w[4 * (i - nk)..4 * (i - nk) + 4].to_vec();
        w.extend(xor(b, &before, &last));
    }
    w
}

/// CIPHER(), FIPS 197, Sec. 5.1.
fn cipher(b: &mut Builder, sbox: Sbox, round_keys: &[Byte], plaintext: &[Byte]) -> Vec<Byte> {
    let mut keys = round_keys.chunks(16);
    let first = keys.next().expect("there are round keys");
    let rounds = keys.len();
    let mut state = xor(b, plaintext, first);
    for (round, key) in keys.enumerate() {
        let substituted: Vec<Byte> = state.iter().map(|x| sub_byte(b, sbox, *x)).collect();
        // SHIFTROWS(): byte 4 c + r is row r of column c.
        state = (0..16).map(|k| substituted[(k + 4 * (k % 4)) % 16]).collect();
        if round + 1 < rounds {
            state = state.chunks(4).flat_map(|column| mix_column(b, column)).collect();
        }
        state = xor(b, &state, key);
    }
    state
}

/// MIXCOLUMNS() of one column: `2 (xᵢ ⊕ xᵢ₊₁) ⊕ xᵢ₊₁ ⊕ (xᵢ₊₂ ⊕ xᵢ₊₃)`, 108 XORs.
fn mix_column(b: &mut Builder, x: &[Byte]) -> Vec<Byte> {
    let pairs: Vec<Vec<Byte>> = (0..4).map(|i| xor(b, &x[i..=i], &[x[(i + 1) % 4]])).collect();
    let mut column = vec![];
    for i in 0..4 {
        let p = pairs[i][0];
        let doubled: Byte = std::array::from_fn(|bit| match bit {
            0 => p[7],
            1 | 3 | 4 => b.xor(p[bit - 1], p[7]),
            _ => p[bit - 1],
        });
        let rest = xor(b, &[x[(i + 1) % 4]], &pairs[(i + 2) % 4]);
        column.extend(xor(b, &[doubled], &rest));
    }
    column
}
