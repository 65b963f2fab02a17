//! Proof that a group keeps its promises while processes die, clocks jump, disks fill and strangers
//! connect. Tests that take minutes are ignored, and run by `scripts/test --full`.
#![cfg(any(feature = "failpoints", debug_assertions))]

mod clocks;
mod datasets;
mod deviating;
mod kills;
mod kinds;
mod limits;
mod load;
mod models;
mod power;
#[path = "../rig/mod.rs"]
mod rig;
mod roles;
mod secrecy;
mod strangers;
mod support;
mod trouble;
mod warm;
