//! The parties compare what party 0 told them: two signatures of party 0 that differ prove that it
//! deviates. A result opens only with the shares of all parties.

use crate::{
    audit,
    party::Party,
    promise::{Promise, Promised, of_decision, of_signed},
    records::attempts::{self, Decision},
};
use hushwire_fault::{Fault, Kind, PartyId, code};
use hushwire_seal::{
    BlakeName,
    audit::AuditHead,
    domain,
    vouch::{WorkerPlace, promised},
};
use serde_json::json;
use std::{collections::BTreeMap, sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};

/// LOCAL: how long after the start of an attempt the parties compare what they were told.
const LOOKS: Duration = Duration::from_secs(2);
/// LOCAL: how long another party may take to show what it was told.
const SHOWS: Duration = Duration::from_secs(3);
const STEP: &str = "comparing what party 0 told";
const REMEDY: &str = "keep the logs, and take part in nothing until the operators have found out why";

impl Party {
    fn place<'a>(&'a self, job: &'a str, k: u32) -> WorkerPlace<'a> {
        WorkerPlace { group: &self.config.group, job, attempt: k, party: 0 }
    }

    /// Signs what party 0 tells the others about an attempt.
    pub(crate) fn promises(&self, job: &str, k: u32, digest: BlakeName) -> Promise {
        Promise { word: self.keys.promise(domain::ATTEMPT, &self.place(job, k), digest), digest }
    }

    /// Signs a decision of party 0.
    pub(crate) fn signed(&self, job: &str, k: u32, decision: Decision) -> Decision {
        let word = self.keys.promise(domain::DECISION, &self.place(job, k), of_decision(&decision));
        Decision { word: Some(word), ..decision }
    }

    /// Whether party 0 has signed the digest that is shown.
    fn is_promised(&self, of: &str, job: &str, k: u32, shown: &Promise) -> Result<bool, Fault> {
        let Some(key) = self.signer(0) else {
            let cause = "this party has not met party 0 yet";
            return Err(Fault::new(code::WORKER, STEP, cause, "it is tried again by itself"));
        };
        Ok(promised(&key, of, &self.place(job, k), &shown.digest.0, &shown.word).is_ok())
    }

    /// Checks party 0's signature under what this party heard about an attempt, and keeps it.
    pub(crate) fn takes(&self, job: &str, k: u32, heard: Promise) -> Result<(), Fault> {
        if !self.is_promised(domain::ATTEMPT, job, k, &heard)? {
            let cause = "it has not signed what it tells this party about the attempt";
            return Err(Fault::new(code::UNSAFE, STEP, cause, REMEDY).by(PartyId(0)));
        }
        if !self.promised().keep(job, k, heard) {
            let cause = "it told this party other things about the attempt before";
            return Err(Fault::new(code::UNSAFE, STEP, cause, REMEDY).by(PartyId(0)));
        }
        Ok(())
    }

    /// Checks party 0's signature under a decision.
    pub(crate) fn believes(&self, job: &str, k: u32, decision: &Decision) -> Result<(), Fault> {
        match of_signed(decision)
            .map(|shown| self.is_promised(domain::DECISION, job, k, &shown))
            .transpose()?
        {
            Some(true) => Ok(()),
            _ => {
                let cause = "it has not signed its decision on the attempt";
                Err(Fault::new(code::UNSAFE, STEP, cause, REMEDY).by(PartyId(0)))
            }
        }
    }

    /// The fault if `peer` shows that party 0 told it something else than this party. A digest that
    /// party 0 has not signed, as far as this party knows, proves nothing.
    fn differs(
        &self,
        of: &str,
        (job, k): (&str, u32),
        own: &Promise,
        peer: u8,
        theirs: &Promise,
    ) -> Option<Fault> {
        if own.digest == theirs.digest {
            return None;
        }
        let me = self.config.party;
        if !self.is_promised(of, job, k, theirs).ok()? {
            tracing::error!(
                job,
                attempt = k,
                peer,
                "shows words that are not party 0's, or has another key of it"
            );
            return None;
        }
        let cause = format!(
            "it told party {me} and party {peer} different things about attempt {k}, and signed both"
        );
        Some(Fault::new(code::UNSAFE, STEP, cause, REMEDY).by(PartyId(0)))
    }

    /// Writes into the audit log, once for each attempt, that party 0 deviates.
    async fn contradiction(&self, job: &str, k: u32, fault: &Fault) {
        tracing::error!(job, attempt = k, "{fault}");
        let (job, cause) = (job.to_owned(), fault.to_string());
        let kept = self.store.run("contradiction", move |c| {
            let object = format!("attempt {k} of job {job}");
            if audit::has(c, "contradiction", &object)? {
                return Ok(());
            }
            audit::append(c, "daemon", "contradiction", &object, json!({ "cause": cause }))
        });
        if let Err(e) = kept.await {
            tracing::error!(attempt = k, "the contradiction cannot be written: {e}");
        }
    }

    /// Compares what another party was told about an attempt. Returns what this party was told.
    pub(crate) async fn shown(&self, job: &str, k: u32, from: u8, theirs: &Promise) -> Option<Promise> {
        let own = self.promised().of(job, k)?;
        if let Some(fault) = self.differs(domain::ATTEMPT, (job, k), &own, from, theirs) {
            self.contradiction(job, k, &fault).await;
        }
        Some(own)
    }

    /// Compares, in a moment, what the parties were told about an attempt that started here:
    /// workers in different sessions wait for each other in vain. Most attempts have ended by then.
    /// [`Self::explained`] compares for attempts that failed.
    pub(crate) fn compares_start(self: &Arc<Self>, job: &str, k: u32) {
        if self.decides() || self.config.peers.len() < 2 {
            return;
        }
        let (party, job) = (self.clone(), job.to_owned());
        tokio::spawn(async move {
            sleep(LOOKS).await;
            if party.asked(&job, k).is_some() {
                party.compare_start(&job, k).await;
            }
        });
    }

    /// The cause of a network failure: party 0 may have told the parties different things.
    pub(crate) async fn explained(&self, job: &str, k: u32, e: Fault) -> Fault {
        if e.kind() != Kind::Network || self.decides() {
            return e;
        }
        self.compare_start(job, k).await.unwrap_or(e)
    }

    /// Shows the other parties what this party was told about an attempt, and compares it with what
    /// they were told.
    async fn compare_start(&self, job: &str, k: u32) -> Option<Fault> {
        let own = self.promised().of(job, k)?;
        let path = format!("/peer/v1/jobs/{job}/told");
        for peer in self.peers.numbers().into_iter().filter(|peer| *peer != 0) {
            let body = (k, own.clone());
            let shown = timeout(SHOWS, self.peers.post::<Option<Promise>>(peer, &path, &body)).await;
            let Ok(Ok(Some(theirs))) = shown else { continue };
            if let Some(fault) = self.differs(domain::ATTEMPT, (job, k), &own, peer, &theirs) {
                self.contradiction(job, k, &fault).await;
                return Some(fault);
            }
        }
        None
    }

    /// Compares decisions that another party was told with the decisions that this party was told.
    /// Returns this party's decisions that differ.
    pub(crate) async fn compare_decisions(
        &self,
        from: u8,
        theirs: Vec<Promised>,
    ) -> Result<Vec<Promised>, Fault> {
        let mut differ = vec![];
        for (job, k, theirs) in theirs {
            let name = job.clone();
            let row = self.store.read(move |c| attempts::get(c, &name, k)).await?;
            let Some(own) = row.and_then(|row| of_signed(&row.decision?)) else { continue };
            if let Some(fault) = self.differs(domain::DECISION, (&job, k), &own, from, &theirs) {
                self.contradiction(&job, k, &fault).await;
                differ.push((job, k, own));
            }
        }
        Ok(differ)
    }

    /// Shows another party the decisions that this party was told after entry `after` of the audit
    /// log, and compares the ones that differ. Returns the last entry that was shown.
    pub(crate) async fn show_decisions(
        &self,
        peer: u8,
        mut after: Option<i64>,
    ) -> Result<Option<i64>, Fault> {
        loop {
            let (last, ended) = self.store.read(move |c| attempts::ended_after(c, after)).await?;
            if after.replace(last) == Some(last) {
                return Ok(after);
            }
            let told = ended.into_iter().filter_map(|(job, k, of)| Some((job, k, of_signed(&of)?)));
            let told: Vec<Promised> = told.collect();
            if !told.is_empty() {
                let differ: Vec<Promised> = self.peers.post(peer, "/peer/v1/decisions", &told).await?;
                self.compare_decisions(peer, differ).await?;
            }
        }
    }

    /// Checks that the others' audit logs have the ends that `peer` was told: a party could keep a
    /// separate log for each peer.
    pub(crate) async fn compare_heads(&self, peer: u8) -> Result<(), Fault> {
        let heads: BTreeMap<u8, AuditHead> = self.peers.get(peer, "/peer/v1/heads").await?;
        for (of, head) in heads {
            if of == peer || of == self.config.party || head.seq == 0 || !self.peers.numbers().contains(&of) {
                continue;
            }
            // A party that is away is asked next time.
            let found: Result<Option<BlakeName>, Fault> =
                self.peers.get(of, &format!("/peer/v1/audit/{}", head.seq)).await;
            let Ok(found) = found else { continue };
            if found != Some(head.hash) {
                let cause = format!(
                    "the audit log of party {of} has not the entry {head} that party {peer} says it was told: one of \
                     both deviates, or lost its log"
                );
                return Err(Fault::new(code::UNSAFE, "comparing audit logs", cause, REMEDY));
            }
        }
        Ok(())
    }
}
