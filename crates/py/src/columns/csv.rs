//! Converts columns to text, for functions that take files.

use super::{Held, Kind, refused};
use hushwire::{
    Fault,
    sql::cell,
    tables::{ColumnValues, algebra::ColumnType},
};

/// Returns columns as CSV, whose first line has their names.
pub(super) fn csv(held: &[Held], rows: usize) -> Result<Vec<u8>, Fault> {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
    let mut columns: Vec<Vec<Option<String>>> = vec![];
    for held in held {
        let texts = if held.kind == Kind::Text { held.texts()? } else { vec![] };
        let ty = match held.kind {
            Kind::Real { .. } => ColumnType::Double { frac: 32 },
            _ => held.ty()?,
        };
        let ready = held.ready(ty, &texts)?;
        let slice = ready.slice(rows).ok_or_else(|| {
            refused(format!("column {} is shorter than its table", held.name), "bring another copy")
        })?;
        let field = |row: usize| {
            let value = slice.value(row);
            Some(match slice.values {
                _ if value.is_null() => return None,
                ColumnValues::Truths(bits) => bits.get(row).to_string(),
                ColumnValues::Texts(texts) => quoted(&String::from_utf8_lossy(texts[row])),
                ColumnValues::Numbers { .. } | ColumnValues::Floats { .. } => cell::show(&value, ty),
            })
        };
        columns.push((0..rows).map(field).collect());
    }
    let mut text = held.iter().map(|held| quoted(&held.name)).collect::<Vec<_>>().join(",");
    for row in 0..rows {
        text.push('\n');
        let fields = columns.iter().map(|column| column[row].as_deref().unwrap_or_default());
        text.push_str(&fields.collect::<Vec<_>>().join(","));
    }
    text.push('\n');
    Ok(text.into_bytes())
}
