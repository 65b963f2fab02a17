//! Builds computations in Rust, with arithmetic operators.

use crate::{
    Comparison, Computation, ComputeError, Dim, Member, Op, Range, Reduction, Scalar, Scan, Shape, Steps,
    Tensor, Type, Value, Visibility, draft::Draft,
};
use std::cell::RefCell;

/// Builds a computation. [`Builder::finish`] returns the first error, so that arithmetic stays
/// readable.
///
/// ```
/// use hushwire_compute::{Builder, Scalar, Shape};
/// let b = Builder::new("bill");
/// let [shop, client] = [b.member("shop"), b.member("client")];
/// let n = b.symbol("n");
/// let price = b.input("price", Scalar::unsigned(64), Shape::vector(n.clone()), shop);
/// let amount = b.input("amount", Scalar::unsigned(64), Shape::vector(n), client);
/// b.output("total", (price * amount).sum(), &[client]);
/// let bill = b.finish()?;
/// assert_eq!(bill.nodes().len(), 4);
/// # Ok::<(), hushwire_compute::ComputeError>(())
/// ```
pub struct Builder {
    pub(crate) draft: RefCell<Result<Draft, ComputeError>>,
}

/// A value of a [`Builder`]. After an error it has no meaning, and [`Builder::finish`] reports the
/// error.
#[derive(Clone, Copy)]
pub struct Val<'b> {
    pub(crate) builder: &'b Builder,
    pub(crate) value: Option<Value>,
}

impl Builder {
    /// An empty computation with this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Builder { draft: RefCell::new(Draft::new(name)) }
    }

    fn add<T>(&self, step: impl FnOnce(&mut Draft) -> Result<T, ComputeError>) -> Option<T> {
        let mut draft = self.draft.borrow_mut();
        match draft.as_mut().ok().map(step)? {
            Ok(made) => Some(made),
            Err(e) => {
                *draft = Err(e);
                None
            }
        }
    }

    fn val(&self, step: impl FnOnce(&mut Draft) -> Result<Value, ComputeError>) -> Val<'_> {
        Val { builder: self, value: self.add(step) }
    }

    /// The number of nodes so far; 0 after an error.
    #[must_use]
    pub fn len(&self) -> usize {
        self.draft.borrow().as_ref().map_or(0, |draft| draft.so_far().nodes().len())
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Declares a member, which brings inputs or learns outputs.
    pub fn member(&self, name: &str) -> Member {
        self.add(|d| d.member(name)).unwrap_or(Member(0))
    }

    /// Declares a length that is bound before a run.
    pub fn symbol(&self, name: &str) -> Dim {
        self.add(|d| d.symbol(name)).unwrap_or(Dim::Known(0))
    }

    /// Declares values that a member brings.
    pub fn input(&self, name: &str, scalar: Scalar, shape: Shape, from: Member) -> Val<'_> {
        self.input_of(name, Type::new(scalar, shape, Visibility::Private(from)))
    }

    /// Declares values that are public, or that are brought as shares.
    pub fn input_of(&self, name: &str, ty: Type) -> Val<'_> {
        self.val(|d| d.input(name, ty))
    }

    /// Declares values that their owner promises to keep within a range, both ends included.
    pub fn input_within(&self, name: &str, ty: Type, range: Range) -> Val<'_> {
        self.val(|d| d.input_within(name, ty, Some(range)))
    }

    /// A constant with these elements.
    pub fn constant(&self, tensor: Tensor) -> Val<'_> {
        self.val(|d| d.push(Op::Constant(tensor), vec![]))
    }

    /// A public number; for a fixed-point scalar, in steps of 2^-frac.
    pub fn number(&self, scalar: Scalar, number: i128) -> Val<'_> {
        self.constant(Tensor::from_numbers(scalar, &[], [number]))
    }

    /// Applies an operation.
    pub fn apply<'b>(&'b self, op: Op, operands: &[Val<'b>]) -> Val<'b> {
        match operands.iter().map(|v| v.value).collect::<Option<Vec<_>>>() {
            Some(values) => self.val(|d| d.push(op, values)),
            None => Val { builder: self, value: None },
        }
    }

    /// `yes` for elements whose condition is true, else `no`.
    pub fn select<'b>(&'b self, condition: Val<'b>, yes: Val<'b>, no: Val<'b>) -> Val<'b> {
        self.apply(Op::Select, &[condition, yes, no])
    }

    /// The order of rows by keys. The flag of each key tells whether it is descending.
    pub fn order<'b>(&'b self, keys: &[(Val<'b>, bool)]) -> Val<'b> {
        let (keys, descending): (Vec<_>, Vec<_>) = keys.iter().copied().unzip();
        self.apply(Op::Order { descending }, &keys)
    }

    /// An order in which rows with equal keys are adjacent. Among these, the ones from the first
    /// `first` rows come first.
    pub fn meet<'b>(&'b self, keys: &[Val<'b>], first: u64) -> Val<'b> {
        self.apply(Op::Meet { first }, keys)
    }

    /// Joins values along an axis.
    pub fn concat<'b>(&'b self, axis: u8, parts: &[Val<'b>]) -> Val<'b> {
        self.apply(Op::Concat(axis), parts)
    }

    /// Names an intermediate value for people.
    pub fn name(&self, name: &str, val: Val<'_>) {
        if let Some(value) = val.value {
            self.add(|d| d.name(value, name));
        }
    }

    /// Declares an output, and the members that learn it.
    pub fn output(&self, name: &str, val: Val<'_>, to: &[Member]) {
        if let Some(value) = val.value {
            self.add(|d| d.output(name, value, to.to_vec()));
        }
    }

    /// Returns the computation.
    ///
    /// # Errors
    /// The first error, with the operation and its operands.
    pub fn finish(self) -> Result<Computation, ComputeError> {
        self.draft.into_inner()?.finish()
    }
}

impl<'b> Val<'b> {
    fn with(self, op: Op, others: &[Val<'b>]) -> Self {
        let operands: Vec<_> = core::iter::once(self).chain(others.iter().copied()).collect();
        self.builder.apply(op, &operands)
    }

    /// The value's builder.
    #[must_use]
    pub fn builder(self) -> &'b Builder {
        self.builder
    }

    /// The value's type; `None` after an error.
    #[must_use]
    pub fn ty(self) -> Option<Type> {
        let draft = self.builder.draft.borrow();
        Some(draft.as_ref().ok()?.so_far().node(self.value?).ty.clone())
    }

    /// Compares two values.
    #[must_use]
    pub fn compare(self, comparison: Comparison, other: Val<'b>) -> Self {
        self.with(Op::Compare(comparison), &[other])
    }

    /// Whether two values are equal.
    #[must_use]
    pub fn equals(self, other: Val<'b>) -> Self {
        self.compare(Comparison::Equal, other)
    }

    /// Whether this value is less than the other one.
    #[must_use]
    pub fn less(self, other: Val<'b>) -> Self {
        self.compare(Comparison::Less, other)
    }

    /// The smaller of two values.
    #[must_use]
    pub fn min(self, other: Val<'b>) -> Self {
        self.with(Op::Min, &[other])
    }

    /// The greater of two values.
    #[must_use]
    pub fn max(self, other: Val<'b>) -> Self {
        self.with(Op::Max, &[other])
    }

    /// The absolute value.
    #[must_use]
    pub fn abs(self) -> Self {
        self.with(Op::Abs, &[])
    }

    /// Converts numbers to another type.
    #[must_use]
    pub fn cast(self, to: Scalar) -> Self {
        self.with(Op::Cast(to), &[])
    }

    /// Drops this many fractional bits, rounding towards −∞.
    #[must_use]
    pub fn rescale(self, bits: u8) -> Self {
        self.with(Op::Rescale(bits), &[])
    }

    /// Reduces an axis.
    #[must_use]
    pub fn reduce(self, reduction: Reduction, axis: u8) -> Self {
        self.with(Op::Reduce(reduction, axis), &[])
    }

    /// The sum along the first axis.
    #[must_use]
    pub fn sum(self) -> Self {
        self.reduce(Reduction::Sum, 0)
    }

    /// The mean along the first axis.
    #[must_use]
    pub fn mean(self) -> Self {
        self.reduce(Reduction::Mean, 0)
    }

    /// The product of matrices or vectors.
    #[must_use]
    pub fn matmul(self, other: Val<'b>) -> Self {
        self.with(Op::MatMul, &[other])
    }

    /// Prefix sums along the first axis, each including its own element.
    #[must_use]
    pub fn prefix_sum(self) -> Self {
        self.with(Op::PrefixSum(0), &[])
    }

    /// Repeats a single element over the shape, or axes of length 1 to the shape's lengths.
    #[must_use]
    pub fn broadcast(self, to: Shape) -> Self {
        self.with(Op::Broadcast(to), &[])
    }

    /// The same elements along other axes.
    #[must_use]
    pub fn reshape(self, to: Shape) -> Self {
        self.with(Op::Reshape(to), &[])
    }

    /// Elements `from..to` of the first axis.
    #[must_use]
    pub fn slice(self, from: u64, to: u64) -> Self {
        self.with(Op::Slice { axis: 0, from, to }, &[])
    }

    /// The rows at public places.
    #[must_use]
    pub fn gather(self, places: Val<'b>) -> Self {
        self.with(Op::Gather, &[places])
    }

    /// Bits `from..to` of a string of bits.
    #[must_use]
    pub fn part(self, from: u16, to: u16) -> Self {
        self.with(Op::Part { from, to }, &[])
    }

    /// The rows in the order of a permutation.
    #[must_use]
    pub fn permute(self, order: Val<'b>) -> Self {
        self.with(Op::Permute, &[order])
    }

    /// A scan of the rows, restarted where `starts` is true.
    #[must_use]
    pub fn scan(self, scan: Scan, starts: Val<'b>) -> Self {
        self.builder.apply(Op::Scan(scan), &[starts, self])
    }

    /// The sums of products of each window with kernels.
    #[must_use]
    pub fn conv2d(self, kernels: Val<'b>, steps: Steps, groups: u32) -> Self {
        self.with(Op::Conv2d { steps, groups }, &[kernels])
    }

    /// The reduction of each window of `size` rows and columns.
    #[must_use]
    pub fn pool(self, reduction: Reduction, size: [u32; 2], steps: Steps) -> Self {
        self.with(Op::Pool { reduction, size, steps }, &[])
    }

    /// The value without its range. Operations on it may wrap.
    #[must_use]
    pub fn wrapping(self) -> Self {
        self.with(Op::Wrapping, &[])
    }

    /// Opens the value to all members.
    #[must_use]
    pub fn reveal(self) -> Self {
        self.with(Op::Reveal(None), &[])
    }
}

macro_rules! operators {
    ($($of:ident $method:ident $op:expr),+) => {$(
        impl<'b> core::ops::$of for Val<'b> {
            type Output = Val<'b>;
            fn $method(self, other: Val<'b>) -> Val<'b> {
                self.with($op, &[other])
            }
        }
    )+};
}

operators!(Add add Op::Add, Sub sub Op::Sub, Mul mul Op::Mul, Div div Op::Div, Rem rem Op::Rem);
operators!(BitAnd bitand Op::And, BitOr bitor Op::Or, BitXor bitxor Op::Xor);

impl<'b> core::ops::Shl<u16> for Val<'b> {
    type Output = Val<'b>;
    fn shl(self, by: u16) -> Val<'b> {
        self.with(Op::ShiftLeft(by), &[])
    }
}

impl<'b> core::ops::Shr<u16> for Val<'b> {
    type Output = Val<'b>;
    fn shr(self, by: u16) -> Val<'b> {
        self.with(Op::ShiftRight(by), &[])
    }
}

impl<'b> core::ops::Neg for Val<'b> {
    type Output = Val<'b>;
    fn neg(self) -> Val<'b> {
        self.with(Op::Neg, &[])
    }
}

impl<'b> core::ops::Not for Val<'b> {
    type Output = Val<'b>;
    fn not(self) -> Val<'b> {
        self.with(Op::Not, &[])
    }
}
