//! The garbler's role: it serves the OTs, sends tables message by message, and decodes its outputs
//! from the evaluator's signals.

use super::{
    OUTPUTS, Running, SchemeRole, TABLES, Terms,
    agree::{Agreed, COMPUTATION, compare, mismatch},
    bits::{loose, tight},
    common::{Kept, RunState},
    job::Job,
    stats::Stats,
};
use crate::{Garble, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::drive::{Buffer, Line, Talk};
use hushwire_ot::{Context, SemiHonest, Sender};
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

/// The garbler with one scheme.
pub(super) struct Garbles<E: Garble> {
    kept: Kept<E>,
    ot: Sender<SemiHonest>,
    /// The results of the OTs.
    sent: Zeroizing<Vec<Sent<E>>>,
}

type Sent<E> = <<E as Garble>::Transfer as Transfer>::Sent;

impl<E: Garble> Garbles<E> {
    /// `seed` is used for the garbling alone.
    pub(super) fn new(
        context: &Context,
        terms: Terms,
        public: SessionNonce,
        seed: &Seed,
        ot: Sender<SemiHonest>,
    ) -> Self {
        let end = E::new(context.backend, terms.scheme, public, seed, E::Transfer::delta(&ot));
        Garbles { kept: Kept::new(context, terms, public, end), ot, sent: Zeroizing::new(vec![]) }
    }
}

impl<E: Garble + Send + 'static> SchemeRole for Garbles<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn SchemeRole + Send> {
        Box::new(Garbles { kept: self.kept.with_width(width), ..*self })
    }

    fn begin<'p>(&'p mut self, job: Job<'p>, inputs: &'p [u8], stats: &'p mut Stats) -> Running<'p> {
        let Garbles { kept, ot, sent } = self;
        let run = kept.begin(job, stats);
        let declared = run.declared(Role::Garbler);
        Line::new(move |talk| garble(talk, run, inputs, ot, sent))
            .costing_by(move || declared.cost::<E::Transfer>())
    }
}

/// A run at the garbler; returns the planes of its outputs.
async fn garble<E: Garble>(
    talk: Talk,
    mut run: RunState<'_, E>,
    inputs: &[u8],
    ot: &mut Sender<SemiHonest>,
    sent: &mut Zeroizing<Vec<Sent<E>>>,
) -> Result<Zeroizing<Vec<u8>>, GarbleError> {
    let owes = run.agreed.repeats(&run.digest);
    let heard = run.agreed.exchange(&talk, &run.digest, Role::Garbler).await;
    let same = heard == run.digest;
    if owes && !same {
        Agreed::tell(&talk, &run.digest).await;
        return Err(mismatch(COMPUTATION));
    }
    // An evaluator that repeats the last run sends its choices before it receives the garbler's
    // digest.
    let chooses = same || run.agreed.repeats(&heard);
    if same {
        run.settle();
    }
    if chooses && run.agreed.choices > 0 {
        resize(sent, run.agreed.choices);
        let mut ots = ot.extend(E::Transfer::send(sent));
        talk.run(&mut ots).await?;
        if same {
            let sent = E::Transfer::sent(ots.finish().trust());
            run.transferred(sent.iter().map(|sent| |end: &mut E| end.theirs(*sent)));
            sent.iter_mut().zeroize();
        }
    }
    compare(&run.digest, &heard, COMPUTATION)?;
    let height = plane_bytes(run.job.instances);
    run.draw(|end, label, plane, j| end.own(label, inputs[plane * height + j / 8] >> (j % 8) & 1));
    if owes {
        talk.exchange(TABLES, run.digest.to_vec(), 0).await;
    }

    let mut message = Buffer::new();
    let mut is_last = false;
    while !is_last {
        run.clock.tables(&run.chunks);
        message.set_len(run.chunks.len());
        if let Some(permute) = run.chunks.advance(run.engine, run.wires, &mut message) {
            let bits = run.bits(Role::Evaluator, E::permute_bit);
            permute.copy_from_slice(&tight(&bits, run.job.instances));
            is_last = true;
        }
        message = talk.exchange_in(TABLES, message, 0).await;
        if !is_last {
            run.chunks.next();
        }
    }
    run.clock.done(&run.job, run.engine.batches());

    let signals = talk.exchange(OUTPUTS, vec![], run.job.output_bytes(Role::Garbler)).await;
    let signals = loose(&signals, run.job.output_planes(Role::Garbler), run.job.instances)
        .ok_or_else(|| GarbleError::malformed(None, "output signals", "bits past the last one"))?;
    let mut outputs = run.bits(Role::Garbler, E::permute_bit);
    outputs.iter_mut().zip(signals.iter()).for_each(|(out, signal)| *out ^= signal);
    run.clock.end();
    Ok(outputs)
}
