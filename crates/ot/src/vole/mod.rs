//! Subfield vector oblivious linear evaluation (VOLE): many products of a secret Δ with elements
//! that only the other party knows.
//!
//! **Functionality.** For `count` entries the receiver gets random u in B and t in F, and the
//! sender q in F and Δ, with t = q + uΔ. The sender's Δ is the same for all entries. [`Pair64`] has
//! B = GF(2^64) and F = B²; in [`Full128`] both are GF(2^128).
//!
//! **Paper.** A few entries are packed from correlated OTs, as in Keller, Orsini, Scholl, CCS 2016
//! (MASCOT), section 4.1, except that the receiver's choices are random. The OTs are Ferret's
//! ([`crate::ferret`]), or rows ([`crate::rows`]) if Ferret's set-up would take as many of them.
//! Many entries grow from the packed entries of a small table, which makes a larger table, by
//! learning parity with noise over B: Weng, Yang, Katz, Wang, ePrint 2020/925 (Wolverine), Figs. 7
//! and 8, with regular noise, and with the trees of Guo et al., ePrint 2022/1431.
//!
//! ```text
//! packed    t_i = q_i ⊕ u_i Δ, OT i of an entry, u_i one bit
//!           t = Σ x^i t_i = Σ x^i q_i + (Σ u_i x^i) Δ = q + u Δ, one OT for every bit of u
//! grown     a tree of 2^h entries of which one, at a place that the receiver alone knows, has u =
//!           β ≠ 0;
//!           every entry adds ten of the table, each times an element of B that is public and
//!           uniform
//! ```
//!
//! **Deviations.** Bit 0 of Δ is 1, as in Ferret, so that Δ has 127 random bits. The code is
//! 10-local with uniform coefficients of B, because coefficients of GF(2) would let an attacker
//! look at any one bit of B. One check at the end covers all trees, and it is a digest from the
//! sender: only the receiver has secrets that it could lose, and it sends nothing before.
//!
//! **Security.** Packed entries have the security of the OTs at level `S`. Grown entries also need
//! a tweakable circular correlation robust hash, with a public key for each round, and LPN over B
//! with regular noise, for a chain of sets. The secrets of each set are outputs of the one before:
//! b4: n = 4640, k = 2^11, t = 290; for more entries b5: n = 16 928, k = 2^12, t = 529; b7: n = 66
//! 560, k = 2^14, t = 520; Ferret's b9: n = 2^19, k = 2^16, t = 1024; beyond 2^19 semi-honest
//! entries also b10: n = 2^20, k = 2^17. `scripts/lpn-parameters` and docs/internals have the
//! estimates. In the malicious mode, packed entries and OTs are checked like Ferret's before they
//! are used. A change of a tree's message passes with probability 2^−123, or if the sender's guess
//! of the receiver's place is right (a guess of j bits passes with 2^−j, and LPN includes that
//! leakage, as for Ferret). [`Sender::finish`] and [`Receiver::finish`] come after all checks. If F
//! is not a field ([`Field::IS_FIELD`]), malicious entries are packed.
//!
//! **Notation.** Δ, q, t: elements of F, as blocks, the low half of a pair first; u, β: elements of
//! B; bit i of a number is the coefficient of x^i.
//!
//! **Rounds and bytes** ([`cost`]). First comes the set-up of the OTs. Packed entries take one
//! message from the sender for 8192 OTs, with [`Field::COTS`] OTs for each entry, or one from the
//! receiver for 8192 rows. Grown entries take one message for 256 trees of b4, b5 or b7, 64 of b9,
//! or 32 of b10; a tree of 2^h entries has 16 (h + 1) bytes. In the malicious mode 16 bytes from
//! the receiver and 32 from the sender follow either kind; after rows, the bytes of their check
//! follow.
//!
//! **Constant time.** All values of both parties are secret; carry-less products and Ferret's
//! operations are constant time. The places of the table that an entry adds are public.

mod code;
mod field;
mod grown;
mod packed;
mod plan;
mod seal;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use hushwire_block::{Block, Buffer};
use hushwire_machine::{Cost, drive::Line, passed_on};
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

use crate::ferret::{B4, B5, B7, B9, B10, B11, Set};
use crate::{
    CheckStep, Context, Level, Opening, OtError, Role, Security, protocol::Core, rows::RowKind, steps::Steps,
};
pub use field::{Base, Field, Full128, Pair64};
use grown::{Base0, Growing};
use packed::{Packing, messages};
use plan::VolePlan;

/// AGREEMENT: the number of OTs above which a larger set is worth its longer set-up and its table,
/// which exceeds a core's second-level cache: two rounds of b9.
const MANY: usize = 1 << 20;
/// AGREEMENT: the number of entries from which on growing costs less than packing all of them; b4's
/// table takes 2338 packed entries.
const GROWN: usize = 5 << 9;
/// SECURITY: the sets by which entries grow; the table of each is made by the set before. Their
/// estimates over B are in docs/internals/security-intersections.md. AGREEMENT: b10 halves the
/// bytes, but costs time if others use the caches as well. Malicious modes, in which fewer bytes
/// are not a goal, therefore end with b9. b11 would halve the bytes again, but its table exceeds a
/// core's share of the caches on a busy machine.
const fn growth(level: Level) -> &'static [Set] {
    match level {
        Level::SemiHonest => &[B4, B5, B7, B9, B10],
        Level::Malicious => &[B4, B5, B7, B9],
    }
}

/// The source of the first OTs: rows alone if Ferret's set-up takes as many. If there are enough
/// entries that b10 is worth its table, rows of half the length are worth their time.
fn core<F: Field>(level: Level, count: usize) -> Core {
    let (packed, beside, plan) = plan::<F>(level, count);
    let is_long = plan.is_some_and(|plan| plan.reaches(B10));
    let rows = if is_long { RowKind::SoftSpoken8 } else { RowKind::SoftSpoken4 };
    match packed * F::COTS + beside {
        cots if cots <= B9.rows() => Core::Rows(rows),
        cots if cots <= MANY => Core::Ferret(B9, rows),
        _ => Core::Ferret(B11, rows),
    }
}

/// The sources of `count` entries: the number of packed entries, the number of further OTs, and the
/// plan by which the other entries grow from these, if there are more.
fn plan<F: Field>(level: Level, count: usize) -> (usize, usize, Option<VolePlan>) {
    if count < GROWN || level == Level::Malicious && !F::IS_FIELD {
        return (count, 0, None);
    }
    let plan = VolePlan::new(growth(level), level, count);
    (plan.entries, plan.cots, Some(plan))
}

/// The costs of `count` entries for the sender and the receiver, without the set-up of the OTs.
#[must_use]
pub fn cost<F: Field>(level: Level, count: usize) -> [Cost; 2] {
    let (packed, beside, plan) = plan::<F>(level, count);
    let cots = packed * F::COTS + beside;
    let core = core::<F>(level, count);
    let (from, chunks) = messages(&core, level, cots);
    let mut all: Vec<_> = chunks.into_iter().map(|bytes| (from, bytes)).collect();
    if count > 0 {
        all.extend(core.check(level));
    }
    all.extend(plan.iter().flat_map(|plan| plan.messages(level)));
    [Role::Sender, Role::Receiver].map(|role| {
        let bytes = all.iter().filter(|(from, _)| *from == role).map(|(_, bytes)| bytes);
        Cost { rounds: all.len() as u64, bytes_sent: bytes.sum::<usize>() as u64 }
    })
}

/// The sender's entries, zeroed on drop.
pub struct SenderEntries {
    /// Δ.
    pub delta: Zeroizing<Block>,
    /// The values q of all entries.
    pub q: Secret,
}

/// The receiver's entries, zeroed on drop.
pub struct ReceiverEntries<F: Field> {
    /// The values u of all entries.
    pub u: Zeroizing<Vec<F::Base>>,
    /// The values t of all entries.
    pub t: Secret,
}

/// Blocks in aligned memory, zeroed on drop.
#[derive(Default)]
pub struct Secret(Buffer);

impl core::ops::Deref for Secret {
    type Target = [Block];
    fn deref(&self) -> &[Block] {
        self.0.blocks()
    }
}

impl core::ops::DerefMut for Secret {
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.blocks_mut()
    }
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

/// One endpoint's Δ and all q, or all t and u.
struct Entries<F: Field> {
    delta: Zeroizing<Block>,
    wide: Secret,
    narrow: Zeroizing<Vec<F::Base>>,
}

impl<F: Field> Entries<F> {
    fn new(delta: Option<Block>, (wide, narrow): (Buffer, Vec<F::Base>)) -> Self {
        let delta = Zeroizing::new(delta.unwrap_or_default());
        Entries { delta, wide: Secret(wide), narrow: Zeroizing::new(narrow) }
    }
}

/// One endpoint: the set-up, then the packed entries, then those that grow from them, if there are
/// any.
fn begin<S: Security, F: Field>(
    role: Role,
    context: &Context,
    count: usize,
    seed: &Seed,
) -> Result<Line<'static, Entries<F>, OtError>, OtError> {
    let context = context.child("vole", 0);
    let core = core::<F>(S::LEVEL, count);
    let mut opening = match role {
        Role::Sender => Opening::<S>::sender_of::<S::FastBase>(&context, core, seed)?,
        Role::Receiver => Opening::<S>::receiver_of::<S::FastBase>(&context, core, seed)?,
    };
    // The seed is secret, and the source of trees.
    let seed = seed.derive("vole trees", &[]);
    Ok(Line::new(move |talk| async move {
        if count == 0 {
            return Ok(Entries::new(None, Default::default()));
        }
        talk.run(&mut opening).await?;
        let (packed, beside, more) = plan::<F>(S::LEVEL, count);
        let mut packing = Packing::<S, F>::new(opening.extension(), &core, packed, beside);
        let mut steps = Steps::new(talk, role);
        while let Some(CheckStep { name, from, bytes }) = packing.step() {
            steps.take(name, from, bytes, |heard, said| packing.act(heard, said)).await?;
        }
        let delta = packing.delta();
        let (wide, narrow) = (core::mem::take(&mut packing.wide), core::mem::take(&mut packing.narrow));
        if more.is_none() {
            return Ok(Entries::new(delta, (wide, narrow)));
        }
        let base = match delta {
            Some(delta) => Base0::Sender { delta, q: wide, seed },
            None => Base0::Receiver { t: wide, u: narrow },
        };
        let mut growing = Growing::<S, F>::new(&context, growth(S::LEVEL), count, base, packing.beside());
        while let Some(CheckStep { name, from, bytes }) = growing.step() {
            steps.take(name, from, bytes, |heard, said| growing.act(heard, said)).await?;
        }
        Ok(Entries::new(delta, growing.take()))
    }))
}

/// The sender's endpoint, a [`Machine`](crate::Machine).
#[must_use = "run its steps, then finish"]
pub struct Sender<S: Security, F: Field>(Line<'static, Entries<F>, OtError>, PhantomData<S>);

/// The receiver's endpoint, a [`Machine`](crate::Machine).
#[must_use = "run its steps, then finish"]
pub struct Receiver<S: Security, F: Field>(Line<'static, Entries<F>, OtError>, PhantomData<S>);

impl<S: Security, F: Field> Sender<S, F> {
    /// A machine for `count` entries; it has no messages if `count` is 0. `context` is agreed, and
    /// only this run uses it. `seed` is this party's secret randomness, for this endpoint alone.
    ///
    /// # Errors
    /// There is no error at the existing levels.
    pub fn new(context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        Ok(Self(begin::<S, F>(Role::Sender, context, count, seed)?, PhantomData))
    }

    /// The entries, checked in malicious modes.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> SenderEntries {
        let Entries { delta, wide, .. } = self.0.finish();
        SenderEntries { delta, q: wide }
    }
}

impl<S: Security, F: Field> Receiver<S, F> {
    /// The same as [`Sender::new`], for the receiver.
    ///
    /// # Errors
    /// The same as for [`Sender::new`].
    pub fn new(context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        Ok(Self(begin::<S, F>(Role::Receiver, context, count, seed)?, PhantomData))
    }

    /// The entries, checked in malicious modes.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(self) -> ReceiverEntries<F> {
        let Entries { wide, narrow, .. } = self.0.finish();
        ReceiverEntries { u: narrow, t: wide }
    }
}

passed_on!([S: Security, F: Field] Sender<S, F>, OtError, self => self.0);
passed_on!([S: Security, F: Field] Receiver<S, F>, OtError, self => self.0);
