//! Subfield vector oblivious linear evaluation: many products of a secret Δ with elements that only the other party knows.
//!
//! **Functionality.** For `count` entries the receiver gets random u in B and t in F, the sender q in F and Δ, with
//! t = q + uΔ. Δ is the sender's for all entries. [`Pair64`] has B = GF(2^64) and F = B², [`Full128`] both GF(2^128).
//!
//! **Paper.** Entries from correlated OTs as Keller, Orsini, Scholl, CCS 2016 (MASCOT), section 4.1, pack them, the
//! receiver's choices being random; the OTs are Ferret's ([`crate::ferret`]).
//!
//! ```text
//! OT i of an entry   t_i = q_i ⊕ u_i Δ, u_i one bit
//! the entry          t = Σ x^i t_i = Σ x^i q_i + (Σ u_i x^i) Δ = q + u Δ, one OT for every bit of u
//! ```
//!
//! **Deviations.** None in what is computed. Bit 0 of Δ is 1, as Ferret's is, so that Δ holds 127 random bits.
//!
//! **Security.** That of Ferret's OTs at level `S`, which is all there is: both parties add up what they hold. In the
//! malicious mode [`Sender::finish`] and [`Receiver::finish`] come after the OTs' check of all entries.
//!
//! **Notation.** Δ, q, t: elements of F, as blocks, the low half of a pair first; u: of B; bit i of a number is x^i.
//!
//! **Rounds and bytes.** The set-up of the OTs, then one message for sixteen trees from the sender, [`Field::COTS`] OTs an entry
//! ([`cost`]); in the malicious mode 16 bytes from the receiver and 32 from the sender.
//!
//! **Constant time.** All of both parties' values are secret; carry-less products and what Ferret does are constant time.

mod field;
mod packed;
#[cfg(test)]
mod tests;

use core::marker::PhantomData;

use hushwire_block::{Block, Buffer};
use hushwire_prg::Seed;
use hushwire_wire::Cost;
use zeroize::{Zeroize, Zeroizing};

use crate::ferret::{B10, B11, Set};
use crate::machine::{Guarded, Latch, guarded};
use crate::{
    CheckStep, Context, Exchanged, Level, Machine, Opening, OtError, Protocol, Role, Round, Security,
};
pub use field::{Base, Field, Full128, Pair64};
use packed::{Packing, messages};

/// AGREEMENT: OTs from which on a larger set pays its longer set-up.
const MANY: usize = 1 << 19;

/// The OTs that `cots` of them come from.
fn protocol(cots: usize) -> (Protocol, Set) {
    if cots < MANY { (Protocol::FerretB10, B10) } else { (Protocol::FerretB11, B11) }
}

/// The cost for the sender and the receiver of `count` entries beside the set-up of the OTs.
#[must_use]
pub fn cost<F: Field>(level: Level, count: usize) -> [Cost; 2] {
    let cots = count * F::COTS;
    let (protocol, set) = protocol(cots);
    let messages = messages(&set, level, cots);
    let check = if count > 0 { protocol.check(level) } else { Vec::new() };
    let rounds = (messages.len() + check.len()) as u64;
    [(Role::Sender, messages.iter().sum()), (Role::Receiver, 0)].map(|(role, bytes)| {
        let checks = check.iter().filter(|(from, _)| *from == role).map(|(_, bytes)| bytes);
        Cost { rounds, bytes_sent: (bytes + checks.sum::<usize>()) as u64 }
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
    opening: Option<Opening<S>>,
    packing: Option<Packing<S, F>>,
    /// Whether this party spoke in this round, and with it did its part.
    spoke: bool,
    latch: Latch,
    field: PhantomData<F>,
}

impl<S: Security, F: Field> End<S, F> {
    fn new(role: Role, context: &Context, count: usize, seed: &Seed) -> Result<Self, OtError> {
        let (context, (protocol, _)) = (context.child("vole", 0), protocol(count * F::COTS));
        let opening = match role {
            Role::Sender => Opening::sender(&context, protocol, seed)?,
            Role::Receiver => Opening::receiver(&context, protocol, seed)?,
        };
        Ok(Self {
            role,
            count,
            opening: (count > 0).then_some(opening),
            packing: None,
            spoke: false,
            latch: Latch::new(),
            field: PhantomData,
        })
    }

    /// The next message once the set-up is done.
    fn step(&self) -> Option<CheckStep> {
        self.packing.as_ref()?.step()
    }

    fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        self.packing.as_mut().expect("the set-up comes first").act(heard, said)
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
                let (_, set) = protocol(self.count * F::COTS);
                self.packing = Some(Packing::new(extension, &set, self.count));
            }
            return Ok(());
        }
        if core::mem::take(&mut self.spoke) { Ok(()) } else { self.act(message, &mut []) }
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
        let packing = self.0.packing.as_mut();
        let delta = packing.as_ref().and_then(|packing| packing.delta()).unwrap_or_default();
        let q = packing.map(|packing| core::mem::take(&mut packing.wide)).unwrap_or_default();
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
        let (u, t) = self.0.packing.as_mut().map_or_else(Default::default, |packing| {
            (core::mem::take(&mut packing.narrow), core::mem::take(&mut packing.wide))
        });
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
