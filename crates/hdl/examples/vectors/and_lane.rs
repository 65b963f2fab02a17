//! Single ANDs of 128 instances: the factors, counter and message of all three parties.

use crate::{WORD, hex, keys, tap};
use hushwire_aes::Backend;
use hushwire_circuit::{named, planes::plane_bytes};
use hushwire_prg::Address;
use hushwire_rep3::share;
use hushwire_testkit::{noise, prg, world};
use serde_json::{Value, json};
use std::{error::Error, sync::Arc};

/// Circuit, instances, shard and lane. With 256 instances an AND takes two words.
const RUNS: [(&str, usize, (u32, u32)); 3] = [
    ("aes128-expanded-key", 128, (1, 2)),
    ("aes128-expanded-key-depth4", 128, (0, 0)),
    ("aes128-expanded-key", 256, (0x8000_0001, 0xfffe_dcba)),
];
/// The number of words of each run, spread from the first to the last.
const PICKED: usize = 200;

/// `{parties: [{own, prev}], ands: [{counter, parties: [{x_own, x_next, y_own, y_next, z}]}]}`
pub(crate) fn vectors() -> Result<Value, Box<dyn Error>> {
    let world = world(6, Backend::best());
    let mut ands = vec![];
    for (name, instances, (shard, lane)) in RUNS {
        let program = Arc::new(named::program(name)?);
        let values = noise(instances as u64, program.input_bits() * plane_bytes(instances));
        let inputs = share(&mut prg(6, name), &values);
        let heard = tap::run(&world, &program, &inputs, instances, (shard, lane))?.map(|(heard, _)| heard);
        let words = heard[0].messages.len() / WORD;
        for word in (0..PICKED).map(|i| i * (words - 1) / (PICKED - 1)) {
            let of = |bytes: &Vec<u8>| hex(&bytes[WORD * word..WORD * (word + 1)]);
            let parties: Vec<Value> = heard
                .iter()
                .map(|h| {
                    json!({
                        "x_own": of(&h.x[0]), "x_next": of(&h.x[1]),
                        "y_own": of(&h.y[0]), "y_next": of(&h.y[1]),
                        "z": of(&h.messages),
                    })
                })
                .collect();
            let counter = format!("{:032x}", Address { shard, lane }.counter(word as u64));
            ands.push(json!({ "counter": counter, "parties": parties }));
        }
    }
    let parties = world.each_ref().map(|party| {
        let [own, prev] = keys(party);
        json!({ "own": own, "prev": prev })
    });
    Ok(json!({ "parties": parties, "ands": ands }))
}
