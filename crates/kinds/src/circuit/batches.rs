//! The batches of a run whose parties keep only their engine from one batch to the next. Each batch
//! takes planes of own inputs and gives planes of the outputs that the party learns, on several
//! threads.
//!
//! ```text
//! all       ids of preprocessing on their shelves, if the protocol has any: the files that all
//!           parties have are taken
//! thread t  set-up, then batches t, t + threads, …
//! ```

use crate::{
    CircuitPlan,
    circuit::{part::CircuitPart, place},
};
use hushwire_circuit::Planes;
use hushwire_machine::Channel;
use hushwire_session::{
    Fault, Member, Preparable,
    doors::IN,
    engine::{SETUP, Seat},
    run::{Links, MemberSession},
    shelves::{self, Ahead},
    threads::{COMPUTE, Progress, on_threads},
};

/// Computes all batches.
pub(crate) fn compute(part: &mut CircuitPart, member: &mut MemberSession) -> Result<Links, Fault> {
    let (seat, mut control) = Seat::take(member)?;
    let threads = part.prepared.plan.threads;
    let taken = if part.prepared.plan.protocol.authenticated().is_some() {
        let taken = shelves::meet(&part.prepared.wants()?, member, seat.index, &mut control)?;
        part.from_disk = member.config.shelf.is_some().then(|| shelves::from_disk(&taken));
        taken
    } else {
        (0..threads).map(|_| Ahead::Nothing).collect()
    };
    let lanes = (0..threads).zip(taken).map(|(t, taken)| Ok((t, seat.channels(member, t)?, taken)));
    let lanes = lanes.collect::<Result<Vec<_>, Fault>>()?;
    let progress = Progress::new(part.prepared.plan.instances, &member.observer);
    let all = Batches { seat, part, me: &member.config.me, progress };
    let kept = on_threads(lanes, |(t, mut channels, taken)| {
        all.thread(t, &mut channels, taken).inspect_err(|_| all.progress.fail())?;
        Ok(channels)
    })?;
    Ok(Links { word: control, kept: kept.into_iter().flatten().collect() })
}

/// The state that all threads share.
struct Batches<'a> {
    seat: Seat,
    part: &'a CircuitPart,
    me: &'a Member,
    /// The progress of all threads, in instances.
    progress: Progress,
}

impl Batches<'_> {
    /// Computes batches `t`, `t + threads`, ….
    fn thread(&self, t: u16, channels: &mut [Channel], taken: Ahead) -> Result<(), Fault> {
        let (plan, program) = (&*self.part.prepared.plan, &*self.part.prepared.program);
        let (chosen, seats) = (plan.chosen(), plan.seats());
        let context = self.seat.context.child("thread", t.into());
        let engine = self.seat.engine(chosen, &context, channels, plan.beside);
        let mut engine = engine.map_err(|e| e.told(&self.seat, SETUP))?;
        engine.take(taken);
        let mine = (u32::from(t)..plan.batches()).step_by(plan.threads.into());
        let mut left: u64 = mine.clone().map(|b| plan.instances_of(b) as u64).sum();
        for b in mine {
            self.progress.go_on()?;
            let n = plan.instances_of(b);
            let first = u64::from(b) * u64::from(plan.batch);
            let learnt = engine.run(channels, program, &seats, &self.inputs(plan, first, n)?, left);
            let learnt = learnt.map_err(|e| e.told(&self.seat, &step(plan, b)))?;
            let learns = plan.outputs_of(self.me);
            place::put(plan, &self.part.sinks, learns, first, &learnt)?;
            self.progress.add(n as u64);
            left -= n as u64;
        }
        Ok(())
    }

    /// This party's inputs, in the circuit's order.
    fn inputs(&self, plan: &CircuitPlan, first: u64, n: usize) -> Result<Planes, Fault> {
        let sources = plan.inputs_of(self.me).map(|i| self.part.sources[i].as_ref());
        let planes = sources.map(|source| {
            source.ok_or_else(|| Fault::internal(IN, "an input was not opened"))?.planes(first, n)
        });
        Ok(Planes::join(n, planes.collect::<Result<Vec<_>, Fault>>()?))
    }
}

/// The name of batch `b` in errors.
fn step(plan: &CircuitPlan, b: u32) -> String {
    match plan.batches() {
        1 => COMPUTE.to_owned(),
        all => format!("{COMPUTE} batch {} of {all}", b + 1),
    }
}
