//! Seeded three-party worlds, transports to run them over, and digests of the bytes on the wire. It
//! is for tests: no shipped crate depends on it.
#![forbid(unsafe_code)]

mod circuits;
mod digests;
mod dirty;
mod executable;
mod mutated;
mod net;
mod page;
mod peak;
mod port;
pub mod suite;
mod trace;

pub use circuits::{picked_circuit, random_program};
pub use digests::Digests;
pub use dirty::Dirty;
pub use executable::executable;
pub use mutated::mutated;
pub use net::{LostMover, Transport, run_shards, run_shards_again, run_three};
pub use page::page;
pub use peak::{case, peak, took};
pub use port::Port;
pub use trace::Trace;

use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_machine::SessionId;
use hushwire_machine::drive::{Lockstep, Machine};
use hushwire_prg::{Prg, PrssKeys, Seed};
use hushwire_rep3::{Rep3Party, Role, test_support};

/// Reproducible randomness: `seed` and `label` determine the bytes.
#[must_use]
pub fn prg(seed: u64, label: &str) -> Prg {
    Prg::new(Backend::best(), &seed_of(seed, 0), label)
}

/// `len` reproducible bytes.
#[must_use]
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut out = vec![0; len];
    prg(seed, "hushwire testkit noise").fill(&mut out);
    out
}

fn seed_of(world: u64, i: u8) -> Seed {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&world.to_le_bytes());
    bytes[8] = i;
    Seed::from_bytes(bytes)
}

/// Three parties with keys derived from `seed`, all on `backend`.
#[must_use]
pub fn world(seed: u64, backend: Backend) -> [Rep3Party; 3] {
    Role::ALL.map(|role| party(seed, role, backend))
}

/// One party of [`world`].
#[must_use]
pub fn party(seed: u64, role: Role, backend: Backend) -> Rep3Party {
    let key = |r: Role| seed_of(seed, 1 + r.index() as u8);
    let keys = PrssKeys { own: key(role), prev: key(role.left()) };
    test_support::party(role, backend, SessionId([7; 16]), &keys)
}

/// Runs three machines on a ring to their end, on this thread. It records the uses of keys.
///
/// # Panics
/// If a machine fails or its cost differs from its declared cost.
pub fn lockstep<M: Machine<Error: std::fmt::Display>>(mut parties: [M; 3]) -> [M; 3] {
    let _watch = registry::watch();
    Lockstep::new().run(&mut parties).unwrap_or_else(|e| panic!("{e}"));
    parties
}

/// All sets of capabilities that this CPU has: each tier, with and without GFNI.
#[must_use]
pub fn backends() -> Vec<Backend> {
    let pairs = Backend::all().into_iter();
    pairs.flat_map(|b| if b.gfni() { vec![b, b.without_gfni()] } else { vec![b] }).collect()
}
