//! An operation applied to its operands: the type, range and value of its result.

use super::{Evaluation, Lowering, Op, Operands, Ranges, Reach, Tensor, Typed};
use crate::{
    ComputeError, Range, Scalar, Type,
    range::{Ground, Known},
    tensor::Decimal,
    typing::{Operand, told},
};

impl Op {
    /// The name in messages and text.
    pub(crate) fn name(&self) -> &'static str {
        self.def().facts().name
    }

    /// The number of operands; `None` for any number from 1.
    pub(crate) fn arity(&self) -> Option<usize> {
        self.def().facts().arity
    }

    /// Whether an element of the result depends only on the operands' elements in the same place.
    #[must_use]
    pub fn is_element_wise(&self) -> bool {
        matches!(self.def().lowering(), Lowering::Elements(_))
    }

    /// The type of the result. Inputs already have their type.
    ///
    /// # Errors
    /// The operation does not take the operands.
    pub(crate) fn infer(&self, operands: &[Operand<'_>]) -> Typed {
        let (def, name) = (self.def(), self.name());
        match self.arity() {
            Some(n) if n != operands.len() => Err(ComputeError::ty(
                format!("`{name}` has {} operands", operands.len()),
                format!("it takes {n}"),
            )),
            None if operands.is_empty() => {
                Err(ComputeError::ty(format!("`{name}` has no operand"), "it takes at least one"))
            }
            _ => def.infer(Operands { name, all: operands }),
        }
    }

    /// The range of the result, as far as it is known.
    ///
    /// # Errors
    /// All operands have promised ranges, and the result may wrap.
    pub(crate) fn range(
        &self,
        operands: &[Operand<'_>],
        known: &[Known],
        ty: &Type,
    ) -> Result<Known, ComputeError> {
        if !ty.scalar.is_number() {
            return Ok(Known { range: None, ground: Ground::Type });
        }
        let types: Vec<&Type> = operands.iter().map(|(_, ty)| *ty).collect();
        let ranges = Ranges::new(known, &types, ty);
        let reach = match self.def().range(&ranges) {
            Reach::To(range) => Some(range),
            Reach::Beyond => None,
            Reach::Unknown => return Ok(Known::free(ty)),
        };
        let ground = ranges.ground();
        let fits = |range: &Range| Range::of(ty.scalar).map_or(range.low >= 0, |whole| whole.holds(*range));
        match reach.filter(fits) {
            Some(range) => Ok(Known { range: Some(range), ground }),
            None if ground == Ground::Promise => {
                let frac = ty.scalar.frac();
                let shown = |r: Range| format!("{} to {}", Decimal(r.low, frac), Decimal(r.high, frac));
                let reached = reach.map_or("numbers of more than 128 bits".into(), shown);
                let holds = Range::of(ty.scalar).map_or("numbers from 0".into(), shown);
                Err(ComputeError::ty(
                    format!("`{}` of {} may reach {reached}", self.name(), told(operands)),
                    format!(
                        "{} holds {holds}: cast to a wider type before, promise less, or write wrapping(…) around an operand",
                        ty.scalar
                    ),
                ))
            }
            None => Ok(Known::free(ty)),
        }
    }

    /// The value in the clear. `scalar` and `lengths` describe the result.
    ///
    /// # Errors
    /// A place does not exist.
    pub(crate) fn compute(
        &self,
        operands: &[&Tensor],
        scalar: Scalar,
        lengths: &[usize],
    ) -> Result<Tensor, ComputeError> {
        self.def().evaluate(Evaluation { operands, scalar, lengths })
    }
}
