//! Tests of hardware parties through the public interface. They are one program, so that it is
//! linked once.

#[path = "../../../circuit/tests/all/common/mod.rs"]
mod circuits;
mod common;
mod faults;
mod microcode;
mod process;
mod sessions;
mod simulated;
