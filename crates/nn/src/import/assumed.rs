//! Assumptions about the sizes and inputs that a model leaves open.

use crate::{
    Array, Fault, Given, Network,
    onnx::{Dim, Model},
};

/// A network for which open lengths and inputs of the model were assumed.
#[derive(Debug)]
pub struct Assumed {
    /// The network.
    pub network: Network,
    /// The lengths of its secret inputs, if they were assumed.
    pub shapes: Vec<(String, Vec<usize>)>,
    /// The assumed values of public inputs.
    pub public: Vec<(String, f32)>,
}

/// The lengths that are tried for open axes, one after another.
const OPEN: [usize; 6] = [64, 16, 224, 640, 1024, 16_000];
/// The rate of samples of sound, for inputs with such a name.
const RATE: f32 = 16_000.0;

impl Model {
    /// The names of inputs that are secret, in order: those that are neither weights nor given.
    #[must_use]
    pub fn secret_inputs(&self, given: &Given) -> Vec<String> {
        let known = |name: &str| {
            given.public.contains_key(name) || self.graph.weights.iter().any(|weights| weights.name == *name)
        };
        self.graph.inputs.iter().map(|input| input.name.clone()).filter(|name| !known(name)).collect()
    }
}

impl Network {
    /// The network of a model with the given facts about its inputs. If they do not suffice, open
    /// lengths and single integers, such as a rate of samples, are assumed.
    ///
    /// # Errors
    /// All faults of the model.
    pub fn assumed(model: &Model, given: &Given) -> Result<Assumed, Vec<Fault>> {
        let mut told = match Network::with(model.clone(), given) {
            Ok(network) => return Ok(Assumed { network, shapes: vec![], public: vec![] }),
            Err(faults) => faults,
        };
        let lengths = |name: &String| {
            let input = model.graph.inputs.iter().find(|input| input.name == *name);
            input.and_then(|input| input.lengths.clone())
        };
        let names = model.secret_inputs(given);
        // Single integers control a model, or tell how long a sequence is.
        let single = |name: &&String| {
            let whole = model.graph.kinds.get(*name).is_some_and(|kind| [6, 7, 9].contains(kind));
            let one = |dim: &Dim| matches!(dim, Dim::Named(_) | Dim::Known(1));
            whole && lengths(name).is_some_and(|all| all.len() <= 1 && all.iter().all(one))
        };
        let singles: Vec<&String> = names.iter().filter(single).collect();
        for open in OPEN {
            for (public, last) in [(false, false), (true, false), (false, true), (true, true)] {
                if public && singles.is_empty() {
                    continue;
                }
                let mut more = Given { open: Some(open), ..given.clone() };
                let mut assumed = vec![];
                for name in singles.iter().filter(|_| public) {
                    let rate = *name == "sr" || name.contains("rate");
                    let value = if rate { RATE } else { open as f32 };
                    let rank = lengths(name).map_or(0, |all| all.len());
                    more.public.insert((*name).clone(), Array::new(&vec![1; rank], vec![value]));
                    assumed.push(((*name).clone(), value));
                }
                // Only last axes are long. A shape without a name is that of the first input.
                let has_shape = |name: &String| names.first() == Some(name) && given.shapes.contains_key("");
                for name in
                    names.iter().filter(|name| last && !more.public.contains_key(*name) && !has_shape(name))
                {
                    let Some(all) = lengths(name) else { continue };
                    let n = all.len();
                    let one = |(axis, dim): (usize, &Dim)| match dim {
                        Dim::Known(n) if (*n as i64) > 0 => *n as usize,
                        _ if axis + 1 == n && axis > 0 => open,
                        _ => 1,
                    };
                    let shape = all.iter().enumerate().map(one).collect();
                    more.shapes.entry(name.clone()).or_insert(shape);
                }
                match Network::with(model.clone(), &more) {
                    Ok(network) => {
                        let of = |(name, at): &(String, usize)| {
                            (name.clone(), network.layers[*at].lengths.clone())
                        };
                        let shapes = network.inputs.iter().map(of).collect();
                        return Ok(Assumed { network, shapes, public: assumed });
                    }
                    // Keeps the shortest list of faults.
                    Err(faults) if faults.len() <= told.len() => told = faults,
                    Err(_) => {}
                }
            }
        }
        Err(told)
    }
}
