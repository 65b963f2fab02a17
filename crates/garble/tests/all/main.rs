//! Garbling and Yao's protocol from outside. One program, so that it is linked once.

mod common;
mod stream;
mod streams;
mod yao;
mod yao_failures;
mod yao_machines;
mod yao_wire;
