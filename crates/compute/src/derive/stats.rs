//! Statistics of a column, and shifts by secret numbers.

use super::rules;
use crate::{Comparison, Reduction, Scalar, Shape, Type, Val, Visibility};

fn column(ty: &Type) -> bool {
    ty.scalar.is_number() && ty.shape.rank() == 1
}

impl<'b> Val<'b> {
    /// Replaces elements below `least` by it, and elements above `most` by that.
    #[must_use]
    pub fn clamp(self, least: Val<'b>, most: Val<'b>) -> Self {
        self.max(least).min(most)
    }

    /// The variance of all elements of a column: the mean of squared distances from the mean, each
    /// mean rounded towards 0 as [`Reduction::Mean`] defines. For fixed numbers it is rounded
    /// towards −∞ to their fractional bits. It is right if it fits the type, for up to 2^31 rows,
    /// and for types with up to 96 bits and fractional bits together; internal numbers are wider.
    #[must_use]
    pub fn variance(self) -> Self {
        let Some(ty) = self.typed("variance", "it takes a column of numbers", column) else {
            return self.none();
        };
        // A square is at most the sum of all squares, which is the result times the number of rows.
        let (frac, bits) = (ty.scalar.frac(), ty.scalar.bits());
        let bits = (bits + usize::from(frac) + 32).min(128) as u8;
        let wide = match ty.scalar {
            Scalar::Fixed { frac, .. } => Scalar::Fixed { bits, frac },
            Scalar::Int { signed: false, bits: 128 } => ty.scalar,
            _ => Scalar::signed(bits),
        };
        let x = self.cast(wide);
        let distance = x - x.mean();
        let mean = (distance * distance).mean();
        if frac == 0 { mean } else { mean.rescale(frac) }.cast(ty.scalar)
    }

    /// The middle element of a column by size, the lesser one of two. A column without rows has
    /// none and is refused.
    #[must_use]
    pub fn median(self) -> Self {
        let Some(ty) = self.typed("median", "it takes a column of numbers", column) else {
            return self.none();
        };
        if let Some((cause, remedy)) = rules::lacks_rows("median", &ty.shape, None) {
            return self.builder.refused("median", &[self], &format!("{cause}: {remedy}"));
        }
        let sorted = self.permute(self.builder.order(&[(self, false)]));
        let rows = self.ones().sum();
        let middle = (rows - rows.steps(1)) / rows.steps(2);
        let median = sorted.gather(middle.reshape(Shape::vector(1))).reshape(Shape::scalar());
        median.called("median", &[self], None)
    }

    /// For each of the public `edges` except the last: the number of elements of a column from it
    /// on and below the next edge, as u64. Edges must not fall: others are refused, unless they are
    /// opened on the way.
    #[must_use]
    pub fn histogram(self, edges: Val<'b>) -> Self {
        let Some(ty) = self.typed("histogram", "it takes a column of numbers", column) else {
            return self.none();
        };
        let public = |edges: &Type| {
            let many = edges.shape.0.first().is_some_and(|d| matches!(d, crate::Dim::Known(2..)));
            column(edges) && many && edges.scalar == ty.scalar && edges.visibility == Visibility::Public
        };
        if !edges.ty().is_some_and(|edges| public(&edges)) {
            let remedy = "edges are a public column of the same type, of known length, two at least";
            return self.builder.refused("histogram", &[self, edges], remedy);
        }
        if let Some([high, low]) = edges.constant().and_then(|edges| rules::falls(&edges)) {
            let remedy = format!("its edges fall from {high} to {low}: write them in ascending order");
            return self.builder.refused("histogram", &[self, edges], &remedy);
        }
        let many = edges.ty().and_then(|ty| ty.shape.lengths()).map_or(0, |l| l[0] as u64);
        let from = |k| {
            let edge = edges.slice(k, k + 1).reshape(Shape::scalar());
            let count = self.compare(Comparison::GreaterOrEqual, edge).reduce(Reduction::Count, 0);
            count.reshape(Shape::vector(1))
        };
        let counts: Vec<Val<'b>> = (0..many).map(from).collect();
        let [low, high] = [&counts[..counts.len() - 1], &counts[1..]].map(|c| self.builder.concat(0, c));
        (low - high).called("histogram", &[self, edges], None)
    }

    /// The greatest elements of a column, the greatest first. Their places are the first of
    /// `order(desc x)`.
    #[must_use]
    pub fn top_k(self, rows: u64) -> Self {
        let Some(ty) = self.typed("top_k", "it takes a column of numbers", column) else {
            return self.none();
        };
        if let Some((cause, remedy)) = rules::lacks_rows("top_k", &ty.shape, Some(rows)) {
            return self.builder.refused("top_k", &[self], &format!("{cause}: {remedy}"));
        }
        let greatest = self.permute(self.builder.order(&[(self, true)])).slice(0, rows);
        greatest.called("top_k", &[self], Some(rows))
    }

    /// Shifts towards the high end by an unsigned number of bits and fills with zeros. A shift by
    /// the width or more gives 0.
    #[must_use]
    pub fn shift_left_by(self, by: Val<'b>) -> Self {
        self.shifted("shift_left", by, |x, by| x << by, Self::zero)
    }

    /// Shifts towards the low end by an unsigned number of bits and fills with copies of the sign,
    /// or with zeros if there is none. A shift by the width or more gives only these.
    #[must_use]
    pub fn shift_right_by(self, by: Val<'b>) -> Self {
        let all = |x: Self| match x.ty() {
            Some(ty) if ty.scalar.is_signed() => x >> (ty.scalar.bits() as u16 - 1),
            _ => x.zero(),
        };
        self.shifted("shift_right", by, |x, by| x >> by, all)
    }

    /// One select for each bit of `by`: shifted by the bit's value, or unchanged.
    fn shifted(
        self,
        name: &str,
        by: Val<'b>,
        shift: impl Fn(Self, u16) -> Self,
        beyond: impl Fn(Self) -> Self,
    ) -> Self {
        let unsigned = |ty: Type| matches!(ty.scalar, Scalar::Int { signed: false, .. }).then_some(ty);
        let (Some(ty), Some(count)) =
            (self.ty().filter(|ty| ty.scalar.is_number()), by.ty().and_then(unsigned))
        else {
            return self.builder.refused(
                name,
                &[self, by],
                "it takes numbers, and an unsigned number of bits",
            );
        };
        // Bits that are shifted out are lost, as by `<<` on a value without a promise.
        let mut x = self.wrapping();
        for k in 0..count.scalar.bits() as u16 {
            let moved =
                match 1u16.checked_shl(k.into()).filter(|n| usize::from(*n) < ty.scalar.bits() && k < 16) {
                    Some(n) => shift(x, n),
                    None => beyond(x),
                };
            x = self.builder.select(by.bit(k), moved, x);
        }
        x
    }
}
