//! Products of two columns, row by row.
//!
//! `z_i = x_i y_i + x_i y_{i+1} + x_{i+1} y_i + α_i`: one round, a word a row (Araki et al. 2016, section 2; the ring version of
//! its AND).

use super::{
    column::{Column, Word},
    gate::{Gate, two_way},
};
use crate::{Context, Rep3, ShareError};
use hushwire_wire::{
    Cost,
    drive::{Exchanged, Round},
};
use std::sync::Arc;

/// One party's half of a product.
pub struct Product<W: Word> {
    cx: Context,
    x: Arc<Column<W>>,
    y: Arc<Column<W>>,
    z: Column<W>,
    done: bool,
    gate: Gate,
}

impl<W: Word> Product<W> {
    /// x y, row by row.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all four shares have as many rows.
    pub fn new(cx: Context, x: Arc<Column<W>>, y: Arc<Column<W>>) -> Result<Self, ShareError> {
        let expected = x.own.len();
        for found in [x.next.len(), y.own.len(), y.next.len()] {
            if found != expected {
                return Err(ShareError::Length { what: "a factor's share", expected, found });
            }
        }
        Ok(Product { cx, x, y, z: Column::zeros(expected), done: expected == 0, gate: Gate::default() })
    }

    /// Shares of the products, after the run.
    #[must_use]
    pub fn finish(self) -> Column<W> {
        self.z
    }

    fn gate(&mut self) -> &mut Gate {
        &mut self.gate
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let ring = Round::even("product of numbers", self.z.rows() * W::BYTES);
        (!self.done).then_some([ring, Round::even(ring.name, 0)])
    }

    fn say(&mut self, slot: usize, out: &mut [u8]) {
        if slot == 0 {
            let Rep3 { own: z, .. } = &mut self.z;
            let (x, y) = (&*self.x, &*self.y);
            for (i, z) in z.iter_mut().enumerate() {
                *z = x.own[i].times(y.own[i].plus(y.next[i])).plus(x.next[i].times(y.own[i]));
            }
            self.cx.add_zeros(0, z);
            z.iter().zip(out.chunks_exact_mut(W::BYTES)).for_each(|(z, out)| z.write(out));
        }
    }

    fn hear(&mut self, [ring, _]: [Exchanged<'_>; 2]) {
        self.z
            .next
            .iter_mut()
            .zip(ring.heard.chunks_exact(W::BYTES))
            .for_each(|(z, heard)| *z = W::read(heard));
        self.done = true;
    }
}

two_way!([W: Word] Product<W>;
    fn cost(&self) -> Option<Cost> {
        Some(Cost { rounds: u64::from(self.z.rows() > 0), bytes_sent: (self.z.rows() * W::BYTES) as u64 })
    }
);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ring::test_support::{open_words, parties, share_words};
    use hushwire_prg::{Prg, Seed};
    use hushwire_wire::drive::Lockstep;

    fn products<W: Word>() {
        for rows in [1, 2, 9, 1000] {
            let mut prg = Prg::new(hushwire_aes::Backend::best(), &Seed::random(), "test");
            let mut numbers = || (0..rows).map(|_| W::of(prg.next_u64())).collect::<Vec<_>>();
            let (x, y) = (numbers(), numbers());
            let [xs, ys] = [&x, &y].map(|v| share_words(&mut prg, v).map(Arc::new));
            let mut machines: Vec<_> = (parties().into_iter().zip(xs).zip(ys))
                .map(|((mut p, x), y)| Product::new(p.next_batch().unwrap().context(), x, y).unwrap())
                .collect();
            Lockstep::new().run(&mut machines).unwrap();
            let z: [Column<W>; 3] =
                machines.into_iter().map(Product::finish).collect::<Vec<_>>().try_into().ok().unwrap();
            let expected: Vec<W> = x.iter().zip(&y).map(|(x, y)| x.times(*y)).collect();
            assert_eq!(open_words(&z), expected);
        }
    }

    #[test]
    fn products_are_products() {
        products::<u8>();
        products::<u16>();
        products::<u32>();
        products::<u64>();
    }
}
