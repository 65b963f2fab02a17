//! The result and the cost of `local psi`.

use super::PsiArgs;
use crate::{
    control::{PsiFound, Stats},
    error::Error,
    run_report::OfMember,
    size,
};
use hushwire_aes::Backend;
use serde::Serialize;

/// The result as a file: a number, the items, or A's rows with a flag each.
pub(super) fn result(found: &[PsiFound]) -> Result<Vec<u8>, Error> {
    let [a, b] = found else { return Err(differ()) };
    let sorted = |items: &Option<Vec<String>>| {
        let mut items = items.clone();
        if let Some(items) = &mut items {
            items.sort_unstable();
        }
        items
    };
    if a.flags.is_none() && (a.size != b.size || sorted(&a.items) != sorted(&b.items)) {
        return Err(differ());
    }
    hex::decode(&a.text).map_err(|_| differ())
}

fn differ() -> Error {
    Error::Internal { doing: "comparing results", cause: "the parties found different things".into() }
}

/// The report; its fields are the JSON's.
#[derive(Serialize)]
pub(super) struct Report {
    command: &'static str,
    version: &'static str,
    reveal: String,
    circuit: String,
    protocol: String,
    scheme: Option<String>,
    /// Different keys of A and of B.
    keys: [usize; 2],
    /// The number of keys in both; with flags, of A's rows.
    found: u64,
    /// With items: which.
    #[serde(skip_serializing_if = "Option::is_none")]
    items: Option<Vec<String>>,
    /// With flags: of each of A's rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    flags: Option<Vec<bool>>,
    value_bits: usize,
    ands: u64,
    /// The whole command, until the result was there.
    seconds: f64,
    transport: String,
    aes_tier: &'static str,
    parties: Vec<OfMember>,
}

impl Report {
    pub(super) fn new(
        args: &PsiArgs,
        backend: Backend,
        found: &[PsiFound],
        stats: &[Stats],
        seconds: f64,
    ) -> Self {
        let own = &found[0];
        let flags = own.flags.clone();
        let ones = flags.as_ref().map(|f| f.iter().filter(|f| **f).count() as u64);
        let count = own.size.or(own.items.as_ref().map(|i| i.len() as u64)).or(ones);
        let parties = ["a", "b"].iter().zip(stats).map(|(member, stats)| OfMember {
            member: (*member).to_owned(),
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            rounds: stats.rounds,
            peak_memory_bytes: stats.peak_memory_bytes,
            seconds: stats.seconds,
        });
        Report {
            command: "local psi",
            version: env!("CARGO_PKG_VERSION"),
            reveal: args.reveal.clone(),
            circuit: own.circuit.clone(),
            protocol: args.protocol.clone(),
            scheme: (args.protocol == "yao").then(|| args.scheme.clone()),
            keys: own.sizes,
            found: count.unwrap_or_default(),
            items: own.items.clone(),
            flags,
            value_bits: own.width,
            ands: own.ands,
            seconds,
            transport: args.transport.clone(),
            aes_tier: backend.tier().name(),
            parties: parties.collect(),
        }
    }

    /// A few lines.
    pub(super) fn for_people(&self) -> String {
        let what = match self.reveal.as_str() {
            "flags" => format!("{} of party A's rows have a key that is in both files", self.found),
            _ if self.found == 1 => "1 key is in both files".to_owned(),
            _ => format!("{} keys are in both files", self.found),
        };
        let with = self.scheme.as_ref().map_or_else(String::new, |scheme| format!(" ({scheme})"));
        let sent: Vec<_> = self.parties.iter().map(|p| size::show(p.bytes_sent)).collect();
        let memory = self.parties.iter().filter_map(|p| p.peak_memory_bytes).max();
        format!(
            "{what}: {} different keys at A, {} at B\n\
             computed with {}{with} and the circuit {}: {} ANDs on values of {} bits, {:.2} s\n\
             sent: {} by A, {} by B, over {} in {} rounds; memory a process: {}",
            self.keys[0],
            self.keys[1],
            self.protocol,
            self.circuit,
            self.ands,
            self.value_bits,
            self.seconds,
            sent[0],
            sent[1],
            self.transport,
            self.parties.iter().map(|p| p.rounds).max().unwrap_or_default(),
            memory.map_or("unknown".to_owned(), size::show)
        )
    }
}
