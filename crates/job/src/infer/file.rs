//! The job file of an inference.

use crate::{ComputationSource, JobError, Member, Protocol, toml_file::Section};
use serde::{Deserialize, Serialize};

/// An inference, as its job file has it.
///
/// ```toml
/// kind = "infer"
/// network = "squeezenet.hwc"
/// owner = "client:hospital"
/// client = "client:patient"
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InferJob {
    /// The protocol of the parties.
    pub protocol: Protocol,
    /// The network's computation, as `hushwire model plan` writes it.
    pub network: ComputationSource,
    /// The model's owner.
    pub owner: Member,
    /// The one who brings the input and learns the output.
    pub client: Member,
    /// Compute threads of each of three parties.
    pub threads: Option<u16>,
}

impl InferJob {
    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, JobError> {
        let protocol = top.take("protocol").map(|v| v.parsed(str::parse, "write protocol = \"rep3\""));
        let protocol = protocol.transpose()?.unwrap_or(Protocol::Rep3);
        let network = top.need("network", "network = \"squeezenet.hwc\"")?.path()?;
        let who = "write \"party0\" or \"client:hospital\"";
        let owner = top.need("owner", "owner = \"client:hospital\"")?.parsed(str::parse, who)?;
        let client = top.need("client", "client = \"client:patient\"")?.parsed(str::parse, who)?;
        let threads = top.take("threads").map(|v| v.number(1..=128)).transpose()?.map(|n| n as u16);
        top.finish()?;
        Ok(InferJob { protocol, network: ComputationSource::File(network), owner, client, threads })
    }
}
