//! Round keys of AES-128 as shares: expanded beforehand by their owner, or inside the computation.

use crate::aes::padded;
use crate::kernels::{LONGEST, RoundKey};
use crate::sbox::{Machine, plain_source};
use crate::{Context, Rep3, Role, Sbox, ShareError, Shares, Workspace};
use hushwire_wire::drive::{Exchanged, Executor};

/// Round keys of AES-128, the first included.
pub(crate) const ROUND_KEYS: usize = 11;
/// Bytes of an expanded AES-128 key.
pub const EXPANDED_BYTES: usize = 16 * ROUND_KEYS;

/// Shares of expanded keys, one for all blocks or one per block, ready for [`crate::AesBlocks`].
///
/// Round keys 1…10 have the S-box's constant 0x63 added (to share 0): MixColumns and ShiftRows leave it in place, so
/// that S-boxes need not know about constants.
pub struct ExpandedKeys {
    /// `rounds[r]` is round key `r` of all keys one after the other.
    rounds: Vec<Shares>,
    keys: usize,
}

impl ExpandedKeys {
    /// From an owner's shares of `keys` expanded keys: 176 bytes each, key by key, as FIPS-197 orders them.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have `176 · keys` bytes.
    pub fn from_shares(role: Role, shares: &Shares, keys: usize) -> Result<ExpandedKeys, ShareError> {
        let expected = EXPANDED_BYTES * keys;
        for found in [shares.own.len(), shares.next.len()] {
            if found != expected {
                return Err(ShareError::Length { what: "a share of the expanded keys", expected, found });
            }
        }
        let round = |s: &[u8], r: usize| -> Vec<u8> {
            s.chunks_exact(EXPANDED_BYTES).flat_map(|key| &key[16 * r..16 * (r + 1)]).copied().collect()
        };
        let rounds = (0..ROUND_KEYS)
            .map(|r| Rep3 { own: round(&shares.own, r), next: round(&shares.next, r) })
            .collect();
        Ok(Self::with_constants(role, rounds, keys))
    }

    fn with_constants(role: Role, mut rounds: Vec<Shares>, keys: usize) -> ExpandedKeys {
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
        ExpandedKeys { rounds, keys }
    }

    /// How many keys there are.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.keys
    }

    /// Round key `r`.
    pub(crate) fn round(&self, r: usize) -> RoundKey<'_> {
        RoundKey { bytes: self.rounds[r].pair(), stride: usize::from(self.keys > 1) }
    }
}

/// Key expansion inside the computation, for any number of keys at once: ten S-box layers of four bytes a key.
///
/// FIPS-197, 5.2, on shares. Rounds: 10 × the S-box's.
pub struct KeyExpansion {
    role: Role,
    machine: Machine,
    sbox: Sbox,
    keys: usize,
    /// Round keys so far.
    rounds: Vec<Shares>,
    /// S-box inputs: RotWord of each key's last word, padded to a multiple of eight bytes.
    input: [Vec<u8>; 2],
}

/// S-boxes of one round of `keys` expansions, padded.
pub(crate) fn expansion_sboxes(keys: usize) -> usize {
    (4 * keys).next_multiple_of(8)
}

impl KeyExpansion {
    /// Expands `keys` (16 bytes each, one after the other).
    ///
    /// # Errors
    /// [`ShareError::Length`] unless both shares have `16 · n` bytes, `n > 0`.
    pub fn new(role: Role, sbox: Sbox, cx: Context, keys: Shares, ws: Workspace) -> Result<Self, ShareError> {
        let n = keys.len() / 16;
        for found in [keys.own.len(), keys.next.len()] {
            if found != 16 * n.max(1) {
                return Err(ShareError::Length {
                    what: "a share of the keys",
                    expected: 16 * n.max(1),
                    found,
                });
            }
        }
        let machine = Machine::new(sbox, expansion_sboxes(n), cx, ws);
        let input = [vec![0; expansion_sboxes(n)], vec![0; expansion_sboxes(n)]];
        Ok(KeyExpansion { role, machine, sbox, keys: n, rounds: vec![keys], input })
    }

    /// Hears what a verifier needs.
    pub fn record(&mut self, rec: Box<dyn crate::Record>) {
        self.machine.rec = Some(rec);
    }

    /// The round keys, after the run, and the buffers for the next.
    ///
    /// # Panics
    /// If the run has not finished (the caller's bug).
    #[must_use]
    pub fn into_keys(self) -> (ExpandedKeys, Workspace) {
        assert_eq!(self.rounds.len(), ROUND_KEYS, "the key expansion has not finished");
        let KeyExpansion { role, machine, keys, rounds, .. } = self;
        (ExpandedKeys::with_constants(role, rounds, keys), machine.ws)
    }

    /// RotWord of the last word of every key of the newest round.
    fn rotate(&mut self) {
        let last = &self.rounds[self.rounds.len() - 1];
        for (input, share) in self.input.iter_mut().zip(last.pair()) {
            for (x, key) in input.chunks_exact_mut(4).zip(share.chunks_exact(16)) {
                x.copy_from_slice(&[key[13], key[14], key[15], key[12]]);
            }
        }
    }

    /// The next round key from the newest and SubWord's output.
    fn absorb(&mut self, arrived: Exchanged<'_>) {
        let mut bytes = std::mem::take(&mut self.machine.ws.bytes);
        let affine = self.machine.affine();
        let sub = self.machine.output(arrived, &mut bytes);
        let constants = Constants { slot: self.role.constant_slot(), rcon: RCON[self.rounds.len() - 1] };
        let last = &self.rounds[self.rounds.len() - 1];
        let next = |s: usize| next_round(last.pair()[s], sub[s], affine, constants.of(s));
        let round = Rep3 { own: next(0), next: next(1) };
        self.rounds.push(round);
        self.machine.ws.bytes = bytes;
    }
}

/// Rcon of FIPS-197 for rounds 1…10.
const RCON: [u8; 10] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];

/// Public constants of one round, which only share 0 carries.
struct Constants {
    slot: Option<usize>,
    rcon: u8,
}

impl Constants {
    /// What is added to the four bytes of SubWord in held share `s`.
    fn of(&self, s: usize) -> [u8; 4] {
        if self.slot == Some(s) { [0x63 ^ self.rcon, 0x63, 0x63, 0x63] } else { [0; 4] }
    }
}

/// The S-box's linear part on one byte of a share.
fn sbox_linear(x: u8) -> u8 {
    x ^ x.rotate_left(1) ^ x.rotate_left(2) ^ x.rotate_left(3) ^ x.rotate_left(4)
}

fn next_round(last: &[u8], sub: &[u8], affine: bool, constants: [u8; 4]) -> Vec<u8> {
    let mut out = last.to_vec();
    for (key, sub) in out.chunks_exact_mut(16).zip(sub.chunks_exact(4)) {
        for i in 0..4 {
            key[i] ^= constants[i] ^ if affine { sbox_linear(sub[i]) } else { sub[i] };
        }
        for i in 4..16 {
            key[i] ^= key[i - 4];
        }
    }
    out
}

impl Executor for KeyExpansion {
    fn layers(&self) -> usize {
        10 * self.sbox.rounds()
    }

    fn message_bytes(&self, layer: usize) -> usize {
        self.sbox.message_bytes(layer % self.sbox.rounds(), expansion_sboxes(self.keys))
    }

    fn step_name(&self, layer: usize) -> &'static str {
        self.sbox.step_name(layer % self.sbox.rounds())
    }

    fn local(&mut self, layer: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let k = layer % self.sbox.rounds();
        if k > 0 {
            return self.machine.next(k, arrived, message);
        }
        if layer > 0 {
            self.absorb(arrived);
        }
        self.rotate();
        self.machine.first(plain_source([&self.input[0], &self.input[1]]), message);
    }

    fn finish(&mut self, arrived: Exchanged<'_>) {
        self.absorb(arrived);
    }
}
