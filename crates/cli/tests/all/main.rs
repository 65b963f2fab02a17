//! Runs the command as a person starts it. All tests are one program, so that it is linked once.
//!
//! Protocols are tested in their crates, and kinds of job once, in process, in `crates/kinds` and
//! `crates/hushwire`. A test is here if it needs a process, a flag, an exit code, a file of the
//! user or the text of a message:
//!
//! | modules | what needs a process |
//! |---|---|
//! | `fault_table`, `faults`, `failures` | kills, stops, full disks, ports and pipes of members |
//! | `members`, `two_party`, `*_members` | files from `local files`, reports, who learns what |
//! | `aes_jobs`, `keys`, `hardware` | encrypted files, shares of keys and their ledger, devices |
//! | `jobs`, `circuit` | `local run` and `circuit`: inputs, formats and files |
//! | `compute*`, `query`, `infer`, `messy` | options and notes of computations and their files |
//! | `psi`, `psi_query`, `ot` | options and files of intersections, lists and transfers |
//! | `shards`, `serve`, `preparation` | processes that share a member, serve clients or prepare |
//! | `outputs`, `stdout`, `trust` | what is overwritten, pipes, other users of the machine |
//! | `doctor`, `keys_cmd`, `set_up`, `allowed` | commands of operators |
//! | `help`, `habits`, `bench`, `report` | help, completions, numbers, colours, reports |
//! | `pages`, `texts`, `schemas`, `documented` | pages, messages and reports are as documented |
//! | `openssl`, `pipelines` | comparisons with other programs |

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
