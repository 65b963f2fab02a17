//! The malicious mode's check of grown entries: one fold of all trees' values, with a challenge for every tree.
//!
//! ```text
//! χ        of each tree's values, from all that the sender said up to the tree
//! R ──► S  m = Σ χ_α β + x, x the u of an entry that serves nothing else
//! S ──► R  a digest of V = Σ χ_j q_j + y + m Δ, y that entry's q;        R: V = Σ χ_j t_j + z, z its t
//! ```

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf128};
use hushwire_simd::clmul::Clmul;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::ferret::{Set, Weights};
use crate::{Check, CheckStep, Context, OtError, Role, Sid, Transcript};

/// Separates the digest from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot vole digest v1";

/// The messages of the check.
pub(super) const SEAL: [CheckStep; 2] = [
    CheckStep { name: "VOLE: noise", from: Role::Receiver, bytes: 16 },
    CheckStep { name: "VOLE: digest of values", from: Role::Sender, bytes: 32 },
];

/// One end's running check.
pub(super) struct Seal {
    sid: Sid,
    backend: Backend,
    clmul: Clmul,
    transcript: Transcript,
    delta: Option<Gf128>,
    value: Gf128,
    masked: Gf128,
    next: usize,
}

impl Seal {
    /// With the entry that hides the noise: its q or t, and its u at the end that has no Δ.
    pub(super) fn new(context: &Context, set: &Set, delta: Option<Block>, wide: Block, u: Gf128) -> Self {
        Self {
            sid: context.sid,
            backend: context.backend,
            clmul: Clmul::best(),
            transcript: Transcript::new(&context.sid.child("vole trees", 0), set.name()),
            delta: delta.map(Gf128::from),
            value: wide.into(),
            masked: u,
            next: 0,
        }
    }

    /// A tree's values, before anything is added to them, its message, and the receiver's place and noise.
    ///
    /// The tree's coefficients bind its message and all before it, so that none of its errors was chosen with them in sight.
    pub(super) fn tree(&mut self, message: &[u8], values: &[Block], noise: Option<(usize, Gf128)>) {
        self.transcript.absorb(Role::Sender, message);
        let weights = Weights::new(self.backend, &self.transcript.challenge("values"), values.len());
        self.value += weights.sum(values);
        if let Some((place, beta)) = noise {
            self.masked += weights.at(place, values.len()).mul(beta, self.clmul);
        }
    }

    /// The next message.
    pub(super) fn step(&self) -> Option<CheckStep> {
        SEAL.get(self.next).copied()
    }

    /// Does that step.
    pub(super) fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let step = self.next;
        self.next += 1;
        match (step, self.delta) {
            (0, None) => said.copy_from_slice(&self.masked.0.to_le_bytes()),
            (0, Some(delta)) => {
                self.masked = Gf128(u128::from_le_bytes(length(heard, SEAL[0].name)?));
                self.value += self.masked.mul(delta, self.clmul);
            }
            (1, Some(_)) => said.copy_from_slice(&self.digest()),
            _ => {
                let digest: [u8; 32] = length(heard, SEAL[1].name)?;
                if !bool::from(digest.ct_eq(&self.digest())) {
                    return Err(OtError::abort(Check::Leaves));
                }
            }
        }
        Ok(())
    }

    fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key(DOMAIN);
        hasher.update(&self.sid.0);
        hasher.update(&self.masked.0.to_le_bytes());
        hasher.update(&self.value.0.to_le_bytes());
        *hasher.finalize().as_bytes()
    }
}

impl Drop for Seal {
    fn drop(&mut self) {
        self.value.zeroize();
        self.masked.zeroize();
        self.delta.zeroize();
    }
}

/// Exactly `N` bytes.
fn length<const N: usize>(heard: &[u8], name: &'static str) -> Result<[u8; N], OtError> {
    heard.try_into().map_err(|_| OtError::malformed(name, format!("{} bytes instead of {N}", heard.len())))
}
