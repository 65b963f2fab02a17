//! The directory of policies that a party watches: `NAME.toml`, and beside it `NAME.toml.sig` with
//! the output of `hushwire service policy sign NAME.toml --json`.
//!
//! A policy counts as long as its file exists with the signature of an operator. A refusal is in
//! the log and in the audit log, once for each content.

use crate::{
    audit,
    party::Party,
    policy::Signed,
    records::policies::{self, NewPolicy, OF_FILES},
};
use hushwire_fault::Fault;
use serde::Deserialize;
use serde_json::json;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs, io,
    path::Path,
    sync::Arc,
    time::Duration,
};

/// LOCAL: how often the directory is read.
const LOOK: Duration = Duration::from_secs(1);
/// LOCAL: the number of reads without a file after which it counts as gone. Editors replace files.
const GONE: u32 = 2;
/// LOCAL: the longest policy, in bytes.
const LONGEST: u64 = 1 << 20;
/// The actor in the audit log.
const ACTOR: &str = "policy directory";

/// The file with a policy's signature.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicySignature {
    signature: String,
    signer: String,
}

/// The facts about the files from earlier reads.
#[derive(Default)]
struct KnownPolicies {
    /// The contents that were taken or refused, by file.
    seen: BTreeMap<String, blake3::Hash>,
    /// The number of reads in which a policy's file was missing.
    missing: BTreeMap<String, u32>,
    /// The last error about the directory that was logged.
    told: Option<String>,
}

/// Watches the directory of the config until the process ends.
pub(crate) async fn watch(party: Arc<Party>) {
    let mut known = KnownPolicies::default();
    loop {
        let looked = known.look(&party).await;
        let told = looked.err().map(|e| e.to_string());
        if let Some(e) = told.as_ref().filter(|_| told != known.told) {
            tracing::warn!("policies stay as they are: {e}");
        }
        known.told = told;
        tokio::time::sleep(LOOK).await;
    }
}

/// The policies of a directory: names, with texts and signatures.
pub(crate) fn read(dir: &Path) -> io::Result<BTreeMap<String, (String, io::Result<String>)>> {
    let text = |path: &Path| {
        if fs::metadata(path)?.len() > LONGEST {
            return Err(io::Error::other("it is longer than 1 MiB"));
        }
        fs::read_to_string(path)
    };
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".toml") else { continue };
        let signature = text(&dir.join(format!("{name}.sig")));
        match text(&path) {
            Ok(policy) => drop(files.insert(stem.to_owned(), (policy, signature))),
            // The file was removed since the directory was listed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => drop(files.insert(stem.to_owned(), (String::new(), Err(e)))),
        }
    }
    Ok(files)
}

impl KnownPolicies {
    async fn look(&mut self, party: &Arc<Party>) -> Result<(), Fault> {
        let files = match party.config.policies.clone() {
            None => BTreeMap::new(),
            Some(dir) => {
                let (from, read_from) = (dir.clone(), dir);
                let read = tokio::task::spawn_blocking(move || read(&read_from)).await;
                let read = read.map_err(|e| Fault::internal("reading policies", e))?;
                read.map_err(|e| Fault::io("read", &from, &e))?
            }
        };
        for (stem, (text, signature)) in &files {
            let mut hash = blake3::Hasher::new();
            hash.update(text.as_bytes()).update(&[0]);
            hash.update(signature.as_ref().map_or(&[][..], |signature| signature.as_bytes()));
            let hash = hash.finalize();
            if self.seen.get(stem) == Some(&hash) {
                continue;
            }
            if let Err(e) = take(party, stem, text, signature).await {
                tracing::warn!(policy = stem, "is refused: {e}");
                let (name, cause) = (format!("{OF_FILES}{stem}"), e.to_string());
                let refused = party.store.run("policy", move |c| {
                    audit::append(c, ACTOR, "policy refused", &name, json!({ "cause": cause }))
                });
                refused.await?;
            }
            self.seen.insert(stem.clone(), hash);
        }
        self.end(party, &files.into_keys().collect()).await
    }

    /// Ends policies whose files are gone.
    async fn end(&mut self, party: &Arc<Party>, there: &BTreeSet<String>) -> Result<(), Fault> {
        self.seen.retain(|stem, _| there.contains(stem));
        let active = party.store.read(policies::active).await?;
        let ours = active.into_iter().map(|policy| policy.name).filter(|name| name.starts_with(OF_FILES));
        for name in ours {
            if there.contains(&name[OF_FILES.len()..]) {
                self.missing.remove(&name);
                continue;
            }
            let looks = self.missing.entry(name.clone()).or_default();
            *looks += 1;
            if *looks >= GONE {
                self.missing.remove(&name);
                tracing::info!(policy = name, "counts no more: its file is gone");
                party.store.run("policy", move |c| policies::end(c, &name, ACTOR)).await?;
            }
        }
        Ok(())
    }
}

/// A policy with the signature from its file.
pub(crate) fn signed(stem: &str, text: &str, signature: &io::Result<String>) -> Result<Signed, Fault> {
    let step = "reading a policy of the directory";
    let remedy = "write `hushwire service policy sign FILE --keys KEYS --json` into it";
    let wrong = |e: &dyn std::fmt::Display| Fault::usage(step, format!("{stem}.toml.sig: {e}"), remedy);
    let beside = signature.as_ref().map_err(|e| wrong(e))?;
    let PolicySignature { signature, signer } = serde_json::from_str(beside).map_err(|e| wrong(&e))?;
    Ok(Signed { text: text.to_owned(), signature, signer })
}

/// Takes a new or changed file.
async fn take(
    party: &Arc<Party>,
    stem: &str,
    text: &str,
    signature: &io::Result<String>,
) -> Result<(), Fault> {
    let name = format!("{OF_FILES}{stem}");
    let signed = signed(stem, text, signature)?;
    signed.check(&format!("{stem}.toml"), &party.config.operators)?;
    let Signed { text: body, signature, signer } = signed;
    let new = NewPolicy { name: name.clone(), version: None, body, signature, signer };
    let put = party.store.run("policy", move |c| policies::put(c, ACTOR, &new)).await?;
    tracing::info!(policy = name, version = put.version, "counts");
    party.due.notify_one();
    Ok(())
}
