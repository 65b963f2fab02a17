//! The operations on shares. Each party calls them with its own shares, in the same order.
//!
//! Numbers are shared as x = x_0 + x_1 modulo 2^ℓ, bits as b = b_0 ⊕ b_1. Each bit is in a byte of
//! its own.

use crate::{
    TwoError,
    compare::{ComparePart, half},
    kit::{ChosenOts, Kit, OtRun, OtSide},
    ring::{Holders, mask},
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, Program};
use hushwire_gmw::{CircuitBatch, CircuitWorkspace, Stock};
use hushwire_machine::drive::{Exchanged, Machine};
use std::sync::Arc;

pub(crate) type Operated<T> = Result<T, TwoError>;

/// The shape of a product of matrices: `rows` × `inner` by `inner` × `columns`.
pub(crate) type MatrixShape = [usize; 3];

impl Kit {
    /// Whether this party is the sender in a row. Each party is the sender in half of the rows.
    fn sends(&self, row: usize, rows: usize) -> bool {
        (row < half(rows)) == (self.index == 0)
    }

    /// The rows in which this party sends, and those in which it receives.
    fn turns(&self, rows: usize) -> [std::ops::Range<usize>; 2] {
        let [a, b] = [0..half(rows), half(rows)..rows];
        if self.index == 0 { [a, b] } else { [b, a] }
    }

    /// The highest bits of numbers with `ring` bits.
    pub(crate) async fn signs(&mut self, x: &[u64], ring: u32) -> Wiped<Vec<u8>> {
        let mut signs = self.carries(x, &[ComparePart::order(ring - 1)]).await.remove(0).greater;
        signs.iter_mut().zip(x).for_each(|(sign, x)| *sign ^= (x >> (ring - 1) & 1) as u8);
        signs
    }

    /// x < y, if every difference is a signed number of the ring.
    pub(crate) async fn less_bounded(&mut self, x: &[u64], y: &[u64], ring: u32) -> Wiped<Vec<u8>> {
        self.signs(&minus(x, y, ring), ring).await
    }

    /// x < y, for any numbers of the ring.
    pub(crate) async fn less(&mut self, x: &[u64], y: &[u64], ring: u32, signed: bool) -> Wiped<Vec<u8>> {
        let all = Wiped::new([&minus(x, y, ring)[..], x, y].concat());
        let signs = self.signs(&all, ring).await;
        let n = x.len();
        let (d, x, y) = (&signs[..n], &signs[n..2 * n], &signs[2 * n..]);
        // If the signs are equal, the sign of the difference decides, else the sign of one number.
        let one = if signed { x } else { y };
        let u: Wiped<Vec<u8>> = Wiped::new(x.iter().zip(y).map(|(x, y)| x ^ y).collect());
        let v: Wiped<Vec<u8>> = Wiped::new(d.iter().zip(one).map(|(d, s)| d ^ s).collect());
        let mut less = self.and(&u, &v, &[OtRun { count: n, width: 1 }]).await;
        less.iter_mut().zip(d).for_each(|(less, d)| *less ^= d);
        less
    }

    /// x = y.
    pub(crate) async fn equal(&mut self, x: &[u64], y: &[u64], ring: u32) -> Wiped<Vec<u8>> {
        // x − y = d_S + d_R is 0 if d_S = −d_R.
        let mut own = minus(x, y, ring);
        for (i, d) in own.iter_mut().enumerate() {
            *d = if self.sends(i, x.len()) { *d } else { d.wrapping_neg() & mask(ring) };
        }
        let part = ComparePart { from: 0, bits: ring, equal: true };
        self.compare(&own, &[part]).await.remove(0).equal.expect("it was asked for")
    }

    /// The same signed numbers in a ring with one more bit. With u = x + 2^(ℓ−1), which is
    /// nonnegative, u = u_0 + u_1 − 2^ℓ w. Only w modulo 2 matters modulo 2^(ℓ+1), so the shares of
    /// the bit w can be used as shares of the number.
    pub(crate) async fn widen(&mut self, x: &[u64], ring: u32) -> Wiped<Vec<u64>> {
        let offset = if self.index == 0 { 1 << (ring - 1) } else { 0 };
        let u: Wiped<Vec<u64>> = Wiped::new(x.iter().map(|x| x.wrapping_add(offset) & mask(ring)).collect());
        let wraps = self.carries(&u, &[ComparePart::order(ring)]).await.remove(0).greater;
        let one = |(u, w): (&u64, &u8)| (u | u64::from(*w) << ring).wrapping_sub(offset) & mask(ring + 1);
        Wiped::new(u.iter().zip(&wraps[..]).map(one).collect())
    }

    /// The products b·x of shared bits and numbers. Two OTs for each row, one in each direction.
    pub(crate) async fn times_bit(&mut self, b: &[u8], x: &[u64], ring: u32) -> Operated<Wiped<Vec<u64>>> {
        let chosen = self.choose(b, x.len()).await;
        self.times_bit_of(chosen, b, x, ring).await
    }

    /// The same with OTs after the exchange of choices, which are the bits.
    pub(crate) async fn times_bit_of(
        &mut self,
        chosen: ChosenOts,
        b: &[u8],
        x: &[u64],
        ring: u32,
    ) -> Operated<Wiped<Vec<u64>>> {
        // b x_0 = b_0 x_0 + b_1 (1 − 2 b_0) x_0, and the same for x_1.
        let part = |bit: u8, x: u64| u64::from(bit).wrapping_neg() & x;
        let mut sum: Wiped<Vec<u64>> = Wiped::new(b.iter().zip(x).map(|(b, x)| part(*b, *x)).collect());
        let run = [OtRun { count: x.len(), width: ring }];
        let corr = |g: usize, vector: &mut [u64]| vector[0] = x[g].wrapping_sub(part(b[g], x[g]) << 1);
        let put = |_, g: usize, shares: &[u64]| sum[g] = sum[g].wrapping_add(shares[0]) & mask(ring);
        self.products_of(chosen, b, [&run, &run], 1, corr, put).await?;
        Ok(sum)
    }

    /// The first number if the bit is 1, else the second.
    pub(crate) async fn choose_by(
        &mut self,
        b: &[u8],
        x: &[u64],
        y: &[u64],
        ring: u32,
    ) -> Operated<Wiped<Vec<u64>>> {
        let moved = self.times_bit(b, &minus(x, y, ring), ring).await?;
        Ok(plus(&moved, y, ring))
    }

    /// Signed numbers with negative ones replaced by 0. A test of x > 0 would cost the same: one
    /// comparison and a product.
    pub(crate) async fn relu(&mut self, x: &[u64], ring: u32) -> Operated<Wiped<Vec<u64>>> {
        let mut keep = self.signs(x, ring).await;
        if self.index == 0 {
            keep.iter_mut().for_each(|b| *b ^= 1);
        }
        self.times_bit(&keep, x, ring).await
    }

    /// Products of one bit of each party, for each of `rows` rows of each run, modulo 2^width. The
    /// sender's bit is the number, and the receiver's bit is the choice.
    pub(crate) async fn bits_by_bits(
        &mut self,
        bits: &[&[u8]],
        widths: &[u32],
    ) -> Operated<Vec<Wiped<Vec<u64>>>> {
        let (choices, sends) = self.bit_choices(bits, widths);
        let chosen = self.choose(&choices, sends).await;
        self.bits_by_bits_of(chosen, &choices, bits, widths).await
    }

    /// The choices for [`Kit::bits_by_bits`], and the number of OTs that this party sends.
    pub(crate) fn bit_choices(&self, bits: &[&[u8]], widths: &[u32]) -> (Wiped<Vec<u8>>, usize) {
        let [sent, received] = self.turns(bits.first().map_or(0, |b| b.len()));
        let used = || bits.iter().zip(widths).filter(|(_, width)| **width > 0);
        let choices: Vec<&[u8]> = used().map(|(bits, _)| &bits[received.clone()]).collect();
        (Wiped::new(choices.concat()), used().count() * sent.len())
    }

    /// [`Kit::bits_by_bits`] with OTs after the exchange of choices.
    pub(crate) async fn bits_by_bits_of(
        &mut self,
        chosen: ChosenOts,
        choices: &[u8],
        bits: &[&[u8]],
        widths: &[u32],
    ) -> Operated<Vec<Wiped<Vec<u64>>>> {
        let rows = bits.first().map_or(0, |b| b.len());
        let [sent, received] = self.turns(rows);
        let used: Vec<usize> = (0..bits.len()).filter(|k| widths[*k] > 0).collect();
        let runs = |count: usize| -> Vec<OtRun> {
            used.iter().map(|k| OtRun { count, width: widths[*k] }).collect()
        };
        let mut out = vec![Wiped::new(vec![0; rows]); bits.len()];
        let corr = |g: usize, vector: &mut [u64]| {
            vector[0] = u64::from(bits[used[g / sent.len()]][sent.start + g % sent.len()]);
        };
        let put = |side, g: usize, shares: &[u64]| {
            let of = if side == OtSide::Sent { &sent } else { &received };
            out[used[g / of.len()]][of.start + g % of.len()] = shares[0];
        };
        let (out_runs, in_runs) = (runs(sent.len()), runs(received.len()));
        self.products_of(chosen, choices, [&out_runs, &in_runs], 1, corr, put).await?;
        Ok(out)
    }

    /// Numbers from their bits, the lowest first. One OT for each bit except the ring's highest, in
    /// each direction for half of the rows.
    pub(crate) async fn words_of(&mut self, bits: &[&[u8]], ring: u32) -> Operated<Wiped<Vec<u64>>> {
        let bits = &bits[..bits.len().min(ring as usize)];
        let widths: Vec<u32> = (0..bits.len() as u32).map(|i| ring - 1 - i).collect();
        let products = self.bits_by_bits(bits, &widths).await?;
        let mut out = Wiped::new(vec![0u64; bits.first().map_or(0, |b| b.len())]);
        for (i, (bit, product)) in bits.iter().zip(products).enumerate() {
            for ((out, bit), product) in out.iter_mut().zip(*bit).zip(&product[..]) {
                // The number is b_0 + b_1 − 2 b_0 b_1.
                let number = u64::from(*bit).wrapping_sub(product << 1);
                *out = out.wrapping_add(number << i) & mask(ring);
            }
        }
        Ok(out)
    }

    /// Products of matrices modulo 2^ring. Each factor may be private to one party. The factor with
    /// fewer elements provides the choices.
    pub(crate) async fn matmul(
        &mut self,
        [a, b]: [&[u64]; 2],
        shape: MatrixShape,
        holders: [Holders; 2],
        ring: u32,
    ) -> Operated<Wiped<Vec<u64>>> {
        let [rows, inner, columns] = shape;
        let mut out = Wiped::new(local_matmul(a, b, shape, ring));
        let crossed = if columns > rows {
            // (A B)ᵀ = Bᵀ Aᵀ. So fewer choices have longer vectors.
            let [left, right] = [transposed(b, inner, columns), transposed(a, rows, inner)];
            let [of_a, of_b] = holders;
            let turned = self.crossed([&left, &right], [columns, inner, rows], [of_b, of_a], ring).await?;
            transposed(&turned, columns, rows)
        } else {
            self.crossed([a, b], shape, holders, ring).await?
        };
        out.iter_mut().zip(&crossed[..]).for_each(|(out, t)| *out = out.wrapping_add(*t) & mask(ring));
        Ok(out)
    }

    /// A_0 B_1 + A_1 B_0: the bits of B are choices.
    async fn crossed(
        &mut self,
        [a, b]: [&[u64]; 2],
        [rows, inner, columns]: MatrixShape,
        holders: [Holders; 2],
        ring: u32,
    ) -> Operated<Wiped<Vec<u64>>> {
        // The vectors are columns of A. So are those of the result.
        let columns_of_a = transposed(a, rows, inner);
        let mut out = Wiped::new(vec![0u64; rows * columns]);
        let vector = |entry: usize| &columns_of_a[entry / columns * rows..][..rows];
        let place = |entry: usize| entry % columns * rows;
        self.by_bits(b, rows, holders, ring, (vector, place), &mut out).await?;
        Ok(transposed(&out, columns, rows))
    }

    /// Multiplies each number in `b` by a vector of `each` numbers of the other party. Adds the
    /// products to `out` from the number's place on. The bits of numbers are choices.
    async fn by_bits<'a>(
        &mut self,
        b: &[u64],
        each: usize,
        holders: [Holders; 2],
        ring: u32,
        (vector, place): (impl Fn(usize) -> &'a [u64], impl Fn(usize) -> usize),
        out: &mut [u64],
    ) -> Operated<()> {
        let (me, peer, n) = (self.index, 1 - self.index, b.len());
        let runs = |is: bool| -> Vec<OtRun> {
            if is { (0..ring).map(|i| OtRun { count: n, width: ring - i }).collect() } else { vec![] }
        };
        let receives = holders[1][me] && holders[0][peer];
        let sends = holders[0][me] && holders[1][peer];
        let mut choices = Wiped::new(vec![]);
        if receives {
            choices.reserve_exact(n * ring as usize);
            choices.extend((0..ring).flat_map(|i| b.iter().map(move |b| (b >> i & 1) as u8)));
        }
        let corr = |g: usize, own: &mut [u64]| own.copy_from_slice(vector(g % n));
        let put = |_, g: usize, shares: &[u64]| {
            let row = out[place(g % n)..][..each].iter_mut();
            row.zip(shares).for_each(|(out, share)| *out = out.wrapping_add(share << (g / n)));
        };
        let (sent, received) = (runs(sends), runs(receives));
        self.products(&choices, [&sent, &received], each, corr, put).await?;
        out.iter_mut().for_each(|out| *out &= mask(ring));
        Ok(())
    }

    /// Products of rows of numbers with one factor for each row. All rows have the same length. The
    /// bits of factors are choices.
    pub(crate) async fn multiply(
        &mut self,
        rows: &[u64],
        factors: &[u64],
        holders: [Holders; 2],
        ring: u32,
    ) -> Operated<Wiped<Vec<u64>>> {
        let each = rows.len().checked_div(factors.len()).unwrap_or(1);
        let own = rows.iter().enumerate().map(|(at, x)| x.wrapping_mul(factors[at / each]));
        let mut out: Wiped<Vec<u64>> = Wiped::new(own.collect());
        let vector = |row: usize| &rows[row * each..][..each];
        self.by_bits(factors, each, holders, ring, (vector, |row| row * each), &mut out).await?;
        Ok(out)
    }

    /// A circuit on shared bits, with as many rows as the planes have.
    pub(crate) async fn circuit(
        &mut self,
        program: Arc<Program>,
        inputs: &Planes,
        stock: Stock,
    ) -> Operated<Planes> {
        if inputs.instances() == 0 {
            return Ok(Planes::zeros(program.output_bits(), 0));
        }
        let ws = CircuitWorkspace::default();
        let mut batch = CircuitBatch::new(self.backend(), self.index, &program, inputs, stock, ws);
        self.machine(&mut batch).await?;
        Ok(batch.output())
    }

    /// Runs any machine with one slot, as a part of a protocol.
    async fn machine<M: Machine<Error: Into<TwoError>>>(&mut self, machine: &mut M) -> Operated<()> {
        let mut round = machine.round(0);
        let mut own = vec![];
        if let Some(first) = round {
            own.resize(first.out, 0);
            machine.write(0, &mut own).map_err(Into::into)?;
        }
        while let Some(now) = round {
            let heard = self.talk.exchange(now.name, own.clone(), now.into).await;
            let messages = [Exchanged { own: &own, heard: &heard }];
            if let Some(next) = machine.upcoming() {
                let mut out = vec![0; next.out];
                machine.turn(&messages, &mut out).map_err(Into::into)?;
                (own, round) = (out, Some(next));
                continue;
            }
            machine.read(&messages).map_err(Into::into)?;
            round = machine.round(0);
            own = vec![0; round.map_or(0, |round| round.out)];
            if round.is_some() {
                machine.write(0, &mut own).map_err(Into::into)?;
            }
        }
        Ok(())
    }

    /// The bits of shared numbers. The circuit `program` adds the shares.
    pub(crate) async fn bits_of(
        &mut self,
        x: &[u64],
        ring: u32,
        program: Arc<Program>,
        stock: Stock,
    ) -> Operated<Planes> {
        let own = planes_of(x, ring);
        let other = Planes::zeros(ring as usize, x.len());
        let both = if self.index == 0 { [own, other] } else { [other, own] };
        self.circuit(program, &Planes::join(x.len(), both), stock).await
    }
}

/// The bit planes of numbers.
pub(crate) fn planes_of(x: &[u64], ring: u32) -> Planes {
    Planes::pack(&bytes_of(x, ring.div_ceil(8) as usize), ring as usize, x.len())
}

/// The lowest `bytes` bytes of each number. The vector never grows, so that no copy stays in
/// memory.
fn bytes_of(x: &[u64], bytes: usize) -> Wiped<Vec<u8>> {
    let mut out = Wiped::new(Vec::with_capacity(bytes * x.len()));
    x.iter().for_each(|x| out.extend_from_slice(&x.to_le_bytes()[..bytes]));
    out
}

/// x + y modulo 2^ring.
pub(crate) fn plus(x: &[u64], y: &[u64], ring: u32) -> Wiped<Vec<u64>> {
    Wiped::new(x.iter().zip(y).map(|(x, y)| x.wrapping_add(*y) & mask(ring)).collect())
}

/// x − y modulo 2^ring.
pub(crate) fn minus(x: &[u64], y: &[u64], ring: u32) -> Wiped<Vec<u64>> {
    Wiped::new(x.iter().zip(y).map(|(x, y)| x.wrapping_sub(*y) & mask(ring)).collect())
}

/// The transpose of a matrix of `rows` × `columns`. The vector never grows, so that no copy stays
/// in memory.
fn transposed(a: &[u64], rows: usize, columns: usize) -> Wiped<Vec<u64>> {
    let mut out = Wiped::new(Vec::with_capacity(a.len()));
    (0..columns).for_each(|c| out.extend((0..rows).map(|r| a[r * columns + c])));
    out
}

/// The product of two matrices that one party knows, modulo 2^ring.
pub(crate) fn local_matmul(a: &[u64], b: &[u64], [rows, inner, columns]: MatrixShape, ring: u32) -> Vec<u64> {
    let mut out = vec![0u64; rows * columns];
    for r in 0..rows {
        let out = &mut out[r * columns..][..columns];
        for k in 0..inner {
            let a = a[r * inner + k];
            let b = &b[k * columns..][..columns];
            out.iter_mut().zip(b).for_each(|(out, b)| *out = out.wrapping_add(a.wrapping_mul(*b)));
        }
        out.iter_mut().for_each(|out| *out &= mask(ring));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vector that grew has left copies of secrets behind, and has more room than it needs.
    #[test]
    fn vectors_of_secrets_never_grow() {
        let matrix: Vec<u64> = (0..21).map(|i| i << 20 | i).collect();
        let turned = transposed(&matrix, 3, 7);
        assert_eq!(
            (turned.len(), turned.capacity(), turned[..4].to_vec()),
            (21, 21, vec![matrix[0], matrix[7], matrix[14], matrix[1]])
        );
        assert_eq!(transposed(&turned, 7, 3), Wiped::new(matrix.clone()));
        let bytes = bytes_of(&matrix, 3);
        assert_eq!((bytes.len(), bytes.capacity()), (63, 63));
        assert_eq!(bytes[3..9], [1, 0, 0x10, 2, 0, 0x20]);
    }
}
