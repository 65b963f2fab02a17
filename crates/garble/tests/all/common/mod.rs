//! Two parties of Yao's protocol on threads, over any transport.
#![allow(dead_code, missing_docs, unreachable_pub)]

use hushwire_aes::Backend;
use hushwire_block::registry;
use hushwire_circuit::{Bit, Builder, Layered, Planes, Program, Stage, Stages, TwoParty, eval, planes};
use hushwire_garble::{
    GarbleError, Role, Scheme,
    yao::{Terms, YaoParty},
};
use hushwire_machine::{Channel, Net, PartyId, SessionId, inproc};
use hushwire_ot::{Context, Sid};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::{LocalParties, TransportKind};
use std::{sync::Arc, thread, time::Duration};

pub const IDS: [PartyId; 2] = [PartyId(0), PartyId(1)];
pub const ROLES: [Role; 2] = [Role::Garbler, Role::Evaluator];
const STALL: Duration = Duration::from_secs(20);

pub fn context() -> Context {
    Context { sid: Sid([21; 32]), backend: Backend::best() }
}

pub fn terms(scheme: Scheme) -> Terms {
    Terms { scheme, ..Terms::default() }
}

pub fn inproc_nets() -> [Net; 2] {
    inproc::mesh(&IDS, 1, STALL).try_into().ok().expect("two parties")
}

/// The nets of both parties, over TCP on this host.
pub fn tcp_nets() -> [Net; 2] {
    let parties = LocalParties::bind(&IDS, TransportKind::TcpTls, SessionId([1; 16])).expect("ports");
    let nets: Vec<_> = parties.connect().into_iter().map(|net| net.expect("a session")).collect();
    nets.try_into().ok().expect("two parties")
}

/// Runs a function for each party on a thread of its own.
pub fn parties<T: Send>(nets: [Net; 2], run: impl Fn(Role, &mut Channel) -> T + Sync) -> [T; 2] {
    let run = &run;
    let _watch = registry::watch();
    thread::scope(|scope| {
        let mut nets = nets.into_iter().zip(ROLES);
        let threads = [(); 2].map(|()| nets.next().expect("two")).map(|(mut net, role)| {
            let end = registry::here().end(role as usize);
            scope.spawn(move || {
                let _end = end.enter();
                let peer = Some(IDS[1 - role as usize]);
                let mut channel = net.channel(0, peer, peer).expect("the lane is there");
                run(role, &mut channel)
            })
        });
        threads.map(|t| t.join().expect("the party ends"))
    })
}

pub fn open(role: Role, channel: &mut Channel, terms: Terms) -> Result<YaoParty, GarbleError> {
    YaoParty::open(channel, role, &context(), terms, &Seed::from_bytes([role as u8; 16]))
}

/// Random values of every input.
pub fn values(program: &Program, instances: usize, seed: u8) -> Vec<Vec<u8>> {
    let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), "test inputs");
    let value = |width: &usize| {
        let mut value = vec![0; planes::value_bytes(*width) * instances];
        // The test draws these values itself, the same at each call.
        registry::silent(|| prg.fill(&mut value));
        Planes::pack(&value, *width, instances).unpack()
    };
    program.inputs().iter().map(value).collect()
}

/// Planes of all inputs.
fn packed(program: &Program, n: usize, values: &[Vec<u8>]) -> Planes {
    Planes::join(n, values.iter().zip(program.inputs()).map(|(v, width)| Planes::pack(v, *width, n)))
}

/// The inputs that a party brings.
pub fn brought(program: &Program, roles: &TwoParty, role: Role, n: usize, values: &[Vec<u8>]) -> Planes {
    packed(program, n, values).select(program.inputs(), |i| roles.owners[i] == role as usize)
}

/// The planes that a party must learn.
pub fn due(program: &Program, roles: &TwoParty, role: Role, n: usize, values: &[Vec<u8>]) -> Vec<u8> {
    let outputs = eval::eval(program, &packed(program, n, values)).expect("inputs fit");
    outputs.select(program.outputs(), |j| roles.learns[j][role as usize]).to_vec()
}

/// One run of an open party.
pub fn run(
    party: &mut YaoParty,
    channel: &mut Channel,
    program: &Program,
    roles: &TwoParty,
    n: usize,
    values: &[Vec<u8>],
) -> Result<Vec<u8>, GarbleError> {
    let inputs = brought(program, roles, party.role(), n, values);
    party.run(channel, program, roles, &inputs).map(|out| out.to_vec())
}

/// A program that runs one block again and again on the same registers; stages are made when
/// needed.
pub struct Repeat {
    pub block: Arc<Layered>,
    pub copies: usize,
    pub times: usize,
}

impl Repeat {
    /// `width` independent ANDs of two words, in `copies` copies, repeated `times` times.
    pub fn wide(width: usize, copies: usize, times: usize) -> Program {
        let mut builder = Builder::new();
        let (x, y) = (builder.input(width), builder.input(width));
        let products: Vec<Bit> = x.iter().zip(&y).map(|(x, y)| builder.and(*x, *y)).collect();
        let sums: Vec<Bit> = products.iter().zip(&y).map(|(p, y)| builder.xor(*p, *y)).collect();
        let block = Arc::new(Layered::new(&builder.finish(&[sums])));
        let n = 2 * width * copies;
        let stages = Arc::new(Repeat { block, copies, times });
        Program::new("wide again and again", vec![n], vec![n], n, (0..n as u32).collect(), stages)
    }
}

impl Stages for Repeat {
    fn len(&self) -> usize {
        self.times
    }
    fn shape(&self, _: usize) -> (Arc<Layered>, usize) {
        (self.block.clone(), self.copies)
    }
    fn stage(&self, _: usize) -> Stage {
        let (n, m) = (self.block.input_bits() as u32, self.block.output_slots().len() as u32);
        let copies = self.copies as u32;
        let writes = (0..copies).flat_map(|c| c * n..c * n + m).collect();
        Stage { block: self.block.clone(), copies: self.copies, reads: (0..copies * n).collect(), writes }
    }
}
