//! Lowers a network to operations on shares, layer by layer.

use super::{
    Secure,
    context::{Lower, Site},
    recipe::{Recipe, WeightPart},
    value_name,
    widths::widths,
};
use crate::{Fault, Kind, Members, Network, Numbers, operators::ScaleRole, scale::Classes};
use hushwire_compute::{Builder, Val};
use std::collections::BTreeMap;

/// The layer with weights whose wide value becomes the output: no later layer cuts it.
fn whole(network: &Network, mut at: usize) -> Option<usize> {
    loop {
        let layer = &network.layers[at];
        match layer.kind.def().role() {
            ScaleRole::Weights => return Some(at),
            ScaleRole::Keeps | ScaleRole::Moves => at = layer.reads[0],
            _ => return None,
        }
    }
}

pub(super) fn lowered(
    network: &Network,
    numbers: Numbers,
    members: &Members,
    probe: bool,
) -> Result<Secure, Fault> {
    numbers.check()?;
    let widths = widths(network, numbers)?;
    let b = Builder::new(&numbers.name());
    let owner = b.member(&members.owner);
    let client = b.member(&members.client);
    let mut lower = Lower {
        b: &b,
        numbers,
        classes: Classes::new(),
        owner,
        client,
        recipes: vec![],
        held: vec![],
        rings: vec![],
        moved: BTreeMap::new(),
        narrowed: vec![],
        lengths: vec![],
        whole: network.outputs.iter().filter_map(|(_, at)| whole(network, *at)).collect(),
        ones: vec![],
        inputs: network.inputs.iter().map(|(_, at)| *at).zip(network.input_names()).collect(),
    };
    for (at, layer) in network.layers.iter().enumerate() {
        let site = Site { at, name: &layer.name, reads: &layer.reads, lengths: &layer.lengths };
        let is_wide = numbers.wide.is_some_and(|wide| wide.bits == widths[at].bits);
        let ring = if is_wide { numbers.widest() } else { numbers.narrowest() };
        let own = lower.enter(ring, site.reads);
        let held = layer.kind.def().lower(&mut lower, site)?;
        lower.leave(own);
        if !matches!(layer.kind, Kind::Input(_)) {
            b.name(&value_name(at, layer), held.val);
        }
        lower.held.push(held);
        lower.rings.push(ring);
        lower.lengths.push(layer.lengths.clone());
    }
    if probe {
        for (at, held) in lower.held.iter().enumerate() {
            b.output(&format!("l{at}"), held.val, &[owner]);
        }
    }
    // Names in the file may be arbitrary.
    for ((_, at), name) in network.outputs.iter().zip(network.output_names()) {
        let held = output(&mut lower, network, *at);
        b.output(&name, held, &[client]);
    }
    // An owner without weights takes part all the same, so that each member has the place that the
    // job gives it.
    if lower.recipes.is_empty() {
        lower.weights("nothing", Recipe::of(0, WeightPart::One, vec![]));
    }
    let placed = lower.held.iter().map(|held| held.placed).collect();
    let Lower { recipes, classes, rings, narrowed, .. } = lower;
    Ok(Secure { computation: b.finish()?, numbers, recipes, classes, placed, rings, widths, narrowed })
}

/// A value for the client: at the nominal scale, wide if it is wide.
fn output<'b>(lower: &mut Lower<'b>, network: &Network, at: usize) -> Val<'b> {
    let held = lower.held(at);
    lower.numbers = lower.rings[at];
    if network.places(at).is_some() || lower.classes.tie(held.placed.node, Classes::NOMINAL, 1.0) {
        return held.val;
    }
    lower.at_nominal(at, network.layers.len())
}
