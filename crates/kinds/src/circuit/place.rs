//! The sources and sinks of values, one record at a time, so that memory does not grow with the
//! number of instances.

use crate::{BitOrderChoice, CircuitPlan, circuit::value};
use hushwire_block::Wiped;
use hushwire_circuit::Planes;
use hushwire_fault::code;
use hushwire_session::{Fault, InputPlace, NewFile, OutputPlace, RunFiles};
use std::{
    fs::File,
    io::{self, Read, Write},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

/// An input at its owner.
pub(crate) struct InputSource {
    order: BitOrderChoice,
    width: usize,
    from: Origin,
}

enum Origin {
    Memory(Arc<Wiped<Vec<u8>>>),
    File(Arc<File>, PathBuf),
}

impl InputSource {
    /// Opens input `i` of a plan, and checks its length before anything is connected.
    pub(crate) fn open(plan: &CircuitPlan, i: usize, place: &InputPlace) -> Result<Self, Fault> {
        let (order, width, name) = (plan.bit_order, plan.input_widths[i], &plan.inputs[i].0);
        let what = format!("input {name}");
        let single = |remedy: &str| match plan.instances {
            1 => Ok(()),
            n => Err(Fault::new(
                code::PLACES,
                format!("reading {what}"),
                format!("one value is given for {n} instances"),
                remedy,
            )),
        };
        let from = match place {
            InputPlace::Hex(digits) => {
                single("name a file of records with `file`")?;
                Origin::Memory(Arc::new(value::from_text(order, width, &what, digits)?))
            }
            InputPlace::HexFile(path) => {
                single("name a file of records with `file`")?;
                let mut digits = Wiped::new(String::new());
                // The limit covers decimal digits, which are fewer than one for three bits, with
                // room for extra ones, blanks and a line end.
                let most = width.div_ceil(3) as u64 + 64;
                let read = File::open(path).and_then(|f| f.take(most).read_to_string(&mut digits));
                read.map_err(|e| Fault::io("read", path, &e))?;
                let what = format!("{what} from {}", path.display());
                Origin::Memory(Arc::new(value::from_text(order, width, &what, &digits)?))
            }
            InputPlace::Memory(records) => {
                let (found, record) = (records.len(), CircuitPlan::record(width));
                let wanted = record as u64 * plan.instances;
                if found as u64 != wanted {
                    return Err(Fault::new(
                        code::PLACES,
                        format!("reading {what}"),
                        format!(
                            "it has {found} bytes, and {} instances of {width} bits are {wanted} bytes",
                            plan.instances
                        ),
                        format!("give {record} bytes for each instance, one after the other"),
                    ));
                }
                Origin::Memory(records.clone())
            }
            InputPlace::File(path) => {
                let file = File::open(path).map_err(|e| Fault::io("read", path, &e))?;
                check_length(&file, path, plan, width)?;
                Origin::File(Arc::new(file), path.clone())
            }
            InputPlace::Csv(..) | InputPlace::Values(_) | InputPlace::Table(..) => {
                let cause = "CSV and numbers are for computations";
                let remedy = "name a file of records with `file`, or digits with `hex`";
                return Err(Fault::new(code::PLACES, format!("reading {what}"), cause, remedy));
            }
            InputPlace::Open(file, path) => {
                check_length(file, path, plan, width)?;
                Origin::File(file.clone(), path.clone())
            }
        };
        Ok(Self { order, width, from })
    }

    /// Planes of `n` instances from the `first` on.
    pub(crate) fn planes(&self, first: u64, n: usize) -> Result<Planes, Fault> {
        let record = CircuitPlan::record(self.width);
        let mut bytes = Wiped::new(vec![0; record * n]);
        match &self.from {
            Origin::Memory(records) => {
                let first = first as usize * record;
                bytes.copy_from_slice(&records[first..first + record * n]);
            }
            Origin::File(file, path) => {
                file.read_exact_at(&mut bytes, first * record as u64).map_err(|e| match e.kind() {
                    io::ErrorKind::UnexpectedEof => {
                        let remedy = "let its writer finish, or work on a copy of it";
                        Fault::file("read", path, "it became shorter while it was read", remedy)
                    }
                    _ => Fault::io("read", path, &e),
                })?;
            }
        }
        for (i, record) in bytes.chunks_exact_mut(record.max(1)).enumerate() {
            if !value::fits(self.order, self.width, record) {
                let path = if let Origin::File(_, path) = &self.from { path } else { Path::new("a value") };
                let at = first + i as u64;
                let cause = format!("record {at} does not fit into {} bits", self.width);
                return Err(Fault::file("use", path, cause, "see docs/jobs.md for how records are laid out"));
            }
            value::turn(self.order, self.width, record);
        }
        Ok(Planes::pack(&bytes, self.width, n))
    }
}

fn check_length(file: &File, path: &Path, plan: &CircuitPlan, width: usize) -> Result<(), Fault> {
    let meta = file.metadata().map_err(|e| Fault::io("read", path, &e))?;
    if meta.is_dir() {
        return Err(Fault::io("read", path, &io::ErrorKind::IsADirectory.into()));
    }
    let record = CircuitPlan::record(width) as u64;
    let wanted = record * plan.instances;
    if !meta.is_file() || meta.len() != wanted {
        let found =
            if meta.is_file() { format!("has {} bytes", meta.len()) } else { "is no plain file".to_owned() };
        return Err(Fault::file(
            "use",
            path,
            format!("it {found}, and {} instances of {width} bits are {wanted} bytes", plan.instances),
            format!("give {record} bytes for each instance, one after the other"),
        ));
    }
    Ok(())
}

/// An output at a recipient.
pub(crate) struct Sink {
    order: BitOrderChoice,
    width: usize,
    to: To,
}

/// An output that is returned to the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// The value of one instance, as [`OutputPlace::Show`] asks for.
    Digits(String),
    /// Records of all instances, as [`OutputPlace::Memory`] asks for.
    Records(Vec<u8>),
}

enum To {
    /// Digits of one instance.
    Show(Mutex<Vec<u8>>),
    /// Records of all instances.
    Memory(Mutex<Vec<u8>>),
    Hex(Mutex<Vec<u8>>, NewFile),
    File(NewFile, File),
    Nowhere,
}

impl Sink {
    /// Starts output `j` of a plan. An output that cannot be written is refused before anything is
    /// connected.
    pub(crate) fn start(
        plan: &CircuitPlan,
        j: usize,
        place: &OutputPlace,
        files: &mut RunFiles,
    ) -> Result<Self, Fault> {
        let (order, width) = (plan.bit_order, plan.output_widths[j]);
        let record = CircuitPlan::record(width);
        let single = || match plan.instances {
            1 => Ok(Mutex::new(vec![0; record])),
            n => Err(Fault::new(
                code::PLACES,
                format!("preparing output {}", plan.outputs[j].0),
                format!("there is no file for its {n} instances"),
                "name a file for them with `file`",
            )),
        };
        let name = &plan.outputs[j].0;
        let mut create = |path| {
            let option = format!("for output {name}");
            files.create(&option, path, &plan.writer(name), 0o600)
        };
        let to = match place {
            OutputPlace::Show => To::Show(single()?),
            OutputPlace::Memory => {
                let bytes = usize::try_from(record as u64 * plan.instances).map_err(|_| {
                    Fault::new(
                        code::PLACES,
                        format!("preparing output {name}"),
                        "it does not fit into memory",
                        "name a file",
                    )
                })?;
                To::Memory(Mutex::new(vec![0; bytes]))
            }
            OutputPlace::Discard => To::Nowhere,
            OutputPlace::Unnamed => {
                let cause = "files without names are for results of encryptions";
                return Err(Fault::new(
                    code::PLACES,
                    format!("preparing output {name}"),
                    cause,
                    "name a file",
                ));
            }
            OutputPlace::Csv(_) => {
                let cause = "CSV is for computations";
                return Err(Fault::new(
                    code::PLACES,
                    format!("preparing output {name}"),
                    cause,
                    "name a file with `file`",
                ));
            }
            OutputPlace::HexFile(path) => To::Hex(single()?, create(path)?),
            OutputPlace::File(path) => {
                let new = create(path)?;
                new.reserve(record as u64 * plan.instances)?;
                let writer = new.writer()?;
                To::File(new, writer)
            }
        };
        Ok(Self { order, width, to })
    }

    /// Takes the planes of instances from the `first` on, in any order.
    pub(crate) fn put(&self, first: u64, planes: &Planes) -> Result<(), Fault> {
        let record = CircuitPlan::record(self.width);
        let mut bytes = Wiped::new(planes.unpack());
        for record in bytes.chunks_exact_mut(record.max(1)) {
            value::turn_back(self.order, self.width, record);
        }
        match &self.to {
            To::Show(value) | To::Hex(value, _) => {
                value.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(&bytes);
                Ok(())
            }
            To::Memory(records) => {
                let first = first as usize * record;
                let mut records = records.lock().unwrap_or_else(PoisonError::into_inner);
                records[first..first + bytes.len()].copy_from_slice(&bytes);
                Ok(())
            }
            To::File(new, file) => {
                file.write_all_at(&bytes, first * record as u64).map_err(|e| new.error(&e))
            }
            To::Nowhere => Ok(()),
        }
    }

    /// Writes everything to disk under a temporary name.
    pub(crate) fn prepare(&self) -> Result<(), Fault> {
        match &self.to {
            To::Show(_) | To::Memory(_) | To::Nowhere => Ok(()),
            To::File(new, _) => new.sync(),
            To::Hex(value, new) => {
                let value = value.lock().unwrap_or_else(PoisonError::into_inner);
                let line = Wiped::new(value::to_hex(self.order, self.width, &value) + "\n");
                new.writer()?.write_all(line.as_bytes()).map_err(|e| new.error(&e))?;
                new.sync()
            }
        }
    }

    /// Gives the file its final name, or the caller the value.
    pub(crate) fn commit(self) -> Result<Option<Shown>, Fault> {
        match self.to {
            To::Show(value) => {
                let value = value.into_inner().unwrap_or_else(PoisonError::into_inner);
                Ok(Some(Shown::Digits(value::to_hex(self.order, self.width, &value))))
            }
            To::Memory(records) => {
                Ok(Some(Shown::Records(records.into_inner().unwrap_or_else(PoisonError::into_inner))))
            }
            To::Hex(_, new) | To::File(new, _) => new.commit().map(|()| None),
            To::Nowhere => Ok(None),
        }
    }
}

/// Splits the instances from the `first` on into the outputs that a member learns, by their places
/// in the circuit.
pub(crate) fn put(
    plan: &CircuitPlan,
    sinks: &[Option<Sink>],
    learns: impl Iterator<Item = usize>,
    first: u64,
    planes: &Planes,
) -> Result<(), Fault> {
    let learns: Vec<usize> = learns.collect();
    let widths: Vec<usize> = learns.iter().map(|j| plan.output_widths[*j]).collect();
    let mut sinks = learns.iter().map(|j| &sinks[*j]).zip(planes.split(&widths));
    sinks.try_for_each(|(sink, planes)| sink.as_ref().map_or(Ok(()), |sink| sink.put(first, &planes)))
}

/// Opens the inputs that `member` brings, by place in the circuit.
pub(crate) fn sources(
    plan: &CircuitPlan,
    member: &hushwire_session::Member,
    places: &std::collections::BTreeMap<String, InputPlace>,
) -> Result<Vec<Option<InputSource>>, Fault> {
    let names: Vec<&str> = plan.inputs_of(member).map(|i| plan.inputs[i].0.as_str()).collect();
    if let Some(odd) = places.keys().find(|name| !names.contains(&name.as_str())) {
        let cause = format!("{member} does not bring an input called `{odd}`");
        return Err(Fault::new(
            code::PLACES,
            "reading inputs",
            cause,
            hushwire_session::suggest::remedy(odd, &names),
        ));
    }
    let mut all: Vec<Option<InputSource>> = (0..plan.inputs.len()).map(|_| None).collect();
    for i in plan.inputs_of(member) {
        let name = &plan.inputs[i].0;
        let Some(place) = places.get(name) else {
            let remedy = format!("add {name} = {{ file = \"…\" }} under [inputs]");
            return Err(Fault::new(
                code::PLACES,
                "reading inputs",
                format!("{member} has no value for input `{name}`"),
                remedy,
            ));
        };
        all[i] = Some(InputSource::open(plan, i, place)?);
    }
    Ok(all)
}

/// Starts the outputs that `member` learns, by place in the circuit.
pub(crate) fn sinks(
    plan: &CircuitPlan,
    member: &hushwire_session::Member,
    places: &std::collections::BTreeMap<String, OutputPlace>,
    files: &mut RunFiles,
) -> Result<Vec<Option<Sink>>, Fault> {
    let names: Vec<&str> = plan.outputs_of(member).map(|j| plan.outputs[j].0.as_str()).collect();
    if let Some(odd) = places.keys().find(|name| !names.contains(&name.as_str())) {
        let cause = format!("{member} does not learn an output called `{odd}`");
        return Err(Fault::new(
            code::PLACES,
            "preparing outputs",
            cause,
            hushwire_session::suggest::remedy(odd, &names),
        ));
    }
    let mut all: Vec<Option<Sink>> = (0..plan.outputs.len()).map(|_| None).collect();
    for j in plan.outputs_of(member) {
        let place = places.get(&plan.outputs[j].0).unwrap_or(&OutputPlace::Show);
        all[j] = Some(Sink::start(plan, j, place, files)?);
    }
    Ok(all)
}
