//! OT extension by rows.

mod base;
mod compress;
mod delta;
mod kind;
mod mask;
mod pairs;
mod receiver;
mod root;
mod segment;
mod sender;
mod setup;
mod stock;
mod tree;

#[cfg(test)]
mod tests;

pub use kind::{Cost, Kind};
pub use root::{RootReceiver, RootSender};
pub use setup::{SetupReceiver, SetupSender};
