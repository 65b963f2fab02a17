//! Endpoints of proposals and policies.

use crate::{
    http::{Reply, Request},
    party::Party,
    policy::{self, Signed},
    records::{
        policies::{self, NewPolicy, Policy},
        proposals::{self, Proposal, Proposed},
    },
};
use hushwire_fault::Fault;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// Proposals, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Proposals {
    proposals: Vec<Proposal>,
}

/// The policies in force.
#[derive(Serialize, ToSchema)]
pub(crate) struct Policies {
    policies: Vec<Policy>,
}

/// An operator's verdict: `approve` with a signed policy that allows the proposal's digest, or
/// `deny` with a reason.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Judgement {
    /// approve or deny.
    verdict: String,
    /// The text of the policy.
    #[serde(default)]
    policy: Option<String>,
    /// The signature under it, as hexadecimal digits.
    #[serde(default)]
    signature: Option<String>,
    /// The operator's public key, as hexadecimal digits.
    #[serde(default)]
    signer: Option<String>,
    /// Why it is denied.
    #[serde(default)]
    reason: Option<String>,
}

/// A policy with its signature.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignedPolicy {
    /// The text.
    policy: String,
    /// The signature under it, as hexadecimal digits.
    signature: String,
    /// The operator's public key, as hexadecimal digits.
    signer: String,
    /// The version: the last one plus one.
    version: i64,
}

/// `POST /v1/proposals`
pub(super) async fn propose(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let proposed: Proposed = request.json().await?;
    let caller = request.caller()?.clone();
    let tenant = caller.tenant.clone();
    // Planning may take a while.
    let planned = tokio::task::spawn_blocking(move || proposed.plan(&tenant)).await;
    let planned = planned.map_err(|e| Fault::internal("planning a job", e))??;
    let (proposal, new) =
        party.store.run("proposal", move |c| proposals::propose(c, &caller, &planned)).await?;
    Ok(Reply::json(if new { StatusCode::CREATED } else { StatusCode::OK }, &proposal))
}

/// `GET /v1/proposals`
pub(super) async fn list(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, most) = (request.caller()?.clone(), request.number("limit", 100)?.min(1000));
    let proposals = party.store.read(move |c| proposals::list(c, &caller, most)).await?;
    Ok(Reply::ok(&Proposals { proposals }))
}

/// `GET /v1/proposals/{id}`
pub(super) async fn get(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    Ok(Reply::ok(&party.store.read(move |c| proposals::need(c, &caller, &id)).await?))
}

/// `DELETE /v1/proposals/{id}`
pub(super) async fn withdraw(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    Ok(Reply::ok(&party.store.run("proposal", move |c| proposals::withdraw(c, &caller, &id)).await?))
}

/// `POST /v1/proposals/{id}/verdict`
pub(super) async fn judge(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let judgement: Judgement = request.json().await?;
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let step = "judging a proposal";
    let judged = match judgement {
        Judgement {
            verdict,
            policy: Some(text),
            signature: Some(signature),
            signer: Some(signer),
            reason: None,
        } if verdict == "approve" => {
            let signed = Signed { text, signature, signer };
            let name = policies::of_proposal(&id);
            let file = signed.check(&name, &party.config.operators)?;
            let judged = party.store.run("verdict", move |c| {
                let digest = proposals::need(c, &caller, &id)?.digest;
                policy::about(&file, &digest)?;
                let Signed { text: body, signature, signer } = signed;
                let new = NewPolicy { name: name.clone(), version: None, body, signature, signer };
                policies::put(c, &caller.to_string(), &new)?;
                proposals::judge(c, &caller, &id, Some(&name), None)
            });
            judged.await?
        }
        Judgement { verdict, policy: None, reason: Some(reason), .. } if verdict == "deny" => {
            party
                .store
                .run("verdict", move |c| proposals::judge(c, &caller, &id, None, Some(&reason)))
                .await?
        }
        _ => {
            let cause = "a verdict is `approve` with policy, signature and signer, or `deny` with reason";
            return Err(Fault::usage(step, cause, "see GET /v1/openapi.json"));
        }
    };
    party.due.notify_one();
    Ok(Reply::ok(&judged))
}

/// `GET /v1/policies`
pub(super) async fn policies(party: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    Ok(Reply::ok(&Policies { policies: party.store.read(policies::active).await? }))
}

/// `GET /v1/policies/{name}`
pub(super) async fn policy(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let name = request.name(0).to_owned();
    Ok(Reply::ok(&party.store.read(move |c| policies::get(c, &name)).await?))
}

/// `PUT /v1/policies/{name}`
pub(super) async fn put_policy(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let SignedPolicy { policy: text, signature, signer, version } = request.json().await?;
    let (actor, name) = (request.caller()?.to_string(), request.name(0).to_owned());
    if name.starts_with(policies::OF_FILES) {
        let cause = format!(
            "policies called {}… are those of the directory that this party watches",
            policies::OF_FILES
        );
        return Err(Fault::usage(
            "changing a policy",
            cause,
            "choose another name, or change the file there",
        ));
    }
    let signed = Signed { text, signature, signer };
    signed.check(&name, &party.config.operators)?;
    let Signed { text: body, signature, signer } = signed;
    let new = NewPolicy { name, version: Some(version), body, signature, signer };
    Ok(Reply::ok(&party.store.run("policy", move |c| policies::put(c, &actor, &new)).await?))
}
