//! The job file of an intersection.

use super::PsiReveal;
use hushwire_garble::Scheme;
use hushwire_ot::Protocol as Extension;
use hushwire_psi::{KeyColumn, KeySpec, MOST_PAYLOAD_BYTES, Method, Normal, Store};
use hushwire_session::{
    Dialect, Fault, Member, Protocol, dialect,
    protocol::{self, by_name},
    toml_file::{Section, TomlValue},
};
use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// The method that finds the intersection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PsiMethod {
    /// An oblivious PRF of digests, [`hushwire_psi::plain`]: for items and flags, and sets of any
    /// size.
    Vole,
    /// An oblivious PRF of digests whose outputs a circuit compares, [`hushwire_psi::circuit`]: for
    /// flags, a number or a sum, and sets of any size.
    Bins,
    /// A circuit that compares whole sets: by sorting and shuffling, or by hash tables.
    Circuit(Method),
}

impl PsiMethod {
    /// The name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Vole => "vole",
            Self::Bins => "circuit",
            Self::Circuit(circuit) => circuit.name(),
        }
    }
}

impl fmt::Display for PsiMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PsiMethod {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "vole" => Ok(Self::Vole),
            "circuit" => Ok(Self::Bins),
            _ => name.parse().map(Self::Circuit).map_err(|_| format!("{name:?} is no method")),
        }
    }
}

/// The adversary against which a run is secure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PsiSecurity {
    /// A party that follows the protocol and tries to learn more.
    SemiHonest,
    /// A party that deviates in any way.
    Malicious,
}

impl PsiSecurity {
    /// The name in job files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SemiHonest => "semi-honest",
            Self::Malicious => "malicious",
        }
    }
}

impl fmt::Display for PsiSecurity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PsiSecurity {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = [Self::SemiHonest, Self::Malicious].into_iter().find(|level| level.name() == name);
        found.ok_or_else(|| format!("{name:?} is neither semi-honest nor malicious"))
    }
}

/// The job file of an intersection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PsiJob {
    /// The method. With `None` it is [`PsiMethod::Vole`] if that can reveal the result, and
    /// otherwise [`PsiMethod::Bins`]. If `protocol`, `scheme` or `ot` is given, it is the circuit
    /// of whole sets with fewer ANDs.
    #[serde(default, with = "by_name")]
    pub method: Option<PsiMethod>,
    /// The adversary against which the run is secure; only the method vole has
    /// [`PsiSecurity::Malicious`].
    #[serde(with = "by_name::one")]
    pub security: PsiSecurity,
    /// The most different keys of party 0 and of party 1; `None` is 2^20, or four times the
    /// other's. A party that brings a set may learn for every key in it whether the other has it.
    /// Memory depends on both sizes.
    #[serde(default)]
    pub most_items: [Option<u64>; 2],
    /// The kind of store for the receiver's digests, in the methods [`PsiMethod::Vole`] and
    /// [`PsiMethod::Bins`]. `None` is [`Store::Clustered`].
    #[serde(default, with = "by_name")]
    pub store: Option<Store>,
    /// The protocol that computes circuits: [`Protocol::Yao`], the default, or
    /// [`Protocol::Gmw`].
    pub protocol: Option<Protocol>,
    /// The garbling scheme, if the protocol garbles.
    #[serde(default, with = "by_name")]
    pub scheme: Option<Scheme>,
    /// The extension of oblivious transfer.
    #[serde(default, with = "by_name")]
    pub ot: Option<Extension>,
    /// The part of the intersection that is revealed.
    #[serde(with = "by_name::one")]
    pub reveal: PsiReveal,
    /// The columns that make a key, in party 0's file and in party 1's: the same number, in the
    /// same order.
    pub columns: [Vec<String>; 2],
    /// The normal forms of their fields: one for each column, or one for all of them.
    #[serde(with = "by_name::all")]
    pub forms: Vec<Normal>,
    /// The parties that learn the result. Empty means both, but only party 0 if flags or columns
    /// are revealed.
    pub to: Vec<Member>,
    /// The most bytes of text that a row has in the columns that the other party learns; the
    /// default is 64.
    #[serde(default)]
    pub payload_bytes: Option<usize>,
    /// The default dialects for reading party 0's file and party 1's, if their member files set
    /// none. They are in no digest.
    #[serde(default)]
    pub dialects: [Dialect; 2],
}

impl PsiJob {
    /// A job with defaults for everything else, and keys of one column that has the same name in
    /// both files.
    #[must_use]
    pub fn new(reveal: impl Into<PsiReveal>, column: &str) -> Self {
        let columns = [column, column].map(|column| vec![column.to_owned()]);
        let (method, store, protocol, scheme, ot) = (None, None, None, None, None);
        let security = PsiSecurity::SemiHonest;
        Self {
            method,
            security,
            most_items: [None; 2],
            store,
            protocol,
            scheme,
            ot,
            reveal: reveal.into(),
            columns,
            forms: vec![Normal::default()],
            to: vec![],
            payload_bytes: None,
            dialects: <[Dialect; 2]>::default(),
        }
    }

    /// The key's columns in party `index`'s file, each with its normal form.
    ///
    /// # Errors
    /// There is no column, one comes twice, or the number of forms is neither one nor that of the
    /// columns. The message says which.
    pub fn key(&self, index: u8) -> Result<KeySpec, String> {
        let columns = &self.columns[usize::from(index == 1)];
        let form = |i: usize| match self.forms.as_slice() {
            [] => Ok(Normal::default()),
            [one] => Ok(*one),
            forms if forms.len() == columns.len() => Ok(forms[i]),
            forms => Err(format!("a key of {} columns has {} forms", columns.len(), forms.len())),
        };
        let named = columns.iter().enumerate();
        let named = named.map(|(i, name)| Ok(KeyColumn { name: name.clone(), normal: form(i)? }));
        KeySpec::new(named.collect::<Result<_, String>>()?)
    }

    pub(crate) fn from_section(mut top: Section<'_>) -> Result<Self, Fault> {
        let protocol = top.parsed("protocol", str::parse, "write protocol = \"yao\"")?;
        let scheme = top.parsed("scheme", protocol::private_scheme, "write scheme = \"mi\"")?;
        let ot = top.parsed("ot", protocol::extension, "write ot = \"softspoken4\"")?;
        let reveal = top.take("reveal").map(|v| {
            v.parsed(
                str::parse,
                "write \"items\", \"flags\", \"size\", \"sum:COLUMN,count\" or \"columns:NAME,NAME\"",
            )
        });
        let reveal = reveal.transpose()?.unwrap_or(PsiReveal::Items);
        let method = method(&mut top)?;
        let security =
            top.take("security").map(|v| v.parsed(str::parse, "write \"semi-honest\" or \"malicious\""));
        let security = security.transpose()?.unwrap_or(PsiSecurity::SemiHonest);
        let most_items = top.take("most-items").map(most_items).transpose()?.unwrap_or_default();
        let store = top.parsed("store", str::parse, "write \"clustered\" or \"band\"")?;
        let columns = columns(&mut top)?;
        let forms = top.take("normalise").map(forms).transpose()?.unwrap_or_default();
        let to = top.take("to").map(recipients).transpose()?.unwrap_or_default();
        let payload_bytes = top.take("payload-bytes").map(|v| v.number(1..=MOST_PAYLOAD_BYTES as u64));
        let payload_bytes = payload_bytes.transpose()?.map(|bytes| bytes as usize);
        let dialects = dialects(&mut top)?;
        top.finish()?;
        Ok(Self {
            method,
            security,
            most_items,
            store,
            protocol,
            scheme,
            ot,
            reveal,
            columns,
            forms,
            to,
            payload_bytes,
            dialects,
        })
    }
}

/// Reads `method`, or `circuit` as it was called when all methods were circuits.
fn method(top: &mut Section<'_>) -> Result<Option<PsiMethod>, Fault> {
    let (method, circuit) = (top.take("method"), top.take("circuit"));
    if let (Some(_), Some(circuit)) = (&method, &circuit) {
        return Err(circuit.error("stands beside `method`", "keep `method`"));
    }
    let circuit = circuit.map(|v| v.parsed(str::parse::<Method>, "write method = \"phasing\" or \"scs\""));
    if let Some(circuit) = circuit.transpose()? {
        return Ok(Some(PsiMethod::Circuit(circuit)));
    }
    method.map(|v| v.parsed(str::parse, "write \"vole\", \"circuit\", \"phasing\" or \"scs\"")).transpose()
}

/// Reads one number for both parties, or one for each. 0 would refuse every set.
fn most_items(value: TomlValue<'_>) -> Result<[Option<u64>; 2], Fault> {
    let wrong =
        value.error("is neither one number nor two", "write most-items = 1000000, or [1000000, 5000]");
    if let Ok(both) = value.number(1..=u64::MAX) {
        return Ok([Some(both); 2]);
    }
    if value.number(0..=0).is_ok() {
        return Err(value.error("is 0, which no set keeps to", "agree on 1 at least"));
    }
    let numbers = value.list()?.into_iter().map(|value| value.number(1..=u64::MAX).map(Some));
    match numbers.collect::<Result<Vec<_>, _>>()?.as_slice() {
        [a, b] => Ok([*a, *b]),
        _ => Err(wrong),
    }
}

/// Reads `key` for both, or `keys` for each party; `column` and `columns` are keys of one column.
fn columns(top: &mut Section<'_>) -> Result<[Vec<String>; 2], Fault> {
    let all = ["key", "keys", "column", "columns"];
    let given: Vec<_> = all.into_iter().filter_map(|name| Some((name, top.take(name)?))).collect();
    let mut given = given.into_iter();
    let (name, value) = match given.next() {
        Some(first) => first,
        None => ("key", top.need("key", "key = \"email\", or keys = [\"email\", \"mail\"]")?),
    };
    if let Some((_, other)) = given.next() {
        return Err(other.error(format!("stands beside `{name}`"), "keep one of them"));
    }
    let wrong = value.error(
        "does not name the columns of both files",
        "write the key of party 0's file, then that of party 1's",
    );
    let both = match name {
        "key" | "column" => {
            let key = names(value)?;
            [key.clone(), key]
        }
        _ => {
            let both: Vec<_> = value.list()?.into_iter().map(names).collect::<Result<_, _>>()?;
            both.try_into().map_err(|_| wrong)?
        }
    };
    Ok(both)
}

/// Reads `dialect` for both files, or `dialects` for each.
fn dialects(top: &mut Section<'_>) -> Result<[Dialect; 2], Fault> {
    let one = |value: TomlValue<'_>| {
        let mut options = value.section()?;
        let read = dialect(&mut options)?;
        options.finish().map(|()| read)
    };
    match (top.take("dialect"), top.take("dialects")) {
        (None, None) => Ok(<[Dialect; 2]>::default()),
        (Some(both), None) => one(both).map(|both| [both.clone(), both]),
        (None, Some(each)) => {
            let wrong = each.error(
                "does not have the options of both files",
                "write dialects = [{ separator = \";\" }, {}], party 0's first",
            );
            let each = each.list()?.into_iter().map(one).collect::<Result<Vec<_>, _>>()?;
            each.try_into().map_err(|_| wrong)
        }
        (Some(_), Some(each)) => Err(each.error("stands beside `dialect`", "keep one of them")),
    }
}

/// Reads the columns of one file's key.
fn names(value: TomlValue<'_>) -> Result<Vec<String>, Fault> {
    let empty = value.error("is empty", "name the column with the keys");
    let named = |value: TomlValue<'_>| match value.text()?.trim() {
        "" => Err(value.error("is empty", "name the column with the keys")),
        name => Ok(name.to_owned()),
    };
    let names: Vec<_> = value.list()?.into_iter().map(named).collect::<Result<_, _>>()?;
    if names.is_empty() { Err(empty) } else { Ok(names) }
}

fn forms(value: TomlValue<'_>) -> Result<Vec<Normal>, Fault> {
    let empty = value.error("is empty", "leave it out, or name a form");
    let remedy = "write words such as \"nfc case\", \"email\", \"phone:+49\", \"date\" or \"exact\"";
    let forms = value.list()?.into_iter().map(|form| form.parsed(str::parse, remedy));
    let forms: Vec<_> = forms.collect::<Result<_, _>>()?;
    if forms.is_empty() { Err(empty) } else { Ok(forms) }
}

fn recipients(value: TomlValue<'_>) -> Result<Vec<Member>, Fault> {
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
