//! Circuits from outside: files, evaluators, networks, standards. One test program, so that it is
//! linked once.

mod bristol;
mod common;
mod eval;
mod intersect;
mod kinds;
mod networks;
mod standards;
mod words;
