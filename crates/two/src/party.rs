//! One party of a session, over a channel. It sets up OTs in both directions on a channel of their
//! own, and then runs plans on another. Before each run, both parties compare the session, the plan
//! and the distance. An error ends the session: its OTs and keys are not used again.

mod walk;

use crate::{
    COEFFICIENTS, Operation, Tally, TwoError,
    ahead::Shelf,
    distance::Distance,
    encrypted::{EncryptedLayer, LayerJob, LayerKeys},
    form::{StepValue, WordShare},
    kept::KeptInputs,
    kit::Kit,
    plan::{BEGIN, Plan, Spent, read},
    prim::{StepWay, Two, way},
    run::PlanRun,
    runtime::Supplies,
    supply::{Lot, Stocked, Supply},
    talk::{opened, share_bytes},
};
use hushwire_bfv::{Linear, TransformedWeights};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_machine::{
    Channel, Cost, Meter, Process,
    drive::{Abreast, Driver, Line},
};
use hushwire_ot::{Context, Protocol};
use hushwire_plan::{StepPiece, Wave, land};
use hushwire_prg::Seed;
use std::{collections::BTreeMap, time::Instant};
use zeroize::Zeroizing;

/// One of two parties, ready to run computations.
pub struct ArithmeticParty {
    index: usize,
    context: Context,
    /// `None` while a run uses it.
    supply: Option<Supply>,
    /// The seed of keys of encryption.
    seed: Seed,
    /// The generator of networks, and the number of networks drawn.
    moves: Seed,
    shuffles: u64,
    keys: LayerKeys,
    driver: Driver,
    distance: Distance,
    /// LOCAL: threads of layers under encryption.
    threads: usize,
    /// LOCAL: whether OTs are made ahead of their use, if the caller has set it.
    ahead: Option<bool>,
    /// The number of results that layers under encryption have opened.
    opened: u64,
    /// The cost of each node in the last run.
    spent: BTreeMap<usize, Spent>,
    meter: Option<Meter>,
    runs: u64,
    /// The lots that were made for the next run.
    stocked: Stocked,
    /// The number of allotments of OTs so far.
    pieces: u64,
    lost: bool,
    process: Process,
    /// The orders that steps have opened.
    #[cfg(test)]
    orders: Vec<Vec<u32>>,
}

impl ArithmeticParty {
    /// Sets up OTs in both directions. `ots` is a channel that serves only to make them. `context`
    /// and `ot` are agreed. `seed` is this party's secret randomness, for this session only.
    ///
    /// # Errors
    /// `ot` has no semi-honest form, an OT message is malformed, or the channel failed.
    ///
    /// # Panics
    /// If `index` is neither 0 nor 1, or the channel does not lead to the peer and back (the
    /// caller's bug).
    pub fn open(
        ots: Channel,
        index: usize,
        context: &Context,
        ot: Protocol,
        seed: &Seed,
    ) -> Result<ArithmeticParty, TwoError> {
        assert!(index < 2, "parties are 0 and 1");
        let supply = Some(Supply::open(ots, index, context, ot, seed)?);
        let (context, driver) = (*context, Driver::new());
        let moves = seed.derive("two shuffles", &context.sid.0);
        let (seed, keys) = (seed.derive("two encryption", &context.sid.0), LayerKeys::default());
        let (threads, ahead, opened, spent) = (1, None, 0, BTreeMap::new());
        Ok(ArithmeticParty {
            index,
            context,
            supply,
            seed,
            moves,
            shuffles: 0,
            keys,
            driver,
            distance: Distance::Near,
            threads,
            ahead,
            opened,
            spent,
            meter: None,
            runs: 0,
            stocked: Stocked::default(),
            pieces: 0,
            lost: false,
            process: Process::here(),
            #[cfg(test)]
            orders: vec![],
        })
    }

    #[cfg(test)]
    pub(crate) fn opened_orders(&mut self) -> Vec<Vec<u32>> {
        std::mem::take(&mut self.orders)
    }

    /// Sets the distance. Both parties must have agreed on it.
    #[must_use]
    pub fn distance(self, distance: Distance) -> ArithmeticParty {
        ArithmeticParty { distance, ..self }
    }

    /// Sets the distance for the following runs. Both parties must have agreed on it.
    pub fn set_distance(&mut self, distance: Distance) {
        self.distance = distance;
    }

    /// Sets the number of threads for layers under encryption. One party waits while the other
    /// multiplies.
    #[must_use]
    pub fn threads(self, threads: usize) -> ArithmeticParty {
        ArithmeticParty { threads, ..self }
    }

    /// Sets whether OTs are made ahead of their use, by a thread in parallel with the run, or in
    /// turn with their use. They are made ahead only if both parties want it. By default a party
    /// wants it if the parties are far from each other, or if it has more than two threads.
    #[must_use]
    pub fn ahead(self, ahead: bool) -> ArithmeticParty {
        ArithmeticParty { ahead: Some(ahead), ..self }
    }

    /// Two parties on one machine with two cores keep both cores busy. A run then takes as long
    /// with OTs made ahead, or longer.
    fn would_be_ahead(&self) -> bool {
        self.ahead.unwrap_or(self.distance == Distance::Far || self.threads > 2)
    }

    /// Adds a meter that counts on this party's channel, and from here on also on the lane of OTs.
    /// [`Self::spent`] has its counts by node.
    #[must_use]
    pub fn metered(mut self, meter: &Meter) -> ArithmeticParty {
        if let Some(supply) = &mut self.supply {
            supply.channel.tap(meter.tap());
            supply.meter = Some(meter.clone());
        }
        ArithmeticParty { meter: Some(meter.clone()), ..self }
    }

    /// The channel of OTs, if no run follows. `None` if a run left it to a thread that panicked.
    #[must_use]
    pub fn into_channel(self) -> Option<Channel> {
        self.supply.map(|supply| supply.channel)
    }

    /// Runs a plan. `own` are this party's inputs, in the computation's order. The result has the
    /// outputs that this party learns, in the same order. `go_on` is called between rounds, with
    /// the numbers of completed steps and of all steps.
    ///
    /// # Errors
    /// The inputs are not those of the plan, the parties do not run the same plan, or an operation
    /// on known values failed. An OT message is malformed, the channel failed, or `go_on` returned
    /// false. An earlier run failed, or this process is a fork of the one that opened the session.
    pub fn run(
        &mut self,
        channel: &mut Channel,
        plan: &Plan,
        own: Vec<Tensor>,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Vec<Tensor>, TwoError> {
        let run = PlanRun::new(self.index, plan, own)?;
        self.go(channel, run, go_on)
    }

    /// The same for a plan with some inputs kept. `own` are this party's other inputs.
    ///
    /// # Errors
    /// As [`Self::run`].
    ///
    /// # Panics
    /// If the kept inputs are of another plan or party (the caller's bug).
    pub fn run_kept(
        &mut self,
        channel: &mut Channel,
        plan: &Plan,
        kept: &KeptInputs,
        own: Vec<Tensor>,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Vec<Tensor>, TwoError> {
        assert!(kept.fits(plan, self.index), "inputs of the plan, at this party");
        let run = PlanRun::after(plan, kept, own)?;
        self.go(channel, run, go_on)
    }

    fn go(
        &mut self,
        channel: &mut Channel,
        mut run: PlanRun<'_>,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Vec<Tensor>, TwoError> {
        self.process.check("a run of two parties")?;
        let plan = run.plan;
        if std::mem::replace(&mut self.lost, true) {
            return Err(TwoError::Lost);
        }
        // The lots of a sort become known only during the run.
        let ahead = self.agree(channel, plan)? && !plan.moves();
        let mut supply = self.supply.take().ok_or(TwoError::Lost)?;
        let distance = self.distance;
        let mut stocked = std::mem::take(&mut self.stocked).of(plan, distance);
        let ran = if ahead {
            let rest = plan.lots(distance).skip(stocked.len());
            Shelf::beside(&mut supply, channel, distance, rest, |channel, shelf| {
                let lots = &mut |_: &[Tally]| stocked.pop_front().map_or_else(|| shelf.take(), Ok);
                self.steps(channel, &mut run, go_on, lots)
            })
        } else {
            self.steps(channel, &mut run, go_on, &mut |tallies| {
                stocked.pop_front().map_or_else(|| supply.lot(distance, tallies), Ok)
            })
        };
        self.supply = Some(supply);
        ran?;
        self.spent = std::mem::take(&mut run.spent);
        let learnt = self.reveal(channel, plan, &run.outputs())?;
        self.lost = false;
        Ok(learnt)
    }

    /// Makes OTs between two runs, for a next run of this plan. They are the first lots of that
    /// run, at most `most` OTs sent and received, of 16 bytes each. Both parties make the same
    /// call. A run of another plan drops them. Returns the number of OTs in stock.
    ///
    /// # Errors
    /// An OT message is malformed, the channel failed, or an earlier run failed. Or this process is
    /// a fork of the one that opened the session.
    pub fn stock(&mut self, plan: &Plan, most: usize) -> Result<usize, TwoError> {
        self.process.check("OTs for the next run")?;
        if std::mem::replace(&mut self.lost, true) {
            return Err(TwoError::Lost);
        }
        let distance = self.distance;
        let mut stocked = Stocked::begin(std::mem::take(&mut self.stocked), plan, distance);
        if !plan.moves() {
            let supply = self.supply.as_mut().ok_or(TwoError::Lost)?;
            for tallies in plan.lots(distance).skip(stocked.lots.len()) {
                let ots: usize = tallies.iter().map(Tally::ots).sum();
                if stocked.ots + ots > most {
                    break;
                }
                stocked.lots.push_back(supply.lot(distance, &tallies)?);
                stocked.ots += ots;
            }
        }
        let ots = stocked.ots;
        (self.stocked, self.lost) = (stocked, false);
        Ok(ots)
    }

    /// Runs all steps, wave by wave. `lots` has the OTs of each group of pieces, in order.
    fn steps(
        &mut self,
        channel: &mut Channel,
        run: &mut PlanRun<'_>,
        go_on: &mut dyn FnMut(usize, usize) -> bool,
        lots: &mut dyn FnMut(&[Tally]) -> Result<Lot, TwoError>,
    ) -> Result<(), TwoError> {
        let plan = run.plan;
        loop {
            run.alone()?;
            if !go_on(run.done(), plan.steps.len()) {
                return Err(TwoError::Cancelled);
            }
            let wave = run.wave();
            if wave.is_empty() {
                return Ok(());
            }
            let slots: Vec<_> = wave.extents().iter().map(|extent| extent.at).collect();
            for group in plan.groups(&slots, self.distance) {
                let (begun, before) = (Instant::now(), read(self.meter.as_ref(), channel));
                // Pieces that share their rounds mostly belong to one node.
                let (task, rows) = (wave.task(group[0].0), &group[0].1);
                let made = match way(task.step) {
                    StepWay::Reorder(reorder) => {
                        let (done, all) = (run.done(), plan.steps.len());
                        let go_on = &mut || go_on(done, all);
                        let mut mover =
                            walk::Mover { party: self, channel, lots, go_on, made: Cost::default() };
                        task.put(rows, mover.run(reorder, task.step.size, &task.whole())?);
                        mover.made
                    }
                    StepWay::Encrypted(layer) => {
                        let lot = lots(&plan.tallies(&group))?;
                        let reads = task.whole();
                        let kept = run.kept.and_then(|kept| kept.layers.get(&group[0].0));
                        let made = self.layer(channel, layer, [reads[0].words(), reads[1].words()], kept)?;
                        task.put(rows, StepValue::Words(WordShare::new(layer.linear.ring(), made)));
                        lot.cost
                    }
                    StepWay::Pieces | StepWay::Products => {
                        let lot = lots(&plan.tallies(&group))?;
                        let cost = lot.cost;
                        self.group(channel, &wave, group, lot)?;
                        cost
                    }
                };
                let cost = read(self.meter.as_ref(), channel).since(before);
                run.took(task.step, begun, made.then(cost));
            }
            run.end(wave);
        }
    }

    /// Runs pieces that share their rounds, with their OTs.
    fn group(
        &mut self,
        channel: &mut Channel,
        wave: &Wave<'_, Two>,
        pieces: Vec<StepPiece>,
        lot: Lot,
    ) -> Result<(), TwoError> {
        let mut group = vec![];
        for (piece, ots) in pieces.into_iter().zip(lot.pieces) {
            group.push((piece, Supplies { index: self.index, context: self.next_context(), ots }));
        }
        let mut flight = wave.group(group).begin()?;
        self.driver.run(channel, &mut flight)?;
        land(flight)
    }

    /// Runs pieces of one operation that share their rounds. Returns their results, one after the
    /// other.
    pub(crate) fn pieces(
        &mut self,
        channel: &mut Channel,
        operation: &Operation,
        ring: u32,
        pieces: Vec<Vec<Vec<u64>>>,
    ) -> Result<Vec<u64>, TwoError> {
        if std::mem::replace(&mut self.lost, true) {
            return Err(TwoError::Lost);
        }
        let tallies: Vec<_> = pieces.iter().map(|x| operation.tally(ring, x[0].len())).collect();
        let lot = self.supply.as_mut().ok_or(TwoError::Lost)?.lot(self.distance, &tallies)?;
        let mut plays = vec![];
        for (x, (cots, _)) in pieces.into_iter().zip(lot.pieces) {
            let (index, context, operation) = (self.index, self.next_context(), *operation);
            plays.push(Line::new(move |talk| async move {
                let x = Zeroizing::new(x);
                operation.run(&mut Kit::new(talk, index, &context, cots), ring, &x).await
            }));
        }
        let mut abreast = Abreast::new(plays);
        self.driver.run(channel, &mut abreast)?;
        self.lost = false;
        // The result belongs to the caller from here on.
        Ok(abreast.into_machines().flat_map(|play| play.finish().into_inner()).collect())
    }

    /// The time that each node of the last run took, by its number, and the bytes that it sent if
    /// there is a meter.
    #[must_use]
    pub fn spent(&self) -> &BTreeMap<usize, Spent> {
        &self.spent
    }

    /// The number of weights that this session's layers under encryption have transformed, in
    /// groups of outputs. It is 0 if all weights were kept transformed.
    #[must_use]
    pub fn transforms(&self) -> u64 {
        self.keys.transforms()
    }

    /// Runs a layer of a plan under encryption. Its operands are weights and images.
    fn layer(
        &mut self,
        channel: &mut Channel,
        layer: &EncryptedLayer,
        [weights, x]: [&WordShare; 2],
        kept: Option<&TransformedWeights>,
    ) -> Result<Vec<u64>, TwoError> {
        let (linear, evaluator, threads) = (&layer.linear, layer.evaluator, self.threads);
        self.lost = false;
        let job = LayerJob { linear, evaluator, weights: &weights.own, kept, x: &x.own, threads };
        let made = self.encrypted(channel, &job)?;
        self.lost = true;
        Ok(made)
    }

    /// Runs a layer under encryption.
    fn encrypted(&mut self, channel: &mut Channel, job: &LayerJob<'_>) -> Result<Vec<u64>, TwoError> {
        if std::mem::replace(&mut self.lost, true) {
            return Err(TwoError::Lost);
        }
        self.opened = self.opened.saturating_add(job.linear.coefficients());
        if self.opened > COEFFICIENTS {
            return Err(TwoError::TooMany { found: self.opened });
        }
        let mut play = job.begin(self.index, self.context.backend, &self.seed, &mut self.keys);
        self.driver.run(channel, &mut play).map_err(|e| e.of(channel.from()))?;
        self.lost = false;
        Ok(job.end(play, &mut self.keys))
    }

    /// A convolution of numbers under encryption. `x` is this party's share, and party `evaluator`
    /// gives the weights; the other party gives none. Returns this party's share of the results.
    /// Both parties make the same call with the same layer. The layer's count of coefficients is
    /// that of all layers that the session runs.
    ///
    /// # Errors
    /// A weight exceeds the layer's bound, a message of the peer is malformed, the channel failed,
    /// or an earlier run failed.
    ///
    /// # Panics
    /// If shares or weights do not have the layer's shape, or there is no such party (the caller's
    /// bug).
    pub fn convolve(
        &mut self,
        channel: &mut Channel,
        linear: &Linear,
        evaluator: usize,
        weights: &[i64],
        x: &[u64],
    ) -> Result<Vec<u64>, TwoError> {
        assert!(evaluator < 2, "parties are 0 and 1");
        let words: Wiped<Vec<u64>> = Wiped::new(weights.iter().map(|w| w.cast_unsigned()).collect());
        let (weights, kept, threads) = (&words[..], None, self.threads);
        self.encrypted(channel, &LayerJob { linear, evaluator, weights, kept, x, threads })
    }

    /// A context for the pads of one piece. It is used only once.
    fn next_context(&mut self) -> Context {
        self.pieces += 1;
        self.context.child("two piece", self.pieces)
    }

    /// Compares what both parties are about to run, and agrees whether OTs are made ahead. If only
    /// one party did so, its thread would wait for the other through all steps that take no OTs.
    fn agree(&mut self, channel: &mut Channel, plan: &Plan) -> Result<bool, TwoError> {
        let mut hash = blake3::Hasher::new_derive_key("hushwire two run v4");
        hash.update(&self.context.sid.0);
        hash.update(&self.runs.to_le_bytes());
        hash.update(&plan.digest);
        hash.update(&[self.distance as u8]);
        let (mut ours, mut theirs) = ([0; BEGIN], [0; BEGIN]);
        ours[0] = self.would_be_ahead().into();
        ours[1..].copy_from_slice(hash.finalize().as_bytes());
        channel.exchange("comparing computations", &ours, &mut theirs)?;
        self.runs += 1;
        if ours[1..] == theirs[1..] {
            Ok(ours[0] & theirs[0] == 1)
        } else {
            Err(TwoError::Mismatch { peer: channel.from() })
        }
    }

    /// Opens outputs to the parties that learn them, and only to these.
    fn reveal(
        &self,
        channel: &mut Channel,
        plan: &Plan,
        forms: &[StepValue],
    ) -> Result<Vec<Tensor>, TwoError> {
        let shares = |party: usize| -> Vec<Vec<u8>> {
            let due = plan.outputs.iter().zip(forms).filter(|(output, _)| output.to[party]);
            due.map(|(output, form)| share_bytes(form, output.scalar.bits())).collect()
        };
        let (mine, theirs) = (shares(self.index), shares(1 - self.index).concat());
        let mut arrived = Wiped::new(vec![0; mine.iter().map(Vec::len).sum()]);
        if !(arrived.is_empty() && theirs.is_empty()) {
            channel.exchange("opening outputs", &theirs, &mut arrived)?;
        }
        let mut rest = &arrived[..];
        let due = plan.outputs.iter().zip(forms).filter(|(output, _)| output.to[self.index]);
        let open = |((output, form), own): ((&crate::plan::PlanOutput, &StepValue), Vec<u8>)| {
            let (other, left) = rest.split_at(own.len());
            rest = left;
            opened(form, output.scalar, &output.lengths, [&own, other])
        };
        Ok(due.zip(mine).map(open).collect())
    }
}
