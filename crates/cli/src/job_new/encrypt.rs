//! `hushwire job new aes-ctr`.

use super::{JobLines, OutArgs, deliver, member, quoted};
use crate::{error::Error, files::RunFiles};
use clap::Args;

#[derive(Args)]
pub(super) struct EncryptArgs {
    /// The client whose file it is
    #[arg(long, value_name = "CLIENT")]
    owner: String,
    /// Decrypt the file, under the key that an earlier job kept
    #[arg(long)]
    decrypt: bool,
    #[command(flatten)]
    out: OutArgs,
}

pub(super) fn run(args: &EncryptArgs) -> Result<(), Error> {
    let mut lines = JobLines::new("aes-ctr", "the file");
    lines.put(&format!("owner = {}", quoted(&member("--owner", &args.owner)?.key())));
    if args.decrypt {
        lines.put("direction = \"decrypt\"");
    }
    lines.put("# Each party keeps its share of the key. Without two of the shares, the file is lost.");
    lines.put("key = \"kept\"");
    deliver(lines, &args.out, RunFiles::new(args.out.replace.force))
}
