//! Tests of GMW through the public interface. They are one program, which is linked once.

mod circuits;
mod faults;
mod formulas;
mod machine;
mod pair;
