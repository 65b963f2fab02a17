//! Runs all parties of a phase on one thread, and checks the relations between their shares.

use crate::{AuthError, Form, Garbled, Need, Roles, Script, Setup, Stock, Task, shares::Shares};
use hushwire_aes::Backend;
use hushwire_block::{Block, registry};
use hushwire_circuit::{Planes, Program, eval::eval};
use hushwire_machine::drive::{Lockstep, Wiring};
use hushwire_ot::{Context, Protocol, Sid};
use hushwire_prg::{Prg, Seed};

pub(crate) fn context(world: u8) -> Context {
    Context { sid: Sid([world; 32]), backend: Backend::best() }
}

pub(crate) fn seed(world: u8, party: usize) -> Seed {
    Seed::from_bytes([world ^ 0x5a; 16]).derive("party", &[party as u8])
}

/// Runs the scripts of all parties to their end.
pub(crate) fn run<T>(mut scripts: Vec<Script<'_, T>>) -> Result<Vec<T>, AuthError> {
    Lockstep::wired(Wiring::Mesh).run(&mut scripts)?;
    Ok(scripts.into_iter().map(Script::finish).collect())
}

/// The number of threads of party `me`; some parties have several in every test.
pub(crate) fn threads(me: usize) -> usize {
    1 + me % 2
}

pub(crate) fn setups(world: u8, n: usize) -> Vec<Setup> {
    let open =
        |me| Setup::open(&context(world), [me, n], threads(me), Protocol::SoftSpoken4, &seed(world, me));
    run((0..n).map(open).collect()).expect("honest parties")
}

pub(crate) fn stocks(world: u8, n: usize, need: Need) -> Vec<Stock> {
    run(setups(world, n).into_iter().map(|setup| setup.preprocess(need)).collect()).expect("honest parties")
}

/// The values of shared bits. Every MAC must fit its key.
pub(crate) fn values(deltas: &[Block], shares: &[&Shares]) -> Vec<bool> {
    let n = deltas.len();
    let mut values = vec![false; shares[0].len()];
    for i in 0..n {
        for (k, value) in values.iter_mut().enumerate() {
            *value ^= shares[i].bit(k);
        }
        for j in (0..n).filter(|j| *j != i) {
            let (mine, theirs) = (j - usize::from(j > i), i - usize::from(i > j));
            for k in 0..values.len() {
                let (mac, key) = (shares[i].macs[mine][k], shares[j].keys[theirs][k]);
                assert_eq!(mac, key ^ deltas[j].and_bit(shares[i].bit(k)), "share {k} of {i} at {j}");
                assert!(!key.lsb() && mac.lsb() == shares[i].bit(k), "bit 0 of MACs");
            }
        }
    }
    values
}

/// A run among `n` parties with random inputs and roles.
pub(crate) struct World {
    pub(crate) n: usize,
    pub(crate) task: Task,
    /// The inputs of each party.
    pub(crate) inputs: Vec<Planes>,
    pub(crate) outputs: Vec<Planes>,
}

impl World {
    /// `program` on random inputs from random parties, with outputs to random ones.
    pub(crate) fn new(prg: &mut Prg, program: &Program, n: usize, instances: usize, form: Form) -> World {
        let mut below = |n: usize| (prg.next_u64() % n as u64) as usize;
        let owners: Vec<usize> = program.inputs().iter().map(|_| below(n)).collect();
        let learns: Vec<Vec<bool>> =
            program.outputs().iter().map(|_| (0..n).map(|_| below(2) == 1).collect()).collect();
        let mut all = Planes::zeros(program.input_bits(), instances);
        prg.fill(&mut all);
        let all = all.trimmed();
        let out = eval(program, &all).expect("a plane for every bit");
        let inputs = (0..n).map(|p| all.select(program.inputs(), |i| owners[i] == p)).collect();
        let outputs = (0..n).map(|p| out.select(program.outputs(), |j| learns[j][p])).collect();
        let task = Task::new(program, Roles::new(program, n, owners, learns), instances, form);
        World { n, task, inputs, outputs }
    }

    /// The same program on the same inputs with other roles.
    pub(crate) fn with_roles(self, program: &Program, owners: Vec<usize>, learns: Vec<Vec<bool>>) -> World {
        let World { n, task, inputs, .. } = self;
        let instances = task.instances;
        // The inputs, in the circuit's order.
        let mut rest: Vec<_> = inputs
            .iter()
            .enumerate()
            .map(|(p, planes)| {
                let widths: Vec<usize> = (0..program.inputs().len())
                    .filter(|i| task.roles.owners[*i] == p)
                    .map(|i| program.inputs()[i])
                    .collect();
                planes.split(&widths).collect::<Vec<_>>().into_iter()
            })
            .collect();
        let all = task.roles.owners.iter().map(|p| rest[*p].next().expect("an input of each"));
        let all = Planes::join(instances, all);
        let out = eval(program, &all).expect("a plane for every bit");
        let inputs = (0..n).map(|p| all.select(program.inputs(), |i| owners[i] == p)).collect();
        let outputs = (0..n).map(|p| out.select(program.outputs(), |j| learns[j][p])).collect();
        let task = Task::new(program, Roles::new(program, n, owners, learns), instances, task.form);
        World { n, task, inputs, outputs }
    }

    /// Runs all phases, and returns every party's outputs.
    pub(crate) fn run(&self, name: u8) -> Result<Vec<Planes>, AuthError> {
        let _watch = registry::watch();
        let mut stocks = stocks(name, self.n, self.task.need());
        let garbled = run(stocks.iter_mut().map(|stock| stock.garble(&self.task)).collect())?;
        self.evaluate(garbled)
    }

    pub(crate) fn evaluate(&self, garbled: Vec<Garbled>) -> Result<Vec<Planes>, AuthError> {
        run(garbled.into_iter().zip(&self.inputs).map(|(g, inputs)| g.evaluate(inputs)).collect())
    }
}
