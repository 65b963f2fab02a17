//! Types of values: an element's scalar, the shape of the whole, and its visibility.

use core::fmt;
use std::{borrow::Cow, collections::BTreeMap};

/// The largest width of a number, in bits.
pub const MAX_BITS: u8 = 128;
/// The largest width of a string of bits.
pub const MAX_STRING: u16 = 4096;

/// Whether text may contain the name: an ASCII letter or `_`, then letters, digits and `_`; not a
/// type or a truth value.
pub(crate) fn is_name(name: &str) -> bool {
    if Scalar::parse(name).is_some() || ["true", "false", "fixed", "bits", "desc", "in"].contains(&name) {
        return false;
    }
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && name.len() <= 64
}

/// A value's number, which is its node's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

/// The type of one element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// A truth value.
    Bool,
    /// An integer of 1 to 128 bits, in two's complement if it is signed. All arithmetic wraps.
    Int {
        /// Whether it is signed.
        signed: bool,
        /// The width in bits, including the sign.
        bits: u8,
    },
    /// A signed number of steps of 2^-frac, 1 to 128 bits in all.
    Fixed {
        /// The width in bits, including the sign.
        bits: u8,
        /// The number of fractional bits.
        frac: u8,
    },
    /// A string of 1 to 4096 bits without arithmetic.
    Bits(u16),
    /// A row's number in a permutation: the numbers of a vector are all different and below its
    /// length. Only operations make such values.
    Place,
}

impl Scalar {
    /// A signed integer.
    #[must_use]
    pub const fn signed(bits: u8) -> Self {
        Scalar::Int { signed: true, bits }
    }

    /// An unsigned integer.
    #[must_use]
    pub const fn unsigned(bits: u8) -> Self {
        Scalar::Int { signed: false, bits }
    }

    /// The number of bits of an element.
    #[must_use]
    pub const fn bits(self) -> usize {
        match self {
            Scalar::Bool => 1,
            Scalar::Int { bits, .. } | Scalar::Fixed { bits, .. } => bits as usize,
            Scalar::Bits(n) => n as usize,
            Scalar::Place => 64,
        }
    }

    /// Whether arithmetic and order are defined on it.
    #[must_use]
    pub const fn is_number(self) -> bool {
        matches!(self, Scalar::Int { .. } | Scalar::Fixed { .. })
    }

    /// Whether its highest bit is a sign.
    #[must_use]
    pub const fn is_signed(self) -> bool {
        matches!(self, Scalar::Int { signed: true, .. } | Scalar::Fixed { .. })
    }

    /// The number of fractional bits; 0 for integers.
    #[must_use]
    pub const fn frac(self) -> u8 {
        match self {
            Scalar::Fixed { frac, .. } => frac,
            _ => 0,
        }
    }

    /// Whether such elements exist: the width is at least one bit and at most the limit.
    #[must_use]
    pub const fn is_valid(self) -> bool {
        match self {
            Scalar::Bool | Scalar::Place => true,
            Scalar::Int { bits, .. } => bits >= 1 && bits <= MAX_BITS,
            Scalar::Fixed { bits, frac } => bits >= 1 && bits <= MAX_BITS && frac <= bits,
            Scalar::Bits(n) => n >= 1 && n <= MAX_STRING,
        }
    }

    /// The scalar with this name: `bool`, `i64`, `u8`, `fixed(32, 16)`, `bits(128)`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let number = |text: &str| {
            (!text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())).then(|| text.parse().ok())?
        };
        let arguments = |kind: &str| name.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')');
        let scalar = if name == "bool" {
            Scalar::Bool
        } else if name == "place" {
            Scalar::Place
        } else if let Some(two) = arguments("fixed") {
            let (bits, frac) = two.split_once(',')?;
            let small = |text: &str| u8::try_from(number(text.trim())?).ok();
            Scalar::Fixed { bits: small(bits)?, frac: small(frac)? }
        } else if let Some(n) = arguments("bits") {
            Scalar::Bits(number(n.trim())?)
        } else {
            let signed = name.starts_with('i');
            let bits = name.strip_prefix(['i', 'u'])?;
            Scalar::Int { signed, bits: u8::try_from(number(bits)?).ok()? }
        };
        scalar.is_valid().then_some(scalar)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool => f.write_str("bool"),
            Scalar::Int { signed, bits } => write!(f, "{}{bits}", if *signed { 'i' } else { 'u' }),
            Scalar::Fixed { bits, frac } => write!(f, "fixed({bits}, {frac})"),
            Scalar::Bits(n) => write!(f, "bits({n})"),
            Scalar::Place => f.write_str("place"),
        }
    }
}

/// The length of one axis.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dim {
    /// A known number of elements.
    Known(u64),
    /// A number that is bound to a name before the run, such as the rows of a table.
    Symbol(Cow<'static, str>),
}

impl From<u64> for Dim {
    fn from(n: u64) -> Self {
        Dim::Known(n)
    }
}

impl From<&str> for Dim {
    fn from(name: &str) -> Self {
        Dim::Symbol(Cow::Owned(name.to_owned()))
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dim::Known(n) => n.fmt(f),
            Dim::Symbol(name) => f.write_str(name),
        }
    }
}

/// The lengths of all axes, the outermost first; empty for a single element.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape(pub Vec<Dim>);

impl Shape {
    /// A single element.
    #[must_use]
    pub const fn scalar() -> Self {
        Shape(vec![])
    }

    /// A vector.
    #[must_use]
    pub fn vector(rows: impl Into<Dim>) -> Self {
        Shape(vec![rows.into()])
    }

    /// A matrix.
    #[must_use]
    pub fn matrix(rows: impl Into<Dim>, columns: impl Into<Dim>) -> Self {
        Shape(vec![rows.into(), columns.into()])
    }

    /// `[n, 3]`, also if there are no axes.
    pub(crate) fn list(&self) -> String {
        let dims: Vec<_> = self.0.iter().map(Dim::to_string).collect();
        format!("[{}]", dims.join(", "))
    }

    /// The number of axes.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The shape with every symbol replaced by its number.
    ///
    /// # Errors
    /// The name of the first symbol without a number.
    pub fn bind(&self, symbols: &BTreeMap<String, u64>) -> Result<Shape, String> {
        let bound = |dim: &Dim| match dim {
            Dim::Known(n) => Ok(Dim::Known(*n)),
            Dim::Symbol(name) => symbols.get(&**name).map(|n| Dim::Known(*n)).ok_or_else(|| name.to_string()),
        };
        Ok(Shape(self.0.iter().map(bound).collect::<Result<_, _>>()?))
    }

    /// The number of elements; `None` if the shape has a symbol, or the number exceeds what the
    /// machine can count.
    #[must_use]
    pub fn elements(&self) -> Option<usize> {
        self.0.iter().try_fold(1usize, |product, dim| match dim {
            Dim::Known(n) => product.checked_mul(usize::try_from(*n).ok()?),
            Dim::Symbol(_) => None,
        })
    }

    /// The lengths; `None` if the shape has a symbol.
    #[must_use]
    pub fn lengths(&self) -> Option<Vec<usize>> {
        let known = |dim: &Dim| match dim {
            Dim::Known(n) => usize::try_from(*n).ok(),
            Dim::Symbol(_) => None,
        };
        self.0.iter().map(known).collect()
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return Ok(());
        }
        f.write_str("[")?;
        for (i, dim) in self.0.iter().enumerate() {
            write!(f, "{}{dim}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("]")
    }
}

/// The number of a member in [`Computation::members`](crate::Computation::members).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Member(pub u16);

/// The members that may see a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Visibility {
    /// All members know it.
    Public,
    /// One member knows it, and computes with it alone in the clear.
    Private(Member),
    /// No member knows it.
    Secret,
}

impl Visibility {
    /// The visibility of a value that is computed from two others.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (Visibility::Public, v) | (v, Visibility::Public) => v,
            (a, b) if a == b => a,
            _ => Visibility::Secret,
        }
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The type of an element.
    pub scalar: Scalar,
    /// The lengths of the axes.
    pub shape: Shape,
    /// The members that may see the elements.
    pub visibility: Visibility,
}

impl Type {
    /// A type.
    #[must_use]
    pub const fn new(scalar: Scalar, shape: Shape, visibility: Visibility) -> Self {
        Type { scalar, shape, visibility }
    }
}

/// Shows the scalar and the shape. Messages add the visibility, by name.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.scalar, self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_is_read_as_it_is_written() {
        let all = [
            Scalar::Bool,
            Scalar::signed(1),
            Scalar::signed(37),
            Scalar::unsigned(128),
            Scalar::Fixed { bits: 32, frac: 16 },
            Scalar::Bits(4096),
            Scalar::Place,
        ];
        for scalar in all {
            assert_eq!(Scalar::parse(&scalar.to_string()), Some(scalar));
        }
        for wrong in
            ["", "i", "i0", "i129", "u+8", "fixed(32)", "fixed(8, 9)", "bits(0)", "bits(4097)", "Bool", "i 8"]
        {
            assert_eq!(Scalar::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_two_owners_know_together_is_secret() {
        let [a, b] = [0, 1].map(|m| Visibility::Private(Member(m)));
        assert_eq!(a.with(a), a);
        assert_eq!(a.with(Visibility::Public), a);
        assert_eq!(a.with(b), Visibility::Secret);
        assert_eq!(Visibility::Secret.with(a), Visibility::Secret);
        assert_eq!(Visibility::Public.with(Visibility::Public), Visibility::Public);
    }

    #[test]
    fn shapes_that_overflow_have_no_count() {
        assert_eq!(Shape::scalar().elements(), Some(1));
        assert_eq!(Shape::matrix(u64::MAX, 2).elements(), None);
        assert_eq!(Shape::vector("n").elements(), None);
        let bound = Shape::matrix("n", 3).bind(&BTreeMap::from([("n".to_owned(), 5)])).unwrap();
        assert_eq!(bound.elements(), Some(15));
        assert_eq!(Shape::vector("m").bind(&BTreeMap::new()), Err("m".to_owned()));
    }
}
