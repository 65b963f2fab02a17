//! `hushwire plan-size`: the cost of a job on many machines, before any of them exists.
//!
//! Bytes, rounds and memory are those of the plan, which a run follows. A plan of more than
//! [`LARGEST`] rows is not made. Its figures are extrapolated from plans of fewer rows, and grow
//! like the cost of sorts. Processor time follows from the time measured for each byte sent, in
//! runs that `docs/measurements/shards.json` lists.

#[cfg(feature = "sql")]
mod query;

use crate::{error::Error, price, progress};
use clap::Args;
#[cfg(feature = "sql")]
use hushwire::job::QueryTask;
use hushwire::job::{ComputeJob, ComputeTask, Fault, Job, MOST_SHARDS, Protocol, QueryJob, ShardPrice, size};
use hushwire_fault::code;
use hushwire_wire::Shape;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::PathBuf, time::Duration};

pub(crate) const HELP: &str = "\
Examples:
  hushwire plan-size examples/jobs/salaries.toml --rows 1e9 --shards 16 --net 10gbit
                                      bytes, rounds, memory and time of each of 16 machines a party
  hushwire plan-size \"SELECT city, SUM(salary) FROM salaries JOIN people ON person = id GROUP BY city\" --table salaries=a.csv@alice --table people=b.csv@bob --key people=id --rows 1e8
                                      a query that no job has yet; files tell the columns alone
  hushwire plan-size job.toml --rows orders=1e8 --rows people=1e6 --shards 4 --machine-hour 0.40 --json -
                                      rows by table, with what it costs, for programs

Bytes, rounds and memory are computed from the plan; of more than 2^19 rows they follow from plans of fewer rows. Time is \
computed from rates that were measured: docs/measurements/shards.md says where, and what was measured and what computed.

Exit codes: 0 ok, 1 a bug, 2 wrong command line, 4 a file could not be used.";

/// LOCAL: the most rows of a table for which a plan is made; this takes seconds.
const LARGEST: u64 = 1 << 19;
/// LOCAL: the fewest rows of plans from which larger ones are extrapolated.
const FEWEST: u64 = 1 << 13;
/// LOCAL: the factor by which a shard may exceed its part, because rows go to shards by chance.
const SKEW: f64 = 1.05;

/// The measured rates of this release.
const CURVES: &str = include_str!("../curves/shards.json");

/// Say what a job takes on many machines: bytes, rounds, memory, time and money of each shard.
#[derive(Args)]
#[command(arg_required_else_help = true, after_help = HELP)]
pub(crate) struct PlanSizeArgs {
    /// A query: its text between quotes, a file of it that ends in .sql, or a job file; or the job
    /// file of a computation
    #[arg(value_name = "QUERY")]
    job: PathBuf,
    /// The rows of every table, or of one, as 1e9 or orders=1e8; of a computation, its lengths
    #[arg(long, value_name = "N or NAME=N", required = true)]
    rows: Vec<String>,
    /// Processes of each party, each on a machine of its own [default: the job's]
    #[arg(long, value_name = "S", value_parser = clap::value_parser!(u16).range(1..=MOST_SHARDS as i64))]
    shards: Option<u16>,
    /// The network of each machine: lan, wan, a rate as 10gbit, or rate and round trip as in
    /// 1Gbps,5ms
    #[arg(long, value_name = "NET", default_value = "lan")]
    net: String,
    /// Compute threads of each machine [default: the job's, else 2]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=128))]
    threads: Option<u16>,
    /// The price of a machine for an hour, in any currency
    #[arg(long, value_name = "PRICE")]
    machine_hour: Option<f64>,
    /// A file of rates that were measured on machines of yours, in the form of
    /// docs/measurements/shards.json
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Write a report for programs to FILE; - is standard output, in place of results
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    #[cfg(feature = "sql")]
    #[command(flatten)]
    query: query::QueryTextArgs,
}

/// Measured rates: only the fields that are used here.
#[derive(Deserialize)]
struct Curves {
    /// The machine on which they were measured.
    machine: String,
    /// Seconds of a thread for each GiB that a party sends, in the slowest of the measured runs.
    seconds_a_gib: f64,
}

/// The seconds of a run, by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Seconds {
    computing: f64,
    sending: f64,
    rounds: f64,
    whole: f64,
}

/// The report, the content of `plan-size --json`.
#[derive(Debug, Serialize)]
struct PlanSize {
    command: &'static str,
    version: &'static str,
    kind: &'static str,
    /// The number of rows of each table.
    lengths: BTreeMap<String, u64>,
    shards: u16,
    threads: u16,
    net: String,
    /// Whether a plan of this size was made.
    is_exact: bool,
    /// The rows of the largest table in each plan that was made.
    planned_rows: Vec<u64>,
    rounds: u64,
    /// The bytes from the busiest shard to other parties, at the party that sends most.
    bytes_to_parties: u64,
    bytes_to_shards: u64,
    exchanges_of_shards: u64,
    memory_bytes: u64,
    /// The operation that runs on one shard only, if there is one.
    on_one_shard: Option<String>,
    seconds: Seconds,
    machines: u16,
    machine_hours: f64,
    money: Option<f64>,
    measured_on: String,
    seconds_a_gib: f64,
}

/// Parses `1e9`, `1_000_000` or `1000`.
fn number(text: &str) -> Option<u64> {
    let text = text.trim().replace('_', "");
    if let Some((digits, zeros)) = text.split_once(['e', 'E']) {
        let (digits, zeros) = (digits.parse::<u64>().ok()?, zeros.parse::<u32>().ok()?);
        return 10u64.checked_pow(zeros)?.checked_mul(digits);
    }
    text.parse().ok()
}

/// Parses a network as in `--net`; a rate alone means hosts in one room.
fn net(text: &str) -> Result<Shape, Error> {
    let lower = text.to_ascii_lowercase();
    match lower.strip_suffix("gbit").and_then(|rate| rate.parse::<u64>().ok()).filter(|rate| *rate > 0) {
        Some(rate) => {
            let bits_per_second = rate.checked_mul(1_000_000_000);
            Ok(Shape { bits_per_second, ..Shape::lan() })
        }
        None => crate::options::net(text),
    }
}

/// A job whose number of rows can be set freely.
enum RowsJob {
    Query(QueryJob),
    Compute(Box<ComputeJob>, Vec<String>),
}

impl RowsJob {
    fn read(args: &PlanSizeArgs) -> Result<Self, Error> {
        #[cfg(feature = "sql")]
        if let Some(sql) = query::text_of(&args.job)? {
            return Ok(Self::Query(args.query.job(&sql, args.shards.unwrap_or(1))?));
        }
        #[cfg(feature = "sql")]
        if let Some(option) = args.query.first_given() {
            let what =
                format!("{option} goes with the text of a query, and {} is a job file", args.job.display());
            return Err(Error::Usage(format!("{what}, which has it; leave out {option}")));
        }
        match Job::read(&args.job)? {
            Job::Query(job) => Ok(Self::Query(job)),
            Job::Compute(job) if job.protocol == Protocol::Rep3 => {
                let names = job.computation.load()?.symbols().to_vec();
                Ok(Self::Compute(Box::new(job), names))
            }
            other => {
                let what = format!("{} is a job of kind {}", args.job.display(), other.kind());
                Err(Error::Usage(format!(
                    "{what}; name one of a query, or of a computation with protocol rep3"
                )))
            }
        }
    }

    /// Returns the names of the tables or symbols that have a number of rows.
    fn names(&self) -> Vec<String> {
        match self {
            Self::Query(job) => job.tables.iter().map(|table| table.name.clone()).collect(),
            Self::Compute(_, names) => names.clone(),
        }
    }

    fn shards(&self) -> u16 {
        match self {
            Self::Query(job) => job.shards,
            Self::Compute(job, _) => job.shards,
        }
    }

    /// Returns the price with these numbers of rows.
    fn price(
        &self,
        rows: &BTreeMap<String, u64>,
        (shards, threads): (u16, u16),
        delay: Duration,
    ) -> Result<ShardPrice, Fault> {
        match self {
            #[cfg(feature = "sql")]
            Self::Query(job) => {
                let mut job = QueryJob { shards, ..job.clone() };
                for table in &mut job.tables {
                    let (all, parts) = (rows[&table.name], table.parts.len().max(1) as u64);
                    for (i, part) in (0..).zip(&mut table.parts) {
                        part.rows = all / parts + u64::from(i < all % parts);
                    }
                }
                let task = QueryTask::new(&job)?;
                task.price_of_shards(threads, delay)
            }
            #[cfg(not(feature = "sql"))]
            Self::Query(_) => {
                Err(Fault::usage("planning", "this build has no SQL", "build it with the feature sql"))
            }
            Self::Compute(job, _) => {
                let mut job = ComputeJob { shards, ..(**job).clone() };
                job.symbols.extend(rows.iter().map(|(name, n)| (name.clone(), *n)));
                let task = ComputeTask::new(&job)?;
                let bound = task.bound(&job.symbols)?;
                let operation = |node| bound.computation.operation_of(node);
                bound.price_of_shards(task.chosen(), (threads, shards.into()), delay, &operation)
            }
        }
    }
}

/// Returns the rows of the plans from which larger ones are extrapolated. With fewer than 64 S²
/// rows, the first shard ranks all rows of a sort, so that such plans say nothing about larger
/// ones.
fn planned(shards: u16) -> [u64; 3] {
    let spread = (64 * u64::from(shards).pow(2)).next_power_of_two();
    let first = FEWEST.max(if shards > 1 { 2 * spread } else { 0 });
    let last = LARGEST.max(4 * first);
    [first, first << ((last / first).ilog2() / 2), last]
}

/// Extrapolates a quantity that grows as `c + a·n + b·n·log n` with the number of rows n. `points`
/// are the rows and values of three plans, and `rows` is the wanted number of rows.
fn by_rows(points: [(f64, f64); 3], rows: f64) -> f64 {
    let log = |rows: f64| rows * rows.log2();
    let [first, middle, last] = points;
    let slope = |(n, y): (f64, f64), (m, z): (f64, f64)| (z - y) / (m - n);
    let bend = |(n, _): (f64, f64), (m, _): (f64, f64)| (log(m) - log(n)) / (m - n);
    let (low, high) = (slope(first, middle), slope(middle, last));
    // A row does not become cheaper with more rows, so the coefficient is not negative.
    let b = ((high - low) / (bend(middle, last) - bend(first, middle))).max(0.0);
    let a = high - b * bend(middle, last);
    last.1 + a * (rows - last.0) + b * (log(rows) - log(last.0))
}

/// Extrapolates a quantity that grows only with the logarithm of the number of rows, likewise.
fn by_log([_, middle, last]: [(f64, f64); 3], rows: f64) -> f64 {
    let slope = (last.1 - middle.1) / (last.0 / middle.0).log2();
    last.1 + slope.max(0.0) * (rows / last.0).log2()
}

/// Extrapolates the price of more rows than a plan is made for.
fn extended(planned: [u64; 3], plans: &[ShardPrice; 3], rows: u64) -> ShardPrice {
    let of = |get: fn(&ShardPrice) -> u64, grows: fn([(f64, f64); 3], f64) -> f64| {
        let points = [0, 1, 2].map(|i| (planned[i] as f64, get(&plans[i]) as f64));
        grows(points, rows as f64).ceil() as u64
    };
    ShardPrice {
        rounds: of(|price| price.rounds, by_log),
        bytes_sent: of(|price| price.bytes_sent, by_rows),
        to_shards: of(|price| price.to_shards, by_rows),
        exchanges: of(|price| price.exchanges, by_log),
        memory: of(|price| price.memory, by_rows),
        whole: plans[2].whole.clone(),
    }
}

/// Computes the time from the bytes that are sent and the number of rounds.
fn seconds(price: &ShardPrice, (shards, threads): (u16, u16), net: Shape, a_gib: f64) -> Seconds {
    let skew = if shards > 1 { SKEW } else { 1.0 };
    let gib = f64::from(1 << 30);
    let computing = price.bytes_sent as f64 / gib * a_gib / f64::from(threads) * skew;
    let sent = (price.bytes_sent + price.to_shards) as f64 * skew;
    let sending = net.bits_per_second.map_or(0.0, |rate| 8.0 * sent / rate as f64);
    let rounds = (price.rounds + price.exchanges) as f64 * net.one_way().as_secs_f64();
    Seconds { computing, sending, rounds, whole: computing + sending + rounds }
}

fn sizes(args: &PlanSizeArgs) -> Result<PlanSize, Error> {
    let (job, net) = (RowsJob::read(args)?, net(&args.net)?);
    let mut rows = BTreeMap::new();
    let names = job.names();
    for text in &args.rows {
        let (name, n) = text.split_once('=').map_or((None, text.as_str()), |(name, n)| (Some(name), n));
        let wrong = || Error::Usage(format!("--rows {text}: write a number as 1000 or 1e9, or NAME=NUMBER"));
        let n = number(n).filter(|n| (1..=1 << 40).contains(n)).ok_or_else(wrong)?;
        match name {
            Some(name) if names.iter().any(|known| known == name) => drop(rows.insert(name.to_owned(), n)),
            Some(name) => {
                let known = names.join(", ");
                return Err(Error::Usage(format!("--rows {text}: the job has no {name}; it has {known}")));
            }
            None => names.iter().for_each(|name| {
                rows.entry(name.clone()).or_insert(n);
            }),
        }
    }
    if let Some(name) = names.iter().find(|name| !rows.contains_key(*name)) {
        return Err(Error::Usage(format!("--rows says nothing of {name}; add --rows {name}=NUMBER")));
    }
    let most = rows.values().copied().max().unwrap_or(1);
    let (shards, threads) = (args.shards.unwrap_or(job.shards()), args.threads.unwrap_or(2));
    let curves = match &args.curves {
        None => CURVES.to_owned(),
        Some(path) => crate::files::text(path)?,
    };
    let curves: Curves = serde_json::from_str(&curves).map_err(|e| {
        let path = args.curves.clone().unwrap_or_default();
        let remedy = "give it `machine` and `seconds_a_gib`, as docs/measurements/shards.json has them";
        Error::Job(Fault::file("use", &path, e.to_string(), remedy).coded(code::JOB_FILE))
    })?;
    // All tables shrink by the same factor.
    let of = |largest: u64| -> BTreeMap<String, u64> {
        let part = |n: u64| (u128::from(n) * u128::from(largest) / u128::from(most)).max(1) as u64;
        rows.iter().map(|(name, n)| (name.clone(), part(*n))).collect()
    };
    let at = |largest: u64| job.price(&of(largest), (shards, threads), net.one_way());
    let is_exact = most <= LARGEST;
    let (price, planned_rows) = if is_exact {
        (at(most)?, vec![most])
    } else {
        let planned = planned(shards);
        let [few, some, many] = planned;
        (extended(planned, &[at(few)?, at(some)?, at(many)?], most), planned.to_vec())
    };
    let seconds = seconds(&price, (shards, threads), net, curves.seconds_a_gib);
    let machines = 3 * shards;
    let machine_hours = f64::from(machines) * seconds.whole / 3600.0;
    Ok(PlanSize {
        command: "plan-size",
        version: env!("CARGO_PKG_VERSION"),
        kind: if matches!(job, RowsJob::Query(_)) { "query" } else { "compute" },
        lengths: rows,
        shards,
        threads,
        net: net.to_string(),
        is_exact,
        planned_rows,
        rounds: price.rounds,
        bytes_to_parties: price.bytes_sent,
        bytes_to_shards: price.to_shards,
        exchanges_of_shards: price.exchanges,
        memory_bytes: price.memory,
        on_one_shard: price.whole,
        seconds,
        machines,
        machine_hours,
        money: args.machine_hour.map(|price| price * machine_hours),
        measured_on: curves.machine,
        seconds_a_gib: curves.seconds_a_gib,
    })
}

impl PlanSize {
    fn for_people(&self) -> String {
        let rows: Vec<_> = self.lengths.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let how = match self.is_exact {
            true => "from its plan".to_owned(),
            false => {
                let rows: Vec<_> = self.planned_rows.iter().map(u64::to_string).collect();
                format!("from its plans for {} rows", rows.join(", "))
            }
        };
        let Seconds { computing, sending, rounds, whole } = self.seconds;
        let mut text = format!(
            "rows: {}\nmachines: {} ({} a party), {} threads each, network {}\n\
             computed {how}, for the busiest machine:\n  to other parties: {} in {} rounds\n  \
             to shards of its party: {} in {} exchanges\n  memory: {}\n\
             computed from {:.1} s of a thread a GiB, measured on {}:\n  \
             time: {} ({} computing, {} sending, {} of rounds)\n  machine-hours: {:.3}\n",
            rows.join(", "),
            self.machines,
            self.shards,
            self.threads,
            self.net,
            size::show(self.bytes_to_parties),
            self.rounds,
            size::show(self.bytes_to_shards),
            self.exchanges_of_shards,
            size::show(self.memory_bytes),
            self.seconds_a_gib,
            self.measured_on,
            progress::duration(whole),
            price::seconds(computing),
            price::seconds(sending),
            price::seconds(rounds),
            self.machine_hours,
        );
        if let Some(money) = self.money {
            text += &format!("  money: {money:.2}\n");
        }
        if let Some(operation) = self.on_one_shard.as_ref().filter(|_| self.shards > 1) {
            text += &format!("note: {operation} runs on the first shard of each party, in its memory\n");
        }
        text
    }
}

/// Runs the command.
pub(crate) fn run(args: &PlanSizeArgs) -> Result<(), Error> {
    let sizes = sizes(args)?;
    let mut files = crate::files::RunFiles::new(true);
    if args.job.exists() {
        files.reads("the query", &args.job);
    }
    let json = crate::files::json_file(&mut files, args.json.as_deref(), "plan-size", 0o644)?;
    crate::run_report::deliver(Some(sizes.for_people().into_bytes()), &sizes, json, args.json.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_networks_are_read() {
        for (text, n) in [("1000", Some(1000)), ("1e9", Some(1_000_000_000)), ("25e2", Some(2500))] {
            assert_eq!(number(text), n, "{text}");
        }
        assert_eq!(
            [number("1_000"), number("e9"), number("1e40"), number("x")],
            [Some(1000), None, None, None]
        );
        assert_eq!(net("10gbit").map(|net| net.to_string()).ok().as_deref(), Some("lan"));
        assert_eq!(net("1gbit").map(|net| net.bits_per_second).ok(), Some(Some(1_000_000_000)));
        assert!(net("0gbit").is_err() && net("fast").is_err());
    }

    /// A curve of rows times their logarithm is reproduced at any number of rows.
    #[test]
    fn curves_of_sorts_go_on() {
        let bytes = |rows: f64| 1e5 + rows * (30.0 + 9.0 * rows.log2());
        let rounds = |rows: f64| 200.0 + 70.0 * rows.log2();
        let plans = |of: &dyn Fn(f64) -> f64| planned(1).map(|rows| (rows as f64, of(rows as f64)));
        let all = 1e9;
        let told = by_rows(plans(&bytes), all);
        assert!((told / bytes(all) - 1.0).abs() < 1e-6, "{told}");
        let told = by_log(plans(&rounds), all);
        assert!((told / rounds(all) - 1.0).abs() < 1e-6, "{told}");
        assert_eq!(
            [1, 2, 16, 64].map(planned),
            [[13, 16, 19], [13, 16, 19], [15, 17, 19], [19, 20, 21]]
                .map(|bits| bits.map(|bits| 1u64 << bits))
        );
        // A constant part does not grow, and rows do not become cheaper with their number.
        let told = by_rows(plans(&|rows| 5.0 * rows + 1e6), all);
        assert!((told / (5.0 * all + 1e6) - 1.0).abs() < 1e-6, "{told}");
        let told = by_rows(plans(&|rows| rows * (90.0 - rows.log2())), all);
        assert!(told > 60.0 * all, "{told}");
    }

    #[test]
    fn time_is_of_what_is_sent() {
        let price =
            ShardPrice { rounds: 1000, bytes_sent: 1 << 30, to_shards: 1 << 29, ..ShardPrice::default() };
        let one = seconds(&price, (1, 2), Shape::lan(), 20.0);
        assert!((one.computing - 10.0).abs() < 1e-9 && (one.rounds - 0.1).abs() < 1e-9, "{one:?}");
        assert!((one.sending - 1.5 * 8.0 * f64::from(1 << 30) / 1e10).abs() < 1e-9, "{one:?}");
        let slow = seconds(&price, (1, 2), Shape::wan(), 20.0);
        assert!(slow.whole > one.whole);
    }
}
