//! Whole circuits: the inputs and outputs of a sequencer with one lane, for all three parties.

use crate::{WORD, hex_words, keys, tap};
use hushwire_aes::Backend;
use hushwire_circuit::{Layered, Program, eval, named, planes::plane_bytes};
use hushwire_hdl::Microcode;
use hushwire_prg::Address;
use hushwire_rep3::{Role, Shares, open};
use hushwire_testkit::{noise, world};
use serde_json::{Value, json};
use std::{error::Error, fs, path::Path, sync::Arc};

/// Five cores of 128 instances on one lane.
const WORDS: usize = 5;
const INSTANCES: usize = 128 * WORDS;
/// Circuit, common inputs, shard and lane.
const RUNS: [(&str, &[usize], (u32, u32)); 2] =
    [("add:8", &[], (3, 4)), ("aes128-expanded-key", &[0], (0x0123_4567, 0x89ab_cdef))];

/// `{circuits: [{name, lanes, words, microcode, counter, parties}]}`; `microcode` is a file in
/// `dir`. A party is `{own, prev, scalars, rows_in, link, rows_out}`: a digit own + 2·next for
/// every scalar, a row `{own, next}` of words for every input and output bit, and the words of all
/// its messages.
pub(crate) fn vectors(dir: &Path) -> Result<Value, Box<dyn Error>> {
    let circuits = RUNS.map(|(name, common, address)| circuit(dir, name, common, address));
    Ok(json!({ "circuits": circuits.into_iter().collect::<Result<Vec<Value>, _>>()? }))
}

fn circuit(
    dir: &Path,
    name: &str,
    common: &[usize],
    (shard, lane): (u32, u32),
) -> Result<Value, Box<dyn Error>> {
    let world = world(7, Backend::best());
    let block = Layered::new(&named::make(name)?);
    let code = Microcode::compile(name, &block, common)?;
    let file = format!("{}.hex", name.replace(':', "-"));
    code.write(&mut fs::File::create(dir.join(&file))?)?;
    let program = Arc::new(Program::of_block(name, Arc::new(block)));
    let shares = [0, 1, 2].map(|i| input_share(&program, common, i));
    let inputs = [0, 1, 2].map(|i| Shares { own: shares[i].clone(), next: shares[(i + 1) % 3].clone() });
    let ran = tap::run(&world, &program, &inputs, INSTANCES, (shard, lane))?;
    check(&code, &shares, &ran.each_ref().map(|(_, out)| out.own.clone()))?;
    let mut parties = vec![];
    for (role, (heard, out)) in Role::ALL.into_iter().zip(&ran) {
        let [own, prev] = keys(&world[role.index()]);
        let (mut held, mut rows_in) = ([vec![], vec![]], vec![]);
        let both = pair(&inputs[role.index()]);
        for (i, planes) in ranges(program.inputs()).enumerate() {
            let planes = both.map(|share| &share[planes.clone()]);
            if common.contains(&i) {
                // All instances have the same bit, so the first one serves for all.
                let bits = planes.map(|p| p.chunks_exact(WORD * WORDS).map(|plane| plane[0] & 1 == 1));
                bits.into_iter().zip(&mut held).for_each(|(bits, held)| held.extend(bits));
            } else {
                rows_in.extend(rows(planes));
            }
        }
        let held = held.map(|bits: Vec<bool>| eval::to_bytes(&bits));
        let one = [0, 1].map(|share| role.constant_slot() == Some(share));
        let scalars = code.scalar_shares([&held[0], &held[1]], one);
        let digits: String =
            scalars.iter().map(|s| char::from(b'0' + u8::from(s[0]) + 2 * u8::from(s[1]))).collect();
        parties.push(json!({
            "own": own, "prev": prev,
            "scalars": digits,
            "rows_in": rows_in,
            "link": hex_words(&heard.messages),
            "rows_out": rows(pair(out)),
        }));
    }
    let counter = format!("{:032x}", Address { shard, lane }.counter(0));
    Ok(json!({
        "name": name, "lanes": 1, "words": WORDS, "microcode": file, "counter": counter, "parties": parties,
    }))
}

/// The ranges of the inputs' planes, in bytes.
fn ranges(widths: &[usize]) -> impl Iterator<Item = std::ops::Range<usize>> {
    widths.iter().scan(0, |at, width| {
        let from = *at;
        *at += width * plane_bytes(INSTANCES);
        Some(from..*at)
    })
}

/// Share `i` of the input planes: random bytes; in a plane of a common input, all bits are equal.
fn input_share(program: &Program, common: &[usize], i: u64) -> Vec<u8> {
    let plane = plane_bytes(INSTANCES);
    let mut share = noise(10 + i, program.input_bits() * plane);
    for (_, planes) in ranges(program.inputs()).enumerate().filter(|(input, _)| common.contains(input)) {
        for plane in share[planes].chunks_exact_mut(plane) {
            plane.fill(if plane[0] & 1 == 1 { 0xff } else { 0 });
        }
    }
    share
}

fn rows(planes: [&[u8]; 2]) -> Vec<Value> {
    let plane = plane_bytes(INSTANCES);
    let pairs = planes[0].chunks_exact(plane).zip(planes[1].chunks_exact(plane));
    pairs.map(|(own, next)| json!({ "own": hex_words(own), "next": hex_words(next) })).collect()
}

/// Checks that the microcode gives the outputs that the parties open, for the first and the last
/// instance.
fn check(code: &Microcode, inputs: &[Vec<u8>; 3], outputs: &[Vec<u8>; 3]) -> Result<(), Box<dyn Error>> {
    let opened = |shares: &[Vec<u8>; 3]| open(shares.each_ref().map(|share| &share[..]));
    let (inputs, outputs) = (opened(inputs)?, opened(outputs)?);
    for instance in [0, INSTANCES - 1] {
        let bits = |planes: &[u8]| -> Vec<bool> {
            let planes = planes.chunks_exact(plane_bytes(INSTANCES));
            planes.map(|plane| plane[instance / 8] >> (instance % 8) & 1 == 1).collect()
        };
        let (mut common, mut rows) = (vec![], vec![]);
        for (i, planes) in ranges(code.inputs()).enumerate() {
            let to = if code.common().contains(&i) { &mut common } else { &mut rows };
            to.extend(bits(&inputs[planes]));
        }
        if code.eval(&common, &rows)? != bits(&outputs) {
            return Err(format!("{}: the microcode computes something else", code.name()).into());
        }
    }
    Ok(())
}

fn pair(shares: &Shares) -> [&[u8]; 2] {
    [&shares.own, &shares.next]
}
