//! Subfield vector oblivious linear evaluation: many products of a secret Δ with elements that only
//! the other party knows.
//!
//! **Functionality.** For `count` entries the receiver gets random u in B and t in F, the sender q
//! in F and Δ, with t = q + uΔ. Δ is the sender's for all entries. [`Pair64`] has B = GF(2^64) and
//! F = B², [`Full128`] both GF(2^128).
//!
//! **Paper.** Few entries are packed from correlated OTs as Keller, Orsini, Scholl, CCS 2016
//! (MASCOT), section 4.1, have it, the receiver's choices being random; the OTs are Ferret's
//! ([`crate::ferret`]), or rows ([`crate::rows`]) where Ferret's set-up would take as many of them.
//! Many grow from as many packed ones as a small table has, which makes a larger one, by learning
//! parity with noise over B: Weng, Yang, Katz, Wang, ePrint 2020/925 (Wolverine), Figs. 7 and 8, on
//! regular noise, trees as Guo et al., ePrint 2022/1431, have them.
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
//! **Deviations.** Bit 0 of Δ is 1, as Ferret's is, so that Δ holds 127 random bits. The code is
//! 10-local with uniform coefficients of B, for coefficients of GF(2) let an attacker look at any
//! one bit of B. The check is one for all trees, at the end, and a digest from the sender: only the
//! receiver has something to lose, and it says nothing before.
//!
//! **Security.** Packed: that of the OTs at level `S`. Grown: besides, LPN over B with regular
//! noise, for a chain of sets of which each one's secrets are outputs of the one before (b4: n =
//! 4640, k = 2^11, t = 290; beyond as many entries b5: n = 16 928, k = 2^12, t = 529; b7: n = 66
//! 560, k = 2^14, t = 520; Ferret's b9: n = 2^19, k = 2^16, t = 1024; beyond 2^19 entries
//! semi-honest ones also b10: n = 2^20, k = 2^17; `scripts/lpn-parameters` and docs/internals have
//! the estimates), and a tweakable circular correlation robust hash, a public key for each round.
//! Malicious: packed entries and OTs are checked as Ferret's are, before they serve; a change of
//! what a tree's sender says passes with probability 2^−123, or where its guess of the receiver's
//! place is right (a guess of j bits passes with 2^−j, and LPN is taken with that leakage, as
//! Ferret's is). [`Sender::finish`] and [`Receiver::finish`] come after all checks. Where F is no
//! field ([`Field::IS_FIELD`]), malicious entries are packed.
//!
//! **Notation.** Δ, q, t: elements of F, as blocks, the low half of a pair first; u, β: of B; bit i
//! of a number is x^i.
//!
//! **Rounds and bytes** ([`cost`]). The set-up of the OTs; one message for 8192 OTs from the
//! sender, [`Field::COTS`] OTs a packed entry, or one from the receiver for 8192 rows; for grown
//! entries one message for 256 trees of b4, b5 or b7, 64 of b9, 32 of b10; a tree of 2^h entries
//! has 16 (h + 1) bytes. In the malicious mode 16 bytes from the receiver and 32 from the sender
//! after either; after rows those of their check.
//!
//! **Constant time.** All of both parties' values are secret; carry-less products and what Ferret
//! does are constant time. Places of the table that an entry adds are public.

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

/// AGREEMENT: OTs beyond which a larger set pays its longer set-up and its table, which is more
/// than a core's second cache: two rounds of b9.
const MANY: usize = 1 << 20;
/// AGREEMENT: entries from which on growing them costs less than packing all; b4's table takes 2338
/// packed ones.
const GROWN: usize = 5 << 9;
/// SECURITY: the sets that entries grow by, each from a table that the one before makes; their
/// estimates over B are in docs/internals/security-intersections.md.
/// AGREEMENT: b10 halves the bytes and takes its time where others use the caches too, so that
/// malicious modes, which nobody asks for fewer bytes, stay with b9; b11 would halve them again,
/// with a table that is larger than what a core has of a busy machine's caches.
const fn growth(level: Level) -> &'static [Set] {
    match level {
        Level::SemiHonest => &[B4, B5, B7, B9, B10],
        Level::Malicious => &[B4, B5, B7, B9],
    }
}

/// The OTs that come first: rows alone where Ferret's set-up takes as many. Where there are enough
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

/// How `count` entries come about: packed entries, OTs beside them, and from these the others, if
/// there are more.
fn plan<F: Field>(level: Level, count: usize) -> (usize, usize, Option<VolePlan>) {
    if count < GROWN || level == Level::Malicious && !F::IS_FIELD {
        return (count, 0, None);
    }
    let plan = VolePlan::new(growth(level), level, count);
    (plan.entries, plan.cots, Some(plan))
}

/// The cost for the sender and the receiver of `count` entries beside the set-up of the OTs.
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

/// The sender's entries, zeroed when dropped.
pub struct SenderEntries {
    /// Δ.
    pub delta: Zeroizing<Block>,
    /// q of every entry.
    pub q: Secret,
}

/// The receiver's entries, zeroed when dropped.
pub struct ReceiverEntries<F: Field> {
    /// u of every entry.
    pub u: Zeroizing<Vec<F::Base>>,
    /// t of every entry.
    pub t: Secret,
}

/// Blocks on aligned memory, zeroed when dropped.
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

/// One end's Δ, and q of all entries, or t and u.
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

/// One end: the set-up, then the packed entries, then those that grow from them, if there are any.
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
    // Secret, for trees.
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

/// The sender's end, a [`Machine`](crate::Machine).
#[must_use = "run its steps, then finish"]
pub struct Sender<S: Security, F: Field>(Line<'static, Entries<F>, OtError>, PhantomData<S>);

/// The receiver's end, a [`Machine`](crate::Machine).
#[must_use = "run its steps, then finish"]
pub struct Receiver<S: Security, F: Field>(Line<'static, Entries<F>, OtError>, PhantomData<S>);

impl<S: Security, F: Field> Sender<S, F> {
    /// For `count` entries; without messages if there are none. `context` is agreed and of this run
    /// alone, `seed` this party's secret randomness, for this end alone.
    ///
    /// # Errors
    /// None at the levels that exist.
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
    /// As [`Sender::new`].
    ///
    /// # Errors
    /// As there.
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
