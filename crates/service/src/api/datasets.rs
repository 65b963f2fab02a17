//! Endpoints of data sets.

use crate::{
    clock,
    http::{self, Reply, Request},
    party::Party,
    records::datasets::{self, Dataset, NewDataset},
};
use hushwire_fault::{Fault, code};
use hyper::{StatusCode, body::Bytes};
use serde::{Deserialize, Serialize};
use std::{io, sync::Arc};
use tokio::sync::mpsc;
use utoipa::ToSchema;

/// LOCAL: bytes of a part that are hashed and written together.
const BLOCK: usize = 512 << 10;

/// Data sets, newest first.
#[derive(Serialize, ToSchema)]
pub(crate) struct Datasets {
    datasets: Vec<Dataset>,
}

/// Parts that have not arrived yet.
#[derive(Serialize, ToSchema)]
pub(crate) struct MissingParts {
    missing: Vec<i64>,
}

/// A grant.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGrant {
    /// When it expires, as RFC 3339. By default it does not.
    #[serde(default)]
    expires: Option<String>,
}

/// `POST /v1/datasets`
pub(super) async fn begin(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let step = "putting a data set";
    let new: NewDataset = request.json().await?;
    let caller = request.caller()?.clone();
    let signed = datasets::read(&new.manifest, &new.signature)?;
    let manifest = signed.manifest();
    if manifest.group != party.config.group || manifest.parts.len() != usize::from(party.config.parties()) {
        let cause =
            format!("it was made for {} parties of the group {}", manifest.parts.len(), manifest.group);
        return Err(Fault::usage(step, cause, "make it for the group that GET /v1/group shows"));
    }
    let envelope = hex::decode(&new.envelope);
    let envelope = envelope.map_err(|e| {
        Fault::usage(step, format!("the envelope is no hexadecimal text: {e}"), "send its bytes as digits")
    })?;
    // An envelope that cannot be opened now would fail in every job.
    drop(party.keys.open_data(manifest, usize::from(party.config.party), &envelope)?);
    let number = party.config.party;
    let begun = party.store.run("dataset", move |c| datasets::begin(c, &caller, number, &signed, &envelope));
    let (dataset, new) = begun.await?;
    Ok(Reply::json(if new { StatusCode::CREATED } else { StatusCode::OK }, &dataset))
}

/// `GET /v1/datasets`
pub(super) async fn list(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, most) = (request.caller()?.clone(), request.number("limit", 100)?.min(1000));
    let datasets = party.store.read(move |c| datasets::list(c, &caller, most)).await?;
    Ok(Reply::ok(&Datasets { datasets }))
}

/// `GET /v1/datasets/{id}`
pub(super) async fn get(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let dataset = party.store.read(move |c| {
        let row = datasets::need(c, &caller, &id)?;
        datasets::view(c, row)
    });
    Ok(Reply::ok(&dataset.await?))
}

/// `GET /v1/datasets/{id}/parts`
pub(super) async fn missing(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let missing = party.store.read(move |c| {
        let row = datasets::own(c, &caller, &id)?;
        Ok(datasets::parts(c, &row.id)?.into_iter().filter(|part| !part.3).map(|part| part.0).collect())
    });
    Ok(Reply::ok(&MissingParts { missing: missing.await? }))
}

/// `PUT /v1/datasets/{id}/parts/{n}`
pub(super) async fn put(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let step = "putting a part";
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let n: i64 = request.name(1).parse().map_err(|_| crate::access::absent("part", request.name(1)))?;
    let found = party.store.look(move |c| {
        let row = datasets::own(c, &caller, &id)?;
        let part = datasets::parts(c, &row.id)?.into_iter().find(|part| part.0 == n);
        Ok((row.id, part.ok_or_else(|| crate::access::absent("part", &n.to_string()))?))
    });
    let (id, (_, name, bytes, stored)) = found.await?;
    if stored {
        return Ok(Reply::empty(StatusCode::OK));
    }
    let most = bytes.unsigned_abs().min(http::PART);
    let (send, mut pieces) = mpsc::channel::<Vec<Bytes>>(4);
    let blobs = party.blobs.clone();
    let named = name.clone();
    let writing = tokio::task::spawn_blocking(move || -> io::Result<bool> {
        let mut blob = blobs.begin()?;
        while let Some(piece) = pieces.blocking_recv() {
            blob.write(&piece)?;
        }
        if blob.name() != named {
            return Ok(false);
        }
        blob.keep().map(|_| true)
    });
    let read = async {
        // A TLS record is much shorter than the cheapest block to write.
        let (mut block, mut bytes) = (vec![], 0);
        while let Some(piece) = request.piece(most).await? {
            bytes += piece.len();
            block.push(piece);
            if bytes >= BLOCK {
                bytes = 0;
                if send.send(std::mem::take(&mut block)).await.is_err() {
                    // Writing has failed; its error comes below.
                    return Ok(());
                }
            }
        }
        // Likewise.
        let _ = send.send(block).await;
        Ok::<_, Fault>(())
    };
    let read = read.await;
    drop(send);
    let written = writing.await.map_err(|e| Fault::internal(step, e))?;
    read?;
    let whole =
        written.map_err(|e| Fault::io("write", &party.config.blobs, &e).coded(code::STORE).by(party.me()))?;
    if !whole {
        let cause = format!("its bytes are not those that the manifest names {name}");
        return Err(Fault::new(code::CONFLICT, step, cause, "send this party's part of that number"));
    }
    party.store.run("part", move |c| datasets::stored(c, &id, n)).await?;
    Ok(Reply::empty(StatusCode::CREATED))
}

/// `POST /v1/datasets/{id}/seal`
pub(super) async fn seal(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let sealed = party.store.run("seal", move |c| datasets::seal(c, &caller, &id)).await?;
    party.due.notify_one();
    Ok(Reply::ok(&sealed))
}

/// `DELETE /v1/datasets/{id}`
pub(super) async fn delete(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id) = (request.caller()?.clone(), request.name(0).to_owned());
    let gone = party.store.run("erase", move |c| datasets::delete(c, &caller, &id)).await?;
    // Waiting workers may have its content key.
    party.pool.forget(request.name(0));
    let blobs = party.blobs.clone();
    let removed =
        tokio::task::spawn_blocking(move || gone.iter().try_for_each(|name| blobs.remove(name))).await;
    let removed = removed.map_err(|e| Fault::internal("deleting a data set", e))?;
    if let Err(e) = removed {
        // The sweep removes the rest.
        tracing::warn!("a blob of a deleted data set is left for the sweep: {e}");
    }
    Ok(Reply::empty(StatusCode::ACCEPTED))
}

/// `PUT /v1/datasets/{id}/grants/{to}`
pub(super) async fn grant(party: Arc<Party>, mut request: Request) -> Result<Reply, Fault> {
    let NewGrant { expires } = request.json().await?;
    let expires = expires.as_deref().map(clock::parse).transpose();
    let expires = expires.map_err(|e| Fault::usage("granting a data set", e, "write it as RFC 3339"))?;
    let (caller, id, to) =
        (request.caller()?.clone(), request.name(0).to_owned(), request.name(1).to_owned());
    let granted = party.store.run("grant", move |c| datasets::grant(c, &caller, &id, &to, expires));
    Ok(Reply::ok(&granted.await?))
}

/// `DELETE /v1/datasets/{id}/grants/{to}`
pub(super) async fn ungrant(party: Arc<Party>, request: Request) -> Result<Reply, Fault> {
    let (caller, id, to) =
        (request.caller()?.clone(), request.name(0).to_owned(), request.name(1).to_owned());
    party.store.run("grant", move |c| datasets::ungrant(c, &caller, &id, &to)).await?;
    Ok(Reply::empty(StatusCode::NO_CONTENT))
}
