//! The job file of an intersection.

use crate::{
    JobError, Member, Protocol,
    protocol::{self, by_name},
    toml_file::{Section, Value},
};
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use hushwire_psi::{Method, Reveal};
use serde::{Deserialize, Serialize};

/// An intersection, as its file has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PsiJob {
    /// The protocol: [`Protocol::Yao`] or [`Protocol::Gmw`].
    pub protocol: Protocol,
    /// The garbling scheme, where the protocol garbles.
    #[serde(default, with = "by_name")]
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer.
    #[serde(default, with = "by_name")]
    pub ot: Option<Extension>,
    /// The part of the intersection that is learnt.
    #[serde(with = "by_name::one")]
    pub reveal: Reveal,
    /// The circuit that compares sets; `None` for that with fewer ANDs.
    #[serde(default, with = "by_name")]
    pub circuit: Option<Method>,
    /// The columns with the keys, of party 0's file and of party 1's.
    pub columns: [String; 2],
    /// The parties that learn it; empty for both, and party 0 alone where flags are revealed.
    pub to: Vec<Member>,
}

impl PsiJob {
    /// With everything else as it is by default, and one name for both columns.
    #[must_use]
    pub fn new(reveal: Reveal, column: &str) -> Self {
        let columns = [column, column].map(str::to_owned);
        let (scheme, ot, circuit, to) = (None, None, None, vec![]);
        Self { protocol: Protocol::Yao, scheme, ot, reveal, circuit, columns, to }
    }

    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, JobError> {
        let protocol = top.take("protocol").map(|v| v.parsed(str::parse, "write protocol = \"yao\""));
        let protocol = protocol.transpose()?.unwrap_or(Protocol::Yao);
        let scheme = top.take("scheme").map(|v| v.parsed(protocol::private_scheme, "write scheme = \"mi\""));
        let ot = top.take("ot").map(|v| v.parsed(protocol::extension, "write ot = \"softspoken4\""));
        let (scheme, ot) = (scheme.transpose()?, ot.transpose()?);
        let reveal = top.need("reveal", "reveal = \"size\"")?;
        let reveal = reveal.parsed(str::parse, "write \"size\", \"items\" or \"flags\"")?;
        let circuit = top.take("circuit");
        let remedy = "write \"scs\" or \"phasing\", or leave it out for the one with fewer ANDs";
        let circuit = circuit.map(|v| v.parsed(str::parse, remedy)).transpose()?;
        let columns = columns(&mut top)?;
        let to = top.take("to").map(recipients).transpose()?.unwrap_or_default();
        top.finish()?;
        Ok(Self { protocol, scheme, ot, reveal, circuit, columns, to })
    }
}

/// `column` for both, or `columns` with one for each.
fn columns(top: &mut Section<'_>) -> Result<[String; 2], JobError> {
    let named = |value: &Value<'_>| match value.text()?.trim() {
        "" => Err(value.error("is empty", "name the column with the keys")),
        name => Ok(name.to_owned()),
    };
    let Some(list) = top.take("columns") else {
        let column = named(&top.need("column", "column = \"email\", or columns = [\"email\", \"mail\"]")?)?;
        return Ok([column.clone(), column]);
    };
    if let Some(column) = top.take("column") {
        return Err(column.error("stands beside `columns`", "keep one of them"));
    }
    let wrong =
        list.error("does not name two columns", "write that of party 0's file, then that of party 1's");
    let names: Vec<_> = list.list()?.iter().map(named).collect::<Result<_, _>>()?;
    names.try_into().map_err(|_| wrong)
}

fn recipients(value: Value<'_>) -> Result<Vec<Member>, JobError> {
    let empty = value.error("is empty", "leave it out, or name who learns the result");
    let mut to = vec![];
    for item in value.list()? {
        let member: Member = item.parsed(str::parse, "write \"party0\" or \"party1\"")?;
        if to.contains(&member) {
            return Err(item.error(format!("names {member} twice"), "name each recipient once"));
        }
        to.push(member);
    }
    to.sort();
    if to.is_empty() { Err(empty) } else { Ok(to) }
}
