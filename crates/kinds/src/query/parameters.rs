//! The parameters of a query, read with its column types.

use super::QueryJob;
use crate::{Parameter, ParameterRange};
use hushwire_fault::code;
use hushwire_session::Fault;
use hushwire_sql::{cell, schema};
use hushwire_tables::algebra::ColumnType;

/// The query's parameters, with the values of the run, or with possible values to plan with.
pub(super) fn parameters(job: &QueryJob) -> Result<Vec<hushwire_sql::Parameter>, Fault> {
    let one = |(name, is): &(String, Parameter)| {
        let refused = |cause: String, remedy: &str| {
            Err(Fault::new(code::PARAMETER, "planning the job", format!("parameter {name} {cause}"), remedy))
        };
        let ty = match schema::parse_type(&is.ty) {
            Some(ty @ (ColumnType::Digest { .. } | ColumnType::Double { .. })) => {
                return refused(
                    format!("is a {ty}, of which there are no literals"),
                    "take DECIMAL or VARCHAR",
                );
            }
            Some(ty) => ty,
            None => {
                let remedy = "write a type of SQL, as DATE, BIGINT, DECIMAL(9, 2) or VARCHAR(8)";
                return refused(format!("has no type {:?}", is.ty), remedy);
            }
        };
        let strings = matches!(ty, ColumnType::Varchar(_));
        if strings && matches!(is.range, ParameterRange::Between(..)) {
            return refused("is a string between two others".into(), "write in = [\"A\", \"B\"]");
        }
        let read = |text: &str| cell::read(text, ty).map_err(|e| e.cause());
        let value = is.checked(name, &job.values, read)?;
        Ok(hushwire_sql::Parameter { name: name.clone(), ty, value })
    };
    job.parameters.iter().map(one).collect()
}
