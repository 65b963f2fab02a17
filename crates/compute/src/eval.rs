//! The plain evaluator: every computation in the open. The oracle of all back ends, which give these bits.

use crate::{
    Comparison, Computation, ComputeError, Node, Op, Reduction, Scalar, Scan, Tensor, Value,
    tensor::{mask, number},
    windows::{Convolution, pooled},
};
use std::collections::BTreeMap;

/// Evaluates a computation: inputs by name to outputs by name. Symbols get their numbers from the inputs.
///
/// # Errors
/// Inputs that do not fit or break a promised range, or a place of a `gather` that does not exist.
pub fn evaluate(
    computation: &Computation,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<BTreeMap<String, Tensor>, ComputeError> {
    let bound = computation.bind(&computation.symbols_of(inputs)?)?;
    computation.check_promises(inputs)?;
    let wanted: Vec<Value> = bound.outputs().iter().map(|output| output.value).collect();
    let values = some(&bound, |name| inputs.get(name), &wanted)?;
    Ok(bound.outputs().iter().map(|o| o.name.clone()).zip(values).collect())
}

/// The values of all nodes of a computation without symbols.
#[cfg(test)]
pub(crate) fn values(
    bound: &Computation,
    inputs: &BTreeMap<String, Tensor>,
) -> Result<Vec<Tensor>, ComputeError> {
    let mut values: Vec<Tensor> = Vec::with_capacity(bound.nodes().len());
    for node in bound.nodes() {
        let operands: Vec<&Tensor> = node.arguments.iter().map(|v| &values[v.0 as usize]).collect();
        let value = match &node.op {
            Op::Input(name) => inputs[name].clone(),
            op => compute(op, &operands, node.ty.scalar, &lengths(node)?)?,
        };
        values.push(value);
    }
    Ok(values)
}

/// Some values of a computation without symbols, of which nothing else is computed. `input` has the inputs that they need.
pub(crate) fn some<'t>(
    bound: &Computation,
    input: impl Fn(&str) -> Option<&'t Tensor>,
    wanted: &[Value],
) -> Result<Vec<Tensor>, ComputeError> {
    let nodes = bound.nodes();
    // Of each value how often it is read; what is wanted is read once more.
    let mut readers = vec![0usize; nodes.len()];
    wanted.iter().for_each(|v| readers[v.0 as usize] += 1);
    for at in (0..nodes.len()).rev() {
        if readers[at] > 0 {
            nodes[at].arguments.iter().for_each(|v| readers[v.0 as usize] += 1);
        }
    }
    let mut values: Vec<Option<Tensor>> = vec![None; nodes.len()];
    for (at, node) in nodes.iter().enumerate() {
        if readers[at] == 0 {
            continue;
        }
        let read = |v: &Value| values[v.0 as usize].as_ref().expect("it is kept while it has readers");
        let operands: Vec<&Tensor> = node.arguments.iter().map(read).collect();
        let value = match &node.op {
            Op::Input(name) => input(name).expect("inputs are brought").clone(),
            op => compute(op, &operands, node.ty.scalar, &lengths(node)?)?,
        };
        values[at] = Some(value);
        for v in &node.arguments {
            readers[v.0 as usize] -= 1;
            if readers[v.0 as usize] == 0 {
                values[v.0 as usize] = None;
            }
        }
    }
    Ok(wanted.iter().map(|v| values[v.0 as usize].clone().expect("it is wanted")).collect())
}

fn lengths(node: &Node) -> Result<Vec<usize>, ComputeError> {
    let lengths = node.ty.shape.lengths();
    lengths.ok_or_else(|| ComputeError::ty("a value is too large", "bring fewer rows"))
}

/// One operation. `scalar` and `lengths` are those of its result.
pub(crate) fn compute(
    op: &Op,
    operands: &[&Tensor],
    scalar: Scalar,
    lengths: &[usize],
) -> Result<Tensor, ComputeError> {
    let a = operands.first().copied();
    let one = || a.expect("the checker counts operands");
    let each = |f: &dyn Fn(u128, u128) -> u128| two(scalar, lengths, operands, f);
    let map = |f: &dyn Fn(u128) -> u128| {
        let from = one();
        Tensor::from_words(scalar, lengths, (0..from.len()).map(|i| f(from.get(i))))
    };
    Ok(match op {
        Op::Input(_) => unreachable!("inputs are brought"),
        Op::Constant(tensor) => tensor.clone(),
        Op::Add => each(&u128::wrapping_add),
        Op::Sub => each(&u128::wrapping_sub),
        Op::Mul => each(&u128::wrapping_mul),
        Op::Div => each(&|x, y| divide(scalar, x, y)),
        Op::Rem => each(&|x, y| remainder(scalar, x, y)),
        Op::Neg => map(&u128::wrapping_neg),
        Op::Abs => map(&|x| number(scalar, x).map_or(x, i128::unsigned_abs)),
        Op::Min => each(&|x, y| if less(scalar, y, x) { y } else { x }),
        Op::Max => each(&|x, y| if less(scalar, x, y) { y } else { x }),
        Op::And => bitwise(scalar, lengths, operands, |x, y| x & y),
        Op::Or => bitwise(scalar, lengths, operands, |x, y| x | y),
        Op::Xor => bitwise(scalar, lengths, operands, |x, y| x ^ y),
        Op::Not => complement(one()),
        Op::Compare(c) => compare(*c, operands, lengths),
        Op::Select => select(scalar, lengths, operands),
        Op::ShiftLeft(by) => shift(one(), |i| i.checked_sub(usize::from(*by)), false),
        Op::ShiftRight(by) => shift(one(), |i| Some(i + usize::from(*by)), one().scalar().is_signed()),
        Op::Rescale(by) => {
            let from = one().scalar();
            map(&|x| (number(from, x).expect("fixed numbers have a sign") >> by.min(&127)).cast_unsigned())
        }
        Op::Cast(to) => cast(one(), *to),
        Op::Reduce(reduction, axis) => reduce(*reduction, one(), usize::from(*axis), scalar, lengths),
        Op::PrefixSum(axis) => prefix_sum(one(), usize::from(*axis)),
        Op::MatMul => matmul(operands[0], operands[1], scalar, lengths),
        Op::Broadcast(_) => repeated(one(), lengths),
        Op::Reshape(_) => one().clone().reshaped(lengths),
        Op::Transpose(axes) => transpose(one(), axes, lengths),
        Op::Slice { axis, from, .. } => {
            let from = usize::try_from(*from).expect("the checker holds it to the length");
            slice(one(), usize::from(*axis), from, lengths)
        }
        Op::Concat(axis) => concat(operands, usize::from(*axis), scalar, lengths),
        Op::Gather => gather(operands[0], operands[1], lengths)?,
        Op::Order { descending } => order(operands, descending),
        Op::Meet { .. } => order(operands, &vec![false; operands.len()]),
        Op::Permute => rows(operands[0], lengths, |i| operands[1].get(i) as usize),
        Op::Invert => {
            let mut out = Tensor::zeros(scalar, lengths);
            (0..out.len()).for_each(|i| out.set(one().get(i) as usize, i as u128));
            out
        }
        Op::Compact { .. } => compact(operands[0], operands[1], lengths),
        Op::Reveal(_) | Op::Wrapping => one().clone(),
        Op::Scan(kind) => scan(*kind, operands[0], operands[1]),
        Op::Conv2d { steps, groups } => {
            let [x, kernels] = [operands[0], operands[1]];
            let convolution = Convolution::new(x.lengths(), kernels.lengths(), *steps, *groups);
            if scalar.bits() <= 64 {
                let sums = convolution.words(x.words(), kernels.words());
                return Ok(Tensor::from_words(scalar, lengths, sums.into_iter().map(u128::from)));
            }
            let sum = |at| {
                let products = convolution.factors(at).map(|(i, k)| x.get(i).wrapping_mul(kernels.get(k)));
                products.fold(0, u128::wrapping_add)
            };
            Tensor::from_words(scalar, lengths, (0..lengths.iter().product()).map(sum))
        }
        Op::Pool { reduction, size, steps } => {
            let of = one();
            let window = |at| {
                let places = pooled(of.lengths(), *size, *steps, at);
                let elements = of.picked(&[places.len()], |i| places[i]);
                reduce(*reduction, &elements, 0, scalar, &[]).get(0)
            };
            Tensor::from_words(scalar, lengths, (0..lengths.iter().product()).map(window))
        }
        Op::Circuit(circuit) => {
            let whole = |t: &&Tensor| t.picked(lengths, |i| place(t, i));
            circuit.run(&operands.iter().map(whole).collect::<Vec<_>>(), scalar, lengths)
        }
        Op::Part { from, .. } => {
            let mut out = Tensor::zeros(scalar, lengths);
            (0..out.len()).for_each(|i| put(out.element_mut(i), 0, one().element(i), *from, scalar.bits()));
            out
        }
        Op::Join => {
            let mut out = Tensor::zeros(scalar, lengths);
            for i in 0..out.len() {
                let mut at = 0;
                for part in operands {
                    put(out.element_mut(i), at, part.element(place(part, i)), 0, part.scalar().bits());
                    at += part.scalar().bits();
                }
            }
            out
        }
    })
}

/// The place of element `i` of a result in an operand: a single element stands for all.
fn place(operand: &Tensor, i: usize) -> usize {
    if operand.lengths().is_empty() { 0 } else { i }
}

fn two(scalar: Scalar, lengths: &[usize], of: &[&Tensor], f: &dyn Fn(u128, u128) -> u128) -> Tensor {
    let n = lengths.iter().product();
    let at = |k: usize, i| of[k].get(place(of[k], i));
    Tensor::from_words(scalar, lengths, (0..n).map(|i| f(at(0, i), at(1, i))))
}

/// On numbers of one scalar, and strings of bits and truth values of at most 128 bits, which have no sign.
pub(crate) fn less(scalar: Scalar, x: u128, y: u128) -> bool {
    if scalar.is_signed() { number(scalar, x) < number(scalar, y) } else { x < y }
}

fn divide(scalar: Scalar, x: u128, y: u128) -> u128 {
    if y == 0 {
        return u128::MAX;
    }
    if !scalar.is_signed() {
        return x / y;
    }
    let signed = |bits| number(scalar, bits).expect("it has a sign");
    // The checker leaves room for the fractional bits.
    (signed(x) << scalar.frac()).wrapping_div(signed(y)).cast_unsigned()
}

fn remainder(scalar: Scalar, x: u128, y: u128) -> u128 {
    if y == 0 {
        return x;
    }
    if !scalar.is_signed() {
        return x % y;
    }
    let signed = |bits| number(scalar, bits).expect("it has a sign");
    signed(x).wrapping_rem(signed(y)).cast_unsigned()
}

fn bitwise(scalar: Scalar, lengths: &[usize], of: &[&Tensor], f: impl Fn(u64, u64) -> u64) -> Tensor {
    let mut out = Tensor::zeros(scalar, lengths);
    for i in 0..out.len() {
        let [x, y] = [of[0], of[1]].map(|t| t.element(place(t, i)));
        out.element_mut(i).iter_mut().zip(x.iter().zip(y)).for_each(|(o, (x, y))| *o = f(*x, *y));
    }
    out
}

/// All bits of an element's width turned.
fn complement(of: &Tensor) -> Tensor {
    let mut out = of.clone();
    for i in 0..out.len() {
        let mut rest = of.scalar().bits();
        for word in out.element_mut(i) {
            *word ^= mask(rest.min(64)) as u64;
            rest = rest.saturating_sub(64);
        }
    }
    out
}

fn compare(comparison: Comparison, of: &[&Tensor], lengths: &[usize]) -> Tensor {
    let scalar = of[0].scalar();
    let truth = |i: usize| {
        let [x, y] = [of[0], of[1]].map(|t| (t, place(t, i)));
        if !comparison.orders() {
            return (x.0.element(x.1) == y.0.element(y.1)) == (comparison == Comparison::Equal);
        }
        let [x, y] = [x, y].map(|(t, i)| t.get(i));
        match comparison {
            Comparison::Less => less(scalar, x, y),
            Comparison::Greater => less(scalar, y, x),
            Comparison::LessOrEqual => !less(scalar, y, x),
            _ => !less(scalar, x, y),
        }
    };
    let n: usize = lengths.iter().product();
    Tensor::from_words(Scalar::Bool, lengths, (0..n).map(|i| truth(i).into()))
}

fn select(scalar: Scalar, lengths: &[usize], of: &[&Tensor]) -> Tensor {
    let mut out = Tensor::zeros(scalar, lengths);
    for i in 0..out.len() {
        let from = if of[0].truth(place(of[0], i)) { of[1] } else { of[2] };
        out.element_mut(i).copy_from_slice(from.element(place(from, i)));
    }
    out
}

/// Bit `i` of the result is bit `from(i)`, where there is one, else the sign or 0.
fn shift(of: &Tensor, from: impl Fn(usize) -> Option<usize>, sign: bool) -> Tensor {
    let bits = of.scalar().bits();
    let mut out = Tensor::zeros(of.scalar(), of.lengths());
    for k in 0..of.len() {
        let bit = |i: usize| of.element(k)[i / 64] >> (i % 64) & 1;
        for i in 0..bits {
            let value = match from(i) {
                Some(j) if j < bits => bit(j),
                Some(_) if sign => bit(bits - 1),
                _ => 0,
            };
            out.element_mut(k)[i / 64] |= value << (i % 64);
        }
    }
    out
}

fn cast(of: &Tensor, to: Scalar) -> Tensor {
    let from = of.scalar();
    if from == to || matches!(from, Scalar::Bits(_)) || matches!(to, Scalar::Bits(_)) {
        let mut out = Tensor::zeros(to, of.lengths());
        (0..of.len()).for_each(|i| out.element_mut(i).copy_from_slice(of.element(i)));
        return out;
    }
    let (more, fewer) = (to.frac().saturating_sub(from.frac()), from.frac().saturating_sub(to.frac()));
    let one = |bits: u128| {
        // An unsigned number from 2^127 on has no fractional bits to drop.
        let n = number(from, bits).unwrap_or(bits.cast_signed());
        (n >> fewer.min(127)).checked_shl(more.into()).unwrap_or(0).cast_unsigned()
    };
    Tensor::from_words(to, of.lengths(), (0..of.len()).map(|i| one(of.get(i))))
}

/// Lengths before, of and behind an axis.
fn around(lengths: &[usize], axis: usize) -> [usize; 3] {
    [lengths[..axis].iter().product(), lengths[axis], lengths[axis + 1..].iter().product()]
}

fn reduce(reduction: Reduction, of: &Tensor, axis: usize, scalar: Scalar, lengths: &[usize]) -> Tensor {
    let [_, n, inner] = around(of.lengths(), axis);
    let numbers = of.scalar();
    let (least, greatest) = if numbers.is_signed() {
        (1u128 << (numbers.bits() - 1), mask(numbers.bits() - 1))
    } else {
        (0, mask(numbers.bits().min(128)))
    };
    let one = |k: usize| {
        let all = (0..n).map(|i| of.get((k / inner * n + i) * inner + k % inner));
        let sum = |all: &mut dyn Iterator<Item = u128>| all.fold(0, u128::wrapping_add);
        let first = |better: &dyn Fn(u128, u128) -> bool| {
            let mut best: Option<(usize, u128)> = None;
            for (i, x) in all.clone().enumerate() {
                if best.is_none_or(|(_, b)| better(x, b)) {
                    best = Some((i, x));
                }
            }
            best
        };
        let lesser = |x, y| less(numbers, x, y);
        let greater = |x, y| less(numbers, y, x);
        match reduction {
            Reduction::Sum => sum(&mut all.clone()),
            Reduction::Count => all.clone().sum(),
            Reduction::All => all.clone().all(|x| x == 1).into(),
            Reduction::Any => all.clone().any(|x| x == 1).into(),
            Reduction::Min => first(&lesser).map_or(greatest, |b| b.1),
            Reduction::Max => first(&greater).map_or(least, |b| b.1),
            Reduction::ArgMin => first(&lesser).map_or(0, |b| b.0 as u128),
            Reduction::ArgMax => first(&greater).map_or(0, |b| b.0 as u128),
            Reduction::Mean if n == 0 => u128::MAX,
            Reduction::Mean => {
                let sum = sum(&mut all.clone()) & mask(numbers.bits());
                match number(numbers, sum).filter(|_| numbers.is_signed()) {
                    Some(signed) => (signed / n as i128).cast_unsigned(),
                    None => sum / n as u128,
                }
            }
        }
    };
    let count = lengths.iter().product::<usize>();
    Tensor::from_words(scalar, lengths, (0..count).map(one))
}

/// Copies `n` bits of words from bit `from` to bit `at` of others, which are 0 there.
fn put(to: &mut [u64], at: usize, words: &[u64], from: u16, n: usize) {
    for i in 0..n {
        let k = usize::from(from) + i;
        to[(at + i) / 64] |= (words[k / 64] >> (k % 64) & 1) << ((at + i) % 64);
    }
}

fn scan(kind: Scan, starts: &Tensor, of: &Tensor) -> Tensor {
    let inner: usize = of.lengths()[1..].iter().product();
    let scalar = of.scalar();
    let mut out = of.clone();
    for row in (1..starts.len()).filter(|row| !starts.truth(*row)) {
        for i in row * inner..(row + 1) * inner {
            if kind == Scan::First {
                let above = out.element(i - inner).to_vec();
                out.element_mut(i).copy_from_slice(&above);
                continue;
            }
            let (above, here) = (out.get(i - inner), of.get(i));
            out.set(
                i,
                match kind {
                    Scan::Sum => above.wrapping_add(here),
                    Scan::Min if less(scalar, above, here) => above,
                    Scan::Max if less(scalar, here, above) => above,
                    _ => here,
                },
            );
        }
    }
    out
}

fn prefix_sum(of: &Tensor, axis: usize) -> Tensor {
    let [outer, n, inner] = around(of.lengths(), axis);
    let mut out = of.clone();
    for o in 0..outer {
        for i in inner..n * inner {
            let at = o * n * inner + i;
            out.set(at, out.get(at).wrapping_add(out.get(at - inner)));
        }
    }
    out
}

fn matmul(a: &Tensor, b: &Tensor, scalar: Scalar, lengths: &[usize]) -> Tensor {
    let k = *a.lengths().last().expect("the checker wants axes");
    let columns = if b.lengths().len() == 2 { b.lengths()[1] } else { 1 };
    let one = |at: usize| {
        let (row, column) = (at / columns, at % columns);
        (0..k).fold(0u128, |sum, i| {
            sum.wrapping_add(a.get(row * k + i).wrapping_mul(b.get(i * columns + column)))
        })
    };
    Tensor::from_words(scalar, lengths, (0..lengths.iter().product()).map(one))
}

fn transpose(of: &Tensor, axes: &[u8], lengths: &[usize]) -> Tensor {
    let strides: Vec<usize> =
        axes.iter().map(|a| of.lengths()[usize::from(*a) + 1..].iter().product()).collect();
    of.picked(lengths, |mut i| {
        let mut from = 0;
        for (length, stride) in lengths.iter().zip(&strides).rev() {
            from += i % length * stride;
            i /= length;
        }
        from
    })
}

/// Axes of length 1 have one element, which every place along them has.
fn repeated(of: &Tensor, lengths: &[usize]) -> Tensor {
    let mut strides = vec![0; lengths.len()];
    let mut stride = 1;
    for (axis, n) in of.lengths().iter().enumerate().rev() {
        strides[axis] = if *n == 1 { 0 } else { stride };
        stride *= n;
    }
    of.picked(lengths, |mut i| {
        let mut from = 0;
        for (length, stride) in lengths.iter().zip(&strides).rev() {
            from += i % length * stride;
            i /= length;
        }
        from
    })
}

fn slice(of: &Tensor, axis: usize, from: usize, lengths: &[usize]) -> Tensor {
    let [_, n, inner] = around(of.lengths(), axis);
    let m = lengths[axis];
    of.picked(lengths, |i| (i / (m * inner) * n + i / inner % m + from) * inner + i % inner)
}

fn concat(of: &[&Tensor], axis: usize, scalar: Scalar, lengths: &[usize]) -> Tensor {
    let [_, all, inner] = around(lengths, axis);
    let mut out = Tensor::zeros(scalar, lengths);
    let mut before = 0;
    for part in of {
        let n = part.lengths()[axis];
        for i in 0..part.len() {
            let to = (i / (n * inner) * all + i / inner % n + before) * inner + i % inner;
            out.element_mut(to).copy_from_slice(part.element(i));
        }
        before += n;
    }
    out
}

/// Whole rows, which is everything behind the first axis.
fn rows(of: &Tensor, lengths: &[usize], from: impl Fn(usize) -> usize) -> Tensor {
    let inner: usize = lengths[1..].iter().product();
    of.picked(lengths, |i| from(i / inner) * inner + i % inner)
}

fn gather(of: &Tensor, places: &Tensor, lengths: &[usize]) -> Result<Tensor, ComputeError> {
    let n = of.lengths()[0];
    let known = |i| places.number(i).and_then(|p| usize::try_from(p).ok()).filter(|p| *p < n);
    let found: Result<Vec<usize>, ComputeError> = (0..places.len())
        .map(|i| {
            known(i).ok_or_else(|| ComputeError::Input {
                input: "places of a gather".into(),
                cause: match places.number(i) {
                    Some(place) => format!("place {place} is none of the {n} rows"),
                    None => format!("element {i} is no number, and so none of the {n} rows"),
                },
                remedy: "count rows from 0".into(),
            })
        })
        .collect();
    let found = found?;
    Ok(rows(of, lengths, |i| found[i]))
}

fn order(keys: &[&Tensor], descending: &[bool]) -> Tensor {
    let n = keys[0].len();
    let mut places: Vec<usize> = (0..n).collect();
    places.sort_by(|x, y| {
        let mut sides = keys.iter().zip(descending).map(|(key, down)| {
            let [x, y] = [*x, *y].map(|i| key.get(i));
            let (x, y) = if *down { (y, x) } else { (x, y) };
            less(key.scalar(), y, x).cmp(&less(key.scalar(), x, y))
        });
        sides.find(|side| side.is_ne()).unwrap_or(std::cmp::Ordering::Equal)
    });
    Tensor::from_words(Scalar::Place, &[n], places.into_iter().map(|p| p as u128))
}

fn compact(flags: &Tensor, of: &Tensor, lengths: &[usize]) -> Tensor {
    let kept: Vec<usize> = (0..flags.len()).filter(|i| flags.truth(*i)).take(lengths[0]).collect();
    let mut found = lengths.to_vec();
    found[0] = kept.len();
    let kept = rows(of, &found, |i| kept[i]);
    let mut out = Tensor::zeros(of.scalar(), lengths);
    (0..kept.len()).for_each(|i| out.element_mut(i).copy_from_slice(kept.element(i)));
    out
}
