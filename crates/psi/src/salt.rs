//! Maps keys to values of few bits, and values to places in tables, by keyed BLAKE3.

use hushwire_circuit::phasing::{HASHES, PhasingTables};

/// AGREEMENT: separates these hashes from any other use of BLAKE3.
const SALT: &str = "hushwire psi salt v1";

/// The number of bits in addition to the log of both sizes: two different keys of the parties have
/// equal values with probability at most 2^−40.
const STATISTICAL: usize = 40;

/// The width of a value for sets of these sizes: 40 + ⌈log a⌉ + ⌈log b⌉ bits. So among the a · b
/// pairs of different keys, two collide with probability at most 2^−40.
#[must_use]
pub fn value_width([a, b]: [usize; 2]) -> usize {
    let log = |n: usize| n.max(1).next_power_of_two().trailing_zeros() as usize;
    STATISTICAL + log(a) + log(b)
}

/// The key of one attempt's hashes. It is public: the circuit hides what these hashes could reveal.
#[derive(Clone, Copy)]
pub(crate) struct Salt([u8; 32]);

impl Salt {
    /// The salt of attempt `attempt` in the session called `sid`.
    pub(crate) fn new(sid: &[u8; 32], attempt: u8) -> Salt {
        let mut hash = blake3::Hasher::new_derive_key(SALT);
        hash.update(sid).update(&[attempt]);
        Salt(*hash.finalize().as_bytes())
    }

    fn hash(&self, kind: u8, bytes: &[u8], out: &mut [u8]) {
        let mut hash = blake3::Hasher::new_keyed(&self.0);
        hash.update(&[kind]).update(bytes).finalize_xof().fill(out);
    }

    /// A key's value of `width` bits, at most 128. It is never 0, since 0 means no value.
    pub(crate) fn value(&self, key: &[u8], width: usize) -> u128 {
        let mut out = [0; 16];
        self.hash(0, key, &mut out);
        (u128::from_le_bytes(out) >> (128 - width)).max(1)
    }

    /// The bins of a value under each hash function, and the bits that the bins do not determine.
    pub(crate) fn places(&self, value: u128, tables: &PhasingTables) -> ([usize; HASHES], u128) {
        let low = tables.width - tables.high();
        let high = value >> low;
        let mut out = [[0; 16]; HASHES];
        self.hash(1, &high.to_le_bytes(), out.as_flattened_mut());
        let bins = tables.bins as u128;
        let low = value & ((1 << low) - 1);
        // 128 random bits modulo the number of bins: nearly uniform. `low` is below the number of
        // bins.
        (out.map(|f| ((low + u128::from_le_bytes(f) % bins) % bins) as usize), high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_session_and_attempt_hashes_otherwise() {
        let tables = crate::plan::tables_of([300, 300], 60);
        let salts = [Salt::new(&[1; 32], 0), Salt::new(&[1; 32], 1), Salt::new(&[2; 32], 0)];
        for (i, a) in salts.iter().enumerate() {
            for b in &salts[..i] {
                assert_ne!(a.value(b"ann", 60), b.value(b"ann", 60));
                assert_ne!(a.places(7 << 50, &tables).0, b.places(7 << 50, &tables).0);
            }
        }
    }

    #[test]
    fn values_have_as_many_bits_as_sets_of_these_sizes_ask_for() {
        let widths = [[0, 0], [1, 1], [2, 1], [1000, 1024], [1025, 1024]].map(value_width);
        assert_eq!(widths, [40, 40, 41, 60, 61]);
        let salt = Salt::new(&[3; 32], 0);
        assert!(
            (0..1000).map(|i| salt.value(i.to_string().as_bytes(), 8)).all(|value| (1..256).contains(&value))
        );
    }
}
