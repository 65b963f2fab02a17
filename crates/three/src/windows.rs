//! Convolutions: one message of results, for any number of summands, and no message if a factor is
//! known.

use crate::{
    form::{Held, RingWords, StepValue, known_numbers},
    machines::{Begun, column},
};
use hushwire_aes::Backend;
use hushwire_rep3::{
    Batch, Rep3, ShareError, pool,
    ring::{Column, Conv2d, Factors, Geometry, conv2d_known},
};
use std::sync::Arc;

/// Words with their axes permuted: axis `i` of the result is `axes[i]` of `x`.
fn turned<W: Held>(x: &Column<W>, lengths: [usize; 4], axes: [usize; 4]) -> Column<W> {
    let share = |share: &[W]| turned_share(share, lengths, axes);
    Rep3 { own: share(&x.own), next: share(&x.next) }
}

fn turned_share<W: Held>(from: &[W], lengths: [usize; 4], axes: [usize; 4]) -> Vec<W> {
    /// LOCAL: the elements of a tile. Reads and writes then use whole cache lines.
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

/// For pictures and filters, the lengths with channels first, as in computations, and the axes that
/// move channels last. For results, the lengths with channels last, and the axes that move channels
/// first again.
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

/// The same with one known factor, which needs no message.
pub(crate) fn convolved_with_known<W: Held>(
    backend: Backend,
    geometry: &Geometry,
    [x, y]: [&StepValue; 2],
    left: bool,
) -> Result<RingWords, ShareError> {
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

/// Channels are last in a convolution, because the rows of a window are then contiguous in memory.
pub(crate) fn convolved<'p, W: Held>(
    batch: &mut Batch,
    x: &RingWords,
    y: &RingWords,
    geometry: &Geometry,
) -> Begun<'p> {
    let Axes([pictures, filters, results]) = Axes::of(geometry)?;
    let x = turned(W::column(x), pictures.0, pictures.1);
    let y = turned(W::column(y), filters.0, filters.1);
    let machine = Conv2d::<W>::new(batch.context(), *geometry, Arc::new(x), Arc::new(y))?;
    column(machine, move |m| turned(&m.finish(), results.0, results.1))
}
