//! The function-dependent phase: garbles a circuit with triples and masks from a stock. The parties
//! compare the digests of their tasks, make the masks of all wires, and open the masks of inputs to
//! their owners. Every garbler then sends its tables to the evaluator, a piece at a time.

use crate::{
    AuthError, Check, Form, Script, Stock, Task, cost, half,
    masks::{self, Job, Masks},
    room::Room,
    script::{Talk, script},
    shares::{Shares, worth},
    tables::Tables,
    task::pieces,
    wrk,
};
use hushwire_block::{Block, abreast};
use hushwire_machine::{PartyId, Process};
use hushwire_ot::Context;
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

/// A party's garbled circuit. It serves for one evaluation, at once or after it was kept on a
/// [`Shelf`](crate::Shelf).
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
    pub(crate) side: RoleState,
    pub(crate) process: Process,
}

impl Garbled {
    /// The public name of what the parties garbled together: the same at all of them, and different
    /// for every circuit.
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

/// The state of a party besides its masks.
#[cfg_attr(test, derive(Clone))]
pub(crate) enum RoleState {
    /// Party 0.
    Evaluator(Tables),
    Garbler(wrk::Labels),
}

impl Stock {
    /// The function-dependent phase of a circuit. It takes the circuit's triples and masks out of
    /// the stock, even if the phase fails later.
    ///
    /// # Panics
    /// If the roles are for another number of parties (the caller's bug).
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

/// Makes every garbler's tables, and sends them to the evaluator.
async fn tables(
    room: &mut Room,
    context: &Context,
    task: &Task,
    delta: Block,
    masks: &Masks,
) -> Result<RoleState, AuthError> {
    let (me, n, threads) = (room.talk.me(), room.talk.n(), room.talk.threads());
    let ands = masks.s.len();
    let job = Job { context, me, n, delta, program: &task.program, instances: task.instances, masks };
    let mut made = match (me, task.form) {
        (0, Form::Rows) => MadeTables::Nothing(wrk::own(&job)),
        (0, Form::HalfGates) => MadeTables::Nothing(half::own(&job)),
        (_, Form::Rows) => MadeTables::Rows(Box::new(wrk::Garbling::new(&job, threads, &mut room.own))),
        (_, Form::HalfGates) => MadeTables::Halves(Box::new(half::Garbling::new(&job, &mut room.own))),
    };
    // The messages' memory is reused for every piece.
    let mut messages = vec![Vec::new(); n - 1];
    for piece in pieces(ands) {
        let mut into = vec![0; n - 1];
        messages.iter_mut().for_each(Vec::clear);
        match &mut made {
            MadeTables::Nothing(_) => {
                let bytes = |slot| task.form.table_bytes([slot + 1, n], piece.len());
                into.iter_mut().enumerate().for_each(|(slot, into)| *into = bytes(slot));
            }
            MadeTables::Rows(garbling) => garbling.tables(&job, piece.clone(), &mut messages[0]),
            MadeTables::Halves(garbling) => garbling.tables(&job, piece.clone(), &mut messages[0]),
        }
        messages = room.talk.exchange("garbled tables", messages, &into).await;
        if let MadeTables::Nothing(tables) = &mut made {
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
        MadeTables::Nothing(tables) => RoleState::Evaluator(tables),
        MadeTables::Rows(garbling) => RoleState::Garbler(garbling.labels),
        MadeTables::Halves(garbling) => RoleState::Garbler(garbling.labels),
    })
}

/// The tables that a party makes.
enum MadeTables {
    /// The evaluator makes no tables; it collects those of the garblers.
    Nothing(Tables),
    Rows(Box<wrk::Garbling>),
    Halves(Box<half::Garbling>),
}
