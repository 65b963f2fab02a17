//! Runs the command as a person starts it. All tests are one program, so that it is linked once.

mod aes_jobs;
#[cfg(feature = "sql")]
mod allowed;
mod bench;
mod circuit;
mod common;
mod compute;
mod compute_members;
mod compute_reports;
mod doctor;
mod documented;
mod failures;
mod fault_table;
mod faults;
mod habits;
mod hardware;
mod help;
#[cfg(feature = "nn")]
mod infer;
#[cfg(feature = "nn")]
mod infer_members;
mod jobs;
mod keys;
mod keys_cmd;
mod members;
#[cfg(feature = "sql")]
mod messy;
mod openssl;
mod ot;
mod outputs;
#[cfg(all(feature = "nn", feature = "sql"))]
mod pages;
#[cfg(feature = "nn")]
mod pipelines;
mod preparation;
mod psi;
mod psi_members;
mod psi_query;
#[cfg(feature = "sql")]
mod query;
#[cfg(feature = "sql")]
mod query_members;
mod rehearsal;
mod report;
mod schemas;
#[cfg(feature = "nn")]
mod serve;
#[cfg(feature = "sql")]
mod set_up;
#[cfg(feature = "sql")]
mod shards;
mod stdout;
mod texts;
mod trust;
mod two_party;
