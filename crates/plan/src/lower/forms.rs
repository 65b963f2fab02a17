//! The forms of nodes' values, and the ways between them.

use super::{Lowered, PlanLowering};
use crate::{Backend, Local, PickRun, Picks, Size, Slot, Talk};
use hushwire_compute::{Op, Scalar};

/// The steps that have a node's value, a form each.
#[derive(Clone, Copy, Default)]
pub struct Forms {
    /// An input that is in no form yet.
    pub input: Option<usize>,
    /// Elements that all know.
    pub known: Option<Slot>,
    /// All bits.
    pub bits: Option<Slot>,
    /// Words of the scalar's ring.
    pub words: Option<Slot>,
    /// Numbers from 0 on without their upper bits, which are 0: as bits, or as words of a smaller
    /// ring that they fit as signed ones.
    pub narrow: Option<Slot>,
    /// An order of rows.
    pub order: Option<Slot>,
}

impl Forms {
    /// An input that is in no form yet.
    #[must_use]
    pub fn input(k: usize) -> Forms {
        Forms { input: Some(k), ..Forms::default() }
    }

    /// Elements that all know.
    #[must_use]
    pub fn known(slot: Slot) -> Forms {
        Forms { known: Some(slot), ..Forms::default() }
    }

    /// All bits.
    #[must_use]
    pub fn bits(slot: Slot) -> Forms {
        Forms { bits: Some(slot), ..Forms::default() }
    }

    /// Words of the scalar's ring.
    #[must_use]
    pub fn words(slot: Slot) -> Forms {
        Forms { words: Some(slot), ..Forms::default() }
    }

    /// Numbers from 0 on without their upper bits.
    #[must_use]
    pub fn narrow(slot: Slot) -> Forms {
        Forms { narrow: Some(slot), ..Forms::default() }
    }

    /// An order of rows.
    #[must_use]
    pub fn order(slot: Slot) -> Forms {
        Forms { order: Some(slot), ..Forms::default() }
    }
}

impl<B: Backend> PlanLowering<'_, B> {
    /// The forms that a node has so far.
    pub fn forms(&self, at: usize) -> Forms {
        self.forms[at]
    }

    /// A value of bits or words as a node's only form.
    pub fn forms_of(&self, slot: Slot) -> Forms {
        if self.is_of_words(slot) { Forms::words(slot) } else { Forms::bits(slot) }
    }

    /// Whether a value is words.
    pub fn is_of_words(&self, slot: Slot) -> bool {
        matches!(self.size(slot), Size::Words(..))
    }

    /// Whether a value is there as numbers, or may be for nothing.
    pub fn has_words(&self, at: usize) -> bool {
        let forms = self.forms[at];
        forms.words.is_some()
            || forms.narrow.is_some_and(|slot| self.is_of_words(slot))
            || forms.input.is_some() && self.ring(self.scalar(at)).is_some()
    }

    /// Whether a value is there as bits.
    pub fn has_bits(&self, at: usize) -> bool {
        let forms = self.forms[at];
        forms.bits.is_some() || forms.narrow.is_some_and(|slot| !self.is_of_words(slot))
    }

    /// Whether a value is known.
    pub fn is_known(&self, at: usize) -> bool {
        self.forms[at].known.is_some()
    }

    /// A value that all are told.
    pub fn open(&mut self, slot: Slot, scalar: Scalar, lengths: Vec<usize>) -> Slot {
        self.step(Talk::Open { scalar, lengths }, vec![slot])
    }

    /// A node's value as words where it has them, else as bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn either(&mut self, at: usize) -> Lowered<Slot> {
        if self.has_words(at) { self.own_words(at) } else { self.bits(at) }
    }

    /// A node's value as bits.
    ///
    /// # Errors
    /// It has no form of which the back end makes bits.
    pub fn bits(&mut self, at: usize) -> Lowered<Slot> {
        let (rows, width) = (self.elements(at)?, self.scalar(at).bits());
        let slot = match self.forms[at] {
            Forms { bits: Some(slot), .. } => return Ok(slot),
            Forms { input: Some(k), .. } => self.come(k, Size::Bits(width, rows)),
            Forms { known: Some(slot), .. } => self.known_as(|| Local::AsBits, at, slot)?,
            Forms { narrow: Some(slot), .. } if !self.is_of_words(slot) => self.wider(slot, width),
            _ => {
                let slot = self.own_words(at)?;
                let prim = B::to_bits(self, 0..width, rows);
                self.step(prim, vec![slot])
            }
        };
        self.forms[at].bits = Some(slot);
        Ok(slot)
    }

    /// A node's value as words of its own ring; places are words of 64 bits.
    ///
    /// # Errors
    /// As [`Self::words`].
    pub fn own_words(&mut self, at: usize) -> Lowered<Slot> {
        self.words(at, self.ring(self.scalar(at)).unwrap_or(64))
    }

    /// A node's value as words of a ring: that of its scalar, or a narrower one, or any where it is
    /// one bit.
    ///
    /// # Errors
    /// It has no form of which the back end makes words.
    pub fn words(&mut self, at: usize, to: u32) -> Lowered<Slot> {
        let (rows, own) = (self.elements(at)?, self.ring(self.scalar(at)));
        if let (None, Some(own)) = (self.forms[at].words, own) {
            self.forms[at].words = match self.forms[at] {
                Forms { input: Some(k), .. } => Some(self.come(k, Size::Words(own, rows))),
                Forms { narrow: Some(slot), .. } => {
                    let now = std::mem::replace(&mut self.now, at);
                    let slot = B::of_narrow(self, slot, own);
                    self.now = now;
                    Some(slot)
                }
                _ => None,
            };
        }
        if let Some(slot) = self.forms[at].words {
            let is_own = own.is_none_or(|own| own == to);
            return Ok(if is_own { slot } else { self.step(Local::Narrow(to), vec![slot]) });
        }
        let slot = match self.forms[at] {
            Forms { known: Some(slot), .. } => self.known_as(|| Local::AsWords(to), at, slot)?,
            Forms { order: Some(slot), .. } if to == 64 => B::places(self, slot, rows),
            Forms { bits: Some(slot), .. } => self.step(Talk::ToWords(to), vec![slot]),
            Forms { input: Some(_), .. } => {
                let slot = self.bits(at)?;
                self.step(Talk::ToWords(to), vec![slot])
            }
            _ => return Err(self.unsupported(at)),
        };
        if own == Some(to) {
            self.forms[at].words = Some(slot);
        }
        Ok(slot)
    }

    /// Known elements as shares; single ones that were repeated are repeated as such.
    fn known_as(&mut self, prim: impl Fn() -> Local<B>, at: usize, slot: Slot) -> Lowered<Slot> {
        let mut runs = vec![];
        if self.elements(at)? < 2 || !self.repeated(at, &mut runs)? {
            return Ok(self.step(prim(), vec![slot]));
        }
        let of = |(from, (_, len)): (usize, &(Slot, usize))| PickRun::Steps { from, step: 0, len: *len };
        let picks = Picks::of_runs(runs.iter().enumerate().map(of));
        let elements = runs.iter().map(|(slot, _)| self.step(prim(), vec![*slot])).collect();
        Ok(self.pick(picks, elements))
    }

    /// Appends the single known elements of which a value is made, each with the times that it
    /// is there; false if it is made otherwise.
    fn repeated(&self, at: usize, runs: &mut Vec<(Slot, usize)>) -> Lowered<bool> {
        let node = &self.computation.nodes()[at];
        match (&node.op, &node.arguments[..]) {
            (Op::Broadcast(_), [from]) if self.elements(from.0 as usize)? == 1 => {
                let (known, elements) = (self.forms[from.0 as usize].known, self.elements(at)?);
                runs.extend(known.map(|slot| (slot, elements)));
                Ok(known.is_some())
            }
            (Op::Concat(0), parts) => {
                for part in parts {
                    if !self.repeated(part.0 as usize, runs)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Numbers from 0 on as `to` bits, with zeros above.
    pub(crate) fn wider(&mut self, slot: Slot, to: usize) -> Slot {
        let from = self.size(slot).width();
        if from == to {
            return slot;
        }
        let [from, to] = [from, to].map(|bits| Scalar::unsigned(bits as u8));
        self.on_bits(&Op::Cast(to), &[from], to, vec![slot])
    }

    /// One element in as many places as there are, where there is one alone.
    pub fn spread(&mut self, slot: Slot, from: &[usize], to: &[usize]) -> Slot {
        if from == to {
            return slot;
        }
        let one = PickRun::Steps { from: 0, step: 0, len: to.iter().product() };
        self.pick(Picks::of_runs([one]), vec![slot])
    }

    /// Operands as words of a ring, each with as many elements as the result.
    pub(crate) fn aligned(&mut self, args: &[usize], ring: u32, to: &[usize]) -> Lowered<Vec<Slot>> {
        let one = |a: &usize| {
            let slot = self.words(*a, ring)?;
            Ok(self.spread(slot, &self.lengths(*a)?, to))
        };
        args.iter().map(one).collect()
    }
}
