//! The owner's dealing before the clock starts, and the expected result.

use std::sync::Arc;

use aes::cipher::{Array, BlockCipherEncrypt, KeyInit};
use hushwire_aes::{Aes128, Backend};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{ExpandedKeys, KeySize, Role, Shares, open, share};

use super::grid::{ChunkCut, KeyMode};
use crate::BoxError;

/// The first counter block. The counter carries into its upper half during a batch.
const FIRST: u128 = 0x0123_4567_89ab_cdef_ffff_ffff_ffff_ff00;

/// The counter of block `i`.
pub(crate) fn counter(i: usize) -> u128 {
    FIRST.wrapping_add(i as u128)
}

/// One party's round keys.
#[derive(Clone)]
pub(crate) enum RoundKeys {
    /// One set of keys for all blocks.
    One(Arc<ExpandedKeys>),
    /// For each chunk, one key for each block.
    PerChunk(Vec<Arc<ExpandedKeys>>),
    /// A key that is expanded on shares.
    Expand(Shares),
}

/// The keys of a case.
pub(crate) struct Deal {
    /// One key, or one per block.
    keys: Vec<[u8; 16]>,
    /// Each party's part.
    pub(crate) parties: [RoundKeys; 3],
}

impl Deal {
    /// Draws keys and shares them.
    pub(crate) fn new(backend: Backend, mode: KeyMode, cut: &ChunkCut) -> Result<Self, BoxError> {
        let mut prg = Prg::new(backend, &Seed::from_bytes([0x5a; 16]), "hushwire bench aes3");
        let mut keys = vec![[0; 16]; if mode == KeyMode::PerBlock { cut.blocks } else { 1 }];
        prg.fill(keys.as_flattened_mut());
        let parties = match mode {
            KeyMode::Expand => share(&mut prg, &keys[0]).map(RoundKeys::Expand),
            KeyMode::PreExpanded => expanded(&mut prg, backend, &keys)?.map(RoundKeys::One),
            KeyMode::PerBlock => {
                let mut chunks: [Vec<_>; 3] = Default::default();
                for c in 0..cut.chunks() {
                    let dealt = expanded(&mut prg, backend, &keys[cut.range(c)])?;
                    chunks.iter_mut().zip(dealt).for_each(|(chunks, keys)| chunks.push(keys));
                }
                chunks.map(RoundKeys::PerChunk)
            }
        };
        Ok(Self { keys, parties })
    }

    /// The encrypted counter blocks, computed by another implementation of AES.
    pub(crate) fn expected(&self, blocks: usize) -> Vec<u8> {
        let mut out: Vec<_> = (0..blocks).map(|i| Array::from(counter(i).to_be_bytes())).collect();
        let cipher = |key: &[u8; 16]| aes::Aes128::new(&Array::from(*key));
        if let [key] = &self.keys[..] {
            cipher(key).encrypt_blocks(&mut out);
        } else {
            out.iter_mut().zip(&self.keys).for_each(|(block, key)| cipher(key).encrypt_block(block));
        }
        out.into_iter().flatten().collect()
    }
}

fn expanded(prg: &mut Prg, backend: Backend, keys: &[[u8; 16]]) -> Result<[Arc<ExpandedKeys>; 3], BoxError> {
    let rounds: Vec<u8> =
        keys.iter().flat_map(|key| Aes128::on(backend, key).round_keys().as_flattened().to_vec()).collect();
    let dealt = share(prg, &rounds);
    let mut out = Vec::new();
    for (role, shares) in Role::ALL.into_iter().zip(&dealt) {
        out.push(Arc::new(ExpandedKeys::from_shares(role, KeySize::Aes128, shares, keys.len())?));
    }
    out.try_into().map_err(|_| "not three parties' keys".into())
}

/// Opens the parties' shares of the whole result, and compares it with the expected one.
pub(crate) fn check(own: [&[u8]; 3], expected: &[u8]) -> Result<(), BoxError> {
    let opened = open(own)?;
    if opened == expected {
        return Ok(());
    }
    let wrong = opened.chunks(16).zip(expected.chunks(16)).filter(|(a, b)| a != b).count();
    let of = expected.len() / 16;
    Err(format!("the result is wrong: {wrong} of {of} blocks differ from plain AES, nothing is reported")
        .into())
}
