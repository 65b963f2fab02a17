//! The sample of `local-up`: a data set, and an approved query that the parties can run at once.

use crate::{
    access::{Caller, CallerRole, OPERATORS},
    clock,
    party::Party,
    policy::Signed,
    records::{
        datasets, jobs,
        policies::{self, NewPolicy},
        proposals::{self, Proposed},
    },
};
use hushwire_fault::Fault;
use hushwire_kinds::StoredTable;
use hushwire_policy::{PolicyDraft, PolicyFile, draft};
use hushwire_seal::{
    BlakeName, Person, SchemaColumn, SignKey, StoredColumn,
    dataset::{DataDescription, Dealer},
};
use hushwire_session::InputPlace;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    fmt::Write,
    path::{Path, PathBuf},
};

/// The tenant of the sample.
pub(crate) const TENANT: &str = "demo";
/// The number of runs that the sample's policy allows.
const RUNS: u64 = 100_000;
/// The columns of the sample's table.
const COLUMNS: [&str; 3] = ["patient INTEGER NOT NULL", "ward VARCHAR(8) NOT NULL", "days SMALLINT NOT NULL"];
/// The number of its rows.
const ROWS: u64 = 60;
/// The sample's query.
const SQL: &str = "SELECT ward, COUNT(*) AS stays, AVG(days) AS mean_days FROM stays GROUP BY ward";

/// The sample, once it is in the stores.
#[derive(Serialize)]
pub(crate) struct Sample {
    /// The approved proposal.
    pub(crate) proposal: String,
    /// The digest of its terms.
    pub(crate) digest: String,
    /// The data set, if there are three parties.
    pub(crate) data: Option<String>,
    /// The file of the recipient's keys, if there are three parties.
    pub(crate) person: Option<PathBuf>,
    /// The recipient's public key, with which jobs are submitted, if there are three parties.
    pub(crate) seal_to: Option<String>,
}

/// The sample's table as CSV. A formula makes its values up.
fn table() -> String {
    let mut text = "patient,ward,days\n".to_owned();
    for n in 0..ROWS {
        let ward = ["heart", "lung", "child"][(n * 7 % 11 % 3) as usize];
        let _ = writeln!(text, "{},{ward},{}", 1000 + n, 1 + n * n % 17);
    }
    text
}

/// The sample's job file.
fn job() -> String {
    let columns: Vec<_> = COLUMNS.iter().map(|column| format!("{column:?}")).collect();
    format!(
        "kind = \"query\"\nsql = \"{SQL}\"\nto = [\"recipient:anna\"]\nmin-group = 5\n\n[[tables]]\nname = \"stays\"\n\
         columns = [{}]\nparts = [\"data:stays {ROWS}\"]\n",
        columns.join(", ")
    )
}

/// Puts the sample into the stores of all parties, as its owner, analyst and operator would.
pub(crate) async fn put(parties: &[Party], operator: &SignKey, dir: &Path) -> Result<Sample, Fault> {
    let whole = |text: &str, name: &str| {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(|e| Fault::io("write", &path, &e))
    };
    whole(&table(), "stays.csv")?;
    whole(&job(), "stays.toml")?;
    let (person, path) = (Person::generate(), dir.join("anna.keys"));
    person.write(&path, true)?;
    let (card, owner) = (person.card("anna"), Person::generate());
    owner.write(&dir.join("owner.keys"), true)?;
    let data = put_data(parties, &owner).await?;
    let rules = BTreeMap::from([("stays".to_owned(), format!("line:{}", data.1.digits()))]);
    let approved = approve(parties, operator, job(), |digest| PolicyDraft {
        digest,
        name: "mean stay by ward",
        tenant: TENANT,
        data: &rules,
        recipients: std::slice::from_ref(&card.id),
        clients: none(),
        parameters: no_parameters(),
        min_group: Some(5),
        runs: RUNS,
        expires: None,
    });
    let (proposal, digest) = approved.await?;
    let seal_to = serde_json::to_value(card.seal_to).ok().and_then(|value| Some(value.as_str()?.to_owned()));
    let seal_to = seal_to.ok_or_else(|| Fault::internal("writing the recipient's key", "it is no text"))?;
    Ok(Sample { proposal, digest, data: Some(data.0), person: Some(path), seal_to: Some(seal_to) })
}

fn none() -> &'static BTreeMap<String, String> {
    static NONE: BTreeMap<String, String> = BTreeMap::new();
    &NONE
}

fn no_parameters() -> &'static BTreeMap<String, Result<String, Vec<String>>> {
    static NONE: BTreeMap<String, Result<String, Vec<String>>> = BTreeMap::new();
    &NONE
}

/// The inputs of parties that have values of their own, as lines of a config.
pub(crate) fn own_inputs(party: u8, parties: u8) -> String {
    match party {
        0 => "\n[inputs]\nalice = { hex = \"0000c350\" }\n".to_owned(),
        _ if party + 1 == parties => "\n[inputs]\nbob = { hex = \"0001117c\" }\n".to_owned(),
        _ => String::new(),
    }
}

/// Puts a sample for two or more than three parties into their stores: it compares values of the
/// first and the last party.
pub(crate) async fn put_own(parties: &[Party], operator: &SignKey, dir: &Path) -> Result<Sample, Fault> {
    let n = parties.len();
    let protocol = match n {
        2 => "protocol = \"gmw\"".to_owned(),
        n => format!("protocol = \"authgarble\"\nparties = {n}"),
    };
    let all: Vec<String> = (0..n).map(|party| format!("\"party{party}\"")).collect();
    let job = format!(
        "{protocol}\ncircuit = \"less:32\"\n\n[[inputs]]\nname = \"alice\"\nfrom = \"party0\"\n\n[[inputs]]\nname = \
         \"bob\"\nfrom = \"party{}\"\n\n[[outputs]]\nname = \"bob-is-richer\"\nto = [{}]\n",
        n - 1,
        all.join(", ")
    );
    let path = dir.join("richer.toml");
    std::fs::write(&path, &job).map_err(|e| Fault::io("write", &path, &e))?;
    let approved = approve(parties, operator, job, |digest| PolicyDraft {
        digest,
        name: "whether bob is richer",
        tenant: TENANT,
        data: none(),
        recipients: &[],
        clients: none(),
        parameters: no_parameters(),
        min_group: None,
        runs: RUNS,
        expires: None,
    });
    let (proposal, digest) = approved.await?;
    Ok(Sample { proposal, digest, data: None, person: None, seal_to: None })
}

/// Proposes a job at all parties, and approves it by a policy. Returns the proposal and the digest.
async fn approve<'d>(
    parties: &[Party],
    operator: &SignKey,
    job: String,
    rule: impl Fn(BlakeName) -> PolicyDraft<'d>,
) -> Result<(String, String), Fault> {
    let by = |role, tenant: &str| Caller { token: "local up".to_owned(), tenant: tenant.to_owned(), role };
    let (analyst, judge) = (by(CallerRole::Analyst, TENANT), by(CallerRole::Operator, OPERATORS));
    let proposed = Proposed { job, files: BTreeMap::new(), expires: None };
    let mut sample = None;
    for party in parties {
        let planned = proposed.clone().plan(TENANT)?;
        let (analyst, judge) = (analyst.clone(), judge.clone());
        let kept =
            party.store.run("proposal", move |c| Ok(proposals::propose(c, &analyst, &planned)?.0)).await?;
        let digest: BlakeName =
            kept.digest.parse().map_err(|_| Fault::internal("approving the sample", "no digest"))?;
        let text = draft(&rule(digest));
        let signature = PolicyFile::parse(Path::new("sample"), &text)?.sign(operator).to_string();
        let signed = Signed { text, signature, signer: operator.public().to_string() };
        signed.check("sample", &party.config.operators)?;
        let id = kept.id.clone();
        let judged = party.store.run("verdict", move |c| {
            let Signed { text: body, signature, signer } = signed;
            let new = NewPolicy { name: "sample".to_owned(), version: None, body, signature, signer };
            policies::put(c, &judge.to_string(), &new)?;
            proposals::judge(c, &judge, &id, Some("sample"), None)
        });
        judged.await?;
        sample = Some((kept.id, kept.digest));
    }
    sample.ok_or_else(|| Fault::internal("approving the sample", "no party"))
}

/// Deals the sample's rows to three parties, as `data put` does. Returns the data set's name and
/// line.
async fn put_data(parties: &[Party], owner: &Person) -> Result<(String, BlakeName), Fault> {
    let columns: Vec<String> = COLUMNS.iter().map(|column| (*column).to_owned()).collect();
    let stored = StoredTable::new("stays", &columns, &["patient".to_owned()], false)?;
    let layout = stored.layout(ROWS).into_iter();
    let inputs = layout.map(|column| StoredColumn::of_table(column.name, column.bits));
    let schema = COLUMNS.iter().filter_map(|column| {
        let (name, ty) = column.split_once(' ')?;
        let ty = ty.trim_end_matches(" NOT NULL").to_owned();
        Some(SchemaColumn { name: name.to_owned(), ty, nullable: false, min: None, max: None, ascii: true })
    });
    let description = DataDescription {
        name: "stays".to_owned(),
        line: None,
        version: 1,
        group: parties[0].config.group.clone(),
        schema: schema.collect(),
        keys: vec![vec!["patient".to_owned()]],
        inputs: inputs.collect(),
        created: clock::now().unsigned_abs() / 1000,
        expires: None,
    };
    let to: Vec<_> = parties.iter().map(|party| party.keys.seal_to()).collect();
    let to =
        to.try_into().map_err(|_| Fault::usage("dealing the sample", "there are not three parties", ""))?;
    let mut dealer = Dealer::new(description, to)?;
    let mut sealed: Vec<[Vec<u8>; 3]> = vec![];
    stored.read(&InputPlace::memory(table()), ROWS, &mut |_, planes| {
        sealed.push(dealer.part(ROWS, planes)?);
        Ok(())
    })?;
    let dealt = dealer.finish(ROWS, owner.sign())?;
    let (id, line) = (dealt.signed.id().digits(), dealt.signed.manifest().line);
    let caller = Caller { token: "local up".to_owned(), tenant: TENANT.to_owned(), role: CallerRole::Owner };
    for (n, party) in parties.iter().enumerate() {
        let parts: Vec<Vec<u8>> = sealed.iter().map(|part| part[n].clone()).collect();
        for part in &parts {
            let keep = || {
                let mut blob = party.blobs.begin()?;
                blob.write(&[part])?;
                blob.keep()
            };
            keep().map_err(|e| Fault::io("write", &party.config.blobs, &e))?;
        }
        let (caller, signed, envelope) = (caller.clone(), dealt.signed.clone(), dealt.envelopes[n].clone());
        let (number, id) = (party.config.party, id.clone());
        let put = party.store.run("dataset", move |c| {
            datasets::begin(c, &caller, number, &signed, &envelope)?;
            for part in 0..parts.len() {
                datasets::stored(c, &id, part as i64)?;
            }
            datasets::seal(c, &caller, &id)
        });
        put.await?;
    }
    Ok((id, line))
}

impl Sample {
    /// The next steps, as commands.
    pub(crate) fn commands(&self, up: &Path) -> Vec<String> {
        let (dir, key) = (up.display(), "first");
        // The name of a job follows from its key.
        let job = jobs::id(TENANT, key);
        let submit = format!("hushwire service submit --to {dir}/analyst.toml --proposal {}", self.proposal);
        let wait = format!("hushwire service wait {job} --to {dir}/analyst.toml");
        let Some(data) = &self.data else {
            let learnt = format!("hushwire service learnt {job} --to {dir}/operator.toml");
            return vec![format!("{submit} --key {key}"), wait, learnt];
        };
        vec![
            format!("{submit} --data stays={data} --recipient anna={dir}/anna.keys --key {key}"),
            wait,
            format!("hushwire service fetch {job} --keys {dir}/anna.keys --to {dir}/analyst.toml"),
        ]
    }
}
