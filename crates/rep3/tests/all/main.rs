//! Tests of three parties through the public interface. They are one program, so that it is linked
//! once.

mod aes;
mod circuits;
mod columns;
mod gate;
mod masks;
mod network;
mod party;
mod rows;
mod seams;
mod sums;
mod wire;
mod words;
