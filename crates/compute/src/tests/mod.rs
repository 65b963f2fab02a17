//! Tests of the whole crate: random graphs through every form, and the evaluator against
//! independent formulas.

mod by_rows;
mod circuits;
mod cost;
mod cut;
mod derived;
mod evaluator;
mod explain;
mod fixed;
mod forms;
mod messages;
mod numpy;
mod ranges;
mod tables;
mod windows;
