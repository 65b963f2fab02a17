//! Channels, links and sessions from outside. One test program, so that it is linked once.

mod again;
mod certificates;
mod child;
mod common;
mod damage;
mod dead;
mod excuse;
mod failures;
mod join;
mod local;
mod machines;
mod pipeline;
mod port;
mod probe;
mod processes;
mod ring;
mod strangers;
mod taps;
mod waiting;
