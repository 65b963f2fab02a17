//! Node after node to stages.

use super::{
    arith,
    columns::{self, Series},
    permutation::Permutation,
    stages::{Reg, Stages},
};
use crate::{
    Computation, ComputeError, Node, Op, Scalar, Scan, Tensor,
    eval::compute,
    windows::{Convolution, pooled},
};
use hushwire_circuit::{Program, words};
use std::collections::BTreeMap;

/// A lowered value.
#[derive(Clone)]
enum Value {
    /// Known to all: blocks have it built in.
    Known(Tensor),
    /// A register for each bit, element after element.
    Bits(Vec<Reg>),
    /// A permutation of rows.
    Order(Permutation),
}

struct Lower<'a> {
    computation: &'a Computation,
    stages: Stages,
    values: Vec<Value>,
}

/// The program of a computation without symbols, of at most so many registers.
pub(super) fn lower(computation: &Computation, most: usize) -> Result<Program, ComputeError> {
    let mut lower = Lower { computation, stages: Stages::new(most), values: vec![] };
    let mut inputs = vec![];
    for node in computation.nodes() {
        if matches!(node.op, Op::Input(_)) {
            // Inputs come first in canonical order, and with them their registers.
            let bits = lengths(node)?.iter().product::<usize>().checked_mul(node.ty.scalar.bits());
            let registers = lower.stages.registers(bits.unwrap_or(usize::MAX))?;
            inputs.push(registers.len());
            lower.values.push(Value::Bits(registers.collect()));
            continue;
        }
        let value = lower.node(node)?;
        lower.values.push(value);
    }
    let outputs = computation
        .outputs()
        .iter()
        .map(|o| lower.bits(o.value.0 as usize))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(lower.stages.program(computation.name(), inputs, &outputs))
}

fn lengths(node: &Node) -> Result<Vec<usize>, ComputeError> {
    node.ty.shape.lengths().filter(|_| node.ty.shape.elements().is_some()).ok_or_else(|| {
        ComputeError::ty(
            format!("a value has the shape {}", node.ty.shape),
            "bind all symbols before, to lengths that fit",
        )
    })
}

/// Elements of a series along an axis, and where each series' element stands.
fn series(lengths: &[usize], axis: usize) -> (usize, Vec<Vec<usize>>) {
    let (outer, n, inner) = (
        lengths[..axis].iter().product::<usize>(),
        lengths[axis],
        lengths[axis + 1..].iter().product::<usize>(),
    );
    let one = |k: usize| (0..n).map(|i| (k / inner * n + i) * inner + k % inner).collect();
    (n, (0..outer * inner).map(one).collect())
}

impl Lower<'_> {
    fn node_of(&self, at: usize) -> &Node {
        &self.computation.nodes()[at]
    }

    fn scalar(&self, at: usize) -> Scalar {
        self.node_of(at).ty.scalar
    }

    fn lengths(&self, at: usize) -> Result<Vec<usize>, ComputeError> {
        lengths(self.node_of(at))
    }

    /// The registers of a value; constants and permutations get some.
    fn bits(&mut self, at: usize) -> Result<Vec<Reg>, ComputeError> {
        let bits = match self.values[at].clone() {
            Value::Bits(bits) => return Ok(bits),
            Value::Known(tensor) => {
                let width = tensor.scalar().bits();
                self.stages.room(tensor.len(), width)?;
                let bit = |k: usize| tensor.element(k / width)[k % width / 64] >> (k % width % 64) & 1 == 1;
                let bits: Vec<bool> = (0..tensor.len() * width).map(bit).collect();
                self.stages.constants(&bits)?
            }
            Value::Order(order) => {
                let numbers = self.stages.numbers(order.rows, 64)?;
                return order.apply(&mut self.stages, 64, &numbers);
            }
        };
        self.values[at] = Value::Bits(bits.clone());
        Ok(bits)
    }

    /// A value's elements, `width` registers each.
    fn elements(&mut self, at: usize) -> Result<Vec<Vec<Reg>>, ComputeError> {
        let width = self.scalar(at).bits();
        Ok(self.bits(at)?.chunks_exact(width).map(<[Reg]>::to_vec).collect())
    }

    fn order(&self, at: usize) -> &Permutation {
        match &self.values[at] {
            Value::Order(order) => order,
            _ => unreachable!("only permutations have that scalar"),
        }
    }

    fn node(&mut self, node: &Node) -> Result<Value, ComputeError> {
        let to = lengths(node)?;
        let args: Vec<usize> = node.arguments.iter().map(|v| v.0 as usize).collect();
        let known: Option<Vec<&Tensor>> = args
            .iter()
            .map(|a| match &self.values[*a] {
                Value::Known(tensor) => Some(tensor),
                _ => None,
            })
            .collect();
        if let Some(known) = known
            && node.ty.scalar != Scalar::Place
        {
            return compute(&node.op, &known, node.ty.scalar, &to).map(Value::Known);
        }
        let bits = match &node.op {
            Op::Input(_) | Op::Constant(_) => unreachable!("inputs have registers, and constants are known"),
            Op::Reduce(reduction, axis) => {
                let (scalar, (n, places)) =
                    (self.scalar(args[0]), series(&self.lengths(args[0])?, usize::from(*axis)));
                if n == 0 {
                    let nothing = Tensor::zeros(scalar, &self.lengths(args[0])?);
                    return compute(&node.op, &[&nothing], node.ty.scalar, &to).map(Value::Known);
                }
                let elements = self.elements(args[0])?;
                let all = places.iter().map(|s| s.iter().map(|i| elements[*i].clone()).collect()).collect();
                columns::reduce(&mut self.stages, *reduction, scalar, all)?
            }
            Op::PrefixSum(axis) => {
                let elements = self.elements(args[0])?;
                let (_, places) = series(&self.lengths(args[0])?, usize::from(*axis));
                let all = places.iter().map(|s| s.iter().map(|i| elements[*i].clone()).collect()).collect();
                let network = columns::shallow(self.lengths(args[0])?[usize::from(*axis)]);
                let sums = columns::prefixes(
                    &mut self.stages,
                    node.ty.scalar.bits(),
                    all,
                    &network,
                    words::add_mod,
                )?;
                let mut made = elements;
                for (series, places) in sums.into_iter().zip(places) {
                    series.into_iter().zip(places).for_each(|(sum, i)| made[i] = sum);
                }
                made.concat()
            }
            Op::Scan(kind) => self.scan(*kind, args[0], args[1])?,
            Op::Conv2d { steps, groups } => {
                let [x, kernels] = [self.lengths(args[0])?, self.lengths(args[1])?];
                let convolution = Convolution::new(&x, &kernels, *steps, *groups);
                let [x, kernels] = [self.elements(args[0])?, self.elements(args[1])?];
                let windows = (0..to.iter().product()).map(|at| convolution.factors(at).unzip());
                let windows: Vec<(Vec<usize>, Vec<usize>)> = windows.collect();
                let width = node.ty.scalar.bits();
                self.by_length(
                    &windows,
                    |(x, _)| x.len(),
                    width,
                    |lower, windows| {
                        let series = |places: &[usize], all: &[Vec<Reg>]| {
                            places.iter().map(|i| all[*i].clone()).collect::<Series>()
                        };
                        let pairs: Vec<_> = windows
                            .iter()
                            .map(|(x_at, k_at)| (series(x_at, &x), series(k_at, &kernels)))
                            .collect();
                        if pairs[0].0.is_empty() {
                            return lower.stages.constants(&vec![false; pairs.len() * width]);
                        }
                        columns::dots(&mut lower.stages, width, &pairs)
                    },
                )?
            }
            Op::Pool { reduction, size, steps } => {
                let lengths = self.lengths(args[0])?;
                let windows = (0..to.iter().product()).map(|at| pooled(&lengths, *size, *steps, at));
                let windows: Vec<Vec<usize>> = windows.collect();
                let (elements, scalar) = (self.elements(args[0])?, node.ty.scalar);
                self.by_length(&windows, Vec::len, scalar.bits(), |lower, windows| {
                    let series = |places: &&Vec<usize>| places.iter().map(|i| elements[*i].clone()).collect();
                    let all = windows.iter().map(series).collect();
                    columns::reduce(&mut lower.stages, *reduction, scalar, all)
                })?
            }
            Op::MatMul => self.matmul(args[0], args[1], node.ty.scalar.bits())?,
            Op::Order { descending } => return self.sorting(&args, descending, to[0]).map(Value::Order),
            Op::Meet { .. } => {
                return self.sorting(&args, &vec![false; args.len()], to[0]).map(Value::Order);
            }
            Op::Invert => return Ok(Value::Order(self.order(args[0]).inverted())),
            Op::Permute if node.ty.scalar == Scalar::Place => {
                return Ok(Value::Order(self.order(args[0]).then(self.order(args[1]))));
            }
            Op::Permute => {
                let (rows, order) = (self.bits(args[0])?, self.order(args[1]).clone());
                let width = rows.len().checked_div(order.rows).unwrap_or(0);
                order.apply(&mut self.stages, width, &rows)?
            }
            Op::Compact { rows } => self.compact(args[0], args[1], *rows as usize)?,
            Op::Reveal(_) if node.ty.scalar == Scalar::Place => {
                return Ok(Value::Order(self.order(args[0]).clone()));
            }
            Op::Broadcast(_)
            | Op::Reshape(_)
            | Op::Transpose(_)
            | Op::Slice { .. }
            | Op::Concat(_)
            | Op::Gather
            | Op::Reveal(_) => self.moved(node, &args, &to)?,
            op => self.each(op, &args, node.ty.scalar, to.iter().product())?,
        };
        Ok(Value::Bits(bits))
    }

    /// Operations that move elements: the evaluator moves their numbers instead.
    fn moved(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Result<Vec<Reg>, ComputeError> {
        let mut elements = vec![];
        let mut numbers = vec![];
        let rows = if node.op == Op::Gather { &args[..1] } else { args };
        for at in rows {
            let first = elements.len();
            elements.extend(self.elements(*at)?);
            let lengths = self.lengths(*at)?;
            numbers.push(Tensor::from_words(
                Scalar::unsigned(64),
                &lengths,
                (first..elements.len()).map(|i| i as u128),
            ));
        }
        if node.op == Op::Gather {
            let Value::Known(places) = &self.values[args[1]] else {
                return Err(ComputeError::ty(
                    "the places of a `gather` are an input",
                    "a circuit takes constants alone",
                ));
            };
            numbers.push(places.clone());
        }
        let moved = compute(&node.op, &numbers.iter().collect::<Vec<_>>(), Scalar::unsigned(64), to)?;
        Ok((0..moved.len()).flat_map(|i| elements[moved.get(i) as usize].clone()).collect())
    }

    /// Element by element; single numbers that all know become part of the block.
    fn each(&mut self, op: &Op, args: &[usize], to: Scalar, n: usize) -> Result<Vec<Reg>, ComputeError> {
        let scalars: Vec<Scalar> = args.iter().map(|a| self.scalar(*a)).collect();
        let single = |value: &Value| match value {
            Value::Known(tensor) if tensor.lengths().is_empty() && tensor.scalar().bits() <= 128 => {
                Some(tensor.get(0))
            }
            _ => None,
        };
        let fixed: Vec<Option<u128>> = args.iter().map(|a| single(&self.values[*a])).collect();
        let mut wired = vec![];
        for (a, _) in args.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none()) {
            let one = self.lengths(*a)?.is_empty();
            wired.push((self.elements(*a)?, one));
        }
        let reads = (0..n)
            .flat_map(|i| wired.iter().flat_map(move |(all, one)| all[if *one { 0 } else { i }].clone()))
            .collect();
        let wide = scalars.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none()).map(|(s, _)| s.bits());
        let widths: Vec<usize> = wide.collect();
        self.stages.run(n, &widths, reads, |b, inputs| {
            let mut inputs = inputs.iter();
            let operands: Vec<_> = fixed
                .iter()
                .zip(&scalars)
                .map(|(fixed, scalar)| match fixed {
                    Some(number) => words::constant(*number, scalar.bits()),
                    None => inputs.next().expect("an input for each that is not fixed").clone(),
                })
                .collect();
            arith::element(b, op, &scalars, &operands, to)
        })
    }

    /// Makes each of `all` by its length: those of one length are made together. `width` registers for each.
    fn by_length<T>(
        &mut self,
        all: &[T],
        length: impl Fn(&T) -> usize,
        width: usize,
        mut make: impl FnMut(&mut Self, &[&T]) -> Result<Vec<Reg>, ComputeError>,
    ) -> Result<Vec<Reg>, ComputeError> {
        let mut kinds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        all.iter().enumerate().for_each(|(at, one)| kinds.entry(length(one)).or_default().push(at));
        let mut out = vec![0; all.len() * width];
        for places in kinds.values() {
            let made = make(self, &places.iter().map(|at| &all[*at]).collect::<Vec<_>>())?;
            for (at, made) in places.iter().zip(made.chunks_exact(width)) {
                out[at * width..][..width].copy_from_slice(made);
            }
        }
        Ok(out)
    }

    fn scan(&mut self, kind: Scan, starts: usize, of: usize) -> Result<Vec<Reg>, ComputeError> {
        let (flags, bits, scalar) = (self.bits(starts)?, self.bits(of)?, self.scalar(of));
        let Some(width) = bits.len().checked_div(flags.len()).filter(|w| *w > 0) else { return Ok(bits) };
        let row = |(flag, row): (&Reg, &[Reg])| [&[*flag][..], row].concat();
        let rows = flags.iter().zip(bits.chunks_exact(width)).map(row).collect();
        let made = columns::scan(&mut self.stages, kind, scalar, width / scalar.bits(), rows)?;
        Ok(made.iter().flat_map(|row| row[1..].iter().copied()).collect())
    }

    fn matmul(&mut self, a: usize, b: usize, width: usize) -> Result<Vec<Reg>, ComputeError> {
        let (la, lb) = (self.lengths(a)?, self.lengths(b)?);
        let k = la[la.len() - 1];
        let (rows, cols) =
            (la.iter().product::<usize>().checked_div(k), if lb.len() == 2 { lb[1] } else { 1 });
        let rows = rows.unwrap_or_else(|| if la.len() == 2 { la[0] } else { 1 });
        if k == 0 {
            return self.stages.constants(&vec![false; rows * cols * width]);
        }
        let (x, y) = (self.elements(a)?, self.elements(b)?);
        let pair = |at: usize| {
            let (r, c) = (at / cols, at % cols);
            (
                (0..k).map(|i| x[r * k + i].clone()).collect(),
                (0..k).map(|i| y[i * cols + c].clone()).collect(),
            )
        };
        let pairs: Vec<_> = (0..rows * cols).map(pair).collect();
        columns::dots(&mut self.stages, width, &pairs)
    }

    /// The keys as one unsigned number a row: the first key on top, signs turned, and all bits turned that count down.
    fn sorting(
        &mut self,
        args: &[usize],
        descending: &[bool],
        rows: usize,
    ) -> Result<Permutation, ComputeError> {
        let widths: Vec<usize> = args.iter().map(|a| self.scalar(*a).bits()).collect();
        let signed: Vec<bool> = args.iter().map(|a| self.scalar(*a).is_signed()).collect();
        let keys = args.iter().map(|a| self.elements(*a)).collect::<Result<Vec<_>, _>>()?;
        let reads = (0..rows).flat_map(|r| keys.iter().flat_map(move |key| key[r].clone())).collect();
        let made = self.stages.run(rows, &widths, reads, |b, keys| {
            let mut out = vec![];
            for ((key, down), signed) in keys.iter().zip(descending).zip(&signed).rev() {
                for (i, bit) in key.iter().enumerate() {
                    let sign = *signed && i == key.len() - 1;
                    out.push(if *down == sign { *bit } else { b.not(*bit) });
                }
            }
            out
        })?;
        Permutation::sorting(&mut self.stages, rows, widths.iter().sum(), &made)
    }

    fn compact(&mut self, flags: usize, of: usize, kept: usize) -> Result<Vec<Reg>, ComputeError> {
        let (flags, rows) = (self.bits(flags)?, self.bits(of)?);
        let n = flags.len();
        let width = match n {
            0 => self.lengths(of)?[1..].iter().product::<usize>() * self.scalar(of).bits(),
            n => rows.len() / n,
        };
        let turned = self.stages.run(n, &[1], flags.clone(), |b, flag| vec![b.not(flag[0][0])])?;
        let order = Permutation::sorting(&mut self.stages, n, 1, &turned)?;
        let both: Vec<Reg> =
            (0..n).flat_map(|r| [&flags[r..=r], &rows[r * width..][..width]].concat()).collect();
        let sorted = order.apply(&mut self.stages, 1 + width, &both)?;
        let stay = kept.min(n);
        let cleared = self.stages.run(
            if width == 0 { 0 } else { stay },
            &[1, width],
            sorted[..stay * (1 + width)].to_vec(),
            |b, row| words::and_bit(b, row[0][0], &row[1]),
        )?;
        let zero = self.stages.zero()?;
        Ok(cleared.into_iter().chain(core::iter::repeat(zero)).take(kept * width).collect())
    }
}
