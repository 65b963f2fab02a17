//! One of two parties that compute on words: its links, set up once, and computations on them.
//!
//! The protocol is [`hushwire_two`]'s. OTs have a lane of their own. The delay between the parties
//! is measured once, and decides how plans are cut into pieces. Inputs of a model that is served
//! are kept in the forms that its plan uses.

use super::{
    ComputeTask,
    bound::{BoundComputation, Extent, ROOM, RunForm},
    delay,
    engine::{Engine, GoOn, Links, Records, cancelled},
    lengths::{Lengths, Told, says},
};
use hushwire_block::Wiped;
use hushwire_compute::Tensor;
use hushwire_machine::Channel;
use hushwire_prg::Seed;
use hushwire_session::{
    Chosen, Fault, Member,
    engine::{Failure, SETUP, Seat},
    explain,
    run::{self, MemberSession},
    threads::COMPUTE,
};
use hushwire_two::{ArithmeticParty, Distance, KeptInputs, Plan, TwoError};

/// A party's links and its endpoint of the protocol.
pub(super) struct PairEngine {
    me: Member,
    seat: Seat,
    control: Vec<Channel>,
    channels: Vec<Channel>,
    party: ArithmeticParty,
    distance: Distance,
}

impl PairEngine {
    pub(super) fn open(member: &mut MemberSession, chosen: Chosen) -> Result<Self, Fault> {
        let (seat, mut control) = Seat::take(member)?;
        let (channels, ots) = (seat.channels(member, 0)?, seat.channels(member, 1)?.pop());
        let missing = || Fault::internal(SETUP, "protocol two has a peer and an OT extension");
        let (ots, ot) = (ots.ok_or_else(missing)?, chosen.ot.ok_or_else(missing)?);
        let party = ArithmeticParty::open(ots, seat.index.into(), &seat.context, ot, &Seed::random());
        let party = party.map_err(|e| Failure::from(e).told(&seat, SETUP))?.threads(cores());
        let delay = delay::announced(&mut control);
        let delay = delay.map_err(|e| explain(&member.agreement, e).during("measuring delays"))?;
        let distance = Distance::of(delay);
        let party = party.distance(distance);
        let party = if let Some(ahead) = chosen.ahead { party.ahead(ahead) } else { party };
        Ok(Self { me: member.config.me.clone(), seat, control, channels, party, distance })
    }
}

impl PairEngine {
    /// The control channel to the peer.
    pub(super) fn peer(&mut self) -> Option<&mut Channel> {
        self.control.first_mut()
    }

    /// Runs a plan on this party's inputs, in order, without those that are kept.
    pub(super) fn run_on(
        &mut self,
        form: &RunForm,
        kept: Option<&KeptInputs>,
        inputs: Vec<Tensor>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        let plan = of_two(form)?;
        let mut steps = |done: usize, whole: usize| go_on(done as u64, whole as u64);
        let (party, channel) = (&mut self.party, &mut self.channels[0]);
        let learnt = match kept {
            Some(kept) => party.run_kept(channel, plan, kept, inputs, &mut steps),
            None => party.run(channel, plan, inputs, &mut steps),
        };
        let learnt = learnt.map_err(|e| match e {
            TwoError::Cancelled => cancelled(),
            e => Failure::from(e).told(&self.seat, COMPUTE),
        })?;
        Ok(learnt.iter().map(|tensor| Wiped::new(tensor.records())).collect())
    }

    /// Makes OTs for the next run of a plan, of at most this number of bytes.
    pub(super) fn stock(&mut self, form: &RunForm, most: u64) -> Result<(), Fault> {
        let most = usize::try_from(most / OT_BYTES).unwrap_or(usize::MAX);
        let made = self.party.stock(of_two(form)?, most);
        made.map(drop).map_err(|e| Failure::from(e).told(&self.seat, COMPUTE))
    }
}

/// LOCAL: while one party multiplies under encryption, the other one waits, so each may use all
/// cores.
fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get().min(8))
}

/// LOCAL: the bytes that transformed weights of a served model may take. Layers beyond them
/// transform their weights for each request.
const TRANSFORMED: u64 = 2 << 30;

/// The owner's inputs in the forms that a plan uses, at the owner or at its peer.
pub(super) fn keep(plan: &Plan, [me, owner]: [u8; 2], own: Vec<Tensor>) -> Result<KeptInputs, Fault> {
    let kept = KeptInputs::new(plan, [me, owner].map(usize::from), own, TRANSFORMED, cores());
    kept.map_err(|e| e.fault().during(COMPUTE))
}

/// The bytes of an OT that is made before its use.
const OT_BYTES: u64 = 16;

fn of_two(form: &RunForm) -> Result<&Plan, Fault> {
    match form {
        RunForm::Pair(plan) => Ok(plan),
        _ => Err(Fault::internal(COMPUTE, "two parties on numbers have a plan of their own")),
    }
}

impl Engine for PairEngine {
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        let mut control: Vec<_> = self.control.iter_mut().collect();
        lengths.at_party(&member.agreement, &mut control, std::iter::empty())
    }

    /// The pieces for the measured distance of the parties may take more memory than a run may. The
    /// run then uses the short pieces of near parties. It is refused if these take more, too.
    fn fit(&mut self, form: &RunForm, task: &ComputeTask, told: &Told) -> Result<(), Fault> {
        self.party.set_distance(self.distance);
        let (RunForm::Pair(plan), Some(most)) = (form, task.most_memory(told)) else { return Ok(()) };
        if plan.within(self.distance, most).is_err() {
            let kept = plan.within(Distance::Near, most);
            kept.map_err(|e| says(told, e.fault().remedied(ROOM).during("the computation")))?;
            self.party.set_distance(Distance::Near);
        }
        Ok(())
    }

    fn run(
        &mut self,
        _: &MemberSession,
        bound: &BoundComputation,
        form: &RunForm,
        own: Vec<Records>,
        go_on: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        let value = |((_, extent), records): ((usize, &Extent), &Records)| {
            Tensor::from_planes(extent.scalar, &extent.lengths, &extent.planes(records))
        };
        let inputs = bound.inputs_of(&self.me).zip(&own).map(value).collect();
        self.run_on(form, None, inputs, go_on)
    }

    fn links(&mut self) -> Links<'_> {
        Links { both: self.control.iter_mut().collect(), ..Links::default() }
    }

    fn into_links(self: Box<Self>) -> run::Links {
        let kept = self.channels.into_iter().chain(self.party.into_channel()).collect();
        run::Links { word: self.control, kept }
    }
}
