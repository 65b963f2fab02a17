//! Columns of Python's lists.

use super::{Held, HeldData, Kind};
use pyo3::prelude::*;

/// A column of Python's lists: its name, the kind of its values, its digits, and the values.
#[derive(FromPyObject)]
pub(crate) struct Listed<'py>(String, String, (u8, u8), Vec<Option<Bound<'py, PyAny>>>);

impl Listed<'_> {
    pub(super) fn held(self) -> PyResult<Held> {
        let Self(name, form, (precision, scale), values) = self;
        let kind = match form.as_str() {
            "bool" => Kind::Truth,
            "int" => Kind::Whole { width: 16, signed: true },
            "float" => Kind::Real { width: 8 },
            "decimal" => Kind::Decimal { width: 16, precision, scale },
            "date" => Kind::Day,
            "time" => Kind::Moment { per_second: 1_000_000 },
            "text" => Kind::Text,
            _ => Kind::Nothing,
        };
        let valid = values.iter().map(Option::is_some).collect();
        let (mut numbers, mut texts) = (vec![], vec![]);
        for value in &values {
            match (kind, value) {
                (Kind::Text, None) => texts.push(vec![]),
                (Kind::Text, Some(text)) => texts.push(text.extract::<String>()?.into_bytes()),
                (kind, None) => numbers.extend(std::iter::repeat_n(0, kind.width())),
                (Kind::Truth, Some(truth)) => numbers.push(u8::from(truth.extract::<bool>()?)),
                (Kind::Real { .. }, Some(real)) => numbers.extend(real.extract::<f64>()?.to_le_bytes()),
                (kind, Some(number)) => {
                    numbers.extend(&number.extract::<i128>()?.to_le_bytes()[..kind.width()]);
                }
            }
        }
        Ok(Held { name, kind, data: HeldData::Own { numbers, texts, valid } })
    }
}
