//! One operator of a model: its inputs and attributes with errors that name it.

use super::{Import, Known};
use crate::{
    Array, NnError,
    error::shown,
    onnx::{Attribute, Node},
};
use std::sync::Arc;

/// An operator and its name in messages.
pub(super) struct Operator<'a> {
    pub(super) node: &'a Node,
    pub(super) place: String,
    pub(super) name: String,
}

impl<'a> Operator<'a> {
    pub(super) fn new(node: &'a Node, at: usize) -> Self {
        let name = match (&node.name[..], node.outputs.first()) {
            ("", Some(output)) => output.clone(),
            ("", None) => format!("{at}"),
            (name, _) => name.to_owned(),
        };
        Operator { node, place: format!("node {} ({})", shown(&name), shown(&node.op)), name }
    }

    pub(super) fn error(&self, cause: impl Into<String>, remedy: &str) -> NnError {
        NnError::new(&self.place, cause, remedy)
    }

    /// An input that may be left out.
    pub(super) fn maybe(&self, import: &Import, k: usize) -> Result<Option<Known>, NnError> {
        match self.node.inputs.get(k).map(String::as_str) {
            None | Some("") => Ok(None),
            Some(name) => match import.values.get(name) {
                Some(known) => Ok(Some(known.clone())),
                None => Err(self.error(
                    format!("its input {} is an output that is not supported", shown(name)),
                    "use the first output of each operator alone",
                )),
            },
        }
    }

    pub(super) fn input(&self, import: &Import, k: usize) -> Result<Known, NnError> {
        let missing = || self.error(format!("it has no input {k}"), "save the model anew");
        self.maybe(import, k)?.ok_or_else(missing)
    }

    /// An input that is a layer's value.
    pub(super) fn layer(&self, import: &Import, k: usize) -> Result<usize, NnError> {
        match self.input(import, k)? {
            Known::Layer(at) => Ok(at),
            _ => Err(self.error(
                format!("its input {k} is known, and a value is wanted"),
                "write the network so that the input comes first",
            )),
        }
    }

    /// An input that is weights.
    pub(super) fn weights(&self, import: &Import, k: usize) -> Result<Arc<Array>, NnError> {
        let known = self.input(import, k)?;
        self.as_weights(known, k)
    }

    pub(super) fn maybe_weights(&self, import: &Import, k: usize) -> Result<Option<Arc<Array>>, NnError> {
        self.maybe(import, k)?.map(|known| self.as_weights(known, k)).transpose()
    }

    fn as_weights(&self, known: Known, k: usize) -> Result<Arc<Array>, NnError> {
        match known {
            Known::Floats(array) => {
                if array.data.iter().any(|x| !x.is_finite()) {
                    let cause = format!("its weights, input {k}, are not all finite");
                    return Err(self.error(cause, "train the model again"));
                }
                Ok(array)
            }
            Known::Ints(lengths, all) => {
                Ok(Arc::new(Array { lengths, data: all.iter().map(|n| *n as f32).collect() }))
            }
            Known::Layer(_) => Err(self.error(
                format!("its input {k} is a value, and weights are wanted"),
                "weights stand in the model; they do not depend on the input",
            )),
        }
    }

    /// An input of integers that are known.
    pub(super) fn integers(&self, import: &Import, k: usize) -> Result<Option<Vec<i64>>, NnError> {
        Ok(match self.maybe(import, k)? {
            None => None,
            Some(Known::Ints(_, all)) => Some(all),
            Some(_) => {
                let cause = format!("its input {k} is not known before the run");
                return Err(self.error(cause, "shapes and axes do not depend on values"));
            }
        })
    }

    fn wrong(&self, name: &str) -> NnError {
        self.error(format!("its attribute {name} is of another kind"), "save the model anew")
    }

    pub(super) fn int(&self, name: &str, default: i64) -> Result<i64, NnError> {
        match self.node.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Int(n)) => Ok(*n),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(super) fn flag(&self, name: &str, default: bool) -> Result<bool, NnError> {
        Ok(self.int(name, default.into())? != 0)
    }

    pub(super) fn float(&self, name: &str, default: f32) -> Result<f32, NnError> {
        match self.node.attributes.get(name) {
            None => Ok(default),
            Some(Attribute::Float(x)) => Ok(*x),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(super) fn maybe_float(&self, name: &str) -> Result<Option<f32>, NnError> {
        match self.node.attributes.get(name) {
            None => Ok(None),
            Some(_) => self.float(name, 0.0).map(Some),
        }
    }

    pub(super) fn ints(&self, name: &str) -> Result<Option<Vec<i64>>, NnError> {
        match self.node.attributes.get(name) {
            None => Ok(None),
            Some(Attribute::Ints(all)) => Ok(Some(all.clone())),
            Some(_) => Err(self.wrong(name)),
        }
    }

    pub(super) fn text(&self, name: &str, default: &str) -> Result<String, NnError> {
        match self.node.attributes.get(name) {
            None => Ok(default.to_owned()),
            Some(Attribute::Text(text)) => Ok(text.clone()),
            Some(_) => Err(self.wrong(name)),
        }
    }

    /// Numbers of a list, not below 0.
    pub(super) fn sizes<const N: usize>(
        &self,
        name: &str,
        default: [usize; N],
    ) -> Result<[usize; N], NnError> {
        let Some(all) = self.ints(name)? else { return Ok(default) };
        let sizes: Option<Vec<usize>> = all.iter().map(|n| usize::try_from(*n).ok()).collect();
        let sizes = sizes.and_then(|sizes| <[usize; N]>::try_from(sizes).ok());
        sizes.ok_or_else(|| {
            self.error(format!("its {name} are {all:?}"), "networks have windows over rows and columns")
        })
    }

    /// An axis counted from the front, also where it is counted from the end.
    pub(super) fn axis(&self, axis: i64, rank: usize) -> Result<usize, NnError> {
        let found = if axis < 0 { axis + rank as i64 } else { axis };
        let found = usize::try_from(found).ok().filter(|axis| *axis < rank);
        found.ok_or_else(|| self.error(format!("its axis is {axis} of {rank}"), "save the model anew"))
    }
}
