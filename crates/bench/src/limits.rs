//! The limits of this machine, measured in the same run as the rows.
//!
//! Limits of the processor, such as its AES rounds, are measured once in a run. A link's rate
//! varies with the host's other work. So it is measured around each group of rows, in messages of
//! their length. Such rows have their own value and its spread. The report's list has the best
//! value of the run and the whole spread.

use serde::{Deserialize, Serialize};

use crate::{BenchError, BenchRow, Result, Unit, human::quantity};

/// The most that the machine can do of one kind of work, such as AES rounds or copies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReportLimit {
    /// The name that rows refer to.
    pub name: String,
    /// The best value of the run: the largest rate, or the shortest time.
    pub value: f64,
    /// The unit of `value`, `min` and `max`.
    pub unit: Unit,
    /// The smallest figure of all measurements, if the limit is measured around rows.
    #[serde(default)]
    pub min: Option<f64>,
    /// The largest figure of all measurements, if the limit is measured around rows.
    #[serde(default)]
    pub max: Option<f64>,
}

/// A limit that was measured several times around a row, in the row's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The best figure, which is the least disturbed one: the largest rate, or the shortest time.
    pub value: f64,
    /// The smallest figure.
    pub min: f64,
    /// The largest figure.
    pub max: f64,
}

impl Spread {
    /// Returns the spread of figures in `unit`; `None` if there are no figures.
    #[must_use]
    pub fn of(unit: &Unit, figures: &[f64]) -> Option<Self> {
        let min = figures.iter().copied().reduce(f64::min)?;
        let max = figures.iter().copied().reduce(f64::max)?;
        Some(Self { value: if unit.is_rate() { max } else { min }, min, max })
    }

    /// Returns the spread of a quantity that follows from this limit, such as blocks per second
    /// from bytes per second.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        let ends = [f(self.min), f(self.max)];
        Self { value: f(self.value), min: ends[0].min(ends[1]), max: ends[0].max(ends[1]) }
    }
}

/// A limit of one row: its name, and its value for this row.
#[derive(Clone, Debug, PartialEq)]
pub struct LimitBound {
    /// The limit's name in the report's list.
    pub name: String,
    /// The value in the row's unit.
    pub value: f64,
    /// The spread of a limit that was measured around the row.
    pub spread: Option<Spread>,
}

impl LimitBound {
    /// Returns the tighter one of two bounds for the same row: the smaller rate, or the longer
    /// time.
    #[must_use]
    pub fn tighter(self, other: Self, unit: &Unit) -> Self {
        let less = other.value < self.value;
        if less == unit.is_rate() && (other.value - self.value).abs() > 0.0 { other } else { self }
    }
}

/// Returns the fraction of its limit that a figure reaches, above 0 and at most 1.
///
/// # Errors
/// The reason why there is no fraction. A figure beyond its limit shows that the limit was measured
/// at a worse moment than the row. Then the distance between row and limit is unknown.
pub fn judge(unit: &Unit, figure: f64, limit: f64) -> std::result::Result<f64, String> {
    let fraction = unit.fraction(figure, limit);
    if !fraction.is_finite() {
        return Err(format!("{} is no part of a limit", quantity(figure, unit)));
    }
    if fraction > 1.0 {
        let side = if unit.is_rate() { "below" } else { "above" };
        let limit = quantity(limit, unit);
        return Err(format!("the limit came out at {limit}, {side} the row: it was taken in a worse moment"));
    }
    Ok(fraction)
}

/// The limits of a report, in the order in which they were measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Limits(Vec<ReportLimit>);

impl Limits {
    /// Returns the limit with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ReportLimit> {
        self.0.iter().find(|limit| limit.name == name)
    }

    /// Returns the limits in the order in which they were measured.
    pub fn iter(&self) -> impl Iterator<Item = &ReportLimit> {
        self.0.iter()
    }

    /// Adds a limit. A second value for a name is refused, because rows may already refer to the
    /// first one.
    pub fn add(&mut self, name: &str, value: f64, unit: Unit) -> Result<()> {
        let refuse = |what: String| Err(BenchError::limit(name, &what));
        if !(value.is_finite() && value > 0.0) {
            return refuse(format!("{value} {unit} is not a positive number"));
        }
        if let Some(old) = self.get(name) {
            let old = format!("{} {}", old.value, old.unit);
            return refuse(format!("is already {old}, and cannot become {value} {unit}"));
        }
        self.0.push(ReportLimit { name: name.to_owned(), value, unit, min: None, max: None });
        Ok(())
    }

    /// Adds a limit that was measured around a row, or widens the limit with that name by these
    /// figures.
    ///
    /// # Errors
    /// A figure is not a positive number, or the limit exists in another unit, or as a limit that
    /// is measured once in a run.
    pub fn widen(&mut self, name: &str, taken: Spread, unit: &Unit) -> Result<()> {
        let Some(old) = self.0.iter_mut().find(|limit| limit.name == name) else {
            self.add(name, taken.value, unit.clone())?;
            if let Some(new) = self.0.last_mut() {
                (new.min, new.max) = (Some(taken.min), Some(taken.max));
            }
            return Ok(());
        };
        let refuse = |what: String| Err(BenchError::limit(name, &what));
        let (Some(min), Some(max), true) = (old.min, old.max, old.unit == *unit) else {
            return refuse(format!("is already {} {}, taken otherwise", old.value, old.unit));
        };
        if !(taken.min.is_finite() && taken.max.is_finite() && taken.min > 0.0) {
            return refuse(format!("{} to {} {unit} are not positive numbers", taken.min, taken.max));
        }
        (old.min, old.max) = (Some(min.min(taken.min)), Some(max.max(taken.max)));
        old.value = if unit.is_rate() { old.value.max(taken.value) } else { old.value.min(taken.value) };
        Ok(())
    }

    /// Fills in a row's limit and the fraction of it that the row reaches, or the reason why there
    /// is no fraction.
    pub fn apply(&self, row: &mut BenchRow) -> Result<()> {
        let Some(name) = &row.limit_name else {
            (row.limit, row.fraction_of_limit, row.unjudged) = (None, None, None);
            return Ok(());
        };
        let Some(limit) = self.get(name) else {
            return Err(BenchError::Failed(format!(
                "case `{}` refers to the limit `{name}`, which this run has not measured",
                row.case
            )));
        };
        if limit.unit != row.unit {
            return Err(BenchError::Failed(format!(
                "case `{}` is in {}, its limit `{name}` in {}",
                row.case, row.unit, limit.unit
            )));
        }
        // A row with a limit measured around it has its own value.
        let value = *row.limit.get_or_insert(limit.value);
        (row.fraction_of_limit, row.unjudged) = match judge(&row.unit, row.median, value) {
            Ok(fraction) => (Some(fraction), None),
            Err(why) => (None, Some(why)),
        };
        Ok(())
    }
}

/// Asserts that a measured row agrees with its limit: the value, the unit, the spread, and the
/// fraction or the reason for its absence.
#[cfg(test)]
pub(crate) fn stands(report: &crate::Report, row: &BenchRow) {
    let name = row.limit_name.as_deref().unwrap_or_else(|| panic!("{} has no limit", row.case));
    let limit = report.limits.get(name).unwrap_or_else(|| panic!("{name} is not listed"));
    let value = row.limit.unwrap_or_else(|| panic!("{name} has no value"));
    assert_eq!(limit.unit, row.unit);
    match (limit.min, limit.max, row.limit_min, row.limit_max) {
        (None, None, None, None) => assert!((limit.value - value).abs() < 1e-9 * value),
        (Some(min), Some(max), Some(own_min), Some(own_max)) => {
            assert!(min <= own_min && own_min <= value && value <= own_max && own_max <= max, "{name}");
        }
        spread => panic!("{name}: a spread in one place alone: {spread:?}"),
    }
    let fraction = row.unit.fraction(row.median, value);
    match row.fraction_of_limit {
        Some(given) => assert!((given - fraction).abs() < 1e-9 && row.unjudged.is_none(), "{name}"),
        None => assert!(fraction > 1.0 && row.unjudged.is_some(), "{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Measurement;

    fn row(unit: Unit, median: f64) -> BenchRow {
        let measured = Measurement { median, min: median, max: median, runs: 1 };
        BenchRow::new("speed", unit, measured).limit("peak")
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
    fn a_row_beyond_its_limit_is_unjudged() {
        let mut rate = row(Unit::BYTES_PER_S, 2.4e9);
        limits(1e9, Unit::BYTES_PER_S).apply(&mut rate).unwrap();
        assert_eq!((rate.limit, rate.fraction_of_limit), (Some(1e9), None));
        assert!(rate.unjudged.is_some_and(|why| why.contains("1.00 GB/s, below the row")));
        let mut time = row(Unit::MS, 1.0);
        limits(2.0, Unit::MS).apply(&mut time).unwrap();
        assert_eq!(time.fraction_of_limit, None);
        assert!(time.unjudged.is_some_and(|why| why.contains("2.00 ms, above the row")));
        assert_eq!(judge(&Unit::MS, 2.0, 2.0), Ok(1.0), "at the limit is judged");
        assert!(judge(&Unit::MS, 0.0, 2.0).is_err(), "no time at all");
    }

    #[test]
    fn a_limit_taken_around_rows_belongs_to_each_and_spreads_over_all() {
        let unit = Unit::BYTES_PER_S;
        let of = |figures: &[f64]| Spread::of(&unit, figures).unwrap();
        let mut limits = Limits::default();
        limits.widen("peak", of(&[3e9, 4e9, 2e9]), &unit).unwrap();
        limits.widen("peak", of(&[0.4e9, 0.5e9]), &unit).unwrap();
        let listed = limits.get("peak").unwrap();
        assert_eq!((listed.value, listed.min, listed.max), (4e9, Some(0.4e9), Some(4e9)));
        let slow = of(&[0.4e9, 0.5e9]);
        let bound = LimitBound { name: "peak".to_owned(), value: slow.value, spread: Some(slow) };
        let mut slow = row(unit.clone(), 1e9).bound(&bound);
        limits.apply(&mut slow).unwrap();
        assert_eq!((slow.limit, slow.limit_min, slow.limit_max), (Some(0.5e9), Some(0.4e9), Some(0.5e9)));
        assert_eq!(slow.fraction_of_limit, None, "judged by its own limit, not by the best of the run");
        assert!(limits.widen("peak", of(&[1.0]), &Unit::MS).is_err());
        limits.add("once", 1.0, unit.clone()).unwrap();
        assert!(limits.widen("once", of(&[1.0]), &unit).is_err());
    }

    #[test]
    fn spreads_follow_their_unit() {
        let time = Spread::of(&Unit::MS, &[3.0, 1.0, 2.0]).unwrap();
        assert_eq!(time, Spread { value: 1.0, min: 1.0, max: 3.0 });
        assert_eq!(time.map(|ms| 6.0 / ms), Spread { value: 6.0, min: 2.0, max: 6.0 });
        assert_eq!(Spread::of(&Unit::MS, &[]), None);
        let bound = |value: f64| LimitBound { name: value.to_string(), value, spread: None };
        let tighter = |unit: &Unit| bound(2.0).tighter(bound(3.0), unit).value;
        assert_eq!((tighter(&Unit::MS), tighter(&Unit::OT_PER_S)), (3.0, 2.0));
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
