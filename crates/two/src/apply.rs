//! Single operations on shares, for callers that keep shares themselves, and for measurements. An
//! operation runs in pieces with OTs made for it, over an open session. It has the security of a
//! run: semi-honest.

use crate::{
    ArithmeticParty, Sign, TwoError,
    kit::Kit,
    ops::{MatrixShape, Operated, minus, plus},
    ring::Holders,
    tally::{self, Tally},
};
use hushwire_block::Wiped;
use hushwire_machine::Channel;

/// An operation on columns of shares modulo 2^ℓ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Signed numbers with negative ones replaced by 0: one column.
    Relu,
    /// The greater of two signed numbers whose difference does not wrap: two columns.
    Max,
    /// Numbers without their lowest bits, rounded exactly towards −∞: one column.
    Truncate {
        /// The number of bits.
        by: u32,
        /// The known range of the numbers.
        sign: Sign,
    },
    /// The same result or one less, because the carry out of the lowest bits is ignored. Only for
    /// [`Sign::Positive`] and [`Sign::Short`]. The error depends on the dropped bits, so the result
    /// must not be opened to a party that may not learn them.
    TruncateBelow {
        /// The number of bits.
        by: u32,
        /// The known range of the numbers.
        sign: Sign,
    },
    /// Products row by row: two columns.
    Multiply,
    /// A product of matrices: two columns with the matrices row by row.
    MatMul {
        /// The rows, the inner dimension, and the columns.
        shape: [usize; 3],
        /// The parties whose shares of each factor are not 0: one party for a factor that is
        /// private to it.
        holders: [[bool; 2]; 2],
    },
}

/// AGREEMENT: the rows of a piece, and the pieces that share their rounds.
const PIECE: usize = 1 << 12;
const ABREAST: usize = 2;

impl Operation {
    /// The number of columns that the operation takes.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Operation::Relu | Operation::Truncate { .. } | Operation::TruncateBelow { .. } => 1,
            Operation::Max | Operation::Multiply | Operation::MatMul { .. } => 2,
        }
    }

    /// The cost for `rows` rows in one piece, without making OTs.
    #[must_use]
    pub fn tally(&self, ring: u32, rows: usize) -> Tally {
        match self {
            Operation::Relu | Operation::Max => tally::signs(rows, ring).then(tally::times_bit(rows, ring)),
            Operation::Truncate { by, sign } => tally::truncate(rows, ring, *by, *sign),
            Operation::TruncateBelow { by, sign } => tally::truncate_below(rows, *by, *sign),
            Operation::Multiply => tally::multiply(rows, 1, [[true; 2]; 2], ring),
            Operation::MatMul { shape, holders } => tally::matmul(*shape, *holders, ring),
        }
    }

    pub(crate) async fn run(&self, kit: &mut Kit, ring: u32, x: &[Vec<u64>]) -> Operated<Wiped<Vec<u64>>> {
        const BOTH: [Holders; 2] = [[true; 2]; 2];
        match self {
            Operation::Relu => kit.relu(&x[0], ring).await,
            // y + relu(x − y).
            Operation::Max => Ok(plus(&kit.relu(&minus(&x[0], &x[1], ring), ring).await?, &x[1], ring)),
            Operation::Truncate { by, sign } => kit.truncate(&x[0], ring, *by, *sign).await,
            Operation::TruncateBelow { by, sign } => kit.truncate_below(&x[0], ring, *by, *sign).await,
            Operation::Multiply => kit.multiply(&x[0], &x[1], BOTH, ring).await,
            Operation::MatMul { shape, holders } => {
                let shape: MatrixShape = *shape;
                kit.matmul([&x[0], &x[1]], shape, *holders, ring).await
            }
        }
    }
}

impl ArithmeticParty {
    /// Runs an operation on this party's shares, modulo 2^`ring`, and returns its share of the
    /// result. All columns have the same number of rows, except for matrices. Both parties make the
    /// same call.
    ///
    /// # Errors
    /// An OT message is malformed, the channel failed, or an earlier run failed.
    ///
    /// # Panics
    /// The columns are not those of the operation, their lengths do not fit, the ring does not have
    /// 1 to 64 bits, or the shift is too large (the caller's bug).
    pub fn apply(
        &mut self,
        channel: &mut Channel,
        operation: &Operation,
        ring: u32,
        columns: &[&[u64]],
    ) -> Result<Vec<u64>, TwoError> {
        assert!((1..=64).contains(&ring), "a ring of 1 to 64 bits");
        assert_eq!(columns.len(), operation.columns(), "as many columns as the operation takes");
        if let Operation::Truncate { by, .. } | Operation::TruncateBelow { by, .. } = operation {
            assert!(*by < ring, "a shift within the ring");
        }
        if let Operation::MatMul { shape: [r, k, c], .. } = operation {
            assert_eq!([columns[0].len(), columns[1].len()], [r * k, k * c], "matrices of that shape");
            let whole = columns.iter().map(|x| x.to_vec()).collect();
            return self.pieces(channel, operation, ring, vec![whole]);
        }
        let rows = columns[0].len();
        assert!(columns.iter().all(|x| x.len() == rows), "columns of one length");
        let mut out = Vec::with_capacity(rows);
        for start in (0..rows).step_by(PIECE * ABREAST) {
            let end = rows.min(start + PIECE * ABREAST);
            let piece = |from: usize| {
                columns.iter().map(|x| x[from..end.min(from + PIECE)].to_vec()).collect::<Vec<_>>()
            };
            out.extend(self.pieces(
                channel,
                operation,
                ring,
                (start..end).step_by(PIECE).map(piece).collect(),
            )?);
        }
        Ok(out)
    }
}
