//! A neural network on a client's input as a job. It runs the computation that [`hushwire_nn`]
//! makes of the network, with ONNX and NumPy files as inputs and outputs.
//!
//! ```text
//! file   InferJob    the keys of a job file of this kind
//! plan   InferTask   the network's computation, which has no weights, and its members
//! part   InferPart   the owner's weights from a model, the client's array in, and an array out
//! serve  serve_model   the same for one client after another, while the weights stay
//! ask    ask_model     the client's endpoint of that
//! ```

#[cfg(feature = "nn")]
mod answers;
#[cfg(feature = "nn")]
mod ask;
mod file;
#[cfg(feature = "nn")]
mod part;
#[cfg(feature = "nn")]
mod plan;
#[cfg(feature = "nn")]
mod serve;
#[cfg(feature = "nn")]
mod words;

#[cfg(feature = "nn")]
pub use ask::{Answered, Requests, ask_model};
pub use file::InferJob;
#[cfg(feature = "nn")]
pub use part::{
    InferPart, SIZES, array_in, model, model_in, network_given, network_in, network_of, public_values,
    read_array, samples, stored_inference,
};
#[cfg(feature = "nn")]
pub use plan::{InferTask, Inferred};
#[cfg(feature = "nn")]
pub use serve::{AHEAD, ServeEvent, ServeObserver, ServeReport, ServeTerms, serve_model};
#[cfg(feature = "nn")]
pub use words::lines as inferred_lines;
