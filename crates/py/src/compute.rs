//! Computations: their parts, the plain evaluator and prices.

use crate::{
    arrays::{Array, Raw, raw},
    errors::{raised, result},
    running::aside,
};
use hushwire::{
    Fault,
    aes::Backend,
    compute::{self, ComputeError, Dim, Shape, Tensor, Visibility},
    job::{ComputationSource, ComputeJob, ComputeTask, Forecast, Member, Protocol},
    simd::Tier,
    wire::Shape as Network,
};
use pyo3::{prelude::*, types::PyDict};
use std::{collections::BTreeMap, sync::Arc, time::Duration};

/// A checked computation, from its text.
#[pyclass(frozen, module = "hushwire._native")]
pub(crate) struct Computation(pub(crate) Arc<compute::Computation>);

/// Arrays by the names of inputs.
pub(crate) type Arrays<'py> = BTreeMap<String, Array<'py>>;
/// Raw outputs by name.
pub(crate) type Raws = BTreeMap<String, Raw>;

pub(crate) fn raws(tensors: &BTreeMap<String, Tensor>) -> Raws {
    tensors.iter().map(|(name, tensor)| (name.clone(), raw(tensor))).collect()
}

fn refused(e: &ComputeError) -> Fault {
    let place = e.place().map(|place| format!(", {place}")).unwrap_or_default();
    e.fault().during(format!("reading the computation{place}"))
}

/// The length of an axis: a number, or the name of a symbol.
#[derive(IntoPyObject)]
enum ShapeAxis {
    Known(u64),
    Symbol(String),
}

fn axes(shape: &Shape) -> Vec<ShapeAxis> {
    let axis = |dim: &Dim| match dim {
        Dim::Known(n) => ShapeAxis::Known(*n),
        Dim::Symbol(name) => ShapeAxis::Symbol(name.to_string()),
    };
    shape.0.iter().map(axis).collect()
}

/// LOCAL: processes on one machine, which wake each other over sockets.
const LOOPBACK: Network = Network { bits_per_second: None, rtt: Duration::from_micros(60) };

/// Returns the protocol of this name.
pub(crate) fn protocol_of(name: &str) -> Result<Protocol, Fault> {
    let remedy = "write \"rep3\", \"two\" or \"authgarble:N\" for N parties";
    name.parse()
        .map_err(|_| Fault::usage("choosing the protocol", format!("no protocol is called {name:?}"), remedy))
}

/// Converts a forecast for Python.
pub(crate) fn price<'py>(py: Python<'py>, forecast: &Forecast) -> PyResult<Bound<'py, PyDict>> {
    let (all, seconds) = (PyDict::new(py), PyDict::new(py));
    all.set_item("rounds", forecast.rounds)?;
    all.set_item("bytes_sent", forecast.bytes_sent)?;
    for (name, network) in [("local", LOOPBACK), ("lan", Network::lan()), ("wan", Network::wan())] {
        seconds.set_item(name, forecast.seconds(network))?;
    }
    all.set_item("seconds", seconds)?;
    Ok(all)
}

impl Computation {
    /// Converts arrays from Python to the inputs' types: `all` inputs, or those of one member.
    pub(crate) fn tensors(
        &self,
        py: Python<'_>,
        arrays: &Arrays<'_>,
        all: bool,
    ) -> PyResult<BTreeMap<String, Tensor>> {
        let types: BTreeMap<&str, _> = self.0.inputs().collect();
        let mut tensors = BTreeMap::new();
        for (name, array) in arrays {
            let Some(ty) = types.get(name.as_str()) else {
                let cause = format!("the computation has no input called `{name}`");
                let remedy = format!("it has {}", types.keys().copied().collect::<Vec<_>>().join(", "));
                return Err(raised(py, &Fault::usage("starting the run", cause, remedy)));
            };
            tensors.insert(name.clone(), result(py, array.tensor(name, ty)?)?);
        }
        if let Some(name) = types.keys().find(|name| all && !tensors.contains_key(**name)) {
            let cause = format!("input `{name}` is missing");
            return Err(raised(py, &Fault::usage("starting the run", cause, "bring an array for it")));
        }
        Ok(tensors)
    }

    /// Assigns the parties of a protocol in turn to the members of the computation.
    fn members(&self, parties: u8) -> BTreeMap<String, Member> {
        let names = self.0.members().iter().enumerate();
        names.map(|(i, name)| (name.clone(), Member::Party((i % usize::from(parties)) as u8))).collect()
    }
}

#[pymethods]
impl Computation {
    /// Reads a computation from its text.
    #[new]
    fn new(py: Python<'_>, text: &str) -> PyResult<Self> {
        let read = text.parse().map_err(|e: ComputeError| raised(py, &refused(&e)))?;
        Ok(Self(Arc::new(read)))
    }

    /// The name.
    #[getter]
    fn name(&self) -> &str {
        self.0.name()
    }

    /// The text.
    #[getter]
    fn text(&self) -> String {
        self.0.to_string()
    }

    /// The digest that members compare, in hexadecimal digits.
    #[getter]
    fn digest(&self) -> String {
        self.0.digest().iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// The names of the members.
    #[getter(members)]
    fn member_names(&self) -> Vec<String> {
        self.0.members().to_vec()
    }

    /// The names of the lengths that a run sets.
    #[getter]
    fn symbols(&self) -> Vec<String> {
        self.0.symbols().to_vec()
    }

    /// The inputs: name, scalar, shape, and the member who brings it, or "public" or "secret".
    #[getter]
    fn inputs(&self) -> Vec<(String, String, Vec<ShapeAxis>, String)> {
        let who = |visibility| match visibility {
            Visibility::Public => "public".to_owned(),
            Visibility::Private(of) => self.0.members()[usize::from(of.0)].clone(),
            Visibility::Secret => "secret".to_owned(),
        };
        let inputs = self.0.inputs();
        inputs
            .map(|(name, ty)| (name.to_owned(), ty.scalar.to_string(), axes(&ty.shape), who(ty.visibility)))
            .collect()
    }

    /// The outputs: name, scalar, shape, and the members who learn it.
    #[getter]
    fn outputs(&self) -> Vec<(String, String, Vec<ShapeAxis>, Vec<String>)> {
        let outputs = self.0.outputs().iter();
        outputs
            .map(|output| {
                let ty = &self.0.node(output.value).ty;
                let to = output.to.iter().map(|of| self.0.members()[usize::from(of.0)].clone());
                (output.name.clone(), ty.scalar.to_string(), axes(&ty.shape), to.collect())
            })
            .collect()
    }

    /// Evaluates the computation in the clear, in this process only.
    fn evaluate(&self, py: Python<'_>, inputs: Arrays<'_>) -> PyResult<Raws> {
        let (computation, tensors) = (self.0.clone(), self.tensors(py, &inputs, true)?);
        let ended = aside(py, move || compute::evaluate(&computation, &tensors).map_err(|e| e.fault()))?;
        Ok(raws(&ended))
    }

    /// The price of a run in which symbols have these lengths. It has the rounds and bytes of the
    /// party that sends most, and the seconds on this machine, over a LAN and over a WAN.
    #[pyo3(signature = (lengths, protocol = "rep3"))]
    fn cost<'py>(
        &self,
        py: Python<'py>,
        lengths: BTreeMap<String, u64>,
        protocol: &str,
    ) -> PyResult<Bound<'py, PyDict>> {
        let (computation, protocol) = (self.0.clone(), result(py, protocol_of(protocol))?);
        let members = self.members(protocol.parties());
        let priced = move || {
            let mut job = ComputeJob::new(protocol, ComputationSource::Text(String::new()));
            job.members = members;
            let task = ComputeTask::of(&job, computation)?;
            let aes = Backend::best().tier() != Tier::Portable;
            Ok(task.bound(&lengths)?.forecast(task.chosen(), aes)?.0)
        };
        let forecast = aside(py, priced)?;
        price(py, &forecast)
    }

    /// The operations in words, with who learns what.
    fn explain(&self) -> String {
        self.0.explain()
    }

    fn __repr__(&self) -> String {
        format!("<hushwire.Computation {}, {} operations>", self.0.name(), self.0.nodes().len())
    }
}
