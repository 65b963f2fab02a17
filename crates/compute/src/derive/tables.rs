//! Rows by key: sorted, scanned from each key's first row on, and read at its last.

use crate::{Builder, Comparison, Scalar, Scan, Val};

/// Rows with equal keys, side by side. Every aggregate is a column with one row for each row of the
/// keys, in ascending order of the keys, whatever order they had. The last row of each group has
/// the group's value; all other rows are 0. The values for keys 3, 1, 3, 2 are those of 1, of 2, a
/// 0, and that of 3; [`Groups::last`] of a key gives the keys beside them. [`Groups::end`] marks
/// these rows, so that [`Op::Compact`](crate::Op::Compact) can drop the others, to a public count.
#[derive(Clone, Copy)]
pub struct Groups<'b> {
    order: Val<'b>,
    starts: Val<'b>,
    ends: Val<'b>,
}

impl Builder {
    /// Groups rows by key columns, the first most significant. It takes one sort; groups with the
    /// same keys share it.
    pub fn groups<'b>(&'b self, keys: &[Val<'b>]) -> Groups<'b> {
        let order = self.order(&keys.iter().map(|k| (*k, false)).collect::<Vec<_>>());
        let mut groups = Groups { order, starts: order, ends: order };
        let Some(first) = keys.first().filter(|_| order.value.is_some()) else { return groups };
        // Places are public. The row before the first one is the last one.
        let ones = first.ones();
        let (rows, after) = (ones.sum(), ones.prefix_sum());
        let before = (after + rows - rows.steps(2)) % rows;
        let mut starts = after.equals(after.steps(1));
        for key in keys {
            let sorted = key.permute(order);
            starts = starts | sorted.compare(Comparison::NotEqual, sorted.gather(before));
        }
        groups.starts = starts;
        // A group ends where the next one starts; the first row follows the last.
        groups.ends = starts.gather(after % rows);
        groups
    }
}

impl<'b> Groups<'b> {
    /// Whether each row is its group's last.
    #[must_use]
    pub fn end(self) -> Val<'b> {
        self.ends
    }

    fn at_ends(self, x: Val<'b>) -> Val<'b> {
        x.builder.select(self.ends, x, x.zero())
    }

    /// For each group, the element of the last row in the rows' original order, such as a key.
    #[must_use]
    pub fn last(self, x: Val<'b>) -> Val<'b> {
        let vector = |ty: &crate::Type| ty.shape.rank() == 1 && ty.scalar != Scalar::Place;
        match x.typed("group_last", "it takes a column", vector) {
            Some(_) => self.at_ends(x.permute(self.order)),
            None => x.none(),
        }
    }

    fn scanned(self, scan: Scan, x: Val<'b>) -> Val<'b> {
        let vector = |ty: &crate::Type| ty.shape.rank() == 1 && ty.scalar.is_number();
        match x.typed(scan.name(), "it takes a column of numbers", vector) {
            Some(_) => x.permute(self.order).scan(scan, self.starts),
            None => x.none(),
        }
    }

    /// The wrapping sum of each group.
    #[must_use]
    pub fn sum(self, x: Val<'b>) -> Val<'b> {
        self.at_ends(self.scanned(Scan::Sum, x))
    }

    /// The least element of each group.
    #[must_use]
    pub fn min(self, x: Val<'b>) -> Val<'b> {
        self.at_ends(self.scanned(Scan::Min, x))
    }

    /// The greatest element of each group.
    #[must_use]
    pub fn max(self, x: Val<'b>) -> Val<'b> {
        self.at_ends(self.scanned(Scan::Max, x))
    }

    fn counted(self) -> Val<'b> {
        self.starts.ones().scan(Scan::Sum, self.starts)
    }

    /// The number of rows of each group, as u64.
    #[must_use]
    pub fn count(self) -> Val<'b> {
        self.at_ends(self.counted())
    }

    /// The wrapping sum of each group divided by its count, towards 0. For fewer than 2^32 rows.
    #[must_use]
    pub fn mean(self, x: Val<'b>) -> Val<'b> {
        let sum = self.scanned(Scan::Sum, x);
        let Some(ty) = sum.ty() else { return x.none() };
        let signed = ty.scalar.is_signed();
        let own = Scalar::Int { signed, bits: ty.scalar.bits() as u8 };
        // Steps are divided as integers, as wide as the count needs.
        let wide = Scalar::Int { signed, bits: (ty.scalar.bits() as u8).max(33) };
        let mean = sum.as_bits_of(own).cast(wide) / self.counted().cast(wide);
        self.at_ends(mean.cast(own).as_bits_of(ty.scalar))
    }
}
