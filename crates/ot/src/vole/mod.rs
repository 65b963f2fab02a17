//! Subfield vector oblivious linear evaluation: many products of a secret Δ with elements that only the other party knows.
//!
//! **Functionality.** For `count` entries the receiver gets random u in B and t in F, the sender q in F and Δ, with
//! t = q + uΔ. Δ is the sender's for all entries. [`Pair64`] has B = GF(2^64) and F = B², [`Full128`] both GF(2^128).
//!
//! **Paper.** Few entries are packed from correlated OTs as Keller, Orsini, Scholl, CCS 2016 (MASCOT), section 4.1, have it, the
//! receiver's choices being random; the OTs are Ferret's ([`crate::ferret`]), or rows ([`crate::rows`]) where Ferret's set-up would take as many of
//! them. Many grow from as many packed ones as a small table has, which makes a larger one, by learning parity with noise over B: Weng, Yang, Katz, Wang, ePrint 2020/925 (Wolverine), Figs. 7 and 8, on regular
//! noise, trees as Guo et al., ePrint 2022/1431, have them.
//!
//! ```text
//! packed    t_i = q_i ⊕ u_i Δ, OT i of an entry, u_i one bit
//!           t = Σ x^i t_i = Σ x^i q_i + (Σ u_i x^i) Δ = q + u Δ, one OT for every bit of u
//! grown     a tree of 2^h entries of which one, at a place that the receiver alone knows, has u = β ≠ 0;
//!           every entry adds ten of the table, each times an element of B that is public and uniform
//! ```
//!
//! **Deviations.** Bit 0 of Δ is 1, as Ferret's is, so that Δ holds 127 random bits. The code is 10-local with uniform coefficients of B, for
//! coefficients of GF(2) let an attacker look at any one bit of B. The check is one for all trees, at the end, and a
//! digest from the sender: only the receiver has something to lose, and it says nothing before.
//!
//! **Security.** Packed: that of the OTs at level `S`. Grown: besides, LPN over B with regular noise, for a chain of sets of which each one's secrets are
//! outputs of the one before (b4: n = 4640, k = 2^11, t = 290; beyond as many entries b5: n = 16 928, k = 2^12, t = 529; b7: n = 66 560, k = 2^14, t = 520; Ferret's
//! b9: n = 2^19, k = 2^16, t = 1024; beyond 2^19 entries semi-honest ones also b10: n = 2^20, k = 2^17; `scripts/lpn-parameters` and SECURITY.md have the estimates), and a tweakable circular correlation robust hash, a public key for each round. Malicious: packed entries and OTs are checked as Ferret's are, before
//! they serve; a change of what a tree's sender says passes with probability 2^−123, or where its guess of the
//! receiver's place is right (a guess of j bits passes with 2^−j, and LPN is taken with that leakage, as Ferret's is).
//! [`Sender::finish`] and [`Receiver::finish`] come after all checks. Where F is no field ([`Field::IS_FIELD`]), malicious
//! entries are packed.
//!
//! **Notation.** Δ, q, t: elements of F, as blocks, the low half of a pair first; u, β: of B; bit i of a number is x^i.
//!
//! **Rounds and bytes** ([`cost`]). The set-up of the OTs; one message for 8192 OTs from the sender, [`Field::COTS`] OTs a packed
//! entry, or one from the receiver for 8192 rows; for grown entries one message for 256 trees of b4, b5 or b7, 64 of b9, 32 of b10; a tree of 2^h entries has
//! 16 (h + 1) bytes. In the malicious mode 16 bytes from the receiver and 32 from the sender after either; after rows those of their check.
//!
//! **Constant time.** All of both parties' values are secret; carry-less products and what Ferret does are constant time.
//! Places of the table that an entry adds are public.

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
use hushwire_machine::Cost;
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

use crate::ferret::{B4, B5, B7, B9, B10, B11, Set};
use crate::machine::{Guarded, Latch, guarded};
use crate::{
    CheckStep, Context, Exchanged, Level, Machine, Opening, OtError, Role, Round, Security, protocol::Core,
    rows::Kind,
};
pub use field::{Base, Field, Full128, Pair64};
use grown::{Base0, Growing};
use packed::{Packing, messages};
use plan::Plan;

/// AGREEMENT: OTs beyond which a larger set pays its longer set-up and its table, which is more than a core's second cache: two rounds of b9.
const MANY: usize = 1 << 20;
/// AGREEMENT: entries from which on growing them costs less than packing all; b4's table takes 2338 packed ones.
const GROWN: usize = 5 << 9;
/// SECURITY: the sets that entries grow by, each from a table that the one before makes; their estimates over B are in SECURITY.md.
/// AGREEMENT: b10 halves the bytes and takes its time where others use the caches too, so that malicious modes, which nobody asks for fewer bytes,
/// stay with b9; b11 would halve them again, with a table that is larger than what a core has of a busy machine's caches.
const fn growth(level: Level) -> &'static [Set] {
    match level {
        Level::SemiHonest => &[B4, B5, B7, B9, B10],
        Level::Malicious => &[B4, B5, B7, B9],
    }
}

/// The OTs that come first: rows alone where Ferret's set-up takes as many. Where entries are so many that b10 is worth its table, rows
/// of half the length are worth their time.
fn core<F: Field>(level: Level, count: usize) -> Core {
    let (packed, beside, plan) = plan::<F>(level, count);
    let is_long = plan.is_some_and(|plan| plan.reaches(B10));
    let rows = if is_long { Kind::SoftSpoken8 } else { Kind::SoftSpoken4 };
    match packed * F::COTS + beside {
        cots if cots <= B9.rows() => Core::Rows(rows),
        cots if cots <= MANY => Core::Ferret(B9, rows),
        _ => Core::Ferret(B11, rows),
    }
}

/// How `count` entries come about: packed entries, OTs beside them, and from these the others, if there are so many.
fn plan<F: Field>(level: Level, count: usize) -> (usize, usize, Option<Plan>) {
    if count < GROWN || level == Level::Malicious && !F::IS_FIELD {
        return (count, 0, None);
    }
    let plan = Plan::new(growth(level), level, count);
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

/// One end: the set-up, then the entries.
struct End<S: Security, F: Field> {
    role: Role,
    count: usize,
    context: Context,
    /// Secret, for trees.
    seed: Seed,
    opening: Option<Opening<S>>,
    packing: Option<Packing<S, F>>,
    growing: Option<Growing<S, F>>,
    /// Whether this party spoke in this round, and with it did its part.
    spoke: bool,
    latch: Latch,
    field: PhantomData<F>,
}

impl<S: Security, F: Field> End<S, F> {
    fn new(role: Role, context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        let context = context.child("vole", 0);
        let core = core::<F>(S::LEVEL, count);
        let opening = match role {
            Role::Sender => Opening::sender_of::<S::FastBase>(&context, core, seed)?,
            Role::Receiver => Opening::receiver_of::<S::FastBase>(&context, core, seed)?,
        };
        Ok(Self {
            role,
            count,
            context,
            seed: seed.derive("vole trees", &[]),
            opening: (count > 0).then_some(opening),
            packing: None,
            growing: None,
            spoke: false,
            latch: Latch::new(),
            field: PhantomData,
        })
    }

    /// The next message once the set-up is done.
    fn step(&self) -> Option<CheckStep> {
        match &self.growing {
            Some(growing) => growing.step(),
            None => self.packing.as_ref()?.step(),
        }
    }

    fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        if let Some(growing) = &mut self.growing {
            return growing.act(heard, said);
        }
        let packing = self.packing.as_mut().expect("the set-up comes first");
        packing.act(heard, said)?;
        if packing.step().is_none() {
            self.grow();
        }
        Ok(())
    }

    /// After the packed entries, those that grow from them, if there are any.
    fn grow(&mut self) {
        let (_, _, Some(_)) = plan::<F>(S::LEVEL, self.count) else { return };
        let packing = self.packing.as_mut().expect("they are packed");
        let (wide, narrow) = (core::mem::take(&mut packing.wide), core::mem::take(&mut packing.narrow));
        let base = match packing.delta() {
            Some(delta) => Base0::Sender { delta, q: wide, seed: self.seed.clone() },
            None => Base0::Receiver { t: wide, u: narrow },
        };
        self.growing =
            Some(Growing::new(&self.context, growth(S::LEVEL), self.count, base, packing.beside()));
    }

    fn exchange(&self) -> Option<Round> {
        if let Some(opening) = &self.opening {
            return opening.round(0);
        }
        let CheckStep { name, from, bytes } = self.step()?;
        let (out, into) = if from == self.role { (bytes, 0) } else { (0, bytes) };
        Some(Round { name, out, into })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        if let Some(opening) = &mut self.opening {
            return opening.write(0, out);
        }
        self.spoke = self.step().is_some_and(|step| step.from == self.role);
        if self.spoke { self.act(&[], out) } else { Ok(()) }
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        if let Some(opening) = &mut self.opening {
            opening.read(&[Exchanged::heard(message)])?;
            if opening.round(0).is_none() {
                let extension = self.opening.take().expect("it is here").extension();
                let (packed, beside, _) = plan::<F>(S::LEVEL, self.count);
                let core = core::<F>(S::LEVEL, self.count);
                self.packing = Some(Packing::new(extension, &core, packed, beside));
            }
            return Ok(());
        }
        if core::mem::take(&mut self.spoke) { Ok(()) } else { self.act(message, &mut []) }
    }

    /// q of all entries, or t and u.
    fn entries(&mut self) -> (Buffer, Vec<F::Base>) {
        match (&mut self.growing, &mut self.packing) {
            (Some(growing), _) => growing.take(),
            (None, Some(packing)) => {
                (core::mem::take(&mut packing.wide), core::mem::take(&mut packing.narrow))
            }
            (None, None) => Default::default(),
        }
    }

    fn assert_done(&self) {
        assert!(self.latch.round(|| self.exchange()).is_none(), "finish comes after the last step");
    }
}

/// The sender's end, a [`Machine`].
#[must_use = "run its steps, then finish"]
pub struct Sender<S: Security, F: Field>(End<S, F>);

/// The receiver's end, a [`Machine`].
#[must_use = "run its steps, then finish"]
pub struct Receiver<S: Security, F: Field>(End<S, F>);

impl<S: Security, F: Field> Sender<S, F> {
    /// For `count` entries; without messages if there are none. `context` is agreed and of this run alone, `seed` this
    /// party's secret randomness, for this end alone.
    ///
    /// # Errors
    /// None at the levels that exist.
    pub fn new(context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        Ok(Self(End::new(Role::Sender, context, count, seed)?))
    }

    /// The entries, checked in malicious modes.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(mut self) -> SenderEntries {
        self.0.assert_done();
        let delta = self.0.packing.as_ref().and_then(Packing::delta).unwrap_or_default();
        let (q, _) = self.0.entries();
        SenderEntries { delta: Zeroizing::new(delta), q: Secret(q) }
    }
}

impl<S: Security, F: Field> Receiver<S, F> {
    /// As [`Sender::new`].
    ///
    /// # Errors
    /// As there.
    pub fn new(context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        Ok(Self(End::new(Role::Receiver, context, count, seed)?))
    }

    /// The entries, checked in malicious modes.
    ///
    /// # Panics
    /// If steps are left (the caller's bug).
    #[must_use]
    pub fn finish(mut self) -> ReceiverEntries<F> {
        self.0.assert_done();
        let (t, u) = self.0.entries();
        ReceiverEntries { u: Zeroizing::new(u), t: Secret(t) }
    }
}

guarded!([S: Security, F: Field] Sender<S, F>);
guarded!([S: Security, F: Field] Receiver<S, F>);

/// Both ends hand on to the one that they wrap.
macro_rules! by_its_end {
    ($name:ident) => {
        impl<S: Security, F: Field> Guarded for $name<S, F> {
            fn exchange(&self) -> Option<Round> {
                self.0.exchange()
            }
            fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
                self.0.say(out)
            }
            fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
                self.0.take(message)
            }
            fn latch(&self) -> &Latch {
                &self.0.latch
            }
        }
    };
}
by_its_end!(Sender);
by_its_end!(Receiver);
