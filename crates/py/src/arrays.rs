//! Converts arrays to tensors and back. A fault names the place of an element, and never its value.

use hushwire::{
    Fault,
    compute::{Scalar, Tensor, Type},
};
use pyo3::prelude::*;

/// An array in the form of NumPy's `__array_interface__`: type string, shape, and elements in
/// row-major order.
#[derive(FromPyObject)]
pub(crate) struct Array<'py>(String, Vec<usize>, Bound<'py, PyAny>);

/// A tensor for Python: its scalar, its shape, and elements of 1, 2, 4, 8 or 16 bytes, least
/// significant byte first. Elements of fixed-point scalars are numbers of steps.
pub(crate) type Raw = (String, Vec<usize>, Vec<u8>);

/// The kind and width of elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ArrayForm {
    Truth,
    Unsigned(usize),
    Signed(usize),
    Real(usize),
    /// Bytes without a meaning.
    Bytes(usize),
}

fn refused(input: &str, cause: impl std::fmt::Display, remedy: impl std::fmt::Display) -> Fault {
    Fault::usage(format!("reading input {input}"), cause.to_string(), remedy.to_string())
}

impl ArrayForm {
    fn parse(text: &str) -> Option<Self> {
        let (kind, size) = text.trim_start_matches(['<', '|', '=']).split_at_checked(1)?;
        let size: usize = size.parse().ok()?;
        match (kind, size) {
            ("b", 1) => Some(ArrayForm::Truth),
            ("u", 1 | 2 | 4 | 8 | 16) => Some(ArrayForm::Unsigned(size)),
            ("i", 1 | 2 | 4 | 8 | 16) => Some(ArrayForm::Signed(size)),
            ("f", 4 | 8) => Some(ArrayForm::Real(size)),
            ("V", 1..) => Some(ArrayForm::Bytes(size)),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            ArrayForm::Truth => 1,
            ArrayForm::Unsigned(size)
            | ArrayForm::Signed(size)
            | ArrayForm::Real(size)
            | ArrayForm::Bytes(size) => size,
        }
    }

    /// Returns whether the elements are already records of a scalar.
    fn is_record_of(self, scalar: Scalar) -> bool {
        let same = match scalar {
            Scalar::Int { signed: false, .. } => matches!(self, ArrayForm::Unsigned(_)),
            Scalar::Int { signed: true, .. } => matches!(self, ArrayForm::Signed(_)),
            Scalar::Bits(_) => matches!(self, ArrayForm::Bytes(_)),
            _ => false,
        };
        same && scalar.bits() == 8 * self.size()
    }
}

/// Returns an element's number in two's complement of 128 bits, and whether it is negative.
fn number(form: ArrayForm, bytes: &[u8]) -> (u128, bool) {
    let negative = matches!(form, ArrayForm::Signed(_)) && bytes.last().is_some_and(|byte| byte >> 7 == 1);
    let mut all = [if negative { u8::MAX } else { 0 }; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    (u128::from_le_bytes(all), negative)
}

/// Returns the number in the bits of a scalar, if it fits.
fn fitted(scalar: Scalar, (number, negative): (u128, bool)) -> Option<u128> {
    let bits = scalar.bits() as u32;
    if negative {
        let fits = scalar.is_signed() && (bits >= 128 || number.leading_ones() > 128 - bits);
        return fits.then_some(number);
    }
    let room = if scalar.is_signed() { bits - 1 } else { bits };
    (128 - number.leading_zeros() <= room).then_some(number)
}

/// Returns a real number as steps of a fixed-point scalar, rounded to the nearest step, if it fits.
fn stepped(scalar: Scalar, real: f64) -> Option<u128> {
    let steps = (real * f64::from(scalar.frac()).exp2()).round_ties_even();
    let most = (scalar.bits() as f64 - 1.0).exp2();
    // NaN is in no range.
    (-most..most).contains(&steps).then(|| (steps as i128).cast_unsigned())
}

impl Array<'_> {
    /// Converts the elements to an input of this name and type.
    pub(crate) fn tensor(&self, input: &str, ty: &Type) -> PyResult<Result<Tensor, Fault>> {
        let Self(form, shape, data) = self;
        let data: &[u8] = data.extract()?;
        Ok(tensor((form, shape, data), input, ty))
    }
}

fn tensor((text, shape, data): (&str, &[usize], &[u8]), input: &str, ty: &Type) -> Result<Tensor, Fault> {
    let Some(form) = ArrayForm::parse(text) else {
        let remedy = "bring booleans, integers or floats in this machine's byte order";
        return Err(refused(input, format_args!("arrays of type {text} cannot be read"), remedy));
    };
    let count = shape.iter().try_fold(1usize, |n, length| n.checked_mul(*length));
    if count.and_then(|n| n.checked_mul(form.size())) != Some(data.len()) {
        return Err(refused(input, "its bytes are not those of its shape", "bring a whole array"));
    }
    if shape.len() != ty.shape.rank() {
        let cause = format!("the array has {} axes, and {ty} has {}", shape.len(), ty.shape.rank());
        return Err(refused(input, cause, "bring an array of that shape"));
    }
    let scalar = ty.scalar;
    if form.is_record_of(scalar) {
        return Ok(Tensor::from_records(scalar, shape, data));
    }
    let takes = match form {
        ArrayForm::Truth => scalar != Scalar::Place,
        ArrayForm::Unsigned(_) | ArrayForm::Signed(_) => {
            matches!(scalar, Scalar::Bool | Scalar::Int { .. } | Scalar::Fixed { .. } | Scalar::Bits(..=128))
        }
        ArrayForm::Real(_) => matches!(scalar, Scalar::Fixed { .. }),
        ArrayForm::Bytes(_) => false,
    };
    if !takes {
        let remedy = match form {
            ArrayForm::Real(_) => "declare the input fixed(64, 16), or round the array to integers",
            _ => "bring an array of the declared type",
        };
        return Err(refused(
            input,
            format_args!("the array has type {text}, and the input is {scalar}"),
            remedy,
        ));
    }
    let mut elements = Vec::with_capacity(count.unwrap_or_default());
    for (at, bytes) in data.chunks_exact(form.size()).enumerate() {
        let element = match form {
            ArrayForm::Real(4) => {
                stepped(scalar, f32::from_le_bytes(bytes.try_into().unwrap_or_default()).into())
            }
            ArrayForm::Real(_) => stepped(scalar, f64::from_le_bytes(bytes.try_into().unwrap_or_default())),
            _ => {
                let (n, negative) = number(form, bytes);
                let shifted = || {
                    let frac = u32::from(scalar.frac());
                    let steps = n << frac;
                    let back =
                        if negative { (steps.cast_signed() >> frac).cast_unsigned() } else { steps >> frac };
                    (back == n).then_some((steps, negative))
                };
                shifted().and_then(|steps| fitted(scalar, steps))
            }
        };
        let Some(element) = element else {
            let cause = format!("element {} does not fit {scalar}", place(at, shape));
            return Err(refused(input, cause, "declare a wider type, or mend the array"));
        };
        elements.push(element);
    }
    Ok(Tensor::from_words(scalar, shape, elements))
}

/// Returns the place of an element in NumPy's notation.
fn place(mut at: usize, shape: &[usize]) -> String {
    let mut places: Vec<String> = vec![];
    for length in shape.iter().rev() {
        places.insert(0, (at % length).to_string());
        at /= length;
    }
    format!("[{}]", places.join(", "))
}

/// Converts a tensor for Python.
pub(crate) fn raw(tensor: &Tensor) -> Raw {
    let scalar = tensor.scalar();
    let (own, records) = (scalar.record(), tensor.records());
    let wide = if own <= 16 { own.next_power_of_two() } else { own };
    let elements = if wide == own {
        records
    } else {
        let mut elements = Vec::with_capacity(tensor.len() * wide);
        for record in records.chunks_exact(own) {
            let negative = scalar.is_signed() && record[own - 1] >> 7 == 1;
            elements.extend_from_slice(record);
            elements.extend(std::iter::repeat_n(if negative { u8::MAX } else { 0 }, wide - own));
        }
        elements
    };
    (scalar.to_string(), tensor.lengths().to_vec(), elements)
}
