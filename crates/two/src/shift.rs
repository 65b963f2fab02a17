//! Numbers without their lower bits, on shares modulo 2^ℓ.
//!
//! Let u = x + offset, which is nonnegative, with u = u_0 + u_1 − 2^ℓ w. Then ⌊u / 2^s⌋ is the sum
//! of u_0 ≫ s, u_1 ≫ s and c, minus 2^(ℓ−s) w. Here c is the carry out of the lowest s bits, and w
//! the carry out of all ℓ. One comparison in two parts gives both. If the highest bit of u is 0, w
//! is m_0 ∨ m_1 of the shares' highest bits.
//!
//! **Source.** D. Rathee et al., "CrypTFlow2", CCS 2020, section 4; the form for known signs: Z.
//! Huang et al., "Cheetah", USENIX Security 2022, section 5.

use crate::{
    compare::ComparePart,
    kit::{Kit, OtRun},
    ops::Operated,
    ring::mask,
};
use hushwire_block::Wiped;
use hushwire_plan::Sign;

/// The number that is added first, so that the shifted numbers are nonnegative.
fn offset(sign: Sign, ring: u32) -> u64 {
    match sign {
        Sign::None | Sign::Positive => 0,
        Sign::Any => 1 << (ring - 1),
        Sign::Short => 1 << (ring - 2),
    }
}

impl Kit {
    /// Numbers without their `by` lowest bits, rounded exactly towards −∞.
    pub(crate) async fn truncate(
        &mut self,
        x: &[u64],
        ring: u32,
        by: u32,
        sign: Sign,
    ) -> Operated<Wiped<Vec<u64>>> {
        if by == 0 {
            return Ok(Wiped::new(x.to_vec()));
        }
        let u = self.offset(x, ring, sign);
        let mut parts = vec![ComparePart::order(by)];
        if !sign.is_known() {
            parts.push(ComparePart { from: by, bits: ring - by, equal: true });
        }
        let mut orders = self.carries(&u, &parts).await.into_iter();
        let low = orders.next().expect("a part each").greater;
        let wrap = match orders.next() {
            None => top(&u, ring),
            Some(high) => {
                let equal = high.equal.expect("it was asked for");
                let through = self.and(&equal, &low, &[OtRun { count: low.len(), width: 1 }]).await;
                let mut wrap = high.greater;
                wrap.iter_mut().zip(&through[..]).for_each(|(wrap, t)| *wrap ^= t);
                wrap
            }
        };
        let widths = [ring - 1, wrap_width(by, sign)];
        let products = self.bits_by_bits(&[&low, &wrap], &widths).await?;
        let carry = low.iter().zip(&products[0][..]).map(|(b, p)| u64::from(*b).wrapping_sub(p << 1));
        let y = u.iter().zip(carry).map(|(u, c)| (u >> by).wrapping_add(c));
        let y: Wiped<Vec<u64>> = Wiped::new(y.collect());
        Ok(self.unwrapped(&y, &wrap, &products[1], ring, by, sign))
    }

    /// The same result or one less, because the carry out of the lowest bits is ignored. The
    /// highest bit must be known.
    pub(crate) async fn truncate_below(
        &mut self,
        x: &[u64],
        ring: u32,
        by: u32,
        sign: Sign,
    ) -> Operated<Wiped<Vec<u64>>> {
        assert!(sign.is_known(), "the cheap form is for numbers of a known sign");
        if by == 0 {
            return Ok(Wiped::new(x.to_vec()));
        }
        let u = self.offset(x, ring, sign);
        let wrap = top(&u, ring);
        let products = self.bits_by_bits(&[&wrap], &[wrap_width(by, sign)]).await?;
        let y: Wiped<Vec<u64>> = Wiped::new(u.iter().map(|u| u >> by).collect());
        Ok(self.unwrapped(&y, &wrap, &products[0], ring, by, sign))
    }

    /// Signed numbers without their `by` lowest bits, rounded towards −∞, with negative numbers
    /// replaced by 0. They are modulo 2^(ring − by), which is all that remains of them. One
    /// comparison in two parts gives the carry out of the lowest bits and the sign.
    pub(crate) async fn rectify(&mut self, x: &[u64], ring: u32, by: u32) -> Operated<Wiped<Vec<u64>>> {
        let parts = [ComparePart::order(by), ComparePart { from: by, bits: ring - 1 - by, equal: true }];
        let mut orders = self.carries(x, &parts).await.into_iter();
        let [low, high] = [(); 2].map(|()| orders.next().expect("a part each"));
        let (low, equal) = (low.greater, high.equal.expect("it was asked for"));
        let through = self.and(&equal, &low, &[OtRun { count: low.len(), width: 1 }]).await;
        // The number's highest bit is the exclusive OR of both shares' highest bits and the carry
        // into them. The number is kept if this bit is 0.
        let mut keep = top(x, ring);
        let flip = u8::from(self.index == 0);
        let carries = high.greater.iter().zip(&through[..]);
        keep.iter_mut().zip(carries).for_each(|(keep, (g, t))| *keep ^= g ^ t ^ flip);
        // The wrap of all bits is 0 modulo 2^(ring − by).
        let left = ring - by;
        let (choices, sends) = self.bit_choices(&[&low], &[left - 1]);
        let [of_low, of_keep] = self.choose_for_two([&choices, &keep], [sends, x.len()]).await;
        let products = self.bits_by_bits_of(of_low, &choices, &[&low], &[left - 1]).await?;
        let carry = low.iter().zip(&products[0][..]).map(|(b, p)| u64::from(*b).wrapping_sub(p << 1));
        let y = x.iter().zip(carry).map(|(x, c)| (x >> by).wrapping_add(c) & mask(left));
        let y: Wiped<Vec<u64>> = Wiped::new(y.collect());
        self.times_bit_of(of_keep, &keep, &y, left).await
    }

    /// Numbers in [0, 2^(ring − 1)) in the ring of `to` bits. The highest bit of the number is 0,
    /// so the shares wrap if the highest bit of either is 1.
    pub(crate) async fn extend(&mut self, x: &[u64], ring: u32, to: u32) -> Operated<Wiped<Vec<u64>>> {
        let top = top(x, ring);
        let products = self.bits_by_bits(&[&top], &[to - ring]).await?;
        let one = |((x, m), p): ((&u64, &u8), &u64)| {
            let wrap = u64::from(*m).wrapping_sub(*p);
            x.wrapping_sub(wrap << ring) & mask(to)
        };
        Ok(Wiped::new(x.iter().zip(&top[..]).zip(&products[0][..]).map(one).collect()))
    }

    fn offset(&self, x: &[u64], ring: u32, sign: Sign) -> Wiped<Vec<u64>> {
        let first = if self.index == 0 { offset(sign, ring) } else { 0 };
        Wiped::new(x.iter().map(|x| x.wrapping_add(first) & mask(ring)).collect())
    }

    /// Removes the wrap of the shares and the offset.
    fn unwrapped(
        &self,
        y: &[u64],
        wrap: &[u8],
        product: &[u64],
        ring: u32,
        by: u32,
        sign: Sign,
    ) -> Wiped<Vec<u64>> {
        let offset = if self.index == 0 { offset(sign, ring) >> by } else { 0 };
        // For a known sign, w = m_0 + m_1 − m_0 m_1, which is m_0 ∨ m_1. Else it is w_0 + w_1 − 2
        // w_0 w_1.
        let twice = u32::from(!sign.is_known());
        let one = |((y, w), p): ((&u64, &u8), &u64)| {
            let w = u64::from(*w).wrapping_sub(p << twice);
            y.wrapping_sub(w << (ring - by)).wrapping_sub(offset) & mask(ring)
        };
        Wiped::new(y.iter().zip(wrap).zip(product).map(one).collect())
    }
}

/// The bits that matter of the wrap's product.
pub(crate) fn wrap_width(by: u32, sign: Sign) -> u32 {
    by - u32::from(!sign.is_known())
}

fn top(u: &[u64], ring: u32) -> Wiped<Vec<u8>> {
    Wiped::new(u.iter().map(|u| (u >> (ring - 1) & 1) as u8).collect())
}
