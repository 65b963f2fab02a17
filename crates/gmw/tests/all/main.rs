//! Two parties by GMW from outside. One program, so that it is linked once.

mod circuits;
mod faults;
mod formulas;
mod machine;
mod pair;
