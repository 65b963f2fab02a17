//! The job file of an inference.

use crate::{ComputationSource, RunValues, kind::JobKind};
use hushwire_ot::Protocol as Extension;
use hushwire_session::{
    Fault, Linear, Link, Member, Protocol,
    protocol::{self, by_name},
    toml_file::{Section, TomlValue},
};
use serde::{Deserialize, Serialize};

/// The job file of an inference.
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
    /// The extension of oblivious transfer of two parties. `None` takes the quickest one for their
    /// link.
    #[serde(default, with = "by_name")]
    pub ot: Option<Extension>,
    /// The link between two parties, if it determines the extension.
    #[serde(default, with = "by_name")]
    pub link: Option<Link>,
    /// The method of two parties' linear layers; the default is encryption.
    #[serde(default)]
    pub linear: Option<Linear>,
    /// Whether two parties make OTs before they need them. `None` leaves it to them: they do so if
    /// they are far from each other, or have spare cores.
    #[serde(default)]
    pub ahead: Option<bool>,
    /// The network's computation, as `hushwire model plan` writes it.
    pub network: ComputationSource,
    /// The bits of the network's numbers. `None` takes the network's own, which
    /// `hushwire model plan` chose for the model.
    #[serde(default)]
    pub bits: Option<u8>,
    /// The model's owner.
    pub owner: Member,
    /// The member that brings the input. It also learns the output, unless `to` is set.
    pub client: Member,
    /// The member that learns the output, if it is not the client.
    #[serde(default)]
    pub to: Option<Member>,
    /// The number of compute threads of each of three parties.
    pub threads: Option<u16>,
    /// The values of a run: the data sets that it uses.
    #[serde(default)]
    pub values: RunValues,
}

/// Reads the bits of numbers, or `"auto"`.
fn bits(value: &TomlValue<'_>) -> Result<Option<u8>, Fault> {
    if value.text().is_ok_and(|text| text == "auto") {
        return Ok(None);
    }
    let number = value.number(16..=64);
    number
        .map(|n| Some(n as u8))
        .map_err(|_| value.error("`bits` is no number from 16 to 64", "write bits = \"auto\", or bits = 32"))
}

impl JobKind for InferJob {
    const NAME: &'static str = "infer";
    const KEY: Option<&'static str> = Some("network");
    const WHOSE: &'static str = "an inference's";

    fn with(self, values: &RunValues) -> Result<Self, Fault> {
        let data = [&self.owner, &self.client].into_iter().filter_map(|member| match member {
            Member::Data(name) => Some(name.as_str()),
            _ => None,
        });
        values.known(&vec![], &data.collect::<Vec<_>>())?;
        Ok(Self { values: values.clone(), ..self })
    }

    fn command(_: &str) -> String {
        "`hushwire local infer --model MODEL.onnx --input INPUT.npy`".to_owned()
    }

    fn lines_for(&self, me: &Member) -> Vec<String> {
        let lines = if self.owner == *me {
            "\n[inputs]\nmodel = { file = \"model.onnx\" }"
        } else if self.client == *me {
            "\n[inputs]\ninput = { file = \"input.npy\" }\n\n[outputs]\noutput = { file = \"output.npy\" }"
        } else {
            return vec![];
        };
        vec![lines.to_owned()]
    }

    fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let protocol = top.parsed("protocol", str::parse, "write protocol = \"rep3\"")?;
        let protocol = protocol.unwrap_or(Protocol::Rep3);
        let ot = top.parsed("ot", protocol::extension_or_auto, "write ot = \"auto\"")?;
        let link = top.parsed("link", str::parse, "write link = \"lan\"")?;
        let linear = top.parsed("linear", str::parse, "write linear = \"he\" or \"ot\"")?;
        let ahead = top.parsed("ahead", protocol::ahead_or_auto, "write ahead = \"auto\"")?;
        let ot = ot.flatten();
        let ahead = ahead.flatten();
        let network = top.need("network", "network = \"squeezenet.hwc\"")?.path()?;
        let who = "write \"party0\" or \"client:hospital\"";
        let owner = top.need("owner", "owner = \"client:hospital\"")?.parsed(str::parse, who)?;
        let client = top.need("client", "client = \"client:patient\"")?.parsed(str::parse, who)?;
        let to = top.parsed("to", str::parse, "write \"party0\" or \"recipient:anna\"")?;
        let bits = top.take("bits").map(|v| bits(&v)).transpose()?.flatten();
        let threads = top.number("threads", 1..=128)?.map(|n| n as u16);
        top.finish()?;
        Ok(InferJob {
            protocol,
            ot,
            link,
            linear,
            ahead,
            network: ComputationSource::File(network),
            bits,
            owner,
            client,
            to,
            threads,
            values: RunValues::default(),
        })
    }
}
