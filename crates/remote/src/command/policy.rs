//! `hushwire service policy`.

use super::{ListArgs, Reach, data::moment, out, out::word, pair, proposals::text_of};
use clap::{Args, Subcommand};
use hushwire_fault::Fault;
use hushwire_policy::{DataRule, PolicyDraft, PolicyFile, draft, explain};
use hushwire_seal::{BlakeName, KeyId, Person};
use hushwire_session::nearest;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The commands on policies.
#[derive(Subcommand)]
pub enum PolicyCommand {
    /// Print a policy that allows a proposal, to be narrowed and signed
    Draft(DraftArgs),
    /// Read a policy file, and say in words what it allows
    Check(FileArgs),
    /// Print the signature of a policy file
    Sign(SignArgs),
    /// Give the parties a policy, or the next version of one
    Put(PutPolicyArgs),
    /// The policies that count
    List(ListArgs),
}

/// A proposal that a policy is to allow.
#[derive(Args)]
pub struct DraftArgs {
    /// The proposal's id
    id: String,
    /// A key that results may be sealed to; as often as there are such
    #[arg(long = "recipient", value_name = "key:…")]
    recipients: Vec<KeyId>,
    /// A client of the job and the pin of its certificate
    #[arg(long = "client", value_name = "NAME=PIN", value_parser = pair)]
    clients: Vec<(String, String)>,
    /// The data sets that a table may be, as stays=line:…, stays=id:… or stays=owner:…
    #[arg(long = "data", value_name = "TABLE=RULE", value_parser = pair)]
    data: Vec<(String, String)>,
    /// The values of a parameter: a range, or values with commas between
    #[arg(long = "param", value_name = "NAME=VALUES", value_parser = pair)]
    parameters: Vec<(String, String)>,
    /// How often it may run
    #[arg(long, default_value_t = 1)]
    runs: u64,
    /// Rows of a group, at least
    #[arg(long)]
    min_group: Option<u64>,
    /// The date or time at which it ends
    #[arg(long, value_name = "DATE")]
    expires: Option<String>,
    /// The name that people call it by
    #[arg(long)]
    name: Option<String>,
    #[command(flatten)]
    reach: Reach,
}

/// A policy file.
#[derive(Args)]
pub struct FileArgs {
    /// The policy file
    file: PathBuf,
    /// Answer in JSON
    #[arg(long)]
    json: bool,
}

/// A policy file and a key.
#[derive(Args)]
pub struct SignArgs {
    #[command(flatten)]
    file: FileArgs,
    /// Your file of keys
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
}

/// A policy on its way to the parties.
#[derive(Args)]
pub struct PutPolicyArgs {
    /// The name of the policy at the parties
    name: String,
    /// The policy file
    file: PathBuf,
    /// Your file of keys, whose key the parties have as an operator's
    #[arg(long, value_name = "FILE")]
    keys: PathBuf,
    #[command(flatten)]
    reach: Reach,
}

impl PolicyCommand {
    pub(super) fn run(self) -> Result<(), Fault> {
        match self {
            Self::Draft(args) => args.run(),
            Self::Check(args) => args.check(),
            Self::Sign(args) => args.run(),
            Self::Put(args) => args.run(),
            Self::List(args) => list(&args.reach),
        }
    }
}

impl DraftArgs {
    /// Checks names against those of the proposal: a policy with another name allows nothing.
    fn fits(&self, needs: &Value) -> Result<(), Fault> {
        let step = "drafting a policy";
        for (what, option, key, named) in [
            ("data set", "--data", "data", &self.data),
            ("client", "--client", "clients", &self.clients),
            ("parameter", "--param", "parameters", &self.parameters),
        ] {
            let known: Vec<&str> =
                needs[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            if let Some((odd, _)) = named.iter().find(|(name, _)| !known.contains(&name.as_str())) {
                let remedy = match nearest(odd, known.iter().copied()) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if known.is_empty() => format!("leave {option} out"),
                    None => format!("name one of {}", known.join(", ")),
                };
                return Err(Fault::usage(step, format!("the proposal has no {what} {odd}"), remedy));
            }
            if let Some(name) = known.iter().find(|known| !named.iter().any(|(name, _)| name == *known)) {
                let cause = format!("the proposal has the {what} {name}, and the draft does not allow it");
                return Err(Fault::usage(step, cause, format!("name it with {option}")));
            }
        }
        Ok(())
    }

    fn run(self) -> Result<(), Fault> {
        let service = self.reach.service()?;
        let party = service.with_token()?[0];
        let view: Value = party.get(&format!("/v1/proposals/{}", self.id))?;
        let digest: BlakeName = word(&view["digest"]).parse()?;
        let recipients = &view["needs"]["recipients"];
        if recipients.as_array().is_some_and(|needs| !needs.is_empty()) && self.recipients.is_empty() {
            let cause = "the proposal has recipients, and the draft allows none";
            return Err(Fault::usage("drafting a policy", cause, "name them with --recipient"));
        }
        self.fits(&view["needs"])?;
        for (table, rule) in &self.data {
            rule.parse::<DataRule>().map_err(|e| {
                let remedy = "copy the line that `hushwire data describe` prints";
                Fault::usage("drafting a policy", format!("{table}={rule}: {e}"), remedy)
            })?;
        }
        self.expires.as_deref().map(moment).transpose()?;
        let values = |text: &str| {
            let range = text.contains("..");
            if range { Ok(text.to_owned()) } else { Err(text.split(',').map(str::to_owned).collect()) }
        };
        let name = self.name.clone().unwrap_or_else(|| format!("proposal {}", self.id));
        let text = draft(&PolicyDraft {
            digest,
            name: &name,
            tenant: &word(&view["tenant"]),
            data: &self.data.into_iter().collect(),
            recipients: &self.recipients,
            clients: &self.clients.into_iter().collect(),
            parameters: &self.parameters.iter().map(|(name, text)| (name.clone(), values(text))).collect(),
            min_group: self.min_group,
            runs: self.runs,
            expires: self.expires.as_deref(),
        });
        // A draft that is printed can be signed.
        PolicyFile::parse(Path::new("the draft"), &text)?;
        if self.reach.json { out::json(&json!({ "policy": text })) } else { out::bytes(text.as_bytes()) }
    }
}

impl FileArgs {
    fn read(&self) -> Result<PolicyFile, Fault> {
        PolicyFile::parse(&self.file, &text_of(&self.file)?)
    }

    fn check(self) -> Result<(), Fault> {
        let policy = self.read()?;
        let words: Vec<_> = policy.allow.iter().map(|rule| explain(rule, 0)).collect();
        if self.json {
            return out::json(&json!({ "id": policy.id(), "allow": words }));
        }
        out::line(words.join("\n\n"))
    }
}

impl SignArgs {
    fn run(self) -> Result<(), Fault> {
        let policy = self.file.read()?;
        let person = Person::read(&self.keys)?;
        let (signature, signer) = (policy.sign(person.sign()), person.sign().public());
        if self.file.json {
            return out::json(&json!({ "signature": signature, "signer": signer }));
        }
        out::line(signature)
    }
}

impl PutPolicyArgs {
    fn run(self) -> Result<(), Fault> {
        let text = text_of(&self.file)?;
        let policy = PolicyFile::parse(&self.file, &text)?;
        let person = Person::read(&self.keys)?;
        let service = self.reach.service()?;
        let path = format!("/v1/policies/{}", self.name);
        let mut views = vec![];
        for party in service.with_token()? {
            let all: Value = party.get("/v1/policies")?;
            let known = all["policies"].as_array().into_iter().flatten();
            let known = known.filter(|policy| policy["name"] == *self.name);
            let last = known.filter_map(|policy| policy["version"].as_u64()).max().unwrap_or(0);
            let body = json!({
                "policy": text,
                "signature": policy.sign(person.sign()),
                "signer": person.sign().public(),
                "version": last + 1,
            });
            let view: Value = party.read(&party.put(&path, &body)?)?;
            if !self.reach.json {
                let version = word(&view["version"]);
                out::line(format_args!("party {}  {} version {version}", party.party(), self.name))?;
            }
            views.push(view);
        }
        if self.reach.json { out::json(&views) } else { Ok(()) }
    }
}

fn list(reach: &Reach) -> Result<(), Fault> {
    let service = reach.service()?;
    let (mut rows, mut views) = (vec![], vec![]);
    for party in service.with_token()? {
        let view: Value = party.get("/v1/policies")?;
        for policy in view["policies"].as_array().into_iter().flatten() {
            let row = ["name", "version", "at", "signer"].map(|field| word(&policy[field]));
            rows.push([vec![party.party().to_string()], row.to_vec()].concat());
        }
        views.push(view);
    }
    if reach.json {
        return out::json(&views);
    }
    out::table(&["party", "name", "version", "since", "signer"], &rows)
}
