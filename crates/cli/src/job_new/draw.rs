//! `hushwire job new draw`.

use super::{JobLines, OutArgs, deliver};
use crate::{error::Error, files::RunFiles};
use clap::Args;

#[derive(Args)]
pub(super) struct DrawArgs {
    /// How many different numbers are drawn
    #[arg(long, value_name = "N")]
    numbers: u64,
    /// The least number of the range
    #[arg(long, value_name = "LEAST", default_value_t = 1)]
    from: u64,
    /// The greatest number of the range
    #[arg(long, value_name = "GREATEST")]
    to: u64,
    /// How many parties draw, 2 to 8
    #[arg(long, value_name = "N", default_value_t = 3)]
    parties: u8,
    #[command(flatten)]
    out: OutArgs,
}

pub(super) fn run(args: &DrawArgs) -> Result<(), Error> {
    let mut lines = JobLines::new("draw", "the numbers");
    for (key, value) in [
        ("parties", u64::from(args.parties)),
        ("numbers", args.numbers),
        ("from", args.from),
        ("to", args.to),
    ] {
        lines.put(&format!("{key} = {value}"));
    }
    deliver(lines, &args.out, RunFiles::new(args.out.replace.force))
}
