//! The values of one member, and what it learns.

use crate::{Prepared, circuit::place};
use hushwire_session::FromDisk;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Outputs of a circuit that went to no file, by place in the circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// Hexadecimal digits of those that were to be shown.
    pub digits: Vec<(usize, String)>,
    /// Records of those that were wanted in memory: one for each instance, one after the other.
    pub records: Vec<(usize, Vec<u8>)>,
    /// The phases of authenticated garbling that came from this party's shelf, if it has one.
    pub from_disk: Option<FromDisk>,
}

/// The circuit, and the values of one member.
pub struct CircuitPart {
    pub(crate) prepared: Prepared,
    pub(crate) sources: Arc<Vec<Option<place::InputSource>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    pub(crate) from_disk: Option<FromDisk>,
}
