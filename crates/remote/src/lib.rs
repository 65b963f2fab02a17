//! The service's client.
//!
//! ```text
//! file      ServiceFile   where the parties are, their pins, and this person's tokens
//! pinned                  TLS for HTTP, whose server is known by its pin
//! client    PartyClient   requests to one party, and its errors
//! service   Service       the group: what is asked of all parties, and compared
//! data                    a table's file to three parties, and what is known of data sets
//! jobs                    submit, wait, and fetch: three shares make a result
//! attend                  a client takes part in a job while it runs
//! command                 the commands that people call
//! ```
#![forbid(unsafe_code)]

mod attend;
mod client;
pub mod command;
mod data;
mod file;
mod jobs;
mod pinned;
mod service;

pub use attend::{Attended, attend};
pub use client::{Answer, PartyClient};
pub use data::{DataFile, Put, put};
pub use file::{PartyPlace, ServiceFile};
pub use jobs::{Fetched, Submission, fetch, submit, wait};
pub use service::Service;
