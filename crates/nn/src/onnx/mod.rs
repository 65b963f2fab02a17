//! ONNX files: reads, with limits, and writes the messages of the format that networks need.
//!
//! ```text
//! proto    fields of protocol buffers, borrowed from the file
//! message  Model, Graph, Node, Attribute, Tensor, ValueInfo
//! read     bytes to messages; memory grows only with the file's own bytes
//! write    messages to bytes
//! ```
//!
//! Field numbers are from `onnx.proto` of ONNX's IR version 10. Sparse weights are refused by name.

mod message;
mod proto;
mod read;
mod write;

pub use message::{Attribute, Data, Dim, Graph, Model, ModelFunction, Node, Tensor, ValueInfo};
pub use read::Beside;
pub(crate) use read::kind_name;
