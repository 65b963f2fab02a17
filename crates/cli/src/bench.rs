//! `hushwire bench`: measures, and draws what was measured.

use crate::{error::Error, files::NewFile};
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What to measure or draw.
#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Draw reports that `--json` wrote: bars, and lines over what was swept.
    #[command(after_help = "Example:\n  hushwire bench plot before.json after.json --out change.svg")]
    Plot(PlotArgs),
}

#[derive(Args)]
struct PlotArgs {
    /// Reports; several are drawn beside each other
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// The picture to write, as SVG
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs one.
pub(crate) fn run(args: &BenchArgs) -> Result<(), Error> {
    match &args.bench {
        Bench::Plot(plot) => {
            let picture = hushwire_bench::plot::svg(&plot.files).map_err(|e| Error::Bench(e.to_string()))?;
            NewFile::create(&plot.out, 0o666)?.write(picture.as_bytes())
        }
    }
}
