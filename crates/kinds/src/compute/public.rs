//! Values that all members know. They come from the job, and members compare their digests before a
//! run.

use super::file::unfit;
use super::values::Values;
use hushwire_block::Wiped;
use hushwire_compute::{Computation, Tensor, Type, Visibility};
use hushwire_fault::code;
use hushwire_session::{Fault, InputPlace, as_text, input_place, resolve, suggest, toml_file::TomlValue};
use serde::{Deserialize, Serialize};
use std::{
    collections::BTreeMap,
    path::{Component, Path, PathBuf},
    sync::Arc,
};

/// The source of a value that all members know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PublicPlace {
    /// Records, one after the other.
    File(#[serde(with = "as_text::path")] PathBuf),
    /// Columns of a CSV file.
    Csv(#[serde(with = "as_text::path")] PathBuf, Vec<String>),
    /// Elements as text, with commas between them.
    Values(String),
    /// The lengths of its axes, and its records.
    Memory(Vec<usize>, #[serde(with = "as_text::bytes")] Arc<Wiped<Vec<u8>>>),
}

impl From<&Tensor> for PublicPlace {
    fn from(tensor: &Tensor) -> Self {
        Self::Memory(tensor.lengths().to_vec(), Arc::new(Wiped::new(tensor.records())))
    }
}

impl PublicPlace {
    /// Reads the source that a job file names.
    pub(super) fn of(value: TomlValue<'_>) -> Result<Self, Fault> {
        let line = value.error("is no place of elements", "write a file, a csv with its column, or values");
        let remedy = "put the file beside the job or below it, and name it from there";
        let outside = value.error("is no file below the job's folder", remedy);
        let folder = value.dir();
        let place = match input_place(value.section()?)? {
            InputPlace::File(path) => Self::File(path),
            InputPlace::Csv(from, columns) => match *from {
                InputPlace::File(path) => Self::Csv(path, columns),
                _ => return Err(line),
            },
            InputPlace::Values(text) => Self::Values(text.to_string()),
            _ => return Err(line),
        };
        // All members see a digest of the file. A job's author must not be able to choose among all
        // files of the user that runs the job.
        match place.path() {
            Some(path) if !is_below(path, &folder) => Err(outside),
            _ => Ok(place),
        }
    }

    /// The path, if the source is a file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) | Self::Csv(path, _) => Some(path),
            Self::Values(_) | Self::Memory(..) => None,
        }
    }

    /// The value of one public input without symbols.
    pub(super) fn tensor(&self, name: &str, ty: &Type) -> Result<Tensor, Fault> {
        Ok(self.read(name, ty, &BTreeMap::new())?.tensor())
    }

    fn read(&self, name: &str, ty: &Type, symbols: &BTreeMap<String, u64>) -> Result<Values, Fault> {
        let place = match self {
            Self::File(path) => InputPlace::File(path.clone()),
            Self::Csv(path, columns) => {
                InputPlace::Csv(Box::new(InputPlace::File(path.clone())), columns.clone())
            }
            Self::Values(text) => InputPlace::Values(Wiped::new(text.clone())),
            Self::Memory(lengths, records) => return Values::new(name, ty, lengths.clone(), records),
        };
        Values::read(name, ty, &place, symbols)
    }
}

/// Tests whether a path leads to a file below a folder after links are resolved.
fn is_below(path: &Path, folder: &Path) -> bool {
    let plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    let inner = path.strip_prefix(folder).is_ok_and(|inner| inner.components().all(plain));
    let folder = if folder == Path::new("") { Path::new(".") } else { folder };
    inner && resolve(path).starts_with(resolve(folder))
}

/// The public values of a job, as far as they are given.
pub(super) struct Public {
    pub(super) values: BTreeMap<String, Tensor>,
    /// The numbers of symbols that the job binds, and those that follow from these values.
    pub(super) symbols: BTreeMap<String, u64>,
    /// Remarks on values that were rounded.
    pub(super) remarks: Vec<String>,
}

impl Public {
    /// Reads all values. `symbols` are those that the job binds.
    pub(super) fn read(
        places: &BTreeMap<String, PublicPlace>,
        computation: &Computation,
        symbols: &BTreeMap<String, u64>,
    ) -> Result<Self, Fault> {
        let declared: Vec<(&str, &Type)> =
            computation.inputs().filter(|(_, ty)| ty.visibility == Visibility::Public).collect();
        if let Some(odd) = places.keys().find(|odd| !declared.iter().any(|(name, _)| name == odd)) {
            let names: Vec<&str> = declared.iter().map(|(name, _)| *name).collect();
            let cause = format!("the computation has no public input {odd}");
            return Err(Fault::new(code::PLACES, "planning the job", cause, suggest::remedy(odd, &names)));
        }
        let refused =
            |e: hushwire_compute::ComputeError| e.fault().coded(code::PLACES).during("reading inputs");
        let mut public = Self { values: BTreeMap::new(), symbols: symbols.clone(), remarks: vec![] };
        for (name, ty) in declared {
            let Some(place) = places.get(name) else { continue };
            let values = place.read(name, ty, &public.symbols)?;
            let lengths = BTreeMap::from([(name.to_owned(), values.lengths.clone())]);
            public.symbols = computation.symbols_with(&public.symbols, &lengths).map_err(refused)?;
            public.values.insert(name.to_owned(), values.tensor());
            public.remarks.extend(values.remark);
        }
        let kept = computation.check_promises(&public.values);
        kept.map_err(|e| unfit(&e))?;
        Ok(public)
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// Digests of type, lengths and elements, as hexadecimal digits, by name.
    pub(super) fn digests(&self) -> Vec<(&str, String)> {
        let digest = |tensor: &Tensor| {
            let mut hash = blake3::Hasher::new_derive_key("hushwire public value v1");
            hash.update(format!("{}{:?}:", tensor.scalar(), tensor.lengths()).as_bytes());
            hash.update(&tensor.records());
            hex::encode(hash.finalize().as_bytes())
        };
        self.values.iter().map(|(name, tensor)| (name.as_str(), digest(tensor))).collect()
    }
}

impl Values {
    /// Takes elements from the memory of this process.
    fn new(name: &str, ty: &Type, lengths: Vec<usize>, records: &[u8]) -> Result<Self, Fault> {
        let elements = lengths.iter().try_fold(ty.scalar.record(), |product, n| product.checked_mul(*n));
        if lengths.len() != ty.shape.rank() || elements != Some(records.len()) {
            let cause = format!("its elements along {lengths:?} are not those of {ty}");
            return Err(Fault::new(
                code::PLACES,
                format!("reading input {name}"),
                cause,
                "bring elements of that type",
            ));
        }
        let records = Wiped::new(records.to_vec());
        Self { scalar: ty.scalar, lengths, records, remark: None }.checked(name, ty)
    }

    /// The elements in the clear.
    pub(super) fn tensor(&self) -> Tensor {
        Tensor::from_records(self.scalar, &self.lengths, &self.records)
    }
}
