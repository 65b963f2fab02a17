//! Endpoints of tokens and tenants.

use crate::{
    access::{self, CallerRole, Quotas, TokenView},
    audit, clock,
    http::{Reply, Request},
    party::Party,
};
use hushwire_fault::Fault;
use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc};
use utoipa::ToSchema;

/// All tokens.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tokens {
    tokens: Vec<TokenView>,
}

/// All tenants.
#[derive(Serialize, ToSchema)]
pub(crate) struct Tenants {
    tenants: BTreeMap<String, Quotas>,
}

/// A token to be made.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewToken {
    /// Its role.
    role: CallerRole,
    /// The tenant, which is made if it is new.
    tenant: String,
    /// A remark.
    #[serde(default)]
    label: String,
    /// Days until it expires. By default it does not.
    #[serde(default)]
    days: Option<u32>,
}

/// A new token.
#[derive(Serialize, ToSchema)]
pub(crate) struct GivenToken {
    /// Its name in logs.
    id: String,
    /// The secret itself. It is not shown again.
    token: String,
}

/// `GET /v1/tokens`
pub(super) async fn tokens(party: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    Ok(Reply::ok(&Tokens { tokens: party.store.read(access::tokens).await? }))
}

/// `POST /v1/tokens`
pub(super) async fn give(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let NewToken { role, tenant, label, days } = request.json().await?;
    let (actor, token) = (request.caller()?.to_string(), access::draw()?);
    let expires = days.map(|days| clock::now() + i64::from(days) * clock::DAY);
    let drawn = token.clone();
    let given = party.store.run("token", move |c| {
        let id = access::grant(c, &drawn, role, &tenant, &label, expires)?;
        audit::append(c, &actor, "token", &id, json!({ "role": role, "tenant": tenant }))?;
        Ok(id)
    });
    Ok(Reply::json(StatusCode::CREATED, &GivenToken { id: given.await?, token }))
}

/// `DELETE /v1/tokens/{id}`
pub(super) async fn revoke(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (actor, id) = (request.caller()?.to_string(), request.name(0).to_owned());
    let revoked = party.store.run("token", move |c| {
        access::revoke(c, &id)?;
        audit::append(c, &actor, "revoke", &id, json!({}))
    });
    revoked.await?;
    party.callers.forget();
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}

/// `GET /v1/tenants`
pub(super) async fn tenants(party: Arc<Party>, _: Request) -> Result<Reply, Fault> {
    let tenants = party.store.read(access::tenants).await?.into_iter().collect();
    Ok(Reply::ok(&Tenants { tenants }))
}

/// `PUT /v1/tenants/{name}`
pub(super) async fn set_tenant(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let quotas: Quotas = request.json().await?;
    let least = quotas.jobs.min(quotas.bytes).min(quotas.parallel);
    if least < 0 {
        return Err(Fault::usage("changing quotas", "a quota is below 0", "give numbers from 0 on"));
    }
    let (actor, name) = (request.caller()?.to_string(), request.name(0).to_owned());
    let set = party.store.run("tenant", move |c| {
        access::set_quotas(c, &name, quotas)?;
        audit::append(c, &actor, "quotas", &name, json!(quotas))
    });
    set.await?;
    Ok(Reply::ok(&quotas))
}
