//! The canonical binary form, and the digest that parties agree on.
//!
//! ```text
//! "hwc" 2, name, members, symbols, circuits, nodes, outputs
//! list     count, items                 string   bytes, UTF-8
//! number   7 bits a byte, low first, as few bytes as do        node   operation's code, parameters, arguments
//! circuit  widths of inputs, widths of outputs, gates, each a code and its wires
//! ```
//!
//! Types of nodes but inputs follow from their operands and are not written. A form that another one says shorter, or in
//! another order, is refused: one computation has one form.

use crate::{
    Comparison, Computation, ComputeError, Dim, MAX_STRING, Member, Netlist, Op, Range, Reduction, Scalar,
    Scan, Shape, Steps, Tensor, Type, Value, Visibility, draft::Draft, infer::arity, netlist::MAX_INPUTS,
};
use hushwire_circuit::{Circuit, Gate};
use std::collections::{HashMap, HashSet};

const MAGIC: &[u8; 4] = b"hwc\x02";
/// AGREEMENT: the domain of digests.
const DOMAIN: &str = "hushwire 2026 computation 1";
/// Most words of one constant, and of all lists.
const MAX_LIST: u64 = 1 << 24;

impl Computation {
    /// The binary form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.string(&self.name);
        w.strings(&self.members);
        w.strings(&self.symbols);
        let circuits = self.circuits();
        w.number(circuits.len() as u64);
        circuits.iter().for_each(|c| w.circuit(c));
        let circuits: HashMap<&Netlist, usize> =
            circuits.iter().enumerate().map(|(at, c)| (*c, at)).collect();
        w.number(self.nodes.len() as u64);
        for (at, node) in self.nodes.iter().enumerate() {
            w.op(&node.op, &node.ty, &circuits);
            if let Op::Input(_) = node.op {
                w.promise(self.promised(Value(at as u32)));
            }
            if arity(&node.op).is_none() {
                w.number(node.arguments.len() as u64);
            }
            node.arguments.iter().for_each(|v| w.number(v.0.into()));
        }
        w.number(self.outputs.len() as u64);
        for output in &self.outputs {
            w.string(&output.name);
            w.number(output.value.0.into());
            w.number(output.to.len() as u64);
            output.to.iter().for_each(|m| w.number(m.0.into()));
        }
        w.0
    }

    /// The computation of a binary form.
    ///
    /// # Errors
    /// Bytes that no computation has as its form, or a computation that the checker refuses.
    pub fn from_bytes(bytes: &[u8]) -> Result<Computation, ComputeError> {
        let mut r = Reader { bytes, at: 0 };
        if r.take(4)? != MAGIC {
            return Err(ComputeError::Binary { at: 0, cause: "no mark of version 2".into() });
        }
        let mut draft = Draft::new(&r.string()?)?;
        for _ in 0..r.count()? {
            draft.member(&r.string()?)?;
        }
        for _ in 0..r.count()? {
            draft.symbol(&r.string()?)?;
        }
        let circuits = (0..r.count()?).map(|_| r.circuit()).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..r.count()? {
            r.node(&mut draft, &circuits)?;
        }
        for _ in 0..r.count()? {
            let (name, value) = (r.string()?, r.value()?);
            let to = (0..r.count()?).map(|_| r.member()).collect::<Result<_, _>>()?;
            draft.output(&name, value, to)?;
        }
        let computation = draft.finish()?;
        let again = computation.to_bytes();
        if again != bytes {
            let at = again.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            return Err(ComputeError::Binary { at, cause: "not the canonical form".into() });
        }
        Ok(computation)
    }

    /// The circuits that it carries, in the order in which nodes name them.
    pub(crate) fn circuits(&self) -> Vec<&Netlist> {
        let mut seen = HashSet::new();
        let carried = self.nodes.iter().filter_map(|node| match &node.op {
            Op::Circuit(circuit) => Some(circuit),
            _ => None,
        });
        carried.filter(|circuit| seen.insert(*circuit)).collect()
    }

    /// The identity of the computation: BLAKE3 of its binary form.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        blake3::derive_key(DOMAIN, &self.to_bytes())
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, mut n: u64) {
        while n >= 0x80 {
            self.byte(n as u8 | 0x80);
            n >>= 7;
        }
        self.byte(n as u8);
    }

    fn string(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn strings(&mut self, all: &[String]) {
        self.number(all.len() as u64);
        all.iter().for_each(|s| self.string(s));
    }

    fn scalar(&mut self, scalar: Scalar) {
        match scalar {
            Scalar::Bool => self.byte(0),
            Scalar::Int { signed, bits } => {
                self.byte(1 + u8::from(signed));
                self.byte(bits);
            }
            Scalar::Fixed { bits, frac } => [3, bits, frac].into_iter().for_each(|b| self.byte(b)),
            Scalar::Bits(n) => {
                self.byte(4);
                self.number(n.into());
            }
            Scalar::Place => self.byte(5),
        }
    }

    fn shape(&mut self, shape: &Shape) {
        self.number(shape.rank() as u64);
        for dim in &shape.0 {
            match dim {
                Dim::Known(n) => {
                    self.byte(0);
                    self.number(*n);
                }
                Dim::Symbol(name) => {
                    self.byte(1);
                    self.string(name);
                }
            }
        }
    }

    fn circuit(&mut self, circuit: &Netlist) {
        for widths in [circuit.inputs(), circuit.outputs()] {
            self.number(widths.len() as u64);
            widths.iter().for_each(|w| self.number(*w as u64));
        }
        self.number(circuit.gates().len() as u64);
        for gate in circuit.gates() {
            let (code, wires): (u8, &[u32]) = match gate {
                Gate::Xor { a, b, out } => (0, &[*a, *b, *out]),
                Gate::And { a, b, out } => (1, &[*a, *b, *out]),
                Gate::Inv { a, out } => (2, &[*a, *out]),
                Gate::Const { value, out } => (3 + u8::from(*value), &[*out]),
                Gate::Copy { a, out } => (5, &[*a, *out]),
            };
            self.byte(code);
            wires.iter().for_each(|w| self.number(u64::from(*w)));
        }
    }

    /// Nothing, or both ends, each as two words.
    fn promise(&mut self, promised: Option<Range>) {
        self.byte(u8::from(promised.is_some()));
        for end in promised.iter().flat_map(|r| [r.low, r.high]) {
            self.number(end as u64);
            self.number((end >> 64) as u64);
        }
    }

    fn steps(&mut self, steps: Steps) {
        steps.strides.iter().chain(&steps.padding).for_each(|n| self.number(u64::from(*n)));
    }

    fn op(&mut self, op: &Op, ty: &Type, circuits: &HashMap<&Netlist, usize>) {
        match op {
            Op::Input(name) => {
                self.byte(0);
                self.string(name);
                self.scalar(ty.scalar);
                self.shape(&ty.shape);
                self.number(match ty.visibility {
                    Visibility::Public => 0,
                    Visibility::Secret => 1,
                    Visibility::Private(member) => 2 + u64::from(member.0),
                });
            }
            Op::Constant(tensor) => {
                self.byte(1);
                self.scalar(tensor.scalar());
                self.shape(&ty.shape);
                tensor.words().iter().for_each(|w| self.number(*w));
            }
            Op::Compare(c) => {
                self.byte(2);
                self.byte(Comparison::ALL.iter().position(|x| x == c).expect("it is one of all") as u8);
            }
            Op::ShiftLeft(by) => {
                self.byte(3);
                self.number(u64::from(*by));
            }
            Op::ShiftRight(by) => {
                self.byte(4);
                self.number(u64::from(*by));
            }
            Op::Rescale(by) => [5, *by].into_iter().for_each(|b| self.byte(b)),
            Op::Cast(to) => {
                self.byte(6);
                self.scalar(*to);
            }
            Op::Reduce(r, axis) => {
                let r = Reduction::ALL.iter().position(|x| x == r).expect("it is one of all") as u8;
                [7, r, *axis].into_iter().for_each(|b| self.byte(b));
            }
            Op::PrefixSum(axis) => [8, *axis].into_iter().for_each(|b| self.byte(b)),
            Op::Broadcast(shape) => {
                self.byte(9);
                self.shape(shape);
            }
            Op::Reshape(shape) => {
                self.byte(10);
                self.shape(shape);
            }
            Op::Transpose(axes) => {
                self.byte(11);
                self.number(axes.len() as u64);
                self.0.extend_from_slice(axes);
            }
            Op::Slice { axis, from, to } => {
                [12, *axis].into_iter().for_each(|b| self.byte(b));
                self.number(*from);
                self.number(*to);
            }
            Op::Concat(axis) => [13, *axis].into_iter().for_each(|b| self.byte(b)),
            Op::Order { descending } => {
                self.byte(14);
                self.number(descending.len() as u64);
                descending.iter().for_each(|d| self.byte(u8::from(*d)));
            }
            Op::Compact { rows } => {
                self.byte(15);
                self.number(*rows);
            }
            Op::Reveal(to) => {
                self.byte(16);
                self.number(to.map_or(0, |m| 1 + u64::from(m.0)));
            }
            Op::Scan(scan) => {
                let scan = Scan::ALL.iter().position(|x| x == scan).expect("it is one of all") as u8;
                [17, scan].into_iter().for_each(|b| self.byte(b));
            }
            Op::Conv2d { steps, groups } => {
                self.byte(18);
                self.steps(*steps);
                self.number(u64::from(*groups));
            }
            Op::Pool { reduction, size, steps } => {
                let r = Reduction::ALL.iter().position(|x| x == reduction).expect("it is one of all") as u8;
                [19, r].into_iter().for_each(|b| self.byte(b));
                size.iter().for_each(|n| self.number(u64::from(*n)));
                self.steps(*steps);
            }
            Op::Circuit(circuit) => {
                self.byte(20);
                self.number(circuits[circuit] as u64);
            }
            Op::Part { from, to } => {
                self.byte(21);
                self.number(u64::from(*from));
                self.number(u64::from(*to));
            }
            plain => {
                let at = PLAIN
                    .iter()
                    .position(|p| p == plain)
                    .expect("operations without parameters stand in the list");
                self.byte(FIRST_PLAIN + at as u8);
            }
        }
    }
}

/// AGREEMENT: operations without parameters, by code from [`FIRST_PLAIN`].
const PLAIN: [Op; 20] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Rem,
    Op::Neg,
    Op::Abs,
    Op::Min,
    Op::Max,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Not,
    Op::Select,
    Op::MatMul,
    Op::Gather,
    Op::Permute,
    Op::Invert,
    Op::Join,
    Op::Wrapping,
];
const FIRST_PLAIN: u8 = 32;

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn err<T>(&self, cause: impl Into<String>) -> Result<T, ComputeError> {
        Err(ComputeError::Binary { at: self.at, cause: cause.into() })
    }

    fn take(&mut self, n: usize) -> Result<&'a [u8], ComputeError> {
        let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.get(..n)) else {
            return self.err("it ends too early");
        };
        self.at += n;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8, ComputeError> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Result<u64, ComputeError> {
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

    fn small<T: TryFrom<u64>>(&mut self) -> Result<T, ComputeError> {
        let n = self.number()?;
        T::try_from(n).or_else(|_| self.err("a number is too large"))
    }

    /// The count of a list, of which every item takes a byte at least.
    fn count(&mut self) -> Result<u64, ComputeError> {
        let n = self.number()?;
        if n > MAX_LIST || n > (self.bytes.len() - self.at) as u64 {
            return self.err("a list is longer than the form");
        }
        Ok(n)
    }

    fn string(&mut self) -> Result<String, ComputeError> {
        let n = self.count()? as usize;
        let text = core::str::from_utf8(self.take(n)?);
        text.map(str::to_owned).or_else(|_| self.err("a name is not UTF-8"))
    }

    fn value(&mut self) -> Result<Value, ComputeError> {
        self.small().map(Value)
    }

    fn member(&mut self) -> Result<Member, ComputeError> {
        self.small().map(Member)
    }

    fn flag(&mut self) -> Result<bool, ComputeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => self.err("a truth value is 0 or 1"),
        }
    }

    fn scalar(&mut self) -> Result<Scalar, ComputeError> {
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

    fn shape(&mut self) -> Result<Shape, ComputeError> {
        let dims = (0..self.count()?).map(|_| match self.byte()? {
            0 => Ok(Dim::Known(self.number()?)),
            1 => Ok(Dim::from(self.string()?.as_str())),
            _ => self.err("an unknown kind of length"),
        });
        Ok(Shape(dims.collect::<Result<_, _>>()?))
    }

    fn circuit(&mut self) -> Result<Netlist, ComputeError> {
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

    fn promise(&mut self) -> Result<Option<Range>, ComputeError> {
        if !self.flag()? {
            return Ok(None);
        }
        let mut end = || {
            let (low, high) = (self.number()?, self.number()?);
            Ok::<_, ComputeError>((u128::from(high) << 64 | u128::from(low)).cast_signed())
        };
        Ok(Some(Range { low: end()?, high: end()? }))
    }

    fn steps(&mut self) -> Result<Steps, ComputeError> {
        let mut numbers = [0; 6];
        for n in &mut numbers {
            *n = self.small()?;
        }
        let [down, across, padding @ ..] = numbers;
        Ok(Steps { strides: [down, across], padding })
    }

    fn reduction(&mut self) -> Result<Reduction, ComputeError> {
        match Reduction::ALL.get(usize::from(self.byte()?)) {
            Some(r) => Ok(*r),
            None => self.err("an unknown reduction"),
        }
    }

    fn node(&mut self, draft: &mut Draft, circuits: &[Netlist]) -> Result<(), ComputeError> {
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

    fn constant(&mut self) -> Result<Op, ComputeError> {
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
