//! Relations on rows in the open, row by row: what they mean, and the reference of every other way.

pub(crate) mod numbers;
