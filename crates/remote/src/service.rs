//! The group: what is asked of every party, and must be alike.

use crate::{PartyClient, ServiceFile};
use hushwire_fault::{Fault, PartyId, code};
use hushwire_seal::{BlakeName, SealTo};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use std::path::Path;

/// A group as one person reaches it.
pub struct Service {
    group: String,
    parties: Vec<PartyClient>,
}

/// A party's description of its group.
#[derive(Deserialize)]
struct GroupView {
    group: String,
    party: u8,
    parties: Vec<GroupParty>,
}

#[derive(Deserialize)]
struct GroupParty {
    index: u8,
    seal_to: Option<SealTo>,
}

impl Service {
    /// The group of a file.
    ///
    /// # Errors
    /// The file has other than three parties, or TLS cannot be set up.
    pub fn new(file: &ServiceFile) -> Result<Self, Fault> {
        let count = file.parties.len();
        if count != 3 {
            let cause = format!("the file has {count} parties, and the service has three");
            return Err(Fault::usage("reaching the service", cause, "list them all, party 0 first"));
        }
        let parties = (0u8..).zip(&file.parties).map(|(i, place)| PartyClient::new(i, place));
        Ok(Self { group: file.group.clone(), parties: parties.collect::<Result<_, _>>()? })
    }

    /// The group of the file at a path.
    ///
    /// # Errors
    /// As [`ServiceFile::read`] and [`new`](Self::new).
    pub fn read(path: &Path) -> Result<Self, Fault> {
        Self::new(&ServiceFile::read(path)?)
    }

    /// The group's name.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// Its parties.
    #[must_use]
    pub fn parties(&self) -> &[PartyClient] {
        &self.parties
    }

    /// A party.
    ///
    /// # Errors
    /// There is none of this number.
    pub fn party(&self, party: u8) -> Result<&PartyClient, Fault> {
        self.parties.get(usize::from(party)).ok_or_else(|| {
            let cause = format!("the group has no party {party}");
            Fault::usage("reaching the service", cause, "name party 0, 1 or 2")
        })
    }

    /// The parties that gave this person a token: those that an operator or auditor asks.
    ///
    /// # Errors
    /// None did.
    pub fn with_token(&self) -> Result<Vec<&PartyClient>, Fault> {
        let with: Vec<_> = self.parties.iter().filter(|party| party.has_token()).collect();
        if with.is_empty() {
            let remedy = "ask the operator of a party for a token, and write it as `token` under that party";
            return Err(Fault::usage("reaching the service", "the file of the service has no token", remedy));
        }
        Ok(with)
    }

    /// The answer of each party, in order.
    ///
    /// # Errors
    /// The first error.
    pub fn each<T>(&self, ask: impl Fn(&PartyClient) -> Result<T, Fault>) -> Result<Vec<T>, Fault> {
        self.parties.iter().map(ask).collect()
    }

    /// The JSON that each party has at a path.
    ///
    /// # Errors
    /// The first error.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, Fault> {
        self.each(|party| party.get(path))
    }

    /// Whether all parties say the same of a field; what they say.
    ///
    /// # Errors
    /// Two differ, who are named.
    pub(crate) fn alike(&self, views: &[Value], field: &str) -> Result<Value, Fault> {
        let first = views.first().and_then(|view| view.get(field)).unwrap_or(&Value::Null);
        let other = views.iter().position(|view| view.get(field).unwrap_or(&Value::Null) != first);
        let Some(other) = other else { return Ok(first.clone()) };
        let cause =
            format!("party 0 says {field} is {first}, and party {other} says {}", views[other][field]);
        let remedy = "ask the operators of both; until they agree, use nothing of it";
        Err(Fault::new(code::SERVICE_ANSWER, "comparing what the parties say", cause, remedy)
            .coded(code::UNSAFE)
            .by(PartyId(other as u8)))
    }

    /// The keys that data sets are sealed to, which all parties know alike: a party cannot give
    /// another key as its peer's.
    ///
    /// # Errors
    /// The parties differ, are of another group, or have not heard each other yet.
    pub fn keys(&self) -> Result<[SealTo; 3], Fault> {
        const STEP: &str = "asking for the parties' keys";
        let views: Vec<GroupView> = self.get("/v1/group")?;
        let mut keys: [Option<SealTo>; 3] = [None, None, None];
        for (at, view) in views.iter().enumerate() {
            if view.group != self.group || usize::from(view.party) != at {
                let cause = format!(
                    "it is party {} of the group {:?}, and the file says party {at} of {:?}",
                    view.party, view.group, self.group
                );
                return Err(
                    Fault::usage(STEP, cause, "correct the file of the service").by(PartyId(at as u8))
                );
            }
            // A party is the one to say what its own key is.
            let own = view.parties.iter().find(|party| usize::from(party.index) == at);
            keys[at] = own.and_then(|party| party.seal_to.clone());
        }
        for (at, view) in views.iter().enumerate() {
            for other in &view.parties {
                let Some(own) = keys.get(usize::from(other.index)) else { continue };
                if other.seal_to.is_some() && other.seal_to != *own {
                    let cause = format!("it knows another key of party {} than party {0} has", other.index);
                    let remedy = "wait until the parties have heard of a rotation; else ask both operators";
                    return Err(Fault::new(code::UNSAFE, STEP, cause, remedy).by(PartyId(at as u8)));
                }
            }
        }
        match keys {
            [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
            _ => {
                let remedy = "see `hushwire service status` at each party";
                Err(Fault::new(code::SERVICE, STEP, "a party does not say its key", remedy))
            }
        }
    }

    /// The name of a draft of data, in the paths of requests.
    pub(crate) fn data_path(id: &BlakeName) -> String {
        format!("/v1/datasets/{}", id.digits())
    }
}
