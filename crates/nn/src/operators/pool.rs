//! MaxPool, AveragePool and GlobalAveragePool.

use super::{
    pick,
    prelude::*,
    volumes::{self, Pooling},
};
use crate::{
    onnx::Attribute,
    windows::{Said, span},
};
use hushwire_compute::{Reduction, Steps};

pub(super) const MAX_POOL: Operator = Operator {
    outputs: 2,
    attributes: &["auto_pad", "ceil_mode", "dilations", "kernel_shape", "pads", "storage_order", "strides"],
    error: Bound::EXACT,
    ..Operator::new("MaxPool", "The greatest of each window.", |op, import| {
        if let Some(made) = flat(op, import)? {
            return Ok(made);
        }
        if needs_moves(op, import)? {
            return by_moves(op, import, Pooling::Max);
        }
        let (at, windows, lengths, _) = windows(op, import)?;
        op.made(import, Kind::MaxPool(MaxPool { windows }), vec![at], lengths)
    })
};

pub(super) const AVERAGE_POOL: Operator = Operator {
    attributes: &[
        "auto_pad",
        "ceil_mode",
        "count_include_pad",
        "dilations",
        "kernel_shape",
        "pads",
        "strides",
    ],
    error: Bound::ROUNDED,
    ..Operator::new("AveragePool", "The mean of each window.", |op, import| {
        if let Some(made) = flat(op, import)? {
            return Ok(made);
        }
        let around = op.flag("count_include_pad", false)?;
        if needs_moves(op, import)? {
            return by_moves(op, import, Pooling::Mean(around));
        }
        let (at, windows, lengths, said) = windows(op, import)?;
        let padded = windows.steps.padding.iter().any(|n| *n > 0);
        if around && said.ceil && padded {
            return by_moves(op, import, Pooling::Mean(true));
        }
        let kind = AveragePool { windows, around: around && padded };
        op.made(import, Kind::AveragePool(kind), vec![at], lengths)
    })
};

pub(super) const GLOBAL_AVERAGE_POOL: Operator = Operator {
    error: Bound::ROUNDED,
    ..Operator::new("GlobalAveragePool", "The mean of all rows and columns.", |op, import| {
        let x = op.input(import, 0)?;
        let from = import.lengths_of(&x);
        if from.len() > 2 && from.len() != 4 {
            let plane = vec![from[0], from[1], 1, from[2..].iter().product()];
            let x = pick::reshaped(op, import, x, plane)?;
            let made = op.call(import, "GlobalAveragePool", &[&x], &[])?;
            let to = [&from[..2], &vec![1; from.len() - 2]].concat();
            return pick::reshaped(op, import, made, to);
        }
        let (at, [n, channels, rows, columns]) = op.images(import)?;
        let windows = Pool { size: [rows, columns], steps: Steps::default() };
        let kind = AveragePool { windows, around: false };
        op.made(import, Kind::AveragePool(kind), vec![at], vec![n, channels, 1, 1])
    })
};

pub(super) const GLOBAL_MAX_POOL: Operator = Operator {
    error: Bound::EXACT,
    ..Operator::new("GlobalMaxPool", "The greatest of all rows and columns.", |op, import| {
        let x = op.input(import, 0)?;
        let rank = import.lengths_of(&x).len();
        super::norms::reduced(op, import, "ReduceMax", &x, 2..rank)
    })
};

/// Replaces windows over one axis by windows over rows and columns, with a single row.
fn flat(op: &Reading<'_>, import: &mut Import) -> Result<Option<Known>, Fault> {
    let x = op.input(import, 0)?;
    if import.lengths_of(&x).len() != 3 || op.ints("kernel_shape")?.is_none_or(|size| size.len() != 1) {
        return Ok(None);
    }
    let axes = Known::list(&[2]);
    let x = op.call(import, "Unsqueeze", &[&x, &axes], &[])?;
    let attributes = super::conv::of_rows(op);
    let attributes: Vec<(&str, Attribute)> =
        attributes.iter().map(|(name, of)| (&name[..], of.clone())).collect();
    let made = op.call(import, &op.node.op, &[&x], &attributes)?;
    op.call(import, "Squeeze", &[&made, &axes], &[]).map(Some)
}

/// Windows of pooling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Rows and columns.
    pub size: [usize; 2],
    /// Their strides and padding.
    pub steps: Steps,
}

/// Whether the back ends lack such windows: windows over other than two axes, windows with gaps, or
/// padding larger than a window.
fn needs_moves(op: &Reading<'_>, import: &Import) -> Result<bool, Fault> {
    let lengths = import.lengths_of(&op.input(import, 0)?);
    let dilated = op.ints("dilations")?.is_some_and(|all| all.iter().any(|n| *n != 1));
    if dilated || lengths.len() != 4 {
        return Ok(true);
    }
    let (size, pads) = (op.sizes("kernel_shape", [0; 2])?, op.sizes("pads", [0; 4])?);
    Ok((0..4).any(|k| pads[k] >= size[k % 2]))
}

fn by_moves(op: &Reading<'_>, import: &mut Import, pooling: Pooling) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let windows = volumes::windows(op, &import.lengths_of(&x), None)?;
    volumes::reduced(op, import, &x, &windows, pooling)
}

fn windows(op: &Reading<'_>, import: &Import) -> Result<(usize, Pool, Vec<usize>, Said), Fault> {
    let (at, [n, channels, rows, columns]) = op.images(import)?;
    let size = op.sizes("kernel_shape", [0; 2])?;
    let said = op.said(size)?;
    let (steps, [down, across]) = said.over(&op.place, [rows, columns])?;
    // Implementations disagree on the place of windows that do not cover the plane: some begin
    // before its middle.
    let leaves = |k: usize, n: usize| said.auto.starts_with("SAME") && said.uncovered(k, n) > 1;
    if leaves(0, rows) || leaves(1, columns) {
        let cause =
            format!("its windows with auto_pad {} leave out more than an element of a side", said.auto);
        return Err(op.error(cause, "give pads in place of auto_pad"));
    }
    if (0..4).any(|k| steps.padding[k] as usize >= size[k % 2]) {
        let remedy = "there is less around the plane than a window is wide";
        return Err(op.error(format!("its padding is {:?}", steps.padding), remedy));
    }
    Ok((at, Pool { size, steps }, vec![n, channels, down, across], said))
}

/// The greatest element of each window, without padding.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxPool {
    pub(crate) windows: Pool,
}

impl Definition for MaxPool {
    fn name(&self) -> &'static str {
        "MaxPool"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Keeps
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        maxima(&self.windows, &reads[0], to)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]);
        let size = self.windows.size.map(|n| n as u32);
        Ok(held.with(held.val.pool(Reduction::Max, size, self.windows.steps)))
    }
}

/// The greatest element of each window, first within rows and then among rows. The order does not
/// change the result.
fn maxima(pool: &Pool, x: &Array, to: &[usize]) -> Array {
    let [rows, columns] = [x.lengths[2], x.lengths[3]];
    let [stride, step] = pool.steps.strides.map(|n| n as usize);
    let [above, left] = [0, 1].map(|k| pool.steps.padding[k] as usize);
    let mut out = Array::zeros(to);
    let mut best = vec![0f32; columns];
    for (made, i) in out.data.chunks_exact_mut(to[3].max(1)).zip(0..) {
        let (plane, window) = (i / to[2], i % to[2]);
        best.fill(f32::NEG_INFINITY);
        for row in span(window, pool.size[0], stride, above, rows) {
            let line = &x.data[(plane * rows + row) * columns..][..columns];
            best.iter_mut().zip(line).for_each(|(best, x)| *best = best.max(*x));
        }
        for (made, window) in made.iter_mut().zip(0..) {
            let across = &best[span(window, pool.size[1], step, left, columns)];
            *made = across.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
    }
    out
}

/// The mean of each window.
#[derive(Clone, Debug, PartialEq)]
pub struct AveragePool {
    pub(crate) windows: Pool,
    /// Whether padding counts as elements.
    pub(crate) around: bool,
}

impl AveragePool {
    fn count(&self) -> usize {
        self.windows.size[0] * self.windows.size[1]
    }
}

impl Definition for AveragePool {
    fn name(&self) -> &'static str {
        "AveragePool"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let (pool, x) = (&self.windows, &reads[0]);
        let [rows, columns] = [x.lengths[2], x.lengths[3]];
        let steps = pool.steps;
        let [stride, step] = steps.strides.map(|n| n as usize);
        let mut out = Array::zeros(to);
        for (made, i) in out.data.iter_mut().zip(0..) {
            let (plane, window) = (i / (to[2] * to[3]), i % (to[2] * to[3]));
            let down = span(window / to[3], pool.size[0], stride, steps.padding[0] as usize, rows);
            let across = span(window % to[3], pool.size[1], step, steps.padding[1] as usize, columns);
            let n = if self.around { self.count() } else { down.len() * across.len() };
            let all = down.flat_map(|r| {
                let line = &x.data[(plane * rows + r) * columns..][across.clone()];
                line.iter().copied()
            });
            *made = all.sum::<f32>() / n as f32;
        }
        out
    }

    /// Sums of windows, shifted by the bits of their count. The rest of the division goes into the
    /// scale.
    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let from = site.reads[0];
        let (x, steps) = (lower.value(from), self.windows.steps);
        let size = self.windows.size.map(|n| n as u32);
        if !self.around && steps.padding != [0; 4] {
            // Windows at an edge have fewer elements.
            return Ok(Held::cut_already(x.pool(Reduction::Mean, size, steps), lower.node(from)));
        }
        assert_eq!(site.lengths.len(), 4);
        let bits = self.count().ilog2() as u16;
        let mut sums = x.pool(Reduction::Sum, size, steps);
        if bits > 0 {
            sums = (sums + lower.b.number(lower.nominal(), 1 << (bits - 1))) >> bits;
        }
        let node = lower.classes.fresh();
        let times = self.count() as f64 / f64::from(1u32 << bits);
        let tied = lower.classes.tie(node, lower.node(from), times);
        assert!(tied, "what is fresh is tied to nothing");
        Ok(Held::cut_already(sums, node))
    }

    /// Bounds for the sum of a window, at the scale of its elements.
    fn limits(&self, limits: &Limits<'_>) -> Vec<Limit> {
        let [free, whole] = [limits.room(0) / limits.free, limits.room(0)];
        vec![Limit { read: 0, greatest: limits.own * self.count() as f64, most: free, whole }]
    }

    fn room(&self, room: &Room<'_>) -> f64 {
        room.left(room.own * self.count() as f64, room.reads[0].node, 0.0)
    }
}
