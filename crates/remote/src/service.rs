//! The group: requests to every party, whose answers must agree.
//!
//! A client compares the parties' answers, so that one party alone cannot mislead it about a job or
//! about another party's key.

use crate::{PartyClient, ServiceFile};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::{BlakeName, SealTo, SignedStatement, Statement};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::path::Path;

/// A group as one person reaches it. Party `i` is at place `i`.
pub struct Service {
    group: String,
    parties: Vec<PartyClient>,
}

/// A party's description of its group.
#[derive(Deserialize)]
struct GroupView {
    group: String,
    party: u8,
    statements: Vec<SignedStatement>,
}

const STEP: &str = "asking for the parties' keys";

/// The statement of each party about itself, after checking that no other party contradicts it.
/// `views` are the answers of all parties, in order.
fn compared(group: &str, views: &[GroupView]) -> Result<Vec<Statement>, Fault> {
    let by = |at: usize| PartyId(at as u8);
    let mut own: Vec<Statement> = vec![];
    for (at, view) in views.iter().enumerate() {
        if view.group != group || usize::from(view.party) != at {
            let cause = format!(
                "it is party {} of the group {:?}, and the file says party {at} of {group:?}",
                view.party, view.group
            );
            return Err(Fault::usage(STEP, cause, "correct the file of the service").by(by(at)));
        }
        // Each party is the authority on its own key.
        let mut said = view.statements.iter().map(SignedStatement::statement);
        let said = said.find(|said| usize::from(said.party) == at).ok_or_else(|| {
            let remedy = "see `hushwire service status` at each party";
            Fault::new(code::SERVICE, STEP, "it does not say its key", remedy).by(by(at))
        })?;
        if said.group != group || usize::from(said.parties) != views.len() {
            let cause = format!("it says of itself that it is one of {} of {:?}", said.parties, said.group);
            return Err(Fault::usage(STEP, cause, "correct the file of the service").by(by(at)));
        }
        own.push(said.clone());
    }
    for (at, view) in views.iter().enumerate() {
        for said in view.statements.iter().map(SignedStatement::statement) {
            let Some(theirs) = own.get(usize::from(said.party)) else { continue };
            // An earlier statement by the same signer was merely not replaced yet.
            if said.sign != theirs.sign || (said.since == theirs.since && said.seal_to != theirs.seal_to) {
                let cause = format!("it hands on a statement of party {} by another key", said.party);
                let remedy = "use nothing of it, and ask both operators";
                return Err(Fault::new(code::UNSAFE, STEP, cause, remedy).by(by(at)));
            }
        }
        let knows = |party| view.statements.iter().any(|said| usize::from(said.statement().party) == party);
        if !(0..views.len()).all(knows) {
            let remedy = "wait until the parties have met; see `hushwire service status` at each of them";
            return Err(Fault::new(code::SERVICE, STEP, "it has not heard all others yet", remedy).by(by(at)));
        }
    }
    Ok(own)
}

impl Service {
    /// Makes the group of a file.
    ///
    /// # Errors
    /// The number of parties is not two to eight, or TLS cannot be set up.
    pub fn new(file: &ServiceFile) -> Result<Self, Fault> {
        let count = file.parties.len();
        if !(2..=8).contains(&count) {
            let cause = format!("the file has {count} parties, and a group has two to eight");
            return Err(Fault::usage("reaching the service", cause, "list them all, party 0 first"));
        }
        let parties = (0u8..).zip(&file.parties).map(|(i, place)| PartyClient::new(i, place));
        Ok(Self { group: file.group.clone(), parties: parties.collect::<Result<_, _>>()? })
    }

    /// Reads the group from the file at a path.
    ///
    /// # Errors
    /// The errors of [`ServiceFile::read`] and [`new`](Self::new).
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::new(&ServiceFile::read(path)?)
    }

    /// The group's name.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The parties of the group.
    #[must_use]
    pub fn parties(&self) -> &[PartyClient] {
        &self.parties
    }

    /// The party with this number.
    ///
    /// # Errors
    /// There is no such party.
    pub fn party(&self, party: u8) -> Result<&PartyClient, Fault> {
        self.parties.get(usize::from(party)).ok_or_else(|| {
            let cause = format!("the group has no party {party}");
            Fault::usage("reaching the service", cause, "name one of its parties")
        })
    }

    /// The parties for which this person has a token. Operators and auditors ask these.
    ///
    /// # Errors
    /// The person has a token of no party.
    pub fn with_token(&self) -> Result<Vec<&PartyClient>, Fault> {
        let with: Vec<_> = self.parties.iter().filter(|party| party.has_token()).collect();
        if with.is_empty() {
            let remedy = "ask the operator of a party for a token, and write it as `token` under that party";
            return Err(Fault::usage("reaching the service", "the file of the service has no token", remedy));
        }
        Ok(with)
    }

    /// Calls `ask` for each party, in order, and returns the answers.
    ///
    /// # Errors
    /// The first error.
    pub fn each<T>(&self, ask: impl Fn(&PartyClient) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        self.parties.iter().map(ask).collect()
    }

    /// Gets the JSON at a path from each party.
    ///
    /// # Errors
    /// The first error.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Fault> {
        self.each(|party| party.get(path))
    }

    /// Checks that all parties agree on a field of their answers, which are in order. Returns its
    /// value, which is null if the answers lack the field.
    ///
    /// # Errors
    /// Two parties differ; the error names them.
    pub(crate) fn alike(&self, views: &[Value], field: &str) -> Result<Value, Fault> {
        let first = views.first().and_then(|view| view.get(field)).unwrap_or(&Value::Null);
        let other = views.iter().position(|view| view.get(field).unwrap_or(&Value::Null) != first);
        let Some(other) = other else { return Ok(first.clone()) };
        let cause =
            format!("party 0 says {field} is {first}, and party {other} says {}", views[other][field]);
        let remedy = "ask the operators of both; until they agree, use nothing of it";
        Err(Fault::new(code::UNSAFE, "comparing what the parties say", cause, remedy)
            .by(PartyId(other as u8)))
    }

    /// The parties' statements about themselves, in order. Each party gives its own, and the others
    /// pass on what they got from it. A party can therefore not give another key as its peer's.
    ///
    /// # Errors
    /// A statement is not signed, or belongs to another party or group. Two parties pass on
    /// statements of one party under two keys. Or the parties have not exchanged statements yet.
    pub fn statements(&self) -> Result<Vec<Statement>, Fault> {
        let views: Vec<GroupView> = self.get("/v1/group")?;
        compared(&self.group, &views)
    }

    /// The keys to which data sets are sealed.
    ///
    /// # Errors
    /// The errors of [`statements`](Self::statements); or the group does not have three parties.
    pub fn keys(&self) -> Result<[SealTo; 3], Fault> {
        let keys: Vec<SealTo> = self.statements()?.into_iter().map(|said| said.seal_to).collect();
        let count = keys.len();
        keys.try_into().map_err(|_| {
            let cause = format!("the group has {count} parties, and data sets are shared among three");
            Fault::usage(STEP, cause, "name values of a party under `[inputs]` of its config")
        })
    }

    /// The path of a data set in requests.
    pub(crate) fn data_path(id: &BlakeName) -> String {
        format!("/v1/datasets/{}", id.digits())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_seal::{OpenKey, SignKey};

    /// A party's own statement.
    fn said(party: u8, key: &SignKey, since: u64) -> SignedStatement {
        let said = Statement {
            format: Statement::format(),
            group: "heart".to_owned(),
            parties: 3,
            party,
            pin: String::new(),
            protocol: "rep3".to_owned(),
            seal_to: OpenKey::generate().public(),
            next: None,
            sign: key.public(),
            since,
        };
        SignedStatement::sign(&said, key).unwrap_or_else(|e| panic!("{e}"))
    }

    fn views(all: [[&SignedStatement; 3]; 3]) -> Vec<GroupView> {
        let view = |(party, statements): (u8, [&SignedStatement; 3])| GroupView {
            group: "heart".to_owned(),
            party,
            statements: statements.map(Clone::clone).to_vec(),
        };
        (0..).zip(all).map(view).collect()
    }

    #[test]
    fn a_party_cannot_give_another_key_as_its_peers() {
        let keys = [0, 1, 2].map(|_: u8| SignKey::generate());
        let [a, b, c] = [0, 1, 2].map(|party: u8| said(party, &keys[usize::from(party)], 10));
        let honest = views([[&a, &b, &c]; 3]);
        let own = compared("heart", &honest).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(own[1].seal_to, b.statement().seal_to);

        // Party 2 has not learned of a rotation at party 1 yet.
        let newer = said(1, &keys[1], 11);
        let behind = views([[&a, &newer, &c], [&a, &newer, &c], [&a, &b, &c]]);
        let own = compared("heart", &behind).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(own[1].seal_to, newer.statement().seal_to, "what party 1 says of itself counts");

        // Party 2 passes on a statement of party 1 that it has signed itself.
        let forged = said(1, &keys[2], 12);
        let error = compared("heart", &views([[&a, &b, &c], [&a, &b, &c], [&a, &forged, &c]]));
        let error = error.err().unwrap_or_else(|| panic!("it is forged"));
        assert!(error.code() == code::UNSAFE && error.to_string().starts_with("party 2"), "{error}");

        // Party 1 tells the client and its peers different things at the same time.
        let double = said(1, &keys[1], 10);
        let error = compared("heart", &views([[&a, &b, &c], [&a, &double, &c], [&a, &b, &c]])).err();
        assert_eq!(error.map(|e| e.code()), Some(code::UNSAFE));

        assert!(compared("lungs", &honest).is_err(), "another group");
        let mut lost = views([[&a, &b, &c]; 3]);
        lost[0].statements.pop();
        assert_eq!(compared("heart", &lost).err().map(|e| e.code()), Some(code::SERVICE));
        let double = views([[&a, &b, &c], [&a, &b, &b], [&a, &b, &c]]);
        assert_eq!(
            compared("heart", &double).err().map(|e| e.code()),
            Some(code::SERVICE),
            "two of one party"
        );
    }
}
