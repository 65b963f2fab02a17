//! Runs whose members are several processes each, and runs that are tried again.

use crate::{
    error::Error,
    log,
    member_cmd::{MemberReport, or_excuse, progress},
    run_args::MemberArgs,
    run_report::{self, OfMember},
    supervisor::run_shards,
};
use clap::Args;
use hushwire::job::{
    Fault, Hosts, Job, MOST_SHARDS, Member, MemberConfig, MemberFile, Observer, Words, excuse, size,
};
use hushwire::{LocalMember, LocalPlaces, ShardAddresses};
use hushwire_fault::{Code, Kind, code};
use hushwire_wire::TransportKind;
use std::{sync::Arc, thread, time::Duration};

/// LOCAL: the time between a failure and the next try, in which the other members notice the
/// failure.
const PAUSE: Duration = Duration::from_secs(3);

/// How often a run may begin again.
#[derive(Args)]
pub(crate) struct RetryArgs {
    /// Begin the run again, up to N times, where a process or the network failed: from the start,
    /// in new sessions; every member needs the option
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) retries: u32,
}

/// The number of shards of a local run.
#[derive(Args)]
pub(crate) struct ShardArgs {
    /// Processes of each member among which rows are spread, each with a session of its own
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u16).range(1..=MOST_SHARDS as i64))]
    pub(crate) shards: Option<u16>,
    #[command(flatten)]
    pub(crate) retry: RetryArgs,
}

/// Failures that another try may avoid: those of processes, hosts and links.
const PASSING: [Code; 17] = [
    code::PROCESS,
    code::CLOSED,
    code::DIED,
    code::TOLD_DIED,
    code::TOLD_ABSENT,
    code::TOLD_EXCUSE,
    code::TOLD_FAILED,
    code::BLAMED_UNHEARD,
    code::BLAMED_FAILED,
    code::STALLED,
    code::LINK,
    code::ABSENT,
    code::ABSENT_SEEN,
    code::UNREACHABLE,
    code::REFUSES_CONNECTIONS,
    code::DROPPED,
    code::SHARD,
];

fn passes(e: &Error) -> bool {
    let fault = e.fault();
    fault.kind() == Kind::Network && PASSING.contains(&fault.code())
}

impl RetryArgs {
    /// Repeats `run` until it ends well, fails with a lasting error, or has no tries left. Tries
    /// share no state.
    pub(crate) fn run<T>(&self, mut run: impl FnMut() -> Result<T, Error>) -> Result<T, Error> {
        for retry in 1..=self.retries {
            match run() {
                Err(e) if passes(&e) => {
                    log::warn(format_args!("{e}; retry {retry} of {} begins anew", self.retries));
                    thread::sleep(PAUSE);
                }
                ended => return ended,
            }
        }
        run()
    }
}

/// The shards of one member, all on this machine.
pub(crate) struct AllShards<'a> {
    pub(crate) file: &'a MemberFile,
    /// The hosts file of a party; a client needs none.
    pub(crate) hosts: Option<&'a Hosts>,
}

/// A shard that becomes a process, and the peers that it dials.
type LocalShard = (LocalMember, Vec<hushwire::job::Peer>);

impl AllShards<'_> {
    /// Returns the shards, each ready to become a process, and the places of the sockets between
    /// them.
    fn members(
        &self,
        args: &MemberArgs,
        shards: usize,
    ) -> Result<(Vec<LocalShard>, Option<LocalPlaces>), Error> {
        let places = match self.hosts {
            Some(_) => None,
            None => Some(LocalPlaces::of_shards(TransportKind::Unix)?),
        };
        let socket = |shard: usize| places.as_ref().map(|places| places.socket(&format!("x{shard}")));
        let terms = (args.run.as_str(), args.common.backend()?, args.common.replace.force);
        let one = |shard: usize| {
            let (listen, place) = match self.hosts {
                Some(hosts) => {
                    let host = &hosts.shards[shard];
                    let addresses = hosts.shards.iter().map(|host| host.address.clone()).collect();
                    let (bind, transport) = (host.bind.clone(), self.file.transport);
                    (Some(host.listen.clone()), ShardAddresses { shard, bind, addresses, transport })
                }
                None => {
                    let addresses: Vec<String> = (0..shards).filter_map(&socket).collect();
                    let (bind, transport) = (addresses[shard].clone(), TransportKind::Unix);
                    (None, ShardAddresses { shard, bind, addresses, transport })
                }
            };
            LocalMember::of_file(self.file, listen, place, terms)
        };
        let members = (0..shards).map(one).collect::<Result<_, Fault>>()?;
        Ok((members, places))
    }

    /// Runs all shards as processes. Returns the result of the first shard, with the measurements
    /// of all. `config` belongs to the first shard, and tells the other members of errors before
    /// the run.
    pub(crate) fn run<T: Words>(
        &self,
        args: &MemberArgs,
        job: &Job,
        task: &T,
        mut config: MemberConfig,
    ) -> Result<(), Error> {
        task.warnings().iter().for_each(log::warn);
        task.notes().iter().for_each(|note| log::note!("note: {note}"));
        config.files.set_force(args.common.replace.force);
        config.files.reads("the job file", &args.job);
        let (plan, shards) = (task.agreement(), usize::from(task.shards()));
        let silent: Observer = Arc::new(|_| {});
        if let Err(refused) = config.allows(&task.terms()) {
            return Err(excuse(&config, Some(&plan), &silent, refused).into());
        }
        if let Some(has) = self.hosts.map(|hosts| hosts.shards.len()).filter(|has| *has != shards) {
            let refused = hushwire::job::shards::as_many(shards, has).err();
            let refused = refused.unwrap_or_else(|| Fault::internal("counting shards", "they are as many"));
            return Err(excuse(&config, Some(&plan), &silent, refused).into());
        }
        let report = format!("{}, {}", config.me, plan.title);
        let json = args.common.json_file(&mut config.files, &report);
        let json = or_excuse(json, &config, Some(&plan))?;
        let (me, transport, tier) =
            (config.me.clone(), config.transport.to_string(), config.backend.tier().name());
        // Frees the ports, which the first shard needs.
        drop(config);
        let (members, _places) = self.members(args, shards)?;
        for listen in self.hosts.iter().flat_map(|hosts| &hosts.shards).map(|host| &host.listen) {
            log::note!("{me} listens on {listen}");
        }
        let others: Vec<_> = plan.members().into_iter().filter(|m| *m != me).map(|m| m.to_string()).collect();
        log::note!("{me} waits for {}, on {shards} shards", others.join(", "));
        let (extent, unit) = task.extent();
        let bar = progress(extent, unit);
        let phases = ["reading the files", "the run"];
        let ended = run_shards::<T::Learnt>(members, job, phases, &bar, |done, of| {
            bar.set_length(of);
            bar.set_position(done);
        })?;
        bar.finish_and_clear();
        let lost = || Error::internal("hearing shards", "none has ended");
        let first = ended.into_iter().next().ok_or_else(lost)?;
        let (learnt, stats) = (&first.outcome.learnt, &first.outcome.stats);
        log::note!(
            "{me} is done: {} in {:.2} s, {} sent by {shards} shards",
            task.work(learnt),
            stats.seconds,
            size::show(stats.bytes_sent)
        );
        let report = MemberReport {
            command: if matches!(me, Member::Party(_)) { "party" } else { "client" },
            version: env!("CARGO_PKG_VERSION"),
            of_kind: task.report(learnt),
            transport,
            aes_tier: tier,
            shards: Some(shards),
            measured: OfMember::new(me.key(), stats, first.peak_memory_bytes),
        };
        run_report::deliver(Some(task.printed(learnt)), &report, json, args.common.json.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_nothing_else() {
        let fault = |code| Error::Job(Fault::new(code, "a step", "a cause", "a remedy"));
        let tries = |retries: u32, code: Code| {
            let mut tries = 0;
            let ended = RetryArgs { retries }.run(|| {
                tries += 1;
                Err::<(), _>(fault(code))
            });
            assert!(ended.is_err());
            tries
        };
        assert_eq!(tries(0, code::SHARD), 1);
        assert_eq!(tries(1, code::PROCESS), 2);
        for for_good in [code::DEVIATED, code::MALFORMED, code::QUERY, code::BUG, code::ANOTHER_PLAN] {
            assert_eq!(tries(3, for_good), 1, "{for_good}");
        }
        assert_eq!(RetryArgs { retries: 2 }.run(|| Ok(7)).ok(), Some(7));
    }
}
