//! `hushwire service token`.

use super::{ListArgs, Reach, out, out::word};
use clap::{Args, Subcommand, ValueEnum};
use hushwire_fault::Fault;
use serde_json::{Value, json};

/// The commands on tokens.
#[derive(Subcommand)]
pub enum TokenCommand {
    /// Give a token at each party where you have an operator's; each is shown once
    Give(GiveArgs),
    /// Tokens, without their secrets
    List(ListArgs),
    /// Revoke a token at one party
    Revoke(RevokeTokenArgs),
}

/// The role of a token.
#[derive(Clone, Copy, ValueEnum)]
pub(super) enum TokenRole {
    /// Put data sets, and grant them
    Owner,
    /// Propose, submit, fetch
    Analyst,
    /// Approve, deny, cancel
    Operator,
    /// Read the audit log
    Auditor,
}

/// A new token.
#[derive(Args)]
pub struct GiveArgs {
    /// Its role
    #[arg(long)]
    role: TokenRole,
    /// The tenant of an owner or analyst, which is made where it is new
    #[arg(long, required_if_eq_any = [("role", "owner"), ("role", "analyst")])]
    tenant: Option<String>,
    /// A remark
    #[arg(long, default_value = "")]
    label: String,
    /// Days until it ends; never, by default
    #[arg(long)]
    days: Option<u32>,
    /// At this party alone
    #[arg(long)]
    party: Option<u8>,
    #[command(flatten)]
    reach: Reach,
}

/// A token that ends.
#[derive(Args)]
pub struct RevokeTokenArgs {
    /// The token's id
    id: String,
    /// The party that gave it
    #[arg(long)]
    party: u8,
    #[command(flatten)]
    reach: Reach,
}

impl TokenCommand {
    pub(super) fn run(self) -> Result<(), Fault> {
        match self {
            Self::Give(args) => args.run(),
            Self::List(args) => list(&args.reach),
            Self::Revoke(RevokeTokenArgs { id, party, reach }) => {
                reach.service()?.party(party)?.delete(&format!("/v1/tokens/{id}"))?;
                reach.done(format_args!("party {party} has revoked it"))
            }
        }
    }
}

impl GiveArgs {
    fn run(self) -> Result<(), Fault> {
        let role = match self.role {
            TokenRole::Owner => "owner",
            TokenRole::Analyst => "analyst",
            TokenRole::Operator => "operator",
            TokenRole::Auditor => "auditor",
        };
        // Operators and auditors belong to one tenant at every party.
        let tenant = self.tenant.as_deref().unwrap_or("operators");
        let body = json!({ "role": role, "tenant": tenant, "label": self.label, "days": self.days });
        let service = self.reach.service()?;
        let only = |party: u8| self.party.is_none_or(|only| only == party);
        let mut given = vec![];
        for party in service.with_token()?.into_iter().filter(|party| only(party.party())) {
            let mut view: Value = party.read(&party.post("/v1/tokens", &body, None)?)?;
            view["party"] = party.party().into();
            if !self.reach.json {
                out::line(format_args!("party {}  {}", party.party(), word(&view["token"])))?;
            }
            given.push(view);
        }
        if self.reach.json { out::json(&given) } else { Ok(()) }
    }
}

fn list(reach: &Reach) -> Result<(), Fault> {
    let service = reach.service()?;
    let (mut rows, mut views) = (vec![], vec![]);
    for party in service.with_token()? {
        let view: Value = party.get("/v1/tokens")?;
        for token in view["tokens"].as_array().into_iter().flatten() {
            let row = ["id", "role", "tenant", "label"].map(|field| word(&token[field]));
            rows.push([vec![party.party().to_string()], row.to_vec()].concat());
        }
        views.push(view);
    }
    if reach.json {
        return out::json(&views);
    }
    out::table(&["party", "id", "role", "tenant", "label"], &rows)
}
