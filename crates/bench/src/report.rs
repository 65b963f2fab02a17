//! The report: the figures of a run, the machine, and the limits. Every row has a metric, a unit, a
//! median, and the fraction of its limit. Fields keep their order in the JSON.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    BenchError, BoxError, HostMachine, LimitBound, Limits, Measurement, Params, Result, Unit, steal,
};

/// A whole report. The order of the fields is the order in the JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The benchmark's name.
    pub bench: String,
    /// The machine on which it ran.
    pub machine: HostMachine,
    /// The limits of this machine, with which rows are compared.
    pub limits: Limits,
    /// The rows in the order in which they were measured.
    pub rows: Vec<BenchRow>,
}

impl Report {
    /// Returns an empty report of the benchmark `bench` on this machine.
    #[must_use]
    pub fn new(bench: &str) -> Self {
        Self {
            bench: bench.to_owned(),
            machine: HostMachine::this(),
            limits: Limits::default(),
            rows: Vec::new(),
        }
    }

    /// Adds a row after filling in its limit. A number that JSON cannot represent is refused.
    pub fn push(&mut self, mut row: BenchRow) -> Result<&BenchRow> {
        let numbers = [("median", row.median), ("min", row.min), ("max", row.max)];
        let bytes = row.bytes_per_unit.map(|bytes| ("bytes_per_unit", bytes));
        for (what, value) in numbers.into_iter().chain(bytes) {
            if !value.is_finite() {
                let text = format!("case `{}`: {what} is {value}, not a finite number", row.case);
                return Err(BenchError::Failed(text));
            }
        }
        self.limits.apply(&mut row)?;
        let at = self.rows.len();
        self.rows.push(row);
        Ok(&self.rows[at])
    }

    /// Returns the report as indented JSON with a final newline.
    pub fn to_json(&self) -> Result<String> {
        let text = serde_json::to_string_pretty(self);
        Ok(text.map_err(|e| BenchError::Failed(format!("encoding the report: {e}")))? + "\n")
    }
}

/// One measured figure. Every row of the JSON has every field, which is `null` if it has no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchRow {
    /// The case's name; [`run_cases`](crate::run_cases) fills it in.
    pub case: String,
    /// The case's parameters; [`run_cases`](crate::run_cases) fills them in.
    pub params: Params,
    /// The kind of figure, such as `throughput` or `latency`.
    pub metric: String,
    /// The unit of `median`, `min`, `max` and `limit`.
    pub unit: Unit,
    /// The median over the runs.
    pub median: f64,
    /// The smallest figure of a run.
    pub min: f64,
    /// The largest figure of a run.
    pub max: f64,
    /// The number of timed runs.
    pub runs: u32,
    /// The payload bytes that one party sends per unit of work, over any transport. TLS adds 22
    /// bytes to each record of at most 16 KiB of a message, so 0.13 % to long ones. TCP and IP add
    /// their headers. With shared memory, and in one process, no bytes are on a wire.
    pub bytes_per_unit: Option<f64>,
    /// Rounds of communication.
    pub rounds: Option<u64>,
    /// The most memory this process held during the case.
    pub peak_memory_bytes: Option<u64>,
    /// The limit's value in the row's unit. It is filled in from the report's limits, unless it was
    /// measured around this row.
    pub limit: Option<f64>,
    /// The limit's name.
    pub limit_name: Option<String>,
    /// The fraction of the limit that is reached, at most 1. It is filled in with the limit.
    pub fraction_of_limit: Option<f64>,
    /// The smallest figure of a limit that was measured around this row.
    pub limit_min: Option<f64>,
    /// The largest figure of a limit that was measured around this row.
    pub limit_max: Option<f64>,
    /// The reason why a row with a limit has no fraction of it.
    pub unjudged: Option<String>,
    /// The share, from 0 to 1, of the requested processor time that the host gave to others during
    /// the row's case, including preparations. `None` if the operating system does not report it,
    /// or too little was requested.
    pub steal_fraction: Option<f64>,
    /// The mark, as text, of a row with more than 5 % of stolen time.
    pub disturbed: Option<String>,
    /// The paper's figure for this row; empty if it has none.
    #[serde(default)]
    pub paper: Paper,
    /// Fields that only this benchmark has, such as a circuit's AND gates. They are keys next to
    /// the others in the JSON.
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl BenchRow {
    /// Makes a row with a measurement and no other values.
    #[must_use]
    pub fn new(metric: &str, unit: Unit, measured: Measurement) -> Self {
        let Measurement { median, min, max, runs } = measured;
        Self {
            case: String::new(),
            params: Params::new(),
            metric: metric.to_owned(),
            unit,
            median,
            min,
            max,
            runs,
            bytes_per_unit: None,
            rounds: None,
            peak_memory_bytes: None,
            limit: None,
            limit_name: None,
            fraction_of_limit: None,
            limit_min: None,
            limit_max: None,
            unjudged: None,
            steal_fraction: None,
            disturbed: None,
            paper: Paper::default(),
            more: Map::new(),
        }
    }

    /// A row with a rate: `units` of work in each of these times.
    pub(crate) fn rate(metric: &str, unit: Unit, units: f64, seconds: &[f64]) -> Result<Self, BoxError> {
        let rates: Vec<f64> = seconds.iter().map(|seconds| units / seconds).collect();
        Ok(Self::new(metric, unit, Measurement::of(&rates).ok_or("nothing was timed")?))
    }

    /// A row with these times, in milliseconds.
    pub(crate) fn time(metric: &str, seconds: &[f64]) -> Result<Self, BoxError> {
        let ms: Vec<f64> = seconds.iter().map(|seconds| 1e3 * seconds).collect();
        Ok(Self::new(metric, Unit::MS, Measurement::of(&ms).ok_or("nothing was timed")?))
    }

    /// Whether the row's parameters have these values.
    pub(crate) fn is(&self, wanted: &[(&str, &str)]) -> bool {
        wanted.iter().all(|(key, value)| self.params.text(key).as_deref() == Some(*value))
    }

    /// Adds a value under a key that only this benchmark has.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.more.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the bytes that one party sends per unit of work.
    #[must_use]
    pub fn bytes_per_unit(mut self, bytes: f64) -> Self {
        self.bytes_per_unit = Some(bytes);
        self
    }

    /// Sets the rounds of communication.
    #[must_use]
    pub fn rounds(mut self, rounds: u64) -> Self {
        self.rounds = Some(rounds);
        self
    }

    /// Sets the peak memory, if it is not that of this process.
    #[must_use]
    pub fn peak_memory_bytes(mut self, bytes: u64) -> Self {
        self.peak_memory_bytes = Some(bytes);
        self
    }

    /// Compares the row with the limit `name`.
    #[must_use]
    pub fn limit(mut self, name: &str) -> Self {
        self.limit_name = Some(name.to_owned());
        self
    }

    /// Compares the row with a limit that may have been measured around it.
    #[must_use]
    pub fn bound(mut self, bound: &LimitBound) -> Self {
        self.limit_name = Some(bound.name.clone());
        self.limit = Some(bound.value);
        (self.limit_min, self.limit_max) = (bound.spread.map(|s| s.min), bound.spread.map(|s| s.max));
        self
    }

    /// Sets the share of processor time that the host gave to others, and marks the row if it was
    /// too large.
    #[must_use]
    pub fn stolen(mut self, share: Option<f64>) -> Self {
        self.steal_fraction = share;
        self.disturbed = share.and_then(steal::mark);
        self
    }

    /// Sets the paper's figure for this row.
    #[must_use]
    pub fn paper(mut self, paper: Paper) -> Self {
        self.paper = paper;
        self
    }
}

/// The single row of a case.
impl From<BenchRow> for Vec<BenchRow> {
    fn from(row: BenchRow) -> Self {
        vec![row]
    }
}

/// A paper's figure: `value`, `unit` and `source`, and possibly more values. It is empty if the
/// paper has no figure.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Paper(Map<String, Value>);

impl Paper {
    /// Makes the figure `value` in `unit`, found in `source` (paper, table, row).
    #[must_use]
    pub fn new(value: f64, unit: &Unit, source: &str) -> Self {
        Self::default().with("value", value).with("unit", unit.as_str()).with("source", source)
    }

    /// Adds a value, such as the paper's machine.
    #[must_use]
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    /// Whether the paper has no figure.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the phase of the paper's system that the figure times, if it is given.
    #[must_use]
    pub fn phase(&self) -> Option<&str> {
        self.0.get("phase").and_then(Value::as_str)
    }

    /// Returns the figure if it is in `unit`.
    #[must_use]
    pub fn value_in(&self, unit: &Unit) -> Option<f64> {
        let same = self.0.get("unit").and_then(Value::as_str) == Some(unit.as_str());
        self.0.get("value").and_then(Value::as_f64).filter(|_| same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW_KEYS: &str = "case params metric unit median min max runs bytes_per_unit rounds peak_memory_bytes limit \
                            limit_name fraction_of_limit limit_min limit_max unjudged steal_fraction disturbed paper";

    fn row_keys() -> Vec<&'static str> {
        ROW_KEYS.split_whitespace().collect()
    }

    fn keys(value: &Value) -> Vec<&str> {
        value.as_object().unwrap().keys().map(String::as_str).collect()
    }

    fn measured(median: f64) -> Measurement {
        Measurement { median, min: median, max: median, runs: 5 }
    }

    fn report() -> Report {
        let mut report = Report::new("aes");
        report.limits.add("peak", 4e9, Unit::BLOCKS_PER_S).unwrap();
        let mut bare = BenchRow::new("latency", Unit::MS, measured(2.5));
        bare.params = Params::new().with("zeta", 7).with("alpha", "x").with("blocks", 1u64 << 40);
        report.push(bare).unwrap();
        let full = BenchRow::new("throughput", Unit::BLOCKS_PER_S, measured(1e9))
            .bytes_per_unit(16.0)
            .rounds(10)
            .peak_memory_bytes(1 << 20)
            .limit("peak")
            .paper(Paper::new(2e9, &Unit::BLOCKS_PER_S, "Table 8"));
        report.push(full).unwrap();
        let latency = measured(1.0);
        report.push(BenchRow::new("latency", Unit::MS, latency).with("ands", 5120)).unwrap();
        report
    }

    #[test]
    fn every_key_stands_in_every_row_in_order() {
        let json: Value = serde_json::from_str(&report().to_json().unwrap()).unwrap();
        assert_eq!(keys(&json), ["bench", "machine", "limits", "rows"]);
        assert_eq!(keys(&json["limits"][0]), ["name", "value", "unit", "min", "max"]);
        assert_eq!(keys(&json["rows"][0]), row_keys());
        assert_eq!(keys(&json["rows"][1]), row_keys());
        assert_eq!(keys(&json["rows"][2]), [&row_keys()[..], &["ands"]].concat());
        assert_eq!(json["rows"][2]["ands"], 5120);
        let bare = &json["rows"][0];
        for absent in &row_keys()[8..19] {
            assert!(bare[absent].is_null(), "{absent}");
        }
        assert_eq!(bare["paper"], serde_json::json!({}));
        assert_eq!(bare["params"].to_string(), r#"{"zeta":7,"alpha":"x","blocks":1099511627776}"#);
        let full = &json["rows"][1];
        assert_eq!((&full["fraction_of_limit"], &full["runs"]), (&0.25.into(), &5.into()));
        assert_eq!(keys(&full["paper"]), ["value", "unit", "source"]);
    }

    #[test]
    fn json_reads_back_as_it_was() {
        let report = report();
        let back: Report = serde_json::from_str(&report.to_json().unwrap()).unwrap();
        assert_eq!(back, report);
    }

    #[test]
    fn reports_of_before_read_as_ever() {
        // Its date has a precision of seconds.
        let now = report();
        let mut json: Value = serde_json::from_str(&now.to_json().unwrap()).unwrap();
        let strip = |of: &mut Value, keys: &[&str]| {
            let fields = of.as_object_mut().unwrap();
            keys.iter().for_each(|key| assert!(fields.shift_remove(*key).is_some(), "{key}"));
        };
        json["rows"].as_array_mut().unwrap().iter_mut().for_each(|row| strip(row, &row_keys()[14..19]));
        strip(&mut json["limits"][0], &["min", "max"]);
        assert_eq!(serde_json::from_value::<Report>(json).unwrap(), now);
    }

    #[test]
    fn stolen_time_is_noted_and_marked() {
        let row = |share| BenchRow::new("latency", Unit::MS, measured(1.0)).stolen(share);
        assert_eq!((row(None).steal_fraction, row(None).disturbed), (None, None));
        assert_eq!((row(Some(0.04)).steal_fraction, row(Some(0.04)).disturbed), (Some(0.04), None));
        assert!(row(Some(0.07)).disturbed.is_some());
    }

    #[test]
    fn numbers_that_json_lacks_are_refused() {
        let row = BenchRow::new("throughput", Unit::MS, measured(f64::INFINITY));
        let error = Report::new("aes").push(row).unwrap_err().to_string();
        assert!(error.contains("median is inf"), "{error}");
    }
}
