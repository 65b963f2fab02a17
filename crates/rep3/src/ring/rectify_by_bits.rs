//! Rectifiers that convert numbers to bits and back: the fewest bytes, but a round for each bit,
//! twice.

use super::{OnNumbers, ToNumbers, column::Column, word::Word};
use crate::{Batch, ShareError};
use hushwire_circuit::Adder;
use hushwire_machine::{
    Cost, NetError,
    drive::{Exchanged, Machine, Round},
};
use std::ops::Range;

/// One party's endpoint of max(⌊x / 2^f⌋, 0) from numbers in two's complement to numbers.
pub struct RectifyByBits<W: Word> {
    batch: Batch,
    half: BitsOrNumbers<W>,
    cost: Cost,
}

enum BitsOrNumbers<W: Word> {
    Bits(Option<OnNumbers<W>>),
    Numbers(ToNumbers<W>),
}

impl<W: Word> RectifyByBits<W> {
    /// max(⌊x / 2^from⌋, 0), row by row, of numbers of `to` bits in two's complement.
    ///
    /// # Errors
    /// As [`OnNumbers::rectified`].
    pub fn new(mut batch: Batch, x: &Column<W>, bits: Range<usize>) -> Result<Self, ShareError> {
        let rows = x.rows();
        let width = bits.len().saturating_sub(1);
        let first = OnNumbers::<W>::rectified(&mut batch, x, bits, Adder::Ripple)?;
        let own = first.cost().unwrap_or_default();
        let then = ToNumbers::<W>::cost_of(&mut batch, width, rows, Adder::Ripple);
        let cost = Cost { rounds: own.rounds + then.rounds, bytes_sent: own.bytes_sent + then.bytes_sent };
        let mut machine = RectifyByBits { batch, half: BitsOrNumbers::Bits(Some(first)), cost };
        machine.settle();
        Ok(machine)
    }

    fn machine(&self) -> Option<&dyn Machine<Error = NetError>> {
        match &self.half {
            BitsOrNumbers::Bits(first) => first.as_ref().map(|first| first as _),
            BitsOrNumbers::Numbers(second) => Some(second),
        }
    }

    fn machine_mut(&mut self) -> Option<&mut dyn Machine<Error = NetError>> {
        match &mut self.half {
            BitsOrNumbers::Bits(first) => first.as_mut().map(|first| first as _),
            BitsOrNumbers::Numbers(second) => Some(second),
        }
    }

    /// Starts the second half when the first one is over.
    fn settle(&mut self) {
        let BitsOrNumbers::Bits(first) = &mut self.half else { return };
        if first.as_ref().is_some_and(|first| first.round(0).is_none())
            && let Some(bits) = first.take().map(OnNumbers::finish)
        {
            let numbers = ToNumbers::new(&mut self.batch, &bits, Adder::Ripple);
            self.half = BitsOrNumbers::Numbers(numbers.expect("fewer bits than a word has"));
        }
    }

    /// Shares of the numbers, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Column<W> {
        match self.half {
            BitsOrNumbers::Numbers(second) => second.finish(),
            BitsOrNumbers::Bits(_) => panic!("finish comes after the last round"),
        }
    }
}

impl<W: Word> Machine for RectifyByBits<W> {
    type Error = NetError;

    fn slots(&self) -> usize {
        2
    }

    fn round(&self, slot: usize) -> Option<Round> {
        self.machine()?.round(slot)
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.machine_mut().map_or(Ok(()), |machine| machine.write(slot, out))
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.machine_mut().map_or(Ok(()), |machine| machine.read(messages))?;
        self.settle();
        Ok(())
    }

    fn upcoming(&self) -> Option<Round> {
        self.machine()?.upcoming()
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.machine_mut().map_or(Ok(()), |machine| machine.turn(messages, out))
    }

    fn cost(&self) -> Option<Cost> {
        Some(self.cost)
    }
}
