//! ONNX files: the messages of the format that networks need, read with limits and written.
//!
//! ```text
//! proto    fields of protocol buffers, borrowed from the file
//! message  Model, Graph, Node, Attribute, Tensor, ValueInfo
//! read     bytes to messages: nothing is allocated that the file's own bytes do not pay for
//! write    messages to bytes
//! ```
//!
//! Field numbers are those of `onnx.proto` of ONNX's IR version 10. Weights in other files, sparse ones, subgraphs and functions
//! of the model's own are refused by name.

mod message;
mod proto;
mod read;
mod write;

pub use message::{Attribute, Data, Dim, Graph, Model, Node, Tensor, ValueInfo};
pub(crate) use read::kind_name;
