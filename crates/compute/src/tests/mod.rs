//! Tests of the whole: random graphs through every form, and the evaluator against formulas of its own.

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
