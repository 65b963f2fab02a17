//! Every machine of `ot` hears messages of any bytes and any length: it refuses other lengths,
//! fails for good, or goes on with what it heard, and never panics.
#![no_main]

use std::cell::RefCell;

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/ot/tests/machines/mod.rs"]
mod machines;

thread_local! {
    static WORLD: RefCell<machines::World> = RefCell::new(machines::World::new());
}

fuzz_target!(|bytes: &[u8]| {
    WORLD.with_borrow_mut(|world| machines::fed(world, bytes));
});
