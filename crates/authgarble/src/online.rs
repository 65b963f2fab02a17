//! The online phase: the parties exchange masked inputs, the evaluator evaluates, checks follow,
//! and outputs are opened only after the checks.
//!
//! ```text
//! 1  all → all       x ⊕ λ of their inputs    (and a round to compare, if there are more than two)
//! 2  garblers → 0    labels of all inputs
//! 3  of rows         0 → garblers: Λ of the outputs, and a hash of the garbler's own labels of
//!                    them, which only an evaluation gives
//!    of half gates   0 → garblers: Λ of all ANDs, a seed, and a hash of the garbler's labels of
//!                    them; garblers → 0: a sum of their MACs (`half`)
//! 4  all → all       masks of outputs to those who learn them, with MACs
//! 5  all → all       a last word: every party has passed all its checks
//! ```

use crate::{
    AuthError, Check, Form, Garbled, Script,
    bits::folds,
    cost,
    garble::RoleState,
    half,
    masks::Job,
    params::SEED,
    room::{HASH, Room},
    script::{Talk, script},
    shares::{Blocks, is_packed, pack, same, unpack},
    tables::Tables,
    wrk,
};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_circuit::{Planes, planes::plane_bytes};
use hushwire_machine::PartyId;
use hushwire_prg::Seed;
use zeroize::Zeroizing;

impl Garbled {
    fn job(&self) -> Job<'_> {
        let Garbled { task, context, me, n, delta, masks, .. } = self;
        let (program, instances) = (&task.program, task.instances);
        Job { context, me: *me, n: *n, delta: *delta, program, instances, masks }
    }

    /// Evaluates the circuit on the planes of this party's inputs, in the circuit's order, and
    /// returns the planes of the outputs that it learns, in the same order. Bits past the last
    /// instance are ignored in inputs and 0 in outputs.
    pub fn evaluate(self, inputs: &Planes) -> Script<'static, Planes> {
        let (me, n, inputs) = (self.me, self.n, inputs.clone());
        let cost = cost::online(me, n, &self.task);
        script([me, n], 1, move |talk| run(talk, self, inputs)).costing(cost)
    }
}

/// The bits of planes, plane after plane, one a byte.
fn bits(planes: &Planes) -> Zeroizing<Vec<u8>> {
    let instances = planes.instances();
    let planes = planes.chunks_exact(plane_bytes(instances).max(1));
    Zeroizing::new(planes.flat_map(|plane| unpack(plane, instances)).collect())
}

async fn run(talk: Talk, garbled: Garbled, inputs: Planes) -> Result<Planes, AuthError> {
    garbled.process.check("masked inputs")?;
    let (expected, instances) = (garbled.own.len() / garbled.task.instances, garbled.task.instances);
    if inputs.width() != expected || inputs.instances() != instances {
        return Err(AuthError::Inputs { found: inputs.width(), expected });
    }
    let mut room = Room::new(talk, garbled.context.child("evaluating", 0), &garbled.seed);
    let public = masked(&mut room, &garbled, &inputs).await?;
    let labels = labels(&mut room, &garbled, &public).await;
    let lambda = match &garbled.side {
        RoleState::Evaluator(tables) => evaluator(&mut room, &garbled, tables, &public, &labels).await?,
        RoleState::Garbler(labels) => garbler(&mut room, &garbled, labels, &public).await?,
    };
    let (n, program) = (garbled.n, &garbled.task.program);
    let due: Vec<_> = (0..n).map(|p| garbled.task.roles.outputs_of(program, p, instances)).collect();
    let due: Vec<_> = due.iter().map(|places| &places[..]).collect();
    let shares = &garbled.masks.outputs;
    let masks = room.reveal("masks of outputs", Check::OutputMasks, garbled.delta, shares, &due).await?;
    let masks = Zeroizing::new(masks);
    verdict(&mut room).await?;
    let mine = due[garbled.me].iter().zip(masks.iter()).map(|(k, mask)| lambda[*k as usize] ^ mask);
    let mine = Zeroizing::new(mine.collect::<Vec<u8>>());
    let packed: Vec<u8> = mine.chunks(instances).flat_map(pack).collect();
    Ok(Planes::new(mine.len() / instances, instances, packed).expect("a plane for every bit"))
}

/// Λ of all inputs, one a byte. All parties have received the same values.
async fn masked(room: &mut Room, garbled: &Garbled, inputs: &Planes) -> Result<Vec<u8>, AuthError> {
    let Garbled { task, own, n, me, .. } = garbled;
    let mut mine = bits(inputs);
    mine.iter_mut().zip(own.iter()).for_each(|(bit, mask)| *bit ^= mask);
    let mine = pack(&mine);
    let due: Vec<_> = (0..*n).map(|p| task.roles.inputs_of(&task.program, p, task.instances)).collect();
    let most = due.iter().map(Vec::len).max().unwrap_or(0).div_ceil(8);
    // Pads to the longest input, so that all messages of a broadcast have one length.
    let padded = [mine, vec![0; most - due[*me].len().div_ceil(8)]].concat();
    let all = room.broadcast("masked inputs", padded).await?;
    room.confirm().await?;
    let mut public = vec![0; task.program.input_bits() * task.instances];
    for (party, (message, due)) in all.iter().zip(&due).enumerate() {
        if !is_packed(message, due.len()) {
            return Err(AuthError::Malformed { peer: PartyId(party as u8), message: "masked inputs" });
        }
        for (place, bit) in due.iter().zip(unpack(message, due.len())) {
            public[*place as usize] = bit;
        }
    }
    Ok(public)
}

/// The labels of the inputs, by garbler, at the evaluator; empty at a garbler.
async fn labels(room: &mut Room, garbled: &Garbled, public: &[u8]) -> Vec<Vec<u8>> {
    let slots = room.talk.slots();
    let (mut out, mut into) = (vec![Vec::new(); slots], vec![0; slots]);
    match &garbled.side {
        RoleState::Evaluator(_) => into.fill(16 * public.len()),
        RoleState::Garbler(labels) => {
            out[0] = as_bytes(&chosen(&labels.inputs, public, garbled.delta)).to_vec();
        }
    }
    room.talk.exchange("labels of inputs", out, &into).await
}

/// The labels for these Λ.
fn chosen(zeros: &[Block], public: &[u8], delta: Block) -> Blocks {
    Blocks::of(zeros.iter().zip(public).map(|(zero, bit)| *zero ^ delta.and_bit(*bit == 1)))
}

/// The evaluator's part; returns Λ of the outputs.
async fn evaluator(
    room: &mut Room,
    garbled: &Garbled,
    tables: &Tables,
    public: &[u8],
    labels: &[Vec<u8>],
) -> Result<Vec<u8>, AuthError> {
    let (job, slots) = (garbled.job(), garbled.n - 1);
    let labels: Vec<&[Block]> = labels.iter().map(|labels| from_bytes(labels)).collect();
    if garbled.task.form == Form::Rows {
        let wrk::Evaluated { outputs, labels, well } = wrk::evaluate(&job, tables, public, &labels);
        if !well {
            return Err(AuthError::abort(Check::Rows));
        }
        let packed = pack(&outputs);
        let proof = |slot: usize| digest(room, "labels", slot + 1, &labels[slot]);
        let out = (0..slots).map(|slot| [&packed[..], &proof(slot)].concat()).collect();
        room.talk.exchange("labels of outputs", out, &vec![0; slots]).await;
        return Ok(outputs);
    }
    let half::Evaluated { outputs, ands, labels, macs } = half::evaluate(&job, tables, public, &labels);
    let mut seed = [0; SEED];
    room.own.fill(&mut seed);
    let packed = pack(&ands);
    let proof = |slot: usize| digest(room, "labels of ands", slot + 1, &labels[slot]);
    let out = (0..slots).map(|slot| [&packed[..], &seed, &proof(slot)].concat()).collect();
    room.talk.exchange("masked ANDs", out, &vec![0; slots]).await;
    let expected = weighed(room, seed, &macs);
    let heard = room.talk.exchange("MACs of ANDs", vec![vec![]; slots], &vec![16; slots]).await;
    let sum = heard.iter().fold(expected, |sum, theirs| sum ^ from_bytes(theirs)[0]);
    if !same(&sum.0, &[0; 16]) {
        return Err(if slots == 1 {
            AuthError::abort_of(Check::Ands, 1)
        } else {
            AuthError::abort(Check::Ands)
        });
    }
    Ok(outputs)
}

/// A garbler's part; returns Λ of the outputs.
async fn garbler(
    room: &mut Room,
    garbled: &Garbled,
    labels: &wrk::Labels,
    public: &[u8],
) -> Result<Vec<u8>, AuthError> {
    let (me, slots, delta) = (garbled.me, garbled.n - 1, garbled.delta);
    let silent = || vec![Vec::new(); slots];
    let mut into = vec![0; slots];
    if garbled.task.form == Form::Rows {
        let count = labels.outputs.len();
        let bytes = count.div_ceil(8);
        into[0] = bytes + HASH;
        let heard = room.talk.exchange("labels of outputs", silent(), &into).await;
        let outputs = room.bits("labels of outputs", 0, &heard[0][..bytes], count)?;
        let expected = digest(room, "labels", me, &chosen(&labels.outputs, &outputs, delta));
        if !same(&expected, &heard[0][bytes..]) {
            return Err(AuthError::abort_of(Check::Labels, 0));
        }
        return Ok(outputs);
    }
    let count = labels.ands.len();
    let bytes = count.div_ceil(8);
    into[0] = bytes + SEED + HASH;
    let heard = room.talk.exchange("masked ANDs", silent(), &into).await;
    let (packed, rest) = heard[0].split_at(bytes);
    let (seed, proof) = rest.split_first_chunk().expect("the length that was asked for");
    let ands = room.bits("masked ANDs", 0, packed, count)?;
    // The check comes before any message that depends on these ANDs.
    let expected = digest(room, "labels of ands", me, &chosen(&labels.ands, &ands, delta));
    if !same(&expected, proof) {
        return Err(AuthError::abort_of(Check::AndLabels, 0));
    }
    let (macs, outputs) = half::macs(&garbled.job(), &labels.macs, public, &ands);
    let mut out = silent();
    out[0] = weighed(room, *seed, &macs).0.to_vec();
    room.talk.exchange("MACs of ANDs", out, &vec![0; slots]).await;
    Ok(outputs)
}

/// Σ χ M over the MACs of all ANDs, with χ from the evaluator's seed.
fn weighed(room: &Room, seed: [u8; SEED], macs: &[Block]) -> Block {
    let (sums, _) = folds(room, &Seed::from_bytes(seed), "MACs of ANDs", &[macs], None);
    Block::from_u128(sums[0].0)
}

/// A hash of blocks that both `garbler` and the evaluator know.
fn digest(room: &Room, what: &str, garbler: usize, list: &[Block]) -> [u8; HASH] {
    let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble proof v1");
    hash.update(&room.context.sid.0);
    hash.update(&[what.len() as u8]);
    hash.update(what.as_bytes());
    hash.update(&[garbler as u8]);
    hash.update(as_bytes(list));
    *hash.finalize().as_bytes()
}

/// Waits until all parties have reported that their checks passed.
async fn verdict(room: &mut Room) -> Result<(), AuthError> {
    let ours = *blake3::Hasher::new_derive_key("hushwire authgarble verdict v1")
        .update(&room.context.sid.0)
        .finalize()
        .as_bytes();
    let slots = room.talk.slots();
    let heard = room.talk.exchange("verdict", vec![ours.to_vec(); slots], &vec![HASH; slots]).await;
    match heard.iter().position(|theirs| !same(theirs, &ours)) {
        None => Ok(()),
        Some(slot) => Err(AuthError::abort_of(Check::Verdict, room.talk.peer(slot))),
    }
}
