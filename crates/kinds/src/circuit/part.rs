//! The values of one member, and the outputs that it learns.

use crate::{Prepared, circuit::place};
use hushwire_session::FromDisk;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Outputs of a circuit that did not go to files, by place in the circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outputs {
    /// Hexadecimal digits of the outputs to show.
    pub digits: Vec<(usize, String)>,
    /// Records of the outputs to return in memory: one for each instance, one after the other.
    pub records: Vec<(usize, Vec<u8>)>,
    /// The preprocessing that came from disk. `None` if this party has no shelf.
    pub from_disk: Option<FromDisk>,
}

/// The circuit, and the values of one member.
pub struct CircuitPart {
    pub(crate) prepared: Prepared,
    pub(crate) sources: Arc<Vec<Option<place::InputSource>>>,
    pub(crate) sinks: Arc<Vec<Option<place::Sink>>>,
    pub(crate) from_disk: Option<FromDisk>,
}
