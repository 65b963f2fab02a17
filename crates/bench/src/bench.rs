//! A benchmark: its name and help, options, sets of rows, cases, and the text below its table.

use std::{collections::BTreeMap, ffi::OsString, path::Path};

use hushwire_aes::{Backend, Tier};
use hushwire_wire::Shape;

use crate::{
    BenchError, BenchOptions, Case, Report, Result,
    net::{NETS, Transport},
};

/// A benchmark, one command of `hushwire bench`. `docs/dev/new-benchmark.md` shows how to add
/// one.
pub struct Bench {
    /// The command's name, which is the report's too.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The end of the help, with an example.
    pub examples: &'static str,
    /// The options beside [`BenchOptions`] that the command takes.
    pub takes: Takes,
    /// Options of this command alone.
    pub own: &'static [OwnOption],
    /// The rows of a run without options, as `sets.rs` describes sets.
    pub core: &'static [&'static str],
    /// The rows of `--quick`.
    pub quick: &'static [&'static str],
    /// All cases, in the order of rows.
    pub cases: fn(&BenchAsked) -> Result<Vec<Case<'static>>>,
    /// The text below the table, such as a paper's table with our figures beside it.
    pub below: fn(&BenchAsked, &Report) -> String,
}

/// The options that a command takes beside [`BenchOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// No more options.
    Options,
    /// `--aes-backend`.
    Tier,
    /// `--aes-backend` and `--net`.
    Net,
}

/// An option of one command alone.
pub struct OwnOption {
    /// The long name.
    pub name: &'static str,
    /// The name of its value in the help; none for a flag.
    pub value: Option<&'static str>,
    /// One paragraph of help.
    pub help: &'static str,
    /// Refuses values, and says what is expected.
    pub check: Option<OptionCheck>,
}

/// Refuses a value of an option, and says what is expected.
pub type OptionCheck = fn(&str) -> Result<(), String>;

/// The options of a run, as the command line gave them.
#[derive(Clone, Debug, Default)]
pub struct BenchAsked {
    /// The options that every bench has.
    pub options: BenchOptions,
    /// `--aes-backend`.
    pub backend: Option<Backend>,
    /// `--net`.
    pub net: Option<Shape>,
    /// The own options that were given, by name; a flag has an empty value.
    pub own: BTreeMap<&'static str, OsString>,
}

impl BenchAsked {
    /// The backend that was asked for, or the best one.
    pub(crate) fn backend(&self) -> Backend {
        self.backend.unwrap_or_default()
    }

    /// The backends to measure, slowest first.
    pub(crate) fn tiers(&self) -> Vec<Backend> {
        match self.backend {
            Some(backend) => vec![backend],
            None => Tier::ALL.into_iter().filter_map(|tier| Backend::forced(tier).ok()).collect(),
        }
    }

    /// The numbers of threads to measure.
    pub(crate) fn threads(&self) -> Vec<usize> {
        self.options.threads.map_or(vec![1, 2], |threads| vec![threads])
    }

    /// The networks to measure: the given one, or these.
    pub(crate) fn nets(&self, nets: &[Shape]) -> Vec<Shape> {
        self.net.map_or(nets.to_vec(), |net| vec![net])
    }

    /// Every transport over every network of [`NETS`].
    pub(crate) fn links(&self) -> Vec<(Transport, Shape)> {
        self.links_over(&NETS)
    }

    /// Every transport over every one of these networks. Queues in memory are no link that could be
    /// shaped.
    pub(crate) fn links_over(&self, nets: &[Shape]) -> Vec<(Transport, Shape)> {
        let nets = self.nets(nets);
        let links = Transport::ALL.into_iter().flat_map(|t| nets.iter().map(move |net| (t, *net)));
        links.filter(|(t, net)| *t != Transport::Inproc || *net == Shape::NONE).collect()
    }

    /// The value of an own option.
    pub(crate) fn own(&self, name: &str) -> Option<&Path> {
        self.own.get(name).map(Path::new)
    }
}

/// A modelled network, by its name or its rate and round trip.
///
/// # Errors
/// The text is neither.
pub fn network(text: &str) -> Result<Shape> {
    text.parse().map_err(|e| BenchError::Asked(format!("--net: {e}")))
}

impl Bench {
    /// A bench without rows, which others complete.
    pub(crate) const EMPTY: Self = Self {
        name: "",
        about: "",
        examples: "",
        takes: Takes::Net,
        own: &[],
        core: &[],
        quick: &[],
        cases: |_| Ok(vec![]),
        below: |_, _| String::new(),
    };

    /// Measures what was asked for, prints it, and gives the report.
    ///
    /// # Errors
    /// As [`run`](crate::run); a case fails where the parties cannot connect, where one of them
    /// fails, and where a result is wrong.
    pub fn run(&self, asked: &BenchAsked) -> Result<Report> {
        crate::run_with(self.name, self.marked(asked)?, &asked.options, |report| (self.below)(asked, report))
    }

    /// All cases, each in the sets that it belongs to.
    pub(crate) fn marked(&self, asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
        let mut cases = (self.cases)(asked)?;
        let [core, quick] = [self.core, self.quick].map(|set| crate::sets::RowSet::new(set, asked));
        for case in &mut cases {
            case.core |= core.holds(case);
            case.quick |= quick.holds(case);
        }
        Ok(cases)
    }
}
