//! Windows over rows and columns: convolutions, and pooling.
//!
//! ```text
//! conv2d                one message of results, whatever is summed
//! pool_sum              no message
//! pool_mean             of 2^f elements, none below 0: a truncation; else a division by a public number, once for all windows of a size
//! pool_min, pool_max    along columns, then along rows: a comparison less than a window is long, for each
//! ```

use crate::{
    form::{Form, Held, Ring, Words, known_numbers},
    lower::{Forms, Lower, Lowered, bits, narrow, words},
    machines::{Begun, column},
    picks::Picks,
    plan::{Prim, Slot},
};
use hushwire_aes::Backend;
use hushwire_circuit::Program;
use hushwire_compute::{Node, Op, Reduction, Scalar, Steps, Value};
use hushwire_rep3::{
    Batch, Rep3, ShareError, pool,
    ring::{Column, Conv2d, Factors, Geometry, conv2d_known},
};
use std::{ops::Range, sync::Arc};

/// Windows along one axis.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Along {
    /// Elements.
    n: usize,
    /// Windows.
    windows: usize,
    /// Elements of a window, from one to the next, and outside before the first element.
    size: usize,
    stride: usize,
    before: usize,
}

impl Along {
    /// The elements of a window: one at least.
    fn span(&self, window: usize) -> Range<usize> {
        let first = window * self.stride;
        first.saturating_sub(self.before)..(first + self.size - self.before).min(self.n)
    }

    /// Element `i` of a window, or where that lies outside, the one next to it.
    fn nearest(&self, window: usize, i: usize) -> usize {
        (window * self.stride + i).saturating_sub(self.before).min(self.n - 1)
    }
}

/// Windows over planes, which stand one behind the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pooling {
    planes: usize,
    rows: Along,
    columns: Along,
}

impl Pooling {
    /// From lengths to lengths.
    pub(crate) fn new(from: &[usize], to: &[usize], size: [u32; 2], steps: Steps) -> Pooling {
        let last = from.len() - 2;
        let along = |k: usize| Along {
            n: from[last + k],
            windows: to[last + k],
            size: size[k] as usize,
            stride: steps.strides[k] as usize,
            before: steps.padding[k] as usize,
        };
        Pooling { planes: from[..last].iter().product(), rows: along(0), columns: along(1) }
    }

    /// Windows of all planes.
    pub(crate) fn windows(&self) -> usize {
        self.planes * self.rows.windows * self.columns.windows
    }

    /// The number of elements of each window of a plane.
    fn counts(&self) -> impl Iterator<Item = usize> {
        let Pooling { rows, columns, .. } = *self;
        let count = move |r| (0..columns.windows).map(move |c| rows.span(r).len() * columns.span(c).len());
        (0..rows.windows).flat_map(count)
    }

    fn sum_share<W: Held>(&self, share: &[W]) -> Vec<W> {
        let (height, width) = (self.rows.n, self.columns.n);
        let mut out = Vec::with_capacity(self.windows());
        for plane in 0..self.planes {
            let plane = &share[plane * height * width..][..height * width];
            for row in 0..self.rows.windows {
                for column in 0..self.columns.windows {
                    let lines = plane.chunks_exact(width).skip(self.rows.span(row).start);
                    let lines = lines.take(self.rows.span(row).len());
                    let all = lines.flat_map(|line| &line[self.columns.span(column)]);
                    out.push(all.fold(W::default(), |sum, word| sum.plus(*word)));
                }
            }
        }
        out
    }

    /// The sum of each window.
    pub(crate) fn sums<W: Held>(&self, x: &Words) -> Words {
        let x = W::column(x);
        W::words(Rep3 { own: self.sum_share(&x.own), next: self.sum_share(&x.next) })
    }
}

/// Words in another order of their axes: axis `i` of the result is `axes[i]` of what they are.
fn turned<W: Held>(x: &Column<W>, lengths: [usize; 4], axes: [usize; 4]) -> Column<W> {
    let share = |share: &[W]| turned_share(share, lengths, axes);
    Rep3 { own: share(&x.own), next: share(&x.next) }
}

fn turned_share<W: Held>(from: &[W], lengths: [usize; 4], axes: [usize; 4]) -> Vec<W> {
    /// LOCAL: elements of a tile, so that lines of the cache are used whole either way.
    const TILE: usize = 16;
    let mut steps = [0; 4];
    let mut step = 1;
    for axis in (0..4).rev() {
        (steps[axis], step) = (step, step * lengths[axis]);
    }
    let (to, step) = (axes.map(|axis| lengths[axis]), axes.map(|axis| steps[axis]));
    let mut out = pool::zeros(from.len());
    for outer in 0..to[0] * to[1] {
        let first = outer / to[1] * step[0] + outer % to[1] * step[1];
        let block = &mut out[outer * to[2] * to[3]..][..to[2] * to[3]];
        for (rows, columns) in (0..to[2]).step_by(TILE).flat_map(|r| {
            (0..to[3]).step_by(TILE).map(move |c| (r..to[2].min(r + TILE), c..to[3].min(c + TILE)))
        }) {
            for row in rows {
                let line = &mut block[row * to[3]..][columns.clone()];
                for (column, word) in columns.clone().zip(line) {
                    *word = from[first + row * step[2] + column * step[3]];
                }
            }
        }
    }
    out
}

/// Lengths of pictures, filters and results with channels first, as computations have them, and the axes that bring channels last;
/// of results the lengths are those with channels last, and the axes bring them back.
struct Axes([([usize; 4], [usize; 4]); 3]);

impl Axes {
    fn of(geometry: &Geometry) -> Result<Axes, ShareError> {
        let Geometry { groups, pictures: [batches, height, width, channels], window, filters, .. } =
            *geometry;
        let [down, across] = geometry.windows()?;
        Ok(Axes([
            ([batches, groups, channels, height * width], [1, 0, 3, 2]),
            ([groups, filters, channels, window[0] * window[1]], [0, 3, 2, 1]),
            ([groups, batches, down * across, filters], [1, 0, 3, 2]),
        ]))
    }
}

/// The same where one factor is known: no message.
pub(crate) fn convolved_with_known<W: Held>(
    backend: Backend,
    geometry: &Geometry,
    [x, y]: [&Form; 2],
    left: bool,
) -> Result<Words, ShareError> {
    let Axes([pictures, filters, results]) = Axes::of(geometry)?;
    let z = if left {
        let known = turned_share(&known_numbers::<W>(x.known()), pictures.0, pictures.1);
        let y = turned(W::column(y.words()), filters.0, filters.1);
        conv2d_known(backend, *geometry, Factors::LeftKnown(&known, &y))?
    } else {
        let x = turned(W::column(x.words()), pictures.0, pictures.1);
        let known = turned_share(&known_numbers::<W>(y.known()), filters.0, filters.1);
        conv2d_known(backend, *geometry, Factors::RightKnown(&x, &known))?
    };
    Ok(W::words(turned(&z, results.0, results.1)))
}

/// Channels are last while pictures are convolved: rows of a window are runs of memory then.
pub(crate) fn convolved<'p, W: Held>(
    batch: &mut Batch,
    x: &Words,
    y: &Words,
    geometry: &Geometry,
) -> Begun<'p> {
    let Axes([pictures, filters, results]) = Axes::of(geometry)?;
    let x = turned(W::column(x), pictures.0, pictures.1);
    let y = turned(W::column(y), filters.0, filters.1);
    let machine = Conv2d::<W>::new(batch.context(), *geometry, Arc::new(x), Arc::new(y))?;
    column(machine, move |m| turned(&m.finish(), results.0, results.1))
}

impl Lower<'_> {
    pub(crate) fn conv2d(&mut self, args: &[usize], steps: Steps, groups: u32, ring: Ring) -> Lowered<Forms> {
        let [x, kernels] = [self.lengths(args[0])?, self.lengths(args[1])?];
        let (groups, [above, left, below, right]) =
            (groups as usize, steps.padding.map(|padding| padding as usize));
        let geometry = Geometry {
            groups,
            pictures: [x[0], x[2], x[3], x[1] / groups],
            window: [kernels[2], kernels[3]],
            filters: kernels[0] / groups,
            stride: steps.strides.map(|stride| stride as usize),
            before: [above, left],
            after: [below, right],
        };
        let (reads, left) = self.factors(args, ring)?;
        let prim = left.map_or(Prim::Conv2d(geometry), |left| Prim::Conv2dKnown { geometry, left });
        Ok(words(self.step(prim, reads)))
    }

    pub(crate) fn pool(&mut self, node: &Node, from: usize, to: &[usize]) -> Lowered<Forms> {
        let Op::Pool { reduction, size, steps } = node.op else { unreachable!("pooling") };
        let pooling = Pooling::new(&self.lengths(from)?, to, size, steps);
        match (reduction, self.ring(node.ty.scalar)) {
            _ if pooling.windows() == 0 => self.flat(node, &[from], to),
            (Reduction::Sum, Some(ring)) => {
                let slot = self.words(from, ring)?;
                Ok(words(self.step(Prim::PoolSum(pooling), vec![slot])))
            }
            (Reduction::Mean, Some(ring)) => self.pooled_means(node, from, pooling, ring),
            (Reduction::Min, _) => self.pooled_extremes(&Op::Min, from, pooling),
            (Reduction::Max, _) => self.pooled_extremes(&Op::Max, from, pooling),
            _ => self.flat(node, &[from], to),
        }
    }

    fn pooled_means(&mut self, node: &Node, from: usize, pooling: Pooling, ring: Ring) -> Lowered<Forms> {
        let scalar = self.scalar(from);
        let counts: Vec<usize> = pooling.counts().collect();
        let mut different = counts.clone();
        different.sort_unstable();
        different.dedup();
        if different.iter().any(|count| !divides(scalar, *count)) {
            let to = self.lengths(self.forms.len())?;
            return self.flat(node, &[from], &to);
        }
        let slot = self.words(from, ring)?;
        let sums = self.step(Prim::PoolSum(pooling), vec![slot]);
        if let [count] = different[..] {
            return Ok(self.quotient(sums, from, count));
        }
        // Windows of one size at a time, then all in their places.
        let all = self.step(Prim::to_bits(scalar.bits()), vec![sums]);
        let mut quotients = vec![];
        let mut places = vec![0; pooling.windows()];
        let mut behind = 0;
        for count in different {
            let of_it = |window: &usize| counts[window % counts.len()] == count;
            let windows: Vec<usize> = (0..pooling.windows()).filter(of_it).collect();
            windows.iter().enumerate().for_each(|(i, window)| places[*window] = behind + i);
            behind += windows.len();
            let some = self.pick(Picks::of(&windows), vec![all]);
            quotients.push(self.divided(some, scalar, count));
        }
        Ok(bits(self.pick(Picks::of(&places), quotients)))
    }

    /// Sums of `count` elements of a value, by their number.
    pub(crate) fn quotient(&mut self, sums: Slot, from: usize, count: usize) -> Forms {
        let scalar = self.scalar(from);
        // Of numbers from 0 on, towards 0 is towards −∞.
        let range = self.range(Value(from as u32));
        let natural = !scalar.is_signed()
            || range.is_some_and(|r| {
                let most = r.high.checked_mul(count as i128);
                r.low >= 0 && most.is_some_and(|most| most >> (scalar.bits() - 1) == 0)
            });
        let full = self.ring(scalar).is_some_and(|ring| ring.bits() == scalar.bits());
        if count == 1 {
            return words(sums);
        }
        if count.is_power_of_two() && natural && full && (count.ilog2() as usize) < scalar.bits() {
            let prim = Prim::Truncate { bits: count.ilog2(), signed: scalar.is_signed() };
            return words(self.step(prim, vec![sums]));
        }
        let sums = self.step(Prim::to_bits(scalar.bits()), vec![sums]);
        bits(self.divided(sums, scalar, count))
    }

    /// Bits of numbers divided by a number that all know, towards 0.
    fn divided(&mut self, of: Slot, scalar: Scalar, count: usize) -> Slot {
        if count == 1 {
            return of;
        }
        let whole = Scalar::Int { signed: scalar.is_signed(), bits: scalar.bits() as u8 };
        let block = self.block(&Op::Div, vec![whole; 2], vec![None, Some(count as u128)], whole);
        self.step(Prim::Block(block), vec![of])
    }

    /// The least or the greatest of every window, as they are in bits: of numbers from 0 on, or of all.
    fn pooled_extremes(&mut self, op: &Op, from: usize, pooling: Pooling) -> Lowered<Forms> {
        let forms = self.forms[from];
        if let (Some((slot, width)), None) = (forms.narrow, forms.words) {
            let slot = self.extremes(op, Scalar::unsigned(width as u8), slot, None, pooling);
            return Ok(narrow(slot, width));
        }
        let scalar = self.scalar(from);
        Ok(bits(match (forms.bits, forms.words) {
            (None, Some(slot)) if pooling.columns.stride > 1 => {
                let to_bits = Prim::to_bits(scalar.bits());
                self.extremes(op, scalar, slot, Some(to_bits), pooling)
            }
            _ => {
                let slot = self.bits(from)?;
                self.extremes(op, scalar, slot, None, pooling)
            }
        }))
    }

    /// The least or the greatest of every window, of bits of a scalar or of words that a step brings to such bits. A window that reaches
    /// beyond its plane takes the element at the edge again.
    pub(crate) fn extremes(
        &mut self,
        op: &Op,
        scalar: Scalar,
        mut slot: Slot,
        to_bits: Option<Prim>,
        pooling: Pooling,
    ) -> Slot {
        let Pooling { planes, rows, columns } = pooling;
        // Columns that are a stride apart stand together, so that a window's elements are runs of bits.
        let turn = |column: usize| {
            let (phase, turns) = (column % columns.stride, columns.n % columns.stride);
            phase * (columns.n / columns.stride) + phase.min(turns) + column / columns.stride
        };
        if columns.stride > 1 {
            let turned: Vec<usize> = (0..columns.n).map(turn).collect();
            let mut line = vec![0; columns.n];
            turned.iter().enumerate().for_each(|(c, to)| line[*to] = c);
            slot = self.pick(Picks::of_each(planes * rows.n, columns.n, &line), vec![slot]);
        }
        // Words move faster than bits, and are brought to bits in the order in which they are compared.
        if let Some(to_bits) = to_bits {
            slot = self.step(to_bits, vec![slot]);
        }
        let block = self.block(op, vec![scalar; 2], vec![None; 2], scalar);
        let lines = planes * rows.n;
        let across = (0..columns.size).map(|i| {
            let line: Vec<usize> = (0..columns.windows).map(|c| turn(columns.nearest(c, i))).collect();
            Picks::of_each(lines, columns.n, &line)
        });
        let slot = self.best(&block, slot, across.collect());
        let down = (0..rows.size).map(|i| {
            let each = |r: usize| {
                let first = rows.nearest(r, i) * columns.windows;
                first..first + columns.windows
            };
            let plane: Vec<usize> = (0..rows.windows).flat_map(each).collect();
            Picks::of_each(planes, rows.n * columns.windows, &plane)
        });
        self.best(&block, slot, down.collect())
    }

    /// The least or the greatest of elements of bits, by a block: of those that the lists have in one place.
    fn best(&mut self, block: &Arc<Program>, slot: Slot, lists: Vec<Picks>) -> Slot {
        let mut slots: Vec<Slot> = lists.into_iter().map(|picks| self.pick(picks, vec![slot])).collect();
        while slots.len() > 1 {
            let join = |pair: &[Slot]| match *pair {
                [one, other] => self.step(Prim::Block(block.clone()), vec![one, other]),
                _ => pair[0],
            };
            slots = slots.chunks(2).map(join).collect();
        }
        slots[0]
    }
}

/// Whether a count is a number of the scalar's width, so that one of that width divides by it.
pub(crate) fn divides(scalar: Scalar, count: usize) -> bool {
    let room = scalar.bits() - usize::from(scalar.is_signed());
    room >= 64 || count as u64 >> room == 0
}
