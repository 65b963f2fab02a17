//! Columns in the form that a query takes, also columns without any value.

use super::{Held, HeldData, Kind, Ready};
use crate::arrow::View;
use hushwire::{
    Fault,
    tables::{BitSlice, ColumnSlice, ColumnValues, algebra::ColumnType},
};
use hushwire_columns::packed;
use std::borrow::Cow;

impl Ready<'_> {
    /// Returns a bit for each row that says whether it has a value; `None` if all rows have values.
    pub(super) fn bits(&self, rows: usize) -> Option<BitSlice<'_>> {
        self.valid.as_ref().and_then(|(bits, start)| BitSlice::new(bits, *start, rows))
    }

    pub(super) fn slice(&self, rows: usize) -> Option<ColumnSlice<'_>> {
        let valid = match &self.valid {
            Some((bits, start)) if rows > 0 => Some(BitSlice::new(bits, *start, rows)?),
            _ => None,
        };
        let values = if self.is_truth {
            // A column without rows may have no buffer.
            let start = if rows == 0 { 0 } else { self.truths.1 };
            ColumnValues::Truths(BitSlice::new(&self.truths.0, start, rows)?)
        } else if self.is_text {
            ColumnValues::Texts(&self.texts)
        } else if let Some(unit) = self.unit {
            ColumnValues::Floats { bytes: &self.numbers, width: self.width, unit }
        } else {
            ColumnValues::Numbers { bytes: &self.numbers, width: self.width, signed: self.signed }
        };
        Some(ColumnSlice { values, valid })
    }
}

impl Held {
    fn rows(&self) -> usize {
        match &self.data {
            HeldData::Own { valid, .. } => valid.len(),
            HeldData::Views(views, _) => views.iter().map(View::rows).sum(),
        }
    }

    /// Returns a column without any value, with its declared type.
    pub(super) fn nothing<'a>(&self, ty: ColumnType) -> Ready<'a> {
        let rows = self.rows();
        let bits = || (Cow::from(packed(&vec![false; rows])), 0);
        let is_text = matches!(ty, ColumnType::Varchar(_) | ColumnType::Digest { .. });
        Ready {
            numbers: vec![0; rows].into(),
            width: 1,
            signed: true,
            truths: bits(),
            texts: if is_text { vec![&[][..]; rows] } else { vec![] },
            valid: Some(bits()),
            unit: None,
            is_truth: ty == ColumnType::Boolean,
            is_text,
        }
    }

    /// Returns the fault of a value that its column cannot hold, with the cause if the column shows
    /// it.
    pub(super) fn clearer(&self, fault: Fault) -> Fault {
        let Kind::Real { width } = self.kind else { return fault };
        let numbers = self.numbers();
        let valid = self.valid();
        let rows = numbers.len() / width;
        let valid = valid.as_ref().and_then(|(bits, start)| BitSlice::new(bits, *start, rows));
        let number = |bytes: &[u8]| match bytes.try_into() {
            Ok(bytes) => f64::from_le_bytes(bytes),
            Err(_) => bytes.try_into().map_or(0.0, |bytes| f32::from_le_bytes(bytes).into()),
        };
        let odd = |(row, bytes): (usize, &[u8])| {
            valid.is_none_or(|valid| valid.get(row)) && !number(bytes).is_finite()
        };
        match numbers.chunks_exact(width).enumerate().position(odd) {
            None => fault,
            Some(row) => {
                let cause =
                    format!("row {row} has NaN or an infinity in {}, and no type holds them", self.name);
                let remedy = "bring None where a value is missing, or leave these rows out";
                fault.because(cause).remedied(remedy)
            }
        }
    }
}
