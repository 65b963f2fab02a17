//! Whole numbers next to fixed ones, and signs: all exact.

use crate::{Comparison, Scalar, Type, Val};

impl<'b> Val<'b> {
    /// The steps of a fixed number, and the number of its fractional bits.
    fn stepwise(self, name: &str) -> Option<(Self, Type, u16)> {
        let fixed = |ty: &Type| matches!(ty.scalar, Scalar::Fixed { bits, frac } if frac + 1 < bits);
        let ty = self.typed(name, "it takes fixed numbers with 2 bits or more before the point", fixed)?;
        let steps = self.wrapping().as_bits_of(Scalar::signed(ty.scalar.bits() as u8));
        let frac = ty.scalar.frac().into();
        Some((steps, ty, frac))
    }

    /// Drops the fractional bits, after this value (0 or 1 step less than a whole) was added.
    fn cleared(self, frac: u16) -> Self {
        self & self.steps(-1 << frac)
    }

    /// The greatest whole number that is not greater.
    #[must_use]
    pub fn floor(self) -> Self {
        match self.stepwise("floor") {
            Some((x, ty, frac)) => x.cleared(frac).as_bits_of(ty.scalar),
            None => self.none(),
        }
    }

    /// The least whole number that is not less. It wraps if it does not fit.
    #[must_use]
    pub fn ceil(self) -> Self {
        match self.stepwise("ceil") {
            Some((x, ty, frac)) => (x + x.steps((1 << frac) - 1)).cleared(frac).as_bits_of(ty.scalar),
            None => self.none(),
        }
    }

    /// The whole number towards 0.
    #[must_use]
    pub fn truncate(self) -> Self {
        let Some((x, ty, frac)) = self.stepwise("truncate") else { return self.none() };
        let below =
            x.than(Comparison::Less, 0).times(Scalar::signed(ty.scalar.bits() as u8), (1 << frac) - 1);
        (x + below).cleared(frac).as_bits_of(ty.scalar)
    }

    /// The nearest whole number, the even one of two. It wraps if it does not fit.
    #[must_use]
    pub fn round_even(self) -> Self {
        let Some((x, ty, frac)) = self.stepwise("round_even") else { return self.none() };
        if frac == 0 {
            return self.wrapping();
        }
        let up = x + x.steps(1 << (frac - 1));
        let part = up & up.steps((1 << frac) - 1);
        // Between two whole numbers, the greater one is odd: then it is one too many.
        let odd = part.than(Comparison::Equal, 0) & up.bit(frac);
        let one = odd.times(Scalar::signed(ty.scalar.bits() as u8), 1 << frac);
        (up.cleared(frac) ^ one).as_bits_of(ty.scalar)
    }

    /// −1, 0 or 1.
    #[must_use]
    pub fn sign(self) -> Self {
        let Some((x, ty, frac)) = self.stepwise("sign") else { return self.none() };
        let to = Scalar::signed(ty.scalar.bits() as u8);
        let [below, above] = [(Comparison::Less, -1), (Comparison::Greater, 1)]
            .map(|(comparison, of)| x.than(comparison, 0).times(to, of << frac));
        (below ^ above).as_bits_of(ty.scalar)
    }
}
