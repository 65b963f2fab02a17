//! A computation that runs for one client after another, while the inputs of its owner stay.
//!
//! ```text
//! three parties   keep      once: the owner shares its inputs to the parties, who keep the shares
//!                 answer    each time: the client shares its own, the parties compute, it learns
//! two parties     answer    the owner is a party, and has its inputs anyhow
//! ```
//!
//! A session has one client. Before each run the client asks, and every member that serves answers
//! with a verdict. The worst verdict holds.
//!
//! **Security.** Every session has keys, seeds and OTs of its own. Kept shares are never used as
//! masks: they are one sharing of the owner's inputs, and each party sees the same part of it in
//! every run.

use super::{
    ComputeTask,
    bound::{BoundComputation, RunForm},
    client::Client,
    engine::{Engine, GoOn, Records},
    lengths::Told,
    part::Brought,
    three::{KeptShares, Three},
    values::Values,
};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_fault::code;
use hushwire_machine::Channel;
use hushwire_session::{
    Fault, Member, explain,
    run::{Links, MemberSession},
    threads::COMPUTE,
};
use std::{collections::BTreeMap, sync::Arc};

/// The name in errors of the step in which a client asks.
pub(crate) const ASK: &str = "asking for an answer";
/// The name in errors of the step in which the owner's inputs are shared, once.
const KEEP: &str = "sharing the owner's inputs";

/// AGREEMENT: a client's next request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Call {
    /// The session is over.
    End = 0,
    /// A run.
    Run = 1,
    /// Makes OTs for the next run, whose inputs are not known yet.
    Ahead = 2,
}

/// AGREEMENT: the verdict of a member that serves on a request for a run, the worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum ServeVerdict {
    /// The run begins.
    Granted = 0,
    /// The run begins in another session, because this one has had all runs that it may have.
    Anew = 1,
    /// The client has had all answers that it may have.
    Spent = 2,
    /// The member that serves ends.
    Ends = 3,
}

impl ServeVerdict {
    fn of(byte: u8) -> Self {
        match byte {
            0 => Self::Granted,
            1 => Self::Anew,
            2 => Self::Spent,
            // A verdict that only a later release knows is not a grant.
            _ => Self::Ends,
        }
    }
}

/// A computation as one member runs it for one client, with its plan, which is made once.
pub(crate) struct ServedComputation {
    task: ComputeTask,
    bound: BoundComputation,
    form: Arc<RunForm>,
    owner: Member,
    me: Member,
}

/// The owner's inputs, as a member that serves holds them.
#[derive(Clone)]
pub(crate) enum OwnerInputs {
    /// Nothing: the other party holds them, or this member is a client.
    None,
    /// Shares, at each of three parties.
    Shared(Arc<KeptShares>),
    /// In the forms of a plan, at one of two parties.
    #[cfg(feature = "two")]
    Pair(Arc<hushwire_two::KeptInputs>),
}

impl ServedComputation {
    /// Plans the computation. The plan is the same for all clients, and `form` may come from
    /// another client's plan.
    pub(crate) fn new(
        task: &ComputeTask,
        owner: &Member,
        me: &Member,
        form: Option<Arc<RunForm>>,
    ) -> Result<Self, Fault> {
        task.complete()?;
        let bound = task.bound(task.known())?;
        let form = match form {
            Some(form) => form,
            None => bound.form(task.chosen())?,
        };
        if matches!(*form, RunForm::Circuit(_)) {
            let cause = "it runs as a circuit, whose inputs come with each run";
            let remedy = "take protocol rep3 or two";
            return Err(Fault::new(code::MODEL, "planning the job", cause, remedy));
        }
        let bound = bound.through(&form);
        Ok(Self { task: task.clone(), bound, form, owner: owner.clone(), me: me.clone() })
    }

    /// The plan, for use with the next client.
    pub(crate) fn form(&self) -> Arc<RunForm> {
        Arc::clone(&self.form)
    }

    /// The records that a member brings, in order. `tensors` are its inputs by name.
    pub(crate) fn records(&self, tensors: &BTreeMap<String, Tensor>) -> Result<Vec<Records>, Fault> {
        let value = |name: &str, _: &_, _: &_| {
            let tensor = tensors.get(name)?;
            let records = Wiped::new(tensor.records());
            let (scalar, lengths) = (tensor.scalar(), tensor.lengths().to_vec());
            Some(Ok(Values { scalar, lengths, records, remark: None }))
        };
        let brought = Brought::new(&self.task, &self.me, |_| "bring them".to_owned(), value)?;
        self.bound.brought(&self.me, brought.inputs)
    }

    /// The owner's inputs as one of two parties keeps them; the party that is not the owner gives
    /// none. Among three parties the result is `None`, because the owner shares its inputs.
    pub(crate) fn pair(&self, tensors: &BTreeMap<String, Tensor>) -> Result<OwnerInputs, Fault> {
        match (&*self.form, &self.me, &self.owner) {
            #[cfg(feature = "two")]
            (RunForm::Pair(plan), Member::Party(me), Member::Party(owner)) => {
                let own = if me == owner { self.tensors(&self.records(tensors)?) } else { vec![] };
                super::pair::keep(plan, [*me, *owner], own).map(|kept| OwnerInputs::Pair(Arc::new(kept)))
            }
            _ => {
                let _ = tensors;
                Ok(OwnerInputs::None)
            }
        }
    }

    #[cfg(feature = "two")]
    fn tensors(&self, records: &[Records]) -> Vec<Tensor> {
        let mine = self.bound.inputs_of(&self.me).zip(records);
        mine.map(|((_, of), records)| Tensor::from_records(of.scalar, &of.lengths, records)).collect()
    }

    /// The values of the outputs that this member learns, with their places.
    pub(crate) fn learnt(&self, records: &[Records]) -> Vec<(usize, Tensor)> {
        let outputs = self.task.outputs_of(&self.me).zip(records);
        let tensor = |(j, records): (usize, &Records)| {
            let extent = &self.bound.outputs[j];
            (j, Tensor::from_records(extent.scalar, &extent.lengths, records))
        };
        outputs.map(tensor).collect()
    }

    /// The number of runs that one session may have: the noise of layers under encryption hides
    /// only that number of results.
    pub(crate) fn runs_in_a_session(&self) -> u64 {
        match &*self.form {
            #[cfg(feature = "two")]
            RunForm::Pair(plan) => {
                hushwire_two::COEFFICIENTS.checked_div(plan.coefficients()).unwrap_or(u64::MAX)
            }
            _ => u64::MAX,
        }
    }
}

/// Shares the owner's inputs, at the owner or at a party. `own` are the records that it brings.
pub(crate) fn keep(
    member: &mut MemberSession,
    served: &ServedComputation,
    own: Vec<Records>,
) -> Result<(Links, OwnerInputs), Fault> {
    let (bound, owner) = (&served.bound, &served.owner);
    if let Member::Party(index) = served.me {
        let mut party = Three::open(member, index, served.task.threads(), |who| who == owner)?;
        let mine = || bound.inputs_of(&served.me).filter(|_| served.me == *owner);
        let mut brought = Wiped::new(Vec::with_capacity(mine().map(|(_, extent)| extent.bytes()).sum()));
        mine().zip(&own).for_each(|((_, extent), records)| extent.append(records, &mut brought));
        let kept = party.keep((bound, &*served.form), owner, &brought);
        let kept = kept.map_err(|e| e.explain(&member.agreement).during(KEEP))?;
        return Ok((Box::new(party).into_links(), OwnerInputs::Shared(Arc::new(kept))));
    }
    let mut client = Client::open(member, true)?;
    client.give(member, bound, own)?;
    Ok((Box::new(client).into_links(), OwnerInputs::None))
}

/// One session's endpoint, at a member that serves or at the client that asks.
pub(crate) struct ServedSeat {
    end: SeatEnd,
    /// The number of runs so far.
    runs: u64,
}

enum SeatEnd {
    Three(Box<Three>),
    Client(Box<Client>),
    #[cfg(feature = "two")]
    Pair(Box<super::pair::PairEngine>),
}

impl ServedSeat {
    /// Exchanges keys with the other members.
    pub(crate) fn open(
        member: &mut MemberSession,
        served: &ServedComputation,
        inputs: &OwnerInputs,
    ) -> Result<Self, Fault> {
        let task = &served.task;
        let brings = |member: &Member| task.inputs_of(member).next().is_some();
        let end = match (&served.me, &*served.form) {
            (Member::Party(index), RunForm::Steps(_)) => {
                let mut party = Three::open(member, *index, task.threads(), brings)?;
                if let OwnerInputs::Shared(kept) = inputs {
                    party = party.with_kept(Arc::clone(kept));
                }
                party.fit(&served.form, task, &Told::new())?;
                SeatEnd::Three(Box::new(party))
            }
            #[cfg(feature = "two")]
            (Member::Party(_), RunForm::Pair(_)) => {
                let mut party = super::pair::PairEngine::open(member, task.chosen())?;
                party.fit(&served.form, task, &Told::new())?;
                SeatEnd::Pair(Box::new(party))
            }
            (Member::Client(_), _) => SeatEnd::Client(Box::new(Client::open(member, true)?)),
            _ => return Err(Fault::internal(ASK, "this member has no part in such a session")),
        };
        Ok(Self { end, runs: 0 })
    }

    /// The number of runs so far.
    pub(crate) fn runs(&self) -> u64 {
        self.runs
    }

    /// At a member that serves: receives the client's next request.
    pub(crate) fn hear(&mut self, member: &MemberSession) -> Result<Call, Fault> {
        let channel = match &mut self.end {
            SeatEnd::Three(party) => party.client(),
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => party.peer(),
            SeatEnd::Client(_) => None,
        };
        let channel = channel.ok_or_else(|| Fault::internal(ASK, "a session without a client"))?;
        let mut byte = [0];
        channel.recv(ASK, &mut byte).map_err(|e| explain(&member.agreement, e).during(ASK))?;
        match byte[0] {
            0 => Ok(Call::End),
            1 => Ok(Call::Run),
            2 => Ok(Call::Ahead),
            other => {
                let who = channel.from().map(|id| member.agreement.who(id));
                let cause = format!(
                    "{} asks for {other}, which nobody knows",
                    who.map_or("the client".to_owned(), |who| who.to_string())
                );
                Err(Fault::new(code::DISAGREE, ASK, cause, "run the same release everywhere"))
            }
        }
    }

    /// At a member that serves: sends its verdict on a request to the others, and the worst of all
    /// to the client.
    pub(crate) fn settle(
        &mut self,
        member: &MemberSession,
        own: ServeVerdict,
    ) -> Result<ServeVerdict, Fault> {
        let failed = |e| explain(&member.agreement, e).during(ASK);
        match &mut self.end {
            SeatEnd::Three(party) => {
                let mut worst = own;
                for channel in party.neighbours() {
                    let mut theirs = [0];
                    channel.exchange(ASK, &[own as u8], &mut theirs).map_err(failed)?;
                    worst = worst.max(ServeVerdict::of(theirs[0]));
                }
                if let Some(client) = party.client() {
                    client.send(ASK, &[worst as u8]).map_err(failed)?;
                }
                Ok(worst)
            }
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => {
                if let Some(peer) = party.peer() {
                    peer.send(ASK, &[own as u8]).map_err(failed)?;
                }
                Ok(own)
            }
            SeatEnd::Client(_) => Err(Fault::internal(ASK, "clients grant nothing")),
        }
    }

    /// At the client: sends a request. For a run, returns the worst verdict.
    pub(crate) fn ask(&mut self, member: &MemberSession, call: Call) -> Result<ServeVerdict, Fault> {
        let failed = |e| explain(&member.agreement, e).during(ASK);
        let mut verdict = [ServeVerdict::Granted as u8];
        let (to, from): (Vec<&mut Channel>, Vec<&mut Channel>) = match &mut self.end {
            SeatEnd::Client(client) => {
                let links = client.links();
                (links.to, links.from)
            }
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => {
                let Some(peer) = party.peer() else {
                    return Err(Fault::internal(ASK, "a session without a peer"));
                };
                peer.send(ASK, &[call as u8]).map_err(failed)?;
                if call == Call::Run {
                    peer.recv(ASK, &mut verdict).map_err(failed)?;
                }
                return Ok(ServeVerdict::of(verdict[0]));
            }
            SeatEnd::Three(_) => return Err(Fault::internal(ASK, "parties ask nothing")),
        };
        for channel in to {
            channel.send(ASK, &[call as u8]).map_err(failed)?;
        }
        let mut worst = ServeVerdict::Granted;
        for channel in from.into_iter().filter(|_| call == Call::Run) {
            channel.recv(ASK, &mut verdict).map_err(failed)?;
            worst = worst.max(ServeVerdict::of(verdict[0]));
        }
        Ok(worst)
    }

    /// Runs a request that was granted. `own` are the records that a client brings.
    pub(crate) fn run(
        &mut self,
        member: &MemberSession,
        served: &ServedComputation,
        inputs: &OwnerInputs,
        own: Vec<Records>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        self.runs += 1;
        let (bound, form) = (&served.bound, &served.form);
        match &mut self.end {
            SeatEnd::Three(party) => party.run(member, bound, form, own, go_on),
            SeatEnd::Client(client) => client.run(member, bound, form, own, go_on),
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => {
                let kept = if let OwnerInputs::Pair(kept) = inputs { Some(&**kept) } else { None };
                party.run_on(form, kept, served.tensors(&own), go_on)
            }
        }
    }

    /// Makes OTs for the next run, of at most this number of bytes. Both of two parties must call
    /// it with the same limit.
    pub(crate) fn ahead(&mut self, served: &ServedComputation, most: u64) -> Result<(), Fault> {
        match &mut self.end {
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => party.stock(&served.form, most),
            _ => {
                let _ = (served, most);
                Err(Fault::internal(COMPUTE, "three parties make no OTs"))
            }
        }
    }

    /// All links, for the confirmation at the end.
    pub(crate) fn into_links(self) -> Links {
        match self.end {
            SeatEnd::Three(party) => party.into_links(),
            SeatEnd::Client(client) => client.into_links(),
            #[cfg(feature = "two")]
            SeatEnd::Pair(party) => party.into_links(),
        }
    }
}
