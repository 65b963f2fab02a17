//! AES round keys as shares: expanded beforehand by their owner, or inside the computation.

use crate::aes::padded;
use crate::kernels::{LONGEST, RoundKey};
use crate::machine::{Between, SboxRounds, Sboxes, plain_source};
use crate::{Context, Rep3, Role, Sbox, ShareError, Shares, Workspace, xor_into};
use hushwire_machine::{Cost, drive::Exchanged};

/// Bytes of an expanded AES-128 key.
pub const EXPANDED_BYTES: usize = KeySize::Aes128.expanded_bytes();

/// The length of AES keys (FIPS-197, table 3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum KeySize {
    /// 16 bytes, 10 rounds.
    #[default]
    Aes128,
    /// 24 bytes, 12 rounds.
    Aes192,
    /// 32 bytes, 14 rounds.
    Aes256,
}

impl KeySize {
    /// The three sizes.
    pub const ALL: [KeySize; 3] = [KeySize::Aes128, KeySize::Aes192, KeySize::Aes256];

    /// 32-bit words of a key.
    const fn words(self) -> usize {
        match self {
            KeySize::Aes128 => 4,
            KeySize::Aes192 => 6,
            KeySize::Aes256 => 8,
        }
    }

    /// The size of a key of `bytes` bytes.
    #[must_use]
    pub fn of_bytes(bytes: usize) -> Option<KeySize> {
        KeySize::ALL.into_iter().find(|size| size.key_bytes() == bytes)
    }

    /// Bytes of a key.
    #[must_use]
    pub const fn key_bytes(self) -> usize {
        4 * self.words()
    }

    /// Rounds of the cipher.
    #[must_use]
    pub const fn rounds(self) -> usize {
        self.words() + 6
    }

    /// Bytes of all round keys.
    #[must_use]
    pub const fn expanded_bytes(self) -> usize {
        16 * (self.rounds() + 1)
    }

    /// The number of times that the expansion applies S-boxes, one after the other, to one word
    /// each.
    #[must_use]
    pub const fn expansion_steps(self) -> usize {
        match self {
            KeySize::Aes128 => 10,
            KeySize::Aes192 => 8,
            KeySize::Aes256 => 13,
        }
    }
}

/// Shares of expanded keys, one for all blocks or one per block, ready for [`crate::AesBlocks`].
///
/// Round keys after the first include the S-box's constant 0x63 (in share 0). MixColumns and
/// ShiftRows leave it in place, so S-boxes can omit constants.
pub struct ExpandedKeys {
    /// `rounds[r]` holds round key `r` of all keys, one after the other.
    rounds: Vec<Shares>,
    size: KeySize,
    keys: usize,
}

impl ExpandedKeys {
    /// Takes an owner's shares of `keys` expanded keys: 176, 208 or 240 bytes each, key by key, in
    /// the order of FIPS-197.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares are as long as `keys` expanded keys.
    pub fn from_shares(
        role: Role,
        size: KeySize,
        shares: &Shares,
        keys: usize,
    ) -> Result<ExpandedKeys, ShareError> {
        let expected = size.expanded_bytes() * keys;
        for found in [shares.own.len(), shares.next.len()] {
            if found != expected {
                return Err(ShareError::Length { what: "a share of the expanded keys", expected, found });
            }
        }
        let round = |s: &[u8], r: usize| -> Vec<u8> {
            s.chunks_exact(size.expanded_bytes())
                .flat_map(|key| &key[16 * r..16 * (r + 1)])
                .copied()
                .collect()
        };
        let rounds = (0..=size.rounds())
            .map(|r| Rep3 { own: round(&shares.own, r), next: round(&shares.next, r) })
            .collect();
        Ok(Self::with_constants(role, size, rounds, keys))
    }

    fn with_constants(role: Role, size: KeySize, mut rounds: Vec<Shares>, keys: usize) -> ExpandedKeys {
        for round in &mut rounds[1..] {
            let share = match role.constant_slot() {
                Some(0) => &mut round.own,
                Some(_) => &mut round.next,
                None => break,
            };
            share.iter_mut().for_each(|b| *b ^= 0x63);
        }
        for round in &mut rounds {
            for share in [&mut round.own, &mut round.next] {
                if keys == 1 {
                    *share = share.repeat(LONGEST / 16);
                } else {
                    // Batches are padded to an even number of blocks.
                    share.resize(16 * padded(keys), 0);
                }
            }
        }
        ExpandedKeys { rounds, size, keys }
    }

    /// The shares of the expanded keys themselves, in the form of [`ExpandedKeys::from_shares`]:
    /// for a circuit, whose S-boxes include their constants. `role` is the role for which the keys
    /// were made.
    #[must_use]
    pub fn to_shares(&self, role: Role) -> Shares {
        let share = |slot: usize| -> Vec<u8> {
            let mut bytes = Vec::with_capacity(self.keys * self.size.expanded_bytes());
            for key in 0..self.keys {
                for (r, round) in self.rounds.iter().enumerate() {
                    // The constant that `with_constants` added.
                    let constant = if r > 0 && role.constant_slot() == Some(slot) { 0x63 } else { 0 };
                    bytes.extend(round.pair()[slot][16 * key..16 * (key + 1)].iter().map(|b| b ^ constant));
                }
            }
            bytes
        };
        Rep3 { own: share(0), next: share(1) }
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// The size of the keys.
    #[must_use]
    pub fn size(&self) -> KeySize {
        self.size
    }

    /// Round key `r`.
    pub(crate) fn round(&self, r: usize) -> RoundKey<'_> {
        RoundKey { bytes: self.rounds[r].pair(), stride: usize::from(self.keys > 1) }
    }
}

/// Expands keys inside the computation, for any number of keys at once, in 10, 8 or 13 S-box layers
/// of four bytes per key.
///
/// This is FIPS-197, 5.2, on shares, word by word.
pub type KeyExpansion = SboxRounds<Words>;

/// The keys of an expansion, in progress.
pub struct Words {
    size: KeySize,
    keys: usize,
    /// The words made so far: word `i` of all keys, one after the other, four bytes each.
    words: Vec<Shares>,
    /// The S-box inputs, padded to a multiple of eight bytes.
    input: [Vec<u8>; 2],
}

/// The number of S-boxes of one round of `keys` expansions, padded.
pub(crate) fn expansion_sboxes(keys: usize) -> usize {
    (4 * keys).next_multiple_of(8)
}

impl KeyExpansion {
    /// Starts the expansion of `keys` (16, 24 or 32 bytes each, one after the other).
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares hold whole keys, and at least one.
    pub fn new(
        size: KeySize,
        sbox: Sbox,
        cx: Context,
        keys: &Shares,
        ws: Workspace,
    ) -> Result<Self, ShareError> {
        let n = (keys.len() / size.key_bytes()).max(1);
        for found in [keys.own.len(), keys.next.len()] {
            if found != size.key_bytes() * n {
                let expected = size.key_bytes() * n;
                return Err(ShareError::Length { what: "a share of the keys", expected, found });
            }
        }
        let word = |share: &[u8], i: usize| -> Vec<u8> {
            share.chunks_exact(size.key_bytes()).flat_map(|key| &key[4 * i..4 * i + 4]).copied().collect()
        };
        let words =
            (0..size.words()).map(|i| Rep3 { own: word(&keys.own, i), next: word(&keys.next, i) }).collect();
        let sboxes = Sboxes::new(sbox, expansion_sboxes(n), size.expansion_steps(), cx, ws);
        let input = [vec![0; expansion_sboxes(n)], vec![0; expansion_sboxes(n)]];
        Ok(SboxRounds { sboxes, between: Words { size, keys: n, words, input } })
    }

    /// The round keys, after the run, and the buffers for the next run.
    ///
    /// # Panics
    /// If the run has not finished (the caller's bug).
    #[must_use]
    pub fn into_keys(self) -> (ExpandedKeys, Workspace) {
        let SboxRounds { sboxes, between: Words { size, keys, words, .. } } = self;
        assert_eq!(words.len(), 4 * (size.rounds() + 1), "the key expansion has not finished");
        let round = |words: &[Shares], s: usize| -> Vec<u8> {
            let of_key = |k: usize| words.iter().flat_map(move |w| &w.pair()[s][4 * k..4 * k + 4]);
            (0..keys).flat_map(of_key).copied().collect()
        };
        let rounds = words.chunks_exact(4).map(|w| Rep3 { own: round(w, 0), next: round(w, 1) }).collect();
        (ExpandedKeys::with_constants(sboxes.role(), size, rounds, keys), sboxes.ws)
    }
}

impl Words {
    /// Sets the S-box inputs for the next word: the newest word, rotated if the next word's index
    /// is a multiple of a key's length.
    fn substitute(&mut self) {
        let rotates = self.words.len().is_multiple_of(self.size.words());
        let last = &self.words[self.words.len() - 1];
        for (input, share) in self.input.iter_mut().zip(last.pair()) {
            for (x, word) in input.chunks_exact_mut(4).zip(share.chunks_exact(4)) {
                x.copy_from_slice(word);
                if rotates {
                    x.rotate_left(1);
                }
            }
        }
    }

    /// Whether word `i` needs S-boxes.
    fn substitutes(&self, i: usize) -> bool {
        let nk = self.size.words();
        i.is_multiple_of(nk) || (nk > 6 && i % nk == 4)
    }
}

impl Between for Words {
    fn between(&mut self, sboxes: &mut Sboxes, r: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        if r > 0 {
            self.end(sboxes, arrived);
        }
        self.substitute();
        sboxes.first(plain_source([&self.input[0], &self.input[1]]), message);
    }

    /// Makes the next word from SubWord's output, and all following words that need no S-boxes.
    fn end(&mut self, sboxes: &mut Sboxes, arrived: Exchanged<'_>) {
        let mut bytes = std::mem::take(&mut sboxes.ws.bytes);
        let affine = sboxes.affine();
        let sub = sboxes.output(arrived, &mut bytes);
        let (at, nk) = (self.words.len(), self.size.words());
        let rcon = if at.is_multiple_of(nk) { RCON[at / nk - 1] } else { 0 };
        let constants = Constants { slot: sboxes.role().constant_slot(), rcon };
        let next = |s: usize| next_word(self.words[at - nk].pair()[s], sub[s], affine, constants.of(s));
        self.words.push(Rep3 { own: next(0), next: next(1) });
        sboxes.ws.bytes = bytes;
        while self.words.len() < 4 * (self.size.rounds() + 1) && !self.substitutes(self.words.len()) {
            let (last, before) = (&self.words[self.words.len() - 1], &self.words[self.words.len() - nk]);
            let mut word = before.clone();
            xor_into(&mut word.own, &last.own);
            xor_into(&mut word.next, &last.next);
            self.words.push(word);
        }
    }

    fn cost(&self, sbox: Sbox) -> Cost {
        crate::expansion_cost(self.size, sbox, self.keys)
    }
}

/// Rcon of FIPS-197 for rounds 1…10.
const RCON: [u8; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// The public constants of one word. Only share 0 carries them.
struct Constants {
    slot: Option<usize>,
    rcon: u8,
}

impl Constants {
    /// The constant that is added to the four bytes of SubWord in held share `s`.
    fn of(&self, s: usize) -> [u8; 4] {
        if self.slot == Some(s) { [0x63 ^ self.rcon, 0x63, 0x63, 0x63] } else { [0; 4] }
    }
}

/// The S-box's linear part, applied to one byte of a share.
fn sbox_linear(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4)
}

fn next_word(before: &[u8], sub: &[u8], affine: bool, constants: [u8; 4]) -> Vec<u8> {
    let word = |(i, (x, sub)): (usize, (&u8, &u8))| {
        x ^ constants[i % 4] ^ if affine { sbox_linear(*sub) } else { *sub }
    };
    before.iter().zip(sub).enumerate().map(word).collect()
}
