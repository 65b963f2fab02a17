//! Parameters of operations in the binary form: each type has one encoding.

use super::{
    read::{MAX_LIST, Reader},
    write::Writer,
};
use crate::{
    Comparison, ComputeError, Member, Netlist, Reduction, Scalar, Scan, Shape, Steps, Tensor, tensor::mask,
};

/// Replaces the symbols of a shape by their numbers.
pub(crate) type Bind<'a> = dyn Fn(&Shape) -> Result<Shape, ComputeError> + 'a;

/// A parameter of an operation.
pub(crate) trait Parameter: Clone {
    /// Writes the parameter.
    fn write(&self, w: &mut Writer<'_>);

    /// Reads a parameter.
    ///
    /// # Errors
    /// The bytes are not a parameter.
    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError>;

    /// Replaces symbols by their numbers; only shapes have symbols.
    ///
    /// # Errors
    /// A symbol has no number.
    fn bound(&self, _: &Bind<'_>) -> Result<Self, ComputeError> {
        Ok(self.clone())
    }
}

impl Parameter for u8 {
    fn write(&self, w: &mut Writer<'_>) {
        w.byte(*self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        r.byte()
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl Parameter for $number {
            fn write(&self, w: &mut Writer<'_>) {
                w.number(u64::from(*self));
            }

            fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
                r.small()
            }
        }
    )+};
}

numbers!(u16, u32, u64);

impl<T: Parameter + Copy + Default, const N: usize> Parameter for [T; N] {
    fn write(&self, w: &mut Writer<'_>) {
        self.iter().for_each(|item| item.write(w));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        let mut all = [T::default(); N];
        for item in &mut all {
            *item = T::read(r)?;
        }
        Ok(all)
    }
}

impl<T: Parameter> Parameter for Vec<T> {
    fn write(&self, w: &mut Writer<'_>) {
        w.number(self.len() as u64);
        self.iter().for_each(|item| item.write(w));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        (0..r.count()?).map(|_| T::read(r)).collect()
    }
}

impl Parameter for bool {
    fn write(&self, w: &mut Writer<'_>) {
        w.byte(u8::from(*self));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        r.flag()
    }
}

impl Parameter for String {
    fn write(&self, w: &mut Writer<'_>) {
        w.string(self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        r.string()
    }
}

macro_rules! kinds {
    ($($kind:ty, $unknown:literal);+) => {$(
        impl Parameter for $kind {
            fn write(&self, w: &mut Writer<'_>) {
                w.byte(Self::ALL.iter().position(|x| x == self).expect("it is one of all") as u8);
            }

            fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
                match Self::ALL.get(usize::from(r.byte()?)) {
                    Some(kind) => Ok(*kind),
                    None => r.err($unknown),
                }
            }
        }
    )+};
}

kinds!(Comparison, "an unknown comparison"; Reduction, "an unknown reduction"; Scan, "an unknown scan");

impl Parameter for Scalar {
    fn write(&self, w: &mut Writer<'_>) {
        w.scalar(*self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        r.scalar()
    }
}

impl Parameter for Shape {
    fn write(&self, w: &mut Writer<'_>) {
        w.shape(self);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        r.shape()
    }

    fn bound(&self, bind: &Bind<'_>) -> Result<Self, ComputeError> {
        bind(self)
    }
}

impl Parameter for Option<Member> {
    fn write(&self, w: &mut Writer<'_>) {
        w.number(self.map_or(0, |member| 1 + u64::from(member.0)));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        match r.number()? {
            0 => Ok(None),
            member => match u16::try_from(member - 1) {
                Ok(member) => Ok(Some(Member(member))),
                Err(_) => r.err("a number is too large"),
            },
        }
    }
}

impl Parameter for Steps {
    fn write(&self, w: &mut Writer<'_>) {
        self.strides.write(w);
        self.padding.write(w);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        Ok(Steps { strides: Parameter::read(r)?, padding: Parameter::read(r)? })
    }
}

/// Written as the circuit's number: circuits precede all operations.
impl Parameter for Netlist {
    fn write(&self, w: &mut Writer<'_>) {
        w.number(w.circuits[self] as u64);
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        match r.small::<usize>().map(|at| r.circuits.get(at).cloned())? {
            Some(circuit) => Ok(circuit),
            None => r.err("a circuit that is not there"),
        }
    }
}

/// Written as the type and the words of all elements.
impl Parameter for Tensor {
    fn write(&self, w: &mut Writer<'_>) {
        w.scalar(self.scalar());
        w.shape(&self.shape());
        self.words().iter().for_each(|word| w.number(*word));
    }

    fn read(r: &mut Reader<'_>) -> Result<Self, ComputeError> {
        let (scalar, shape) = (r.scalar()?, r.shape()?);
        let words = scalar.bits().div_ceil(64);
        let lengths = shape.lengths().filter(|_| shape.elements().is_some_and(|n| n <= MAX_LIST as usize));
        let Some(lengths) = lengths else {
            return r.err("a constant without a count of elements, or with too many");
        };
        let n = lengths.iter().product::<usize>() * words;
        if n > r.bytes.len() - r.at {
            return r.err("a constant is longer than the form");
        }
        let mut tensor = Tensor::zeros(scalar, &lengths);
        let last = mask((scalar.bits() - 1) % 64 + 1) as u64;
        for i in 0..n / words {
            for k in 0..words {
                let word = r.number()?;
                if k == words - 1 && word > last {
                    return r.err("an element is wider than its type");
                }
                tensor.element_mut(i)[k] = word;
            }
        }
        Ok(tensor)
    }
}
