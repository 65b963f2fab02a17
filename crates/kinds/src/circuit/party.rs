//! A party's endpoint: it connects to the other members, and runs batches on all threads.

use crate::{
    CircuitPlan,
    circuit::{flow::Flow, part::CircuitPart},
};
use hushwire_machine::{
    Channel,
    drive::{Driver, Lane},
};
use hushwire_prg::Seed;
use hushwire_rep3::{CircuitBatch, Rep3Party, Role};
use hushwire_session::{
    Fault, Member,
    doors::{Doors, Stored, channels_of_clients, receive_seeds},
    explain,
    run::{Links, MemberSession},
    threads::{COMPUTE, Progress, drive, lanes, on_threads},
};
use std::{collections::VecDeque, sync::Arc};

/// Computes all batches.
pub(crate) fn compute(part: &CircuitPart, member: &mut MemberSession) -> Result<Links, Fault> {
    let (plan, agreement) = (part.prepared.plan.clone(), member.agreement.clone());
    let Member::Party(index) = member.config.me else {
        return Err(Fault::internal(COMPUTE, "a client cannot compute"));
    };
    let role = Role::new(index).ok_or_else(|| Fault::internal(COMPUTE, "no such party"))?;
    let (left, right) = (Some(role.left().id()), Some(role.right().id()));
    let control = agreement.control_lane();
    let mut forward = member.channel(1, control, right, left)?;
    let backward = member.channel(1, control, left, right)?;
    let (backend, id) = (member.config.backend, member.session());
    let party = Rep3Party::open(role, backend, id, Seed::random(), &mut forward)
        .map_err(|e| explain(&agreement, e).during("session keys"))?;

    let mut clients = client_channels(member, &plan)?;
    let brings = |member: &Member| plan.inputs_of(member).next().is_some();
    let seeds = receive_seeds(&agreement, &mut clients[0], brings)?;
    let progress = Arc::new(Progress::new(plan.instances, &member.observer));
    let mut threads = vec![];
    let parties = party.split(plan.threads.into());
    for ((t, clients), party) in (0..plan.threads).zip(clients).zip(parties) {
        let lanes = lanes(member, role, t, plan.lanes)?;
        let doors = Doors {
            role,
            driver: Driver::new(),
            io: member.channel(1, t * plan.lanes, right, left)?,
            clients: plan.clients.iter().cloned().zip(clients).collect(),
            seeds: seeds.clone(),
            comparison: None,
            stored: Stored::default(),
            watch: member.net.watch(),
        };
        let flow = Flow {
            party,
            open: VecDeque::new(),
            plan: plan.clone(),
            program: part.prepared.program.clone(),
            sources: part.sources.clone(),
            sinks: part.sinks.clone(),
            doors,
            begin: u32::from(t),
            spare: vec![],
            progress: progress.clone(),
        };
        threads.push((lanes, flow));
    }
    let finished = on_threads(threads, |(mut lanes, mut flow): (Vec<Lane<CircuitBatch>>, Flow)| {
        drive(&agreement, &progress, &mut lanes, &mut flow, |_| Ok(()))?;
        Ok((lanes, flow))
    })?;
    let mut links = Links { word: vec![forward, backward], kept: vec![] };
    for (t, (lanes, flow)) in finished.into_iter().enumerate() {
        let to = if t == 0 { &mut links.word } else { &mut links.kept };
        to.extend(flow.doors.clients.into_iter().map(|(_, channel)| channel));
        links.kept.push(flow.doors.io);
        links.kept.extend(lanes.into_iter().flat_map(Lane::into_channels));
    }
    Ok(links)
}

/// A channel to each client, for each thread.
fn client_channels(member: &mut MemberSession, plan: &CircuitPlan) -> Result<Vec<Vec<Channel>>, Fault> {
    (0..plan.threads).map(|t| channels_of_clients(member, t)).collect()
}
