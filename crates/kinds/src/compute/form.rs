//! The form of an output's file, by its name: a NumPy array, or records.

use super::values::is_table;
use hushwire_block::Wiped;
use hushwire_compute::Scalar;
use hushwire_fault::code;
use hushwire_files::npy;
use hushwire_session::Fault;
use std::path::Path;

/// The form of a file that is no CSV file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// Records of bytes, one after the other.
    Records,
    /// An array of NumPy.
    Array,
}

/// Names of files whose formats are neither arrays of one kind nor records.
const OTHERS: [&str; 19] = [
    "npz", "json", "jsonl", "ndjson", "xml", "html", "xls", "xlsx", "ods", "pkl", "pickle", "pt", "h5",
    "hdf5", "mat", "zip", "gz", "zst", "onnx",
];

/// The end of a file's name, behind its last point, in small letters.
fn ending(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}

/// Whether a file's name is that of an array, or of a format that nobody reads as records.
pub(super) fn is_other(path: &Path) -> bool {
    OTHERS.contains(&&ending(path)[..])
}

/// Whether a file's name is that of a table, or of another format than an array or records.
#[cfg(feature = "nn")]
pub(crate) fn is_foreign(path: &Path) -> bool {
    is_table(path) || is_other(path)
}

/// Whether a file is an array by its name.
pub(super) fn is_array(path: &Path) -> bool {
    ending(path) == "npy"
}

impl OutputForm {
    /// The form of the file of output `name` with elements of `scalar`.
    ///
    /// # Errors
    /// The name is that of another format, or the format has no such elements.
    pub fn of(name: &str, scalar: Scalar, path: &Path) -> Result<Self, Fault> {
        let refuse = |cause: String, remedy: &str| {
            Err(Fault::new(code::PLACES, format!("preparing output {name}"), cause, remedy))
        };
        if is_table(path) || is_other(path) {
            let cause = format!("{} has the name of a format that is not written", path.display());
            let remedy = "call it .csv on the command line or write { csv = \"…\" } for a column, or call it .npy for \
                          an array or .bin for records";
            return refuse(cause, remedy);
        }
        if !is_array(path) {
            return Ok(Self::Records);
        }
        match kind(scalar) {
            Some(_) => Ok(Self::Array),
            None => refuse(
                format!("NumPy has no elements of {scalar}"),
                "call the file .csv or .bin, or declare an output of at most 64 bits",
            ),
        }
    }

    /// The file's bytes, of an output's records.
    #[must_use]
    pub fn bytes(self, scalar: Scalar, lengths: &[usize], records: &[u8]) -> Wiped<Vec<u8>> {
        match (self, kind(scalar)) {
            (Self::Array, Some((kind, width))) => {
                let mut data = Wiped::new(Vec::with_capacity(records.len() / scalar.record() * width));
                for record in records.chunks_exact(scalar.record()) {
                    element(scalar, record, width, &mut data);
                }
                Wiped::new(npy::written(kind, lengths, data.iter().copied()))
            }
            _ => Wiped::new(records.to_vec()),
        }
    }
}

/// NumPy's kind of elements that hold those of a scalar, and their bytes. Fixed numbers are floats.
fn kind(scalar: Scalar) -> Option<(&'static str, usize)> {
    let widths = [(1, "|i1", "|u1"), (2, "<i2", "<u2"), (4, "<i4", "<u4"), (8, "<i8", "<u8")];
    let is_signed = match scalar {
        Scalar::Bool => return Some(("|b1", 1)),
        Scalar::Fixed { .. } => return Some(("<f8", 8)),
        Scalar::Int { signed, .. } => signed,
        Scalar::Bits(_) | Scalar::Place => false,
    };
    let found = widths.into_iter().find(|(width, ..)| *width >= scalar.record());
    found.map(|(width, signed, unsigned)| (if is_signed { signed } else { unsigned }, width))
}

/// Adds a record as an element of NumPy.
fn element(scalar: Scalar, record: &[u8], width: usize, data: &mut Vec<u8>) {
    // The nearest float to the decimal, which is exact.
    if let Scalar::Fixed { .. } = scalar {
        let text = Wiped::new(scalar.show(record).into_bytes());
        let number = std::str::from_utf8(&text).ok().and_then(|text| text.parse::<f64>().ok());
        data.extend(number.unwrap_or_default().to_le_bytes());
        return;
    }
    let is_negative =
        matches!(scalar, Scalar::Int { signed: true, .. }) && record.last().is_some_and(|b| *b > 127);
    data.extend(record);
    data.extend(std::iter::repeat_n(if is_negative { 0xff } else { 0 }, width - record.len()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_files::npy::{NpyArray, NpyNumber};

    fn scalar(text: &str) -> Scalar {
        Scalar::parse(text).unwrap_or_else(|| panic!("{text} is no scalar"))
    }

    #[test]
    fn arrays_hold_the_elements_that_were_computed() {
        for (of, elements, kind) in [
            ("bool", &["true", "false"][..], "|b1"),
            ("u8", &["0", "255"], "|u1"),
            ("i5", &["-16", "15"], "|i1"),
            ("i12", &["-2048", "2047"], "<i2"),
            ("u20", &["0", "1048575"], "<u4"),
            ("i20", &["-524288", "-1"], "<i4"),
            ("i40", &["-549755813888", "3"], "<i8"),
            ("u64", &["18446744073709551615", "0"], "<u8"),
            ("fixed(32, 16)", &["-1.5", "0.0000152587890625"], "<f8"),
            ("fixed(128, 100)", &["-0.25", "7"], "<f8"),
            ("bits(9)", &["0x1ff", "0x0"], "<u2"),
        ] {
            let scalar = scalar(of);
            assert_eq!(OutputForm::of("y", scalar, Path::new("dir/y.NPY")), Ok(OutputForm::Array));
            let mut records = vec![0; 2 * scalar.record()];
            for (element, record) in elements.iter().zip(records.chunks_exact_mut(scalar.record())) {
                let read = scalar.read(element, record);
                assert_eq!(read.map_err(|e| e.to_string()), Ok(false), "{of}: {element}");
            }
            let bytes = OutputForm::Array.bytes(scalar, &[2, 1], &records);
            assert!(bytes.windows(kind.len()).any(|window| window == kind.as_bytes()), "{of}");
            let array = NpyArray::parse(&bytes).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(array.lengths, [2, 1], "{of}");
            for (at, element) in elements.iter().enumerate() {
                let whole = match (*element, element.strip_prefix("0x")) {
                    ("true", _) => Some(1),
                    ("false", _) => Some(0),
                    (_, Some(digits)) => i128::from_str_radix(digits, 16).ok(),
                    (text, None) => text.parse().ok(),
                };
                match array.number(at) {
                    Some(NpyNumber::Whole(n)) => assert_eq!(Some(n), whole, "{of}"),
                    Some(NpyNumber::Double(x)) => assert_eq!(Ok(x), element.parse(), "{of}"),
                    other => panic!("{of}: {other:?}"),
                }
            }
        }
    }

    #[test]
    fn other_formats_are_refused_by_name() {
        let refused = |of: &str, path: &str| {
            let fault = OutputForm::of("y", scalar(of), Path::new(path)).err();
            fault.map(|fault| fault.to_string()).unwrap_or_default()
        };
        for path in
            ["y.npz", "y.json", "y.tsv", "y.parquet", "y.csv", "y.csv.gz", "y.xlsx", "y.pkl", "y.npy.gz"]
        {
            assert!(refused("u8", path).contains("has the name of a format that is not written"), "{path}");
        }
        for of in ["u65", "i128", "bits(65)"] {
            assert!(refused(of, "y.npy").contains("NumPy has no elements of"), "{of}");
        }
        for path in ["y.bin", "y", "y.out", "npy", "y.dat"] {
            assert_eq!(
                OutputForm::of("y", scalar("i128"), Path::new(path)),
                Ok(OutputForm::Records),
                "{path}"
            );
        }
        let records = OutputForm::Records.bytes(scalar("u8"), &[3], &[1, 2, 3]);
        assert_eq!(records[..], [1, 2, 3]);
    }
}
