//! The function-dependent phase: a circuit is garbled with what a stock holds.

use crate::{
    AuthError, Check, Need, Roles, Script, Stock, cost, half,
    masks::{self, Job, Masks},
    room::Room,
    script::{Talk, script},
    shares::{Blocks, Shares, worth},
    wrk,
};
use hushwire_block::{Block, Buffer, abreast};
use hushwire_circuit::Program;
use hushwire_machine::{PartyId, Process};
use hushwire_ot::Context;
use hushwire_prg::Seed;
use std::ops::Range;
use zeroize::{Zeroize, Zeroizing};

/// AGREEMENT: ANDs whose tables travel in one message: while one is on its way, the next is garbled.
const PIECE: usize = 1 << 12;

/// The form of garbled ANDs, for any number of parties.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Form {
    /// Four rows of n blocks from every garbler, each with its MAC (WRK17b).
    Rows,
    /// 3 n − 4 blocks from every garbler and a bit from one, checked all at once: KRRW18 between two, YWZ20 among more.
    HalfGates,
}

impl Form {
    /// Both.
    pub const ALL: [Form; 2] = [Form::Rows, Form::HalfGates];

    /// The one that is taken where nobody says otherwise, among `n` parties.
    #[must_use]
    pub fn best(n: usize) -> Form {
        if n == 2 { Form::HalfGates } else { Form::Rows }
    }

    /// Bytes of `garbler`'s tables of `ands` ANDs among `n` parties.
    #[must_use]
    pub fn table_bytes(self, [garbler, n]: [usize; 2], ands: usize) -> usize {
        match self {
            Form::Rows => ands * wrk::table_bytes(n),
            Form::HalfGates => half::table_bytes([garbler, n], ands),
        }
    }

    /// As users write it, among `n` parties.
    #[must_use]
    pub fn name(self, n: usize) -> &'static str {
        match self {
            Form::Rows => "wrk17",
            Form::HalfGates if n == 2 => "krrw18",
            Form::HalfGates => "ywz20",
        }
    }
}

/// The ANDs whose tables travel in each message.
pub(crate) fn pieces(ands: usize) -> impl Iterator<Item = Range<usize>> {
    (0..ands).step_by(PIECE).map(move |from| from..ands.min(from + PIECE))
}

/// A circuit on instances with its roles, as parties agree on it.
#[derive(Clone)]
pub struct Task {
    pub(crate) program: Program,
    pub(crate) roles: Roles,
    pub(crate) instances: usize,
    pub(crate) form: Form,
}

impl Task {
    /// # Panics
    /// If there are no instances (the caller's bug).
    #[must_use]
    pub fn new(program: &Program, roles: Roles, instances: usize, form: Form) -> Task {
        assert!(instances > 0, "a run has at least one instance");
        Task { program: program.clone(), roles, instances, form }
    }

    /// The part of a stock that it takes.
    #[must_use]
    pub fn need(&self) -> Need {
        let triples = self.program.ands() * self.instances as u64;
        Need { triples, masks: triples + (self.program.input_bits() * self.instances) as u64 }
    }

    /// The digest of circuit, roles, instances, form and the number of parties: equal wherever the same thing is about to be run.
    #[must_use]
    pub fn name(&self) -> [u8; 32] {
        let n = self.roles.learns.first().map_or(0, Vec::len);
        self.hash(blake3::Hasher::new_derive_key("hushwire authgarble task name v1"), n)
    }

    /// The same, of a session.
    pub(crate) fn digest(&self, context: &Context, n: usize) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire authgarble task v1");
        hash.update(&context.sid.0);
        self.hash(hash, n)
    }

    fn hash(&self, mut hash: blake3::Hasher, n: usize) -> [u8; 32] {
        let form = match self.form {
            Form::Rows => 0,
            // 1 and 2 were those of two parties alone.
            Form::HalfGates => 3,
        };
        for word in [n, self.instances, form] {
            hash.update(&(word as u64).to_le_bytes());
        }
        hash.update(&self.program.digest());
        for owner in &self.roles.owners {
            hash.update(&[*owner as u8]);
        }
        for learns in self.roles.learns.iter().flatten() {
            hash.update(&[u8::from(*learns)]);
        }
        *hash.finalize().as_bytes()
    }
}

/// A party's garbled circuit: it serves for one evaluation, at once or out of a [`Shelf`](crate::Shelf).
#[cfg_attr(test, derive(Clone))]
pub struct Garbled {
    pub(crate) task: Task,
    pub(crate) context: Context,
    pub(crate) me: usize,
    pub(crate) n: usize,
    pub(crate) delta: Block,
    pub(crate) seed: Seed,
    pub(crate) masks: Masks,
    /// λ of this party's own input bits, one a byte.
    pub(crate) own: Zeroizing<Vec<u8>>,
    pub(crate) side: Side,
    pub(crate) process: Process,
}

impl Garbled {
    /// The name of what its parties garbled together: public, the same for all of them, and no other circuit's.
    #[must_use]
    pub fn id(&self) -> [u8; 16] {
        *self.context.child("authgarble circuit id", 0).sid.0.first_chunk().expect("32 bytes hold 16")
    }
}

impl Drop for Garbled {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

/// State of a party besides its masks.
#[cfg_attr(test, derive(Clone))]
pub(crate) enum Side {
    /// Party 0.
    Evaluator(Tables),
    Garbler(wrk::Labels),
}

/// The tables at the evaluator, with its own part in them: of rows those of each garbler ([`wrk::absorb`]), of half gates their sums
/// ([`half::absorb`]). What garblers' hashes hide is of no use after one evaluation: not wiped, but on huge pages.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) of: Vec<Buffer>,
    /// Of rows party 0's bits of them, one byte for each AND.
    pub(crate) own: Zeroizing<Vec<u8>>,
    /// Party 0's keys in the check of half gates: three blocks of each AND.
    pub(crate) checks: Blocks,
}

#[cfg(test)]
impl Clone for Tables {
    fn clone(&self) -> Tables {
        let copy = |old: &Buffer| {
            let mut buffer = Buffer::new();
            buffer.set_len(old.len());
            buffer.copy_from_slice(old);
            buffer
        };
        let Tables { of, own, checks } = self;
        Tables { of: of.iter().map(copy).collect(), own: own.clone(), checks: checks.clone() }
    }
}

impl Tables {
    /// Those of the garbler of a slot.
    pub(crate) fn of(&self, slot: usize) -> &[u8] {
        &self.of[slot]
    }
}

impl Stock {
    /// The function-dependent phase of a circuit: takes its triples and masks out of the stock, whatever becomes of it.
    ///
    /// # Panics
    /// If the roles are not of as many parties (the caller's bug).
    pub fn garble<'a>(&'a mut self, task: &Task) -> Script<'a, Garbled> {
        assert!(task.roles.learns.iter().all(|l| l.len() == self.n), "roles of as many parties");
        let (me, n, threads, task) = (self.me, self.n, self.threads, task.clone());
        let cost = cost::garble(me, n, &task);
        script([me, n], threads, move |talk| run(talk, self, task)).costing(cost)
    }
}

async fn run(talk: Talk, stock: &mut Stock, task: Task) -> Result<Garbled, AuthError> {
    let (me, n, threads, delta) = (stock.me, stock.n, stock.threads, stock.delta);
    let context = stock.context.child("authgarble run", stock.runs);
    let seed = stock.seed.derive("authgarble run", &stock.runs.to_le_bytes());
    stock.runs += 1;
    let need = task.need();
    let taken = stock.take(need.triples as usize, need.masks as usize)?;
    let mut room = Room::new(talk, context.child("garbling", 0), &seed);
    let ours = task.digest(&context, n);
    let all = room.broadcast("comparing circuits", ours.to_vec()).await?;
    if let Some(peer) = all.iter().position(|theirs| theirs[..] != ours) {
        return Err(AuthError::Mismatch { peer: PartyId(peer as u8) });
    }
    room.confirm().await?;
    let masks = masks::make(&mut room, delta, &task.program, task.instances, taken.0, taken.1).await?;
    let due: Vec<_> = (0..n).map(|p| task.roles.inputs_of(&task.program, p, task.instances)).collect();
    let due: Vec<_> = due.iter().map(|places| &places[..]).collect();
    let own = room.reveal("masks of inputs", Check::InputMasks, delta, &masks.inputs, &due).await?;
    let side = tables(&mut room, &context, &task, delta, &masks).await?;
    Shares::wipe(threads, [masks.alpha, masks.beta, masks.s]);
    let (masks, own) = (Masks::of_ends(masks.inputs, masks.outputs), Zeroizing::new(own));
    let process = Process::here();
    Ok(Garbled { task, context, me, n, delta, seed, masks, own, side, process })
}

/// Every garbler's tables, sent to the evaluator.
async fn tables(
    room: &mut Room,
    context: &Context,
    task: &Task,
    delta: Block,
    masks: &Masks,
) -> Result<Side, AuthError> {
    let (me, n, threads) = (room.talk.me(), room.talk.n(), room.talk.threads());
    let ands = masks.s.len();
    let job = Job { context, me, n, delta, program: &task.program, instances: task.instances, masks };
    let mut made = match (me, task.form) {
        (0, Form::Rows) => Made::Nothing(wrk::own(&job)),
        (0, Form::HalfGates) => Made::Nothing(half::own(&job)),
        (_, Form::Rows) => Made::Rows(Box::new(wrk::Garbling::new(&job, threads, &mut room.own))),
        (_, Form::HalfGates) => Made::Halves(Box::new(half::Garbling::new(&job, &mut room.own))),
    };
    // Messages whose memory serves for every piece.
    let mut messages = vec![Vec::new(); n - 1];
    for piece in pieces(ands) {
        let mut into = vec![0; n - 1];
        messages.iter_mut().for_each(Vec::clear);
        match &mut made {
            Made::Nothing(_) => {
                let bytes = |slot| task.form.table_bytes([slot + 1, n], piece.len());
                into.iter_mut().enumerate().for_each(|(slot, into)| *into = bytes(slot));
            }
            Made::Rows(garbling) => garbling.tables(&job, piece.clone(), &mut messages[0]),
            Made::Halves(garbling) => garbling.tables(&job, piece.clone(), &mut messages[0]),
        }
        messages = room.talk.exchange("garbled tables", messages, &into).await;
        if let Made::Nothing(tables) = &mut made {
            let all = messages.iter().enumerate();
            match task.form {
                Form::Rows => {
                    abreast(
                        worth(threads, piece.len()),
                        all.zip(&mut tables.of).collect(),
                        |((slot, message), of)| {
                            wrk::absorb(&job, slot, piece.start, message, of);
                        },
                    );
                }
                Form::HalfGates => {
                    all.for_each(|(slot, message)| half::absorb(n, slot, piece.clone(), message, tables));
                }
            }
        }
    }
    Ok(match made {
        Made::Nothing(tables) => Side::Evaluator(tables),
        Made::Rows(garbling) => Side::Garbler(garbling.labels),
        Made::Halves(garbling) => Side::Garbler(garbling.labels),
    })
}

/// The tables that a party makes.
enum Made {
    /// The evaluator's: those of the others.
    Nothing(Tables),
    Rows(Box<wrk::Garbling>),
    Halves(Box<half::Garbling>),
}
