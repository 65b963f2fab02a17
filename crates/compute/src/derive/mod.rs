//! Derived forms, which are written with other operations, once for builder and text: no back end
//! knows them.
//!
//! They are functions on values under construction, so that they read like the arithmetic that they
//! perform. Their results are checked, ranged, counted and explained as if they had been written
//! out. A form that a text called by name is shown by that name; the binary form, and a computation
//! that the builder made, have its expansion. Forms that have no value for some lengths or elements
//! are also kept by name if the builder made them, so that
//! [`Computation::bind`](crate::Computation::bind) and
//! [`Computation::check_promises`](crate::Computation::check_promises) can report it. A length that
//! is a symbol is computed as a public number: a `sum` of ones.

mod constants;
mod fixed;
mod rules;
mod stats;
mod tables;

use crate::{
    Builder, ComputeError, Op, Scalar, Shape, Tensor, Type, Val, Value, draft::Draft, graph::Written,
};
use core::ops::RangeInclusive;
use std::cell::RefCell;
pub use tables::Groups;

/// A form as text calls it.
pub(crate) struct DerivedForm {
    name: &'static str,
    /// The number of operands that it takes.
    pub(crate) operands: RangeInclusive<usize>,
    /// Whether it has an argument `rows`.
    pub(crate) rows: bool,
    make: for<'b> fn(&'b Builder, &[Val<'b>], u64) -> Val<'b>,
}

const fn form(
    name: &'static str,
    operands: RangeInclusive<usize>,
    make: for<'b> fn(&'b Builder, &[Val<'b>], u64) -> Val<'b>,
) -> DerivedForm {
    DerivedForm { name, operands, rows: false, make }
}

/// The largest number of keys of a group.
const KEYS: usize = 16;

const FORMS: [DerivedForm; 36] = [
    form("clamp", 3..=3, |_, v, _| v[0].clamp(v[1], v[2])),
    form("variance", 1..=1, |_, v, _| v[0].variance()),
    form("median", 1..=1, |_, v, _| v[0].median()),
    form("histogram", 2..=2, |_, v, _| v[0].histogram(v[1])),
    DerivedForm { name: "top_k", operands: 1..=1, rows: true, make: |_, v, rows| v[0].top_k(rows) },
    form("shift_left", 2..=2, |_, v, _| v[0].shift_left_by(v[1])),
    form("shift_right", 2..=2, |_, v, _| v[0].shift_right_by(v[1])),
    form("multiply", 2..=2, |_, v, _| v[0].multiply(v[1])),
    form("divide", 2..=2, |_, v, _| v[0].divide(v[1])),
    form("reciprocal", 1..=1, |_, v, _| v[0].reciprocal()),
    form("sqrt", 1..=1, |_, v, _| v[0].sqrt()),
    form("exp", 1..=1, |_, v, _| v[0].exp()),
    form("log", 1..=1, |_, v, _| v[0].log()),
    form("sigmoid", 1..=1, |_, v, _| v[0].sigmoid()),
    form("tanh", 1..=1, |_, v, _| v[0].tanh()),
    form("softmax", 1..=1, |_, v, _| v[0].softmax()),
    form("log_softmax", 1..=1, |_, v, _| v[0].log_softmax()),
    form("log_sum_exp", 1..=1, |_, v, _| v[0].log_sum_exp()),
    form("erf", 1..=1, |_, v, _| v[0].erf()),
    form("gelu", 1..=1, |_, v, _| v[0].gelu()),
    form("softplus", 1..=1, |_, v, _| v[0].softplus()),
    form("sin", 1..=1, |_, v, _| v[0].sin()),
    form("cos", 1..=1, |_, v, _| v[0].cos()),
    form("round", 1..=1, |_, v, _| v[0].round()),
    form("round_even", 1..=1, |_, v, _| v[0].round_even()),
    form("floor", 1..=1, |_, v, _| v[0].floor()),
    form("ceil", 1..=1, |_, v, _| v[0].ceil()),
    form("truncate", 1..=1, |_, v, _| v[0].truncate()),
    form("sign", 1..=1, |_, v, _| v[0].sign()),
    form("group_end", 1..=KEYS, |b, v, _| b.groups(v).end()),
    form("group_count", 1..=KEYS, |b, v, _| b.groups(v).count()),
    form("group_last", 2..=KEYS + 1, |b, v, _| b.groups(&v[1..]).last(v[0])),
    form("group_sum", 2..=KEYS + 1, |b, v, _| b.groups(&v[1..]).sum(v[0])),
    form("group_min", 2..=KEYS + 1, |b, v, _| b.groups(&v[1..]).min(v[0])),
    form("group_max", 2..=KEYS + 1, |b, v, _| b.groups(&v[1..]).max(v[0])),
    form("group_mean", 2..=KEYS + 1, |b, v, _| b.groups(&v[1..]).mean(v[0])),
];

/// The form of a name.
pub(crate) fn form_of(name: &str) -> Option<&'static DerivedForm> {
    const { &FORMS }.iter().find(|form| form.name == name)
}

/// Adds a form to a draft; if it fails, the draft is of no use.
pub(crate) fn apply(
    draft: &mut Draft,
    form: &DerivedForm,
    operands: &[Value],
    rows: u64,
) -> Result<Value, ComputeError> {
    let builder = Builder { draft: RefCell::new(Ok(core::mem::replace(draft, Draft::new("derived")?))) };
    let vals: Vec<Val<'_>> = operands.iter().map(|v| Val { builder: &builder, value: Some(*v) }).collect();
    let made = (form.make)(&builder, &vals, rows).value;
    drop(vals);
    *draft = builder.draft.into_inner()?;
    let made = made.expect("there is a value where there is no mistake");
    let rows = Some(rows).filter(|_| form.rows);
    draft.written(made, Written { name: form.name, operands: operands.to_vec(), rows });
    Ok(made)
}

impl Builder {
    /// Records a mistake and returns a value without meaning.
    fn refused(&self, name: &str, operands: &[Val<'_>], remedy: &str) -> Val<'_> {
        let mut draft = self.draft.borrow_mut();
        if let Ok(so_far) = draft.as_mut() {
            let shown: Vec<_> = operands
                .iter()
                .filter_map(|v| {
                    Some(format!("{}: {}", so_far.show(v.value?), so_far.so_far().node(v.value?).ty))
                })
                .collect();
            *draft = Err(ComputeError::ty(format!("`{name}` of {}", shown.join(" and ")), remedy));
        }
        drop(draft);
        Val { builder: self, value: None }
    }
}

impl<'b> Val<'b> {
    /// The value's type, if the form takes it.
    fn typed(self, name: &str, remedy: &str, fits: impl Fn(&Type) -> bool) -> Option<Type> {
        let ty = self.ty()?;
        if !fits(&ty) {
            self.builder.refused(name, &[self], remedy);
            return None;
        }
        Some(ty)
    }

    /// A value without meaning, after a mistake.
    fn none(self) -> Self {
        Val { builder: self.builder, value: None }
    }

    /// A one for each of the value's rows.
    fn ones(self) -> Self {
        match self.ty().and_then(|ty| ty.shape.0.first().cloned()) {
            Some(rows) => self.builder.number(Scalar::unsigned(64), 1).broadcast(Shape::vector(rows)),
            None => self.none(),
        }
    }

    /// This many steps, as a single element of the value's type.
    fn steps(self, steps: i128) -> Self {
        match self.ty() {
            Some(ty) => self.builder.number(ty.scalar, steps),
            None => self.none(),
        }
    }

    /// The value's elements, if it is a constant of the computation.
    fn constant(self) -> Option<Tensor> {
        let draft = self.builder.draft.borrow();
        match &draft.as_ref().ok()?.so_far().node(self.value?).op {
            Op::Constant(tensor) => Some(tensor.clone()),
            _ => None,
        }
    }

    /// Records that this is a form's value; the form's rule is checked when lengths and public
    /// elements are known.
    fn called(self, name: &'static str, operands: &[Val<'b>], rows: Option<u64>) -> Self {
        let operands: Option<Vec<Value>> = operands.iter().map(|v| v.value).collect();
        if let (Some(made), Some(operands), Ok(draft)) =
            (self.value, operands, self.builder.draft.borrow_mut().as_mut())
        {
            draft.written(made, Written { name, operands, rows });
        }
        self
    }

    /// All bits 0, as a single element of the value's type.
    fn zero(self) -> Self {
        match self.ty() {
            Some(ty) => self.builder.constant(Tensor::zeros(ty.scalar, &[])),
            None => self.none(),
        }
    }

    /// The same bits as another type of the same width.
    fn as_bits_of(self, scalar: Scalar) -> Self {
        self.cast(Scalar::Bits(scalar.bits() as u16)).cast(scalar)
    }

    /// One bit of a number.
    fn bit(self, at: u16) -> Self {
        match self.ty() {
            Some(ty) => self.cast(Scalar::Bits(ty.scalar.bits() as u16)).part(at, at + 1).cast(Scalar::Bool),
            None => self.none(),
        }
    }
}
