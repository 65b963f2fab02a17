//! The check of grown entries in the malicious mode: one fold of the values of all trees, with a
//! challenge for every tree.
//!
//! ```text
//! χ        of each tree's values, from all that the sender sent up to the tree
//! R ──► S  m = Σ χ_α β + x, x the u of an entry that serves nothing else
//! S ──► R  a digest of V = Σ χ_j q_j + y + m Δ, y that entry's q;    R: V = Σ χ_j t_j + z, z its t
//! ```

use hushwire_aes::Backend;
use hushwire_block::{Block, Gf128};
use hushwire_simd::clmul::Clmul;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use crate::ferret::{Set, Weights};
use crate::{Check, CheckStep, Context, OtError, Role, Sid, Transcript};

/// The domain that separates the digest from any other use of BLAKE3.
const DOMAIN: &str = "hushwire 2026 ot vole digest v1";

/// The messages of the check.
pub(super) const SEAL: [CheckStep; 2] = [
    CheckStep { name: "VOLE: noise", from: Role::Receiver, bytes: 16 },
    CheckStep { name: "VOLE: digest of values", from: Role::Sender, bytes: 32 },
];

/// One endpoint's running check.
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
    /// A check with the entry that hides the noise: its q or t, and its u at the endpoint that has
    /// no Δ.
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

    /// Folds a tree: its values before anything is added to them, its message, and the receiver's
    /// place and noise.
    ///
    /// The tree's coefficients bind its message and all earlier ones, so that none of its errors
    /// can depend on them.
    pub(super) fn tree(&mut self, message: &[u8], values: &[Block], noise: Option<(usize, Gf128)>) {
        self.transcript.absorb(Role::Sender, message);
        let weights = Weights::new(self.backend, &self.transcript.challenge("values"), values.len());
        self.value += weights.sum(values);
        if let Some((place, beta)) = noise {
            self.masked += weights.at(place).mul(beta, self.clmul);
        }
    }

    /// The next message.
    pub(super) fn step(&self) -> Option<CheckStep> {
        SEAL.get(self.next).copied()
    }

    /// Makes or reads that message.
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

/// Requires exactly `N` bytes.
fn length<const N: usize>(heard: &[u8], name: &'static str) -> Result<[u8; N], OtError> {
    heard.try_into().map_err(|_| OtError::malformed(name, format!("{} bytes instead of {N}", heard.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ferret::rig::{TINY, WIDE, stream};

    const LEAVES: usize = 256;
    const PLACE: usize = 77;

    /// Both endpoints' values of a tree, with the noise beta in the receiver's place.
    fn values(delta: Gf128, beta: Gf128) -> [Vec<Block>; 2] {
        let mut q = vec![Block::ZERO; LEAVES];
        stream(9).fill_blocks(&mut q);
        let mut t = q.clone();
        t[PLACE] = (Gf128::from(t[PLACE]) + beta.mul(delta, Clmul::best())).into();
        [q, t]
    }

    fn context(sid: u8) -> Context {
        Context { sid: Sid([sid; 32]), backend: Backend::best() }
    }

    /// The folds of a check after trees with these messages, all with the same values.
    fn folded(sid: u8, set: &Set, trees: &[&[u8]]) -> [Gf128; 2] {
        let mut seal = Seal::new(&context(sid), set, None, Block::ZERO, Gf128::ZERO);
        let [q, _] = values(Gf128(3), Gf128(5));
        trees.iter().for_each(|message| seal.tree(message, &q, Some((PLACE, Gf128(5)))));
        [seal.value, seal.masked]
    }

    #[test]
    fn coefficients_bind_session_set_and_every_message_so_far() {
        let folds = [
            folded(1, &TINY, &[b"one", b"two"]),
            folded(2, &TINY, &[b"one", b"two"]),
            folded(1, &WIDE, &[b"one", b"two"]),
            folded(1, &TINY, &[b"one", b"twp"]),
            folded(1, &TINY, &[b"onf", b"two"]),
            folded(1, &TINY, &[b"two", b"one"]),
            folded(1, &TINY, &[b"one"]),
            folded(1, &TINY, &[b"onf"]),
        ];
        for (i, fold) in folds.iter().enumerate() {
            assert!(folds[..i].iter().all(|other| other[0] != fold[0] && other[1] != fold[1]), "seal {i}");
        }
    }

    /// The result of a check in which the sender's message put `errors` into the receiver's values.
    fn checked(errors: &[(usize, Gf128)]) -> Result<(), OtError> {
        let (delta, beta, noise, clmul) = (Gf128(3), Gf128(5), Gf128(7), Clmul::best());
        let [q, mut t] = values(delta, beta);
        for (at, error) in errors {
            t[*at] = (Gf128::from(t[*at]) + *error).into();
        }
        let y = Gf128(11);
        let z = y + noise.mul(delta, clmul);
        let mut sender = Seal::new(&context(1), &TINY, Some(delta.into()), y.into(), Gf128::ZERO);
        let mut receiver = Seal::new(&context(1), &TINY, None, z.into(), noise);
        sender.tree(b"levels and sum", &q, None);
        receiver.tree(b"levels and sum", &t, Some((PLACE, beta)));
        let (mut said, mut digest) = ([0; 16], [0; 32]);
        receiver.act(&[], &mut said)?;
        sender.act(&said, &mut [])?;
        sender.act(&[], &mut digest)?;
        receiver.act(&digest, &mut [])
    }

    /// A sender that knew a tree's coefficients before its message could choose errors whose fold
    /// is 0, and learn from the result whether the noise is at one of them. The best coefficients
    /// that it can know are those before the message.
    #[test]
    fn errors_that_cancel_under_the_coefficients_before_the_message_are_found() {
        assert!(checked(&[]).is_ok());
        assert!(checked(&[(3, Gf128(1))]).is_err());
        let transcript = Transcript::new(&context(1).sid.child("vole trees", 0), TINY.name());
        let known = Weights::new(Backend::best(), &transcript.challenge("values"), LEAVES);
        let errors = [(3, known.at(9)), (9, known.at(3))];
        let mut cancels = vec![Block::ZERO; LEAVES];
        errors.iter().for_each(|(at, error)| cancels[*at] = (*error).into());
        assert_eq!(known.sum(&cancels), Gf128::ZERO, "they would not be found");
        assert!(matches!(checked(&errors), Err(OtError::Abort { .. })));
    }
}
