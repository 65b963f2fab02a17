//! Agreement on lengths that the job leaves open: owners tell the lengths of their inputs, and all
//! members learn the same ones.
//!
//! ```text
//! client → party   what it knows            8 bytes for each symbol, least significant first; all
//!                                           bits set for a symbol that it does not know
//! party ↔ party    what it knows and heard
//! party → client   the lengths that all agreed on
//! ```
//! Every party hears what every other party heard, so a client that tells two parties different
//! numbers ends the run. A member that brings no input with a length must not tell it. The agreed
//! upper bound holds for every member that tells a length.

use hushwire_fault::{Text, code};
use hushwire_machine::Channel;
use hushwire_session::{Agreement, Fault, Kind, Member, explain};
use std::collections::BTreeMap;

pub(super) const STEP: &str = "agreeing on lengths";

/// A symbol that neither the job nor a public value binds.
pub(super) struct Open {
    pub(super) symbol: String,
    /// The members that bring an input of this length.
    pub(super) owners: Vec<Member>,
    /// The agreed upper bound.
    pub(super) most: Option<u64>,
}

/// The number of each such symbol, and the member that named it first.
pub(super) type Told = BTreeMap<String, (u64, Member)>;

/// The symbols in the computation's order, the number of each, and the member that named it.
pub(super) struct Lengths {
    symbols: Vec<Open>,
    me: Member,
    found: Vec<Option<(u64, Member)>>,
}

impl Lengths {
    /// Starts with the lengths that `me` knows of these symbols.
    pub(super) fn new(symbols: Vec<Open>, known: &BTreeMap<String, u64>, me: &Member) -> Self {
        let found = symbols.iter().map(|open| Some((*known.get(&open.symbol)?, me.clone()))).collect();
        Self { symbols, me: me.clone(), found }
    }

    /// Whether there is nothing to agree on.
    pub(super) fn is_empty(&self) -> bool {
        self.symbols.is_empty()
    }

    fn message(&self) -> Vec<u8> {
        let numbers = self.found.iter().map(|found| found.as_ref().map_or(u64::MAX, |(n, _)| *n));
        numbers.flat_map(u64::to_le_bytes).collect()
    }

    /// Adds the lengths that another member knows.
    fn hear(&mut self, from: &Member, message: &[u8]) -> Result<(), Fault> {
        let is_client = |member: &Member| matches!(member, Member::Client(_));
        for ((open, found), bytes) in self.symbols.iter().zip(&mut self.found).zip(message.chunks_exact(8)) {
            let n = bytes.iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
            let Open { symbol, owners, .. } = open;
            // Parties tell clients the lengths that all agreed on.
            let may = is_client(&self.me) || owners.contains(from);
            match found {
                _ if n == u64::MAX => {}
                _ if is_client(from) && !may => return Err(not_its(from, symbol, n)),
                None if may => {
                    open.within(n, from)?;
                    *found = Some((n, from.clone()));
                }
                // A client tells its lengths to every party, so a length that a peer heard from one
                // must have reached this party, too.
                None => match owners.iter().find(|owner| is_client(owner)) {
                    None => return Err(not_its(from, symbol, n)),
                    Some(client) => {
                        let cause =
                            format!("{client} told {from} that {symbol} is {n}, and {} nothing", self.me);
                        return Err(Fault::new(
                            code::PLACES,
                            STEP,
                            cause,
                            "let it run this release, unchanged",
                        ));
                    }
                },
                Some((own, _)) if *own == n => {}
                Some((own, who)) => {
                    let cause = format!("{symbol} is {own} at {who} and {n} at {from}");
                    return Err(Fault::new(code::VALUES, STEP, cause, "bring as many rows of both"));
                }
            }
        }
        Ok(())
    }

    /// The numbers of all symbols.
    fn finish(&self) -> Result<Told, Fault> {
        let all = self.symbols.iter().zip(&self.found).map(|(Open { symbol, .. }, found)| match found {
            Some(told) => Ok((symbol.clone(), told.clone())),
            None => {
                let cause = format!("no input says how long {symbol} is");
                Err(Fault::new(code::PLACES, STEP, cause, format!("write {symbol} = … under [symbols]")))
            }
        });
        all.collect()
    }

    /// A party's endpoint. It hears `clients` first, then exchanges with the other parties over
    /// links that go both ways.
    pub(super) fn at_party<'a>(
        mut self,
        agreement: &Agreement,
        parties: &mut [&mut Channel],
        clients: impl Iterator<Item = &'a mut (String, Channel)>,
    ) -> Result<Told, Fault> {
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

    /// A client's endpoint, with a link to each party and one from each.
    pub(super) fn at_client(
        mut self,
        agreement: &Agreement,
        to: &mut [Channel],
        from: &mut [Channel],
    ) -> Result<Told, Fault> {
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

impl Open {
    /// Refuses a length above the agreed bound.
    pub(super) fn within(&self, n: u64, who: &Member) -> Result<(), Fault> {
        let Some(most) = self.most.filter(|most| n > *most) else { return Ok(()) };
        let symbol = &self.symbol;
        let cause = format!("{symbol} is {n} at {who}, and {most} is the most that was agreed on");
        let remedy = format!("bring fewer rows, or agree on more for {symbol} under [symbols]");
        Err(Fault::new(code::VALUES, STEP, cause, remedy))
    }
}

fn not_its(who: &Member, symbol: &str, n: u64) -> Fault {
    let cause = format!("{who} says that {symbol} is {n}, and brings nothing that has it");
    Fault::new(code::PLACES, STEP, cause, "let it run this release, unchanged")
}

/// The member at the other end of a channel.
fn of(channel: &Channel, agreement: &Agreement) -> Member {
    let from = channel.from();
    let is = |member: &Member| member.id(&agreement.clients) == from;
    agreement.members().into_iter().find(is).unwrap_or(Member::Party(0))
}

fn differ(other: &Member) -> Fault {
    let cause = format!("{other} came to other lengths than the parties before it");
    Fault::new(code::DISAGREE, STEP, cause, "run the same release everywhere, unchanged")
}

/// Adds to an error the lengths that members told, and who told them.
pub(super) fn says(told: &Told, e: Fault) -> Fault {
    let said: Vec<_> = told.iter().map(|(symbol, (n, who))| format!("{symbol} is {n} at {who}")).collect();
    if said.is_empty() {
        return e;
    }
    let cause = Text::from(format!("{}: ", said.join(", "))).text(e.cause_text());
    let e = e.because(cause);
    // The request is correct; the values that a member brings are at fault.
    if e.kind() == Kind::Usage { e.coded(code::VALUES) } else { e }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(known: &[(&str, u64)]) -> Lengths {
        let known = known.iter().map(|(name, n)| ((*name).to_owned(), *n)).collect();
        Lengths::new(symbols(), &known, &Member::Party(0))
    }

    fn bob() -> Member {
        Member::Client("bob".into())
    }

    /// Parties 0 and 1 and bob bring inputs of length n; only party 1 brings one of length m.
    fn symbols() -> Vec<Open> {
        let open = |symbol: &str, owners, most| Open { symbol: symbol.to_owned(), owners, most };
        let [a, b] = [Member::Party(0), Member::Party(1)];
        vec![open("n", vec![a, b.clone(), bob()], Some(9)), open("m", vec![b], None)]
    }

    #[test]
    fn who_brings_nothing_that_has_a_length_says_nothing_of_it() {
        let heard = |from: &Member, known: &[(&str, u64)]| {
            let mut lengths = Lengths::new(symbols(), &BTreeMap::new(), &Member::Party(0));
            lengths.hear(from, &self::lengths(known).message()).map_err(|e| e.to_string())
        };
        assert_eq!(heard(&bob(), &[("n", 9)]), Ok(()));
        let refused = |from: &Member, known| heard(from, known).expect_err("taken");
        let text = refused(&bob(), &[("m", 1 << 27)]);
        assert!(
            text.contains("client bob says that m is 134217728, and brings nothing that has it; "),
            "{text}"
        );
        assert!(refused(&Member::Party(2), &[("m", 3)]).contains("party 2 says that m is 3"));
        let text = refused(&Member::Party(2), &[("n", 3)]);
        assert!(text.contains("client bob told party 2 that n is 3, and party 0 nothing"), "{text}");
        let text = refused(&bob(), &[("n", 10)]);
        assert!(text.contains("n is 10 at client bob, and 9 is the most that was agreed on; "), "{text}");
    }

    #[test]
    fn what_each_knows_comes_together() {
        let (mut a, b) = (lengths(&[("n", 3)]), lengths(&[("m", 0), ("n", 3)]));
        let said = |n, who| (n, Member::Party(who));
        a.hear(&Member::Party(1), &b.message()).unwrap_or_else(|e| panic!("{e}"));
        let all = a.finish().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(all, BTreeMap::from([("m".to_owned(), said(0, 1)), ("n".to_owned(), said(3, 0))]));
    }

    #[test]
    fn who_differs_and_what_nobody_knows_is_named() {
        let mut a = lengths(&[("n", 3)]);
        let error = a.hear(&bob(), &lengths(&[("n", 4)]).message()).err();
        let error = error.unwrap_or_else(|| panic!("taken")).to_string();
        assert!(error.contains("n is 3 at party 0 and 4 at client bob"), "{error}");
        let error = lengths(&[("n", 3)]).finish().err().unwrap_or_else(|| panic!("taken")).to_string();
        assert!(error.contains("no input says how long m is; write m = …"), "{error}");
    }
}
