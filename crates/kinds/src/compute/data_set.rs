//! A data set that holds all inputs that one member brings to a computation.

use super::{
    ComputeTask,
    stored::{ColumnInParts, column},
    values::Values,
};
use crate::kind::READING;
use hushwire_compute::{Dim, Type};
use hushwire_fault::code;
use hushwire_session::{Fault, InputPlace, Member, suggest};
use std::collections::BTreeMap;

/// Reads all inputs that a data set brings to a computation.
///
/// # Errors
/// A place is missing or belongs to another input; two inputs give different lengths; or an error
/// of [`stored_input`](super::stored_input).
pub(super) fn stored_inputs(
    task: &ComputeTask,
    data: &Member,
    places: &BTreeMap<String, InputPlace>,
) -> Result<Vec<ColumnInParts>, Fault> {
    let wrong = |cause: String, remedy: String| Fault::new(code::DATA_SET, READING, cause, remedy);
    let own = task.inputs_of(data).map(|(_, name, ty)| (name, ty));
    let own: Vec<(&str, &Type)> = own.collect();
    let names: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
    if let Some(odd) = places.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(wrong(format!("{data} brings no input {odd}"), suggest::remedy(odd, &names)));
    }
    let mut symbols = BTreeMap::new();
    let mut columns = vec![];
    for (name, ty) in own {
        let place = places.get(name).ok_or_else(|| {
            wrong(
                format!("input {name} of {data} is missing"),
                format!("name its file with --input {name}=FILE"),
            )
        })?;
        let Values { scalar, lengths, records, .. } = Values::read(name, ty, place, &symbols)?;
        for (dim, n) in ty.shape.0.iter().zip(&lengths) {
            if let Dim::Symbol(symbol) = dim {
                let n = *n as u64;
                let before = *symbols.entry(symbol.to_string()).or_insert(n);
                if before != n {
                    let cause = format!("{symbol} is {before} in one input, and {n} in {name}");
                    return Err(wrong(cause, "bring inputs of the same length".to_owned()));
                }
            }
        }
        columns.push(column(name, scalar, &lengths, &records));
    }
    Ok(columns)
}
