//! The reader.

use super::{FIRST_PLAIN, PLAIN};
use crate::{
    Comparison, ComputeError, Dim, MAX_STRING, Member, Netlist, Op, Range, Reduction, Scalar, Scan, Shape,
    Steps, Tensor, Type, Value, Visibility, draft::Draft, infer::arity, netlist::MAX_INPUTS,
};
use hushwire_circuit::{Circuit, Gate};

/// Most words of one constant, and of all lists.
const MAX_LIST: u64 = 1 << 24;

pub(super) struct Reader<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) at: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn err<T>(&self, cause: impl Into<String>) -> Result<T, ComputeError> {
        Err(ComputeError::Binary { at: self.at, cause: cause.into() })
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8], ComputeError> {
        let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) else {
            return self.err("it ends too early");
        };
        self.at += n;
        Ok(taken)
    }

    pub(super) fn byte(&mut self) -> Result<u8, ComputeError> {
        Ok(self.take(1)?[0])
    }

    pub(super) fn number(&mut self) -> Result<u64, ComputeError> {
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

    pub(super) fn small<T: TryFrom<u64>>(&mut self) -> Result<T, ComputeError> {
        let n = self.number()?;
        T::try_from(n).or_else(|_| self.err("a number is too large"))
    }

    /// The count of a list, of which every item takes a byte at least.
    pub(super) fn count(&mut self) -> Result<u64, ComputeError> {
        let n = self.number()?;
        if n > MAX_LIST || n > (self.bytes.len() - self.at) as u64 {
            return self.err("a list is longer than the form");
        }
        Ok(n)
    }

    pub(super) fn string(&mut self) -> Result<String, ComputeError> {
        let n = self.count()? as usize;
        let text = core::str::from_utf8(self.take(n)?);
        text.map(str::to_owned).or_else(|_| self.err("a name is not UTF-8"))
    }

    pub(super) fn value(&mut self) -> Result<Value, ComputeError> {
        self.small().map(Value)
    }

    pub(super) fn member(&mut self) -> Result<Member, ComputeError> {
        self.small().map(Member)
    }

    pub(super) fn flag(&mut self) -> Result<bool, ComputeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.err("a truth value is 0 or 1"),
        }
    }

    pub(super) fn scalar(&mut self) -> Result<Scalar, ComputeError> {
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

    pub(super) fn shape(&mut self) -> Result<Shape, ComputeError> {
        let dims = (0..self.count()?).map(|_| match self.byte()? {
            0 => Ok(Dim::Known(self.number()?)),
            1 => Ok(Dim::from(self.string()?.as_str())),
            _ => self.err("an unknown kind of length"),
        });
        Ok(Shape(dims.collect::<Result<_, _>>()?))
    }

    pub(super) fn circuit(&mut self) -> Result<Netlist, ComputeError> {
        let start = self.at;
        let mut widths = || (0..self.count()?).map(|_| self.small()).collect::<Result<Vec<u16>, _>>();
        let (inputs, outputs) = (widths()?, widths()?);
        // Before memory is taken for as many wires.
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
        // Every wire is an input's or a gate's, so that no header claims more than is there.
        let wires = inputs.iter().sum::<usize>() + gates.len();
        let circuit = Circuit::new(inputs, outputs, wires, gates)
            .map_err(|e| ComputeError::Binary { at: start, cause: e.to_string() })?;
        Netlist::new(circuit)
    }

    pub(super) fn promise(&mut self) -> Result<Option<Range>, ComputeError> {
        if !self.flag()? {
            return Ok(None);
        }
        let mut end = || {
            let (low, high) = (self.number()?, self.number()?);
            Ok::<_, ComputeError>((u128::from(high) << 64 | u128::from(low)).cast_signed())
        };
        Ok(Some(Range { low: end()?, high: end()? }))
    }

    pub(super) fn steps(&mut self) -> Result<Steps, ComputeError> {
        let mut numbers = [0; 6];
        for n in &mut numbers {
            *n = self.small()?;
        }
        let [down, across, padding @ ..] = numbers;
        Ok(Steps { strides: [down, across], padding })
    }

    pub(super) fn reduction(&mut self) -> Result<Reduction, ComputeError> {
        match Reduction::ALL.get(usize::from(self.byte()?)) {
            Some(r) => Ok(*r),
            None => self.err("an unknown reduction"),
        }
    }

    pub(super) fn node(&mut self, draft: &mut Draft, circuits: &[Netlist]) -> Result<(), ComputeError> {
        let op = match self.byte()? {
            0 => {
                let (name, scalar, shape) = (self.string()?, self.scalar()?, self.shape()?);
                let visibility = match self.number()? {
                    0 => Visibility::Public,
                    1 => Visibility::Secret,
                    member => match u16::try_from(member - 2) {
                        Ok(member) => Visibility::Private(Member(member)),
                        Err(_) => return self.err("a number is too large"),
                    },
                };
                let promised = self.promise()?;
                draft.input_within(&name, Type { scalar, shape, visibility }, promised)?;
                return Ok(());
            }
            1 => self.constant()?,
            2 => match Comparison::ALL.get(usize::from(self.byte()?)) {
                Some(c) => Op::Compare(*c),
                None => return self.err("an unknown comparison"),
            },
            3 => Op::ShiftLeft(self.small()?),
            4 => Op::ShiftRight(self.small()?),
            5 => Op::Rescale(self.byte()?),
            6 => Op::Cast(self.scalar()?),
            7 => Op::Reduce(self.reduction()?, self.byte()?),
            8 => Op::PrefixSum(self.byte()?),
            9 => Op::Broadcast(self.shape()?),
            10 => Op::Reshape(self.shape()?),
            11 => {
                let n = self.count()? as usize;
                Op::Transpose(self.take(n)?.to_vec())
            }
            12 => Op::Slice { axis: self.byte()?, from: self.number()?, to: self.number()? },
            13 => Op::Concat(self.byte()?),
            14 => {
                Op::Order { descending: (0..self.count()?).map(|_| self.flag()).collect::<Result<_, _>>()? }
            }
            15 => Op::Compact { rows: self.number()? },
            16 => Op::Reveal(match self.number()? {
                0 => None,
                member => match u16::try_from(member - 1) {
                    Ok(member) => Some(Member(member)),
                    Err(_) => return self.err("a number is too large"),
                },
            }),
            17 => match Scan::ALL.get(usize::from(self.byte()?)) {
                Some(scan) => Op::Scan(*scan),
                None => return self.err("an unknown scan"),
            },
            18 => Op::Conv2d { steps: self.steps()?, groups: self.small()? },
            19 => Op::Pool {
                reduction: self.reduction()?,
                size: [self.small()?, self.small()?],
                steps: self.steps()?,
            },
            20 => match circuits.get(self.small::<usize>()?) {
                Some(circuit) => Op::Circuit(circuit.clone()),
                None => return self.err("a circuit that is not there"),
            },
            21 => Op::Part { from: self.small()?, to: self.small()? },
            22 => Op::Meet { first: self.number()? },
            code => match code.checked_sub(FIRST_PLAIN).and_then(|at| PLAIN.get(usize::from(at))) {
                Some(op) => op.clone(),
                None => return self.err("an unknown operation"),
            },
        };
        let n = match arity(&op) {
            Some(n) => n as u64,
            None => self.count()?,
        };
        let arguments = (0..n).map(|_| self.value()).collect::<Result<_, _>>()?;
        draft.push(op, arguments)?;
        Ok(())
    }

    pub(super) fn constant(&mut self) -> Result<Op, ComputeError> {
        let (scalar, shape) = (self.scalar()?, self.shape()?);
        let words = scalar.bits().div_ceil(64);
        let lengths = shape.lengths().filter(|_| shape.elements().is_some_and(|n| n <= MAX_LIST as usize));
        let Some(lengths) = lengths else {
            return self.err("a constant without a count of elements, or with too many");
        };
        let n = lengths.iter().product::<usize>() * words;
        if n > self.bytes.len() - self.at {
            return self.err("a constant is longer than the form");
        }
        let mut tensor = Tensor::zeros(scalar, &lengths);
        let last = crate::tensor::mask((scalar.bits() - 1) % 64 + 1) as u64;
        for i in 0..n / words {
            for k in 0..words {
                let word = self.number()?;
                if k == words - 1 && word > last {
                    return self.err("an element is wider than its type");
                }
                tensor.element_mut(i)[k] = word;
            }
        }
        Ok(Op::Constant(tensor))
    }
}
