//! Protocols of several phases: machines run one after the other, or side by side, behind the two
//! slots of this module.
//!
//! ```text
//! phase      parts side by side             slot 0 (ring)      slot 1 (back)
//! deal       Deal                           nothing            planes and numbers
//! circuit    CircuitBatch                   a layer a round    nothing
//! open       Reveal                         nothing            a share
//! product    Product                        masked products    nothing
//! inject     Inject                         its own phases
//! ```

use super::{deal::Deal, inject::Inject, mul::Product, word::Word};
use crate::{CircuitBatch, Context, Reveal, Shares};
use hushwire_circuit::Program;
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Machine, Misstep, Round},
};
use std::sync::Arc;

/// One machine of a phase of the protocol `P`, and the function that continues when the phase is
/// over.
pub(super) enum PhasePart<P, W: Word> {
    Deal(Deal<W>, fn(&mut P, Deal<W>)),
    Circuit(Box<CircuitBatch>, fn(&mut P, CircuitBatch)),
    Open(Reveal, fn(&mut P, Reveal)),
    Product(Product<W>, fn(&mut P, Product<W>)),
    Inject(Box<Inject<W>>, fn(&mut P, Inject<W>)),
}

/// A circuit on planes.
///
/// # Panics
/// If the planes are not the program's inputs for this number of rows (the caller's bug).
pub(super) fn circuit(
    program: &Arc<Program>,
    cx: Context,
    inputs: Vec<Arc<Shares>>,
    rows: usize,
) -> Box<CircuitBatch> {
    let workspace = cx.kept.workspace();
    let batch = CircuitBatch::over(program.clone(), cx, inputs, rows, workspace);
    Box::new(batch.expect("planes of the program's inputs"))
}

impl<P, W: Word> PhasePart<P, W> {
    /// Continues the protocol with the machine's result.
    pub(super) fn end(self, protocol: &mut P) {
        match self {
            PhasePart::Deal(deal, then) => then(protocol, deal),
            PhasePart::Circuit(batch, then) => then(protocol, *batch),
            PhasePart::Open(reveal, then) => then(protocol, reveal),
            PhasePart::Product(product, then) => then(protocol, product),
            PhasePart::Inject(inject, then) => then(protocol, *inject),
        }
    }

    fn machine(&self) -> &dyn Machine<Error = NetError> {
        match self {
            PhasePart::Deal(deal, _) => deal,
            PhasePart::Circuit(batch, _) => &**batch,
            PhasePart::Open(reveal, _) => reveal,
            PhasePart::Product(product, _) => product,
            PhasePart::Inject(inject, _) => &**inject,
        }
    }

    fn machine_mut(&mut self) -> &mut dyn Machine<Error = NetError> {
        match self {
            PhasePart::Deal(deal, _) => deal,
            PhasePart::Circuit(batch, _) => &mut **batch,
            PhasePart::Open(reveal, _) => reveal,
            PhasePart::Product(product, _) => product,
            PhasePart::Inject(inject, _) => &mut **inject,
        }
    }

    /// The machine's slot that corresponds to one of the two slots.
    fn slot(&self, slot: usize) -> Option<usize> {
        match self {
            PhasePart::Deal(..) | PhasePart::Product(..) | PhasePart::Inject(..) => Some(slot),
            PhasePart::Circuit(..) => (slot == 0).then_some(0),
            PhasePart::Open(..) => (slot == 1).then_some(0),
        }
    }

    /// Whether the machine has a round left.
    fn runs(&self) -> bool {
        self.machine().round(0).is_some()
    }

    /// The machine's current round on one of the two slots.
    fn round(&self, slot: usize) -> Round {
        let round = self.slot(slot).and_then(|slot| self.machine().round(slot));
        round.unwrap_or(Round::even("", 0))
    }
}

/// The parts of the current phase. [`Parts::take`] removes those that are done, and those of the
/// next phase take their place. The protocol is done when there are none.
pub(super) struct Parts<P, W: Word> {
    parts: Vec<PhasePart<P, W>>,
    /// SECURITY: a machine cannot continue after an error.
    lost: bool,
}

impl<P, W: Word> Parts<P, W> {
    pub(super) fn new() -> Self {
        Parts { parts: vec![], lost: false }
    }

    /// Adds a part to the phase that is about to begin.
    pub(super) fn add(&mut self, part: PhasePart<P, W>) {
        self.parts.push(part);
    }

    /// The parts of the phase that is over.
    pub(super) fn take(&mut self) -> Vec<PhasePart<P, W>> {
        std::mem::take(&mut self.parts)
    }

    /// Whether a phase is over and has not been taken.
    pub(super) fn is_over(&self) -> bool {
        !self.lost && !self.parts.is_empty() && !self.parts.iter().any(PhasePart::runs)
    }

    /// The round of the phase on a slot: the lengths of all parts together, and the first part's
    /// name. After an error it is a round without bytes, whose calls are refused.
    pub(super) fn round(&self, slot: usize) -> Option<Round> {
        if self.lost {
            return Some(Round::even(LOST, 0));
        }
        let running = || self.parts.iter().filter(|part| part.runs());
        let name = running().next()?.machine().round(0)?.name;
        Some(running().map(|part| part.round(slot)).fold(Round::even(name, 0), |sum, round| Round {
            out: sum.out + round.out,
            into: sum.into + round.into,
            ..sum
        }))
    }

    /// Runs a step; the protocol is lost if the step fails.
    fn guarded(
        &mut self,
        step: impl FnOnce(&mut Vec<PhasePart<P, W>>) -> Result<(), NetError>,
    ) -> Result<(), NetError> {
        if self.lost {
            return Err(Misstep::Lost { step: LOST }.into());
        }
        let done = step(&mut self.parts);
        self.lost = done.is_err();
        done
    }

    pub(super) fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(move |parts| {
            let mut out = out;
            for part in parts.iter_mut().filter(|part| part.runs()) {
                let (own, rest) = out.split_at_mut(part.round(slot).out.min(out.len()));
                if let Some(slot) = part.slot(slot) {
                    part.machine_mut().write(slot, own)?;
                }
                out = rest;
            }
            surplus(out.len())
        })
    }

    pub(super) fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.guarded(|parts| {
            let mut left = two(messages)?;
            for part in parts.iter_mut().filter(|part| part.runs()) {
                let mut own = Vec::with_capacity(2);
                for (slot, message) in left.iter_mut().enumerate() {
                    let round = part.round(slot);
                    let (sent, behind) = message.own.split_at(round.out.min(message.own.len()));
                    let (heard, after) = message.heard.split_at(round.into.min(message.heard.len()));
                    *message = Exchanged { own: behind, heard: after };
                    if part.slot(slot).is_some() {
                        own.push(Exchanged { own: sent, heard });
                    }
                }
                part.machine_mut().read(&own)?;
            }
            left.iter().try_for_each(|message| surplus(message.own.len() + message.heard.len()))
        })
    }

    /// The next round on slot 0, for a circuit that runs alone and makes its message as it takes
    /// the last one.
    pub(super) fn upcoming(&self) -> Option<Round> {
        match &self.parts[..] {
            [part @ PhasePart::Circuit(..)] if !self.lost => part.machine().upcoming(),
            _ => None,
        }
    }

    /// Reads the messages of a round, and writes the next one, which is [`Parts::upcoming`].
    pub(super) fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|parts| {
            let [ring, back] = two(messages)?;
            surplus(back.own.len() + back.heard.len())?;
            match &mut parts[..] {
                [part @ PhasePart::Circuit(..)] => part.machine_mut().turn(&[ring], out),
                _ => Err(Misstep::Lost { step: LOST }.into()),
            }
        })
    }
}

/// The step's name in errors if no step runs.
const LOST: &str = "a protocol of several phases";

/// The messages of the two slots.
fn two<'m>(messages: &[Exchanged<'m>]) -> Result<[Exchanged<'m>; 2], NetError> {
    let &[ring, back] = messages else {
        return Err(Misstep::Buffer { step: LOST, found: messages.len(), expected: 2 }.into());
    };
    Ok([ring, back])
}

/// Refuses bytes that no part asked for.
fn surplus(found: usize) -> Result<(), NetError> {
    if found == 0 { Ok(()) } else { Err(Misstep::Buffer { step: LOST, found, expected: 0 }.into()) }
}

/// Implements [`Machine`] for a type with phases. The type has two fields, `parts: Parts<Self, W>`
/// and `cost: Cost`. When a phase is over, each of its parts continues the protocol, in their
/// order, and adds parts of the next phase.
macro_rules! phased {
    ([$($parameters:tt)*] $type:ty) => {
        impl<$($parameters)*> hushwire_machine::drive::Machine for $type {
            type Error = hushwire_machine::NetError;

            fn slots(&self) -> usize {
                2
            }
            fn round(&self, slot: usize) -> Option<hushwire_machine::drive::Round> {
                self.parts.round(slot)
            }
            fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), hushwire_machine::NetError> {
                self.parts.write(slot, out)
            }
            fn read(
                &mut self,
                messages: &[hushwire_machine::drive::Exchanged<'_>],
            ) -> Result<(), hushwire_machine::NetError> {
                self.parts.read(messages)?;
                self.settle();
                Ok(())
            }
            fn upcoming(&self) -> Option<hushwire_machine::drive::Round> {
                self.parts.upcoming()
            }
            fn turn(
                &mut self,
                messages: &[hushwire_machine::drive::Exchanged<'_>],
                out: &mut [u8],
            ) -> Result<(), hushwire_machine::NetError> {
                self.parts.turn(messages, out)
            }
            fn cost(&self) -> Option<hushwire_machine::Cost> {
                Some(self.cost)
            }
        }

        impl<$($parameters)*> $type {
            /// Continues to a phase that has a round, or to the end.
            fn settle(&mut self) {
                while self.parts.is_over() {
                    for part in self.parts.take() {
                        part.end(self);
                    }
                }
            }
        }
    };
}

pub(super) use phased;
