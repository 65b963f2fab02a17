//! Conversions and comparisons against plain arithmetic, and the attacks that their rules prevent.

mod bits;
mod compare;
mod few_rounds;
mod masks;
mod numbers;
mod rectify;

use super::{Word, test_support::parties};
use crate::{Batch, Rep3Party, test_support};
use hushwire_aes::Backend;
use hushwire_machine::{
    NetError, SessionId,
    drive::{Lockstep, Machine},
};
use hushwire_prg::{Prg, PrssKeys, Seed};

/// Numbers of rows that do not fill a byte or a word, none at all, and many.
const ROWS: [usize; 9] = [0, 1, 7, 8, 9, 63, 64, 65, 1000];

fn random() -> Prg {
    Prg::new(Backend::best(), &Seed::random(), "test")
}

/// Runs three parties' machines of one batch to their end; Lockstep compares their cost with the
/// declared one.
fn run<M: Machine<Error = NetError>>(make: impl Fn(&mut Batch, usize) -> M) -> [M; 3] {
    in_session(&mut parties(), make)
}

/// As [`run`], in a session that may have run other machines before.
fn in_session<M: Machine<Error = NetError>>(
    session: &mut [Rep3Party; 3],
    make: impl Fn(&mut Batch, usize) -> M,
) -> [M; 3] {
    let mut machines = session.each_mut().map(|party| {
        let role = party.role().index();
        make(&mut party.next_batch().unwrap(), role)
    });
    Lockstep::new().run(&mut machines).unwrap();
    machines
}

/// Random numbers, and edge cases as far as there is room.
fn numbers<W: Word>(prg: &mut Prg, rows: usize) -> Vec<W> {
    let edges = [0, 1, u64::MAX, u64::MAX >> 1, 1 << (W::BITS - 1), (1 << (W::BITS - 1)) - 1, 2];
    let mut out: Vec<W> = (0..rows).map(|_| W::of(prg.next_u64())).collect();
    if rows > 100 {
        out.iter_mut().skip(rows - 50).zip(edges).for_each(|(out, edge)| *out = W::of(edge));
    }
    out
}

/// A number in two's complement.
fn signed<W: Word>(x: W) -> i64 {
    (x.number() << (64 - W::BITS)) as i64 >> (64 - W::BITS)
}

/// Parties with keys that a test knows: party i's is [i; 16].
fn keyed() -> [Rep3Party; 3] {
    crate::Role::ALL.map(|role| {
        let key = |role: crate::Role| Seed::from_bytes([role.index() as u8 + 1; 16]);
        let keys = PrssKeys { own: key(role), prev: key(role.left()) };
        test_support::party(role, Backend::best(), SessionId([7; 16]), &keys)
    })
}
