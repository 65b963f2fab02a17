//! The ring of each layer, if a network runs in two.
//!
//! A layer with weights takes any scale to any other, which its owner picks so that the value fits.
//! Only values whose scale all members know can be too large for a ring, or lose what they need
//! behind the point: outputs, operands of functions, and functions. These run in the wider ring,
//! and the rest in the narrower one. Operators and shapes alone decide, and never weights.

use super::lower::lowered;
use crate::{
    Fault, Kind, Members, Network, Numbers,
    numbers::{WideLayers, WideRing},
    operators::ScaleRole,
    scale::Classes,
};

/// The number of products of a sum from which it runs in the wider ring, if sums do: a weight then
/// has about a 64th of the steps that the greatest sum has.
const MANY: u64 = 1 << 12;

/// The ring of a layer, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LayerWidth {
    /// The width of its value, in bits.
    pub bits: u8,
    /// The reason, as a clause.
    pub why: &'static str,
}

/// The ring and the reason of each layer.
pub(super) fn widths(network: &Network, numbers: Numbers) -> Result<Vec<LayerWidth>, Fault> {
    let Some(WideRing { bits, layers }) = numbers.wide else {
        let one = LayerWidth { bits: numbers.bits, why: "all layers have one ring" };
        return Ok(vec![one; network.layers.len()]);
    };
    // Scales are tied in the same way in every ring.
    let first = lowered(network, numbers.narrowest(), &Members::default(), false)?;
    let is_known = |at: usize| first.classes.find(first.placed[at].node).0 == Classes::NOMINAL;
    let (mut wide, mut given): (Vec<Option<&'static str>>, Vec<bool>) = (vec![], vec![]);
    for (at, layer) in network.layers.iter().enumerate() {
        let (role, read) = (layer.kind.def().role(), layer.reads.first().copied());
        let follows = matches!(role, ScaleRole::Keeps | ScaleRole::Moves | ScaleRole::Places(_));
        let is_given =
            matches!(layer.kind, Kind::Input(_)) || follows && read.is_some_and(|read| given[read]);
        let known = || is_known(at).then_some("all members know its scale");
        let terms = || network.products(at) / (layer.lengths.iter().product::<usize>().max(1) as u64);
        wide.push(match role {
            _ if is_given => None,
            ScaleRole::Keeps | ScaleRole::Moves | ScaleRole::Places(_) => read.and_then(|read| wide[read]),
            ScaleRole::Weights => known().or_else(|| match layers {
                WideLayers::Known => None,
                WideLayers::Sums if read.is_some_and(|read| given[read]) => Some("it weighs an input"),
                WideLayers::Sums => (terms() >= MANY).then_some("it adds up many products"),
            }),
            ScaleRole::Function => Some("it is a function"),
            ScaleRole::Other => known().or_else(|| {
                let all = !layer.reads.is_empty() && layer.reads.iter().all(|read| wide[*read].is_some());
                all.then_some("all that it reads is wide")
            }),
        });
        given.push(is_given);
    }
    // An input that only wide layers read comes in their ring.
    for at in (0..given.len()).rev().filter(|at| given[*at]) {
        let mut readers = network.layers.iter().enumerate().filter(|(_, layer)| layer.reads.contains(&at));
        if network.outputs.iter().all(|(_, output)| *output != at)
            && readers.clone().next().is_some()
            && readers.all(|(reader, _)| wide[reader].is_some())
        {
            wide[at] = Some("all that reads it is wide");
        }
    }
    let narrow = LayerWidth { bits: numbers.bits, why: "its scale fits it" };
    Ok(wide.into_iter().map(|why| why.map_or(narrow, |why| LayerWidth { bits, why })).collect())
}
