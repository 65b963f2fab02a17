//! A party of a protocol on circuits that has no clients: its links, set up once, and computations
//! on them. The computation runs as one instance of a circuit. Before each run of authenticated
//! garbling, the parties agree on preprocessing that all of them have on disk.

use super::{
    bound::{BoundComputation, Extent, RunForm},
    engine::{Engine, GoOn, Links, Records},
    lengths::{Lengths, Told},
};
use hushwire_block::Wiped;
use hushwire_circuit::Planes;
use hushwire_machine::Channel;
use hushwire_session::{
    Chosen, Fault, FromDisk, Member, engine,
    engine::{SETUP, Seat},
    run::{self, MemberSession},
    shelves::{self, Wants},
    threads::COMPUTE,
};

/// A party's links and its engine.
pub(super) struct Circuits {
    me: Member,
    seat: Seat,
    chosen: Chosen,
    threads: u16,
    from_disk: Option<FromDisk>,
    control: Vec<Channel>,
    channels: Vec<Channel>,
    engine: Box<dyn engine::Engine>,
}

impl Circuits {
    pub(super) fn open(member: &mut MemberSession, chosen: Chosen, threads: u16) -> Result<Self, Fault> {
        let (seat, control) = Seat::take(member)?;
        let mut channels = seat.channels(member, 0)?;
        let engine = seat.engine(chosen, &seat.context, &mut channels, threads);
        let engine = engine.map_err(|e| e.told(&seat, SETUP))?;
        let me = member.config.me.clone();
        Ok(Self { me, seat, chosen, threads, from_disk: None, control, channels, engine })
    }
}

impl Engine for Circuits {
    fn agree(&mut self, member: &MemberSession, lengths: Lengths) -> Result<Told, Fault> {
        let mut control: Vec<_> = self.control.iter_mut().collect();
        lengths.at_party(&member.agreement, &mut control, std::iter::empty())
    }

    fn run(
        &mut self,
        member: &MemberSession,
        bound: &BoundComputation,
        form: &RunForm,
        own: Vec<Records>,
        _: GoOn<'_>,
    ) -> Result<Vec<Records>, Fault> {
        let RunForm::Circuit(program) = form else {
            return Err(Fault::internal(COMPUTE, "these parties have no steps"));
        };
        let inputs = inputs(&self.me, bound, &own)?;
        if self.chosen.protocol.authenticated().is_some() {
            let wants = Wants::once(self.chosen, program, &bound.seats, self.threads);
            let taken = shelves::meet(&wants, member, self.seat.index, &mut self.control)?;
            self.from_disk = member.config.shelf.is_some().then(|| shelves::from_disk(&taken));
            taken.into_iter().for_each(|taken| self.engine.take(taken));
        }
        let learnt = self.engine.run(&mut self.channels, program, &bound.seats, &inputs, 1);
        let learnt = learnt.map_err(|e| e.told(&self.seat, COMPUTE))?;
        Ok(outputs(&self.me, bound, &learnt))
    }

    fn links(&mut self) -> Links<'_> {
        Links { both: self.control.iter_mut().collect(), ..Links::default() }
    }

    fn taken(&self) -> Option<FromDisk> {
        self.from_disk
    }

    fn into_links(self: Box<Self>) -> run::Links {
        run::Links { word: self.control, kept: self.channels }
    }
}

/// The planes of a party's inputs, from their records in order: one byte for each register.
fn inputs(me: &Member, bound: &BoundComputation, own: &[Records]) -> Result<Planes, Fault> {
    let mut registers = Wiped::new(vec![]);
    for ((_, extent), records) in bound.inputs_of(me).zip(own) {
        let start = registers.len();
        registers.resize(start + extent.bits(), 0);
        extent.spread(&extent.planes(records), &mut registers[start..]);
    }
    Planes::new(registers.len(), 1, registers).map_err(|e| Fault::internal(COMPUTE, e))
}

/// The records of the outputs that a party learns, from their planes.
fn outputs(me: &Member, bound: &BoundComputation, learnt: &Planes) -> Vec<Records> {
    let mut at = 0;
    let output = |extent: &Extent| {
        at += extent.bits();
        let mut planes = Wiped::new(vec![0; extent.bytes()]);
        extent.gather(&learnt[at - extent.bits()..at], &mut planes);
        extent.records(&planes)
    };
    bound.outputs_of(me).map(output).collect()
}
