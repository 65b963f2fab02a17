//! Hardware parties from outside. One test program, so that it is linked once.

#[path = "../../../circuit/tests/all/common/mod.rs"]
mod circuits;
mod common;
mod faults;
mod microcode;
mod process;
mod sessions;
mod simulated;
