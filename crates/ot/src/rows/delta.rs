//! The sender's Δ, row by row, and the paths of trees and choices of base OTs that follow from it.

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf128};
use hushwire_prg::{Prg, Seed};
use hushwire_simd::clmul::Clmul;
use subtle::Choice;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::{RowKind, compress};
use crate::OtError;

/// The bits of one tree's α, 0 or 1 each.
pub(crate) type Path = Zeroizing<Vec<u8>>;

/// The sender's Δ. Bit r belongs to row r: α_i of tree i is bits i k to i k + k − 1, the lowest
/// first.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Delta {
    /// 0 or 1 each.
    bits: Vec<u8>,
    #[zeroize(skip)]
    kind: RowKind,
}

impl Delta {
    /// A random Δ, whose bit 0 is 1.
    pub(super) fn random(backend: Backend, kind: RowKind, seed: &Seed) -> Self {
        let mut bits = vec![0; kind.rows()];
        Prg::new(backend, seed, "rows delta").fill(&mut bits);
        bits.iter_mut().for_each(|bit| *bit &= 1);
        bits[0] = 1;
        Delta { bits, kind }
    }

    /// A Δ that the party also uses in other sessions; bit 0 is set to 1.
    ///
    /// # Errors
    /// [`OtError::Unsupported`] if Δ is a hash of the rows.
    pub(super) fn given(kind: RowKind, delta: Block) -> Result<Self, OtError> {
        if kind == RowKind::Alsz {
            let (wanted, instead) = ("malicious protocol for a given Δ", "kos, softspoken, ferret");
            return Err(OtError::Unsupported { protocol: kind.name().to_owned(), wanted, instead });
        }
        let word = delta.to_u128() | 1;
        Ok(Delta { bits: (0..kind.rows()).map(|row| (word >> row & 1) as u8).collect(), kind })
    }

    /// The number of rows.
    pub(super) fn rows(&self) -> usize {
        self.bits.len()
    }

    /// α of tree `i`, the most significant bit first.
    pub(super) fn path(&self, tree: usize) -> Path {
        let k = self.kind.bits();
        Zeroizing::new((0..k).rev().map(|b| self.bits[tree * k + b]).collect())
    }

    /// The choices of the base OTs: at every level the side that the path does not take.
    pub(super) fn choices(&self) -> Vec<bool> {
        let trees = self.kind.first_tree()..self.kind.trees();
        let mut choices = Vec::with_capacity(self.bits.len());
        for tree in trees {
            choices.extend(self.path(tree).iter().map(|turn| bool::from(!Choice::from(*turn))));
        }
        choices
    }

    /// Bit `row` as a mask: all ones or zero.
    pub(super) fn mask(&self, row: usize) -> u128 {
        0u128.wrapping_sub(u128::from(self.bits[row]))
    }

    /// Bit `row`.
    pub(super) fn bit(&self, row: usize) -> u8 {
        self.bits[row]
    }

    /// The Δ of the OTs.
    pub(super) fn block(&self, clmul: Clmul) -> Block {
        let word = |rows: &[u8]| rows.iter().rev().fold(0u128, |word, bit| word << 1 | u128::from(*bit));
        let low = word(&self.bits[..128]);
        if self.kind == RowKind::Alsz {
            let high = Gf128(word(&self.bits[128..]));
            Block::from_u128(low ^ compress::CHI.mul(high, clmul).0 & !1)
        } else {
            Block::from_u128(low)
        }
    }
}
