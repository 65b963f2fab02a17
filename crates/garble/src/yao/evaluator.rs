//! The evaluator's role: it gets its labels by OTs, evaluates tables as they arrive, and sends the
//! signals of the garbler's outputs.

use super::{
    OUTPUTS, Running, SchemeRole, TABLES, Terms,
    agree::{COMPUTATION, DIGEST, compare},
    bits::{loose, tight},
    common::{Kept, RunState},
    job::Job,
    stats::Stats,
};
use crate::{Evaluate, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_block::Block;
use hushwire_machine::drive::{Buffer, Line, Talk};
use hushwire_ot::{Context, Receiver, SemiHonest};
use zeroize::{Zeroize, Zeroizing};

/// The evaluator with one scheme.
pub(super) struct Evaluates<E: Evaluate> {
    kept: Kept<E>,
    ot: Receiver<SemiHonest>,
    /// The choices of the OTs, and their results.
    choices: Zeroizing<Vec<u8>>,
    received: Zeroizing<Vec<Block>>,
}

impl<E: Evaluate> Evaluates<E> {
    pub(super) fn new(
        context: &Context,
        terms: Terms,
        public: SessionNonce,
        ot: Receiver<SemiHonest>,
    ) -> Self {
        let kept = Kept::new(context, terms, public, E::new(context.backend, terms.scheme, public));
        Evaluates { kept, ot, choices: Zeroizing::new(vec![]), received: Zeroizing::new(vec![]) }
    }
}

impl<E: Evaluate + Send + 'static> SchemeRole for Evaluates<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn SchemeRole + Send> {
        Box::new(Evaluates { kept: self.kept.with_width(width), ..*self })
    }

    fn begin<'p>(&'p mut self, job: Job<'p>, inputs: &'p [u8], stats: &'p mut Stats) -> Running<'p> {
        let Evaluates { kept, ot, choices, received } = self;
        *choices = tight(inputs, job.instances);
        let run = kept.begin(job, stats);
        let declared = run.declared(Role::Evaluator);
        Line::new(move |talk| evaluate(talk, run, choices, ot, received))
            .costing_by(move || declared.cost::<E::Transfer>())
    }
}

/// A run at the evaluator; returns the planes of its outputs.
async fn evaluate<E: Evaluate>(
    talk: Talk,
    mut run: RunState<'_, E>,
    choices: &[u8],
    ot: &mut Receiver<SemiHonest>,
    received: &mut Zeroizing<Vec<Block>>,
) -> Result<Zeroizing<Vec<u8>>, GarbleError> {
    // The garbler's digest comes only with the tables in this case.
    let waits = run.agreed.repeats(&run.digest);
    let heard = run.agreed.exchange(&talk, &run.digest, Role::Evaluator).await;
    if !waits {
        compare(&run.digest, &heard, COMPUTATION)?;
    }
    run.settle();
    if run.agreed.choices > 0 {
        resize(received, run.agreed.choices);
        let mut ots = ot.extend(E::Transfer::receive(choices, received));
        talk.run(&mut ots).await?;
        let received = E::Transfer::received(ots.finish().trust());
        let own = |(i, block): (usize, &Block)| {
            let (block, choice) = (*block, choices[i / 8] >> (i % 8) & 1);
            move |end: &mut E| end.own(block, choice)
        };
        run.transferred(received.iter().enumerate().map(own));
        received.iter_mut().zeroize();
    }
    run.draw(|end, label, _, _| end.label(label));
    if waits {
        compare(&run.digest, &talk.exchange(TABLES, vec![], DIGEST).await, COMPUTATION)?;
    }

    let mut message = Buffer::new();
    let opened = loop {
        message.set_len(0);
        message = talk.exchange_in(TABLES, message, run.chunks.len()).await;
        run.clock.tables(&run.chunks);
        if let Some(permute) = run.chunks.advance(run.engine, run.wires, &message) {
            break loose(permute, run.job.output_planes(Role::Evaluator), run.job.instances);
        }
        run.chunks.next();
    };
    let opened = opened
        .ok_or_else(|| GarbleError::malformed(None, "permute bits of outputs", "bits past the last one"))?;
    let mut outputs = run.bits(Role::Evaluator, E::signal);
    outputs.iter_mut().zip(opened.iter()).for_each(|(out, bit)| *out ^= bit);
    run.clock.done(&run.job, run.engine.batches());

    let mut signals = tight(&run.bits(Role::Garbler, E::signal), run.job.instances);
    talk.exchange(OUTPUTS, std::mem::take(&mut *signals), 0).await;
    run.clock.end();
    Ok(outputs)
}
