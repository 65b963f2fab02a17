//! Records a party's operands and messages while it runs.

use hushwire_circuit::Program;
use hushwire_rep3::{
    CircuitBatch, CircuitWorkspace, Place, Record, Rep3Party, Role, Shares, Unit, test_support::context,
};
use hushwire_testkit::lockstep;
use std::sync::{Arc, Mutex};

/// A party's factors and messages: the messages of all layers one after the other, and the factors
/// in the same byte order.
#[derive(Default)]
pub(crate) struct Heard {
    /// The shares own and next of the first factor.
    pub(crate) x: [Vec<u8>; 2],
    /// The shares own and next of the second factor.
    pub(crate) y: [Vec<u8>; 2],
    pub(crate) messages: Vec<u8>,
    /// The number of bytes of factors so far.
    factors: usize,
}

/// Writes to a [`Heard`] that outlives the batch.
struct Tap(Arc<Mutex<Heard>>);

impl Tap {
    fn with(&self, f: impl FnOnce(&mut Heard)) {
        f(&mut self.0.lock().expect("one thread"));
    }
}

impl Record for Tap {
    fn randomness(&mut self, _layer: usize, mask: &[u8]) {
        // The layer's factors come next; their places count from this end.
        self.with(|heard| {
            let end = heard.messages.len() + mask.len();
            heard.x.iter_mut().chain(&mut heard.y).for_each(|share| share.resize(end, 0));
        });
    }

    fn product(&mut self, _layer: usize, place: Place, x: [&[u8]; 2], y: [&[u8]; 2]) {
        assert_eq!(place.unit, Unit::Bits, "planes of whole bytes");
        self.with(|heard| {
            let at = heard.messages.len() + place.offset;
            for share in 0..2 {
                heard.x[share][at..at + x[share].len()].copy_from_slice(x[share]);
                heard.y[share][at..at + y[share].len()].copy_from_slice(y[share]);
            }
            heard.factors += x[0].len();
        });
    }

    fn opening(&mut self, _layer: usize, _shares: [&[u8]; 2]) {
        unreachable!("a circuit opens nothing");
    }

    fn message(&mut self, _layer: usize, message: &[u8]) {
        self.with(|heard| heard.messages.extend_from_slice(message));
    }
}

/// Runs `program` on three parties' `inputs` at the address (shard, lane). Returns each party's
/// recording and its shares of the output.
pub(crate) fn run(
    world: &[Rep3Party; 3],
    program: &Arc<Program>,
    inputs: &[Shares; 3],
    instances: usize,
    (shard, lane): (u32, u32),
) -> Result<[(Heard, Shares); 3], hushwire_rep3::ShareError> {
    let heard: [Arc<Mutex<Heard>>; 3] = Default::default();
    let mut parties = Vec::with_capacity(3);
    for role in Role::ALL {
        let (i, ws) = (role.index(), CircuitWorkspace::default());
        let cx = context(&world[i], shard, lane);
        let mut batch = CircuitBatch::new(program.clone(), cx, &inputs[i], instances, ws)?;
        batch.record(Box::new(Tap(heard[i].clone())));
        parties.push(batch);
    }
    let Ok(parties) = <[CircuitBatch; 3]>::try_from(parties) else { unreachable!("three roles") };
    let outputs = lockstep(parties).map(|batch| batch.output());
    let mut outputs = outputs.into_iter();
    Ok(heard.map(|heard| {
        let heard = std::mem::take(&mut *heard.lock().expect("one thread"));
        assert_eq!(heard.factors, heard.messages.len(), "every byte has its factors");
        (heard, outputs.next().expect("three parties"))
    }))
}
