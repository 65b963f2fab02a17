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
    /// The name of the command and of the report.
    pub name: &'static str,
    /// One line of help.
    pub about: &'static str,
    /// The end of the help text, with an example.
    pub examples: &'static str,
    /// The options that the command takes in addition to [`BenchOptions`].
    pub takes: Takes,
    /// Options that only this command has.
    pub own: &'static [OwnOption],
    /// The rows of a run without options. `sets.rs` describes sets.
    pub core: &'static [&'static str],
    /// The rows of `--quick`.
    pub quick: &'static [&'static str],
    /// All cases, in the order of rows.
    pub cases: fn(&BenchAsked) -> Result<Vec<Case<'static>>>,
    /// The text below the table, such as a paper's table with our figures added.
    pub below: fn(&BenchAsked, &Report) -> String,
}

/// The options that a command takes in addition to [`BenchOptions`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Takes {
    /// No more options.
    Options,
    /// `--aes-backend`.
    Tier,
    /// `--aes-backend` and `--net`.
    Net,
}

/// An option that only one command has.
pub struct OwnOption {
    /// The long name.
    pub name: &'static str,
    /// The name of its value in the help; `None` for a flag.
    pub value: Option<&'static str>,
    /// One paragraph of help text.
    pub help: &'static str,
    /// Refuses invalid values, and says what is expected.
    pub check: Option<OptionCheck>,
}

/// Refuses an invalid value of an option, and says what is expected.
pub type OptionCheck = fn(&str) -> Result<(), String>;

/// The options of a run, as the command line gave them.
#[derive(Clone, Debug, Default)]
pub struct BenchAsked {
    /// The options that every benchmark has.
    pub options: BenchOptions,
    /// `--aes-backend`.
    pub backend: Option<Backend>,
    /// `--net`.
    pub net: Option<Shape>,
    /// The given own options, by name. A flag has an empty value.
    pub own: BTreeMap<&'static str, OsString>,
}

impl BenchAsked {
    /// The backend that the options name, or the best one.
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

    /// The networks to measure: the given one, or `nets`.
    pub(crate) fn nets(&self, nets: &[Shape]) -> Vec<Shape> {
        self.net.map_or(nets.to_vec(), |net| vec![net])
    }

    /// Every transport over every network of [`NETS`].
    pub(crate) fn links(&self) -> Vec<(Transport, Shape)> {
        self.links_over(&NETS)
    }

    /// Every transport over every one of these networks. Queues in memory are not a link that could
    /// be shaped.
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

/// Parses a modelled network: its name, or its rate and round trip.
///
/// # Errors
/// The text is neither.
pub fn network(text: &str) -> Result<Shape> {
    text.parse().map_err(|e| BenchError::Asked(format!("--net: {e}")))
}

impl Bench {
    /// A benchmark without rows, for others to complete.
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

    /// Measures the rows that the options select, prints them, and returns the report.
    ///
    /// # Errors
    /// As [`run`](crate::run). A case fails if the parties cannot connect, if one of them fails, or
    /// if a result is wrong.
    pub fn run(&self, asked: &BenchAsked) -> Result<Report> {
        crate::run_with(self.name, self.marked(asked)?, &asked.options, |report| (self.below)(asked, report))
    }

    /// All cases, each marked with the sets to which it belongs.
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
