//! `hushwire job new infer`.

use super::{JobLines, OutArgs, beside, deliver, member, protocol, quoted};
use crate::{
    error::Error,
    files::{RunFiles, is_stream},
};
use clap::Args;
use hushwire::job::Protocol;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct InferArgs {
    /// The network's computation, as `hushwire model plan` writes it (.hwc)
    #[arg(value_name = "NETWORK.hwc")]
    network: PathBuf,
    /// Who brings the model: a client, or with --protocol two party0 or party1
    #[arg(long, value_name = "MEMBER")]
    owner: String,
    /// Who brings the input, and learns the output
    #[arg(long, value_name = "MEMBER")]
    client: String,
    /// Who learns the output, if that is not the client
    #[arg(long, value_name = "MEMBER")]
    to: Option<String>,
    /// The protocol: rep3 (three parties beside owner and client) or two (owner and client compute)
    #[arg(long, value_name = "NAME", default_value = "rep3", value_parser = protocol)]
    protocol: Protocol,
    #[command(flatten)]
    out: OutArgs,
}

pub(super) fn run(args: &InferArgs) -> Result<(), Error> {
    if is_stream(&args.network) {
        return Err(Error::Usage("NETWORK.hwc: members read the file of the network; name one".into()));
    }
    let mut run = RunFiles::new(args.out.replace.force);
    run.reads("the network", &args.network);
    let mut lines = JobLines::new("infer", "the model and its input");
    lines.put(&format!("protocol = {}", quoted(&args.protocol.to_string())));
    lines.put(&format!("network = {}", quoted(&beside(&args.out, &args.network)?)));
    let who = [("owner", Some(&args.owner)), ("client", Some(&args.client)), ("to", args.to.as_ref())];
    for (key, name) in who {
        if let Some(name) = name {
            lines.put(&format!("{key} = {}", quoted(&member(&format!("--{key}"), name)?.key())));
        }
    }
    deliver(lines, &args.out, run)
}
