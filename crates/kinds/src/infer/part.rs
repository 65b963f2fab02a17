//! One member's part of an inference.

use super::{InferJob, InferTask, Inferred};
use crate::{
    ComputePart,
    compute::{ColumnInParts, column, is_foreign},
};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_nn::{
    Array, Given, INPUT, Members, Network, SampleRange, Samples, Secure, ValueSizes, decode, encode_input,
    merged, npy, onnx::Model,
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

/// The names of files that members have.
const MODEL: &str = "model";
const CALIBRATION: &str = "calibration";
const RANGE: &str = "range";
/// The name of the sizes of values that another process of the owner's has found.
pub const SIZES: &str = "sizes";
const PUBLIC: &str = "public";
/// LOCAL: the largest model, which is the limit of protocol buffers.
const LARGEST: u64 = 1 << 31;
/// LOCAL: the most elements of an output that are returned to the caller.
const SHOWN: usize = 1 << 16;

/// A member's weights or input before the run, and the place of the output.
pub struct InferPart {
    inner: ComputePart,
    learns: bool,
    /// The files of outputs, in the network's order.
    files: Vec<Option<NewFile>>,
    learnt: Inferred,
}

impl Inferred {
    /// Makes the result of these outputs, in the network's order.
    #[must_use]
    pub fn of(outputs: impl IntoIterator<Item = Array>) -> Self {
        let few = |data: Vec<f32>| if data.len() <= SHOWN { data } else { vec![] };
        let mut all = outputs.into_iter().map(|Array { lengths, data }| (lengths, few(data)));
        let (lengths, elements) = all.next().map_or((None, vec![]), |(lengths, data)| (Some(lengths), data));
        Self { lengths, elements, more: all.collect(), from_disk: None }
    }
}

/// Reads the bytes of a model's or an array's file.
fn bytes(name: &str, place: &InputPlace) -> Result<Wiped<Vec<u8>>, Fault> {
    let read = |mut from: &mut dyn Read, path: &Path| {
        let mut bytes = Wiped::new(vec![]);
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
        InputPlace::Memory(all) => Ok(Wiped::new(all.to_vec())),
        _ => {
            let remedy = format!("write {name} = {{ file = \"…\" }}");
            Err(Fault::new(code::MODEL, format!("reading {name}"), "it is no file", remedy))
        }
    }
}

/// The error for a file with the wrong contents.
fn of_file(place: &InputPlace, e: Fault) -> Fault {
    match place.path() {
        Some(path) => e.within(path.display()),
        None => e,
    }
}

/// Reads a model's file.
///
/// # Errors
/// The file cannot be read, or is not a model.
pub fn model(path: &Path) -> Result<Model, Fault> {
    model_in(&InputPlace::File(path.to_owned()))
}

/// The network of a model's file, for an input of this shape if one is given.
///
/// # Errors
/// The file cannot be read, or is not a model of supported operators.
pub fn network_of(path: &Path, input: Option<&[usize]>) -> Result<Network, Fault> {
    network_in(&InputPlace::File(path.to_owned()), input)
}

/// Like [`network_of`], for a model at an input's place.
///
/// # Errors
/// The same as [`network_of`].
pub fn network_in(place: &InputPlace, input: Option<&[usize]>) -> Result<Network, Fault> {
    Network::new(model_in(place)?, input).map_err(|e| of_file(place, e))
}

/// Like [`network_in`], with facts that are given about the model's inputs.
///
/// # Errors
/// The same as [`network_of`].
pub fn network_given(place: &InputPlace, given: &Given) -> Result<Network, Fault> {
    Network::with(model_in(place)?, given).map_err(|all| of_file(place, merged(all)))
}

/// Reads a model at an input's place. Weights in other files are in the folder of the model's file.
///
/// # Errors
/// A file cannot be read, or is not a model.
pub fn model_in(place: &InputPlace) -> Result<Model, Fault> {
    let folder = place.path().and_then(Path::parent);
    let beside = |name: &str| {
        let odd = |cause: &str| {
            let remedy = "save the model as one file (onnx.save_model with save_as_external_data=False)";
            Fault::new(code::MODEL_FILE, "weights", cause, remedy)
        };
        let folder = folder.ok_or_else(|| odd("its elements are in another file"))?;
        // A name that leads out of the folder could refer to any file.
        let mut parts = Path::new(name).components();
        let plain = matches!((parts.next(), parts.next()), (Some(std::path::Component::Normal(_)), None));
        if !plain {
            return Err(odd("its elements are in a file that is not beside the model"));
        }
        Ok(bytes(MODEL, &InputPlace::File(folder.join(name)))?.to_vec())
    };
    Model::read_beside(&bytes(MODEL, place)?, &beside).map_err(|e| of_file(place, e))
}

/// Reads an array's file.
///
/// # Errors
/// The file cannot be read, or is not an array of finite numbers.
pub fn read_array(path: &Path) -> Result<Array, Fault> {
    array_in(&InputPlace::File(path.to_owned()))
}

/// Like [`read_array`], for an array at an input's place.
///
/// # Errors
/// The same as [`read_array`].
pub fn array_in(place: &InputPlace) -> Result<Array, Fault> {
    array("an array", place)
}

fn array(name: &str, place: &InputPlace) -> Result<Array, Fault> {
    let array = npy::read(&bytes(name, place)?);
    array.and_then(|array| array.check_finite(name).map(|()| array)).map_err(|e| of_file(place, e))
}

/// The inputs that determine scales: those that the model's owner has, or else made-up inputs, in
/// the given range if there is one.
///
/// # Errors
/// The inputs do not have the network's shape.
pub fn samples(
    network: &Network,
    calibration: Option<&[Array]>,
    range: Option<SampleRange>,
) -> Result<Samples, Fault> {
    let samples = match calibration {
        Some(arrays) => Samples::given(network, arrays),
        None => Samples::made_up(network, range),
    };
    samples.map_err(|e| {
        let step = format!("reading {}", e.step());
        e.at(step).coded(code::MODEL)
    })
}

/// Reads the range of made-up inputs.
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

/// The sizes of values that another process of the owner's has found.
fn sizes(place: &InputPlace, network: &Network) -> Result<ValueSizes, Fault> {
    let refuse = |cause: &str| {
        let remedy = "leave `sizes` out, so that they are found anew";
        Fault::new(code::MODEL, "reading the sizes of values", cause, remedy)
    };
    let InputPlace::Values(text) = place else { return Err(refuse("they are no text")) };
    text.parse::<ValueSizes>().map_err(|cause| refuse(&cause))?.of(network).map_err(|e| e.coded(code::MODEL))
}

/// The client's inputs of the computation, in the network's order.
fn client_inputs(task: &InferTask) -> impl Iterator<Item = (&str, &hushwire_compute::Type)> {
    task.computation().inputs().filter(|(name, _)| name.starts_with(INPUT))
}

/// The names of the owner's calibration inputs, in the network's order.
fn calibrations(task: &InferTask) -> impl Iterator<Item = String> {
    client_inputs(task).map(|(name, _)| name.replacen(INPUT, CALIBRATION, 1))
}

/// Reads the values of inputs that all members know, such as `sr=16000`, separated by spaces.
///
/// # Errors
/// The text does not have this form.
pub fn public_values(text: &str) -> Result<BTreeMap<String, Array>, Fault> {
    let one = |text: &str| {
        let odd = || {
            let cause = format!("{text:?} is no name with its value");
            Fault::new(code::MODEL, "reading public inputs", cause, "write name=16000, or name=1,2,3")
        };
        let (name, values) = text.split_once('=').ok_or_else(odd)?;
        let values = values.split(',').map(|x| x.trim().parse::<f32>().ok().filter(|x| x.is_finite()));
        let values: Vec<f32> = values.collect::<Option<_>>().ok_or_else(odd)?;
        let lengths = if values.len() == 1 { vec![] } else { vec![values.len()] };
        Ok((name.to_owned(), Array::new(&lengths, values)))
    };
    text.split_whitespace().map(one).collect()
}

fn public_in(place: &InputPlace) -> Result<BTreeMap<String, Array>, Fault> {
    match place {
        InputPlace::Values(text) => public_values(text),
        _ => {
            let remedy = "write public = { values = \"sr=16000\" }";
            Err(Fault::new(code::MODEL, "reading public inputs", "they are no text", remedy))
        }
    }
}

/// The owner's inputs of the computation.
pub(super) fn weights(
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
    let mut given = Given::default();
    if let Some(place) = inputs.get(PUBLIC) {
        given.public = public_in(place)?;
    }
    let read = model_in(place)?;
    let weights = |name: &str| read.graph.weights.iter().any(|weights| weights.name == *name);
    let names = read.graph.inputs.iter().map(|input| &input.name);
    let names = names.filter(|name| !weights(name) && !given.public.contains_key(*name)).cloned();
    let lengths = client_inputs(task).map(|(_, ty)| ty.shape.lengths().unwrap_or_default());
    given.shapes = names.zip(lengths).collect();
    let network = Network::with(read, &given).map_err(|all| of_file(place, merged(all)))?;
    let calibration =
        calibrations(task).map(|name| inputs.get(&name).map(|place| array(&name, place)).transpose());
    let calibration = calibration.collect::<Result<Option<Vec<Array>>, _>>()?;
    let secure = Secure::new(&network, task.numbers(), &Members::default()).map_err(|e| of_file(place, e))?;
    if secure.computation() != task.computation() {
        let cause = "the model has another architecture than the network that was agreed on";
        let remedy = "write the network anew with `hushwire model plan`, and agree on that";
        return Err(Fault::new(code::MODEL, "reading the model", cause, remedy));
    }
    let range = inputs.get(RANGE).map(range).transpose()?;
    if let Some(place) = inputs.get(SIZES) {
        if calibration.is_some() || range.is_some() {
            let cause = "sizes of values are given, and inputs from which they come";
            return Err(Fault::new(code::MODEL, "reading inputs", cause, "leave out `sizes`"));
        }
        let sizes = sizes(place, &network)?;
        let weights = secure.weights(&network, sizes.greatest(), sizes.headroom());
        return weights.map_err(|e| of_file(place, e));
    }
    if calibration.is_some() && range.is_some() {
        let remedy = "leave out one of `calibration` and `range`";
        return Err(Fault::new(
            code::MODEL,
            "reading inputs",
            "made-up inputs have a range, and there are real ones",
            remedy,
        ));
    }
    let samples = samples(&network, calibration.as_deref(), range)?;
    let greatest = samples.greatest(&network, &secure);
    secure.weights(&network, greatest, samples.headroom()).map_err(|e| of_file(place, e))
}

/// The client's inputs of the computation.
pub(super) fn client_tensors(
    task: &InferTask,
    me: &Member,
    inputs: &BTreeMap<String, InputPlace>,
) -> Result<BTreeMap<String, Tensor>, Fault> {
    let one = |name: &str| {
        let place = inputs.get(name).ok_or_else(|| {
            let remedy = format!("add {name} = {{ file = \"input.npy\" }} under [inputs]");
            Fault::new(code::MODEL, "reading the input", format!("{me} has no {name}"), remedy)
        })?;
        let tensor = encode_input(task.computation(), name, &array(name, place)?);
        Ok((name.to_owned(), tensor.map_err(|e| of_file(place, e))?))
    };
    client_inputs(task).map(|(name, _)| one(name)).collect()
}

/// Checks that all places are of inputs that a member brings.
fn known(task: &InferTask, me: &Member, inputs: &BTreeMap<String, InputPlace>) -> Result<(), Fault> {
    let known: Vec<String> = if *me == task.job().owner {
        calibrations(task).chain([MODEL, RANGE, SIZES, PUBLIC].map(str::to_owned)).collect()
    } else if *me == task.job().client {
        client_inputs(task).map(|(name, _)| name.to_owned()).collect()
    } else {
        vec![]
    };
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    match inputs.keys().find(|name| !known.contains(&name.as_str())) {
        None => Ok(()),
        Some(odd) => {
            let cause = format!("{me} does not bring an input called `{odd}`");
            Err(Fault::new(code::MODEL, "reading inputs", cause, suggest::remedy(odd, &known)))
        }
    }
}

/// Reads the model or the input that a member of an inference brings, as columns of a data set, in
/// parts. `inputs` are the places that the member has under `[inputs]`.
///
/// # Errors
/// A file cannot be read, or belongs to another model, or `me` brings nothing.
pub fn stored_inference(
    job: &InferJob,
    me: &Member,
    inputs: &BTreeMap<String, InputPlace>,
) -> Result<Vec<ColumnInParts>, Fault> {
    let task = InferTask::new(job)?;
    known(&task, me, inputs)?;
    let tensors = if *me == job.owner {
        weights(&task, me, inputs)?
    } else if *me == job.client {
        client_tensors(&task, me, inputs)?
    } else {
        let remedy = "name the model's owner or the client";
        return Err(Fault::new(code::MODEL, "reading inputs", format!("{me} brings nothing"), remedy));
    };
    let column = |(name, tensor): (&String, &Tensor)| {
        let records = Wiped::new(tensor.records());
        column(name, tensor.scalar(), tensor.lengths(), &records)
    };
    Ok(tensors.iter().map(column).collect())
}

impl InferPart {
    pub(super) fn open(task: &InferTask, config: &mut MemberConfig) -> Result<Self, Fault> {
        let (me, job) = (config.me.clone(), task.job());
        let (owns, brings) = (me == job.owner, me == job.client);
        let learns = me == *job.to.as_ref().unwrap_or(&job.client);
        known(task, &me, &config.inputs)?;
        let mut inputs = BTreeMap::new();
        if owns {
            inputs = weights(task, &me, &config.inputs)?;
        }
        if brings {
            inputs.extend(client_tensors(task, &me, &config.inputs)?);
        }
        config.protect_inputs();
        let records = |tensor: Tensor| Wiped::new(tensor.records());
        let inputs = inputs.into_iter().map(|(name, tensor)| (name, records(tensor))).collect();

        let outputs: Vec<&str> = match learns {
            true => task.computation().outputs().iter().map(|output| &output.name[..]).collect(),
            false => vec![],
        };
        let mut places: Vec<Option<OutputPlace>> = vec![];
        places.extend(outputs.iter().map(|name| config.outputs.remove(*name)));
        if let Some(odd) = config.outputs.keys().next() {
            let cause = format!("{me} does not learn an output called `{odd}`");
            return Err(Fault::new(
                code::MODEL,
                "preparing the output",
                cause,
                suggest::remedy(odd, &outputs),
            ));
        }
        let file = |(k, place): (usize, Option<OutputPlace>)| match &place {
            Some(OutputPlace::File(path)) if is_foreign(path) => {
                let cause =
                    format!("{} has the name of another format than an array of NumPy", path.display());
                Err(Fault::new(code::MODEL, "preparing the output", cause, "call it .npy"))
            }
            Some(OutputPlace::File(path)) => {
                Ok(Some(config.files.create("for the output", path, &task.writer_of(outputs[k]), 0o600)?))
            }
            None | Some(OutputPlace::Show | OutputPlace::Memory | OutputPlace::Discard) => Ok(None),
            Some(_) => {
                let remedy = format!("write {} = {{ file = \"output.npy\" }}", outputs[k]);
                Err(Fault::new(code::MODEL, "preparing the output", "a network gives an array", remedy))
            }
        };
        let files = places.into_iter().enumerate().map(file).collect::<Result<Vec<_>, Fault>>()?;
        let inner = ComputePart::of(task.compute(), config, inputs)?;
        Ok(Self { inner, learns, files, learnt: Inferred::default() })
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
        let mut outputs = vec![];
        for (k, file) in self.files.iter().enumerate() {
            let (_, extent, records) = self.inner.learnt().find(|(j, ..)| *j == k).ok_or_else(missing)?;
            let tensor = Tensor::from_records(extent.scalar, &extent.lengths, records);
            let array = decode(&tensor);
            if let Some(file) = file {
                let places = extent.scalar.frac() == 0;
                let bytes = if places { npy::write_whole(&array) } else { npy::write(&array) };
                file.writer()?.write_all(&bytes).map_err(|e| file.error(&e))?;
                file.sync()?;
            }
            outputs.push(array);
        }
        self.learnt = Inferred::of(outputs);
        Ok(())
    }

    fn commit(mut self) -> Result<Inferred, Fault> {
        let from_disk = self.inner.commit()?.from_disk;
        self.files.drain(..).flatten().try_for_each(NewFile::commit)?;
        Ok(Inferred { from_disk, ..self.learnt })
    }
}
