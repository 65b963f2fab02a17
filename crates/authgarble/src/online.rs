//! The online phase: inputs, evaluation, checks, and only then outputs.
//!
//! ```text
//! 1  all → all       x ⊕ λ of their inputs           (and a round to compare, where there are more than two)
//! 2  garblers → 0    labels of all inputs
//! 3  0 → 1, 1 → 0    two parties: Λ of all ANDs and a hash of their labels, which proves them; one hash of MACs of all ANDs
//! 4  0 → garblers    Λ of the outputs, and a hash of the garbler's own labels of them, which only an evaluation gives
//! 5  all → all       masks of outputs to those who learn them, with MACs
//! 6  all → all       a last word: every party has passed all its checks
//! ```

use crate::{
    AuthError, Check, Form, Garbled, Script, cost,
    garble::{Side, Tables},
    krrw,
    masks::Job,
    room::{HASH, Room},
    script::Talk,
    shares::{Blocks, is_packed, pack, same, unpack},
    wrk::{self, Evaluated},
};
use hushwire_block::{Block, as_bytes, from_bytes};
use hushwire_circuit::{Planes, planes::plane_bytes};
use hushwire_wire::PartyId;
use zeroize::Zeroizing;

impl Garbled {
    fn job(&self) -> Job<'_> {
        let Garbled { task, context, me, n, delta, masks, .. } = self;
        let (program, instances) = (&task.program, task.instances);
        Job { context, me: *me, n: *n, delta: *delta, program, instances, masks }
    }

    /// Evaluates the circuit on the planes of this party's inputs, in the circuit's order; the planes of the outputs that it
    /// learns, likewise. Bits past the last instance are ignored in inputs and 0 in outputs.
    pub fn evaluate(self, inputs: &Planes) -> Script<'static, Planes> {
        let (me, n, inputs) = (self.me, self.n, inputs.clone());
        let cost = cost::online(me, n, &self.task);
        Script::new(me, n, move |talk| run(talk, self, inputs)).costing(cost)
    }
}

/// Bits of planes, plane after plane, one a byte.
fn bits(planes: &Planes) -> Zeroizing<Vec<u8>> {
    let instances = planes.instances();
    let planes = planes.chunks_exact(plane_bytes(instances).max(1));
    Zeroizing::new(planes.flat_map(|plane| unpack(plane, instances)).collect())
}

async fn run(talk: Talk, garbled: Garbled, inputs: Planes) -> Result<Planes, AuthError> {
    let (expected, instances) = (garbled.own.len() / garbled.task.instances, garbled.task.instances);
    if inputs.width() != expected || inputs.instances() != instances {
        return Err(AuthError::Inputs { found: inputs.width(), expected });
    }
    let mut room = Room::new(talk, garbled.context.child("evaluating", 0), &garbled.seed);
    let public = masked(&mut room, &garbled, &inputs).await?;
    let labels = labels(&mut room, &garbled, &public).await;
    let lambda = match &garbled.side {
        Side::Evaluator(tables) => evaluator(&mut room, &garbled, tables, &public, &labels).await?,
        Side::Garbler(labels) => garbler(&mut room, &garbled, labels, &public).await?,
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

/// Λ of all inputs, one a byte, which all parties have heard alike.
async fn masked(room: &mut Room, garbled: &Garbled, inputs: &Planes) -> Result<Vec<u8>, AuthError> {
    let Garbled { task, own, n, me, .. } = garbled;
    let mut mine = bits(inputs);
    mine.iter_mut().zip(own.iter()).for_each(|(bit, mask)| *bit ^= mask);
    let mine = pack(&mine);
    let due: Vec<_> = (0..*n).map(|p| task.roles.inputs_of(&task.program, p, task.instances)).collect();
    let most = due.iter().map(Vec::len).max().unwrap_or(0).div_ceil(8);
    // As long as the longest, so that a broadcast has one length.
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

/// The labels of the inputs, by garbler, at the evaluator.
async fn labels(room: &mut Room, garbled: &Garbled, public: &[u8]) -> Vec<Vec<u8>> {
    let slots = room.talk.slots();
    let (mut out, mut into) = (vec![Vec::new(); slots], vec![0; slots]);
    match &garbled.side {
        Side::Evaluator(_) => into.fill(16 * public.len()),
        Side::Garbler(labels) => out[0] = as_bytes(&chosen(&labels.inputs, public, garbled.delta)).to_vec(),
    }
    room.talk.exchange("labels of inputs", out, into).await
}

/// The labels for these Λ.
fn chosen(zeros: &[Block], public: &[u8], delta: Block) -> Blocks {
    Blocks::of(zeros.iter().zip(public).map(|(zero, bit)| *zero ^ delta.and_bit(*bit == 1)))
}

/// The evaluator's part; Λ of the outputs.
async fn evaluator(
    room: &mut Room,
    garbled: &Garbled,
    tables: &Tables,
    public: &[u8],
    labels: &[Vec<u8>],
) -> Result<Vec<u8>, AuthError> {
    let (job, n) = (garbled.job(), garbled.n);
    let evaluated = match garbled.task.form {
        Form::Rows => {
            let labels: Vec<&[Block]> = labels.iter().map(|labels| from_bytes(labels)).collect();
            wrk::evaluate(&job, tables, public, &labels)
        }
        Form::HalfGates => {
            let labels = from_bytes(&labels[0]);
            let (evaluated, ands) = krrw::evaluate(&job, tables.of(0), public, labels);
            let said = [&pack(&ands.public)[..], &digest(room, "labels of ands", 1, &ands.labels)].concat();
            room.talk.exchange("masked ANDs", vec![said], vec![0]).await;
            let heard = room.talk.exchange("MACs of ANDs", vec![vec![]], vec![HASH]).await;
            if !same(&digest(room, "ands", 1, &ands.macs), &heard[0]) {
                return Err(AuthError::abort_of(Check::Ands, 1));
            }
            evaluated
        }
    };
    let Evaluated { outputs, labels, well } = evaluated;
    if !well {
        return Err(AuthError::abort(Check::Rows));
    }
    let packed = pack(&outputs);
    let proof = |slot: usize| digest(room, "labels", slot + 1, &labels[slot]);
    let out = (0..n - 1).map(|slot| [&packed[..], &proof(slot)].concat()).collect();
    room.talk.exchange("labels of outputs", out, vec![0; n - 1]).await;
    Ok(outputs)
}

/// A garbler's part; Λ of the outputs.
async fn garbler(
    room: &mut Room,
    garbled: &Garbled,
    labels: &wrk::Labels,
    public: &[u8],
) -> Result<Vec<u8>, AuthError> {
    let Garbled { task, me, n, delta, masks, .. } = garbled;
    if task.form == Form::HalfGates {
        let ands = masks.s.len();
        let bytes = ands.div_ceil(8);
        let heard = room.talk.exchange("masked ANDs", vec![vec![]], vec![bytes + HASH]).await;
        let gates = room.bits("masked ANDs", 0, &heard[0][..bytes], ands)?;
        // Before anything is said that depends on them.
        let expected = digest(room, "labels of ands", 1, &chosen(&labels.ands, &gates, *delta));
        if !same(&expected, &heard[0][bytes..]) {
            return Err(AuthError::abort_of(Check::AndLabels, 0));
        }
        let macs = krrw::macs(&garbled.job(), public, &gates);
        let proof = digest(room, "ands", 1, &macs);
        room.talk.exchange("MACs of ANDs", vec![proof.to_vec()], vec![0]).await;
    }
    let count = labels.outputs.len();
    let bytes = count.div_ceil(8);
    let mut into = vec![0; n - 1];
    into[0] = bytes + HASH;
    let heard = room.talk.exchange("labels of outputs", vec![vec![]; n - 1], into).await;
    let outputs = room.bits("labels of outputs", 0, &heard[0][..bytes], count)?;
    let expected = digest(room, "labels", *me, &chosen(&labels.outputs, &outputs, *delta));
    if !same(&expected, &heard[0][bytes..]) {
        return Err(AuthError::abort_of(Check::Labels, 0));
    }
    Ok(outputs)
}

/// One hash of many blocks that `garbler` knows as well as the evaluator.
fn digest(room: &Room, what: &str, garbler: usize, list: &[Block]) -> [u8; HASH] {
    let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble proof v1");
    hash.update(&room.context.sid.0);
    hash.update(&[what.len() as u8]);
    hash.update(what.as_bytes());
    hash.update(&[garbler as u8]);
    hash.update(as_bytes(list));
    *hash.finalize().as_bytes()
}

/// All parties have passed all their checks.
async fn verdict(room: &mut Room) -> Result<(), AuthError> {
    let ours = *blake3::Hasher::new_derive_key("hushwire authgarble verdict v1")
        .update(&room.context.sid.0)
        .finalize()
        .as_bytes();
    let slots = room.talk.slots();
    let heard = room.talk.exchange("verdict", vec![ours.to_vec(); slots], vec![HASH; slots]).await;
    match heard.iter().position(|theirs| !same(theirs, &ours)) {
        None => Ok(()),
        Some(slot) => Err(AuthError::abort_of(Check::Verdict, room.talk.peer(slot))),
    }
}
