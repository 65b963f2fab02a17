//! Inputs, read from CSV columns, NumPy arrays, records of bytes, or text.

use super::form::{is_array, is_other};
use crate::psi;
use hushwire_block::Wiped;
use hushwire_compute::{Dim, Scalar, Tensor, Type};
use hushwire_fault::code;
use hushwire_files::{
    Rows,
    npy::{self, NpyArray, NpyNumber},
};
use hushwire_session::{Dialect, Fault, InputPlace};
use std::{
    collections::BTreeMap,
    fmt::Write,
    fs::File,
    io::Read,
    path::{Path, PathBuf},
    sync::Arc,
};

/// An input's elements as records, one after the other ([`Scalar::record`]).
pub(crate) struct Values {
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
    pub(crate) records: Wiped<Vec<u8>>,
    /// A remark for the owner, if some elements were rounded.
    pub(crate) remark: Option<String>,
}

/// Decimals that the type cannot hold exactly, and that became the nearest element.
#[derive(Default)]
struct Rounded {
    count: usize,
    first: String,
}

impl Rounded {
    fn count(&mut self, place: impl FnOnce() -> String) {
        if self.count == 0 {
            self.first = place();
        }
        self.count += 1;
    }

    fn remark(self, name: &str, scalar: Scalar) -> Option<String> {
        let numbers = match self.count {
            0 => return None,
            1 => "1 number is".to_owned(),
            n => format!("{n} numbers are"),
        };
        Some(format!(
            "input {name}: {numbers} rounded to the nearest multiple of 2^-{}, which {scalar} has; the first is {}",
            scalar.frac(),
            self.first
        ))
    }
}

/// Reads an input of this name and type, with a remark if numbers were rounded. The data bind the
/// symbols in its shape; `symbols` are known before.
///
/// # Errors
/// The input cannot be read, or holds something that is not such an element.
pub fn read_input(
    name: &str,
    ty: &Type,
    place: &InputPlace,
    symbols: &BTreeMap<String, u64>,
) -> Result<(Tensor, Option<String>), Fault> {
    let values = Values::read(name, ty, place, symbols)?;
    Ok((values.tensor(), values.remark))
}

impl Values {
    pub(crate) fn read(
        name: &str,
        ty: &Type,
        place: &InputPlace,
        symbols: &BTreeMap<String, u64>,
    ) -> Result<Self, Fault> {
        let whole = |bytes: Wiped<Vec<u8>>, path: &Path| {
            if npy::is_array(&bytes) {
                return Self::of_array(name, ty, &bytes, path);
            }
            if is_table(path) {
                let cause = "its name is that of a table, and no column is named";
                let remedy = "name one: { csv = \"…\", column = \"…\" }, or --in NAME=FILE:COLUMN";
                return Err(Fault::file("use", path, cause, remedy));
            }
            // Archives, JSON and the like are named; an array says itself why it is none.
            if is_other(path) || is_array(path) {
                let cause = "its name is that of another format than an array of NumPy or records".to_owned();
                let error =
                    NpyArray::parse(&bytes).err().filter(|_| is_array(path) || bytes.starts_with(b"PK"));
                let (cause, remedy) = error
                    .map_or((cause, "save it by numpy.save, or as CSV, and name a column"), |e| {
                        (e.cause, e.remedy)
                    });
                return Err(Fault::file("read", path, cause, remedy));
            }
            Self::of_records(name, ty, bytes, path, symbols)
        };
        let io = |path: &Path, e| Fault::io("read", path, &e);
        match place {
            InputPlace::Csv(from, columns) => Self::of_csv(name, ty, from, columns),
            InputPlace::Values(text) => Self::of_text(name, ty, text, symbols),
            InputPlace::File(path) => {
                let file = File::open(path).map_err(|e| io(path, e))?;
                whole(all_of(file).map_err(|e| io(path, e))?, path)
            }
            InputPlace::Open(file, path) => whole(all_of(&**file).map_err(|e| io(path, e))?, path),
            InputPlace::Memory(bytes) => Self::taken(name, ty, bytes.clone(), symbols),
            InputPlace::Hex(_) | InputPlace::HexFile(_) | InputPlace::Table(..) => Err(Fault::new(
                code::PLACES,
                format!("reading input {name}"),
                "a computation takes no digits",
                "give it as { csv = \"…\", column = \"…\" }, { file = \"…\" } or { values = \"1, 2\" }",
            )),
        }
    }

    /// Takes records in memory. They are copied only if another value shares them.
    pub(super) fn taken(
        name: &str,
        ty: &Type,
        bytes: Arc<Wiped<Vec<u8>>>,
        symbols: &BTreeMap<String, u64>,
    ) -> Result<Self, Fault> {
        let records = Arc::unwrap_or_clone(bytes);
        Self::of_records(name, ty, records, &PathBuf::from(format!("input {name}")), symbols)
    }

    /// Reads columns of a CSV file: one for a vector or a single element, and for a matrix as many
    /// as its second axis has.
    fn of_csv(name: &str, ty: &Type, from: &InputPlace, columns: &[String]) -> Result<Self, Fault> {
        let memory = PathBuf::from(format!("input {name}"));
        let (places, dialect) = from.as_table(&Dialect::default());
        let rows = match &places[..] {
            [InputPlace::Memory(bytes)] => Rows::with(&memory, &bytes[..], &dialect),
            places => {
                let file = |place: &&InputPlace| match place {
                    InputPlace::File(path) => Some(path.clone()),
                    _ => None,
                };
                let files: Option<Vec<PathBuf>> = places.iter().map(file).collect();
                let files = files.ok_or_else(|| Fault::internal("reading inputs", "rows are text"))?;
                Rows::open_all(&files, &dialect)
            }
        };
        let (mut rows, rank) = (rows.map_err(psi::of_file)?, ty.shape.rank());
        if rank > 2 || (rank < 2 && columns.len() != 1) || columns.is_empty() {
            let cause = format!("{name}: {ty} has {rank} axes, and {} columns are named", columns.len());
            let remedy = "name one column for a vector, one for each place of a matrix's second axis, or bring records";
            return Err(Fault::new(code::PLACES, format!("reading input {name}"), cause, remedy));
        }
        let places = rows.select(columns.iter().map(String::as_str)).map_err(psi::of_file)?;
        let (scalar, mut records, mut n) = (ty.scalar, Wiped::new(vec![]), 0);
        let mut rounded = Rounded::default();
        while rows.read().map_err(psi::of_file)?.is_some() {
            n += 1;
            let row = rows.last();
            for (place, column) in places.iter().zip(columns) {
                let start = records.len();
                records.resize(start + scalar.record(), 0);
                let field = std::str::from_utf8(row.get(*place).unwrap_or_default()).unwrap_or("\u{fffd}");
                let number = dialect.number(field).unwrap_or_default();
                let read = scalar.read(number.trim(), &mut records[start..]).map_err(|e| {
                    let at = rows.place().map_or_else(String::new, |place| format!(", {place}"));
                    let doing = format!("cannot read {}{at}", rows.path().display());
                    let cause = format!("row {n}, column {}: {}", column.trim(), e.cause);
                    Fault::new(code::VALUES, doing, cause, e.remedy).whole()
                })?;
                if read {
                    let at = || rows.place().map_or_else(|| format!("row {n}"), |place| place.to_string());
                    rounded.count(|| {
                        format!("in {}, {}, column {}", rows.path().display(), at(), column.trim())
                    });
                }
            }
        }
        let lengths = match rank {
            0 if n == 1 => vec![],
            0 => {
                let cause = format!("it has {n} rows, and {name}: {ty} is a single element");
                return Err(Fault::file("use", rows.path(), cause, "give it one row, or declare a vector"));
            }
            1 => vec![n],
            _ => vec![n, columns.len()],
        };
        let remark = rounded.remark(name, scalar);
        Self { scalar, lengths, records, remark }.checked(name, ty)
    }

    /// Elements as text, with commas between them.
    fn of_text(name: &str, ty: &Type, text: &str, symbols: &BTreeMap<String, u64>) -> Result<Self, Fault> {
        let (scalar, mut records) = (ty.scalar, Wiped::new(vec![]));
        let mut rounded = Rounded::default();
        // A list may have brackets, as outputs have.
        let text = text.trim();
        let text = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
        let elements = text.split(',').map(str::trim);
        let elements: Vec<_> = if text.trim().is_empty() { vec![] } else { elements.collect() };
        for (i, element) in elements.iter().enumerate() {
            let start = records.len();
            records.resize(start + scalar.record(), 0);
            let read = scalar.read(element, &mut records[start..]).map_err(|e| {
                Fault::new(
                    code::VALUES,
                    format!("reading input {name}"),
                    format!("element {}: {}", i + 1, e.cause),
                    e.remedy,
                )
            })?;
            if read {
                rounded.count(|| format!("element {}", i + 1));
            }
        }
        let lengths = lengths(name, ty, elements.len(), symbols)?;
        let remark = rounded.remark(name, scalar);
        Self { scalar, lengths, records, remark }.checked(name, ty)
    }

    /// An array of NumPy, whose axes are those of the type.
    fn of_array(name: &str, ty: &Type, bytes: &[u8], path: &Path) -> Result<Self, Fault> {
        let array = NpyArray::parse(bytes).map_err(|e| Fault::file("read", path, e.cause, e.remedy))?;
        if array.lengths.len() != ty.shape.rank() {
            let cause =
                format!("its shape is {:?}, and {name}: {ty} has {} axes", array.lengths, ty.shape.rank());
            let remedy = "save it with as many axes, as by numpy.reshape, or declare the input otherwise";
            return Err(Fault::file("use", path, cause, remedy));
        }
        let (scalar, mut rounded) = (ty.scalar, Rounded::default());
        let mut records = Wiped::new(vec![0; array.len() * scalar.record()]);
        let mut text = Wiped::new(String::new());
        for (i, record) in records.chunks_exact_mut(scalar.record()).enumerate() {
            let Some(number) = array.number(i) else {
                let error = array.no_number();
                return Err(Fault::file("read", path, error.cause, error.remedy));
            };
            if let Some(is_rounded) = of_float(number, scalar, record) {
                if is_rounded {
                    rounded.count(|| format!("in {}, element {i}", path.display()));
                }
                continue;
            }
            text.clear();
            // Writing to a string does not fail.
            let _ = write!(text, "{number}");
            let read = scalar.read(&text, record).map_err(|e| {
                let doing = format!("cannot read {}", path.display());
                Fault::new(code::VALUES, doing, format!("element {i}: {}", e.cause), e.remedy).whole()
            })?;
            if read {
                rounded.count(|| format!("in {}, element {i}", path.display()));
            }
        }
        Self { scalar, lengths: array.lengths, records, remark: rounded.remark(name, scalar) }
            .checked(name, ty)
    }

    fn of_records(
        name: &str,
        ty: &Type,
        records: Wiped<Vec<u8>>,
        path: &Path,
        symbols: &BTreeMap<String, u64>,
    ) -> Result<Self, Fault> {
        let (scalar, record) = (ty.scalar, ty.scalar.record());
        if !records.len().is_multiple_of(record) {
            let cause = format!("it has {} bytes, and an element of {scalar} has {record}", records.len());
            let remedy = "give the elements one after the other, least significant byte first";
            return Err(Fault::file("use", path, cause, remedy));
        }
        if let Some(odd) = records.chunks_exact(record).position(|bytes| !scalar.fits(bytes)) {
            let bits = scalar.bits();
            let cause = format!("element {} (bytes {}…) does not fit {scalar}", odd + 1, odd * record);
            let remedy =
                format!("give {bits} bits in {record} bytes, with the sign above where there is one");
            return Err(Fault::file("use", path, cause, remedy));
        }
        let lengths = lengths(name, ty, records.len() / record, symbols)?;
        Self { scalar, lengths, records, remark: None }.checked(name, ty)
    }

    /// Refuses lengths that differ from the declared ones.
    pub(super) fn checked(self, name: &str, ty: &Type) -> Result<Self, Fault> {
        let differs = |(dim, n): (&Dim, &usize)| matches!(dim, Dim::Known(known) if *known != *n as u64);
        if ty.shape.0.iter().zip(&self.lengths).any(differs) {
            let lengths = self.lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(" × ");
            let cause = format!("it has {lengths} elements, and is declared {ty}");
            return Err(Fault::new(
                code::VALUES,
                format!("reading input {name}"),
                cause,
                "bring as many, or declare it otherwise",
            ));
        }
        Ok(self)
    }
}

/// Writes the nearest element to a float, the even one of two, and returns whether it differs. The
/// float's own value counts, and not the shortest decimal that names it. `None` if the scalar is
/// not fixed, or does not hold it.
fn of_float(number: NpyNumber, scalar: Scalar, record: &mut [u8]) -> Option<bool> {
    let Scalar::Fixed { bits, frac } = scalar else { return None };
    let x = match number {
        NpyNumber::Whole(_) => return None,
        NpyNumber::Single(x) => f64::from(x),
        NpyNumber::Double(x) => x,
    };
    if !x.is_finite() {
        return None;
    }
    // The float is `size` times a power of two, and an element a multiple of 2^-frac.
    let exponent = (x.to_bits() >> 52 & 0x7ff) as i32;
    let implicit = u64::from(exponent > 0) << 52;
    let size = u128::from(x.to_bits() & ((1 << 52) - 1) | implicit);
    let shift = exponent.max(1) - 1075 + i32::from(frac);
    let (steps, is_rounded) = match shift {
        _ if size == 0 => (0, false),
        75.. => return None,
        0.. => (size << shift, false),
        -63.. => {
            let (whole, rest) = (size >> -shift, size & ((1 << -shift) - 1));
            let half = 1 << (-shift - 1);
            (whole + u128::from(rest > half || (rest == half && whole % 2 == 1)), rest != 0)
        }
        _ => (0, true),
    };
    let most = u128::from(x.is_sign_negative()) + (u128::MAX >> 1 >> (128 - u32::from(bits)));
    if steps > most {
        return None;
    }
    let steps = if x.is_sign_negative() { steps.wrapping_neg() } else { steps };
    record.copy_from_slice(&steps.to_le_bytes()[..record.len()]);
    Some(is_rounded)
}

/// Whether a file is a table by its name, packed or not.
#[must_use]
pub fn is_table(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
    let end = plain.rsplit_once('.').map_or("", |(_, end)| end);
    ["csv", "tsv", "tab", "txt", "parquet", "arrow", "arrows", "feather", "ipc"].contains(&end)
}

fn all_of(mut file: impl Read) -> std::io::Result<Wiped<Vec<u8>>> {
    let mut bytes = Wiped::new(vec![]);
    file.read_to_end(&mut bytes).map(|_| bytes)
}

/// The lengths that follow from the number of elements; at most one of them may be unknown before.
fn lengths(
    name: &str,
    ty: &Type,
    elements: usize,
    symbols: &BTreeMap<String, u64>,
) -> Result<Vec<usize>, Fault> {
    let refuse = |cause: String, remedy: &str| {
        Err(Fault::new(code::VALUES, format!("reading input {name}"), cause, remedy))
    };
    // No input could satisfy this type, so the computation is at fault and not a file. Every other
    // member reports the same error.
    let uncounted = || {
        let cause = format!("{ty} has more elements than can be counted");
        Err(Fault::new(code::PLACES, format!("reading input {name}"), cause, "take smaller lengths"))
    };
    let known = |dim: &Dim| match dim {
        Dim::Known(n) => Some(*n),
        Dim::Symbol(symbol) => symbols.get(&**symbol).copied(),
    };
    let known: Vec<Option<u64>> = ty.shape.0.iter().map(known).collect();
    let product = known.iter().flatten().try_fold(1u64, |product, n| product.checked_mul(*n));
    let open = known.iter().filter(|n| n.is_none()).count() as u64;
    let n = match (product, open) {
        (None, _) => return uncounted(),
        (Some(product), 0) if product == elements as u64 => 0,
        (Some(product), 0) => {
            return refuse(format!("it has {elements} elements, and {ty} has {product}"), "bring as many");
        }
        (Some(product), 1) if product > 0 && (elements as u64).is_multiple_of(product) => {
            elements as u64 / product
        }
        (Some(_), 1) => {
            return refuse(format!("{elements} elements do not fill rows of {ty}"), "bring whole rows");
        }
        _ => {
            let remedy = "write numbers for them under [symbols], or bring CSV columns";
            return refuse(format!("{elements} elements say nothing of the lengths of {ty}"), remedy);
        }
    };
    known
        .iter()
        .map(|known| usize::try_from(known.unwrap_or(n)))
        .collect::<Result<_, _>>()
        .or_else(|_| uncounted())
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::{Shape, Visibility};

    #[test]
    fn values_that_do_not_fit_are_errors_of_a_file_with_their_lengths() {
        let ty = Type::new(Scalar::unsigned(8), Shape::vector(Dim::Known(3)), Visibility::Secret);
        let of_text = |text: &str| Values::of_text("x", &ty, text, &BTreeMap::new()).err();
        let long =
            Values { scalar: ty.scalar, lengths: vec![4], records: Wiped::new(vec![0; 4]), remark: None };
        for (error, words) in [
            (of_text("1,2"), "it has 2 elements"),
            (of_text("1,2,256"), "element 3"),
            (long.checked("x", &ty).err(), "it has 4 elements, and is declared"),
        ] {
            let error = error.unwrap_or_else(|| panic!("no error of {words:?}"));
            assert_eq!(error.code(), code::VALUES, "{error}");
            assert!(error.to_string().contains(words), "{error}");
        }
        assert!(of_text("1,2,3").is_none() && of_text("[1, 2, 3]").is_none());
        // The error does not blame a file for lengths that no file could fill.
        let huge = Type { shape: Shape(vec![Dim::Known(1 << 32); 3]), ..ty };
        let error = Values::of_text("x", &huge, "1", &BTreeMap::new()).err().expect("an error");
        assert!(error.code() == code::PLACES && error.to_string().contains("than can be counted"), "{error}");
    }

    /// The elements of an array of NumPy, as the shape of its type has them, or the error.
    #[test]
    fn arrays_of_numpy_are_numbers_of_their_type() {
        let path = Path::new("x.npy");
        let fixed = Scalar::Fixed { bits: 16, frac: 8 };
        let whole = |bytes: &[&[u8]]| bytes.concat();
        type NumpyCase<'a> = (&'a str, &'a [usize], Vec<u8>, Scalar, Result<&'a str, &'a str>);
        let cases: [NumpyCase<'_>; 12] = [
            ("|u1", &[3], vec![1, 2, 255], Scalar::unsigned(8), Ok("1 2 255")),
            ("<i4", &[1], (-7i32).to_le_bytes().to_vec(), Scalar::signed(64), Ok("-7")),
            (">i2", &[2], vec![0, 1, 255, 254], Scalar::signed(16), Ok("1 -2")),
            ("|b1", &[2], vec![1, 0], Scalar::Bool, Ok("true false")),
            ("<f8", &[2], whole(&[&0.5f64.to_le_bytes(), &(-2.0f64).to_le_bytes()]), fixed, Ok("0.5 -2.0")),
            ("<f4", &[1], 3f32.to_le_bytes().to_vec(), Scalar::unsigned(8), Ok("3")),
            ("<f8", &[0], vec![], fixed, Ok("")),
            (
                "<f8",
                &[1],
                f64::NAN.to_le_bytes().to_vec(),
                fixed,
                Err("element 0: \"NaN\" is no fixed(16, 8)"),
            ),
            ("<f8", &[1], 0.5f64.to_le_bytes().to_vec(), Scalar::signed(8), Err("has a fraction")),
            ("<i4", &[1], 300i32.to_le_bytes().to_vec(), Scalar::unsigned(8), Err("does not fit u8")),
            ("<i4", &[1, 1], 3i32.to_le_bytes().to_vec(), Scalar::unsigned(8), Err("its shape is [1, 1]")),
            ("<U1", &[1], vec![65, 0, 0, 0], Scalar::unsigned(8), Err("elements are")),
        ];
        for (kind, lengths, data, scalar, wanted) in cases {
            let ty = Type::new(scalar, Shape::vector(Dim::Symbol("n".into())), Visibility::Secret);
            let bytes = npy::written(kind, lengths, data.into_iter());
            match (Values::of_array("x", &ty, &bytes, path), wanted) {
                (Ok(values), Ok(wanted)) => {
                    let shown =
                        values.records.chunks_exact(scalar.record()).map(|record| scalar.show(record));
                    assert_eq!(shown.collect::<Vec<_>>().join(" "), wanted, "{kind}");
                    assert_eq!(values.lengths, lengths, "{kind}");
                }
                (Err(e), Err(words)) => assert!(e.to_string().contains(words), "{kind}: {e}"),
                (found, wanted) => panic!("{kind} {scalar}: {wanted:?} and {:?}", found.err()),
            }
        }
        // Elements in the order of columns, as Fortran and `array.T` have them.
        let bytes = npy::written("|u1", &[2, 3], [1, 4, 2, 5, 3, 6].into_iter());
        let at = bytes.windows(6).position(|w| w == b"False,").unwrap_or_else(|| panic!("an order"));
        let bytes = [&bytes[..at], b"True, ", &bytes[at + 6..]].concat();
        let matrix = Shape(vec![Dim::Symbol("n".into()), Dim::Known(3)]);
        let ty = Type::new(Scalar::unsigned(8), matrix, Visibility::Secret);
        let values = Values::of_array("x", &ty, &bytes, path).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&values.records[..], &values.lengths[..]), (&[1, 2, 3, 4, 5, 6][..], &[2, 3][..]));
    }

    /// Floats of all sizes, beside the text of their exact values.
    #[test]
    fn floats_become_the_nearest_elements_to_their_values() {
        let mut seed = 9u64;
        let mut next = || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            seed >> 20
        };
        let mut near = 0;
        for case in 0..4000 {
            let frac = (next() % 100) as u8;
            let bits = (u64::from(frac) + 1 + next() % (128 - u64::from(frac))) as u8;
            let scalar = Scalar::Fixed { bits, frac };
            let size = 2f64.powi((next() % 140) as i32 - 90);
            let x = (next() % 2001) as f64 / 1000.0 * size - size;
            let number = if case % 2 == 0 { NpyNumber::Double(x) } else { NpyNumber::Single(x as f32) };
            let exact = if case % 2 == 0 { x } else { f64::from(x as f32) };
            let (mut found, mut expected) = (vec![0; scalar.record()], vec![0; scalar.record()]);
            let text = format!("{exact:.150}");
            match (of_float(number, scalar, &mut found), scalar.read(&text, &mut expected)) {
                (Some(is_rounded), Ok(other)) => {
                    assert_eq!((is_rounded, &found), (other, &expected), "{exact} as {scalar}");
                    near += 1;
                }
                (None, Err(_)) => {}
                (found, other) => panic!("{exact} as {scalar}: {found:?} for {other:?}"),
            }
        }
        assert!(near > 1000, "{near}");
        // The shortest decimal of this float ends in .3.
        let mut record = vec![0; 8];
        let scalar = Scalar::Fixed { bits: 64, frac: 2 };
        assert_eq!(of_float(NpyNumber::Single(6_781_380.5 / 2.0), scalar, &mut record), Some(false));
        assert_eq!(scalar.show(&record), "3390690.25");
        assert_eq!(of_float(NpyNumber::Double(f64::NAN), scalar, &mut record), None);
        assert_eq!(of_float(NpyNumber::Double(5e-324), scalar, &mut record), Some(true));
    }

    /// A table is no file of records, whatever its bytes are.
    #[test]
    fn a_table_without_a_column_is_refused() {
        for name in ["x.csv", "x.TSV", "x.csv.gz", "x.parquet", "dir/x.txt"] {
            assert!(is_table(Path::new(name)), "{name}");
        }
        for name in ["x.bin", "x", "csv", "x.npy"] {
            assert!(!is_table(Path::new(name)), "{name}");
        }
    }
}
