//! The forms of nodes' values, and the conversions between forms.
//!
//! A node has at most one step for each form. A conversion is made when an operation first needs a
//! form, and later operations use the same step. Known values become shares for free; conversions
//! between words and bits take messages of the back end.

use super::{Lowered, PlanLowering};
use crate::{Backend, Local, PickRun, Picks, Size, Slot, Talk};
use hushwire_compute::{Op, Scalar};

/// The steps that have a node's value, at most one for each form.
#[derive(Clone, Copy, Default)]
pub struct Forms {
    /// The number of an input that no step has converted yet.
    pub input: Option<usize>,
    /// Elements that all parties know.
    pub known: Option<Slot>,
    /// All bits.
    pub bits: Option<Slot>,
    /// Words of the scalar's ring.
    pub words: Option<Slot>,
    /// Nonnegative numbers without their upper bits, which are 0. They are bits, or words of a
    /// smaller ring in which they fit as signed numbers.
    pub narrow: Option<Slot>,
    /// An order of rows.
    pub order: Option<Slot>,
}

impl Forms {
    /// An input that no step has converted yet.
    #[must_use]
    pub fn input(k: usize) -> Forms {
        Forms { input: Some(k), ..Forms::default() }
    }

    /// Elements that all parties know.
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

    /// Nonnegative numbers without their upper bits.
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

    /// A value of bits or words as the only form of a node.
    pub fn forms_of(&self, slot: Slot) -> Forms {
        if self.is_of_words(slot) { Forms::words(slot) } else { Forms::bits(slot) }
    }

    /// Whether a value consists of words.
    pub fn is_of_words(&self, slot: Slot) -> bool {
        matches!(self.size(slot), Size::Words(..))
    }

    /// Whether a node has numbers as words, or can convert to them for free.
    pub fn has_words(&self, at: usize) -> bool {
        let forms = self.forms[at];
        forms.words.is_some()
            || forms.narrow.is_some_and(|slot| self.is_of_words(slot))
            || forms.input.is_some() && self.ring(self.scalar(at)).is_some()
    }

    /// Whether a node has bits.
    pub fn has_bits(&self, at: usize) -> bool {
        let forms = self.forms[at];
        forms.bits.is_some() || forms.narrow.is_some_and(|slot| !self.is_of_words(slot))
    }

    /// Whether all parties know a node's value.
    pub fn is_known(&self, at: usize) -> bool {
        self.forms[at].known.is_some()
    }

    /// Opens a value to all parties.
    pub fn open(&mut self, slot: Slot, scalar: Scalar, lengths: Vec<usize>) -> Slot {
        self.step(Talk::Open { scalar, lengths }, vec![slot])
    }

    /// A node's value as words if it has them, else as bits.
    ///
    /// # Errors
    /// As [`Self::bits`].
    pub fn either(&mut self, at: usize) -> Lowered<Slot> {
        if self.has_words(at) { self.own_words(at) } else { self.bits(at) }
    }

    /// A node's value as bits.
    ///
    /// # Errors
    /// The node has no form that the back end can convert to bits.
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

    /// A node's value as words of its own ring. Places are words of 64 bits.
    ///
    /// # Errors
    /// As [`Self::words`].
    pub fn own_words(&mut self, at: usize) -> Lowered<Slot> {
        self.words(at, self.ring(self.scalar(at)).unwrap_or(64))
    }

    /// A node's value as words of a ring. It is the ring of its scalar or a narrower one; for
    /// single bits it can be any ring.
    ///
    /// # Errors
    /// The node has no form that the back end can convert to words.
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

    /// Known elements as shares. A single element that was repeated is shared once, and then
    /// repeated.
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

    /// Appends the single known elements that a value consists of, each with its number of
    /// repetitions. Returns false if the value is not such a repetition.
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

    /// Nonnegative numbers as `to` bits, with zeros above.
    pub(crate) fn wider(&mut self, slot: Slot, to: usize) -> Slot {
        let from = self.size(slot).width();
        if from == to {
            return slot;
        }
        let [from, to] = [from, to].map(|bits| Scalar::unsigned(bits as u8));
        self.on_bits(&Op::Cast(to), &[from], to, vec![slot])
    }

    /// Repeats a single element in all places of the result's lengths.
    pub fn spread(&mut self, slot: Slot, from: &[usize], to: &[usize]) -> Slot {
        if from == to {
            return slot;
        }
        let one = PickRun::Steps { from: 0, step: 0, len: to.iter().product() };
        self.pick(Picks::of_runs([one]), vec![slot])
    }

    /// Operands as words of a ring, each repeated to as many elements as the result has.
    pub(crate) fn aligned(&mut self, args: &[usize], ring: u32, to: &[usize]) -> Lowered<Vec<Slot>> {
        let one = |a: &usize| {
            let slot = self.words(*a, ring)?;
            Ok(self.spread(slot, &self.lengths(*a)?, to))
        };
        args.iter().map(one).collect()
    }
}
