//! Results as columns, for programs that hold columns themselves.

use crate::{
    algebra::{ColumnType, Value},
    lower::cell::value,
};
use hushwire_compute::Tensor;

/// The rows of a result, column by column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResultColumns {
    /// The number of rows.
    pub rows: usize,
    /// The columns, each with a value for each row.
    pub columns: Vec<ResultColumn>,
}

/// A column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultColumn {
    /// The values; arbitrary in rows that have none.
    pub values: ResultValues,
    /// Whether each row has a value; all have one if `None`.
    pub valid: Option<Vec<bool>>,
}

/// The values of a column of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ResultValues {
    /// Truth values.
    Truths(Vec<bool>),
    /// Numbers of at most 64 bits, in steps of the column's type.
    Short(Vec<i64>),
    /// Wider numbers, in steps of the column's type.
    Long(Vec<i128>),
    /// Strings: the bytes of all of them, and the end of each.
    Texts {
        /// The end of each string; the first one begins at 0.
        ends: Vec<usize>,
        /// The bytes of all strings.
        bytes: Vec<u8>,
    },
}

impl ResultColumn {
    /// The values that a column has in these rows.
    pub(crate) fn of(ty: ColumnType, values: &Tensor, nulls: Option<&Tensor>, rows: &[usize]) -> Self {
        let valid: Option<Vec<bool>> = nulls.map(|nulls| rows.iter().map(|i| !nulls.truth(*i)).collect());
        let valid = valid.filter(|valid| valid.contains(&false));
        let values = match ty {
            ColumnType::Boolean => ResultValues::Truths(rows.iter().map(|i| values.truth(*i)).collect()),
            ColumnType::Varchar(_) => {
                let (mut ends, mut bytes) = (Vec::with_capacity(rows.len()), vec![]);
                for (at, i) in rows.iter().enumerate() {
                    let is_there = valid.as_ref().is_none_or(|valid| valid[at]);
                    if let (true, Value::Text(text)) = (is_there, value(ty, values, *i)) {
                        bytes.extend_from_slice(&text);
                    }
                    ends.push(bytes.len());
                }
                ResultValues::Texts { ends, bytes }
            }
            ColumnType::Digest { .. } => {
                ResultValues::Long(rows.iter().map(|i| values.get(*i).cast_signed()).collect())
            }
            // At most 64 bits, and signed like all numbers of columns.
            _ if values.scalar().bits() <= 64 => {
                let unused = 64 - values.scalar().bits();
                let words = values.words();
                ResultValues::Short(
                    rows.iter().map(|i| (words[*i] << unused).cast_signed() >> unused).collect(),
                )
            }
            _ => ResultValues::Long(rows.iter().map(|i| values.number(*i).unwrap_or_default()).collect()),
        };
        Self { values, valid }
    }

    /// The value of row `i`.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn value(&self, i: usize) -> Value {
        if !self.is_valid(i) {
            return Value::Null;
        }
        match &self.values {
            ResultValues::Truths(truths) => Value::Boolean(truths[i]),
            ResultValues::Short(numbers) => Value::Number(numbers[i].into()),
            ResultValues::Long(numbers) => Value::Number(numbers[i]),
            ResultValues::Texts { .. } => Value::Text(self.text(i).to_vec()),
        }
    }

    /// Whether row `i` has a value.
    #[must_use]
    pub fn is_valid(&self, i: usize) -> bool {
        self.valid.as_ref().is_none_or(|valid| valid[i])
    }

    /// The bytes of the string of row `i`; empty in a column of another type.
    #[must_use]
    pub fn text(&self, i: usize) -> &[u8] {
        match &self.values {
            ResultValues::Texts { ends, bytes } => {
                &bytes[i.checked_sub(1).map_or(0, |before| ends[before])..ends[i]]
            }
            _ => &[],
        }
    }
}
