//! Lengths that the job does not bind: owners say what their inputs have, and all members come to the same.
//!
//! ```text
//! client → party   what it knows            8 bytes for each symbol, least significant first; all bits set where it knows none
//! party ↔ party    what it knows and heard
//! party → client   what all came to
//! ```
//! Every party hears what every other heard, so that a client who told two of them different numbers ends the run.

use crate::{JobError, Kind, Member, agreement::Agreement, member_config::explain};
use hushwire_wire::Channel;
use std::collections::BTreeMap;

pub(super) const STEP: &str = "agreeing on lengths";

/// Symbols in the computation's order, the number of each, and who said it.
pub(super) struct Lengths {
    symbols: Vec<String>,
    found: Vec<Option<(u64, Member)>>,
}

impl Lengths {
    /// The lengths that `me` knows of these symbols.
    pub(super) fn new(symbols: Vec<String>, known: &BTreeMap<String, u64>, me: &Member) -> Self {
        let found = symbols.iter().map(|symbol| Some((*known.get(symbol)?, me.clone()))).collect();
        Self { symbols, found }
    }

    /// Whether there is nothing to agree on.
    pub(super) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    fn message(&self) -> Vec<u8> {
        let numbers = self.found.iter().map(|found| found.as_ref().map_or(u64::MAX, |(n, _)| *n));
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// Takes in what another member knows.
    fn hear(&mut self, from: &Member, message: &[u8]) -> Result<(), JobError> {
        for ((symbol, found), bytes) in self.symbols.iter().zip(&mut self.found).zip(message.chunks_exact(8))
        {
            let n = bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
            match found {
                _ if n == u64::MAX => {}
                None => *found = Some((n, from.clone())),
                Some((own, _)) if *own == n => {}
                Some((own, who)) => {
                    let cause = format!("{symbol} is {own} at {who} and {n} at {from}");
                    return Err(JobError::usage(STEP, cause, "bring as many rows of both"));
                }
            }
        }
        Ok(())
    }

    /// Everything has a number.
    fn finish(&self) -> Result<BTreeMap<String, u64>, JobError> {
        let all = self.symbols.iter().zip(&self.found).map(|(symbol, found)| match found {
            Some((n, _)) => Ok((symbol.clone(), *n)),
            None => {
                let cause = format!("no input says how long {symbol} is");
                Err(JobError::usage(STEP, cause, format!("write {symbol} = … under [symbols]")))
            }
        });
        all.collect()
    }

    /// A party's side: `clients` first, then the links to the other parties, each of which leads to one of them and from one.
    pub(super) fn at_party<'a>(
        mut self,
        agreement: &Agreement,
        parties: &mut [&mut Channel],
        clients: impl Iterator<Item = &'a mut (String, Channel)>,
    ) -> Result<BTreeMap<String, u64>, JobError> {
        let net = |e| explain(agreement, e).during(STEP);
        let (mut message, mut clients): (_, Vec<_>) = (self.message(), clients.collect());
        for (name, channel) in &mut clients {
            channel.recv(STEP, &mut message).map_err(net)?;
            self.hear(&Member::Client(name.clone()), &message)?;
        }
        let own = self.message();
        for channel in parties {
            channel.exchange(STEP, &own, &mut message).map_err(net)?;
            self.hear(&of(channel, agreement), &message)?;
        }
        let all = self.finish()?;
        let came = self.message();
        for (_, channel) in &mut clients {
            channel.send(STEP, &came).map_err(net)?;
        }
        Ok(all)
    }

    /// A client's side: a link to each party, and one from each.
    pub(super) fn at_client(
        mut self,
        agreement: &Agreement,
        to: &mut [Channel],
        from: &mut [Channel],
    ) -> Result<BTreeMap<String, u64>, JobError> {
        let net = |e| explain(agreement, e).during(STEP);
        let (own, mut first) = (self.message(), None);
        for channel in to {
            channel.send(STEP, &own).map_err(net)?;
        }
        for channel in from {
            let mut message = own.clone();
            channel.recv(STEP, &mut message).map_err(net)?;
            self.hear(&of(channel, agreement), &message)?;
            if *first.get_or_insert_with(|| message.clone()) != message {
                return Err(differ(&of(channel, agreement)));
            }
        }
        self.finish()
    }
}

/// The member from whom a channel comes.
fn of(channel: &Channel, agreement: &Agreement) -> Member {
    let from = channel.from();
    let is = |member: &Member| member.id(&agreement.clients) == from;
    agreement.members().into_iter().find(is).unwrap_or(Member::Party(0))
}

fn differ(other: &Member) -> JobError {
    let cause = format!("{other} came to other lengths than the parties before it");
    JobError::new(Kind::Network, STEP, cause, "run the same release everywhere, unchanged")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(known: &[(&str, u64)]) -> Lengths {
        let known = known.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        Lengths::new(vec!["n".into(), "m".into()], &known, &Member::Party(0))
    }

    #[test]
    fn what_each_knows_comes_together() {
        let (mut a, b) = (lengths(&[("n", 3)]), lengths(&[("m", 0), ("n", 3)]));
        a.hear(&Member::Party(1), &b.message()).unwrap_or_else(|e| panic!("{e}"));
        let all = a.finish().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(all, BTreeMap::from([("m".to_owned(), 0), ("n".to_owned(), 3)]));
    }

    #[test]
    fn who_differs_and_what_nobody_knows_is_named() {
        let mut a = lengths(&[("n", 3)]);
        let error = a.hear(&Member::Client("bob".into()), &lengths(&[("n", 4)]).message()).err();
        let error = error.unwrap_or_else(|| panic!("taken")).to_string();
        assert!(error.contains("n is 3 at party 0 and 4 at client bob"), "{error}");
        let error = lengths(&[("n", 3)]).finish().err().unwrap_or_else(|| panic!("taken")).to_string();
        assert!(error.contains("no input says how long m is; write m = …"), "{error}");
    }
}
