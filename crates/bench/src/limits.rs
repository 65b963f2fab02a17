//! The limits of this machine, measured in the same run as the rows.

use serde::{Deserialize, Serialize};

use crate::{Error, Result, Row, Unit};

/// What the machine could do at most, such as its AES rounds or its copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// The name that rows refer to.
    pub name: String,
    /// Its value.
    pub value: f64,
    /// The value's unit.
    pub unit: Unit,
}

/// The limits of a report, in the order in which they were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Limits(Vec<Limit>);

impl Limits {
    /// The limit called `name`.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Limit> {
        self.0.iter().find(|limit| limit.name == name)
    }

    /// All limits in order.
    pub fn iter(&self) -> impl Iterator<Item = &Limit> {
        self.0.iter()
    }

    /// Adds a limit. Rows may already refer to an older one, so that a second
    /// value for a name is refused.
    pub fn add(&mut self, name: &str, value: f64, unit: Unit) -> Result<()> {
        let refuse = |what| Err(Error::Limit { name: name.to_owned(), what });
        if !(value.is_finite() && value > 0.0) {
            return refuse(format!("{value} {unit} is not a positive number"));
        }
        if let Some(old) = self.get(name) {
            let old = format!("{} {}", old.value, old.unit);
            return refuse(format!("is already {old}, and cannot become {value} {unit}"));
        }
        self.0.push(Limit { name: name.to_owned(), value, unit });
        Ok(())
    }

    /// Fills in a row's limit and the fraction of it that the row reaches.
    pub fn apply(&self, row: &mut Row) -> Result<()> {
        let Some(name) = &row.limit_name else {
            (row.limit, row.fraction_of_limit) = (None, None);
            return Ok(());
        };
        let Some(limit) = self.get(name) else {
            return Err(Error::UnknownLimit { case: row.case.clone(), limit: name.clone() });
        };
        if limit.unit != row.unit {
            return Err(Error::LimitUnit {
                case: row.case.clone(),
                row_unit: row.unit.to_string(),
                limit: name.clone(),
                limit_unit: limit.unit.to_string(),
            });
        }
        row.limit = Some(limit.value);
        let fraction = row.unit.fraction(row.median, limit.value);
        row.fraction_of_limit = Some(fraction).filter(|fraction| fraction.is_finite());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;

    fn row(unit: Unit, median: f64) -> Row {
        let measured = Measurement { median, min: median, max: median, runs: 1 };
        Row::new("speed", unit, measured).limit("peak")
    }

    fn limits(value: f64, unit: Unit) -> Limits {
        let mut limits = Limits::default();
        limits.add("peak", value, unit).unwrap();
        limits
    }

    #[test]
    fn fractions_of_rates_and_times() {
        let mut rate = row(Unit::BLOCKS_PER_S, 50.0);
        limits(200.0, Unit::BLOCKS_PER_S).apply(&mut rate).unwrap();
        assert_eq!((rate.limit, rate.fraction_of_limit), (Some(200.0), Some(0.25)));
        let mut time = row(Unit::MS, 8.0);
        limits(2.0, Unit::MS).apply(&mut time).unwrap();
        assert_eq!((time.limit, time.fraction_of_limit), (Some(2.0), Some(0.25)));
    }

    #[test]
    fn refusals() {
        let mut rate = row(Unit::BLOCKS_PER_S, 50.0);
        let unit = limits(2.0, Unit::MS).apply(&mut rate).unwrap_err().to_string();
        assert_eq!(unit, "case `` is in blocks/s, its limit `peak` in ms");
        let absent = Limits::default().apply(&mut rate).unwrap_err().to_string();
        assert!(absent.contains("`peak`, which this run has not measured"), "{absent}");
        assert!(limits(2.0, Unit::MS).add("peak", 3.0, Unit::MS).is_err());
        assert!(Limits::default().add("peak", f64::NAN, Unit::MS).is_err());
    }
}
