//! Protocols of several phases: machines one after the other, or side by side, behind the two slots of this module.
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

/// One machine of a phase.
pub(super) enum Part<W: Word> {
    Deal(Deal<W>),
    Circuit(Box<CircuitBatch>),
    Open(Reveal),
    Product(Product<W>),
    Inject(Box<Inject<W>>),
}

impl<W: Word> Part<W> {
    /// A circuit on planes that this module made.
    pub(super) fn circuit(
        program: &Arc<Program>,
        cx: Context,
        inputs: Vec<Arc<Shares>>,
        rows: usize,
    ) -> Part<W> {
        let workspace = cx.kept.workspace();
        let batch = CircuitBatch::over(program.clone(), cx, inputs, rows, workspace);
        Part::Circuit(Box::new(batch.expect("planes of the program's inputs")))
    }

    fn machine(&self) -> &dyn Machine<Error = NetError> {
        match self {
            Part::Deal(deal) => deal,
            Part::Circuit(batch) => &**batch,
            Part::Open(reveal) => reveal,
            Part::Product(product) => product,
            Part::Inject(inject) => &**inject,
        }
    }

    fn machine_mut(&mut self) -> &mut dyn Machine<Error = NetError> {
        match self {
            Part::Deal(deal) => deal,
            Part::Circuit(batch) => &mut **batch,
            Part::Open(reveal) => reveal,
            Part::Product(product) => product,
            Part::Inject(inject) => &mut **inject,
        }
    }

    /// The machine's slot behind one of the two.
    fn slot(&self, slot: usize) -> Option<usize> {
        match self {
            Part::Deal(_) | Part::Product(_) | Part::Inject(_) => Some(slot),
            Part::Circuit(_) => (slot == 0).then_some(0),
            Part::Open(_) => (slot == 1).then_some(0),
        }
    }

    fn runs(&self) -> bool {
        self.machine().round(0).is_some()
    }

    /// The round under way on one of the two slots.
    fn round(&self, slot: usize) -> Round {
        let round = self.slot(slot).and_then(|slot| self.machine().round(slot));
        round.unwrap_or(Round::even("", 0))
    }
}

/// The parts of the phase under way. Those that are done are taken by [`Parts::take`], and others take their place; without
/// any the protocol is done.
pub(super) struct Parts<W: Word> {
    parts: Vec<Part<W>>,
    /// SECURITY: there is no way back from an error.
    lost: bool,
}

impl<W: Word> Parts<W> {
    pub(super) fn new() -> Self {
        Parts { parts: vec![], lost: false }
    }

    /// Adds a part to the phase that begins.
    pub(super) fn run(&mut self, part: Part<W>) {
        self.parts.push(part);
    }

    /// The parts of the phase that is over.
    pub(super) fn take(&mut self) -> Vec<Part<W>> {
        std::mem::take(&mut self.parts)
    }

    /// Whether a phase is over that nobody has taken.
    pub(super) fn is_over(&self) -> bool {
        !self.lost && !self.parts.is_empty() && !self.parts.iter().any(Part::runs)
    }

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

    /// Runs a step; lost if it fails.
    fn guarded(
        &mut self,
        step: impl FnOnce(&mut Vec<Part<W>>) -> Result<(), NetError>,
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

    /// The next round on slot 0, where a circuit that runs by itself makes its message as it takes the last one.
    pub(super) fn upcoming(&self) -> Option<Round> {
        match &self.parts[..] {
            [part @ Part::Circuit(_)] if !self.lost => part.machine().upcoming(),
            _ => None,
        }
    }

    pub(super) fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|parts| {
            let [ring, back] = two(messages)?;
            surplus(back.own.len() + back.heard.len())?;
            match &mut parts[..] {
                [part @ Part::Circuit(_)] => part.machine_mut().turn(&[ring], out),
                _ => Err(Misstep::Lost { step: LOST }.into()),
            }
        })
    }
}

/// The name of no step.
const LOST: &str = "a protocol of several phases";

fn two<'m>(messages: &[Exchanged<'m>]) -> Result<[Exchanged<'m>; 2], NetError> {
    let &[ring, back] = messages else {
        return Err(Misstep::Buffer { step: LOST, found: messages.len(), expected: 2 }.into());
    };
    Ok([ring, back])
}

/// Bytes that no part asked for.
fn surplus(found: usize) -> Result<(), NetError> {
    if found == 0 { Ok(()) } else { Err(Misstep::Buffer { step: LOST, found, expected: 0 }.into()) }
}

/// A [`Machine`] of a type with phases. The type has two fields, `parts: Parts<W>` and `cost: Cost`, and a private function `phase`, which
/// takes the parts of a phase that is over one by one, and runs those of the next.
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
            /// Goes on to a phase that has a round, or to the end.
            fn settle(&mut self) {
                while self.parts.is_over() {
                    for part in self.parts.take() {
                        self.phase(part);
                    }
                }
            }
        }
    };
}

pub(super) use phased;
