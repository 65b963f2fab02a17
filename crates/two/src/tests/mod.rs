//! Operations and runs against what they compute in the open.

mod ops;
mod pair;
