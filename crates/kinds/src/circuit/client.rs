//! A client's endpoint: it shares its inputs to the parties as it reads them, and adds up the
//! shares of its outputs.

use crate::{
    CircuitPlan,
    circuit::{part::CircuitPart, place},
};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_circuit::Planes;
use hushwire_machine::{Channel, NetError, PartyId};
use hushwire_rep3::{Addition, Owner, Role, xor_into};
use hushwire_session::{
    Agreement, Event, Fault, Observer, explain,
    run::{Links, MemberSession, first_error},
};
use std::{sync::Arc, thread};

const IN: &str = "sharing inputs";
const OUT: &str = "receiving outputs";

/// A channel to or from each party, for each of the parties' threads.
type Channels = Vec<[Channel; 3]>;

/// Sends all inputs and receives all outputs at the same time.
pub(crate) fn stream(part: &CircuitPart, member: &mut MemberSession) -> Result<Links, Fault> {
    let (plan, agreement) = (part.prepared.plan.clone(), member.agreement.clone());
    let (to, from) = (channels(member, &plan, true)?, channels(member, &plan, false)?);
    let me = member.config.me.clone();
    let brings: Vec<usize> = plan.inputs_of(&me).collect();
    let learns: Vec<usize> = plan.outputs_of(&me).collect();
    let (backend, sources) = (member.config.backend, part.sources.clone());
    let sending = Sending { plan: plan.clone(), agreement: agreement.clone(), backend, sources, brings, to };
    let (sent, received) = thread::scope(|scope| {
        let sender = scope.spawn(|| sending.run());
        let received = receive(&plan, &agreement, &learns, from, &part.sinks, &member.observer);
        (sender.join(), received)
    });
    let sent = sent.unwrap_or_else(|_| Err(Fault::internal(IN, "a thread panicked")));
    let (mut finished, mut errors) = (vec![], vec![]);
    for result in [sent, received] {
        match result {
            Ok(channels) => finished.extend(channels.into_iter().enumerate()),
            Err(e) => errors.push(e),
        }
    }
    first_error(errors)?;
    let mut links = Links { word: vec![], kept: vec![] };
    for (t, channels) in finished {
        let to = if t == 0 { &mut links.word } else { &mut links.kept };
        to.extend(channels);
    }
    Ok(links)
}

fn channels(member: &mut MemberSession, plan: &CircuitPlan, to: bool) -> Result<Channels, Fault> {
    let mut one = |t, party| {
        let peer = Some(PartyId(party));
        member.channel(1, t, peer.filter(|_| to), peer.filter(|_| !to))
    };
    (0..plan.threads).map(|t| Ok([one(t, 0)?, one(t, 1)?, one(t, 2)?])).collect()
}

struct Sending {
    plan: Arc<CircuitPlan>,
    agreement: Arc<Agreement>,
    backend: Backend,
    sources: Arc<Vec<Option<place::InputSource>>>,
    brings: Vec<usize>,
    to: Channels,
}

impl Sending {
    fn run(mut self) -> Result<Channels, Fault> {
        if self.brings.is_empty() {
            return Ok(self.to);
        }
        let (plan, agreement) = (self.plan.clone(), self.agreement.clone());
        let failed = |e: NetError| explain(&agreement, e).during(IN);
        let owner = Owner::new(self.backend);
        for (role, channel) in Role::ALL.into_iter().zip(&mut self.to[0]) {
            channel.send(IN, &owner.seeds(role)[..]).map_err(failed)?;
        }
        for b in 0..plan.batches() {
            let messages = self.batch(&owner, b)?;
            let channels = &mut self.to[(b % u32::from(plan.threads)) as usize];
            for (channel, message) in channels.iter_mut().zip(&messages) {
                if !message.is_empty() {
                    channel.send(IN, message).map_err(failed)?;
                }
            }
        }
        Ok(self.to)
    }

    /// The explicit shares of batch `b`: the ones that each party holds.
    fn batch(&self, owner: &Owner, b: u32) -> Result<[Wiped<Vec<u8>>; 3], Fault> {
        let (plan, n) = (&self.plan, self.plan.instances_of(b));
        let first = u64::from(b) * u64::from(plan.batch);
        let mut messages = [0; 3].map(|_| Wiped::new(vec![]));
        for &i in &self.brings {
            let source = self.sources[i].as_ref();
            let source = source.ok_or_else(|| Fault::internal(IN, "an input was not opened"))?;
            owner.share(b, i, source.planes(first, n)?.into(), Addition::Xor, &mut messages);
        }
        Ok(messages)
    }
}

fn receive(
    plan: &CircuitPlan,
    agreement: &Agreement,
    learns: &[usize],
    mut from: Channels,
    sinks: &[Option<place::Sink>],
    observer: &Observer,
) -> Result<Channels, Fault> {
    if learns.is_empty() {
        return Ok(from);
    }
    let mut done = 0;
    for b in 0..plan.batches() {
        let n = plan.instances_of(b);
        let mut sum = Planes::zeros(learns.iter().map(|j| plan.output_widths[*j]).sum(), n);
        let mut share = Wiped::new(vec![0; sum.len()]);
        for channel in &mut from[(b % u32::from(plan.threads)) as usize] {
            if !share.is_empty() {
                channel.recv(OUT, &mut share).map_err(|e| explain(agreement, e).during(OUT))?;
                xor_into(&mut sum, &share);
            }
        }
        place::put(plan, sinks, learns.iter().copied(), u64::from(b) * u64::from(plan.batch), &sum)?;
        done += n as u64;
        observer(Event::Progress(done, plan.instances));
    }
    Ok(from)
}
