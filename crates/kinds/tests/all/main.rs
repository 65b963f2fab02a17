//! Tests of jobs through the public interface: files, plans, and members on loopback. They form one
//! program, so that it is linked only once.

mod aes_ctr;
mod ahead;
mod any_file;
mod common;
mod compute;
mod deviating;
mod draw;
mod encrypt;
mod examples;
mod files;
mod forecast;
mod kept;
mod masks;
mod memory;
mod n_party;
#[cfg(feature = "two")]
mod pair;
mod parameters;
mod plans;
mod psi;
mod run;
mod schemas;
mod stored;
mod terms;
mod two_party;
#[cfg(feature = "parquet")]
mod unread;
