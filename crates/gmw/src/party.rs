//! One party of a session, over a channel. The set-up opens OTs in both directions and exchanges
//! the seeds of input shares. A run compares digests, makes triples between layers as they are
//! needed, and opens outputs to their recipients.

use crate::cost::DIGEST;
use crate::supply::{CALL, Supply};
use crate::{CircuitBatch, CircuitWorkspace, GmwError, Stock, triples};
use hushwire_circuit::{Planes, Program, TwoParty, planes::plane_bytes};
use hushwire_machine::{Channel, Process, drive::Driver};
use hushwire_ot::{Context, Protocol};
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

/// One of two parties, ready to run circuits.
pub struct GmwParty {
    index: usize,
    context: Context,
    supply: Supply,
    /// The streams of the peer's shares of this party's inputs, and of this party's shares of the
    /// peer's inputs.
    masks: [Prg; 2],
    stock: Stock,
    ws: CircuitWorkspace,
    driver: Driver,
    runs: u64,
    lost: bool,
    process: Process,
}

impl GmwParty {
    /// Sets up OTs in both directions, and exchanges the seeds of input shares. `context` and `ot`
    /// are agreed; `seed` is this party's secret randomness for this session alone.
    ///
    /// # Errors
    /// `ot` has no semi-honest form, an OT message is malformed, or the channel failed.
    ///
    /// # Panics
    /// If `index` is neither 0 nor 1, or the channel does not connect this party with its peer (the
    /// caller's bug).
    pub fn open(
        channel: &mut Channel,
        index: usize,
        context: &Context,
        ot: Protocol,
        seed: &Seed,
    ) -> Result<GmwParty, GmwError> {
        assert!(index < 2, "parties are 0 and 1");
        let supply = Supply::open(channel, index, context, ot, seed)?;
        let own = seed.derive("gmw input shares", &context.sid.0);
        let mut theirs = Zeroizing::new([0; 16]);
        channel.exchange("seeds of input shares", own.expose(), &mut theirs[..])?;
        let masks =
            [own, Seed::from_bytes(*theirs)].map(|seed| Prg::new(context.backend, &seed, "gmw input shares"));
        Ok(GmwParty {
            index,
            context: *context,
            supply,
            masks,
            stock: Stock::new(),
            ws: CircuitWorkspace::default(),
            driver: Driver::new(),
            runs: 0,
            lost: false,
            process: Process::here(),
        })
    }

    /// Runs a program on all instances of the planes. `inputs` are the inputs of this party in the
    /// circuit's order; the result has the outputs that it learns, in the same order. Bits past the
    /// last instance are ignored in inputs and 0 in outputs.
    ///
    /// # Errors
    /// The inputs have another width, the parties disagree on the computation, an OT message is
    /// malformed, the channel failed, an earlier run failed, or this process is a fork of the one
    /// that opened the session.
    ///
    /// # Panics
    /// If there are no instances, or the roles belong to another program (the caller's bug).
    pub fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, GmwError> {
        assert!(inputs.instances() > 0, "a run has at least one instance");
        assert!(
            roles.owners.len() == program.inputs().len() && roles.learns.len() == program.outputs().len(),
            "roles for every input and output"
        );
        let (found, expected) = (inputs.width(), roles.input_bits(program, self.index));
        if found != expected {
            return Err(GmwError::Inputs { found, expected });
        }
        self.process.check("a run of GMW")?;
        if std::mem::replace(&mut self.lost, true) {
            return Err(GmwError::Lost);
        }
        self.agree(channel, program, roles, inputs.instances())?;
        let shares = self.share(program, roles, inputs);
        let output = self.layers(channel, program, &shares)?;
        let learnt = self.reveal(channel, program, roles, &output)?;
        self.lost = false;
        Ok(learnt)
    }

    /// Both parties compare the computation that they are about to run.
    fn agree(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        instances: usize,
    ) -> Result<(), GmwError> {
        let mut hash = blake3::Hasher::new_derive_key("hushwire gmw run v1");
        hash.update(&self.context.sid.0);
        hash.update(&self.runs.to_le_bytes());
        hash.update(&(instances as u64).to_le_bytes());
        hash.update(&program.digest());
        for owner in &roles.owners {
            hash.update(&[*owner as u8]);
        }
        for learns in &roles.learns {
            hash.update(&learns.map(u8::from));
        }
        let (ours, mut theirs) = (*hash.finalize().as_bytes(), [0; DIGEST]);
        channel.exchange("comparing circuits", &ours, &mut theirs)?;
        self.runs += 1;
        if ours == theirs { Ok(()) } else { Err(GmwError::Mismatch { peer: channel.from() }) }
    }

    /// This party's shares of all input planes.
    fn share(&mut self, program: &Program, roles: &TwoParty, inputs: &Planes) -> Planes {
        let instances = inputs.instances();
        let mut shares = Planes::zeros(program.input_bits(), instances);
        let (mut rest, mut own) = (&mut shares[..], &inputs[..]);
        for (owner, width) in roles.owners.iter().zip(program.inputs()) {
            let share = rest.split_off_mut(..width * plane_bytes(instances)).expect("a plane for every bit");
            let [mine, theirs] = &mut self.masks;
            if *owner == self.index {
                mine.fill(share);
                let values = own.split_off(..share.len()).expect("a plane for every bit");
                share.iter_mut().zip(values).for_each(|(mask, value)| *mask ^= value);
            } else {
                theirs.fill(share);
            }
        }
        shares.trimmed()
    }

    /// Runs the program layer by layer; returns this party's shares of the outputs.
    fn layers(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        shares: &Planes,
    ) -> Result<Planes, GmwError> {
        let (stock, ws) = (std::mem::take(&mut self.stock), std::mem::take(&mut self.ws));
        let backend = self.context.backend;
        let mut batch = CircuitBatch::new(backend, self.index, program, shares, stock, ws);
        let mut left = triples(program, shares.instances());
        let mut run = self.driver.begin(&mut batch);
        loop {
            // Between two layers the channel is idle, so that it can carry OTs for more triples.
            while run.machine().stock().bytes() < run.machine().triples_due() {
                let count = left.min(CALL as u64);
                left -= count;
                self.supply.make(channel, count as usize, run.machine().stock())?;
            }
            if !run.step(std::slice::from_mut(channel))? {
                break;
            }
        }
        let output = batch.output();
        (self.ws, self.stock) = batch.into_parts();
        Ok(output)
    }

    /// Opens outputs to the parties that learn them.
    fn reveal(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        output: &Planes,
    ) -> Result<Planes, GmwError> {
        let due = |party: usize| output.select(program.outputs(), |j| roles.learns[j][party]);
        let (mut mine, theirs) = (due(self.index), due(1 - self.index));
        let mut arrived = Zeroizing::new(vec![0; mine.len()]);
        if !(mine.is_empty() && theirs.is_empty()) {
            channel.exchange("opening outputs", &theirs, &mut arrived)?;
        }
        mine.iter_mut().zip(arrived.iter()).for_each(|(share, other)| *share ^= other);
        // The peer's bits past the last instance are not part of any output.
        Ok(mine.trimmed())
    }
}
