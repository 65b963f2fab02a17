//! One member's part of an inference.

use super::{InferJob, InferTask, Inferred};
use crate::{
    ComputePart,
    compute::{ColumnInParts, column},
};
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_nn::{
    Array, INPUT, Members, Network, SampleRange, Samples, Secure, decode, encode, npy, onnx::Model,
};
use hushwire_session::{
    Fault, InputPlace, Member, MemberConfig, NewFile, OutputPlace, Part, open_input,
    run::{Links, MemberSession},
    suggest,
};
use std::{
    collections::BTreeMap,
    io::{Read, Write},
    path::Path,
};
use zeroize::Zeroizing;

/// The names of files that members have.
const MODEL: &str = "model";
const CALIBRATION: &str = "calibration";
const RANGE: &str = "range";
const OUTPUT: &str = "output";
/// LOCAL: no model is larger, as protocol buffers have it.
const LARGEST: u64 = 1 << 31;
/// LOCAL: most elements of an output that go back to the caller.
const SHOWN: usize = 1 << 16;

/// A member's weights or input on their way in, and the place of the output.
pub struct InferPart {
    inner: ComputePart,
    learns: bool,
    file: Option<NewFile>,
    learnt: Inferred,
}

impl Inferred {
    /// The result that an output is.
    pub(super) fn of(Array { lengths, data }: Array) -> Self {
        let elements = if data.len() <= SHOWN { data } else { vec![] };
        Self { lengths: Some(lengths), elements, from_disk: None }
    }
}

/// The bytes of a file of a model or an array.
fn bytes(name: &str, place: &InputPlace) -> Result<Zeroizing<Vec<u8>>, Fault> {
    let read = |mut from: &mut dyn Read, path: &Path| {
        let mut bytes = Zeroizing::new(vec![]);
        let io = |e: std::io::Error| Fault::io("read", path, &e);
        Read::take(&mut from, LARGEST + 1).read_to_end(&mut bytes).map_err(io)?;
        if bytes.len() as u64 > LARGEST {
            return Err(Fault::file("read", path, "it is larger than 2 GiB", "is it the right file?"));
        }
        Ok(bytes)
    };
    match place {
        InputPlace::File(path) => read(&mut open_input(path).map_err(|e| Fault::io("read", path, &e))?, path),
        InputPlace::Open(file, path) => read(&mut &**file, path),
        InputPlace::Memory(all) => Ok(Zeroizing::new(all.to_vec())),
        _ => {
            let remedy = format!("write {name} = {{ file = \"…\" }}");
            Err(Fault::new(code::MODEL, format!("reading {name}"), "it is no file", remedy))
        }
    }
}

/// The error of a file that is not what it should be.
fn of_file(place: &InputPlace, e: Fault) -> Fault {
    match place.path() {
        Some(path) => e.within(path.display()),
        None => e,
    }
}

/// A model's file.
///
/// # Errors
/// The file cannot be read, or is no model.
pub fn model(path: &Path) -> Result<Model, Fault> {
    let place = InputPlace::File(path.to_owned());
    Model::read(&bytes(MODEL, &place)?).map_err(|e| of_file(&place, e))
}

/// The network of a model's file, for an input of a shape where one is given.
///
/// # Errors
/// The file cannot be read, or is no model of operators that are supported.
pub fn network_of(path: &Path, input: Option<&[usize]>) -> Result<Network, Fault> {
    network_in(&InputPlace::File(path.to_owned()), input)
}

/// As [`network_of`], of a model at an input's place.
///
/// # Errors
/// As [`network_of`].
pub fn network_in(place: &InputPlace, input: Option<&[usize]>) -> Result<Network, Fault> {
    let model = Model::read(&bytes(MODEL, place)?).map_err(|e| of_file(place, e))?;
    Network::new(model, input).map_err(|e| of_file(place, e))
}

/// An array's file.
///
/// # Errors
/// The file cannot be read, or is no array of finite numbers.
pub fn read_array(path: &Path) -> Result<Array, Fault> {
    array_in(&InputPlace::File(path.to_owned()))
}

/// As [`read_array`], of an array at an input's place.
///
/// # Errors
/// As [`read_array`].
pub fn array_in(place: &InputPlace) -> Result<Array, Fault> {
    array("an array", place)
}

fn array(name: &str, place: &InputPlace) -> Result<Array, Fault> {
    let array = npy::read(&bytes(name, place)?);
    array.and_then(|array| array.check_finite(name).map(|()| array)).map_err(|e| of_file(place, e))
}

/// The inputs from which scales come: those that the model's owner has, or else inputs that are
/// made up, within a range where there is one.
///
/// # Errors
/// The inputs are not of the network's shape.
pub fn samples(
    network: &Network,
    calibration: Option<&Array>,
    range: Option<SampleRange>,
) -> Result<Samples, Fault> {
    let samples = match calibration {
        Some(array) => Samples::given(network, array),
        None => Samples::made_up(network, range),
    };
    samples.map_err(|e| {
        let step = format!("reading {}", e.step());
        e.at(step).coded(code::MODEL)
    })
}

/// The range of made-up inputs at a place of the owner's.
fn range(place: &InputPlace) -> Result<SampleRange, Fault> {
    let InputPlace::Values(text) = place else {
        let remedy = "write range = { values = \"-1,1\" }";
        return Err(Fault::new(code::MODEL, "reading the range of inputs", "it is not two numbers", remedy));
    };
    let range = text.parse::<SampleRange>();
    range.map_err(|cause| {
        Fault::new(code::MODEL, "reading the range of inputs", cause, "write values = \"-1,1\"")
    })
}

/// The owner's inputs of the computation.
fn weights(
    task: &InferTask,
    me: &Member,
    inputs: &BTreeMap<String, InputPlace>,
) -> Result<BTreeMap<String, Tensor>, Fault> {
    let place = inputs.get(MODEL).ok_or_else(|| {
        let cause = format!("{me} has no model");
        Fault::new(
            code::MODEL,
            "reading the model",
            cause,
            "add model = { file = \"model.onnx\" } under [inputs]",
        )
    })?;
    let calibration = inputs.get(CALIBRATION).map(|place| array(CALIBRATION, place)).transpose()?;
    let input = task.computation().inputs().find(|(name, _)| *name == INPUT);
    let lengths = input.and_then(|(_, ty)| ty.shape.lengths());
    let read = Model::read(&bytes(MODEL, place)?).map_err(|e| of_file(place, e))?;
    let network = Network::new(read, lengths.as_deref()).map_err(|e| of_file(place, e))?;
    let secure = Secure::new(&network, task.numbers(), &Members::default()).map_err(|e| of_file(place, e))?;
    if secure.computation() != task.computation() {
        let cause = "the model has another architecture than the network that was agreed on";
        let remedy = "write the network anew with `hushwire model plan`, and agree on that";
        return Err(Fault::new(code::MODEL, "reading the model", cause, remedy));
    }
    let range = inputs.get(RANGE).map(range).transpose()?;
    if calibration.is_some() && range.is_some() {
        let remedy = "leave out one of `calibration` and `range`";
        return Err(Fault::new(
            code::MODEL,
            "reading inputs",
            "made-up inputs have a range, and there are real ones",
            remedy,
        ));
    }
    let samples = samples(&network, calibration.as_ref(), range)?;
    let greatest = samples.greatest(&network, &secure);
    secure.weights(&network, greatest, samples.headroom()).map_err(|e| of_file(place, e))
}

/// The input of the computation.
fn input(task: &InferTask, me: &Member, inputs: &BTreeMap<String, InputPlace>) -> Result<Tensor, Fault> {
    let place = inputs.get(INPUT).ok_or_else(|| {
        let remedy = "add input = { file = \"input.npy\" } under [inputs]";
        Fault::new(code::MODEL, "reading the input", format!("{me} has no input"), remedy)
    })?;
    encode(task.computation(), &array(INPUT, place)?).map_err(|e| of_file(place, e))
}

/// Reads what a member of an inference brings as columns of a data set, in parts: a model, or an
/// input, at the places that the member has under `[inputs]`.
///
/// # Errors
/// A file cannot be read, or is another model's; `me` brings nothing.
pub fn stored_inference(
    job: &InferJob,
    me: &Member,
    inputs: &BTreeMap<String, InputPlace>,
) -> Result<Vec<ColumnInParts>, Fault> {
    let task = InferTask::new(job)?;
    let tensors = if *me == job.owner {
        weights(&task, me, inputs)?
    } else if *me == job.client {
        BTreeMap::from([(INPUT.to_owned(), input(&task, me, inputs)?)])
    } else {
        let remedy = "name the model's owner or the client";
        return Err(Fault::new(code::MODEL, "reading inputs", format!("{me} brings nothing"), remedy));
    };
    let column = |(name, tensor): (&String, &Tensor)| {
        let records = Zeroizing::new(tensor.records());
        column(name, tensor.scalar(), tensor.lengths(), &records)
    };
    Ok(tensors.iter().map(column).collect())
}

impl InferPart {
    pub(super) fn open(task: &InferTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let (me, job) = (config.me.clone(), task.job());
        let (owns, brings) = (me == job.owner, me == job.client);
        let learns = me == *job.to.as_ref().unwrap_or(&job.client);
        let known: &[&str] = match (owns, brings) {
            (true, _) => &[MODEL, CALIBRATION, RANGE],
            (_, true) => &[INPUT],
            _ => &[],
        };
        if let Some(odd) = config.inputs.keys().find(|name| !known.contains(&name.as_str())) {
            let cause = format!("{me} does not bring an input called `{odd}`");
            return Err(Fault::new(code::MODEL, "reading inputs", cause, suggest::remedy(odd, known)));
        }
        let mut inputs = BTreeMap::new();
        if owns {
            inputs = weights(task, &me, &config.inputs)?;
        }
        if brings {
            inputs.insert(INPUT.to_owned(), input(task, &me, &config.inputs)?);
        }
        config.protect_inputs();
        let records = |tensor: Tensor| Zeroizing::new(tensor.records());
        let inputs = inputs.into_iter().map(|(name, tensor)| (name, records(tensor))).collect();

        let place = config.outputs.remove(OUTPUT).filter(|_| learns);
        if let Some(odd) = config.outputs.keys().next() {
            let known: &[&str] = if learns { &[OUTPUT] } else { &[] };
            let cause = format!("{me} does not learn an output called `{odd}`");
            return Err(Fault::new(code::MODEL, "preparing the output", cause, suggest::remedy(odd, known)));
        }
        let file = match &place {
            Some(OutputPlace::File(path)) => {
                Some(config.files.create("for the output", path, &task.writer(), 0o600)?)
            }
            None | Some(OutputPlace::Show | OutputPlace::Memory | OutputPlace::Discard) => None,
            Some(_) => {
                let remedy = "write output = { file = \"output.npy\" }";
                return Err(Fault::new(
                    code::MODEL,
                    "preparing the output",
                    "a network gives an array",
                    remedy,
                ));
            }
        };
        let inner = ComputePart::of(task.compute(), config, inputs)?;
        Ok(Self { inner, learns, file, learnt: Inferred::default() })
    }
}

impl Part for InferPart {
    type Learnt = Inferred;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        self.inner.compute(member)
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        self.inner.prepare()?;
        if !self.learns {
            return Ok(());
        }
        let missing = || Fault::internal("writing the output", "it was not computed");
        let (_, extent, records) = self.inner.learnt().find(|(j, ..)| *j == 0).ok_or_else(missing)?;
        let tensor = Tensor::from_records(extent.scalar, &extent.lengths, records);
        let array = decode(&tensor);
        if let Some(file) = &self.file {
            let places = extent.scalar.frac() == 0;
            let bytes = if places { npy::write_whole(&array) } else { npy::write(&array) };
            file.writer()?.write_all(&bytes).map_err(|e| file.error(&e))?;
            file.sync()?;
        }
        self.learnt = Inferred::of(array);
        Ok(())
    }

    fn commit(mut self) -> Result<Inferred, Fault> {
        let from_disk = self.inner.commit()?.from_disk;
        self.file.take().map_or(Ok(()), NewFile::commit)?;
        Ok(Inferred { from_disk, ..self.learnt })
    }
}
