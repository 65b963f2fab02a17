//! The members of a job as threads, over TCP with TLS on loopback.

use hushwire_circuit::{Planes, eval, planes};
use hushwire_kinds::{CircuitJob, CircuitPlan, CircuitSource, Outputs, Prepared};
use hushwire_session::{Fault, InputPlace, Member, MemberConfig, Outcome, OutputPlace, Peer, Stats, run};
use hushwire_testkit::noise;
use hushwire_wire::{Identity, Listener};
use std::{collections::BTreeMap, fs, path::PathBuf, sync::Arc, thread, time::Duration};

/// The first line of a job.
pub(crate) const REP3: &str = "protocol = \"rep3\"";

/// Runs a job with random inputs from files, and compares every recipient's file with the
/// evaluator's. Returns the measurements of all members.
pub(crate) fn check(
    protocol: &str,
    circuit: &str,
    instances: u64,
    inputs: &[&str],
    outputs: &[&[&str]],
    parameters: &str,
) -> Vec<Stats> {
    let world = World::under(protocol, circuit, instances, inputs, outputs, parameters);
    let program = CircuitSource::Builtin(circuit.into()).load().unwrap_or_else(|e| panic!("{e}")).program;
    let n = instances as usize;
    let mut values = vec![];
    for (i, width) in program.inputs().iter().enumerate() {
        let value = Planes::pack(&noise(i as u64, planes::value_bytes(*width) * n), *width, n).unpack();
        fs::write(world.at(&format!("in{i}")), &value).expect("a file");
        values.push(value);
    }
    let expected = eval::eval_values(&program, &values, n).expect("it evaluates");
    let ended = world.run(|world, member, config| {
        for i in world.plan.inputs_of(member) {
            config.inputs.insert(i.to_string(), InputPlace::File(world.at(&format!("in{i}"))));
        }
        for j in world.plan.outputs_of(member) {
            config
                .outputs
                .insert(j.to_string(), OutputPlace::File(world.at(&format!("out{j}-{}", member.key()))));
        }
    });
    let mut stats = vec![];
    for (member, outcome) in ended {
        let outcome = outcome.unwrap_or_else(|e| panic!("{member}: {e}"));
        assert!(outcome.learnt == Outputs::default());
        stats.push(outcome.stats);
    }
    for (j, expected) in expected.iter().enumerate() {
        for member in &world.plan.outputs[j].1 {
            let found = fs::read(world.at(&format!("out{j}-{}", member.key()))).expect("a file");
            assert!(found == *expected, "output {j} of {circuit} at {member}, {protocol}");
        }
    }
    // No other file was written.
    let files = fs::read_dir(world.at("")).expect("a directory").count();
    let outputs: usize = world.plan.outputs.iter().map(|(_, to)| to.len()).sum();
    assert_eq!(files, program.inputs().len() + outputs);
    stats
}

/// The result of one member's run.
pub(crate) type Ended = Result<Outcome<Outputs>, Fault>;

/// The member that an error blames, as errors name it.
pub(crate) fn blamed(error: &Fault) -> Option<String> {
    error.peer().map(ToString::to_string)
}

/// A job and a directory.
pub(crate) struct World {
    pub(crate) prepared: Prepared,
    pub(crate) plan: Arc<CircuitPlan>,
    dir: tempfile::TempDir,
}

impl World {
    pub(crate) fn new(
        circuit: &str,
        instances: u64,
        inputs: &[&str],
        outputs: &[&[&str]],
        parameters: &str,
    ) -> Self {
        Self::under(REP3, circuit, instances, inputs, outputs, parameters)
    }

    /// Like [`World::new`], with a protocol and its options.
    pub(crate) fn under(
        protocol: &str,
        circuit: &str,
        instances: u64,
        inputs: &[&str],
        outputs: &[&[&str]],
        parameters: &str,
    ) -> Self {
        let mut text = format!("{protocol}\ncircuit = \"{circuit}\"\ninstances = {instances}\n");
        inputs.iter().for_each(|from| text += &format!("[[inputs]]\nfrom = \"{from}\"\n"));
        outputs.iter().for_each(|to| text += &format!("[[outputs]]\nto = {to:?}\n"));
        text += &format!("[parameters]\n{parameters}\n");
        Self::of(&text, &[])
    }

    /// A job with this text, with files in its directory.
    pub(crate) fn of(text: &str, files: &[(&str, &str)]) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        for (name, content) in files {
            fs::write(dir.path().join(name), content).expect("a file");
        }
        let job = CircuitJob::parse(text, &dir.path().join("job.toml")).unwrap_or_else(|e| panic!("{e}"));
        let prepared = Prepared::new(&job).unwrap_or_else(|e| panic!("{e}"));
        Self { plan: prepared.plan.clone(), prepared, dir }
    }

    pub(crate) fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs every member on a thread, after `furnish` has set its values.
    pub(crate) fn run(&self, furnish: impl Fn(&Self, &Member, &mut MemberConfig)) -> BTreeMap<Member, Ended> {
        self.run_with(|_| self, furnish)
    }

    /// Like [`World::run`], but each member has the job of the world that `of` returns.
    pub(crate) fn run_with<'a>(
        &'a self,
        of: impl Fn(&Member) -> &'a Self,
        furnish: impl Fn(&Self, &Member, &mut MemberConfig),
    ) -> BTreeMap<Member, Ended> {
        let configs = self.configs(furnish);
        thread::scope(|scope| {
            let observer: hushwire_session::Observer = Arc::new(|_| {});
            let running: Vec<_> = configs
                .into_iter()
                .map(|(me, config)| {
                    let (prepared, observer) = (of(&me).prepared.clone(), observer.clone());
                    (me, scope.spawn(move || run(&prepared, config, &observer)))
                })
                .collect();
            running.into_iter().map(|(me, thread)| (me, thread.join().expect("no panic"))).collect()
        })
    }

    /// The configuration of every member, with a key, and a port for parties.
    pub(crate) fn configs(
        &self,
        furnish: impl Fn(&Self, &Member, &mut MemberConfig),
    ) -> Vec<(Member, MemberConfig)> {
        let configs = configs(&self.plan.members()).into_iter().map(|mut config| {
            let me = config.me.clone();
            furnish(self, &me, &mut config);
            (me, config)
        });
        configs.collect()
    }
}

/// The configurations of members: each has a key, and a port on loopback if it is a party.
pub(crate) fn configs(members: &[Member]) -> Vec<MemberConfig> {
    let (mut configs, mut peers) = (vec![], vec![]);
    for me in members {
        let identity = Identity::generate(&me.to_string()).expect("a key");
        let is_party = matches!(me, Member::Party(_));
        let listener = is_party.then(|| Arc::new(Listener::bind("127.0.0.1:0").expect("a port")));
        let address = listener.as_ref().map(|listener| listener.address());
        peers.push(Peer { member: me.clone(), address, pin: identity.pin() });
        let config = MemberConfig::new(me.clone(), identity, listener);
        let (connect_timeout, stall) = (Duration::from_secs(30), Duration::from_secs(300));
        configs.push(MemberConfig { connect_timeout, stall, ..config });
    }
    for config in &mut configs {
        config.peers = peers.iter().filter(|peer| peer.member != config.me).cloned().collect();
    }
    configs
}
