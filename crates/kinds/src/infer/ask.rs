//! A client of a served model: it joins its session, sends a request, gets the answer, and goes on
//! with the next input.

use super::{
    InferJob, InferTask,
    answers::spent,
    part::client_tensors,
    serve::{answers_agreement, answers_of, check, job_of, name_of, silent},
};
use crate::compute::served::{ASK, Call, OwnerInputs, ServeVerdict, ServedComputation, ServedSeat};
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_nn::{Array, decode, npy};
use hushwire_session::{
    Fault, InputPlace, MemberConfig, Outcome, Part, Protocol, Stats, Task,
    run::{Links, MemberSession},
    run_part,
};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// A client's requests, and the receiver of their answers.
pub trait Requests {
    /// Tests whether [`next`](Self::next) would return at once, with a request or with the end.
    fn is_there(&mut self) -> bool;

    /// The inputs of the next request by name, such as `input`; `None` if there are no more. It may
    /// wait.
    ///
    /// # Errors
    /// An input cannot be used.
    fn next(&mut self) -> Result<Option<BTreeMap<String, InputPlace>>, Fault>;

    /// Takes the answer to the last request.
    ///
    /// # Errors
    /// The answer cannot be stored.
    fn answered(&mut self, answer: Answered) -> Result<(), Fault>;
}

/// The answer to a request.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The outputs, in the network's order.
    pub arrays: Vec<Array>,
    /// For each output, whether it holds whole numbers, such as places.
    whole: Vec<bool>,
    /// The time from the request to the answer.
    pub time: Duration,
}

impl Answered {
    fn new(outputs: &[(usize, Tensor)], time: Duration) -> Self {
        let arrays = outputs.iter().map(|(_, tensor)| decode(tensor)).collect();
        let whole = outputs.iter().map(|(_, tensor)| tensor.scalar().frac() == 0).collect();
        Self { arrays, whole, time }
    }

    /// An output in NumPy's file format.
    ///
    /// # Panics
    /// If there are not that many outputs.
    #[must_use]
    pub fn npy(&self, output: usize) -> Vec<u8> {
        let array = &self.arrays[output];
        if self.whole[output] { npy::write_whole(array) } else { npy::write(array) }
    }
}

/// Asks a served model for answers, one after another; `config` is the client's. `ahead` are the
/// bytes of OTs that are made between requests, the same as at the members that serve.
///
/// # Errors
/// The job is not served in this way, an input cannot be used, the client may have no more answers,
/// or a member failed. Earlier requests have had their answers.
pub fn ask_model(
    job: &InferJob,
    mut config: MemberConfig,
    ahead: u64,
    requests: &mut dyn Requests,
) -> Result<Stats, Fault> {
    let me = config.me.clone();
    asked(job, &mut config, ahead, requests).map_err(|e| e.by(&me))
}

fn asked(
    job: &InferJob,
    config: &mut MemberConfig,
    ahead: u64,
    requests: &mut dyn Requests,
) -> Result<Stats, Fault> {
    check(job)?;
    let client = config.me.clone();
    if client == job.owner {
        let remedy = "serve it with `hushwire serve-model`";
        return Err(Fault::new(code::MEMBER, ASK, format!("{client} owns the model"), remedy));
    }
    let job = job_of(job, &client);
    let task = InferTask::new(&job)?;
    config.allows(&task.terms())?;
    let agreement = answers_agreement(&task, &client, ahead);
    if job.protocol == Protocol::Two {
        config.me = job.client.clone();
        config.peers.retain(|peer| peer.member == job.owner);
    }
    // The client dials.
    config.listener = None;
    let served = ServedComputation::new(task.compute(), &job.owner, &config.me, None)?;
    let kept = served.pair(&BTreeMap::new())?;
    let mut ask = Asking { task: &task, served: &served, kept, ahead, requests, next: None };
    let mut all = Stats::default();
    loop {
        let part = AskPart { ask: &mut ask, end: None };
        let Outcome { learnt: verdict, stats } =
            run_part(agreement.clone(), part, config.again()?, &silent())?;
        all.seconds += stats.seconds;
        all.bytes_sent += stats.bytes_sent;
        all.bytes_received += stats.bytes_received;
        all.rounds += stats.rounds;
        match verdict {
            ServeVerdict::Granted => return Ok(all),
            ServeVerdict::Anew => {}
            ServeVerdict::Spent => return Err(spent(&name_of(&client), answers_of(&task))),
            ServeVerdict::Ends => {
                let remedy = "ask again when they serve it anew";
                return Err(Fault::new(code::NOT_ALLOWED, ASK, "the model is not served any more", remedy));
            }
        }
    }
}

/// A client that asks, for as many sessions as it takes.
struct Asking<'s> {
    task: &'s InferTask,
    served: &'s ServedComputation,
    /// The values that stay between requests. The client has none of the owner's inputs.
    kept: OwnerInputs,
    ahead: u64,
    requests: &'s mut dyn Requests,
    /// A request that waits for another session.
    next: Option<Vec<hushwire_block::Wiped<Vec<u8>>>>,
}

impl Asking<'_> {
    /// The records of the next request.
    fn next(&mut self) -> Result<Option<Vec<hushwire_block::Wiped<Vec<u8>>>>, Fault> {
        if let Some(records) = self.next.take() {
            return Ok(Some(records));
        }
        let Some(inputs) = self.requests.next()? else { return Ok(None) };
        let tensors = client_tensors(self.task, &self.task.job().client, &inputs)?;
        self.served.records(&tensors).map(Some)
    }
}

/// A client's part of its session.
struct AskPart<'a, 's> {
    ask: &'a mut Asking<'s>,
    /// The reason why the session ends.
    end: Option<Result<ServeVerdict, Fault>>,
}

impl AskPart<'_, '_> {
    /// Makes OTs between two parties while there is no next request yet.
    fn idle(&mut self, member: &MemberSession, seat: &mut ServedSeat) -> Result<(), Fault> {
        let pairs = self.ask.task.job().protocol == Protocol::Two && self.ask.ahead > 0;
        if !pairs || self.ask.next.is_some() || self.ask.requests.is_there() {
            return Ok(());
        }
        seat.ask(member, Call::Ahead)?;
        seat.ahead(self.ask.served, self.ask.ahead)
    }
}

impl Part for AskPart<'_, '_> {
    type Learnt = ServeVerdict;

    fn compute(&mut self, member: &mut MemberSession) -> Result<Links, Fault> {
        let mut seat = ServedSeat::open(member, self.ask.served, &self.ask.kept)?;
        let cancel = member.config.cancel.clone();
        let end = loop {
            self.idle(member, &mut seat)?;
            let records = match self.ask.next() {
                Ok(Some(records)) => records,
                Ok(None) => break Ok(ServeVerdict::Granted),
                // The others need not learn of this error.
                Err(e) => break Err(e),
            };
            let begun = Instant::now();
            let verdict = seat.ask(member, Call::Run)?;
            if verdict != ServeVerdict::Granted {
                self.ask.next = Some(records);
                break Ok(verdict);
            }
            let go_on = &mut |_, _| !cancel.asked();
            let learnt = seat.run(member, self.ask.served, &self.ask.kept, records, go_on)?;
            let time = begun.elapsed();
            let answer = Answered::new(&self.ask.served.learnt(&learnt), time);
            if let Err(e) = self.ask.requests.answered(answer) {
                break Err(e);
            }
        };
        seat.ask(member, Call::End)?;
        self.end = Some(end);
        Ok(seat.into_links())
    }

    fn prepare(&mut self) -> Result<(), Fault> {
        Ok(())
    }

    fn commit(self) -> Result<ServeVerdict, Fault> {
        self.end.unwrap_or_else(|| Err(Fault::internal(ASK, "the session had no end")))
    }
}
