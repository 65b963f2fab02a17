//! Random computations of all kinds that the checker accepts, for the tests of back ends.

use crate::{
    Comparison, Computation, Dim, Member, Netlist, Op, Range, Reduction, Scalar, Scan, Shape, Steps, Tensor,
    Type, Value, Visibility, draft::Draft,
};
use hushwire_circuit::bristol;
use std::collections::BTreeMap;

/// A small random generator. A failure can be repeated from its seed.
pub struct Dice(pub u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Dice(seed)
    }

    pub fn word(&mut self) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.word() % n as u64) as usize
    }

    pub fn bits(&mut self) -> u128 {
        let random = u128::from(self.word()) << 64 | u128::from(self.word());
        // Edge cases are frequent.
        match self.below(4) {
            0 => random % 4,
            1 => u128::MAX - random % 4,
            2 => 1 << (random % 128),
            _ => random,
        }
    }
}

const SCALARS: [Scalar; 11] = [
    Scalar::Bool,
    Scalar::signed(8),
    Scalar::signed(64),
    Scalar::unsigned(1),
    Scalar::unsigned(37),
    Scalar::unsigned(128),
    Scalar::signed(128),
    Scalar::Fixed { bits: 32, frac: 8 },
    Scalar::Fixed { bits: 8, frac: 3 },
    Scalar::Bits(8),
    Scalar::Bits(200),
];

fn shape(dice: &mut Dice) -> Shape {
    match dice.below(8) {
        6 => Shape(vec!["n".into(), 2.into(), 3.into(), 4.into()]),
        7 => Shape([2, 2, 2, 2].map(Dim::Known).to_vec()),
        0 => Shape::scalar(),
        1 | 2 => Shape::vector("n"),
        3 => Shape::vector(3),
        4 => Shape::matrix("n", 3),
        _ => Shape::matrix(3, 3),
    }
}

pub fn tensor(dice: &mut Dice, scalar: Scalar, lengths: &[usize]) -> Tensor {
    let mut tensor = Tensor::zeros(scalar, lengths);
    for i in 0..tensor.len() {
        if scalar.bits() <= 128 {
            tensor.set(i, dice.bits());
        } else {
            let mut rest = scalar.bits();
            for word in tensor.element_mut(i) {
                *word = dice.word() & crate::tensor::mask(rest.min(64)) as u64;
                rest = rest.saturating_sub(64);
            }
        }
    }
    tensor
}

/// A full adder of one bit, and a copied bit, with every kind of gate: inputs of 2 and 1 bits,
/// outputs of 1 and 3.
fn netlist() -> Netlist {
    let file = "8 11\n2 2 1\n2 1 3\n\n2 1 0 1 3 XOR\n2 1 0 1 4 AND\n2 1 3 2 5 AND\n1 1 1 6 EQ\n2 1 3 2 7 XOR\n\
                1 1 2 8 INV\n1 1 6 9 EQW\n2 1 4 5 10 XOR\n";
    Netlist::new(bristol::read(file.as_bytes()).unwrap().0).unwrap()
}

fn steps(dice: &mut Dice) -> Steps {
    let mut below = |n: usize| dice.below(n) as u32;
    Steps { strides: [1 + below(2), 1 + below(3)], padding: [below(2), below(2), below(2), below(2)] }
}

fn op(dice: &mut Dice) -> (Op, usize) {
    let axis = dice.below(2) as u8;
    let plain = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor];
    match dice.below(34) {
        0..10 => (plain[dice.below(plain.len())].clone(), 2),
        10 => ([Op::Neg, Op::Abs, Op::Not][dice.below(3)].clone(), 1),
        11 => (Op::Compare(Comparison::ALL[dice.below(6)]), 2),
        12 => (Op::Select, 3),
        13 => (Op::ShiftLeft(dice.below(9) as u16), 1),
        14 => (Op::ShiftRight(dice.below(9) as u16), 1),
        15 => ([Op::Rescale(3), Op::Cast(SCALARS[dice.below(SCALARS.len())])][dice.below(2)].clone(), 1),
        16 => (Op::Reduce(Reduction::ALL[dice.below(9)], axis), 1),
        17 => (Op::PrefixSum(axis), 1),
        18 => (Op::MatMul, 2),
        19 => ([Op::Broadcast(shape(dice)), Op::Reshape(Shape::vector(9))][dice.below(2)].clone(), 1),
        20 => ([Op::Transpose(vec![1, 0]), Op::Invert][dice.below(2)].clone(), 1),
        21 => (Op::Slice { axis, from: 1, to: 2 }, 1),
        22 => (Op::Concat(axis), 2),
        23 => (Op::Order { descending: vec![dice.below(2) == 0, true] }, 2),
        24 => ([Op::Permute, Op::Gather, Op::Compact { rows: 2 }][dice.below(3)].clone(), 2),
        26 => (Op::Scan(Scan::ALL[dice.below(4)]), 2),
        27 | 28 => (Op::Conv2d { steps: steps(dice), groups: 1 + dice.below(2) as u32 }, 2),
        29 => {
            let reductions = [Reduction::Sum, Reduction::Mean, Reduction::Min, Reduction::Max];
            let size = [1 + dice.below(2) as u32, 1 + dice.below(3) as u32];
            (Op::Pool { reduction: reductions[dice.below(4)], size, steps: steps(dice) }, 1)
        }
        30 => (Op::Circuit(netlist()), 2),
        31 => (Op::Part { from: dice.below(3) as u16, to: 1 + dice.below(199) as u16 }, 1),
        32 => (Op::Join, 1 + dice.below(3)),
        33 => (Op::Wrapping, 1),
        _ => (Op::Reveal([None, Some(Member(1))][dice.below(2)]), 1),
    }
}

/// A computation of up to about sixty nodes.
pub fn computation(seed: u64) -> Computation {
    let mut dice = Dice(seed);
    let mut draft = Draft::new("random").unwrap();
    let members = ["ann", "bob"].map(|name| draft.member(name).unwrap());
    draft.symbol("n").unwrap();
    let mut values = vec![];
    for k in 0..6 {
        let visibility = match dice.below(4) {
            0 => Visibility::Public,
            1 => Visibility::Secret,
            k => Visibility::Private(members[k - 2]),
        };
        let ty = Type::new(SCALARS[dice.below(SCALARS.len())], shape(&mut dice), visibility);
        let promised = Range::of(ty.scalar).filter(|_| dice.below(3) == 0).map(|whole| {
            let low = if dice.below(2) == 0 { whole.low } else { 0 };
            Range { low, high: low + dice.below(whole.high.min(40) as usize + 1) as i128 }
        });
        values.push(draft.input_within(&format!("x{k}"), ty, promised).unwrap());
    }
    // The circuit needs strings, and no other operation makes them.
    for bits in [2, 1] {
        let of = Tensor::single(Scalar::Bits(bits), dice.bits());
        values.push(draft.push(Op::Constant(of), vec![]).unwrap());
    }
    for _ in 0..3 {
        let scalar = SCALARS[dice.below(SCALARS.len())];
        let lengths: &[usize] = [&[][..], &[3], &[3, 3]][dice.below(3)];
        let constant = tensor(&mut dice, scalar, lengths);
        values.push(draft.push(Op::Constant(constant), vec![]).unwrap());
    }
    for _ in 0..160 {
        let (op, n) = op(&mut dice);
        // Later values are chosen more often, so that graphs grow deep.
        let pick = |dice: &mut Dice| {
            values[values.len() - 1 - dice.below(values.len()).min(dice.below(values.len()))]
        };
        let mut operands: Vec<Value> = (0..n).map(|_| pick(&mut dice)).collect();
        // Permutations are rare, and keys of one length rarer.
        let order = values.iter().rev().find(|v| draft.so_far().node(**v).ty.scalar == Scalar::Place);
        match (&op, order) {
            (Op::Permute | Op::Invert, Some(order)) => operands[n - 1] = *order,
            (Op::Order { .. }, _) => operands[1] = operands[0],
            (Op::Part { .. } | Op::Circuit(_) | Op::Scan(_) | Op::Compact { .. } | Op::Conv2d { .. }, _) => {
                // Suitable operands are rare, so they are searched for.
                let fits = |draft: &Draft, v: &Value, k: usize| {
                    let ty = &draft.so_far().node(*v).ty;
                    match op {
                        Op::Circuit(_) => ty.scalar == Scalar::Bits(2 - k as u16),
                        Op::Scan(_) | Op::Compact { .. } if k == 0 => {
                            ty.scalar == Scalar::Bool && ty.shape.rank() == 1
                        }
                        Op::Conv2d { .. } => ty.shape.rank() == 4 && ty.scalar.is_number(),
                        Op::Part { .. } => matches!(ty.scalar, Scalar::Bits(_)),
                        _ => ty.shape.rank() > 0,
                    }
                };
                for (k, operand) in operands.iter_mut().enumerate() {
                    let found: Vec<Value> = values.iter().copied().filter(|v| fits(&draft, v, k)).collect();
                    if !found.is_empty() {
                        *operand = found[dice.below(found.len())];
                    }
                }
            }
            _ => {}
        }
        if let Ok(value) = draft.push(op, operands) {
            if dice.below(5) == 0 && draft.so_far().value_name(value).is_none() {
                draft.name(value, &format!("v{}", value.0)).unwrap();
            }
            values.push(value);
        }
    }
    for k in 0..3 {
        let value = values[values.len() - 1 - 5 * k];
        draft
            .output(&format!("y{k}"), value, [vec![members[0]], members.to_vec()][dice.below(2)].clone())
            .unwrap();
    }
    draft.finish().unwrap()
}

/// Random inputs for the computation; a symbol gets `n` rows.
pub fn inputs(computation: &Computation, seed: u64, n: usize) -> BTreeMap<String, Tensor> {
    let mut dice = Dice(seed);
    let of = |ty: &Type, promised: Option<Range>, dice: &mut Dice| {
        let length = |dim: &Dim| match dim {
            Dim::Known(n) => *n as usize,
            Dim::Symbol(_) => n,
        };
        let lengths: Vec<usize> = ty.shape.0.iter().map(length).collect();
        let free = tensor(dice, ty.scalar, &lengths);
        let Some(Range { low, high }) = promised else { return free };
        let within = (0..free.len()).map(|i| low + free.get(i).cast_signed().rem_euclid(high - low + 1));
        Tensor::from_numbers(ty.scalar, &lengths, within)
    };
    let promised = |at| computation.promised(Value(at as u32));
    let all = computation.inputs().enumerate();
    all.map(|(at, (name, ty))| (name.to_owned(), of(ty, promised(at), &mut dice))).collect()
}
