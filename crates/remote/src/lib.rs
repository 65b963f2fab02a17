//! The service's client.
//!
//! ```text
//! file      ServiceFile   where the parties are, their pins, and this person's tokens
//! pinned                  TLS for HTTP, which identifies the server by its pin
//! client    PartyClient   requests to one party, and its errors
//! service   Service       the group: requests to all parties, whose answers are compared
//! data                    the upload of a data set's sealed parts to three parties
//! arrays                  a model or a network's input as a data set
//! jobs                    submit, wait, and fetch: three shares give a result
//! attend                  a client takes part in a job while it runs
//! command                 the commands that people call
//! ```
#![forbid(unsafe_code)]

mod arrays;
mod attend;
mod client;
pub mod command;
mod data;
mod file;
mod jobs;
mod pinned;
mod service;

pub use arrays::ArrayData;
pub use attend::{Attended, attend};
pub use client::{Answer, PartyClient};
pub use data::{DataFile, Put, put};
pub use file::{PartyPlace, ServiceFile};
pub use jobs::{Fetched, Submission, fetch, submit, wait};
pub use service::Service;
