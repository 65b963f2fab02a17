//! Reads the binary form.

use crate::{
    ComputeError, Dim, MAX_STRING, Member, Netlist, Range, Scalar, Shape, Value, netlist::MAX_INPUTS,
};
use hushwire_circuit::{Circuit, Gate};

/// The most words of one constant, and the most items of all lists.
pub(crate) const MAX_LIST: u64 = 1 << 24;

pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
    /// The circuits that operations name by their numbers.
    pub(crate) circuits: Vec<Netlist>,
}

impl<'a> Reader<'a> {
    pub(crate) fn err<T>(&self, cause: impl Into<String>) -> Result<T, ComputeError> {
        Err(ComputeError::Binary { at: self.at, cause: cause.into() })
    }

    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], ComputeError> {
        let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) else {
            return self.err("it ends too early");
        };
        self.at += n;
        Ok(taken)
    }

    pub(crate) fn byte(&mut self) -> Result<u8, ComputeError> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u64, ComputeError> {
        let mut n = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return self.err("a number is too large");
            }
            n |= part << shift;
            if byte < 0x80 {
                return Ok(n);
            }
        }
        self.err("a number is too large")
    }

    pub(crate) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, ComputeError> {
        let n = self.number()?;
        T::try_from(n).or_else(|_| self.err("a number is too large"))
    }

    /// Reads the number of items of a list. Every item takes at least a byte, so the number is at
    /// most that of the remaining bytes.
    pub(crate) fn count(&mut self) -> Result<u64, ComputeError> {
        let n = self.number()?;
        if n > MAX_LIST || n > (self.bytes.len() - self.at) as u64 {
            return self.err("a list is longer than the form");
        }
        Ok(n)
    }

    pub(crate) fn string(&mut self) -> Result<String, ComputeError> {
        let n = self.count()? as usize;
        let text = core::str::from_utf8(self.take(n)?);
        text.map(str::to_owned).or_else(|_| self.err("a name is not UTF-8"))
    }

    pub(crate) fn value(&mut self) -> Result<Value, ComputeError> {
        self.small().map(Value)
    }

    pub(crate) fn member(&mut self) -> Result<Member, ComputeError> {
        self.small().map(Member)
    }

    pub(crate) fn flag(&mut self) -> Result<bool, ComputeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.err("a truth value is 0 or 1"),
        }
    }

    pub(crate) fn scalar(&mut self) -> Result<Scalar, ComputeError> {
        let scalar = match self.byte()? {
            0 => Scalar::Bool,
            kind @ 1..=2 => Scalar::Int { signed: kind == 2, bits: self.byte()? },
            3 => Scalar::Fixed { bits: self.byte()?, frac: self.byte()? },
            4 => Scalar::Bits(self.small()?),
            5 => Scalar::Place,
            _ => return self.err("an unknown type"),
        };
        if scalar.is_valid() { Ok(scalar) } else { self.err("a type that does not exist") }
    }

    pub(crate) fn shape(&mut self) -> Result<Shape, ComputeError> {
        let dims = (0..self.count()?).map(|_| match self.byte()? {
            0 => Ok(Dim::Known(self.number()?)),
            1 => Ok(Dim::from(self.string()?.as_str())),
            _ => self.err("an unknown kind of length"),
        });
        Ok(Shape(dims.collect::<Result<_, _>>()?))
    }

    pub(crate) fn circuit(&mut self) -> Result<Netlist, ComputeError> {
        let start = self.at;
        let mut widths = || (0..self.count()?).map(|_| self.small()).collect::<Result<Vec<u16>, _>>();
        let (inputs, outputs) = (widths()?, widths()?);
        // This is checked before memory is allocated for the wires.
        if inputs.len() > MAX_INPUTS || inputs.iter().chain(&outputs).any(|w| *w > MAX_STRING) {
            return self.err("a circuit of too many bits");
        }
        let [inputs, outputs] =
            [inputs, outputs].map(|all| all.into_iter().map(usize::from).collect::<Vec<_>>());
        let n = self.count()?;
        let mut gates = Vec::with_capacity(n as usize);
        for _ in 0..n {
            let code = self.byte()?;
            let mut wire = || self.small();
            gates.push(match code {
                0 => Gate::Xor { a: wire()?, b: wire()?, out: wire()? },
                1 => Gate::And { a: wire()?, b: wire()?, out: wire()? },
                2 => Gate::Inv { a: wire()?, out: wire()? },
                3 | 4 => Gate::Const { value: code == 4, out: wire()? },
                5 => Gate::Copy { a: wire()?, out: wire()? },
                _ => return self.err("an unknown gate"),
            });
        }
        // Every wire belongs to an input or a gate, so a header cannot claim more wires than the
        // file has.
        let wires = inputs.iter().sum::<usize>() + gates.len();
        let circuit = Circuit::new(inputs, outputs, wires, gates)
            .map_err(|e| ComputeError::Binary { at: start, cause: e.to_string() })?;
        Netlist::new(circuit)
    }

    pub(crate) fn promise(&mut self) -> Result<Option<Range>, ComputeError> {
        if !self.flag()? {
            return Ok(None);
        }
        let mut end = || {
            let (low, high) = (self.number()?, self.number()?);
            Ok::<_, ComputeError>((u128::from(high) << 64 | u128::from(low)).cast_signed())
        };
        Ok(Some(Range { low: end()?, high: end()? }))
    }
}
