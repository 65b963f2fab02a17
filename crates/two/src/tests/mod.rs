//! Tests of operations and runs against results computed in the open.

mod ahead;
mod attacks;
mod costs;
mod kept;
mod lane;
mod ops;
mod orders;
pub(crate) mod pair;
mod random;
mod session;
mod stock;
mod wire;
