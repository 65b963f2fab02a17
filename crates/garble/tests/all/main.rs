//! Tests of garbling and Yao's protocol through the public interface. They are one program, which
//! is linked once.

mod common;
mod stream;
mod streams;
mod yao;
mod yao_failures;
mod yao_machines;
mod yao_wire;
