//! Faults of models and of their data, and the display of names from files.

use hushwire_fault::{Code, Fault, code, printable};
use std::fmt::Display;

/// A name from a file for messages: at most 64 characters, none of which controls a terminal.
pub(crate) fn shown(name: &str) -> String {
    let start: String = name.chars().take(64).collect();
    printable(&start).into_owned()
}

/// The fault for an array with another shape than the network takes.
pub(crate) fn shape((found, expected): (String, String), remedy: &str) -> Fault {
    Fault::filled(code::SHAPE, &[("found", &found), ("expected", &expected), ("remedy", &remedy)])
}

/// A fault of a layer, with the layer's name among its fields.
pub(crate) fn of_layer(code: Code, layer: &str, fields: &[(&'static str, &dyn Display)]) -> Fault {
    Fault::filled(code, &[fields, &[("layer", &layer)]].concat()).at(format_args!("layer {layer}"))
}
