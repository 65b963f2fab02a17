//! A policy file: blocks of rules in TOML, which is read strictly.
//!
//! A block names one digest of terms. It says which tenant, data sets, recipients, clients and
//! parameters a run may have, and how often it may run. An unknown key is an error. The operator
//! signs the text of the file.

use crate::moment::{days, duration, read_moment};
use hushwire_fault::{Fault, code};
use hushwire_seal::{BlakeName, KeyId, SealError, SignKey, Signature, VerifyKey, domain};
use hushwire_session::{
    size,
    toml_file::{Section, Source, TomlValue},
};
use std::{collections::BTreeMap, fmt, path::Path, str::FromStr};

/// A policy file and its text, which the operator signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyFile {
    /// The blocks, in order.
    pub allow: Vec<AllowRule>,
    text: String,
}

/// A block: the rules for a run of these terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowRule {
    /// The digest of the terms, as `hushwire job digest` prints it.
    pub digest: BlakeName,
    /// The name for people.
    pub name: String,
    /// The tenant whose analysts may run it.
    pub tenant: String,
    /// The data sets that may be used for each table or input.
    pub data: BTreeMap<String, DataRule>,
    /// The keys to which results may be sealed; empty if only the parties and the clients learn
    /// results.
    pub recipients: Vec<KeyId>,
    /// The pins of certificates that each client of the job may have.
    pub clients: BTreeMap<String, Vec<String>>,
    /// The least number of rows of each data set.
    pub min_rows: Option<u64>,
    /// The least number of rows of a group in a result, which the job's terms must demand.
    pub min_group: Option<u64>,
    /// The values that each parameter may have.
    pub parameters: BTreeMap<String, ParameterRule>,
    /// The most runs, in total or within `window`.
    pub runs: Option<u64>,
    /// The number of seconds within which `runs` counts.
    pub window: Option<u64>,
    /// The time from which the block applies, in seconds since 1970.
    pub not_before: Option<u64>,
    /// The time at which the block expires, in seconds since 1970.
    pub expires: Option<u64>,
    /// A budget of differential privacy, which is shown and not enforced.
    pub epsilon: Option<String>,
    /// The bytes of memory that a run may use.
    pub memory: Option<u64>,
    /// The seconds that an attempt may take.
    pub seconds: Option<u64>,
    /// The most runs of these terms at the same time.
    pub parallel: Option<u64>,
}

/// The data sets that may be used for a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataRule {
    /// Only this one.
    Id(BlakeName),
    /// Any version of this line.
    Line(BlakeName),
    /// Any data set that this owner signed.
    Owner(VerifyKey),
}

impl fmt::Display for DataRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(name) => write!(f, "id:{}", name.digits()),
            Self::Line(name) => write!(f, "line:{}", name.digits()),
            Self::Owner(key) => write!(f, "owner:{key}"),
        }
    }
}

impl FromStr for DataRule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || "it is not `id:`, `line:` or `owner:` and 64 lower-case digits".to_owned();
        let (kind, digits) = text.split_once(':').ok_or_else(wanted)?;
        let name = || digits.parse::<BlakeName>().map_err(|_| wanted());
        match kind {
            "id" => name().map(Self::Id),
            "line" => name().map(Self::Line),
            "owner" => digits.parse().map(Self::Owner).map_err(|_| wanted()),
            _ => Err(wanted()),
        }
    }
}

/// The values that a parameter may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParameterRule {
    /// Dates within a range that includes both ends.
    Dates(String, String),
    /// Numbers within a range that includes both ends.
    Numbers(String, String),
    /// One of these texts.
    Among(Vec<String>),
}

/// The most digits after the decimal point in numbers of policies.
const PLACES: usize = 18;

/// A number of a policy in units of 10^-18.
pub(crate) fn number(text: &str) -> Option<i128> {
    let (negative, digits) = text.strip_prefix('-').map_or((false, text), |digits| (true, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty()
        || digits.ends_with('.')
        || part.len() > PLACES
        || !is_digits(whole)
        || !is_digits(part)
    {
        return None;
    }
    let scaled: i128 = format!("{whole}{part:0<PLACES$}").parse().ok()?;
    Some(if negative { -scaled } else { scaled })
}

impl ParameterRule {
    /// Parses the rule of a range.
    fn range(text: &str) -> Result<Self, String> {
        let (from, to) =
            text.split_once("..").ok_or("it is no range, as \"2020-01-01..2026-12-31\" or \"1..100\" is")?;
        let (from, to) = (from.trim(), to.trim());
        let (rule, empty) = if let (Some(a), Some(b)) = (days(from), days(to)) {
            (Self::Dates(from.to_owned(), to.to_owned()), a > b)
        } else if let (Some(a), Some(b)) = (number(from), number(to)) {
            (Self::Numbers(from.to_owned(), to.to_owned()), a > b)
        } else {
            return Err("its ends are neither two dates nor two numbers".to_owned());
        };
        if empty { Err("it begins after its end".to_owned()) } else { Ok(rule) }
    }

    /// Whether a value is allowed.
    #[must_use]
    pub fn allows(&self, value: &str) -> bool {
        let within = |read: &dyn Fn(&str) -> Option<i128>, from: &str, to: &str| {
            let ends = read(from).zip(read(to));
            ends.zip(read(value)).is_some_and(|((from, to), value)| (from..=to).contains(&value))
        };
        match self {
            Self::Dates(from, to) => within(&|text| days(text).map(i128::from), from, to),
            Self::Numbers(from, to) => within(&number, from, to),
            Self::Among(texts) => texts.iter().any(|text| text == value),
        }
    }
}

impl fmt::Display for ParameterRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dates(from, to) | Self::Numbers(from, to) => write!(f, "{from}..{to}"),
            Self::Among(texts) => write!(f, "one of {texts:?}"),
        }
    }
}

impl PolicyFile {
    /// Reads the text of a file. `path` is for errors.
    ///
    /// # Errors
    /// A key is unknown or a value is invalid; the error names the line.
    pub fn parse(path: &Path, text: &str) -> Result<Self, Fault> {
        Self::read(path, text).map_err(|e| e.coded(code::POLICY_FILE))
    }

    fn read(path: &Path, text: &str) -> Result<Self, Fault> {
        let source = Source::new(path, text);
        let mut sections = source.sections()?;
        let blocks = sections.need("allow", "`[[allow]]`")?.sections()?;
        let allow = blocks.into_iter().map(block).collect::<Result<_, _>>()?;
        sections.finish()?;
        Ok(Self { allow, text: text.to_owned() })
    }

    /// The text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The name of the text, which is its hash.
    #[must_use]
    pub fn id(&self) -> BlakeName {
        BlakeName::of(self.text.as_bytes())
    }

    /// Signs the text.
    #[must_use]
    pub fn sign(&self, key: &SignKey) -> Signature {
        key.sign(domain::POLICY, self.text.as_bytes())
    }

    /// Checks the signature of the text.
    ///
    /// # Errors
    /// The signature is not by this key.
    pub fn verify(&self, key: &VerifyKey, signature: &Signature) -> Result<(), SealError> {
        key.verify("the policy", domain::POLICY, self.text.as_bytes(), signature)
    }
}

const PIN: &str = "write what `hushwire keys pin` prints for the client's key";

/// Checks a pin, and returns it as `sha256:` and 64 digits in lower case.
fn pin_text(text: &str) -> Result<String, String> {
    let digits = text.strip_prefix("sha256:").unwrap_or_default();
    let good = digits.len() == 64 && digits.bytes().all(|b| b.is_ascii_hexdigit());
    if good { Ok(text.to_ascii_lowercase()) } else { Err("it is no pin of a certificate".to_owned()) }
}

fn block(mut section: Section<'_>) -> Result<AllowRule, Fault> {
    let parsed = |value: TomlValue<'_>, remedy: &str, parse: &dyn Fn(&str) -> Option<u64>| {
        let text = value.plain()?;
        parse(&text).ok_or_else(|| value.error("cannot be used", remedy))
    };
    const DIGEST: &str = "copy what `hushwire job digest` prints";
    const MOMENT: &str = "write a date, as 2026-12-01, or a time, as 2026-12-01T10:00:00Z";
    let digest = section.need("digest", "`digest = \"blake3:…\"`")?;
    let digest = digest.parsed(|text| text.parse::<BlakeName>().map_err(|e| e.fault().cause()), DIGEST)?;
    let name = section.need("name", "`name = \"mean stay by ward\"`")?.text()?.to_owned();
    let tenant = section.need("tenant", "`tenant = \"heart-study\"`")?.text()?.to_owned();
    let mut data = BTreeMap::new();
    if let Some(value) = section.take("data") {
        for (table, value) in value.section()?.rest() {
            let rule = value.parsed(
                DataRule::from_str,
                "write `line:` and the digits that `hushwire data describe` prints",
            )?;
            data.insert(table, rule);
        }
    }
    let recipients = section.need("recipients", "`recipients = [\"key:…\"]`")?.list()?.into_iter();
    let recipients = recipients.map(|value| {
        value.parsed(
            |text| text.parse::<KeyId>().map_err(|e| e.fault().cause()),
            "copy what `hushwire service key show` prints",
        )
    });
    let recipients = recipients.collect::<Result<Vec<_>, _>>()?;
    let mut parameters = BTreeMap::new();
    if let Some(value) = section.take("parameters") {
        for (parameter, value) in value.section()?.rest() {
            let range = value.text().ok().map(ParameterRule::range);
            let rule = match range {
                Some(Ok(rule)) => rule,
                Some(Err(cause)) => {
                    return Err(value.error(
                        format_args!("cannot be used: {cause}"),
                        "write a range, or a list of values",
                    ));
                }
                None => {
                    let texts = value.list()?;
                    ParameterRule::Among(texts.iter().map(TomlValue::plain).collect::<Result<_, _>>()?)
                }
            };
            parameters.insert(parameter, rule);
        }
    }
    let mut clients = BTreeMap::new();
    if let Some(value) = section.take("clients") {
        for (client, value) in value.section()?.rest() {
            let pins = if value.text().is_ok() { vec![value] } else { value.list()? };
            let pins = pins.iter().map(|pin| pin.parsed(pin_text, PIN)).collect::<Result<Vec<_>, _>>()?;
            clients.insert(client, pins);
        }
    }
    let any = 0..=u64::MAX >> 1;
    let (mut memory, mut seconds, mut parallel) = (None, None, None);
    if let Some(value) = section.take("max") {
        let mut max = value.section()?;
        memory = max.parsed("memory", size::parse, "write a size, as \"4GiB\"")?;
        seconds = max.number("seconds", 1..=31_536_000)?;
        parallel = max.number("parallel", 1..=1_000)?;
        max.finish()?;
    }
    let rule = AllowRule {
        digest,
        name,
        tenant,
        data,
        recipients,
        clients,
        min_rows: section.number("min-rows", any.clone())?,
        min_group: section.number("min-group", any.clone())?,
        parameters,
        runs: section.number("runs", any)?,
        window: section
            .take("window")
            .map(|value| parsed(value, "write a time, as \"30d\" or \"12h\"", &duration))
            .transpose()?,
        not_before: section
            .take("not-before")
            .map(|value| parsed(value, MOMENT, &read_moment))
            .transpose()?,
        expires: section.take("expires").map(|value| parsed(value, MOMENT, &read_moment)).transpose()?,
        epsilon: section.take("epsilon").map(|value| value.plain()).transpose()?,
        memory,
        seconds,
        parallel,
    };
    if rule.window.is_some() && rule.runs.is_none() {
        return Err(section.error("`window` has no `runs` to count", "add `runs`, or leave `window` out"));
    }
    section.finish()?;
    Ok(rule)
}
