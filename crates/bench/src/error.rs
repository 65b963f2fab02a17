//! Errors of measuring, of reports and of plots.

use std::path::PathBuf;

/// Any error of the code being measured.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// A result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of a bench run or of a plot.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A `--only` argument is not `key=value`.
    #[error("`{0}` is not of the form key=value (for example `--only blocks=1024`)")]
    SelectionForm(String),
    /// `--only` names a key that no row has.
    #[error("no row has a key `{key}`{hint}; the keys are: {}", known.join(", "))]
    UnknownKey {
        /// The key asked for.
        key: String,
        /// A near key in words, or nothing.
        hint: String,
        /// Every key that exists.
        known: Vec<String>,
    },
    /// `--only` names a value that no row has.
    #[error("no row has {key}={value}{hint}; the values of `{key}` are: {}", known.join(", "))]
    UnknownValue {
        /// The key asked for.
        key: String,
        /// The value asked for.
        value: String,
        /// A near value in words, or nothing.
        hint: String,
        /// Every value that the key takes.
        known: Vec<String>,
    },
    /// Each value of `--only` exists, but no row has them together.
    #[error("no row has all of {0} at once; drop one of them or give a key more values")]
    NoRow(String),
    /// The bench has no case in the chosen set.
    #[error("the bench has no case in the {0} set")]
    EmptySet(&'static str),
    /// Two cases of a bench differ in their parameter keys.
    #[error("case `{case}` has the parameters [{found}], the bench's are [{expected}]")]
    ParamKeys {
        /// The case that differs.
        case: String,
        /// The keys of that case.
        found: String,
        /// The keys of the bench's first case.
        expected: String,
    },
    /// A row refers to a limit that was not measured.
    #[error("case `{case}` refers to the limit `{limit}`, which this run has not measured")]
    UnknownLimit {
        /// The row's case.
        case: String,
        /// The limit's name.
        limit: String,
    },
    /// A row and its limit are in different units.
    #[error("case `{case}` is in {row_unit}, its limit `{limit}` in {limit_unit}")]
    LimitUnit {
        /// The row's case.
        case: String,
        /// The row's unit.
        row_unit: String,
        /// The limit's name.
        limit: String,
        /// The limit's unit.
        limit_unit: String,
    },
    /// A limit was given twice with different values, or is not a positive number.
    #[error("limit `{name}`: {what}")]
    Limit {
        /// The limit's name.
        name: String,
        /// The fault of its value.
        what: String,
    },
    /// A row holds a number that JSON cannot hold.
    #[error("case `{case}`: {what} is {value}, not a finite number")]
    NotFinite {
        /// The row's case.
        case: String,
        /// The field.
        what: &'static str,
        /// The value of the field.
        value: f64,
    },
    /// A prerequisite of a bench is missing.
    #[error("bench {bench}: {source}")]
    Setup {
        /// The bench.
        bench: &'static str,
        /// The missing thing, and the remedy.
        source: BoxError,
    },
    /// The measured code failed.
    #[error("case `{case}` ({params}) failed: {source}")]
    Case {
        /// The case.
        case: String,
        /// The parameters of the case, `key=value` each.
        params: String,
        /// The error of the measured code.
        source: BoxError,
    },
    /// A file could not be read or written.
    #[error("{action} {}: {source}", path.display())]
    File {
        /// The attempt, as a participle: "writing", for example.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is there that is not of the kind that would replace it.
    #[error("{} is there already and is no {what}; move it away, or name another file", path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// The kind.
        what: &'static str,
    },
    /// The table or the JSON could not be written to a stream.
    #[error("writing the report: {0}")]
    Output(#[from] std::io::Error),
    /// The report could not be turned into JSON.
    #[error("encoding the report: {0}")]
    Encode(#[from] serde_json::Error),
    /// A file is not a bench report.
    #[error("{} is not a bench report: {cause}", path.display())]
    NotAReport {
        /// The file.
        path: PathBuf,
        /// The fault, with its place in the file.
        cause: String,
    },
    /// The files to plot hold no row.
    #[error("nothing to plot: {0}")]
    NothingToPlot(String),
}
