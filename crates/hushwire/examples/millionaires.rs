//! Two owners, three parties and one circuit: Alice and Bob learn who is richer, and the parties
//! learn nothing.
//!
//! `cargo run -p hushwire --example millionaires`

use hushwire::{CircuitBuilder, LocalJob, job::Protocol};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let job = CircuitBuilder::named(Protocol::Rep3, "less:32")
        .input("alice", "client:alice")
        .input("bob", "client:bob")
        .output("bob-is-richer", ["client:alice", "client:bob"])
        .build()?;
    let ended = LocalJob::new(&job).input("alice", "dec:50000").input("bob", "dec:70000").run()?;
    println!("bob is richer: {:?}", ended.digits("bob-is-richer"));
    Ok(())
}
